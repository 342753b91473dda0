//! Stretches of work that are shorter: without the noise, or without the delays that others have waited for (what-if 3.2).

use std::collections::BTreeMap;

use model::Ticks;
use rustc_hash::FxHashMap;

use super::changes::Paths;
use super::lanes::Shorter;
use super::lines::{ONE, lower_median};
use super::marks::Kind;
use crate::ids::Row;
use crate::int::to_u32;

/// A stretch is as usual only where there are so many of its kind at a location.
const ENOUGH: usize = 8;

/// A stretch is long that takes so many times as long as most of its kind (advice 4.1, `noise`).
const LONG: Ticks = 10;

/// Parts of the run in which work is summed (advice 3.4).
pub const TENTHS: usize = 10;

/// Stretches of work between calls of MPI, of the kinds of which there are enough.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RareWork {
    /// All of them.
    pub stretches: u64,
    /// Those that are long.
    pub long: u64,
    /// Locations with long ones.
    pub locations: u64,
    /// Ticks that long ones are longer than the median of their kind.
    pub excess: Ticks,
}

impl RareWork {
    /// Adds those of another location.
    pub(super) fn add(&mut self, other: &RareWork) {
        self.stretches += other.stretches;
        self.long += other.long;
        self.locations += other.locations;
        self.excess = self.excess.saturating_add(other.excess);
    }
}

impl Paths<'_> {
    /// By row of a location: whether its call path has these names in a row, and is work.
    pub(super) fn work_within(&self, at: usize, path: &str) -> Vec<bool> {
        let mut rows = self.within(at, path);
        rows.iter_mut().zip(&self.classes[at]).for_each(|(row, class)| *row &= class.is_work());
        rows
    }

    /// Ticks of the work before a mark in some rows.
    pub(super) fn work_before(&self, at: usize, mark: usize, rows: &[bool]) -> Ticks {
        let pieces = self.graph.locations[at].marks.pieces_of(mark);
        pieces.filter(|piece| rows.get(piece.row.index()) == Some(&true)).map(|piece| piece.ticks).sum()
    }

    /// The stretches of work between the same two call paths of calls of MPI, if there are enough: marks, and ticks in some rows before
    /// them, with the lower median of these.
    fn alike(&self, at: usize, rows: &[bool]) -> impl Iterator<Item = (Vec<(u32, Ticks)>, Ticks)> {
        let marks = &self.graph.locations[at].marks;
        // By the call paths of the calls before and behind.
        let mut stretches = FxHashMap::<(Row, Row), Vec<(u32, Ticks)>>::default();
        let mut before = None;
        for mark in marks.inside() {
            let (this, row) = (marks.list[mark], marks.list[mark].row());
            match this.kind() {
                Kind::Work if this.is_call() => {
                    if let Some(before) = before {
                        let ticks = self.work_before(at, mark, rows);
                        stretches.entry((before, row)).or_default().push((to_u32(mark), ticks));
                    }
                    before = Some(row);
                }
                // The end of the call is where the stretch begins.
                Kind::Completion(number) if marks.completions.get(number).row != Row::NONE => {}
                // What threads wait for is within.
                _ => before = None,
            }
        }
        stretches.into_values().filter(|stretches| stretches.len() >= ENOUGH).map(|stretches| {
            let ticks = stretches.iter().map(|&(_, ticks)| ticks).collect();
            let usual = lower_median(ticks).unwrap_or(0).max(0);
            (stretches, usual)
        })
    }

    /// Each stretch of work between the same two call paths of calls of MPI is at most the lower median of all, if there are enough.
    pub(super) fn quiet(&self, at: usize, path: &str) -> Shorter {
        let rows = self.work_within(at, path);
        let mut shorter = Vec::new();
        for (stretches, usual) in self.alike(at, &rows) {
            let long = stretches.into_iter().filter(|&(_, ticks)| ticks > usual);
            shorter.extend(long.map(|(mark, ticks)| (mark, share_of(usual, ticks))));
        }
        shorter.sort_unstable();
        Shorter { rows, marks: shorter }
    }

    /// The stretches of work in a call path of a location, and those that are far longer than most of their kind.
    pub(super) fn rare(&self, at: usize, path: &str) -> RareWork {
        let rows = self.work_within(at, path);
        let mut found = RareWork::default();
        for (stretches, usual) in self.alike(at, &rows).filter(|&(_, usual)| usual > 0) {
            found.stretches += stretches.len() as u64;
            for (_, ticks) in stretches.into_iter().filter(|&(_, ticks)| ticks / LONG >= usual) {
                found.long += 1;
                found.excess = found.excess.saturating_add(ticks - usual);
            }
        }
        found.locations = u64::from(found.long > 0);
        found
    }

    /// The work in a call path of a location by tenth of a time.
    pub(super) fn by_tenth(&self, at: usize, path: &str, (begin, ticks): (Ticks, Ticks)) -> [Ticks; TENTHS] {
        let rows = self.work_within(at, path);
        let marks = &self.graph.locations[at].marks;
        let mut tenths = [0; TENTHS];
        for mark in marks.inside().filter(|&mark| mark > 0) {
            let work = self.work_before(at, mark, &rows);
            if work > 0 {
                let [from, to] = [mark - 1, mark].map(|mark| marks.list[mark].time);
                add_by_tenth(&mut tenths, (begin, ticks), [from, to], work);
            }
        }
        tenths
    }

    /// Of each stretch that root causes have compared with that of somebody who waited, the share that was more is gone; where
    /// stretches overlap, the largest share.
    pub(super) fn without(&self, at: usize, path: &str) -> Shorter {
        let rows = self.work_within(at, path);
        let marks = &self.graph.locations[at].marks;
        let location = self.graph.first + to_u32(at);
        let mut factors = BTreeMap::<u32, i64>::new();
        for stretch in self.stretches.iter().filter(|stretch| stretch.location == location) {
            let is_within = |row: Row| rows.get(row.index()) == Some(&true);
            let more = stretch.excess.iter().filter(|(row, _)| is_within(*row)).map(|&(_, ticks)| ticks);
            let more = more.fold(0, |sum: Ticks, ticks| sum.saturating_add(ticks));
            let inside = marks.between(stretch.since, stretch.before);
            let inside = inside.start.max(1)..inside.end;
            let all: Ticks = inside.clone().map(|mark| self.work_before(at, mark, &rows)).sum();
            if more <= 0 || all <= 0 {
                continue;
            }
            let factor = ONE - share_of(more.min(all), all);
            for mark in inside.filter(|&mark| self.work_before(at, mark, &rows) != 0) {
                let known = factors.entry(to_u32(mark)).or_insert(factor);
                *known = factor.min(*known);
            }
        }
        Shorter { rows, marks: factors.into_iter().collect() }
    }
}

/// Divides the work between two times among the tenths of a time in which it lies.
fn add_by_tenth(
    tenths: &mut [Ticks; TENTHS],
    (begin, ticks): (Ticks, Ticks),
    [from, to]: [Ticks; 2],
    work: Ticks,
) {
    let border = |tenth: usize| {
        let part = i128::from(ticks) * tenth as i128 / TENTHS as i128;
        begin + i64::try_from(part).unwrap_or(0)
    };
    let length = i128::from((to - from).max(1));
    for (tenth, sum) in tenths.iter_mut().enumerate() {
        let inside = (to.min(border(tenth + 1)) - from.max(border(tenth))).max(0);
        let part = i128::from(work) * i128::from(inside) / length;
        *sum = sum.saturating_add(i64::try_from(part).unwrap_or(Ticks::MAX));
    }
}

/// A part of some ticks as a factor.
pub(super) fn share_of(part: Ticks, all: Ticks) -> i64 {
    i64::try_from(i128::from(ONE) * i128::from(part) / i128::from(all)).unwrap_or(ONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_divided_among_the_tenths_that_it_lies_in() {
        let mut tenths = [0; TENTHS];
        add_by_tenth(&mut tenths, (1000, 100), [1005, 1025], 40);
        assert_eq!(tenths, [10, 20, 10, 0, 0, 0, 0, 0, 0, 0]);
        add_by_tenth(&mut tenths, (1000, 100), [1095, 1115], 40);
        assert_eq!(tenths[9], 10);
    }
}
