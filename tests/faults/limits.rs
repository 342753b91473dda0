//! Limits of the system on files and threads.

use std::path::Path;

use generate::{Job, Pattern, generate};
use skip::{Need, skip};

use super::make::{self, INIT, Size};
use super::{after, limited};
use crate::support::fresh;
use crate::support::report::Table;
use crate::support::run::{Finished, mpirun, run};

/// 400 locations in 4 processes; only the first location of each has events.
fn many_locations(directory: &Path) {
    let size = Size { threads: 100, ..Size::processes(4) };
    make::archive(directory, size, |_, events| events.program(|_| ()));
}

#[test]
fn limit_of_256_open_files_is_enough_for_400_locations() {
    let directory = fresh();
    many_locations(directory.path());
    let report = directory.path().join("trace.cubex");
    for threads in ["--threads=1", "--threads=4"] {
        let _ = std::fs::remove_file(&report);
        run(&mut after("ulimit -n 256", [directory.path(), Path::new(threads)])).expect(0);
        assert_eq!(Table::read(&report).locations, 400);
    }
    let Some(launcher) = mpirun("256 open files in 3 processes") else { return };
    let alone = std::fs::read(&report).unwrap();
    run(&mut limited(launcher, 3, "ulimit -n 256", [directory.path()])).expect(0);
    assert!(std::fs::read(&report).unwrap() == alone);
}

/// Files are open only while they are read or mapped.
#[test]
fn limit_of_16_open_files_is_enough_too() {
    let directory = fresh();
    many_locations(directory.path());
    run(&mut after("ulimit -n 16", [directory.path(), Path::new("--threads=4")])).expect(0);
}

/// Besides input and outputs there is room for one file, which four threads may want at the same time.
#[test]
fn limit_of_4_open_files_gives_a_report_or_says_what_to_do() {
    let directory = fresh();
    many_locations(directory.path());
    let done = run(&mut after("ulimit -n 4", [directory.path(), Path::new("--threads=4")]));
    if done.status != Some(0) {
        done.expect(2);
        let messages = done.messages();
        assert!(messages.len() == 1 && messages[0].contains("ulimit -n"), "{}", done.stderr);
    }
}

/// A limit on memory replaces one on processes, which does not apply to root: stacks need memory.
#[test]
fn threads_that_cannot_be_started_are_told_with_what_to_do() {
    let directory = fresh();
    let size = Size::processes(400);
    make::archive(directory.path(), size, |_, events| events.call(INIT, &[]));
    let refused = run(&mut after("ulimit -v 400000", [directory.path(), Path::new("--threads=400")]));
    refused.expect(2);
    let [message] = refused.messages()[..] else { panic!("{}", refused.stderr) };
    assert!(message.contains("cannot start 400 threads") && message.contains("--threads"), "{message}");
    assert!(!directory.path().join("trace.cubex").exists());
    let Some(launcher) = mpirun("too many threads in 2 processes") else { return };
    let arguments = [directory.path(), Path::new("--threads=400")];
    let refused = run(&mut limited(launcher, 2, "ulimit -v 600000", arguments));
    refused.expect(2);
    assert_eq!(refused.messages().len(), 1, "{}", refused.stderr);
}

/// From hardly enough to start to enough for all. With its libraries the program takes 67 MiB of addresses before it does
/// anything, if MPI is MPICH; below that it cannot even say so.
#[test]
fn limit_on_memory_gives_a_report_or_says_what_to_do() {
    let directory = fresh();
    make::archive(directory.path(), Size::processes(2), |rank, events| {
        events.program(|events| make::ring(events, rank, 2, 100_000));
    });
    let report = directory.path().join("trace.cubex");
    let mut refusals = 0;
    for mebibytes in [80, 100, 120, 140, 180, 260, 400, 4000] {
        let limit = format!("ulimit -v {}", mebibytes << 10);
        let done = run(&mut after(&limit, [directory.path(), Path::new("--threads=2")]));
        if done.status == Some(0) {
            std::fs::remove_file(&report).unwrap();
            continue;
        }
        done.expect(2);
        let [message] = done.messages()[..] else { panic!("{mebibytes} MiB: {}", done.stderr) };
        assert!(message.contains("memory") && message.contains("raise the limit"), "{message}");
        assert!(!report.exists());
        refusals += 1;
    }
    assert!((1..8).contains(&refusals), "{refusals} of 8 limits are too low");
}

/// The limit of the shell counts memory, but not mapped files.
#[test]
fn lists_beyond_the_memory_that_is_allowed_go_to_a_file_and_the_report_is_the_same() {
    let directory = fresh();
    let experiment = directory.path().join("trace");
    let stencil = Pattern::find("stencil").unwrap();
    generate(&Job { seed: 3, ..Job::new(stencil, 4, 250_000) }, &experiment).unwrap();
    let scratch = directory.path().join("scratch");
    std::fs::create_dir(&scratch).unwrap();
    let report = experiment.join("trace.cubex");
    let run_with = |limit: &str, options: &[&str]| {
        let _ = std::fs::remove_file(&report);
        let arguments = options.iter().map(Path::new).chain([Path::new("--threads=1"), &experiment]);
        run(&mut after(limit, arguments))
    };
    run_with("true", &[]).expect(0);
    let expected = std::fs::read(&report).unwrap();

    let few = "ulimit -d 30000";
    run_with(few, &[]).expect(2);
    let in_scratch = format!("--scratch={}", scratch.display());
    let allowed = enough(&run_with("true", &["--memory=1M", &in_scratch]));
    let done = run_with(few, &[&allowed, &in_scratch]);
    if done.messages().iter().any(|message| message.contains("it is in memory itself")) {
        skip(Need::System, format!("{} is in memory", scratch.display()));
        return;
    }
    done.expect(0);
    assert!(std::fs::read(&report).unwrap() == expected);
    assert_eq!(std::fs::read_dir(&scratch).unwrap().count(), 0);

    // Traffic between workers is kept there, too.
    let Some(launcher) = mpirun("little memory in 2 processes") else { return };
    std::fs::remove_file(&report).unwrap();
    let run_with = |memory: &str| {
        let arguments = [memory, "--threads=2", &in_scratch].map(Path::new);
        run(&mut limited(launcher, 2, "true", arguments.into_iter().chain([&*experiment])))
    };
    run_with(&enough(&run_with("--memory=1M"))).expect(0);
    assert!(std::fs::read(&report).unwrap() == expected);
}

/// The option for the amount of memory that an analysis has asked for.
fn enough(too_few: &Finished) -> String {
    too_few.expect(2);
    let message = too_few.messages()[0];
    assert!(message.contains("--memory allows 1 MiB, and "), "{message}");
    let needed = message.split(" and ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
    format!("--memory={needed}M")
}

#[test]
fn memory_that_cannot_be_kept_to_is_told_at_once_with_what_to_do() {
    let directory = fresh();
    make::archive(directory.path(), Size::processes(2), |_, events| events.program(|_| ()));
    // The trace is small enough: no directory is needed, unless one is named.
    let missing = format!("export TMPDIR={}", directory.path().join("missing").display());
    run(&mut after(&missing, [directory.path(), Path::new("--memory=1G")])).expect(0);
    let named = [directory.path(), Path::new("--memory=1GiB"), Path::new("--scratch=/missing")];
    let refused = run(&mut after("true", named));
    refused.expect(2);
    assert!(refused.stderr.contains("No such file"), "{}", refused.stderr);
    for (size, words) in
        [("1K", "needed for what cannot go to a file"), ("1.5G", "whole number"), ("99999999T", "larger")]
    {
        let size = format!("--memory={size}");
        let refused = run(&mut after("true", [directory.path(), Path::new(&size)]));
        refused.expect(2);
        assert!(refused.stderr.contains(words), "{}", refused.stderr);
    }
}

#[test]
fn file_for_the_rest_has_to_be_on_a_disk() {
    let directory = fresh();
    make::archive(directory.path(), Size::processes(2), |rank, events| {
        events.program(|events| make::ring(events, rank, 2, 100_000));
    });
    // A missing directory, and two in memory: one of them has no room at all.
    for (scratch, words) in [("/missing", "No such file"), ("/proc", "--scratch"), ("/dev/shm", "--scratch")]
    {
        let options = ["--memory=24M", "--threads=1", "--scratch", scratch].map(Path::new);
        let refused = run(&mut after("true", options.into_iter().chain([directory.path()])));
        refused.expect(2);
        let [message] = refused.messages()[..] else { panic!("{}", refused.stderr) };
        assert!(message.contains(scratch) && message.contains(words), "{message}");
    }
}
