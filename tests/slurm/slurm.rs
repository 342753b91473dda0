//! `jobscripts/slurm-record-analyze.sh`, and the job script of the README.

use crate::cluster::Cluster;
use crate::job::{Job, expect_analysed, expect_complete, folder};
use crate::support::{build, copy, project};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

/// Messages of each of the two ranks, and the line that rank 0 prints after them.
const MESSAGES: u64 = 500;
const LINE: &str = "500 messages";

/// The script with the user's program, which is the one line that users change.
fn script(program: &str) -> String {
    let script = fs::read_to_string(project("jobscripts/slurm-record-analyze.sh")).unwrap();
    let lines: Vec<&str> = script.lines().filter(|line| line.starts_with("PROGRAM=")).collect();
    let [line] = lines[..] else { panic!("{lines:?}") };
    script.replace(line, &format!("PROGRAM=({program})"))
}

/// Submits the script for a program of `tests/programs`, given by its source file.
fn submit(test: &str, source: &str, arguments: &str, options: &[&str]) -> Option<Job> {
    let cluster = Cluster::shared(test)?;
    let program = build::program(cluster.mpi, source)?;
    let program = format!("{} {arguments}", program[0].display());
    Some(submit_any(&cluster, test, &program, options))
}

fn submit_any(cluster: &Arc<Cluster>, test: &str, program: &str, options: &[&str]) -> Job {
    // Longer than the limit of the script, whose signal would come at once.
    let options: Vec<&str> = ["--time=00:30:00"].into_iter().chain(options.iter().copied()).collect();
    Job::submit(cluster, &folder(test), test, &script(program), &options)
}

#[test]
fn program_is_recorded_and_analysed_in_one_job() {
    let Some(job) = submit("ends", "endings/exit_codes.c", "finalize return 0", &[]) else { return };
    let recording = job.recording(0);
    let ended = job.wait();
    assert_eq!((ended.state.as_str(), ended.status), ("COMPLETED", (0, 0)), "{}", ended.output);
    // Lines of the program, the recorder and the analyzer.
    for part in ["10 messages\n", "replay-record: wrote replay_ends_", "Findings: none\n", "/trace.cubex\n"] {
        assert!(ended.output.contains(part), "no {part:?} in {}", ended.output);
    }
    expect_complete(&recording, 20);
    expect_analysed(&recording);
}

#[test]
fn program_that_fails_is_analysed_and_the_job_has_its_status() {
    let Some(job) = submit("fails", "endings/exit_codes.c", "finalize return 7", &[]) else { return };
    let recording = job.recording(0);
    let ended = job.wait();
    assert_eq!((ended.state.as_str(), ended.status), ("FAILED", (7, 0)), "{}", ended.output);
    expect_complete(&recording, 20);
    expect_analysed(&recording);
}

#[test]
fn analysis_that_fails_is_the_status_of_the_job() {
    let test = "analysis_fails";
    let Some(cluster) = Cluster::shared(test) else { return };
    let Some(program) = build::program(cluster.mpi, "endings/exit_codes.c") else { return };
    let folder = folder(test);
    // Replaces the analyzer.
    let stub = folder.join("bin/replay-analyze");
    fs::create_dir(folder.join("bin")).unwrap();
    fs::write(&stub, "#!/bin/sh\nexit 2\n").unwrap();
    fs::set_permissions(&stub, fs::Permissions::from_mode(0o755)).unwrap();
    let script = script(&format!("{} finalize return 0", program[0].display()));
    let job = Job::submit(&cluster, &folder, test, &script, &["--time=00:30:00"]);
    let recording = job.recording(0);
    let ended = job.wait();
    assert_eq!((ended.state.as_str(), ended.status), ("FAILED", (2, 0)), "{}", ended.output);
    expect_complete(&recording, 20);
}

#[test]
fn program_that_does_not_exist_is_told_and_is_the_status_of_the_job() {
    let test = "nowhere";
    let Some(cluster) = Cluster::shared(test) else { return };
    let job = submit_any(&cluster, test, "/nowhere/program", &[]);
    let ended = job.wait();
    assert_eq!((ended.state.as_str(), ended.status), ("FAILED", (127, 0)), "{}", ended.output);
    assert!(ended.output.contains("/nowhere/program: cannot start"), "{}", ended.output);
}

/// The limit is two minutes, and the signal comes one minute before, or up to half a minute earlier.
#[test]
fn program_that_the_time_limit_cuts_is_completed_and_analysed_before_the_limit() {
    let limit = ["--time=2", "--signal=TERM@60"];
    let Some(job) = submit("limit", "endings/sleep_forever.c", &MESSAGES.to_string(), &limit) else { return };
    let recording = job.recording(0);
    let ended = job.wait();
    assert_eq!((ended.state.as_str(), ended.status), ("COMPLETED", (0, 0)), "{}", ended.output);
    expect_complete(&recording, 2 * MESSAGES);
    expect_analysed(&recording);
}

/// As long as launchers live, they complete the archive; otherwise the script does.
#[test]
fn recording_whose_launchers_were_killed_is_completed_by_the_script() {
    let Some(job) = submit("killed", "endings/sleep_forever.c", &MESSAGES.to_string(), &[]) else { return };
    let recording = job.recording(0);
    job.wait_for(LINE, 1);
    job.control("scancel", &["--signal=KILL"], ".0");
    let ended = job.wait();
    assert_eq!((ended.state.as_str(), ended.status.0), ("FAILED", 137), "{}", ended.output);
    expect_complete(&recording, 2 * MESSAGES);
    expect_analysed(&recording);
}

#[test]
fn requeued_job_leaves_two_complete_archives() {
    let Some(job) = submit("requeued", "endings/sleep_forever.c", &MESSAGES.to_string(), &["--requeue"])
    else {
        return;
    };
    let recordings = [0, 1].map(|restarts| job.recording(restarts));
    job.wait_for(LINE, 1);
    job.control("scontrol", &["requeue"], "");
    job.start_again();
    // The output of the second run is behind that of the first.
    job.wait_for(LINE, 2);
    job.control("scancel", &["--signal=TERM"], ".0");
    let ended = job.wait();
    assert_eq!((ended.state.as_str(), ended.status), ("COMPLETED", (0, 0)), "{}", ended.output);
    recordings.iter().for_each(|recording| expect_complete(recording, 2 * MESSAGES));
    expect_analysed(&recordings[1]);
}

/// The code block of the README after a line that ends with these words.
fn block<'r>(readme: &'r str, words: &str) -> Vec<&'r str> {
    let mut lines = readme.lines().skip_while(|line| !line.ends_with(words)).skip(2);
    lines.by_ref().map_while(|line| line.strip_prefix("    ")).collect()
}

#[test]
fn job_script_of_the_readme_analyses_an_archive() {
    let test = "readme";
    let Some(cluster) = Cluster::shared(test) else { return };
    let folder = folder(test);
    let readme = fs::read_to_string(project("README.md")).unwrap();
    let script = block(&readme, "As a batch job with Slurm:").join("\n") + "\n";
    assert!(script.contains("srun --mpi=pmix replay-analyze exp.dir"), "{script}");
    // As the README says.
    let script = script.replace("--mpi=pmix", &format!("--mpi={}", cluster.mpi_type()));
    copy(&project("tests/archives/barrier.4"), &folder.join("exp.dir"));
    let job = Job::submit(&cluster, &folder, test, &script, &["--ntasks=2", "--output=%x-%j.out"]);
    let ended = job.wait();
    assert_eq!((ended.state.as_str(), ended.status), ("COMPLETED", (0, 0)), "{}", ended.output);
    assert_eq!(ended.output.matches("Report: exp.dir/trace.cubex\n").count(), 1, "{}", ended.output);
    assert!(folder.join("exp.dir/trace.cubex").exists());
}
