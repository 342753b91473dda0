//! Sizes of one kind of request (io.md 4.4), those that matter in a burst (io.md 4.3), and bins of sizes (io.md 6).

use std::collections::{BTreeMap, BTreeSet};

use crate::numbers::sum;

/// Whether the larger of two sizes is at most a quarter more than the other one.
pub(crate) fn are_alike(one: u64, other: u64) -> bool {
    4 * u128::from(one.max(other)) <= 5 * u128::from(one.min(other))
}

/// Whether all sizes from one to another one are in one cluster, whichever there are.
pub(crate) fn are_one(least: u64, most: u64) -> bool {
    are_alike(least.max(1), most.max(1))
}

/// A number for each size in bytes, from 0 on: neighbours in rising order have the same one unless one is more than 1.25 times
/// the other (io.md 4.4).
pub fn clusters(sizes: impl IntoIterator<Item = u64>) -> BTreeMap<u64, u64> {
    let sizes: BTreeSet<u64> = sizes.into_iter().collect();
    let (mut number, mut last) = (0, None);
    let mut numbered = BTreeMap::new();
    for size in sizes {
        if last.is_some_and(|last: u64| !are_one(last, size)) {
            number += 1;
        }
        numbered.insert(size, number);
        last = Some(size);
    }
    numbered
}

/// The sizes of the fewest clusters that hold 99 % of the bytes (io.md 4.3), of the bytes of each size.
pub(crate) fn core(bytes: &BTreeMap<u64, u64>) -> BTreeSet<u64> {
    let number = clusters(bytes.keys().copied());
    let mut by_cluster: BTreeMap<u64, u64> = BTreeMap::new();
    for (size, bytes) in bytes {
        let all = by_cluster.entry(number[size]).or_default();
        *all = all.saturating_add(*bytes);
    }
    let total = u128::from(sum(by_cluster.values().copied()));
    let mut falling: Vec<(u64, u64)> =
        by_cluster.into_iter().map(|(cluster, bytes)| (bytes, cluster)).collect();
    falling.sort_unstable_by(|one, other| other.cmp(one));
    let (mut kept, mut core) = (0, BTreeSet::new());
    for (bytes, cluster) in falling {
        if !core.is_empty() && 100 * kept >= 99 * total {
            break;
        }
        core.insert(cluster);
        kept += u128::from(bytes);
    }
    number.into_iter().filter(|(_, cluster)| core.contains(cluster)).map(|(size, _)| size).collect()
}

/// Upper bounds in bytes of all bins of [`Bins`] but the last one: Darshan's.
pub const BOUNDS: [u64; 9] =
    [100, 1_000, 10_000, 100_000, 1_000_000, 4_000_000, 10_000_000, 100_000_000, 1_000_000_000];

/// How many requests have how many bytes: up to each of [`BOUNDS`], and more.
pub type Bins = [u64; 10];

/// The bin of a size in bytes.
pub(crate) fn bin(size: u64) -> usize {
    BOUNDS.partition_point(|&bound| bound < size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_together_up_to_a_quarter_more() {
        let numbers = |sizes: &[u64]| clusters(sizes.iter().copied()).into_values().collect::<Vec<_>>();
        assert_eq!(numbers(&[100, 125, 156, 196]), [0, 0, 0, 1]);
        assert_eq!(numbers(&[22_451_600, 22_456_080, 512]), [0, 1, 1]);
        assert_eq!(numbers(&[0, 1, 2]), [0, 0, 1]);
        assert_eq!(numbers(&[u64::MAX, u64::MAX - 1]), [0, 0]);
    }

    #[test]
    fn the_core_is_what_holds_99_per_cent() {
        let core =
            |bytes: &[(u64, u64)]| core(&bytes.iter().copied().collect()).into_iter().collect::<Vec<_>>();
        assert_eq!(core(&[(10, 10), (1000, 990)]), [1000]);
        assert_eq!(core(&[(10, 11), (1000, 989)]), [10, 1000]);
        assert_eq!(core(&[(0, 0), (7, 0)]), [7]);
        assert_eq!(core(&[]), [0; 0]);
    }

    #[test]
    fn bins_are_darshans() {
        assert_eq!([0, 100, 101, 1_000_000_000, u64::MAX].map(bin), [0, 0, 1, 8, 9]);
    }
}
