//! A Slurm cluster of one node. Concurrent tests share it; the last one shuts it down.

use crate::support::build::{self, Mpi};
use crate::support::process::{Ended, run};
use crate::support::project;
use crate::support::record::clean;
use std::env;
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use skip::{Need, skip};

/// Time limit for starting and for shutting down.
const DEADLINE: Duration = Duration::from_secs(60);

/// Polling interval.
pub(crate) const INTERVAL: Duration = Duration::from_millis(100);

/// Configuration files of a Slurm that is not ours.
const CONFIGURATIONS: [&str; 4] = [
    "/etc/slurm/slurm.conf",
    "/etc/slurm-llnl/slurm.conf",
    "/run/slurm/conf/slurm.conf",
    "/opt/slurm/etc/slurm.conf",
];

/// Programs that are needed, and the folders of daemons besides those of `PATH`.
const PROGRAMS: [&str; 7] = ["munged", "slurmctld", "slurmd", "sbatch", "srun", "scontrol", "scancel"];
const DAEMONS: [&str; 2] = ["/usr/sbin", "/sbin"];

/// A running cluster. Its keeper, `cluster.sh`, ends it when our end of a pipe is closed, also if the tests
/// are killed.
pub(crate) struct Cluster {
    keeper: Child,
    directory: PathBuf,
    pub(crate) mpi: &'static Mpi,
}

impl Cluster {
    /// The cluster; `None`, with a message, if there can be none here.
    pub(crate) fn shared(test: &str) -> Option<Arc<Cluster>> {
        static CLUSTER: Mutex<Weak<Cluster>> = Mutex::new(Weak::new());
        let mpi = build::mpi(test)?;
        if let Some(reason) = obstacle() {
            skip(Need::System, format!("{test}: {reason}"));
            return None;
        }
        let mut shared = CLUSTER.lock().unwrap_or_else(PoisonError::into_inner);
        let cluster = shared.upgrade().unwrap_or_else(|| Arc::new(Cluster::start(mpi)));
        *shared = Arc::downgrade(&cluster);
        drop(shared);
        let plugin = cluster.mpi_type();
        let plugins = cluster.run("srun", &["--mpi=list"]);
        if !format!("{}{}", plugins.stdout, plugins.stderr).split_whitespace().any(|name| name == plugin) {
            skip(Need::System, format!("{test}: srun --mpi=list does not name {plugin}"));
            return None;
        }
        Some(cluster)
    }

    fn start(mpi: &'static Mpi) -> Cluster {
        // Socket paths are short, and Munge requires a directory that only its user can write to.
        let directory = tempfile::Builder::new().prefix("replay-slurm-").tempdir().unwrap().keep();
        let directory = directory.canonicalize().unwrap();
        // If another program takes these ports in the meantime, the cluster does not start.
        let ports = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let ports = ports.map(|listener| listener.local_addr().unwrap().port().to_string());
        let mut keeper = Command::new(project("tests/slurm/cluster.sh"));
        clean(&mut keeper);
        // A process group of its own, so that Ctrl-C ends the tests and not the keeper, which cleans up after
        // them.
        keeper.arg(&directory).args(ports).stdin(Stdio::piped()).process_group(0);
        let cluster = Cluster { keeper: keeper.spawn().unwrap(), directory, mpi };
        let begin = Instant::now();
        while cluster.run("sinfo", &["--noheader", "--format=%T"]).stdout.trim() != "idle" {
            assert!(begin.elapsed() < DEADLINE, "the cluster does not start: {}", cluster.logs());
            std::thread::sleep(INTERVAL);
        }
        cluster
    }

    /// The value of `srun --mpi` for the MPI.
    pub(crate) fn mpi_type(&self) -> &'static str {
        if self.mpi.is_open_mpi { "pmix" } else { "pmi2" }
    }

    /// The directory for temporary files of jobs.
    pub(crate) fn temporary(&self) -> PathBuf {
        self.directory.join("tmp")
    }

    /// A command of Slurm.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        clean(&mut command);
        command
            .env("SLURM_CONF", self.directory.join("slurm.conf"))
            .env("REPLAY_TEST_CLUSTER", &self.directory);
        command
    }

    /// Runs a command of Slurm.
    pub(crate) fn run(&self, program: &str, arguments: &[&str]) -> Ended {
        run(self.command(program).args(arguments), &self.directory)
    }

    /// The logs of the daemons.
    pub(crate) fn logs(&self) -> String {
        let log = |name| std::fs::read_to_string(self.directory.join("log").join(name)).unwrap_or_default();
        ["munged", "slurmctld", "slurmd"].map(|name| format!("\n{name}:\n{}", log(name))).concat()
    }
}

/// Reason why there can be no cluster here.
fn obstacle() -> Option<String> {
    if let Some(path) = CONFIGURATIONS.iter().find(|path| Path::new(path).exists()) {
        return Some(format!("{path} configures a Slurm on this machine"));
    }
    if env::var_os("SLURM_CONF").is_some() {
        return Some("SLURM_CONF names a Slurm".into());
    }
    let folders = env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = env::split_paths(&folders).chain(DAEMONS.map(PathBuf::from)).collect();
    let is_there = |program: &str| folders.iter().any(|folder| folder.join(program).exists());
    let missing = PROGRAMS.iter().find(|program| !is_there(program))?;
    Some(format!("there is no {missing} (Debian: slurm-wlm, munge)"))
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let begin = Instant::now();
        while self.keeper.try_wait().is_ok_and(|status| status.is_none()) && begin.elapsed() < DEADLINE {
            std::thread::sleep(INTERVAL);
        }
        let is_gone = !self.directory.exists();
        assert!(is_gone || std::thread::panicking(), "{} is left", self.directory.display());
    }
}
