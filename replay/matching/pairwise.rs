//! Collective operations in which each member may wait for an event of another one: non-blocking ones, those among neighbours,
//! and those on inter-communicators (rest of MPI 4, 5, 7.2).
//!
//! The k-th of a series on a communicator is the same operation for all members (MPI 4.1, section 6.12); for non-blocking ones
//! requests are counted, whatever the order in which they complete. As with [others](super::collectives), a worker that sees
//! all parts judges. It tells each member when the last of those that it needs has started, and whose process came back to MPI
//! last.

use model::Ticks;
use otf2::{ROOT_SELF, ROOT_THIS_GROUP};
use patterns::collective::{
    Awaited, Members, awaited_among, awaited_between, awaited_by_each, awaits_everyone_softly,
};
use patterns::matched::{CollectiveClass, CollectiveMember, Interval};
use rustc_hash::FxHashMap;

use super::collectives::{self, Numbers, judge_of, operation_of};
use super::operation::{Operation, Verdict, by_rank, with_members};
use super::participation::{PartKind, Participation, Series};
use super::progress::ProgressCalls;
use super::told::{Parts, Telling};
use super::{GROWING, Latecomer, Latecomers, Matches, Paused};
use crate::communicators::Participants;
use crate::error::Error;
use crate::exchange::batch::BatchReader;
use crate::exchange::{Batch, Exchange};
use crate::findings::{Finding, Findings};
use crate::ids::{CallId, EventNumber};
use crate::int::to_u32;
use crate::journal::{EventSpot, Spot};
use crate::operations::{Call, Collective, Done, Neighbors, NonBlocking, Operations, Place};
use crate::tools::Tools;
use crate::trace::Trace;
use crate::walk::Walked;
use crate::wire::{self, Halves, Wire, wire};

/// An event that a completing call may wait for, and its call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Awaitable {
    /// The event: the request, or entering a later call.
    pub spot: EventSpot,
    /// Its location and call path.
    pub place: Place,
    /// The call.
    pub call: Interval,
}

wire!(Awaitable { spot, place, call });

impl Awaitable {
    /// An event of a call.
    pub(super) fn new(operations: &Operations, id: CallId, position: EventNumber) -> Awaitable {
        let Call { site, interval, .. } = operations.call(id);
        Awaitable { spot: Spot { location: site.location, position }, place: site.place(), call: interval }
    }
}

/// Result for a member of a non-blocking collective operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Progression {
    /// Nobody else takes part.
    #[default]
    Alone,
    /// Members are missing or contradict each other.
    Unmatched,
    /// All members are known.
    Together {
        /// Time of the last request of the members that it needs; `None` if it needs nobody.
        last_request: Option<Ticks>,
        /// Time at which the last of these came back to MPI, of those that did before the completing call was left.
        last_return: Option<Ticks>,
        /// The event of another process that a call waits for last, and that process.
        blamed: Option<(u32, Awaitable)>,
    },
}

impl Progression {
    /// A blocking operation in which a member waits for one of its own, as patterns see it. Who has ended first is not looked
    /// at: such operations have no completion times.
    pub fn member(&self, collective: &Collective) -> Option<CollectiveMember> {
        let Progression::Together { last_request: Some(last_begin), blamed: Some(_), .. } = *self else {
            return None;
        };
        let (begin, end) = (collective.begin, collective.end);
        let (class, accessed) = (collective.class?, Ticks::MIN);
        Some(CollectiveMember { class, begin, end, last_begin, first_end: end, accessed })
    }
}

/// A member's part, as sent to the worker that judges it. In its participation begin and end are the request and the
/// completion, enter and leave those of the completing call; of a blocking operation those of its only call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) part: Participation,
    /// The start of the operation.
    pub(crate) requested: Awaitable,
    /// Entering the next call in which MPI makes progress, if there is one.
    returned: Option<Awaitable>,
    /// Which persistent operation it is on the communicator, or [`NOTHING`].
    persistent: u32,
    /// The groups of its neighbours, or [`NOTHING`].
    pub(crate) sources: u32,
    destinations: u32,
}

/// Stands for no persistent operation, and for no neighbours.
const NOTHING: u32 = u32::MAX;

wire!(Part { part, requested, returned, [persistent, sources], destinations });

/// Bytes of an operation: a part in the words that are sent, in those that are received and by itself, and the result likewise.
pub(super) const OF_OPERATION: u64 = GROWING * 3 * (size_of::<Part>() + size_of::<Progression>()) as u64;

/// Whether members of a blocking operation each wait for members of their own. To create or to release a handle, both groups of
/// an inter-communicator wait together (rest of MPI 7.1).
pub(super) fn is_pairwise(trace: &Trace, collective: &Collective) -> bool {
    let has_sides = || {
        let participants = trace.communicators.get(collective.communicator as usize);
        matches!(participants, Some(Participants::Sides(..)))
    };
    match collective.class {
        Some(CollectiveClass::Neighborhood) => true,
        Some(class) if awaits_everyone_softly(class) => false,
        _ => trace.semantics.replays_all_of_mpi() && has_sides(),
    }
}

/// Sends the parts of a process to the workers that judge.
fn tell(trace: &Trace, walked: &Walked, telling: &mut Telling<Part>) {
    let workers = telling.workers();
    let mut put = |part: Part| {
        let Participation { communicator, instance, .. } = part.part;
        telling.tell(judge_of(communicator, instance, workers), part);
    };
    nonblocking(walked).for_each(&mut put);
    let all = &walked.operations.collectives;
    if all.iter().any(|collective| is_pairwise(trace, collective)) {
        let numbers = collectives::numbers(trace, walked);
        for (position, (collective, numbers)) in all.iter().zip(numbers).enumerate() {
            if is_pairwise(trace, collective) {
                put(blocking(walked, position, collective, numbers));
            }
        }
    }
}

/// The parts in non-blocking operations. Requests that were never completed have no communicator: from the first of them on it
/// is not sure which operations those of the process are.
fn nonblocking(walked: &Walked) -> impl Iterator<Item = Part> {
    let operations = &walked.operations;
    let all = &operations.nonblocking;
    let calls = (!all.is_empty()).then(|| ProgressCalls::new(operations));
    let open = all.iter().position(|operation| operation.done.is_none());
    let gaps = [operations.gap, operations.uneven_pause].into_iter().flatten().map(|gap| gap.nonblocking);
    let sure = gaps.chain(open).min().unwrap_or(all.len());
    let key = |operation: &NonBlocking, done: &Done| {
        (done.communicator, series(done.neighbors), operation.persistent)
    };
    let mut extents: FxHashMap<_, (u32, u32)> = FxHashMap::default();
    let mut instances = Vec::with_capacity(all.len());
    for (position, operation) in all.iter().enumerate() {
        let extent = operation.done.map(|done| extents.entry(key(operation, &done)).or_default());
        instances.push(extent.map(|(count, certain)| {
            let instance = *count;
            *count += 1;
            if position < sure {
                *certain = *count;
            }
            instance
        }));
    }
    let part = move |(position, (operation, instance)): (usize, (&NonBlocking, Option<u32>))| {
        let (done, instance) = operation.done.zip(instance)?;
        let (count, sure) = extents[&key(operation, &done)];
        let numbers = Numbers { instance, count, sure };
        Some(of_nonblocking(walked, calls.as_ref()?, position, (operation, &done), numbers))
    };
    all.iter().zip(instances).enumerate().filter_map(part)
}

/// The non-blocking operations of a process: position, communicator, and series, number and persistent operation on it.
pub(super) fn numbered(walked: &Walked) -> impl Iterator<Item = (u32, u32, (Series, u32, u32))> {
    nonblocking(walked).map(|Part { part, persistent, .. }| {
        (part.position, part.communicator, (part.kind.series, part.instance, persistent))
    })
}

/// The series of a non-blocking operation.
fn series(neighbors: Option<Neighbors>) -> Series {
    if neighbors.is_some() { Series::NonBlockingNeighborhoods } else { Series::NonBlocking }
}

fn of_nonblocking(
    walked: &Walked,
    calls: &ProgressCalls,
    position: usize,
    (operation, done): (&NonBlocking, &Done),
    Numbers { instance, count, sure }: Numbers,
) -> Part {
    let operations = &walked.operations;
    let call = operations.call(done.call);
    // It may be unsure for another reason: a request before that was never completed.
    let is_behind_gap = operations.gap.is_some_and(|gap| position >= gap.nonblocking);
    let part = Participation {
        communicator: done.communicator,
        instance,
        process: to_u32(walked.process.number),
        position: to_u32(position),
        place: call.site.place(),
        ended: done.position,
        begun: operation.position,
        kind: PartKind::new(
            done.operation,
            done.class,
            series(done.neighbors),
            operations.was_off && is_behind_gap,
        ),
        root: done.root,
        enter: call.interval.enter,
        begin: operation.requested,
        end: done.time,
        leave: call.interval.leave,
        sent: done.sent,
        received: done.received,
        count,
        sure,
    };
    let requested = operations.call(operation.call).interval;
    let returned = calls.next(operation.call, requested.leave);
    Part {
        part,
        requested: Awaitable::new(operations, operation.call, operation.position),
        returned: returned.map(|next| Awaitable::new(operations, next, operations.call(next).entered)),
        persistent: operation.persistent.unwrap_or(NOTHING),
        sources: done.neighbors.map_or(NOTHING, |neighbors| neighbors.sources),
        destinations: done.neighbors.map_or(NOTHING, |neighbors| neighbors.destinations),
    }
}

/// The part in a blocking operation.
fn blocking(walked: &Walked, position: usize, collective: &Collective, numbers: Numbers) -> Part {
    let neighbors = &walked.operations.neighbors;
    let neighbors = neighbors.binary_search_by_key(&to_u32(position), |&(position, _)| position).ok();
    let neighbors = neighbors.map(|at| walked.operations.neighbors[at].1);
    Part {
        part: collectives::part(walked, position, collective, numbers),
        requested: Awaitable::new(&walked.operations, collective.call, collective.begun),
        returned: None,
        persistent: NOTHING,
        sources: neighbors.map_or(NOTHING, |neighbors| neighbors.sources),
        destinations: neighbors.map_or(NOTHING, |neighbors| neighbors.destinations),
    }
}

/// Collects the parts of all members of the operations that this worker judges.
///
/// # Errors
/// If a worker failed.
pub(crate) fn collect(
    trace: &Trace,
    processes: &[Walked],
    exchange: &mut dyn Exchange,
) -> Result<Parts<Part>, Error> {
    let mut telling = Telling::new(exchange);
    processes.iter().for_each(|walked| tell(trace, walked, &mut telling));
    let key = |Part { part, persistent, .. }: &Part| (operation_of(trace, part, *persistent), part.process);
    telling.exchange(exchange, key)
}

/// Judges operations, and returns the results for each worker.
pub(super) fn judge(
    tools: &Tools<'_>,
    parts: &Parts<Part>,
    paused: &Paused,
    workers: usize,
    findings: &mut Findings,
    mut latecomers: Option<&mut Latecomers>,
) -> Vec<Batch> {
    let Tools { trace, owners, .. } = *tools;
    let mut answers = vec![Batch::new(); workers];
    parts.for_each(|parts| {
        let progressions = judged(trace, parts, paused, findings);
        if let Some(latecomers) = &mut latecomers {
            note(latecomers, parts, &progressions);
        }
        for (Part { part, .. }, progression) in parts.iter().zip(progressions) {
            let answer = &mut answers[owners.of(part.process as usize)];
            (Halves(part.process, part.position), (part.kind.is_nonblocking(), progression)).put(answer);
        }
    });
    answers
}

/// Notes whom members of a blocking operation have waited for, and how long. Nobody is the last one of all: each member has a
/// last one of its own.
fn note(latecomers: &mut Latecomers, parts: &[Part], progressions: &[Progression]) {
    let Part { part: one, requested, .. } = parts[0];
    let mut note = |process, times, caused| {
        latecomers.note((one.communicator, one.process, requested.place.path, process), times, caused);
    };
    note(Latecomer::NOBODY, 1, 0);
    for (Part { part, .. }, progression) in parts.iter().zip(progressions) {
        if let Progression::Together { last_request: Some(last), blamed: Some((process, _)), .. } =
            *progression
            && !part.kind.is_nonblocking()
        {
            note(process, 0, (last.min(part.end) - part.begin).max(0));
        }
    }
}

/// The result for each member of an operation.
fn judged(trace: &Trace, parts: &[Part], paused: &Paused, findings: &mut Findings) -> Vec<Progression> {
    let members: Vec<Participation> = parts.iter().map(|part| part.part).collect();
    let operation = Operation::new(trace, &members, paused);
    let participants = trace.communicators.get(members[0].communicator as usize);
    if let (Some(CollectiveClass::Neighborhood), Some(Participants::Ranks(ranks))) =
        (members[0].kind.class, participants)
        && ranks.len() > 1
    {
        return neighborhood(trace, parts, &operation, ranks, findings);
    }
    let (class, ranks) = match operation.check(findings) {
        Verdict::Independent => return vec![Progression::Alone; parts.len()],
        Verdict::Unmatched => return vec![Progression::Unmatched; parts.len()],
        Verdict::Sound(class, ranks) => (class, ranks),
    };
    if !agree_on_root(&operation, class, findings) {
        return vec![Progression::Unmatched; parts.len()];
    }
    let returned = |at: usize| Some(parts[at].returned?.call.enter);
    let awaited = awaited_between_groups(&operation, class, returned).unwrap_or_else(|| {
        let left = |at: usize| members[at].leave;
        with_members(&members, ranks, |members| awaited_by_each(class, members, returned, left))
    });
    for (part, awaited) in members.iter().zip(&awaited) {
        let last = awaited.last.map_or(Ticks::MIN, |last| members[last].begin);
        operation.check_end(part, last, findings);
    }
    awaited.iter().enumerate().map(|(at, awaited)| together(parts, at, *awaited)).collect()
}

/// Whom each member waits for in an operation on an inter-communicator; `None` for others. To create a handle, both groups wait
/// together (rest of MPI 7.1).
pub(super) fn awaited_between_groups(
    operation: &Operation<'_>,
    class: CollectiveClass,
    returned: impl Fn(usize) -> Option<Ticks>,
) -> Option<Vec<Awaited>> {
    let members = operation.members;
    let participants = operation.trace.communicators.get(members[0].communicator as usize)?;
    let Participants::Sides(sides) = participants else { return None };
    if awaits_everyone_softly(class) {
        return None;
    }
    let root = operation.members.iter().position(|member| member.root == ROOT_SELF);
    let side = |at: usize| sides.is_in_first(members[at].process);
    let left = |at: usize| members[at].leave;
    let between =
        |members: Members<'_>| awaited_between(class, Members { root, ..members }, side, returned, left);
    Some(with_members(members, Some(sides.all()), between))
}

/// Whether the members of an operation on an inter-communicator agree on its root, if it has one; otherwise a finding. The root
/// calls itself so, the others of its group say that it is in their group, and those of the other group say its rank.
fn agree_on_root(operation: &Operation<'_>, class: CollectiveClass, findings: &mut Findings) -> bool {
    let Operation { trace, members, .. } = *operation;
    let one = members[0];
    let participants = trace.communicators.get(one.communicator as usize);
    let Some(Participants::Sides(sides)) =
        participants.filter(|_| matches!(class, CollectiveClass::OneToAll | CollectiveClass::AllToOne))
    else {
        return true;
    };
    let mut roots = members.iter().filter(|member| member.root == ROOT_SELF);
    let is_sound = match (roots.next(), roots.next()) {
        (Some(root), None) => {
            let side = sides.is_in_first(root.process);
            members.iter().filter(|member| member.process != root.process).all(|member| {
                match sides.is_in_first(member.process) == side {
                    true => member.root == ROOT_THIS_GROUP,
                    false => {
                        participants.and_then(|all| all.peer(member.process as usize, member.root))
                            == Some(root.process as usize)
                    }
                }
            })
        }
        _ => false,
    };
    if !is_sound {
        findings.add(Finding::CollectiveMismatch, one.begin, one.place.location as usize, || {
            format!("{}: members differ in the root", operation.name())
        });
    }
    is_sound
}

/// The result for each member of an operation among neighbours: each needs its own neighbours only.
fn neighborhood(
    trace: &Trace,
    parts: &[Part],
    operation: &Operation<'_>,
    ranks: &[u32],
    findings: &mut Findings,
) -> Vec<Progression> {
    if operation.has_outsider(ranks, findings) {
        return vec![Progression::Unmatched; parts.len()];
    }
    let group = |position: u32| trace.groups.get(&position).map_or(&[][..], |group| &group[..]);
    let members = operation.members;
    let mut rank_of = vec![0; members.len()];
    (0..).zip(by_rank(members, ranks)).for_each(|(rank, at)| rank_of[at] = rank);
    let find = |process: u32| members.binary_search_by_key(&process, |part| part.process).ok();
    let is_lacking = |process: &&u32| find(**process).is_none();
    let mut lacks = vec![false; parts.len()];
    for (part, lacks) in parts.iter().zip(&mut lacks) {
        let me = part.part;
        for process in group(part.sources).iter().filter(is_lacking) {
            *lacks = true;
            findings.add(Finding::IncompleteCollective, me.begin, me.place.location as usize, || {
                let (name, record) = (operation.name(), me.kind.record());
                format!("{name}: {record}not recorded by process {process}, a neighbour")
            });
        }
    }
    // Who lacks it has recorded fewer.
    let is_other =
        || members.len() < ranks.len() || members.iter().any(|part| part.count != members[0].count);
    let is_unsure = members.iter().any(|part| part.instance >= part.sure) && is_other();
    if is_unsure && !lacks.contains(&true) {
        operation.is_after_gap(findings);
    }
    if is_unsure || operation.differs(findings) {
        return vec![Progression::Unmatched; parts.len()];
    }
    let returned = |at: usize| Some(parts[at].returned?.call.enter);
    let mut result = Vec::with_capacity(parts.len());
    let mut neighbors = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let me = part.part;
        neighbors.clear();
        for neighbor in group(part.sources).iter().filter_map(|&process| find(process)) {
            // In a graph both have to say so (MPI 4.1, section 8.5).
            if group(parts[neighbor].destinations).binary_search(&me.process).is_ok() {
                neighbors.push((neighbor, rank_of[neighbor]));
                continue;
            }
            findings.add(Finding::ContradictingNeighborhood, me.begin, me.place.location as usize, || {
                let process = members[neighbor].process;
                format!("{}: process {process} is no neighbour in its own view", operation.name())
            });
        }
        let awaited = with_members(members, Some(ranks), |members| {
            awaited_among(members, at, &neighbors, returned, me.leave)
        });
        result.push(if lacks[at] { Progression::Unmatched } else { together(parts, at, awaited) });
    }
    result
}

/// The result for the member at a position: it is blamed who was last to come back, if that was after the last request and
/// after the completing call began.
fn together(parts: &[Part], at: usize, Awaited { last, returned }: Awaited) -> Progression {
    let last_request = last.map(|last| parts[last].part.begin);
    let of_return = returned.and_then(|who| Some((who, parts[who].returned?)));
    let since = parts[at].part.enter.max(last_request.unwrap_or(Ticks::MIN));
    let last_back = of_return.filter(|(_, returned)| returned.call.enter > since);
    let of_request = last.filter(|&last| last != at).map(|last| (last, parts[last].requested));
    let blamed = last_back.or(of_request).map(|(who, awaitable)| (parts[who].part.process, awaitable));
    Progression::Together { last_request, last_return: of_return.map(|(_, it)| it.call.enter), blamed }
}

/// Receives the results. `first` is the process of the first matches.
pub(super) fn hear(batch: &[u64], first: usize, matches: &mut [Matches]) {
    type Answer = (Halves<u32, u32>, (bool, Progression));
    for (Halves(process, position), (is_nonblocking, progression)) in wire::all::<Answer>(batch) {
        let matches = &mut matches[process as usize - first];
        match is_nonblocking {
            true => matches.nonblocking[position as usize] = progression,
            false => matches.pairwise.push((position, progression)),
        }
    }
}

/// Codes of results.
const ALONE: u64 = 0;
const UNMATCHED: u64 = 1;
const TOGETHER: u64 = 2;

impl Wire for Progression {
    fn put(&self, batch: &mut Batch) {
        match *self {
            Progression::Alone => batch.push(ALONE),
            Progression::Unmatched => batch.push(UNMATCHED),
            Progression::Together { last_request, last_return, blamed } => {
                batch.push(TOGETHER);
                (last_request, (last_return, blamed)).put(batch);
            }
        }
    }

    fn get(reader: &mut BatchReader<'_>) -> Progression {
        match reader.word() {
            ALONE => Progression::Alone,
            UNMATCHED => Progression::Unmatched,
            _ => {
                let (last_request, (last_return, blamed)) = Wire::get(reader);
                Progression::Together { last_request, last_return, blamed }
            }
        }
    }
}
