//! What a process does with accelerators: kernels and copies that run on streams, and the calls on the host that start them and wait
//! for them (site.md, 6.2).

use patterns::matched::Interval;

use crate::ids::{EventNumber, PathId, Row};

/// Direction of a copy on a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// From the host.
    ToDevice,
    /// To the host.
    FromDevice,
    /// Between memories of devices.
    OnDevice,
}

/// What runs on a stream.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ActivityKind {
    /// A kernel.
    Kernel,
    /// A copy.
    Copy,
}

/// A kernel or a copy on a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Activity {
    /// Position of the stream's location in the report.
    pub stream: u32,
    /// The row of its call path in the severities of the stream.
    pub row: Row,
    /// Kernel or copy.
    pub kind: ActivityKind,
    /// From its begin to its end.
    pub time: Interval,
    /// The call site of its launch, a hash, if the trace tells it.
    pub call_site: Option<u64>,
    /// The event of its begin.
    pub begun: EventNumber,
    /// The event of its end.
    pub ended: EventNumber,
}

/// A call that gives a kernel or a copy to a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Launch {
    /// Position of its location in the report.
    pub location: u32,
    /// What is launched.
    pub kind: ActivityKind,
    /// The stream, as the position of its location in the report; `None` if it is not known.
    pub stream: Option<u32>,
    /// From enter to leave.
    pub call: Interval,
    /// Its call site, a hash that the kernel has, too; `None` if the trace does not tell it.
    pub call_site: Option<u64>,
    /// Whether it waits until the copy is done.
    pub is_blocking: bool,
    /// The event in it from which on the stream may run: its leave, or its enter if it is blocking.
    pub position: EventNumber,
    /// The place in the stream's journal at that time; [`EventNumber::NONE`] if the stream was not known then.
    pub at_stream: EventNumber,
}

/// The place in the journal of a stream when a launch was left that does not name its stream, and may be one for this stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamMark {
    /// The launch, by its position among the launches.
    pub launch: u32,
    /// Position of the stream's location in the report.
    pub stream: u32,
    /// The place.
    pub at_stream: EventNumber,
}

/// What a call on the host waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Awaited {
    /// All streams of a device: that of this stream; `None` if it is not known.
    Device(Option<u32>),
    /// A stream; `None` if it is not known.
    Stream(Option<u32>),
    /// The event with a number; `None` if that is not known.
    Event(Option<u64>),
    /// A blocking copy, by its position among the launches, and what is in front of it.
    Copy(u32),
}

/// A call on the host that waits for streams, outside of MPI.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DeviceCall {
    /// Position of its location in the report.
    pub location: u32,
    /// Its call path.
    pub path: PathId,
    /// The row of that in the severities of the location.
    pub row: Row,
    /// From enter to leave.
    pub call: Interval,
    /// The event that waits.
    pub position: EventNumber,
    /// What it waits for.
    pub awaited: Awaited,
}

/// An event of an accelerator that a call records on a stream, or that it makes a stream wait for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventCall {
    /// The number of the event; `None` if it is not known.
    pub event: Option<u64>,
    /// The stream; `None` if it is not known.
    pub stream: Option<u32>,
    /// From enter to leave.
    pub call: Interval,
}

/// What a process does with accelerators.
#[derive(Clone, Debug, Default)]
pub struct Offload {
    /// Kernels and copies, in the order of their ends.
    pub activities: Vec<Activity>,
    /// Calls that start them, in the order of their ends.
    pub launches: Vec<Launch>,
    /// Places of launches on streams that they do not name, in the order of launches, then streams.
    pub marks: Vec<StreamMark>,
    /// Calls that launch graphs, which are any number of kernels and copies, in the order of their ends.
    pub graphs: Vec<Interval>,
    /// Calls that wait for them, in the order of their ends.
    pub waits: Vec<DeviceCall>,
    /// Calls that record events, in the order of their ends.
    pub records: Vec<EventCall>,
    /// Calls that make streams wait for events, in the order of their ends.
    pub stream_waits: Vec<EventCall>,
}

impl Offload {
    /// The place of a launch in the journal of a stream; [`EventNumber::NONE`] if it has none there.
    pub fn at_stream(&self, launch: u32, stream: u32) -> EventNumber {
        let known = &self.launches[launch as usize];
        if known.stream.is_some() {
            return if known.stream == Some(stream) { known.at_stream } else { EventNumber::NONE };
        }
        let found = self.marks.binary_search_by_key(&(launch, stream), |mark| (mark.launch, mark.stream));
        found.map_or(EventNumber::NONE, |at| self.marks[at].at_stream)
    }
}
