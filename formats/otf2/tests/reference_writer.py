"""Writes an archive whose definitions have every legacy code there is, with OTF2's Python bindings.

usage: reference_writer.py DIRECTORY
"""
import sys

import _otf2
import otf2

ROLES, PARADIGMS, GROUP_TYPES, FLAGS = range(41), range(26), range(8), range(4)

with otf2.writer.open(sys.argv[1], timer_resolution=1000) as trace:
    define = trace.definitions
    node = define.system_tree_node('node')
    process = define.location_group('process', system_tree_parent=node)
    thread = define.location('thread', group=process)
    for paradigm in map(_otf2.Paradigm, PARADIGMS):
        for role in map(_otf2.RegionRole, ROLES):
            for flags in map(_otf2.RegionFlag, FLAGS):
                define.region('region', region_role=role, paradigm=paradigm, region_flags=flags)
        for kind in map(_otf2.GroupType, GROUP_TYPES):
            for flags in map(_otf2.GroupFlag, FLAGS[:2]):
                define.group(name='group', group_type=kind, paradigm=paradigm, group_flags=flags, members=[])
    for name, value in [('a', 'text'), ('b', 7), ('c', 0.5), ('d', thread)]:
        define.system_tree_node_property(node, name, value=value)
        define.location_group_property(process, name, value=value)
        define.location_property(thread, name, value=value)
    trace.event_writer_from_location(thread)
