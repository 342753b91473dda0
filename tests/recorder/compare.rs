//! Recordings of a Jacobi solver that sends its borders late, and early: `replay-show diff` says what changed, and gates
//! end in both statuses.

use std::path::Path;

use serde_json::Value;
use show::status::Status;

use crate::show::{json, show};
use crate::support::record::{Invocation, Subject, analyze};

/// How often it is tried: on a busy machine ranks wait for other programs, too.
const ATTEMPTS: usize = 5;

/// Records and analyses the solver; returns its report, as a path. Its work sleeps, so that other programs on the
/// machine hardly make ranks wait.
fn report(kind: &'static str) -> Option<String> {
    let subject = Subject::new(&format!("compare_{kind}"), "changes/changes.c", 2, &[kind, "25", "15"])?;
    subject.run_recorded(Invocation::InFront).expect_success();
    analyze(&subject.experiment, &subject.folder).expect_success();
    subject.experiment.join("trace.cubex").into_os_string().into_string().ok()
}

/// The medians of a quantity in A and B.
fn quantity(diff: &Value, name: &str) -> (f64, f64) {
    let rows = diff["quantities"].as_array().unwrap();
    let row = rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("{name}: {diff}"));
    (row["a"].as_f64().unwrap(), row["b"].as_f64().unwrap())
}

/// Waiting in both, and what of the first is gone in the calls that complete messages.
fn waiting(diff: &Value) -> (f64, f64, f64) {
    let (before, after) = quantity(diff, "waiting");
    let is_wait = |row: &&Value| {
        let path = row["path"].as_str().unwrap_or_default();
        row["metric"] == "mpi_latesender" && path.ends_with("/MPI_Waitall")
    };
    let waits = diff["calls"].as_array().unwrap().iter().filter(is_wait);
    let saved = waits.map(|row| row["a"].as_f64().unwrap() - row["b"].as_f64().unwrap_or(0.0)).sum();
    (before, after, saved)
}

#[test]
fn diff_of_two_recordings_says_what_changed() {
    let mut tried = Vec::new();
    for _ in 0..ATTEMPTS {
        let (Some(late), Some(early)) = (report("late-jacobi"), report("early-jacobi")) else { return };
        assert!(Path::new(&late).is_file() && Path::new(&early).is_file());
        let (before, after, saved) = waiting(&json(&["diff", &late, &early]));
        tried.push((before, after, saved));
        // Most of it is where borders were sent late.
        if after < 0.8 * before && saved > 0.5 * (before - after) {
            expect_gates(&late, &early);
            return;
        }
    }
    panic!("{tried:?}");
}

/// The change is good, and its reversal is not.
fn expect_gates(late: &str, early: &str) {
    let gate = ["--fail-if", "mpi_latesender > +10%", "--fail-if", "waiting > 1.1x"];
    let (status, text, messages) = show(&[&["diff", late, early], &gate[..]].concat(), &[]);
    assert_eq!(status, Status::Done, "{text}{messages}");
    let (status, text, messages) = show(&[&["diff", early, late], &gate[..]].concat(), &[]);
    assert_eq!(status, Status::GateFailed, "{text}{messages}");
    assert!(text.contains("MPI_Waitall"), "{text}{messages}");
}
