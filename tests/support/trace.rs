//! A trace as its script describes it: processes, threads, and their events.

use std::collections::BTreeMap;

use model::{CollectiveOp, Paradigm};

use super::regions::Properties;

/// A whole trace.
#[derive(Clone, Debug)]
pub(crate) struct Trace {
    /// Ticks per second.
    pub(crate) resolution: u64,
    /// Reading of the clock at the start of the trace; times of the script count from there.
    pub(crate) offset: u64,
    pub(crate) big_endian: bool,
    /// Program of all processes, unless a stream has its own.
    pub(crate) program: Option<String>,
    /// Whether the definitions lack the numbers of events.
    pub(crate) uncounted: bool,
    /// Communicators beside `world` and `self`.
    pub(crate) communicators: Vec<(String, Members)>,
    /// Windows, each with the name of its communicator.
    pub(crate) windows: Vec<(String, String)>,
    /// Open files, each with the name of the communicator that has opened it together.
    pub(crate) files: Vec<(String, Option<String>)>,
    /// Properties of files: the file, name and value.
    pub(crate) file_properties: Vec<(String, &'static str, u64)>,
    /// Texts of attributes.
    pub(crate) texts: Vec<String>,
    /// Regions with other properties than their names suggest.
    pub(crate) regions: BTreeMap<String, Properties>,
    /// Calling contexts; parents come first.
    pub(crate) contexts: Vec<Context>,
    pub(crate) streams: Vec<Stream>,
}

impl Trace {
    /// The classes of metrics that it has, by their references: instructions at least, and all before one that has values.
    pub(crate) fn metric_classes(&self) -> &'static [MetricClass] {
        let events = self.streams.iter().flat_map(|stream| &stream.events);
        let class = |(_, step): &(u64, Step)| match step {
            Step::Metric(class, _) => Some(*class as usize),
            _ => None,
        };
        let last = events.filter_map(class).max().unwrap_or(0);
        &MetricClass::ALL[..=last]
    }
}

impl Default for Trace {
    fn default() -> Trace {
        Trace {
            resolution: 1_000_000_000,
            offset: 1000,
            big_endian: false,
            program: None,
            uncounted: false,
            communicators: Vec::new(),
            windows: Vec::new(),
            files: Vec::new(),
            file_properties: Vec::new(),
            texts: Vec::new(),
            regions: BTreeMap::new(),
            contexts: Vec::new(),
            streams: Vec::new(),
        }
    }
}

/// The members of a communicator, as ranks of `world`.
#[derive(Clone, Debug)]
pub(crate) enum Members {
    Ranks(Vec<u64>),
    Sides(Vec<u64>, Vec<u64>),
}

/// A calling context by name.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    pub(crate) name: String,
    pub(crate) region: String,
    pub(crate) parent: Option<String>,
    /// Line of the call in `prog.c`.
    pub(crate) line: Option<u32>,
}

/// A class of one metric, by its reference.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MetricClass {
    Instructions,
    Cycles,
    /// Real numbers, of which those of scripts are half a joule more than they say.
    Joules,
    /// States: in thousands of hertz, at a time.
    Kilohertz,
    /// States in units of 1,024 bytes, from then on.
    Kibibytes,
}

impl MetricClass {
    const ALL: [MetricClass; 5] = [
        MetricClass::Instructions,
        MetricClass::Cycles,
        MetricClass::Joules,
        MetricClass::Kilohertz,
        MetricClass::Kibibytes,
    ];

    /// The name and the unit of its metric.
    pub(crate) fn name_and_unit(self) -> [&'static str; 2] {
        match self {
            MetricClass::Instructions => ["PAPI_TOT_INS", "#"],
            MetricClass::Cycles => ["PAPI_TOT_CYC", "#"],
            MetricClass::Joules => ["energy", "J"],
            MetricClass::Kilohertz => ["frequency", "Hz"],
            MetricClass::Kibibytes => ["in use", "B"],
        }
    }

    /// Its mode (`OTF2_MetricMode`), base (`OTF2_Base`), and exponent.
    pub(crate) fn mode_and_scale(self) -> (u8, u8, i64) {
        match self {
            MetricClass::Instructions | MetricClass::Cycles | MetricClass::Joules => (0, 1, 0),
            MetricClass::Kilohertz => (0x11, 1, 3),
            MetricClass::Kibibytes => (0x31, 0, 10),
        }
    }
}

/// Kind of a stream of events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StreamKind {
    Thread,
    Accelerator,
    Metric,
}

/// The events of one location.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    pub(crate) rank: u32,
    /// The thread's number in its team.
    pub(crate) thread: u32,
    /// Number of the location within its process in the archive, if that is not the thread's.
    pub(crate) id: Option<u32>,
    pub(crate) kind: StreamKind,
    /// Program, if it is not the trace's.
    pub(crate) program: Option<String>,
    /// Clock offsets: local time, and by how much the global clock was ahead.
    pub(crate) clock: Vec<(u64, i64)>,
    /// Whether its events use local references, with mapping tables.
    pub(crate) mapped: bool,
    /// Whether its event file is deleted after writing.
    pub(crate) missing: bool,
    /// The device of an accelerator's stream.
    pub(crate) device: u32,
    /// The node of the process, if it is another one than that of all.
    pub(crate) node: Option<String>,
    /// Number of bytes cut off the end of its event file.
    pub(crate) cut: u64,
    pub(crate) events: Vec<(u64, Step)>,
}

impl Stream {
    /// The main thread of a process, without events yet.
    pub(crate) fn new(rank: u32) -> Stream {
        Stream {
            rank,
            thread: 0,
            id: None,
            kind: StreamKind::Thread,
            program: None,
            clock: Vec::new(),
            mapped: false,
            missing: false,
            device: 0,
            node: None,
            cut: 0,
            events: Vec::new(),
        }
    }

    /// Reference of the location, composed as in Score-P.
    pub(crate) fn reference(&self) -> u64 {
        u64::from(self.id.unwrap_or(self.thread)) << 32 | u64::from(self.rank)
    }

    /// Appends an event.
    pub(crate) fn at(&mut self, time: u64, step: Step) {
        self.events.push((time, step));
    }
}

/// A message from the perspective of one side.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Message {
    pub(crate) peer: u32,
    pub(crate) tag: u32,
    pub(crate) bytes: u64,
    pub(crate) communicator: String,
}

/// An event at a window.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum AtWindow {
    CollectiveEnd(CollectiveOp),
    /// Synchronisation of the members of a communicator.
    GroupSync {
        group: String,
        level: u32,
    },
    /// A lock of a rank, or of all.
    RequestLock {
        target: Option<u32>,
        is_shared: bool,
    },
    ReleaseLock {
        target: Option<u32>,
    },
    Put {
        target: u32,
        bytes: u64,
    },
    Get {
        target: u32,
        bytes: u64,
    },
    Atomic {
        target: u32,
        sent: u64,
        received: u64,
    },
    /// Accesses with that number are complete.
    Complete(u64),
}

/// An event of an open file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum OfFile {
    Create,
    Destroy,
    /// Begins the operation with that number; modes and flags as in OTF2.
    Begin {
        operation: u64,
        mode: u8,
        flags: u32,
        bytes: u64,
    },
    /// Completes the operation with that number, which has moved so many bytes.
    Complete(u64, u64),
    /// Cancels the operation with that number.
    Cancel(u64),
    /// Moves the pointer there, from the start.
    Seek(u64),
}

/// Direction of a copy on a stream of an accelerator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CopyDirection {
    ToDevice,
    ToHost,
    OnDevice,
}

/// An event, with names instead of numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    Enter(String),
    /// Leaves the innermost region that the script entered.
    Leave,
    LeaveRegion(String),
    Send(Message),
    Isend(Message, u64),
    IsendComplete(u64),
    IrecvRequest(u64),
    Recv(Message),
    Irecv(Message, u64),
    Test(u64),
    Cancel(u64),
    Probe(Message, u64),
    Mrecv {
        message: u64,
        bytes: u64,
    },
    ImrecvRequest {
        message: u64,
        request: u64,
    },
    Imrecv {
        request: u64,
        bytes: u64,
    },
    /// The creation of a communicator.
    CommCreate(String),
    CollectiveBegin,
    CollectiveEnd {
        operation: CollectiveOp,
        root: Option<u32>,
        sent: u64,
        received: u64,
        communicator: String,
    },
    NonBlockingRequest(u64),
    NonBlockingComplete {
        operation: CollectiveOp,
        root: Option<u32>,
        sent: u64,
        received: u64,
        communicator: String,
        request: u64,
    },
    WindowCollectiveBegin,
    /// An event at the window of that name.
    Window(String, AtWindow),
    /// An event of the file of that name.
    File(String, OfFile),
    Fork,
    Join,
    TeamBegin,
    TeamEnd,
    /// Task events: the thread of the team that created the task, and its number there; 0 is the thread's
    /// implicit task.
    TaskCreate(u32, u32),
    TaskSwitch(u32, u32),
    TaskComplete(u32, u32),
    Acquire {
        model: Paradigm,
        lock: u32,
        order: u32,
    },
    Release {
        model: Paradigm,
        lock: u32,
        order: u32,
    },
    Recording(bool),
    Flush {
        until: u64,
    },
    ContextEnter(String, u32),
    ContextLeave(String),
    Sample(String, u32),
    /// Values of a class of metrics: instructions, or cycles.
    Metric(MetricClass, u64),
    /// Enters a function of an accelerator, with attributes by name of that event and of the one that leaves it.
    Offload {
        region: &'static str,
        at_enter: Vec<(&'static str, u64)>,
        at_leave: Vec<(&'static str, u64)>,
    },
    /// A copy on a stream of an accelerator, with its end.
    Copy {
        direction: CopyDirection,
        bytes: u64,
        until: u64,
    },
    /// A parameter of the region has a value.
    Parameter(String, u64),
    /// An event with attributes by name; times are as those of events.
    WithAttributes(Box<Step>, Vec<(&'static str, u64)>),
}
