//! Records that differ from the recorded ones: distances of the archive's calling contexts, and plain
//! records.

use crate::finishing::finished;
use crate::laws;
use crate::recordings::{CHUNK, Rank, check, fresh, mpi, ring};
use launcher::{Outcome, Summary};
use otf2::{Archive, Event, EventCursor};
use recording::journal::{JournalRecord, Region};
use recording::layout;
use recording::paths::{MPI_FUNCTION, NO_PARENT, REGION, SAMPLE};
use recording::settings::EventRecords;
use std::fs;
use std::path::Path;

fn enter(calling_context: u32) -> Event<'static> {
    // The recorder's distances count other frames.
    Event::CallingContextEnter { calling_context, unwind_distance: 77 }
}

fn leave(calling_context: u32) -> Event<'static> {
    Event::CallingContextLeave { calling_context }
}

fn sample(calling_context: u32) -> Event<'static> {
    Event::CallingContextSample { calling_context, unwind_distance: 88, interrupt_generator: 0 }
}

/// Returns the distances of a location's enters and samples in their order.
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

/// Creates a process with the regions 0, 1, … that the program has named.
fn with_regions(directory: &Path, regions: u32) -> Rank {
    let mut rank = Rank::new(directory, 0, 1);
    for region in 0..regions {
        let (name, file) = (format!("region {region}"), None);
        rank.write(JournalRecord::Region(Region { region, name, file, line: 0, phase: false }));
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
            // Two addresses of unknown code are one context.
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

/// Regions in each other, deeper than a byte can count, of which only the innermost is in an event.
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
fn unknown_context_is_left_out_and_reported() {
    let directory = fresh("unknown_context");
    let rank = with_regions(&directory, 1);
    rank.paths(0, &[(REGION, 0, NO_PARENT)]);
    rank.record(0, &[(1, enter(0)), (2, enter(5)), (3, leave(5)), (4, sample(0)), (5, leave(0))]);
    let summary = finished(&directory);
    assert!(summary.has_losses && summary.notices[0].contains("2 of its events are left out"), "{summary:?}");
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
    let summary = match launcher::finish(&directory, None).unwrap() {
        Outcome::Written(summary) => summary,
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
    // An enter of context 0: its type, its length, the context, the size of the distance, and the distance.
    let at = bytes.windows(5).position(|bytes| bytes == [66, 3, 0, 1, 2]).unwrap();
    bytes[at + 4] = 3;
    fs::write(&path, bytes).unwrap();
    let complaint = laws::broken(&directory).unwrap();
    assert!(complaint.contains("1 contexts are new, from  to MPI_Send"), "{complaint}");
}

/// Returns the events of a location, each with its time; regions by the numbers in their names.
fn lines(directory: &Path, location: u64) -> Vec<String> {
    let archive = Archive::open(directory).unwrap();
    let definitions = archive.definitions().unwrap();
    let file = archive.event_file(location).unwrap();
    let mut events = archive.events(&file);
    let mut found = Vec::new();
    while let Some(record) = events.next().unwrap() {
        let name = |region: u32| {
            let name = &definitions.regions.find(region.into()).unwrap().name;
            name.trim_start_matches("region ").to_string()
        };
        let event = match record.event {
            Event::Enter { region } => format!("+{}", name(region)),
            Event::Leave { region } => format!("-{}", name(region)),
            other => other.name().to_string(),
        };
        found.push(format!("{} {event}", record.time));
    }
    found
}

/// Completes a recording with plain records.
fn finished_plainly(directory: &Path) -> Summary {
    match launcher::finish(directory, Some(EventRecords::EnterLeave)).unwrap() {
        Outcome::Written(summary) => summary,
        other => panic!("{other:?}"),
    }
}

/// Functions 0, 1 and 2, the first calls the others; MPI functions in all of them, and other call sites. The
/// constants are the numbers of their paths.
const PATHS: [(u32, u64, u32); 8] = [
    (REGION, 0, NO_PARENT),
    (REGION, 1, 0),
    (REGION, 2, 0),
    (MPI_FUNCTION, 0, 0),
    (MPI_FUNCTION, 0, 1),
    (MPI_FUNCTION, 0, 2),
    (REGION, 3, 1),
    (MPI_FUNCTION, 0, 6),
];
const IN_0: u32 = 3;
const IN_1: u32 = 4;
const IN_2: u32 = 5;
const IN_3: u32 = 7;

/// How far samples may be apart: two periods of 10 ms and 10 ms, in ticks of half a nanosecond.
const GAP: u64 = 60_000_000;

/// Returns the plain records of these events; the MPI function is `M`.
fn plain(test: &str, events: &[(u64, Event<'_>)]) -> String {
    let directory = fresh(test);
    let rank = with_regions(&directory, 4);
    rank.paths(0, &PATHS);
    rank.record(0, events);
    let summary = finished_plainly(&directory);
    let lines = lines(&directory, 0);
    assert_eq!((check(&directory), summary.events), (lines.len() as u64, lines.len() as u64));
    assert_eq!(summary.notices, [""; 0]);
    let mpi = recording::functions::all()[0].name;
    lines.join(", ").replace(mpi, "M")
}

#[test]
fn functions_that_two_calls_have_in_common_stay_between_them() {
    let found = plain(
        "between_calls",
        &[
            (10, enter(IN_1)),
            (11, Event::MpiSend { receiver: 0, communicator: 0, msg_tag: 0, msg_length: 1 }),
            (12, leave(IN_1)),
            (20, enter(IN_2)),
            (22, leave(IN_2)),
            (30, enter(IN_3)),
            (32, leave(IN_3)),
            (40, enter(IN_0)),
            (42, leave(IN_0)),
        ],
    );
    let expected = "10 +0, 10 +1, 10 +M, 11 MpiSend, 12 -M, 12 -1, 20 +2, 20 +M, 22 -M, 22 -2, \
                    30 +1, 30 +3, 30 +M, 32 -M, 32 -3, 32 -1, 40 +M, 42 -M, 42 -0";
    assert_eq!(found, expected);
}

#[test]
fn regions_with_events_are_entered_and_left_at_their_own_times() {
    let found = plain(
        "own_times",
        &[
            (10, enter(0)),
            (20, enter(1)),
            (30, enter(IN_3)),
            (31, leave(IN_3)),
            (40, leave(1)),
            (45, Event::MeasurementOnOff { measurement_mode: model::MeasurementMode::OFF }),
            (55, Event::MeasurementOnOff { measurement_mode: model::MeasurementMode::ON }),
            (60, leave(0)),
        ],
    );
    let expected = "10 +0, 20 +1, 30 +3, 30 +M, 31 -M, 31 -3, 40 -1, 45 MeasurementOnOff, \
                    55 MeasurementOnOff, 60 -0";
    assert_eq!(found, expected);
}

#[test]
fn thread_is_on_a_sampled_path_before_and_behind_the_sample_as_long_as_samples_may_be_apart() {
    let events = |sampled: u64, next: u64| {
        [
            (1, enter(IN_1)),
            (10, leave(IN_1)),
            (20, Event::BufferFlush { stop_time: otf2::Timestamp(30) }),
            (sampled, sample(2)),
            (next, enter(IN_1)),
            (next + 5, leave(IN_1)),
        ]
    };
    let begin = "1 +0, 1 +1, 1 +M, 10 -M, 10 -1";
    let end = |next: u64| {
        let end = next + 5;
        format!("{next} +1, {next} +M, {end} -M, {end} -1, {end} -0")
    };
    // Close on both sides: from the call before to the call behind.
    let (sampled, next) = (10 + GAP, 10 + 2 * GAP);
    let expected = format!("{begin}, 10 +2, 20 BufferFlush, {next} -2, {}", end(next));
    assert_eq!(plain("close_samples", &events(sampled, next)), expected);
    // A tick further apart: at the sample alone.
    let (sampled, next) = (11 + GAP, 12 + 2 * GAP);
    let expected = format!("{begin}, 20 BufferFlush, {sampled} +2, {sampled} -2, {}", end(next));
    assert_eq!(plain("far_samples", &events(sampled, next)), expected);
}

#[test]
fn time_between_two_samples_belongs_to_the_later_one_unless_it_is_long() {
    let late = 31 + GAP;
    let events = [(10, enter(IN_0)), (11, leave(IN_0)), (20, sample(1)), (30, sample(2)), (late, sample(6))];
    let expected = format!(
        "10 +0, 10 +M, 11 -M, 11 +1, 20 -1, 20 +2, 30 -2, {late} +1, {late} +3, {late} -3, {late} -1, {late} -0"
    );
    assert_eq!(plain("two_samples", &events), expected);
}

#[test]
fn end_of_the_program_closes_regions_with_events_and_the_last_call_the_rest() {
    let end = Event::ProgramEnd { exit_status: 0 };
    let open = [(10, enter(IN_1)), (12, leave(IN_1)), (20, enter(IN_2)), (30, end)];
    let expected = "10 +0, 10 +1, 10 +M, 12 -M, 12 -1, 20 +2, 20 +M, 30 -M, 30 -2, 30 -0, 30 ProgramEnd";
    assert_eq!(plain("end_closes", &open), expected);
    let left = [(5, enter(0)), (10, enter(IN_3)), (12, leave(IN_3)), (30, end)];
    let expected = "5 +0, 10 +1, 10 +3, 10 +M, 12 -M, 12 -3, 12 -1, 30 -0, 30 ProgramEnd";
    assert_eq!(plain("end_closes_regions", &left), expected);
    let sampled = [(10, enter(IN_1)), (12, leave(IN_1)), (20, sample(6)), (30, end)];
    let expected = "10 +0, 10 +1, 10 +M, 12 -M, 12 +3, 30 -3, 30 -1, 30 -0, 30 ProgramEnd";
    assert_eq!(plain("end_closes_sample", &sampled), expected);
}

#[test]
fn leave_without_enter_is_nested_all_the_same() {
    let found = plain("leave_first", &[(10, leave(IN_1)), (20, leave(IN_2))]);
    assert_eq!(found, "10 +0, 10 +1, 10 +M, 10 -M, 10 -1, 20 +2, 20 +M, 20 -M, 20 -2, 20 -0");
}

#[test]
fn recording_has_the_wanted_records_unless_others_are_requested() {
    let record = |test: &str| {
        let directory = fresh(test);
        let mut rank = with_regions(&directory, 1);
        rank.write(JournalRecord::Records { records: EventRecords::EnterLeave });
        rank.paths(0, &[(REGION, 0, NO_PARENT)]);
        rank.record(0, &[(1, enter(0)), (2, leave(0))]);
        directory
    };
    let plain = record("wanted_plain");
    finished(&plain);
    assert_eq!(lines(&plain, 0), ["1 +0", "2 -0"]);
    let other = record("wanted_otherwise");
    launcher::finish(&other, Some(EventRecords::CallingContexts)).unwrap();
    assert_eq!(lines(&other, 0), ["1 CallingContextEnter", "2 CallingContextLeave"]);
    check(&other);
}

#[test]
fn plain_records_that_were_interrupted_become_whichever_are_wanted_then() {
    let complete = |test: &str, records| {
        let directory = fresh(test);
        ring(&directory, 2, 12_000);
        launcher::finish(&directory, Some(records)).unwrap();
        check(&directory);
        fs::read(layout::events(&directory, 1)).unwrap()
    };
    let of = |test: &str, records| (records, complete(test, records));
    let both =
        [of("again_plain", EventRecords::EnterLeave), of("again_contexts", EventRecords::CallingContexts)];
    for (number, (records, expected)) in both.iter().enumerate() {
        let directory = fresh(&format!("again_{number}"));
        ring(&directory, 2, 12_000);
        // As far as the second location: its events are complete and kept, the new ones half written.
        let path = layout::events(&directory, 1);
        fs::write(layout::kept(&directory, 1), complete("again_kept", EventRecords::CallingContexts))
            .unwrap();
        fs::remove_file(&path).unwrap();
        fs::write(path.with_extension("evt.part"), "half a file").unwrap();
        launcher::finish(&directory, Some(*records)).unwrap();
        check(&directory);
        assert!(fs::read(&path).unwrap() == *expected, "{records:?}");
    }
}
