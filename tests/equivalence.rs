//! Reproducibility: a report and its statistics have the same bytes with one process or many, with or without
//! MPI, and in every run.

use std::path::{Path, PathBuf};

use otf2::Io;
use replay::exchange::Solo;
use replay::progress::Progress;
use replay::{Options, Semantics};

use crate::oracle::random::trace;
use crate::support::parse::Case;
use crate::support::{
    SEMANTICS, archive, archives, fresh, golden, in_memory, many, name, options, run, workers, write, written,
};

/// Archives with many features; in some runs there are more processes than ranks.
const ARCHIVES: [&str; 4] = ["comms.7", "hybrid.3x3", "master_worker.6", "wrong_order_diff.4"];

/// Scripts with special cases of reports: findings, several programs, call sites, streams, missing files.
const SCRIPTS: [&str; 4] =
    ["two_programs", "calling_contexts", "contradicting_collectives", "missing_events"];

/// Report and statistics of the program without launcher.
fn alone(experiment: &Path, report: &Path) -> [Vec<u8>; 2] {
    run::analyze([Path::new("-q"), experiment, Path::new("-o"), report]).expect(0);
    written(report)
}

/// The experiments: real archives in place, archives of scripts in `directory`.
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
            assert!(written(&report) == expected, "{} with {processes} processes", experiment.display());
        }
    }
}

/// Number of random traces.
const TRACES: u64 = 200;

/// All archives, scripts and random traces, each in both semantics, with the report of the program without
/// launcher.
fn everything(directory: &Path) -> Vec<(Options, [Vec<u8>; 2])> {
    let mut experiments = archives();
    let scripts = golden().into_iter().map(|script| (name(&script), Case::read(&script).trace));
    let random = (0..TRACES).map(|seed| (format!("random-{seed}"), trace(seed)));
    for (name, trace) in scripts.chain(random) {
        let experiment = directory.join(name);
        write::write(&trace, &experiment);
        experiments.push(experiment);
    }
    let solo = |(number, (experiment, semantics)): (usize, (&PathBuf, Semantics))| {
        let clock_correction = number % 4 < 2;
        let report = directory.join(format!("{}-solo.cubex", name(experiment)));
        let mut program = run::analyzer(["-q", "--semantics", semantics.name(), "-o"]);
        program.arg(&report).args(clock_correction.then_some("--clock-correction")).arg(experiment);
        run::run(&mut program).expect(0);
        let options = Options { clock_correction, ..options(experiment, &report, semantics) };
        (options, written(&report))
    };
    experiments.iter().zip(SEMANTICS.into_iter().cycle()).enumerate().map(solo).collect()
}

#[test]
fn report_of_every_trace_is_the_same_with_any_workers() {
    let directory = in_memory();
    let everything = everything(directory.path());
    let compare = |with: &str, threads: usize, analyze: &dyn Fn(&[Options])| {
        let report = |number| Some(directory.path().join(format!("{with}-{number}.cubex")));
        let analyses = everything.iter().enumerate().map(|(number, (solo, _))| Options {
            report: report(number),
            threads,
            together: workers::TOGETHER[number % 3],
            io: if threads == 2 { Io::Read } else { Io::Map },
            ..solo.clone()
        });
        let analyses: Vec<Options> = analyses.collect();
        analyze(&analyses);
        for (analysis, (_, solo)) in analyses.iter().zip(&everything) {
            let report = analysis.report.as_ref().unwrap();
            let found = written(report);
            std::fs::remove_file(report).unwrap();
            std::fs::remove_file(report.with_extension("stat")).unwrap();
            assert!(found == *solo, "{} with {with}", analysis.experiment.display());
        }
    };
    for threads in [1, 2, 4] {
        compare(&format!("{threads} threads"), threads, &|analyses| {
            for analysis in analyses {
                replay::analyze(analysis, &mut Solo, &mut Progress::silent()).unwrap();
            }
        });
    }
    let Some(launcher) = run::mpirun("reports of all traces by several processes") else { return };
    let list = directory.path().join("list");
    for (processes, threads) in [(1, 1), (2, 1), (3, 1), (5, 1), (8, 1), (2, 2)] {
        let workers = format!("{processes} processes of {threads} threads");
        compare(&workers, threads, &|analyses| many::analyze(launcher, processes, analyses, &list));
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
        let report = directory.path().join("r.cubex");
        for clock_correction in [false, true] {
            let options = Options { clock_correction, ..options(&experiment, &report, Semantics::Corrected) };
            replay::analyze(&options, &mut Solo, &mut Progress::silent()).unwrap();
            let one = written(&report);
            for (processes, threads) in [(1, 2), (1, 5), (2, 1), (3, 1), (5, 1), (2, 3)] {
                let options = Options { threads, ..options.clone() };
                workers::analyze_each(&options, processes, |together| {
                    let what =
                        format!("{}: {processes} processes of {threads} threads", experiment.display());
                    assert!(written(&report) == one, "{what}, {together} bytes together");
                });
            }
        }
    }
}
