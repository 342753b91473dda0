//! Installations and builds, each found or made once: the MPI, `replay-record` and the recorder, the programs
//! to record.

use super::turns::Turn;
use super::{place, project};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock};

use skip::{Need, skip};

/// The MPI library under test.
#[derive(Debug)]
pub(crate) struct Mpi {
    /// Its mpirun.
    pub(crate) launcher: PathBuf,
    /// Whether it is Open MPI, otherwise MPICH or a derivative.
    pub(crate) is_open_mpi: bool,
}

impl Mpi {
    /// The name by which programs are built for it, and that of their folders: those of another one cannot be run with it.
    fn name(&self) -> &'static str {
        if self.is_open_mpi { "openmpi" } else { "mpich" }
    }
}

/// The MPI, if there is one; otherwise reports what is skipped.
pub(crate) fn mpi(test: &str) -> Option<&'static Mpi> {
    static MPI: OnceLock<Result<Mpi, String>> = OnceLock::new();
    match MPI.get_or_init(find_mpi) {
        Ok(mpi) => Some(mpi),
        Err(reason) => {
            skip(Need::Mpi, format!("{test}: {reason}"));
            None
        }
    }
}

fn find_mpi() -> Result<Mpi, String> {
    let launcher = std::env::var_os("REPLAY_MPIRUN").unwrap_or_else(|| "mpirun".into());
    let printed = |program: &OsStr, argument: &str| {
        let output = Command::new(program).arg(argument).output().ok()?;
        Some(String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
    };
    if launcher.is_empty() {
        return Err("REPLAY_MPIRUN names no MPI".into());
    }
    if printed(&launcher, "--version").is_none() {
        return Err(format!("there is no {} (REPLAY_MPIRUN names another one)", launcher.display()));
    }
    let compiler = compiler();
    let Some(version) = printed(&compiler, "--showme:version") else {
        return Err(format!("there is no {} (MPICC names another one)", compiler.display()));
    };
    Ok(Mpi { launcher: launcher.into(), is_open_mpi: version.contains("Open MPI") })
}

/// The C compiler of the MPI.
fn compiler() -> OsString {
    std::env::var_os("MPICC").filter(|name| !name.is_empty()).unwrap_or_else(|| "mpicc".into())
}

/// Path of `replay-record`, which is beside the libraries that it preloads.
pub(crate) fn launcher() -> &'static Path {
    static LAUNCHER: OnceLock<PathBuf> = OnceLock::new();
    LAUNCHER.get_or_init(|| {
        // Cargo's directory is not locked any more while tests run. The profile is that of the tests, so that
        // what was built for them is not built again.
        let target = target();
        let packages = ["-p", "recorder", "-p", "posix_io", "-p", "launcher"];
        cargo(&[&["build", "--profile", "test"][..], &packages].concat(), &target);
        target.join("debug/replay-record")
    })
}

/// Path of `replay-show`.
pub(crate) fn viewer() -> &'static Path {
    static VIEWER: OnceLock<PathBuf> = OnceLock::new();
    VIEWER.get_or_init(|| {
        let target = target();
        cargo(&["build", "--profile", "test", "-p", "show"], &target);
        target.join("debug/replay-show")
    })
}

/// Path of `replay-scan`.
pub(crate) fn scanner() -> &'static Path {
    static SCANNER: OnceLock<PathBuf> = OnceLock::new();
    SCANNER.get_or_init(|| {
        let target = target();
        cargo(&["build", "--profile", "test", "-p", "replay-scan"], &target);
        target.join("debug/replay-scan")
    })
}

/// The recorder as a static library.
fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        // No other test may measure times meanwhile.
        let _turn = Turn::alone();
        // As make static-library does, but faster. One object, as in a release: linkers take only some of
        // several.
        let profile = ["debug=false", "incremental=false", "package.recorder.codegen-units=1"];
        let profile = profile.map(|setting| format!("profile.dev.{setting}"));
        let options = profile.iter().flat_map(|setting| ["--config", setting]);
        let what = ["-p", "recorder", "--features", "static", "--crate-type", "staticlib"];
        let target = target().join("static");
        cargo(&["rustc"].into_iter().chain(options).chain(what).collect::<Vec<_>>(), &target);
        target.join("debug/libreplay_recorder.a")
    })
}

/// Cargo's target directory.
fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().into()
}

/// Builds something with cargo into a directory.
fn cargo(arguments: &[&str], target: &Path) {
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .args(["--quiet", "--target-dir"])
        .arg(target)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The command that runs a program of `tests/programs`, given by its source file; `None`, with a message, if
/// it cannot be built here or needs another MPI.
pub(crate) fn program(mpi: &Mpi, source: &str) -> Option<Vec<OsString>> {
    let Some((name, ending)) = source.rsplit_once('.') else { panic!("{source} is no source file") };
    if ending == "py" {
        let path = project("tests/programs").join(source);
        return Some(vec![python(source)?.into(), "-B".into(), path.into()]);
    }
    static BUILT: Mutex<BTreeMap<String, Option<String>>> = Mutex::new(BTreeMap::new());
    let language = if ending == "f" { "f90" } else { ending };
    let folder = place().join("programs").join(mpi.name());
    assert!(sources(language).iter().any(|it| it == source), "{source} is in no folder of `sources`");
    let failure = {
        let mut built = BUILT.lock().unwrap();
        built.entry(language.into()).or_insert_with(|| build(mpi, language, &folder)).clone()
    };
    let program = folder.join(name);
    match failure {
        Some(reason) => skip(Need::Compiler, format!("{source}: {reason}")),
        None if !program.exists() => skip(Need::System, format!("{source} needs another MPI, or a library")),
        None => return Some(vec![program.into()]),
    }
    None
}

/// Builds all programs of a language; returns the reason if that is impossible here.
fn build(mpi: &Mpi, language: &str, folder: &Path) -> Option<String> {
    let wrapper = match language {
        "c" => "mpicc",
        "cc" => "mpicxx",
        _ => "mpifort",
    };
    // mpicc and mpifort, mpicc.mpich and mpifort.mpich
    let compiler = compiler().to_string_lossy().into_owned();
    let compiler = match compiler.rfind("mpicc") {
        Some(at) => format!("{}{wrapper}{}", &compiler[..at], &compiler[at + "mpicc".len()..]),
        None if language == "c" => compiler,
        None => return Some(format!("it is not known which {wrapper} belongs to {compiler}")),
    };
    // The wrapper may be installed without a compiler.
    if !Command::new(&compiler).arg("--version").output().is_ok_and(|output| output.status.success()) {
        return Some(format!("there is no {compiler}"));
    }
    let output = Command::new(project("tests/programs/build"))
        .arg(mpi.name())
        .arg(folder)
        .args(sources(language))
        .env(wrapper.to_uppercase(), &compiler)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    None
}

/// The command that runs a C program of `tests/programs`, compiled with these options; `None`, with a
/// message, if it cannot be built here.
pub(crate) fn program_with(mpi: &Mpi, source: &str, flags: &str) -> Option<Vec<OsString>> {
    static BUILT: Mutex<BTreeMap<(String, String), PathBuf>> = Mutex::new(BTreeMap::new());
    if !Command::new(compiler()).arg("--version").output().is_ok_and(|output| output.status.success()) {
        skip(Need::Compiler, format!("{source}: there is no {}", compiler().display()));
        return None;
    }
    let mut built = BUILT.lock().unwrap();
    let program = built.entry((source.into(), flags.into())).or_insert_with(|| {
        let options = flags.replace(|letter: char| !letter.is_alphanumeric(), "_");
        let folder = place().join(options).join(mpi.name());
        let output = Command::new(project("tests/programs/build"))
            .arg(mpi.name())
            .args([folder.as_path(), source.as_ref()])
            .env("FLAGS", flags)
            .env("MPICC", compiler())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        folder.join(source).with_extension("")
    });
    Some(vec![program.clone().into()])
}

/// Compiles a C program, linked with what stands in for Score-P's library, which goes beside it.
pub(crate) fn instrument(source: &Path, program: &Path) {
    let (folder, stub) = (program.parent().unwrap(), project("tests/recorder/support/scorep.c"));
    let compile = |arguments: &[&OsStr]| {
        let output = Command::new(compiler()).args(arguments).current_dir(folder).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let [shared, pic, to, library] = ["-shared", "-fPIC", "-o", "libscorep_stub.so"].map(OsStr::new);
    compile(&[shared, pic, stub.as_os_str(), to, library]);
    let include = project("measurement/include");
    let flags =
        ["-L.", "-Wl,--no-as-needed", "-lscorep_stub", "-Wl,-rpath,$ORIGIN", "-lm", "-I"].map(OsStr::new);
    compile(&[&[source.as_os_str()][..], &flags, &[include.as_os_str(), to, program.as_os_str()]].concat());
}

/// Statically linked parts of a program with a recorder.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Linkage {
    /// The recorder.
    Recorder,
    /// The recorder and the MPI library.
    Mpi,
    /// Everything, so that nothing can be preloaded.
    Everything,
}

/// All kinds of linkage.
pub(crate) const LINKAGES: [Linkage; 3] = [Linkage::Recorder, Linkage::Mpi, Linkage::Everything];

/// The command that runs a C program of `tests/programs` with a linked recorder; `None`, with a message, if
/// it cannot be linked in this way here or needs another MPI.
pub(crate) fn linked(mpi: &Mpi, source: &str, linkage: Linkage) -> Option<Vec<OsString>> {
    static LINKED: Mutex<BTreeMap<(String, Linkage), Result<PathBuf, String>>> = Mutex::new(BTreeMap::new());
    let library = library();
    let mut linked = LINKED.lock().unwrap();
    let result =
        linked.entry((source.into(), linkage)).or_insert_with(|| link(mpi, source, linkage, library));
    match result {
        Ok(program) => Some(vec![program.clone().into()]),
        Err(reason) => {
            skip(Need::Compiler, format!("{source}, with all static that must be for {linkage:?}: {reason}"));
            None
        }
    }
}

fn link(mpi: &Mpi, source: &str, linkage: Linkage, library: &Path) -> Result<PathBuf, String> {
    /// hwloc refers to functions of libudev, which is not available as a static library. It does without if
    /// there is no context.
    const UDEV: &str = "
        void *udev_new(void) { return 0; }
        void *udev_unref(void *context) { return context; }
        void *udev_device_new_from_subsystem_sysname(void) { return 0; }
        void *udev_device_unref(void) { return 0; }
        const char *udev_device_get_property_value(void) { return 0; }
    ";
    if linkage != Linkage::Recorder && mpi.is_open_mpi {
        return Err("what a static Open MPI stands on is not known".into());
    }
    let folder = place().join("linked").join(mpi.name()).join(format!("{linkage:?}"));
    std::fs::create_dir_all(&folder).unwrap();
    let udev = folder.join("udev.c");
    std::fs::write(&udev, UDEV).unwrap();
    // Dependencies of Debian's MPICH. Some parts of the libraries of UCX register themselves at program
    // start.
    let (flags, libraries) = match linkage {
        Linkage::Recorder => ("-g -O2", String::new()),
        Linkage::Mpi => ("-g -O2", "-l:libmpich.a -lhwloc -lucp -lucs -Wl,--as-needed".into()),
        Linkage::Everything => {
            let ucx = "-lucp -Wl,--whole-archive -luct -lucs -lucm -Wl,--no-whole-archive";
            ("-g -O2 -static", format!("{} -lmpich {ucx} -lhwloc -lnuma", udev.display()))
        }
    };
    let build = |libraries: String| {
        Command::new(project("tests/programs/build"))
            .arg(mpi.name())
            .args([folder.as_path(), source.as_ref()])
            .envs([("FLAGS", flags), ("LIBRARIES", &libraries)])
            .env("MPICC", compiler())
            .output()
            .unwrap()
    };
    // A failure without the recorder is not its fault.
    let bare = build(libraries.clone());
    let errors = String::from_utf8_lossy(&bare.stderr);
    if !bare.status.success() {
        return Err(errors.lines().last().unwrap_or_default().into());
    }
    let program = folder.join(source).with_extension("");
    if !program.exists() {
        return Err("it needs another MPI".into());
    }
    let output = build(format!("{} {libraries}", library.display()));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(program)
}

fn sources(language: &str) -> Vec<String> {
    let endings: &[&str] = if language == "f90" { &["f", "f90"] } else { &[language] };
    // The solver of the demonstration is in no folder.
    let mut found: Vec<String> = if language == "c" { vec!["jacobi.c".into()] } else { Vec::new() };
    for folder in [
        "waits",
        "calls",
        "endings",
        "iterations",
        "oddities",
        "pauses",
        "regions",
        "workers",
        "changes",
        "advice",
        "files",
        "openmp",
        "switches",
        "counters",
        "tutorial",
    ] {
        for entry in std::fs::read_dir(project("tests/programs").join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if endings.iter().any(|ending| name.ends_with(&format!(".{ending}"))) {
                found.push(format!("{folder}/{name}"));
            }
        }
    }
    found.sort();
    found
}

/// A Python with mpi4py for this MPI whose functions can be identified, if there is one; otherwise reports
/// what is skipped.
fn python(source: &str) -> Option<PathBuf> {
    let python = std::env::var_os("REPLAY_MPI4PY").filter(|name| !name.is_empty());
    let python = PathBuf::from(python.unwrap_or_else(|| "python3".into()));
    let check = "import sys; assert sys.version_info >= (3, 11); from mpi4py import MPI";
    let imports = Command::new(&python).args(["-c", check]).output();
    if imports.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    let python = python.display();
    skip(
        Need::Python,
        format!("{source}: {python} is none since 3.11 with mpi4py (REPLAY_MPI4PY names another Python)"),
    );
    None
}
