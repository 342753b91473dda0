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
const ATTEMPTS: usize = 3;

/// A change: program, ranks, its arguments, scenario, and arguments with the change.
struct Case {
    program: &'static str,
    ranks: u32,
    before: &'static [&'static str],
    scenario: &'static str,
    after: &'static [&'static str],
}

const CHANGES: &str = "changes/changes.c";

const CASES: &[Case] = &[
    Case {
        program: CHANGES,
        ranks: 4,
        before: &["chain", "30", "5"],
        scenario: "level=work@0",
        after: &["chain", "11.25", "5"],
    },
    Case {
        program: CHANGES,
        ranks: 4,
        before: &["chain", "20", "4"],
        scenario: "cpu=0.5@work",
        after: &["chain", "10", "2"],
    },
    Case {
        program: CHANGES,
        ranks: 3,
        before: &["chain", "10", "4"],
        scenario: "add=1000",
        after: &["held-chain", "10", "4"],
    },
    Case {
        program: CHANGES,
        ranks: 4,
        before: &["allreduce", "30", "10"],
        scenario: "level=work@0",
        after: &["allreduce", "15", "10"],
    },
    Case {
        program: CHANGES,
        ranks: 4,
        before: &["allreduce", "30", "10"],
        scenario: "balance=work",
        after: &["allreduce", "15", "15"],
    },
    Case {
        program: CHANGES,
        ranks: 2,
        before: &["allreduce", "30", "10"],
        scenario: "without=work@0",
        after: &["allreduce", "10", "10"],
    },
    Case {
        program: CHANGES,
        ranks: 2,
        before: &["turns", "20", "5"],
        scenario: "remove=MPI_Barrier",
        after: &["turns-without-barrier", "20", "5"],
    },
    Case { program: CHANGES, ranks: 2, before: &["ssend"], scenario: "eager=all", after: &["send"] },
    Case { program: CHANGES, ranks: 2, before: &["send"], scenario: "rendezvous=0", after: &["ssend"] },
    Case {
        program: CHANGES,
        ranks: 4,
        before: &["late-ring", "20", "10"],
        scenario: "early-send=MPI_Send",
        after: &["early-ring", "20", "10"],
    },
    Case {
        program: CHANGES,
        ranks: 2,
        before: &["wait-first", "15", "15"],
        scenario: "overlap=MPI_Wait",
        after: &["wait-last", "15", "15"],
    },
    Case {
        program: CHANGES,
        ranks: 2,
        before: &["noise", "10", "40"],
        scenario: "quiet=work",
        after: &["noise", "10", "10"],
    },
    Case {
        program: "jacobi.c",
        ranks: 2,
        before: &["late", "20", "16000"],
        scenario: "early-send=MPI_Isend",
        after: &["early", "20", "16000"],
    },
    Case {
        program: "jacobi.c",
        ranks: 2,
        before: &["late", "20", "4000"],
        scenario: "early-send=MPI_Isend",
        after: &["early", "20", "4000"],
    },
];

/// Run times of a recording of a program in a scenario; `None` if it cannot be made here.
fn recorded(
    test: &str,
    (program, ranks): (&str, u32),
    arguments: &[&str],
    scenario: &str,
) -> Option<WhatIfSummary> {
    // Ranks that share a core do not wait for each other alone.
    let subject = Subject::new(test, program, ranks, arguments)?
        .with("OMPI_MCA_hwloc_base_binding_policy", "none")
        .with("PRTE_MCA_hwloc_default_binding_policy", "none");
    subject.run_recorded(Invocation::InFront).expect_success();
    let options = Options {
        what_if: Some(WhatIf::parse(scenario).unwrap()),
        details: Some(DetailsPlace::Nowhere),
        report: Some(subject.folder.join("trace.cubex")),
        structure: false,
        force: true,
        ..Options::new(&subject.experiment)
    };
    let outcome = replay::analyze(&options, &mut Solo, &mut Progress::silent()).unwrap();
    outcome.summary.unwrap().what_if
}

#[test]
fn run_times_of_changed_programs_are_as_predicted() {
    for (number, Case { program, ranks, before, scenario, after }) in CASES.iter().enumerate() {
        let test = format!("changes-{number}");
        let mut errors = Vec::new();
        for _ in 0..ATTEMPTS {
            let Some(predicted) = recorded(&test, (program, *ranks), before, scenario) else { return };
            let Some(measured) = recorded(&test, (program, *ranks), after, "same") else { return };
            let error = predicted.gains[0].seconds / measured.run - 1.0;
            println!(
                "{program} {}: {:.3} s, {scenario}: {:.3} s predicted, {:.3} s measured, {:+.1} %",
                before.join(" "),
                predicted.run,
                predicted.gains[0].seconds,
                measured.run,
                100.0 * error
            );
            errors.push(error);
            if error.abs() <= ERROR {
                break;
            }
        }
        assert!(errors.iter().any(|error| error.abs() <= ERROR), "{before:?}, {scenario}: {errors:?}");
    }
}
