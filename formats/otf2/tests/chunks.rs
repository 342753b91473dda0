//! Chunk boundaries: whatever room is left there, files obey the format and read back the same.

use crate::support::fresh;
use otf2::{
    Anchor, ArchiveWriter, Attribute, Attributes, CHUNK_SIZES, Definition, DefinitionCursor, Event,
    EventCursor, EventWriter, FileBytes, Value, ValueType,
};
use std::path::{Path, PathBuf};

fn smallest() -> Anchor {
    Anchor {
        event_chunk_size: *CHUNK_SIZES.start(),
        definition_chunk_size: *CHUNK_SIZES.start(),
        ..Anchor::default()
    }
}

fn chunk_size() -> usize {
    usize::try_from(*CHUNK_SIZES.start()).unwrap()
}

fn number(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().unwrap())
}

/// Checks the framing of a file and returns the number of its chunks.
fn check_frame(file: &[u8]) -> usize {
    let mut next = 1;
    for chunk in file.chunks(chunk_size()) {
        let (first, last) = (number(&chunk[2..10]), number(&chunk[10..18]));
        assert_eq!((chunk[0], chunk[1], first), (3, 0x42, next));
        next = last + 1;
        if last >= first {
            assert_eq!(chunk[18], 5, "a chunk with events begins with a time stamp");
            assert_ne!(chunk[27], 5, "two time stamps in a row");
        }
    }
    assert!(file.ends_with(&[2, 1]));
    file.len().div_ceil(chunk_size())
}

/// Writes events that each take 15 bytes, their upper bound, behind `shift` bytes of other records.
fn write_full(path: &Path, shift: usize, count: u64) -> u64 {
    let mut writer = EventWriter::create(path, &smallest()).unwrap();
    for _ in 0..shift / 2 {
        writer.write(1, Event::MpiCollectiveBegin {}, Attributes::EMPTY).unwrap();
    }
    if shift % 2 == 1 {
        writer.write(1, Event::OmpFork { number_of_requested_threads: 1 }, Attributes::EMPTY).unwrap();
    }
    for time in 0..count {
        writer.write(100 + time, Event::Enter { region: 0x0102_0304 }, Attributes::EMPTY).unwrap();
    }
    writer.finish().unwrap()
}

fn count(path: PathBuf) -> u64 {
    let file = FileBytes::open(path).unwrap();
    let mut cursor = EventCursor::new(&file, file.path(), *CHUNK_SIZES.start());
    let (mut count, mut last) = (0, 0);
    while let Some(record) = cursor.next().unwrap() {
        count += 1;
        assert_eq!(record.position, count);
        assert!(record.time >= last);
        last = record.time;
    }
    count
}

#[test]
fn every_rest_of_a_chunk_is_filled_by_the_rules() {
    let directory = fresh("rests");
    // 262144 − 18 is a multiple of 15 and one byte more.
    let fits = (chunk_size() as u64 - 18) / 15;
    for shift in 0..20 {
        for events in [fits - 2, fits - 1, fits, fits + 1] {
            let path = directory.join("0.evt");
            let written = write_full(&path, shift, events);
            let chunks = check_frame(&FileBytes::open(&path).unwrap());
            assert!((1..=2).contains(&chunks));
            assert_eq!(count(path), written);
        }
    }
}

#[test]
fn end_marks_that_do_not_fit_get_a_chunk_of_their_own() {
    let path = fresh("marks").join("0.evt");
    let fits = (chunk_size() as u64 - 18) / 15;
    assert_eq!(write_full(&path, 0, fits), fits);
    let file = FileBytes::open(&path).unwrap();
    assert_eq!(file.len(), chunk_size() + 20);
    assert_eq!(check_frame(&file), 2);
}

#[test]
fn time_zero_over_a_chunk_boundary_is_stamped_once() {
    let path = fresh("zero").join("0.evt");
    let mut writer = EventWriter::create(&path, &smallest()).unwrap();
    for _ in 0..60_000 {
        writer.write(0, Event::Enter { region: 1 }, Attributes::EMPTY).unwrap();
    }
    assert_eq!(writer.finish().unwrap(), 60_000);
    assert_eq!(check_frame(&FileBytes::open(&path).unwrap()), 3);
    assert_eq!(count(path), 60_000);
}

#[test]
fn definitions_leave_room_for_their_end() {
    let directory = fresh("strings");
    for rest in 0..5 {
        let path = directory.join(format!("{rest}.otf2"));
        let mut writer = ArchiveWriter::create(&path, smallest()).unwrap();
        // A header of 18 bytes; number, long length, reference and final zero around each string.
        let string = vec![b'x'; chunk_size() - 18 - (1 + 9 + 1 + 1) - rest];
        let written = writer.define(Definition::String { reference: 0, string: &string });
        assert_eq!(written.is_ok(), rest > 0, "{rest} bytes left");
        writer.finish().unwrap();
        let file = FileBytes::open(path.with_extension("def")).unwrap();
        assert_eq!(file.len() > chunk_size(), rest == 1, "{rest} bytes left");
        let mut cursor = DefinitionCursor::global(&file, file.path(), *CHUNK_SIZES.start());
        assert_eq!(cursor.next().unwrap().is_some(), rest > 0);
        assert!(cursor.next().unwrap().is_none());
    }
}

#[test]
fn long_attribute_lists_survive_and_too_long_ones_are_refused() {
    let path = fresh("lists").join("0.evt");
    let mut writer = EventWriter::create(&path, &smallest()).unwrap();
    let lists: Vec<Vec<Attribute>> = [1, 16, 17, 300, 17_000]
        .map(|length| {
            (0..length).map(|n| Attribute {
                attribute: n,
                value: Value::new(ValueType::UINT64, u64::MAX >> (n % 60)),
            })
        })
        .map(Iterator::collect)
        .into();
    for (list, time) in lists.iter().zip(1..) {
        writer.write(time, Event::Leave { region: 7 }, list.as_slice().into()).unwrap();
    }
    let long = lists[4].repeat(2).into_iter().zip(0..).map(|(a, n)| Attribute { attribute: n, ..a });
    let long: Vec<_> = long.collect();
    let error = writer.write(9, Event::Leave { region: 7 }, long.as_slice().into()).unwrap_err();
    assert!(error.to_string().contains("a chunk holds"), "{error}");
    writer.finish().unwrap();
    let file = FileBytes::open(path).unwrap();
    let mut cursor = EventCursor::new(&file, file.path(), *CHUNK_SIZES.start());
    for list in &lists {
        assert!(cursor.next().unwrap().unwrap().attributes.iter().eq(list.iter().copied()));
    }
    assert_eq!(cursor.next().unwrap(), None);
}

#[test]
fn what_no_reader_would_take_is_refused() {
    let mut writer = EventWriter::create(fresh("refused").join("0.evt"), &smallest()).unwrap();
    let twice = [Attribute { attribute: 3, value: Value::string(0) }; 2];
    writer.write(10, Event::Leave { region: 7 }, Attributes::EMPTY).unwrap();
    let late = writer.write(9, Event::Leave { region: 7 }, Attributes::EMPTY).unwrap_err().to_string();
    assert!(
        late.ends_with("cannot write a Leave record: its time 9 is before 10, the previous one"),
        "{late}"
    );
    let twice =
        writer.write(10, Event::Leave { region: 7 }, twice.as_slice().into()).unwrap_err().to_string();
    assert!(twice.ends_with("attribute 3 occurs twice"), "{twice}");
    let unknown = Event::Unknown { id: 200, body: &[] };
    assert!(writer.write(10, unknown, Attributes::EMPTY).is_err());
    assert_eq!(writer.finish().unwrap(), 1);
}
