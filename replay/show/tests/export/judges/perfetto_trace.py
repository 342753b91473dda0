"""Parses a trace with Perfetto's own message classes: no unknown field, the same bytes again, order and nesting."""
import os
import subprocess
import sys

from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

data = open(sys.argv[1], "rb").read()
trace = Trace()
trace.ParseFromString(data)
assert trace.SerializeToString(deterministic=True) == data, "the same bytes"


def check_known(message):
    assert len(UnknownFieldSet(message)) == 0, message
    for field, value in message.ListFields():
        if field.message_type is not None:
            for each in value if hasattr(value, "__len__") else [value]:
                check_known(each)


check_known(trace)
described, names, open_slices, flows = {}, {}, {}, {}
last = 0
assert trace.packet[0].sequence_flags & 1
for packet in trace.packet:
    assert packet.trusted_packet_sequence_id == 1
    if packet.HasField("track_descriptor"):
        track = packet.track_descriptor
        assert track.uuid not in described and track.name
        assert not track.parent_uuid or track.parent_uuid in described, "parents first"
        described[track.uuid] = track
        continue
    for name in packet.interned_data.event_names:
        assert name.iid not in names and name.name
        names[name.iid] = name.name
    event = packet.track_event
    assert packet.timestamp >= last, "sorted"
    last = packet.timestamp
    assert event.track_uuid in described
    stack = open_slices.setdefault(event.track_uuid, [])
    if event.type == TrackEvent.TYPE_SLICE_BEGIN:
        stack.append(names[event.name_iid])
    elif event.type == TrackEvent.TYPE_SLICE_END:
        stack.pop()
    elif event.type == TrackEvent.TYPE_COUNTER:
        assert described[event.track_uuid].HasField("counter")
    for flow in event.flow_ids:
        assert flow not in flows
        flows[flow] = 1
    for flow in event.terminating_flow_ids:
        assert flows[flow] == 1, "begins before it ends"
        flows[flow] = 2
assert not any(open_slices.values()), "balanced"
assert flows and set(flows.values()) == {2}, flows
assert {"MPI_Send", "MPI_Recv", "Late Sender"} <= set(names.values())
assert {"critical path", "ranks", "waits", "waiting locations"} <= {track.name for track in described.values()}

processor = os.environ.get("TRACE_PROCESSOR")
if processor:
    query = "select count(*) from slice where dur < 0; select name, value from stats where severity = 'error' and value > 0;"
    printed = subprocess.run([processor, "-Q", query, sys.argv[1]], capture_output=True, text=True, check=True).stdout
    assert '"' not in printed.split("\n", 3)[-1].replace('"name","value"', ""), printed
