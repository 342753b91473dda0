//! Names of attributes with which a trace says what is missing in it, where its recorder was switched off for a while and
//! counted meanwhile. OTF2 has no records for that; readers that do not know the names pass them over.
//!
//! Messages of a *channel* (communicator, source, destination, tag) do not overtake each other, so the k-th send belongs to
//! the k-th receive that was posted (MPI 4.0, section 3.5); the k-th collective operation on a communicator is the same one
//! for all members (chapter 6). Where recording was switched off, k is the number of those before it in the trace, and of
//! those that are missing.

/// Of a message or a collective operation: how many of its channel, or on its communicator, are missing before it. It holds
/// for those that follow, until another one says otherwise; without any it is 0.
pub const UNRECORDED: &str = "Replay::Unrecorded";

/// Of a received message: when the receive was posted, if that is missing; in ticks of the location.
pub const POSTED: &str = "Replay::Posted";

/// Of a received message: some of its channel are missing whose receives were posted before others, and completed after
/// them. How many are missing before which is unknown from the first gap on.
pub const DISORDERED: &str = "Replay::Disordered";

/// Of `MeasurementOnOff`: what is missing is counted. A process that switches without it has lost count, from its first gap
/// on.
pub const COUNTED: &str = "Replay::Counted";
