//! A job in the cluster, and the files that it leaves.

use crate::cluster::{Cluster, INTERVAL};
use crate::support::build::launcher;
use crate::support::{archive, fresh};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time limit for a job: its own limit and the time to analyze, far more than any needs.
const DEADLINE: Duration = Duration::from_secs(900);

/// A job that was submitted; it is cancelled when this is dropped before its end.
pub(crate) struct Job {
    cluster: Arc<Cluster>,
    folder: PathBuf,
    name: String,
    id: String,
}

/// The end of a job.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Slurm's job state.
    pub(crate) state: String,
    /// Exit status of the script, and the signal that ended it.
    pub(crate) status: (u32, u32),
    /// Its output.
    pub(crate) output: String,
}

/// An empty folder for a job.
pub(crate) fn folder(test: &str) -> PathBuf {
    fresh(&format!("slurm_{test}"))
}

/// Puts a folder's `bin` and Replay's programs in front of a command's `PATH`.
pub(crate) fn find_replay(command: &mut Command, folder: &Path) {
    let replay = [launcher(), Path::new(env!("CARGO_BIN_EXE_replay-analyze"))].map(|it| it.parent().unwrap());
    let mut folders = vec![folder.join("bin")];
    folders.extend(replay.map(Path::to_owned));
    folders.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
    command.env("PATH", env::join_paths(folders).unwrap());
}

/// A command in the folder of a job, with all that jobs need that it submits.
pub(crate) fn command(cluster: &Cluster, folder: &Path, program: &str) -> Command {
    let mut command = cluster.command(program);
    find_replay(&mut command, folder);
    command
        .env("SLURM_MPI_TYPE", cluster.mpi_type())
        // More processors are claimed than there are.
        .env("OMPI_MCA_mpi_yield_when_idle", "1")
        // Killed programs leave files there, which are removed with the cluster.
        .env("OMPI_MCA_btl_vader_backing_directory", cluster.temporary())
        .env("OMPI_MCA_orte_tmpdir_base", cluster.temporary())
        .env("TMPDIR", cluster.temporary())
        .current_dir(folder);
    command
}

/// Waits until a file is there.
#[track_caller]
pub(crate) fn wait_for_file(path: &Path, told: impl Fn() -> String) {
    let begin = Instant::now();
    while !path.exists() {
        assert!(begin.elapsed() < DEADLINE, "{} does not come: {}", path.display(), told());
        std::thread::sleep(INTERVAL);
    }
}

impl Job {
    /// Submits a script from a folder of the job's own, with options of sbatch. Its `PATH` has the folder's
    /// `bin`, then Replay's programs.
    pub(crate) fn submit(
        cluster: &Arc<Cluster>,
        folder: &Path,
        name: &str,
        script: &str,
        options: &[&str],
    ) -> Job {
        Job::submit_for(cluster, folder, name, script, (options, &[]))
    }

    /// The same with arguments of the script.
    pub(crate) fn submit_for(
        cluster: &Arc<Cluster>,
        folder: &Path,
        name: &str,
        script: &str,
        (options, arguments): (&[&str], &[&str]),
    ) -> Job {
        let path = folder.join("script.sh");
        fs::write(&path, script).unwrap();
        let mut command = command(cluster, folder, "sbatch");
        command
            .args(["--parsable", "--job-name", name, "--nodes=1", "--ntasks-per-node=2"])
            .args(options)
            .arg(&path)
            .args(arguments);
        let submitted = crate::support::process::run(&mut command, folder);
        submitted.expect_success();
        let id = submitted.stdout.trim().to_owned();
        Job { cluster: Arc::clone(cluster), folder: folder.to_owned(), name: name.to_owned(), id }
    }

    /// The directory of its recording after this number of restarts.
    pub(crate) fn recording(&self, restarts: u32) -> PathBuf {
        self.folder.join(format!("replay_{}_{}_{restarts}", self.name, self.id))
    }

    /// Its output so far.
    pub(crate) fn output(&self) -> String {
        fs::read_to_string(self.folder.join(format!("{}-{}.out", self.name, self.id))).unwrap_or_default()
    }

    /// Waits until it has printed a line this number of times.
    pub(crate) fn wait_for(&self, line: &str, times: usize) {
        self.wait_until(line, |job| job.output().lines().filter(|it| *it == line).count() >= times);
    }

    /// Runs a command of Slurm about the job, or about a step of it.
    pub(crate) fn control(&self, program: &str, arguments: &[&str], step: &str) {
        let job = format!("{}{step}", self.id);
        let arguments: Vec<&str> = arguments.iter().copied().chain([job.as_str()]).collect();
        self.cluster.run(program, &arguments).expect_success();
    }

    /// Starts a requeued job again without Slurm's delay.
    pub(crate) fn start_again(&self) {
        self.wait_until("requeued", |job| job.said("JobState").is_some_and(|state| state == "PENDING"));
        let job = format!("JobId={}", self.id);
        self.cluster.run("scontrol", &["update", &job, "StartTime=now"]).expect_success();
    }

    /// Waits for the end.
    pub(crate) fn wait(self) -> Ended {
        const STATES: [&str; 6] =
            ["COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY"];
        self.wait_until("the end", |job| {
            job.said("JobState").is_some_and(|state| STATES.contains(&state.as_str()))
        });
        let code = self.said("ExitCode").unwrap();
        let (status, signal) = code.split_once(':').unwrap();
        Ended {
            state: self.said("JobState").unwrap(),
            status: (status.parse().unwrap(), signal.parse().unwrap()),
            output: self.output(),
        }
    }

    /// A field of `scontrol show job`.
    fn said(&self, key: &str) -> Option<String> {
        let said = self.cluster.run("scontrol", &["show", "job", "--oneliner", &self.id]).stdout;
        let value = said.split_whitespace().find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
        value.map(str::to_owned)
    }

    fn wait_until(&self, what: &str, is_so: impl Fn(&Job) -> bool) {
        let begin = Instant::now();
        while !is_so(self) {
            let is_late = begin.elapsed() > DEADLINE;
            assert!(!is_late, "{what} does not come: {}\n{}", self.output(), self.cluster.logs());
            std::thread::sleep(INTERVAL);
        }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.cluster.run("scancel", &["--quiet", &self.id]);
    }
}

/// Fails the test unless an archive is complete, with this number of messages, and was analyzed.
#[track_caller]
pub(crate) fn expect_complete(recording: &Path, messages: u64) {
    let path = recording.display();
    assert!(recording.join("traces.otf2").exists(), "{path} has no archive");
    assert!(!recording.join("recording").exists(), "{path} is not complete");
    assert_eq!(archive::refusal(recording), None);
    let sent = archive::counts(recording).get("MpiSend").copied();
    assert_eq!(sent, Some(messages), "{path}");
}

/// Fails the test unless the report of a recording has two ranks.
#[track_caller]
pub(crate) fn expect_analysed(recording: &Path) {
    let report = cubex::Report::open(recording.join("trace.cubex")).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.cube().locations.len(), 2);
}
