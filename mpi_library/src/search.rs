//! Where MPI libraries are: those of the launcher's family first, then any; and what is said if there is none.

use std::env;
use std::ffi::OsString;
use std::fmt::Write;
use std::fs;
use std::os::unix::process::parent_id;
use std::path::{Path, PathBuf};

use launched::{Launched, Launcher};

/// Names of libraries of a family: whole ones, and the begin and end of others.
struct Names {
    whole: &'static [&'static str],
    others: Option<(&'static str, &'static str)>,
}

/// Open MPI, versions 2 to 5.
const OPEN_MPI: Names = Names { whole: &["libmpi.so.40"], others: None };

/// MPICH from 3.1 on, and its relatives; Debian's, Cray's for one compiler, and those for others.
const MPICH: Names = Names {
    whole: &["libmpi.so.12", "libmpich.so.12", "libmpi_cray.so.12"],
    others: Some(("libmpi_gnu_", ".so.12")),
};

/// Variables with the folder where an MPI is installed.
const INSTALLED: [&str; 8] = [
    "MPI_HOME",
    "EBROOTOPENMPI",
    "EBROOTMPICH",
    "EBROOTIMPI",
    "I_MPI_ROOT",
    "MPICH_DIR",
    "CRAY_MPICH_DIR",
    "OPAL_PREFIX",
];

/// Folders of libraries where an MPI is installed; the last one is that of older versions of Intel MPI.
const BELOW: [&str; 3] = ["lib", "lib64", "lib/release"];

/// What the loader says of a file that is not there.
const NOT_FOUND: &str = "cannot open shared object file: No such file or directory";

/// A search for the library of a launcher.
#[derive(Clone, Copy, Debug)]
pub struct Search<'a> {
    /// The launcher.
    pub launched: &'a Launched,
    /// The library that was asked for.
    pub asked: Option<&'a Path>,
    /// How users ask for one, in words.
    pub by: &'a str,
}

impl Search<'_> {
    /// Opens the library that was asked for, or the first that is found and can be used: `open` says why one cannot. Libraries of
    /// another family than the launcher's are tried if there are none of that, so that it can be said which MPI is there.
    ///
    /// # Errors
    /// If there is none that can be used: a sentence for the user.
    pub fn open<T>(&self, open: impl Fn(&Path) -> Result<T, String>) -> Result<T, String> {
        if let Some(path) = self.asked {
            return open(path).map_err(|reason| self.unusable(path, &reason));
        }
        let families = match self.launched.launcher {
            Launcher::Pmi => [MPICH, OPEN_MPI],
            Launcher::OpenMpi | Launcher::Pmix | Launcher::Srun => [OPEN_MPI, MPICH],
        };
        let folders = folders(|name| env::var_os(name), launcher_of_this_process());
        let mut refused = None;
        for names in &families {
            let by_loader = names.whole.iter().map(PathBuf::from);
            let in_folders = folders.iter().flat_map(|folder| names.in_folder(folder));
            for path in by_loader.chain(in_folders) {
                match open(&path) {
                    Ok(opened) => return Ok(opened),
                    Err(reason) if reason == NOT_FOUND => {}
                    Err(reason) => refused = refused.or(Some((path, reason))),
                }
            }
            if refused.is_some() {
                break;
            }
        }
        let names = families[0].whole.iter().chain(families[1].whole);
        let names = names.copied().collect::<Vec<_>>().join(", ");
        Err(self.missing(&names, &folders, refused))
    }

    /// What is wrong if a library that was asked for cannot be used.
    fn unusable(&self, path: &Path, reason: &str) -> String {
        format!(
            "cannot use {} as MPI library: {reason}; name the launcher's, such as /…/lib/libmpi.so, with {}",
            path.display(),
            self.by
        )
    }

    /// What is wrong if no library is found: the names and folders that were tried, and the first file that is no library
    /// after all, with the reason.
    fn missing(&self, names: &str, folders: &[PathBuf], found: Option<(PathBuf, String)>) -> String {
        let started = self.launched.in_words();
        if let Some((path, reason)) = found {
            return format!("{started}, but {}", self.unusable(&path, &reason));
        }
        let mut places = "the loader's paths".to_owned();
        for folder in folders {
            let _ = write!(places, ", {}", folder.display());
        }
        format!(
            "{started}, but there is no MPI library (looked for {names} in {places}): load the MPI's module, or set \
             REPLAY_MPI=/…/libmpi.so"
        )
    }
}

impl Names {
    /// Libraries with these names in a folder, in the order of preference.
    fn in_folder(&self, folder: &Path) -> Vec<PathBuf> {
        let whole = self.whole.iter().map(|name| folder.join(name)).filter(|path| path.exists());
        let mut others: Vec<PathBuf> = match self.others {
            None => Vec::new(),
            Some((begin, end)) => {
                let entries = fs::read_dir(folder).into_iter().flatten().flatten();
                let paths = entries.filter(|entry| {
                    let name = entry.file_name();
                    name.to_str().is_some_and(|name| name.starts_with(begin) && name.ends_with(end))
                });
                paths.map(|entry| entry.path()).collect()
            }
        };
        others.sort();
        whole.chain(others).collect()
    }
}

/// The program that has started this one, if that can be asked: on each node a process of the launcher does, which is installed
/// where its MPI is. A process that has started itself once more is not meant, but what has started that.
pub fn launcher_of_this_process() -> Option<PathBuf> {
    let own = env::current_exe().ok()?;
    let mut process = parent_id();
    loop {
        let program = fs::read_link(format!("/proc/{process}/exe")).ok()?;
        if program != own {
            return Some(program);
        }
        process = parent_of(process)?;
    }
}

/// The process that has started another one.
fn parent_of(process: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The second field is the name of the program in parentheses, which may contain anything.
    let (_, fields) = status.rsplit_once(')')?;
    fields.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Existing folders of libraries besides those that the loader knows, in the order of the search. Programs that know the
/// place of their library (RPATH) need no variable of the loader, so it does not have to know it.
fn folders(get: impl Fn(&str) -> Option<OsString>, launcher: Option<PathBuf>) -> Vec<PathBuf> {
    let list = |name: &str| -> Vec<PathBuf> {
        let folders = get(name).unwrap_or_default();
        env::split_paths(&folders).filter(|folder| folder.is_absolute()).collect()
    };
    // PREFIX/bin/mpirun
    let prefix_of = |program: &Path| Some(program.parent()?.parent()?.to_owned());
    let mpirun = list("PATH").iter().find_map(|folder| folder.join("mpirun").canonicalize().ok());
    let installed = INSTALLED.iter().filter_map(|name| get(name).map(PathBuf::from));
    let prefixes = launcher
        .iter()
        .filter_map(|launcher| prefix_of(launcher))
        .chain(installed)
        .chain(mpirun.iter().filter_map(|mpirun| prefix_of(mpirun)));
    let below = prefixes.flat_map(|prefix| BELOW.map(|below| prefix.join(below)));
    let mut folders = Vec::new();
    // The loader has searched those of its variable, but not for names of which only a part is known.
    for folder in list("LD_LIBRARY_PATH").into_iter().chain(below) {
        if folder.is_dir() && !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes files below a directory.
    fn make(directory: &Path, files: &[&str]) {
        for file in files {
            let path = directory.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
    }

    #[test]
    fn program_that_has_started_this_one_is_found() {
        let parent = fs::read_link(format!("/proc/{}/exe", parent_id())).unwrap();
        assert_eq!(launcher_of_this_process(), Some(parent));
        assert_eq!(parent_of(std::process::id()), Some(parent_id()));
    }

    #[test]
    fn folders_are_those_of_the_launcher_of_modules_and_of_mpirun() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().canonicalize().unwrap().join(name);
        make(
            directory.path(),
            &["a/lib64/x", "b/lib/x", "c/lib/x", "c/bin/mpirun", "d/x", "e/lib/release/x"],
        );
        let get = |name: &str| match name {
            "PATH" => Some(env::join_paths([at("b"), at("c/bin")]).unwrap()),
            "LD_LIBRARY_PATH" => Some(env::join_paths([at("d"), at("nowhere"), PathBuf::new()]).unwrap()),
            "MPI_HOME" => Some(at("b").into()),
            "I_MPI_ROOT" => Some(at("e").into()),
            "MPICH_DIR" => Some(at("b").into()),
            _ => None,
        };
        let found = folders(get, Some(at("a/bin/orted")));
        assert_eq!(found, ["d", "a/lib64", "b/lib", "e/lib", "e/lib/release", "c/lib"].map(at));
        assert!(folders(|_| None, None).is_empty());
    }

    #[test]
    fn names_are_tried_in_order_and_those_of_compilers_last() {
        let directory = tempfile::tempdir().unwrap();
        let names = [
            "libmpi_gnu_123.so.12",
            "libmpi.so.40",
            "libmpich.so.12",
            "libmpi_gnu_91.so.12",
            "libmpi_gnu_91.a",
        ];
        make(directory.path(), &names);
        let found = |names: &Names| -> Vec<String> {
            let paths = names.in_folder(directory.path()).into_iter();
            paths.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect()
        };
        assert_eq!(found(&OPEN_MPI), ["libmpi.so.40"]);
        assert_eq!(found(&MPICH), ["libmpich.so.12", "libmpi_gnu_123.so.12", "libmpi_gnu_91.so.12"]);
    }

    #[test]
    fn where_a_library_was_looked_for_is_told() {
        let started =
            Launched { launcher: Launcher::OpenMpi, processes: Some(4), rank: Some(0), is_slurm_step: false };
        let search = Search { launched: &started, asked: None, by: "REPLAY_MPI" };
        let none = search.missing("libmpi.so.40", &["/opt/lib".into()], None);
        let all = [
            "the launcher started 4 processes",
            "libmpi.so.40 in the loader's paths, /opt/lib",
            "REPLAY_MPI=",
        ];
        assert!(all.iter().all(|part| none.contains(part)), "{none}");
        let text = search.missing("", &[], Some(("/opt/lib/libmpi.so.40".into(), "file too short".into())));
        assert!(text.contains("cannot use /opt/lib/libmpi.so.40 as MPI library: file too short"), "{text}");
    }
}
