//! Severities of one location: integers by metric and call path, until the report is written.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use crate::ids::{PathId, Row};
use crate::int::to_u32;

/// Position of a metric in [`Metrics`](crate::metrics::Metrics).
pub type MetricId = usize;

/// Returns a number of bytes or occurrences as a severity; impossible ones from a damaged trace are limited.
pub fn amount(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Metrics in a record.
const LENGTH: usize = 4;

/// Sparse severities: only of rows and metrics to which any was added. Metrics share records in the order of
/// their first use, so that those of one kind are in one record. Without severities this takes one word, as
/// there may be very many locations.
#[derive(Clone, Debug)]
pub struct Records<T> {
    list: Option<Box<List<T>>>,
}

#[derive(Clone, Debug)]
struct List<T> {
    /// By row: its last record, counted from 1; 0 if it has none. The list ends with the last row that has
    /// one.
    last: Vec<u32>,
    records: Vec<Record<T>>,
    /// By metric: its position, counted from 1; 0 if it has none. Most locations have few metrics.
    positions: Vec<u16>,
    /// The metric at each position.
    metrics: Vec<MetricId>,
}

/// Severities of a row.
#[derive(Clone, Copy, Debug)]
struct Record<T> {
    row: Row,
    /// Another record of the row, counted from 1; 0 if there is none.
    other: u32,
    /// The position of the first metric.
    first: usize,
    values: [T; LENGTH],
}

impl<T> Default for Records<T> {
    fn default() -> Records<T> {
        Records { list: None }
    }
}

impl<T> Default for List<T> {
    fn default() -> List<T> {
        let (last, positions, metrics) = Default::default();
        List { last, records: Vec::new(), positions, metrics }
    }
}

impl<T: Copy + Default> Records<T> {
    /// Returns the severity of a metric in a row.
    pub fn value(&self, metric: MetricId, row: Row) -> T {
        let found = self.list.as_deref().and_then(|list| {
            let position = list.position(metric)?;
            let first = position - position % LENGTH;
            Some(list.records[list.find(row, first)?].values[position - first])
        });
        found.unwrap_or_default()
    }

    /// Returns the metrics that have severities.
    pub fn metrics(&self) -> &[MetricId] {
        self.list.as_deref().map_or(&[], |list| &list.metrics)
    }

    /// Returns the rows that have severities.
    pub fn rows(&self) -> impl Iterator<Item = Row> {
        self.records().filter(|record| record.other == 0).map(|record| record.row)
    }

    /// Calls `with` for all severities of a row: metric, and value. Some are zero.
    #[inline]
    pub fn each(&self, row: Row, mut with: impl FnMut(MetricId, T)) {
        let Some(list) = self.list.as_deref() else { return };
        let mut number = list.last.get(row.index()).copied().unwrap_or(0);
        while number > 0 {
            let record = &list.records[number as usize - 1];
            for (&metric, value) in list.metrics[record.first..].iter().zip(record.values) {
                with(metric, value);
            }
            number = record.other;
        }
    }

    /// Returns the severities of a metric: rows and values.
    pub fn of_metric(&self, metric: MetricId) -> impl Iterator<Item = (Row, T)> {
        let position = self.list.as_deref().and_then(|list| list.position(metric));
        position.into_iter().flat_map(|position| {
            let first = position - position % LENGTH;
            let records = self.records().filter(move |record| record.first == first);
            records.map(move |record| (record.row, record.values[position - first]))
        })
    }

    fn records(&self) -> impl Iterator<Item = &Record<T>> {
        self.list.as_deref().map_or(&[][..], |list| &list.records).iter()
    }

    /// Returns the severity of a metric in a row, for changes.
    #[inline]
    fn value_mut(&mut self, metric: MetricId, row: Row) -> &mut T {
        self.list.get_or_insert_default().value_mut(metric, row)
    }
}

impl<T: Copy + Default> List<T> {
    #[inline]
    fn value_mut(&mut self, metric: MetricId, row: Row) -> &mut T {
        let position = self.position(metric).unwrap_or_else(|| self.add_metric(metric));
        let first = position - position % LENGTH;
        let at = self.find(row, first).unwrap_or_else(|| self.add_record(row, first));
        &mut self.records[at].values[position - first]
    }

    /// Returns the record of a row with the metrics from a position on, if it has one.
    #[inline]
    fn find(&self, row: Row, first: usize) -> Option<usize> {
        let mut number = self.last.get(row.index()).copied().unwrap_or(0);
        while number > 0 {
            let record = &self.records[number as usize - 1];
            if record.first == first {
                return Some(number as usize - 1);
            }
            number = record.other;
        }
        None
    }

    #[cold]
    fn add_record(&mut self, row: Row, first: usize) -> usize {
        if self.last.len() <= row.index() {
            self.last.resize(row.index() + 1, 0);
        }
        let other = self.last[row.index()];
        self.records.push(Record { row, other, first, values: [T::default(); LENGTH] });
        self.last[row.index()] = to_u32(self.records.len());
        self.records.len() - 1
    }

    /// Returns the position of a metric, if it has severities.
    #[inline]
    fn position(&self, metric: MetricId) -> Option<usize> {
        usize::from(self.positions.get(metric).copied().unwrap_or(0)).checked_sub(1)
    }

    #[cold]
    fn add_metric(&mut self, metric: MetricId) -> usize {
        if metric >= self.positions.len() {
            self.positions.resize(metric + 1, 0);
        }
        self.metrics.push(metric);
        self.positions[metric] = u16::try_from(self.metrics.len()).expect("there are few metrics");
        self.metrics.len() - 1
    }
}

impl Records<i128> {
    /// Adds to the severity of a metric in a row.
    pub fn add(&mut self, metric: MetricId, row: Row, value: i128) {
        let sum = self.value_mut(metric, row);
        *sum = sum.saturating_add(value);
    }
}

impl Records<Option<f64>> {
    /// Combines the severity of a metric in a row, if there is one, with a value.
    fn combine(&mut self, metric: MetricId, row: Row, value: f64, with: fn(f64, f64) -> f64) {
        let combined = self.value_mut(metric, row);
        *combined = Some(combined.map_or(value, |before| with(before, value)));
    }
}

/// The metrics of a state of threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StateMetrics {
    /// The largest value.
    pub maximum: MetricId,
    /// The smallest value.
    pub minimum: MetricId,
    /// The sum of values.
    pub sum: MetricId,
    /// The number of values.
    pub values: MetricId,
}

/// What is made of values of a state, in its unit.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct StateNumbers {
    maximum: f64,
    minimum: f64,
    sum: f64,
    /// How many they are.
    values: f64,
}

impl StateNumbers {
    /// Those of one value.
    pub fn of(value: f64) -> StateNumbers {
        StateNumbers { maximum: value, minimum: value, sum: value, values: 1.0 }
    }

    /// Those of these values and others.
    pub fn and(self, others: StateNumbers) -> StateNumbers {
        StateNumbers {
            maximum: self.maximum.max(others.maximum),
            minimum: self.minimum.min(others.minimum),
            sum: self.sum + others.sum,
            values: self.values + others.values,
        }
    }
}

/// Severities of one location. Ticks, bytes and occurrences are exact integers, and shares of ticks are
/// fixed-point numbers, so that their sums do not depend on the order.
///
/// A location has rows only for the call paths that it used: a process may have many threads and many call
/// paths, but never enough memory for their product.
#[derive(Clone, Debug, Default)]
pub struct Severities {
    /// The call paths by row, in the order of their first use.
    paths: Vec<PathId>,
    /// Rows by call path; empty as long as every path is its own row, as in a process with one thread.
    rows: FxHashMap<PathId, Row>,
    /// Whole numbers of metrics that most rows have, by row.
    dense: Vec<(MetricId, Vec<i64>)>,
    /// All other whole numbers.
    whole: Records<i64>,
    /// Shares of ticks, with [`FRACTION`](crate::fraction::FRACTION) bits behind the point.
    shares: Records<i128>,
    /// Numbers of states; `None` where there is no value.
    states: Records<Option<f64>>,
}

impl Severities {
    /// Returns the row of a call path, a new one if the location has not used it yet.
    #[inline]
    pub fn row(&mut self, path: PathId) -> Row {
        match self.find_row(path) {
            Some(row) => row,
            None => self.add_row(path),
        }
    }

    /// Returns the row of a call path, if the location has used it.
    #[inline]
    pub fn find_row(&self, path: PathId) -> Option<Row> {
        if self.rows.is_empty() {
            return (path.index() < self.paths.len()).then(|| Row::new(path.index()));
        }
        self.search_row(path)
    }

    #[inline(never)]
    fn search_row(&self, path: PathId) -> Option<Row> {
        self.rows.get(&path).copied()
    }

    #[cold]
    fn add_row(&mut self, path: PathId) -> Row {
        let row = Row::new(self.paths.len());
        let is_own = path.index() == row.index();
        if self.rows.is_empty() && !is_own {
            self.rows.extend(self.paths.iter().map(|&path| (path, Row::new(path.index()))));
        }
        if !is_own || !self.rows.is_empty() {
            self.rows.insert(path, row);
        }
        self.paths.push(path);
        row
    }

    /// Returns the call paths by row.
    pub fn paths(&self) -> &[PathId] {
        &self.paths
    }

    /// Adds to the severity of a metric in a row. Does nothing for a metric that was
    /// [set](Severities::set_column).
    #[inline]
    pub fn add(&mut self, metric: MetricId, row: Row, value: i64) {
        let sum = self.whole.value_mut(metric, row);
        *sum = sum.saturating_add(value);
    }

    /// Sets all severities of a metric that most rows have; the position in `column` is the row.
    pub fn set_column(&mut self, metric: MetricId, column: Vec<i64>) {
        self.dense.retain(|(of, _)| *of != metric);
        self.dense.push((metric, column));
    }

    /// Adds a share of ticks to the severity of a metric in a row.
    pub fn add_share(&mut self, metric: MetricId, row: Row, value: i128) {
        self.shares.add(metric, row, value);
    }

    /// Adds values of a state in a row.
    pub fn add_state(&mut self, metrics: StateMetrics, row: Row, numbers: StateNumbers) {
        self.states.combine(metrics.maximum, row, numbers.maximum, f64::max);
        self.states.combine(metrics.minimum, row, numbers.minimum, f64::min);
        self.states.combine(metrics.sum, row, numbers.sum, |sum, more| sum + more);
        self.states.combine(metrics.values, row, numbers.values, |sum, more| sum + more);
    }

    /// Replaces all shares of ticks.
    pub fn set_shares(&mut self, shares: Records<i128>) {
        self.shares = shares;
    }

    /// Returns the severities of a metric of whole numbers by row. The list may be shorter than that of rows:
    /// the rest is zero.
    pub fn column(&self, metric: MetricId) -> Cow<'_, [i64]> {
        if self.dense.iter().any(|(of, _)| *of == metric) {
            return self.dense(metric).into();
        }
        let mut column = Vec::new();
        for (row, value) in self.whole.of_metric(metric) {
            column.resize(self.paths.len(), 0);
            column[row.index()] = value;
        }
        column.into()
    }

    /// Returns the severities by row of a metric that most rows have; none if they were not set. The list may
    /// be shorter than that of rows: the rest is zero.
    pub fn dense(&self, metric: MetricId) -> &[i64] {
        self.dense.iter().find(|(of, _)| *of == metric).map_or(&[], |(_, column)| column)
    }

    /// Returns the metrics that most rows have, with their severities by row.
    pub fn dense_columns(&self) -> impl Iterator<Item = (MetricId, &[i64])> {
        self.dense.iter().map(|(metric, column)| (*metric, column.as_slice()))
    }

    /// Returns all other severities that are whole numbers, and all that are shares of ticks.
    pub fn records(&self) -> (&Records<i64>, &Records<i128>) {
        (&self.whole, &self.shares)
    }

    /// Returns the numbers of states.
    pub fn states(&self) -> &Records<Option<f64>> {
        &self.states
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(number: usize) -> Row {
        Row::new(number)
    }

    #[test]
    fn values_add_up_in_their_row() {
        let mut severities = Severities::default();
        (0..4).for_each(|path| assert_eq!(severities.row(PathId::new(path)).index(), path));
        severities.add(1, row(3), 5);
        severities.add(1, row(3), 2);
        severities.add(1, row(0), 1);
        assert_eq!(*severities.column(1), [1, 0, 0, 7]);
        assert!(severities.column(0).is_empty() && severities.column(9).is_empty());
        severities.add(4, row(1), 3);
        let whole = severities.records().0;
        assert_eq!(whole.rows().collect::<Vec<_>>(), [3, 0, 1].map(row));
        let mut all = Vec::new();
        (0..9).for_each(|at| whole.each(row(at), |metric, value| all.push((at, metric, value))));
        assert_eq!(all, [(0, 1, 1), (0, 4, 0), (1, 1, 0), (1, 4, 3), (3, 1, 7), (3, 4, 0)]);
        assert_eq!([0, 1, 2, 9].map(|at| whole.value(4, row(at))), [0, 3, 0, 0]);
        let expected = [(3, 7), (0, 1), (1, 0)].map(|(at, value)| (row(at), value));
        assert_eq!(whole.of_metric(1).collect::<Vec<_>>(), expected);
        assert_eq!(whole.of_metric(2).count(), 0);
    }

    #[test]
    fn rows_have_as_many_records_as_their_metrics_need() {
        let mut records = Records::default();
        let metrics = 3 * LENGTH;
        for (metric, at) in (0..metrics).flat_map(|metric| [(metric, metric % 3), (metric, 7)]) {
            records.add(metric, row(at), 1 + metric as i128);
        }
        for metric in 0..metrics {
            let expected = |at| if at == metric % 3 || at == 7 { 1 + metric as i128 } else { 0 };
            (0..9).for_each(|at| assert_eq!(records.value(metric, row(at)), expected(at)));
        }
        let mut rows: Vec<Row> = records.rows().collect();
        rows.sort_unstable();
        assert_eq!(rows, [0, 1, 2, 7].map(row));
    }

    #[test]
    fn columns_that_are_set_replace_what_was_there() {
        let mut severities = Severities::default();
        severities.set_column(2, vec![1]);
        severities.set_column(2, vec![3, 4]);
        assert_eq!((severities.dense(2), severities.dense(1)), (&[3, 4][..], &[][..]));
        assert_eq!(severities.dense_columns().count(), 1);
        assert_eq!(*severities.column(2), [3, 4]);
    }

    #[test]
    fn states_have_extremes_sum_and_number_of_their_values() {
        let mut severities = Severities::default();
        let metrics = StateMetrics { maximum: 7, minimum: 8, sum: 9, values: 10 };
        severities.add_state(metrics, row(1), StateNumbers::of(-2.5));
        severities.add_state(metrics, row(1), StateNumbers::of(-4.0).and(StateNumbers::of(-3.0)));
        let value = |metric, at| severities.states().value(metric, row(at));
        assert_eq!([7, 8, 9, 10].map(|metric| value(metric, 1)), [-2.5, -4.0, -9.5, 3.0].map(Some));
        assert_eq!([7, 10].map(|metric| value(metric, 0)), [None; 2]);
    }

    #[test]
    fn paths_used_in_their_order_are_their_own_rows() {
        let mut severities = Severities::default();
        assert_eq!([0, 1, 0, 2].map(|path| severities.row(PathId::new(path))), [0, 1, 0, 2].map(row));
        assert!(severities.rows.is_empty());
    }

    #[test]
    fn other_paths_get_rows_in_the_order_of_their_first_use() {
        let mut severities = Severities::default();
        let rows = [0, 700, 1, 700, 0].map(|path| severities.row(PathId::new(path)));
        assert_eq!(rows, [0, 1, 2, 1, 0].map(row));
        assert_eq!(severities.paths(), [0, 700, 1].map(PathId::new));
    }
}
