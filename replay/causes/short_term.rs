//! Short-term delay costs, and waiting caused by earlier waiting (specification 9.1 to 9.3 and 10).
//!
//! The waiting location sends its time map since the last common synchronisation; the causing location
//! compares it with its own. Its excess work is the delay: the waiting is charged to that, in proportion.

use std::cmp::Reverse;
use std::rc::Rc;

use model::Ticks;

use super::ComparedWork;
use super::by_iteration::Extent;
use super::collect::Idle;
use super::delay::{Delay, DelayClass, Form};
use super::lines::Lines;
use super::previous::{Members, Partner, Query};
use super::reach::Span;
use super::sides::{Cause, Causes, Wait, Waits};
use super::work::{self, Excess};
use super::{points, previous, reach};
use crate::error::Error;
use crate::exchange::{Batch, Exchange};
use crate::fraction::fixed;
use crate::groups::Groups;
use crate::ids::Row;
use crate::int::to_u32;
use crate::journal::{JournalSpot, Spot};
use crate::metrics::Metrics;
use crate::tools::Tools;
use crate::trace::Trace;

/// Average number of rows of excess work that are kept for each cause: a program may have any number of rows.
/// The rest is requested again.
const ROWS_KEPT: usize = 16;

/// Evaluates all delays, and charges short-term costs. `waits` are the delays at which this worker's
/// locations wait, `causes` those that they cause; both are returned with all their data.
///
/// # Errors
/// If a worker failed.
pub(super) fn evaluate(
    tools: &Tools<'_>,
    mut waits: Waits,
    mut causes: Causes,
    lists: &[Rc<[u32]>],
    idle: Vec<Idle>,
    lines: &mut Lines,
    exchange: &mut dyn Exchange,
) -> Result<(Waits, Causes), Error> {
    let Tools { trace, metrics, .. } = *tools;
    let mut members = Members::new(trace, lists);
    for idle in idle {
        idle_threads(metrics, lines, &idle, &mut members, &mut causes);
    }
    let line = |spot: JournalSpot| Some(lines.at(spot.location));
    waits.of_line = Groups::new(lines.len(), waits.list.iter().map(|wait| line(wait.delay.waiting)));
    waits.of_line.sort_by_key(|at| waits.list[at as usize].delay.waiting.position);
    causes.of_line = Groups::new(lines.len(), causes.list.iter().map(|cause| line(cause.delay.causing)));
    causes.of_line.sort_by_key(|at| causes.list[at as usize].delay.causing.position);
    for line in 0..lines.len() {
        find_previous(trace, lines, line, &mut members, &mut waits, &mut causes);
    }
    let passed_on = compare(metrics, lines, &waits, &mut causes, exchange)?;
    indirect(metrics, lines, &waits, passed_on, exchange)?;
    for line in 0..lines.len() {
        propagating(metrics, lines, line, &waits, &causes);
    }
    Ok((waits, causes))
}

/// Finds the last common synchronisation of each delay at a location, the propagation range of its causes,
/// and the waiting that has caused more.
fn find_previous(
    trace: &Trace,
    lines: &Lines,
    line: usize,
    members: &mut Members<'_>,
    waits: &mut Waits,
    causes: &mut Causes,
) {
    let partner = |delay: &Delay, other: JournalSpot| match delay.class {
        // A thread may have been in a team of its own meanwhile.
        DelayClass::ThreadBarrier => Partner::Team(delay.scope),
        DelayClass::IdleThreads => Partner::AnyTeam,
        DelayClass::Accelerator => Partner::Process(points::own_location(trace, other.location)),
        _ => Partner::Process(to_u32(trace.locations[other.location as usize].process)),
    };
    let (of_waits, of_causes) = (waits.of_line.of(line), causes.of_line.of(line));
    let of_wait = of_waits.iter().map(|&at| {
        let delay = &waits.list[at as usize].delay;
        Query { before: delay.waiting.position, partner: partner(delay, delay.causing) }
    });
    let of_cause = of_causes.iter().map(|&at| {
        let delay = &causes.list[at as usize].delay;
        Query { before: delay.causing.position, partner: partner(delay, delay.waiting) }
    });
    let queries: Vec<Query> = of_wait.chain(of_cause).collect();
    let line = lines.line(line);
    let points = line.points();
    let pasts = previous::find(points, &queries, members);
    let (of_wait, of_cause) = pasts.split_at(of_waits.len());
    for (&at, &past) in of_causes.iter().zip(of_cause) {
        let cause = &mut causes.list[at as usize];
        let past = cause.delay.base().map_or(past, |base| line.past_since(base, past));
        (cause.past, cause.reach) = (past, reach::corrected(past));
    }
    if trace.semantics.limits_propagation() {
        let group = of_causes.iter().map(|&at| &causes.list[at as usize]);
        let group: Vec<_> = group.map(|cause| (cause.delay, cause.past)).collect();
        let reaches = reach::reference(trace, points, &group, members);
        for (&at, reach) in of_causes.iter().zip(reaches) {
            causes.list[at as usize].reach = reach;
        }
    }
    let reaches = of_causes.iter().map(|&at| &causes.list[at as usize]);
    let reaches = reaches.filter_map(|cause| Some(cause.reach? as usize..cause.past.points().end));
    let covered = reach::covered(points.len(), reaches);
    for (&at, &past) in of_waits.iter().zip(of_wait) {
        let wait = &mut waits.list[at as usize];
        let position = wait.delay.waiting.position;
        wait.past = past;
        wait.row = line.row(past, position);
        let point = line.point_behind(past, position);
        let point = point.filter(|_| wait.delay.wait > 0 && covered[past.points().end]);
        wait.costly = point.map_or(0, |point| point.wait.max(0));
    }
}

/// Compares the work of causing and waiting locations, and charges the excess. Returns for each worker, of
/// each of its announced waits for messages, the ticks that were caused by earlier waiting.
fn compare(
    metrics: &Metrics,
    lines: &mut Lines,
    waits: &Waits,
    causes: &mut Causes,
    exchange: &mut dyn Exchange,
) -> Result<Vec<Batch>, Error> {
    let mut passed_on = vec![Batch::new(); exchange.workers()];
    let mut excess = Excess::default();
    let counts: Vec<usize> = waits.firsts.windows(2).map(|ends| ends[1] - ends[0]).collect();
    let wait = |worker: usize, number: usize| waits.list[waits.firsts[worker] + number];
    work::bring(
        lines,
        &counts,
        wait,
        |_, _| true,
        exchange,
        |lines, told| {
            let cause = causes.firsts[told.worker] + told.number;
            causes.list[cause].waiting_path = told.path;
            let excess = excess.of(lines, &causes.list[cause]);
            let waiting = charge(metrics, lines, causes, cause, excess, told.has_costs);
            if causes.list[cause].delay.class.is_of_messages() {
                passed_on[told.worker].push(waiting.to_bits());
            }
        },
    )?;
    Ok(passed_on)
}

/// Charges the short-term costs of a delay to the excess work by row. Returns the ticks that were caused by
/// earlier waiting.
fn charge(
    metrics: &Metrics,
    lines: &mut Lines,
    causes: &mut Causes,
    at: usize,
    excess: &[(Row, Ticks)],
    has_costs: bool,
) -> f64 {
    let most = causes.list.len() * ROWS_KEPT;
    let location = causes.list[at].delay.causing.location;
    let since = causes.since(at, lines.line(lines.at(location)));
    let cause = &mut causes.list[at];
    let Delay { causing: spot, class, form, .. } = cause.delay;
    let line = lines.at(spot.location);
    let sum = excess.iter().fold(0, |sum: Ticks, &(_, more)| more.saturating_add(sum));
    let time = lines.line(line);
    let waiting = time.waiting(cause.past) as f64;
    let denominator = sum as f64 + waiting;
    // An event that waits itself made nobody wait. The last of some members of an operation may, for a later one, and so may who
    // completes an epoch or begins a transfer in two calls, since others wait until that call is entered, and who releases a lock.
    let may_wait = form == Form::Group || matches!(class, DelayClass::OneSided | DelayClass::Files);
    let point = time.point_behind(cause.past, spot.position);
    let is_cause = point.is_some_and(|point| may_wait || point.wait <= 0);
    if denominator > 0.0 && is_cause {
        let scale = cause.delay.wait as f64 / denominator;
        // Collective operations are charged more than the delay explains (Q14).
        cause.scale = if form == Form::Edge { scale.min(1.0) } else { scale };
        cause.denominator = denominator;
        let first = causes.kept.len();
        if first + excess.len() <= most.min(u32::MAX as usize) {
            cause.kept = Some((to_u32(first), to_u32(excess.len())));
            causes.kept.extend(excess);
        }
        let extent = Extent { since, before: spot.position };
        if let Some(stretches) = &mut causes.stretches {
            let (location, before) = (spot.location, spot.position);
            stretches.push(ComparedWork { location, since, before, excess: excess.to_vec() });
        }
        let cost = causes.cost(at);
        lines.charge(line, metrics.delay_costs[class as usize][0], cost, (extent, excess));
    }
    causes.list[at].awaits_costs = has_costs;
    causes.cost(at) * waiting
}

/// Charges idle threads to the work of the main thread alone (specification 9.6). Waiting of the main thread
/// in that time is charged for them, too.
fn idle_threads(
    metrics: &Metrics,
    lines: &mut Lines,
    idle: &Idle,
    members: &mut Members<'_>,
    causes: &mut Causes,
) {
    let line = lines.at(idle.location);
    let mut work = Vec::new();
    let ends = idle.forks.iter().copied().chain([lines.line(line).end()]);
    let queries: Vec<Query> = ends.map(|before| Query { before, partner: Partner::AnyTeam }).collect();
    let pasts = previous::find(lines.line(line).points(), &queries, members);
    for (Query { before, .. }, past) in queries.into_iter().zip(pasts) {
        let time = lines.line(line);
        let waiting = time.waiting(past);
        let joined = match past.after().map(|at| time.points()[at].position) {
            None => None,
            Some(since) => match idle.joins.get(idle.joins.partition_point(|&join| join < since)) {
                Some(&joined) => Some(joined),
                // The trace ends within the team: the main thread has not worked alone since.
                None => continue,
            },
        };
        lines.work_since(line, joined, before, &mut work);
        let alone: f64 = work.iter().map(|&(_, ticks)| ticks as f64).sum();
        let denominator = alone + waiting as f64;
        if denominator <= 0.0 {
            continue;
        }
        let scale = f64::from(idle.others);
        let extent = Extent { since: joined, before };
        let share = if lines.is_focused() { lines.share_in_windows(line, extent) } else { 1.0 };
        let cost = scale * share;
        lines.charge(line, metrics.delay_costs[DelayClass::IdleThreads as usize][0], cost, (extent, &work));
        let spot = Spot { location: idle.location, position: before };
        let (class, form) = (DelayClass::IdleThreads, Form::Group);
        let delay = Delay { class, form, waiting: spot, causing: spot, wait: 0, time: 0, scope: 0 };
        causes.alone_since.push(joined);
        causes.list.push(Cause { denominator, scale, ..Cause::new(delay) });
        if lines.is_focused() {
            causes.shares.push(share);
        }
    }
}

/// Sends to waiting locations the part of their waiting that was caused by earlier waiting.
fn indirect(
    metrics: &Metrics,
    lines: &mut Lines,
    waits: &Waits,
    passed_on: Vec<Batch>,
    exchange: &mut dyn Exchange,
) -> Result<(), Error> {
    let incoming = exchange.exchange(passed_on)?;
    for (ends, batch) in waits.firsts.windows(2).zip(&incoming) {
        let waits = waits.list[ends[0]..ends[1]].iter().filter(|wait| wait.delay.class.is_of_messages());
        for (wait, &word) in waits.zip(batch) {
            let metric = metrics.indirect[usize::from(wait.delay.class == DelayClass::LateReceiver)];
            let line = lines.at(wait.delay.waiting.location);
            let event = (wait.row, wait.delay.waiting.position);
            lines.add_at(line, metric, event, fixed(f64::from_bits(word)));
        }
    }
    Ok(())
}

/// Adds the propagating waits of a location that made others wait for messages: each with the largest share
/// that was passed on.
fn propagating(metrics: &Metrics, lines: &mut Lines, line: usize, waits: &Waits, causes: &Causes) {
    let of_causes = causes.of_line.of(line).iter().map(|&at| &causes.list[at as usize]);
    let of_messages = of_causes.filter(|cause| cause.scale > 0.0 && cause.delay.class.is_of_messages());
    let spans = of_messages.map(|cause| Span::new(cause.past, cause.scale));
    // Spans without a point have caused no waiting.
    let spans: Vec<Span> = spans.filter(|span| span.first < span.end).collect();
    if spans.is_empty() {
        return;
    }
    let of_waits = waits.of_line.of(line).iter().map(|&at| (at, &waits.list[at as usize]));
    let mut of_waits: Vec<(u32, &Wait)> =
        of_waits.filter(|(_, wait)| wait.delay.class.is_of_messages()).collect();
    // An event that waits for a message is a point, behind its past.
    let point = |wait: &Wait| to_u32(wait.past.points().end);
    of_waits.sort_by_key(|(_, wait)| Reverse(point(wait)));
    let weights = reach::heaviest(spans, of_waits.iter().map(|(_, wait)| point(wait)));
    for (&(at, wait), weight) in of_waits.iter().zip(weights) {
        let metric = metrics.propagating[usize::from(wait.delay.class == DelayClass::LateReceiver)];
        let event = (wait.row, wait.delay.waiting.position);
        lines.add_at(line, metric, event, fixed(weight * waits.counted(at) as f64));
    }
}
