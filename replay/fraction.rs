//! Shares of ticks as fixed-point numbers. Their sums do not depend on the order, so reports do not either.

use model::Ticks;

use crate::int::{truncated, truncated_wide};

/// Bits after the point. The others are for the sums of many locations: whole ticks may be as large as a
/// word.
pub const FRACTION: u32 = 56;

/// The number one, in fixed point.
pub const ONE: f64 = (1_u64 << FRACTION) as f64;

/// The upper bound of signed numbers of one word.
const WORD: f64 = (1_u64 << 63) as f64;

/// Converts a number to a share of ticks, exact as far as its bits fit.
pub fn fixed(value: f64) -> i128 {
    // Shares are mostly small, and processors calculate with numbers of one word.
    let scaled = value * ONE;
    if scaled.abs() < WORD { i128::from(truncated(scaled)) } else { truncated_wide(scaled) }
}

/// Converts whole ticks to a share of ticks.
pub fn whole(ticks: Ticks) -> i128 {
    i128::from(ticks) << FRACTION
}

/// Returns the share of ticks that each of several has of a number of ticks, which is not negative.
pub fn quotient(ticks: i128, count: i128) -> i128 {
    let (ticks, rest) = (ticks / count, ticks % count);
    // A limit for damaged traces: no real sum of times is that long.
    (ticks.min(i128::from(i64::MAX) >> 1) << FRACTION) + (rest << FRACTION) / count
}

/// Returns the whole ticks of a share, rounded down; the nearest ones that fit into a word.
pub fn whole_part(share: i128) -> Ticks {
    Ticks::try_from(share >> FRACTION).unwrap_or(if share < 0 { Ticks::MIN } else { Ticks::MAX })
}

/// Converts a share of ticks to a floating-point number.
pub fn float(value: i128) -> f64 {
    i64::try_from(value).map_or_else(|_| value as f64, |value| value as f64) / ONE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_and_large_numbers_come_back() {
        assert_eq!(fixed(2.5), 5 << (FRACTION - 1));
        for value in [0.0, 0.75, 1e15 + 0.125, -3.5, 127.5, 128.0, -128.0, -1e9] {
            assert_eq!(float(fixed(value)), value);
        }
    }
}
