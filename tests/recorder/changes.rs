//! Programs before and after a change: the run time that `--what-if` predicts from a recording of the first is that of the second
//! (what-if 3.2).

use crate::support::record::{Invocation, Subject};
use replay::exchange::Solo;
use replay::progress::Progress;
use replay::report::WhatIfSummary;
use replay::{DetailsPlace, Options, WhatIf};

/// The largest error of a prediction, as a share of the measured run time.
const ERROR: f64 = 0.1;

/// A machine that is busy meanwhile is given as many chances.
const ATTEMPTS: usize = 10;

/// A change: ranks, arguments of the program, scenario, and arguments with the change.
struct Case {
    ranks: u32,
    before: &'static [&'static str],
    scenario: &'static str,
    after: &'static [&'static str],
}

const CHANGES: &str = "changes/changes.c";

const CASES: &[Case] = &[
    Case {
        ranks: 4,
        before: &["chain", "30", "5"],
        scenario: "level=work@0",
        after: &["chain", "11.25", "5"],
    },
    Case { ranks: 4, before: &["chain", "20", "4"], scenario: "cpu=0.5@work", after: &["chain", "10", "2"] },
    Case { ranks: 3, before: &["chain", "10", "4"], scenario: "add=1000", after: &["held-chain", "10", "4"] },
    Case {
        ranks: 4,
        before: &["allreduce", "30", "10"],
        scenario: "level=work@0",
        after: &["allreduce", "15", "10"],
    },
    Case {
        ranks: 4,
        before: &["allreduce", "30", "10"],
        scenario: "balance=work",
        after: &["allreduce", "15", "15"],
    },
    Case {
        ranks: 2,
        before: &["allreduce", "30", "10"],
        scenario: "without=work@0",
        after: &["allreduce", "10", "10"],
    },
    Case {
        ranks: 2,
        before: &["turns", "20", "5"],
        scenario: "remove=MPI_Barrier",
        after: &["turns-without-barrier", "20", "5"],
    },
    Case { ranks: 2, before: &["ssend"], scenario: "eager=all", after: &["send"] },
    Case { ranks: 2, before: &["send"], scenario: "rendezvous=0", after: &["ssend"] },
    Case {
        ranks: 4,
        before: &["late-ring", "20", "10"],
        scenario: "early-send=MPI_Send",
        after: &["early-ring", "20", "10"],
    },
    Case {
        ranks: 4,
        before: &["late-jacobi", "25", "15"],
        scenario: "early-send=MPI_Isend",
        after: &["early-jacobi", "25", "15"],
    },
    Case {
        ranks: 2,
        before: &["wait-first", "15", "15"],
        scenario: "overlap=MPI_Wait",
        after: &["wait-last", "15", "15"],
    },
    Case { ranks: 2, before: &["noise", "10", "40"], scenario: "quiet=work", after: &["noise", "10", "10"] },
];

/// A recording of a program; `None` if it cannot be made here.
fn record(test: &str, program: &str, ranks: u32, arguments: &[&str]) -> Option<Subject> {
    // Ranks that share a core do not wait for each other alone.
    let subject = Subject::new(test, program, ranks, arguments)?
        .with("OMPI_MCA_hwloc_base_binding_policy", "none")
        .with("PRTE_MCA_hwloc_default_binding_policy", "none");
    subject.run_recorded(Invocation::InFront).expect_success();
    Some(subject)
}

/// The run time of a recording in a scenario.
fn replayed(subject: &Subject, scenario: &str) -> WhatIfSummary {
    let options = Options {
        what_if: Some(WhatIf::parse(scenario).unwrap()),
        details: Some(DetailsPlace::Nowhere),
        report: Some(subject.folder.join("trace.cubex")),
        structure: false,
        force: true,
        ..Options::new(&subject.experiment)
    };
    let outcome = replay::analyze(&options, &mut Solo, &mut Progress::silent()).unwrap();
    outcome.summary.unwrap().what_if.unwrap()
}

/// Says the error of a prediction, as a share of the measured run time.
fn error(what: &str, predicted: &WhatIfSummary, measured: &WhatIfSummary) -> f64 {
    let gain = &predicted.gains[0];
    let error = gain.seconds / measured.run - 1.0;
    println!(
        "{what}: {:.3} s, {}: {:.3} s predicted, {:.3} s measured, {:+.1} %",
        predicted.run,
        gain.scenario,
        gain.seconds,
        measured.run,
        100.0 * error
    );
    error
}

#[test]
fn run_times_of_changed_programs_are_as_predicted() {
    for (number, Case { ranks, before, scenario, after }) in CASES.iter().enumerate() {
        let test = format!("changes-{number}");
        let mut errors = Vec::new();
        for _ in 0..ATTEMPTS {
            let Some(subject) = record(&test, CHANGES, *ranks, before) else { return };
            let predicted = replayed(&subject, scenario);
            let Some(subject) = record(&test, CHANGES, *ranks, after) else { return };
            errors.push(error(&before.join(" "), &predicted, &replayed(&subject, "same")));
            if errors.last().is_some_and(|error| error.abs() <= ERROR) {
                break;
            }
        }
        assert!(errors.iter().any(|error| error.abs() <= ERROR), "{before:?}, {scenario}: {errors:?}");
    }
}
