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
    RecordingOff,
    Entered(usize),
    Left(usize),
    Joined,
}

/// The record at the end of a collective operation says of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Told {
    pub(crate) operation: CollectiveOp,
    pub(crate) communicator: usize,
    pub(crate) root: Option<u32>,
    pub(crate) sent: i64,
    pub(crate) received: i64,
    /// Groups of the neighbours that data comes from and goes to.
    pub(crate) neighbors: Option<[usize; 2]>,
}

/// An event of a location.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocationEvent {
    pub(crate) time: i64,
    /// The innermost call around it.
    pub(crate) call: Option<usize>,
    pub(crate) kind: EventKind,
}
