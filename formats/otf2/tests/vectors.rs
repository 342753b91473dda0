//! Test vectors: a small archive in both byte orders and the records in it, raw and with global references
//! and times. The expectations are JSON lines: `["G", name, [fields]]` for global and `["L", location, name,
//! [fields]]` for local definitions, `["E", location, position, time, name, [fields], [[attribute, type,
//! value], …]]` for events.

use crate::fields::{numbers, of_definition, of_event};
use crate::support::locations;
use otf2::{Archive, Error, LocalDefinitions};
use std::fs;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors")
}

/// All records of an archive as lists of words.
fn records(archive: &Archive, mapped: bool) -> Result<Vec<Vec<String>>, Error> {
    let mut lines = Vec::new();
    let file = archive.definition_file()?;
    let mut definitions = archive.definition_records(&file);
    while let Some(record) = definitions.next()? {
        let definition = record.definition;
        lines.push([vec!["G".into(), definition.name().into()], of_definition(&definition)].concat());
    }
    for location in locations(archive)? {
        if let Ok(file) = archive.local_definition_file(location) {
            let mut definitions = archive.local_definition_records(&file);
            while let Some(record) = definitions.next()? {
                let definition = record.definition;
                let words = vec!["L".into(), location.to_string(), definition.name().into()];
                lines.push([words, of_definition(&definition)].concat());
            }
        }
        let mut local =
            if mapped { archive.local_definitions(location)? } else { LocalDefinitions::default() };
        let file = archive.event_file(location)?;
        let mut events = archive.events(&file);
        while let Some(record) = events.next()? {
            let event = record.event.map(&local.mappings);
            let time = local.clock.correct(record.time);
            let mut words =
                vec!["E".into(), location.to_string(), record.position.to_string(), time.to_string()];
            words.push(event.name().into());
            words.extend(of_event(&event));
            for attribute in record.attributes {
                words.extend(numbers(&format!("{:?}", attribute.map(&local.mappings))));
            }
            lines.push(words);
        }
    }
    Ok(lines)
}

/// The tokens of a JSON line; strings that are fields keep their quotes.
fn words(line: &str) -> Vec<String> {
    let mut words: Vec<String> =
        line.split(['[', ']', ',']).filter(|word| !word.is_empty()).map(str::to_owned).collect();
    let name = match words[0].as_str() {
        "\"G\"" => 1,
        "\"L\"" => 2,
        _ => 4,
    };
    for at in [0, name] {
        words[at] = words[at].trim_matches('"').to_owned();
    }
    words
}

#[test]
fn vectors_decode_to_what_they_say() {
    for order in ["le", "be"] {
        let archive = Archive::open(folder().join(order)).unwrap();
        for (name, mapped) in [("expected.jsonl", false), ("expected-mapped.jsonl", true)] {
            let text = fs::read_to_string(folder().join(name)).unwrap();
            let expected: Vec<_> = text.lines().filter(|line| !line.contains("ANCHOR")).map(words).collect();
            assert!(expected.len() > 40, "{name} is incomplete");
            assert_eq!(records(&archive, mapped).unwrap(), expected, "{order} {name}");
        }
    }
}

#[test]
fn offsets_are_those_of_the_record_numbers() {
    let archive = Archive::open(folder().join("le")).unwrap();
    let file = archive.event_file(0).unwrap();
    let mut events = archive.events(&file);
    while let Some(record) = events.next().unwrap() {
        let id = file[usize::try_from(record.offset).unwrap()];
        let expected = match record.event.name() {
            "Enter" => 12,
            "Leave" => 13,
            "MpiSend" => 14,
            _ => 31,
        };
        assert_eq!(id, expected);
    }
}
