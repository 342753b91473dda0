"""Rank 1 comes late: rank 0 waits in MPI_Allreduce as long as the delay takes."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from array import array

import provoke
import replay
from mpi4py import MPI

world = MPI.COMM_WORLD


def sum_up(value):
    total = array("d", [0])
    world.Allreduce([array("d", [value]), MPI.DOUBLE], [total, MPI.DOUBLE], op=MPI.SUM)  # HERE: wait
    return total[0]


provoke.meet(1)
if world.rank == 1:
    with replay.region("delay"):  # HERE: delay
        provoke.sleep_for_delay()
    sum_up(1)
else:
    with replay.region("sum"):
        total = sum_up(0)
    print("sum", total)
