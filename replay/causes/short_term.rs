//! Delay costs in the short term, and whose waiting was caused by earlier waiting (specification 9.1 to 9.3 and 10).
//!
//! The location that waits tells what it did since both sides last synchronised; the location that made it wait compares
//! that with what it did itself. What it did more is the delay: the waiting is charged to it, in proportion.

use model::Ticks;

use super::collect::Idle;
use super::delay::{Class, Delay};
use super::lines::Lines;
use super::previous::{Members, Partner, Past, Query};
use super::sides::{Cause, Causes, Wait};
use super::work::{self, Excess};
use super::{previous, reach};
use crate::error::Error;
use crate::exchange::{Batch, Exchange};
use crate::fraction::fixed;
use crate::journal::Spot;
use crate::metrics::Metrics;
use crate::options::Semantics;
use crate::severity::Row;
use crate::tools::Tools;
use crate::trace::Trace;

/// Rows of excess work that are kept for each cause, on average: a program may have any number of them. What is not kept is
/// asked for again.
const ROWS_KEPT: usize = 16;

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
            Wait { delay, worker, number: numbers[worker] - 1, past: Past::default(), has_costs: false }
        })
        .collect();
    let mut causes = Causes::default();
    for batch in &told {
        causes.firsts.push(causes.list.len());
        causes.list.extend(batch.chunks_exact(Delay::WORDS).map(Delay::decode).map(Cause::new));
    }
    causes.firsts.push(causes.list.len());
    drop(told);
    for idle in idle {
        idle_threads(tools, lines, &idle, &mut causes);
    }
    find_previous(trace, lines, &mut waits, &mut causes);
    compare(metrics, lines, &waits, &mut causes, exchange)?;
    indirect(metrics, lines, &waits, &causes, exchange)?;
    propagating(metrics, lines, &waits, &causes);
    Ok((waits, causes))
}

/// Finds the points at which both sides of each delay had synchronised before, how far causes reach, and which waiting
/// has caused more.
fn find_previous(trace: &Trace, lines: &Lines, waits: &mut [Wait], causes: &mut Causes) {
    let partner = |delay: &Delay, spot: Spot| match delay.class {
        // A thread may have been in a team of its own meanwhile.
        Class::ThreadBarrier => Partner::Team(delay.communicator),
        Class::IdleThreads => Partner::AnyTeam,
        _ => Partner::Process(trace.locations[spot.location as usize].process as u32),
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
                partner: partner(&waits[at].delay, waits[at].delay.causing),
            })
            .chain(of_causes[line].iter().map(|&at| Query {
                before: causes.list[at].delay.causing.position,
                partner: partner(&causes.list[at].delay, causes.list[at].delay.waiting),
            }))
            .collect();
        let answers = previous::find(points, &queries, &mut members);
        let (of_wait, of_cause) = answers.split_at(of_waits[line].len());
        for (&at, &past) in of_waits[line].iter().zip(of_wait) {
            waits[at].past = past;
        }
        for (&at, &past) in of_causes[line].iter().zip(of_cause) {
            causes.list[at].past = past;
            causes.list[at].reach = reach::corrected(past);
        }
        if trace.semantics == Semantics::Reference {
            let group = of_causes[line].iter().map(|&at| (causes.list[at].delay, causes.list[at].past));
            let reaches = reach::reference(trace, points, &group.collect::<Vec<_>>(), &mut members);
            for (&at, reach) in of_causes[line].iter().zip(reaches) {
                causes.list[at].reach = reach;
            }
        }
        let reaches = of_causes[line].iter().map(|&at| &causes.list[at]);
        let reaches = reaches.map(|cause| (cause.reach, cause.past.points().end));
        let covered = reach::covered(points.len(), reaches);
        for &at in &of_waits[line] {
            let wait = &mut waits[at];
            let point = lines.line(line).point_behind(wait.past, wait.delay.waiting.position);
            wait.has_costs = point.is_some_and(|point| point.wait > 0) && covered[wait.past.points().end];
        }
    }
}

/// Compares what waiting locations did with what those did that made them wait, and charges these.
fn compare(
    metrics: &Metrics,
    lines: &mut Lines,
    waits: &[Wait],
    causes: &mut Causes,
    exchange: &mut dyn Exchange,
) -> Result<(), Error> {
    let all = work::by_worker(waits, exchange.workers());
    let mut excess = Excess::default();
    work::bring(lines, waits, &all, exchange, |lines, told| {
        let cause = causes.firsts[told.worker] + told.number;
        let of = &mut causes.list[cause];
        (of.awaits_costs, of.waiting_path) = (told.has_costs, told.path);
        let points = lines.line(lines.at(of.delay.causing.location)).points();
        of.since = of.past.after().map(|after| points[after].position);
        let excess = excess.of(lines, &causes.list[cause]);
        charge(metrics, lines, causes, cause, excess);
    })
}

/// Charges the short-term costs of a delay to the excess work by row.
fn charge(metrics: &Metrics, lines: &mut Lines, causes: &mut Causes, at: usize, excess: &[(Row, Ticks)]) {
    let most = causes.list.len() * ROWS_KEPT;
    let cause = &mut causes.list[at];
    let (spot, class) = (cause.delay.causing, cause.delay.class);
    let line = lines.at(spot.location);
    let sum = excess.iter().fold(0, |sum: Ticks, &(_, more)| more.saturating_add(sum));
    let time = lines.line(line);
    let denominator = sum as f64 + time.waiting(cause.past) as f64;
    let is_cause = time.point_behind(cause.past, spot.position).is_some_and(|point| point.wait <= 0);
    if denominator > 0.0 && is_cause {
        let scale = cause.delay.wait as f64 / denominator;
        // A message is never charged more than the delay explains; collective operations are (Q14).
        cause.scale = if class.is_of_messages() { scale.min(1.0) } else { scale };
        cause.denominator = denominator;
        lines.charge(line, metrics.delay_costs[class as usize][0], cause.scale, excess);
    }
    if cause.awaits_costs {
        let first = causes.shares.len();
        cause.shares = (first + excess.len() <= most).then(|| {
            causes.shares.extend(excess);
            first..causes.shares.len()
        });
    }
}

/// Charges idle threads to what the main thread does alone (9.6). What made it wait meanwhile is charged for them, too.
fn idle_threads(
    Tools { trace, metrics, .. }: &Tools<'_>,
    lines: &mut Lines,
    idle: &Idle,
    causes: &mut Causes,
) {
    let line = lines.at(idle.location);
    let mut work = Vec::new();
    let ends = idle.forks.iter().copied().chain([lines.line(line).end()]);
    let queries: Vec<Query> = ends.map(|before| Query { before, partner: Partner::AnyTeam }).collect();
    let pasts = previous::find(lines.line(line).points(), &queries, &mut Members::new(trace));
    for (Query { before, .. }, past) in queries.into_iter().zip(pasts) {
        let time = lines.line(line);
        let waiting = time.waiting(past);
        let since = past.after().map(|at| time.points()[at].position);
        let joined =
            since.and_then(|since| idle.joins.get(idle.joins.partition_point(|&join| join < since)).copied());
        lines.work_since(line, joined, before, &mut work);
        let alone: f64 = work.iter().map(|&(_, ticks)| ticks as f64).sum();
        let denominator = alone + waiting as f64;
        if denominator <= 0.0 {
            continue;
        }
        let scale = f64::from(idle.others);
        lines.charge(line, metrics.delay_costs[Class::IdleThreads as usize][0], scale, &work);
        let spot = Spot { location: idle.location, position: before };
        let class = Class::IdleThreads;
        let delay =
            Delay { class, waiting: spot, causing: spot, wait: 0, time: 0, taken: 0, communicator: 0 };
        causes.list.push(Cause { since: joined, denominator, scale, ..Cause::new(delay) });
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
            let waiting = lines.line(lines.at(spot.location)).waiting(cause.past);
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
            after: cause.past.after().map(|at| points[at].position),
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
