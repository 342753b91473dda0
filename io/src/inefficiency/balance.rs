//! Ranks that take longer than others, or move more.

use std::collections::BTreeMap;

use super::families::OfFamily;
use super::{Flaw, Inefficiency, share_of};
use crate::numbers::to_f64;
use crate::phase::Phase;
use crate::thresholds::Thresholds;
use crate::time::Spread;

/// The rank that takes longest for similar phases of independent operations, if it takes much longer than the median. Only phases
/// count in which it is the slowest one, so that chance, which makes each rank the slowest now and then, adds little up.
pub(crate) fn straggler<'a>(
    phases: impl Iterator<Item = &'a Phase>,
    run: u64,
    limits: &Thresholds,
) -> Option<Inefficiency> {
    let independent = phases.filter(|phase| phase.key.pattern.iter().all(|it| !it.collective));
    // By rank: the first phase, and how long it takes there, and how much of that beyond the median.
    let mut slow: BTreeMap<u32, (&Phase, u64, u64)> = BTreeMap::new();
    for phase in independent {
        let spread = phase.spread;
        let (_, all, beyond) = slow.entry(spread.slowest).or_insert((phase, 0, 0));
        *all = all.saturating_add(spread.most);
        *beyond = beyond.saturating_add(spread.most.saturating_sub(spread.median));
    }
    let (rank, (phase, all, beyond)) = slow.into_iter().rev().max_by_key(|(_, (.., beyond))| *beyond)?;
    let cost = share_of(beyond, run);
    let is_told = to_f64(beyond) > limits.straggler_share * to_f64(all) && cost >= limits.cost;
    let found = || Inefficiency::new(Flaw::Straggler, &phase.key.family, (beyond, all), cost);
    is_told.then(|| Inefficiency { rank: Some(rank), call_path: Some(phase.call_path), ..found() })
}

/// The rank that moves most of a family of files, if that is much more than another one moves, and it takes longest for it. What is
/// collective is left out, as ranks wait for each other there.
pub(crate) fn unequal(name: &str, of: &OfFamily, run: u64, limits: &Thresholds) -> Option<Inefficiency> {
    let moving = || of.ranks.iter().filter(|(_, calls)| calls.independent_bytes > 0);
    let bytes = || moving().map(|(_, calls)| calls.independent_bytes);
    let (most, least) = bytes().max().zip(bytes().min())?;
    let times = moving().map(|(rank, calls)| (*rank, calls.independent_time));
    let Spread { slowest, most: longest, median } = Spread::of(times)?;
    let cost = share_of(longest.saturating_sub(median), run);
    let more = most.saturating_sub(least);
    let is_told = to_f64(more) > limits.unequal_share * to_f64(most)
        && of.ranks.get(&slowest).is_some_and(|calls| calls.independent_bytes == most)
        && cost >= limits.cost;
    let found = || Inefficiency::new(Flaw::UnequalAmounts, name, (more, most), cost);
    is_told.then(|| Inefficiency { rank: Some(slowest), ..found() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Operation;
    use crate::calls::Calls;
    use crate::files::Files;
    use crate::phase::phases;
    use crate::stream::{GAP, Stream};
    use crate::tests::write;

    /// A phase in which ranks write one request each, which takes so long.
    fn phase(times: &[u64], is_collective: bool) -> Phase {
        let of_rank = |(rank, time): (u32, &u64)| {
            let mut operation = Operation { end: *time, ..write(0, 0, 8) };
            operation.access.collective = is_collective;
            let mut stream = Stream::new(rank, 0, GAP);
            stream.push(operation);
            stream.finish()
        };
        let simple = (0..).zip(times).flat_map(of_rank).collect();
        let files = Files::new(vec!["f".to_owned()], &BTreeMap::new());
        phases(simple, &files).remove(0)
    }

    fn told(phases: &[Phase], run: u64) -> Option<(u32, u64, u64)> {
        let found = straggler(phases.iter(), run, &Thresholds::default())?;
        assert_eq!((found.flaw, found.call_path), (Flaw::Straggler, Some(0)));
        Some((found.rank?, found.concerned, found.of))
    }

    #[test]
    fn one_rank_is_told_that_takes_much_longer_than_the_median() {
        assert_eq!(told(&[phase(&[84, 100, 84, 84], false)], 1600), Some((1, 16, 100)));
        assert_eq!(told(&[phase(&[85, 100, 85, 85], false)], 1500), None, "not more than 15 %");
        assert_eq!(told(&[phase(&[84, 100, 84, 84], false)], 1601), None, "less than 1 % of the run");
        assert_eq!(told(&[phase(&[84, 100, 84, 84], true)], 1600), None, "waits for others");
        assert_eq!(told(&[phase(&[100], false)], 100), None);
    }

    #[test]
    fn similar_phases_count_by_the_rank_that_is_slow() {
        let often = phase(&[50, 50, 50, 90], false);
        let once = phase(&[120, 50, 50, 50], false);
        assert_eq!(told(&[often.clone(), once.clone(), often], 8000), Some((3, 80, 180)));
        assert_eq!(told(&[once], 7000), Some((0, 70, 120)));
    }

    #[test]
    fn unequal_amounts_are_told_if_the_slowest_rank_moves_most() {
        let told = |ranks: &[(u64, u64)], run| {
            let calls = |&(independent_bytes, independent_time): &(u64, u64)| Calls {
                independent_bytes,
                independent_time,
                ..Calls::default()
            };
            let family =
                OfFamily { ranks: (0..).zip(ranks.iter().map(calls)).collect(), ..OfFamily::default() };
            let found = unequal("f", &family, run, &Thresholds::default())?;
            Some((found.rank?, found.concerned, found.of))
        };
        let amounts = [(69, 10), (100, 26), (90, 10), (80, 10)];
        assert_eq!(told(&amounts, 1600), Some((1, 31, 100)));
        assert_eq!(told(&amounts, 1601), None, "less than 1 % of the run");
        assert_eq!(told(&[(70, 10), (100, 26), (90, 10)], 1600), None, "not more than 30 %");
        assert_eq!(told(&[(69, 26), (100, 10), (90, 10)], 1600), None, "another one is the slowest");
        // A rank that moves nothing has no part in it.
        assert_eq!(told(&[(0, 0), (100, 26), (90, 10)], 100), None);
        assert_eq!(told(&[(0, 0)], 100), None);
    }
}
