//! Who waits for whom in a collective operation: a file for each class of operations (specification 6).
//!
//! A rule sees all members at once. It says which of them synchronise, and since when each could go on; what a member waits
//! follows from that alone ([`CollectiveMember`](crate::matched::CollectiveMember)), and the patterns turn it into metrics.

mod all_to_all;
mod all_to_one;
mod everyone;
mod one_to_all;
mod scan;

use model::Ticks;

use crate::matched::CollectiveClass;

/// What a member did in the operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// When it began.
    pub begin: Ticks,
    /// When it ended.
    pub end: Ticks,
    /// Bytes that it sent.
    pub sent: u64,
    /// Bytes that it received.
    pub received: u64,
}

/// The members of an operation. There may be very many: nothing is copied.
#[derive(Clone, Copy)]
pub struct Members<'a> {
    /// How many there are.
    pub count: usize,
    /// What the member at a position did; positions are in any order.
    pub part: &'a dyn Fn(usize) -> Part,
    /// The position of the root; `None` in operations without one, and where members do not agree.
    pub root: Option<usize>,
    /// The positions in the order of ranks: asked where ranks decide.
    pub by_rank: &'a dyn Fn() -> Vec<usize>,
}

/// What a member that synchronises waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Synchronisation {
    /// When the last one began that it has to wait for.
    pub last_begin: Ticks,
    /// When the first of those that synchronise was done.
    pub first_end: Ticks,
}

/// By position of the member: what it waits for, `None` if it synchronises with nobody.
pub type Synchronisations = Vec<Option<Synchronisation>>;

/// Who waits for whom in an operation of a class; `None` if nobody does.
pub fn synchronise(class: CollectiveClass, members: Members<'_>) -> Option<Synchronisations> {
    match class {
        CollectiveClass::Init | CollectiveClass::Finalize | CollectiveClass::Barrier => {
            everyone::synchronise(members)
        }
        CollectiveClass::OneToAll => one_to_all::synchronise(members),
        CollectiveClass::AllToOne => all_to_one::synchronise(members),
        CollectiveClass::AllToAll => all_to_all::synchronise(members),
        CollectiveClass::Scan => Some(scan::synchronise(members)),
    }
}

/// The position of the member that a member waits for: the root, or the last that it has to wait for, of equals the lowest
/// rank; `None` if it waits for nobody. `synchronisation` is what [`synchronise`] said of a position.
pub fn awaited(
    class: CollectiveClass,
    members: Members<'_>,
    synchronisation: impl Fn(usize) -> Option<Synchronisation>,
    who: usize,
) -> Option<usize> {
    let last_begin = synchronisation(who)?.last_begin;
    let is_last = |at: usize| (members.part)(at).begin == last_begin;
    let is_awaited = |&at: &usize| match class {
        CollectiveClass::OneToAll => members.root == Some(at),
        CollectiveClass::AllToOne | CollectiveClass::Scan => (members.part)(at).sent > 0 && is_last(at),
        CollectiveClass::Init
        | CollectiveClass::Finalize
        | CollectiveClass::Barrier
        | CollectiveClass::AllToAll => synchronisation(at).is_some() && is_last(at),
    };
    let mut candidates = (0..members.count).filter(is_awaited);
    let (first, others) = (candidates.next(), candidates.next());
    if others.is_none() { first } else { (members.by_rank)().into_iter().find(is_awaited) }
}

impl Members<'_> {
    /// The positions of those that are selected.
    fn select(self, select: impl Fn(Part) -> bool) -> impl Iterator<Item = usize> {
        (0..self.count).filter(move |&at| select((self.part)(at)))
    }

    /// The latest begin among those that are selected.
    fn last_begin(self, select: impl Fn(Part) -> bool) -> Option<Ticks> {
        self.select(select).map(|at| (self.part)(at).begin).max()
    }

    /// The earliest end among those that are selected.
    fn first_end(self, select: impl Fn(Part) -> bool) -> Option<Ticks> {
        self.select(select).map(|at| (self.part)(at).end).min()
    }

    /// The last member that sends; the lowest rank among equals.
    fn last_sender(self) -> Option<usize> {
        let last_begin = self.last_begin(|part| part.sent > 0)?;
        let is_last = move |part: Part| part.sent > 0 && part.begin == last_begin;
        let mut last = self.select(is_last);
        let (first, more) = (last.next()?, last.next());
        if more.is_none() {
            return Some(first);
        }
        (self.by_rank)().into_iter().find(|&at| is_last((self.part)(at)))
    }

    /// Those at selected positions synchronise: all with `last_begin` and `first_end`.
    fn with(self, synchronisation: Synchronisation, select: impl Fn(usize) -> bool) -> Synchronisations {
        (0..self.count).map(|at| select(at).then_some(synchronisation)).collect()
    }
}

/// All functions: closures have nothing to show.
impl std::fmt::Debug for Members<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parts: Vec<Part> = (0..self.count).map(self.part).collect();
        f.debug_struct("Members").field("parts", &parts).field("root", &self.root).finish()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// What members wait for, each with (begin, end, sent, received), by rank.
    pub(crate) fn synchronised(
        class: CollectiveClass,
        root: Option<usize>,
        parts: &[(Ticks, Ticks, u64, u64)],
    ) -> Vec<Option<(Ticks, Ticks)>> {
        let part = |at: usize| {
            let (begin, end, sent, received) = parts[at];
            Part { begin, end, sent, received }
        };
        let members =
            Members { count: parts.len(), part: &part, root, by_rank: &|| (0..parts.len()).collect() };
        let of_all = synchronise(class, members).unwrap_or_else(|| vec![None; parts.len()]);
        of_all.into_iter().map(|it| it.map(|it| (it.last_begin, it.first_end))).collect()
    }

    #[test]
    fn awaited_is_the_lowest_rank_of_those_that_came_last() {
        let part = |at: usize| Part { begin: [5, 9, 9][at], end: 10, sent: 1, received: 1 };
        let members = Members { count: 3, part: &part, root: None, by_rank: &|| vec![2, 0, 1] };
        let all = synchronise(CollectiveClass::Barrier, members).unwrap();
        assert_eq!(awaited(CollectiveClass::Barrier, members, |at| all[at], 0), Some(2));
        assert_eq!(awaited(CollectiveClass::Scan, members, |_| None, 0), None);
        let rooted = Members { root: Some(1), ..members };
        assert_eq!(awaited(CollectiveClass::OneToAll, rooted, |at| all[at], 0), Some(1));
    }
}
