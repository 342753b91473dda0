//! Collective operations: the k-th one on a communicator is the same operation for all members (MPI 3.1,
//! chapter 5).
//!
//! Members send their parts to a worker that is chosen by communicator and k; it sees the whole operation,
//! applies the rules of synchronisation, and returns the results to the members that synchronise. k includes
//! missing operations, where the trace has their number. Where it does not, members have recorded different
//! numbers of operations on a communicator, and one of them has a known gap, operations after that gap may
//! not be the same for all: they are not analyzed. Nor are those after it in which a member seems to leave
//! before another one enters.

use model::{CollectiveOp, Ticks};
use patterns::collective::{Awaited, MemberRecord, Members, awaits_everyone_softly, synchronise};
use patterns::matched::CollectiveClass;
use rustc_hash::FxHashMap;

use super::latecomers::Latecomers;
use super::partners::{Partners, Synchronised};
use super::threads::order_of_begins;
use super::told::Parts;
use super::waits::waits;
use super::{Matches, Membership, Paused, pairwise};
use crate::communicators::Participants;
use crate::details::instances::BothSides;
use crate::exchange::Batch;
use crate::exchange::batch::BatchReader;
use crate::findings::{Finding, Findings};
use crate::ids::EventNumber;
use crate::int::{to_u32, to_u64};
use crate::operations::{Collective, Place, WORLD_AT_FINALIZE, WORLD_AT_INIT};
use crate::statistics::{Instance, SubjectId};
use crate::tools::Tools;
use crate::trace::Trace;
use crate::walk::Walked;
use crate::wire::{Half, Halves, Wire, wire};

/// Kinds of results.
const UNMATCHED: u64 = 0;
const SYNCHRONISING: u64 = 1;
const INDEPENDENT: u64 = 2;
const KIND: u64 = 3;

/// Flag: the member's partners follow.
const WITH_PARTNERS: u64 = 4;

/// A member's part in an operation, as sent to the worker that judges it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Participation {
    pub(crate) communicator: u32,
    /// Number k of the operation on the communicator: 0, 1, …
    pub(super) instance: u32,
    pub(crate) process: u32,
    /// Position in the process's operations.
    pub(super) position: u32,
    /// Location and call path of the member.
    pub(crate) place: Place,
    /// The event of the end of the operation.
    pub(crate) ended: EventNumber,
    /// The record of the start of the operation, where records are numbered.
    pub(crate) begun: EventNumber,
    pub(crate) kind: PartKind,
    pub(crate) root: u32,
    /// Time at which the member entered the call.
    pub(super) enter: Ticks,
    pub(super) begin: Ticks,
    pub(super) end: Ticks,
    /// Time at which the member left the call.
    pub(super) leave: Ticks,
    pub(crate) sent: u64,
    pub(crate) received: u64,
    /// Number of the process's operations on the communicator, including missing ones, and number of those
    /// before its first gap.
    pub(super) count: u32,
    pub(super) sure: u32,
}

/// Kind of a part, in half a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PartKind {
    /// OTF2's code of the operation.
    operation: u8,
    pub(super) class: Option<CollectiveClass>,
    /// Whether recording was switched off at the first gap of the process.
    was_off: bool,
    series: Series,
}

/// Operations of a series are numbered by themselves on each communicator.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Series {
    /// Blocking ones that move data, and barriers.
    Data,
    /// Creation and release of communicators and windows, and handling of files (rest of MPI 7.1, 8.1, 9).
    Handles,
    /// Non-blocking ones, which never match blocking ones (MPI 4.1, section 6.12).
    NonBlocking,
    /// Those among neighbours (rest of MPI 4.2).
    Neighborhoods,
    /// Non-blocking ones among neighbours.
    NonBlockingNeighborhoods,
}

impl Series {
    /// All, in the order of their codes.
    const ALL: [Series; 5] = [
        Series::Data,
        Series::Handles,
        Series::NonBlocking,
        Series::Neighborhoods,
        Series::NonBlockingNeighborhoods,
    ];

    /// Its operations in words, before their names.
    fn adjective(self) -> &'static str {
        match self {
            Series::Data | Series::Handles => "",
            Series::NonBlocking => "non-blocking ",
            Series::Neighborhoods => "neighbourhood ",
            Series::NonBlockingNeighborhoods => "non-blocking neighbourhood ",
        }
    }
}

impl PartKind {
    /// The class of its operation.
    pub(crate) fn class(self) -> Option<CollectiveClass> {
        self.class
    }

    /// Its operation in words.
    fn name(self) -> &'static str {
        match self.class {
            Some(CollectiveClass::Fence) => "fence",
            Some(CollectiveClass::FileHandling) => "file operation",
            Some(CollectiveClass::FileTransfer) => "transfer",
            _ => CollectiveOp(self.operation).name().unwrap_or("operation"),
        }
    }

    /// Whether its operation is a non-blocking one.
    pub(super) fn is_nonblocking(self) -> bool {
        matches!(self.series, Series::NonBlocking | Series::NonBlockingNeighborhoods)
    }

    pub(super) fn new(
        operation: u8,
        class: Option<CollectiveClass>,
        series: Series,
        was_off: bool,
    ) -> PartKind {
        PartKind { operation, class, was_off, series }
    }

    /// Whether a member may end before others have begun, as the trace does not say who needs whom (rest of MPI 2.1).
    pub(crate) fn is_soft(self) -> bool {
        matches!(CollectiveOp(self.operation), CollectiveOp::ALLTOALLV | CollectiveOp::ALLTOALLW)
            && self.class == Some(CollectiveClass::AllToAll)
            || self.class.is_some_and(awaits_everyone_softly)
            || self.class == Some(CollectiveClass::Neighborhood)
            || self.class == Some(CollectiveClass::FileTransfer) && self.is_nonblocking()
    }

    /// Whether a member may end before others have begun because it need not wait for them (rest of MPI 2.1).
    pub(crate) fn is_closed(self) -> bool {
        matches!(self.class, Some(CollectiveClass::FileHandling | CollectiveClass::FileTransfer))
            && !self.is_nonblocking()
    }
}

wire!(Participation {
    [communicator, instance],
    [process, position],
    place,
    [root, kind],
    enter,
    begin,
    end,
    leave,
    sent,
    received,
    [count, sure],
    [ended, begun],
});

impl Half for PartKind {
    fn to_half(self) -> u32 {
        let class = self.class.map_or(u8::MAX, |class| class as u8);
        u32::from_le_bytes([self.operation, class, u8::from(self.was_off), self.series as u8])
    }

    fn of_half(half: u32) -> Self {
        // In the order of their codes.
        const CLASSES: [CollectiveClass; 15] = [
            CollectiveClass::Init,
            CollectiveClass::Finalize,
            CollectiveClass::Barrier,
            CollectiveClass::OneToAll,
            CollectiveClass::AllToOne,
            CollectiveClass::AllToAll,
            CollectiveClass::Scan,
            CollectiveClass::Handle,
            CollectiveClass::Disconnect,
            CollectiveClass::Neighborhood,
            CollectiveClass::WindowCreation,
            CollectiveClass::WindowRelease,
            CollectiveClass::Fence,
            CollectiveClass::FileHandling,
            CollectiveClass::FileTransfer,
        ];
        let [operation, code, was_off, series] = half.to_le_bytes();
        let class = CLASSES.get(usize::from(code)).copied();
        PartKind::new(operation, class, Series::ALL[usize::from(series)], was_off == 1)
    }
}

/// Sends the parts of a process to the workers that judge.
pub(super) fn tell(trace: &Trace, walked: &Walked, outgoing: &mut [Batch]) {
    let workers = outgoing.len();
    for (position, (collective, numbers)) in
        walked.operations.collectives.iter().zip(numbers(trace, walked)).enumerate()
    {
        if !pairwise::is_pairwise(trace, collective) {
            let part = part(walked, position, collective, numbers);
            part.put(&mut outgoing[judge_of(part.communicator, part.instance, workers)]);
        }
    }
}

/// Place of an operation in its series on a communicator.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    pub(super) instance: u32,
    /// Number of the process's operations of the series, with missing ones, and of those before its first gap.
    pub(super) count: u32,
    pub(super) sure: u32,
}

/// Numbers the blocking operations of a process.
pub(super) fn numbers(trace: &Trace, walked: &Walked) -> Vec<Numbers> {
    let collectives = &walked.operations.collectives;
    let sure = walked.operations.gap.map_or(collectives.len(), |gap| gap.collectives);
    // Missing handles are not counted, unlike missing operations that move data.
    let sure_handles = walked.operations.pause.map_or(sure, |pause| sure.min(pause.collectives));
    let missing: FxHashMap<u32, u64> = walked.operations.unrecorded.collectives.iter().copied().collect();
    // By communicator and series: number of the next operation, and of operations before the gap.
    let mut extents: FxHashMap<(u32, Series), (u32, u32)> = FxHashMap::default();
    let mut instances = vec![0; collectives.len()];
    let mut before: FxHashMap<(u32, Series), u64> = FxHashMap::default();
    let order = order_of_begins(trace, walked);
    for at in 0..collectives.len() {
        let position = order.as_ref().map_or(at, |order| order[at] as usize);
        let collective = &collectives[position];
        let series = series(collective);
        let sure = if series == Series::Handles { sure_handles } else { sure };
        let (next, certain) = extents.entry((collective.communicator, series)).or_default();
        if let Some(&missing) = missing.get(&to_u32(position)) {
            let before = before.insert((collective.communicator, series), missing).unwrap_or(0);
            *next = next.saturating_add(u32::try_from(missing.saturating_sub(before)).unwrap_or(u32::MAX));
        }
        instances[position] = *next;
        *next = next.saturating_add(1);
        if position < sure {
            *certain = *next;
        }
    }
    let numbers = |(collective, instance): (&Collective, u32)| {
        let (count, sure) = extents[&(collective.communicator, series(collective))];
        Numbers { instance, count, sure }
    };
    collectives.iter().zip(instances).map(numbers).collect()
}

/// The part of a process in a blocking operation.
pub(super) fn part(
    walked: &Walked,
    position: usize,
    collective: &Collective,
    Numbers { instance, count, sure }: Numbers,
) -> Participation {
    let call = walked.operations.call(collective.call);
    let was_off = walked.operations.was_off;
    Participation {
        communicator: collective.communicator,
        instance,
        process: to_u32(walked.process.number),
        position: to_u32(position),
        place: call.site.place(),
        ended: collective.position,
        begun: collective.begun,
        kind: PartKind::new(collective.operation, collective.class, series(collective), was_off),
        root: collective.root,
        enter: call.interval.enter,
        begin: collective.begin,
        end: collective.end,
        leave: call.interval.leave,
        sent: collective.sent,
        received: collective.received,
        count,
        sure,
    }
}

/// The series of a blocking operation.
fn series(collective: &Collective) -> Series {
    match collective.class {
        Some(
            CollectiveClass::Handle
            | CollectiveClass::Disconnect
            | CollectiveClass::WindowCreation
            | CollectiveClass::WindowRelease
            | CollectiveClass::FileHandling,
        ) => Series::Handles,
        Some(CollectiveClass::Neighborhood) => Series::Neighborhoods,
        _ => Series::Data,
    }
}

/// The worker that judges an operation: spread evenly, and the same for all members.
pub(super) fn judge_of(communicator: u32, instance: u32, workers: usize) -> usize {
    (communicator as usize).wrapping_mul(31).wrapping_add(instance as usize) % workers
}

/// Key of an operation: communicator, series, number, process, and persistent operation. The process is that of the only
/// member on a communicator of single processes, and 0 elsewhere.
pub(super) type OperationKey = (u32, Series, u32, u32, u32);

/// Key of the operation of a part. Persistent operations may be started in different orders by different members, so each has
/// numbers of its own.
pub(super) fn operation_of(trace: &Trace, part: &Participation, persistent: u32) -> OperationKey {
    let alone = match trace.communicators.get(part.communicator as usize) {
        Some(Participants::Myself) => part.process,
        _ => 0,
    };
    (part.communicator, part.kind.series, part.instance, alone, persistent)
}

/// The parts that this worker received.
pub(super) fn gather(trace: &Trace, told: Vec<Batch>) -> Parts<Participation> {
    Parts::new(told, |part: &Participation| (operation_of(trace, part, 0), part.process))
}

/// Judges operations, and returns the results for each worker; `latecomers` gets who came last.
pub(super) fn judge(
    tools: &Tools<'_>,
    parts: &Parts<Participation>,
    paused: &Paused,
    workers: usize,
    findings: &mut Findings,
    mut latecomers: Option<&mut Latecomers>,
) -> Vec<Batch> {
    let Tools { trace, metrics, owners, .. } = *tools;
    let mut answers = vec![Batch::new(); workers];
    let mut lists = vec![None; workers];
    parts.for_each(|members| {
        let memberships = Operation::new(trace, members, paused).judge(findings);
        if let Some(latecomers) = &mut latecomers {
            latecomers.add(trace, metrics, members, &memberships);
        }
        let waits = waits(tools, members, &memberships);
        let partners = if metrics.has_causes { Partners::find(trace, members, &memberships) } else { None };
        for (at, (part, membership)) in members.iter().zip(&memberships).enumerate() {
            let spoken = waits.iter().filter(|wait| wait.speaker == at);
            let (kind, last_begin, first_end) = match *membership {
                Membership::Independent if spoken.clone().next().is_none() => continue,
                Membership::Independent => (INDEPENDENT, 0, 0),
                Membership::Unmatched => (UNMATCHED, 0, 0),
                Membership::Synchronising { last_begin, first_end } => (SYNCHRONISING, last_begin, first_end),
            };
            let partners = partners.as_ref().filter(|_| kind == SYNCHRONISING);
            let flag = if partners.is_some() { WITH_PARTNERS } else { 0 };
            let worker = owners.of(part.process as usize);
            let answer = &mut answers[worker];
            let what = to_u64(spoken.clone().count()) << 8 | flag | kind;
            (Halves(part.process, part.position), (what, (last_begin, first_end))).put(answer);
            for wait in spoken {
                (wait.subject, (wait.instance, wait.both)).put(answer);
            }
            if let Some(partners) = partners {
                partners.of(at).encode(&mut lists[worker], answer);
            }
        }
    });
    answers
}

/// Receives the results. `first` is the process of the first matches.
pub(super) fn hear(batch: &[u64], first: usize, matches: &mut [Matches]) {
    let mut reader = BatchReader::new(batch);
    let mut list = None;
    while !reader.is_empty() {
        let (Halves(process, position), (what, (last_begin, first_end))): (
            Halves<u32, u32>,
            (u64, (Ticks, Ticks)),
        ) = Wire::get(&mut reader);
        let matches = &mut matches[process as usize - first];
        matches.collectives[position as usize] = match what & KIND {
            UNMATCHED => Membership::Unmatched,
            INDEPENDENT => Membership::Independent,
            _ => Membership::Synchronising { last_begin, first_end },
        };
        for _ in 0..what >> 8 {
            let (subject, (instance, both)): (SubjectId, (Instance, Option<BothSides>)) =
                Wire::get(&mut reader);
            matches.waits.push((position, subject, instance, both));
        }
        if what & WITH_PARTNERS != 0 {
            matches.partners.push((position, Synchronised::decode(&mut reader, &mut list)));
        }
    }
}

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
                format!("{name}: recorded by {} of {expected} members", self.members.len())
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
    fn judge(&self, findings: &mut Findings) -> Vec<Membership> {
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
    use crate::ids::PathId;
    use crate::options::Semantics;
    use crate::trace::tests::world;
    use crate::wire;

    /// The parts of ranks 0, 1, … of a world: begin, end, bytes sent, bytes received. The root is rank 0.
    fn judge(class: CollectiveClass, parts: &[(Ticks, Ticks, u64, u64)]) -> Vec<Option<(Ticks, Ticks)>> {
        let trace = Trace::new(world(&[10, 11, 12][..parts.len().max(2)]), Semantics::Corrected).unwrap();
        let members: Vec<Participation> = parts
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
            .collect();
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
    fn missing_member_makes_the_operation_unmatched() {
        assert_eq!(judge(CollectiveClass::Barrier, &[(1, 12, 0, 0)]), [Some((-1, -1))]);
    }

    #[test]
    fn parts_survive_the_way_to_the_judge() {
        for class in [Some(CollectiveClass::Init), Some(CollectiveClass::Scan), None] {
            let part = Participation {
                communicator: WORLD_AT_INIT,
                instance: 7,
                process: 3,
                position: 9,
                place: Place { location: 4, path: PathId::new(8) },
                ended: EventNumber::new(11),
                begun: EventNumber::new(12),
                kind: PartKind::new(9, class, Series::NonBlocking, class.is_none()),
                root: u32::MAX,
                enter: -6,
                begin: -5,
                end: 6,
                leave: 7,
                sent: 1,
                received: u64::MAX,
                count: 8,
                sure: 7,
            };
            assert_eq!(wire::one::<Participation>(&wire::batch_of([&part])), part);
        }
    }
}
