//! Records that are not as they were recorded: distances that fit the calling contexts.

use crate::finishing::finished;
use crate::laws;
use crate::recordings::{CHUNK, Rank, check, fresh, mpi, ring};
use otf2::{Archive, Event, EventCursor};
use recording::journal::{Entry, Region};
use recording::layout;
use recording::paths::{MPI_FUNCTION, NO_PARENT, REGION, SAMPLE};
use std::fs;
use std::path::Path;

fn enter(calling_context: u32) -> Event<'static> {
    // The recorder's distances count something else.
    Event::CallingContextEnter { calling_context, unwind_distance: 77 }
}

fn leave(calling_context: u32) -> Event<'static> {
    Event::CallingContextLeave { calling_context }
}

fn sample(calling_context: u32) -> Event<'static> {
    Event::CallingContextSample { calling_context, unwind_distance: 88, interrupt_generator: 0 }
}

/// The distances of a location's enters and samples in their order.
fn distances(directory: &Path, location: u64) -> Vec<u32> {
    let archive = Archive::open(directory).unwrap();
    let file = archive.event_file(location).unwrap();
    let mut events = archive.events(&file);
    let mut found = Vec::new();
    while let Some(record) = events.next().unwrap() {
        match record.event {
            Event::CallingContextEnter { unwind_distance, .. }
            | Event::CallingContextSample { unwind_distance, .. } => found.push(unwind_distance),
            _ => {}
        }
    }
    found
}

/// A process with the regions 0, 1, … that the program has named.
fn with_regions(directory: &Path, regions: u32) -> Rank {
    let mut rank = Rank::new(directory, 0, 1);
    for region in 0..regions {
        let (name, file) = (format!("region {region}"), None);
        rank.tell(Entry::Region(Region { region, name, file, line: 0, phase: false }));
    }
    rank
}

#[test]
fn distances_follow_from_the_contexts_whatever_was_recorded() {
    let directory = fresh("distances");
    let rank = with_regions(&directory, 2);
    let barrier = mpi("MPI_Barrier");
    rank.paths(
        0,
        &[
            (REGION, 0, NO_PARENT),
            (REGION, 1, 0),
            (MPI_FUNCTION, barrier, 1),
            (MPI_FUNCTION, barrier, NO_PARENT),
            // Two addresses of code that nobody knows are one context.
            (SAMPLE, 0x10, 1),
            (SAMPLE, 0x20, 1),
        ],
    );
    let events = [
        enter(3),
        leave(3),
        enter(0),
        enter(1),
        sample(4),
        sample(5),
        enter(2),
        leave(2),
        sample(1),
        enter(2),
        leave(2),
        leave(1),
        enter(1),
        leave(1),
        sample(0),
        leave(0),
        sample(5),
    ];
    let events: Vec<_> = (10..).zip(events).collect();
    rank.record(0, &events);
    let before = fs::metadata(layout::buffer(&directory, 0)).unwrap().len();
    assert!(before > 0);
    assert_eq!(finished(&directory).notices, [""; 0]);
    assert_eq!(distances(&directory, 0), [2, 2, 2, 2, 1, 2, 1, 2, 2, 1, 4]);
    assert_eq!(check(&directory), events.len() as u64);
}

#[test]
fn distances_of_all_chunks_are_corrected_in_their_places() {
    let directory = fresh("distances_of_chunks");
    let rank = with_regions(&directory, 1);
    rank.paths(0, &[(REGION, 0, NO_PARENT), (MPI_FUNCTION, mpi("MPI_Barrier"), 0)]);
    let events: Vec<_> = std::iter::once((10, enter(0)))
        .chain((0..40_000).map(|at| (11 + at, if at % 2 == 0 { enter(1) } else { leave(1) })))
        .collect();
    rank.record(0, &events);
    let recorded = fs::read(layout::events(&directory, 0)).unwrap();
    assert!(recorded.len() as u64 >= 2 * CHUNK);
    finished(&directory);
    assert_eq!(check(&directory), events.len() as u64);
    let complete = fs::read(layout::events(&directory, 0)).unwrap();
    let changed = recorded.iter().zip(&complete).filter(|(recorded, complete)| recorded != complete);
    assert!(changed.clone().all(|(&recorded, &complete)| (recorded, complete) == (77, 2)));
    assert!(changed.count() > 10_000);
}

/// Regions in each other, deeper than a byte can count, of which the innermost is all that was told of.
fn deep(directory: &Path) {
    const DEPTH: u32 = 400;
    let rank = with_regions(directory, DEPTH);
    let nodes: Vec<_> =
        (0..DEPTH).map(|at| (REGION, at.into(), at.checked_sub(1).unwrap_or(NO_PARENT))).collect();
    rank.paths(0, &nodes);
    let last = DEPTH - 1;
    rank.record(
        0,
        &[(10, enter(last)), (20, Event::BufferFlush { stop_time: otf2::Timestamp(25) }), (30, leave(last))],
    );
}

#[test]
fn distance_that_has_no_room_gets_it_in_a_new_file() {
    let directory = fresh("no_room");
    deep(&directory);
    assert_eq!(finished(&directory).notices, [""; 0]);
    assert_eq!(distances(&directory, 0), [401]);
    assert_eq!(check(&directory), 3);
}

#[test]
fn new_file_that_was_interrupted_is_written_again() {
    let reference = fresh("new_file");
    deep(&reference);
    finished(&reference);
    let expected = fs::read(layout::events(&reference, 0)).unwrap();
    // As it is kept: complete, with its end marks.
    let kept = fresh("new_file_kept");
    deep(&kept);
    let buffer = fs::read(layout::buffer(&kept, 0)).unwrap();
    let filled = u64::from_ne_bytes(buffer[16..24].try_into().unwrap()) as usize;
    let recorded = [&buffer[4096..4096 + filled], &[2, 1]].concat();
    for (number, new) in [None, Some(&expected[..]), Some(b"half a file")].into_iter().enumerate() {
        let directory = fresh(&format!("new_file_{number}"));
        deep(&directory);
        fs::write(layout::kept(&directory, 0), &recorded).unwrap();
        match new {
            Some(bytes) => fs::write(layout::events(&directory, 0), bytes).unwrap(),
            None => fs::remove_file(layout::events(&directory, 0)).unwrap(),
        }
        assert_eq!(finished(&directory).notices, [""; 0], "case {number}");
        assert!(fs::read(layout::events(&directory, 0)).unwrap() == expected, "case {number}");
    }
}

#[test]
fn context_that_nobody_knows_is_left_out_and_named() {
    let directory = fresh("unknown_context");
    let rank = with_regions(&directory, 1);
    rank.paths(0, &[(REGION, 0, NO_PARENT)]);
    rank.record(0, &[(1, enter(0)), (2, enter(5)), (3, leave(5)), (4, sample(0)), (5, leave(0))]);
    let summary = finished(&directory);
    assert!(summary.has_losses && summary.notices[0].contains("2 events make no sense"), "{summary:?}");
    assert_eq!((check(&directory), summary.events), (3, 3));
    assert_eq!(distances(&directory, 0), [2, 1]);
}

#[test]
fn what_stands_behind_damage_stays_as_it_is() {
    let directory = fresh("damaged_events");
    ring(&directory, 2, 20_000);
    let path = layout::events(&directory, 1);
    let mut damaged = fs::read(&path).unwrap();
    let at = CHUNK as usize + 1000;
    let mut events = EventCursor::new(&damaged, &path, CHUNK);
    let place = loop {
        let head = events.head().unwrap().unwrap();
        if head.offset as usize > at {
            break head.offset as usize;
        }
        events.step_over(head).unwrap();
    };
    // No kind of record has this number.
    damaged[place] = 3;
    let beyond = damaged[place..].iter().position(|&byte| byte == 66).unwrap() + place;
    damaged[beyond + 4] ^= 8;
    fs::write(&path, &damaged).unwrap();
    let summary = match launcher::finish(&directory).unwrap() {
        launcher::Outcome::Written(summary) => summary,
        other => panic!("{other:?}"),
    };
    let named = format!("1.evt: byte {place:#x}");
    assert!(
        summary.has_losses && summary.notices.iter().any(|notice| notice.contains(&named)),
        "{summary:?}"
    );
    assert!(fs::read(&path).unwrap()[place..damaged.len()] == damaged[place..]);
}

#[test]
fn wrong_distance_breaks_the_laws() {
    let directory = fresh("laws");
    ring(&directory, 2, 3);
    finished(&directory);
    let path = layout::events(&directory, 1);
    let mut bytes = fs::read(&path).unwrap();
    // An enter of context 0: its number, its length, the context, the size of the distance, and the distance.
    let at = bytes.windows(5).position(|bytes| bytes == [66, 3, 0, 1, 2]).unwrap();
    bytes[at + 4] = 3;
    fs::write(&path, bytes).unwrap();
    let complaint = laws::broken(&directory).unwrap();
    assert!(complaint.contains("1 contexts are new, from  to MPI_Send"), "{complaint}");
}
