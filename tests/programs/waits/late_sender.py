"""Rank 0 sends late: rank 1 waits in MPI_Recv as long as the delay takes."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from array import array

import provoke
import replay
from mpi4py import MPI

world = MPI.COMM_WORLD


@replay.region("send_late")
def send_late(value):
    with replay.region("delay"):  # HERE: delay
        provoke.sleep_for_delay()
    world.Send([array("i", [value]), MPI.INT], dest=1, tag=7)


def receive():
    buffer = array("i", [0])
    world.Recv([buffer, MPI.INT], source=0, tag=7)  # HERE: wait
    return buffer[0]


provoke.meet(0)
if world.rank == 0:
    send_late(42)
elif world.rank == 1:
    with replay.region("reception"):
        value = receive()
    print("received", value)
