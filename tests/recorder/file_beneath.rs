//! What the MPI library makes of operations is seen, and told where it is inefficient (io.md 5.3).

use io_model::{Bottom, Flaw, Thresholds};
use replay::io::IoOptions;

use crate::support::modelled::{analyzed, bottoms};
use crate::support::record::{Invocation, Subject};

const RANKS: u64 = 4;
/// Bytes of a piece, pieces of an operation, and operations of a rank of `io_sieve.c`.
const PIECE: u64 = 64;
const PIECES: u64 = 2048;
const TIMES: u64 = 4;
const ALL: u64 = RANKS * TIMES * PIECES * PIECE;

/// What writes in a way became, and what is told of it whatever it costs; with ROMIO also under Open MPI.
fn sieve(how: &'static str) -> Option<(Bottom, Vec<Flaw>)> {
    let subject = Subject::new(&format!("sieve_{how}"), "files/io_sieve.c", 4, &[how])?.option("--io=posix");
    let subject = subject.with("OMPI_MCA_io", "romio321");
    subject.run_recorded(Invocation::InFront).expect_success();
    let thresholds = Thresholds { cost: 0.0, ..Thresholds::default() };
    let (model, _) = analyzed(&subject, IoOptions { thresholds, ..IoOptions::default() });
    let [writes] = bottoms(&model)[..] else { panic!("not one direction: {:?}", bottoms(&model)) };
    assert_eq!((writes.np, writes.asked, writes.moving), (RANKS, ALL, RANKS * TIMES));
    assert_eq!(writes.pieces, Some(RANKS * TIMES * PIECES));
    Some((writes, model.inefficiencies.iter().map(|it| it.flaw).collect()))
}

#[test]
fn data_sieving_moves_more_bytes_than_were_asked_for_and_is_told() {
    let Some((writes, flaws)) = sieve("sieve") else { return };
    // What lies between the pieces, seven times as much, is written with them, and read as far as it is there.
    assert!(writes.requests.bytes > 8 * ALL, "{writes:?}");
    assert_eq!((writes.collective, writes.reaching), (false, RANKS));
    assert!(flaws.contains(&Flaw::Amplified), "{flaws:?}");
}

#[test]
fn pieces_that_are_written_one_by_one_are_many_small_requests_and_not_amplified() {
    let Some((writes, flaws)) = sieve("plain") else { return };
    assert_eq!((writes.requests.count, writes.requests.bytes), (RANKS * TIMES * PIECES, ALL));
    assert_eq!(writes.requests.small, writes.requests.count);
    assert!(flaws.contains(&Flaw::SmallRequests) && !flaws.contains(&Flaw::Amplified), "{flaws:?}");
}

#[test]
fn pieces_that_one_rank_collects_are_few_requests_and_nothing_is_told_of_them() {
    let Some((writes, flaws)) = sieve("collected") else { return };
    assert_eq!((writes.collective, writes.reaching, writes.requests.bytes), (true, 1, ALL));
    assert!(writes.requests.count <= 2 * TIMES, "{writes:?}");
    let beneath = [Flaw::SmallRequests, Flaw::Amplified, Flaw::NotBuffered, Flaw::FewAggregators];
    assert!(!flaws.iter().any(|flaw| beneath.contains(flaw)), "{flaws:?}");
}
