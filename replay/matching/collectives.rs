//! Collective operations: the k-th one on a communicator is the same operation for all members (MPI 3.1,
//! chapter 5).
//!
//! Members send their parts to a worker that is chosen by communicator and k; it sees the whole operation,
//! applies the rules of synchronisation, and returns the results to the members that synchronise. k includes
//! missing operations, where the trace has their number. Where it does not, members have recorded different
//! numbers of operations on a communicator, and one of them has a known gap, operations after that gap may
//! not be the same for all: they are not analyzed. Nor are those after it in which a member seems to leave
//! before another one enters.

use model::Ticks;
use rustc_hash::FxHashMap;

use super::awaited::Awaited;
use super::latecomers::Latecomers;
use super::operation::Operation;
use super::participation::{PartKind, Participation, Series};
use super::partners::{Partners, Synchronised};
use super::threads::order_of_begins;
use super::told::{Parts, Telling};
use super::waits::waits;
use super::{Matches, Membership, Paused};
use crate::communicators::Participants;
use crate::details::instances::{BothSides, Threshold};
use crate::exchange::Batch;
use crate::exchange::batch::BatchReader;
use crate::findings::Findings;
use crate::int::{to_u32, to_u64};
use crate::operations::Collective;
use crate::statistics::{Instance, SubjectId};
use crate::tools::Tools;
use crate::trace::Trace;
use crate::walk::Walked;
use crate::wire::{Halves, Wire};

/// Kinds of results.
const UNMATCHED: u64 = 0;
const SYNCHRONISING: u64 = 1;
const INDEPENDENT: u64 = 2;
const KIND: u64 = 3;

/// Flag: the member's partners follow.
const WITH_PARTNERS: u64 = 4;

/// Sends the parts of a process in the operations at these positions to the workers that judge.
pub(super) fn tell(
    walked: &Walked,
    numbers: &[Numbers],
    positions: &[u32],
    telling: &mut Telling<Participation>,
) {
    let workers = telling.workers();
    for position in positions.iter().map(|&position| position as usize) {
        let collective = &walked.operations.collectives[position];
        let part = part(walked, position, collective, numbers[position]);
        telling.tell(judge_of(part.communicator, part.instance, workers), part);
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
    let sure_handles = walked.operations.uneven_pause.map_or(sure, |pause| sure.min(pause.collectives));
    let missing: FxHashMap<u32, u64> = walked.operations.unrecorded.collectives.iter().copied().collect();
    // By communicator and series: number of the next operation, and of operations before the gap.
    let mut extents: Extents = Extents::default();
    let mut instances = vec![0; collectives.len()];
    let mut before: FxHashMap<(u32, Series), u64> = FxHashMap::default();
    let order = order_of_begins(trace, walked);
    for at in 0..collectives.len() {
        let position = order.as_ref().map_or(at, |order| order[at] as usize);
        let collective = &collectives[position];
        let series = Series::of(collective);
        let sure = if series == Series::Handles { sure_handles } else { sure };
        let (next, certain) = extents.of((collective.communicator, series));
        if !missing.is_empty()
            && let Some(&missing) = missing.get(&to_u32(position))
        {
            let before = before.insert((collective.communicator, series), missing).unwrap_or(0);
            *next = next.saturating_add(u32::try_from(missing.saturating_sub(before)).unwrap_or(u32::MAX));
        }
        instances[position] = *next;
        *next = next.saturating_add(1);
        if position < sure {
            *certain = *next;
        }
    }
    let mut numbers = |(collective, instance): (&Collective, u32)| {
        let (count, sure) = *extents.of((collective.communicator, Series::of(collective)));
        Numbers { instance, count, sure }
    };
    collectives.iter().zip(instances).map(&mut numbers).collect()
}

/// How many operations there are, and before the gap, by communicator and series: nearly always those of the one asked for before.
#[derive(Default)]
struct Extents {
    places: FxHashMap<(u32, Series), usize>,
    all: Vec<(u32, u32)>,
    latest: Option<((u32, Series), usize)>,
}

impl Extents {
    fn of(&mut self, key: (u32, Series)) -> &mut (u32, u32) {
        let place = match self.latest {
            Some((latest, place)) if latest == key => place,
            _ => *self.places.entry(key).or_insert(self.all.len()),
        };
        self.latest = Some((key, place));
        if place == self.all.len() {
            self.all.push((0, 0));
        }
        &mut self.all[place]
    }
}

/// For each blocking operation of a process that moves data, or is a barrier, among several processes: its communicator, and its
/// number there. `None` for others.
pub(crate) fn instances(trace: &Trace, walked: &Walked) -> Vec<Option<(u32, u32)>> {
    let instance = |(collective, numbers): (&Collective, Numbers)| {
        let is_alone = matches!(
            trace.communicators.get(collective.communicator as usize),
            None | Some(Participants::Myself)
        );
        let is_of_data = Series::of(collective) == Series::Data;
        (is_of_data && !is_alone).then_some((collective.communicator, numbers.instance))
    };
    walked.operations.collectives.iter().zip(numbers(trace, walked)).map(instance).collect()
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
        kind: PartKind::new(collective.operation, collective.class, Series::of(collective), was_off),
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

/// The worker that judges an operation: spread evenly, and the same for all members.
pub(crate) fn judge_of(communicator: u32, instance: u32, workers: usize) -> usize {
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

/// Judges operations, and returns the results for each worker; `latecomers` gets who came last, and `threshold` has the instances of
/// earlier rounds.
pub(super) fn judge(
    tools: &Tools<'_>,
    parts: &Parts<Participation>,
    paused: &Paused,
    workers: usize,
    findings: &mut Findings,
    mut latecomers: Option<&mut Latecomers>,
    threshold: &mut Threshold,
) -> Vec<Batch> {
    let Tools { trace, metrics, owners, .. } = *tools;
    let mut answers = vec![Batch::new(); workers];
    let mut lists = vec![None; workers];
    let mut all_waits = Vec::new();
    parts.for_each(|members| {
        let memberships = Operation::new(trace, members, paused).judge(findings);
        let communicator = trace.communicators.get(members[0].communicator as usize);
        let ranks = communicator.and_then(Participants::processes);
        let mut awaited = Awaited::new(members, &memberships, ranks);
        if let Some(latecomers) = &mut latecomers {
            latecomers.add(trace, metrics, &mut awaited);
        }
        waits(tools, &mut awaited, threshold, &mut all_waits);
        let partners = if metrics.has_causes { Partners::find(&mut awaited) } else { None };
        for (at, (part, membership)) in members.iter().zip(&memberships).enumerate() {
            let spoken = all_waits.iter().filter(|wait| wait.speaker == at);
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
                wait.subject.put(answer);
                wait.instance.put(answer);
                wait.both.put(answer);
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
            let (subject, (instance, both)): (SubjectId, (Instance, Option<Box<BothSides>>)) =
                Wire::get(&mut reader);
            matches.waits.push((position, subject, instance, both));
        }
        if what & WITH_PARTNERS != 0 {
            matches.partners.push((position, Synchronised::decode(&mut reader, &mut list)));
        }
    }
}
