//! What is inefficient in the I/O of a run (io.md 5.3). All of it needs a cost: a rule about ratios alone says nothing of a program.

use serde::{Deserialize, Serialize};

use crate::numbers::to_f64;

mod balance;
mod beneath;
mod families;
mod handling;
mod manner;
mod ranks;
mod requests;
mod waiting;

pub(crate) use balance::{straggler, unequal};
pub(crate) use beneath::of_bottoms;
pub(crate) use families::of_families;
pub(crate) use handling::{handling_storm, syncs, unused};
pub(crate) use manner::{buffered, nothing_overlaps};
pub use ranks::Busiest;
pub(crate) use ranks::{empty_members, one_rank};
pub(crate) use requests::{Known, RequestTotals, Totals, of_file};
pub(crate) use waiting::late;

/// What is inefficient.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flaw {
    /// One rank moves nearly all bytes of a file, and others wait for it.
    OneRank,
    /// Many requests are small.
    SmallRequests,
    /// Requests begin between blocks of the file system.
    Misaligned,
    /// Requests begin before the end of the one before.
    OutOfOrder,
    /// Ranks access a shared file by themselves, with strides or at random.
    Independent,
    /// Ranks read the same bytes several times.
    ReadAgain,
    /// Ranks read what they have written.
    OwnOutput,
    /// Ranks write to one block at one time.
    Contended,
    /// Most members of collective requests move nothing.
    EmptyMembers,
    /// One rank takes longer for a phase than others.
    Straggler,
    /// One rank moves more than others, and takes longer.
    UnequalAmounts,
    /// Files are flushed often, or that takes long.
    Syncs,
    /// Ranks wait for the last one in collective I/O.
    Late,
    /// Files are opened, closed and handled otherwise often.
    HandlingStorm,
    /// Most openings are for nothing.
    Unused,
    /// Bytes go through small buffers of ISO C.
    Buffered,
    /// Non-blocking operations take place where they are completed.
    NothingOverlaps,
    /// The MPI library moves more bytes than it was asked to.
    Amplified,
    /// Ranks move the pieces of their views themselves, although they call together.
    NotBuffered,
    /// Fewer ranks than there are nodes reach the file in collective calls.
    FewAggregators,
}

impl Flaw {
    /// Whether it concerns a time, in ticks of the clock.
    pub fn is_of_time(self) -> bool {
        matches!(self, Flaw::Straggler | Flaw::NothingOverlaps)
    }

    /// What it is, behind numbers and the name of the file, and what helps.
    pub fn text(self) -> (&'static str, &'static str) {
        match self {
            Flaw::OneRank => {
                ("bytes are moved by one rank", "collective I/O, or give the data to several ranks")
            }
            Flaw::SmallRequests => {
                ("requests are small", "larger requests, collective I/O, or a larger buffer")
            }
            Flaw::Misaligned => ("requests begin between blocks", "align them, or the hint striping_unit"),
            Flaw::OutOfOrder => {
                ("requests begin before the end of the one before", "sort them, or set a view")
            }
            Flaw::Independent => ("requests on a shared file are independent", "collective calls (…_all)"),
            Flaw::ReadAgain => ("bytes read were read before", "keep them in memory"),
            Flaw::OwnOutput => ("bytes read were written by the same rank", "keep them in memory"),
            Flaw::Contended => {
                ("writes share a block with one of another rank", "align the parts of ranks to blocks")
            }
            Flaw::EmptyMembers => ("members of collective calls move nothing", "a smaller communicator"),
            Flaw::UnequalAmounts => (
                "bytes of the rank that moves most are beyond the one that moves least",
                "equal parts, or collective I/O",
            ),
            Flaw::HandlingStorm => (
                "calls only handle files",
                "to keep files open, fewer files, or one rank that looks and tells the others",
            ),
            Flaw::Unused => ("openings are for nothing", "to open what is read or written only"),
            Flaw::Buffered => (
                "bytes go through small buffers of C",
                "setvbuf with a large buffer of your own, POSIX, or MPI-IO",
            ),
            Flaw::NothingOverlaps => (
                "of non-blocking operations lie within the calls that complete them",
                "to start them earlier",
            ),
            Flaw::Late => {
                ("collective operations have one rank as the last one", "to give it less to do before")
            }
            Flaw::Syncs => {
                ("writes have a flush behind and more writes after it", "to flush once, at the end")
            }
            Flaw::Straggler => (
                "of the slowest rank are beyond the median of ranks",
                "to find out what is wrong with that rank or its node",
            ),
            Flaw::Amplified => (
                "bytes asked for are moved by the MPI library",
                "the hints romio_ds_write and romio_ds_read, or collective calls",
            ),
            Flaw::NotBuffered => (
                "ranks of collective calls move the pieces of their views themselves",
                "the hints romio_cb_write, romio_cb_read and cb_nodes, or another fcoll of Open MPI",
            ),
            Flaw::FewAggregators => {
                ("ranks of collective calls reach the file, fewer than there are nodes", "the hint cb_nodes")
            }
        }
    }
}

/// Something inefficient.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Inefficiency {
    /// What it is.
    pub flaw: Flaw,
    /// The file, or the family of files.
    pub file: String,
    /// The rank, if it is one.
    pub rank: Option<u32>,
    /// How many requests, bytes or members it concerns, or ticks of the clock.
    pub concerned: u64,
    /// Of how many.
    pub of: u64,
    /// Its cost as a share of the run: time of the requests concerned at the slowest rank; or waiting, as a share of the time of all.
    pub cost: f64,
    /// Whether the cost may have another cause.
    pub is_possible: bool,
    /// The call path in the report of the first call concerned, if they are those of one phase.
    pub call_path: Option<u32>,
}

impl Inefficiency {
    /// About no rank and no call path.
    fn new(flaw: Flaw, file: &str, (concerned, of): (u64, u64), cost: f64) -> Inefficiency {
        let file = file.to_owned();
        Inefficiency { flaw, file, rank: None, concerned, of, cost, is_possible: false, call_path: None }
    }
}

/// A time as a share of the run, both in ticks.
pub(crate) fn share_of(ticks: u64, run: u64) -> f64 {
    share_of_part(to_f64(ticks), run)
}

/// The same of a time that is no whole number of ticks.
fn share_of_part(ticks: f64, run: u64) -> f64 {
    if run > 0 { ticks / to_f64(run) } else { 0.0 }
}
