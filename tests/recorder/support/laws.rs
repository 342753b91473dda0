//! Laws of every recorded archive: times do not decrease, the program has its region, distances fit the
//! calling contexts, and records without calling contexts are nested. Tests of the launcher use this file,
//! too.

use model::{Definitions, Paradigm, RegionRole};
use otf2::{Archive, Definition, Error, Event, MappingType, Mappings, UNDEFINED};
use std::path::Path;

/// The first law that an archive breaks.
pub(crate) fn broken(experiment: &Path) -> Option<String> {
    first_broken(experiment).unwrap_or_else(|error| Some(error.to_string()))
}

fn first_broken(experiment: &Path) -> Result<Option<String>, Error> {
    let archive = Archive::open(experiment)?;
    let definitions = archive.definitions()?;
    for position in 0..definitions.locations.len() {
        let location = definitions.locations.reference(position);
        let mappings = archive.local_definitions(location)?.mappings;
        let file = archive.event_file(location)?;
        let mut events = archive.events(&file);
        let mut thread = LocationState {
            definitions: &definitions,
            mappings,
            path: Vec::new(),
            suspended: Vec::new(),
            regions: Vec::new(),
        };
        let (mut time, mut count) = (0, 0);
        while let Some(record) = events.next()? {
            let complaint = match record.time < time {
                true => Some(format!("it comes after one at {time}")),
                false => thread.broken_by(&record.event),
            };
            if let Some(complaint) = complaint {
                let (event, time) = (record.event, record.time);
                return Ok(Some(format!("location {location}: {event:?} at {time}: {complaint}")));
            }
            (time, count) = (record.time, count + 1);
        }
        if !thread.regions.is_empty() {
            return Ok(Some(format!("location {location}: regions {:?} are not left", thread.regions)));
        }
        let claimed = definitions.locations[position].events;
        if claimed != count {
            return Ok(Some(format!(
                "location {location} has {count} events, its definition says {claimed}"
            )));
        }
    }
    unused_definitions(&archive)
}

/// Without calling contexts there are no definitions that only they need.
fn unused_definitions(archive: &Archive) -> Result<Option<String>, Error> {
    let file = archive.definition_file()?;
    let mut records = archive.definition_records(&file);
    let (mut has_contexts, mut needless) = (false, None);
    while let Some(record) = records.next()? {
        match record.definition {
            Definition::CallingContext { .. } => has_contexts = true,
            Definition::SourceCodeLocation { .. } | Definition::InterruptGenerator { .. } => {
                needless = Some(format!("{:?} without calling contexts", record.definition));
            }
            _ => {}
        }
    }
    Ok(needless.filter(|_| !has_contexts))
}

/// State of a location while its events are read.
struct LocationState<'a> {
    definitions: &'a Definitions,
    mappings: Mappings,
    /// The calling contexts on its path, outermost first.
    path: Vec<usize>,
    /// The same of what tasks have been started in.
    suspended: Vec<Vec<usize>>,
    /// Open regions, where there are no calling contexts.
    regions: Vec<u32>,
}

impl LocationState<'_> {
    fn broken_by(&mut self, event: &Event<'_>) -> Option<String> {
        match *event {
            Event::ProgramBegin { program_name, program_arguments } => {
                let string = |local| {
                    let global = self.mappings.global(MappingType::String, local);
                    self.definitions.strings.find(global.into()).map_or("", String::as_str)
                };
                let path = string(program_name);
                let command: Vec<&str> =
                    std::iter::once(path).chain(program_arguments.iter().map(string)).collect();
                self.program(path.rsplit('/').next().unwrap_or_default(), &command.join(" "))
            }
            Event::CallingContextEnter { calling_context, unwind_distance } => {
                self.change(calling_context, unwind_distance, true)
            }
            Event::CallingContextSample { calling_context, unwind_distance, .. } => {
                self.change(calling_context, unwind_distance, false)
            }
            Event::CallingContextLeave { calling_context } => match self.path_of(calling_context) {
                Ok(path) => {
                    self.path = path;
                    self.path.pop();
                    None
                }
                Err(complaint) => Some(complaint),
            },
            Event::ThreadTaskSwitch { .. } => {
                self.suspended.push(std::mem::take(&mut self.path));
                None
            }
            Event::ThreadTaskComplete { .. } => match self.suspended.pop() {
                Some(path) => {
                    self.path = path;
                    None
                }
                None => Some("no task has been started".into()),
            },
            Event::Enter { region } => {
                self.regions.push(region);
                let is_defined = self.definitions.regions.position(region.into()).is_some();
                match is_defined && self.definitions.calling_contexts.is_empty() {
                    true => None,
                    false => Some("an undefined region, or beside calling contexts".into()),
                }
            }
            Event::Leave { region } => match self.regions.pop() {
                Some(innermost) if innermost == region => None,
                innermost => Some(format!("the innermost region is {innermost:?}")),
            },
            _ => None,
        }
    }

    /// The program region, by the criteria of Scalasca.
    fn program(&self, name: &str, command: &str) -> Option<String> {
        let is_it = |region: &model::Region| {
            (region.role, region.paradigm) == (RegionRole::ARTIFICIAL, Paradigm::MEASUREMENT_SYSTEM)
                && (region.name.as_str(), region.canonical_name.as_str()) == (name, command)
        };
        let is_there = self.definitions.regions.iter().any(is_it);
        (!is_there).then(|| format!("no region of {command}"))
    }

    /// The contexts on the path of a context, outermost first.
    fn path_of(&self, local: u32) -> Result<Vec<usize>, String> {
        let global = self.mappings.global(MappingType::CallingContext, local);
        if global == UNDEFINED {
            return Ok(Vec::new());
        }
        let contexts = &self.definitions.calling_contexts;
        let mut at =
            contexts.position(global.into()).ok_or_else(|| format!("there is no context {global}"))?;
        let mut path = vec![at];
        while let Some(parent) = contexts[at].parent {
            path.push(parent);
            at = parent;
        }
        path.reverse();
        Ok(path)
    }

    /// Checks an unwind distance. OTF2: 0, nothing has changed; 1, nothing is new; k + 1, the innermost k
    /// contexts are new. An entered context is new.
    fn change(&mut self, local: u32, distance: u32, enters: bool) -> Option<String> {
        let path = match self.path_of(local) {
            Ok(path) => path,
            Err(complaint) => return Some(complaint),
        };
        let common = path.iter().zip(&self.path).take_while(|(new, old)| new == old).count();
        let new = (path.len() - common).max(usize::from(enters && !path.is_empty()));
        let is_right = distance as usize == new + 1 || (distance == 0 && !enters && path == self.path);
        let complaint = (!is_right).then(|| {
            let name = |&at: &usize| {
                self.definitions.regions[self.definitions.calling_contexts[at].region].name.as_str()
            };
            let names = |path: &[usize]| path.iter().map(name).collect::<Vec<_>>().join("/");
            format!("{new} contexts are new, from {} to {}", names(&self.path), names(&path))
        });
        self.path = path;
        complaint
    }
}
