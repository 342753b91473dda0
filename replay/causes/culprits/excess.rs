//! What the culprits did more than those that they made wait, delay by delay.
//!
//! [`short_term`](super::super::short_term) compares all call paths, and keeps no more than it has to. Here it is some call paths
//! of a few locations: both sides sum up these alone, before each of their points.

use model::Ticks;

use super::Culprit;
use crate::causes::delay::Class;
use crate::causes::lines::Lines;
use crate::causes::previous::Past;
use crate::causes::sides::{Causes, Waits};
use crate::causes::time_line::TimeLine;
use crate::error::Error;
use crate::exchange::{Batch, Exchange};
use crate::groups::Groups;
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
    /// By culprit: before each cause at its location. No list for culprits elsewhere.
    work: Vec<Vec<Work>>,
    /// By cause where a culprit is: its place among those of its location.
    places: Vec<u32>,
}

impl Excess {
    /// What a culprit did before each cause at its location. No list, if that is none of this worker's.
    pub(super) fn of(&self, culprit: usize) -> &[Work] {
        &self.work[culprit]
    }

    /// What a culprit did more than the other side before a cause at its location.
    pub(super) fn more(&self, culprit: usize, cause: u32) -> Ticks {
        self.work[culprit][self.places[cause as usize] as usize].more
    }

    /// Compares both sides of all delays that are caused where a culprit is.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn find(
        tools: &Tools<'_>,
        culprits: &[Culprit],
        lines: &mut Lines,
        waits: &Waits,
        causes: &Causes,
        exchange: &mut dyn Exchange,
    ) -> Result<Excess, Error> {
        let mut paths: Vec<u32> = culprits.iter().map(|culprit| culprit.path).collect();
        paths.sort_unstable();
        paths.dedup();
        let column = |culprit: &Culprit| paths.partition_point(|&path| path < culprit.path);
        let columns: Vec<usize> = culprits.iter().map(column).collect();
        // Most delays are caused where no culprit is, or a few are.
        let locations = culprits.iter().map(|culprit| Some(culprit.location as usize));
        let by_location = Groups::new(tools.trace.locations.len(), locations);
        let here = |location: u32| by_location.of(location as usize).iter().map(|&which| which as usize);

        let mut outgoing = vec![Batch::new(); exchange.workers()];
        let mut sums: Vec<Option<Sums>> = vec![None; lines.len()];
        for (ends, batch) in waits.firsts.windows(2).zip(&mut outgoing) {
            for wait in &waits.list[ends[0]..ends[1]] {
                for which in here(wait.delay.causing.location) {
                    let line = lines.at(wait.delay.waiting.location);
                    let sums = sums[line].get_or_insert_with(|| Sums::new(lines, line, &paths));
                    let ticks = sums.pruned(lines.line(line), columns[which], wait.past);
                    batch.push(ticks.cast_unsigned());
                }
            }
        }
        let incoming = exchange.exchange(outgoing)?;

        let mut places = vec![0; causes.list.len()];
        let mut of_culprit = |culprit: &Culprit| {
            if tools.owner_of(culprit.location) != exchange.worker() {
                return Vec::new();
            }
            let of_line = causes.of_line.of(lines.at(culprit.location));
            (0..).zip(of_line).for_each(|(place, &cause)| places[cause as usize] = place);
            vec![Work::default(); of_line.len()]
        };
        let mut work: Vec<Vec<Work>> = culprits.iter().map(&mut of_culprit).collect();
        for (ends, batch) in causes.firsts.windows(2).zip(&incoming) {
            let mut theirs = batch.iter();
            for (number, cause) in causes.list.iter().enumerate().take(ends[1]).skip(ends[0]) {
                for which in here(cause.delay.causing.location) {
                    let theirs = theirs.next().map_or(0, |word| word.cast_signed());
                    if cause.denominator <= 0.0 {
                        continue;
                    }
                    let line = lines.at(cause.delay.causing.location);
                    let sums = sums[line].get_or_insert_with(|| Sums::new(lines, line, &paths));
                    let mine = sums.pruned(lines.line(line), columns[which], cause.past);
                    // Nobody is charged for what it did not do.
                    let more = if mine > 0 { mine.saturating_sub(theirs).max(0) } else { 0 };
                    work[which][places[number] as usize] = Work { all: mine, more };
                }
            }
        }
        let mut alone = Vec::new();
        let idle =
            causes.list.iter().enumerate().filter(|(_, cause)| cause.delay.class == Class::IdleThreads);
        for (number, cause) in idle {
            let spot = cause.delay.causing;
            for which in here(spot.location) {
                let line = lines.at(spot.location);
                lines.work_since(line, causes.since(number, lines.line(line)), spot.position, &mut alone);
                let path = culprits[which].path;
                let own = alone.iter().find(|&&(row, _)| lines.path(line, row) == path);
                let ticks = own.map_or(0, |own| own.1);
                work[which][places[number] as usize] = Work { all: ticks, more: ticks };
            }
        }
        Ok(Excess { work, places })
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
        let (row_after, ticks_after) = line.point_piece(after);
        if row_after != row {
            return ticks.max(0);
        }
        let (ticks, taken) = (ticks.saturating_sub(ticks_after), point.taken);
        if ticks > 0 { ticks.saturating_sub(taken).max(0) } else { taken.saturating_neg().max(0) }
    }
}
