//! Backward amortisation: abrupt shifts become gradual ones, from some time before on (specification 15.2).
//!
//! Before an event that jumps, the time since the previous event would seem long. So the events before it are
//! shifted too, the less the earlier they are; but no send may come after its receive.

use model::Ticks;

use super::way::{Jump, rounded};
use crate::ids::RecordNumber;

/// Slope: shift of an event per tick of distance to the jump, at most.
const SLOPE: f64 = 0.01;

/// Upper bound of a send; `Ticks::MAX` if it was not received.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ShiftLimit {
    /// The number of its record.
    pub(super) record: RecordNumber,
    pub(super) latest: Ticks,
}

/// Corner of the piecewise linear shift of the events before a jump. The corners are the lower convex hull of
/// the jump, the sends with their headrooms, and the point from which on earlier events do not move.
#[derive(Clone, Copy, Debug)]
struct Corner {
    /// The first record that is shifted on the line from here to the corner before, which is nearer to the
    /// jump.
    record: usize,
    /// Ticks before the jump.
    distance: f64,
    /// Shift of an event here, in ticks.
    height: f64,
}

/// Shifts the events before each jump of a location. `limits` are in the order of records, and so are
/// `jumps`.
pub(super) fn amortise(times: &mut [Ticks], limits: &[ShiftLimit], jumps: &[Jump]) {
    let mut corners = Vec::new();
    for jump in jumps {
        let height = jump.to.saturating_sub(jump.from) as f64;
        let whole = times.first().map_or(0, |&first| jump.from.saturating_sub(first)).max(0) as f64;
        let length = (height / SLOPE).min(whole);
        if length <= 0.0 {
            continue;
        }
        let record = jump.record.index();
        let distance = |time: Ticks| jump.from.saturating_sub(time).max(0) as f64;
        corners.clear();
        corners.push(Corner { record, distance: 0.0, height });
        let before = limits.partition_point(|limit| limit.record.index() < record);
        for limit in limits[..before].iter().rev() {
            let (record, time) = (limit.record.index(), times[limit.record.index()]);
            let (distance, headroom) = (distance(time), limit.latest.saturating_sub(time).max(0) as f64);
            if distance >= length {
                break;
            }
            if limit.latest != Ticks::MAX {
                push(&mut corners, Corner { record, distance, height: headroom });
            }
            if headroom <= 0.0 {
                // Earlier events do not move.
                break;
            }
        }
        push(&mut corners, Corner { record: 0, distance: length, height: 0.0 });
        for pair in corners.windows(2) {
            let (near, far) = (pair[0], pair[1]);
            if near.height <= 0.0 {
                break;
            }
            for time in times[far.record..near.record].iter_mut().rev() {
                let left = far.distance - distance(*time);
                if left <= 0.0 && far.record == 0 {
                    break;
                }
                let line = far.distance - near.distance;
                let part = if line > 0.0 { (left / line).clamp(0.0, 1.0) } else { 0.0 };
                let ticks = far.height + (near.height - far.height) * part;
                *time = time.saturating_add(rounded(ticks));
            }
        }
    }
}

/// Adds a corner to a lower convex hull, behind all others.
fn push(corners: &mut Vec<Corner>, new: Corner) {
    while let [.., a, b] = corners[..] {
        // Where clocks are coarse, several events are simultaneous: the lowest counts.
        let is_above = match new.distance > b.distance {
            true => {
                (b.height - a.height) * (new.distance - a.distance)
                    >= (new.height - a.height) * (b.distance - a.distance)
            }
            false => b.height >= new.height,
        };
        if !is_above {
            break;
        }
        corners.pop();
    }
    if corners.last().is_none_or(|last| new.distance > last.distance || new.height < last.height) {
        corners.push(new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Ticks = Ticks::MAX;

    /// Ten events, a thousand ticks apart, of which the last jumps by 30.
    fn amortised(limits: &[(usize, Ticks)]) -> Vec<Ticks> {
        let mut times: Vec<Ticks> = (0..10).map(|at| at * 1000).collect();
        times[9] += 30;
        let limits: Vec<_> = limits
            .iter()
            .map(|&(record, latest)| ShiftLimit { record: RecordNumber::new(record), latest })
            .collect();
        amortise(&mut times, &limits, &[Jump { record: RecordNumber::new(9), from: 9000, to: 9030 }]);
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
        // At record 8 there is room for 5 only: up to there a slope of 5 in 2000, from there on one of 25 in
        // 1000.
        assert_eq!(amortised(&[(8, 8005)])[5..], [5000, 6000, 7003, 8005, 9030]);
        // Without any room everything stays where it is.
        assert_eq!(amortised(&[(8, 8000)])[5..], [5000, 6000, 7000, 8000, 9030]);
    }

    #[test]
    fn send_at_the_time_of_the_jump_moves_no_further_than_its_receive_allows() {
        let sends = |latest| {
            [
                ShiftLimit { record: RecordNumber::new(1), latest },
                ShiftLimit { record: RecordNumber::new(2), latest: 1050 },
            ]
        };
        let jump = Jump { record: RecordNumber::new(3), from: 1000, to: 1100 };
        for (latest, expected) in [(1020, [0, 1020, 1020, 1100]), (1080, [0, 1050, 1050, 1100])] {
            let mut times = vec![0, 1000, 1000, 1100];
            amortise(&mut times, &sends(latest), &[jump]);
            assert_eq!(times, expected, "until {latest}");
        }
    }

    #[test]
    fn jump_that_is_long_for_the_time_before_it_moves_all_but_the_first_event() {
        let mut times = vec![0, 500, 2000];
        amortise(&mut times, &[], &[Jump { record: RecordNumber::new(2), from: 1000, to: 2000 }]);
        assert_eq!(times, [0, 1000, 2000]);
    }
}
