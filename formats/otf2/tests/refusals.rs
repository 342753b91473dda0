//! Refusals of writers: records that no reader accepts and failures of the file system, with file, record and
//! reason.

use crate::records;
use crate::support::fresh;
use otf2::{
    Anchor, Archive, ArchiveWriter, Attributes, CHUNK_SIZES, Definition, Error, Event, EventWriter, IdMap,
    LocalDefinitionWriter, Timestamp,
};
use std::fs;
use std::path::Path;

/// Checks the message of a refusal, which starts with the path of the file.
#[track_caller]
fn refused<T>(result: Result<T, Error>, path: &Path, expected: &str) {
    let message = result.map(drop).unwrap_err().to_string();
    assert_eq!(message, format!("{}: {expected}", path.display()));
}

fn table(globals: &[u64]) -> Definition<'_> {
    Definition::MappingTable { mapping_type: 3, id_map: IdMap::Dense(globals.into()) }
}

fn offset(time: u64) -> Definition<'static> {
    Definition::ClockOffset { time: Timestamp(time), offset: 0, standard_deviation: 0.0 }
}

#[test]
fn archive_is_begun_only_under_a_name_for_archives_that_is_free() {
    let directory = fresh("begun");
    let create = |path: &Path| ArchiveWriter::create(path, Anchor::default());
    let reason = "cannot create an archive: its anchor file must end in .otf2";
    for name in ["traces", "traces.otf", ".otf2"] {
        refused(create(&directory.join(name)), &directory.join(name), reason);
    }
    let path = directory.join("new/folder/traces.otf2");
    create(&path).unwrap().finish().unwrap();
    let before = fs::read(&path).unwrap();
    refused(create(&path), &path, "cannot create an archive: there is one already");
    assert_eq!(fs::read(path).unwrap(), before);
}

#[test]
fn folder_of_locations_that_exists_is_not_written_into() {
    let path = fresh("folder").join("traces.otf2");
    fs::create_dir(path.with_extension("")).unwrap();
    let message = ArchiveWriter::create(&path, Anchor::default()).unwrap_err().to_string();
    let expected = format!("{}: cannot create the directory: ", path.with_extension("").display());
    assert!(message.starts_with(&expected), "{message}");
    assert!(!path.exists());
}

#[test]
fn archive_with_events_of_somebody_else_is_completed_once() {
    let path = fresh("completed").join("traces.otf2");
    let folder = path.with_extension("");
    fs::create_dir(&folder).unwrap();
    let mut events = otf2::EventWriter::create(folder.join("7.evt"), &Anchor::default()).unwrap();
    events.write(5, otf2::Event::MpiCollectiveBegin {}, otf2::Attributes::EMPTY).unwrap();
    events.finish().unwrap();
    let before = fs::read(folder.join("7.evt")).unwrap();
    // The second attempt finds the files of the first.
    for _ in 0..2 {
        let mut writer = ArchiveWriter::complete(&path, Anchor::default()).unwrap();
        writer.define(Definition::String { reference: 0, string: b"a" }).unwrap();
        writer.local_definitions(7).unwrap().finish().unwrap();
    }
    assert!(!path.exists(), "nobody has finished it");
    ArchiveWriter::complete(&path, Anchor::default()).unwrap().finish().unwrap();
    assert_eq!(fs::read(folder.join("7.evt")).unwrap(), before);
    let again = ArchiveWriter::complete(&path, Anchor::default());
    refused(again, &path, "cannot create an archive: there is one already");
}

#[test]
fn formats_that_are_not_written_are_refused() {
    let path = fresh("formats").join("traces.otf2");
    let reason = "cannot write an archive but in trace format 2 and anchor format 1 to 3";
    for (trace_format, anchor_format) in [(1, 3), (2, 0), (2, 4)] {
        let anchor = Anchor { trace_format, anchor_format, ..Anchor::default() };
        refused(ArchiveWriter::create(&path, anchor), &path, reason);
    }
}

#[test]
fn zero_byte_in_a_string_is_refused_and_leaves_no_anchor() {
    let path = fresh("zeros").join("traces.otf2");
    let anchor = Anchor { creator: "a\0b".into(), ..Anchor::default() };
    let mut writer = ArchiveWriter::create(&path, anchor).unwrap();
    let string = Definition::String { reference: 0, string: b"a\0b" };
    let reason = "cannot write a String record: a string that contains a zero byte";
    refused(writer.define(string), &path.with_extension("def"), reason);
    refused(writer.finish(), &path, "cannot write the anchor: a string that contains a zero byte");
    assert!(!path.exists());
}

#[test]
fn refused_definition_is_not_counted() {
    let path = fresh("counted").join("traces.otf2");
    let mut writer = ArchiveWriter::create(path, Anchor { definitions: 77, ..Anchor::default() }).unwrap();
    writer.define(Definition::String { reference: 0, string: b"a" }).unwrap();
    writer.define(Definition::String { reference: 1, string: b"\0" }).unwrap_err();
    assert_eq!((writer.anchor().definitions, writer.anchor().locations), (1, 0));
}

#[test]
fn location_that_nobody_wrote_has_a_file_without_events() {
    let path = fresh("unwritten").join("traces.otf2");
    let mut writer = ArchiveWriter::create(&path, Anchor::default()).unwrap();
    for definition in records::definitions() {
        writer.define(definition).unwrap();
    }
    let mut events = writer.events(0).unwrap();
    events.write(1, Event::Enter { region: 1 }, Attributes::EMPTY).unwrap();
    events.finish().unwrap();
    writer.finish().unwrap();
    let archive = Archive::open(path).unwrap();
    for (location, expected) in [(0, 1), (1 << 32, 0)] {
        let file = archive.event_file(location).unwrap();
        let mut events = archive.events(&file);
        let count = std::iter::from_fn(|| events.next().unwrap().map(drop)).count();
        assert_eq!(count, expected, "location {location}");
    }
}

#[test]
fn record_in_the_wrong_kind_of_file_is_refused() {
    let path = fresh("wrong").join("0.def");
    let mut local = LocalDefinitionWriter::create(&path, &Anchor::default()).unwrap();
    let clock = Definition::ClockProperties {
        timer_resolution: 1,
        global_offset: 0,
        trace_length: 0,
        realtime_timestamp: 0,
    };
    let reason = "cannot write a ClockProperties record: a record that does not belong into this file";
    refused(local.write(clock), &path, reason);
    let unknown = Definition::Unknown { id: 200, body: &[] };
    refused(local.write(unknown), &path, "cannot write a Unknown record: a record of unknown kind");
}

#[test]
fn tables_and_offsets_that_readers_do_not_take_are_refused() {
    let path = fresh("local").join("0.def");
    let mut local = LocalDefinitionWriter::create(&path, &Anchor::default()).unwrap();
    refused(local.write(table(&[])), &path, "cannot write a MappingTable record: it is empty: leave it out");
    local.write(table(&[7])).unwrap();
    let reason = "cannot write a MappingTable record: it is the second of its kind";
    refused(local.write(table(&[8])), &path, reason);
    local.write(offset(10)).unwrap();
    let reason = "cannot write a ClockOffset record: its time is not after the previous one's";
    for time in [10, 9] {
        refused(local.write(offset(time)), &path, reason);
    }
    local.write(offset(11)).unwrap();
    local.finish().unwrap();
}

#[test]
fn table_that_was_too_large_may_be_tried_again() {
    let path = fresh("again").join("0.def");
    let anchor = Anchor { definition_chunk_size: *CHUNK_SIZES.start(), ..Anchor::default() };
    let mut local = LocalDefinitionWriter::create(&path, &anchor).unwrap();
    let globals: Vec<u64> = (0..1 << 18).collect();
    let message = local.write(table(&globals)).unwrap_err().to_string();
    assert!(message.contains("cannot write a MappingTable record: it may take"), "{message}");
    local.write(table(&globals[..1 << 10])).unwrap();
    local.finish().unwrap();
}

#[test]
fn file_that_cannot_be_created_or_published_says_so() {
    let directory = fresh("unpublished");
    let path = directory.join("missing/0.evt");
    let error = EventWriter::create(&path, &Anchor::default()).unwrap_err();
    assert!(error.is_not_found(), "{error}");
    let message = error.to_string();
    assert!(message.contains("0.evt.part: cannot create the file: "), "{message}");

    let path = directory.join("0.evt");
    let writer = EventWriter::create(&path, &Anchor::default()).unwrap();
    fs::create_dir(&path).unwrap();
    let message = writer.finish().unwrap_err().to_string();
    assert!(message.starts_with(&format!("{}: cannot finish the file: ", path.display())), "{message}");
    assert_eq!(fs::read_dir(directory).unwrap().count(), 1, "nothing but the obstacle is left");
}
