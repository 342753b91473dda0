//! Definitions of counters (site.md, 5.2): the class of metrics that events have values of, as Score-P defines it.

use super::archive::{DefinitionList, LocationDefinition};
use super::metric_class::{Class, Member, OTHER, PAPI};
use super::strings::Strings;
use model::off_cpu::MEMBERS;
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
    const ACCUMULATED_START: u8 = 0;
    const SYNCHRONOUS_STRICT: u8 = 0;
    let first = if has_switches(locations) { MEMBERS.len() } else { 0 };
    let class = Class {
        reference: class(locations),
        members: &REFERENCES[first..first + counters.len()],
        occurrence: SYNCHRONOUS_STRICT,
        mode: ACCUMULATED_START,
    };
    let members = counters.iter().map(|CounterDefinition { name, is_software, is_time }| {
        let metric_type = if *is_software { OTHER } else { PAPI };
        Member { name, description: "", metric_type, is_time: *is_time }
    });
    let recorders = locations.iter().filter(|location| location.has_counters);
    class.define(members, recorders, strings, records);
}
