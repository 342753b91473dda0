//! Members that are awaited only where they have evidently been: operations that a member may leave before others have begun
//! (rest of MPI 2.1).

use model::Ticks;

use super::timed::Timed;
use super::{MemberRecord, Members, Synchronisation, Synchronisations};

/// Returns, for the member at each position, the position of the last of the selected members that began no later than it
/// ended, the lowest rank among equals; `None` without one.
fn last_until_end(members: Members<'_>, select: impl Fn(MemberRecord) -> bool) -> Vec<Option<usize>> {
    let by_rank = (members.by_rank)().into_iter();
    let selected = by_rank.map(|at| ((members.record)(at), at)).filter(|(record, _)| select(*record));
    let begins = Timed::new(selected.map(|(record, at)| (record.begin, at)));
    let last = |at: usize| begins.last_until((members.record)(at).end, |_| true);
    (0..members.count).map(last).collect()
}

/// Gives those with the same last member, and that member if it is the last one for itself, the same synchronisation
/// point. `needs` says which members, the first argument, synchronise with their last one, the second.
pub(super) fn synchronise(
    members: Members<'_>,
    select: impl Fn(MemberRecord) -> bool,
    needs: impl Fn(MemberRecord, MemberRecord) -> bool,
) -> Synchronisations {
    let mut awaited = last_until_end(members, select);
    let record = members.record;
    for (at, last) in awaited.iter_mut().enumerate() {
        *last = last.filter(|&last| last == at || needs(record(at), record(last)));
    }
    // A member that others wait for and that waits for nobody synchronises with them.
    let waited_for: Vec<usize> = awaited.iter().flatten().copied().collect();
    for last in waited_for {
        awaited[last].get_or_insert(last);
    }
    // The member that others wait for ends with them, whomever it waits for itself.
    let mut first_ends: Vec<Ticks> = (0..members.count).map(|at| (members.record)(at).end).collect();
    for (at, last) in awaited.iter().enumerate().filter_map(|(at, last)| Some((at, (*last)?))) {
        first_ends[last] = first_ends[last].min((members.record)(at).end);
    }
    let synchronisation = |last: usize| Synchronisation {
        last_begin: (members.record)(last).begin,
        first_end: first_ends[last],
    };
    awaited.into_iter().map(|last| last.map(synchronisation)).collect()
}
