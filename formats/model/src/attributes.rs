//! Names of the attributes of events for what OTF2 has no records or fields for; readers that do not know the
//! names ignore them.
//!
//! Some mark gaps in a trace: stretches in which recording was off, and what was counted meanwhile. Messages of a *channel* (communicator, source, destination, tag) do not overtake each other, so the k-th
//! send belongs to the k-th receive that was posted (MPI 4.0, section 3.5); the k-th collective operation on
//! a communicator is the same one for all members (chapter 6). Where recording was switched off, k counts the
//! operations before it in the trace and those that are missing.

/// Of a message or a collective operation: number of operations of its channel, or on its communicator, that
/// are missing before it; of an operation among neighbours, of those alone. Valid until the next event that has the attribute; 0 before the first.
pub const UNRECORDED: &str = "Replay::Unrecorded";

/// Of a received message: time at which the receive was posted, if that event is missing; in ticks of the
/// location.
pub const POSTED: &str = "Replay::Posted";

/// Of a received message: its channel has missing receives that were posted before others and completed after
/// them. From the first gap on, the number of missing messages before each is unknown.
pub const DISORDERED: &str = "Replay::Disordered";

/// Of `MeasurementOnOff`: the operations in the gap are counted. A process that switches without it has
/// unknown counts from its first gap on. 2: what is missing is missing on all members of an operation, whatever it is, so that
/// nothing need be counted.
pub const COUNTED: &str = "Replay::Counted";

/// Of the leave of a probe that has found a message: the sender's rank in the communicator. In a trace that
/// defines the attribute, a probe without it has found nothing.
pub const PROBE_SOURCE: &str = "ProbeSource";

/// Likewise: the tag of the message.
pub const PROBE_TAG: &str = "ProbeTag";

/// Likewise: the communicator.
pub const PROBE_COMM: &str = "ProbeComm";

/// Of the end or completion of a collective operation among neighbours: the group of those that the process
/// receives from, each once, without `MPI_PROC_NULL`. These operations have the code of an all-to-all, since
/// OTF2 has none for them.
pub const NEIGHBORS_IN: &str = "NeighborsIn";

/// Likewise: the group of those that it sends to.
pub const NEIGHBORS_OUT: &str = "NeighborsOut";

/// Of the start of a persistent collective operation: the number of its initialization among those on the
/// communicator, from 0. Members may start several of them in different orders.
pub const PERSISTENT_OPERATION: &str = "PersistentOperation";

/// Of a message that was sent or received in partitions: the number of the pair of requests among those that were
/// initialized with the same communicator, source, destination and tag, from 1. MPI matches these in the order of
/// initialization, in whatever order they are started, and never with other messages: those of a pair are a channel
/// of their own.
pub const PARTITIONED: &str = "Partitioned";

/// Of the record of an epoch that begins, or of a fence: what the program asserts about it, if that is not 0,
/// in the bits of the MPI library (`MPI_MODE_NOCHECK`, …).
pub const ASSERTION: &str = "Assertion";

/// Of the leave of a call on a file that has no record of its own: the handle of the file.
pub const HANDLE: &str = "Handle";

/// Of the leave of a call of the C library that names a file by its path: the file. In traces that were recorded before
/// 2026-12, which lack [`HANDLE`], a handle: the same as that.
pub const FILE: &str = "File";
