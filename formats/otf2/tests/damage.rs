//! Cut and corrupt files: an error or other records, but no panic, no endless loop, and every intact record.

use crate::support::{Random, every_record, fresh};
use otf2::{Anchor, Archive, ByteOrder, DefinitionCursor, EventCursor, FileBytes};
use std::fs;
use std::path::Path;

const FLIPS: usize = 2000;

/// Reads all events; returns their offsets and whether the end was reached without an error.
fn events(file: &[u8]) -> (Vec<u64>, bool) {
    let mut cursor = EventCursor::new(file, Path::new("0.evt"), 256 << 10);
    let mut offsets = Vec::new();
    loop {
        match cursor.next() {
            Ok(Some(record)) => {
                // Every decoded field can be printed.
                assert_eq!(record.attributes.iter().count(), record.attributes.len());
                assert!(!format!("{:?}", record.event).is_empty());
                offsets.push(record.offset);
            }
            Ok(None) => return (offsets, true),
            Err(error) => {
                assert!(error.offset().is_some_and(|offset| offset <= file.len() as u64), "{error}");
                assert_eq!(cursor.next().unwrap(), None, "finished after an error");
                return (offsets, false);
            }
        }
    }
}

/// Reads all definitions; returns their offsets and whether the end was reached without an error.
fn definitions(mut cursor: DefinitionCursor<'_>) -> (Vec<u64>, bool) {
    let mut offsets = Vec::new();
    loop {
        match cursor.next() {
            Ok(Some(record)) => {
                assert!(!format!("{:?}", record.definition).is_empty());
                offsets.push(record.offset);
            }
            Ok(None) => return (offsets, true),
            Err(_) => {
                assert_eq!(cursor.next().unwrap(), None, "finished after an error");
                return (offsets, false);
            }
        }
    }
}

fn global(file: &[u8]) -> (Vec<u64>, bool) {
    definitions(DefinitionCursor::global(file, Path::new("traces.def"), 256 << 10))
}

fn local(file: &[u8]) -> (Vec<u64>, bool) {
    definitions(DefinitionCursor::local(file, Path::new("0.def"), 256 << 10))
}

/// Event, global and local definition file of a small archive, each with its reader.
#[allow(clippy::type_complexity)]
fn files(test: &str, order: ByteOrder) -> Vec<(Vec<u8>, fn(&[u8]) -> (Vec<u64>, bool))> {
    let archive = Archive::open(every_record(&fresh(test), order)).unwrap();
    let read = |path| FileBytes::open(path).unwrap().to_vec();
    vec![
        (read(archive.event_path(1 << 32)), events),
        (read(archive.definition_path()), global),
        (read(archive.local_definition_path(1 << 32)), local),
    ]
}

#[test]
fn cut_file_gives_every_complete_record_then_an_error() {
    for order in [ByteOrder::Little, ByteOrder::Big] {
        for (file, read) in files("cut", order) {
            let (all, complete) = read(&file);
            assert!(complete);
            for cut in 0..file.len() - 2 {
                let (found, complete) = read(&file[..cut]);
                assert!(!complete, "cut at {cut}");
                assert!(all.starts_with(&found));
                let surely = all.iter().skip(1).filter(|&&next| next <= cut as u64).count();
                assert!(found.len() >= surely, "cut at {cut}: {} of {surely}", found.len());
            }
        }
    }
}

#[test]
fn flipped_bits_never_panic() {
    let mut random = Random(0x5eed);
    for order in [ByteOrder::Little, ByteOrder::Big] {
        for (file, read) in files("flip", order) {
            for _ in 0..FLIPS {
                let mut damaged = file.clone();
                for _ in 0..=random.below(3) {
                    let at = random.below(damaged.len());
                    damaged[at] ^= 1 << random.below(8);
                }
                let (found, _) = read(&damaged);
                assert!(found.len() <= file.len());
            }
        }
    }
}

#[test]
fn damaged_definitions_never_panic_when_resolved() {
    let mut random = Random(0xdef);
    let directory = fresh("resolve");
    let archive = Archive::open(every_record(&directory, ByteOrder::Little)).unwrap();
    for path in [archive.definition_path(), archive.local_definition_path(1 << 32)] {
        let file = fs::read(&path).unwrap();
        for _ in 0..FLIPS {
            let mut damaged = file.clone();
            let at = 18 + random.below(damaged.len() - 18);
            damaged[at] = random.next() as u8;
            fs::write(&path, &damaged).unwrap();
            let _ = archive.definitions();
            let _ = archive.local_definitions(1 << 32);
        }
        fs::write(&path, &file).unwrap();
    }
}

#[test]
fn damaged_anchor_never_panics() {
    let mut random = Random(0xa);
    let anchor = Anchor { properties: vec![("A::B".into(), "1".into())], ..Anchor::default() };
    let file = anchor.encode(Path::new("a.otf2")).unwrap();
    for _ in 0..FLIPS {
        let mut damaged = file.clone();
        let at = random.below(damaged.len());
        damaged[at] = random.next() as u8;
        let _ = Anchor::parse(&damaged, Path::new("a.otf2")).map(|anchor| anchor.check(Path::new("a.otf2")));
    }
}

#[test]
fn record_longer_than_its_chunk_is_told_from_a_cut_file() {
    // A chunk header, a time stamp, and an MpiSend of 50 bytes.
    let start = crate::support::chunk(ByteOrder::Little, &[5, 1, 0, 0, 0, 0, 0, 0, 0, 14, 50, 1, 7, 0]);
    let message = |size: usize| {
        let file = [&start[..], &[0; 100]].concat();
        let mut cursor = EventCursor::new(&file[..size], Path::new("0.evt"), 40);
        cursor.next().unwrap_err().to_string()
    };
    let longer =
        "0.evt: byte 0x1b: MpiSend record: longer than the rest of its chunk, which ends at byte 0x28";
    assert_eq!(message(80), longer);
    assert!(message(39).starts_with("0.evt: byte 0x1b: the file ends within a record (MpiSend)"));
}

#[test]
fn message_names_file_byte_and_record() {
    // A chunk header, a time stamp, and an MpiSend whose length ends it within its last field.
    let file =
        crate::support::chunk(ByteOrder::Little, &[5, 1, 0, 0, 0, 0, 0, 0, 0, 14, 7, 0, 0, 1, 7, 8, 1, 1]);
    let error = EventCursor::new(&file, Path::new("traces/3.evt"), 256 << 10).next().unwrap_err();
    let expected =
        "traces/3.evt: byte 0x1b: MpiSend record: the field at byte 0x21 is corrupt or longer than";
    assert!(error.to_string().starts_with(expected), "{error}");
}
