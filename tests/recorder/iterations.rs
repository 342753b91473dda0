//! Iterations of a loop that is found while the program runs: they are the same on all ranks, the archive is whole, nobody
//! waits for a rank without a loop, and the last line says what has been recorded.

use crate::support::archive;
use crate::support::process::Ended;
use crate::support::record::{INVOCATIONS, Invocation, Subject, analyze};
use crate::support::report::findings;
use otf2::{Archive, Event};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

/// The iterations that each location has in the archive: lengths of the messages that it sends.
fn iterations(experiment: &Path) -> BTreeMap<u64, BTreeSet<u64>> {
    let mut iterations: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    archive::each_event(experiment, |at, event, _| {
        if let Event::MpiIsend { msg_length, .. } = *event {
            iterations.entry(at.location).or_default().insert(msg_length);
        }
    });
    iterations
}

/// A property of an archive.
fn property(experiment: &Path, name: &str) -> Option<String> {
    let archive = Archive::open(experiment).unwrap();
    let found = archive.anchor().properties.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| value.clone())
}

/// What came of a recording.
struct Recorded {
    last_line: String,
    windows: String,
    /// The ranges that the archive names.
    ranges: Vec<[u64; 2]>,
    of_locations: BTreeMap<u64, BTreeSet<u64>>,
    /// What the analyzer says of its structure.
    structure: Vec<String>,
    /// Bytes of the archive.
    bytes: u64,
}

/// Records a program with options, and checks that its archive is whole: the only finding is that recording was off.
fn recorded(
    test: &str,
    program: &str,
    ranks: u32,
    arguments: &[&str],
    options: &[&'static str],
    way: Invocation,
) -> Option<Recorded> {
    let subject = Subject::new(test, &format!("iterations/{program}.c"), ranks, arguments)?;
    let subject = options.iter().fold(subject, |subject, option| subject.option(option));
    let ended = subject.run_recorded(way);
    ended.expect_success();
    let recorded = read(&subject, &ended);
    for (name, class, count) in findings(&subject.experiment) {
        assert!(
            name == "recording switched off",
            "{count} times {name} ({class:?})\n{:?}",
            recorded.structure
        );
    }
    Some(recorded)
}

/// Reads what a run has left, which OTF2 and the analyzer accept.
fn read(subject: &Subject, ended: &Ended) -> Recorded {
    let experiment = &subject.experiment;
    assert_eq!(archive::refusal(experiment), None);
    assert_eq!(archive::difference(experiment), None);
    let analysis = analyze(experiment, &subject.folder);
    analysis.expect_success();
    let structure = analysis.stdout.lines().skip_while(|line| !line.starts_with("Structure:"));
    let structure = structure.take_while(|line| !line.is_empty()).map(Into::into).collect();
    let last_line =
        ended.stderr.lines().rfind(|line| line.starts_with("replay-record:")).unwrap().to_string();
    let range = |range: &str| {
        let (first, last) = range.split_once('-').unwrap();
        [first, last].map(|number| number.parse().unwrap())
    };
    let ranges = property(experiment, "REPLAY::ITERATIONS").unwrap_or_default();
    Recorded {
        last_line,
        windows: property(experiment, "REPLAY::WINDOWS").unwrap(),
        ranges: ranges.split(',').filter(|it| !it.is_empty()).map(range).collect(),
        of_locations: iterations(experiment),
        structure,
        bytes: bytes(experiment),
    }
}

/// Bytes of the files of an archive.
fn bytes(experiment: &Path) -> u64 {
    let traces = std::fs::read_dir(experiment.join("traces")).unwrap().map(|entry| entry.unwrap().path());
    let others = ["traces.otf2", "traces.def", "traces.iterations"].map(|name| experiment.join(name));
    traces.chain(others).map(|path| path.metadata().map_or(0, |file| file.len())).sum()
}

/// Fails unless all ranks have exactly these iterations.
#[track_caller]
fn expect_same(recorded: &Recorded, ranks: u32, expected: impl Iterator<Item = u64> + Clone) {
    assert_eq!(recorded.of_locations.len(), ranks as usize, "{}", recorded.last_line);
    for iterations in recorded.of_locations.values() {
        assert!(iterations.iter().copied().eq(expected.clone()), "{iterations:?}: {}", recorded.last_line);
    }
}

const NO_BEGIN: &str = "--until-stable=0";

/// The lines of the block Structure about all iterations, and about those of them that are recorded.
fn of_all_and_of_these(structure: &[String]) -> [&str; 2] {
    let these = structure.iter().position(|line| line.starts_with("  Of these "));
    let these = these.unwrap_or_else(|| panic!("{structure:?}"));
    [&structure[these - 1], &structure[these]]
}

/// Records ten of 400 iterations, without the begin, and returns the first one.
fn expect_ten(test: &str, ranks: u32, kind: &str, way: Invocation) -> Option<u64> {
    let options = ["--iterations=10", NO_BEGIN];
    let recorded = recorded(test, "steady", ranks, &["400", kind], &options, way)?;
    assert_eq!(recorded.windows, "common", "{}", recorded.last_line);
    let [first, last] = recorded.ranges[0];
    assert_eq!(last, first + 9);
    expect_same(&recorded, ranks, first..=last);
    let said = format!("recorded iterations {first}-{last} of 400 of the loop at MPI_Irecv (");
    assert!(recorded.last_line.contains(&said), "{}", recorded.last_line);
    let [all, these] = of_all_and_of_these(&recorded.structure);
    assert!(all.starts_with("  All 400 iterations of the loop at MPI_Irecv ("), "{:?}", recorded.structure);
    assert!(these.starts_with(&format!("  Of these {first}-{last} took ")), "{:?}", recorded.structure);
    Some(first)
}

#[test]
fn ten_iterations_of_a_loop_with_collective_operations_are_the_same_on_all_ranks() {
    for way in INVOCATIONS {
        let test = format!("iterations_sums_{way:?}");
        let Some(first) = expect_ten(&test, 3, "sums", way) else { return };
        // Six calls an iteration, of which 256 are waited for.
        assert!((40..80).contains(&first), "{first}");
    }
}

#[test]
fn ten_iterations_of_a_loop_with_messages_only_are_the_same_on_all_ranks() {
    expect_ten("iterations_messages", 3, "messages", Invocation::InFront);
    expect_ten("iterations_alone", 1, "messages", Invocation::InFront);
}

#[test]
fn the_begin_is_recorded_until_the_window_and_skipped_iterations_are_not() {
    let run = |test, options: &[&'static str]| {
        recorded(test, "steady", 2, &["400", "sums"], options, Invocation::InFront)
    };
    let Some(whole) = run("iterations_begin", &["--iterations=10"]) else { return };
    expect_same(&whole, 2, 1..=whole.ranges[0][1]);
    let Some(skipped) = run("iterations_skip", &["--iterations=5", "--skip=200"]) else { return };
    assert_eq!(skipped.ranges, [[201, 205]]);
    for iterations in skipped.of_locations.values() {
        assert!(iterations.contains(&1) && !iterations.contains(&150), "{iterations:?}");
        assert!((201..=205).eq(iterations.range(150..).copied()), "{iterations:?}");
    }
}

#[test]
fn a_program_without_a_loop_leaves_its_begin_and_a_true_line() {
    let options = ["--iterations=10"];
    let Some(it) = recorded("iterations_none", "straight", 2, &[], &options, Invocation::InFront) else {
        return;
    };
    assert_eq!(it.windows, "none");
    let said = "no stable loop (1,003 call paths, the last new one after 100 % of the calls); everything is recorded";
    assert!(it.last_line.ends_with(said), "{}", it.last_line);
    let said = "  No iterations were recorded on which all processes had agreed";
    assert_eq!(it.structure.last().map(String::as_str), Some(said));
}

#[test]
fn ranks_that_end_early_are_not_waited_for_and_wait_for_nobody() {
    for (test, late) in [("iterations_early", "0"), ("iterations_late", "9000")] {
        let options = ["--iterations=10", NO_BEGIN];
        let run = recorded(test, "uneven", 3, &["10000", late], &options, Invocation::InFront);
        let Some(it) = run else { return };
        assert_eq!(it.windows, "none");
        let found = if late == "0" { 1 } else { 2 };
        let said = format!("{found} of 3 processes found a loop, but all did not agree");
        assert!(it.last_line.contains(&said), "{}", it.last_line);
    }
}

#[test]
fn a_program_with_a_warm_up_ends_with_a_window_of_its_outer_loop() {
    let options = ["--iterations=5", NO_BEGIN];
    let run = recorded("iterations_warm_up", "warm_up", 2, &["60"], &options, Invocation::InFront);
    let Some(it) = run else { return };
    assert_eq!(it.windows, "common", "{}", it.last_line);
    let &[first, last] = it.ranges.last().unwrap();
    assert_eq!(last, first + 4, "{}", it.last_line);
    for iterations in it.of_locations.values() {
        assert!((first..=last).all(|iteration| iterations.contains(&iteration)), "{iterations:?}");
        assert_eq!(iterations, it.of_locations.values().next().unwrap());
    }
}

/// Records a program whose last rank kills itself in that step.
fn killed(test: &str, step: &str, options: &[&'static str]) -> Option<Recorded> {
    let subject = Subject::new(test, "iterations/steady.c", 3, &["400", "sums", step])?;
    let subject = options.iter().fold(subject, |subject, option| subject.option(option));
    let ended = subject.run_recorded(Invocation::InFront);
    assert!(!ended.status.success());
    let begin = Instant::now();
    while !subject.experiment.join("traces.otf2").exists() {
        assert!(begin.elapsed() < Duration::from_secs(20), "{}", ended.stderr);
        std::thread::sleep(Duration::from_millis(5));
    }
    Some(read(&subject, &ended))
}

#[test]
fn program_that_is_killed_inside_of_a_window_leaves_what_was_recorded() {
    let options = ["--iterations=300", NO_BEGIN];
    let Some(it) = killed("iterations_killed_inside", "200", &options) else { return };
    assert_eq!((&*it.windows, it.ranges.len()), ("common", 0));
    assert!(it.last_line.contains(" on, until the program ended"), "{}", it.last_line);
    let said = "  How long all iterations took is not known: the archive has no times of them";
    assert_eq!(it.structure.last().map(String::as_str), Some(said));
    for iterations in it.of_locations.values() {
        assert!((100..199).all(|iteration| iterations.contains(&iteration)), "{iterations:?}");
        assert!(!iterations.contains(&201), "{iterations:?}");
    }
}

#[test]
fn times_of_iterations_survive_a_kill() {
    let options = ["--iterations=10", NO_BEGIN];
    let Some(it) = killed("iterations_killed_behind", "300", &options) else { return };
    let [all, these] = of_all_and_of_these(&it.structure);
    // Of the 299th nobody has come to the begin of the next but where it was killed.
    assert!(all.starts_with("  Iterations 1-298 of the loop at MPI_Irecv ("), "{all}");
    assert!(all.contains("), all whose times are known, took "), "{all}");
    let [first, last] = it.ranges[0];
    assert!(these.starts_with(&format!("  Of these {first}-{last} took ")), "{these}");
}

#[test]
fn ten_of_sixty_iterations_are_a_fifth_of_the_trace_at_most() {
    let run = |test, options: &[&'static str]| {
        let subject = Subject::new(test, "iterations/wide.c", 2, &["60"])?;
        let subject = options.iter().fold(subject, |subject, option| subject.option(option));
        subject.run_recorded(Invocation::InFront).expect_success();
        Some(bytes(&subject.experiment))
    };
    let Some(whole) = run("iterations_whole", &[]) else { return };
    let Some(ten) =
        recorded("iterations_ten", "wide", 2, &["60"], &["--iterations=10", NO_BEGIN], Invocation::InFront)
    else {
        return;
    };
    let [first, last] = ten.ranges[0];
    assert_eq!(last, first + 9, "{}", ten.last_line);
    assert!(5 * ten.bytes <= whole, "{} of {whole} bytes: {}", ten.bytes, ten.last_line);
}
