//! Delay costs in the short term, and whose waiting was caused by earlier waiting (specification 9.1 to 9.3 and 10).
//!
//! The location that waits tells what it did since both sides last synchronised; the location that made it wait compares
//! that with what it did itself. What it did more is the delay: the waiting is charged to it, in proportion.

use std::ops::Range;

use model::Ticks;

use super::collect::Idle;
use super::delay::{Class, Delay};
use super::lines::{Lines, MapWriter, read_map};
use super::points::SyncPoint;
use super::previous::{Members, Query};
use super::{previous, reach};
use crate::call_tree::NO_PATH;
use crate::error::Error;
use crate::exchange::batch::BatchReader;
use crate::exchange::{Batch, Exchange};
use crate::fraction::fixed;
use crate::journal::{Position, Spot};
use crate::metrics::Metrics;
use crate::options::Semantics;
use crate::severity::Row;
use crate::tools::Tools;
use crate::trace::Trace;

/// Words that a worker sends in one round, or gets, about.
const WORDS_AT_A_TIME: usize = 4 << 20;

/// A delay at the location that waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    /// The delay.
    pub(super) delay: Delay,
    /// The worker that owns the causing location.
    pub(super) worker: usize,
    /// Its number among the delays that this worker told that one.
    pub(super) number: u32,
    /// The number of the point that waits.
    pub(super) point: u32,
    /// The last point before it at which both sides had synchronised.
    pub(super) after: Option<usize>,
    /// Whether its waiting has caused more waiting, so that it may have costs of its own.
    pub(super) has_costs: bool,
}

/// A delay at the location that causes it.
#[derive(Clone, Debug)]
pub(super) struct Cause {
    /// The delay.
    pub(super) delay: Delay,
    /// The last point before it at which both sides had synchronised.
    pub(super) after: Option<usize>,
    /// The number of the first point that is not before the event: the event itself, unless it is none.
    pub(super) point: u32,
    /// The event behind which the work begins that is charged; the begin of the trace without one.
    pub(super) since: Option<Position>,
    /// The report's call path of the event that waits; none of idle threads.
    pub(super) waiting_path: u32,
    /// The wait states that it is passed on to.
    pub(super) reach: reach::Reach,
    /// Whether the waiting has costs of its own, which will come.
    pub(super) awaits_costs: bool,
    /// Excess work and waiting on this side, together, in ticks.
    pub(super) denominator: f64,
    /// The waiting in the short term, per tick of both.
    pub(super) scale: f64,
    /// The excess work by row, if costs will come: in [`Causes::shares`].
    pub(super) shares: Range<usize>,
}

/// The delays that this worker's locations cause, by the worker that told.
#[derive(Clone, Debug, Default)]
pub(super) struct Causes {
    /// All of them.
    pub(super) list: Vec<Cause>,
    /// Where those of each worker begin; and the end of all that were told: idle threads follow.
    pub(super) firsts: Vec<usize>,
    /// Excess work by row.
    pub(super) shares: Vec<(Row, Ticks)>,
}

/// Finds the causes of all delays, evaluates them, and charges short-term costs. Answers the delays of this worker's
/// locations and those that they cause.
///
/// # Errors
/// If a worker failed.
pub(super) fn evaluate(
    tools: &Tools<'_>,
    delays: Vec<Delay>,
    told: Vec<Batch>,
    idle: Vec<Idle>,
    lines: &mut Lines,
    exchange: &mut dyn Exchange,
) -> Result<(Vec<Wait>, Causes), Error> {
    let Tools { trace, metrics, .. } = *tools;
    let mut numbers = vec![0; exchange.workers()];
    let mut waits: Vec<Wait> = delays
        .into_iter()
        .map(|delay| {
            let worker = tools.owner_of(delay.causing.location);
            numbers[worker] += 1;
            Wait { delay, worker, number: numbers[worker] - 1, point: 0, after: None, has_costs: false }
        })
        .collect();
    let mut causes = Causes::default();
    for batch in &told {
        causes.firsts.push(causes.list.len());
        causes.list.extend(batch.chunks_exact(Delay::WORDS).map(|words| Cause {
            delay: Delay::decode(words),
            after: None,
            point: 0,
            since: None,
            waiting_path: NO_PATH,
            reach: reach::Reach::Nothing,
            awaits_costs: false,
            denominator: 0.0,
            scale: 0.0,
            shares: 0..0,
        }));
    }
    causes.firsts.push(causes.list.len());
    drop(told);
    for idle in idle {
        idle_threads(metrics, lines, &idle, &mut causes);
    }
    find_previous(trace, lines, &mut waits, &mut causes);
    exchange_work(metrics, lines, &waits, &mut causes, exchange)?;
    indirect(metrics, lines, &waits, &causes, exchange)?;
    propagating(metrics, lines, &waits, &causes);
    Ok((waits, causes))
}

/// Finds the points at which both sides of each delay had synchronised before, how far causes reach, and which waiting
/// has caused more.
fn find_previous(trace: &Trace, lines: &Lines, waits: &mut [Wait], causes: &mut Causes) {
    // Threads have met in their team, with whomever.
    let partner = |delay: &Delay, spot: Spot| {
        let process = trace.locations[spot.location as usize].process as u32;
        (delay.class.is_of_messages() || delay.class.is_of_collectives()).then_some(process)
    };
    let mut members = Members::new(trace);
    let mut of_waits: Vec<Vec<usize>> = vec![Vec::new(); lines.len()];
    let mut of_causes: Vec<Vec<usize>> = vec![Vec::new(); lines.len()];
    for (at, wait) in waits.iter().enumerate() {
        of_waits[lines.at(wait.delay.waiting.location)].push(at);
    }
    for (at, cause) in causes.list.iter().enumerate() {
        of_causes[lines.at(cause.delay.causing.location)].push(at);
    }
    for line in 0..lines.len() {
        let points = lines.line(line).points();
        let queries: Vec<Query> = of_waits[line]
            .iter()
            .map(|&at| Query {
                before: waits[at].delay.waiting.position,
                process: partner(&waits[at].delay, waits[at].delay.causing),
            })
            .chain(of_causes[line].iter().map(|&at| Query {
                before: causes.list[at].delay.causing.position,
                process: partner(&causes.list[at].delay, causes.list[at].delay.waiting),
            }))
            .collect();
        let answers = previous::find(points, &queries, &mut members);
        let (of_wait, of_cause) = answers.split_at(of_waits[line].len());
        for (&at, &after) in of_waits[line].iter().zip(of_wait) {
            waits[at].after = after;
        }
        for (&at, &after) in of_causes[line].iter().zip(of_cause) {
            causes.list[at].after = after;
            causes.list[at].reach = reach::corrected(points, after);
        }
        if trace.semantics == Semantics::Reference {
            let group = of_causes[line].iter().map(|&at| (causes.list[at].delay, causes.list[at].after));
            let reaches = reach::reference(trace, points, &group.collect::<Vec<_>>(), &mut members);
            for (&at, reach) in of_causes[line].iter().zip(reaches) {
                causes.list[at].reach = reach;
            }
        }
        let reaches = of_causes[line].iter().map(|&at| &causes.list[at]);
        let covered =
            reach::covered(points, reaches.map(|cause| (cause.reach, cause.delay.causing.position)));
        for &at in &of_waits[line] {
            let position = waits[at].delay.waiting.position;
            let point = lines.line(line).point(position);
            waits[at].point = point as u32;
            waits[at].has_costs = covered[point] && points[point].wait > 0;
        }
    }
}

/// Brings what waiting locations did to those that made them wait, which charge the costs to what they did more.
fn exchange_work(
    metrics: &Metrics,
    lines: &mut Lines,
    waits: &[Wait],
    causes: &mut Causes,
    exchange: &mut dyn Exchange,
) -> Result<(), Error> {
    let workers = exchange.workers();
    let mut of_worker: Vec<Vec<usize>> = vec![Vec::new(); workers];
    for (at, wait) in waits.iter().enumerate() {
        of_worker[wait.worker].push(at);
    }
    let mut told: Vec<usize> = vec![0; workers];
    let mut heard = causes.firsts.clone();
    let mut work = Vec::new();
    let mut latest = Latest::default();
    loop {
        let mut outgoing = vec![Batch::new(); workers];
        for worker in 0..workers {
            // Everyone may have something for one worker, which has to hold it all.
            let mut words = 0;
            let batch = &mut outgoing[worker];
            for &at in &of_worker[worker][told[worker]..] {
                if words > WORDS_AT_A_TIME / workers {
                    break;
                }
                if batch.is_empty() {
                    batch.push(0);
                }
                let before = batch.len();
                let wait = &waits[at];
                lines.pruned(wait.delay.waiting, wait.after, &mut work);
                let line = lines.at(wait.delay.waiting.location);
                let path = lines.path(line, lines.line(line).row(wait.delay.waiting.position));
                let mut writer = MapWriter::new(batch, path << 1 | u32::from(wait.has_costs));
                for &(row, ticks) in &work {
                    writer.push(lines.path(line, row), ticks);
                }
                words += batch.len() - before;
                told[worker] += 1;
            }
        }
        let has_more = (0..workers).any(|worker| told[worker] < of_worker[worker].len());
        if has_more {
            for batch in &mut outgoing {
                match batch.first_mut() {
                    Some(first) => *first = 1,
                    None => batch.push(1),
                }
            }
        }
        let mut is_last = !has_more;
        for (worker, batch) in exchange.exchange(outgoing)?.iter().enumerate() {
            let Some((&more, maps)) = batch.split_first() else { continue };
            is_last &= more == 0;
            let mut reader = BatchReader::new(maps);
            while !reader.is_empty() {
                charge(metrics, lines, causes, heard[worker], &mut reader, &mut latest);
                heard[worker] += 1;
            }
        }
        if is_last {
            return Ok(());
        }
    }
}

/// What a location did until some event: many wait for the same.
#[derive(Clone, Debug, Default)]
struct Latest {
    of: Option<(Spot, Option<usize>)>,
    work: Vec<(Row, Ticks)>,
}

/// Compares both sides of a delay, and charges the short-term costs.
fn charge(
    metrics: &Metrics,
    lines: &mut Lines,
    causes: &mut Causes,
    at: usize,
    reader: &mut BatchReader<'_>,
    latest: &mut Latest,
) {
    let cause = &mut causes.list[at];
    let (spot, class) = (cause.delay.causing, cause.delay.class);
    let line = lines.at(spot.location);
    if latest.of != Some((spot, cause.after)) {
        lines.pruned(spot, cause.after, &mut latest.work);
        latest.of = Some((spot, cause.after));
    }
    let mark = read_map(reader, |path, ticks| lines.note(path, ticks));
    (cause.awaits_costs, cause.waiting_path) = (mark & 1 == 1, mark >> 1);
    cause.since = cause.after.map(|after| lines.line(line).points()[after].position);
    let first = causes.shares.len();
    let mut excess = 0;
    for &(row, ticks) in &latest.work {
        let more = ticks.saturating_sub(lines.noted(lines.path(line, row)));
        if more > 0 {
            excess = more.saturating_add(excess);
            causes.shares.push((row, more));
        }
    }
    lines.forget();
    let point = lines.line(line).point(spot.position);
    cause.point = point as u32;
    let waiting = lines.line(line).waiting(lines.line(line).between(cause.after, point));
    let denominator = excess as f64 + waiting as f64;
    // The event has to be a point that does not wait itself.
    let point = lines.line(line).points().get(point);
    let is_cause = point.is_some_and(|point| point.position == spot.position && point.wait <= 0);
    if denominator > 0.0 && is_cause {
        let scale = cause.delay.wait as f64 / denominator;
        // A message is never charged more than the delay explains; collective operations are (Q14).
        cause.scale = if class.is_of_messages() { scale.min(1.0) } else { scale };
        cause.denominator = denominator;
        for &(row, more) in &causes.shares[first..] {
            lines.add(line, metrics.delay_costs[class as usize][0], row, fixed(cause.scale * more as f64));
        }
    }
    if cause.awaits_costs {
        cause.shares = first..causes.shares.len();
    } else {
        causes.shares.truncate(first);
    }
}

/// Charges idle threads to what the main thread does alone (9.6). What made it wait meanwhile is charged for them, too.
fn idle_threads(metrics: &Metrics, lines: &mut Lines, idle: &Idle, causes: &mut Causes) {
    let line = lines.at(idle.location);
    let mut work = Vec::new();
    let end = lines.line(line).end();
    for before in idle.forks.iter().copied().chain([end]) {
        let points = lines.line(line).points();
        let earlier = points.partition_point(|point| point.position < before);
        let after = points[..earlier].iter().rposition(SyncPoint::is_of_team);
        let since = after.map(|at| points[at].position);
        let joined =
            since.and_then(|since| idle.joins.get(idle.joins.partition_point(|&join| join < since)).copied());
        let waiting = lines.line(line).waiting(lines.line(line).between(after, earlier));
        lines.work_since(line, joined, before, &mut work);
        let alone: f64 = work.iter().map(|&(_, ticks)| ticks as f64).sum();
        let denominator = alone + waiting as f64;
        if denominator <= 0.0 {
            continue;
        }
        let scale = f64::from(idle.others);
        for &(row, ticks) in &work {
            let metric = metrics.delay_costs[Class::IdleThreads as usize][0];
            lines.add(line, metric, row, fixed(scale * ticks as f64));
        }
        let spot = Spot { location: idle.location, position: before };
        let class = Class::IdleThreads;
        causes.list.push(Cause {
            delay: Delay { class, waiting: spot, causing: spot, wait: 0, time: 0, taken: 0, communicator: 0 },
            after,
            point: earlier as u32,
            since: joined,
            waiting_path: NO_PATH,
            reach: reach::corrected(lines.line(line).points(), after),
            awaits_costs: false,
            denominator,
            scale,
            shares: 0..0,
        });
    }
}

/// Tells waiting locations how much of their waiting was caused by waiting.
fn indirect(
    metrics: &Metrics,
    lines: &mut Lines,
    waits: &[Wait],
    causes: &Causes,
    exchange: &mut dyn Exchange,
) -> Result<(), Error> {
    let mut outgoing = vec![Batch::new(); exchange.workers()];
    for (worker, ends) in causes.firsts.windows(2).enumerate() {
        for cause in causes.list[ends[0]..ends[1]].iter().filter(|cause| cause.delay.class.is_of_messages()) {
            let spot = cause.delay.causing;
            let line = lines.line(lines.at(spot.location));
            let waiting = line.waiting(line.between(cause.after, cause.point as usize));
            outgoing[worker].push((cause.scale * waiting as f64).to_bits());
        }
    }
    let incoming = exchange.exchange(outgoing)?;
    let mut next = vec![0; incoming.len()];
    for wait in waits.iter().filter(|wait| wait.delay.class.is_of_messages()) {
        let value = f64::from_bits(incoming[wait.worker][next[wait.worker]]);
        next[wait.worker] += 1;
        let metric = metrics.indirect[usize::from(wait.delay.class == Class::LateReceiver)];
        lines.add_at(wait.delay.waiting, metric, fixed(value));
    }
    Ok(())
}

/// Waiting for messages that made others wait for messages: for each wait the largest share that was passed on.
fn propagating(metrics: &Metrics, lines: &mut Lines, waits: &[Wait], causes: &Causes) {
    let mut spans: Vec<Vec<reach::Span>> = vec![Vec::new(); lines.len()];
    for cause in causes.list.iter().filter(|c| c.scale > 0.0 && c.delay.class.is_of_messages()) {
        let line = lines.at(cause.delay.causing.location);
        let points = lines.line(line).points();
        spans[line].push(reach::Span {
            after: cause.after.map(|at| points[at].position),
            before: cause.delay.causing.position,
            weight: cause.scale,
        });
    }
    let mut of_line: Vec<Vec<&Wait>> = vec![Vec::new(); lines.len()];
    for wait in waits.iter().filter(|wait| wait.delay.class.is_of_messages()) {
        of_line[lines.at(wait.delay.waiting.location)].push(wait);
    }
    for (spans, mut waits) in spans.into_iter().zip(of_line) {
        waits.sort_by_key(|wait| std::cmp::Reverse(wait.delay.waiting.position));
        let positions: Vec<_> = waits.iter().map(|wait| wait.delay.waiting.position).collect();
        for (wait, weight) in waits.iter().zip(reach::heaviest(spans, &positions)) {
            let metric = metrics.propagating[usize::from(wait.delay.class == Class::LateReceiver)];
            lines.add_at(wait.delay.waiting, metric, fixed(weight * wait.delay.wait as f64));
        }
    }
}
