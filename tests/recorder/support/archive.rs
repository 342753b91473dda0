//! Contents of an archive, and acceptance by other readers.

use super::laws;
use crate::lines;
use model::{CollectiveOp, Definitions, Paradigm};
use otf2::{Archive, Attributes, Definition, Event, Mappings};
use skip::{Need, skip};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::process::Command;

/// The anchor file of a recording.
const ANCHOR: &str = "traces.otf2";

/// Why an archive is invalid: the law that it breaks, or the error of `otf2-print`, if that is installed.
pub(crate) fn refusal(experiment: &Path) -> Option<String> {
    if let Some(law) = laws::broken(experiment) {
        return Some(law);
    }
    let Ok(output) = Command::new("otf2-print").arg("--silent").arg(experiment.join(ANCHOR)).output() else {
        skip(Need::Otf2Print, "there is no otf2-print");
        return None;
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    let is_accepted = output.status.success() && errors.is_empty();
    (!is_accepted).then(|| format!("otf2-print: {}: {errors}", output.status))
}

/// The first difference between OTF2's Python bindings and our reader; `None` if there is none, or no
/// bindings.
pub(crate) fn difference(experiment: &Path) -> Option<String> {
    let own = match Archive::open(experiment).and_then(|archive| lines::own_lines(&archive)) {
        Ok(own) => own,
        Err(error) => return Some(error.to_string()),
    };
    let reference = lines::reference_lines(&lines::python()?, &experiment.join(ANCHOR))?;
    lines::difference(&own, &reference)
}

/// Number of records of each kind in an archive, by their names in OTF2, and the bytes that all of a kind have, with
/// `Bytes`, `Sent` or `Received` behind the name; `calls` are enters of MPI functions. Creation and release of handles,
/// which OTF2 also calls collective operations, are counted separately.
pub(crate) fn counts(experiment: &Path) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    let mut calls = 0;
    each_event(experiment, |_, event, region| {
        let name = if is_about_handles(event) { "handles" } else { event.name() };
        *counts.entry(name.to_owned()).or_insert(0) += 1;
        for (what, bytes) in bytes(event) {
            *counts.entry(format!("{name}{what}")).or_insert(0) += bytes;
        }
        let is_entered = matches!(event, Event::CallingContextEnter { .. });
        calls += u64::from(is_entered && region.is_some_and(|region| region.is_mpi));
    });
    counts.into_iter().chain([("calls".to_owned(), calls)]).collect()
}

/// The bytes in an event: one way, or both.
fn bytes(event: &Event<'_>) -> Vec<(&'static str, u64)> {
    match *event {
        Event::MpiSend { msg_length, .. }
        | Event::MpiRecv { msg_length, .. }
        | Event::MpiIsend { msg_length, .. }
        | Event::MpiIrecv { msg_length, .. } => vec![("Bytes", msg_length)],
        Event::RmaPut { bytes, .. } | Event::RmaGet { bytes, .. } => vec![("Bytes", bytes)],
        // Flushing has no bytes.
        Event::IoOperationComplete { bytes_result, .. } if bytes_result < u64::MAX => {
            vec![("Bytes", bytes_result)]
        }
        Event::MpiCollectiveEnd { size_sent, size_received, .. }
        | Event::NonBlockingCollectiveComplete { size_sent, size_received, .. } => {
            vec![("Sent", size_sent), ("Received", size_received)]
        }
        Event::RmaAtomic { bytes_sent, bytes_received, .. } => {
            vec![("Sent", bytes_sent), ("Received", bytes_received)]
        }
        _ => Vec::new(),
    }
}

fn is_about_handles(event: &Event<'_>) -> bool {
    let operations = [CollectiveOp::CREATE_HANDLE, CollectiveOp::DESTROY_HANDLE];
    matches!(event, Event::MpiCollectiveEnd { collective_op, .. } if operations.contains(collective_op))
}

/// All call paths of an archive, in order: functions, each with file and line of the call in it, if known.
pub(crate) fn paths(experiment: &Path) -> Vec<String> {
    let mut paths =
        named_contexts(&Archive::open(experiment).and_then(|archive| archive.definitions()).unwrap());
    paths.sort();
    paths
}

/// The paths of calling contexts, in the order of their definitions.
fn named_contexts(definitions: &Definitions) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    for context in &definitions.calling_contexts {
        let parent = context.parent.map_or("", |parent| paths[parent].as_str());
        let name = &definitions.regions[context.region].name;
        let line = context.source.as_ref().map_or(String::new(), |(file, line)| format!(" ({file}:{line})"));
        paths.push(format!("{parent}/{name}{line}"));
    }
    paths
}

/// Number of samples on each call path of an archive; paths as by [`paths`], and an empty one for samples
/// outside of all.
pub(crate) fn samples(experiment: &Path) -> BTreeMap<String, u64> {
    let archive = Archive::open(experiment).unwrap();
    let definitions = archive.definitions().unwrap();
    let paths = named_contexts(&definitions);
    let file = archive.definition_file().unwrap();
    let mut records = archive.definition_records(&file);
    let mut contexts = HashMap::new();
    let mut locations = Vec::new();
    while let Some(record) = records.next().unwrap() {
        match record.definition {
            Definition::CallingContext { reference, .. } => {
                contexts.insert(reference, contexts.len());
            }
            Definition::Location { reference, .. } => locations.push(reference),
            _ => {}
        }
    }
    let mut samples = BTreeMap::new();
    for location in locations {
        let local = archive.local_definitions(location).unwrap();
        let file = archive.event_file(location).unwrap();
        let mut events = archive.events(&file);
        while let Some(record) = events.next().unwrap() {
            if let Event::CallingContextSample { calling_context, .. } = record.event.map(&local.mappings) {
                let path =
                    contexts.get(&calling_context).map_or(String::new(), |&at: &usize| paths[at].clone());
                *samples.entry(path).or_insert(0) += 1;
            }
        }
    }
    samples
}

/// Number of communicators that an archive defines.
pub(crate) fn communicators(experiment: &Path) -> usize {
    definitions(experiment, |definition| {
        matches!(definition, Definition::Comm { .. } | Definition::InterComm { .. })
    })
}

/// The strings of an archive by their references.
pub(crate) fn strings(experiment: &Path) -> HashMap<u32, String> {
    let mut strings = HashMap::new();
    each_definition(experiment, |definition| {
        if let Definition::String { reference, string } = definition {
            strings.insert(*reference, String::from_utf8_lossy(string).into_owned());
        }
    });
    strings
}

/// Number of locations of an archive.
pub(crate) fn locations(experiment: &Path) -> usize {
    definitions(experiment, |definition| matches!(definition, Definition::Location { .. }))
}

/// Number of its definitions of this kind.
fn definitions(experiment: &Path, is_wanted: impl Fn(&Definition<'_>) -> bool) -> usize {
    let mut count = 0;
    each_definition(experiment, |definition| count += usize::from(is_wanted(definition)));
    count
}

/// Calls `see` for each definition.
pub(crate) fn each_definition(experiment: &Path, mut see: impl FnMut(&Definition<'_>)) {
    let archive = Archive::open(experiment).unwrap();
    let file = archive.definition_file().unwrap();
    let mut definitions = archive.definition_records(&file);
    while let Some(record) = definitions.next().unwrap() {
        see(&record.definition);
    }
}

/// Visits of each region by its name.
pub(crate) fn visits(experiment: &Path) -> BTreeMap<String, u64> {
    let mut visits = BTreeMap::new();
    each_event(experiment, |_, event, region| {
        if let (Event::CallingContextEnter { .. }, Some(region)) = (event, region) {
            *visits.entry(region.name.clone()).or_insert(0) += 1;
        }
    });
    visits
}

/// Invariants of the archives of one recording, whatever their kind of records.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Invariants {
    /// Events other than those of regions and calling contexts, by location, each with its time.
    pub(crate) records: Vec<String>,
    /// Visits and time in ticks of each region of MPI, or with events of its own, by location and name.
    pub(crate) regions: BTreeMap<(u64, String), (u64, u64)>,
}

/// Collects the invariants.
pub(crate) fn invariants(experiment: &Path) -> Invariants {
    let mut invariants = Invariants::default();
    let mut stack = Vec::new();
    each_event(experiment, |at, event, region| {
        let is_entered = matches!(event, Event::CallingContextEnter { .. } | Event::Enter { .. });
        match region {
            Some(region) if !region.has_own_events => {}
            Some(region) if is_entered => stack.push((region.name.clone(), at.time)),
            Some(region) => {
                let (name, begin) = stack.pop().unwrap();
                assert_eq!(name, region.name);
                let (visits, ticks) = invariants.regions.entry((at.location, name)).or_insert((0, 0));
                (*visits, *ticks) = (*visits + 1, *ticks + at.time - begin);
            }
            None if matches!(event, Event::CallingContextSample { .. }) => {}
            None => {
                let attributes: Vec<_> = at.attributes.iter().collect();
                // Strings have other numbers in the other archive.
                let event = match event {
                    Event::ProgramBegin { .. } => "ProgramBegin".into(),
                    event => format!("{event:?}"),
                };
                invariants.records.push(format!("{} {} {event} {attributes:?}", at.location, at.time));
            }
        }
    });
    assert!(stack.is_empty(), "{stack:?} are not left");
    invariants
}

/// A region that is entered or left.
pub(crate) struct Region {
    pub(crate) name: String,
    pub(crate) is_mpi: bool,
    /// Whether it has enter and leave events at its own times; the others are known from call stacks only.
    pub(crate) has_own_events: bool,
}

/// Context of an event: location, time and attributes.
pub(crate) struct EventContext<'a> {
    pub(crate) location: u64,
    pub(crate) time: u64,
    pub(crate) attributes: Attributes<'a>,
    /// Of the references in the attributes.
    pub(crate) mappings: &'a Mappings,
}

/// Calls `see` for each event, with the region that it enters or leaves.
pub(crate) fn each_event(
    experiment: &Path,
    mut see: impl FnMut(EventContext<'_>, &Event<'_>, Option<&Region>),
) {
    let archive = Archive::open(experiment).unwrap();
    let file = archive.definition_file().unwrap();
    let mut definitions = archive.definition_records(&file);
    let (mut locations, mut strings) = (Vec::new(), HashMap::new());
    let (mut regions, mut contexts) = (HashMap::new(), HashMap::new());
    while let Some(record) = definitions.next().unwrap() {
        match record.definition {
            Definition::Location { reference, .. } => locations.push(reference),
            Definition::String { reference, string } => {
                strings.insert(reference, String::from_utf8_lossy(string).into_owned());
            }
            Definition::Region { reference, name, paradigm, .. } => {
                let (name, is_mpi) = (strings[&name].clone(), paradigm == Paradigm::MPI);
                let has_own_events =
                    [Paradigm::MPI, Paradigm::USER, Paradigm::COMPILER, Paradigm::OPENMP].contains(&paradigm);
                regions.insert(reference, Region { name, is_mpi, has_own_events });
            }
            Definition::CallingContext { reference, region, .. } => {
                contexts.insert(reference, region);
            }
            _ => {}
        }
    }
    for location in locations {
        let local = archive.local_definitions(location).unwrap();
        let file = archive.event_file(location).unwrap();
        let mut events = archive.events(&file);
        while let Some(record) = events.next().unwrap() {
            let event = record.event.map(&local.mappings);
            let region = match event {
                Event::CallingContextEnter { calling_context, .. }
                | Event::CallingContextLeave { calling_context } => contexts.get(&calling_context),
                Event::Enter { ref region } | Event::Leave { ref region } => Some(region),
                _ => None,
            };
            let at = EventContext {
                location,
                time: record.time,
                attributes: record.attributes,
                mappings: &local.mappings,
            };
            see(at, &event, region.and_then(|region| regions.get(region)));
        }
    }
}

/// Fails the test unless an archive has the records that its program has promised: lines such as `MpiSend 12`
/// for records, and `communicators 3` for those besides the world and self.
#[track_caller]
pub(crate) fn expect_promised(experiment: &Path, stdout: &str) {
    let counts = counts(experiment);
    let promised: Vec<(&str, u64)> = stdout.lines().filter_map(promise).collect();
    assert!(promised.len() > 1, "no promise in {stdout}");
    let broken = promised.iter().filter(|&&(kind, count)| counts.get(kind).copied().unwrap_or(0) != count);
    let broken: Vec<String> =
        broken.map(|(kind, count)| format!("{count} {kind}, found {:?}", counts.get(*kind))).collect();
    assert!(broken.is_empty(), "promised {broken:?}");
    let made = stdout.lines().find_map(|line| line.strip_prefix("communicators ")?.parse::<usize>().ok());
    assert!(made.is_none_or(|made| communicators(experiment) == made + 2), "{made:?} communicators");
}

/// Kind and number of records in a line that is a promise.
fn promise(line: &str) -> Option<(&str, u64)> {
    let (kind, count) = line.split_once(' ')?;
    let is_kind = kind == "calls"
        || ["Mpi", "NonBlocking", "Rma", "Io", "Thread"].iter().any(|begin| kind.starts_with(begin));
    is_kind.then_some((kind, count.parse().ok()?))
}
