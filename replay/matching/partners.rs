//! With whom a member of a collective operation has synchronised there, and who is to blame for its waiting
//! (specification 6.7 and 7.1).

use patterns::matched::CollectiveClass;

use super::Membership;
use super::collectives::Part;
use super::waits::cause;
use crate::communicators::Participants;
use crate::exchange::Batch;
use crate::exchange::batch::BatchReader;
use crate::journal::Spot;
use crate::trace::Trace;

/// The processes that a process has synchronised with at an event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum With {
    /// Everyone in the operation's communicator.
    All,
    /// These.
    Some(Vec<u32>),
}

/// What a member that synchronises learns of the others.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Synchronised {
    /// Whom the others had to wait for.
    pub blamed: Option<Spot>,
    /// With whom.
    pub with: With,
}

impl Synchronised {
    pub(super) fn encode(&self, batch: &mut Batch) {
        batch.push(self.blamed.map_or(u64::MAX, Spot::encode));
        match &self.with {
            With::All => batch.push(u64::MAX),
            With::Some(processes) => {
                batch.push(processes.len() as u64);
                batch.extend(processes.iter().map(|&process| u64::from(process)));
            }
        }
    }

    pub(super) fn decode(reader: &mut BatchReader<'_>) -> Synchronised {
        let blamed = Some(reader.word()).filter(|&word| word != u64::MAX).map(Spot::decode);
        let with = match reader.word() {
            u64::MAX => With::All,
            count => With::Some(reader.words(count as usize).iter().map(|&word| word as u32).collect()),
        };
        Synchronised { blamed, with }
    }
}

/// The members of an operation that synchronise.
#[derive(Debug)]
pub(super) struct Partners<'a> {
    members: &'a [Part],
    class: CollectiveClass,
    /// The position of the member that the others wait for.
    blamed: Option<usize>,
    /// Processes that synchronise.
    those: Vec<u32>,
}

impl<'a> Partners<'a> {
    /// `None` if nobody synchronises, or the operation is none that root causes look at (9.4).
    pub(super) fn find(
        trace: &Trace,
        members: &'a [Part],
        memberships: &[Membership],
    ) -> Option<Partners<'a>> {
        let class = members[0].class.filter(|&class| class != CollectiveClass::Scan)?;
        let is_in = |at: &usize| matches!(memberships[*at], Membership::Synchronising { .. });
        let mut those = (0..members.len()).filter(is_in);
        let first = those.next()?;
        let world: Vec<u32>;
        let ranks = match trace.communicators.get(members[0].communicator as usize) {
            Some(Participants::Ranks(ranks)) => ranks,
            // The world in MPI_Init and MPI_Finalize.
            _ => {
                world = (0..trace.world_size() as u32).collect();
                &world[..]
            }
        };
        let blamed = cause(class, ranks, members, memberships, first);
        let those = [first].into_iter().chain(those).map(|at| members[at].process).collect();
        Some(Partners { members, class, blamed, those })
    }

    /// With whom the member at a position has synchronised. Where only one side waits, it is the other side (7.1).
    pub(super) fn of(&self, at: usize) -> Synchronised {
        let blamed = self.blamed.map(|at| &self.members[at]);
        let spot = blamed.map(|part| Spot { location: part.place.location, position: part.ended });
        let me = self.members[at].process;
        let is_sided = matches!(self.class, CollectiveClass::OneToAll | CollectiveClass::AllToOne);
        let with = match (blamed, is_sided) {
            (Some(blamed), true) if blamed.process != me => With::Some(vec![blamed.process]),
            (_, true) => With::Some(self.those.iter().copied().filter(|&process| process != me).collect()),
            _ if self.those.len() == self.members.len() => With::All,
            _ => With::Some(self.those.clone()),
        };
        Synchronised { blamed: spot, with }
    }
}
