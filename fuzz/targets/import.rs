//! The files of a trace of Paraver: an archive that can be read, with as many events as it is said to have, or one line that says why
//! not; nothing is left behind then.

#![no_main]

use std::fs;

use import::{Sources, import};
use libfuzzer_sys::fuzz_target;
use otf2::Archive;
use replay_fuzz::{check_message, scratch};

/// Tasks and threads that a header may name: each task has files of its own.
const MOST_TASKS: usize = 40;

/// What is in front of the labels of an input, and of the names.
const BORDER: &[u8] = b"\n====\n";

// Three texts with a border between them: records, labels, names. What is missing is empty.
fuzz_target!(|input: &[u8]| {
    let (records, rest) = divided(input);
    let (labels, names) = divided(rest);
    let header = records.split(|byte| *byte == b'\n').next().unwrap_or_default();
    if header.iter().filter(|byte| **byte == b',').count() > MOST_TASKS {
        return;
    }
    let directory = scratch().join("import");
    let _ = fs::remove_dir_all(&directory);
    let sources = Sources {
        records: ("a.prv".into(), Box::new(records)),
        labels: ("a.pcf".into(), Box::new(labels)),
        names: Some(("a.row".into(), Box::new(names))),
    };
    match import(sources, &directory, false) {
        Ok(imported) => {
            let archive = Archive::open(&directory).expect("an archive");
            let definitions = archive.definitions().expect("definitions that can be read");
            let mut count = 0;
            for position in 0..definitions.locations.len() {
                let location = definitions.locations.reference(position);
                archive.local_definitions(location).expect("local definitions that can be read");
                let file = archive.event_file(location).expect("an event file");
                let mut events = archive.events(&file);
                while events.next().expect("events that can be read").is_some() {
                    count += 1;
                }
            }
            assert_eq!(count, imported.events, "as many events as are said");
        }
        Err(error) => {
            check_message(&error);
            assert!(!directory.exists() && !directory.with_extension("part").exists(), "something is left");
        }
    }
});

/// What is in front of the first border, and what is behind it.
fn divided(input: &[u8]) -> (&[u8], &[u8]) {
    match input.windows(BORDER.len()).position(|bytes| bytes == BORDER) {
        Some(at) => (&input[..at], &input[at + BORDER.len()..]),
        None => (input, &[]),
    }
}
