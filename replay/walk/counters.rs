//! Counters of the processor: instructions and cycles of the main thread by row, where the trace has them (what-if 5.3).

use model::{Counting, CountsSince, Definitions};
use otf2::{List, MetricValue, ValueType};

use super::process::ProcessWalk;
use super::thread::Thread;
use crate::ids::Row;

/// Names of the counters that are read, of PAPI and of perf: instructions, cycles.
pub(super) const NAMES: [[&str; 2]; 2] = [["PAPI_TOT_INS", "instructions"], ["PAPI_TOT_CYC", "cycles"]];

/// What they must count.
const COUNTING: Counting = Counting { since: CountsSince::Begin, exponent: 0 };

/// Instructions and cycles.
pub(super) type Counts = [u64; 2];

/// Where counters are among the values of each metric class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KnownCounters {
    /// By position of the class.
    places: Vec<[Option<usize>; 2]>,
}

impl KnownCounters {
    /// Returns those that a trace defines; `None` if it has none that is recorded at each enter and leave.
    pub fn find(definitions: &Definitions) -> Option<KnownCounters> {
        let place = |members: &[Option<usize>], names: [&str; 2]| {
            members.iter().position(|member| {
                let member = member.and_then(|at| definitions.metric_members.get(at));
                member.is_some_and(|member| {
                    names.contains(&member.name.as_str()) && member.counts() == Some(COUNTING)
                })
            })
        };
        let places = definitions.metric_classes.iter().map(|class| match class.is_strict {
            true => NAMES.map(|names| place(&class.members, names)),
            false => [None; 2],
        });
        let places: Vec<[Option<usize>; 2]> = places.collect();
        places.iter().flatten().any(Option::is_some).then_some(KnownCounters { places })
    }
}

/// What the counters of a thread have counted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Counters {
    /// The last value of each.
    last: [Option<u64>; 2],
    /// Whether it has gone back, so that nothing is known.
    is_broken: [bool; 2],
    /// By row.
    rows: Vec<Counts>,
    /// Outside of all regions.
    outside: Counts,
}

impl Counters {
    /// Takes the value of a counter at an event in front of which this row was the innermost.
    fn take(&mut self, counter: usize, value: u64, row: Option<Row>) {
        let Some(last) = self.last[counter].replace(value) else { return };
        let Some(increase) = value.checked_sub(last) else {
            self.is_broken[counter] = true;
            return;
        };
        let counts = match row {
            Some(row) => {
                if row.index() >= self.rows.len() {
                    self.rows.resize(row.index() + 1, Counts::default());
                }
                &mut self.rows[row.index()]
            }
            None => &mut self.outside,
        };
        counts[counter] = counts[counter].saturating_add(increase);
    }

    /// What has been counted since an earlier state of the same thread outside of regions, and in those rows that count; `None` if a
    /// counter had no value then, or is not known.
    pub(super) fn since(
        &self,
        before: Option<&Counters>,
        counts: impl Fn(usize) -> bool,
    ) -> [Option<u64>; 2] {
        std::array::from_fn(|counter| {
            let had_begun = before.is_none_or(|before| before.last[counter].is_some());
            let is_known = had_begun && self.last[counter].is_some() && !self.is_broken[counter];
            let earlier = |row: usize| {
                before.and_then(|before| before.rows.get(row)).map_or(0, |counts| counts[counter])
            };
            let rows = self.rows.iter().enumerate().filter(|&(row, _)| counts(row));
            let outside = before.map_or(0, |before| before.outside[counter]);
            let sum = rows.fold(self.outside[counter].saturating_sub(outside), |sum, (row, now)| {
                sum.saturating_add(now[counter].saturating_sub(earlier(row)))
            });
            is_known.then_some(sum)
        })
    }
}

impl ProcessWalk<'_> {
    /// Takes the values of a class of metrics, by its position, of the main thread.
    pub(super) fn take_metrics(&mut self, thread: usize, class: usize, values: List<'_, MetricValue, u8>) {
        let Some(known) = self.trace.counters.as_ref().filter(|_| thread == 0) else { return };
        let places = known.places[class];
        if places.iter().all(Option::is_none) {
            return;
        }
        let Thread { stack, .. } = &self.threads[thread];
        let row = stack.last().map(|frame| frame.row);
        let counters = self.main.counters.get_or_insert_default();
        for (at, value) in values.iter().enumerate() {
            let counter = places.iter().position(|&place| place == Some(at));
            if let Some(counter) =
                counter.filter(|_| matches!(value.kind, ValueType::UINT64 | ValueType::INT64))
            {
                counters.take(counter, value.bits, row);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn increase_is_of_the_row_that_was_the_innermost_before() {
        let mut counters = Counters::default();
        let (work, call) = (Row::new(0), Row::new(1));
        counters.take(0, 100, None);
        counters.take(0, 110, Some(work));
        let before = counters.clone();
        counters.take(0, 130, Some(call));
        counters.take(0, 175, Some(work));
        counters.take(0, 176, None);
        assert_eq!(counters.since(None, |_| true), [Some(76), None]);
        // The one outside of all regions counts as work.
        assert_eq!(counters.since(Some(&before), |row| row == 0), [Some(46), None]);
    }

    #[test]
    fn counter_that_goes_back_or_has_no_value_at_the_begin_is_not_known() {
        let mut counters = Counters::default();
        let before = counters.clone();
        counters.take(0, 100, None);
        counters.take(1, 100, None);
        counters.take(1, 99, None);
        assert_eq!(counters.since(None, |_| true), [Some(0), None]);
        assert_eq!(counters.since(Some(&before), |_| true), [None, None]);
    }
}
