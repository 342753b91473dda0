//! What the exchange needs of an MPI library: words sent and received without waiting.

use std::ops::Range;
use std::sync::Arc;

use crate::error::Error;
use crate::exchange::Batch;

/// A message tag.
pub(super) type Tag = i32;

/// Access to an MPI library that was started. Dropping it ends MPI.
pub(super) trait Carrier: Sized + 'static {
    /// A message that MPI is sending, with its words. It must not be dropped before it is sent.
    type Sent;

    /// The number of this process in `MPI_COMM_WORLD`, and how many there are.
    fn rank_and_size(&self) -> (usize, usize);

    /// Sends a part of the words without waiting.
    fn send(&self, to: usize, tag: Tag, words: &Arc<Batch>, part: Range<usize>) -> Self::Sent;

    /// Whether a message was sent completely.
    fn is_sent(&self, sent: &mut Self::Sent) -> bool;

    /// Receives a message with this tag that has arrived, if there is one, from anybody or from this process; returns its sender,
    /// too. Calls `rest` between two looks at whether a large one is complete.
    fn receive(&self, from: Option<usize>, tag: Tag, rest: impl Fn()) -> Option<(usize, Batch)>;

    /// Sends words to all, and returns those of all one after the other; each has to give as many. Calls `rest` as above.
    fn all_gather(&self, words: &[u64], rest: impl Fn()) -> Vec<u64>;

    /// A function that ends the job.
    fn aborter(&self) -> Box<dyn Fn() + Send + Sync>;
}

/// Status of a job that is aborted.
pub(super) const ABORTED: i32 = 2;

/// The error of a library without `MPI_THREAD_FUNNELED`: of several threads of a process the first one calls MPI.
pub(super) fn without_threads() -> Error {
    Error::new("this MPI does not support processes with threads; use another one")
}

/// A rank or a number of words as MPI has it.
///
/// # Panics
/// If it is more than MPI can count.
pub(super) fn int(number: usize) -> i32 {
    i32::try_from(number).expect("MPI counts in 31 bits")
}

/// A rank or a number of words from MPI; 0 for the negative ones of errors.
pub(super) fn number(int: i32) -> usize {
    usize::try_from(int).unwrap_or(0)
}
