//! Where phases begin: f(initOffset) over ranks and occurrences (io.md 4.6).

use serde::{Deserialize, Serialize};

/// Offsets in bytes as a linear function, if that is exact.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// `start` + `rank` · idP + `occurrence` · (j − 1), where idP is the position of a rank among the ranks of the phase from 0 on,
    /// and j counts occurrences from 1 on.
    Linear {
        /// Of the first rank and occurrence.
        start: u64,
        /// From a rank to the next one.
        rank: i64,
        /// From an occurrence to the next one.
        occurrence: i64,
    },
    /// No linear function.
    Irregular,
    /// Offsets are unknown.
    Unknown,
}

/// The same of one occurrence, of the offset of each member. Those that move nothing may be nowhere: `Ok(None)`; an error is an
/// offset that nobody knows.
pub(crate) fn over_ranks(offsets: impl IntoIterator<Item = Result<Option<u64>, ()>>) -> Origin {
    let mut points = Vec::new();
    for (position, offset) in (0_i128..).zip(offsets) {
        match offset {
            Ok(Some(offset)) => points.push((position, i128::from(offset))),
            Ok(None) => {}
            Err(()) => return Origin::Unknown,
        }
    }
    let Some(&(first, low)) = points.first() else { return Origin::Unknown };
    let rank = points.get(1).map_or(0, |(second, high)| (high - low) / (second - first));
    let start = low - rank * first;
    let exact = points.iter().all(|(position, offset)| *offset == start + rank * position);
    match (exact, u64::try_from(start), i64::try_from(rank)) {
        (true, Ok(start), Ok(rank)) => Origin::Linear { start, rank, occurrence: 0 },
        _ => Origin::Irregular,
    }
}

/// The function of all occurrences, of that of each.
pub(crate) fn over_occurrences(each: impl IntoIterator<Item = Origin>) -> Origin {
    let mut starts: Vec<i128> = Vec::new();
    let mut slope = None;
    for origin in each {
        match origin {
            Origin::Linear { start, rank, .. } if *slope.get_or_insert(rank) == rank => {
                starts.push(start.into())
            }
            Origin::Unknown => return Origin::Unknown,
            _ => return Origin::Irregular,
        }
    }
    let (Some(&first), Some(rank)) = (starts.first(), slope) else { return Origin::Unknown };
    let occurrence = starts.get(1).map_or(0, |second| second - first);
    let exact = (0..).zip(&starts).all(|(at, start)| *start == first + occurrence * at);
    match (exact, u64::try_from(first), i64::try_from(occurrence)) {
        (true, Ok(start), Ok(occurrence)) => Origin::Linear { start, rank, occurrence },
        _ => Origin::Irregular,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranks(offsets: &[u64]) -> Origin {
        over_ranks(offsets.iter().map(|&it| Ok(Some(it))))
    }

    #[test]
    fn only_exact_functions_are_told() {
        let linear = |start, rank, occurrence| Origin::Linear { start, rank, occurrence };
        assert_eq!(ranks(&[5, 7, 9]), linear(5, 2, 0));
        assert_eq!(ranks(&[5, 7, 8]), Origin::Irregular);
        assert_eq!(over_ranks([Ok(None), Ok(Some(7)), Ok(Some(9))]), linear(5, 2, 0));
        assert_eq!(over_ranks([Ok(Some(1)), Err(())]), Origin::Unknown);
        assert_eq!(over_occurrences([ranks(&[5, 7]), ranks(&[15, 17]), ranks(&[25, 27])]), linear(5, 2, 10));
        assert_eq!(over_occurrences([ranks(&[5, 7]), ranks(&[15, 18])]), Origin::Irregular);
        assert_eq!(over_occurrences([ranks(&[9, 8]), ranks(&[0, u64::MAX])]), Origin::Irregular);
        assert_eq!(over_occurrences([]), Origin::Unknown);
    }
}
