//! Severities of several locations at several call paths at once.
//!
//! A location has its severities in columns, by its own rows; the report has rows of all locations. A block is a small
//! piece of the report: call path after call path, of each the numbers of some neighbours. Formulas are evaluated for a
//! whole block.

use std::borrow::Cow;
use std::ops::Range;
use std::rc::Rc;

use super::source::{Source, Sources};
use crate::formulas::{Leaf, Number};
use crate::fraction::whole;
use crate::imbalance::{Own, Part, Totals};
use crate::severity::{Columns, MetricId};

/// Numbers in a block: few enough for a near cache, enough of each location to be read ahead.
const CELLS: usize = 1 << 13;

/// Locations in a block, if there are as many: their numbers at a call path fill a line of the cache.
const WIDTH: usize = 8;

/// A location has no row for a call path.
const NO_ROW: u32 = u32::MAX;

/// Some call paths at some locations.
#[derive(Debug)]
pub(super) struct Block<'b> {
    all: &'b Sources<'b>,
    /// Call paths of the report.
    pub(super) paths: &'b [u32],
    /// Where they are in the list that the block is a piece of.
    pub(super) at: Range<usize>,
    /// The locations, by position in the list.
    pub(super) locations: Range<usize>,
    /// By location, the rows of all call paths of the list.
    rows: &'b [Rc<[u32]>],
}

/// The numbers of a block, call path after call path.
#[derive(Debug)]
pub(super) enum Cells {
    /// Whole numbers.
    Whole(Vec<i64>),
    /// Shares of ticks, or sums of whole numbers that may be longer than a word.
    Wide(Vec<i128>),
}

/// The numbers of neighbours at one call path.
#[derive(Clone, Copy, Debug)]
pub(super) enum Row<'c> {
    /// Whole numbers.
    Whole(&'c [i64]),
    /// Longer ones.
    Wide(&'c [i128]),
}

impl Cells {
    /// The numbers of each call path of the block.
    pub(super) fn rows<'c>(&'c self, block: &'c Block<'_>) -> impl Iterator<Item = (u32, Row<'c>)> {
        block.paths.iter().enumerate().map(|(row, &path)| {
            let row = row * block.width()..(row + 1) * block.width();
            let row = match self {
                Cells::Whole(cells) => Row::Whole(&cells[row]),
                Cells::Wide(cells) => Row::Wide(&cells[row]),
            };
            (path, row)
        })
    }
}

impl Row<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Row::Whole(numbers) => numbers.len(),
            Row::Wide(numbers) => numbers.len(),
        }
    }

    pub(super) fn number(&self, at: usize) -> i128 {
        match self {
            Row::Whole(numbers) => numbers[at].into(),
            Row::Wide(numbers) => numbers[at],
        }
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = i128> {
        (0..self.len()).map(|at| self.number(at))
    }
}

impl<'a> Sources<'a> {
    /// Calls `with` with all blocks of a list of call paths and some of the locations: of each location in the order of the
    /// list. If it is for the idle time of threads, the list must be in rising order.
    pub(super) fn blocks(
        &self,
        metric: MetricId,
        paths: &[u32],
        among: Range<usize>,
        mut with: impl FnMut(Block<'_>),
    ) {
        if paths.is_empty() || among.is_empty() {
            return;
        }
        let most = CELLS / paths.len();
        // The idle time of a location takes long, and is computed for all of its call paths.
        let is_idle = self.is_of_idle_threads(metric);
        let width = most.max(if is_idle { 1 } else { WIDTH }).min(among.len());
        let height = if is_idle { paths.len() } else { CELLS.div_ceil(width) };
        let mut places = Places { all: self, paths, rows: vec![NO_ROW; self.regions.len()], last: None };
        for first in among.clone().step_by(width) {
            let locations = first..among.end.min(first + width);
            let rows: Vec<_> = locations.clone().map(|location| places.of(location)).collect();
            for top in (0..paths.len()).step_by(height) {
                let at = top..paths.len().min(top + height);
                with(Block {
                    all: self,
                    paths: &paths[at.clone()],
                    at,
                    locations: locations.clone(),
                    rows: &rows,
                });
            }
        }
    }
}

/// Finds the rows of call paths at one location after the other.
struct Places<'r> {
    all: &'r Sources<'r>,
    paths: &'r [u32],
    /// By call path of the report; none between two locations.
    rows: Vec<u32>,
    /// What was found last, and until which location it is the same.
    last: Option<(usize, Rc<[u32]>)>,
}

impl Places<'_> {
    /// Locations must be asked for in rising order.
    fn of(&mut self, location: usize) -> Rc<[u32]> {
        if let Some((_, rows)) = self.last.as_ref().filter(|(end, _)| location < *end) {
            return rows.clone();
        }
        let source = &self.all.list[location];
        for (row, path) in (0..).zip(source.paths()) {
            self.rows[path as usize] = row;
        }
        let rows: Rc<[u32]> = self.paths.iter().map(|&path| self.rows[path as usize]).collect();
        for path in source.paths() {
            self.rows[path as usize] = NO_ROW;
        }
        let alike = &self.all.alike;
        let end = alike[alike.partition_point(|run| run.end <= location)].end;
        self.last = Some((end, rows.clone()));
        rows
    }
}

impl Block<'_> {
    /// How many locations it has.
    pub(super) fn width(&self) -> usize {
        self.locations.len()
    }

    pub(super) fn sources(&self) -> impl Iterator<Item = &Source<'_>> {
        self.all.list[self.locations.clone()].iter()
    }

    /// The severities of a metric.
    pub(super) fn cells(&self, metric: MetricId) -> Cells {
        let (metrics, formulas) = (self.all.metrics, self.all.formulas);
        if self.all.is_of_idle_threads(metric) {
            Cells::Wide(self.with_idle_time(metric))
        } else if let Some(at) = metrics.imbalance.iter().position(|&of| of == metric) {
            Cells::Wide(self.deviations(Part::ALL[at]))
        } else if formulas.has_fractions(metric) {
            Cells::Wide(self.filled(formulas.evaluate(metric, &|leaf| {
                if leaf.is_shares {
                    self.gather(leaf, |source| source.severities.columns().1, |share| share)
                } else {
                    self.gather(leaf, |source| source.severities.columns().0, whole)
                }
            })))
        } else {
            Cells::Whole(self.counted(metric))
        }
    }

    /// The computation of each location.
    pub(super) fn computation(&self) -> Vec<i64> {
        self.counted(self.all.metrics.computation)
    }

    /// How often each location was there.
    pub(super) fn visits(&self) -> Vec<i64> {
        self.counted(self.all.metrics.visits)
    }

    /// The severities of a metric of whole numbers, as far as locations have them by themselves.
    fn counted(&self, metric: MetricId) -> Vec<i64> {
        let leaf =
            |leaf: Leaf<'_>| self.gather(leaf, |source| source.severities.columns().0, |number| number);
        self.filled(self.all.formulas.evaluate(metric, &leaf))
    }

    fn filled<T: Number>(&self, cells: Cow<'_, [T]>) -> Vec<T> {
        let mut cells = cells.into_owned();
        cells.resize(self.paths.len() * self.width(), T::default());
        cells
    }

    /// What locations have in a column; nothing if no location has any.
    fn gather<'c, C: Copy + Default + 'c, T: Number>(
        &'c self,
        leaf: Leaf<'_>,
        columns: impl Fn(&'c Source<'c>) -> &'c Columns<C>,
        number: impl Fn(C) -> T,
    ) -> Cow<'static, [T]> {
        if !self.all.has_column[leaf.column] {
            return Cow::default();
        }
        let holds = |at: &usize| leaf.holds(self.all.regions[self.paths[*at] as usize]);
        let rows: Vec<usize> = (0..self.paths.len()).filter(holds).collect();
        let columns: Vec<&[C]> = self.sources().map(|source| columns(source).column(leaf.column)).collect();
        if rows.is_empty() || columns.iter().all(|column| column.is_empty()) {
            return Cow::default();
        }
        let mut cells = vec![T::default(); self.paths.len() * self.width()];
        let mut first = 0;
        // One call path after the other at all neighbours whose rows are alike.
        for alike in self.rows.chunk_by(Rc::ptr_eq) {
            let columns = &columns[first..first + alike.len()];
            for &at in &rows {
                let row = alike[0][self.at.start + at] as usize;
                let cells = &mut cells[at * self.width() + first..];
                for (cell, column) in cells.iter_mut().zip(columns) {
                    if let Some(&severity) = column.get(row) {
                        *cell = number(severity);
                    }
                }
            }
            first += alike.len();
        }
        cells.into()
    }

    /// The time that was measured, if it is about that, and on top of it the time in which the thread was idle.
    fn with_idle_time(&self, metric: MetricId) -> Vec<i128> {
        let is_time = metric == self.all.metrics.time;
        let own = if is_time { self.counted(metric) } else { self.filled(Cow::default()) };
        let mut cells: Vec<i128> = own.into_iter().map(i128::from).collect();
        for (at, source) in self.sources().enumerate() {
            for (path, ticks) in self.all.idle_time(source, metric) {
                if let Ok(row) = self.paths.binary_search(&path) {
                    cells[row * self.width() + at] += if is_time { ticks.into() } else { whole(ticks) };
                }
            }
        }
        cells
    }

    /// How far the locations are from the mean of all, wherever they take part.
    fn deviations(&self, part: Part) -> Vec<i128> {
        let mut cells = self.filled(Cow::default());
        self.compare(part, |at, totals, own| cells[at] = totals.value(part, own));
        cells
    }

    /// By call path, whether a location is not at the mean.
    pub(super) fn are_off(&self, part: Part) -> Vec<bool> {
        let mut are_off = vec![false; self.paths.len()];
        self.compare(part, |at, totals, own| are_off[at / self.width()] |= totals.difference(part, own) != 0);
        are_off
    }

    fn compare(&self, part: Part, mut with: impl FnMut(usize, &Totals, Own)) {
        let Some(totals) = self.all.computed else { return };
        let computation = self.computation();
        // Who comes is looked at where it matters.
        let visits = if part.depends_on_visits() { self.visits() } else { self.filled(Cow::default()) };
        let mut at = 0;
        for &path in self.paths {
            let is_parallel = self.all.is_parallel[path as usize];
            for source in self.sources() {
                if source.participates[usize::from(is_parallel)] {
                    let (computation, comes) = (computation[at], visits[at] != 0);
                    with(at, totals, Own { path, is_parallel, computation, comes });
                }
                at += 1;
            }
        }
    }
}
