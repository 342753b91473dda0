//! Programs that another tool measures, too (site 4.3): Score-P is switched off unless the user wants it, and rank 0 says what there is.

use crate::support::build;
use crate::support::fresh;
use crate::support::process::Ended;
use crate::support::project;
use crate::support::record::{INVOCATIONS, Invocation, Subject};

const PROGRAM: &str = "waits/late_sender.c";

/// Runs a program that is instrumented with what stands in for Score-P; `None`, with a message, if it cannot be run here.
fn recorded(test: &str, way: Invocation, variables: &[(&'static str, &'static str)]) -> Option<Ended> {
    build::mpi(test)?;
    let program = fresh(&format!("{test}_program")).join("instrumented");
    build::instrument(&project("tests/programs").join(PROGRAM), &program);
    let subject = Subject::any(test, 2, vec![program.into()])?;
    let subject = variables.iter().fold(subject, |subject, (name, value)| subject.with(name, value));
    let ended = subject.run_recorded(way);
    ended.expect_success();
    Some(ended)
}

/// Lines about other tools.
fn said(ended: &Ended) -> Vec<&str> {
    ended
        .stderr
        .lines()
        .filter(|line| line.starts_with("replay-record: this program is instrumented"))
        .collect()
}

#[test]
fn scorep_is_switched_off_and_that_is_said_once() {
    for (way, test) in INVOCATIONS.into_iter().zip(["scorep_in_front", "scorep_behind"]) {
        let Some(ended) = recorded(test, way, &[]) else { return };
        assert!(ended.stdout.contains("scorep: profiling false tracing false"), "{}", ended.stdout);
        let said = said(&ended);
        assert!(
            said.len() == 1 && said[0].contains("switched off here; to use it instead"),
            "{}",
            ended.stderr
        );
    }
}

#[test]
fn scorep_that_the_user_wants_records_too() {
    let wanted = [("SCOREP_ENABLE_TRACING", "true")];
    let Some(ended) = recorded("scorep_wanted", Invocation::Behind, &wanted) else { return };
    assert!(ended.stdout.contains("scorep: profiling false tracing true"), "{}", ended.stdout);
    let said = said(&ended);
    assert!(said.len() == 1 && said[0].ends_with("both record; times contain both"), "{}", ended.stderr);
}

#[test]
fn program_without_other_tools_is_told_nothing() {
    let Some(subject) = Subject::new("no_other_tools", PROGRAM, 2, &[]) else { return };
    let ended = subject.run_recorded(Invocation::InFront);
    ended.expect_success();
    assert_eq!(said(&ended), [""; 0]);
}
