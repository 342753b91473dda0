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
    /// Ticks of all of them if each were as long as the median of its kind.
    pub usual: Ticks,
}

impl RareWork {
    /// Adds those of another location.
    pub(super) fn add(&mut self, other: &RareWork) {
        self.stretches += other.stretches;
        self.long += other.long;
        self.locations += other.locations;
        self.excess = self.excess.saturating_add(other.excess);
        self.usual = self.usual.saturating_add(other.usual);
    }
}

/// The ticks of each stretch of a kind, with the lower median of these.
fn alike(kind: &[u32], work_before: impl Fn(usize) -> Ticks) -> (Vec<(u32, Ticks)>, Ticks) {
    let stretches: Vec<(u32, Ticks)> = kind.iter().map(|&mark| (mark, work_before(mark as usize))).collect();
    let usual = lower_median(stretches.iter().map(|&(_, ticks)| ticks).collect());
    (stretches, usual.unwrap_or(0).max(0))
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
        let pieces = self.graph.locations[at].marks.rows_before(mark);
        pieces.filter(|(row, _)| rows.get(row.index()) == Some(&true)).map(|(_, ticks)| ticks).sum()
    }

    /// The stretches of work between calls of MPI of a location: the mark at the end of each, by the call paths of the calls before and behind,
    /// where there are enough of a kind.
    pub(super) fn kinds(&self, at: usize) -> Vec<Vec<u32>> {
        let marks = &self.graph.locations[at].marks;
        let mut kinds = FxHashMap::<(Row, Row), Vec<u32>>::default();
        let mut before = None;
        for mark in marks.inside() {
            let (this, row) = (marks.list[mark], marks.list[mark].row());
            match this.kind() {
                Kind::Work if this.is_call() => {
                    if let Some(before) = before {
                        kinds.entry((before, row)).or_default().push(to_u32(mark));
                    }
                    before = Some(row);
                }
                // The end of the call is where the stretch begins.
                Kind::Completion(number) if marks.completions.get(number).row != Row::NONE => {}
                // What threads wait for is within.
                _ => before = None,
            }
        }
        kinds.into_values().filter(|stretches| stretches.len() >= ENOUGH).collect()
    }

    /// Each stretch of work between the same two call paths of calls of MPI is at most the lower median of all, if there are enough.
    pub(super) fn quiet(&self, at: usize, path: &str) -> Shorter {
        let rows = self.work_within(at, path);
        let mut shorter = Vec::new();
        for kind in self.kinds(at) {
            let (stretches, usual) = alike(&kind, |mark| self.work_before(at, mark, &rows));
            let long = stretches.into_iter().filter(|&(_, ticks)| ticks > usual);
            shorter.extend(long.map(|(mark, ticks)| (mark, share_of(usual, ticks))));
        }
        shorter.sort_unstable();
        Shorter { rows, marks: shorter }
    }

    /// Ticks of the work in some rows of a location before each of its marks.
    pub(super) fn work_before_each(&self, at: usize, rows: &[bool]) -> Vec<Ticks> {
        let marks = &self.graph.locations[at].marks.list;
        // Most marks have nothing between them and the ones before.
        let has_work = |mark: usize| mark > 0 && marks[mark - 1].pieces != marks[mark].pieces;
        (0..marks.len())
            .map(|mark| if has_work(mark) { self.work_before(at, mark, rows) } else { 0 })
            .collect()
    }

    /// Of the work before each mark of a location, the stretches of these kinds, and those that are far longer than most of their kind.
    pub(super) fn rare(work: &[Ticks], kinds: &[Vec<u32>]) -> RareWork {
        let mut found = RareWork::default();
        let alike = kinds.iter().map(|kind| alike(kind, |mark| work[mark]));
        for (stretches, usual) in alike.filter(|&(_, usual)| usual > 0) {
            found.stretches += stretches.len() as u64;
            let all = usual.saturating_mul(i64::try_from(stretches.len()).unwrap_or(i64::MAX));
            found.usual = found.usual.saturating_add(all);
            for (_, ticks) in stretches.into_iter().filter(|&(_, ticks)| ticks / LONG >= usual) {
                found.long += 1;
                found.excess = found.excess.saturating_add(ticks - usual);
            }
        }
        found.locations = u64::from(found.long > 0);
        found
    }

    /// The work before each mark of a location by tenth of a time.
    pub(super) fn by_tenth(
        &self,
        at: usize,
        work: &[Ticks],
        (begin, ticks): (Ticks, Ticks),
    ) -> [Ticks; TENTHS] {
        let marks = &self.graph.locations[at].marks;
        let mut tenths = Tenths::new(begin, ticks);
        for mark in marks.inside().filter(|&mark| mark > 0) {
            if work[mark] > 0 {
                tenths.add([mark - 1, mark].map(|mark| marks.list[mark].time), work[mark]);
            }
        }
        tenths.sums
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

/// Work by tenth of a time.
struct Tenths {
    /// Where tenths begin, and where the last one ends.
    borders: [Ticks; TENTHS + 1],
    sums: [Ticks; TENTHS],
    /// The tenth in which the work before lay: work is added in the order of time.
    at: usize,
}

impl Tenths {
    fn new(begin: Ticks, ticks: Ticks) -> Tenths {
        let border = |tenth: usize| {
            let part = i128::from(ticks) * tenth as i128 / TENTHS as i128;
            begin + i64::try_from(part).unwrap_or(0)
        };
        Tenths { borders: std::array::from_fn(border), sums: [0; TENTHS], at: 0 }
    }

    /// Divides the work between two times among the tenths in which it lies.
    fn add(&mut self, [from, to]: [Ticks; 2], work: Ticks) {
        while self.at + 1 < TENTHS && from >= self.borders[self.at + 1] {
            self.at += 1;
        }
        // Nearly always in one tenth, without a division.
        if from >= self.borders[self.at] && to <= self.borders[self.at + 1] {
            self.sums[self.at] = self.sums[self.at].saturating_add(work);
            return;
        }
        let length = i128::from((to - from).max(1));
        for (borders, sum) in self.borders.windows(2).zip(&mut self.sums) {
            let inside = (to.min(borders[1]) - from.max(borders[0])).max(0);
            let part = i128::from(work) * i128::from(inside) / length;
            *sum = sum.saturating_add(i64::try_from(part).unwrap_or(Ticks::MAX));
        }
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
        let mut tenths = Tenths::new(1000, 100);
        tenths.add([1005, 1025], 40);
        assert_eq!(tenths.sums, [10, 20, 10, 0, 0, 0, 0, 0, 0, 0]);
        tenths.add([1031, 1039], 8);
        assert_eq!(tenths.sums[3], 8);
        tenths.add([1095, 1115], 40);
        assert_eq!(tenths.sums[9], 10);
    }
}
