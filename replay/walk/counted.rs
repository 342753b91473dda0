//! Counters of a trace in its report (site.md, 5.2): what each has counted by call path and location. What has been counted between two
//! events of a thread is of the call path where the thread was meanwhile, as its time is.

use model::off_cpu::MEMBERS;
use model::{CountsSince, Definitions, Ticks};
use otf2::{List, MetricValue, ValueType};
use patterns::{Metric, Source, Unit};
use rustc_hash::FxHashMap;

use super::counters::NAMES;
use super::process::ProcessWalk;
use super::trace_metrics::{id_of, number, places};
use crate::findings::Finding;
use crate::int::truncated;
use crate::kept::kept;
use crate::severity::amount;

/// How many there are at most; reports have no more of a trace's.
const MOST: usize = 256;

/// The powers of ten that are known of units.
const EXPONENTS: std::ops::RangeInclusive<i8> = -18..=18;

/// A value of a counter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Place {
    /// Its position among those of the trace.
    counter: usize,
    since: CountsSince,
}

/// The counters that a trace defines.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReportedCounters {
    /// Names, units, and the powers of ten of these.
    list: Vec<(String, String, i8)>,
    /// By position of the class, in the order of values.
    places: Vec<Vec<Option<Place>>>,
}

impl ReportedCounters {
    /// Returns those that a trace defines; `None` if it has none. Metrics of the same name and unit are one.
    pub fn find(definitions: &Definitions) -> Option<ReportedCounters> {
        let mut list: Vec<(String, String, i8)> = Vec::new();
        let places = places(definitions, |member| {
            let counts = member.counts()?;
            let exponent = i8::try_from(counts.exponent).ok().filter(|it| EXPONENTS.contains(it))?;
            // These have metrics of their own.
            if member.name.is_empty() || MEMBERS.iter().any(|known| known.name == member.name) {
                return None;
            }
            let counter = (member.name.clone(), member.unit.clone(), exponent);
            Some(Place { counter: number(&mut list, counter, MOST)?, since: counts.since })
        });
        (!list.is_empty()).then_some(ReportedCounters { list, places })
    }

    /// Returns which of them are instructions, and cycles.
    pub fn instructions_and_cycles(&self) -> [Option<usize>; 2] {
        NAMES.map(|names| {
            let is_one = |(name, unit, exponent): &(String, String, i8)| {
                names.contains(&name.as_str()) && matches!((unit.as_str(), exponent), ("#" | "", 0))
            };
            self.list.iter().position(is_one)
        })
    }

    /// Returns their metrics, roots of the tree, whose unique names differ from `others`.
    pub fn metrics(&self, others: &[Metric]) -> Vec<Metric> {
        let mut metrics: Vec<Metric> = Vec::new();
        for (name, unit, exponent) in &self.list {
            let id = id_of(name, |id| others.iter().chain(&metrics).any(|other| other.id == id));
            let unit = match (unit.as_str(), exponent) {
                ("#" | "", 0) => Unit::Occurrences,
                ("B" | "byte" | "bytes" | "Bytes", 0) => Unit::Bytes,
                ("s" | "sec", exponent) => Unit::Scaled { name: "sec", exponent: *exponent },
                (name, exponent) => Unit::Scaled { name: kept(name), exponent: *exponent },
            };
            let about = "As the trace has it: what has been counted while the thread was there.";
            metrics.push(Metric::root(kept(&id), kept(name), unit, Source::Measured, about));
        }
        metrics
    }
}

/// Returns what a value counts, a real number in millionths; `None` for one that counts nothing.
fn count(value: MetricValue) -> Option<u64> {
    match value.kind {
        ValueType::UINT64 | ValueType::INT64 => Some(value.bits),
        ValueType::DOUBLE => {
            let count = f64::from_bits(value.bits) * 1e6;
            (count >= 0.0).then(|| truncated(count.round()).unsigned_abs())
        }
        _ => None,
    }
}

/// The last values of the counters of a thread that count since its begin, by class and place.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct LastValues(FxHashMap<(usize, usize), u64>);

impl LastValues {
    /// Sets the value at a place; returns the one before, if there was one.
    fn replace(&mut self, at: (usize, usize), value: u64) -> Option<u64> {
        self.0.insert(at, value)
    }

    /// Forgets all: what is counted until the next values is of a time that is not recorded.
    pub(super) fn forget(&mut self) {
        self.0.clear();
    }
}

impl ProcessWalk<'_> {
    /// Takes values of a class of metrics, by its position: counters of a thread at the event that comes next.
    pub(super) fn take_counted(&mut self, thread: usize, class: usize, values: List<'_, MetricValue, u8>) {
        let (Some(known), Some(metrics)) = (&self.trace.reported_counters, &self.metrics.counters) else {
            return;
        };
        let row = self.recorded_row_before(thread);
        let state = &mut self.threads[thread];
        let mut goes_back = None;
        for (at, (value, place)) in values.iter().zip(&known.places[class]).enumerate() {
            let Some((Place { counter, since }, count)) = place.zip(count(value)) else { continue };
            let counted = match since {
                CountsSince::ValueBefore => count,
                CountsSince::Begin => {
                    let last = state.last_values.get_or_insert_default().replace((class, at), count);
                    let Some(last) = last else { continue };
                    let Some(counted) = count.checked_sub(last) else {
                        goes_back = Some(counter);
                        continue;
                    };
                    counted
                }
            };
            if let Some(row) = row {
                state.charge(metrics[counter], row, amount(counted));
            }
        }
        if let Some(counter) = goes_back {
            self.find(Finding::BackwardCounter, thread, || format!("{} goes back", known.list[counter].0));
        }
    }

    /// Finds threads without values of counters that count since the begin, where another thread of the process has some.
    pub(super) fn check_counters(&mut self) {
        let is_thread = |&thread: &usize| self.trace.locations[self.location(thread)].is_thread();
        let threads: Vec<usize> = (0..self.threads.len()).filter(is_thread).collect();
        let has_values = |thread: usize| self.threads[thread].last_values.is_some();
        if !threads.iter().any(|&thread| has_values(thread)) {
            return;
        }
        let are_without = |&thread: &usize| self.threads[thread].begin != Ticks::MIN && !has_values(thread);
        for thread in threads.iter().copied().filter(are_without).collect::<Vec<_>>() {
            self.find(Finding::WithoutCounters, thread, || "no values of counters");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::trace_metrics::tests::definitions;
    use super::*;
    use model::{Counting, MetricValues};

    fn counting(exponent: i64) -> MetricValues {
        MetricValues::Counts(Counting { since: CountsSince::Begin, exponent })
    }

    #[test]
    fn metrics_have_names_and_units_of_the_trace_and_differ_from_others() {
        let members = [
            ("PAPI_TOT_INS", "#", counting(0)),
            ("task-clock", "s", counting(-9)),
            ("time", "#", counting(0)),
            ("off_cpu_blocked", "s", counting(-9)),
            ("rate", "1/s", MetricValues::Others),
            ("tiny", "m", counting(-19)),
        ];
        let known = ReportedCounters::find(&definitions(&members, true)).unwrap();
        assert!(known.places[0][3..].iter().all(Option::is_none));
        let time = Metric::root("time", "Time", Unit::Seconds, Source::Measured, "");
        let metrics = known.metrics(&[time]);
        let found: Vec<_> = metrics.iter().map(|metric| (metric.id, metric.name, metric.unit)).collect();
        let seconds = Unit::Scaled { name: "sec", exponent: -9 };
        assert_eq!(
            found,
            [
                ("PAPI_TOT_INS", "PAPI_TOT_INS", Unit::Occurrences),
                ("task_clock", "task-clock", seconds),
                ("time_counter", "time", Unit::Occurrences)
            ]
        );
        assert_eq!(known.instructions_and_cycles(), [Some(0), None]);
    }

    #[test]
    fn metrics_of_other_sources_than_threads_are_not_read() {
        assert_eq!(ReportedCounters::find(&definitions(&[("power", "W", counting(0))], false)), None);
    }

    #[test]
    fn real_numbers_count_in_millionths() {
        let of = |value: f64| count(MetricValue { kind: ValueType::DOUBLE, bits: value.to_bits() });
        assert_eq!([of(0.25), of(2e-7), of(1e30)], [Some(250_000), Some(0), Some(i64::MAX.unsigned_abs())]);
        assert_eq!(
            [of(-1.0), of(f64::NAN), count(MetricValue { kind: ValueType::FLOAT, bits: 1 })],
            [None; 3]
        );
        assert_eq!(count(MetricValue { kind: ValueType::INT64, bits: 7 }), Some(7));
    }

    #[test]
    fn value_behind_a_gap_is_a_new_begin() {
        let mut last = LastValues::default();
        assert_eq!(last.replace((0, 1), 5), None);
        assert_eq!(last.replace((0, 1), 9), Some(5));
        last.forget();
        assert_eq!(last.replace((0, 1), 20), None);
    }
}
