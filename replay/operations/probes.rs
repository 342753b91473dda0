//! Blocking probes (MPI 4.1, section 3.8).

use crate::ids::{CallId, EventNumber};

/// A probe that waits until there is a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Probe {
    /// Its call.
    pub call: CallId,
    /// The event of leaving it.
    pub position: EventNumber,
    /// The message.
    pub found: Found,
}

/// The receive of the message that a probe has found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    /// The trace says which message: it is received by the first receive of it that is posted behind so many others.
    Message {
        /// Position of the communicator in the definitions.
        communicator: u32,
        /// Rank of the sender.
        source: u32,
        /// Its tag.
        tag: u32,
        /// The number of receives that were posted before.
        after: u32,
    },
    /// The message was taken out of the queue: it is received by the receive with this [number](super::Receive::posted).
    Claimed(u32),
    /// The receive with this number, if the message was sent before the probe was left; no receive has the largest number.
    Posted(u32),
}
