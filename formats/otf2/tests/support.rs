//! Test support: fresh directories, an archive of every record, and reproducible random numbers.

use crate::records;
use otf2::{Anchor, Archive, ArchiveWriter, Attributes, ByteOrder, Definition, Error, Event};
use std::fs;
use std::path::{Path, PathBuf};

/// An empty directory for one test.
pub(crate) fn fresh(test: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).unwrap();
    directory
}

/// The real archives, which the tests of all crates share.
pub(crate) fn real_archives() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/archives");
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = entries.filter(|path| path.join("traces.otf2").exists()).collect();
    assert!(found.len() >= 4, "tests/archives is incomplete");
    found.sort();
    found
}

/// Every sixth real archive, for tests that take long.
pub(crate) fn some_archives() -> impl Iterator<Item = PathBuf> {
    real_archives().into_iter().step_by(6)
}

/// Writes an archive with every kind of record except unknown ones; returns its anchor file.
pub(crate) fn every_record(directory: &Path, byte_order: ByteOrder) -> PathBuf {
    let path = directory.join("traces.otf2");
    let properties = vec![("OTF2::SAMPLE".to_owned(), "true".to_owned())];
    let anchor = Anchor { byte_order, creator: "test".into(), trace_id: 42, properties, ..Anchor::default() };
    let mut writer = ArchiveWriter::create(&path, anchor).unwrap();
    for definition in records::definitions() {
        writer.define(definition).unwrap();
    }
    let mut events = writer.events(0).unwrap();
    for (event, time) in records::events().into_iter().zip((1000..).step_by(7)) {
        events.write(time, event, Attributes::EMPTY).unwrap();
    }
    assert_eq!(events.finish().unwrap(), records::EVENT_KINDS as u64);
    let mut events = writer.events(1 << 32).unwrap();
    let attributes = records::attributes();
    for (event, time) in records::events().into_iter().zip((1000..).step_by(7)) {
        events.write(time, event, attributes.as_slice().into()).unwrap();
    }
    events.finish().unwrap();
    let mut local = writer.local_definitions(1 << 32).unwrap();
    for definition in records::local_definitions() {
        local.write(definition).unwrap();
    }
    local.finish().unwrap();
    writer.local_definitions(0).unwrap().finish().unwrap();
    writer.finish().unwrap();
    path
}

/// All events of a location with global times and references, as text.
pub(crate) fn global_events(archive: &Archive, location: u64) -> Result<Vec<String>, Error> {
    let mut local = archive.local_definitions(location)?;
    let file = archive.event_file(location)?;
    let mut cursor = archive.events(&file);
    let mut lines = Vec::new();
    while let Some(record) = cursor.next()? {
        let event = match record.event {
            Event::BufferFlush { stop_time } => {
                Event::BufferFlush { stop_time: otf2::Timestamp(local.clock.correct(stop_time.0)) }
            }
            event => event.map(&local.mappings),
        };
        lines.push(format!("{} {event:?}", local.clock.correct(record.time)));
    }
    Ok(lines)
}

/// The locations that an archive defines.
pub(crate) fn locations(archive: &Archive) -> Result<Vec<u64>, Error> {
    let file = archive.definition_file()?;
    let mut cursor = archive.definition_records(&file);
    let mut found = Vec::new();
    while let Some(record) = cursor.next()? {
        if let Definition::Location { reference, .. } = record.definition {
            found.push(reference);
        }
    }
    Ok(found)
}

/// Marsaglia's xorshift generator: good enough to damage files with.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}

/// A file of a single chunk with these records.
pub(crate) fn chunk(order: ByteOrder, records: &[u8]) -> Vec<u8> {
    let mark = if order == ByteOrder::Little { 0x42 } else { 0x23 };
    [&[3, mark][..], &[0; 16], records, &[2, 1]].concat()
}
