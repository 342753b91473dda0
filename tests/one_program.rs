//! The MPI library that is opened at run time: which one is taken, what is said of one that cannot be used, and one
//! program under the launchers of several MPIs.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::run::{Finished, analyze_with, analyzer, launched, mpirun, program, run};
use crate::support::{archive, fresh};

/// The experiment of these tests.
fn experiment() -> PathBuf {
    archive("comms.7")
}

/// Path of the library that a verbose analysis has named.
fn library(said: &Finished) -> PathBuf {
    let line = said.stderr.lines().find(|line| line.starts_with("MPI: "));
    let path = line.and_then(|line| line.rsplit_once(" (")?.1.strip_suffix(')'));
    path.unwrap_or_else(|| panic!("no path of a library:\n{}", said.stderr)).into()
}

/// Path of a library of this name, or a begin of it, that this process has loaded.
fn loaded(name: &str) -> Option<PathBuf> {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let mut paths = maps.lines().filter_map(|line| line.split_once('/').map(|(_, path)| format!("/{path}")));
    paths.find(|path| path.rsplit('/').next().is_some_and(|it| it.starts_with(name))).map(PathBuf::from)
}

/// Path of the launcher's library: the one that the program is linked with, or else the one that it finds.
fn library_of(launcher: &Path) -> PathBuf {
    let linked = loaded("libmpi.so").or_else(|| loaded("libmpich.so"));
    linked.unwrap_or_else(|| {
        let directory = fresh();
        let report = directory.path().join("found.cubex");
        library(
            analyze_with(launcher, 1, [Path::new("-v"), &experiment(), Path::new("-o"), &report]).expect(0),
        )
    })
}

/// The report of the program without a launcher, which starts no MPI.
fn alone(directory: &Path) -> Vec<u8> {
    let report = directory.join("alone.cubex");
    run(&mut analyzer([Path::new("-q"), &experiment(), Path::new("-o"), &report])).expect(0);
    fs::read(report).unwrap()
}

#[test]
fn no_mpi_is_started_if_none_is_to_be_used() {
    let directory = fresh();
    let expected = alone(directory.path());
    let report = directory.path().join("none.cubex");
    let mut none = analyzer([Path::new("--mpi=none"), &experiment(), Path::new("-o"), &report]);
    run(none.env("OMPI_COMM_WORLD_SIZE", "3").env("REPLAY_MPI", "/nowhere")).expect(0);
    assert!(fs::read(report).unwrap() == expected);
}

#[cfg(feature = "mpi-dlopen")]
mod opened {
    use super::*;

    #[test]
    fn library_that_is_asked_for_is_used() {
        let Some(launcher) = mpirun("a library that is asked for") else { return };
        let directory = fresh();
        let expected = alone(directory.path());
        let asked = library_of(launcher);
        let report = directory.path().join("asked.cubex");
        for by_option in [false, true] {
            let mut command = launched(launcher, 3, [program()]);
            command.args(["-v", "-o"]).arg(&report).arg(experiment()).env("REPLAY_MPI", &asked);
            if by_option {
                command.arg("--mpi").arg(&asked).env("REPLAY_MPI", "/nowhere");
            }
            let said = run(&mut command);
            // A program that is linked with it has it by another path.
            let used = library(said.expect(0)).canonicalize().unwrap();
            assert_eq!(used, asked.canonicalize().unwrap());
            assert!(fs::read(&report).unwrap() == expected, "{said:?}");
        }
    }

    #[test]
    fn file_that_is_no_mpi_library_is_told_once() {
        let Some(launcher) = mpirun("files that are no MPI libraries") else { return };
        let directory = fresh();
        let text = directory.path().join("libmpi.so.40");
        fs::write(&text, "This text is no library, though as long as the header of one would have to be.")
            .unwrap();
        let other = loaded("libc.so").expect("a library without MPI");
        let nowhere = directory.path().join("nowhere");
        for (path, reason) in [
            (&text, "invalid ELF header"),
            (&other, "it has no PMPI_Abort"),
            (&nowhere, "cannot open shared object file"),
        ] {
            let mut command = launched(launcher, 3, [program()]);
            command.arg(experiment()).env("REPLAY_MPI", path);
            let refused = run(&mut command);
            refused.expect(2);
            let [message] = refused.messages()[..] else { panic!("{}", refused.stderr) };
            let begin = format!("cannot use {} as MPI library: {reason}", path.display());
            assert!(message.contains(&begin) && message.contains("--mpi or REPLAY_MPI"), "{message}");
        }
    }
}

/// A program that is linked with no MPI, as it is in packages.
#[cfg(all(feature = "mpi-dlopen", not(feature = "mpi")))]
mod packaged {
    use std::process::Command;

    use super::*;

    /// Launchers of several MPIs, with what their libraries say of themselves, as far as they are there.
    fn launchers(test: &str) -> Vec<(&'static Path, &'static str)> {
        let all = [("mpirun.openmpi", "Open MPI"), ("mpirun.mpich", "MPICH")];
        let is_there = |launcher: &str| Command::new(launcher).arg("--version").output().is_ok();
        let there: Vec<_> = all.into_iter().filter(|(launcher, _)| is_there(launcher)).collect();
        if there.len() < all.len() {
            skip::skip(skip::Need::System, format!("{test}: only {there:?} are there"));
        }
        there.into_iter().map(|(launcher, version)| (Path::new(launcher), version)).collect()
    }

    #[test]
    fn program_is_linked_with_no_mpi() {
        let Ok(linked) = Command::new("ldd").arg(program()).output() else {
            return skip::skip(skip::Need::System, "libraries of the program: there is no ldd");
        };
        let linked = String::from_utf8(linked.stdout).unwrap();
        assert!(linked.contains("libc.so") && !linked.to_lowercase().contains("mpi"), "{linked}");
    }

    #[test]
    fn reports_under_every_launcher_are_that_of_the_program_alone() {
        let directory = fresh();
        let expected = alone(directory.path());
        for (launcher, version) in launchers("one program") {
            for processes in [1, 2, 5] {
                let report = directory.path().join("r.cubex");
                let arguments = [Path::new("-v"), &experiment(), Path::new("-o"), &report];
                let said = analyze_with(launcher, processes, arguments);
                said.expect(0);
                assert!(said.stderr.contains(&format!("MPI: {version}")), "{}", said.stderr);
                assert!(fs::read(&report).unwrap() == expected, "{processes} processes of {version}");
            }
        }
    }

    #[test]
    fn library_of_another_launcher_is_told_once() {
        let all = launchers("a library of another launcher");
        let libraries: Vec<PathBuf> = all.iter().map(|(launcher, _)| library_of(launcher)).collect();
        for ((launcher, _), library) in all.iter().zip(libraries.iter().rev()).take_while(|_| all.len() > 1) {
            let mut command = launched(launcher, 3, [program()]);
            command.arg(experiment()).env("REPLAY_MPI", library);
            let refused = run(&mut command);
            refused.expect(2);
            let [message] = refused.messages()[..] else { panic!("{}", refused.stderr) };
            let parts = ["started 3 processes, but each is alone", "another MPI", "REPLAY_MPI"];
            assert!(parts.iter().all(|part| message.contains(part)), "{message}");
        }
    }

    /// Makes a link to a library below a directory.
    fn link(library: &Path, directory: &Path, name: &str) -> PathBuf {
        let folder = directory.join(name).parent().unwrap().to_owned();
        fs::create_dir_all(folder).unwrap();
        std::os::unix::fs::symlink(library, directory.join(name)).unwrap();
        directory.join(name)
    }

    #[test]
    fn library_in_the_paths_of_the_loader_is_used() {
        for (launcher, version) in launchers("a library in the loader's paths") {
            let directory = fresh();
            let name = if version == "MPICH" { "lib/libmpi.so.12" } else { "lib/libmpi.so.40" };
            let place = link(&library_of(launcher), directory.path(), name);
            let mut command = launched(launcher, 2, [program()]);
            command.args(["-v", "-o"]).arg(directory.path().join("r.cubex")).arg(experiment());
            let said = run(command.env("LD_LIBRARY_PATH", directory.path().join("lib")));
            assert_eq!(library(said.expect(0)), place);
        }
    }

    /// Also if the loader finds a file of that name that is no library.
    #[test]
    fn library_where_the_launcher_is_installed_is_used() {
        for (launcher, version) in launchers("a library beside the launcher") {
            let directory = fresh();
            let blocked = directory.path().join("blocked");
            fs::create_dir(&blocked).unwrap();
            for name in ["libmpi.so.40", "libmpi.so.12", "libmpich.so.12", "libmpi_cray.so.12"] {
                fs::write(blocked.join(name), "no library").unwrap();
            }
            let name = if version == "MPICH" { "lib64/libmpi_gnu_123.so.12" } else { "lib64/libmpi.so.40" };
            let place = link(&library_of(launcher), directory.path(), name);
            // In the place of a launcher's process on the node: what starts the program and waits for it.
            fs::create_dir(directory.path().join("bin")).unwrap();
            let shell = directory.path().join("bin/sh");
            fs::copy("/bin/sh", &shell).unwrap();
            let mut command = launched(launcher, 2, [&shell]);
            command.args(["-c", "\"$@\"; exit $?", "sh", program(), "-v", "-o"]);
            command.arg(directory.path().join("r.cubex")).arg(experiment());
            let said = run(command.env("LD_LIBRARY_PATH", &blocked));
            assert_eq!(library(said.expect(0)), place);
        }
    }
}
