//! Waits in windows: all that have root causes, not only the severest.

use std::cmp::Reverse;
use std::ops::Range;

use model::Ticks;

use super::delay::{DelayClass, Form};
use super::event_times::EventTimes;
use super::lines::Lines;
use super::sides::Waits;
use crate::details::instances::NO_NUMBER;
use crate::details::windows::Plan;
use crate::error::Error;
use crate::exchange::{Batch, Exchange};
use crate::ids::ReportPath;
use crate::int::to_u32;
use crate::journal::JournalSpot;
use crate::tools::Tools;
use crate::wire::{self, Wire, wire};

/// Waits of a window and a location that are kept: the longest.
pub const MOST_WAITS: usize = 256;

/// A wait in a window.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct WindowWait {
    /// The number of the window.
    pub window: u32,
    /// The location that waits.
    pub location: u32,
    /// Since when.
    pub begin: Ticks,
    /// How long.
    pub ticks: Ticks,
    /// The class of its delay.
    pub class: DelayClass,
    /// The call path of the report that waits.
    pub path: ReportPath,
    /// The location of the cause.
    pub cause_location: u32,
    /// Its call path of the report.
    pub cause_path: ReportPath,
    /// When the cause was there.
    pub cause_time: Ticks,
    /// The communicator or window of the delay; none for threads and locks.
    pub communicator: u32,
    /// Whether it is the wait for a lock.
    pub is_for_lock: bool,
}

wire!(WindowWait {
    [window, location],
    begin,
    ticks,
    [class, path],
    [cause_location, cause_path],
    cause_time,
    [communicator, is_for_lock],
});

/// Finds the waits of this worker's locations in windows, and asks the owners of their causes for call paths.
///
/// # Errors
/// If a worker failed.
pub(super) fn find(
    tools: &Tools<'_>,
    plan: &Plan,
    (lines, waits, times): (&Lines, &Waits, &EventTimes),
    exchange: &mut dyn Exchange,
) -> Result<Vec<WindowWait>, Error> {
    let mut found: Vec<(WindowWait, JournalSpot)> = Vec::new();
    for line in 0..lines.len() {
        let windows: Vec<(usize, Range<Ticks>)> =
            plan.of_location(lines.location(line)).map(|(number, window)| (number, window.time())).collect();
        for mut here in of_line((lines, waits, times), line, &windows) {
            here.sort_unstable_by_key(|&(wait, _)| (Reverse(wait.ticks), wait));
            here.truncate(MOST_WAITS);
            found.append(&mut here);
        }
    }
    let mut questions = vec![Batch::new(); exchange.workers()];
    for (_, causing) in &found {
        causing.put(&mut questions[tools.owner_of(causing.location)]);
    }
    let asked = exchange.exchange(questions)?;
    let answer = |batch: &Batch| {
        let mut answer = Batch::new();
        for spot in wire::all::<JournalSpot>(batch) {
            lines.path_at(spot).put(&mut answer);
        }
        answer
    };
    let answers = exchange.exchange(asked.iter().map(answer).collect())?;
    let mut answers: Vec<_> = answers.iter().map(|batch| wire::all::<ReportPath>(batch)).collect();
    let with_path = |(mut wait, causing): (WindowWait, JournalSpot)| {
        let path = answers[tools.owner_of(causing.location)].next();
        wait.cause_path = path.unwrap_or(ReportPath::NONE);
        wait
    };
    Ok(found.into_iter().map(with_path).collect())
}

/// The waits of a location in each of these windows, with the events that they wait for. There are far more waits than windows,
/// so each is looked at once.
fn of_line(
    (lines, waits, times): (&Lines, &Waits, &EventTimes),
    line: usize,
    windows: &[(usize, Range<Ticks>)],
) -> Vec<Vec<(WindowWait, JournalSpot)>> {
    let mut found = vec![Vec::new(); windows.len()];
    let by_start = ByStart::new(windows.iter().map(|(_, time)| time.clone()));
    for &number in waits.of_line.of(line) {
        let wait = &waits.list[number as usize];
        let delay = &wait.delay;
        let begin = times.begin(delay);
        if begin >= by_start.end() {
            continue;
        }
        let Some(point) = lines.line(line).point_behind(wait.past, delay.waiting.position) else { continue };
        let ticks = point.wait;
        if delay.wait <= 0 || ticks <= 0 {
            continue;
        }
        for at in by_start.meeting(begin..begin.saturating_add(ticks)) {
            let wait = WindowWait {
                window: to_u32(windows[at].0),
                location: lines.location(line),
                begin,
                ticks,
                class: delay.class,
                path: lines.path(line, wait.row),
                cause_location: delay.causing.location,
                cause_path: ReportPath::NONE,
                cause_time: delay.time,
                communicator: delay.communicator().unwrap_or(NO_NUMBER),
                is_for_lock: delay.form == Form::Holder,
            };
            found[at].push((wait, delay.causing));
        }
    }
    found
}

/// Intervals in the order of their starts, to find those that meet another one.
struct ByStart {
    /// Each with its number, and with the latest end so far.
    intervals: Vec<(Range<Ticks>, usize, Ticks)>,
}

impl ByStart {
    fn new(intervals: impl Iterator<Item = Range<Ticks>>) -> ByStart {
        let mut numbered: Vec<_> = intervals.zip(0..).collect();
        numbered.sort_by_key(|(time, _)| time.start);
        let latest = |latest: &mut Ticks, (time, number): (Range<Ticks>, usize)| {
            *latest = time.end.max(*latest);
            Some((time, number, *latest))
        };
        ByStart { intervals: numbered.into_iter().scan(Ticks::MIN, latest).collect() }
    }

    /// The latest end.
    fn end(&self) -> Ticks {
        self.intervals.last().map_or(Ticks::MIN, |&(_, _, latest)| latest)
    }

    /// The numbers of the intervals that share time with this one.
    fn meeting(&self, time: Range<Ticks>) -> impl Iterator<Item = usize> {
        let before_end = self.intervals.partition_point(|(other, _, _)| other.start < time.end);
        let late =
            self.intervals[..before_end].iter().rev().take_while(move |&&(_, _, latest)| latest > time.start);
        late.filter(move |(other, _, _)| other.end > time.start).map(|&(_, number, _)| number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_that_share_time_are_found_and_those_that_only_touch_are_not() {
        let by_start = ByStart::new([5..9, 0..20, 9..10, 30..40].into_iter());
        let meeting = |time| {
            let mut numbers: Vec<usize> = by_start.meeting(time).collect();
            numbers.sort_unstable();
            numbers
        };
        assert_eq!(meeting(8..9), [0, 1]);
        assert_eq!(meeting(9..31), [1, 2, 3]);
        assert!(meeting(20..30).is_empty());
        assert_eq!(meeting(0..5), [1]);
        assert_eq!(by_start.end(), 40);
        assert_eq!(ByStart::new(std::iter::empty()).end(), Ticks::MIN);
    }
}
