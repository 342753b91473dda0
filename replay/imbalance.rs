//! Computational imbalance: the difference of each participant's computation to the mean of all
//! (specification 16.4).
//!
//! Participants are the main threads of processes; in parallel regions all threads. Threads without events do
//! not count. The mean is a sum over all workers divided by the number of participants. Values are fractions
//! of ticks in fixed point, so that they do not depend on the order of additions.

use crate::error::Error;
use crate::exchange::batch::wide;
use crate::exchange::{Batch, Exchange, broadcast, reduce};
use crate::fraction::quotient;
use crate::ids::ReportPath;
use crate::int::low;
use crate::wire::{self, batch_of, wire};

/// A metric of the imbalance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ImbalancePart {
    /// Any difference to the mean.
    All,
    /// More than the mean.
    Above,
    /// More than the mean, and no other participant visits the call path.
    Single,
    /// Less than the mean.
    Below,
    /// Less than the mean, since the participant never visits the call path.
    Bypass,
    /// Less than the mean, since only one other participant ever visits the call path.
    Singularity,
}

impl ImbalancePart {
    /// All metrics.
    pub const ALL: [ImbalancePart; 6] = [
        ImbalancePart::All,
        ImbalancePart::Above,
        ImbalancePart::Single,
        ImbalancePart::Below,
        ImbalancePart::Bypass,
        ImbalancePart::Singularity,
    ];

    /// Returns the unique name of the metric.
    pub fn metric(self) -> &'static str {
        match self {
            ImbalancePart::All => "imbalance",
            ImbalancePart::Above => "imbalance_above",
            ImbalancePart::Single => "imbalance_above_single",
            ImbalancePart::Below => "imbalance_below",
            ImbalancePart::Bypass => "imbalance_below_bypass",
            ImbalancePart::Singularity => "imbalance_below_singularity",
        }
    }
}

/// The computation of one participant at a call path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Own {
    /// The call path of the report.
    pub path: ReportPath,
    /// Whether threads are compared there, not processes.
    pub is_parallel: bool,
    /// The participant's computation, in ticks.
    pub computation: i64,
    /// Whether the participant ever visits the call path.
    pub comes: bool,
}

/// The computation of all participants at a call path. The report may have very many call paths, so it is
/// small.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ComputationTotal {
    /// Their computation, in ticks: the low 64 of 96 bits; `high` has the others.
    low: u64,
    high: i32,
    /// The number of participants that visit the call path.
    visitors: u32,
}

wire!(ComputationTotal { low, [high, visitors] });

impl ComputationTotal {
    /// Adds the computation of one participant or several.
    pub fn add(&mut self, computation: i128, visitors: u32) {
        let sum = self.computation() + computation;
        let words = wide(sum.cast_unsigned());
        (self.low, self.high) = (words[1], low(words[0]).cast_signed());
        self.visitors = self.visitors.saturating_add(visitors);
    }

    /// Returns the computation of all participants together, in ticks.
    pub fn computation(&self) -> i128 {
        i128::from(self.high) << 64 | i128::from(self.low)
    }
}

/// The computation of all participants at all call paths.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// By call path of the report.
    pub paths: Vec<ComputationTotal>,
    /// Number of processes, and of threads.
    pub participants: [u64; 2],
}

wire!(Totals { participants, paths });

impl Totals {
    /// Returns the sums over all workers, on every worker.
    ///
    /// # Errors
    /// If a worker failed.
    pub fn of_all(self, exchange: &mut dyn Exchange) -> Result<Totals, Error> {
        let all = reduce(exchange, self, |all| batch_of([all]), |sum, words| sum.add(words))?;
        if exchange.worker() == 0 {
            let words = if exchange.workers() > 1 { batch_of([&all]) } else { Batch::new() };
            broadcast(exchange, words)?;
            return Ok(all);
        }
        drop(all);
        let mut all = Totals::default();
        all.add(&broadcast(exchange, Batch::new())?);
        Ok(all)
    }

    fn add(&mut self, words: &[u64]) {
        let Totals { participants, paths } = wire::one(words);
        self.participants.iter_mut().zip(participants).for_each(|(sum, count)| *sum += count);
        self.paths.resize(paths.len(), ComputationTotal::default());
        for (sum, other) in self.paths.iter_mut().zip(paths) {
            sum.add(other.computation(), other.visitors);
        }
    }

    /// Returns the difference of a participant to the mean, in fixed point.
    pub fn value(&self, own: Own) -> i128 {
        let (difference, count) = (self.above(own).abs(), self.count(own.is_parallel));
        if difference == 0 {
            return 0;
        }
        quotient(difference, count)
    }

    /// Returns the metrics to which a participant's difference to the mean belongs; it is zero in all others.
    #[inline]
    pub fn parts(&self, own: Own) -> impl Iterator<Item = ImbalancePart> {
        let above = self.above(own).signum();
        let is_alone = self.paths[own.path.index()].visitors == 1;
        ImbalancePart::ALL.into_iter().filter(move |part| match part {
            ImbalancePart::All => above != 0,
            ImbalancePart::Above => above > 0,
            ImbalancePart::Single => above > 0 && is_alone && own.comes,
            ImbalancePart::Below => above < 0,
            ImbalancePart::Bypass => above < 0 && !own.comes,
            ImbalancePart::Singularity => above < 0 && is_alone && !own.comes,
        })
    }

    /// Returns the difference of a participant to the mean, in ticks times the number of participants; below
    /// the mean it is negative.
    #[inline]
    fn above(&self, own: Own) -> i128 {
        i128::from(own.computation) * self.count(own.is_parallel) - self.paths[own.path.index()].computation()
    }

    /// Returns the number of participants: threads where threads are compared, else processes.
    fn count(&self, is_parallel: bool) -> i128 {
        i128::from(self.participants[usize::from(is_parallel)]).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fraction::FRACTION;

    fn total(computation: i128, visitors: u32) -> ComputationTotal {
        let mut total = ComputationTotal::default();
        total.add(computation, visitors);
        total
    }

    fn own(computation: i64, comes: bool) -> Own {
        Own { path: ReportPath::default(), is_parallel: false, computation, comes }
    }

    /// Three processes that compute 4, 0 and 0 ticks; only the first comes there.
    fn totals() -> Totals {
        Totals { paths: vec![total(4, 1)], participants: [3, 6] }
    }

    /// A number of thirds in fixed point.
    fn thirds(count: i128) -> i128 {
        ((count / 3) << FRACTION) + ((count % 3) << FRACTION) / 3
    }

    #[test]
    fn difference_to_the_mean_keeps_fractions_of_ticks() {
        let value = |part, computation, comes| {
            let own = own(computation, comes);
            totals().parts(own).find(|&of| of == part).map_or(0, |_| totals().value(own))
        };
        assert_eq!(
            (value(ImbalancePart::All, 4, true), value(ImbalancePart::All, 0, false)),
            (thirds(8), thirds(4))
        );
        assert_eq!(
            (value(ImbalancePart::Above, 4, true), value(ImbalancePart::Below, 4, true)),
            (thirds(8), 0)
        );
        assert_eq!(
            (value(ImbalancePart::Above, 0, false), value(ImbalancePart::Below, 0, false)),
            (0, thirds(4))
        );
    }

    #[test]
    fn where_only_one_comes_it_is_single_and_the_others_are_missing() {
        let value = |part, computation, comes| {
            let own = own(computation, comes);
            totals().parts(own).find(|&of| of == part).map_or(0, |_| totals().value(own))
        };
        assert_eq!(
            (value(ImbalancePart::Single, 4, true), value(ImbalancePart::Single, 0, false)),
            (thirds(8), 0)
        );
        assert_eq!(
            (value(ImbalancePart::Bypass, 0, false), value(ImbalancePart::Singularity, 0, false)),
            (thirds(4), thirds(4))
        );
        assert_eq!(
            (value(ImbalancePart::Bypass, 0, true), value(ImbalancePart::Singularity, 0, true)),
            (0, 0)
        );
    }

    #[test]
    fn absurd_times_overflow_nothing() {
        let sum = total(i128::from(i64::MIN) * 1_000_000, 2);
        let totals = Totals { paths: vec![sum], participants: [1_000_000, 1] };
        assert!(totals.value(own(i64::MAX, true)) > 0);
    }

    #[test]
    fn sums_survive_the_way_to_another_worker() {
        let own = Totals { paths: vec![total(-5, 2)], participants: [1, 2] };
        let mut sum = own.clone();
        sum.add(&batch_of([&own]));
        assert_eq!(sum.paths, [total(-10, 4)]);
        assert_eq!(sum.participants, [2, 4]);
    }
}
