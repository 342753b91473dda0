//! Completions: what completes something, and how long it takes (what-if 2.1).

use model::Ticks;

use super::compact::{Compact, Longer, Short};
use crate::ids::Row;

/// A call, or an event of threads, that completes something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Completion {
    /// Its mark. The mark before is its enter.
    pub mark: u32,
    /// The row of its call; [`Row::NONE`] of events of threads.
    pub row: Row,
    /// The overhead: it takes so many ticks from its enter at least.
    pub overhead: Ticks,
    /// The rest: so many ticks after all else is over.
    pub rest: Ticks,
    /// As the fits have it: the overhead of a call that completes messages; the median of its function for others.
    pub fitted: Ticks,
    /// It is an event of threads; else the leave of a call of MPI.
    pub is_of_threads: bool,
    /// Its waiting is not modelled: it takes as long as it did.
    pub is_kept: bool,
    /// It ends an operation of many members.
    pub is_of_many: bool,
    /// These are all processes of the trace.
    pub is_of_all: bool,
    /// It completes messages.
    pub completes_messages: bool,
}

impl Completion {
    /// Of a mark, in a row or of threads, that takes no time yet.
    pub(super) fn new(mark: u32, row: Row, is_of_threads: bool) -> Completion {
        Completion {
            mark,
            row,
            overhead: 0,
            rest: 0,
            fitted: 0,
            is_of_threads,
            is_kept: false,
            is_of_many: false,
            is_of_all: false,
            completes_messages: false,
        }
    }

    fn flags(&self) -> [bool; 5] {
        [self.is_of_threads, self.is_kept, self.is_of_many, self.is_of_all, self.completes_messages]
    }
}

/// A completion in 24 bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SmallCompletion {
    mark: u32,
    row: Row,
    overhead: Short,
    rest: Short,
    fitted: Short,
    flags: u8,
}

impl Compact for Completion {
    type Small = SmallCompletion;

    fn shrink(self, small: &mut SmallCompletion, longer: &mut Longer) {
        (small.mark, small.row) = (self.mark, self.row);
        longer.set(&mut small.overhead, self.overhead);
        longer.set(&mut small.rest, self.rest);
        longer.set(&mut small.fitted, self.fitted);
        small.flags = self.flags().into_iter().fold(0, |bits, flag| bits << 1 | u8::from(flag));
    }

    #[inline]
    fn expand(small: SmallCompletion, longer: &Longer) -> Completion {
        let [is_of_threads, is_kept, is_of_many, is_of_all, completes_messages] =
            [16, 8, 4, 2, 1].map(|bit| small.flags & bit != 0);
        Completion {
            mark: small.mark,
            row: small.row,
            overhead: longer.get(small.overhead),
            rest: longer.get(small.rest),
            fitted: longer.get(small.fitted),
            is_of_threads,
            is_kept,
            is_of_many,
            is_of_all,
            completes_messages,
        }
    }
}
