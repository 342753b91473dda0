//! When a call path has more work than usual, or than on other ranks: in few long stretches, or more and more (advice 4.1, `noise` and `growing`).

use model::Ticks;
use rules::ABSENT;

use super::Known;
use super::bounds::Span;
use super::culprits::Culprit;
use super::names::words_alone;
use crate::error::Error;
use crate::exchange::{Batch, Exchange, share};
use crate::tools::Tools;
use crate::what_if::{RareWork, TENTHS};
use crate::wire::{self, Wire, wire};

/// Culprits that are looked at: those with most costs.
const LOOKED_AT: usize = 16;

/// The part of all time that a culprit costs others at least (advice 4.1): a hundredth.
const PART: i128 = 100;

/// When a culprit has its work. Of those that are not looked at nothing is known.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct When {
    /// The share of long stretches in all, and how many ranks have some.
    pub long_share: f64,
    pub long_ranks: u32,
    /// What long stretches are longer than usual ones, of all ranks.
    pub long_excess: Ticks,
    /// How long a stretch is, if all are as long as most of their kind; [`ABSENT`] without any.
    pub usual: Ticks,
    /// How often, of seven times, the rank with most of it has more above the mean in three tenths of the run than in those that begin one
    /// before, and how many times as much in the last tenth as in the first one.
    pub rises: u32,
    pub growth: f64,
}

impl Default for When {
    fn default() -> When {
        When {
            long_share: f64::NAN,
            long_ranks: 0,
            long_excess: 0,
            usual: ABSENT,
            rises: 0,
            growth: f64::NAN,
        }
    }
}

/// What a worker knows of a culprit.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    stretches: u64,
    long: u64,
    ranks: u64,
    excess: Ticks,
    usual: Ticks,
    /// By tenth of the run: the work of all ranks, and that of the rank with most.
    work: [Ticks; TENTHS],
    most: [Ticks; TENTHS],
}

wire!(Told { stretches, long, ranks, excess, usual, work, most });

/// For each culprit.
///
/// # Errors
/// If a worker failed.
#[expect(clippy::cast_precision_loss)]
pub(super) fn find(
    tools: &Tools<'_>,
    (known, span): (Known<'_>, Span),
    culprits: &[Culprit],
    exchange: &mut dyn Exchange,
) -> Result<Vec<When>, Error> {
    let costs_enough = |&at: &usize| i128::from(culprits[at].sum.cost) * PART >= span.all();
    let mut chosen: Vec<usize> = (0..culprits.len()).filter(costs_enough).collect();
    chosen.sort_by_key(|&at| (std::cmp::Reverse(culprits[at].sum.cost), culprits[at].path));
    chosen.truncate(LOOKED_AT);
    let mut told = vec![Told::default(); chosen.len()];
    let names: Vec<String> =
        chosen.iter().map(|&at| words_alone(tools, known.paths, culprits[at].path)).collect();
    let of_run = (span.begin, span.run);
    for (told, (rare, by_tenth)) in
        told.iter_mut().zip(known.timed.work_of(tools, known.processes, &names, of_run))
    {
        let RareWork { stretches, long, locations, excess, usual } = rare;
        *told = Told { stretches, long, ranks: locations, excess, usual, ..Told::default() };
        by_tenth.iter().for_each(|work| told.add_rank(work));
    }
    let mut words = Batch::new();
    told.iter().for_each(|told| told.put(&mut words));
    let mut all = vec![Told::default(); chosen.len()];
    for batch in share(exchange, words)? {
        for (sum, told) in all.iter_mut().zip(wire::all::<Told>(&batch)) {
            sum.add(&told);
        }
    }
    let mut found = vec![When::default(); culprits.len()];
    for (&at, sum) in chosen.iter().zip(&all) {
        // In few long stretches whoever works longest has all the work of the last tenths, and nothing grows.
        let more = if sum.stretches < TENTHS as u64 { [0; TENTHS] } else { sum.above_mean(span.ranks) };
        let [first, .., last] = more;
        found[at] = When {
            // Without any, 0 / 0 is no number.
            long_share: sum.long as f64 / sum.stretches as f64,
            long_ranks: u32::try_from(sum.ranks).unwrap_or(u32::MAX),
            long_excess: sum.excess,
            usual: i64::try_from(sum.stretches)
                .ok()
                .and_then(|all| sum.usual.checked_div(all))
                .unwrap_or(ABSENT),
            rises: rises(&more),
            growth: if last > 0 { last as f64 / first.max(1) as f64 } else { f64::NAN },
        };
    }
    Ok(found)
}

/// How often three tenths have more together than those that begin one before: a step of the program may be longer than a tenth, so that
/// single ones go up and down.
fn rises(tenths: &[Ticks; TENTHS]) -> u32 {
    let of_three: Vec<Ticks> = tenths.windows(3).map(|three| three.iter().sum()).collect();
    crate::int::to_u32(of_three.windows(2).filter(|two| two[1] > two[0]).count())
}

impl Told {
    fn add(&mut self, other: &Told) {
        self.stretches += other.stretches;
        self.long += other.long;
        self.ranks += other.ranks;
        self.excess = self.excess.saturating_add(other.excess);
        self.usual = self.usual.saturating_add(other.usual);
        self.add_work(&other.work, &other.most);
    }

    /// Adds the work of a rank by tenth.
    fn add_rank(&mut self, work: &[Ticks; TENTHS]) {
        self.add_work(work, work);
    }

    fn add_work(&mut self, work: &[Ticks; TENTHS], most: &[Ticks; TENTHS]) {
        for tenth in 0..TENTHS {
            self.work[tenth] = self.work[tenth].saturating_add(work[tenth]);
            self.most[tenth] = self.most[tenth].max(most[tenth]);
        }
    }

    /// What the rank with most has more than the mean of so many, by tenth.
    fn above_mean(&self, ranks: u64) -> [Ticks; TENTHS] {
        let ranks = i64::try_from(ranks).unwrap_or(i64::MAX).max(1);
        std::array::from_fn(|tenth| self.most[tenth] - self.work[tenth] / ranks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_longer_than_a_tenth_rise_all_the_same() {
        assert_eq!(rises(&[1, 5, 3, 8, 6, 11, 9, 14, 12, 17]), 7);
        assert_eq!(rises(&[5, 1, 5, 1, 5, 1, 5, 1, 5, 1]), 3);
    }

    #[test]
    fn what_the_rank_with_most_has_above_the_mean_is_that_of_all_workers() {
        let mut sum = Told::default();
        let work = |first: Ticks| std::array::from_fn(|tenth| if tenth == 0 { first } else { 0 });
        [work(10), work(2)].iter().for_each(|work| sum.add_rank(work));
        let mut other = Told::default();
        other.add_rank(&work(6));
        sum.add(&other);
        assert_eq!(sum.above_mean(3)[..2], [4, 0]);
    }
}
