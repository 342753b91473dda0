//! Events in words, for tests that say what they expect.

use super::archive::{each_event, strings};
use model::{CollectiveOp, Definitions, Group, GroupType, Members};
use otf2::{Archive, Attribute, Event, UNDEFINED, ValueType};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// Events with attributes of these names, by location in their order, as lines such as
/// `MPI_Probe CallingContextLeave ProbeSource=1 ProbeComm=0,2`: the MPI function that is active, the event,
/// and the attributes. Communicators and groups are the world ranks of their members.
pub(crate) fn attributes(experiment: &Path, names: &[&str]) -> BTreeMap<u64, Vec<String>> {
    let definitions = Archive::open(experiment).and_then(|archive| archive.definitions()).unwrap();
    let strings = strings(experiment);
    let mut lines: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    let mut function = String::new();
    each_event(experiment, |at, event, region| {
        if let Some(region) = region.filter(|region| region.is_mpi) {
            function.clone_from(&region.name);
        }
        let words = |attribute: Attribute| in_words(attribute.map(at.mappings), &definitions, &strings);
        let named = at.attributes.iter().map(words);
        let wanted: Vec<String> = named
            .filter(|(name, _)| names.contains(name))
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        if !wanted.is_empty() {
            let line = format!("{function} {} {}", name(event, &definitions), wanted.join(" "));
            lines.entry(at.location).or_default().push(line);
        }
    });
    lines
}

/// The records about communicators that are made after `MPI_Init`, by location in their order, as lines such as
/// `MPI_Comm_dup MpiCollectiveEnd 0,1`: the MPI function that is active, the event, and the communicator.
pub(crate) fn creations(experiment: &Path) -> BTreeMap<u64, Vec<String>> {
    let definitions = Archive::open(experiment).and_then(|archive| archive.definitions()).unwrap();
    let mut lines: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    let mut function = String::new();
    each_event(experiment, |at, event, region| {
        if let Some(region) = region.filter(|region| region.is_mpi) {
            function.clone_from(&region.name);
        }
        let communicator = match *event {
            _ if function == "MPI_Init" => return,
            Event::CommCreate { communicator }
            | Event::MpiCollectiveEnd {
                collective_op: CollectiveOp::CREATE_HANDLE,
                communicator,
                root: UNDEFINED,
                size_sent: 0,
                size_received: 0,
            }
            | Event::NonBlockingCollectiveComplete {
                collective_op: CollectiveOp::CREATE_HANDLE,
                communicator,
                root: UNDEFINED,
                size_sent: 0,
                size_received: 0,
                ..
            } => communicator,
            _ => return,
        };
        let members = of_communicator(communicator.into(), &definitions);
        lines.entry(at.location).or_default().push(format!("{function} {} {members}", event.name()));
    });
    lines
}

/// The name of an event; leaves of both kinds of records have one. Messages have their length behind it, collective
/// operations the bytes that are sent and received, and the members of the communicator.
fn name(event: &Event<'_>, definitions: &Definitions) -> String {
    match *event {
        Event::CallingContextLeave { .. } => "Leave".into(),
        Event::MpiIsend { msg_length, .. } | Event::MpiIrecv { msg_length, .. } => {
            format!("{} {msg_length}", event.name())
        }
        Event::MpiCollectiveEnd { collective_op, communicator, size_sent, size_received, .. }
        | Event::NonBlockingCollectiveComplete {
            collective_op,
            communicator,
            size_sent,
            size_received,
            ..
        } => {
            let members = of_communicator(communicator.into(), definitions);
            let name = event.name();
            format!("{name} {} {size_sent} {size_received} of {members}", collective_op.0)
        }
        _ => event.name().into(),
    }
}

/// The name of an attribute and its value.
fn in_words<'a>(
    attribute: Attribute,
    definitions: &'a Definitions,
    strings: &HashMap<u32, String>,
) -> (&'a str, String) {
    let name = definitions.attributes.find(attribute.attribute.into()).unwrap();
    let bits = attribute.value.bits;
    let value = match attribute.value.kind {
        ValueType::COMM => of_communicator(bits, definitions),
        ValueType::STRING => strings[&u32::try_from(bits).unwrap()].clone(),
        ValueType::GROUP => of_group(definitions.groups.position(bits).unwrap(), definitions),
        _ => bits.to_string(),
    };
    (name, value)
}

/// The members of a communicator.
fn of_communicator(reference: u64, definitions: &Definitions) -> String {
    match definitions.communicators.find(reference).unwrap().members {
        Members::Group(group) => of_group(group, definitions),
        Members::Inter(one, other) => {
            format!("{}|{}", of_group(one, definitions), of_group(other, definitions))
        }
    }
}

/// The members of a group.
fn of_group(position: usize, definitions: &Definitions) -> String {
    let Group { members, kind, .. } = &definitions.groups[position];
    match *kind {
        GroupType::COMM_SELF => "self".into(),
        _ => members.iter().map(u64::to_string).collect::<Vec<_>>().join(","),
    }
}
