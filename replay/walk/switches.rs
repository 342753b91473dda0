//! Time off the processor, as the events of a trace tell it (site.md, 5.1): what has happened since the event before it, which is of
//! the call path where the thread was meanwhile.

use model::off_cpu::MEMBERS;
use model::{CountsSince, Definitions, Ticks};
use otf2::{List, MetricValue, ValueType};

use super::process::ProcessWalk;
use crate::severity::amount;

/// A value of a metric of time off the processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Place {
    /// The metric, by its position among [`MEMBERS`].
    member: usize,
    /// The digits of its unit behind the point: of a time in seconds; 0 of occurrences.
    digits: u32,
}

impl Place {
    /// Returns that of the metric with a name, whose values count in this power of ten.
    fn find(name: &str, exponent: i64) -> Option<Place> {
        let member = MEMBERS.iter().position(|member| member.name == name)?;
        let digits = exponent.checked_neg().and_then(|digits| u32::try_from(digits).ok())?;
        let most = if MEMBERS[member].is_time { 18 } else { 0 };
        (digits <= most).then_some(Place { member, digits })
    }
}

/// Where metrics of time off the processor are among the values of each metric class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KnownSwitches {
    /// By position of the class, in the order of values.
    places: Vec<Vec<Option<Place>>>,
}

impl KnownSwitches {
    /// Returns those that a trace defines; `None` if it does not define all times.
    pub fn find(definitions: &Definitions) -> Option<KnownSwitches> {
        let place = |at: &Option<usize>| {
            let member = definitions.metric_members.get((*at)?)?;
            let counts = member.counts().filter(|counts| counts.since == CountsSince::ValueBefore)?;
            Place::find(&member.name, counts.exponent)
        };
        let classes = definitions.metric_classes.iter();
        let places: Vec<Vec<Option<Place>>> =
            classes.map(|class| class.members.iter().map(place).collect()).collect();
        let has = |member: usize| places.iter().flatten().flatten().any(|place| place.member == member);
        let has_times = MEMBERS.iter().enumerate().all(|(at, member)| !member.is_time || has(at));
        has_times.then_some(KnownSwitches { places })
    }
}

/// Returns a time in ticks; `resolution` is how many there are in a second. The unit of the value has so many digits behind the point
/// of a second, at most 18.
fn ticks(value: u64, digits: u32, resolution: u64) -> Ticks {
    let unit = 10_u128.pow(digits);
    let ticks = (u128::from(value) * u128::from(resolution) + unit / 2) / unit;
    Ticks::try_from(ticks).unwrap_or(Ticks::MAX)
}

impl ProcessWalk<'_> {
    /// Takes values of a class of metrics, by its position: time off the processor of a thread.
    pub(super) fn take_switches(&mut self, thread: usize, class: usize, values: List<'_, MetricValue, u8>) {
        let (Some(known), Some(metrics)) = (&self.trace.switches, self.metrics.off_cpu) else { return };
        let resolution = self.trace.definitions.clock.resolution;
        let Some(row) = self.row_before(thread) else { return };
        let thread = &mut self.threads[thread];
        for (value, place) in values.iter().zip(&known.places[class]) {
            let Some(place) = place.filter(|_| value.kind == ValueType::UINT64) else { continue };
            let amount = match MEMBERS[place.member].is_time {
                true => ticks(value.bits, place.digits, resolution),
                false => amount(value.bits),
            };
            thread.charge(metrics[place.member], row, amount);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nanoseconds_are_rounded_to_ticks_of_the_clock() {
        assert_eq!(ticks(1_500, 9, 1_000_000), 2);
        assert_eq!(ticks(1_499, 9, 1_000_000), 1);
        assert_eq!(ticks(3, 0, 1_000), 3_000);
        assert_eq!(ticks(u64::MAX, 0, u64::MAX), Ticks::MAX);
    }

    #[test]
    fn metrics_of_another_unit_are_not_known() {
        assert_eq!(Place::find("off_cpu_blocked", -9), Some(Place { member: 1, digits: 9 }));
        assert_eq!(Place::find("off_cpu_blocked", 3), None);
        assert_eq!(Place::find("off_cpu_blocked", i64::MIN), None);
        assert_eq!(Place::find("preemptions", 0), Some(Place { member: 2, digits: 0 }));
        assert_eq!(Place::find("preemptions", -9), None);
        assert_eq!(Place::find("PAPI_TOT_INS", 0), None);
    }
}
