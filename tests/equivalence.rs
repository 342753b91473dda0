//! A report has the same bytes whoever makes it: one process or many, with or without MPI, today or tomorrow.

use std::path::{Path, PathBuf};

use replay::Semantics;

use crate::support::parse::Case;
use crate::support::{archive, archives, fresh, golden, run, workers, write};

/// Archives with much of everything; more processes than there are ranks in some.
const ARCHIVES: [&str; 4] = ["comms.7", "hybrid.3x3", "master_worker.6", "wrong_order_diff.4"];

/// Scripts whose reports need care: findings, several programs, call sites, streams, missing files.
const SCRIPTS: [&str; 4] =
    ["two_programs", "calling_contexts", "contradicting_collectives", "missing_events"];

/// The report of the program under test without launcher.
fn alone(experiment: &Path, report: &Path) -> Vec<u8> {
    run::analyze([Path::new("-q"), experiment, Path::new("-o"), report]).expect(0);
    std::fs::read(report).unwrap()
}

/// The experiments: archives as they are, scripts written to `directory`.
fn experiments(directory: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = ARCHIVES.iter().map(|name| archive(name)).collect();
    for name in SCRIPTS {
        let script = crate::support::project("tests/golden").join(format!("{name}.trace"));
        let experiment = directory.join(name);
        write::write(&Case::read(&script).trace, &experiment);
        all.push(experiment);
    }
    all
}

#[test]
fn report_is_the_same_with_any_number_of_mpi_processes() {
    let Some(launcher) = run::mpirun("reports of several processes") else { return };
    let directory = fresh();
    for experiment in experiments(directory.path()) {
        let expected = alone(&experiment, &directory.path().join("alone.cubex"));
        for processes in [1, 2, 3, 5, 8] {
            let report = directory.path().join(format!("{processes}.cubex"));
            let arguments = [Path::new("-q"), &experiment, Path::new("-o"), &report];
            run::analyze_with(launcher, processes, arguments).expect(0);
            let found = std::fs::read(&report).unwrap();
            assert!(found == expected, "{} with {processes} processes", experiment.display());
        }
    }
}

#[test]
fn report_is_the_same_twice_in_a_row() {
    let directory = fresh();
    for experiment in experiments(directory.path()) {
        let first = alone(&experiment, &directory.path().join("first.cubex"));
        let second = alone(&experiment, &directory.path().join("second.cubex"));
        assert!(first == second, "{}", experiment.display());
    }
}

#[test]
fn report_is_the_same_with_any_number_of_processes_and_threads() {
    let directory = fresh();
    let mut experiments = archives();
    for script in golden() {
        let experiment = directory.path().join(script.file_stem().unwrap());
        write::write(&Case::read(&script).trace, &experiment);
        experiments.push(experiment);
    }
    for experiment in experiments {
        let analyze = |processes: usize, threads: usize| {
            let report = directory.path().join("r.cubex");
            for outcome in workers::analyze(&experiment, &report, Semantics::Corrected, processes, threads) {
                outcome.unwrap();
            }
            std::fs::read(&report).unwrap()
        };
        let one = analyze(1, 1);
        for (processes, threads) in [(1, 2), (1, 5), (2, 1), (3, 1), (5, 1), (2, 3)] {
            let what = experiment.display();
            assert!(analyze(processes, threads) == one, "{what}: {processes} processes of {threads} threads");
        }
    }
}
