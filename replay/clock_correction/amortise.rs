//! The way back: what was put off abruptly is put off gradually, from some time before on (specification 15.2).
//!
//! Where an event jumps, the time since the event before it would seem long. So the events before it are put off too, by
//! less the earlier they are; but nothing that was sent may come after its receive.

use model::Ticks;

use super::forward::Jump;
use crate::journal::Position;

/// By how much of the distance to a jump events may move.
const SLOPE: f64 = 0.01;

/// A send, and the latest time at which it can have been; `Ticks::MAX` if nobody has received it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Limit {
    /// The number of its record.
    pub(super) record: Position,
    pub(super) latest: Ticks,
}

/// Moves the events before each jump of a location. `limits` are in the order of records, and so are `jumps`.
pub(super) fn amortise(times: &mut [Ticks], limits: &[Limit], jumps: &[Jump]) {
    for jump in jumps {
        let mut stretch = Stretch::before(jump, times);
        while let Some(limit) = stretch.steepest(times, limits) {
            let (record, headroom) = (limit.record as usize, headroom(limit, times));
            let at = times[record];
            stretch.lift(times, record, at, headroom);
            if headroom <= 0.0 {
                stretch.height = 0.0;
                break;
            }
            // What is before the send goes up to it.
            stretch = stretch.up_to(record, at, headroom);
        }
        stretch.slant(times);
    }
}

/// By how much a send can be put off, in ticks.
fn headroom(limit: &Limit, times: &[Ticks]) -> f64 {
    limit.latest.saturating_sub(times[limit.record as usize]).max(0) as f64
}

/// The time before a jump in which events move.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    /// The record that it ends before, and its time.
    record: usize,
    right: Ticks,
    /// Its length, in ticks.
    length: f64,
    /// By how much an event at its end moves, in ticks.
    height: f64,
}

impl Stretch {
    fn before(jump: &Jump, times: &[Ticks]) -> Stretch {
        let height = jump.to.saturating_sub(jump.from) as f64;
        let whole = times.first().map_or(0, |&first| jump.from.saturating_sub(first)).max(0) as f64;
        let length = (height / SLOPE).min(whole);
        Stretch { record: jump.record as usize, right: jump.from, length, height }
    }

    fn up_to(self, record: usize, right: Ticks, height: f64) -> Stretch {
        let length = self.length - self.right.saturating_sub(right) as f64;
        Stretch { record, right, length, height }
    }

    /// How far an event is from its end.
    fn distance(&self, time: Ticks) -> f64 {
        self.right.saturating_sub(time) as f64
    }

    /// The send that is most in the way of moving everything by what is due at its distance.
    fn steepest<'l>(&self, times: &[Ticks], limits: &'l [Limit]) -> Option<&'l Limit> {
        if self.length <= 0.0 {
            return None;
        }
        let before = limits.partition_point(|limit| (limit.record as usize) < self.record);
        let mut steepest = (self.height / self.length, None);
        for limit in limits[..before].iter().rev() {
            let distance = self.distance(times[limit.record as usize]);
            if distance >= self.length {
                break;
            }
            if distance <= 0.0 || limit.latest == Ticks::MAX {
                continue;
            }
            let slope = (self.height - headroom(limit, times)) / distance;
            if slope > steepest.0 {
                steepest = (slope, Some(limit));
            }
        }
        steepest.1
    }

    /// Moves events from a send on, by its headroom there and by the whole height at the end.
    fn lift(&self, times: &mut [Ticks], from: usize, at: Ticks, headroom: f64) {
        let slope = (self.height - headroom) / self.distance(at);
        for time in &mut times[from..self.record] {
            let ticks = headroom + slope * time.saturating_sub(at) as f64;
            *time = time.saturating_add(ticks.round() as Ticks);
        }
    }

    /// Moves all events, by nothing at its begin and by the whole height at the end.
    fn slant(&self, times: &mut [Ticks]) {
        if self.length <= 0.0 || self.height <= 0.0 {
            return;
        }
        for time in times[..self.record].iter_mut().rev() {
            let distance = self.distance(*time);
            if distance >= self.length {
                break;
            }
            let ticks = self.height * (1.0 - distance / self.length);
            *time = time.saturating_add(ticks.round() as Ticks);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Ticks = Ticks::MAX;

    /// Ten events, a thousand ticks apart, of which the last jumps by 30.
    fn amortised(limits: &[(Position, Ticks)]) -> Vec<Ticks> {
        let mut times: Vec<Ticks> = (0..10).map(|at| at * 1000).collect();
        times[9] += 30;
        let limits: Vec<_> = limits.iter().map(|&(record, latest)| Limit { record, latest }).collect();
        amortise(&mut times, &limits, &[Jump { record: 9, from: 9000, to: 9030 }]);
        times
    }

    #[test]
    fn events_before_a_jump_move_by_a_hundredth_of_the_distance_that_is_left() {
        let expected = [0, 1000, 2000, 3000, 4000, 5000, 6000, 7010, 8020, 9030];
        assert_eq!(amortised(&[]), expected);
        assert_eq!(amortised(&[(8, NONE), (7, 8000)]), expected);
    }

    #[test]
    fn send_moves_no_further_than_its_receive_allows_and_those_before_it_go_up_to_it() {
        // At record 8 there is room for 5 only: up to there a slope of 5 in 2000, from there on one of 25 in 1000.
        assert_eq!(amortised(&[(8, 8005)])[5..], [5000, 6000, 7003, 8005, 9030]);
        // Without any room everything stays where it is.
        assert_eq!(amortised(&[(8, 8000)])[5..], [5000, 6000, 7000, 8000, 9030]);
    }

    #[test]
    fn jump_that_is_long_for_the_time_before_it_moves_all_but_the_first_event() {
        let mut times = vec![0, 500, 2000];
        amortise(&mut times, &[], &[Jump { record: 2, from: 1000, to: 2000 }]);
        assert_eq!(times, [0, 1000, 2000]);
    }
}
