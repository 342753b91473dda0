//! Preloading of the recorder: the environment of the program.

use crate::Error;
use object::Object;
use object::read::elf::{ElfFile64, ProgramHeader};
use recording::layout::NOTE_VARIABLE;
use recording::scorep::{PROFILING, TRACING};
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// File name of the recorder.
const LIBRARY: &str = "libreplay_recorder.so";

/// File name of the library with the C library's functions for files, beside the recorder.
const IO_LIBRARY: &str = "libreplay_io.so";

/// Environment variable with the path of the recorder, if it is not beside the launcher.
const LIBRARY_VARIABLE: &str = "REPLAY_LIBRARY";

/// Open MPI's parameter with the environment variables that it passes on to other nodes.
const FORWARDED: &str = "OMPI_MCA_mca_base_env_list";

/// Returns the path of the recorder.
///
/// # Errors
/// If there is none, or the dynamic linker cannot take its path.
pub(crate) fn library() -> Result<PathBuf, Error> {
    let path = match env::var_os(LIBRARY_VARIABLE).filter(|path| !path.is_empty()) {
        Some(path) => PathBuf::from(path),
        None => beside_launcher()?,
    };
    let path = path.canonicalize().map_err(|cause| Error::io(&path, "find the recorder", cause))?;
    // The dynamic linker separates names by these.
    if path.as_os_str().as_encoded_bytes().iter().any(|byte| b" :".contains(byte)) {
        let message = format!("{}: the recorder's path must not contain spaces or colons", path.display());
        return Err(Error::new(message));
    }
    Ok(path)
}

fn beside_launcher() -> Result<PathBuf, Error> {
    let own = env::current_exe().map_err(|cause| Error::new(format!("cannot find myself: {cause}")))?;
    let folder = own.parent().unwrap_or(Path::new("/"));
    find_library(folder).ok_or_else(|| {
        let prefix = folder.parent().unwrap_or(folder).display();
        Error::new(format!(
            "there is no {LIBRARY} beside {}, nor in lib/replay, lib64/replay or lib/*/replay of {prefix}: \
             make install PREFIX={prefix} in Replay's sources puts it there, which cargo install does not; \
             or name it with {LIBRARY_VARIABLE}",
            own.display()
        ))
    })
}

/// Finds the recorder for a launcher in a folder: beside it, where both are built, or where both are installed. Systems
/// have libraries in `lib`, `lib64` or, as Debian, in a folder of `lib` for each architecture.
fn find_library(folder: &Path) -> Option<PathBuf> {
    let installed = |directory: PathBuf| directory.join("replay").join(LIBRARY);
    let lib = folder.join("../lib");
    let places = [folder.join(LIBRARY), installed(lib.clone()), installed(folder.join("../lib64"))];
    places.into_iter().find(|place| place.exists()).or_else(|| {
        let inside = fs::read_dir(lib).ok()?.filter_map(|entry| Some(installed(entry.ok()?.path())));
        // The same one each time, should there be several.
        inside.filter(|place| place.exists()).min()
    })
}

/// Returns the path of the library that makes files of the C library be recorded, beside the recorder.
///
/// # Errors
/// If there is none.
pub(crate) fn io_library(recorder: &Path) -> Result<PathBuf, Error> {
    let path = recorder.with_file_name(IO_LIBRARY);
    match path.exists() {
        true => Ok(path),
        false => Err(Error::new(format!("there is no {}, which is needed to record files", path.display()))),
    }
}

/// Returns the environment variables of the program beyond the launcher's own. The libraries are preloaded in their
/// order.
pub(crate) fn environment(
    libraries: &[&Path],
    note: Option<&Path>,
    settings: &[(&'static str, String)],
    command: &[OsString],
) -> Vec<(OsString, OsString)> {
    let mut variables: Vec<(OsString, OsString)> = Vec::new();
    // First, so that their functions are found first; others stay behind them.
    let names: Vec<&OsStr> = libraries.iter().map(|library| library.as_os_str()).collect();
    let mut preloaded = names.join(OsStr::new(":"));
    if let Some(others) = env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
        preloaded.push(":");
        preloaded.push(others);
    }
    variables.push(("LD_PRELOAD".into(), preloaded));
    variables.extend(note.map(|note| (NOTE_VARIABLE.into(), note.into())));
    variables.extend(settings.iter().map(|(name, value)| (name.into(), value.into())));
    // Score-P in the program and the recorder would measure each other (site 4.3).
    let unset = [PROFILING, TRACING].into_iter().filter(|switch| env::var_os(switch.name).is_none());
    variables.extend(unset.map(|switch| (switch.name.into(), "false".into())));
    // mpirun refuses the list together with its own option.
    let has_own_option = command.iter().any(|argument| argument == "-x");
    if command.first().is_some_and(|program| starts_open_mpi(program))
        && !has_own_option
        && env::var_os(FORWARDED).is_none()
    {
        let names: Vec<&OsStr> = variables.iter().map(|(name, _)| name.as_os_str()).collect();
        let names = names.join(OsStr::new(";"));
        variables.push((FORWARDED.into(), names));
    }
    variables
}

/// Returns the libraries that a command preloads itself, if they take the recorder's place: in a word of
/// their own, for mpirun's option `-x` or for `env`, or behind MPICH's options `-env` and `-genv`.
pub(crate) fn replaced_by(command: &[OsString]) -> Option<String> {
    let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
    let values = words.iter().enumerate().filter_map(|(at, word)| {
        let is_option = at > 0 && matches!(&*words[at - 1], "-env" | "--env" | "-genv" | "--genv");
        match word.strip_prefix("LD_PRELOAD") {
            Some("") if is_option => words.get(at + 1).map(|value| &**value),
            Some(rest) => rest.strip_prefix('='),
            None => None,
        }
    });
    // A value with the recorder is intended.
    values.filter(|value| !value.contains(LIBRARY)).map(str::to_string).next()
}

/// Whether a program has one of the names of Open MPI's mpirun; MPICH's has them too, and ignores the
/// variable.
pub(crate) fn starts_open_mpi(program: &OsStr) -> bool {
    let name = Path::new(program).file_name().and_then(OsStr::to_str).unwrap_or_default();
    let name = name.strip_suffix(".openmpi").unwrap_or(name);
    ["mpirun", "mpiexec", "orterun", "prterun"].contains(&name)
}

/// Returns the path of a program, as the system would execute it.
pub fn find(program: &OsStr) -> Option<PathBuf> {
    if program.as_encoded_bytes().contains(&b'/') {
        return Some(program.into());
    }
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(program)).find(|place| {
        fs::metadata(place).is_ok_and(|status| status.is_file() && status.permissions().mode() & 0o111 != 0)
    })
}

/// Whether a file is a program that cannot be recorded: without a dynamic linker, so that nothing can be
/// loaded into it, and without a recorder linked into it.
pub(crate) fn is_out_of_reach(path: &Path) -> bool {
    /// The section of a recorder's wrappers, in a program that it is linked into.
    const WRAPPERS: &str = "replay_wrappers";
    const EXECUTABLE: [u8; 4] = *b"\x7fELF";
    const INTERPRETER: u32 = 3;
    let Ok(file) = fs::File::open(path) else { return false };
    let mut begin = [0; 4];
    if std::io::Read::read_exact(&mut &file, &mut begin).is_err() || begin != EXECUTABLE {
        return false;
    }
    let Ok(bytes) = otf2::FileBytes::open(path) else { return false };
    let Ok(program) = ElfFile64::<object::Endianness>::parse(&*bytes) else { return false };
    let order = program.endian();
    let is_static = !program.elf_program_headers().iter().any(|header| header.p_type(order) == INTERPRETER);
    is_static && program.section_by_name(WRAPPERS).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorder_is_found_where_it_is_built_and_where_systems_have_libraries() {
        let prefix = tempfile::tempdir().unwrap();
        let bin = prefix.path().join("bin");
        fs::create_dir_all(&bin).unwrap();
        assert_eq!(find_library(&bin), None);
        // Each is preferred to those before it.
        for folder in ["lib/x86_64-linux-gnu/replay", "lib64/replay", "lib/replay", "bin"] {
            let library = prefix.path().join(folder).join(LIBRARY);
            fs::create_dir_all(library.parent().unwrap()).unwrap();
            fs::write(&library, "").unwrap();
            let found = find_library(&bin).unwrap();
            assert_eq!(found.canonicalize().unwrap(), library.canonicalize().unwrap());
        }
    }

    #[test]
    fn recorder_comes_first_and_variables_are_forwarded_by_open_mpi() {
        let settings = [("REPLAY_DEPTH", "3".to_string())];
        let command = |words: &[&str]| words.iter().map(Into::into).collect::<Vec<OsString>>();
        let of = |words: &[&str]| {
            environment(&["/i.so", "/l.so"].map(Path::new), Some(Path::new("/n")), &settings, &command(words))
        };
        let plain = of(&["./a"]);
        assert!(plain[0].1.to_str().unwrap().starts_with("/i.so:/l.so"));
        // Score-P is switched off, unless the user has switched it on or off.
        assert_eq!(plain[3], ("SCOREP_ENABLE_PROFILING".into(), "false".into()));
        assert_eq!(plain.len(), 5);
        let forwarded = of(&["/opt/bin/mpirun", "-n", "4"]);
        assert_eq!(
            forwarded[5].1,
            "LD_PRELOAD;REPLAY_NOTE;REPLAY_DEPTH;SCOREP_ENABLE_PROFILING;SCOREP_ENABLE_TRACING"
        );
        assert_eq!(of(&["mpirun.openmpi", "a"]).len(), 6);
        assert_eq!(of(&["mpirun", "-x", "PATH", "a"]).len(), 5);
    }

    #[test]
    fn libraries_that_take_the_place_of_the_recorder_are_found_in_the_command() {
        let of = |line: &str| replaced_by(&line.split(' ').map(Into::into).collect::<Vec<OsString>>());
        assert_eq!(of("mpirun -x LD_PRELOAD=/a.so:/b.so -n 2 a"), Some("/a.so:/b.so".into()));
        assert_eq!(of("mpirun -genv LD_PRELOAD /a.so a"), Some("/a.so".into()));
        assert_eq!(of("mpirun -n 1 env LD_PRELOAD= a"), Some("".into()));
        // The first passes on the launcher's own value; the second has the recorder; the third names another
        // variable.
        assert_eq!(of("mpirun -x LD_PRELOAD -n 2 a"), None);
        assert_eq!(of("mpirun -x LD_PRELOAD=/lib/libreplay_recorder.so:/a.so a"), None);
        assert_eq!(of("mpirun -x LD_PRELOAD_PATH=/a a"), None);
    }

    #[test]
    fn programs_of_the_system_are_found_and_need_their_linker() {
        let shell = find(OsStr::new("sh")).unwrap();
        assert!(!is_out_of_reach(&shell));
        assert!(!is_out_of_reach(Path::new("/etc/passwd")) && !is_out_of_reach(Path::new("/nowhere")));
        assert_eq!(find(OsStr::new("no-such-program")), None);
        assert_eq!(find(OsStr::new("./x")), Some("./x".into()));
    }
}
