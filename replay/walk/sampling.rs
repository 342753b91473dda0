//! Accounting of time by samples.
//!
//! The time before a sample belongs to its path. Where records are denser than samples, most intervals
//! between two of them have no sample; such time is shared in proportion to the samples between the same two
//! records at other times.

use model::Ticks;
use rustc_hash::FxHashMap;

use crate::ids::Row;

/// Minimum number of samples between two records for sharing time by them: the row of a single one is
/// arbitrary.
const ENOUGH: u64 = 2;

/// Samples from which the time of a thread in a function can be compared with that of others: of a random number of 25 the standard
/// deviation is a fifth.
pub const COMPARABLE: u64 = 25;

/// The samples of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sampled {
    /// Number of samples taken there.
    pub samples: u64,
    /// Ticks without any sample that are too long for a thread that computes: it had given the processor
    /// away, or lost it.
    pub away: Ticks,
}

/// A record that enters or leaves a region: the row of the region, and whether it is left.
pub(super) type Record = (Row, bool);

/// The share of a row in the time between two records.
#[derive(Clone, Copy, Debug)]
struct Share {
    row: Row,
    samples: u64,
    /// Ticks accounted to it.
    given: Ticks,
}

/// The samples of a thread.
#[derive(Debug)]
pub(super) struct ThreadSamples {
    /// By row.
    pub(super) by_row: Vec<Sampled>,
    /// The time of the last sample, unless a region has been entered or left since.
    pub(super) last: Ticks,
    /// The last record that entered or left a region.
    since: Option<Record>,
    /// The shares since then.
    current: Vec<Share>,
    /// The shares between two records, over all times that they followed each other.
    between: FxHashMap<(Record, Record), Vec<Share>>,
}

impl Default for ThreadSamples {
    fn default() -> ThreadSamples {
        let (by_row, current, between) = (Vec::new(), Vec::new(), FxHashMap::default());
        ThreadSamples { by_row, last: Ticks::MIN, since: None, current, between }
    }
}

impl ThreadSamples {
    /// Notes a sample in a row; `counts` says whether it counts there.
    pub(super) fn count(&mut self, row: Row, time: Ticks, counts: bool) {
        self.last = time;
        self.of_row(row).samples += u64::from(counts);
        share_of(&mut self.current, row).samples += 1;
    }

    /// Adds ticks that are accounted to a row because of a sample.
    pub(super) fn give(&mut self, row: Row, ticks: Ticks) {
        let given = &mut share_of(&mut self.current, row).given;
        *given = given.saturating_add(ticks);
    }

    /// Adds ticks in which the thread did not compute to a row.
    pub(super) fn add_away(&mut self, row: Row, ticks: Ticks) {
        let away = &mut self.of_row(row).away;
        *away = away.saturating_add(ticks);
    }

    /// Returns the row of the ticks without a sample before a record; `None` if too little is known. It is
    /// the row that lacks most of its share.
    pub(super) fn row_between(&mut self, until: Record, ticks: Ticks) -> Option<Row> {
        if !self.current.is_empty() {
            return None;
        }
        let shares = self.between.get_mut(&(self.since?, until))?;
        let samples: u64 = shares.iter().map(|share| share.samples).sum();
        if samples < ENOUGH {
            return None;
        }
        let all = shares.iter().fold(ticks, |sum, share| sum.saturating_add(share.given));
        let lacks = |share: &Share| {
            i128::from(share.samples) * i128::from(all) - i128::from(share.given) * i128::from(samples)
        };
        // The first of equals.
        let share = shares.iter_mut().rev().max_by_key(|share| lacks(share))?;
        share.given = share.given.saturating_add(ticks);
        Some(share.row)
    }

    /// Ends an interval, because a region is entered or left, by a record if one is known: the samples so far
    /// are between this record and the previous one.
    pub(super) fn end(&mut self, record: Option<Record>) {
        self.last = Ticks::MIN;
        let Some(record) = record else { return };
        if !self.current.is_empty()
            && let Some(since) = self.since
        {
            let shares = self.between.entry((since, record)).or_default();
            for Share { row, samples, given } in self.current.drain(..) {
                let share = share_of(shares, row);
                share.samples += samples;
                share.given = share.given.saturating_add(given);
            }
        }
        self.current.clear();
        self.since = Some(record);
    }

    fn of_row(&mut self, row: Row) -> &mut Sampled {
        let at = row.index();
        if at >= self.by_row.len() {
            self.by_row.resize(at + 1, Sampled::default());
        }
        &mut self.by_row[at]
    }
}

fn share_of(shares: &mut Vec<Share>, row: Row) -> &mut Share {
    let at = shares.iter().position(|share| share.row == row).unwrap_or_else(|| {
        shares.push(Share { row, samples: 0, given: 0 });
        shares.len() - 1
    });
    &mut shares[at]
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Record = (Row::new(1), true);
    const B: Record = (Row::new(2), false);

    /// Returns the samples of intervals between two records, some with a sample in a row.
    fn with_samples(rows: &[usize]) -> ThreadSamples {
        let mut samples = ThreadSamples::default();
        samples.end(Some(A));
        for row in rows.iter().map(|&row| Row::new(row)) {
            samples.give(row, 10);
            samples.count(row, 0, true);
            samples.end(Some(B));
            samples.end(Some(A));
        }
        samples
    }

    #[test]
    fn times_without_samples_are_shared_as_samples_are_between_the_same_records() {
        let mut samples = with_samples(&[7, 7, 9, 7]);
        let rows: Vec<Row> = (0..8).map(|_| samples.row_between(B, 10).unwrap()).collect();
        assert_eq!(rows.iter().filter(|row| row.index() == 7).count(), 6, "{rows:?}");
        assert_eq!(samples.row_between(A, 10), None);
        assert_eq!(samples.by_row[7].samples, 3);
    }

    #[test]
    fn one_sample_says_nothing_of_other_times_nor_do_those_of_this_one() {
        let mut samples = with_samples(&[7]);
        assert_eq!(samples.row_between(B, 10), None);
        let mut samples = with_samples(&[7, 7]);
        samples.count(Row::new(9), 0, true);
        assert_eq!(samples.row_between(B, 10), None);
    }
}
