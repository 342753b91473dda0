//! Severities of one location: integers by metric and call path, until the report is written.

use rustc_hash::FxHashMap;

use crate::call_tree::PathId;

/// Position of a metric in [`Metrics`](crate::metrics::Metrics).
pub type MetricId = usize;

/// A row of a location's [`Severities`]: one of the call paths that it has used.
pub type Row = u32;

/// A number of bytes or occurrences as a severity; absurd ones from a damaged trace are cut.
pub fn amount(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Severities by metric and row.
#[derive(Clone, Debug)]
pub struct Columns<T> {
    /// By metric: the position of its column, from 1; 0 without one. Most locations have few columns.
    positions: Vec<u16>,
    /// Severities by row; each column reaches as far as the last row that has a value.
    columns: Vec<Vec<T>>,
}

impl<T> Default for Columns<T> {
    fn default() -> Columns<T> {
        Columns { positions: Vec::new(), columns: Vec::new() }
    }
}

impl<T: Copy + Default> Columns<T> {
    /// The severities of a metric by row. May be shorter than the list of rows: the rest is zero.
    pub fn column(&self, metric: MetricId) -> &[T] {
        self.columns.get(self.position(metric)).map_or(&[], Vec::as_slice)
    }

    /// The metrics that have a column, with it.
    pub fn iter(&self) -> impl Iterator<Item = (MetricId, &[T])> {
        let column =
            |&position: &u16| self.columns.get(usize::from(position).checked_sub(1)?).map(Vec::as_slice);
        self.positions
            .iter()
            .enumerate()
            .filter_map(move |(metric, position)| Some((metric, column(position)?)))
    }

    /// The severity of a metric in a row.
    #[inline]
    fn value_mut(&mut self, metric: MetricId, row: Row) -> &mut T {
        let (mut column, at) = (self.position(metric), row as usize);
        if self.columns.get(column).is_none_or(|column| at >= column.len()) {
            self.column_mut(metric).resize(at + 1, T::default());
            column = self.position(metric);
        }
        &mut self.columns[column][at]
    }

    /// Where the column of a metric is; nowhere if there is none.
    #[inline]
    fn position(&self, metric: MetricId) -> usize {
        usize::from(self.positions.get(metric).copied().unwrap_or(0)).wrapping_sub(1)
    }

    #[cold]
    fn column_mut(&mut self, metric: MetricId) -> &mut Vec<T> {
        match self.position(metric) {
            usize::MAX => self.add_column(metric),
            position => &mut self.columns[position],
        }
    }

    fn add_column(&mut self, metric: MetricId) -> &mut Vec<T> {
        if metric >= self.positions.len() {
            self.positions.resize(metric + 1, 0);
        }
        self.columns.push(Vec::new());
        self.positions[metric] = self.columns.len() as u16;
        let last = self.columns.len() - 1;
        &mut self.columns[last]
    }
}

impl Columns<i128> {
    /// Adds to the severity of a metric in a row.
    pub fn add(&mut self, metric: MetricId, row: Row, value: i128) {
        let sum = self.value_mut(metric, row);
        *sum = sum.saturating_add(value);
    }
}

/// Severities of one location. Ticks, bytes and occurrences are exact integers, shares of ticks have fixed points, so that
/// their sums do not depend on any order.
///
/// A location has rows for the call paths that it used only: a process may have many threads and many call paths, never
/// room for their product.
#[derive(Clone, Debug, Default)]
pub struct Severities {
    /// The call paths by row, in the order of their first use.
    paths: Vec<PathId>,
    /// Rows by call path; empty as long as every path is its own row, as in a process with one thread.
    rows: FxHashMap<PathId, Row>,
    /// Whole numbers.
    whole: Columns<i64>,
    /// Shares of ticks, with [`FRACTION`](crate::fraction::FRACTION) bits behind the point.
    shares: Columns<i128>,
}

impl Severities {
    /// The row of a call path, a new one if the location has not used it yet.
    #[inline]
    pub fn row(&mut self, path: PathId) -> Row {
        match self.find_row(path) {
            Some(row) => row,
            None => self.add_row(path),
        }
    }

    /// The row of a call path, if the location has used it.
    #[inline]
    pub fn find_row(&self, path: PathId) -> Option<Row> {
        if self.rows.is_empty() {
            return ((path as usize) < self.paths.len()).then_some(path);
        }
        self.search_row(path)
    }

    #[inline(never)]
    fn search_row(&self, path: PathId) -> Option<Row> {
        self.rows.get(&path).copied()
    }

    #[cold]
    fn add_row(&mut self, path: PathId) -> Row {
        let row = self.paths.len() as Row;
        if self.rows.is_empty() && path != row {
            self.rows.extend(self.paths.iter().map(|&path| (path, path)));
        }
        if path != row || !self.rows.is_empty() {
            self.rows.insert(path, row);
        }
        self.paths.push(path);
        row
    }

    /// The call paths by row.
    pub fn paths(&self) -> &[PathId] {
        &self.paths
    }

    /// Adds to the severity of a metric in a row.
    #[inline]
    pub fn add(&mut self, metric: MetricId, row: Row, value: i64) {
        let sum = self.whole.value_mut(metric, row);
        *sum = sum.saturating_add(value);
    }

    /// Replaces all severities of a metric; position in `column` is the row.
    pub fn set_column(&mut self, metric: MetricId, column: Vec<i64>) {
        if !column.is_empty() {
            *self.whole.column_mut(metric) = column;
        }
    }

    /// Replaces all shares of ticks.
    pub fn set_shares(&mut self, shares: Columns<i128>) {
        self.shares = shares;
    }

    /// The severities of a metric by row. May be shorter than the list of rows: the rest is zero.
    pub fn column(&self, metric: MetricId) -> &[i64] {
        self.whole.column(metric)
    }

    /// All severities that are whole numbers, and all that are shares of ticks.
    pub fn columns(&self) -> (&Columns<i64>, &Columns<i128>) {
        (&self.whole, &self.shares)
    }

    /// The shares of ticks of a metric by row. May be shorter than the list of rows: the rest is zero.
    pub fn shares(&self, metric: MetricId) -> &[i128] {
        self.shares.column(metric)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_add_up_in_their_row() {
        let mut severities = Severities::default();
        severities.add(1, 3, 5);
        severities.add(1, 3, 2);
        severities.add(1, 0, 1);
        assert_eq!(severities.column(1), [1, 0, 0, 7]);
        assert!(severities.column(0).is_empty() && severities.column(9).is_empty());
        severities.add(4, 1, 3);
        let columns: Vec<_> = severities.columns().0.iter().collect();
        assert_eq!(columns, [(1, &[1, 0, 0, 7][..]), (4, &[0, 3][..])]);
    }

    #[test]
    fn paths_used_in_their_order_are_their_own_rows() {
        let mut severities = Severities::default();
        assert_eq!([0, 1, 0, 2].map(|path| severities.row(path)), [0, 1, 0, 2]);
        assert!(severities.rows.is_empty());
    }

    #[test]
    fn other_paths_get_rows_in_the_order_of_their_first_use() {
        let mut severities = Severities::default();
        assert_eq!([0, 700, 1, 700, 0].map(|path| severities.row(path)), [0, 1, 2, 1, 0]);
        assert_eq!(severities.paths(), [0, 700, 1]);
    }
}
