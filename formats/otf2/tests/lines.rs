//! Whole archives as lines, one for each definition and event: as OTF2's Python bindings read them, and as
//! this crate does. Tests of the recorder use this file, too.

use crate::fields::{numbers, of_definition, of_event};
use otf2::{Archive, Definition, Error, Event, MappingType, Timestamp};
use skip::{Need, skip};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs a program and returns its output; `None` if it is not installed.
pub(crate) fn output(command: &mut Command) -> Option<String> {
    let Ok(output) = command.output() else {
        skip(Need::Otf2Print, format!("{} cannot be started", command.get_program().display()));
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
    skip(
        Need::Python,
        format!("{} has no package otf2 (choose another Python with REPLAY_PYTHON)", python.display()),
    );
    None
}

/// Lines that the Python bindings print for an archive, sorted.
pub(crate) fn reference_lines(python: &Path, anchor: &Path) -> Option<Vec<String>> {
    let text = output(Command::new(python).args(["-c", include_str!("reference_reader.py")]).arg(anchor))?;
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    lines.sort();
    Some(lines)
}

/// The same lines from this crate.
pub(crate) fn own_lines(archive: &Archive) -> Result<Vec<String>, Error> {
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

/// The first difference between two readers, if any.
pub(crate) fn difference(own: &[String], reference: &[String]) -> Option<String> {
    let differs = own.iter().zip(reference).find(|(own, reference)| own != reference);
    match differs {
        Some((own, reference)) => Some(format!("read here {own}, reference {reference}")),
        None if own.len() == reference.len() => None,
        None => Some(format!("{} records read here, reference {}", own.len(), reference.len())),
    }
}
