"""Computes for some tenths of a second of processor time, in functions and threads that samples should name."""

import threading
import time

from mpi4py import MPI

PART = 0.15


def add(numbers):
    total = 0
    for number in numbers:  # HERE: begin
        total += number * number
        total %= 65521  # HERE: end
    return total


class Worker:
    def work(self):
        numbers = range(2000)
        end = time.thread_time() + PART
        while time.thread_time() < end:
            add(numbers)

    def start(self):
        # Threads are sampled once they have called MPI.
        MPI.COMM_SELF.Barrier()
        self.work()


def main():
    Worker().start()
    thread = threading.Thread(target=Worker().start)
    thread.start()
    thread.join()


main()
