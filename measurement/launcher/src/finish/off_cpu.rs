//! Definitions of time off the processor (site.md, 5.1): the class of metrics that events have values of, and what threads have used
//! of the machine, as properties of their locations.

use super::archive::{DefinitionList, LocationDefinition};
use super::metric_class::{Class, Member, OTHER};
use super::strings::Strings;
use model::off_cpu::MEMBERS;
use model::usage::{CORES, RESIDENT_BYTES};
use otf2::{Definition, Value, ValueType};
use recording::journal::ThreadUsage;
use recording::off_cpu::CLASS;

/// References of the members, in the order of values.
const REFERENCES: &[u32] = &[0, 1, 2, 3, 4];
const _: () = assert!(REFERENCES.len() == MEMBERS.len());

/// Adds the class if events of a location have values of it, and properties of all locations of which they are known.
pub(super) fn define(
    locations: &[LocationDefinition],
    strings: &mut Strings,
    records: &mut DefinitionList<'_>,
) {
    if locations.iter().any(|location| location.has_switches) {
        class(locations, strings, records);
    }
    for location in locations {
        let numbers = location.usage.iter().flat_map(properties);
        let mut values: Vec<_> =
            numbers.map(|(name, number)| (name, Value::new(ValueType::UINT64, number))).collect();
        let cores = location.usage.as_ref().and_then(|usage| usage.cores.as_ref());
        values.extend(cores.map(|cores| (CORES, Value::string(strings.number(cores)))));
        for (name, value) in values {
            let name = strings.number(name);
            records.add(Definition::LocationProperty { location: location.reference, name, value });
        }
    }
}

fn class(locations: &[LocationDefinition], strings: &mut Strings, records: &mut DefinitionList<'_>) {
    // OTF2's enumerations: of MetricMode, MetricOccurrence.
    const ACCUMULATED_POINT: u8 = 16;
    const SYNCHRONOUS: u8 = 1;
    let class =
        Class { reference: CLASS, members: REFERENCES, occurrence: SYNCHRONOUS, mode: ACCUMULATED_POINT };
    let members = MEMBERS.iter().map(|&model::off_cpu::Member { name, description, is_time }| Member {
        name,
        description,
        metric_type: OTHER,
        is_time,
    });
    let recorders = locations.iter().filter(|location| location.has_switches);
    class.define(members, recorders, strings, records);
}

/// Returns the properties of a location: names, with units, and values.
fn properties(usage: &ThreadUsage) -> [(&'static str, u64); 6] {
    [
        ("Replay::Usage::ProcessorNanoseconds", usage.processor_nanoseconds),
        (RESIDENT_BYTES, usage.resident_bytes),
        ("Replay::Usage::MinorFaults", usage.minor_faults),
        ("Replay::Usage::MajorFaults", usage.major_faults),
        ("Replay::Usage::VoluntarySwitches", usage.voluntary_switches),
        ("Replay::Usage::InvoluntarySwitches", usage.involuntary_switches),
    ]
}
