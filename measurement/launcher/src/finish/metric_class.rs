//! Definitions of a class of metrics that threads have values of at their events.

use super::archive::{DefinitionList, LocationDefinition};
use super::strings::Strings;
use otf2::{Definition, List, ValueType};

/// OTF2's `MetricType` of what the processor counts, and of anything else.
pub(super) const PAPI: u8 = 1;
pub(super) const OTHER: u8 = 0;

/// A class of metrics.
#[derive(Clone, Copy, Debug)]
pub(super) struct Class {
    /// Its reference.
    pub(super) reference: u32,
    /// References of its members, in the order of values.
    pub(super) members: &'static [u32],
    /// OTF2's `MetricOccurrence`.
    pub(super) occurrence: u8,
    /// OTF2's `MetricMode` of all members.
    pub(super) mode: u8,
}

/// A member of a class: whole numbers, of nanoseconds or occurrences.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member<'a> {
    pub(super) name: &'a str,
    pub(super) description: &'a str,
    /// OTF2's `MetricType`.
    pub(super) metric_type: u8,
    pub(super) is_time: bool,
}

impl Class {
    /// Adds the class with its members, and the locations that record it.
    pub(super) fn define<'a>(
        self,
        members: impl Iterator<Item = Member<'a>>,
        recorders: impl Iterator<Item = &'a LocationDefinition>,
        strings: &mut Strings,
        records: &mut DefinitionList<'_>,
    ) {
        // OTF2's enumerations: of Base, RecorderKind.
        const DECIMAL: u8 = 1;
        const CPU: u8 = 2;
        for (&reference, member) in self.members.iter().zip(members) {
            records.add(Definition::MetricMember {
                reference,
                name: strings.number(member.name),
                description: strings.number(member.description),
                metric_type: member.metric_type,
                metric_mode: self.mode,
                value_type: ValueType::UINT64,
                base: DECIMAL,
                exponent: if member.is_time { -9 } else { 0 },
                unit: strings.number(if member.is_time { "s" } else { "#" }),
            });
        }
        records.add(Definition::MetricClass {
            reference: self.reference,
            metric_members: List::from(self.members),
            metric_occurrence: self.occurrence,
            recorder_kind: CPU,
        });
        for location in recorders {
            records.add(Definition::MetricClassRecorder {
                metric: self.reference,
                recorder: location.reference,
            });
        }
    }
}
