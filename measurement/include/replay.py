"""What a Python program may tell Replay's recorder: regions, phases, and what to record.

A program that imports this module runs as it always did; when it is started with `replay-record`, what it says here is
recorded beside its MPI calls. Put the module where Python finds it, for instance with PYTHONPATH.

    import replay

    with replay.region("assembly"):     # a named stretch of the run: a node of the call tree, above the MPI calls
        ...                             # that are made in it

    @replay.region("assembly")          # the same for every call of a function
    def assemble():
        ...

    with replay.phase("iteration"):     # likewise, but a stretch that is analyzed as a whole, such as a time step
        ...

    replay.recording_off()              # nothing is recorded from here on ...
    replay.recording_on()               # ... to here
    if replay.recording_is_on():        # False as well if there is no recorder
        ...

Regions and phases nest, and a thread ends those that it began. Recording should be switched by all processes at the
same points of the program, best right behind a barrier: a message whose send is recorded and whose receive is not
cannot be analyzed.
"""

import ctypes
import functools
import os
import sys

__all__ = ["region", "phase", "recording_on", "recording_off", "recording_is_on"]

# Everything that the process has loaded, preloaded libraries first. The functions are short: Python's lock is kept.
_process = ctypes.PyDLL(None)


def _nothing(*_arguments):
    return 0


def _recorder_function(name, result, *arguments):
    """The recorder's function, or one that does nothing if there is no recorder."""
    try:
        function = getattr(_process, name)
    except AttributeError:
        return _nothing
    function.restype = result
    function.argtypes = arguments
    return function


_BEGIN = (None, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int)
_region_begin = _recorder_function("replay_region_begin", *_BEGIN)
_phase_begin = _recorder_function("replay_phase_begin", *_BEGIN)
_region_end = _recorder_function("replay_region_end", None, ctypes.c_char_p)
_phase_end = _recorder_function("replay_phase_end", None, ctypes.c_char_p)
_recording_on = _recorder_function("replay_recording_on", None)
_recording_off = _recorder_function("replay_recording_off", None)
_recording_is_on = _recorder_function("replay_recording_is_on", ctypes.c_int)


class _Named:
    """A named stretch of the run: in a `with` statement, or as a decorator of a function."""

    # How stretches of this kind begin and end; static, or Python would pass `self` along.
    _begin = staticmethod(_nothing)
    _end = staticmethod(_nothing)

    def __init__(self, name):
        self._name = name.encode()

    def __enter__(self):
        caller = sys._getframe(1)
        self._begin(self._name, os.fsencode(caller.f_code.co_filename), caller.f_lineno)
        return self

    def __exit__(self, *_exception):
        self._end(self._name)

    def __call__(self, function):
        begin, end, name = self._begin, self._end, self._name
        file = os.fsencode(function.__code__.co_filename)
        line = function.__code__.co_firstlineno

        @functools.wraps(function)
        def recorded(*arguments, **named_arguments):
            begin(name, file, line)
            try:
                return function(*arguments, **named_arguments)
            finally:
                end(name)

        return recorded


class region(_Named):
    """A region: a node of the call tree, above the MPI calls made in it."""

    _begin = staticmethod(_region_begin)
    _end = staticmethod(_region_end)


class phase(_Named):
    """A phase: a region that is analyzed as a whole."""

    _begin = staticmethod(_phase_begin)
    _end = staticmethod(_phase_end)


def recording_on():
    """Record from here on."""
    _recording_on()


def recording_off():
    """Record nothing from here on."""
    _recording_off()


def recording_is_on():
    """Whether there is a recorder, and it records."""
    return _recording_is_on() != 0
