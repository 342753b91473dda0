//! Conversions of integers that the type system cannot show to be harmless. All others are `from`,
//! `try_from`, `cast_signed`, `cast_unsigned` or `to_bits`.
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]

// Lists of a trace may have more than 2^32 bytes.
const _: () = assert!(usize::BITS == 64, "the analyzer needs 64 bits");

/// Converts a word to a position or number of something in memory.
#[inline(always)]
pub const fn to_usize(word: u64) -> usize {
    word as usize
}

/// Converts a number of something in memory to a word.
#[inline(always)]
pub const fn to_u64(number: usize) -> u64 {
    number as u64
}

/// Converts a number of something of which there are less than 2^32.
///
/// # Panics
/// If there are more, as the analysis must not go on with a wrong number.
#[inline(always)]
#[track_caller]
pub const fn to_u32(number: usize) -> u32 {
    assert!(number <= u32::MAX as usize, "more than 4,294,967,295 of one kind at one worker");
    number as u32
}

/// Returns the lower half of a word.
#[inline(always)]
pub const fn low(word: u64) -> u32 {
    word as u32
}

/// Returns the upper half of a word.
#[inline(always)]
pub const fn high(word: u64) -> u32 {
    (word >> 32) as u32
}

/// Returns the upper and the lower word.
#[inline(always)]
pub const fn words(number: u128) -> [u64; 2] {
    [(number >> 64) as u64, number as u64]
}

/// Returns the number, or the nearest one that fits into a word.
#[inline(always)]
pub fn nearest(number: i128) -> i64 {
    number.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

/// Returns the number rounded towards zero, in two words.
#[inline(always)]
pub const fn truncated_wide(number: f64) -> i128 {
    number as i128
}

/// Returns the number rounded towards zero; too large ones become the nearest possible one, not-a-number
/// becomes 0.
#[inline(always)]
pub const fn truncated(number: f64) -> i64 {
    number as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_make_up_a_word() {
        let word = 0x0123_4567_89ab_cdef;
        assert_eq!(u64::from(high(word)) << 32 | u64::from(low(word)), word);
        assert_eq!((to_u64(to_usize(word)), to_u32(7)), (word, 7));
        assert_eq!([1 << 70, -(1 << 70), -7].map(nearest), [i64::MAX, i64::MIN, -7]);
        assert_eq!([-1.9, f64::NAN, 1e30].map(truncated), [-1, 0, i64::MAX]);
    }

    #[test]
    #[should_panic(expected = "more than 4,294,967,295")]
    fn numbers_that_do_not_fit_end_the_program() {
        let _ = to_u32(1 << 32);
    }
}
