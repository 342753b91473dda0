//! A launcher that does not fit the MPI is told, once, with what would fit; and where no MPI is needed, none is started.

use crate::cluster::Cluster;
use crate::job::{Ended, Job, folder};
use crate::support::{copy, project};

/// Runs a line in a job of two tasks, with an archive at hand.
fn run(test: &str, line: &str) -> Option<Ended> {
    let cluster = Cluster::shared(test)?;
    let folder = folder(test);
    copy(&project("tests/archives/barrier.4"), &folder.join("exp.dir"));
    let script = format!("#!/bin/bash\nunset SLURM_MPI_TYPE\n{line}\n");
    let options = ["--ntasks=2", "--time=00:10:00", "--output=%x-%j.out"];
    Some(Job::submit(&cluster, &folder, test, &script, &options).wait())
}

/// Fails the test unless the job has ended with status 2 and one message that has these words.
#[track_caller]
fn expect_told(ended: &Ended, words: &[&str]) {
    assert_eq!((ended.state.as_str(), ended.status), ("FAILED", (2, 0)), "{}", ended.output);
    let told: Vec<&str> = ended.output.lines().filter(|line| line.starts_with("replay-analyze: ")).collect();
    let [line] = told[..] else { panic!("{}", ended.output) };
    words.iter().for_each(|word| assert!(line.contains(word), "no {word:?} in {line}"));
}

#[test]
fn tasks_without_mpi_are_told_how_srun_is_to_be_called() {
    let Some(ended) = run("mpi_none", "srun --mpi=none replay-analyze exp.dir") else { return };
    expect_told(&ended, &["srun started 2 tasks without MPI", "--mpi=pmix", "--mpi=pmi2"]);
}

#[test]
fn tasks_of_another_mpi_are_told_which_one_fits() {
    let Some(cluster) = Cluster::shared("mpi_misfit") else { return };
    let is_open_mpi = cluster.mpi.is_open_mpi;
    let (other, fitting) = if is_open_mpi { ("pmi2", "--mpi=pmix") } else { ("pmix", "--mpi=pmi2") };
    let line = format!("srun --mpi={other} replay-analyze exp.dir");
    let Some(ended) = run("mpi_misfit", &line) else { return };
    expect_told(&ended, &["replay-analyze was built with", fitting]);
}

#[test]
fn one_task_needs_no_mpi_whatever_srun_was_told() {
    for kind in ["none", "pmi2", "pmix"] {
        let line = format!("srun --ntasks=1 --mpi={kind} bash -c 'replay-analyze exp.dir'");
        let Some(ended) = run(&format!("one_task_{kind}"), &line) else { return };
        assert_eq!((ended.state.as_str(), ended.status), ("COMPLETED", (0, 0)), "{}", ended.output);
        assert!(ended.output.contains("Report: exp.dir/trace.cubex\n"), "{}", ended.output);
    }
}
