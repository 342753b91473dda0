//! The OTF2 library reads what is written here: every kind of record, with the same values.
//!
//! Needs `otf2-print`, or a Python (`$REPLAY_PYTHON`, else `python3`) with the package `otf2`. Without, the tests say so
//! on standard error and pass.

use crate::fields::{numbers, of_definition, of_event};
use crate::support::{every_record, fresh, global_events, some_archives};
use otf2::{Archive, ByteOrder, Definition, Error, Event, MappingType, Timestamp};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs a program and answers what it prints; `None` if it is not there.
pub(crate) fn output(command: &mut Command) -> Option<String> {
    let Ok(output) = command.output() else {
        eprintln!("skipped: {} cannot be started", command.get_program().display());
        return None;
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed: {errors}");
    Some(String::from_utf8(output.stdout).unwrap())
}

/// A Python with the package `otf2`, if there is one.
pub(crate) fn python() -> Option<PathBuf> {
    let python = std::env::var_os("REPLAY_PYTHON").map_or_else(|| PathBuf::from("python3"), PathBuf::from);
    let imports = Command::new(&python).args(["-c", "import otf2"]).output();
    if imports.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    eprintln!("skipped: {} has no package otf2 (choose another Python with REPLAY_PYTHON)", python.display());
    None
}

/// What the Python bindings print for an archive, sorted.
fn reference_lines(python: &Path, anchor: &Path) -> Option<Vec<String>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference_reader.py");
    let text = output(Command::new(python).arg(script).arg(anchor))?;
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    lines.sort();
    Some(lines)
}

/// The same, decoded here.
fn own_lines(archive: &Archive) -> Result<Vec<String>, Error> {
    let mut lines = Vec::new();
    let file = archive.definition_file()?;
    let mut definitions = archive.definition_records(&file);
    let mut locations = Vec::new();
    while let Some(record) = definitions.next()? {
        let definition = record.definition;
        if let Definition::Location { reference, .. } = definition {
            locations.push(reference);
        }
        lines.push(["D", definition.name()].into_iter().map(str::to_owned).chain(of_definition(&definition)));
    }
    let mut lines: Vec<String> = lines.into_iter().map(|words| words.collect::<Vec<_>>().join(" ")).collect();
    for location in locations {
        let mut local = archive.local_definitions(location)?;
        let file = archive.event_file(location)?;
        let mut events = archive.events(&file);
        while let Some(record) = events.next()? {
            let time = local.clock.correct(record.time);
            let mut arguments = Vec::new();
            let event = match record.event.map(&local.mappings) {
                Event::BufferFlush { stop_time } => {
                    Event::BufferFlush { stop_time: Timestamp(local.clock.correct(stop_time.0)) }
                }
                Event::ProgramBegin { program_name, program_arguments } => {
                    let strings = |argument| local.mappings.global(MappingType::String, argument);
                    arguments.extend(program_arguments.iter().map(strings));
                    Event::ProgramBegin { program_name, program_arguments: arguments.as_slice().into() }
                }
                event => event,
            };
            let mut words = vec!["E".into(), location.to_string(), time.to_string(), event.name().into()];
            words.extend(of_event(&event));
            if !record.attributes.is_empty() {
                words.push("A".into());
            }
            for attribute in record.attributes {
                words.extend(numbers(&format!("{:?}", attribute.map(&local.mappings))));
            }
            lines.push(words.join(" "));
        }
    }
    lines.sort();
    Ok(lines)
}

#[test]
fn otf2_print_accepts_every_record() {
    let directory = fresh("print");
    for order in [ByteOrder::Little, ByteOrder::Big] {
        let anchor = every_record(&directory.join(format!("{order:?}")), order);
        let Some(_) = output(Command::new("otf2-print").arg("--silent").arg(&anchor)) else { return };
    }
}

#[test]
fn python_reads_the_same_values_of_every_record() {
    let Some(python) = python() else { return };
    let directory = fresh("python");
    for order in [ByteOrder::Little, ByteOrder::Big] {
        let anchor = every_record(&directory.join(format!("{order:?}")), order);
        let own = own_lines(&Archive::open(&anchor).unwrap()).unwrap();
        let Some(reference) = reference_lines(&python, &anchor) else { return };
        assert_eq!(own, reference);
    }
}

#[test]
fn python_reads_the_same_values_of_real_archives() {
    let Some(python) = python() else { return };
    for path in some_archives() {
        let own = own_lines(&Archive::open(&path).unwrap()).unwrap();
        let Some(reference) = reference_lines(&python, &path.join("traces.otf2")) else { return };
        let differs = own.iter().zip(&reference).find(|(own, reference)| own != reference);
        assert!(own.len() == reference.len() && differs.is_none(), "{}: {differs:?}", path.display());
    }
}

#[test]
fn every_record_is_read_back_in_both_orders_alike() {
    let directory = fresh("alike");
    let archives = [ByteOrder::Little, ByteOrder::Big].map(|order| {
        let anchor = every_record(&directory.join(format!("{order:?}")), order);
        Archive::open(anchor).unwrap()
    });
    for location in [0, 1 << 32] {
        let [little, big] = archives.each_ref().map(|archive| global_events(archive, location).unwrap());
        assert_eq!(little, big);
    }
}
