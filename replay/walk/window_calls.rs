//! Calls of a location in windows of time, for the details: a walk that is asked for them keeps those, and only those.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

use model::Ticks;

use super::stack::Frame;
use crate::ids::PathId;

/// Calls of a location that are kept of a window.
pub const MOST_CALLS: usize = 4096;

/// A call in a window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WindowCall {
    /// When it was entered.
    pub enter: Ticks,
    /// When it was left, or the last event of the location if it was not.
    pub leave: Ticks,
    /// Its call path of the process.
    pub path: PathId,
    /// Number of calls around it at its location.
    pub depth: u32,
    /// Whether it is a call of MPI.
    pub is_mpi: bool,
}

impl WindowCall {
    /// Key of the order in which calls are dropped last: those of MPI, then the longest, then the first.
    pub fn rank(&self) -> impl Ord + use<> {
        (Reverse(self.is_mpi), Reverse(self.ticks()), self.enter, self.depth, self.path)
    }

    /// How long it is.
    pub fn ticks(&self) -> Ticks {
        self.leave.saturating_sub(self.enter)
    }

    /// Whether a part of it is in a window.
    pub fn is_in(&self, window: &Range<Ticks>) -> bool {
        let is_point = self.enter == self.leave && window.contains(&self.enter);
        is_point || self.enter < window.end && self.leave > window.start
    }
}

/// Calls of a location or of several in a window.
#[derive(Clone, Debug, Default)]
pub struct KeptCalls {
    /// The calls, in no order.
    pub calls: Vec<WindowCall>,
    /// Ticks below which calls may be missing: one more than those of the longest that was dropped, 0 if none was.
    pub dropped_below: Ticks,
}

impl KeptCalls {
    /// Adds a call.
    pub fn push(&mut self, call: WindowCall) {
        self.calls.push(call);
        if self.calls.len() >= 2 * MOST_CALLS {
            self.prune();
        }
    }

    /// Drops calls beyond the limit.
    pub fn prune(&mut self) {
        if self.calls.len() > MOST_CALLS {
            self.calls.sort_unstable_by_key(WindowCall::rank);
            let dropped = self.calls.drain(MOST_CALLS..).map(|call| call.ticks()).max().unwrap_or(0);
            self.dropped_below = self.dropped_below.max(dropped.saturating_add(1));
        }
    }
}

/// The calls of a location in windows.
#[derive(Clone, Debug)]
pub struct WindowCalls {
    /// Begin and end of each window.
    windows: Vec<Range<Ticks>>,
    /// The times that are in any window, in their order.
    covered: Vec<Range<Ticks>>,
    /// By position of a region in the definitions: whether it is a call of MPI.
    is_mpi: Arc<[bool]>,
    /// The calls by window.
    pub kept: Vec<KeptCalls>,
}

impl WindowCalls {
    /// Nothing yet of a location.
    pub fn new(windows: Vec<Range<Ticks>>, is_mpi: Arc<[bool]>) -> WindowCalls {
        let kept = vec![KeptCalls::default(); windows.len()];
        let mut ordered = windows.clone();
        ordered.sort_unstable_by_key(|window| window.start);
        let mut covered: Vec<Range<Ticks>> = Vec::new();
        for window in ordered {
            match covered.last_mut() {
                Some(last) if window.start <= last.end => last.end = last.end.max(window.end),
                _ => covered.push(window),
            }
        }
        WindowCalls { windows, covered, is_mpi, kept }
    }

    /// The time around this one that is in no window: calls that are entered and left in it need not be kept. Empty if this
    /// one is in a window.
    pub(super) fn gap(&self, time: Ticks) -> Range<Ticks> {
        let next = self.covered.partition_point(|window| window.start <= time);
        let end = self.covered.get(next).map_or(Ticks::MAX, |window| window.start);
        let before = next.checked_sub(1).map_or(Ticks::MIN, |last| self.covered[last].end);
        if time < before { time..time } else { before..end }
    }

    /// Keeps a call that was left at a time, with so many calls around it, if it is in a window.
    pub(super) fn leave(&mut self, frame: &Frame, time: Ticks, depth: u32) {
        let gap = self.gap(frame.enter);
        if gap.start < gap.end && time < gap.end {
            return;
        }
        let is_mpi = self.is_mpi.get(frame.region as usize).copied().unwrap_or(false);
        let call = WindowCall { enter: frame.enter, leave: time, path: frame.path, depth, is_mpi };
        for (window, kept) in self.windows.iter().zip(&mut self.kept) {
            if call.is_in(window) {
                kept.push(call);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(enter: Ticks, leave: Ticks) -> WindowCall {
        WindowCall { enter, leave, path: PathId::new(0), depth: 1, is_mpi: enter % 2 == 0 }
    }

    #[test]
    fn calls_that_only_touch_a_window_are_not_in_it() {
        let is_in = |enter, leave| call(enter, leave).is_in(&(10..20));
        assert_eq!(
            [(0, 10), (0, 11), (12, 12), (10, 10), (19, 30), (20, 30), (20, 20)].map(|(a, b)| is_in(a, b)),
            [false, true, true, true, true, false, false]
        );
    }

    #[test]
    fn gaps_are_the_times_between_windows() {
        let calls = WindowCalls::new(vec![30..40, 10..20, 35..50, 20..25], Arc::default());
        let gaps = [9, 10, 24, 25, 29, 30, 49, 50].map(|time| calls.gap(time));
        let (before, between, after) = (Ticks::MIN..10, 25..30, 50..Ticks::MAX);
        let expected = [before, 10..10, 24..24, between.clone(), between, 30..30, 49..49, after];
        assert_eq!(gaps, expected);
    }

    #[test]
    fn the_shortest_calls_outside_of_mpi_are_dropped_first() {
        let mut kept = KeptCalls::default();
        let most = MOST_CALLS as Ticks;
        (0..4 * most).for_each(|at| kept.push(call(at, at + at % 100)));
        kept.prune();
        assert_eq!(kept.calls.len(), MOST_CALLS);
        assert!(kept.calls.iter().all(|call| call.is_mpi));
        assert!(kept.dropped_below > 1 && kept.dropped_below <= 100);
    }
}
