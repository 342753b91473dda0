//! Computational imbalance: how far the computation of each participant is from the mean of all (specification 16.4).
//!
//! Participants are the processes, by their main threads; in parallel regions all threads. Threads without events are none.
//! The mean is a sum over all workers divided by the number of participants: values are fractions of ticks in fixed point,
//! so that they do not depend on who adds up what.

use crate::error::Error;
use crate::exchange::batch::wide;
use crate::exchange::{Batch, Exchange, broadcast, reduce};
use crate::fraction::FRACTION;
use crate::int::low;
use crate::wire::{self, batch_of, wire};

/// A metric of the imbalance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// Any difference to the mean.
    All,
    /// More than the mean.
    Above,
    /// More than the mean, and nobody else comes there.
    Single,
    /// Less than the mean.
    Below,
    /// Less than the mean, for the participant never comes there.
    Bypass,
    /// Less than the mean, for only one other participant ever comes there.
    Singularity,
}

impl Part {
    /// All metrics.
    pub const ALL: [Part; 6] =
        [Part::All, Part::Above, Part::Single, Part::Below, Part::Bypass, Part::Singularity];

    /// The unique name.
    pub fn metric(self) -> &'static str {
        match self {
            Part::All => "imbalance",
            Part::Above => "imbalance_above",
            Part::Single => "imbalance_above_single",
            Part::Below => "imbalance_below",
            Part::Bypass => "imbalance_below_bypass",
            Part::Singularity => "imbalance_below_singularity",
        }
    }
}

/// What one participant did at a call path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Own {
    /// The call path of the report.
    pub path: u32,
    /// Whether threads are compared there, not processes.
    pub is_parallel: bool,
    /// The participant's computation, in ticks.
    pub computation: i64,
    /// Whether it ever comes there.
    pub comes: bool,
}

/// What participants did at a call path. There is one for each call path of the report, so it is kept small.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Total {
    /// Their computation, in ticks: the low 64 bits of 96, and the high ones.
    low: u64,
    high: i32,
    /// How many of them came there.
    visitors: u32,
}

wire!(Total { low, [high, visitors] });

impl Total {
    /// Adds what one participant, or several, did.
    pub fn add(&mut self, computation: i128, visitors: u32) {
        let sum = self.computation() + computation;
        let words = wide(sum.cast_unsigned());
        (self.low, self.high) = (words[1], low(words[0]).cast_signed());
        self.visitors = self.visitors.saturating_add(visitors);
    }

    /// Their computation together, in ticks.
    pub fn computation(&self) -> i128 {
        i128::from(self.high) << 64 | i128::from(self.low)
    }
}

/// What all participants did.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// By call path of the report.
    pub paths: Vec<Total>,
    /// Number of processes, and of threads.
    pub participants: [u64; 2],
}

wire!(Totals { participants, paths });

impl Totals {
    /// The sums of all workers, on every worker.
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
        self.paths.resize(paths.len(), Total::default());
        for (sum, other) in self.paths.iter_mut().zip(paths) {
            sum.add(other.computation(), other.visitors);
        }
    }

    /// How far a participant is from the mean, in fixed point.
    pub fn value(&self, own: Own) -> i128 {
        let (difference, count) = (self.above(own).abs(), self.count(own.is_parallel));
        if difference == 0 {
            return 0;
        }
        let (ticks, rest) = (difference / count, difference % count);
        // No sum of times is that long, whatever a trace claims.
        (ticks.min(i128::from(i64::MAX) >> 1) << FRACTION) + (rest << FRACTION) / count
    }

    /// Which metrics have a participant's difference to the mean; all others have nothing of it.
    #[inline]
    pub fn parts(&self, own: Own) -> impl Iterator<Item = Part> {
        let above = self.above(own).signum();
        let is_alone = self.paths[own.path as usize].visitors == 1;
        Part::ALL.into_iter().filter(move |part| match part {
            Part::All => above != 0,
            Part::Above => above > 0,
            Part::Single => above > 0 && is_alone && own.comes,
            Part::Below => above < 0,
            Part::Bypass => above < 0 && !own.comes,
            Part::Singularity => above < 0 && is_alone && !own.comes,
        })
    }

    /// How much more than the mean a participant does, in ticks times the number of participants.
    #[inline]
    fn above(&self, own: Own) -> i128 {
        i128::from(own.computation) * self.count(own.is_parallel)
            - self.paths[own.path as usize].computation()
    }

    /// The number of participants where threads are compared, or processes.
    fn count(&self, is_parallel: bool) -> i128 {
        i128::from(self.participants[usize::from(is_parallel)]).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(computation: i128, visitors: u32) -> Total {
        let mut total = Total::default();
        total.add(computation, visitors);
        total
    }

    fn own(computation: i64, comes: bool) -> Own {
        Own { path: 0, is_parallel: false, computation, comes }
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
        assert_eq!((value(Part::All, 4, true), value(Part::All, 0, false)), (thirds(8), thirds(4)));
        assert_eq!((value(Part::Above, 4, true), value(Part::Below, 4, true)), (thirds(8), 0));
        assert_eq!((value(Part::Above, 0, false), value(Part::Below, 0, false)), (0, thirds(4)));
    }

    #[test]
    fn where_only_one_comes_it_is_single_and_the_others_are_missing() {
        let value = |part, computation, comes| {
            let own = own(computation, comes);
            totals().parts(own).find(|&of| of == part).map_or(0, |_| totals().value(own))
        };
        assert_eq!((value(Part::Single, 4, true), value(Part::Single, 0, false)), (thirds(8), 0));
        assert_eq!(
            (value(Part::Bypass, 0, false), value(Part::Singularity, 0, false)),
            (thirds(4), thirds(4))
        );
        assert_eq!((value(Part::Bypass, 0, true), value(Part::Singularity, 0, true)), (0, 0));
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
