//! The counts of a location of a process that is profiled instead of traced: a mapped file with
//! [`PathCounts`] for each call path of [`mod@crate::paths`], at the position that is the path's number.
//!
//! The file is a [`ProfileHeader`] and then counts, all in the machine's byte order. It grows like the file
//! of paths, and may end before the counts of a path that was never entered; counts of zero are such paths,
//! too.
//!
//! **Invariant:** counts are up to date when a path has been entered and when it has been left. A process
//! that dies in between leaves one path, the last, that may lack its last visit.

/// The first eight bytes of the file.
pub const MAGIC: u64 = u64::from_ne_bytes(*b"RPLPRF02");

/// The header of a file of counts.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct ProfileHeader {
    /// [`MAGIC`].
    pub magic: u64,
    /// Time of the first event, in ticks of the process; 0 if there was none.
    pub first_time: u64,
    /// Time of the last event.
    pub last_time: u64,
    /// Visits of call paths that are not counted because there is no room for them.
    pub lost: u64,
    /// Size of a trace of this location so far.
    pub trace: TraceSize,
}

/// Size of a trace, or of a part of one.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct TraceSize {
    /// Number of events.
    pub events: u64,
    /// Bytes of event files, including what full chunks leave empty.
    pub bytes: u64,
    /// Number of times that a full buffer would have been written out.
    pub flushes: u64,
}

/// Bytes that MPI transfers.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct TransferredBytes {
    /// In messages that were sent.
    pub sent: u64,
    /// In messages that were received.
    pub received: u64,
    /// Sent in collective operations.
    pub outgoing: u64,
    /// Received in collective operations.
    pub incoming: u64,
    /// Put into the memory of others.
    pub put: u64,
    /// Got from the memory of others.
    pub got: u64,
}

/// The counts of a call path.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct PathCounts {
    /// Number of times that it was entered.
    pub visits: u64,
    /// Inclusive time in ticks, without the visit that is going on.
    pub time: u64,
    /// Time at which it was entered, if it has not been left; else 0.
    pub entered: u64,
    /// Bytes that MPI transferred in it, not in its callees.
    pub transfers: TransferredBytes,
    /// Size of its part of a trace: events at its start and end and between them, without its callees.
    pub trace: TraceSize,
}
