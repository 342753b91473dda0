"""Prints what OTF2's Python bindings read of an archive: one line per callback, its name and all its arguments.

usage: reference_reader.py ARCHIVE.otf2

  D <definition> <arguments>                      global definitions
  E <location> <time> <event> <arguments> [A <attribute> <type> ...]     events, global references and times

The callbacks proper still run, so the archive must also make sense to them; but the bindings' class of
inter-communicators cannot be made, and behind the first one, what may refer to it is only printed.
"""
import ctypes
import sys

import _otf2
import otf2


def word(value):
    """A value as one word: a number, or a string in quotes."""
    if isinstance(value, (str, bytes)):
        return '"%s"' % (value.decode() if isinstance(value, bytes) else value)
    return str(value.value if hasattr(value, 'value') else int(value))


def typed(kind, union):
    """A union as one word; only the bits that its type has mean anything."""
    kind = int(word(kind))
    bits = {1: 8, 5: 8, 2: 16, 6: 16, 3: 32, 7: 32, 9: 32}.get(kind, 32 if 11 <= kind <= 25 and kind != 13 else 64)
    return str(ctypes.c_uint64.from_buffer_copy(bytes(union)[:8]).value & (1 << bits) - 1)


def flat(arguments):
    """All arguments as words. The type of a union, or of each in a list, is the argument before."""
    words, before = [], None
    for argument in arguments:
        items = argument if isinstance(argument, (list, tuple)) else [argument]
        kinds = before if isinstance(before, (list, tuple)) else [before]
        for index, item in enumerate(items):
            words.append(typed(kinds[index], item) if isinstance(item, ctypes.Union) else word(item))
        before = argument
    return words


def attributes(handle):
    if not handle:
        return []
    words = []
    for index in range(_otf2.AttributeList_GetNumberOfElements(handle)):
        words += flat(_otf2.AttributeList_GetAttributeByIndex(handle, index))
    return ['A'] + words if words else []


alive = []          # callbacks that the C library knows, which must not be collected
unknown = []        # inter-communicators
with_communicators = ['InterComm', 'Comm', 'RmaWin', 'IoHandle', 'CartTopology', 'CartCoordinate']


def recording(setter, record, line):
    """The setter of a callback, changed to print the arguments of every call first."""
    def changed(callbacks, function):
        def call(*arguments):
            print(*line(arguments))
            if record == 'InterComm':
                unknown.append(arguments)
            may_refer = record in with_communicators or line(arguments)[0] == 'E'
            return None if unknown and may_refer else function(*arguments)
        alive.append(call)
        return setter(callbacks, call)
    return changed


for name in dir(_otf2):
    for prefix in ('GlobalDefReaderCallbacks_Set', 'GlobalEvtReaderCallbacks_Set'):
        if name.startswith(prefix) and name.endswith('Callback'):
            record = name[len(prefix):-len('Callback')]
            if 'Def' in prefix:
                line = lambda a, r=record: ['D', r] + flat(a[1:])
            else:
                line = lambda a, r=record: ['E'] + flat(a[:2]) + [r] + flat(a[4:]) + attributes(a[3])
            setattr(_otf2, name, recording(getattr(_otf2, name), record, line))

with otf2.reader.open(sys.argv[1]) as trace:
    for _ in trace.events:
        pass
