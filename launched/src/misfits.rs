//! Launchers that do not fit the MPI library, in words (site 2.5).

use crate::{Launched, Launcher, Library};

/// How `srun` is told which MPI it starts.
const SRUN: &str = "use srun --mpi=pmix for Open MPI, --mpi=pmi2 for MPICH and Intel MPI; srun --mpi=list tells which there are";

/// What is wrong, if it is clear that the library would end the job when it is started.
pub fn before_start(launched: &Launched, library: &Library) -> Option<String> {
    match launched.launcher {
        Launcher::Srun if library.is_open_mpi() => Some(without_mpi(launched)),
        Launcher::Pmi if library.is_open_mpi() && launched.is_slurm_step => {
            let (found, other) = match library.path {
                None => ("replay-analyze was built with", "a build with the other MPI"),
                Some(_) => ("the library is", "load the module of an MPICH"),
            };
            Some(format!(
                "srun --mpi=pmi2 is for MPICH and its relatives, but {found} {library}: use srun --mpi=pmix, or {other}"
            ))
        }
        _ => None,
    }
}

/// What is wrong if each process of a launcher is alone.
pub fn alone(launched: &Launched, library: &Library) -> String {
    if launched.launcher == Launcher::Srun {
        return without_mpi(launched);
    }
    let fitting = match &library.path {
        _ if launched.is_slurm_step && launched.launcher != Launcher::OpenMpi => SRUN,
        None => "use that MPI's mpirun, or build again with MPICC set to this one's compiler",
        Some(_) => "use that MPI's mpirun, or name the library of this one with REPLAY_MPI",
    };
    let which = match library.path {
        None => "the one that replay-analyze was built with",
        Some(_) => "the library",
    };
    format!(
        "{}, but each is alone: it belongs to another MPI than {which}, {library}; {fitting}",
        launched.in_words()
    )
}

fn without_mpi(launched: &Launched) -> String {
    format!("{} without MPI (--mpi=none, which is Slurm's default): {SRUN}", launched.in_words())
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPEN_MPI: &str =
        "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, repo rev: v4.1.4, May 26, 2022";
    const MPICH: &str = "MPICH Version:\t4.0.2\nMPICH Release date:\tThu Apr  7 12:34:45 CDT 2022\n";

    fn linked(version: &str) -> Library {
        Library { version: version.into(), path: None }
    }

    fn opened(version: &str) -> Library {
        Library { version: version.into(), path: Some("/opt/lib/libmpi.so".into()) }
    }

    fn launched(launcher: Launcher, is_slurm_step: bool) -> Launched {
        Launched { launcher, processes: Some(4), rank: Some(0), is_slurm_step }
    }

    #[test]
    fn open_mpi_is_not_started_where_it_would_abort() {
        let before =
            |launcher, is_step, library| before_start(&launched(launcher, is_step), &linked(library));
        let none = before(Launcher::Srun, true, OPEN_MPI).unwrap();
        assert!(none.starts_with("srun started 4 tasks without MPI (--mpi=none"), "{none}");
        let pmi2 = before(Launcher::Pmi, true, OPEN_MPI).unwrap();
        assert!(pmi2.contains("built with Open MPI v4.1.4: use srun --mpi=pmix"), "{pmi2}");
        let pmi2 = before_start(&launched(Launcher::Pmi, true), &opened(OPEN_MPI)).unwrap();
        assert!(
            pmi2.contains("is Open MPI v4.1.4 (/opt/lib/libmpi.so): use srun --mpi=pmix, or load"),
            "{pmi2}"
        );
        for (launcher, is_step, library) in [
            (Launcher::Pmi, false, OPEN_MPI),
            (Launcher::Pmix, true, OPEN_MPI),
            (Launcher::OpenMpi, true, OPEN_MPI),
            (Launcher::Pmi, true, MPICH),
            (Launcher::Pmix, true, MPICH),
            // Some libraries of this family find each other by Slurm alone.
            (Launcher::Srun, true, MPICH),
        ] {
            assert_eq!(before(launcher, is_step, library), None, "{launcher:?}");
        }
    }

    #[test]
    fn processes_that_are_alone_are_told_what_would_fit() {
        let pmix = alone(&launched(Launcher::Pmix, true), &linked(MPICH));
        assert!(
            pmix.contains("srun started 4 tasks, but each is alone") && pmix.contains("--mpi=pmi2"),
            "{pmix}"
        );
        assert!(alone(&launched(Launcher::Srun, true), &linked(MPICH)).contains("--mpi=none"));
        let mpirun = alone(&launched(Launcher::OpenMpi, false), &linked(MPICH));
        assert!(mpirun.contains("MPICH Version: 4.0.2; use that MPI's mpirun, or build"), "{mpirun}");
        let mpirun = alone(&launched(Launcher::OpenMpi, false), &opened(MPICH));
        assert!(mpirun.contains("4.0.2 (/opt/lib/libmpi.so); use that MPI's mpirun, or name"), "{mpirun}");
    }
}
