//! Timelines: ticks by bin of time, in pieces as they come.
//!
//! Time is cut into 4,096 *fine bins* of equal width. What comes first or last lies in the first or the last bin, as a
//! trace may have times outside of its length. Most pieces lie in the bin of the piece before, and are added to a sum; a
//! piece that fills bins is one run of them, so that a location with few events has few runs.

use model::Ticks;

use super::classes::{ClassId, MOST_CLASSES, WaitClass};
use crate::trace::Trace;

/// The number of fine bins.
pub(super) const FINE_BINS: u16 = 4096;

/// The fine bins of a trace.
#[derive(Clone, Copy, Debug)]
pub struct Bins {
    /// Ticks of a bin.
    width: Ticks,
}

impl Bins {
    /// Cuts the length of a trace.
    pub fn new(trace: &Trace) -> Bins {
        let width = trace.length().div_ceil(u64::from(FINE_BINS)).max(1);
        Bins { width: Ticks::try_from(width).unwrap_or(Ticks::MAX) }
    }

    /// Returns the ticks of a bin.
    pub fn width(&self) -> Ticks {
        self.width
    }

    /// Returns the bin of a time.
    pub fn of(&self, time: Ticks) -> u16 {
        let bin = (time / self.width).clamp(0, Ticks::from(FINE_BINS - 1));
        u16::try_from(bin).unwrap_or(FINE_BINS - 1)
    }

    /// Returns the begin of a bin and its end; the outermost bins have all that lies outside.
    fn limits(&self, bin: u16) -> (Ticks, Ticks) {
        let at = |bin: u16| self.width.saturating_mul(bin.into());
        let begin = if bin == 0 { Ticks::MIN } else { at(bin) };
        let end = if bin + 1 == FINE_BINS { Ticks::MAX } else { at(bin + 1) };
        (begin, end)
    }
}

/// The bin of one time after the other, most of which are in the same bin as the time before.
#[derive(Clone, Copy, Debug)]
pub(super) struct BinCursor {
    bins: Bins,
    bin: u16,
    begin: Ticks,
    end: Ticks,
}

impl BinCursor {
    /// Starts at the first bin.
    pub(super) fn new(bins: Bins) -> BinCursor {
        let (begin, end) = bins.limits(0);
        BinCursor { bins, bin: 0, begin, end }
    }

    /// Returns the bin of a time.
    #[inline]
    pub(super) fn turn(&mut self, time: Ticks) -> u16 {
        if time < self.begin || time >= self.end {
            self.bin = self.bins.of(time);
            (self.begin, self.end) = self.bins.limits(self.bin);
        }
        self.bin
    }
}

/// Ticks of a class in consecutive bins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Run {
    /// The first bin.
    pub first: u16,
    /// The last bin; the same as the first, or a later one.
    pub last: u16,
    /// The class.
    pub class: ClassId,
    /// Ticks in the first bin.
    pub head: Ticks,
    /// Ticks in each bin between the first and the last one.
    pub full: Ticks,
    /// Ticks in the last bin, if it is not the first one.
    pub tail: Ticks,
}

impl Run {
    /// Ticks of a class in one bin.
    pub(super) fn single(bin: u16, class: ClassId, ticks: Ticks) -> Run {
        Run { first: bin, last: bin, class, head: ticks, full: 0, tail: 0 }
    }

    /// Returns all its ticks.
    pub(super) fn ticks(&self) -> Ticks {
        let between = (self.last - self.first).saturating_sub(1);
        self.head.wrapping_add(self.tail).wrapping_add(self.full.wrapping_mul(between.into()))
    }

    /// Returns the run of the same class with ticks of the opposite sign.
    pub(super) fn negative(self) -> Run {
        let [head, full, tail] = [self.head, self.full, self.tail].map(Ticks::wrapping_neg);
        Run { head, full, tail, ..self }
    }
}

/// Ticks of `N` classes.
#[derive(Clone, Debug)]
pub struct Timeline<const N: usize = MOST_CLASSES> {
    bins: Bins,
    /// The current bin, its limits, and its ticks so far.
    bin: u16,
    begin: Ticks,
    end: Ticks,
    sums: [Ticks; N],
    /// The classes that may have a sum: a bit for each.
    touched: u32,
    runs: Vec<Run>,
    /// How many runs to make room for with the first one.
    room: usize,
}

/// Runs that most locations of a large trace have room for without growing: of what is walked, and of waits.
const RUNS: usize = 128;
const RUNS_OF_WAITS: usize = 32;

impl<const N: usize> Timeline<N> {
    /// Makes an empty timeline.
    pub fn new(bins: Bins) -> Timeline<N> {
        let (begin, end) = bins.limits(0);
        const { assert!(N <= 32) };
        let room = RUNS_OF_WAITS;
        Timeline { bins, bin: 0, begin, end, sums: [0; N], touched: 0, runs: Vec::new(), room }
    }

    /// Makes an empty timeline for what is walked, which has more runs than waits have.
    pub fn of_walk(bins: Bins) -> Timeline<N> {
        Timeline { room: RUNS, ..Timeline::new(bins) }
    }

    /// Adds ticks of a class that were spent from a time on. Negative ones, of a clock that goes backwards, lie at that time.
    ///
    /// # Panics
    /// If there is no such class.
    #[inline(always)]
    pub fn spend(&mut self, class: ClassId, begin: Ticks, ticks: Ticks) {
        if begin >= self.begin && begin.saturating_add(ticks) <= self.end {
            self.add(class, ticks);
        } else {
            self.spend_across(class, begin, ticks);
        }
    }

    #[inline(always)]
    fn add(&mut self, class: ClassId, ticks: Ticks) {
        let sum = &mut self.sums[usize::from(class)];
        if *sum == 0 {
            self.touched |= 1 << class;
        }
        *sum = sum.wrapping_add(ticks);
    }

    /// Adds ticks that do not all lie in the current bin.
    #[inline(never)]
    fn spend_across(&mut self, class: ClassId, begin: Ticks, ticks: Ticks) {
        match self.across(class, begin, ticks) {
            Some(run) => self.push(run),
            None => self.add(class, ticks),
        }
    }

    #[inline]
    fn push(&mut self, run: Run) {
        if self.runs.len() == self.runs.capacity() {
            // Four times as much: what is walked is taken soon, and copying takes long.
            self.runs.reserve(self.room.max(3 * self.runs.len()));
        }
        self.runs.push(run);
    }

    /// Moves the ticks of a wait that begins at a time from one class to another.
    ///
    /// # Panics
    /// If there are no such classes.
    pub fn wait(&mut self, class: WaitClass, begin: Ticks, ticks: Ticks) {
        match self.across(class.own, begin, ticks) {
            Some(run) => {
                self.push(run);
                self.push(Run { class: class.from, ..run.negative() });
            }
            None => {
                self.add(class.own, ticks);
                self.add(class.from, ticks.wrapping_neg());
            }
        }
    }

    /// Makes the bin of a time the current one, if ticks from then on lie in it. Otherwise returns their run, and makes its
    /// last bin the current one.
    #[inline]
    fn across(&mut self, class: ClassId, begin: Ticks, ticks: Ticks) -> Option<Run> {
        if begin < self.begin || begin >= self.end {
            self.turn(self.bin_of(begin));
        }
        let end = begin.saturating_add(ticks);
        if end <= self.end {
            return None;
        }
        let first = self.bin;
        let head = self.end.saturating_sub(begin);
        self.turn(self.bin_of(end));
        let full = self.bins.width;
        // Ticks beyond the largest time are in the last bin, so that none is lost.
        let between = full.saturating_mul((self.bin - first - 1).into());
        let tail = ticks.saturating_sub(head).saturating_sub(between);
        Some(Run { first, last: self.bin, class, head, full, tail })
    }

    /// Returns the bin of a time; it is the next one mostly, which takes no division.
    #[inline]
    fn bin_of(&self, time: Ticks) -> u16 {
        let is_next = time >= self.end && time - self.end < self.bins.width && self.bin + 1 < FINE_BINS;
        if is_next { self.bin + 1 } else { self.bins.of(time) }
    }

    /// Makes another bin the current one.
    #[inline]
    fn turn(&mut self, bin: u16) {
        if bin != self.bin {
            self.flush();
            self.bin = bin;
            (self.begin, self.end) = self.bins.limits(bin);
        }
    }

    fn flush(&mut self) {
        let mut touched = std::mem::take(&mut self.touched);
        let classes = std::iter::from_fn(|| {
            let class = (touched != 0).then(|| touched.trailing_zeros())?;
            touched &= touched - 1;
            ClassId::try_from(class).ok()
        });
        for class in classes {
            let ticks = std::mem::take(&mut self.sums[usize::from(class)]);
            if ticks != 0 {
                self.push(Run::single(self.bin, class, ticks));
            }
        }
    }

    /// Ends the timeline; returns its runs, in no order.
    pub fn runs(&mut self) -> &[Run] {
        self.flush();
        &self.runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BINS: Bins = Bins { width: 10 };

    /// Sums of the classes 0 and 1 by bin, for the first bins.
    fn sums(timeline: &mut Timeline<2>) -> Vec<[Ticks; 2]> {
        let mut sums = vec![[0; 2]; usize::from(FINE_BINS)];
        for run in timeline.runs() {
            let class = usize::from(run.class);
            sums[usize::from(run.first)][class] += run.head;
            (run.first + 1..run.last).for_each(|bin| sums[usize::from(bin)][class] += run.full);
            sums[usize::from(run.last)][class] += run.tail;
        }
        let last = sums.iter().rposition(|sum| *sum != [0; 2]).map_or(0, |at| at + 1);
        sums.truncate(last);
        sums
    }

    #[test]
    fn pieces_are_cut_at_the_borders_of_bins() {
        let mut timeline = Timeline::<2>::new(BINS);
        for (class, begin, ticks) in [(0, 0, 4), (1, 4, 6), (0, 10, 35), (1, 45, 0), (1, 45, 2), (0, 3, 8)] {
            timeline.spend(class, begin, ticks);
        }
        assert_eq!(sums(&mut timeline), [[11, 6], [11, 0], [10, 0], [10, 0], [5, 2]]);
    }

    #[test]
    fn waits_move_ticks_between_classes() {
        let mut timeline = Timeline::<2>::new(BINS);
        timeline.spend(0, 5, 40);
        timeline.wait(WaitClass { own: 1, from: 0 }, 8, 25);
        assert_eq!(sums(&mut timeline), [[3, 2], [0, 10], [0, 10], [7, 3], [5, 0]]);
    }

    #[test]
    fn times_outside_of_the_trace_lie_in_the_outermost_bins() {
        let mut timeline = Timeline::<2>::new(BINS);
        timeline.spend(0, -50, 55);
        timeline.spend(1, 7, -3);
        timeline.spend(0, 10 * Ticks::from(FINE_BINS) - 4, 100);
        let sums = sums(&mut timeline);
        assert_eq!((sums[0], sums[4095], sums.len()), ([55, -3], [100, 0], 4096));
    }

    #[test]
    fn long_pieces_are_few_runs() {
        let mut timeline = Timeline::<2>::new(BINS);
        timeline.spend(0, 3, 20_000);
        timeline.spend(1, 20_003, 20_000);
        assert!(timeline.runs().len() == 2, "{:?}", timeline.runs());
    }
}
