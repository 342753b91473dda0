//! How long the I/O of a phase itself took (io.md 4.7).

use serde::{Deserialize, Serialize};

use crate::numbers::sum;
use crate::simple::Simple;

/// How far the times of ranks in a phase are apart (io.md 5.3).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Spread {
    /// The rank whose operations take longest; the lowest of equal ones.
    pub slowest: u32,
    /// Their time, in ticks of the clock.
    pub most: u64,
    /// The median of all ranks, in ticks of the clock.
    pub median: u64,
}

impl Spread {
    /// Of the ranks' times, in the order of ranks; `None` without ranks.
    pub(crate) fn of(times: impl Iterator<Item = (u32, u64)>) -> Option<Spread> {
        let times: Vec<(u32, u64)> = times.collect();
        let &(slowest, most) = times.iter().rev().max_by_key(|(_, time)| *time)?;
        Some(Spread { slowest, most, median: median(times.iter().map(|(_, time)| *time).collect())? })
    }
}

/// The median; of an even number of values the mean of the two in the middle, rounded down.
fn median(mut values: Vec<u64>) -> Option<u64> {
    values.sort_unstable();
    let (lower, upper) = (values.len().checked_sub(1)? / 2, values.len() / 2);
    Some(values[lower].midpoint(values[upper]))
}

/// T_MD in ticks of the clock: of collective operations from the last member that came to the last one that left, for each
/// operation; otherwise the time of the slowest member.
pub(crate) fn measured_time(members: &[Simple]) -> u64 {
    let Some(first) = members.first() else { return 0 };
    let count = first.instances.len();
    let is_collective = first.pattern.iter().all(|access| access.collective);
    if is_collective && members.iter().all(|member| member.instances.len() == count) {
        let latest = |at: usize, which: fn(&(u64, u64)) -> u64| {
            members.iter().map(move |it| which(&it.instances[at])).max()
        };
        return sum(
            (0..count).filter_map(|at| Some(latest(at, |it| it.1)?.saturating_sub(latest(at, |it| it.0)?)))
        );
    }
    members.iter().map(|member| member.time).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_is_from_the_slowest_rank_to_the_median() {
        let of = |times: &[u64]| Spread::of((0..).zip(times.iter().copied()));
        assert_eq!(of(&[4, 9, 2, 9]), Some(Spread { slowest: 1, most: 9, median: 6 }));
        assert_eq!(of(&[4, 9, 2]), Some(Spread { slowest: 1, most: 9, median: 4 }));
        assert_eq!(of(&[u64::MAX; 2]), Some(Spread { slowest: 0, most: u64::MAX, median: u64::MAX }));
        assert_eq!(of(&[]), None);
    }
}
