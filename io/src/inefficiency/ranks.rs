//! Ranks that do all of the I/O, and ranks that do none of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Flaw, Inefficiency};
use crate::numbers::{sum, to_f64};
use crate::phase::Phase;
use crate::thresholds::Thresholds;

/// The rank that moves most bytes of a family of files.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Busiest {
    /// The first of equal ones.
    pub rank: u32,
    /// Bytes that it moves.
    pub bytes: u64,
    /// Bytes that all move.
    pub of: u64,
}

impl Busiest {
    /// The busiest of ranks that move so many bytes; `None` if nothing moves.
    pub fn new(bytes: &BTreeMap<u32, u64>) -> Option<Busiest> {
        let (&rank, &most) = bytes.iter().rev().max_by_key(|&(_, bytes)| bytes)?;
        (most > 0).then(|| Busiest { rank, bytes: most, of: sum(bytes.values().copied()) })
    }
}

/// Whether one of so many ranks does the I/O on a family of files, for which others wait this share of the time of all.
pub(crate) fn one_rank(
    family: &str,
    busiest: &Busiest,
    (ranks, waiting): (u64, f64),
    limits: &Thresholds,
) -> Option<Inefficiency> {
    let Busiest { rank, bytes, of } = *busiest;
    let is_told = ranks >= limits.one_rank_ranks
        && to_f64(bytes) >= limits.one_rank_bytes * to_f64(of)
        && waiting > 0.0
        && waiting >= limits.cost;
    let found = || Inefficiency::new(Flaw::OneRank, family, (bytes, of), waiting);
    is_told.then(|| Inefficiency { rank: Some(rank), ..found() })
}

/// Whether most members of the collective requests of similar phases move nothing, as one of them shows.
pub(crate) fn empty_members(phase: &Phase, cost: f64, limits: &Thresholds) -> Option<Inefficiency> {
    let empty = phase.members.saturating_sub(phase.np);
    let is_told = phase.key.pattern.iter().all(|it| it.collective)
        && to_f64(empty) > limits.empty_share * to_f64(phase.members)
        && cost >= limits.cost;
    is_told.then(|| Inefficiency::new(Flaw::EmptyMembers, &phase.key.family, (empty, phase.members), cost))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_rank_is_told_with_four_ranks_that_wait() {
        let busiest = Busiest::new(&BTreeMap::from([(0, 5), (2, 90), (3, 5)])).unwrap();
        assert_eq!(busiest, Busiest { rank: 2, bytes: 90, of: 100 });
        let told = |ranks, waiting, busiest: &Busiest| {
            one_rank("f", busiest, (ranks, waiting), &Thresholds::default()).map(|it| (it.rank, it.concerned))
        };
        assert_eq!(told(4, 0.01, &busiest), Some((Some(2), 90)));
        assert_eq!(told(3, 0.01, &busiest), None);
        assert_eq!(told(4, 0.009, &busiest), None);
        assert_eq!(told(4, 0.01, &Busiest { bytes: 89, ..busiest }), None);
        assert_eq!(Busiest::new(&BTreeMap::from([(0, 0)])), None);
        assert_eq!(Busiest::new(&BTreeMap::from([(1, 7), (2, 7)])).unwrap().rank, 1);
    }
}
