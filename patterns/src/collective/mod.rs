//! Synchronisation in collective operations: a file for each class of operations (specification 6).
//!
//! A rule sees all members at once. It returns which of them synchronise, and since when each could continue;
//! the waiting time of a member follows from that alone
//! ([`CollectiveMember`](crate::matched::CollectiveMember)), and the patterns turn it into metrics.

mod all_to_all;
mod all_to_one;
mod between;
mod closed;
mod everyone;
mod handle;
mod neighborhood;
mod nonblocking;
mod one_to_all;
mod scan;
mod soft;
mod timed;

use model::Ticks;

use crate::matched::CollectiveClass;

pub use between::awaited_between;
pub use neighborhood::awaited_among;
pub use nonblocking::{Awaited, awaited_by_each};

/// A member's own records of the operation: start, end and amounts of data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemberRecord {
    /// Start of the operation (`MpiCollectiveBegin`).
    pub begin: Ticks,
    /// End of the operation (`MpiCollectiveEnd`).
    pub end: Ticks,
    /// Bytes that it sent.
    pub sent: u64,
    /// Bytes that it received.
    pub received: u64,
}

/// The members of an operation. There may be very many, so they are accessed through functions, not copied.
#[derive(Clone, Copy)]
pub struct Members<'a> {
    /// Number of members.
    pub count: usize,
    /// The record of the member at a position; positions are in any order.
    pub record: &'a dyn Fn(usize) -> MemberRecord,
    /// Position of the root; `None` in operations without one, and where members disagree.
    pub root: Option<usize>,
    /// The positions in the order of ranks; called only where ranks decide.
    pub by_rank: &'a dyn Fn() -> Vec<usize>,
    /// Whether a member may end before others that are awaited have begun, because the trace does not say who needs whom.
    pub is_soft: bool,
}

/// Synchronisation point of a member.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Synchronisation {
    /// Start of the last member that it waits for.
    pub last_begin: Ticks,
    /// End of the first of the members that synchronise.
    pub first_end: Ticks,
}

/// Synchronisation point of each member, by position; `None` if it does not synchronise.
pub type Synchronisations = Vec<Option<Synchronisation>>;

/// Applies the rule of a class; `None` if no member synchronises.
pub fn synchronise(class: CollectiveClass, members: Members<'_>) -> Option<Synchronisations> {
    match class {
        CollectiveClass::Init | CollectiveClass::Finalize | CollectiveClass::Barrier => {
            everyone::synchronise(members)
        }
        CollectiveClass::OneToAll => one_to_all::synchronise(members),
        CollectiveClass::AllToOne => all_to_one::synchronise(members),
        CollectiveClass::AllToAll => all_to_all::synchronise(members),
        CollectiveClass::Scan => Some(scan::synchronise(members)),
        CollectiveClass::Handle
        | CollectiveClass::Disconnect
        | CollectiveClass::WindowCreation
        | CollectiveClass::WindowRelease
        | CollectiveClass::Fence => handle::synchronise(members),
        CollectiveClass::FileHandling | CollectiveClass::FileTransfer => closed::synchronise(members),
        // Each member waits for a neighbour of its own.
        CollectiveClass::Neighborhood => None,
    }
}

/// Returns the position of the member that a member waits for: the root, or the last of those that it has to
/// wait for, the lowest rank among equals; `None` if it waits for none. `synchronisation` is an element of
/// the result of [`synchronise`].
pub fn awaited(
    class: CollectiveClass,
    members: Members<'_>,
    synchronisation: impl Fn(usize) -> Option<Synchronisation>,
    who: usize,
) -> Option<usize> {
    let last_begin = synchronisation(who)?.last_begin;
    let is_last = |at: usize| (members.record)(at).begin == last_begin;
    let gives = has_several_awaited(class, members).then(|| giver(class, members));
    let is_awaited = |&at: &usize| match (class, &gives) {
        (CollectiveClass::OneToAll, _) => members.root == Some(at),
        (CollectiveClass::AllToOne, _) => (members.record)(at).sent > 0 && is_last(at),
        (_, Some(gives)) => gives((members.record)(at)) && is_last(at),
        (_, None) => synchronisation(at).is_some() && is_last(at),
    };
    let mut candidates = (0..members.count).filter(is_awaited);
    let (first, others) = (candidates.next(), candidates.next());
    if others.is_none() { first } else { (members.by_rank)().into_iter().find(is_awaited) }
}

/// Whether members may wait for different ones: then each waits for the lowest rank of those that [give](giver) and began
/// at its last begin.
pub fn has_several_awaited(class: CollectiveClass, members: Members<'_>) -> bool {
    awaits_everyone_softly(class)
        || class == CollectiveClass::Scan
        || class == CollectiveClass::AllToAll && members.is_soft
}

/// Returns whether a member may be one that others wait for, in an operation in which these may be different ones.
pub fn giver(class: CollectiveClass, members: Members<'_>) -> impl Fn(MemberRecord) -> bool {
    let takers_count = class == CollectiveClass::AllToAll && all_to_all::together(members).is_some();
    let everyone_counts = awaits_everyone_softly(class);
    move |record| everyone_counts || record.sent > 0 || takers_count && record.received > 0
}

/// Whether each member waits for the last one that came before it left, whatever data it has: in the creation and the release
/// of handles, and in fences.
pub fn awaits_everyone_softly(class: CollectiveClass) -> bool {
    matches!(
        class,
        CollectiveClass::Handle
            | CollectiveClass::Disconnect
            | CollectiveClass::WindowCreation
            | CollectiveClass::WindowRelease
            | CollectiveClass::Fence
    )
}

impl Members<'_> {
    /// The positions of the selected members.
    fn select(self, select: impl Fn(MemberRecord) -> bool) -> impl Iterator<Item = usize> {
        (0..self.count).filter(move |&at| select((self.record)(at)))
    }

    /// Whether a member that another one needs has been awaited: where members may end before others begin, those that began
    /// after its end were not (rest of MPI 2.1).
    fn has_awaited(self, at: usize, other: usize) -> bool {
        !self.is_soft || (self.record)(other).begin <= (self.record)(at).end
    }

    /// The latest start among the selected members.
    fn last_begin(self, select: impl Fn(MemberRecord) -> bool) -> Option<Ticks> {
        self.select(select).map(|at| (self.record)(at).begin).max()
    }

    /// The earliest end among the selected members.
    fn first_end(self, select: impl Fn(MemberRecord) -> bool) -> Option<Ticks> {
        self.select(select).map(|at| (self.record)(at).end).min()
    }

    /// Position of the last member that sends, the lowest rank among equals.
    fn last_sender(self) -> Option<usize> {
        let last_begin = self.last_begin(|record| record.sent > 0)?;
        let is_last = move |record: MemberRecord| record.sent > 0 && record.begin == last_begin;
        let mut last = self.select(is_last);
        let (first, more) = (last.next()?, last.next());
        if more.is_none() {
            return Some(first);
        }
        (self.by_rank)().into_iter().find(|&at| is_last((self.record)(at)))
    }

    /// Gives the same synchronisation point to all selected positions.
    fn with(self, synchronisation: Synchronisation, select: impl Fn(usize) -> bool) -> Synchronisations {
        (0..self.count).map(|at| select(at).then_some(synchronisation)).collect()
    }
}

/// Prints the records: closures cannot be printed.
impl std::fmt::Debug for Members<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let records: Vec<MemberRecord> = (0..self.count).map(self.record).collect();
        f.debug_struct("Members").field("records", &records).field("root", &self.root).finish()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Synchronisation points of members given as (begin, end, sent, received), by rank.
    pub(crate) fn synchronised(
        class: CollectiveClass,
        root: Option<usize>,
        records: &[(Ticks, Ticks, u64, u64)],
    ) -> Vec<Option<(Ticks, Ticks)>> {
        of_members(class, root, records, false)
    }

    /// The same for an operation whose members may have left before others began.
    pub(crate) fn softly_synchronised(
        class: CollectiveClass,
        records: &[(Ticks, Ticks, u64, u64)],
    ) -> Vec<Option<(Ticks, Ticks)>> {
        of_members(class, None, records, true)
    }

    fn of_members(
        class: CollectiveClass,
        root: Option<usize>,
        records: &[(Ticks, Ticks, u64, u64)],
        is_soft: bool,
    ) -> Vec<Option<(Ticks, Ticks)>> {
        let record = |at: usize| {
            let (begin, end, sent, received) = records[at];
            MemberRecord { begin, end, sent, received }
        };
        let members = Members {
            count: records.len(),
            record: &record,
            root,
            by_rank: &|| (0..records.len()).collect(),
            is_soft,
        };
        let of_all = synchronise(class, members).unwrap_or_else(|| vec![None; records.len()]);
        of_all.into_iter().map(|it| it.map(|it| (it.last_begin, it.first_end))).collect()
    }

    #[test]
    fn awaited_is_the_lowest_rank_of_those_that_came_last() {
        let record = |at: usize| MemberRecord { begin: [5, 9, 9][at], end: 10, sent: 1, received: 1 };
        let by_rank: &dyn Fn() -> Vec<usize> = &|| vec![2, 0, 1];
        let members = Members { count: 3, record: &record, root: None, by_rank, is_soft: false };
        let all = synchronise(CollectiveClass::Barrier, members).unwrap();
        assert_eq!(awaited(CollectiveClass::Barrier, members, |at| all[at], 0), Some(2));
        assert_eq!(awaited(CollectiveClass::Scan, members, |_| None, 0), None);
        let rooted = Members { root: Some(1), ..members };
        assert_eq!(awaited(CollectiveClass::OneToAll, rooted, |at| all[at], 0), Some(1));
    }
}
