//! `paraver`: a directory with a trace for Paraver (`trace.prv`), its labels (`trace.pcf`), names (`trace.row`), and views of
//! the types of events that are ours (`*.cfg`).
//!
//! | file | content |
//! |---|---|
//! | `records` | states, events and messages, sorted by time |
//! | `mpi` | MPI functions in the numbers of Extrae, so that the views that people have work |
//! | `labels` | `.pcf`, `.row` and `.cfg` |

mod labels;
mod mpi;
mod records;

use std::collections::BTreeMap;
use std::io::Write;

use super::Remarks;
use super::events::{Events, from_tables, stretches};
use super::source::Source;
use crate::commands::sink::Folder;
use crate::error::Result;

/// Types of events that are ours: the wait state, the location that is waited for, and whether the critical path is here.
const WAIT_STATE: u32 = 90_000_001;
const CAUSE: u32 = 90_000_002;
const CRITICAL: u32 = 90_000_003;

/// Type of events of functions of the program, as of Extrae.
const FUNCTION: u32 = 60_000_019;

/// Numbers of a location in the trace, all from 1 on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Object {
    cpu: usize,
    task: usize,
    thread: usize,
}

/// All locations in the trace's numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Objects {
    /// By location.
    of: Vec<Object>,
    /// Nodes that have locations, with the locations of each.
    nodes: Vec<(usize, Vec<usize>)>,
    /// Positions in this list, by position in the system tree.
    node_numbers: BTreeMap<usize, usize>,
    /// Processes that have locations, with the locations of each.
    tasks: Vec<(usize, Vec<usize>)>,
}

impl Objects {
    fn new(events: &Events) -> Objects {
        let mut nodes: Vec<(usize, Vec<usize>)> = Vec::new();
        let mut tasks: Vec<(usize, Vec<usize>)> = Vec::new();
        let mut places = BTreeMap::new();
        let mut processes = BTreeMap::new();
        for (at, place) in events.places.iter().enumerate() {
            let node = *places.entry(place.node).or_insert_with(|| {
                nodes.push((place.node, Vec::new()));
                nodes.len() - 1
            });
            nodes[node].1.push(at);
            let task = *processes.entry(place.process).or_insert_with(|| {
                tasks.push((place.process, Vec::new()));
                tasks.len() - 1
            });
            tasks[task].1.push(at);
        }
        let mut of = vec![Object { cpu: 0, task: 0, thread: 0 }; events.places.len()];
        for (cpu, &location) in (1..).zip(nodes.iter().flat_map(|(_, locations)| locations)) {
            of[location].cpu = cpu;
        }
        for (task, (_, locations)) in (1..).zip(&tasks) {
            for (thread, &location) in (1..).zip(locations) {
                (of[location].task, of[location].thread) = (task, thread);
            }
        }
        Objects { of, nodes, node_numbers: places, tasks }
    }

    /// The number of the node of a location, from 1 on.
    fn node_of(&self, events: &Events, location: usize) -> usize {
        self.node_numbers.get(&events.places[location].node).map_or(1, |at| at + 1)
    }
}

/// Writes all files.
///
/// # Errors
/// If the report has no events, or a file cannot be written.
pub(super) fn write(source: &Source<'_>, folder: &mut Folder) -> Result<Remarks> {
    let (events, remarks) = from_tables(source)?;
    let objects = Objects::new(&events);
    let critical = stretches(source)?;
    let (used, records) = records::records(&events, &critical, &objects);
    folder.file("trace.prv", |out| {
        header(source, &events, &objects, out)?;
        records.iter().try_for_each(|record| Ok(writeln!(out, "{}", record.text)?))
    })?;
    folder.file("trace.pcf", |out| labels::configuration(source, &events, &used, out))?;
    folder.file("trace.row", |out| labels::rows(source, &events, &objects, out))?;
    for (name, title, kind) in [
        ("wait_states.cfg", "Wait state", WAIT_STATE),
        ("causes.cfg", "Location that is waited for", CAUSE),
        ("critical_path.cfg", "Critical path", CRITICAL),
    ] {
        folder.file(name, |out| labels::view(title, kind, out))?;
    }
    Ok(remarks)
}

/// The first line, and a line for each communicator. The trace's date is not in the report.
fn header(source: &Source<'_>, events: &Events, objects: &Objects, out: &mut dyn Write) -> Result<()> {
    let cpus: Vec<String> = objects.nodes.iter().map(|(_, all)| all.len().to_string()).collect();
    let tasks = objects.tasks.iter().map(|(_, locations)| {
        let node = locations.first().map_or(1, |&location| objects.node_of(events, location));
        format!("{}:{node}", locations.len())
    });
    let tasks: Vec<String> = tasks.collect();
    let known = source.opened.manifest.as_ref().map_or(&[][..], |manifest| &manifest.communicators);
    let groups = &source.cube().location_groups;
    let task_of: rustc_hash::FxHashMap<u64, usize> =
        (1..).zip(&objects.tasks).map(|(task, (process, _))| (groups[*process].rank, task)).collect();
    let lists: Vec<(u32, Vec<usize>)> = known
        .iter()
        .filter_map(|communicator| {
            let members = communicator.members.as_ref()?.iter();
            let tasks = members.map(|&rank| task_of.get(&rank.into()).copied());
            Some((communicator.number, tasks.collect::<Option<Vec<_>>>()?))
        })
        .collect();
    writeln!(
        out,
        "#Paraver (01/01/1970 at 00:00):{}_ns:{}({}):1:{}({}),{}",
        events.end.max(0),
        cpus.len(),
        cpus.join(","),
        tasks.len(),
        tasks.join(","),
        lists.len()
    )?;
    for (number, members) in lists {
        let members: Vec<String> = members.iter().map(usize::to_string).collect();
        // Numbers begin with 1.
        writeln!(out, "c:1:{}:{}:{}", u64::from(number) + 1, members.len(), members.join(":"))?;
    }
    Ok(())
}
