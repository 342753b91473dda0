//! Event records in intact chunks: positions and offsets are right, reading twice gives the same, mapping is
//! harmless. Complete files are written and read again alike.

#![no_main]

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use otf2::{
    Anchor, ByteOrder, Event, EventCursor, EventRecord, EventWriter, IdMap, IdPair, MappingType, Mappings,
};
use replay_fuzz::{Chunked, check_error, check_message, check_same, peak, scratch};

fuzz_target!(|input: &[u8]| {
    let Chunked { bytes, chunk_size, order } = Chunked::new(input);
    let (found, is_complete) = events(&bytes, chunk_size);
    let (again, is_complete_again) = events(&bytes, chunk_size);
    let (result, memory) = peak(|| {
        let mut cursor = EventCursor::new(&bytes, Path::new("0.evt"), chunk_size);
        while cursor.next()?.is_some() {}
        Ok::<(), otf2::Error>(())
    });
    assert!(result.is_err() || memory == 0, "a cursor allocates {memory} bytes");
    check_same(&found, &again);
    assert_eq!(is_complete, is_complete_again);
    let identity = Mappings::default();
    for record in &found {
        assert_eq!(record.event.map(&identity), record.event, "no tables, nothing to map");
        let mapped = record.event.map(&MAPPINGS);
        assert_eq!(mapped.name(), record.event.name());
        if let (Event::Enter { region: local }, Event::Enter { region: global }) = (record.event, mapped) {
            assert_eq!(global, MAPPINGS.global(MappingType::Region, local));
        }
        for attribute in record.attributes {
            assert_eq!(attribute.map(&identity), attribute);
            assert_eq!(attribute.map(&MAPPINGS).value.kind, attribute.value.kind);
        }
    }
    if is_complete && !found.is_empty() {
        round_trip(&found, order);
    }
});

/// A dense table for every other kind of reference, a sparse one for the rest.
static MAPPINGS: LazyLock<Mappings> = LazyLock::new(|| {
    let globals: &[u64] = &[3, 1, u64::MAX, 1 << 32, 0];
    let pairs: &[IdPair] = &[
        IdPair { local: 1, global: 4 },
        IdPair { local: 1 << 20, global: 2 },
        IdPair { local: u32::MAX as u64, global: 5 },
    ];
    let mut mappings = Mappings::default();
    for (at, kind) in MappingType::ALL.into_iter().enumerate() {
        let map = if at % 2 == 0 { IdMap::Sparse(pairs.into()) } else { IdMap::Dense(globals.into()) };
        assert!(mappings.insert(kind, map));
    }
    mappings
});

/// All events up to the end or an error, and whether the end was reached; checks the guarantees of the
/// cursor.
fn events(file: &[u8], chunk_size: u64) -> (Vec<EventRecord<'_>>, bool) {
    let mut cursor = EventCursor::new(file, Path::new("0.evt"), chunk_size);
    let mut found: Vec<EventRecord<'_>> = Vec::new();
    loop {
        match cursor.next() {
            Ok(Some(record)) => {
                assert_eq!(record.position, found.len() as u64 + 1, "events are counted from 1");
                assert!(record.offset < file.len() as u64, "an offset beyond the file");
                assert!(found.last().is_none_or(|last| last.offset < record.offset), "offsets increase");
                assert_eq!(record.attributes.iter().count(), record.attributes.len());
                let (counted, announced) = match record.event {
                    Event::Metric { metric_values, .. } => {
                        (metric_values.iter().count(), metric_values.len())
                    }
                    Event::ProgramBegin { program_arguments, .. } => {
                        (program_arguments.iter().count(), program_arguments.len())
                    }
                    _ => (0, 0),
                };
                assert_eq!(counted, announced, "a list has as many elements as it says");
                found.push(record);
            }
            Ok(None) => return (found, true),
            Err(error) => {
                check_error(&error, file);
                for _ in 0..2 {
                    assert!(matches!(cursor.next(), Ok(None)), "finished after an error");
                }
                return (found, false);
            }
        }
    }
}

/// Writes the events that the writer accepts: reading gives the same, and writing those the same bytes.
fn round_trip(found: &[EventRecord<'_>], order: ByteOrder) {
    let (taken, bytes) = written(found, order);
    let (read, is_complete) = events(&bytes, Anchor::default().event_chunk_size);
    assert!(is_complete);
    assert_eq!(taken.len(), read.len());
    for (taken, read) in taken.iter().zip(&read) {
        assert_eq!(
            (taken.time, taken.event, taken.attributes),
            (read.time, read.event, read.attributes),
            "what is written is read again"
        );
    }
    assert!(written(&read, order).1 == bytes, "written again, it is another file");
}

fn written<'a>(found: &[EventRecord<'a>], order: ByteOrder) -> (Vec<EventRecord<'a>>, Vec<u8>) {
    let path = scratch().join("0.evt");
    let anchor = Anchor { byte_order: order, ..Anchor::default() };
    let mut writer = EventWriter::create(&path, &anchor).expect("a new file");
    let mut taken = Vec::new();
    for &record in found {
        match writer.write(record.time, record.event, record.attributes) {
            Ok(()) => taken.push(record),
            Err(error) => check_message(&error),
        }
    }
    assert_eq!(writer.finish().expect("a complete file"), taken.len() as u64);
    (taken, fs::read(&path).expect("it was written"))
}
