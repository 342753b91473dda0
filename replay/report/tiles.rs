//! Severities of several locations at several call paths at once.
//!
//! A location has its severities in columns, by its own rows; the report has rows of all locations. A tile is a small piece
//! of the report, so small that it stays in the processor's caches: each metric is made there once, and what others are
//! made of it is made from that.

use std::cell::{OnceCell, RefCell};
use std::ops::Range;
use std::rc::Rc;

use super::cells::{Cells, Numbers, combine};
use super::sheets::{self, Entry, Sheet};
use super::source::{Compared, Source, Sources};
use crate::formulas::Formula;
use crate::imbalance::{Own, Part, Totals};
use crate::severity::MetricId;

/// Numbers of a metric in a tile. Tiles are wide rather than high, because metrics mostly have nothing at a call path.
const CELLS: usize = 1 << 9;

/// Some call paths at some locations.
#[derive(Debug)]
pub(super) struct Tile<'t> {
    sheet: &'t Sheet<'t>,
    /// Call paths of the report.
    pub(super) paths: &'t [u32],
    /// Where they are in the list of the sheet.
    pub(super) at: Range<usize>,
    /// What is in records by metric, once that was asked for: whole numbers, and shares of ticks.
    whole: OnceCell<Recorded<i64>>,
    shares: OnceCell<Recorded<i128>>,
    /// By metric, what locations have by themselves, as far as it was made.
    made: RefCell<Vec<Option<Rc<Cells>>>>,
}

/// By metric: the numbers of a tile, none if they are zero. They are taken from there.
type Recorded<T> = RefCell<Vec<Vec<T>>>;

impl<'a> Sources<'a> {
    /// Calls `with` with all tiles of a list of call paths and some of the locations: of each location in the order of the
    /// list.
    pub(super) fn tiles(&self, paths: &[u32], among: Range<usize>, mut with: impl FnMut(&Tile<'_>)) {
        for locations in sheets::chunks(among.clone(), CELLS) {
            for paths in paths.chunks(sheets::height(among.len())) {
                Sheet::new(self, paths, locations.clone()).tiles(0..paths.len(), &mut with);
            }
        }
    }

    /// Some call paths, by their position in the order in which they were met, at some locations of the report.
    pub(super) fn sheets(&'a self, paths: &Range<usize>, locations: &Range<usize>) -> Vec<Sheet<'a>> {
        let paths = &self.met()[paths.clone()];
        let among = locations.start - self.first..locations.end - self.first;
        sheets::chunks(among, CELLS).map(|locations| Sheet::new(self, paths, locations)).collect()
    }
}

impl Sheet<'_> {
    /// Calls `with` with all tiles of some of the call paths.
    pub(super) fn tiles(&self, among: Range<usize>, mut with: impl FnMut(&Tile<'_>)) {
        let height = (CELLS / self.locations.len()).max(1);
        for at in sheets::chunks(among, height) {
            with(&Tile {
                sheet: self,
                paths: &self.paths[at.clone()],
                at,
                whole: OnceCell::new(),
                shares: OnceCell::new(),
                made: RefCell::new(vec![None; self.all.metrics.list.len()]),
            });
        }
    }
}

impl Tile<'_> {
    /// The locations, by position in the list.
    pub(super) fn locations(&self) -> Range<usize> {
        self.sheet.locations.clone()
    }

    /// How many locations it has.
    pub(super) fn width(&self) -> usize {
        self.sheet.locations.len()
    }

    pub(super) fn sources(&self) -> &[Source<'_>] {
        &self.sheet.all.list[self.locations()]
    }

    /// The severities of a metric.
    pub(super) fn cells(&self, metric: MetricId) -> Rc<Cells> {
        let metrics = self.sheet.all.metrics;
        if self.sheet.all.is_of_idle_threads(metric) {
            self.with_idle_time(metric)
        } else if let Some(at) = metrics.imbalance.iter().position(|&of| of == metric) {
            self.once(metric, || self.deviations(Part::ALL[at]))
        } else {
            self.counted(metric)
        }
    }

    /// What was made for a metric before, or is made now.
    fn once(&self, metric: MetricId, make: impl FnOnce() -> Rc<Cells>) -> Rc<Cells> {
        if let Some(made) = &self.made.borrow()[metric] {
            return made.clone();
        }
        let cells = make();
        self.made.borrow_mut()[metric] = Some(cells.clone());
        cells
    }

    /// The computation of each location, and its visits.
    pub(super) fn work(&self) -> [Rc<Cells>; 2] {
        [self.sheet.all.metrics.computation, self.sheet.all.metrics.visits].map(|metric| self.counted(metric))
    }

    /// The severities of a metric, as far as locations have them by themselves.
    fn counted(&self, metric: MetricId) -> Rc<Cells> {
        let formulas = self.sheet.all.formulas;
        let sum = |first: Rc<Cells>, parts: &[MetricId], is_without: bool| {
            let are_shares = formulas.has_fractions(metric);
            let step = |sum, &part: &MetricId| combine(sum, &self.counted(part), is_without, are_shares);
            parts.iter().fold(first, step)
        };
        self.once(metric, || match formulas.of(metric) {
            Formula::Measured => self.gather(metric, false),
            Formula::Shares => self.gather(metric, true),
            Formula::Selected(of, regions) => {
                self.select(&self.counted(*of), |path| regions.holds(self.sheet.all.paths.region(path)))
            }
            Formula::Sum(parts) => sum(Rc::default(), parts, false),
            Formula::Rest(all, without) => sum(self.counted(*all), without, true),
        })
    }

    /// What there is in some call paths.
    fn select(&self, of: &Rc<Cells>, holds: impl Fn(u32) -> bool) -> Rc<Cells> {
        let Numbers::Whole(numbers) = &of.numbers else { return of.clone() };
        let count = self.paths.iter().filter(|&&path| holds(path)).count();
        if count == self.paths.len() {
            return of.clone();
        } else if count == 0 {
            return Rc::default();
        }
        let mut numbers = numbers.clone();
        for (row, &path) in numbers.chunks_exact_mut(self.width()).zip(self.paths) {
            if !holds(path) {
                row.fill(0);
            }
        }
        Cells::new(Numbers::Whole(numbers))
    }

    /// What locations have by themselves: mostly in all rows, or in few of them.
    fn gather(&self, metric: MetricId, are_shares: bool) -> Rc<Cells> {
        let some =
            |is_zero: bool, numbers: Numbers| Cells::new(if is_zero { Numbers::Zero } else { numbers });
        let dense = self.sheet.dense(metric, &self.at);
        let mut cells = some(dense.iter().all(|&number| number == 0), Numbers::Whole(dense));
        let [has_whole, has_shares] = [0, 1].map(|kind: usize| self.sheet.all.is_recorded[kind][metric]);
        if has_whole {
            let whole = self.whole.get_or_init(|| self.recorded(|at| self.sheet.whole(at)));
            let whole = whole.borrow_mut().get_mut(metric).map(std::mem::take).unwrap_or_default();
            cells = combine(cells, &some(whole.is_empty(), Numbers::Whole(whole)), false, are_shares);
        }
        if has_shares {
            let shares = self.shares.get_or_init(|| self.recorded(|at| self.sheet.shares(at)));
            let shares = shares.borrow_mut().get_mut(metric).map(std::mem::take).unwrap_or_default();
            cells = combine(cells, &some(shares.is_empty(), Numbers::Wide(shares)), false, are_shares);
        }
        cells
    }

    /// What is in records, by metric; nothing at all if there are none.
    fn recorded<'e, T: Copy + Default + 'e>(&self, of: impl Fn(usize) -> &'e [Entry<T>]) -> Recorded<T> {
        let mut recorded = Vec::new();
        for (first, at) in (0..).step_by(self.width()).zip(self.at.clone()) {
            for entry in of(at) {
                recorded.resize(self.sheet.all.metrics.list.len(), Vec::new());
                let cells: &mut Vec<T> = &mut recorded[entry.metric as usize];
                if cells.is_empty() {
                    cells.resize(self.paths.len() * self.width(), T::default());
                }
                cells[first + entry.location as usize] = entry.value;
            }
        }
        recorded.into()
    }

    /// The time that was measured, if it is about that, and on top of it the time in which the thread was idle.
    fn with_idle_time(&self, metric: MetricId) -> Rc<Cells> {
        let is_time = metric == self.sheet.all.metrics.time;
        let mut idle = Vec::with_capacity(self.paths.len() * self.width());
        for &path in self.paths {
            idle.extend(
                self.sources().iter().map(|source| self.sheet.all.idle_time_at(source, metric, path)),
            );
        }
        let idle = Cells::new(Numbers::Whole(idle));
        if is_time { combine(self.counted(metric), &idle, false, false) } else { idle }
    }

    /// How far the locations are from the mean of all, wherever they take part.
    fn deviations(&self, part: Part) -> Rc<Cells> {
        let mut cells = vec![0; self.paths.len() * self.width()];
        if part == Part::All {
            self.compare(|at, totals, own| cells[at] = totals.value(part, own));
            return Cells::new(Numbers::Wide(cells));
        }
        // A part has all of it, or nothing.
        let all = self.cells(self.sheet.all.metrics.imbalance[Part::All as usize]);
        if let Numbers::Wide(all) = &all.numbers {
            self.compare(|at, totals, own| {
                if totals.difference(part, own) != 0 {
                    cells[at] = all[at];
                }
            });
        }
        Cells::new(Numbers::Wide(cells))
    }

    /// Calls `with` for each location that takes part in a comparison, call path after call path, with its position. Call
    /// paths at which all are at the mean are left out.
    pub(super) fn compare(&self, mut with: impl FnMut(usize, &Totals, Own)) {
        let Some(Compared { totals, is_off }) = &self.sheet.all.compared else { return };
        let width = self.width();
        let [computation, visits] = self.work();
        for (at, &path) in self.paths.iter().enumerate().filter(|(_, path)| is_off[**path as usize][0]) {
            let is_parallel = self.sheet.all.is_parallel[path as usize];
            let [computation, visits] = [&computation, &visits].map(|cells| cells.words(at, width));
            for (location, source) in self.sources().iter().enumerate() {
                if source.participates[usize::from(is_parallel)] {
                    let [computation, visits] =
                        [computation, visits].map(|row| row.map_or(0, |row| row[location]));
                    let own = Own { path, is_parallel, computation, comes: visits != 0 };
                    with(at * width + location, totals, own);
                }
            }
        }
    }
}
