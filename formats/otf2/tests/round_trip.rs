//! Round trips: every kind of record, with extreme values, is the same after decoding, writing and decoding
//! again.
//!
//! The values come from random bodies, so a new kind of record is tested without a change here.

use crate::records::{EVENT_KINDS, GLOBAL_KINDS, LOCAL_KINDS};
use crate::support::{Random, chunk, fresh};
use otf2::{
    Anchor, ArchiveWriter, Attributes, ByteOrder, Definition, DefinitionCursor, Event, EventCursor,
    FileBytes, LocalDefinitionWriter,
};
use std::collections::BTreeSet;
use std::path::Path;

/// Default chunk size of definition files.
const CHUNK: u64 = 256 << 10;
const BODIES: usize = 100;
/// Ids of events without length byte.
const SINGLETONS: [u8; 10] = [12, 13, 16, 17, 20, 21, 24, 28, 29, 30];

/// Encoded numbers at the ends of their widths, most of them the same in both byte orders.
const NUMBERS: [&[u8]; 12] = [
    &[0],
    &[0],
    &[0xff],
    &[1, 1],
    &[1, 2],
    &[1, 0xff],
    &[2, 0, 1],
    &[3, 255, 255, 255],
    &[4, 255, 255, 255, 255],
    &[4, 0, 0, 0, 0x80],
    &[8, 0, 0, 0, 0, 0, 0, 0, 0x80],
    &[8, 255, 255, 255, 255, 255, 255, 255, 255],
];

/// The record `id` with a body of random numbers, long enough for every kind.
fn record(random: &mut Random, id: u8) -> Vec<u8> {
    let body: Vec<u8> =
        (0..40).flat_map(|_| NUMBERS[random.below(NUMBERS.len())]).copied().take(200).collect();
    [&[id, u8::try_from(body.len()).unwrap()][..], &body].concat()
}

fn singleton(random: &mut Random, id: u8) -> Vec<u8> {
    [&[id][..], NUMBERS[random.below(NUMBERS.len())]].concat()
}

#[test]
fn every_event_survives() {
    let directory = fresh("events");
    for order in [ByteOrder::Little, ByteOrder::Big] {
        let mut random = Random(7);
        let files: Vec<Vec<u8>> = (0..BODIES)
            .flat_map(|_| 10..=92)
            .map(|id| {
                let record = if SINGLETONS.contains(&id) { singleton } else { record };
                chunk(order, &record(&mut random, id))
            })
            .collect();
        let decode = |file| EventCursor::new(file, Path::new("a.evt"), CHUNK).next().ok().flatten();
        let events: Vec<Event<'_>> = files.iter().filter_map(|file| decode(file)).map(|r| r.event).collect();
        let kinds: BTreeSet<_> = events.iter().map(Event::name).collect();
        assert_eq!(kinds.len(), EVENT_KINDS, "{kinds:?}");

        let anchor = Anchor { byte_order: order, ..Anchor::default() };
        let path = directory.join(format!("{order:?}.evt"));
        let mut writer = otf2::EventWriter::create(&path, &anchor).unwrap();
        for (&event, time) in events.iter().zip(0..) {
            writer.write(time / 3, event, Attributes::EMPTY).unwrap();
        }
        assert_eq!(writer.finish().unwrap(), events.len() as u64);
        let file = FileBytes::open(path).unwrap();
        let mut cursor = EventCursor::new(&file, file.path(), anchor.event_chunk_size);
        for (event, time) in events.iter().zip(0..) {
            let again = cursor.next().unwrap().unwrap();
            assert_eq!((again.time, &again.event), (time / 3, event));
        }
        assert_eq!(cursor.next().unwrap(), None);
    }
}

/// Definitions with random bodies, without the offsets and tables that writers refuse.
fn definitions<'a>(
    files: &'a [Vec<u8>],
    cursor: fn(&'a [u8]) -> DefinitionCursor<'a>,
) -> Vec<Definition<'a>> {
    let decoded = files.iter().filter_map(|file| cursor(file).next().ok().flatten());
    let known = decoded.map(|record| record.definition).filter(|definition| definition.name() != "Unknown");
    let (mut tables, mut time) = (BTreeSet::new(), 0);
    known
        .filter(|definition| match definition {
            Definition::MappingTable { mapping_type, id_map } => {
                !id_map.is_empty() && tables.insert(*mapping_type)
            }
            Definition::ClockOffset { time: next, .. } => {
                let later = next.0 > time;
                time = time.max(next.0);
                later
            }
            _ => true,
        })
        .collect()
}

fn global(file: &[u8]) -> DefinitionCursor<'_> {
    DefinitionCursor::global(file, Path::new("a.def"), CHUNK)
}

fn local(file: &[u8]) -> DefinitionCursor<'_> {
    DefinitionCursor::local(file, Path::new("0.def"), CHUNK)
}

/// Compares records as text, in which a NaN equals itself.
fn assert_same(path: &Path, cursor: fn(&[u8]) -> DefinitionCursor<'_>, expected: &[Definition<'_>]) {
    let file = FileBytes::open(path).unwrap();
    let mut cursor = cursor(&file);
    for definition in expected {
        let again = cursor.next().unwrap().unwrap().definition;
        assert_eq!(format!("{again:?}"), format!("{definition:?}"));
    }
    assert_eq!(cursor.next().unwrap(), None);
}

#[test]
fn every_definition_survives() {
    let directory = fresh("definitions");
    for order in [ByteOrder::Little, ByteOrder::Big] {
        let anchor = Anchor { byte_order: order, ..Anchor::default() };
        let mut random = Random(11);
        let files: Vec<Vec<u8>> =
            (0..BODIES).flat_map(|_| 5..=43).map(|id| chunk(order, &record(&mut random, id))).collect();

        let expected = definitions(&files, global);
        let kinds: BTreeSet<_> = expected.iter().map(Definition::name).collect();
        assert_eq!(kinds.len(), GLOBAL_KINDS, "{kinds:?}");
        let path = directory.join(format!("{order:?}.otf2"));
        let mut writer = ArchiveWriter::create(&path, anchor.clone()).unwrap();
        for &definition in expected.iter().filter(|definition| definition.name() != "Location") {
            writer.define(definition).unwrap();
        }
        writer.finish().unwrap();
        let expected: Vec<_> =
            expected.into_iter().filter(|definition| definition.name() != "Location").collect();
        assert_same(&path.with_extension("def"), global, &expected);

        let expected = definitions(&files, local);
        let kinds: BTreeSet<_> = expected.iter().map(Definition::name).collect();
        assert_eq!(kinds.len(), LOCAL_KINDS, "{kinds:?}");
        let path = directory.join(format!("{order:?}-0.def"));
        let mut writer = LocalDefinitionWriter::create(&path, &anchor).unwrap();
        for &definition in &expected {
            writer.write(definition).unwrap();
        }
        writer.finish().unwrap();
        assert_same(&path, local, &expected);
    }
}
