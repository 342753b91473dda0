//! Events of a location, as far as the analysis uses them.

use model::CollectiveOp;

/// Envelope of a message from the perspective of one side, with ranks of the communicator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Envelope {
    pub(crate) communicator: usize,
    pub(crate) peer: u32,
    pub(crate) tag: u32,
    pub(crate) bytes: i64,
}

/// Kind of an event, with its fields.
#[derive(Clone, Copy, Debug)]
pub(crate) enum EventKind {
    Send(Envelope),
    Isend(Envelope, u64),
    IsendComplete(u64),
    IrecvRequest(u64),
    Recv(Envelope),
    Irecv(Envelope, u64),
    Test(u64),
    Cancelled(u64),
    Probe(Envelope, u64),
    Mrecv {
        message: u64,
        bytes: i64,
    },
    ImrecvRequest {
        message: u64,
        request: u64,
    },
    Imrecv {
        request: u64,
        bytes: i64,
    },
    CollectiveBegin,
    CollectiveEnd(Told),
    /// With the number of the persistent operation on its communicator.
    CollectiveRequest(u64, Option<u64>),
    CollectiveComplete(Told, u64),
    /// At a window, by its number among the sets of processes.
    Window(usize, AtWindow),
    /// Of a file that several processes may have opened together, by its number among the sets of processes.
    File(usize, OfFile),
    /// Something is complete of which no more is known.
    Completed,
    RecordingOff,
    Entered(usize),
    Left(usize),
    Joined,
}

/// An event at a window. Targets are ranks in the window; without one all are meant.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AtWindow {
    /// The end of a collective operation.
    End(CollectiveOp),
    GroupSync {
        group: usize,
        level: u32,
    },
    RequestLock {
        target: Option<u32>,
        is_exclusive: bool,
    },
    ReleaseLock(Option<u32>),
    /// With the bytes that are put and that are got.
    Access {
        target: u32,
        bytes: [i64; 2],
    },
    /// Accesses are complete.
    Completed,
}

/// An event of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum OfFile {
    /// A handle is created or destroyed, or all do something else with it.
    Handled(CollectiveOp),
    /// Begin of an operation, of all or of the process alone.
    Begin {
        id: u64,
        mode: u8,
        is_collective: bool,
        is_blocking: bool,
    },
    Complete(u64),
}

/// The record at the end of a collective operation says of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Told {
    pub(crate) operation: CollectiveOp,
    /// The number among the sets of processes.
    pub(crate) communicator: usize,
    pub(crate) root: Option<u32>,
    pub(crate) sent: i64,
    pub(crate) received: i64,
    /// Groups of the neighbours that data comes from and goes to.
    pub(crate) neighbors: Option<[usize; 2]>,
}

impl Told {
    /// Of an operation of the members of a set of processes that moves no data among them, and has no root.
    pub(crate) fn without_data(operation: CollectiveOp, set: usize) -> Told {
        Told { operation, communicator: set, root: None, sent: 0, received: 0, neighbors: None }
    }
}

/// An event of a location.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocationEvent {
    pub(crate) time: i64,
    /// The innermost call around it.
    pub(crate) call: Option<usize>,
    pub(crate) kind: EventKind,
}
