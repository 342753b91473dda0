//! Random numbers: hashes of a seed and two numbers, without state, so that each rank can compute the draws
//! of others.

/// Pseudo-random number of a seed and two other numbers.
#[inline]
pub(crate) fn draw(seed: u64, a: u64, b: u64) -> u64 {
    let sum = seed
        .wrapping_mul(0xd6e8_feb8_6659_fd93)
        .wrapping_add(a.wrapping_mul(0x9e37_79b9_7f4a_7c15))
        .wrapping_add(b.wrapping_mul(0xd134_2543_de82_ef95));
    mix(sum.wrapping_add(0x2545_f491_4f6c_dd1d))
}

/// Maps a random number to `0..end`.
#[inline]
pub(crate) fn below(drawn: u64, end: u64) -> u64 {
    // The upper half has enough bits for the ranges in use.
    ((drawn >> 32) * end) >> 32
}

/// The last steps of SplitMix64: every bit of the input changes about half of the bits.
#[inline]
fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn draws_differ() {
        let all: HashSet<u64> = (0..20)
            .flat_map(|seed| (0..20).flat_map(move |a| (0..20).map(move |b| draw(seed, a, b))))
            .collect();
        assert_eq!(all.len(), 8000);
    }

    #[test]
    fn draws_fill_their_range_evenly() {
        let mut counts = [0; 10];
        for step in 0..10_000 {
            counts[below(draw(1, 7, step), 10) as usize] += 1;
        }
        assert!(counts.iter().all(|count| (900..1100).contains(count)), "{counts:?}");
    }
}
