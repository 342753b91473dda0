//! States of a trace in its report, such as a frequency or the memory in use (site.md, 5.2): which values each had at most, at least, and
//! on average, by call path and location. A value is of the call path to which the time goes that it holds in.

use model::{Definitions, MetricValues, State, Ticks};
use otf2::{List, MetricValue, ValueType};
use patterns::{Metric, Source, StateNumber, Unit};
use rustc_hash::FxHashMap;

use super::process::ProcessWalk;
use super::thread::Thread;
use super::trace_metrics::{id_of, number, places};
use crate::ids::Row;
use crate::kept::kept;
use crate::metrics::IPC;
use crate::severity::{StateMetrics, StateNumbers};

/// How many there are at most.
const MOST: usize = 64;

/// The exponent up to which each power of ten is a number.
const LARGEST_POWER: u32 = 308;

/// The end of the unique name of a mean.
pub const MEAN: &str = "_mean";

/// A value of a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Place {
    /// The position of the state among those of the trace.
    state: usize,
    values: State,
}

/// The states that a trace defines.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReportedStates {
    /// Names and units.
    list: Vec<(String, String)>,
    /// By position of the class, in the order of values.
    places: Vec<Vec<Option<Place>>>,
}

impl ReportedStates {
    /// Returns those that a trace defines; `None` if it has none. Metrics of the same name and unit are one.
    pub fn find(definitions: &Definitions) -> Option<ReportedStates> {
        let mut list: Vec<(String, String)> = Vec::new();
        let places = places(definitions, |member| {
            let MetricValues::States(values) = member.values else { return None };
            if member.name.is_empty() {
                return None;
            }
            let state = (member.name.clone(), member.unit.clone());
            Some(Place { state: number(&mut list, state, MOST)?, values })
        });
        (!list.is_empty()).then_some(ReportedStates { list, places })
    }

    /// Adds their metrics to all others, as roots of the tree; returns their numbers.
    pub fn add_metrics(&self, all: &mut Vec<Metric>) -> Vec<StateMetrics> {
        // Those of means, which readers of reports work out, come behind all others.
        let mut means: Vec<String> = Vec::new();
        let numbers = self.list.iter().map(|(name, unit)| {
            let unit = match unit.as_str() {
                "#" | "" => "occ",
                "B" | "byte" | "bytes" | "Bytes" => "bytes",
                "s" | "sec" => "sec",
                other => kept(other),
            };
            let names =
                |id: &str| ["", "_min", "_sum", "_values", MEAN].map(|number| format!("{id}{number}"));
            let id = id_of(name, |id| {
                let is_known = |name: &String| {
                    *name == IPC || means.contains(name) || all.iter().any(|other| other.id == name)
                };
                names(id).iter().any(is_known)
            });
            let mut add = |id: String, name: String, unit, number, about| {
                let unit = Unit::State { name: unit, number };
                all.push(Metric::root(kept(&id), kept(&name), unit, Source::Measured, about));
                all.len() - 1
            };
            let [id, min, sum, values, mean] = names(&id);
            means.push(mean);
            let part = StateNumber::PartOfMean;
            StateMetrics {
                maximum: add(
                    id,
                    name.clone(),
                    unit,
                    StateNumber::Maximum,
                    "The largest value that the trace has of it while the thread was there.",
                ),
                minimum: add(
                    min,
                    format!("{name} (minimum)"),
                    unit,
                    StateNumber::Minimum,
                    "The smallest value that the trace has of it while the thread was there.",
                ),
                sum: add(sum, format!("{name} (sum)"), unit, part, "The sum of values, for their mean."),
                values: add(values, format!("{name} (values)"), "occ", part, "The number of values."),
            }
        });
        numbers.collect()
    }
}

/// Returns a value in its unit; `None` if it is no number.
fn value(of: MetricValue, State { base, exponent, .. }: State) -> Option<f64> {
    let value = match of.kind {
        ValueType::UINT64 => of.bits as f64,
        ValueType::INT64 => of.bits.cast_signed() as f64,
        ValueType::DOUBLE => f64::from_bits(of.bits),
        _ => return None,
    };
    let exponent = i32::try_from(exponent).ok()?;
    let by_power = |value: f64, exponent: i32| {
        let power = f64::from(base).powi(exponent.checked_abs()?);
        Some(if exponent < 0 { value / power } else { value * power })
    };
    // In two halves where the power alone is beyond all numbers: rounded once more.
    let value = match exponent.unsigned_abs() <= LARGEST_POWER {
        true => by_power(value, exponent)?,
        false => by_power(by_power(value, exponent / 2)?, exponent - exponent / 2)?,
    };
    value.is_finite().then_some(value)
}

/// Values of a state, and where they belong.
#[derive(Clone, Copy, Debug)]
struct Taken {
    metrics: StateMetrics,
    row: Row,
    numbers: StateNumbers,
}

/// Values of states of a thread that are in no row yet.
#[derive(Debug, Default)]
pub(super) struct OpenStates {
    /// Those that hold until the next ones, by class and place.
    holding: FxHashMap<(usize, usize), f64>,
    /// Those of the time since it was accounted last, where the event behind them may tell another row
    /// ([`charges`](super::charges)).
    taken: Vec<Taken>,
    /// Up to when time was accounted then.
    since: Ticks,
}

impl OpenStates {
    /// Sets the value at a place that holds until the next; returns the one that held before, if there was one.
    fn replace(&mut self, at: (usize, usize), value: Option<f64>) -> Option<f64> {
        match value {
            Some(value) => self.holding.insert(at, value),
            None => self.holding.remove(&at),
        }
    }
}

impl Thread {
    /// Adds a value of the time before the event that comes next, in a row that is the innermost so far.
    fn take_state(&mut self, metrics: StateMetrics, row: Row, value: f64) {
        let numbers = StateNumbers::of(value);
        if self.charges.is_none() {
            return self.severities.add_state(metrics, row, numbers);
        }
        if self.states.as_ref().is_some_and(|open| open.since != self.accounted) {
            self.settle_states();
        }
        let open = self.states.get_or_insert_default();
        open.since = self.accounted;
        match open.taken.iter_mut().find(|taken| taken.metrics == metrics && taken.row == row) {
            Some(taken) => taken.numbers = taken.numbers.and(numbers),
            None => open.taken.push(Taken { metrics, row, numbers }),
        }
    }

    /// Puts values into the rows that are known of them, once the time has been accounted that they are of.
    pub(super) fn settle_states(&mut self) {
        let Some(open) = &mut self.states else { return };
        for Taken { metrics, row, numbers } in open.taken.drain(..) {
            self.severities.add_state(metrics, row, numbers);
        }
    }

    /// Puts values of the time since it was accounted last into the row to which that time goes.
    pub(super) fn move_states(&mut self, row: Row) {
        let since = self.accounted;
        if let Some(open) = self.states.as_mut().filter(|open| open.since == since) {
            open.taken.iter_mut().for_each(|taken| taken.row = row);
            self.settle_states();
        }
    }

    /// Forgets values that hold until the next ones: what follows is not recorded.
    pub(super) fn forget_states(&mut self) {
        self.states.iter_mut().for_each(|open| open.holding.clear());
    }
}

impl ProcessWalk<'_> {
    /// Takes values of a class of metrics, by its position: states of a thread at the event that comes next.
    pub(super) fn take_states(&mut self, thread: usize, class: usize, values: List<'_, MetricValue, u8>) {
        let (Some(known), Some(metrics)) = (&self.trace.reported_states, &self.metrics.states) else {
            return;
        };
        let places = &known.places[class];
        if places.iter().all(Option::is_none) {
            return;
        }
        let row = self.recorded_row_before(thread);
        let state = &mut self.threads[thread];
        for (at, (read, place)) in values.iter().zip(places).enumerate() {
            let Some(place) = place else { continue };
            let now = value(read, place.values);
            let held = match place.values.holds_until_next {
                true => state.states.get_or_insert_default().replace((class, at), now),
                false => now,
            };
            if let Some((row, value)) = row.zip(held) {
                state.take_state(metrics[place.state], row, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::trace_metrics::tests::definitions;
    use super::*;

    const POINT: State = State { holds_until_next: false, base: 10, exponent: 0 };

    #[test]
    fn states_have_metrics_of_their_extremes_and_parts_of_their_mean() {
        let states = MetricValues::States(POINT);
        let members =
            [("core frequency", "Hz", states), ("size", "B", states), ("other", "", MetricValues::Others)];
        let known = ReportedStates::find(&definitions(&members, true)).unwrap();
        assert!(known.places[0][2].is_none());
        let mut all = vec![Metric::root("size_mean", "", Unit::Bytes, Source::Measured, "")];
        let numbers = known.add_metrics(&mut all);
        let ids: Vec<_> = all[1..].iter().map(|metric| metric.id).collect();
        let of_first =
            ["core_frequency", "core_frequency_min", "core_frequency_sum", "core_frequency_values"];
        assert_eq!(ids[..4], of_first);
        assert_eq!(ids[4..6], ["size_counter", "size_counter_min"]);
        assert_eq!(numbers[1], StateMetrics { maximum: 5, minimum: 6, sum: 7, values: 8 });
        let unit = |at: usize| all[at].unit;
        assert_eq!(unit(1), Unit::State { name: "Hz", number: StateNumber::Maximum });
        assert_eq!(unit(6), Unit::State { name: "bytes", number: StateNumber::Minimum });
        assert_eq!(unit(8), Unit::State { name: "occ", number: StateNumber::PartOfMean });
    }

    #[test]
    fn unique_names_of_means_differ_from_all_others_in_any_order() {
        let states = MetricValues::States(POINT);
        let members = [("power", "W", states), ("power mean", "W", states), ("ipc", "", states)];
        let known = ReportedStates::find(&definitions(&members, true)).unwrap();
        let mut all = Vec::new();
        let numbers = known.add_metrics(&mut all);
        let ids = numbers.iter().map(|state| all[state.maximum].id);
        assert_eq!(ids.collect::<Vec<_>>(), ["power", "power_mean_counter", "ipc_counter"]);
    }

    #[test]
    fn states_of_other_sources_than_threads_are_not_read() {
        let members = [("power", "W", MetricValues::States(POINT))];
        assert_eq!(ReportedStates::find(&definitions(&members, false)), None);
    }

    #[test]
    fn values_are_in_their_unit() {
        let of = |kind, bits, base, exponent| {
            value(MetricValue { kind, bits }, State { holds_until_next: false, base, exponent })
        };
        assert_eq!(of(ValueType::UINT64, 3, 2, 10), Some(3072.0));
        assert_eq!(of(ValueType::INT64, (-7_i64).cast_unsigned(), 10, -1), Some(-0.7));
        assert_eq!(of(ValueType::UINT64, u64::MAX, 10, 0), Some(2_f64.powi(64)));
        assert_eq!(of(ValueType::UINT64, 7, 10, -3), Some(0.007));
        assert_eq!(of(ValueType::DOUBLE, 0.5_f64.to_bits(), 10, 3), Some(500.0));
        assert_eq!(of(ValueType::DOUBLE, f64::NAN.to_bits(), 10, 0), None);
        assert_eq!(of(ValueType::UINT64, 1, 10, 400), None);
        let is_near = |value: f64, exponent, expected: f64| {
            let found = of(ValueType::DOUBLE, value.to_bits(), 10, exponent).unwrap();
            (found / expected - 1.0).abs() < 1e-12
        };
        assert!(is_near(1e300, -320, 1e-20) && is_near(1e-200, 400, 1e200));
        assert_eq!(of(ValueType::UINT64, 1, 10, i64::MIN), None);
    }

    #[test]
    fn value_that_holds_until_the_next_is_told_by_that_one() {
        let mut open = OpenStates::default();
        assert_eq!(open.replace((0, 1), Some(5.0)), None);
        assert_eq!(open.replace((0, 2), Some(6.0)), None);
        assert_eq!(open.replace((0, 1), None), Some(5.0));
        assert_eq!(open.replace((0, 1), Some(7.0)), None);
    }
}
