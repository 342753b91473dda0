//! Launchers that do not fit the MPI library, in words (site 2.5).

use std::fmt::Write;
use std::path::{Path, PathBuf};

use launched::{Launched, Launcher};

use super::carrier::Library;

/// How `srun` is told which MPI it starts.
const SRUN: &str = "use srun --mpi=pmix for Open MPI, --mpi=pmi2 for MPICH and Intel MPI; srun --mpi=list tells which there are";

/// What is wrong, if it is clear that the library would end the job when it is started.
pub(super) fn before_start(launched: &Launched, library: &Library) -> Option<String> {
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
pub(super) fn alone(launched: &Launched, library: &Library) -> String {
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

/// What is wrong if a library that was asked for cannot be used.
#[cfg(feature = "mpi-dlopen")]
pub(super) fn unusable(path: &Path, reason: &str) -> String {
    format!(
        "cannot use {} as MPI library: {reason}; name the launcher's, such as /…/lib/libmpi.so, with --mpi or REPLAY_MPI",
        path.display()
    )
}

/// What is wrong if no library is found: the names and folders that were tried, and the first file that is no library
/// after all, with the reason.
#[cfg(feature = "mpi-dlopen")]
pub(super) fn missing(
    launched: &Launched,
    names: &str,
    folders: &[PathBuf],
    found: Option<(PathBuf, String)>,
) -> String {
    if let Some((path, reason)) = found {
        return format!("{}, but {}", launched.in_words(), unusable(&path, &reason));
    }
    let mut places = "the loader's paths".to_owned();
    for folder in folders {
        let _ = write!(places, ", {}", folder.display());
    }
    format!(
        "{}, but there is no MPI library (looked for {names} in {places}): load the MPI's module, or set \
         REPLAY_MPI=/…/libmpi.so",
        launched.in_words()
    )
}

/// What is wrong if a library was asked for, and this program opens none.
#[cfg(not(feature = "mpi-dlopen"))]
pub(super) fn cannot_open(library: &Library) -> String {
    format!(
        "this replay-analyze was built with {library}, and opens no other MPI: leave out --mpi and REPLAY_MPI, or build it with \
         the feature mpi-dlopen"
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

    #[cfg(feature = "mpi-dlopen")]
    #[test]
    fn where_a_library_was_looked_for_is_told() {
        let started = launched(Launcher::OpenMpi, false);
        let none = missing(&started, "libmpi.so.40", &["/opt/lib".into()], None);
        let all = [
            "the launcher started 4 processes",
            "libmpi.so.40 in the loader's paths, /opt/lib",
            "REPLAY_MPI=",
        ];
        assert!(all.iter().all(|part| none.contains(part)), "{none}");
        let text =
            missing(&started, "", &[], Some(("/opt/lib/libmpi.so.40".into(), "file too short".into())));
        assert!(text.contains("cannot use /opt/lib/libmpi.so.40 as MPI library: file too short"), "{text}");
    }
}
