//! What the culprits did more than those that they made wait, delay by delay.
//!
//! [`short_term`](super::super::short_term) compares all call paths, and keeps no more than it has to. Here it is some call paths
//! of a few locations: both sides sum up these alone, before each of their points.

use model::Ticks;

use super::Culprit;
use crate::causes::delay::Class;
use crate::causes::lines::Lines;
use crate::causes::previous::Past;
use crate::causes::sides::{Causes, Wait};
use crate::causes::time_line::TimeLine;
use crate::error::Error;
use crate::exchange::{Batch, Exchange};
use crate::severity::Row;
use crate::tools::Tools;

/// What a culprit did since both sides of a delay last synchronised, in ticks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Work {
    /// All of it.
    pub(super) all: Ticks,
    /// What it did more than the other side.
    pub(super) more: Ticks,
}

/// Work of the culprits that are at this worker's locations.
#[derive(Debug)]
pub(super) struct Excess {
    /// By culprit and cause; no list for culprits elsewhere.
    work: Vec<Vec<Work>>,
}

impl Excess {
    /// What a culprit did before each cause of this worker: nothing before those elsewhere. No list, if it is at none of this
    /// worker's locations.
    pub(super) fn of(&self, culprit: usize) -> &[Work] {
        &self.work[culprit]
    }

    /// Compares both sides of all delays that are caused where a culprit is.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn find(
        tools: &Tools<'_>,
        culprits: &[Culprit],
        lines: &mut Lines,
        waits: &[Wait],
        causes: &Causes,
        exchange: &mut dyn Exchange,
    ) -> Result<Excess, Error> {
        let at = |location: u32| {
            culprits.iter().enumerate().filter(move |(_, culprit)| culprit.location == location)
        };
        let mut paths: Vec<u32> = culprits.iter().map(|culprit| culprit.path).collect();
        paths.sort_unstable();
        paths.dedup();
        let column = |culprit: &Culprit| paths.partition_point(|&path| path < culprit.path);

        let mut outgoing = vec![Batch::new(); exchange.workers()];
        let mut sums: Vec<Option<Sums>> = vec![None; lines.len()];
        for wait in waits {
            for (_, culprit) in at(wait.delay.causing.location) {
                let line = lines.at(wait.delay.waiting.location);
                let sums = sums[line].get_or_insert_with(|| Sums::new(lines, line, &paths));
                let ticks = sums.pruned(lines.line(line), column(culprit), wait.past);
                outgoing[wait.worker].push(ticks.cast_unsigned());
            }
        }
        let incoming = exchange.exchange(outgoing)?;

        let is_here = |culprit: &Culprit| tools.owner_of(culprit.location) == exchange.worker();
        let count = |culprit| if is_here(culprit) { causes.list.len() } else { 0 };
        let list = |culprit| vec![Work::default(); count(culprit)];
        let mut work: Vec<Vec<Work>> = culprits.iter().map(list).collect();
        for (ends, batch) in causes.firsts.windows(2).zip(&incoming) {
            let mut theirs = batch.iter();
            for (number, cause) in causes.list.iter().enumerate().take(ends[1]).skip(ends[0]) {
                for (which, culprit) in at(cause.delay.causing.location) {
                    let theirs = theirs.next().map_or(0, |word| word.cast_signed());
                    if cause.denominator <= 0.0 {
                        continue;
                    }
                    let line = lines.at(culprit.location);
                    let sums = sums[line].get_or_insert_with(|| Sums::new(lines, line, &paths));
                    let mine = sums.pruned(lines.line(line), column(culprit), cause.past);
                    // Nobody is charged for what it did not do.
                    let more = if mine > 0 { mine.saturating_sub(theirs).max(0) } else { 0 };
                    work[which][number] = Work { all: mine, more };
                }
            }
        }
        let mut alone = Vec::new();
        let idle =
            causes.list.iter().enumerate().filter(|(_, cause)| cause.delay.class == Class::IdleThreads);
        for (number, cause) in idle {
            let spot = cause.delay.causing;
            for (which, culprit) in at(spot.location) {
                let line = lines.at(spot.location);
                lines.work_since(line, cause.since, spot.position, &mut alone);
                let own = alone.iter().find(|&&(row, _)| lines.path(line, row) == culprit.path);
                let ticks = own.map_or(0, |own| own.1);
                work[which][number] = Work { all: ticks, more: ticks };
            }
        }
        Ok(Excess { work })
    }
}

/// The time of a location in some call paths, before each of its points.
#[derive(Clone, Debug)]
struct Sums {
    /// The location's row of each call path, if it has been there.
    rows: Vec<Option<Row>>,
    /// By point and call path.
    ticks: Vec<Ticks>,
}

impl Sums {
    fn new(lines: &Lines, line: usize, paths: &[u32]) -> Sums {
        let mut rows = vec![None; paths.len()];
        for (row, path) in lines.paths(line).iter().enumerate() {
            if let Ok(column) = paths.binary_search(path) {
                rows[column] = Some(row as Row);
            }
        }
        Sums { ticks: lines.line(line).before_points(&rows), rows }
    }

    /// What [`TimeLine::pruned`] says of one call path, until a point.
    fn pruned(&self, line: &TimeLine, column: usize, past: Past) -> Ticks {
        let Some(row) = self.rows[column] else { return 0 };
        let sum = |point: usize| self.ticks[point * self.rows.len() + column];
        let before = past.points().end;
        let Some(after) = past.after() else { return sum(before).max(0) };
        let ticks = sum(before).saturating_sub(sum(after));
        let point = &line.points()[after];
        let (row_after, ticks_after) = line.piece(point.position);
        if row_after != row {
            return ticks.max(0);
        }
        let (ticks, taken) = (ticks.saturating_sub(ticks_after), point.taken);
        if ticks > 0 { ticks.saturating_sub(taken).max(0) } else { taken.saturating_neg().max(0) }
    }
}
