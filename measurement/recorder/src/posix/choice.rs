//! Which files are recorded (io.md, 2.7): F4, by the beginnings of their paths, and F5, regular files and
//! directories.

use std::ffi::CStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use recording::settings::Settings;

/// Paths at or below which files are not recorded. One that ends with a dot stands for all that begin so.
const EXCLUDED: [&str; 14] = [
    "/proc",
    "/sys",
    "/dev",
    "/etc",
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib64",
    "/boot",
    "/run",
    "/var/lib",
    "/var/run",
    "/tmp/ompi.",
];

/// The beginnings of paths, each with whether files there are recorded.
pub(crate) struct FileChoice {
    rules: Vec<(Vec<u8>, bool)>,
}

impl FileChoice {
    /// Reads the user's choice; nothing in the experiment directory is recorded.
    pub(crate) fn new(settings: &Settings, experiment: &Path) -> FileChoice {
        let fixed = EXCLUDED.iter().map(|path| (path.as_bytes().to_vec(), false));
        // The system tells paths without links.
        let real = std::fs::canonicalize(experiment).ok();
        let own = real.iter().map(|path| path.as_path()).chain([experiment]);
        let own = own.map(|path| (path.as_os_str().as_bytes().to_vec(), false));
        let list = |paths: &str, is_recorded: bool| {
            let paths = paths.split(':').filter(|path| !path.is_empty());
            paths.map(|path| (path.as_bytes().to_vec(), is_recorded)).collect::<Vec<_>>()
        };
        let wanted = list(&settings.io_include, true);
        let rules = fixed.chain(list(&settings.io_exclude, false)).chain(wanted).chain(own).collect();
        FileChoice { rules }
    }

    /// Whether a file with that absolute path is recorded: the longest beginning decides, of equal ones the last.
    pub(crate) fn admits(&self, path: &[u8]) -> bool {
        let matching = self.rules.iter().filter(|(beginning, _)| is_below(path, beginning));
        matching.max_by_key(|(beginning, _)| beginning.len()).is_none_or(|(_, is_recorded)| *is_recorded)
    }
}

/// Whether a path is that one, or below it, or begins with it if it ends with a dot.
fn is_below(path: &[u8], beginning: &[u8]) -> bool {
    let beginning = beginning.strip_suffix(b"/").unwrap_or(beginning);
    let Some(rest) = path.strip_prefix(beginning) else { return false };
    rest.is_empty() || rest[0] == b'/' || beginning.ends_with(b".")
}

/// What the system says of an open file.
#[derive(Clone, Copy)]
pub(crate) struct FileState {
    /// Device and number, which identify the file.
    pub(crate) identity: (u64, u64),
    pub(crate) size: u64,
    pub(crate) is_directory: bool,
}

impl FileState {
    fn new(status: &libc::stat) -> Option<FileState> {
        let is_directory = match status.st_mode & libc::S_IFMT {
            libc::S_IFREG => false,
            libc::S_IFDIR => true,
            _ => return None,
        };
        let identity = (status.st_dev, status.st_ino);
        Some(FileState { identity, size: status.st_size as u64, is_directory })
    }

    /// Returns the state of an open file; `None` if it is neither a regular file nor a directory.
    pub(crate) fn of_descriptor(descriptor: i32) -> Option<FileState> {
        // SAFETY: all bytes zero are a value, which the call replaces.
        let mut status: libc::stat = unsafe { std::mem::zeroed() };
        // SAFETY: the status is writable. The system itself is called, not a function that is recorded (F1).
        let failed = unsafe { libc::syscall(libc::SYS_fstat, descriptor, &raw mut status) };
        if failed == 0 { FileState::new(&status) } else { None }
    }

    /// Returns the state of a file by its name.
    pub(crate) fn of_path(path: &CStr) -> Option<FileState> {
        match Found::at(libc::AT_FDCWD, path) {
            Found::File(state) => Some(state),
            Found::Nothing | Found::Other => None,
        }
    }
}

/// What is at a path.
pub(crate) enum Found {
    Nothing,
    /// Neither a regular file nor a directory.
    Other,
    File(FileState),
}

impl Found {
    /// Looks what is at a path, which may be relative to an open folder.
    pub(crate) fn at(folder: i32, path: &CStr) -> Found {
        // SAFETY: all bytes zero are a value, which the call replaces.
        let mut status: libc::stat = unsafe { std::mem::zeroed() };
        // SAFETY: the path ends with a NUL, and the status is writable; the system itself is called, as above.
        let failed =
            unsafe { libc::syscall(libc::SYS_newfstatat, folder, path.as_ptr(), &raw mut status, 0) };
        match FileState::new(&status) {
            _ if failed != 0 => Found::Nothing,
            Some(state) => Found::File(state),
            None => Found::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;
    use std::os::fd::AsRawFd;

    use super::*;

    fn choice(exclude: &str, include: &str) -> FileChoice {
        let value = |name: &str| match name {
            "REPLAY_IO_EXCLUDE" => Some(exclude.to_string()),
            "REPLAY_IO_INCLUDE" => Some(include.to_string()),
            _ => None,
        };
        FileChoice::new(&Settings::read(value).unwrap(), Path::new("/home/me/replay_a_4x1"))
    }

    #[test]
    fn longest_beginning_decides_which_files_are_recorded() {
        let choice = choice("/home/me/logs:/data", "/usr/share/data:/data/in/");
        let cases = [
            ("/home/me/out.h5", true),
            ("/usr/lib/libm.so", false),
            ("/usr", false),
            ("/usrlocal/x", true),
            ("/usr/share/data/x", true),
            ("/home/me/logs/1", false),
            ("/home/me/logs2", true),
            ("/data/x", false),
            ("/data/in/x", true),
            ("/home/me/replay_a_4x1/traces/0.evt", false),
            ("/tmp/ompi.host.0/x", false),
            ("/tmp/ompi2", true),
        ];
        for (path, is_recorded) in cases {
            assert_eq!(choice.admits(path.as_bytes()), is_recorded, "{path}");
        }
    }

    #[test]
    fn experiment_behind_a_link_is_left_out_by_its_real_path() {
        let folder = std::env::temp_dir().join(format!("replay-real-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("real/exp")).unwrap();
        std::os::unix::fs::symlink(folder.join("real"), folder.join("link")).unwrap();
        let choice = FileChoice::new(&Settings::read(|_| None).unwrap(), &folder.join("link/exp"));
        let real = folder.canonicalize().unwrap().join("real/exp/recording/0.jnl");
        assert!(!choice.admits(real.as_os_str().as_bytes()));
        assert!(!choice.admits(folder.join("link/exp/x").as_os_str().as_bytes()));
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn files_have_states_and_pipes_have_none() {
        let path = std::env::temp_dir().join(format!("replay-choice-{}", std::process::id()));
        let file = std::fs::File::create(&path).unwrap();
        file.set_len(17).unwrap();
        let state = FileState::of_descriptor(file.as_raw_fd()).unwrap();
        assert_eq!((state.size, state.is_directory), (17, false));
        let name = CString::new(path.as_os_str().as_bytes()).unwrap();
        assert_eq!(FileState::of_path(&name).unwrap().identity, state.identity);
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(Found::at(libc::AT_FDCWD, &name), Found::Nothing));
        assert!(matches!(Found::at(libc::AT_FDCWD, c"/dev/null"), Found::Other));
        let (reader, _writer) = std::io::pipe().unwrap();
        assert!(FileState::of_descriptor(reader.as_raw_fd()).is_none());
    }
}
