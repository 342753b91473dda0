//! Partners of synchronisation in collective operations, and the member to blame for the waiting
//! (specification 6.7 and 7.1).

use std::rc::Rc;

use model::Ticks;
use patterns::matched::CollectiveClass;

use super::Membership;
use super::awaited::Awaited;
use super::participation::Participation;
use crate::exchange::Batch;
use crate::exchange::batch::BatchReader;
use crate::int::to_u64;
use crate::journal::{EventSpot, Spot};
use crate::wire::Wire;

/// The processes that a process has synchronised with at an event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum With {
    /// All members of the operation's communicator.
    All,
    /// One process.
    One(u32),
    /// The processes of a list that members of an operation share: there may be as many members as processes
    /// in it.
    Some(Rc<[u32]>),
}

/// Synchronisation of a member with others.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Synchronised {
    /// The event of the member that the others had to wait for.
    pub blamed: Option<EventSpot>,
    /// The partners.
    pub with: With,
}

/// Codes in place of the length of a list: all members; the list sent last.
const ALL: u64 = u64::MAX;
const SAME: u64 = u64::MAX - 1;

impl Synchronised {
    /// Encodes it; `before` is the list that the same worker was sent last.
    pub(super) fn encode(&self, before: &mut Option<Rc<[u32]>>, batch: &mut Batch) {
        self.blamed.put(batch);
        match &self.with {
            With::All => batch.push(ALL),
            With::One(process) => (1_u64, *process).put(batch),
            With::Some(those) if before.as_ref().is_some_and(|before| Rc::ptr_eq(before, those)) => {
                batch.push(SAME);
            }
            With::Some(those) => {
                batch.push(to_u64(those.len()));
                those.iter().for_each(|process| process.put(batch));
                *before = Some(Rc::clone(those));
            }
        }
    }

    /// Decodes it; `before` is the list that the same worker sent last.
    pub(super) fn decode(reader: &mut BatchReader<'_>, before: &mut Option<Rc<[u32]>>) -> Synchronised {
        let blamed = Wire::get(reader);
        let with = match reader.word() {
            ALL => With::All,
            1 => With::One(Wire::get(reader)),
            SAME => With::Some(before.clone().unwrap_or_default()),
            count => {
                let those = (0..count).map(|_| Wire::get(reader)).collect();
                With::Some(Rc::clone(before.insert(those)))
            }
        };
        Synchronised { blamed, with }
    }
}

/// The members of an operation that synchronise.
#[derive(Debug)]
pub(super) struct Partners<'a> {
    members: &'a [Participation],
    memberships: &'a [Membership],
    class: CollectiveClass,
    /// Those that wait for the same member, with the begin of that one. Only in soft operations there are several.
    groups: Vec<(Ticks, Group)>,
}

/// Members that wait for the same one.
#[derive(Clone, Debug)]
struct Group {
    /// Position of the member that the others wait for.
    blamed: Option<usize>,
    /// The processes that synchronise, with that of the blamed one; `None` if all members do.
    those: Option<Rc<[u32]>>,
}

impl<'a> Partners<'a> {
    /// `None` if no member synchronises, or the class has no root causes (specification 9.4).
    pub(super) fn find(awaited: &mut Awaited<'a>) -> Option<Partners<'a>> {
        let Awaited { members, memberships, .. } = *awaited;
        let class = members[0].kind.class.filter(|&class| class != CollectiveClass::Scan)?;
        let begin =
            |(at, membership): (usize, &Membership)| Some((membership.synchronisation()?.last_begin, at));
        let mut begins: Vec<(Ticks, usize)> = memberships.iter().enumerate().filter_map(begin).collect();
        begins.sort_unstable();
        let group = |group: &[(Ticks, usize)]| {
            let mut those: Vec<usize> = group.iter().map(|&(_, at)| at).collect();
            let blamed = those.first().and_then(|&at| awaited.of(at));
            // Who is blamed may wait for another member itself.
            if let Some(Err(place)) = blamed.map(|blamed| those.binary_search(&blamed)) {
                those.insert(place, blamed.unwrap_or_default());
            }
            let are_all = those.len() == members.len();
            let those = (!are_all).then(|| those.into_iter().map(|at| members[at].process).collect());
            (group[0].0, Group { blamed, those })
        };
        let groups: Vec<(Ticks, Group)> = begins.chunk_by(|a, b| a.0 == b.0).map(group).collect();
        (!groups.is_empty()).then_some(Partners { members, memberships, class, groups })
    }

    /// Synchronisation of the member at a position. If only one side waits, the partners are the other side
    /// (specification 7.1).
    ///
    /// # Panics
    /// If it does not synchronise.
    pub(super) fn of(&self, at: usize) -> Synchronised {
        let last_begin = self.memberships[at].synchronisation().map_or(0, |it| it.last_begin);
        let place = self.groups.partition_point(|&(begin, _)| begin < last_begin);
        let (_, Group { blamed, those }) = &self.groups[place];
        let blamed = blamed.map(|at| &self.members[at]);
        let spot = blamed.map(|part| Spot { location: part.place.location, position: part.ended });
        let me = self.members[at].process;
        let is_sided = matches!(self.class, CollectiveClass::OneToAll | CollectiveClass::AllToOne);
        let with = match (blamed, is_sided, those) {
            (Some(blamed), true, _) if blamed.process != me => With::One(blamed.process),
            (_, true, _) => {
                let is_other = |process: &u32| *process != me;
                let others: Rc<[u32]> = match those {
                    Some(those) => those.iter().copied().filter(is_other).collect(),
                    None => self.members.iter().map(|part| part.process).filter(is_other).collect(),
                };
                if let [other] = others[..] { With::One(other) } else { With::Some(others) }
            }
            (_, false, Some(those)) => With::Some(Rc::clone(those)),
            (_, false, None) => With::All,
        };
        Synchronised { blamed: spot, with }
    }
}
