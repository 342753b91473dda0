"""What Python programs that provoke a wait state share; provoke.h says why it is done so."""

import contextlib
import os
import time

from mpi4py import MPI

DELAY_TIME = 0.6
MEETING_TIME = 0.05
HEAD_START = 0.00025


def sleep_until(instant):
    """Sleep until the clock shows `instant`."""
    while (left := instant - time.monotonic()) > 0:
        time.sleep(left)


def meet(late):
    """All ranks set out together, the late one a moment before the others."""
    world = MPI.COMM_WORLD
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, -20 if world.rank == late else -15)
    world.Barrier()
    instant = world.bcast(time.monotonic() + MEETING_TIME, root=0)
    assert time.monotonic() < instant
    sleep_until(instant if world.rank == late else instant + HEAD_START)


def sleep_for_delay():
    """The delay; the program says the region around it, so that its line is in the program."""
    sleep_until(time.monotonic() + DELAY_TIME)
