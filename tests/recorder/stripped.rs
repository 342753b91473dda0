//! Programs without lines or symbols: their calls are kept apart all the same, functions are named by their
//! addresses, and a message says how to get names.

use crate::support::archive;
use crate::support::build;
use crate::support::fresh;
use crate::support::record::{Invocation, Subject, analyze};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use skip::{Need, skip};

const PROGRAM: &str = "oddities/changing_paths.c";

/// The lines about files that have no debug information.
fn said(stderr: &str) -> Vec<&str> {
    stderr.lines().filter(|line| line.contains("has no debug information")).collect()
}

/// A copy of a program without symbols; `None`, with a message, if it cannot be made here.
fn stripped(program: &[OsString], test: &str) -> Option<PathBuf> {
    let copy = fresh(test).join("stripped");
    std::fs::copy(&program[0], &copy).unwrap();
    if Command::new("strip").arg(&copy).status().is_ok_and(|status| status.success()) {
        return Some(copy);
    }
    skip(Need::Compiler, "a stripped program: there is no strip");
    None
}

/// Call paths of a function, each with the place of the call.
fn calls_of(function: &str, experiment: &Path) -> Vec<String> {
    let mut paths = archive::paths(experiment);
    paths.retain(|path| path.ends_with(function));
    paths
}

/// Each rank has the program at other addresses, so that its calls are the same call paths on all ranks only if
/// they are those of places in the file.
#[test]
fn calls_of_one_function_are_call_paths_of_their_own_without_lines() {
    const SENDS: &str = "oddities/two_sends.c";
    let Some(mpi) = build::mpi("two_sends") else { return };
    let Some(plain) = build::program_with(mpi, SENDS, "-O2") else { return };
    let Some(bare) = stripped(&plain, "two_sends_stripped_program") else { return };
    for (test, program) in [("two_sends", plain), ("two_sends_stripped", vec![bare.into()])] {
        let subject = Subject::any(test, 2, program).unwrap();
        subject.run_recorded(Invocation::InFront).expect_success();
        let experiment = &subject.experiment;
        assert_eq!(archive::refusal(experiment), None);
        let sends = calls_of("/MPI_Send", experiment);
        assert_eq!(sends.iter().collect::<BTreeSet<_>>().len(), 2, "{sends:?}");
        assert_eq!(sends.len(), 2, "other paths on the other rank: {sends:?}");
        assert!(sends.iter().all(|send| send.contains("+0x")), "{sends:?}");
        let analysis = analyze(experiment, &subject.folder);
        analysis.expect_success();
    }
}

#[test]
fn functions_of_a_stripped_program_are_named_by_where_they_begin_and_calls_are_told_apart() {
    let Some(whole) = Subject::new("whole", PROGRAM, 2, &[]) else { return };
    let recorded = whole.run_recorded(Invocation::InFront);
    recorded.expect_success();
    assert_eq!(said(&recorded.stderr), [""; 0]);

    let program = build::program(whole.mpi, PROGRAM).unwrap();
    let Some(copy) = stripped(&program, "stripped_program") else { return };
    let subject = Subject::any("stripped", 2, vec![copy.clone().into()]).unwrap();
    let recorded = subject.run_recorded(Invocation::InFront);
    recorded.expect_success();
    let line = format!("{} has no debug information: functions are named by their addresses", copy.display());
    let said = said(&recorded.stderr);
    assert!(said.len() == 1 && said[0].contains(&line), "{}", recorded.stderr);
    let experiment = &subject.experiment;
    assert_eq!(archive::refusal(experiment), None);
    assert_eq!(archive::difference(experiment), None);

    // On a path with lines, each call has another line or another function; so the number of calls is the
    // same.
    let calls = |experiment| {
        let mut paths = archive::paths(experiment);
        paths.retain(|path| path.contains("/MPI_"));
        paths
    };
    let stripped = calls(experiment);
    assert!(stripped.len() >= calls(&whole.experiment).len(), "{stripped:?}");
    let parts = stripped.iter().flat_map(|path| path.split('/'));
    let functions: BTreeSet<&str> = parts.filter_map(|part| Some(part.split_once(" (")?.0)).collect();
    // main, descend, and the checks; none from before main.
    assert!((2..=6).contains(&functions.len()), "{functions:?}");
    assert!(functions.iter().all(|name| name.starts_with("stripped+0x")), "{functions:?}");

    let analysis = analyze(experiment, &subject.folder);
    analysis.expect_success();
    assert!(analysis.stdout.contains("/MPI_Barrier (stripped+0x"), "{}", analysis.stdout);
    for wrong in [":0)", "line 0"] {
        assert!(!analysis.stdout.contains(wrong), "{}", analysis.stdout);
    }
}
