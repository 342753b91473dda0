//! Launchers of MPI programs: their names, and which of their options have values, so that the program behind them is found.

use std::ffi::OsStr;
use std::path::Path;

/// Launchers that are known: those of scan, and newer ones (site 4.2). `flux` is one with its command `run`.
const LAUNCHERS: [&str; 22] = [
    "aprun",
    "ccc_mprun",
    "cobalt-mpirun",
    "flux",
    "ibrun",
    "jsrun",
    "llrun",
    "mpiexec",
    "mpiexec.hydra",
    "mpiexec.py",
    "mpiexec_mpt",
    "mpirun",
    "mpirun.lsf",
    "mprun",
    "orterun",
    "poe",
    "prterun",
    "runjob",
    "srun",
    "yhrun",
    "yod",
    "ibrun.symm",
];

/// What Debian has behind the names of launchers.
const FLAVOURS: [&str; 2] = [".openmpi", ".mpich"];

/// Options with two values: `-mca NAME VALUE`.
const TWO: [&str; 9] =
    ["am-mca", "genv", "gmca", "gprtemca", "mca", "omca", "pmixmca", "prtemca", "tune-mca"];

/// Options with a name and a value in one word or in two: `-env NAME=VALUE`, `-env NAME VALUE`.
const NAME_AND_VALUE: [&str; 3] = ["env", "envs", "exp-env"];

/// Options with a value, of all launchers: their words may be names of programs, too.
const ONE: [&str; 105] = [
    "account",
    "am",
    "args",
    "arg-file",
    "bank",
    "bind",
    "bind-to",
    "bind-to-core",
    "block",
    "cc",
    "chdir",
    "cluster-constraint",
    "comment",
    "configfile",
    "connect",
    "constraint",
    "context",
    "cores-per-socket",
    "cores-per-task",
    "corner",
    "cpu-bind",
    "cpu-freq",
    "cpu-list",
    "cpu-set",
    "cpu_bind",
    "cpus-per-gpu",
    "cpus-per-proc",
    "cpus-per-rank",
    "cpus-per-rs",
    "cpus-per-task",
    "cwd",
    "default-hostfile",
    "delay-boot",
    "dependency",
    "distribution",
    "dvm",
    "envlist",
    "error",
    "exclude",
    "exe",
    "export",
    "export-file",
    "f",
    "file",
    "genvlist",
    "gpu-bind",
    "gpus",
    "gpus-per-node",
    "gpus-per-task",
    "gres",
    "hint",
    "host",
    "hostfile",
    "hosts",
    "iface",
    "input",
    "job-name",
    "jobid",
    "kill-on-bad-exit",
    "label-io",
    "latency_priority",
    "launch_distribution",
    "launcher",
    "launcher-exec",
    "machine",
    "machinefile",
    "map-by",
    "mapby",
    "mapfile",
    "mapping",
    "max-restarts",
    "mem",
    "mem-bind",
    "mem-per-cpu",
    "mem_bind",
    "mode",
    "mpi",
    "multi-prog",
    "network",
    "nn",
    "nnp",
    "nodelist",
    "nodes",
    "np",
    "nperhost",
    "npernode",
    "npersocket",
    "ntasks",
    "ntasks-per-core",
    "ntasks-per-node",
    "ntasks-per-socket",
    "outfile",
    "output",
    "output-filename",
    "partition",
    "path",
    "perhost",
    "ppn",
    "qos",
    "rank-by",
    "rankfile",
    "ranks-per-node",
    "requires",
    "reservation",
    "rf",
];

/// Further ones.
const MORE: [&str; 26] = [
    "resource-spec",
    "rmk",
    "rsc",
    "setattr",
    "setopt",
    "shape",
    "signal",
    "size",
    "smpiargs",
    "sockets-per-node",
    "sz",
    "task-epilog",
    "task-prolog",
    "tasks-per-node",
    "tasks_per_rs",
    "threads-per-core",
    "time",
    "time-limit",
    "tv",
    "urgency",
    "user",
    "wait",
    "wckey",
    "wd",
    "wdir",
    "proccount",
];

/// Options of one letter with a value.
const OF_SLURM: &str = "ABCDGJLMNSTWacdeimnopqrtwx";
const OF_FLUX: &str = "NSBcgnoqt";
const OF_JSRUN: &str = "DEFJKLMPSUabcdghlmnopr";
const OF_APRUN: &str = "CDFLNPSdejlmnpr";
const OF_OTHERS: &str = "ACDEHNcmnpqtxf";

/// A launcher.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Launcher {
    letters: &'static str,
    /// Whether its words have a command before its options.
    has_command: bool,
    /// Whether several programs, each with options, have colons between them.
    pub(crate) has_several: bool,
    /// Whether numbers of processes are those of sets of resources.
    pub(crate) counts_sets: bool,
}

impl Launcher {
    /// Returns the launcher of a name; `other` is one that the user says is one.
    pub(crate) fn find(word: &OsStr, next: Option<&OsStr>, other: Option<&str>) -> Option<Launcher> {
        let name = Path::new(word).file_name()?.to_str()?;
        let is_other = other.is_some_and(|other| Path::new(other).file_name() == Some(OsStr::new(name)));
        let plain = FLAVOURS.iter().find_map(|flavour| name.strip_suffix(flavour)).unwrap_or(name);
        if !LAUNCHERS.contains(&plain) && !is_other {
            return None;
        }
        let is_flux = plain == "flux";
        // Other commands of flux start no program here.
        if is_flux && next.is_none_or(|next| next != "run") && !is_other {
            return None;
        }
        let letters = match plain {
            "srun" | "yhrun" | "ccc_mprun" => OF_SLURM,
            "flux" => OF_FLUX,
            "jsrun" => OF_JSRUN,
            "aprun" | "yod" => OF_APRUN,
            _ => OF_OTHERS,
        };
        let has_several = plain.starts_with("mpi") || ["orterun", "prterun"].contains(&plain);
        Some(Launcher { letters, has_command: is_flux, has_several, counts_sets: plain == "jsrun" })
    }

    /// Returns the number of words before its options.
    pub(crate) fn words(self) -> usize {
        1 + usize::from(self.has_command)
    }

    /// Returns how many words behind an option, which has this name without dashes, are its values; `None` if the option is
    /// not known. `next` is the word behind it.
    pub(crate) fn values(self, name: &str, next: Option<&str>) -> Option<usize> {
        match name {
            _ if TWO.contains(&name) => Some(2),
            _ if NAME_AND_VALUE.contains(&name) => {
                Some(1 + usize::from(!next.is_some_and(|next| next.contains('='))))
            }
            _ if ONE.contains(&name) || MORE.contains(&name) => Some(1),
            _ if name.len() == 1 && self.letters.contains(name) => Some(1),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launchers_are_known_by_their_names() {
        let is = |word: &str, next: &str| {
            Launcher::find(word.as_ref(), Some(next.as_ref()), Some("/opt/start")).is_some()
        };
        for word in [
            "mpirun",
            "/usr/bin/mpirun.openmpi",
            "mpiexec.hydra",
            "mpiexec.mpich",
            "srun",
            "jsrun",
            "prterun",
            "start",
        ] {
            assert!(is(word, "-n"), "{word}");
        }
        assert!(is("flux", "run") && !is("flux", "jobs"));
        assert!(!is("./app", "") && !is("mpirun.d/app", "") && !is("", ""));
    }

    #[test]
    fn letters_mean_other_things_to_other_launchers() {
        let values = |word: &str, option: &str, next: &str| {
            Launcher::find(word.as_ref(), Some("run".as_ref()), None).unwrap().values(option, Some(next))
        };
        assert_eq!((values("srun", "d", "x"), values("mpirun", "d", "x")), (Some(1), None));
        assert_eq!((values("flux", "q", "x"), values("jsrun", "q", "x")), (Some(1), None));
        assert_eq!(values("mpirun", "mca", "btl"), Some(2));
        assert_eq!((values("mpirun", "env", "A=1"), values("mpirun", "env", "A")), (Some(1), Some(2)));
        assert_eq!(values("mpirun", "report-bindings", "./a"), None);
    }
}
