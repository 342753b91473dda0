//! Events in order of time: calls, messages and waits, from the tables of windows or from the trace.
//!
//! Formats read them from here, so that they do not care where events come from. Times are nanoseconds since the begin of
//! the trace.

mod counters;
mod nested;
mod tables;
mod trace;

pub(super) use counters::{Series, counters};
pub(super) use tables::{from_tables, stretches};

/// Where events happen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Place {
    /// Position of its process in the list of processes.
    pub(super) process: usize,
    /// Name of the process, such as `rank 3`.
    pub(super) process_name: String,
    /// Name of the thread.
    pub(super) thread_name: String,
    /// Position of the thread in its process.
    pub(super) thread: u64,
    /// Position of its node in the system tree.
    pub(super) node: usize,
    /// Whether it is selected.
    pub(super) is_selected: bool,
}

/// A function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Function {
    pub(super) name: String,
    /// `mpi`, `omp` or `user`.
    pub(super) category: &'static str,
}

/// A message of which both ends are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub(super) struct Message {
    /// The locations of both ends.
    pub(super) source: usize,
    pub(super) destination: usize,
    /// Times of the call that sends, and of the one that receives: enter or post, and leave.
    pub(super) send_enter: i64,
    pub(super) send_leave: i64,
    pub(super) post: i64,
    pub(super) receive_leave: i64,
    /// Bytes; negative if unknown, as communicator and tag.
    pub(super) bytes: i64,
    pub(super) tag: i64,
    pub(super) communicator: i64,
}

/// A wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub(super) struct Wait {
    /// The location that waits.
    pub(super) location: usize,
    pub(super) begin: i64,
    pub(super) end: i64,
    /// Ticks of the trace's clock.
    pub(super) ticks: i64,
    /// Position in the metrics of the manifest.
    pub(super) metric: Option<usize>,
    /// The call path of the report that it waits in.
    pub(super) cnode: Option<usize>,
    /// The location that is waited for, and when its call begins.
    pub(super) cause: Option<usize>,
    pub(super) cause_time: i64,
    /// Bytes of the message; negative if there is none.
    pub(super) bytes: i64,
}

impl Wait {
    /// Whether an arrow can lead from the cause to the end of the wait.
    pub(super) fn has_arrow(&self) -> bool {
        self.cause.is_some() && self.cause_time < self.end
    }
}

/// An event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Event {
    /// Nanoseconds since the begin of the trace.
    pub(super) time: i64,
    /// Position of the place.
    pub(super) location: usize,
    pub(super) what: What,
}

/// What happens. Messages and waits have numbers that both of their ends share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum What {
    /// A call begins: the position of its function.
    Enter { function: usize },
    /// The innermost call ends.
    Leave,
    /// A message is sent.
    Send(u64, Message),
    /// A message is received.
    Receive(u64, Message),
    /// A wait begins.
    WaitBegin(Wait),
    /// A wait ends.
    WaitEnd(u64, Wait),
    /// A call begins that somebody waits for.
    Cause(u64, Wait),
}

impl What {
    /// Order of what happens at one location at one time: messages and waits that end are within the call that ends, and
    /// those that begin within the one that begins.
    fn order(&self) -> u8 {
        match self {
            What::Receive(..) | What::WaitEnd(..) => 0,
            What::Enter { .. } | What::Leave => 1,
            What::WaitBegin(_) | What::Send(..) | What::Cause(..) => 2,
        }
    }
}

/// A stretch of the critical path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Stretch {
    pub(super) location: usize,
    pub(super) begin: i64,
    pub(super) end: i64,
    /// The call path with most of it.
    pub(super) cnode: Option<usize>,
}

/// Events with the places and functions that they refer to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Events {
    pub(super) places: Vec<Place>,
    pub(super) functions: Vec<Function>,
    /// In order of time.
    pub(super) events: Vec<Event>,
    /// The end of the trace.
    pub(super) end: i64,
}

/// Ticks as nanoseconds, rounded down, so that the order of times stays.
pub(super) fn nanoseconds(ticks: i64, per_second: u64) -> i64 {
    let per_second = if per_second == 0 { 1_000_000_000 } else { per_second };
    let nanoseconds = (i128::from(ticks) * 1_000_000_000).div_euclid(per_second.into());
    i64::try_from(nanoseconds).unwrap_or(if ticks < 0 { i64::MIN } else { i64::MAX })
}
