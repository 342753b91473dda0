//! Detection of ranks on this host without a recorder. Recorders communicate in `MPI_Init`, and a rank
//! without one never answers: one part of a command line for several programs was started under
//! `replay-record`, and another was not (`mpirun -n 1 replay-record ./a : -n 1 ./b`).
//!
//! A launcher passes each rank its number in an environment variable, and all ranks of a host are descendants
//! of one process without such a number: mpirun itself, or its daemon on the host. When `MPI_Init` returns,
//! all of them have loaded their libraries. Only a process that has an MPI library mapped and no recorder
//! counts as a rank without one; of other hosts nothing is known.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

use recording::layout::NOTE_VARIABLE;

/// Environment variables with the rank of a process.
const RANK_VARIABLES: [&str; 4] = ["OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"];

/// A rank without recorder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Unrecorded {
    pub(crate) rank: u32,
    pub(crate) process: u32,
    /// The program that it executes.
    pub(crate) program: String,
    /// The lowest rank on this host with a recorder.
    pub(crate) first_recorded: u32,
}

/// The processes of this host by a folder like `/proc` (`proc(5)`).
struct Host<'a> {
    proc: &'a Path,
}

impl Host<'_> {
    fn file(&self, process: u32, name: &str) -> Vec<u8> {
        fs::read(self.proc.join(process.to_string()).join(name)).unwrap_or_default()
    }

    /// Returns an environment variable that a process was started with.
    fn variable(&self, process: u32, name: &str) -> Option<String> {
        let environment = self.file(process, "environ");
        let mut variables = environment.split(|&byte| byte == 0);
        let value = variables.find_map(|it| it.strip_prefix(name.as_bytes())?.strip_prefix(b"="))?;
        Some(String::from_utf8_lossy(value).into_owned())
    }

    fn parent(&self, process: u32) -> Option<u32> {
        let status = String::from_utf8_lossy(&self.file(process, "stat")).into_owned();
        // The second field is the name of the program in parentheses, which may contain anything.
        status.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse().ok()
    }

    /// Returns all processes, each with its parent.
    fn parents(&self) -> HashMap<u32, u32> {
        let names = fs::read_dir(self.proc).into_iter().flatten().flatten();
        let processes = names.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        processes.filter_map(|process: u32| Some((process, self.parent(process)?))).collect()
    }

    /// Whether a process has a file mapped with a path that contains this.
    fn maps(&self, process: u32, part: &str) -> bool {
        let maps = self.file(process, "maps");
        maps.windows(part.len()).any(|window| window == part.as_bytes())
    }
}

/// Returns a rank on this host without recorder, seen from process `own`; `None` if there is none, or that is
/// not known.
pub(crate) fn unrecorded(proc: &Path, own: u32) -> Option<Unrecorded> {
    let host = Host { proc };
    let (name, rank) = RANK_VARIABLES.iter().find_map(|name| Some((name, host.variable(own, name)?)))?;
    // Open MPI passes the number of programs.
    if host.variable(own, "OMPI_NUM_APP_CTX").is_some_and(|count| count == "1") {
        return None;
    }
    let parents = host.parents();
    let ancestors =
        |process| std::iter::successors(Some(process), |process| parents.get(process).copied()).skip(1);
    let starter = ancestors(own).find(|&process| host.variable(process, name).as_ref() != Some(&rank))?;
    // Below a launcher in front of mpirun every rank has a recorder.
    if host.variable(starter, NOTE_VARIABLE).is_some() {
        return None;
    }
    let mut processes: Vec<u32> = parents.keys().copied().collect();
    processes.sort_unstable();
    let mut without: BTreeMap<u32, Option<u32>> = BTreeMap::new();
    for process in processes {
        // Parents can only form a loop if processes came and went while they were read.
        if !ancestors(process).take(parents.len()).any(|ancestor| ancestor == starter) {
            continue;
        }
        let Some(Ok(rank)) = host.variable(process, name).map(|rank| rank.parse::<u32>()) else { continue };
        if host.maps(process, "/libreplay_recorder") {
            without.insert(rank, None);
        } else if host.maps(process, "/libmpi") && !has_launcher(&host, process) {
            without.entry(rank).or_insert(Some(process));
        }
    }
    let first_recorded = without.iter().find(|(_, process)| process.is_none()).map(|(&rank, _)| rank)?;
    let (&rank, &process) = without.iter().find(|(_, process)| process.is_some())?;
    let process = process?;
    let line = host.file(process, "cmdline");
    let program = line.split(|&byte| byte == 0).next().unwrap_or_default();
    Some(Unrecorded { rank, process, program: String::from_utf8_lossy(program).into_owned(), first_recorded })
}

/// Whether a process may have a recorder that is linked into it: these variables activate it.
fn has_launcher(host: &Host<'_>, process: u32) -> bool {
    [NOTE_VARIABLE, "REPLAY_OUTPUT"].iter().any(|name| host.variable(process, name).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process: its number, its parent, its variables, its mapped files.
    type ProcessFields<'a> = (u32, u32, &'a [&'a str], &'a [&'a str]);

    fn seen(name: &str, own: u32, processes: &[ProcessFields<'_>]) -> Option<Unrecorded> {
        let proc = std::env::temp_dir().join(format!("replay_peers_{}_{name}", std::process::id()));
        for (process, parent, variables, maps) in processes {
            let folder = proc.join(process.to_string());
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("stat"), format!("{process} (a) b) S {parent} 1 1")).unwrap();
            fs::write(folder.join("environ"), variables.join("\0")).unwrap();
            fs::write(
                folder.join("maps"),
                maps.iter().map(|path| format!("1-2 r-xp 0 0:0 1 {path}\n")).collect::<String>(),
            )
            .unwrap();
            fs::write(folder.join("cmdline"), format!("./app{process}\0-v\0")).unwrap();
        }
        let seen = unrecorded(&proc, own);
        fs::remove_dir_all(&proc).unwrap();
        seen
    }

    const MPI: &str = "/usr/lib/libmpi.so.40";
    const RECORDER: &str = "/opt/lib/libreplay_recorder.so";

    #[test]
    fn rank_with_an_mpi_library_and_no_recorder_is_named() {
        let note = "REPLAY_NOTE=/n";
        let processes: [ProcessFields<'_>; 6] = [
            (1, 0, &[], &[]),
            (10, 1, &["PATH=/bin"], &[MPI]),
            // A launcher, its program, another program without a launcher, and a rank of another job.
            (11, 10, &["PMI_RANK=2"], &[]),
            (12, 11, &["PMI_RANK=2", note], &[MPI, RECORDER]),
            (13, 10, &["PMI_RANK=5"], &[MPI]),
            (14, 1, &["PMI_RANK=0"], &[MPI]),
        ];
        let expected = Unrecorded { rank: 5, process: 13, program: "./app13".into(), first_recorded: 2 };
        assert_eq!(seen("named", 12, &processes), Some(expected));
    }

    #[test]
    fn ranks_that_all_have_a_recorder_or_may_have_one_are_fine() {
        let note = "REPLAY_NOTE=/n";
        let with = |last: ProcessFields<'_>, own: &[&str]| {
            let processes: [ProcessFields<'_>; 3] =
                [(10, 1, &[], &[]), (12, 10, own, &[MPI, RECORDER]), last];
            seen("fine", 12, &processes)
        };
        let own = ["PMI_RANK=0", note];
        assert_eq!(with((13, 10, &["PMI_RANK=1", note], &[MPI, RECORDER]), &own), None);
        // The first is linked with a recorder; the second has not loaded MPI; the third is not a rank.
        assert_eq!(with((13, 10, &["PMI_RANK=1", note], &[MPI]), &own), None);
        assert_eq!(with((13, 10, &["PMI_RANK=1"], &[]), &own), None);
        assert_eq!(with((13, 10, &[], &[MPI]), &own), None);
        // A tool beside the program has the rank of the program.
        assert_eq!(with((13, 10, &["PMI_RANK=0"], &[MPI]), &own), None);
        assert_eq!(with((13, 10, &["PMI_RANK=1"], &[MPI]), &["LANG=C"]), None);
        assert!(with((13, 10, &["PMI_RANK=1"], &[MPI]), &own).is_some());
    }

    #[test]
    fn below_a_launcher_in_front_of_mpirun_no_process_is_checked() {
        let processes: [ProcessFields<'_>; 3] = [
            (10, 1, &["REPLAY_NOTE=/n"], &[]),
            (12, 10, &["PMI_RANK=0", "REPLAY_NOTE=/n"], &[MPI, RECORDER]),
            (13, 10, &["PMI_RANK=1"], &[MPI]),
        ];
        assert_eq!(seen("front", 12, &processes), None);
    }
}
