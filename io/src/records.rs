//! Records of file access, as a walk takes them, and what comes out of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::access::{Kind, Layer, Pointer};
use crate::beneath::Beneath;
use crate::facts::FileFacts;
use crate::finding::Findings;
use crate::operation::Caller;
use crate::simple::Simple;
use crate::together::Together;
use crate::transfers::Transfers;

/// How a file is opened.
#[derive(Clone, Copy, Debug)]
pub struct Opening<'a> {
    /// Number of the file, the same at all ranks.
    pub file: u32,
    /// The library.
    pub layer: Layer,
    /// Members of the communicator, if there is one.
    pub members: Option<u64>,
    /// Whether the pointer begins at the end of the file.
    pub append: bool,
    /// Bytes of the file then, if they are known.
    pub size: Option<u64>,
    /// Whether caches are avoided.
    pub direct: bool,
    /// Hints, `key=value;…`, sorted.
    pub hints: Option<&'a str>,
    /// Whether views are recorded. If not, offsets are in etypes of an unknown view (io.md 3.3).
    pub has_views: bool,
    /// Whether a library opens the file within an opening that the program has asked for. It is none of its own: how many there
    /// are differs between ranks and libraries.
    pub is_nested: bool,
    /// Whether it was open before the first record. Then it is unknown where its pointer is until something tells.
    pub was_open: bool,
}

/// From where a seek counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Whence {
    /// The begin of the file, or of the view.
    Start,
    /// The pointer.
    Current,
    /// Something else: the end, data, holes.
    Other,
}

/// An operation that begins.
#[derive(Clone, Copy, Debug)]
pub struct Begin {
    /// Whether it reads or writes.
    pub kind: Kind,
    /// Whether all members of the communicator call.
    pub collective: bool,
    /// Whether the call may return before the bytes have moved; so do calls in two parts.
    pub non_blocking: bool,
    /// What says where it begins.
    pub pointer: Pointer,
    /// Where it begins, in etypes: of explicit offsets; and of others if somebody knows it, such as after appending.
    pub offset: Option<u64>,
    /// Bytes asked for.
    pub requested: Option<u64>,
    /// When, in ticks of the clock.
    pub begin: u64,
    /// Communication calls that were completed (io.md 4.1).
    pub tick: u64,
    /// Blocking collective operations on all ranks that were completed (io.md 4.1).
    pub epoch: u64,
    /// Who asks for it.
    pub caller: Caller,
}

/// A request of POSIX that the MPI library has made within an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// Bytes moved.
    pub bytes: u64,
    /// How many ticks of the clock it took.
    pub ticks: u64,
}

/// What an operation is found by when it ends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Id {
    /// The location.
    pub location: u64,
    /// The handle.
    pub handle: u64,
    /// The number of the record.
    pub number: u64,
}

/// What a walk keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Calls that communicate which a burst bears between two operations (io.md 4.2).
    pub gap: u64,
    /// How many transfers on a file are kept at most, for bytes that are read again and blocks that are contended (io.md 5.2). Of more
    /// of them none is.
    pub transfers: u64,
    /// Requests of fewer bytes are small.
    pub small_bytes: u64,
    /// Whether what is written to streams of ISO C is recorded as it goes to the system, not as it is put into their buffers.
    pub has_exact_streams: bool,
}

/// All that comes out of the records of a rank.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub struct Walked {
    /// Its simple phases, by file.
    pub simple: Vec<Simple>,
    /// What it did to each file.
    pub facts: BTreeMap<u32, FileFacts>,
    /// Its transfers by file, if they were to be kept.
    pub transfers: BTreeMap<u32, Transfers>,
    /// Its collective calls by handle.
    pub together: BTreeMap<u64, Together>,
    /// What its operations of MPI-IO became, by file.
    pub beneath: BTreeMap<u32, Vec<Beneath>>,
    /// What is wrong or unknown.
    pub findings: Findings,
}

impl Walked {
    /// The collective calls by a handle of a file, if several have opened it together; nothing is kept of others.
    pub(crate) fn together(&mut self, handle: u64, file: u32, members: u64) -> Option<&mut Together> {
        let new = || Together { file, members, ..Together::default() };
        (members > 1).then(|| self.together.entry(handle).or_insert_with(new))
    }
}
