//! The start of a recording, in the first call that starts MPI.
//!
//! Whatever fails on one process: all processes make the same exchanges here, and all record or none does.

use std::ffi::{CString, OsStr, c_char};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use call_paths::{Registers, undisturbed};
use launched::Launched;
use model::CollectiveOp;
use recording::journal::{self, JournalRecord};
use recording::layout;
use recording::settings::{EventRecords, ProfileMode, Settings};

use crate::call::Call;
use crate::clock;
use crate::communicators::{MYSELF, WORLD};
use crate::counters;
use crate::energy;
use crate::events::Events;
use crate::inside::Guarded;
use crate::iterations;
use crate::key;
use crate::mpi::Mpi;
use crate::next;
use crate::peers;
use crate::process::{self, OwnMpi, Prepared, Process};
use crate::record;
use crate::sessions::Session;
use crate::storage;
use crate::synchronize::{self, Clocks};
use crate::thread;
use crate::volumes::ROOT_NONE;

/// Maximum length of the path of the experiment directory.
const PATH: usize = 4096;

/// How a program starts MPI.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Model {
    /// By `MPI_Init` or `MPI_Init_thread`: there is `MPI_COMM_WORLD`.
    World,
    /// By a session: there is no communicator.
    Sessions,
}

/// The hook of `MPI_Init` and `MPI_Init_thread`.
pub(crate) fn initialize(function: u32, real: impl FnOnce() -> usize) -> usize {
    let registers = Registers::here();
    match process::current() {
        None => begin(registers, function, real, Model::World),
        Some(process) if !process.has_world() => enter_world(process, registers, function, real),
        Some(_) => real(),
    }
}

/// The hook of `MPI_Session_init`.
pub(crate) fn open_session(function: u32, real: impl FnOnce() -> usize) -> usize {
    let registers = Registers::here();
    let Some(process) = process::current() else {
        return begin(registers, function, real, Model::Sessions);
    };
    let _call = Call::enter_from(registers, function);
    let result = real();
    if result as i32 == 0 {
        process.open();
    }
    result
}

/// Makes a call of `MPI_Init` in a program that has opened a session before, and is being recorded.
fn enter_world(
    process: &Process,
    registers: Registers,
    function: u32,
    real: impl FnOnce() -> usize,
) -> usize {
    let call = Call::enter_from(registers, function);
    let result = real();
    let has_started = result as i32 == 0;
    if has_started {
        process.open();
        process.enter_world();
    }
    if let Some(mut call) = call.filter(|_| has_started) {
        let (begin, end) = (call.begin(), call.end());
        record_world(&mut call.thread.events, begin, end);
    }
    result
}

/// Makes the first call that starts MPI.
fn begin(registers: Registers, function: u32, real: impl FnOnce() -> usize, model: Model) -> usize {
    /// Held while recording starts: several threads may open sessions at once.
    static STARTING: Mutex<()> = Mutex::new(());
    if !next::prepare() {
        return real();
    }
    let settings = Settings::read(|name| std::env::var(name).ok());
    clock::choose(
        settings.as_ref().map_or(recording::settings::ClockSource::Auto, |settings| settings.clock),
    );
    #[cfg(posix)]
    let open = match &settings {
        Ok(settings) if settings.posix => crate::posix::before::candidates(),
        _ => Vec::new(),
    };
    let begin = clock::now();
    let result = real();
    if result as i32 == 0 {
        let end = clock::now();
        let _starting = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(process) = process::current() {
            // Another thread has started recording behind the begin of this call.
            process.open();
            if model == Model::World {
                process.enter_world();
            }
            return result;
        }
        match start(settings, model) {
            Ok(process) => {
                record_start(process, function, (begin, end), registers);
                // Symbols of a statically linked program are not looked up while it runs.
                #[cfg(not(feature = "static"))]
                if process.rank == 0 {
                    crate::others::tell();
                }
                #[cfg(posix)]
                if process.settings.posix {
                    crate::posix::begin(&open, crate::stdio::begin);
                }
            }
            // Every process knows that recording failed; one of them has the reason.
            Err(Some(cause)) => crate::say(&format!("nothing is recorded: {cause}")),
            Err(None) => {}
        }
    }
    result
}

/// Prepares the recording; all processes do the same. An error has a message in one of the processes.
fn start(settings: Result<Settings, String>, model: Model) -> Result<&'static Process, Option<String>> {
    let mpi =
        Mpi::of_program().ok_or_else(|| Some("this MPI library lacks functions of MPI 3".to_string()))?;
    let (own, rank, size) = match model {
        Model::World => of_the_world(&mpi)?,
        Model::Sessions => of_a_session(&mpi)?,
    };
    match prepare(settings, &mpi, own.communicator, (rank, size)) {
        Ok((settings, directory, clocks, prepared)) => {
            let place = (rank as u32, size as u32);
            Ok(process::begin((mpi, own), place, directory, settings, clocks, prepared))
        }
        Err(cause) => {
            own.free(&mpi);
            Err(cause)
        }
    }
}

/// Agrees with the other processes on the settings and the directory, and prepares this one.
fn prepare(
    settings: Result<Settings, String>,
    mpi: &Mpi,
    communicator: usize,
    (rank, size): (i32, i32),
) -> Result<(Settings, PathBuf, Clocks, Prepared), Option<String>> {
    // Settings that must be equal in all processes, which would wait for each other otherwise.
    let common = settings.as_ref().map_or(0, |settings| {
        let Settings { functions, rounds, iterations, clock_interval, buffer, profile, counters, .. } =
            settings;
        let text = format!(
            "{functions} {rounds:?} {iterations:?} {clock_interval} {buffer} {profile:?} {counters:?}"
        );
        key::of_bytes(text.as_bytes()) as i32 >> 1
    });
    let mut least = [i32::from(settings.is_ok()), common, -common];
    agree(mpi, communicator, &mut least);
    if least[0] == 0 {
        return Err(settings.err());
    }
    if least[1] != -least[2] {
        let cause = "the processes have different settings (REPLAY_ variables)";
        return Err((rank == 0).then(|| cause.to_string()));
    }
    let settings = settings.map_err(Some)?;
    let directory = choose_directory(mpi, communicator, rank, size, &settings)?;
    let clocks = synchronize::find_clocks(mpi, communicator, rank as u32, size as u32);
    let prepared = process::prepare(&directory, rank as u32, &settings);
    let mut least = [i32::from(prepared.is_ok()), 0, 0];
    agree(mpi, communicator, &mut least);
    let mut prepared = prepared.map_err(Some)?;
    if least[0] == 0 {
        return Err(None);
    }
    if settings.profile != ProfileMode::Report {
        let (counters, said) =
            counters::choose(&settings.counters, |numbers| agree(mpi, communicator, numbers));
        prepared.counters = counters;
        said.iter().filter(|_| rank == 0).for_each(|sentence| crate::say(sentence));
    } else if rank == 0 && !settings.counters.is_empty() {
        crate::say("a profile has no counters: these are in traces only");
    }
    Ok((settings, directory, clocks, prepared))
}

/// Makes a communicator of all processes from `MPI_COMM_WORLD`; returns also the rank of this one and their number.
fn of_the_world(mpi: &Mpi) -> Result<(OwnMpi, i32, i32), Option<String>> {
    let (mut rank, mut size, mut communicator) = (0, 0, 0);
    // SAFETY: MPI_Init has returned, and all results are writable.
    unsafe {
        (mpi.comm_rank)(mpi.world, &mut rank);
        (mpi.comm_size)(mpi.world, &mut size);
    }
    if size > 1 {
        refuse_unrecorded_peers(rank as u32)?;
    } else {
        tell_if_alone();
    }
    // SAFETY: as above; all processes do so in MPI_Init.
    unsafe { (mpi.comm_dup)(mpi.world, &mut communicator) };
    Ok((OwnMpi { communicator, session: None }, rank, size))
}

/// Says so, once, if a launcher has started several processes, but each is a world of its own: that of another MPI does.
fn tell_if_alone() {
    let launched =
        Launched::of_this_process().filter(|it| it.processes.is_some_and(|processes| processes > 1));
    if let Some(launched) = launched.filter(Launched::speaks) {
        crate::say(&format!(
            "{}, but each is an MPI world of its own, and leaves a recording of its own: the launcher does not fit the program's \
             MPI (with Slurm, srun --mpi=pmix is for Open MPI, --mpi=pmi2 for MPICH and Intel MPI)",
            launched.in_words()
        ));
    }
}

/// The same in a session of the recorder's own, in programs that have not called `MPI_Init`.
fn of_a_session(mpi: &Mpi) -> Result<(OwnMpi, i32, i32), Option<String>> {
    let session =
        Session::open().ok_or_else(|| Some("the recorder gets no session of its own".to_string()))?;
    match everybody_in(&session, mpi) {
        Ok((communicator, rank, size)) => Ok((OwnMpi { communicator, session: Some(session) }, rank, size)),
        Err(cause) => {
            session.close();
            Err(cause)
        }
    }
}

fn everybody_in(session: &Session, mpi: &Mpi) -> Result<(usize, i32, i32), Option<String>> {
    let lacks = |what: &str| Some(format!("the recorder's session has no {what}"));
    let (group, rank, size) = session.everybody(mpi).ok_or_else(|| lacks("group of all processes"))?;
    if size > 1 {
        refuse_unrecorded_peers(rank as u32)?;
    }
    let communicator = session.communicator(mpi, group).ok_or_else(|| lacks("communicator"))?;
    Ok((communicator, rank, size))
}

/// Fails if a rank without recorder is seen, which would never answer. One of the ranks that see it has the
/// message.
fn refuse_unrecorded_peers(rank: u32) -> Result<(), Option<String>> {
    let Some(peer) = peers::unrecorded(Path::new("/proc"), std::process::id()) else { return Ok(()) };
    let peers::Unrecorded { rank: other, process, program, first_recorded } = peer;
    let cause = format!(
        "rank {other} ({program}, process {process}) runs without replay-record: put it in front of mpirun, or in front of \
         the program in each part of the command line"
    );
    Err((rank == first_recorded).then_some(cause))
}

/// Reduces the processes' values to their minimum.
fn agree(mpi: &Mpi, communicator: usize, values: &mut [i32]) {
    let mine = values.to_vec();
    let count = values.len() as i32;
    // SAFETY: both arrays have so many values of `int`.
    unsafe { (mpi.allreduce)(mine.as_ptr(), values.as_mut_ptr(), count, mpi.int, mpi.min, communicator) };
}

/// Chooses the experiment directory: rank 0 creates it and broadcasts its path.
fn choose_directory(
    mpi: &Mpi,
    communicator: usize,
    rank: i32,
    size: i32,
    settings: &Settings,
) -> Result<PathBuf, Option<String>> {
    let mut path_bytes = vec![0u8; PATH];
    let mut cause = None;
    if rank == 0 {
        match make_directory(settings.output.as_deref(), size) {
            Ok(path) => {
                let path = path.into_os_string().into_vec();
                if path.len() < PATH {
                    path_bytes[..path.len()].copy_from_slice(&path);
                } else {
                    cause = Some("the path of the experiment directory is too long".to_string());
                }
            }
            Err(failed) => cause = Some(failed),
        }
    }
    // SAFETY: the buffer has `PATH` bytes on all processes.
    unsafe { (mpi.bcast)(path_bytes.as_mut_ptr(), PATH as i32, mpi.byte, 0, communicator) };
    let path = path_bytes.split(|&byte| byte == 0).next().unwrap_or_default();
    if path.is_empty() { Err(cause) } else { Ok(PathBuf::from(OsStr::from_bytes(path))) }
}

fn make_directory(wanted: Option<&Path>, size: i32) -> Result<PathBuf, String> {
    let working = std::env::current_dir().map_err(|cause| format!("the working directory: {cause}"))?;
    let failure = |path: &Path, cause| format!("cannot make the directory {}: {cause}", path.display());
    let first = working.join(wanted.map_or_else(|| default_name(size).into(), Path::to_path_buf));
    if let Some(parent) = first.parent() {
        fs::create_dir_all(parent).map_err(|cause| failure(parent, cause))?;
    }
    let mut path = first.clone();
    for number in 2.. {
        match fs::create_dir(&path) {
            Ok(()) => break,
            Err(cause) if cause.kind() == std::io::ErrorKind::AlreadyExists && number < 100_000 => {
                let mut name = first.clone().into_os_string();
                name.push(format!("_{number}"));
                path = name.into();
            }
            Err(cause) => return Err(failure(&path, cause)),
        }
    }
    for folder in [layout::TRACES, layout::RECORDING] {
        let folder = path.join(folder);
        fs::create_dir(&folder).map_err(|cause| failure(&folder, cause))?;
    }
    Ok(path)
}

/// Returns `replay_<program>_<ranks>x<threads>[_<job>]`.
fn default_name(size: i32) -> String {
    let (program, arguments) = program();
    let mut name = base(&program);
    if name.starts_with("python")
        && let Some(script) = arguments.iter().find(|argument| argument.ends_with(".py"))
    {
        name = base(script).trim_end_matches(".py").to_string();
    }
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let threads =
        variable("OMP_NUM_THREADS").and_then(|value| value.split(',').next()?.parse().ok()).unwrap_or(1u32);
    let job = ["SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID"].iter().find_map(|name| variable(name));
    let job = job.map(|job| format!("_{job}")).unwrap_or_default();
    let clean = |text: String| -> String {
        let keep = |c: char| if c.is_ascii_alphanumeric() || "._-+".contains(c) { c } else { '_' };
        text.chars().map(keep).collect()
    };
    clean(format!("replay_{name}_{size}x{threads}{job}"))
}

fn base(path: &str) -> String {
    Path::new(path).file_name().map_or_else(|| path.to_string(), |name| name.to_string_lossy().into_owned())
}

/// Returns the program and its arguments, from the kernel: MPI may have taken its own out of `argv`.
fn program() -> (String, Vec<String>) {
    let line = fs::read("/proc/self/cmdline").unwrap_or_default();
    let mut words = line.split(|&byte| byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
    let called = words.next().unwrap_or_default();
    let mut arguments: Vec<String> = words.collect();
    // The last one ends with a NUL, too.
    arguments.pop();
    let program = fs::read_link("/proc/self/exe").map(|path| path.to_string_lossy().into_owned());
    (program.unwrap_or(called), arguments)
}

/// Writes the first records of the journal and the first events.
fn record_start(process: &'static Process, function: u32, (begin, end): (u64, u64), registers: Registers) {
    let (program, mut arguments) = program();
    if !process.settings.arguments {
        arguments.clear();
    }
    process.append(&JournalRecord::Process {
        version: env!("CARGO_PKG_VERSION").into(),
        rank: process.rank,
        size: process.size,
        host: host(),
        process: std::process::id(),
        program,
        arguments: arguments.clone(),
        mpi: library(&process.mpi),
        chunk_size: process.settings.buffer,
        clock: clock::name().into(),
        sample: process.settings.sample,
        anonymous: process.settings.anonymous,
    });
    if !process.counters.counters.is_empty() {
        process.append(&JournalRecord::Counters { counters: process.counters.counters.clone() });
    }
    let Settings { profile, output, records, .. } = &process.settings;
    if *records != EventRecords::CallingContexts {
        process.append(&JournalRecord::Records { records: *records });
    }
    if *profile != ProfileMode::No {
        let estimate = *profile == ProfileMode::Estimate;
        process.append(&JournalRecord::Profile(journal::ProfileRequest {
            estimate,
            keep: !estimate || output.is_some(),
        }));
    } else {
        storage::append_mounts(process);
    }
    iterations::begin(process);
    if process.has_world() {
        process.communicators.append_world(process);
    }
    process.communicators.append_myself(process);
    report_directory(process);
    process.texts.begin(1 + arguments.len());
    thread::find_modules();
    let entered = thread::here().and_then(Guarded::lock);
    synchronize::calibrate(process);
    synchronize::measure(process);
    energy::begin(process);
    let Some(mut thread) = entered else { return };
    let loaded = begin.min(clock::loaded());
    record::program_begin(&mut thread.events, loaded, arguments.len());
    thread.note(loaded);
    crate::regions::enter_earlier(&mut thread, begin);
    let path = thread.path_of(registers, function).node;
    // Counters have begun behind that.
    thread.enter_settled_path(begin, path);
    if process.has_world() {
        record_world(&mut thread.events, begin, end);
    }
    thread.leave_path(end, path);
    // The recorder's work since then is not the program's time.
    thread.events.add_flush(end, clock::now());
}

/// Records that `MPI_Init` has created the communicators that MPI defines.
fn record_world(events: &mut Events, begin: u64, end: u64) {
    record::collective_begin(events, begin);
    for communicator in [WORLD, MYSELF] {
        record::comm_create(events, end, communicator.into());
    }
    record::collective_end(events, end, CollectiveOp::CREATE_HANDLE, WORLD.into(), ROOT_NONE, 0, 0);
}

fn host() -> String {
    let mut name = [0u8; 256];
    // SAFETY: there is room for the name; the last byte stays zero.
    unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) };
    String::from_utf8_lossy(name.split(|&byte| byte == 0).next().unwrap_or_default()).into_owned()
}

/// Returns the first line of `MPI_Get_library_version`.
fn library(mpi: &Mpi) -> String {
    let mut text = vec![0u8; 16 * 1024];
    let mut length = 0;
    // SAFETY: there is room: MPI_MAX_LIBRARY_VERSION_STRING is 256 in Open MPI and 8192 in MPICH.
    unsafe { (mpi.get_library_version)(text.as_mut_ptr().cast::<c_char>(), &mut length) };
    let text = text.split(|&byte| byte == 0 || byte == b'\n').next().unwrap_or_default();
    String::from_utf8_lossy(text).trim().to_string()
}

/// Reports the experiment directory to the launcher; if there is none, because the user has preloaded the
/// recorder or linked it into the program, to the user.
fn report_directory(process: &Process) {
    let directory = &process.directory;
    let Some(note) = std::env::var_os(layout::NOTE_VARIABLE) else {
        if process.rank == 0 {
            let directory = directory.display();
            crate::say(&format!(
                "{directory} has no archive before replay-record --finish {directory} is called after the program's end"
            ));
        }
        return;
    };
    let Ok(name) = CString::new(note.as_bytes()) else { return };
    let mut line = directory.as_os_str().as_bytes().to_vec();
    line.push(b'\n');
    // SAFETY: the name ends with a NUL; only the descriptor that is opened here is used; the line's bytes are
    // readable.
    undisturbed(|| unsafe {
        let file = libc::open(name.as_ptr(), libc::O_WRONLY | libc::O_APPEND | libc::O_CLOEXEC);
        if file >= 0 {
            libc::write(file, line.as_ptr().cast(), line.len());
            libc::close(file);
        }
    });
}
