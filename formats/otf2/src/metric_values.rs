//! What the values of a metric are, by the fields of its definition.

use crate::value::ValueType;
use model::{Counting, CountsSince, MetricValues, State};

/// `OTF2_BASE_DECIMAL`; the other base is binary.
const DECIMAL: u8 = 1;

/// Digits behind the point that counts of real numbers have.
const DIGITS: i64 = 6;

/// Returns what values are that have a mode (`OTF2_MetricMode`: what they are in the lower four bits, when they hold in the upper
/// ones), a type, and are numbers of their unit times a power.
pub(crate) fn metric_values(mode: u8, kind: ValueType, base: u8, exponent: i64) -> MetricValues {
    let digits = match kind {
        ValueType::UINT64 | ValueType::INT64 => 0,
        ValueType::DOUBLE => DIGITS,
        _ => return MetricValues::Others,
    };
    // Any base to the power of 0 is 1.
    let is_decimal = base == DECIMAL || exponent == 0;
    let counting = |since| match exponent.checked_sub(digits) {
        Some(exponent) if is_decimal => MetricValues::Counts(Counting { since, exponent }),
        _ => MetricValues::Others,
    };
    let state = |holds_until_next| {
        MetricValues::States(State { holds_until_next, base: if is_decimal { 10 } else { 2 }, exponent })
    };
    match mode {
        // Accumulated: since the start, at a point, since the last value.
        0x00 => counting(CountsSince::Begin),
        0x10 | 0x20 => counting(CountsSince::ValueBefore),
        // Absolute: at a point, since the last value, until the next one.
        0x11 | 0x21 => state(false),
        0x31 => state(true),
        _ => MetricValues::Others,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BINARY: u8 = 0;

    #[test]
    fn accumulated_values_count_since_the_begin_or_the_value_before_in_powers_of_ten() {
        let counting = |since, exponent| MetricValues::Counts(Counting { since, exponent });
        let of = |mode, kind, exponent| metric_values(mode, kind, DECIMAL, exponent);
        assert_eq!(of(0, ValueType::UINT64, 1), counting(CountsSince::Begin, 1));
        assert_eq!(of(0, ValueType::DOUBLE, 0), counting(CountsSince::Begin, -6));
        assert_eq!(of(16, ValueType::INT64, -9), counting(CountsSince::ValueBefore, -9));
        assert_eq!(of(32, ValueType::UINT64, 0), counting(CountsSince::ValueBefore, 0));
        assert_eq!(of(0, ValueType::DOUBLE, i64::MIN), MetricValues::Others);
        assert_eq!(metric_values(0, ValueType::UINT64, BINARY, 10), MetricValues::Others);
        assert_eq!(metric_values(0, ValueType::UINT64, BINARY, 0), counting(CountsSince::Begin, 0));
    }

    #[test]
    fn absolute_values_are_states_in_powers_of_ten_or_two() {
        let state = |holds_until_next, base, exponent| {
            MetricValues::States(State { holds_until_next, base, exponent })
        };
        assert_eq!(metric_values(17, ValueType::UINT64, DECIMAL, 6), state(false, 10, 6));
        assert_eq!(metric_values(33, ValueType::DOUBLE, BINARY, 10), state(false, 2, 10));
        assert_eq!(metric_values(49, ValueType::INT64, DECIMAL, 0), state(true, 10, 0));
    }

    #[test]
    fn changes_and_short_numbers_are_not_known() {
        assert_eq!(metric_values(18, ValueType::UINT64, DECIMAL, 0), MetricValues::Others);
        assert_eq!(metric_values(48, ValueType::UINT64, DECIMAL, 0), MetricValues::Others);
        assert_eq!(metric_values(17, ValueType::FLOAT, DECIMAL, 0), MetricValues::Others);
    }
}
