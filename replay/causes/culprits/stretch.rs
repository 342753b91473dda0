//! Site of a culprit: the call path in its function, and the MPI calls between which it was slow.
//!
//! A function that calls MPI, such as `main` if no other one is recorded, has many stretches between
//! different calls. Its costs are divided among these: those of each delay in proportion to the time in the
//! stretches that it compares.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use model::Ticks;

use super::{CulpritExcess, CulpritPlaces};
use crate::causes::delay::DelayClass;
use crate::causes::lines::Lines;
use crate::causes::sides::Causes;
use crate::causes::work::OwnWork;
use crate::error::Error;
use crate::exchange::{Exchange, gather};
use crate::fraction::fixed;
use crate::ids::{JournalPosition, ReportPath, Row};
use crate::tools::Tools;
use crate::wire::{self, batch_of};

/// The time between two MPI calls, wherever these follow each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stretch {
    /// The region of the call before; `None` at the start.
    pub before: Option<u32>,
    /// The region of the call after; `None` at the end.
    pub after: Option<u32>,
    /// Its delay costs, in ticks as a fixed-point number.
    pub costs: i128,
    /// The time of the culprit in its function there, with or without costs, in ticks.
    pub time: Ticks,
}

/// The place in a function where a culprit was slow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Site {
    /// The call path of the report with the largest costs there.
    pub path: ReportPath,
    /// The stretch, if there is one to name.
    pub stretch: Option<Stretch>,
}

/// The regions of the calls before and after a stretch.
type StretchEnds = [Option<u32>; 2];

/// Costs and time, by call path of a culprit's function.
type ByPath = BTreeMap<ReportPath, (i128, Ticks)>;

/// Returns the site of each culprit; on worker 0.
///
/// # Errors
/// If a worker failed.
pub(super) fn find(
    tools: &Tools<'_>,
    places: &CulpritPlaces<'_>,
    lines: &mut Lines,
    causes: &Causes,
    per_tick: &[f64],
    excess: &CulpritExcess,
    exchange: &mut dyn Exchange,
) -> Result<Vec<Option<Site>>, Error> {
    let paths = places.paths;
    let calls_mpi = paths.functions.calls_mpi(tools.trace, paths);
    let mut stretches: BTreeMap<(usize, StretchEnds), ByPath> = BTreeMap::new();
    for line in 0..lines.len() {
        if !places.members.has_any(lines.location(line)) {
            continue;
        }
        let location = lines.location(line);
        let of_row = |&path: &ReportPath| RowKind {
            path,
            culprit: places.culprit(path, location).filter(|_| calls_mpi[path.index()]),
            call: Some(paths.region(path)).filter(|&region| tools.trace.is_mpi(region)),
        };
        let rows: Vec<RowKind> = lines.paths(line).iter().map(of_row).collect();
        // Time in other functions is between no calls.
        for &cause in causes.of_line.of(line) {
            for work in excess.of(cause) {
                let path = lines.paths(line)[work.row.index()];
                if !calls_mpi[path.index()] {
                    let costs = fixed(per_tick[cause as usize] * work.more as f64);
                    add(stretches.entry((work.culprit as usize, [None; 2])).or_default(), path, costs, 0);
                }
            }
        }
        if rows.iter().any(|row| row.culprit.is_some()) {
            let changes = changes(lines, line, &rows, causes, per_tick, excess);
            sum_up(lines.line(line).pieces(), &rows, changes, &mut stretches);
        }
    }

    let told = gather(exchange, batch_of([&stretches]))?;
    stretches.clear();
    // The other workers get empty batches.
    for batch in told.iter().filter(|batch| !batch.is_empty()) {
        let told: BTreeMap<(usize, StretchEnds), ByPath> = wire::one(batch);
        for (place, told) in told {
            let by_path = stretches.entry(place).or_default();
            told.into_iter().for_each(|(path, (costs, time))| add(by_path, path, costs, time));
        }
    }
    let mut sites = vec![None; places.culprits.len()];
    for (culprit, site) in sites.iter_mut().enumerate() {
        let all = stretches.range((culprit, [None; 2])..(culprit + 1, [None; 2]));
        *site = costliest(all.map(|(&(_, sides), by_path)| (sides, by_path)));
    }
    Ok(sites)
}

/// Returns the site with the largest costs, of those of one culprit; the first of equals.
fn costliest<'s>(stretches: impl Iterator<Item = (StretchEnds, &'s ByPath)>) -> Option<Site> {
    let sum = |by_path: &ByPath| {
        let add = |(costs, time): (i128, Ticks), more: &(i128, Ticks)| {
            (costs.saturating_add(more.0), time.saturating_add(more.1))
        };
        by_path.values().fold((0, 0), add)
    };
    let sums = stretches.map(|(sides, by_path)| (sum(by_path), sides, by_path));
    let ((costs, time), sides, by_path) = sums
        .max_by_key(|&((costs, _), sides, _)| (costs, Reverse(sides)))
        .filter(|((costs, _), ..)| *costs > 0)?;
    let (&path, _) = by_path.iter().max_by_key(|&(&path, &(costs, _))| (costs, Reverse(path)))?;
    let [before, after] = sides;
    let stretch = (sides != [None; 2]).then_some(Stretch { before, after, costs, time });
    Some(Site { path, stretch })
}

fn add(by_path: &mut ByPath, path: ReportPath, costs: i128, time: Ticks) {
    let sums = by_path.entry(path).or_default();
    *sums = (sums.0.saturating_add(costs), sums.1.saturating_add(time));
}

/// Kind of a row at a location of a culprit.
#[derive(Clone, Copy, Debug)]
struct RowKind {
    /// The call path of the report.
    path: ReportPath,
    /// The culprit that the row belongs to, if its function calls MPI, so that its time is between calls.
    culprit: Option<usize>,
    /// The region, if the row is an MPI call.
    call: Option<u32>,
}

/// Change of the costs of a tick in a row, from a position on.
type Change = (JournalPosition, Row, i128);

/// Returns the changes of the costs of a tick in the rows of culprits, ordered by position.
fn changes(
    lines: &mut Lines,
    line: usize,
    rows: &[RowKind],
    causes: &Causes,
    per_tick: &[f64],
    excess: &CulpritExcess,
) -> Vec<Change> {
    let (mut changes, mut ends) = (Vec::new(), Vec::new());
    let mut own = OwnWork::default();
    for &cause in causes.of_line.of(line) {
        let excess = excess.of(cause).iter().filter(|work| rows[work.row.index()].culprit.is_some());
        let mut excess = excess.peekable();
        if excess.peek().is_none() {
            continue;
        }
        let cause = cause as usize;
        let is_idle = causes.list[cause].delay.class == DelayClass::IdleThreads;
        let mut own = if is_idle { &[] } else { own.of(lines, &causes.list[cause]) }.iter();
        for work in excess {
            // Both have the same order. The work of a thread alone is not compared: all of it counts.
            let all = own.find(|(row, _)| *row == work.row).map_or(work.more, |&(_, ticks)| ticks);
            let of_tick = fixed(per_tick[cause] * work.more as f64 / all as f64);
            if of_tick > 0 {
                let since = causes.since(cause, lines.line(line));
                changes.push((
                    since.map_or(JournalPosition::default(), JournalPosition::next),
                    work.row,
                    of_tick,
                ));
                ends.push((causes.list[cause].delay.causing.position, work.row, -of_tick));
            }
        }
    }
    changes.append(&mut ends);
    // Nearly sorted already, which makes this sort fast.
    changes.sort_by_key(|change| change.0);
    changes
}

/// Adds costs and time of a location, whose pieces are rows and ticks, by culprit, stretch and call path.
fn sum_up(
    pieces: impl Iterator<Item = (Row, Ticks)>,
    rows: &[RowKind],
    changes: Vec<Change>,
    stretches: &mut BTreeMap<(usize, StretchEnds), ByPath>,
) {
    let mut changes = changes.into_iter().peekable();
    let mut of_tick: Vec<i128> = vec![0; rows.len()];
    // Costs and time by row in the current stretch.
    let mut current: Vec<(Row, i128, Ticks)> = Vec::new();
    let mut before = None;
    let mut end = |current: &mut Vec<(Row, i128, Ticks)>, sides: StretchEnds| {
        for (row, costs, time) in current.drain(..) {
            let RowKind { culprit, path, .. } = rows[row.index()];
            if let Some(culprit) = culprit {
                add(stretches.entry((culprit, sides)).or_default(), path, costs, time);
            }
        }
    };
    for (position, (row, ticks)) in JournalPosition::default().until(JournalPosition::NONE).zip(pieces) {
        while let Some((_, row, change)) = changes.next_if(|change| change.0 <= position) {
            let sum = &mut of_tick[row.index()];
            *sum = sum.saturating_add(change);
        }
        let kind = &rows[row.index()];
        if kind.culprit.is_some() {
            let costs = of_tick[row.index()].saturating_mul(ticks.into());
            current.push((row, costs, ticks));
        }
        if let Some(region) = kind.call {
            end(&mut current, [before, Some(region)]);
            before = Some(region);
        }
    }
    end(&mut current, [before, None]);
}
