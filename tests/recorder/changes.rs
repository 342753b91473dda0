//! Programs before and after a change: the run time that `--what-if` predicts from a recording of the first is that of the second
//! (what-if 3.2).

use crate::support::record::{Invocation, Subject};
use replay::exchange::Solo;
use replay::progress::Progress;
use replay::report::WhatIfSummary;
use replay::{DetailsPlace, Options, WhatIf};

/// The largest error of a prediction, as a share of the measured run time.
const ERROR: f64 = 0.1;

/// Pairs of runs, of which the shortest are compared.
const ATTEMPTS: usize = 20;

/// The share of its sleep by which a rank may sleep longer on a machine that is quiet enough to measure anything.
const QUIET: f64 = 0.03;

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
        before: &["chain", "60", "10"],
        scenario: "level=work@0",
        after: &["chain", "22.5", "10"],
    },
    Case { ranks: 4, before: &["chain", "40", "8"], scenario: "cpu=0.5@work", after: &["chain", "20", "4"] },
    Case {
        ranks: 3,
        before: &["chain", "20", "8"],
        scenario: "add=10000",
        after: &["held-chain", "20", "8"],
    },
    Case {
        ranks: 4,
        before: &["allreduce", "60", "20"],
        scenario: "level=work@0",
        after: &["allreduce", "30", "20"],
    },
    Case {
        ranks: 4,
        before: &["allreduce", "60", "20"],
        scenario: "balance=work",
        after: &["allreduce", "30", "30"],
    },
    Case {
        ranks: 2,
        before: &["allreduce", "60", "20"],
        scenario: "without=work@0",
        after: &["allreduce", "20", "20"],
    },
    Case {
        ranks: 2,
        before: &["turns", "40", "10"],
        scenario: "remove=MPI_Barrier",
        after: &["turns-without-barrier", "40", "10"],
    },
    Case { ranks: 2, before: &["ssend"], scenario: "eager=all", after: &["send"] },
    Case { ranks: 2, before: &["send"], scenario: "rendezvous=0", after: &["ssend"] },
    Case {
        ranks: 4,
        before: &["late-ring", "40", "20"],
        scenario: "early-send=MPI_Send",
        after: &["early-ring", "40", "20"],
    },
    Case {
        ranks: 4,
        before: &["late-jacobi", "50", "30"],
        scenario: "early-send=MPI_Isend",
        after: &["early-jacobi", "50", "30"],
    },
    Case {
        ranks: 2,
        before: &["wait-first", "30", "30"],
        scenario: "overlap=MPI_Wait",
        after: &["wait-last", "30", "30"],
    },
    Case { ranks: 2, before: &["noise", "20", "80"], scenario: "quiet=work", after: &["noise", "20", "20"] },
];

/// A recording of a program, and whether the machine was quiet meanwhile; `None` if it cannot be made here.
fn record(test: &str, program: &str, ranks: u32, arguments: &[&str]) -> Option<(Subject, bool)> {
    // Ranks that share a core do not wait for each other alone.
    let subject = Subject::new(test, program, ranks, arguments)?
        .with("OMPI_MCA_hwloc_base_binding_policy", "none")
        .with("PRTE_MCA_hwloc_default_binding_policy", "none");
    let ended = subject.run_recorded(Invocation::InFront);
    ended.expect_success();
    // Each rank has printed how long it was to sleep, and how much longer it has slept.
    let is_in_time = |line: &str| {
        let numbers: Vec<f64> = line.split(' ').map(|number| number.parse().unwrap()).collect();
        numbers[1] <= QUIET * numbers[0]
    };
    let is_quiet = ended.stdout.lines().all(is_in_time);
    Some((subject, is_quiet))
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

#[test]
fn run_times_of_changed_programs_are_as_predicted() {
    for (number, Case { ranks, before, scenario, after }) in CASES.iter().enumerate() {
        let test = format!("changes-{number}");
        // What else runs on the machine makes run times longer, and never shorter.
        let (mut predicted, mut measured) = (f64::INFINITY, f64::INFINITY);
        let (mut is_right, mut was_quiet) = (false, [false; 2]);
        for _ in 0..ATTEMPTS {
            let Some((subject, is_quiet)) = record(&test, CHANGES, *ranks, before) else { return };
            predicted = replayed(&subject, scenario).gains[0].seconds.min(predicted);
            was_quiet[0] |= is_quiet;
            let Some((subject, is_quiet)) = record(&test, CHANGES, *ranks, after) else { return };
            measured = replayed(&subject, "same").run.min(measured);
            was_quiet[1] |= is_quiet;
            println!("{before:?}, {scenario}: {predicted:.3} s predicted, {measured:.3} s measured");
            is_right = (predicted / measured - 1.0).abs() <= ERROR;
            if is_right {
                break;
            }
        }
        let told = format!("{before:?}, {scenario}: {predicted} s predicted, {measured} s measured");
        if !is_right && was_quiet != [true; 2] {
            // Who sleeps for longer than asked on this machine measures the machine.
            skip::skip(skip::Need::System, format!("the machine is never quiet: {told}"));
            continue;
        }
        assert!(is_right, "{told}");
    }
}
