//! Time off the processor, as the events of a trace tell it (site.md, 5.1): what has happened since the event before it, which is of
//! the call path where the thread was meanwhile.

use model::{Definitions, Ticks};
use otf2::{List, MappingType, Mappings, MetricValue, ValueType};

use super::process::ProcessWalk;

/// A metric of time off the processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Member {
    /// A time: preempted, blocked; with the digits of a second behind the point that its unit has.
    Time(usize, u32),
    /// A number: of preemptions, blockings, migrations.
    Occurrences(usize),
}

impl Member {
    /// Returns that with a name, whose values count in this power of ten.
    fn find(name: &str, exponent: i64) -> Option<Member> {
        let digits = exponent
            .checked_neg()
            .and_then(|digits| u32::try_from(digits).ok())
            .filter(|&digits| digits <= 18);
        match name {
            "off_cpu_preempted" => Some(Member::Time(0, digits?)),
            "off_cpu_blocked" => Some(Member::Time(1, digits?)),
            "preemptions" => (exponent == 0).then_some(Member::Occurrences(0)),
            "blockings" => (exponent == 0).then_some(Member::Occurrences(1)),
            "cpu_migrations" => (exponent == 0).then_some(Member::Occurrences(2)),
            _ => None,
        }
    }
}

/// Where metrics of time off the processor are among the values of each metric class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KnownSwitches {
    /// By position of the class, in the order of values.
    members: Vec<Vec<Option<Member>>>,
}

impl KnownSwitches {
    /// Returns those that a trace defines; `None` if it does not define both times.
    pub fn find(definitions: &Definitions) -> Option<KnownSwitches> {
        let member = |at: &Option<usize>| {
            let member = definitions.metric_members.get((*at)?)?;
            Member::find(&member.name, member.step_exponent?)
        };
        let classes = definitions.metric_classes.iter();
        let members: Vec<Vec<Option<Member>>> =
            classes.map(|class| class.members.iter().map(member).collect()).collect();
        let has = |time| {
            members.iter().flatten().any(|member| matches!(member, Some(Member::Time(of, _)) if *of == time))
        };
        (has(0) && has(1)).then_some(KnownSwitches { members })
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
    /// Takes values of time off the processor of a thread.
    pub(super) fn take_switches(
        &mut self,
        thread: usize,
        mappings: &Mappings,
        metric: u32,
        values: List<'_, MetricValue, u8>,
    ) {
        let (Some(known), Some(metrics)) = (&self.trace.switches, self.metrics.off_cpu) else { return };
        let class = u64::from(mappings.global(MappingType::Metric, metric));
        let Some(at) = self.trace.definitions.metric_classes.position(class) else { return };
        let resolution = self.trace.definitions.clock.resolution;
        let thread = &mut self.threads[thread];
        let Some(row) = thread.stack.last().filter(|_| thread.counts(thread.now)).map(|frame| frame.row)
        else {
            return;
        };
        for (value, member) in values.iter().zip(&known.members[at]) {
            let Some(member) = member.filter(|_| value.kind == ValueType::UINT64) else { continue };
            let (metric, value) = match member {
                Member::Time(of, digits) => (metrics.times[of], ticks(value.bits, digits, resolution)),
                Member::Occurrences(of) => (metrics.occurrences[of], crate::severity::amount(value.bits)),
            };
            thread.severities.add(metric, row, value);
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
        assert_eq!(Member::find("off_cpu_blocked", -9), Some(Member::Time(1, 9)));
        assert_eq!(Member::find("off_cpu_blocked", 3), None);
        assert_eq!(Member::find("off_cpu_blocked", i64::MIN), None);
        assert_eq!(Member::find("preemptions", -9), None);
        assert_eq!(Member::find("PAPI_TOT_INS", 0), None);
    }
}
