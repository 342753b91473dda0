//! Root causes: delays that made others wait, and the critical path (specification 7 to 10).
//!
//! ```text
//!     collect → points, delays ─┬→ short term → long term, critical path → impact
//!               time lines ─────┘   (bulk)       (backward, on few workers)
//! ```
//!
//! All but long-term costs and the critical path follows from what is known already, and travels in bulk.

mod backward;
mod by_iteration;
mod chains;
mod collect;
mod collect_offload;
mod critical_path;
mod culprits;
mod delay;
mod event_times;
mod focus;
mod graph;
mod impact;
mod kept;
mod lines;
mod long_term;
mod origins;
mod points;
mod previous;
mod questions;
mod reach;
mod short_term;
mod sides;
mod time_line;
mod window_waits;
mod work;

use model::Ticks;

pub use chains::Hop;
pub use collect::{Collected, collect};
pub use culprits::{Culprit, Culprits, Members, Named, SampleCounts, Site, Stretch, Victims};
pub use delay::DelayClass;
pub use focus::{Focused, FocusedCosts};
pub use graph::Graph;
pub use questions::{Answers, Questions};
pub use window_waits::{MOST_WAITS, WindowWait};

use crate::details::critical::PathRows;
use crate::error::Error;
use crate::exchange::{Batch, Exchange, share};
use crate::findings::Findings;
use crate::groups::Groups;
use crate::ids::{JournalPosition, Row};
use crate::int::to_u32;
use crate::journal::{Journal, JournalSpot, Spot};
use crate::report_paths::ReportPaths;
use crate::results::{self, Results};
use crate::solvers;
use crate::structure::ByIteration;
use crate::tools::Tools;
use crate::walk::WalkedProcess;
use crate::wire::{self, Wire, batch_of};
use backward::Backward;
use by_iteration::CostsByIteration;
use critical_path::RowMaker;
use delay::{Form, Notice};
use lines::Lines;
use points::{Peers, SharedCauses, SyncPoint};
use sides::{Cause, Causes, Wait, Waits};

/// Forecast of the memory for the search, in bytes: short journals with prefix sums, points, and both sides
/// of delays.
fn bytes_needed(journals: &[Journal], points: &[Vec<SyncPoint>], sides: usize) -> u64 {
    let journals: u64 = journals.iter().map(|journal| journal.bytes() as u64 * 3 / 2).sum();
    let points: usize = points.iter().map(Vec::len).sum();
    // Each is in the list that it grows in, in words on their way or in the order of time, and in the lists of its location.
    let of_side = 3 * (size_of::<Notice>() + size_of::<Wait>() + size_of::<Cause>());
    let of_point = 5 * size_of::<SyncPoint>();
    journals + (of_side * sides + of_point * points) as u64
}

/// What the search has found beside severities.
#[derive(Debug, Default)]
pub struct FoundCauses {
    /// The culprits for the summary.
    pub culprits: Culprits,
    /// Answers to the details about the severest waits, if these ask.
    pub answers: Option<Answers>,
    /// When the causes of the waiting in windows were, if only that counts.
    pub focused: Option<FocusedCosts>,
    /// What causing locations did more than those that waited, if that is wanted.
    pub stretches: Option<Vec<ComparedWork>>,
}

/// Time of a location that was compared with that of one that waited for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ComparedWork {
    /// The location.
    pub location: u32,
    /// It begins behind this position of its journal; at the begin of the journal without.
    pub since: Option<JournalPosition>,
    /// It ends before this one.
    pub before: JournalPosition,
    /// By row: ticks that were more than those of the location that waited, without waiting.
    pub excess: Vec<(Row, Ticks)>,
}

/// For whom causes are searched besides the severities.
#[derive(Debug)]
pub struct Wanted<'a, 'q> {
    /// What the details ask.
    pub asked: Option<Questions<'q>>,
    /// The values by iteration, to which costs and the critical path are added.
    pub by_iteration: Option<&'a mut ByIteration>,
    /// The windows in which things count.
    pub focused: Option<&'a Focused>,
    /// Whether the compared stretches are wanted.
    pub has_stretches: bool,
}

/// Searches for the causes of all waiting, and adds them to the severities of this worker's locations.
///
/// # Errors
/// If a worker failed, or memory gets short.
pub fn find(
    tools: &Tools<'_>,
    (processes, results): (&[WalkedProcess], &mut [Results]),
    collected: Collected,
    paths: &ReportPaths,
    Wanted { asked, mut by_iteration, focused, has_stretches }: Wanted<'_, '_>,
    findings: &mut Findings,
    exchange: &mut dyn Exchange,
) -> Result<FoundCauses, Error> {
    let first =
        processes.iter().flat_map(|process| &process.locations).map(|location| location.location).next();
    let Collected { journals, mut points, mut lists, notices, meetings, idle, last, times, counted } =
        collected;
    tools.memory.check(bytes_needed(&journals, &points, notices.len()))?;
    let order = by_cause(tools, &notices);
    let notice = |&at: &u32| &notices[at as usize];
    let mut waits =
        Waits::new(tools, order.iter().map(notice).map(|notice| notice.delay), exchange.workers());
    let of_worker = |worker: usize| &order[waits.firsts[worker]..waits.firsts[worker + 1]];
    let told = send_notices(of_worker, notice, exchange)?;
    // All other locations may wait for a few, so these may have most of the delays.
    let own = of_worker(exchange.worker());
    let causing = own.len() + told.iter().map(|batch| batch.len() / Notice::WORDS).sum::<usize>();
    tools.memory.check(bytes_needed(&journals, &points, notices.len() + causing))?;
    let mut causes = Causes { stretches: has_stretches.then(Vec::new), ..Causes::default() };
    causes.list.reserve_exact(causing);
    let (mut shared, mut bases) = (SharedCauses::default(), Vec::new());
    for (worker, batch) in told.iter().enumerate() {
        causes.firsts.push(causes.list.len());
        let mut add = |Notice { delay, taken }| {
            let partner = match delay.class {
                DelayClass::Accelerator => points::own_location(tools.trace, delay.waiting.location),
                _ => to_u32(tools.process_of(delay.waiting.location)),
            };
            // For a send only the receiver waits. Others than the sender may wait for entering a call that posts a receive.
            if delay.class == DelayClass::LateSender {
                points[delay.causing.location as usize - first.unwrap_or(0)].push(points::caused(
                    delay.causing.position,
                    taken,
                    Peers::One(partner),
                ));
            } else if delay.form != Form::Group {
                shared.add(delay.causing, taken, partner);
            }
            if let Some(base) = delay.base() {
                bases.push(Spot { position: base, ..delay.causing });
            }
            causes.list.push(Cause::new(delay));
        };
        match worker == exchange.worker() {
            true => own.iter().map(notice).for_each(|&notice| add(notice)),
            false => wire::all(batch).for_each(add),
        }
    }
    causes.firsts.push(causes.list.len());
    if focused.is_some() {
        waits.counted = order.iter().map(|&at| counted[at as usize]).collect();
        causes.shares = focus::shares(&waits, &causes, exchange)?;
    }
    drop((told, notices, order));
    shared.add_points(&mut points, first.unwrap_or(0), &mut lists);
    for base in bases {
        let point = points::caused(base.position, 0, Peers::Nobody);
        points[base.location as usize - first.unwrap_or(0)].push(point);
    }
    let watched = match focused {
        // Numbers tell what lies in windows instead.
        Some(_) => Some(Vec::new()),
        None => by_iteration.as_ref().map(|it| it.watched().to_vec()),
    };
    let mut lines = Lines::new(first.unwrap_or(0), paths.len(), watched.map(CostsByIteration::new));
    let numbers = processes.iter().zip(&paths.numbers);
    let numbers = numbers.flat_map(|(process, numbers)| process.locations.iter().map(move |_| numbers));
    let locations = results::locations(processes, results).zip(numbers);
    let first_process = processes.first().map_or(0, |process| process.number);
    for (((location, severities), numbers), (journal, mut points)) in
        locations.zip(journals.into_iter().zip(points))
    {
        points::sort(&mut points);
        let rows = severities.paths().iter().map(|&path| numbers[path.index()]).collect();
        let borders = match focused {
            Some(focused) => {
                let process = tools.process_of(to_u32(location.location)) - first_process;
                let borders = focus::borders(&journal, focused.windows[process].list().len());
                lines.push_windows(borders.clone(), focused.has_own_end);
                Some(borders)
            }
            None => by_iteration.as_ref().map(|it| it.borders(to_u32(location.location), &journal)),
        };
        lines.push(journal, points, rows, location.is_worker, borders.unwrap_or_default());
    }
    let (waits, mut causes) = short_term::evaluate(tools, waits, causes, &lists, idle, &mut lines, exchange)?;
    let stretches = causes.stretches.take();
    let mut times = times.unwrap_or_default();
    times.sort();
    let mut answers = match asked {
        Some(asked) => {
            let sides = (&waits, &causes);
            Some(questions::answer(tools, asked, sides, (&mut lines, &times), &lists, exchange)?)
        }
        None => None,
    };
    drop(lists);

    let last = match focused.filter(|focused| focused.has_own_end) {
        Some(focused) => focus::end_of_path(focused, processes, &lines, exchange)?,
        None => end_of_path(tools, processes, &lines, last, exchange)?,
    };
    let sides = (&waits, &causes);
    let graph = Graph::new(&lines, sides, meetings, last, exchange)?;
    let group = solvers::bring_together(tools, graph, &tools.shared.graphs, exchange)?;
    let mut backward = Backward::new(tools, &group, findings);
    group.solvers.run(&mut backward, exchange);
    let (returned, released) = backward.give_back(exchange)?;
    returned.report_cycles(tools, &lines, &waits, findings);
    long_term::settle(tools.metrics, &mut lines, sides, returned.costs(), exchange)?;
    let mut maker = answers.as_ref().map(|_| {
        let ends = processes.iter().flat_map(|process| &process.locations).map(|location| location.end);
        let rows = PathRows::new(tools.trace.definitions.clock.length);
        RowMaker { times: &times, causes: &causes, ends: ends.collect(), last, rows }
    });
    let critical =
        critical_path::ticks((&mut lines, tools.metrics.critical_path), &returned.path, maker.as_mut());
    let mut focused_costs = None;
    if let Some(costs) = lines.take_by_iteration() {
        match &mut by_iteration {
            Some(by_iteration) => costs.hand_over(tools.metrics, &lines, by_iteration),
            None => focused_costs = Some(FocusedCosts::of_all(&costs, tools.metrics, exchange)?),
        }
    }
    if let (Some(answers), Some(maker)) = (&mut answers, maker) {
        answers.critical = maker.rows;
    }
    let per_tick = long_term::per_tick(&causes, returned.costs());
    drop(returned);
    let locations: Vec<_> = results::locations(processes, results).collect();
    let way = culprits::WayBack { waits: &waits, causes: &causes, per_tick, group, released };
    let culprits = culprits::find(tools, paths, &locations, &mut lines, way, exchange)?;
    drop(locations);
    impact::find(tools, (processes, results), paths, &mut lines, &critical, exchange)?;
    let severities = results.iter_mut().flat_map(|results| &mut results.severities);
    severities.zip(lines.into_shares()).for_each(|(severities, shares)| severities.set_shares(shares));
    Ok(FoundCauses { culprits, answers, focused: focused_costs, stretches })
}

/// The numbers of delays in the order of their causes: neighbours in that order are mostly near in memory on
/// both sides.
fn by_cause(tools: &Tools<'_>, notices: &[Notice]) -> Vec<u32> {
    let causing = |notice: &Notice| notice.delay.causing;
    let locations = notices.iter().map(|notice| Some(causing(notice).location as usize));
    let mut by_location = Groups::new(tools.trace.locations.len(), locations);
    // The delays of each waiting process come in order, for which this sort is fast.
    by_location.sort_by_key(|at| causing(&notices[at as usize]).position);
    by_location.into_numbers()
}

/// Sends each delay to the worker that owns the causing location.
fn send_notices<'n>(
    of_worker: impl Fn(usize) -> &'n [u32],
    notice: impl Fn(&u32) -> &'n Notice,
    exchange: &mut dyn Exchange,
) -> Result<Vec<Batch>, Error> {
    let mut outgoing = vec![Batch::new(); exchange.workers()];
    for (worker, batch) in outgoing.iter_mut().enumerate().filter(|(worker, _)| *worker != exchange.worker())
    {
        batch.reserve_exact(of_worker(worker).len() * Notice::WORDS);
        of_worker(worker).iter().for_each(|at| notice(at).put(batch));
    }
    exchange.exchange(outgoing)
}

/// End of the critical path, if it is at one of this worker's locations: in the last MPI_Finalize, or at the
/// last event of all if there is no MPI_Finalize.
fn end_of_path(
    tools: &Tools<'_>,
    processes: &[WalkedProcess],
    lines: &Lines,
    last: Option<JournalSpot>,
    exchange: &mut dyn Exchange,
) -> Result<Option<JournalSpot>, Error> {
    let ends = processes.iter().flat_map(|process| &process.locations);
    // A stream of an accelerator is not where a program ends.
    let is_thread = |location: usize| tools.trace.locations[location].is_thread();
    let ends =
        ends.enumerate().filter(|&(at, location)| !lines.line(at).is_empty() && is_thread(location.location));
    let latest = ends.map(|(at, location)| {
        let spot = Spot { location: to_u32(location.location), position: lines.line(at).end() };
        (location.end, spot)
    });
    // The first among equals.
    let latest = latest.reduce(|a, b| if b.0 > a.0 { b } else { a });
    let told = share(exchange, batch_of([&(last.is_some(), latest)]))?;
    let told = told.iter().map(|batch| wire::one(batch));
    let told: Vec<(bool, Option<(Ticks, JournalSpot)>)> = told.collect();
    if told.iter().any(|&(is_finalize, _)| is_finalize) {
        return Ok(last);
    }
    let ends = told.into_iter().enumerate().filter_map(|(worker, (_, latest))| Some((worker, latest?)));
    let latest = ends.reduce(|a, b| if b.1.0 > a.1.0 { b } else { a });
    let mine = latest.filter(|&(worker, _)| worker == exchange.worker());
    Ok(mine.map(|(_, (_, spot))| spot))
}
