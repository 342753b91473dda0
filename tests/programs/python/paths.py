"""Calls MPI_Barrier from functions of all kinds. Each call is on one line with a note of the path that Python itself sees
there, which rank 0 prints as the archive should have it: `path /<function> (<file>:<line>)/…`, the outermost first. Where a
function of the C library is in between, `before` and `behind` are the paths on both sides of it.
"""

import contextlib
import ctypes
import functools
import sys
import threading

import replay
from mpi4py import MPI

world = MPI.COMM_WORLD
# What the paths in the innermost region of each thread begin with, and the innermost function outside of it.
regions = threading.local()


def frames(frame):
    """The frames from the outermost to this one, without those of replay.py."""
    found = []
    while frame is not None:
        if not frame.f_code.co_filename.endswith("replay.py"):
            found.append(frame)
        frame = frame.f_back
    return found[::-1]


def path(frame):
    """The path to the line that a function executes now."""
    prefix, outer = getattr(regions, "stack", [("", None)])[-1]
    active = frames(frame)
    if outer in active:
        active = active[active.index(outer) + 1:]
    steps = [f"/{frame.f_code.co_qualname} ({frame.f_code.co_filename}:{frame.f_lineno})" for frame in active]
    return prefix + "".join(steps)


def note(word="path"):
    if world.rank == 0:
        print(word, path(sys._getframe(1)), flush=True)


class noted:
    """Goes before a region that is named on the same line, which other functions may do on behalf of the caller."""

    def __init__(self, region, *, above=0):
        frame = sys._getframe(1)
        self.inside = path(frame) + f"/{region}"
        for _ in range(above):
            frame = frame.f_back
        self.frame = frame

    def __enter__(self):
        stack = getattr(regions, "stack", [("", None)])
        regions.stack = stack + [(self.inside, self.frame)]

    def __exit__(self, *_):
        regions.stack = regions.stack[:-1]


class Solver:
    def __init__(self, steps):
        self.steps = steps
        note(); world.Barrier()

    def __call__(self):
        note(); world.Barrier()

    def __lt__(self, other):
        note(); world.Barrier()
        return False

    def __del__(self):
        note(); world.Barrier()

    @property
    def residual(self):
        note(); world.Barrier()
        return 0

    @classmethod
    def made(cls):
        return cls(1)

    @staticmethod
    def still():
        note(); world.Barrier()

    def run(self):
        def step(i):
            note(); world.Barrier()
            if i:
                step(i - 1)

        for i in range(self.steps):
            step(i)

    class Nested:
        def method(self):
            note(); world.Barrier()


class Löser:
    def löse(self, größe, 名前):
        note(); world.Barrier()


def numbers(count):
    for i in range(count):
        note(); world.Barrier()
        yield i


def delegating(count):
    yield from numbers(count)


async def asynchronous(count):
    note(); world.Barrier()
    if count:
        await asynchronous(count - 1)


def generators():
    for _ in numbers(2):
        note(); world.Barrier()
    list(numbers(1))
    sum(delegating(1))
    next(iter(delegating(1)))
    with contextlib.suppress(StopIteration):
        asynchronous(2).send(None)


def expressions():
    (lambda: (note(), world.Barrier()))()
    [(note(), world.Barrier()) for _ in range(2)]
    {i: (note(), world.Barrier()) for i in range(1)}
    any((note(), world.Barrier()) is None for _ in range(1))
    sorted([3, 1, 2], key=lambda number: (note(), world.Barrier(), number)[-1])
    functools.reduce(lambda a, b: (note(), world.Barrier(), a + b)[-1], [1, 2])
    list(map(functools.partial(lambda a, b: (note(), world.Barrier()), 1), [2]))


def lines():
    # The call is on the line that the interpreter has as that of its last expression.
    note(); world.Barrier(
    )
    for _ in range(300):
        pass
    x = [
        1,
        2,
    ]
    if x:
        note(); world.Barrier()
    while True:
        note(); world.Barrier()
        break


def exceptions():
    try:
        raise ValueError
    except ValueError:
        note(); world.Barrier()
    finally:
        note(); world.Barrier()
    try:
        thrower = numbers(1)
        next(thrower)
        thrower.throw(KeyError)
    except KeyError:
        note(); world.Barrier()


def recursion(depth):
    if depth:
        return recursion(depth - 1)
    note(); world.Barrier()


def mutual(depth):
    # Through a function in C, so that the interpreter's functions of the machine are nested.
    if depth:
        return max([depth - 1], key=mutual)
    note(); world.Barrier()
    return 0


def made_at_run_time():
    # Code objects that take each other's place.
    for i in range(8):
        source = f"\n{'#' + chr(10) if i % 2 else ''}def task_{i}():\n    note(); world.Barrier()\n"
        names = {"note": note, "world": world}
        exec(compile(source, f"<task {i}>", "exec"), names)
        names[f"task_{i}"]()
        del names
    for i in range(4):
        exec(f"{chr(10) * i}(lambda: (note(), world.Barrier()))()", {"note": note, "world": world})


def callbacks():
    def compare(a, b):
        note("behind"); world.Barrier()
        return 0

    function = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(compare)
    ctypes.CFUNCTYPE(None)(lambda: (note(), world.Barrier()))()
    note("before"); ctypes.CDLL(None).qsort((ctypes.c_int * 2)(2, 1), 2, 4, function)


def in_region(depth=1):
    note(); world.Barrier()
    if depth:
        in_region(depth - 1)


@contextlib.contextmanager
def timed(region):
    with noted(region, above=2), replay.region(region):
        yield


class Timer:
    def __init__(self, region):
        self.region = replay.region(region)
        self.name = region

    def __enter__(self):
        self.noted = noted(self.name, above=1); self.region.__enter__()
        self.noted.__enter__()

    def __exit__(self, *exception):
        self.region.__exit__(*exception)
        self.noted.__exit__()


@replay.region("decorated")
def decorated():
    inside = frames(sys._getframe(2))[-1]
    regions.stack = [(path(inside) + "/decorated", inside)]
    note(); world.Barrier()
    in_region()
    del regions.stack


def named():
    with noted("outer"), replay.region("outer"):
        note(); world.Barrier()
        in_region()
        with noted("inner"), replay.phase("inner"):
            note(); world.Barrier()
            in_region(2)
            max([0], key=in_region)
        in_region()
    with timed("by a generator"):
        note(); world.Barrier()
        in_region()
    for _ in range(3):
        with Timer("by an object"):
            note(); world.Barrier()
            in_region()
    decorated()
    note(); world.Barrier()


def in_thread(lock, depth):
    with lock:
        recursion(depth)
        list(numbers(1))


def threads():
    lock = threading.Lock()
    started = [threading.Thread(target=in_thread, args=(lock, depth)) for depth in range(3)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()


def main():
    solver = Solver.made()
    solver()
    solver.run()
    solver.still()
    solver.residual
    solver < solver
    Solver.Nested().method()
    del solver
    Löser().löse(1, 2)
    generators()
    expressions()
    lines()
    exceptions()
    recursion(20)
    mutual(20)
    made_at_run_time()
    callbacks()
    named()
    threads()


main()
