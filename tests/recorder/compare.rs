//! Two recordings of the demonstration's solver, which sends its borders late or early: `replay-show diff` says what
//! changed, and gates end in both statuses.

use std::path::Path;

use serde_json::Value;
use show::status::Status;

use crate::show::{json, show};
use crate::support::record::{Invocation, Subject, analyze};

/// Attempts to record with little noise: other programs on the machine make ranks wait, too.
const ATTEMPTS: usize = 3;

/// Records and analyses the solver; returns its report, as a path.
fn report(sends: &'static str) -> Option<String> {
    let name = format!("compare_{sends}");
    // Ranks that share a core do not wait for each other alone.
    let subject = Subject::new(&name, "jacobi.c", 2, &[sends, "20", "16000"])?
        .with("OMPI_MCA_hwloc_base_binding_policy", "none")
        .with("PRTE_MCA_hwloc_default_binding_policy", "none");
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

#[test]
fn diff_of_two_recordings_says_what_changed() {
    for attempt in 1..=ATTEMPTS {
        let (Some(late), Some(early)) = (report("late"), report("early")) else { return };
        assert!(Path::new(&late).is_file() && Path::new(&early).is_file());
        let diff = json(&["diff", &late, &early]);
        let (before, after) = quantity(&diff, "waiting");
        if after > 0.8 * before && attempt < ATTEMPTS {
            continue;
        }
        assert!(after < before, "{before} {after}");
        let calls = diff["calls"].as_array().unwrap();
        let is_gone = |row: &Value| {
            let path = row["path"].as_str().unwrap_or_default();
            row["match"] == "gone" && path.ends_with("/step_late/end_exchange/MPI_Waitall")
        };
        let waits = calls.iter().filter(|row| row["metric"] == "mpi_latesender" && is_gone(row));
        let gone: f64 = waits.filter_map(|row| row["a"].as_f64()).sum();
        assert!(gone > 0.5 * (before - after), "most of it is where borders were sent late: {diff}");
        // The change is good, and its reversal is not.
        let gate = ["--fail-if", "mpi_latesender > +10%", "--fail-if", "waiting > 1.1x"];
        let (status, text, messages) = show(&[&["diff", &late, &early], &gate[..]].concat(), &[]);
        assert_eq!(status, Status::Done, "{text}{messages}");
        let (status, text, messages) = show(&[&["diff", &early, &late], &gate[..]].concat(), &[]);
        assert_eq!(status, Status::GateFailed, "{text}{messages}");
        assert!(text.contains("MPI_Waitall"), "{text}{messages}");
        return;
    }
}
