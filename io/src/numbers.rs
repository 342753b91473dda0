//! Arithmetic that neither overflows nor depends on an order.

/// The mean of numbers whose sum is given, rounded to the nearest, halves to the even one; 0 for none.
pub(crate) fn mean(sum: u128, count: u128) -> u64 {
    if count == 0 {
        return 0;
    }
    let (low, rest) = (sum / count, sum % count);
    let up = match (rest * 2).cmp(&count) {
        std::cmp::Ordering::Less => false,
        std::cmp::Ordering::Greater => true,
        std::cmp::Ordering::Equal => low % 2 == 1,
    };
    to_u64(low + u128::from(up))
}

/// The number, or the largest that there is.
pub(crate) fn to_u64(number: u128) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// A count of things in memory.
pub(crate) fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// The sum, or the largest number that there is.
pub(crate) fn sum(numbers: impl IntoIterator<Item = u64>) -> u64 {
    numbers.into_iter().fold(0, u64::saturating_add)
}

/// The distance from one offset to another; offsets are below 2^63.
pub(crate) fn distance(from: u64, to: u64) -> i64 {
    if let (Ok(from), Ok(to)) = (i64::try_from(from), i64::try_from(to)) {
        return to - from;
    }
    let distance = i128::from(to) - i128::from(from);
    i64::try_from(distance).unwrap_or(if distance < 0 { i64::MIN } else { i64::MAX })
}

/// Where a step from an offset leads to, if that can be an offset.
pub(crate) fn moved(from: u64, by: i128) -> Option<u64> {
    offset(i128::from(from).checked_add(by)?)
}

/// A number as an offset: below 2^63, as `off_t` and `MPI_Offset`.
pub(crate) fn offset(number: i128) -> Option<u64> {
    i64::try_from(number).ok().and_then(|number| u64::try_from(number).ok())
}

/// So many times a number of bytes, if that can be an offset.
pub(crate) fn times(number: u64, bytes: u64) -> Option<u64> {
    number.checked_mul(bytes).filter(|product| i64::try_from(*product).is_ok())
}

/// The range from the first to the last byte of two ranges, each from its first byte to that behind the last one.
pub(crate) fn hull(one: (u64, u64), other: (u64, u64)) -> (u64, u64) {
    (one.0.min(other.0), one.1.max(other.1))
}

/// Quotient and rest, if there are any. Most numbers are small, and then that is much faster.
pub(crate) fn divided(number: i128, by: i128) -> Option<(i128, i128)> {
    match (u64::try_from(number), u64::try_from(by)) {
        (Ok(number), Ok(by)) if by > 0 => Some(((number / by).into(), (number % by).into())),
        _ => Some((number.checked_div(by)?, number.checked_rem(by)?)),
    }
}

/// A part of a whole in another one, rounded down: `part · of / whole`, or the largest number that there is. Most products are small, and
/// then that is much faster.
pub(crate) fn proportion(part: u64, of: u64, whole: u64) -> u64 {
    match part.checked_mul(of) {
        Some(product) => product / whole.max(1),
        None => to_u64(u128::from(part) * u128::from(of) / u128::from(whole.max(1))),
    }
}

/// For rates and shares.
#[expect(clippy::cast_precision_loss, reason = "rates and shares are rounded when they are shown")]
pub(crate) fn to_f64(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_rounded_to_the_nearest_and_halves_to_the_even_one() {
        assert_eq!(
            [(5, 2), (7, 2), (8, 3), (7, 3), (0, 3), (1, 0)].map(|(sum, n)| mean(sum, n)),
            [2, 4, 3, 2, 0, 0]
        );
    }

    #[test]
    fn large_and_negative_numbers_are_divided_like_small_ones() {
        assert_eq!([divided(17, 5), divided(-17, 5), divided(17, 0)], [Some((3, 2)), Some((-3, -2)), None]);
        let large = i128::from(u64::MAX) * 3 + 1;
        assert_eq!(divided(large, i128::from(u64::MAX)), Some((3, 1)));
    }

    #[test]
    fn proportions_are_rounded_down_however_large_they_are() {
        assert_eq!([proportion(5, 10, 3), proportion(7, 2, 0)], [16, 14]);
        assert_eq!(proportion(u64::MAX, 6, 9), u64::MAX / 3 * 2);
        assert_eq!(proportion(u64::MAX, 2, 1), u64::MAX);
    }

    #[test]
    fn offsets_are_below_2_to_the_63() {
        let last = (1 << 63) - 1;
        assert_eq!((moved(last, 0), moved(last, 1), moved(0, -1)), (Some(last), None, None));
        assert_eq!((times(1 << 32, 1 << 31), times(u64::MAX, u64::MAX), times(3, 4)), (None, None, Some(12)));
        assert_eq!((distance(last, 0), distance(0, u64::MAX)), (-i64::MAX, i64::MAX));
    }
}
