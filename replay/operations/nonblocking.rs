//! Non-blocking and persistent collective operations (MPI 4.1, sections 6.12 and 6.13).

use model::Ticks;
use patterns::matched::CollectiveClass;

use super::Neighbors;
use crate::ids::{CallId, EventNumber};

/// A process's part in a non-blocking collective operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NonBlocking {
    /// Time of its request.
    pub requested: Ticks,
    /// The call with the request.
    pub call: CallId,
    /// The event of the request.
    pub position: EventNumber,
    /// The number of a persistent operation among those on its communicator, if it is one and the trace says which.
    pub persistent: Option<u32>,
    /// What is known of its completion; `None` if it was never completed.
    pub done: Option<Done>,
}

/// The completion of a non-blocking collective operation: only this says which operation it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Done {
    /// Time of its record.
    pub time: Ticks,
    /// The call that completed the operation.
    pub call: CallId,
    /// The event.
    pub position: EventNumber,
    /// Its place in the order of completions of the process.
    pub order: u32,
    /// Position of the communicator in the definitions.
    pub communicator: u32,
    /// Its class; `None` for operations that are counted only.
    pub class: Option<CollectiveClass>,
    /// OTF2's code of the operation.
    pub operation: u8,
    /// Rank of the root in the communicator, or OTF2's number for none.
    pub root: u32,
    /// Bytes that this process sent.
    pub sent: u64,
    /// Bytes that this process received.
    pub received: u64,
    /// Its neighbours, in an operation among neighbours.
    pub neighbors: Option<Neighbors>,
}
