//! Tests of what becomes of records: operations within others, ticks, and calls on files.

use super::*;
use crate::io::IoOptions;
use crate::options::Semantics;
use crate::trace::tests::world;
use io_model::{AccessTotals, Finding, Requests, Walked};
use model::{FileHandle, Region};

/// A rank with a handle of MPI-IO, one of POSIX and one of a library that is built on these, of one file each; and from 10 on with
/// such that are open from the beginning.
fn trace() -> Trace {
    let mut definitions = world(&[1]);
    for (at, name) in ["MPI-IO", "POSIX", "HDF5"].into_iter().enumerate() {
        definitions.io_paradigms.push(at as u64, name.into()).unwrap();
        definitions.files.push(at as u64, name.to_lowercase()).unwrap();
        let handle = FileHandle {
            file: Some(at),
            communicator: None,
            paradigm: Some(at),
            parent: None,
            was_open: None,
        };
        definitions.file_handles.push(at as u64, handle).unwrap();
        definitions.file_handles.push(10 + at as u64, FileHandle { was_open: Some(0), ..handle }).unwrap();
    }
    for (at, name) in ["MPI_File_write", "MPI_File_write_shared", "pwrite"].into_iter().enumerate() {
        let region = Region { name: name.into(), canonical_name: name.into(), ..Region::default() };
        definitions.regions.push(at as u64, region).unwrap();
    }
    Trace::new(definitions, Semantics::default()).unwrap()
}

/// What comes of records: time, depth and region of the innermost call of each.
fn walked(records: &[(Ticks, usize, u32, Event<'_>)]) -> Walked {
    let mut trace = trace();
    let asked = Asked::new(&mut trace, &IoOptions::default());
    let mut feed = Feed::new(&asked, 0, 1);
    for (time, depth, region, event) in records {
        let call = OpenCall { depth: *depth, region: *region, enter: 0 };
        let is_open = |it: OpenCall| it.depth <= *depth;
        let spot = Spot {
            thread: 0,
            time: *time,
            path: PathId::default(),
            call: Some(call),
            is_in_mpi: *region < 2,
            told: &FileAttributes::default(),
            is_open: &is_open,
        };
        feed.take(&trace, event, &Mappings::default(), &spot);
    }
    feed.into_walk().finish()
}

fn create(handle: u32) -> Event<'static> {
    Event::IoCreateHandle { handle, mode: 2, creation_flags: 0, status_flags: 0 }
}

fn begin(handle: u32, matching_id: u64) -> Event<'static> {
    let (mode, operation_flags) = (WRITE, 0);
    Event::IoOperationBegin { handle, mode, operation_flags, bytes_request: 8, matching_id }
}

fn complete(handle: u32, matching_id: u64) -> Event<'static> {
    Event::IoOperationComplete { handle, bytes_result: 8, matching_id }
}

fn operations(walked: &Walked) -> Vec<(u32, Pointer, u64)> {
    let of = |(file, it): (&u32, &AccessTotals)| (*file, it.access.pointer, it.operations);
    let facts = walked.facts.iter();
    facts.flat_map(|(file, facts)| facts.accesses.iter().map(move |it| of((file, it)))).collect()
}

#[test]
fn operations_within_others_do_not_count() {
    let records = [
        (0, 1, 0, create(0)),
        (0, 1, 0, create(1)),
        (1, 1, 0, begin(0, 1)),
        (2, 2, 2, begin(1, 1)),
        (3, 2, 2, complete(1, 1)),
        (4, 1, 0, complete(0, 1)),
        // Outside it counts, as do several of one call.
        (5, 1, 2, begin(1, 1)),
        (5, 1, 2, begin(1, 2)),
        (6, 1, 2, complete(1, 2)),
        (6, 1, 2, complete(1, 1)),
    ];
    let walked = walked(&records);
    assert_eq!(operations(&walked), [(0, Pointer::Individual, 1), (1, Pointer::Individual, 2)]);
    assert!(walked.findings.0.is_empty(), "{:?}", walked.findings);
    // What the first one became is known.
    let requests = Requests { count: 1, bytes: 8, small: 1, small_time: 1 };
    let beneath: Vec<_> = walked.beneath[&0].iter().map(|it| (it.time, it.asked, it.requests)).collect();
    assert_eq!(beneath, [(3, 8, requests)]);
}

#[test]
fn handles_that_were_open_before_are_used_without_being_made_at_the_place_that_is_told() {
    let seek = Event::IoSeek { handle: 11, offset_request: 40, whence: 0, offset_result: 40 };
    let records = [
        (0, 0, 0, seek),
        (1, 1, 2, begin(11, 1)),
        (2, 1, 2, complete(11, 1)),
        (3, 1, 2, Event::IoDestroyHandle { handle: 11 }),
    ];
    let walked = walked(&records);
    assert!(walked.findings.0.is_empty(), "{:?}", walked.findings);
    assert_eq!(
        (walked.simple[0].first, walked.facts[&1].opens, walked.facts[&1].calls.unused),
        (Some(40), 0, 0)
    );
}

#[test]
fn handles_that_were_open_before_are_at_no_known_place_until_it_is_told_and_not_open_once_they_are_closed() {
    let records = [
        (1, 1, 2, begin(11, 1)),
        (2, 1, 2, complete(11, 1)),
        (3, 1, 2, Event::IoDestroyHandle { handle: 11 }),
        (4, 1, 2, Event::IoDestroyHandle { handle: 11 }),
    ];
    let walked = walked(&records);
    let findings: Vec<_> = walked.findings.0.into_iter().collect();
    assert_eq!(findings, [(Finding::UnknownOffset, 1), (Finding::NotOpen, 1)]);
    assert_eq!(walked.simple[0].first, None);
}

#[test]
fn libraries_on_top_of_others_are_seen_through() {
    let records = [
        (0, 1, 0, create(0)),
        (0, 1, 0, create(2)),
        (1, 1, 2, begin(2, 1)),
        (2, 2, 1, begin(0, 1)),
        (3, 2, 1, complete(0, 1)),
        (4, 1, 2, complete(2, 1)),
    ];
    assert_eq!(operations(&walked(&records)), [(0, Pointer::Shared, 1)]);
}

#[test]
fn what_has_not_begun_is_found_and_left_out() {
    let walked = walked(&[(0, 1, 0, create(0)), (1, 1, 0, complete(0, 7))]);
    assert_eq!(walked.findings.0.into_iter().collect::<Vec<_>>(), [(Finding::NeverBegun, 1)]);
}

#[test]
fn calls_that_communicate_count_once() {
    let mut trace = trace();
    let asked = Asked::new(&mut trace, &IoOptions::default());
    let mut feed = Feed::new(&asked, 0, 1);
    for (enter, is_in_mpi) in [(0, true), (0, true), (5, true), (7, false)] {
        let call = Some(OpenCall { depth: 1, region: 0, enter });
        let (thread, time, path, told) = (0, enter, PathId::default(), FileAttributes::default());
        let spot = Spot { thread, time, path, call, is_in_mpi, told: &told, is_open: &|_| true };
        feed.take(&trace, &Event::MpiIrecvRequest { request_id: 1 }, &Mappings::default(), &spot);
    }
    assert_eq!(feed.tick, 2);
}

#[test]
fn calls_that_the_program_makes_for_files_count_with_their_time() {
    let mut trace = trace();
    let asked = Asked::new(&mut trace, &IoOptions::default());
    let mut feed = Feed::new(&asked, 0, 1);
    // Depth, enter and leave of each call, its records, and whether the program itself makes it for files.
    let flush = |matching_id| {
        let (mode, operation_flags) = (FLUSH, 0);
        Event::IoOperationBegin { handle: 1, mode, operation_flags, bytes_request: u64::MAX, matching_id }
    };
    let seek = Event::IoSeek { handle: 1, offset_request: 8, whence: 0, offset_result: 8 };
    let destroy = Event::IoDestroyHandle { handle: 1 };
    let calls = [
        (1, (0, 4), vec![create(1)], true),
        (1, (4, 7), vec![seek], true),
        (1, (7, 9), vec![flush(1), complete(1, 1)], true),
        // Below a call of another library, and in none at all.
        (2, (10, 20), vec![seek], false),
        // Closing writes what is left.
        (1, (20, 30), vec![begin(1, 2), complete(1, 2), destroy], true),
    ];
    for (depth, (enter, leave), events, is_own) in calls {
        let call = OpenCall { depth, region: 2, enter };
        let (thread, path, told) = (0, PathId::default(), FileAttributes::default());
        let time = enter;
        let spot =
            Spot { thread, time, path, call: Some(call), is_in_mpi: false, told: &told, is_open: &|_| true };
        for event in &events {
            feed.take(&trace, event, &Mappings::default(), &spot);
        }
        feed.returns(0, call, leave, || is_own);
        // Another call of the same depth is none of these.
        feed.returns(0, OpenCall { enter: leave, ..call }, leave + 1, || true);
    }
    let calls = feed.into_walk().finish().facts[&1].calls;
    assert_eq!((calls.handling, calls.handling_time, calls.flush_time), (2, 4 + 3, 2));
    assert_eq!((calls.writes, calls.unused), (1, 0));
}
