//! The counts of a location whose process is profiled instead of traced: a mapped file with one [`Entry`] for each call
//! path of [`mod@crate::paths`], at the position that is the path's number.
//!
//! The file is a [`Header`] and then entries, all in the machine's byte order. It grows like the file of paths, and may
//! end before the entry of a path that was never entered; entries of zeros are such paths, too.
//!
//! **Invariant:** an entry is up to date when a path has been entered and when it has been left. A process that dies in
//! between leaves one path, the last, that may lack its last visit.

/// The first eight bytes of the file.
pub const MAGIC: u64 = u64::from_ne_bytes(*b"RPLPRF01");

/// The header of a file of counts.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Header {
    /// [`MAGIC`].
    pub magic: u64,
    /// When something happened first, in ticks of the process; 0 if nothing has.
    pub first_time: u64,
    /// When something happened last.
    pub last_time: u64,
    /// Visits of call paths that are not counted because there is no room for them.
    pub lost: u64,
    /// What the trace of this location would have so far.
    pub trace: Trace,
}

/// Size of a trace, or of a part of one.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Trace {
    /// Number of events.
    pub events: u64,
    /// Bytes of event files, what full chunks leave empty included.
    pub bytes: u64,
    /// How often a full buffer would have been written out.
    pub flushes: u64,
}

/// Data that MPI moves, in bytes.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Transfers {
    /// Messages that were sent.
    pub sent: u64,
    /// Messages that were received.
    pub received: u64,
    /// What was put into collective operations.
    pub outgoing: u64,
    /// What was got from collective operations.
    pub incoming: u64,
}

/// What was counted of a call path.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Entry {
    /// How often it was entered.
    pub visits: u64,
    /// Ticks between entering and leaving it, what it called included; without the visit that is going on.
    pub time: u64,
    /// When it was entered, if it has not been left; else 0.
    pub entered: u64,
    /// Data that MPI has moved in it, not in what it called.
    pub transfers: Transfers,
    /// What a trace would have of it: events at its begin and end and between them, without what it called.
    pub trace: Trace,
}
