//! Jobs that follow each other, and jobs of an array: `slurm-chain.sh`, `slurm-analyze.sh`, `slurm-scaling.sh`.

use crate::cluster::Cluster;
use crate::job::{Job, command, expect_analysed, expect_complete, folder, wait_for_file};
use crate::support::{build, copy, process, project};
use std::fs;
use std::path::{Path, PathBuf};

fn script(name: &str) -> String {
    fs::read_to_string(project("jobscripts").join(name)).unwrap()
}

/// The text of all files in a folder that jobs have printed to.
fn printed(folder: &Path) -> String {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let outputs = entries.filter(|path| path.extension().is_some_and(|it| it == "out" || it == "sh"));
    outputs.map(|path| format!("{}:\n{}\n", path.display(), fs::read_to_string(&path).unwrap())).collect()
}

/// The program fails: its recording is analysed all the same.
#[test]
fn chain_records_plans_and_analyses_whatever_becomes_of_the_program() {
    let test = "chain";
    let Some(cluster) = Cluster::shared(test) else { return };
    let Some(program) = build::program(cluster.mpi, "endings/exit_codes.c") else { return };
    let folder = folder(test);
    fs::write(folder.join("chain.sh"), script("slurm-chain.sh")).unwrap();
    let mut submit = command(&cluster, &folder, "bash");
    submit
        .args(["chain.sh", "--nodes=1", "--ntasks-per-node=2", "--time=00:30:00", "--"])
        .args(&program)
        .args(["finalize", "return", "7"])
        .env("NODE", "4c,1n,2G");
    let submitted = process::run(&mut submit, &folder);
    submitted.expect_success();
    assert!(submitted.stdout.starts_with("recording: job "), "{submitted:?}");
    let recording = PathBuf::from(submitted.stdout.trim().rsplit(' ').next().unwrap());
    let told = || format!("{}\n{}", printed(&folder), cluster.logs());
    wait_for_file(&recording.join("trace.stat"), told);
    expect_complete(&recording, 20);
    expect_analysed(&recording);
    let planned = fs::read_to_string(recording.with_extension("sh")).unwrap();
    assert!(
        planned.contains("#SBATCH --nodes=1\n#SBATCH --ntasks-per-node=1\n#SBATCH --cpus-per-task=2\n"),
        "{planned}"
    );
}

#[test]
fn experiment_that_is_there_is_analysed() {
    let test = "analyze";
    let Some(cluster) = Cluster::shared(test) else { return };
    let folder = folder(test);
    copy(&project("tests/archives/barrier.4"), &folder.join("exp.dir"));
    let options = ["--cpus-per-task=2", "--time=00:10:00"];
    let job = Job::submit_for(&cluster, &folder, test, &script("slurm-analyze.sh"), (&options, &["exp.dir"]));
    let ended = job.wait();
    assert_eq!((ended.state.as_str(), ended.status), ("COMPLETED", (0, 0)), "{}", ended.output);
    assert_eq!(ended.output.matches("Report: exp.dir/trace.cubex\n").count(), 1, "{}", ended.output);
}

#[test]
fn analysis_without_an_experiment_says_that_it_is_missing() {
    let test = "analyze_nothing";
    let Some(cluster) = Cluster::shared(test) else { return };
    let options = ["--cpus-per-task=1", "--time=00:10:00"];
    let job = Job::submit(&cluster, &folder(test), test, &script("slurm-analyze.sh"), &options);
    let ended = job.wait();
    assert_eq!(ended.state, "FAILED", "{}", ended.output);
    assert!(ended.output.contains("the experiment directory is missing"), "{}", ended.output);
}

#[test]
fn jobs_of_an_array_record_and_analyse_one_number_of_ranks_each() {
    let test = "scaling";
    let Some(cluster) = Cluster::shared(test) else { return };
    let Some(program) = build::program(cluster.mpi, "endings/exit_codes.c") else { return };
    let folder = folder(test);
    let text = script("slurm-scaling.sh");
    let changes = [
        ("PROGRAM=(./app input.nml)", format!("PROGRAM=({} finalize return 0)", program[0].display())),
        ("SIZES=(16 32 64 128 256)", "SIZES=(1 2)".to_owned()),
    ];
    let text = changes.iter().fold(text, |text, (from, to)| {
        assert!(text.contains(from), "{text}");
        text.replace(from, to)
    });
    fs::write(folder.join("script.sh"), text).unwrap();
    let mut submit = command(&cluster, &folder, "sbatch");
    submit.args([
        "--parsable",
        "--array=0-1",
        "--nodes=1",
        "--ntasks-per-node=2",
        "--time=00:30:00",
        "script.sh",
    ]);
    let submitted = process::run(&mut submit, &folder);
    submitted.expect_success();
    let runs = folder.join(format!("scaling_{}", submitted.stdout.trim()));
    for ranks in [1, 2] {
        let run = runs.join(ranks.to_string());
        wait_for_file(&run.join("trace.stat"), || format!("{}\n{}", printed(&folder), cluster.logs()));
        let report = cubex::Report::open(run.join("trace.cubex")).unwrap();
        assert_eq!(report.cube().locations.len(), ranks);
    }
}
