//! Many analyses under one launcher: starting MPI takes longer than analyzing a small trace.
//!
//! The launcher starts this test program again, which then runs only the test below.

use std::path::Path;

use replay::Options;

use super::run;

/// Variable with the path of the list of analyses.
const LIST: &str = "REPLAY_MANY";

/// Name of the test that works off the list.
const TEST: &str = "support::many::analyses_of_the_list";

/// Runs analyses with several processes, one after the other. Each needs its report named.
pub(crate) fn analyze(launcher: &Path, processes: usize, analyses: &[Options], list: &Path) {
    let lines: Vec<String> = analyses.iter().map(line).collect();
    std::fs::write(list, lines.concat()).unwrap();
    let program = std::env::current_exe().unwrap();
    let mut command = run::launched(launcher, processes, [&program]);
    command.args([TEST, "--exact", "--ignored", "--nocapture", "--test-threads=1"]).env(LIST, list);
    run::run_within(&mut command, 10 * run::DEADLINE).expect(0);
}

fn line(analysis: &Options) -> String {
    let report = analysis.report.as_ref().expect("a report");
    let paths = format!("{}\t{}", analysis.experiment.display(), report.display());
    let Options { semantics, threads, clock_correction, together, .. } = analysis;
    format!("{}\t{threads}\t{clock_correction}\t{together}\t{paths}\n", semantics.name())
}

#[cfg(any(feature = "mpi", feature = "mpi-dlopen"))]
fn parse(line: &str) -> Options {
    let [semantics, threads, clock_correction, together, experiment, report] =
        line.split('\t').collect::<Vec<_>>()[..]
    else {
        panic!("{line}")
    };
    let semantics = super::SEMANTICS.into_iter().find(|one| one.name() == semantics).unwrap();
    Options {
        threads: threads.parse().unwrap(),
        clock_correction: clock_correction.parse().unwrap(),
        together: together.parse().unwrap(),
        ..super::options(experiment.as_ref(), report.as_ref(), semantics)
    }
}

#[cfg(any(feature = "mpi", feature = "mpi-dlopen"))]
#[test]
#[ignore = "started by the tests of equivalence, under a launcher"]
fn analyses_of_the_list() {
    use std::path::PathBuf;

    use replay::progress::Progress;

    let Some(list) = std::env::var_os(LIST) else { return };
    let library = std::env::var_os("REPLAY_MPI").map(PathBuf::from);
    let list = std::fs::read_to_string(list).unwrap();
    let analyses: Vec<Options> = list.lines().map(parse).collect();
    let threads = analyses.iter().map(|options| options.threads).max().unwrap_or(1);
    let mut processes =
        replay::exchange::mpi::start(library.as_deref(), threads).unwrap().expect("a launcher");
    for options in analyses {
        if let Err(error) = replay::analyze(&options, processes.as_mut(), &mut Progress::silent()) {
            panic!("{options:?}: {error}");
        }
    }
}
