//! Conversion of local clocks to the global one (`FORMAT.md`, "Clock offsets").
//!
//! A location's clock is compared with the global one a few times. Between the comparisons and beyond both
//! ends, the offset is interpolated linearly. A single comparison corrects nothing: the OTF2 library reads
//! such archives so.

/// Correction of one location's clock. The default leaves times as they are.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ClockCorrection {
    intervals: Vec<Interval>,
    /// Range of times around the last one that have the same shift: clocks drift slowly, so most searches are
    /// saved.
    step: ShiftRange,
}

/// Linear interpolation between two clock offsets. The first serves all earlier times, the last all later
/// ones.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Interval {
    begin: u64,
    end: u64,
    offset: i64,
    slope: f64,
}

/// Range of times with one shift: its start, its length less one, and the shift.
#[derive(Clone, Copy, PartialEq, Debug)]
struct ShiftRange {
    first: u64,
    more: u64,
    shift: i64,
}

impl Default for ShiftRange {
    fn default() -> ShiftRange {
        ShiftRange { first: 0, more: u64::MAX, shift: 0 }
    }
}

/// Clock offset: at local time `time`, the global clock was ahead by `offset` ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClockOffset {
    /// Local time in ticks.
    pub time: u64,
    /// Global time minus local time in ticks.
    pub offset: i64,
}

impl ClockCorrection {
    /// Correction from measured clock offsets; `None` unless their times increase.
    pub fn new(offsets: &[ClockOffset]) -> Option<Self> {
        let mut intervals = Vec::new();
        for (from, to) in offsets.iter().zip(offsets.iter().skip(1)) {
            let length = to.time.checked_sub(from.time).filter(|&length| length > 0)?;
            let growth = (i128::from(to.offset) - i128::from(from.offset)) as f64;
            let slope = growth / length as f64;
            intervals.push(Interval { begin: from.time, end: to.time, offset: from.offset, slope });
        }
        if let Some(last) = intervals.last_mut() {
            last.end = u64::MAX;
        }
        let step = intervals.first().map_or_else(ShiftRange::default, |first| first.step(0));
        Some(ClockCorrection { intervals, step })
    }

    /// Whether times stay unchanged.
    pub fn is_identity(&self) -> bool {
        self.intervals.is_empty()
    }

    /// Converts a local time to a global one, in ticks. Times may come in any order; increasing ones are
    /// fastest.
    #[inline(always)]
    pub fn correct(&mut self, time: u64) -> u64 {
        if time.wrapping_sub(self.step.first) > self.step.more {
            self.search(time);
        }
        // Times and offsets wrap around like the format's arithmetic.
        time.wrapping_add_signed(self.step.shift)
    }

    /// Looks up the shift in the first interval that ends at `time` or later.
    #[cold]
    #[inline(never)]
    fn search(&mut self, time: u64) {
        let at = self.intervals.partition_point(|interval| interval.end < time);
        self.step = self.intervals.get(at).map_or_else(ShiftRange::default, |interval| interval.step(time));
    }
}

impl Interval {
    /// Range of times from `time` on that have one shift.
    fn step(&self, time: u64) -> ShiftRange {
        let drift = self.drift(time);
        // Distance to where the drift grows by one tick, less one for rounding errors.
        let due = (drift as f64 + 0.5_f64.copysign(self.slope)) / self.slope - self.distance(time) - 1.0;
        // The saturating cast is right at both ends: negative means none, too many is cut by `min`.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let more = (due as u64).min(self.end - time);
        // Drifts are monotonic in time: if both ends have one drift, so does everything in between.
        let more = if self.drift(time + more) == drift { more } else { 0 };
        ShiftRange { first: time, more, shift: self.offset.wrapping_add(drift) }
    }

    /// Change of the offset since the interval's start, rounded to the nearest integer, ties to even. The
    /// cast saturates, which no sane slope reaches.
    #[allow(clippy::cast_possible_truncation)]
    fn drift(&self, time: u64) -> i64 {
        (self.slope * self.distance(time)).round_ties_even() as i64
    }

    fn distance(&self, time: u64) -> f64 {
        match time.checked_sub(self.begin) {
            Some(behind) => behind as f64,
            None => -((self.begin - time) as f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn correction(offsets: &[(u64, i64)]) -> ClockCorrection {
        let offsets: Vec<_> = offsets.iter().map(|&(time, offset)| ClockOffset { time, offset }).collect();
        ClockCorrection::new(&offsets).unwrap()
    }

    #[test]
    fn offset_is_interpolated_and_extrapolated() {
        let mut clock = correction(&[(900, 120), (5000, 80)]);
        assert_eq!([900, 1700, 5000].map(|time| clock.correct(time)), [1020, 1812, 5080]);
        assert_eq!(clock.correct(9100), 9100 + 40);
        assert_eq!(clock.correct(0), 120 + 9);
    }

    #[test]
    fn halves_round_to_even() {
        let mut clock = correction(&[(0, 0), (2, 1)]);
        assert_eq!([1, 3, 5].map(|time| clock.correct(time)), [1, 5, 7]);
    }

    #[test]
    fn times_are_the_same_whatever_came_before() {
        let far = [(1000, 5), (1_000_000, -20_000), (1 << 40, 3), (1 << 62, 1 << 40)];
        let near = [(0, 0), (10, 10), (20, 0), (60, 5), (64, 5), (1000, 5 + 117)];
        for offsets in [&far[..], &near[..]] {
            let mut clock = correction(offsets);
            let mut time: u64 = 0;
            for at in 0..200_000_u64 {
                let fresh = correction(offsets).correct(time);
                assert_eq!(clock.correct(time), fresh, "time {time}");
                // Jumps far away now and then, a little forward mostly.
                let jump = at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (at % 64);
                time = if at % 16 == 0 { time.wrapping_add(jump) } else { time.wrapping_add(jump % 50) };
            }
        }
    }

    #[test]
    fn bound_belongs_to_earlier_interval_whatever_came_before() {
        let mut clock = correction(&[(0, 0), (10, 10), (20, 0)]);
        for time in [10, 11, 10, 5, 20, 100, 0] {
            let fresh = correction(&[(0, 0), (10, 10), (20, 0)]).correct(time);
            assert_eq!(clock.correct(time), fresh, "time {time}");
        }
        assert_eq!(clock.correct(15), 15 + 5);
    }

    #[test]
    fn single_offset_corrects_nothing_and_decreasing_ones_are_refused() {
        assert_eq!(correction(&[(5, 100)]).correct(7), 7);
        assert!(correction(&[]).is_identity());
        let twice = [ClockOffset { time: 5, offset: 0 }; 2];
        assert_eq!(ClockCorrection::new(&twice), None);
    }
}
