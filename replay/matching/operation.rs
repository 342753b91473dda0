//! One collective operation with the parts of all members: whether they belong together, and who waits.

use model::Ticks;
use patterns::collective::{Awaited, MemberRecord, Members, synchronise};
use patterns::matched::CollectiveClass;
use rustc_hash::FxHashMap;

use super::participation::Participation;
use super::{Membership, Paused, pairwise};
use crate::communicators::Participants;
use crate::findings::{Finding, Findings};
use crate::int::to_u32;
use crate::operations::{WORLD_AT_FINALIZE, WORLD_AT_INIT};
use crate::trace::Trace;

/// A collective operation, as far as its members have recorded it.
#[derive(Debug)]
pub(crate) struct Operation<'a> {
    pub(super) trace: &'a Trace,
    /// Parts by process, which is not the order of ranks in the communicator.
    pub(crate) members: &'a [Participation],
    /// The processes with pauses in their recording.
    paused: &'a Paused,
}

/// Time by which a member left before the last one entered that it has to wait for, in ticks; 0 or less if it
/// did not.
fn early(part: &Participation, membership: Membership) -> Ticks {
    match membership {
        Membership::Synchronising { last_begin, .. } => last_begin - part.end,
        Membership::Independent | Membership::Unmatched => 0,
    }
}

/// Judgement of a collective operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict<'a> {
    /// No member waits, whatever the times.
    Independent,
    /// Members are missing or contradict each other.
    Unmatched,
    /// Its class, and the processes of its ranks; for MPI_Init and MPI_Finalize all processes.
    Sound(CollectiveClass, Option<&'a [u32]>),
}

impl<'a> Operation<'a> {
    /// An operation with these parts.
    pub(crate) fn new(trace: &'a Trace, members: &'a [Participation], paused: &'a Paused) -> Operation<'a> {
        Operation { trace, members, paused }
    }

    /// Judges whether it can be analyzed.
    pub(crate) fn check(&self, findings: &mut Findings) -> Verdict<'a> {
        let one = self.members[0];
        let ranks = match one.communicator {
            WORLD_AT_INIT | WORLD_AT_FINALIZE => None,
            communicator => match &self.trace.communicators[communicator as usize] {
                // A single member does not wait.
                Participants::Myself | Participants::Outside | Participants::NotMpi => {
                    return Verdict::Independent;
                }
                Participants::Ranks(ranks) if ranks.len() < 2 => return Verdict::Independent,
                Participants::Ranks(ranks) => Some(&ranks[..]),
                Participants::Sides(sides) if self.trace.semantics.replays_all_of_mpi() => Some(sides.all()),
                Participants::Sides(_) => return Verdict::Independent,
            },
        };
        let expected = ranks.map_or(self.trace.world_size(), |ranks| ranks.len());
        if ranks.is_some_and(|ranks| self.has_outsider(ranks, findings)) {
            return Verdict::Unmatched;
        }
        if self.members.len() != expected {
            let (name, is_paused) = (self.name(), self.are_others_paused(ranks));
            let is_of_file =
                matches!(one.kind.class, Some(CollectiveClass::FileHandling | CollectiveClass::FileTransfer));
            let finding = match (is_paused, is_of_file) {
                (true, _) => Finding::UnrecordedMember,
                (false, true) => Finding::IncompleteFileOperation,
                (false, false) => Finding::IncompleteCollective,
            };
            findings.add(finding, one.begin, one.place.location as usize, || {
                format!(
                    "{name}: {}recorded by {} of {expected} members",
                    one.kind.record(),
                    self.members.len()
                )
            });
            return Verdict::Unmatched;
        }
        let is_after_gap = |member: &Participation| member.instance >= member.sure;
        let is_other = || self.members.iter().any(|member| member.count != one.count);
        // Where recording has paused, some operations are likely to be missing.
        let may_lack = || self.members.iter().any(|member| self.paused.contains(&member.process));
        // There is one MPI_Init, and one MPI_Finalize.
        let is_unsure = ranks.is_some() && self.members.iter().any(is_after_gap);
        if is_unsure && (is_other() || may_lack()) {
            return self.is_after_gap(findings);
        }
        if self.differs(findings) {
            return Verdict::Unmatched;
        }
        let is_doubted = || self.members.iter().any(|member| is_after_gap(member) && member.kind.was_off);
        if is_unsure && is_doubted() && self.contradicts_itself(ranks) {
            return self.is_after_gap(findings);
        }
        one.kind.class.map_or(Verdict::Independent, |class| Verdict::Sound(class, ranks))
    }

    /// Whether a process has recorded it that is not among those of the communicator; a finding then.
    pub(super) fn has_outsider(&self, ranks: &[u32], findings: &mut Findings) -> bool {
        let processes = self.members.iter().map(|member| &member.process);
        // Members are sorted by process, and mostly ranks are, too.
        if processes.eq(ranks) {
            return false;
        }
        let mut sorted = ranks.to_vec();
        sorted.sort_unstable();
        let is_outside = |member: &&Participation| sorted.binary_search(&member.process).is_err();
        let outsider = self.members.iter().find(is_outside);
        if let Some(outsider) = outsider {
            let name = self.name();
            let location = outsider.place.location as usize;
            findings.add(Finding::RankOutsideCommunicator, outsider.begin, location, || {
                format!("{name}: process {} is no member", outsider.process)
            });
        }
        outsider.is_some()
    }

    /// Whether members disagree on the operation or its root; a finding then.
    pub(super) fn differs(&self, findings: &mut Findings) -> bool {
        let one = self.members[0];
        // Of two groups, each names the root in its own way.
        let is_between =
            matches!(self.trace.communicators.get(one.communicator as usize), Some(Participants::Sides(..)));
        let differs = |member: &&Participation| {
            member.kind.operation != one.kind.operation || member.root != one.root && !is_between
        };
        let other = self.members.iter().find(differs);
        if let Some(other) = other {
            let name = self.name();
            let is_root = other.kind.operation == one.kind.operation;
            findings.add(Finding::CollectiveMismatch, one.begin, one.place.location as usize, || {
                let what = if is_root { "root" } else { "operation" };
                format!("{name}: processes {} and {} differ in the {what}", one.process, other.process)
            });
        }
        other.is_some()
    }

    /// Which operations belong together is unknown behind a gap.
    pub(super) fn is_after_gap(&self, findings: &mut Findings) -> Verdict<'a> {
        let one = self.members[0];
        let name = self.name();
        findings.add(Finding::CollectiveAfterGap, one.begin, one.place.location as usize, || name);
        Verdict::Unmatched
    }

    /// Whether all members that have not recorded it belong to processes with pauses.
    fn are_others_paused(&self, ranks: Option<&[u32]>) -> bool {
        let is_paused = |process: &u32| {
            self.paused.contains(process) || self.members.iter().any(|member| member.process == *process)
        };
        !self.paused.is_empty()
            && match ranks {
                Some(ranks) => ranks.iter().all(is_paused),
                None => (0..to_u32(self.trace.world_size())).all(|process| is_paused(&process)),
            }
    }

    /// Whether a member seems to leave before another one enters; not checked in reference semantics.
    fn contradicts_itself(&self, ranks: Option<&'a [u32]>) -> bool {
        let Some(class) = self.members[0].kind.class.filter(|_| self.trace.semantics.doubts_partners())
        else {
            return false;
        };
        if let Some(awaited) = pairwise::awaited_between_groups(self, class, |_| None) {
            let begin = |awaited: &Awaited| awaited.last.map_or(Ticks::MIN, |last| self.members[last].begin);
            return self.members.iter().zip(&awaited).any(|(part, awaited)| begin(awaited) > part.end);
        }
        let judgement = self.synchronisation(class, ranks).unwrap_or_default();
        self.members.iter().zip(judgement).any(|(part, membership)| early(part, membership) > 0)
    }

    /// The result for each member, in the order of members.
    pub(super) fn judge(&self, findings: &mut Findings) -> Vec<Membership> {
        let nobody = vec![Membership::Independent; self.members.len()];
        let judgement = match self.check(findings) {
            Verdict::Independent => return nobody,
            Verdict::Unmatched => return vec![Membership::Unmatched; self.members.len()],
            Verdict::Sound(class, ranks) => self.synchronisation(class, ranks),
        };
        let Some(judgement) = judgement else { return nobody };
        for (part, &membership) in self.members.iter().zip(&judgement) {
            if let Membership::Synchronising { last_begin, .. } = membership {
                self.check_end(part, last_begin, findings);
            }
        }
        judgement
    }

    /// Adds a finding if a member has left before the last one that it has to wait for has begun. Where the trace does not say
    /// whom it has to wait for, it has left nobody.
    pub(super) fn check_end(&self, part: &Participation, last_begin: Ticks, findings: &mut Findings) {
        if last_begin > part.end && !part.kind.is_soft() && !part.kind.is_closed() {
            let name = self.name();
            findings.add(Finding::ClockCollective, part.begin, part.place.location as usize, || {
                let ticks = self.trace.recorded(last_begin - part.end);
                format!("{name}: left {ticks} ticks before another member entered it")
            });
        }
    }

    /// Applies the rule of the class; `None` if no member synchronises.
    fn synchronisation(&self, class: CollectiveClass, ranks: Option<&'a [u32]>) -> Option<Vec<Membership>> {
        let synchronisations = with_members(self.members, ranks, |members| synchronise(class, members))?;
        Some(synchronisations.into_iter().map(Membership::from).collect())
    }

    pub(super) fn name(&self) -> String {
        let one = self.members[0];
        match one.communicator {
            WORLD_AT_INIT => "MPI_Init".into(),
            WORLD_AT_FINALIZE => "MPI_Finalize".into(),
            communicator => format!(
                "{}{} number {} on {}",
                one.kind.series.adjective(),
                one.kind.name(),
                one.instance + 1,
                self.trace.set_name(communicator)
            ),
        }
    }

    /// The root, if all members agree on it.
    pub(crate) fn root(&self, ranks: &[u32]) -> Option<&'a Participation> {
        root(self.members, ranks).map(|at| &self.members[at])
    }

    /// The positions of the members in the order of their ranks.
    pub(crate) fn by_rank(&self, ranks: &[u32]) -> Vec<usize> {
        by_rank(self.members, ranks)
    }
}

/// Position of the root, if all members agree on it.
fn root(members: &[Participation], ranks: &[u32]) -> Option<usize> {
    let root = ranks.get(members[0].root as usize)?;
    members.iter().position(|part| part.process == *root)
}

/// Positions of members in the order of their ranks.
pub(super) fn by_rank(members: &[Participation], ranks: &[u32]) -> Vec<usize> {
    let mut by_rank: Vec<usize> = (0..members.len()).collect();
    // Members are sorted by process, and mostly ranks are, too.
    if ranks.is_sorted() {
        return by_rank;
    }
    let rank_of: FxHashMap<u32, usize> =
        ranks.iter().enumerate().map(|(rank, &process)| (process, rank)).collect();
    by_rank.sort_by_key(|&at| rank_of.get(&members[at].process));
    by_rank
}

/// Calls a rule of synchronisation with the members of an operation; without ranks, in MPI_Init and
/// MPI_Finalize, they are in the order of processes.
pub(super) fn with_members<T>(
    members: &[Participation],
    ranks: Option<&[u32]>,
    rule: impl FnOnce(Members<'_>) -> T,
) -> T {
    let record = |at: usize| {
        let Participation { begin, end, sent, received, .. } = members[at];
        MemberRecord { begin, end, sent, received }
    };
    let in_order = || ranks.map_or_else(|| (0..members.len()).collect(), |ranks| by_rank(members, ranks));
    rule(Members {
        count: members.len(),
        record: &record,
        root: ranks.and_then(|ranks| root(members, ranks)),
        by_rank: &in_order,
        is_soft: members.first().is_some_and(|one| one.kind.is_soft()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{EventNumber, PathId};
    use crate::matching::participation::{PartKind, Series};
    use crate::operations::Place;
    use crate::options::Semantics;
    use crate::trace::tests::world;

    /// The parts of ranks 0, 1, … of a world: begin, end, bytes sent, bytes received. The root is rank 0.
    fn parts(class: CollectiveClass, parts: &[(Ticks, Ticks, u64, u64)]) -> Vec<Participation> {
        parts
            .iter()
            .enumerate()
            .map(|(rank, &(begin, end, sent, received))| Participation {
                communicator: 0,
                instance: 0,
                process: rank as u32,
                position: 0,
                place: Place { location: rank as u32, path: PathId::default() },
                ended: EventNumber::new(0),
                begun: EventNumber::new(0),
                kind: PartKind::new(0, Some(class), Series::Data, false),
                root: 0,
                enter: begin,
                begin,
                end,
                leave: end,
                sent,
                received,
                count: 1,
                sure: 1,
            })
            .collect()
    }

    /// The times of the judgement of an operation with these parts.
    fn judge(class: CollectiveClass, of_ranks: &[(Ticks, Ticks, u64, u64)]) -> Vec<Option<(Ticks, Ticks)>> {
        let trace = Trace::new(world(&[10, 11, 12][..of_ranks.len().max(2)]), Semantics::Corrected).unwrap();
        let members = parts(class, of_ranks);
        let judged = Operation::new(&trace, &members, &Paused::default()).judge(&mut Findings::default());
        let times = |membership| match membership {
            Membership::Synchronising { last_begin, first_end } => Some((last_begin, first_end)),
            Membership::Independent => None,
            Membership::Unmatched => Some((-1, -1)),
        };
        judged.into_iter().map(times).collect()
    }

    #[test]
    fn all_wait_for_the_last_in_a_barrier() {
        let parts = [(1, 12, 0, 0), (5, 11, 0, 0), (9, 13, 0, 0)];
        assert_eq!(judge(CollectiveClass::Barrier, &parts), [Some((9, 11)); 3]);
    }

    #[test]
    fn only_receivers_before_the_root_wait_for_it() {
        let parts = [(5, 12, 8, 8), (1, 10, 0, 8), (7, 9, 0, 8)];
        assert_eq!(judge(CollectiveClass::OneToAll, &parts), [Some((5, 10)), Some((5, 10)), None]);
    }

    #[test]
    fn process_that_is_no_member_makes_the_operation_unmatched() {
        let mut findings = Findings::default();
        let trace = Trace::new(world(&[10, 11]), Semantics::Corrected).unwrap();
        let members = parts(CollectiveClass::Barrier, &[(1, 12, 0, 0), (5, 11, 0, 0)]);
        let paused = Paused::default();
        let operation = Operation::new(&trace, &members, &paused);
        let are = [&[0, 1][..], &[1, 0], &[0, 2], &[1, 2]]
            .map(|ranks| operation.has_outsider(ranks, &mut findings));
        assert_eq!(are, [false, false, true, true]);
    }

    #[test]
    fn missing_member_makes_the_operation_unmatched() {
        assert_eq!(judge(CollectiveClass::Barrier, &[(1, 12, 0, 0)]), [Some((-1, -1))]);
    }
}
