//! The command that is measured: a launcher with its options, programs around the program, the program and its arguments; how many
//! ranks and threads that are, as far as it says so.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::launcher_options::Launcher;
use crate::variables::{Variables, get};

const THREADS: &str = "OMP_NUM_THREADS";

/// A command.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Launch {
    /// The launcher with its options, and programs around the program; nothing if the program is started alone.
    pub(crate) launcher: Vec<OsString>,
    /// The program.
    pub(crate) program: OsString,
    /// Its arguments; of several programs also the others with their options.
    pub(crate) arguments: Vec<OsString>,
    /// The number of processes, if it is known.
    pub(crate) ranks: Option<String>,
    /// The number of processes on a node, if there is an option for it.
    pub(crate) per_node: Option<String>,
    /// The number of threads, if it is known.
    pub(crate) threads: Option<String>,
    /// The directory that the processes are started in, if it is another one.
    pub(crate) directory: Option<PathBuf>,
    /// Whether there are several programs.
    pub(crate) has_several: bool,
}

impl Launch {
    /// Reads a command. `is_program` says whether a word could be executed.
    ///
    /// # Errors
    /// If there is no program in it.
    pub(crate) fn parse(
        words: &[OsString],
        variables: &Variables,
        is_program: impl Fn(&OsStr) -> bool,
    ) -> Result<Launch> {
        let launch = Launch::parse_any(words, variables, is_program)?;
        match launch.program.is_empty() {
            false => Ok(launch),
            true => Err(Error::not_started(format!(
                "there is no program behind {}: put -- before it, if it has been taken for the value of an option",
                words.first().unwrap_or(&launch.program).to_string_lossy()
            ))),
        }
    }

    /// Reads a command that may be a launcher alone: then the program is empty.
    ///
    /// # Errors
    /// If there is nothing, or not the program that SCAN_TARGET names.
    pub(crate) fn parse_any(
        words: &[OsString],
        variables: &Variables,
        is_program: impl Fn(&OsStr) -> bool,
    ) -> Result<Launch> {
        let first = words
            .first()
            .ok_or_else(|| Error::not_started("there is no program to be run: see replay-scan --help"))?;
        let other = get(variables, "SCAN_MPI_LAUNCHER");
        let mut launch = Launch { threads: get(variables, THREADS).map(first_number), ..Launch::default() };
        let launcher = Launcher::find(first, words.get(1).map(OsString::as_os_str), other);
        let begin = match launcher {
            Some(launcher) => launch.read_options(launcher, words, &is_program),
            None => 0,
        };
        let mut program = begin;
        if let Some(target) = get(variables, "SCAN_TARGET") {
            let found = words[begin..].iter().position(|word| word == target);
            let found = found.ok_or_else(|| {
                Error::not_started(format!(
                    "{target} is not in the command, as SCAN_TARGET says: name the program as it is there"
                ))
            })?;
            program += found;
        }
        launch.launcher.extend(words[..program].iter().filter(|word| *word != "--").cloned());
        let rest = words.get(program..).unwrap_or_default();
        let (name, arguments) =
            rest.split_first().map_or_else(Default::default, |(name, rest)| (name.clone(), rest));
        (launch.program, launch.arguments) = (name, arguments.to_vec());
        if let Some(launcher) = launcher {
            launch.has_several = launcher.has_several && arguments.iter().any(|word| word == ":");
            launch.ranks = launch.ranks.or_else(|| ranks_of_job(first, variables));
        }
        Ok(launch)
    }

    /// Reads options of a launcher; returns where the program is.
    fn read_options(
        &mut self,
        launcher: Launcher,
        words: &[OsString],
        is_program: impl Fn(&OsStr) -> bool,
    ) -> usize {
        let mut at = launcher.words();
        let (mut sets, mut per_set) = (None, None);
        while let Some(word) = words.get(at) {
            let text = word.to_str().unwrap_or_default();
            at += 1;
            match text {
                // Behind these is the program; runjob has a colon.
                "--" | ":" => break,
                _ if !text.starts_with('-') || text == "-" => {
                    at -= 1;
                    break;
                }
                _ => {}
            }
            let (name, within) = match text.trim_start_matches('-').split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => split_number(text),
            };
            let next = |ahead: usize| words.get(at + ahead).and_then(|word| word.to_str());
            let value = match (within, launcher.values(name, next(0))) {
                (Some(value), _) => value,
                (None, Some(count)) => {
                    let values: Vec<&str> = (0..count).filter_map(next).collect();
                    let separator = if count > 1 { "=" } else { "" };
                    let value = values.join(separator);
                    at += count;
                    value
                }
                // An option that is not known has a value if the next word is none, and no program either.
                (None, None) => {
                    let has_value = words.get(at).is_some_and(|word| {
                        !word.to_str().is_some_and(|text| text.starts_with('-')) && !is_program(word)
                    });
                    at += usize::from(has_value);
                    continue;
                }
            };
            match name {
                "n" if launcher.counts_sets => sets = Some(value),
                "a" | "tasks_per_rs" if launcher.counts_sets => per_set = Some(value),
                "p" if launcher.counts_sets => self.ranks = Some(value),
                "n" | "np" | "ntasks" | "proccount" | "size" | "sz" => self.ranks = Some(value),
                "N" | "ntasks-per-node" | "npernode" | "ranks-per-node" | "nnp" => {
                    self.per_node = Some(value)
                }
                "chdir" | "cwd" | "wdir" | "wd" | "D" | "C" if Path::new(&value).is_dir() => {
                    self.directory = Some(value.into())
                }
                "x" | "env" | "envs" | "genv" => {
                    self.threads =
                        value.strip_prefix("OMP_NUM_THREADS=").map(first_number).or(self.threads.take());
                }
                _ => {}
            }
        }
        if let Some(sets) = sets.and_then(|sets| sets.parse::<u64>().ok()).filter(|_| self.ranks.is_none()) {
            let per_set = per_set.and_then(|tasks| tasks.parse::<u64>().ok()).unwrap_or(1);
            self.ranks = Some((sets * per_set).to_string());
        }
        self.ranks = self.ranks.take().filter(|ranks| ranks.parse::<u64>().is_ok_and(|ranks| ranks > 0));
        self.per_node = self.per_node.take().filter(|ranks| ranks.parse::<u64>().is_ok());
        at.min(words.len())
    }

    /// Returns the command with words before the program, or before all of it where there are several programs.
    pub(crate) fn with(&self, before: &[OsString]) -> Vec<OsString> {
        let program = std::slice::from_ref(&self.program);
        let parts = match self.has_several {
            true => [before, &self.launcher, program, &self.arguments],
            false => [&self.launcher, before, program, &self.arguments],
        };
        parts.concat()
    }

    /// Returns a path such that processes of the command find it, wherever they are started.
    pub(crate) fn reached(&self, path: &Path) -> PathBuf {
        match self.directory {
            Some(_) => std::path::absolute(path).unwrap_or_else(|_| path.into()),
            None => path.into(),
        }
    }
}

/// Splits an option such as `-n4` into its letter and the number.
fn split_number(text: &str) -> (&str, Option<String>) {
    let name = text.trim_start_matches('-');
    let is_number = |digits: &&str| !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    let letters = name.find(|sign: char| sign.is_ascii_digit()).unwrap_or(name.len());
    match (name.get(..letters), name.get(letters..).filter(is_number)) {
        (Some(letter @ ("n" | "N" | "c" | "a" | "np")), Some(digits)) => (letter, Some(digits.into())),
        _ => (name, None),
    }
}

/// Returns the first number of a list such as `4,2`.
fn first_number(list: &str) -> String {
    list.split(',').next().unwrap_or(list).trim().to_owned()
}

/// Returns the number of processes that the job is for, where the launcher takes it from there.
fn ranks_of_job(launcher: &OsStr, variables: &Variables) -> Option<String> {
    let is_mpiexec = || Path::new(launcher).file_name() == Some(OsStr::new("mpiexec"));
    let slots = || {
        let file = fs::read_to_string(get(variables, "PBS_NODEFILE")?).ok()?;
        Some(file.lines().filter(|line| !line.trim().is_empty()).count().to_string())
    };
    get(variables, "SLURM_NPROCS")
        .or_else(|| get(variables, "LSB_DJOB_NUMPROC").filter(|_| is_mpiexec()))
        .map(str::to_owned)
        .or_else(|| slots().filter(|_| is_mpiexec()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variables::of;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(Into::into).collect()
    }

    fn parsed(line: &str, variables: &[(&str, &str)]) -> Launch {
        let is_program = |word: &OsStr| word.to_str().is_some_and(|word| word.contains('/') || word == "app");
        Launch::parse(&words(line), &of(variables), is_program)
            .unwrap_or_else(|error| panic!("{line}: {error}"))
    }

    #[track_caller]
    fn expect(line: &str, launcher: &str, program: &str, ranks: Option<&str>) {
        let launch = parsed(line, &[]);
        assert_eq!(launch.launcher, words(launcher), "{line}");
        assert_eq!((launch.program.to_str().unwrap(), launch.ranks.as_deref()), (program, ranks), "{line}");
    }

    #[test]
    fn program_is_behind_the_options_of_its_launcher() {
        expect("mpirun -n 4 ./app -n 7", "mpirun -n 4", "./app", Some("4"));
        expect("mpirun -np 4 --bind-to core app x", "mpirun -np 4 --bind-to core", "app", Some("4"));
        expect(
            "mpirun --mca btl self,sm -x A=1 -n 2 ./app",
            "mpirun --mca btl self,sm -x A=1 -n 2",
            "./app",
            Some("2"),
        );
        expect("mpiexec -genv A 1 -env B 2 ./app", "mpiexec -genv A 1 -env B 2", "./app", None);
        expect(
            "srun --ntasks=8 -c 4 --cpu-bind=cores ./app",
            "srun --ntasks=8 -c 4 --cpu-bind=cores",
            "./app",
            Some("8"),
        );
        expect("srun -n16 -p test app", "srun -n16 -p test", "app", Some("16"));
        expect("flux run -N2 -n 6 app", "flux run -N2 -n 6", "app", Some("6"));
        expect("jsrun -n 4 -a 2 -c 1 app", "jsrun -n 4 -a 2 -c 1", "app", Some("8"));
        expect("jsrun -p 12 app", "jsrun -p 12", "app", Some("12"));
        expect("runjob --np 4 : ./app", "runjob --np 4 :", "./app", Some("4"));
        // What is not known has a value if the next word is no program.
        expect("mpirun --unknown value --flag app", "mpirun --unknown value --flag", "app", None);
        expect("mpirun --report-bindings ./app", "mpirun --report-bindings", "./app", None);
        expect("mpirun -n 2 -- app", "mpirun -n 2", "app", Some("2"));
    }

    #[test]
    fn program_without_a_launcher_has_no_known_ranks() {
        expect("./app -n 4", "", "./app", None);
        assert_eq!(parsed("./app", &[("SLURM_NPROCS", "4")]).ranks, None);
    }

    #[test]
    fn numbers_come_from_options_or_the_job() {
        let slurm = [("SLURM_NPROCS", "96")];
        assert_eq!(parsed("srun ./app", &slurm).ranks.as_deref(), Some("96"));
        assert_eq!(parsed("srun -n 3 ./app", &slurm).ranks.as_deref(), Some("3"));
        assert_eq!(parsed("mpiexec ./app", &[("LSB_DJOB_NUMPROC", "5")]).ranks.as_deref(), Some("5"));
        assert_eq!(parsed("mpirun -n x ./app", &[]).ranks, None);
        assert_eq!(parsed("srun --ntasks-per-node 8 ./app", &[]).per_node.as_deref(), Some("8"));
        let threads = |line: &str, variables: &[(&str, &str)]| parsed(line, variables).threads;
        assert_eq!(threads("mpirun ./app", &[("OMP_NUM_THREADS", "4,2")]).as_deref(), Some("4"));
        assert_eq!(
            threads("mpirun -x OMP_NUM_THREADS=6 ./app", &[("OMP_NUM_THREADS", "4")]).as_deref(),
            Some("6")
        );
        assert_eq!(threads("mpiexec -env OMP_NUM_THREADS 3 ./app", &[]).as_deref(), Some("3"));
        assert_eq!(threads("mpirun -x A=1 ./app", &[("OMP_NUM_THREADS", "4")]).as_deref(), Some("4"));
    }

    #[test]
    fn program_among_others_is_named() {
        let launch = parsed("mpirun -n 2 /bin/taskset -c 1 app x", &[("SCAN_TARGET", "app")]);
        assert_eq!(launch.launcher, words("mpirun -n 2 /bin/taskset -c 1"));
        assert_eq!((launch.program.to_str(), launch.arguments.len()), (Some("app"), 1));
        assert_eq!(
            launch.with(&words("replay-record -o d")),
            words("mpirun -n 2 /bin/taskset -c 1 replay-record -o d app x")
        );
    }

    #[test]
    fn several_programs_have_what_comes_before_them_in_front_of_the_launcher() {
        let launch = parsed("mpirun -n 1 ./a : -n 2 ./b", &[]);
        assert!(launch.has_several);
        assert_eq!(launch.with(&words("r")), words("r mpirun -n 1 ./a : -n 2 ./b"));
        assert!(!parsed("./a : b", &[]).has_several);
    }

    #[test]
    fn launcher_of_a_site_is_one_if_the_user_says_so() {
        let launch = parsed("start -n 4 ./app", &[("SCAN_MPI_LAUNCHER", "start")]);
        assert_eq!((launch.launcher, launch.ranks.as_deref()), (words("start -n 4"), Some("4")));
    }

    #[test]
    fn command_without_a_program_says_what_to_do() {
        let error = |line: &str, variables: &[(&str, &str)]| {
            let error = Launch::parse(&words(line), &of(variables), |_| false).unwrap_err();
            (error.to_string(), error.status)
        };
        assert!(error("", &[]).0.contains("--help"));
        assert!(error("mpirun -n 4", &[]).0.contains("put -- before it"));
        assert!(error("mpirun -n 4 ./a", &[("SCAN_TARGET", "b")]).0.contains("SCAN_TARGET"));
        assert_eq!(error("", &[]).1, 1);
        // An analysis does without one.
        let alone = Launch::parse_any(&words("mpirun -n 4"), &of(&[]), |_| false).unwrap();
        assert_eq!((alone.launcher, alone.ranks.as_deref()), (words("mpirun -n 4"), Some("4")));
        assert!(alone.program.is_empty() && alone.arguments.is_empty());
    }

    #[test]
    fn paths_are_absolute_where_processes_start_elsewhere() {
        let launch = parsed("mpirun -wdir / -n 2 ./app", &[]);
        assert_eq!(launch.directory, Some("/".into()));
        assert!(launch.reached(Path::new("x")).is_absolute());
        assert_eq!(parsed("mpirun ./app", &[]).reached(Path::new("x")), Path::new("x"));
    }
}
