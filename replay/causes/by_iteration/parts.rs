//! Parts of a stretch of a journal, each in one iteration.
//!
//! A cost of a row is divided by the ticks that the row has in each part. Shares are rounded down, and the last part has the rest, so
//! that all together are what was charged.

use model::Ticks;

use super::super::time_line::TimeLine;
use super::Extent;
use crate::ids::Row;
use crate::int::to_u32;
use crate::structure::Borders;

/// The parts of a stretch, kept because costs may be charged to one stretch many times.
#[derive(Default, Debug)]
pub(super) struct Parts {
    of: Option<(usize, Extent)>,
    /// How many stretches there have been.
    stretch: u64,
    /// By row: its parts.
    rows: Vec<OfRow>,
    /// The sums of shares: of what is outside of iterations, then of each iteration in the order of time.
    sums: Vec<Sum>,
}

/// The parts of a row.
#[derive(Default, Debug)]
struct OfRow {
    /// The number of the stretch: there are none of another one.
    stretch: u64,
    /// In the order of time: place of the sum, and ticks.
    parts: Vec<(u32, Ticks)>,
}

/// The shares in an iteration.
#[derive(Clone, Copy, Debug)]
struct Sum {
    number: u32,
    /// `None` without shares.
    shares: Option<i128>,
}

impl Parts {
    /// Finds the parts of a stretch, in which these borders are.
    pub(super) fn find(
        &mut self,
        (line, extent): (usize, Extent),
        ends: [usize; 2],
        time: &TimeLine,
        borders: &Borders,
    ) {
        if self.of.replace((line, extent)) == Some((line, extent)) {
            return;
        }
        self.begin();
        let [first, last] = ends;
        let numbers = (first..=last).map(|at| borders.number(at));
        self.sums.extend(numbers.map(|number| Sum { number, shares: None }));
        let positions = extent.positions();
        borders.cut(
            ends,
            (positions.start, time.all_between(positions.start, positions.end)),
            |at, row, ticks| {
                if ticks > 0 {
                    self.push(row, at - first + 1, ticks);
                }
            },
        );
    }

    /// Ends what was known of another stretch.
    fn begin(&mut self) {
        self.stretch += 1;
        self.sums.clear();
        self.sums.push(Sum { number: 0, shares: None });
    }

    /// Adds a part of a row, in the order of time: the place of its sum, and ticks.
    #[inline]
    fn push(&mut self, row: Row, sum: usize, ticks: Ticks) {
        if self.rows.len() <= row.index() {
            self.rows.resize_with(row.index() + 1, OfRow::default);
        }
        let OfRow { stretch, parts } = &mut self.rows[row.index()];
        if *stretch != self.stretch {
            *stretch = self.stretch;
            parts.clear();
        }
        parts.push((to_u32(sum), ticks));
    }

    /// Divides a value charged to a row, and adds the shares to the sums; calls `with` for each.
    pub(super) fn divide(&mut self, row: Row, value: i128, mut with: impl FnMut(u32, i128)) {
        let of_row = self.rows.get(row.index()).filter(|of_row| of_row.stretch == self.stretch);
        let parts = of_row.map_or(&[][..], |of_row| &of_row.parts);
        let all: i128 = parts.iter().map(|&(_, ticks)| i128::from(ticks)).sum();
        let mut add = |sum: u32, share: i128| {
            let Sum { number, shares } = &mut self.sums[sum as usize];
            *shares = Some(shares.unwrap_or(0) + share);
            with(*number, share);
        };
        let (mut rest, mut last) = (value, 0);
        if all > 0 {
            let (each, left) = (value / all, value % all);
            for &(sum, ticks) in parts {
                let ticks = i128::from(ticks);
                let share = each * ticks + quotient(left * ticks, all);
                rest -= share;
                add(sum, share);
                last = sum;
            }
        }
        // Waiting is no work, and without work the cost is outside.
        if rest != 0 {
            add(last, rest);
        }
    }

    /// Takes the sums of all shares, by number of the iteration.
    pub(super) fn take_sums(&mut self, mut with: impl FnMut(u32, i128)) {
        for Sum { number, shares } in &mut self.sums {
            shares.take().into_iter().for_each(|shares| with(*number, shares));
        }
    }
}

/// The quotient of two numbers, which mostly have one word.
fn quotient(number: i128, by: i128) -> i128 {
    match (u64::try_from(number), u64::try_from(by)) {
        (Ok(number), Ok(by)) => (number / by).into(),
        _ => number / by,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn divided(parts: &[(usize, i64)], value: i128) -> Vec<(u32, i128)> {
        let row = Row::new(4);
        let mut all = Parts::default();
        all.begin();
        all.sums.extend([1, 2, 3, 9].map(|number| Sum { number, shares: None }));
        let others = [(Row::new(3), 4, 50), (Row::new(5), 4, 50)].into_iter();
        let parts = parts.iter().map(|&(sum, ticks)| (row, sum, ticks));
        others.chain(parts).for_each(|(row, sum, ticks)| all.push(row, sum, ticks));
        let mut shares = Vec::new();
        all.divide(row, value, |number, share| shares.push((number, share)));
        let (mut sums, mut expected) = ([0; 10], [0; 10]);
        all.take_sums(|number, share| sums[number as usize] += share);
        shares.iter().for_each(|&(number, share)| expected[number as usize] += share);
        assert_eq!(sums, expected);
        all.take_sums(|_, _| panic!("they were taken"));
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
    fn without_work_the_cost_is_outside_and_parts_of_another_stretch_are_none() {
        assert_eq!(divided(&[], 7), [(0, 7)]);
        assert_eq!(divided(&[], 0), []);
        let mut parts = Parts::default();
        parts.begin();
        parts.push(Row::new(2), 0, 5);
        parts.begin();
        parts.divide(Row::new(2), 3, |number, share| assert_eq!((number, share), (0, 3)));
    }
}
