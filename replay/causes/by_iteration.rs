//! Costs and the critical path by iteration (structure 3.1).
//!
//! A cost is charged to work of the causing location, which lies in a stretch of its journal. It is divided among the iterations
//! that the stretch covers, by the ticks that the charged row has in each. Shares are rounded down, and the last iteration has
//! the rest, so that all together are what was charged.

use rustc_hash::FxHashMap;

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
    borders: Vec<Borders>,
    /// By location, metric and number of the iteration, 0 outside of iterations; in shares of ticks.
    sums: FxHashMap<(u32, u32, u32), i128>,
    /// By location, row and number, of iterations that are looked at closely: delay costs of all kinds.
    close: FxHashMap<(u32, Row, u32), i128>,
    /// The numbers of these iterations, ascending.
    watched: Vec<u32>,
    parts: Parts,
}

/// The parts of a stretch, kept because costs may be charged to one stretch many times.
#[derive(Clone, Default, Debug)]
struct Parts {
    of: Option<(usize, Extent)>,
    /// Row, number and ticks, by row, then in the order of time.
    list: Vec<(Row, u32, i64)>,
}

impl Parts {
    /// Finds the parts of a stretch.
    fn find(&mut self, line: usize, extent: Extent, time: &TimeLine, borders: &Borders) {
        if self.of == Some((line, extent)) {
            return;
        }
        self.of = Some((line, extent));
        self.list.clear();
        let from = extent.since.map_or(JournalPosition::default(), JournalPosition::next);
        let pieces = from.until(extent.before).zip(time.pieces_between(from, extent.before));
        let pieces = pieces.map(|(position, (row, ticks))| (position, row, ticks));
        borders.cut(pieces, |number, row, ticks| self.list.push((row, number, ticks)));
        // Stable, so that numbers stay in the order of time.
        self.list.sort_by_key(|&(row, ..)| row);
    }

    /// Divides a value charged to a row.
    fn divide(&self, row: Row, value: i128, mut with: impl FnMut(u32, i128)) {
        let first = self.list.partition_point(|&(other, ..)| other < row);
        let of_row = self.list[first..].iter().take_while(|&&(other, ..)| other == row);
        // What is taken out of a piece as waiting stands behind it, and may stand in the next iteration.
        let with_work = || of_row.clone().filter(|&&(.., ticks)| ticks > 0);
        let all: i128 = with_work().map(|&(.., ticks)| i128::from(ticks)).sum();
        let mut rest = value;
        let mut last = 0;
        for &(_, number, ticks) in with_work() {
            let ticks = i128::from(ticks);
            let share = value / all * ticks + value % all * ticks / all;
            rest -= share;
            with(number, share);
            last = number;
        }
        if rest != 0 {
            with(last, rest);
        }
    }
}

impl CostsByIteration {
    /// Nothing yet; `watched` are numbers of iterations in which rows are told apart.
    pub(super) fn new(watched: Vec<u32>) -> CostsByIteration {
        let (borders, parts) = Default::default();
        CostsByIteration { borders, sums: FxHashMap::default(), close: FxHashMap::default(), watched, parts }
    }

    /// Adds the next location.
    pub(super) fn push(&mut self, borders: Borders) {
        self.borders.push(borders);
    }

    /// Adds costs of a delay, by row, that lie in a stretch.
    pub(super) fn charge(
        &mut self,
        (line, time): (usize, &TimeLine),
        metric: MetricId,
        extent: Extent,
        costs: impl Iterator<Item = (Row, i128)>,
    ) {
        let borders = &self.borders[line];
        let [first, last] = ends(borders, extent);
        let mut add = |row: Row, number: u32, value: i128| {
            *self.sums.entry((to_u32(line), to_u32(metric), number)).or_default() += value;
            if self.watched.binary_search(&number).is_ok() {
                *self.close.entry((to_u32(line), row, number)).or_default() += value;
            }
        };
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
                    add(Row::NONE, number, all);
                }
            }
            Some(number) => costs.for_each(|(row, value)| add(row, number, value)),
            None => {
                self.parts.find(line, extent, time, borders);
                costs.for_each(|(row, value)| {
                    self.parts.divide(row, value, |number, share| add(row, number, share));
                });
            }
        }
    }

    /// Adds to a metric at an event.
    pub(super) fn add_at(&mut self, line: usize, metric: MetricId, event: JournalPosition, value: i128) {
        let borders = &self.borders[line];
        let number = borders.number(borders.before(event));
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
        let borders = &self.borders[line];
        let [first, last] = ends(borders, extent);
        let sums = &mut self.sums;
        let mut add = |number: u32, value: i128| {
            *sums.entry((to_u32(line), to_u32(metric), number)).or_default() += value;
        };
        if first == last {
            let all: i128 = work.iter().map(|&(_, ticks)| whole(ticks)).sum();
            return add(borders.number(first), all);
        }
        self.parts.find(line, extent, time, borders);
        for &(row, ticks) in work {
            // In whole ticks, as the path is.
            self.parts.divide(row, ticks.into(), |number, ticks| add(number, ticks << FRACTION));
        }
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
        sums.sort_unstable_by_key(|&(key, _)| key);
        for of_metric in sums.chunk_by(|a, b| (a.0.0, a.0.1) == (b.0.0, b.0.1)) {
            let (line, metric, _) = of_metric[0].0;
            let values = of_metric.iter().map(|&((.., number), value)| (u64::from(number), value));
            into.add_shares(location(line), metric as usize, values);
        }
    }
}

/// How many borders lie before a stretch, and before its end.
fn ends(borders: &Borders, Extent { since, before }: Extent) -> [usize; 2] {
    let from = since.map_or(JournalPosition::default(), JournalPosition::next);
    [borders.before(from), borders.inside(before)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn divided(parts: &[(u32, i64)], value: i128) -> Vec<(u32, i128)> {
        let row = Row::new(4);
        let list = parts.iter().map(|&(number, ticks)| (row, number, ticks));
        let others = [(Row::new(3), 9, 50)].into_iter();
        let parts = Parts { of: None, list: others.chain(list).chain([(Row::new(5), 9, 50)]).collect() };
        let mut shares = Vec::new();
        parts.divide(row, value, |number, share| shares.push((number, share)));
        shares
    }

    #[test]
    fn cost_is_divided_by_ticks_and_the_last_iteration_has_the_rest() {
        assert_eq!(divided(&[(1, 10), (2, 20), (3, 4)], 100), [(1, 29), (2, 58), (3, 11), (3, 2)]);
        // Ticks and shares as large as they may be do not overflow.
        let large = i128::from(i64::MAX) << 56;
        assert_eq!(
            divided(&[(1, i64::MAX / 2), (2, i64::MAX / 2)], large),
            [(1, large / 2), (2, large - large / 2)]
        );
    }

    #[test]
    fn waiting_is_no_work_and_without_work_the_cost_is_outside() {
        assert_eq!(divided(&[(1, 10), (2, -6), (2, 0)], 7), [(1, 7)]);
        assert_eq!(divided(&[], 7), [(0, 7)]);
    }
}
