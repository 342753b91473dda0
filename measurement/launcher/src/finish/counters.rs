//! Definitions of counters (site.md, 5.2): the class of metrics that events have values of, as Score-P defines it.

use super::archive::{DefinitionList, LocationDefinition};
use super::strings::Strings;
use model::off_cpu::MEMBERS;
use otf2::{Definition, List, ValueType};
use recording::counters::{CLASS, MOST};
use recording::journal::CounterDefinition;

/// References of metrics: those of time off the processor, and of counters.
static REFERENCES: [u32; MEMBERS.len() + MOST] = {
    let mut references = [0; MEMBERS.len() + MOST];
    let mut at = 0;
    while at < references.len() {
        references[at] = at as u32;
        at += 1;
    }
    references
};

/// Returns the reference of the class of counters in the archive, where references have no gaps.
pub(super) fn class(locations: &[LocationDefinition]) -> u32 {
    if has_switches(locations) { CLASS } else { 0 }
}

fn has_switches(locations: &[LocationDefinition]) -> bool {
    locations.iter().any(|location| location.has_switches)
}

/// Adds the class if events of a location have values of it. There are at most [`MOST`] counters.
pub(super) fn define(
    counters: &[CounterDefinition],
    locations: &[LocationDefinition],
    strings: &mut Strings,
    records: &mut DefinitionList<'_>,
) {
    if counters.is_empty() || !locations.iter().any(|location| location.has_counters) {
        return;
    }
    // OTF2's enumerations: of MetricType, MetricMode, Base, MetricOccurrence, RecorderKind.
    const OTHER: u8 = 0;
    const PAPI: u8 = 1;
    const ACCUMULATED_START: u8 = 0;
    const DECIMAL: u8 = 1;
    const SYNCHRONOUS_STRICT: u8 = 0;
    const CPU: u8 = 2;
    let first = if has_switches(locations) { MEMBERS.len() } else { 0 };
    let references = &REFERENCES[first..first + counters.len()];
    for (&reference, counter) in references.iter().zip(counters) {
        records.add(Definition::MetricMember {
            reference,
            name: strings.number(&counter.name),
            description: strings.number(""),
            metric_type: if counter.is_software { OTHER } else { PAPI },
            metric_mode: ACCUMULATED_START,
            value_type: ValueType::UINT64,
            base: DECIMAL,
            exponent: if counter.is_time { -9 } else { 0 },
            unit: strings.number(if counter.is_time { "s" } else { "#" }),
        });
    }
    let class = class(locations);
    records.add(Definition::MetricClass {
        reference: class,
        metric_members: List::from(references),
        metric_occurrence: SYNCHRONOUS_STRICT,
        recorder_kind: CPU,
    });
    for location in locations.iter().filter(|location| location.has_counters) {
        records.add(Definition::MetricClassRecorder { metric: class, recorder: location.reference });
    }
}
