//! Bytes over the time of a run, by rank and by place in a file (io.md 6).

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::access::Kind;
use crate::numbers::proportion;
use crate::transfer::Transfer;

/// Most rows and columns.
const BINS: u64 = 200;

/// Bytes read and written in bins of equal width.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Grid {
    /// What the first row begins with.
    pub low: u64,
    /// What is behind the last row.
    pub high: u64,
    /// Number of rows.
    pub rows: u64,
    /// Bytes read, row by row, each with all columns.
    pub read: Vec<u64>,
    /// Bytes written.
    pub written: Vec<u64>,
}

/// Bytes over time.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Heat {
    /// When the first column begins, in ticks of the clock.
    pub begin: u64,
    /// When the last column ends.
    pub end: u64,
    /// Number of columns.
    pub columns: u64,
    /// Rows are ranks.
    pub ranks: Grid,
    /// Number of the file with most bytes, if there is one.
    pub file: Option<u32>,
    /// Rows are places in that file, in bytes.
    pub places: Grid,
}

impl Heat {
    /// No bytes yet in a run of so many ranks between two times; `file` is the one that is shown by place, with its first byte and what is
    /// behind the last one.
    pub fn new(begin: u64, end: u64, ranks: u64, file: Option<(u32, (u64, u64))>) -> Heat {
        let columns = BINS.min(end.saturating_sub(begin)).max(1);
        let (low, high) = file.map_or((0, 0), |(_, places)| places);
        Heat {
            begin,
            end,
            columns,
            ranks: Grid::new(0, ranks, columns),
            file: file.map(|(number, _)| number),
            places: Grid::new(low, high, columns),
        }
    }

    /// Adds the bytes of other files of the same run.
    pub(crate) fn merge(&mut self, other: &Heat) {
        for (own, their) in [(&mut self.ranks, &other.ranks), (&mut self.places, &other.places)] {
            for (own, their) in [(&mut own.read, &their.read), (&mut own.written, &their.written)] {
                own.iter_mut().zip(their).for_each(|(own, their)| *own = own.saturating_add(*their));
            }
        }
    }

    /// Adds a transfer of a file. Amounts are shared in proportion to overlap.
    pub(crate) fn add(&mut self, file: u32, it: &Transfer) {
        let time = Axis { low: self.begin, high: self.end, bins: self.columns };
        self.ranks.add(it, [(it.rank.into(), u64::from(it.rank) + 1, it.size)], time);
        if self.file == Some(file) {
            let pieces = it.pieces.iter().map(|&(at, length)| (at, at.saturating_add(length), length));
            self.places.add(it, pieces, time);
        }
    }
}

impl Grid {
    fn new(low: u64, high: u64, columns: u64) -> Grid {
        let rows = BINS.min(high.saturating_sub(low)).max(1);
        let cells = usize::try_from(rows * columns).unwrap_or(0);
        Grid { low, high, rows, read: vec![0; cells], written: vec![0; cells] }
    }

    /// Adds the bytes of a transfer in ranges of rows.
    fn add(&mut self, transfer: &Transfer, ranges: impl IntoIterator<Item = (u64, u64, u64)>, time: Axis) {
        let rows = Axis { low: self.low, high: self.high, bins: self.rows };
        // Shares of all ranges of a row are put together first, as amounts are rounded down. Most transfers are in one or two rows.
        let mut by_row: SmallVec<[(u64, u64); 2]> = SmallVec::new();
        for (from, to, bytes) in ranges {
            rows.share(from, to, bytes, |row, bytes| {
                match by_row.iter_mut().rev().find(|(other, _)| *other == row) {
                    Some((_, all)) => *all = all.saturating_add(bytes),
                    None => by_row.push((row, bytes)),
                }
            });
        }
        let cells = if transfer.kind == Kind::Read { &mut self.read } else { &mut self.written };
        for (row, bytes) in by_row {
            time.share(transfer.begin, transfer.end, bytes, |column, bytes| {
                let cell = usize::try_from(row * time.bins + column).ok().and_then(|at| cells.get_mut(at));
                if let Some(cell) = cell {
                    *cell = cell.saturating_add(bytes);
                }
            });
        }
    }
}

/// A range in bins of equal width.
#[derive(Clone, Copy, Debug)]
struct Axis {
    low: u64,
    high: u64,
    bins: u64,
}

impl Axis {
    /// The bin of a place; of those outside, the first or the last one.
    fn bin(self, at: u64) -> u64 {
        let width = self.high.saturating_sub(self.low).max(1);
        proportion(at.saturating_sub(self.low), self.bins, width).min(self.bins - 1)
    }

    /// Where a bin begins.
    fn begin(self, bin: u64) -> u64 {
        let width = u128::from(self.high.saturating_sub(self.low)) * u128::from(bin);
        let bins = u128::from(self.bins);
        self.low.saturating_add(crate::numbers::to_u64(width.div_ceil(bins)))
    }

    /// Shares an amount of a range among its bins: the sum is the amount.
    fn share(self, from: u64, to: u64, amount: u64, mut with: impl FnMut(u64, u64)) {
        let (first, last) = (self.bin(from), self.bin(to.saturating_sub(1).max(from)));
        if first == last {
            return with(first, amount);
        }
        let long = to.saturating_sub(from).max(1);
        let up_to = |at: u64| proportion(at.clamp(from, to.max(from)) - from, amount, long);
        let mut before = 0;
        for bin in first..=last {
            let all = if bin == last { amount } else { up_to(self.begin(bin + 1)) };
            with(bin, all.saturating_sub(before));
            before = all;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shares(axis: Axis, from: u64, to: u64, amount: u64) -> Vec<(u64, u64)> {
        let mut all = Vec::new();
        axis.share(from, to, amount, |bin, amount| all.push((bin, amount)));
        all
    }

    #[test]
    fn amounts_are_shared_in_proportion() {
        let axis = Axis { low: 0, high: 100, bins: 10 };
        assert_eq!(shares(axis, 5, 25, 40), [(0, 10), (1, 20), (2, 10)]);
        assert_eq!(shares(axis, 20, 20, 7), [(2, 7)]);
        assert_eq!(shares(axis, 90, 200, 7), [(9, 7)]);
    }

    #[test]
    fn the_file_with_most_bytes_is_shown_by_place() {
        let transfer = |rank, kind, begin, at, length| {
            crate::tests::transfer(rank, kind, (begin, begin + 10), &[(at, length)])
        };
        let mut heat = Heat::new(0, 20, 2, Some((2, (100, 108))));
        heat.add(1, &transfer(0, Kind::Write, 0, 0, 4));
        heat.add(2, &transfer(0, Kind::Write, 0, 100, 8));
        heat.add(2, &transfer(1, Kind::Read, 10, 104, 4));
        assert_eq!(
            (heat.columns, heat.file, heat.places.low, heat.places.high, heat.places.rows),
            (20, Some(2), 100, 108, 8)
        );
        assert_eq!((heat.ranks.written.iter().sum::<u64>(), heat.ranks.read.iter().sum::<u64>()), (12, 4));
        assert_eq!(heat.places.read[4 * 20..5 * 20].iter().sum::<u64>(), 1);
    }

    proptest! {
        #[test]
        fn nothing_is_lost(low: u64, wide: u64, bins in 1..=200_u64, from: u64, long: u64, amount: u64) {
            let axis = Axis { low, high: low.saturating_add(wide), bins };
            let all = shares(axis, from, from.saturating_add(long), amount);
            prop_assert_eq!(all.iter().map(|it| u128::from(it.1)).sum::<u128>(), u128::from(amount));
            prop_assert!(all.iter().all(|it| it.0 < bins));
        }
    }
}
