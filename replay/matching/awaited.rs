//! Whom each member of a collective operation waits for, as far as somebody asks.

use model::Ticks;
use patterns::collective::{awaited, giver, has_several_awaited};
use patterns::matched::CollectiveClass;
use rustc_hash::FxHashMap;

use super::Membership;
use super::operation::with_members;
use super::participation::Participation;

/// Whom the members of an operation wait for; `ranks` are the processes of its communicator, none in MPI_Init and
/// MPI_Finalize.
#[derive(Debug)]
pub(super) struct Awaited<'a> {
    pub(super) members: &'a [Participation],
    pub(super) memberships: &'a [Membership],
    pub(super) ranks: Option<&'a [u32]>,
    /// Whether members may wait for different ones.
    has_several: bool,
    /// Where they do, whom those wait for that can continue from a time on; by this time.
    givers: Option<FxHashMap<Ticks, usize>>,
    /// In other operations it is the same for all; `None` if it is not known yet.
    of_all: Option<Option<usize>>,
}

impl<'a> Awaited<'a> {
    /// Nothing is known yet.
    pub(super) fn new(
        members: &'a [Participation],
        memberships: &'a [Membership],
        ranks: Option<&'a [u32]>,
    ) -> Awaited<'a> {
        let class = members.first().and_then(|one| one.kind.class);
        // Here, as finding the root of an operation takes a search among its members.
        let has_several = class
            .is_some_and(|class| with_members(members, ranks, |members| has_several_awaited(class, members)));
        Awaited { members, memberships, ranks, has_several, givers: None, of_all: None }
    }

    /// Position of the member that this one, which synchronises, waits for, as [`awaited`] says: where each may wait for another one, in a scan
    /// and in soft operations, without a search for each.
    pub(super) fn of(&mut self, at: usize) -> Option<usize> {
        let Awaited { members, memberships, ranks, .. } = *self;
        let class = members[0].kind.class?;
        if self.has_several {
            let last_begin = memberships[at].synchronisation()?.last_begin;
            let givers = self.givers.get_or_insert_with(|| givers_by_begin(class, members, ranks));
            return givers.get(&last_begin).copied();
        }
        *self.of_all.get_or_insert_with(|| {
            let synchronisation = |at: usize| memberships[at].synchronisation();
            with_members(members, ranks, |members| awaited(class, members, synchronisation, at))
        })
    }
}

/// The lowest rank of those that others may wait for and that have begun at a time.
fn givers_by_begin(
    class: CollectiveClass,
    members: &[Participation],
    ranks: Option<&[u32]>,
) -> FxHashMap<Ticks, usize> {
    with_members(members, ranks, |members| {
        let gives = giver(class, members);
        let mut first = FxHashMap::default();
        for at in (members.by_rank)().into_iter().filter(|&at| gives((members.record)(at))) {
            first.entry((members.record)(at).begin).or_insert(at);
        }
        first
    })
}
