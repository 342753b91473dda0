//! Windows of time: a set of ticks as disjoint half-open intervals, and how much of something lies in them.

use model::Ticks;

use crate::wire::wire;

/// A half-open interval of ticks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Window {
    /// Its first tick.
    pub begin: Ticks,
    /// The tick behind its last one.
    pub end: Ticks,
}

wire!(Window { begin, end });

impl Window {
    /// How many ticks lie in both.
    pub fn overlap(self, other: Window) -> Ticks {
        (self.end.min(other.end) - self.begin.max(other.begin)).max(0)
    }
}

/// Disjoint windows in the order of time, none empty, none touching the next.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Windows {
    list: Vec<Window>,
}

impl Windows {
    /// Unites intervals, which may be in any order, overlap or be empty.
    pub fn new(intervals: impl IntoIterator<Item = Window>) -> Windows {
        let mut all: Vec<Window> = intervals.into_iter().filter(|it| it.begin < it.end).collect();
        all.sort_unstable();
        let mut list: Vec<Window> = Vec::with_capacity(all.len());
        for window in all {
            match list.last_mut().filter(|last| window.begin <= last.end) {
                Some(last) => last.end = last.end.max(window.end),
                None => list.push(window),
            }
        }
        Windows { list }
    }

    /// Returns what lies in one of both.
    pub fn united(&self, other: &Windows) -> Windows {
        Windows::new(self.list.iter().chain(&other.list).copied())
    }

    /// Returns what lies in both.
    pub fn intersected(&self, other: &Windows) -> Windows {
        let (mut ours, mut theirs) = (self.list.iter().peekable(), other.list.iter().peekable());
        let mut list = Vec::new();
        while let (Some(one), Some(another)) = (ours.peek(), theirs.peek()) {
            let both = Window { begin: one.begin.max(another.begin), end: one.end.min(another.end) };
            if both.begin < both.end {
                list.push(both);
            }
            if one.end <= another.end { _ = ours.next() } else { _ = theirs.next() }
        }
        Windows { list }
    }

    /// The windows, in the order of time.
    pub fn list(&self) -> &[Window] {
        &self.list
    }

    /// How many windows end at a time or before it.
    fn ended(&self, time: Ticks) -> usize {
        self.list.partition_point(|window| window.end <= time)
    }

    /// Whether an event at a time lies in a window.
    pub fn contains(&self, time: Ticks) -> bool {
        self.list.get(self.ended(time)).is_some_and(|window| window.begin <= time)
    }

    /// How many of the ticks that begin at a time lie in windows; less than nothing, as damaged traces have it, lies where it
    /// begins.
    pub fn inside(&self, begin: Ticks, ticks: Ticks) -> Ticks {
        if ticks <= 0 {
            return if self.contains(begin) { ticks } else { 0 };
        }
        let all = Window { begin, end: begin.saturating_add(ticks) };
        let windows = self.list[self.ended(begin)..].iter().take_while(|window| window.begin < all.end);
        windows.map(|window| window.overlap(all)).sum()
    }

    /// The time of a border by its number: begin and end of the first window, and so on.
    pub fn border(&self, number: usize) -> Option<Ticks> {
        let window = self.list.get(number / 2)?;
        Some(if number.is_multiple_of(2) { window.begin } else { window.end })
    }
}

/// Whether an event at a time counts: in a window, or anywhere if there are no windows.
pub fn counts(windows: Option<&Windows>, time: Ticks) -> bool {
    windows.is_none_or(|windows| windows.contains(time))
}

/// How many of the ticks that begin at a time count: those in windows, or all if there are no windows.
pub fn counted(windows: Option<&Windows>, begin: Ticks, ticks: Ticks) -> Ticks {
    windows.map_or(ticks, |windows| windows.inside(begin, ticks))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn windows(list: &[(Ticks, Ticks)]) -> Windows {
        Windows::new(list.iter().map(|&(begin, end)| Window { begin, end }))
    }

    #[test]
    fn intervals_that_touch_are_one_and_empty_ones_are_none() {
        assert_eq!(
            windows(&[(30, 40), (10, 20), (20, 25), (5, 5), (12, 15)]),
            windows(&[(10, 25), (30, 40)])
        );
    }

    #[test]
    fn intersection_has_what_lies_in_both() {
        let both =
            windows(&[(0, 10), (20, 30), (40, 50)]).intersected(&windows(&[(5, 25), (30, 40), (45, 60)]));
        assert_eq!(both, windows(&[(5, 10), (20, 25), (45, 50)]));
    }

    #[test]
    fn ticks_count_as_far_as_they_are_inside() {
        let windows = windows(&[(10, 20), (30, 40)]);
        let inside = |begin, end| windows.inside(begin, end - begin);
        assert_eq!(
            [inside(0, 10), inside(5, 15), inside(12, 13), inside(20, 30), inside(0, 99)],
            [0, 5, 1, 0, 20]
        );
        assert_eq!([9, 10, 19, 20].map(|time| windows.contains(time)), [false, true, true, false]);
        assert_eq!(
            (windows.inside(15, -3), windows.inside(5, -3), windows.inside(5, Ticks::MAX)),
            (-3, 0, 20)
        );
    }

    #[test]
    fn borders_are_begins_and_ends_in_turn() {
        let windows = windows(&[(10, 20), (30, 40)]);
        let borders: Vec<Option<Ticks>> = (0..5).map(|number| windows.border(number)).collect();
        assert_eq!(borders, [Some(10), Some(20), Some(30), Some(40), None]);
    }
}
