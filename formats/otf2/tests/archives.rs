//! Real archives: definitions resolve, counts agree, and decoding and writing reproduces every byte.

use crate::support::{fresh, locations, real_archives, some_archives};
use otf2::{Anchor, Archive, ArchiveWriter, ByteOrder, Error};
use std::fs;
use std::path::{Path, PathBuf};

/// Decodes an archive and writes it again, optionally in another byte order.
pub(crate) fn reencode(from: &Path, to: &Path, byte_order: Option<ByteOrder>) -> Result<Archive, Error> {
    let archive = Archive::open(from)?;
    let byte_order = byte_order.unwrap_or(archive.anchor().byte_order);
    let mut writer = ArchiveWriter::create(to, Anchor { byte_order, ..archive.anchor().clone() })?;
    let file = archive.definition_file()?;
    let mut definitions = archive.definition_records(&file);
    while let Some(record) = definitions.next()? {
        writer.define(record.definition)?;
    }
    for location in locations(&archive)? {
        let file = archive.local_definition_file(location)?;
        let mut definitions = archive.local_definition_records(&file);
        let mut copy = writer.local_definitions(location)?;
        while let Some(record) = definitions.next()? {
            copy.write(record.definition)?;
        }
        copy.finish()?;
        let file = archive.event_file(location)?;
        let mut events = archive.events(&file);
        let mut copy = writer.events(location)?;
        while let Some(record) = events.next()? {
            copy.write(record.time, record.event, record.attributes)?;
        }
        copy.finish()?;
    }
    writer.finish()?;
    Archive::open(to)
}

/// Files of the archive whose anchor is `<directory>/traces.otf2`.
fn files(directory: &Path) -> Vec<PathBuf> {
    let inner = fs::read_dir(directory.join("traces")).unwrap();
    let mut all: Vec<_> = inner.map(|entry| Path::new("traces").join(entry.unwrap().file_name())).collect();
    all.extend(["traces.otf2", "traces.def"].map(PathBuf::from));
    all
}

/// Checks that two archives have the same files.
pub(crate) fn assert_equal_files(one: &Path, other: &Path) {
    let files_of_one = files(one);
    assert_eq!(files_of_one.len(), files(other).len());
    for file in files_of_one {
        let same = fs::read(one.join(&file)).unwrap() == fs::read(other.join(&file)).unwrap();
        assert!(same, "{} of {} differs", file.display(), one.display());
    }
}

#[test]
fn real_archive_is_written_again_byte_by_byte() {
    let directory = fresh("reencode");
    for archive in real_archives() {
        let copy = directory.join(archive.file_name().unwrap());
        reencode(&archive, &copy.join("traces.otf2"), None).unwrap();
        assert_equal_files(&archive, &copy);
    }
}

#[test]
fn archive_turned_around_twice_is_the_same() {
    let directory = fresh("turned");
    for archive in some_archives() {
        let (big, little) = (directory.join("big"), directory.join("little"));
        reencode(&archive, &big.join("traces.otf2"), Some(ByteOrder::Big)).unwrap();
        reencode(&big, &little.join("traces.otf2"), Some(ByteOrder::Little)).unwrap();
        assert_equal_files(&archive, &little);
        fs::remove_dir_all(big).unwrap();
        fs::remove_dir_all(little).unwrap();
    }
}

#[test]
fn definitions_resolve_and_event_counts_agree() {
    for path in real_archives() {
        let archive = Archive::open(&path).unwrap();
        let definitions = archive.definitions().unwrap();
        assert_eq!(archive.anchor().locations, definitions.locations.len() as u64);
        assert!(definitions.clock.resolution > 0);
        for position in 0..definitions.locations.len() {
            let location = definitions.locations.reference(position);
            let mut local = archive.local_definitions(location).unwrap();
            let file = archive.event_file(location).unwrap();
            assert_eq!(archive.event_bytes(location), Some(file.len() as u64));
            let mut cursor = archive.events(&file);
            let (mut count, mut last) = (0, 0);
            while let Some(record) = cursor.next().unwrap() {
                count += 1;
                assert_eq!(record.position, count);
                let time = local.clock.correct(record.time);
                assert!(time >= last, "time {time} after {last}");
                last = time;
            }
            assert_eq!(
                count,
                definitions.locations[position].events,
                "{} location {location}",
                path.display()
            );
        }
    }
}
