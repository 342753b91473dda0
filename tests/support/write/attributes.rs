//! Attributes of events for what OTF2 has no records or fields for.

use std::collections::HashMap;

use model::{accelerators, attributes};
use otf2::{Attribute, MappingType, Value, ValueType};

use crate::support::trace::{Members, StreamKind, Trace};

/// Attributes of events, with references from 7 on; those of gaps are defined together, in traces that use one of them, the
/// others only if they are used.
pub(super) const ATTRIBUTES: [&str; 23] = [
    attributes::UNRECORDED,
    attributes::POSTED,
    attributes::DISORDERED,
    attributes::COUNTED,
    attributes::PROBE_SOURCE,
    attributes::PROBE_TAG,
    attributes::PROBE_COMM,
    attributes::NEIGHBORS_IN,
    attributes::NEIGHBORS_OUT,
    attributes::PERSISTENT_OPERATION,
    attributes::PARTITIONED,
    attributes::FILE,
    "Offset",
    "View",
    "ViewEtype",
    "ViewSize",
    "ViewExtent",
    "ViewPieces",
    "FileSize",
    "ViewType",
    "Hints",
    accelerators::STREAM,
    accelerators::EVENT,
];
pub(super) const GAPS: std::ops::Range<usize> = 0..4;
pub(super) const FIRST_ATTRIBUTE: u32 = 7;

/// `local` tells how the location numbers a definition; `strings` are references of texts.
pub(super) fn attribute(
    trace: &Trace,
    &(name, value): &(&str, u64),
    (local, strings): (&dyn Fn(MappingType, u32) -> u32, &HashMap<String, u32>),
) -> Attribute {
    let at = ATTRIBUTES.iter().position(|known| *known == name).expect("a known attribute") as u32;
    let bits = match name {
        attributes::POSTED => trace.offset + value,
        // Those of the script follow the world, that of a process alone, and the team of rank 0.
        attributes::PROBE_COMM => {
            let global = if value > 1 { value + 1 } else { value };
            local(MappingType::Comm, global as u32).into()
        }
        attributes::FILE => local(MappingType::IoHandle, value as u32).into(),
        attributes::NEIGHBORS_IN | attributes::NEIGHBORS_OUT => group_of(trace, value),
        "ViewType" | "Hints" => local(MappingType::String, strings[&trace.texts[value as usize]]).into(),
        _ => value,
    };
    Attribute { attribute: FIRST_ATTRIBUTE + at, value: Value { kind: kind(name), bits } }
}

/// Type of the values of an attribute.
pub(super) fn kind(name: &str) -> ValueType {
    match name {
        attributes::PROBE_SOURCE | attributes::PROBE_TAG => ValueType::UINT32,
        attributes::PROBE_COMM => ValueType::COMM,
        attributes::NEIGHBORS_IN | attributes::NEIGHBORS_OUT => ValueType::GROUP,
        attributes::FILE => ValueType::IO_HANDLE,
        "ViewType" | "Hints" => ValueType::STRING,
        accelerators::STREAM => ValueType::LOCATION,
        _ => ValueType::UINT64,
    }
}

/// The group of a communicator, which attributes number behind the world and that of a process alone.
pub(super) fn group_of(trace: &Trace, communicator: u64) -> u64 {
    let Some(at) = communicator.checked_sub(2) else { return communicator + 1 };
    let groups = |(_, members): &(String, Members)| if matches!(members, Members::Ranks(_)) { 1 } else { 2 };
    let threads = trace.streams.iter().filter(|stream| stream.kind == StreamKind::Thread);
    let teams = threads.map(|stream| stream.rank).collect::<std::collections::BTreeSet<_>>().len() as u64;
    4 + teams + trace.communicators[..at as usize].iter().map(groups).sum::<u64>()
}
