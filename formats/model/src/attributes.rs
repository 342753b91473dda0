//! Names of the attributes that mark gaps in a trace: stretches in which recording was off, and what was
//! counted meanwhile. OTF2 has no records for that; readers that do not know the names ignore them.
//!
//! Messages of a *channel* (communicator, source, destination, tag) do not overtake each other, so the k-th
//! send belongs to the k-th receive that was posted (MPI 4.0, section 3.5); the k-th collective operation on
//! a communicator is the same one for all members (chapter 6). Where recording was switched off, k counts the
//! operations before it in the trace and those that are missing.

/// Of a message or a collective operation: number of operations of its channel, or on its communicator, that
/// are missing before it. Valid until the next event that has the attribute; 0 before the first.
pub const UNRECORDED: &str = "Replay::Unrecorded";

/// Of a received message: time at which the receive was posted, if that event is missing; in ticks of the
/// location.
pub const POSTED: &str = "Replay::Posted";

/// Of a received message: its channel has missing receives that were posted before others and completed after
/// them. From the first gap on, the number of missing messages before each is unknown.
pub const DISORDERED: &str = "Replay::Disordered";

/// Of `MeasurementOnOff`: the operations in the gap are counted. A process that switches without it has
/// unknown counts from its first gap on.
pub const COUNTED: &str = "Replay::Counted";
