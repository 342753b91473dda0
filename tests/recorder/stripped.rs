//! A program without symbols: its functions are named by their addresses, its calls are kept apart, and a
//! message says how to get names.

use crate::support::archive;
use crate::support::build;
use crate::support::fresh;
use crate::support::record::{Invocation, Subject, analyze};
use std::collections::BTreeSet;
use std::process::Command;

use skip::{Need, skip};

const PROGRAM: &str = "oddities/changing_paths.c";

/// The lines about files that have no debug information.
fn said(stderr: &str) -> Vec<&str> {
    stderr.lines().filter(|line| line.contains("has no debug information")).collect()
}

#[test]
fn functions_of_a_stripped_program_are_named_by_where_they_begin_and_calls_are_told_apart() {
    let Some(whole) = Subject::new("whole", PROGRAM, 2, &[]) else { return };
    let recorded = whole.run_recorded(Invocation::InFront);
    recorded.expect_success();
    assert_eq!(said(&recorded.stderr), [""; 0]);

    let program = build::program(whole.mpi, PROGRAM).unwrap();
    let copy = fresh("stripped_program").join("stripped");
    std::fs::copy(&program[0], &copy).unwrap();
    if !Command::new("strip").arg(&copy).status().is_ok_and(|status| status.success()) {
        skip(Need::Compiler, "a stripped program: there is no strip");
        return;
    }
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
