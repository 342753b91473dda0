//! Pairing of the messages of a channel: those with the same number on both sides.
//!
//! The number of a message is its index on its side in the trace, plus the number of missing messages before
//! it that the trace has. Where recording was interrupted without counting, numbers are known up to there
//! only. If both sides have recorded equally many messages then, these are paired. Where recording was
//! switched off on purpose, which may well separate a message from its partner, they are not paired if a pair
//! contradicts that; the others cannot be verified. Nor are they paired if missing messages were counted
//! before.

use crate::options::Semantics;
use crate::wire::wire;

/// Number of missing messages of a channel from a message on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct NumberRun {
    /// Index of the message among those of the channel in the trace.
    pub(super) first: u32,
    pub(super) missing: u64,
}

wire!(NumberRun { first, missing });

/// The messages that one side has recorded of a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Extent<'a> {
    /// Number of recorded messages.
    pub(super) count: usize,
    /// Number of messages with known numbers, which come first.
    pub(super) sure: usize,
    /// Whether the other numbers are unknown because recording was switched off.
    pub(super) was_off: bool,
    /// Whether recording has paused, so that some are likely to be missing.
    pub(super) was_paused: bool,
    /// Numbers of missing messages, in ascending order of indices.
    pub(super) runs: &'a [NumberRun],
}

/// The other side of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Other {
    /// The message at this index.
    Is(usize),
    /// The message at this index, only by equal numbers of messages behind a gap.
    Seems(usize),
    /// Unknown.
    Unknown,
    /// Missing.
    Nobody,
}

impl<'a> Extent<'a> {
    /// Indices of the messages, each with its number.
    fn numbers(self) -> impl Iterator<Item = (usize, u64)> + 'a {
        let (mut runs, mut missing) = (self.runs.iter().peekable(), 0);
        (0..self.count).map(move |at| {
            while let Some(run) = runs.next_if(|run| run.first as usize <= at) {
                missing = run.missing;
            }
            (at, at as u64 + missing)
        })
    }

    /// Smallest possible number of a message with unknown number.
    fn first_unknown(self) -> u64 {
        let Some(last) = self.sure.checked_sub(1) else { return 0 };
        let behind = self.runs.partition_point(|run| run.first as usize <= last);
        let missing = behind.checked_sub(1).map_or(0, |at| self.runs[at].missing);
        last as u64 + missing + 1
    }
}

/// The other side of each message of one side, in order. `contradicts` returns whether two messages, given by
/// index, cannot be a pair.
pub(super) fn pair(
    mine: Extent<'_>,
    theirs: Extent<'_>,
    semantics: Semantics,
    contradicts: impl Fn(usize, usize) -> bool,
    mut tell: impl FnMut(usize, Other),
) {
    let is_doubted = (mine.was_off || theirs.was_off) && semantics.doubts_partners();
    let sure = if is_doubted { mine.sure.min(theirs.sure) } else { mine.count };
    let are_alike = mine.runs.is_empty() && theirs.runs.is_empty() && mine.count == theirs.count;
    let are_known = mine.sure == mine.count && theirs.sure == theirs.count;
    let may_lack = !are_known && (mine.was_paused || theirs.was_paused);
    if are_alike && !may_lack && !(sure..mine.count).any(|at| contradicts(at, at)) {
        (0..sure).for_each(|at| tell(at, Other::Is(at)));
        (sure..mine.count).for_each(|at| tell(at, Other::Seems(at)));
        return;
    }
    let mut others = theirs.numbers().take(theirs.sure).peekable();
    let first_unknown = if theirs.sure < theirs.count { theirs.first_unknown() } else { u64::MAX };
    let mut pairs = 0;
    for (at, number) in mine.numbers() {
        let is_sure = at < mine.sure;
        while is_sure && others.next_if(|&(_, other)| other < number).is_some() {}
        let is_unknown = if is_sure { number >= first_unknown } else { pairs < theirs.count };
        match others.next_if(|&(_, other)| is_sure && other == number) {
            Some((other, _)) => {
                pairs += 1;
                tell(at, Other::Is(other));
            }
            None if is_unknown && semantics.doubts_partners() => tell(at, Other::Unknown),
            None => tell(at, Other::Nobody),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Other::{Is, Nobody, Seems, Unknown};
    use super::*;

    fn extent(count: usize, sure: usize, runs: &[NumberRun]) -> Extent<'_> {
        Extent { count, sure, was_off: sure < count, was_paused: false, runs }
    }

    fn paired(mine: Extent<'_>, theirs: Extent<'_>, contradicted: &[usize]) -> Vec<Other> {
        let mut told = Vec::new();
        let contradicts = |mine: usize, theirs: usize| mine == theirs && contradicted.contains(&mine);
        pair(mine, theirs, Semantics::Corrected, contradicts, |at, other| {
            assert_eq!(at, told.len());
            told.push(other);
        });
        told
    }

    #[test]
    fn without_gaps_only_the_last_ones_can_be_missing() {
        assert_eq!(paired(extent(2, 2, &[]), extent(3, 3, &[]), &[0, 1]), [Is(0), Is(1)]);
        assert_eq!(paired(extent(3, 3, &[]), extent(2, 2, &[]), &[]), [Is(0), Is(1), Nobody]);
    }

    #[test]
    fn missing_messages_leave_their_partners_alone() {
        // Numbers on this side are 0, 1, 4, 5, 8; on the other one 0, 3, 4, 5, 6.
        let mine = [NumberRun { first: 2, missing: 2 }, NumberRun { first: 4, missing: 4 }];
        let theirs = [NumberRun { first: 1, missing: 2 }];
        let (mine, theirs) = (extent(5, 5, &mine), extent(5, 5, &theirs));
        assert_eq!(paired(mine, theirs, &[0, 1, 2, 3, 4]), [Is(0), Nobody, Is(2), Is(3), Nobody]);
        assert_eq!(paired(theirs, mine, &[]), [Is(0), Nobody, Is(2), Is(3), Nobody]);
    }

    #[test]
    fn after_a_gap_that_nobody_counted_equal_numbers_seem_to_match_unless_that_cannot_be() {
        let (one, other) = (extent(4, 4, &[]), extent(4, 1, &[]));
        assert_eq!(paired(one, other, &[0]), [Is(0), Seems(1), Seems(2), Seems(3)]);
        assert_eq!(paired(one, other, &[2]), [Is(0), Unknown, Unknown, Unknown]);
        assert_eq!(paired(other, one, &[2]), [Is(0), Unknown, Unknown, Unknown]);
        let mut told = Vec::new();
        pair(other, one, Semantics::Reference, |_, _| true, |_, other| told.push(other));
        assert_eq!(told, [Is(0), Is(1), Is(2), Is(3)]);
        // If a side has paused before, some messages are likely to be missing.
        let paused = Extent { was_paused: true, ..one };
        assert_eq!(paired(paused, other, &[]), [Is(0), Unknown, Unknown, Unknown]);
        assert_eq!(paired(other, paused, &[]), [Is(0), Unknown, Unknown, Unknown]);
        // If recording was not switched off, wrong clocks are more likely.
        assert_eq!(paired(one, Extent { was_off: false, ..other }, &[2]), [Is(0), Is(1), Is(2), Is(3)]);
    }

    #[test]
    fn after_a_gap_unequal_numbers_match_only_before_it() {
        assert_eq!(paired(extent(2, 1, &[]), extent(3, 3, &[]), &[]), [Is(0), Unknown]);
        assert_eq!(paired(extent(3, 3, &[]), extent(2, 1, &[]), &[]), [Is(0), Unknown, Unknown]);
        // The missing messages are the last ones: none is left.
        assert_eq!(paired(extent(3, 3, &[]), extent(1, 1, &[]), &[]), [Is(0), Nobody, Nobody]);
    }

    #[test]
    fn message_whose_number_is_known_may_be_missing_where_others_are_unknown() {
        // Numbers on the other side are 0, 5, and two unknown; on this one 0, 1, 2, …
        let theirs = [NumberRun { first: 1, missing: 4 }];
        let expected = [Is(0), Nobody, Nobody, Nobody, Nobody, Is(1), Unknown];
        assert_eq!(paired(extent(7, 7, &[]), extent(4, 2, &theirs), &[]), expected);
        assert_eq!(paired(extent(4, 2, &theirs), extent(7, 7, &[]), &[]), [Is(0), Is(5), Unknown, Unknown]);
    }
}
