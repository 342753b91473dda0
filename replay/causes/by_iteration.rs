//! Costs and the critical path by iteration (structure 3.1).
//!
//! A cost is charged to work of the causing location, which lies in a stretch of its journal. It is divided among the iterations
//! that the stretch covers ([`Parts`]).

mod parts;

use std::ops::Range;

use rustc_hash::FxHashMap;

use self::parts::Parts;
use super::lines::Lines;
use super::time_line::TimeLine;
use crate::fraction::{FRACTION, whole};
use crate::ids::{JournalPosition, Row};
use crate::int::to_u32;
use crate::metrics::Metrics;
use crate::severity::MetricId;
use crate::structure::{Borders, ByIteration, IterationCause};

/// Borders that a charged stretch may cover: the cost of a longer one, of which many others may cover the same, belongs to no
/// iteration.
const MOST: usize = 1 << 10;

/// A stretch of a journal: from behind an event, or the begin, up to another one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Extent {
    pub(super) since: Option<JournalPosition>,
    pub(super) before: JournalPosition,
}

/// What is collected of the locations of a worker, by their index.
#[derive(Debug)]
pub(super) struct CostsByIteration {
    lines: Vec<LineBorders>,
    /// By location, metric and number of the iteration, 0 outside of iterations; in shares of ticks.
    sums: FxHashMap<(u32, u32, u32), i128>,
    /// By location, row and number, of iterations that are looked at closely: delay costs of all kinds.
    close: FxHashMap<(u32, Row, u32), i128>,
    /// The numbers of these iterations, ascending.
    watched: Vec<u32>,
    parts: Parts,
}

/// The borders of a location.
#[derive(Debug)]
struct LineBorders {
    borders: Borders,
    /// How many were before the stretch of the last costs: the next ones are mostly not far.
    latest: usize,
}

impl LineBorders {
    /// How many borders lie before a stretch, and before its end.
    fn ends(&mut self, extent: Extent) -> [usize; 2] {
        let ends = self.borders.ends(extent.positions(), self.latest);
        self.latest = ends[0];
        ends
    }
}

impl Extent {
    /// The positions of its pieces.
    pub(super) fn positions(self) -> Range<JournalPosition> {
        let from = self.since.map_or(JournalPosition::default(), JournalPosition::next);
        from..self.before.max(from)
    }
}

impl CostsByIteration {
    /// Nothing yet; `watched` are numbers of iterations in which rows are told apart.
    pub(super) fn new(watched: Vec<u32>) -> CostsByIteration {
        let (sums, close) = Default::default();
        CostsByIteration { lines: Vec::new(), sums, close, watched, parts: Parts::default() }
    }

    /// Adds the next location.
    pub(super) fn push(&mut self, borders: Borders) {
        self.lines.push(LineBorders { borders, latest: 0 });
    }

    /// Adds costs of a delay, by row, that lie in a stretch.
    pub(super) fn charge(
        &mut self,
        (line, time): (usize, &TimeLine),
        metric: MetricId,
        extent: Extent,
        costs: impl Iterator<Item = (Row, i128)>,
    ) {
        let [first, last] = self.lines[line].ends(extent);
        let borders = &self.lines[line].borders;
        let (key, metric) = (to_u32(line), to_u32(metric));
        let mut add =
            |number: u32, value: i128| *self.sums.entry((key, metric, number)).or_default() += value;
        let mut add_close =
            |row: Row, number: u32, value: i128| *self.close.entry((key, row, number)).or_default() += value;
        let number = if first == last {
            Some(borders.number(first))
        } else {
            (last.abs_diff(first) > MOST).then_some(0)
        };
        match number {
            // Nearly all stretches are in one iteration.
            Some(number) if self.watched.binary_search(&number).is_err() => {
                let all: i128 = costs.map(|(_, value)| value).sum();
                if all != 0 {
                    add(number, all);
                }
            }
            Some(number) => costs.for_each(|(row, value)| {
                add(number, value);
                add_close(row, number, value);
            }),
            None => {
                let parts = &mut self.parts;
                parts.find((line, extent), [first, last], time, borders);
                for (row, value) in costs {
                    parts.divide(row, value, |number, share| {
                        if self.watched.binary_search(&number).is_ok() {
                            add_close(row, number, share);
                        }
                    });
                }
                parts.take_sums(add);
            }
        }
    }

    /// Adds to a metric at an event.
    pub(super) fn add_at(&mut self, line: usize, metric: MetricId, event: JournalPosition, value: i128) {
        let LineBorders { borders, latest } = &self.lines[line];
        let number = borders.number(borders.before(event, *latest));
        *self.sums.entry((to_u32(line), to_u32(metric), number)).or_default() += value;
    }

    /// Adds time on the critical path, by row, that lies in a stretch. No time counts twice, so stretches may be of any length.
    pub(super) fn add_path(
        &mut self,
        (line, time): (usize, &TimeLine),
        metric: MetricId,
        extent: Extent,
        work: &[(Row, i64)],
    ) {
        let [first, last] = self.lines[line].ends(extent);
        let borders = &self.lines[line].borders;
        let (key, metric) = (to_u32(line), to_u32(metric));
        let mut add =
            |number: u32, value: i128| *self.sums.entry((key, metric, number)).or_default() += value;
        if first == last {
            let all: i128 = work.iter().map(|&(_, ticks)| whole(ticks)).sum();
            return add(borders.number(first), all);
        }
        self.parts.find((line, extent), [first, last], time, borders);
        for &(row, ticks) in work {
            self.parts.divide(row, ticks.into(), |_, _| {});
        }
        // In whole ticks, as the path is.
        self.parts.take_sums(|number, ticks| add(number, ticks << FRACTION));
    }

    /// Sums of some metrics by number, in no order, some numbers more than once.
    pub(super) fn by_number(
        &self,
        is_wanted: impl Fn(MetricId) -> bool,
    ) -> impl Iterator<Item = (u32, i128)> {
        let wanted = self.sums.iter().filter(move |((_, metric, _), _)| is_wanted(*metric as usize));
        wanted.map(|(&(.., number), &value)| (number, value))
    }

    /// Hands over what was collected.
    pub(super) fn hand_over(self, metrics: &Metrics, lines: &Lines, into: &mut ByIteration) {
        let location = |line: u32| lines.location(line as usize);
        for (&(line, row, iteration), &costs) in &self.close {
            let shares = lines.shares(line as usize);
            let of_class = |metrics: &[MetricId; 2]| metrics.map(|metric| shares.value(metric, row));
            let costs_of_run = metrics.delay_costs.iter().flat_map(of_class).sum();
            let path = lines.path(line as usize, row);
            let location = location(line);
            into.add_cause(IterationCause { iteration, location, path, costs, costs_of_run });
        }
        let mut sums: Vec<_> = self.sums.into_iter().collect();
        sums.sort_unstable_by_key(|&((line, metric, _), _)| (line, metric));
        for of_metric in sums.chunk_by(|a, b| (a.0.0, a.0.1) == (b.0.0, b.0.1)) {
            let (line, metric, _) = of_metric[0].0;
            let values = of_metric.iter().map(|&((.., number), value)| (u64::from(number), value));
            into.add_shares(location(line), metric as usize, values);
        }
    }
}
