//! What is inefficient in the I/O of programs that have one flaw, and of the same without it (io.md 5.3).

use io_model::{Flaw, Inefficiency, Thresholds};
use replay::io::IoOptions;

use crate::support::modelled::analyzed;
use crate::support::record::Invocation;
use crate::support::slow_files::{attempt, keeps_times, on_slow_files};

/// What is found of a flaw in a program that has it, or in which it is mended, and the lines of the summary.
fn found(name: &str, flaw: Flaw, is_mended: bool) -> Option<(Vec<Inefficiency>, String)> {
    let (test, how) =
        if is_mended { (format!("{name}_mended"), "mended") } else { (name.to_owned(), "flawed") };
    let subject = on_slow_files(&format!("flaws_{test}"), "files/io_flaws.c", &[name, how], "1e9")?;
    let subject = subject.option("--io=posix");
    subject.run_recorded(Invocation::InFront).expect_success();
    // Starting MPI takes long on a loaded machine. Only what says nothing but times needs a larger cost.
    let is_of_times = matches!(flaw, Flaw::Straggler | Flaw::UnequalAmounts | Flaw::Late);
    let cost = if is_of_times { 0.01 } else { 0.002 };
    let thresholds = Thresholds { cost, handling_time: cost, ..Thresholds::default() };
    let (model, summary) = analyzed(&subject, IoOptions { thresholds, ..IoOptions::default() });
    assert!(model.findings.0.is_empty(), "{:?}", model.findings);
    let found = model.inefficiencies.into_iter().filter(|it| it.flaw == flaw);
    Some((found.collect(), summary.io.map(|io| io.to_string()).unwrap_or_default()))
}

/// The flaw is found where it is, once, and as it is wanted; and not where it was mended. `line` is in the summary.
fn check(name: &str, flaw: Flaw, line: &str, is_wanted: impl Fn(&Inefficiency) -> bool) {
    attempt(|| {
        let Some((flawed, summary)) = found(name, flaw, false) else { return Ok(()) };
        let [it] = &flawed[..] else { return Err(format!("not one: {flawed:?}\n{summary}")) };
        if !is_wanted(it) {
            return Err(format!("another one: {it:?}"));
        }
        assert!(summary.contains(line), "no {line:?} in {summary}");
        let Some((mended, summary)) = found(name, flaw, true) else { return Ok(()) };
        if mended.is_empty() { Ok(()) } else { Err(format!("mended, but {mended:?}\n{summary}")) }
    });
}

#[test]
fn rank_whose_requests_take_longer_is_a_straggler() {
    let line = "of the slowest rank are beyond the median of ranks (rank 2 in MPI_File_write_at)";
    check("straggler", Flaw::Straggler, line, |it| {
        // 9 ms instead of 3 ms a request.
        let share = it.concerned as f64 / it.of as f64;
        it.rank == Some(2) && (0.5..0.8).contains(&share) && it.call_path.is_some()
    });
}

#[test]
fn rank_that_writes_more_and_takes_longer_has_an_unequal_amount() {
    let line =
        "67 % of 3932160 bytes of the rank that moves most are beyond the one that moves least (rank 1)";
    check("unequal_amounts", Flaw::UnequalAmounts, line, |it| {
        (it.rank, it.concerned, it.of) == (Some(1), 40 * 65536, 60 * 65536)
    });
}

#[test]
fn rank_that_comes_last_to_collective_writes_is_told_with_how_often() {
    if !keeps_times("flaws_late") {
        return;
    }
    let line = "collective operations have one rank as the last one (rank 3)";
    check("late", Flaw::Late, line, |it| it.rank == Some(3) && it.of == 20 && it.concerned >= 15);
}

#[test]
fn file_that_is_opened_for_each_request_is_handled_too_often() {
    let line = "67 % of 1208 calls only handle files";
    // Each rank opens and closes 101 times, and writes 100 times.
    check("handling_storm", Flaw::HandlingStorm, line, |it| (it.concerned, it.of) == (808, 1208));
}

#[test]
fn openings_without_transfers_are_for_nothing() {
    let line = "98 % of 240 openings are for nothing";
    check("unused", Flaw::Unused, line, |it| (it.concerned, it.of) == (236, 240));
}

#[test]
fn file_that_is_flushed_behind_each_write_is_told() {
    // Behind the last one of each rank there may be one.
    let line = "95 % of 80 writes have a flush behind and more writes after it";
    check("syncs", Flaw::Syncs, line, |it| (it.concerned, it.of) == (76, 80));
}

#[test]
fn stream_that_writes_little_at_a_time_is_told() {
    let line = "100 % of 67108864 bytes go through small buffers of C";
    check("buffered", Flaw::Buffered, line, |it| (it.concerned, it.of) == (64 << 20, 64 << 20));
}

#[test]
fn non_blocking_writes_that_are_completed_at_once_overlap_nothing() {
    let line = "of non-blocking operations lie within the calls that complete them";
    check("nothing_overlaps", Flaw::NothingOverlaps, line, |it| it.concerned > 0);
}
