"""Non-blocking collective operations, operations among neighbours and one-sided communication with mpi4py. Says how many
records a recording has. 2 to 4 ranks."""

from array import array

import mpi4py

# Open MPI 4.1 has no windows on memory of the program for several threads.
mpi4py.rc.threads = False
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, ranks = world.rank, world.size
left, right = (rank - 1) % ranks, (rank + 1) % ranks
mine, theirs = array("i", [rank, rank]), array("i", [-1, -1])


def one(values):
    return [values, 1, MPI.INT]


def non_blocking():
    copy, request = world.Idup()
    request.Wait()
    copy.Iallreduce(one(mine), one(theirs)).Wait()
    assert theirs[0] == ranks * (ranks - 1) // 2
    copy.Ibarrier().Wait()
    copy.Free()


def neighbors():
    ring = world.Create_cart([ranks], periods=[True])
    ring.Neighbor_alltoall(one(mine), one(theirs))
    assert list(theirs) == [left, right]
    ring.Ineighbor_allgather(one(mine), one(theirs)).Wait()
    assert list(theirs) == [left, right]
    ring.Free()


def one_sided():
    memory = array("i", [-1] * 4)
    window = MPI.Win.Create(memory, 4, MPI.INFO_NULL, world)
    window.Fence(MPI.MODE_NOPRECEDE)
    window.Put(one(mine), right, 0)
    window.Fence()
    assert memory[0] == left
    window.Lock(left, MPI.LOCK_SHARED)
    window.Get(one(theirs), left, 0)
    window.Unlock(left)
    assert theirs[0] == (left - 1) % ranks
    window.Lock(right, MPI.LOCK_EXCLUSIVE)
    window.Accumulate(one(mine), right, 1, MPI.SUM)
    window.Unlock(right)
    everybody = window.Get_group()
    source, destination = everybody.Incl([left]), everybody.Incl([right])
    window.Post(source)
    window.Start(destination)
    window.Put(one(mine), right, 2)
    window.Complete()
    window.Wait()
    assert memory[1] == left - 1 and memory[2] == left
    for group in (source, destination, everybody):
        group.Free()
    window.Free()


non_blocking()
neighbors()
one_sided()
if rank == 0:
    print(f"""NonBlockingCollectiveRequest {4 * ranks}
NonBlockingCollectiveComplete {4 * ranks}
NonBlockingCollectiveCompleteSent {4 * ranks * ranks + 8 * ranks}
MpiCollectiveEnd {ranks}
MpiCollectiveEndReceived {8 * ranks}
RmaWinCreate {ranks}
RmaPutBytes {8 * ranks}
RmaGetBytes {4 * ranks}
RmaAtomicSent {4 * ranks}
RmaGroupSync {4 * ranks}
RmaReleaseLock {2 * ranks}""")
