//! Whose work ranks wait for one after the other: what pipelines are told by (advice 4.2, `pipeline`), of the work in front of late messages.

use std::collections::BTreeMap;

use model::Ticks;

use super::culprits::Culprit;
use super::late_sends::LateSend;
use super::sums::WorkOfRank;
use crate::error::Error;
use crate::exchange::{Batch, Exchange, share};
use crate::report_paths::ReportPaths;
use crate::wire::{self, Wire, wire};

/// Costs of a culprit in late messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct LateCosts {
    all: Ticks,
    /// The part of it at ranks that wait for others that wait.
    indirect: Ticks,
    /// The part of it that goes both ways, as that of all late messages of the rank.
    two_way: Ticks,
}

wire!(LateCosts { all, indirect, two_way });

impl LateCosts {
    fn add(&mut self, other: &LateCosts) {
        self.all = self.all.saturating_add(other.all);
        self.indirect = self.indirect.saturating_add(other.indirect);
        self.two_way = self.two_way.saturating_add(other.two_way);
    }

    /// Whether they are most of all costs, two fifths of them are indirect, and less than a fifth goes both ways.
    fn are_serial(&self, costs: Ticks) -> bool {
        let [all, indirect, two_way, costs] = [self.all, self.indirect, self.two_way, costs].map(i128::from);
        all > 0 && 2 * all >= costs && 5 * indirect >= 2 * all && 5 * two_way < all
    }
}

/// For each culprit whether ranks wait for it one after the other, the same at all workers.
///
/// # Errors
/// If a worker failed.
pub(super) fn find(
    paths: &ReportPaths,
    (work, late): (&[WorkOfRank], &[LateSend]),
    culprits: &[Culprit],
    exchange: &mut dyn Exchange,
) -> Result<Vec<bool>, Error> {
    // Of each rank what receivers of its late messages wait, and what of it goes both ways.
    let mut waits = BTreeMap::<i64, [Ticks; 2]>::new();
    for (rank, ticks, two_way) in late.iter().filter_map(LateSend::of_rank) {
        let [all, both] = waits.entry(rank).or_default();
        (*all, *both) = (all.saturating_add(ticks), both.saturating_add(two_way));
    }
    let mut place = vec![usize::MAX; paths.len()];
    culprits.iter().enumerate().for_each(|(at, culprit)| place[culprit.path.index()] = at);
    let mut own = vec![LateCosts::default(); culprits.len()];
    for of_rank in work {
        let waited = waits.get(&of_rank.rank.into()).copied().unwrap_or_default();
        for it in &of_rank.work {
            if let Some(costs) = own.get_mut(place[it.path.index()]) {
                let two_way = part(it.late, waited);
                costs.add(&LateCosts { all: it.late, indirect: it.indirect, two_way });
            }
        }
    }
    let mut words = Batch::new();
    own.iter().for_each(|costs| costs.put(&mut words));
    let mut all = vec![LateCosts::default(); culprits.len()];
    for batch in share(exchange, words)? {
        all.iter_mut().zip(wire::all::<LateCosts>(&batch)).for_each(|(sum, costs)| sum.add(&costs));
    }
    Ok(culprits.iter().zip(&all).map(|(culprit, costs)| costs.are_serial(culprit.sum.cost)).collect())
}

/// As much of a time as one is of another.
fn part(ticks: Ticks, [whole, part]: [Ticks; 2]) -> Ticks {
    let ticks = i128::from(ticks) * i128::from(part) / i128::from(whole.max(1));
    i64::try_from(ticks).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHAIN: LateCosts = LateCosts { all: 100, indirect: 50, two_way: 10 };

    #[test]
    fn costs_of_one_way_messages_at_ranks_that_wait_for_others_are_serial() {
        assert!(CHAIN.are_serial(120));
    }

    #[test]
    fn costs_of_others_or_both_ways_or_direct_ones_only_are_not() {
        assert!(!CHAIN.are_serial(220));
        assert!(!LateCosts { two_way: 20, ..CHAIN }.are_serial(120));
        assert!(!LateCosts { indirect: 30, ..CHAIN }.are_serial(120));
        assert!(!LateCosts::default().are_serial(0));
    }

    #[test]
    fn part_of_a_time_is_that_of_another() {
        assert_eq!([part(10, [100, 50]), part(10, [0, 0]), part(i64::MAX, [1, 1])], [5, 0, i64::MAX]);
    }
}
