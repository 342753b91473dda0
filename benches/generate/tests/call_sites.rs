//! Call sites: the records are the same otherwise, and two calls of a function in one place are two call paths.

use std::collections::BTreeSet;

use generate::{Job, PATTERNS, Pattern, generate};
use model::{CallingContext, Definitions};
use otf2::{Archive, Event};
use tempfile::TempDir;

/// Makes the trace of a pattern.
fn made(pattern: &'static Pattern, call_sites: bool) -> (Archive, Definitions, TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace");
    generate(&Job { call_sites, ..Job::new(pattern, 5, 300) }, &path).unwrap();
    let archive = Archive::open(&path).unwrap();
    let definitions = archive.definitions().unwrap();
    (archive, definitions, directory)
}

/// The events of a location with regions in the place of calling contexts. Checks that each call is below the one before.
fn plain_events(archive: &Archive, definitions: &Definitions, location: u64) -> Vec<(u64, String)> {
    let file = archive.event_file(location).unwrap();
    let mut events = archive.events(&file);
    let (mut plain, mut open) = (Vec::new(), Vec::new());
    while let Some(record) = events.next().unwrap() {
        let context = |number: u32| definitions.calling_contexts.position(number.into()).unwrap();
        let region = |at: usize| definitions.calling_contexts[at].region as u32;
        let event = match record.event {
            Event::CallingContextEnter { calling_context, unwind_distance } => {
                let at = context(calling_context);
                let called = &definitions.calling_contexts[at];
                assert_eq!((called.parent, unwind_distance), (open.last().copied(), 2));
                assert_eq!(called.source.is_some(), called.parent.is_some());
                open.push(at);
                Event::Enter { region: region(at) }
            }
            Event::CallingContextLeave { calling_context } => {
                let at = context(calling_context);
                assert_eq!(open.pop(), Some(at));
                Event::Leave { region: region(at) }
            }
            event => event,
        };
        plain.push((record.time, format!("{event:?} {:?}", record.attributes)));
    }
    plain
}

#[test]
fn records_are_the_same_otherwise() {
    for pattern in PATTERNS.iter().filter(|pattern| pattern.threads == 1) {
        let (archive, definitions, _directory) = made(pattern, true);
        let (plain_archive, plain, _plain_directory) = made(pattern, false);
        assert!(plain.calling_contexts.is_empty() && !definitions.calling_contexts.is_empty());
        for location in Job::new(pattern, 5, 300).locations() {
            let with = plain_events(&archive, &definitions, location);
            assert!(with == plain_events(&plain_archive, &plain, location), "{}: {location}", pattern.name);
        }
    }
}

#[test]
fn two_calls_of_a_function_are_two_call_paths() {
    for (pattern, function, file) in
        [("non-blocking", "overlap", "main.c"), ("iterations", "MPI_Isend", "iterations.c")]
    {
        let (_, definitions, _directory) = made(Pattern::find(pattern).unwrap(), true);
        let called = |context: &&CallingContext| definitions.regions[context.region].name == function;
        let sources = definitions.calling_contexts.iter().filter(called).map(|context| &context.source);
        let sources: BTreeSet<_> = sources.flatten().collect();
        assert!(sources.len() == 2 && sources.iter().all(|source| source.0 == file), "{sources:?}");
    }
}
