//! Who came last to collective operations, and what the others waited for whom: for details of the report.
//!
//! The worker that judges an operation sees all its members, but does not know their functions. So it notes the
//! call of one member, whose owner knows its function.

use model::Ticks;
use rustc_hash::FxHashMap;

use super::Membership;
use super::awaited::Awaited;
use super::operation::with_members;
use super::participation::Participation;
use crate::communicators::Participants;
use crate::ids::PathId;
use crate::metrics::Metrics;
use crate::trace::Trace;
use crate::wire::wire;

/// How often a process came last to operations, and what others waited for it there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Latecomer {
    /// Position of the communicator in the definitions, or one of the `WORLD_AT_…`.
    pub communicator: u32,
    /// The process of the lowest number that took part in the operations.
    pub speaker: u32,
    /// Its call path, in its tree.
    pub path: PathId,
    /// The process that came last; [`NOBODY`](Latecomer::NOBODY) for operations in which this is not known, or nobody can be last.
    pub process: u32,
    /// The number of operations.
    pub times: u64,
    /// What others waited for it in such operations, in ticks, whether it came last or not.
    pub caused: Ticks,
}

impl Latecomer {
    /// Stands instead of a process for none.
    pub const NOBODY: u32 = u32::MAX;
}

wire!(Latecomer { [communicator, speaker], [path, process], times, caused });

/// Communicator, speaker and its path, and the process.
pub(super) type Key = (u32, u32, PathId, u32);

/// The latecomers of the operations that a worker judges.
#[derive(Clone, Debug, Default)]
pub struct Latecomers {
    all: FxHashMap<Key, (u64, Ticks)>,
}

impl Latecomers {
    /// All of them, sorted; their operations add up to those judged.
    pub fn into_list(self) -> Vec<Latecomer> {
        let mut list: Vec<Latecomer> = self
            .all
            .into_iter()
            .map(|((communicator, speaker, path, process), (times, caused))| Latecomer {
                communicator,
                speaker,
                path,
                process,
                times,
                caused,
            })
            .collect();
        list.sort_unstable();
        list
    }

    /// Adds how often a process came last to operations, and what others waited for it.
    pub(super) fn note(&mut self, key: Key, times: u64, caused: Ticks) {
        let sum = self.all.entry(key).or_default();
        sum.0 += times;
        sum.1 = caused.saturating_add(sum.1);
    }

    /// Adds an operation with these members, sorted by process, and their results.
    pub(super) fn add(&mut self, trace: &Trace, metrics: &Metrics, for_whom: &mut Awaited<'_>) {
        let Awaited { members, memberships, ranks, .. } = *for_whom;
        let one = &members[0];
        let mut note = |process, times, caused: Ticks| {
            self.note((one.communicator, one.process, one.place.path, process), times, caused);
        };
        let has_last = match trace.communicators.get(one.communicator as usize) {
            // In MPI_Init and MPI_Finalize these are all processes.
            Some(Participants::Ranks(_)) | None => true,
            Some(Participants::Sides(_)) => trace.semantics.replays_all_of_mpi(),
            // Nobody is last alone, and of two sides members may be missing.
            Some(_) => false,
        };
        if !has_last || members.len() < 2 || memberships[0] == Membership::Unmatched {
            return note(Latecomer::NOBODY, 1, 0);
        }
        let (last, at_last) = last(members);
        let first_by_rank = |is_one: &dyn Fn(usize) -> bool| {
            with_members(members, ranks, |members| (members.by_rank)().into_iter().find(|&at| is_one(at)))
        };
        let last = match at_last {
            1 => last,
            _ => first_by_rank(&|at| members[at].begin == members[last].begin).unwrap_or(last),
        };
        note(members[last].process, 1, 0);
        let (mut whom, mut caused) = (None, 0);
        for (at, waited) in waits(metrics, members, memberships) {
            let next = for_whom.of(at);
            if next != whom {
                if let Some(whom) = whom.filter(|_| caused > 0) {
                    note(members[whom].process, 0, caused);
                }
                (whom, caused) = (next, 0);
            }
            caused = waited.saturating_add(caused);
        }
        if let Some(whom) = whom.filter(|_| caused > 0) {
            note(members[whom].process, 0, caused);
        }
    }
}

/// Position of a member with the latest begin, and the number of such members.
fn last(members: &[Participation]) -> (usize, usize) {
    let (mut last, mut count) = (0, 0);
    for (at, member) in members.iter().enumerate() {
        if member.begin > members[last].begin {
            (last, count) = (at, 0);
        }
        count += usize::from(member.begin == members[last].begin);
    }
    (last, count)
}

/// The waiting time of each member that waits, with its position.
fn waits<'a>(
    metrics: &'a Metrics,
    members: &'a [Participation],
    memberships: &'a [Membership],
) -> impl Iterator<Item = (usize, Ticks)> {
    let class = members[0].kind.class;
    let rules = class.map_or(&[][..], |class| metrics.at_collective(class));
    let outermost = rules.iter().filter(|(pattern, _)| pattern.is_outermost_waiting).map(|(_, rule)| rule);
    members.iter().zip(memberships).enumerate().filter_map(move |(at, (part, membership))| {
        let member = membership.member(class?, part.begin, part.end)?;
        let of_rules = outermost.clone().map(|rule| rule(&member)).filter(|&ticks| ticks > 0);
        let ticks = of_rules.fold(0, Ticks::saturating_add);
        (ticks > 0).then_some((at, ticks))
    })
}
