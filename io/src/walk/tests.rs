//! Tests of the walk: pointers, views, operations within each other, and what is wrong in records.

use std::collections::BTreeMap;

use super::*;
use crate::Steps;
use crate::access::{Kind, Layer};
use crate::calls::Calls;
use crate::operation::Caller;
use crate::shared_pointer::ordered_offsets;
use crate::transfer::Transfer;

const BEGIN: Begin = Begin {
    kind: Kind::Write,
    collective: false,
    non_blocking: false,
    pointer: Pointer::Individual,
    offset: None,
    requested: Some(8),
    begin: 0,
    tick: 0,
    epoch: 0,
    caller: Caller { thread: 0, call_path: 0, is_repeated: false },
};
const OPENING: Opening = Opening {
    file: 7,
    layer: Layer::Mpi,
    members: Some(4),
    append: false,
    size: None,
    direct: false,
    hints: None,
    has_views: true,
    is_nested: false,
    was_open: false,
};

fn id(handle: u64) -> Id {
    Id { location: 0, handle, number: 1 }
}

fn opened() -> Walk {
    let mut walk =
        Walk::new(3, Settings { gap: 4, transfers: 1 << 20, small_bytes: 1 << 20, has_exact_streams: true });
    walk.create(1, &OPENING);
    walk
}

fn transfer(walk: &mut Walk, handle: u64, bytes: u64) {
    walk.begin(id(handle), &BEGIN);
    walk.complete(id(handle), 1, Some(bytes));
}

/// Offsets and lengths.
type Pieces = Vec<(u64, u64)>;

/// Where the pieces of all transfers are, and findings.
fn pieces(walk: Walk) -> (Pieces, Vec<(Finding, u64)>) {
    let walked = walk.finish();
    let pieces = walked.transfers.values().flat_map(Transfers::iter).flat_map(|it| it.pieces).collect();
    (pieces, walked.findings.0.into_iter().collect())
}

#[test]
fn requests_count_for_the_operation_that_they_are_made_within() {
    let mut walk = opened();
    walk.begin(id(1), &Begin { collective: true, ..BEGIN });
    for bytes in [1 << 20, 300] {
        walk.request(id(1), Request { bytes, ticks: 5 });
    }
    walk.complete(id(1), 20, Some(8));
    // Behind its end, and of an operation that is not known.
    walk.request(id(1), Request { bytes: 1, ticks: 1 });
    walk.request(id(7), Request { bytes: 1, ticks: 1 });
    let walked = walk.finish();
    let [one] = &walked.beneath[&7][..] else { panic!("not one: {:?}", walked.beneath) };
    let requests = Requests { count: 2, bytes: (1 << 20) + 300, small: 1, small_time: 5 };
    assert_eq!((one.collective, one.asked, one.pieces, one.requests), (true, 8, Some(1), requests));
}

#[test]
fn pointers_move_with_transfers_and_seeks() {
    let mut walk = opened();
    transfer(&mut walk, 1, 8);
    transfer(&mut walk, 1, 4);
    walk.seek(1, 100, Whence::Start, None);
    transfer(&mut walk, 1, 8);
    walk.seek(1, -8, Whence::Current, None);
    transfer(&mut walk, 1, 8);
    walk.seek(1, 0, Whence::Other, Some(500));
    transfer(&mut walk, 1, 8);
    walk.begin(id(1), &Begin { pointer: Pointer::Explicit, offset: Some(900), ..BEGIN });
    walk.complete(id(1), 1, None);
    transfer(&mut walk, 1, 1);
    let all = [(0, 8), (8, 4), (100, 8), (100, 8), (500, 8), (900, 8), (508, 1)];
    assert_eq!(pieces(walk), (all.to_vec(), vec![]));
}

#[test]
fn duplicated_handles_share_one_pointer_until_the_last_is_closed() {
    let mut walk = opened();
    walk.duplicate(1, 2);
    transfer(&mut walk, 1, 8);
    transfer(&mut walk, 2, 8);
    walk.destroy(1);
    transfer(&mut walk, 2, 8);
    walk.destroy(2);
    assert!(walk.descriptions.are_none());
    assert_eq!(pieces(walk).0, [(0, 8), (8, 8), (16, 8)]);
}

#[test]
fn views_are_in_etypes_and_begin_at_0() {
    let mut walk = opened();
    transfer(&mut walk, 1, 8);
    let view =
        SetView { displacement: 1000, etype: Some(8), text: Some("r(0,32,b16)"), ..SetView::default() };
    walk.set_view(1, &view);
    transfer(&mut walk, 1, 24);
    walk.seek(1, 1, Whence::Current, None);
    transfer(&mut walk, 1, 8);
    assert_eq!(pieces(walk).0, [(0, 8), (1000, 16), (1032, 8), (1064, 8)]);
}

#[test]
fn non_blocking_transfers_move_the_pointer_when_they_begin_and_keep_their_order() {
    let mut walk = opened();
    let begin = Begin { non_blocking: true, ..BEGIN };
    let id = |number| Id { number, ..id(1) };
    walk.begin(id(1), &begin);
    walk.begin(id(2), &Begin { begin: 1, ..begin });
    walk.begin(id(3), &Begin { begin: 2, ..begin });
    walk.complete(id(3), 9, Some(8));
    walk.cancel(id(2));
    walk.complete(id(1), 8, Some(8));
    assert_eq!(pieces(walk), (vec![(0, 8), (16, 8)], vec![(Finding::NeverComplete, 1)]));
}

#[test]
fn appending_begins_at_the_end() {
    let mut walk = opened();
    walk.create(2, &Opening { append: true, size: Some(50), ..OPENING });
    transfer(&mut walk, 2, 8);
    walk.begin(id(2), &Begin { offset: Some(70), ..BEGIN });
    walk.complete(id(2), 1, Some(8));
    transfer(&mut walk, 2, 8);
    walk.create(3, &Opening { append: true, ..OPENING });
    transfer(&mut walk, 3, 8);
    let walked = walk.finish();
    assert_eq!(walked.findings.0, BTreeMap::from([(Finding::UnknownOffset, 1)]));
    assert_eq!((walked.facts[&7].opens, walked.facts[&7].size), (3, Some(50)));
    let first = |it: Transfer| (it.opening, it.pieces.first().map(|piece| piece.0));
    let places: Vec<_> = walked.transfers[&7].iter().map(first).collect();
    assert_eq!(places, [(2, Some(50)), (2, Some(70)), (2, Some(78)), (3, None)]);
}

#[test]
fn opening_of_a_library_within_one_of_the_program_is_none_of_its_own() {
    let below = Opening { layer: Layer::Posix, is_nested: true, ..OPENING };
    // A rank of ROMIO opens twice, to make the file and to access it; the others once.
    let openings = [1, 2].map(|times| {
        let mut walk = Walk::new(
            3,
            Settings { gap: 4, transfers: 1 << 20, small_bytes: 1 << 20, has_exact_streams: true },
        );
        for handle in 0..times {
            walk.create(10 + handle, &below);
        }
        walk.create(1, &Opening { hints: Some("cb_nodes=1"), ..OPENING });
        walk.create(20, &below);
        transfer(&mut walk, 1, 8);
        let walked = walk.finish();
        assert_eq!(walked.facts[&7].opens, 1);
        (walked.transfers[&7].iter().next().unwrap().opening, walked.simple)
    });
    assert_eq!((openings[0].0, &openings[0].1), (1, &openings[1].1));
}

/// A rank that moves so many bytes in order, then others at its own pointer, and so many at the shared one, then in order again.
fn ordered(etype: u64, [first, own, alone, second]: [u64; 4]) -> Walk {
    let mut walk = opened();
    walk.set_view(
        1,
        &SetView {
            displacement: 1000,
            etype: Some(etype),
            size: Some(etype),
            extent: Some(etype),
            pieces: Some(1),
            text: None,
        },
    );
    let shared = Begin { pointer: Pointer::Shared, ..BEGIN };
    for (begin, bytes) in [
        (Begin { collective: true, ..shared }, first),
        (BEGIN, own),
        (shared, alone),
        (Begin { collective: true, ..shared }, second),
    ] {
        walk.begin(id(1), &begin);
        walk.complete(id(1), 1, Some(bytes));
    }
    walk
}

#[test]
fn ordered_transfers_lie_behind_those_of_ranks_before_and_of_all_before() {
    let mut walks = [ordered(4, [8, 12, 4, 16]), ordered(4, [20, 4, 0, 4])];
    let steps = walks.each_ref().map(Walk::shared_steps);
    let offsets = ordered_offsets(&steps.each_ref().map(|steps| &steps[&1][..]));
    for (walk, offsets) in walks.iter_mut().zip(&offsets) {
        walk.place_ordered(1, offsets);
    }
    let [(one, unknown), (other, none)] = walks.map(pieces);
    // Nobody knows where the rank's transfer at the shared pointer was, but that it was before the second one in order.
    assert_eq!(one, [(1000, 8), (1000, 12), (1032, 16)]);
    assert_eq!(other, [(1008, 20), (1000, 4), (1048, 4)]);
    assert_eq!((unknown, none), (vec![(Finding::UnknownOffset, 1)], vec![]));
}

#[test]
fn ordered_transfers_whose_order_is_not_known_have_no_places() {
    let (known, findings) = pieces(ordered(1, [8, 12, 0, 16]));
    assert_eq!((known, findings), (vec![(1000, 12)], vec![(Finding::UnknownOffset, 2)]));
}

#[test]
fn what_cannot_be_is_found_and_survived() {
    let mut walk = opened();
    transfer(&mut walk, 99, 8);
    walk.destroy(99);
    walk.create(1, &OPENING);
    walk.destroy(1);
    walk.destroy(1);
    walk.create(1, &OPENING);
    walk.complete(Id { number: 5, ..id(1) }, 0, None);
    walk.begin(id(1), &Begin { begin: 9, requested: None, ..BEGIN });
    walk.complete(id(1), 3, None);
    walk.begin(id(1), &BEGIN);
    let findings: Vec<_> = walk.finish().findings.0.into_iter().collect();
    let expected = [
        (Finding::UnknownBytes, 1),
        (Finding::NotOpen, 3),
        (Finding::OpenedAgain, 1),
        (Finding::NeverBegun, 2),
        (Finding::NeverComplete, 1),
        (Finding::OutOfOrder, 1),
    ];
    assert_eq!(findings, expected);
}

#[test]
fn offsets_of_unknown_views_are_taken_as_consecutive() {
    let mut walk =
        Walk::new(0, Settings { gap: 4, transfers: 0, small_bytes: 1 << 20, has_exact_streams: true });
    walk.create(1, &Opening { has_views: false, ..OPENING });
    for at in 0..12 {
        walk.begin(
            id(1),
            &Begin { pointer: Pointer::Explicit, offset: Some(at * 10), collective: true, ..BEGIN },
        );
        walk.complete(id(1), 1, Some(400));
    }
    let simple = walk.finish().simple;
    assert_eq!((simple.len(), simple[0].rep, simple[0].is_view_known), (1, 12, false));
    assert_eq!(simple[0].lanes[0].steps, [Steps { step: 400, length: 400, count: 11 }]);
}

#[test]
fn operation_that_never_completes_holds_a_bounded_number_of_others() {
    let mut walk =
        Walk::new(0, Settings { gap: 4, transfers: 0, small_bytes: 1 << 20, has_exact_streams: true });
    walk.create(1, &OPENING);
    let never = Id { number: 7, ..id(1) };
    walk.begin(never, &BEGIN);
    let more = 3;
    for _ in 0..MOST_PENDING + more {
        walk.begin(id(1), &BEGIN);
        walk.complete(id(1), 1, Some(1));
    }
    assert!(walk.files[0].pending.len() <= MOST_PENDING);
    // It ends after all, and is left out.
    walk.complete(never, 2, Some(1));
    let walked = walk.finish();
    assert_eq!(walked.facts[&OPENING.file].accesses[0].operations, (MOST_PENDING + more) as u64);
    assert_eq!(walked.findings.0[&Finding::NeverComplete], 1);
}

/// A call by a handle of four ranks.
fn call(purpose: Purpose, opening: u64, (begin, end): (u64, u64)) -> Call {
    Call { purpose, file: OPENING.file, handle: 1, members: OPENING.members, opening, begin, end }
}

#[test]
fn calls_count_by_what_they_are_for() {
    let mut walk = opened();
    walk.call(&call(Purpose::OpensOrCloses, walk.opening(1), (0, 5)));
    walk.call(&call(Purpose::Handles, 1, (5, 7)));
    walk.call(&call(Purpose::Seeks, 1, (7, 8)));
    walk.call(&call(Purpose::Flushes, 1, (8, 18)));
    walk.call(&call(Purpose::Transfers, 1, (18, 28)));
    walk.call(&call(Purpose::TransfersTogether, 1, (28, 30)));
    let walked = walk.finish();
    let Calls { handling, handling_time, flush_time, transfers, .. } = walked.facts[&7].calls;
    assert_eq!((handling, handling_time, flush_time, transfers), (3, 8, 10, 0));
    // Nobody waits for others in a seek, or in a transfer of one's own; transfers count as operations.
    let together = &walked.together[&1];
    assert_eq!((together.file, together.members, &together.transfers), (7, 4, &vec![(28, 30)]));
    assert_eq!((&together.handling, &together.flushes), (&vec![(0, 5), (5, 7)], &vec![(8, 18)]));
}

#[test]
fn transfers_count_as_independent_or_collective_with_those_that_nobody_knows_the_bytes_of() {
    let mut walk = opened();
    let collective = Begin { collective: true, ..BEGIN };
    for (begin, moved) in
        [(collective, Some(8)), (Begin { requested: None, ..collective }, None), (BEGIN, Some(4))]
    {
        walk.begin(id(1), &begin);
        walk.complete(id(1), 3, moved);
    }
    walk.begin(id(1), &Begin { non_blocking: true, ..collective });
    walk.complete(id(1), 3, None);
    let walked = walk.finish();
    let Calls { writes, independent_bytes, independent_time, .. } = walked.facts[&7].calls;
    assert_eq!((writes, independent_bytes, independent_time), (3, 4, 3));
}

#[test]
fn writes_with_a_flush_behind_count_once() {
    let mut walk = opened();
    walk.flush(1);
    for kind in [Kind::Write, Kind::Write, Kind::Read, Kind::Write] {
        walk.begin(id(1), &Begin { kind, ..BEGIN });
        walk.complete(id(1), 1, Some(8));
        (0..2).for_each(|_| walk.flush(1));
    }
    transfer(&mut walk, 1, 8);
    let calls = walk.finish().facts[&7].calls;
    assert_eq!((calls.flushed, calls.writes, calls.transfers), (3, 4, 5));
}

#[test]
fn openings_without_transfers_count_with_the_time_of_their_calls() {
    let mut walk = opened();
    transfer(&mut walk, 1, 8);
    walk.call(&call(Purpose::OpensOrCloses, walk.opening(1), (0, 100)));
    for handle in [2, 3] {
        walk.create(handle, &OPENING);
        let opening = walk.opening(handle);
        walk.destroy(handle);
        // A call returns when the file is closed already.
        (0..2).for_each(|_| walk.call(&call(Purpose::OpensOrCloses, opening, (0, 5))));
    }
    // A stream, whose descriptor is what is written to.
    walk.create(4, &Opening { layer: Layer::Isoc, ..OPENING });
    walk.create(5, &Opening { layer: Layer::Posix, is_nested: true, ..OPENING });
    transfer(&mut walk, 5, 8);
    walk.call(&call(Purpose::OpensOrCloses, 99, (0, 5)));
    let calls = walk.finish().facts[&7].calls;
    assert_eq!((calls.unused, calls.unused_time), (2, 20));
}

#[test]
fn time_in_calls_that_complete_non_blocking_operations_is_told_apart() {
    let mut walk = opened();
    let begin = Begin { non_blocking: true, ..BEGIN };
    let id = |number| Id { number, ..id(1) };
    // Two that one call completes, from 10 on; one that is complete in time; and one that begins in the call.
    for number in 0..2 {
        walk.begin(id(number), &begin);
    }
    walk.complete_in_call(id(0), (10, 18), Some(8));
    walk.complete_in_call(id(1), (10, 20), Some(8));
    walk.begin(id(2), &Begin { begin: 20, ..begin });
    walk.complete_in_call(id(2), (30, 30), Some(8));
    walk.begin(id(3), &Begin { begin: 40, ..begin });
    walk.complete_in_call(id(3), (35, 45), Some(8));
    transfer(&mut walk, 1, 8);
    let calls = walk.finish().facts[&7].calls;
    let expected = (18 + 20 + 10 + 5, 8 + 10 + 5, 10 + 5);
    assert_eq!((calls.non_blocking_time, calls.awaited_time, calls.completing_time), expected);
}

#[test]
fn flush_behind_which_nothing_more_of_the_opening_is_written_is_none_that_is_early() {
    let mut walk = opened();
    walk.create(2, &OPENING);
    for (handle, times) in [(1, (0, 5)), (1, (10, 13)), (1, (20, 40)), (2, (50, 90))] {
        transfer(&mut walk, handle, 8);
        walk.flush(handle);
        walk.call(&Call { handle, ..call(Purpose::Flushes, 0, times) });
    }
    let walked = walk.finish();
    let Calls { flushed, early_flushes, flush_time, early_flush_time, .. } = walked.facts[&7].calls;
    assert_eq!((flushed, early_flushes, flush_time, early_flush_time), (4, 2, 68, 8));
    let early = |handle| walked.together[&handle].early_flushes.clone();
    assert_eq!((early(1), early(2)), (vec![0, 1], vec![]));
}

#[test]
fn streams_are_buffered_but_for_what_is_written_and_recorded_as_it_goes_to_the_system() {
    for has_exact_streams in [true, false] {
        let settings = Settings { gap: 4, transfers: 1 << 20, small_bytes: 1 << 20, has_exact_streams };
        let mut walk = Walk::new(3, settings);
        walk.create(1, &Opening { layer: Layer::Isoc, ..OPENING });
        walk.create(2, &Opening { layer: Layer::Posix, ..OPENING });
        for (handle, kind) in [(1, Kind::Write), (1, Kind::Read), (2, Kind::Write), (2, Kind::Read)] {
            walk.begin(id(handle), &Begin { kind, ..BEGIN });
            walk.complete(id(handle), 1, Some(8));
        }
        let walked = walk.finish();
        let found: Vec<bool> = walked.transfers[&7].iter().map(|it| it.is_buffered).collect();
        assert_eq!(found, [!has_exact_streams, true, false, false]);
    }
}
