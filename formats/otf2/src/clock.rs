//! Local clocks made global (`FORMAT.md`, "Clock offsets").
//!
//! A location's clock is compared with the global one a few times. In between, and beyond both ends, the offset is
//! interpolated on a line. One comparison alone is no correction: that is how OTF2 reads such archives.

/// The correction of one location's clock. The default leaves times as they are.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ClockCorrection {
    intervals: Vec<ClockInterval>,
    /// The interval that served last; times rarely leave it.
    current: usize,
}

/// A correction between two comparisons of clocks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ClockInterval {
    begin: u64,
    end: u64,
    offset: i64,
    slope: f64,
}

/// The global clock was ahead of the local one by `offset` ticks when the local one showed `time`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClockOffset {
    /// Local time in ticks.
    pub time: u64,
    /// Global time minus local time in ticks.
    pub offset: i64,
}

impl ClockCorrection {
    /// The correction that comparisons of the clocks give; `None` unless their times increase.
    pub fn new(offsets: &[ClockOffset]) -> Option<Self> {
        let mut intervals = Vec::new();
        for (from, to) in offsets.iter().zip(offsets.iter().skip(1)) {
            let length = to.time.checked_sub(from.time).filter(|&length| length > 0)?;
            let growth = (i128::from(to.offset) - i128::from(from.offset)) as f64;
            let slope = growth / length as f64;
            intervals.push(ClockInterval { begin: from.time, end: to.time, offset: from.offset, slope });
        }
        Some(ClockCorrection { intervals, current: 0 })
    }

    /// Whether times stay as they are.
    pub fn is_identity(&self) -> bool {
        self.intervals.is_empty()
    }

    /// Global time, in ticks, of a local one. Any order of times is fine; increasing ones are fastest.
    #[inline]
    pub fn correct(&mut self, time: u64) -> u64 {
        match self.intervals.get(self.current) {
            None => time,
            Some(interval) => interval.correct(time).unwrap_or_else(|| self.search(time)),
        }
    }

    /// The correction near the time that was corrected last.
    pub fn interval(&self) -> ClockInterval {
        let all = ClockInterval { begin: 0, end: u64::MAX, offset: 0, slope: 0.0 };
        self.intervals.get(self.current).copied().unwrap_or(all)
    }

    /// The first interval that ends at `time` or later, else the last one.
    #[cold]
    fn search(&mut self, time: u64) -> u64 {
        let last = self.intervals.len().saturating_sub(1);
        self.current = self.intervals.partition_point(|interval| interval.end < time).min(last);
        self.intervals.get(self.current).map_or(time, |interval| interval.extrapolate(time))
    }
}

impl ClockInterval {
    /// Global time, in ticks, of a local one; `None` outside of the interval, or at its begin.
    #[inline(always)]
    pub fn correct(&self, time: u64) -> Option<u64> {
        (time > self.begin && time <= self.end).then(|| self.extrapolate(time))
    }

    #[inline(always)]
    fn extrapolate(&self, time: u64) -> u64 {
        // Signed numbers are converted faster. Few times are before the begin, or so far behind it that they have no sign.
        let distance = time.wrapping_sub(self.begin).cast_signed();
        let distance = if time >= self.begin && distance >= 0 { distance as f64 } else { self.far(time) };
        // Times and offsets wrap around like the format's arithmetic.
        time.wrapping_add_signed(self.offset).wrapping_add_signed(rounded(self.slope * distance))
    }

    #[cold]
    #[inline(never)]
    fn far(&self, time: u64) -> f64 {
        if time >= self.begin { (time - self.begin) as f64 } else { -((self.begin - time) as f64) }
    }
}

/// The nearest whole number, of two the even one; cut to what fits, which no sane slope reaches.
///
/// From 2^52 to 2^53 doubles are the whole numbers, one bit pattern after the other: a sum there is rounded by the addition.
/// Many processors need a call for anything else.
#[inline(always)]
fn rounded(value: f64) -> i64 {
    const WHOLE: f64 = 1.5 * (1u64 << 52) as f64;
    let sum = (value + WHOLE).to_bits();
    if sum >> 52 == WHOLE.to_bits() >> 52 {
        sum.wrapping_sub(WHOLE.to_bits()).cast_signed()
    } else {
        rounded_by_library(value)
    }
}

#[cold]
#[inline(never)]
#[allow(clippy::cast_possible_truncation)]
fn rounded_by_library(value: f64) -> i64 {
    value.round_ties_even() as i64
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
    #[allow(clippy::cast_possible_truncation)]
    fn every_number_is_rounded_as_by_the_library() {
        let limit = (1u64 << 51) as f64;
        let mut values = vec![0.0, -0.0, 0.5, 1.5, 2.5, 1e-300, limit, 1e17, 1e19, f64::INFINITY, f64::NAN];
        values.extend([limit, limit / 2.0, 0.5, 1.5, 2.5].iter().flat_map(|v| [v.next_down(), v.next_up()]));
        // Of each size some, with bits that are as good as drawn.
        for at in 0..200_000u64 {
            let bits = at.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let exponent = 1000 + at % 90;
            values.push(f64::from_bits(exponent << 52 | bits >> 12));
            values.push((at as f64 / 4.0) + limit / 8.0);
        }
        for value in values.iter().flat_map(|value| [*value, -value]) {
            assert_eq!(rounded(value), value.round_ties_even() as i64, "{value}");
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
