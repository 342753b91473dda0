//! The data of the process, from the start of MPI to its end.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

use call_paths::OwnFile;
use recording::journal::JournalRecord;
use recording::layout;
use recording::settings::{Rounds, Settings};

use crate::channels::Channels;
use crate::communicators::Communicators;
use crate::counters::Chosen;
use crate::files::Files;
use crate::filter::Filter;
use crate::groups::Groups;
use crate::inside::Guarded;
use crate::iterations::{self, Iterations};
use crate::mpi::Mpi;
use crate::neighborhoods::Neighborhoods;
use crate::partitions::Partitions;
#[cfg(posix)]
use crate::posix::handles::PosixFiles;
use crate::requests::Requests;
use crate::rounds;
use crate::selection::Selection;
use crate::sessions::Session;
use crate::synchronize::Clocks;
use crate::texts::Texts;
use crate::thread::{self, Thread};
use crate::windows::Windows;

/// The process under recording.
pub(crate) struct Process {
    pub(crate) mpi: Mpi,
    pub(crate) rank: u32,
    pub(crate) size: u32,
    /// Its process id.
    pub(crate) id: u32,
    pub(crate) directory: PathBuf,
    pub(crate) settings: Settings,
    /// What the recorder itself has of MPI.
    own: OwnMpi,
    /// How often the program has started MPI without ending it: by `MPI_Init`, and by sessions.
    open: AtomicU32,
    /// Whether `MPI_Init` has been called.
    has_world: AtomicBool,
    /// The clock that is used, see `synchronize`.
    pub(crate) clocks: Clocks,
    pub(crate) communicators: Communicators,
    pub(crate) groups: Groups,
    pub(crate) neighborhoods: Neighborhoods,
    pub(crate) requests: Requests,
    pub(crate) partitions: Partitions,
    /// Whether the MPI library tells what a request has received that sends as well, see `hooks::exchanges`.
    pub(crate) tells_exchanges: OnceLock<bool>,
    pub(crate) windows: Windows,
    pub(crate) files: Files,
    pub(crate) texts: Texts,
    /// Files of the C library.
    #[cfg(posix)]
    pub(crate) posix: PosixFiles,
    pub(crate) rounds: rounds::Rounds,
    /// The agreement on iterations, if the user wants some and they can be found.
    pub(crate) iterations: Option<Iterations>,
    /// Counts of messages that are missing in the trace.
    pub(crate) channels: Channels,
    pub(crate) selection: Selection,
    /// The filter of the program's regions.
    pub(crate) filter: Filter,
    /// The counters that threads record.
    pub(crate) counters: Chosen,
    journal: Mutex<OwnFile>,
    threads: AtomicU32,
    next_request: AtomicU64,
    has_stopped: AtomicBool,
    end_of_thread: libc::pthread_key_t,
}

static PROCESS: AtomicPtr<Process> = AtomicPtr::new(null_mut());

/// Returns the process, once recording has begun.
#[inline]
pub(crate) fn current() -> Option<&'static Process> {
    // SAFETY: the pointer is null or comes from a box that is never freed.
    unsafe { PROCESS.load(Ordering::Acquire).as_ref() }
}

/// Whether this process was forked from the one that is recorded, while the calling thread was being
/// recorded.
#[inline]
pub(crate) fn is_forked() -> bool {
    PROCESS.load(Ordering::Relaxed).is_null()
}

/// Stops recording with a message in the journal and to the user; the program continues.
pub(crate) fn stop(cause: &str) {
    if let Some(process) = current() {
        process.stop(cause);
    }
}

/// What the recorder itself has of MPI.
pub(crate) struct OwnMpi {
    /// A communicator of all processes.
    pub(crate) communicator: usize,
    /// The session that it belongs to; `None` if that is `MPI_COMM_WORLD`.
    pub(crate) session: Option<Session>,
}

impl OwnMpi {
    /// Frees it. Nothing uses it any more.
    pub(crate) fn free(&self, mpi: &Mpi) {
        let mut communicator = self.communicator;
        // SAFETY: it is the recorder's own communicator.
        unsafe { (mpi.comm_free)(&mut communicator) };
        if let Some(session) = &self.session {
            session.close();
        }
    }
}

/// The resources of a recorded process that may be unavailable.
pub(crate) struct Prepared {
    journal: OwnFile,
    filter: Filter,
    end_of_thread: libc::pthread_key_t,
    /// The counters of the recording: none before the processes have chosen them.
    pub(crate) counters: Chosen,
}

/// Creates the journal and reads the filter.
///
/// An error is a sentence.
pub(crate) fn prepare(directory: &Path, rank: u32, settings: &Settings) -> Result<Prepared, String> {
    let filter = settings.filter.as_deref().map_or_else(|| Ok(Filter::default()), Filter::read)?;
    let journal = layout::journal(directory, rank);
    let journal =
        OwnFile::create(&journal, true).map_err(|cause| format!("{}: {cause}", journal.display()))?;
    let mut end_of_thread = 0;
    // SAFETY: the key is writable; the destructor gets what `announce_end_of_thread` sets, a location of the
    // thread.
    if unsafe { libc::pthread_key_create(&mut end_of_thread, Some(self::end_of_thread)) } != 0 {
        return Err("no key for threads is left".into());
    }
    Ok(Prepared { journal, filter, end_of_thread, counters: Chosen::default() })
}

/// Starts the recording of this process: that rank of so many in the world, with what the recorder has of MPI.
pub(crate) fn begin(
    (mpi, own): (Mpi, OwnMpi),
    (rank, size): (u32, u32),
    directory: PathBuf,
    settings: Settings,
    clocks: Clocks,
    prepared: Prepared,
) -> &'static Process {
    let Prepared { journal, filter, end_of_thread, counters } = prepared;
    let channels = Channels::new();
    if settings.rounds != Rounds::ALL || settings.iterations.is_some() {
        channels.begin();
    }
    // The communicators of a program that opens sessions may end before all processes do.
    let iterations = settings.iterations.filter(|_| own.session.is_none());
    let iterations = iterations.map(|choice| Iterations::new(&mpi, own.communicator, choice));
    #[cfg(posix)]
    let posix = PosixFiles::new(&settings, &directory);
    let process = Box::leak(Box::new(Process {
        communicators: Communicators::new(&mpi, own.communicator, rank, size),
        rounds: rounds::Rounds::new(settings.rounds, settings.iterations),
        iterations,
        channels,
        selection: Selection::new(&settings.functions),
        filter,
        counters,
        mpi,
        rank,
        size,
        directory,
        settings,
        has_world: own.session.is_none().into(),
        own,
        open: AtomicU32::new(1),
        clocks,
        groups: Groups::new(),
        neighborhoods: Neighborhoods::new(),
        requests: Requests::new(),
        partitions: Partitions::new(),
        tells_exchanges: OnceLock::new(),
        windows: Windows::new(),
        files: Files::new(),
        texts: Texts::new(),
        #[cfg(posix)]
        posix,
        id: std::process::id(),
        journal: Mutex::new(journal),
        threads: AtomicU32::new(0),
        next_request: AtomicU64::new(1),
        has_stopped: AtomicBool::new(false),
        end_of_thread,
    }));
    // SAFETY: the handler takes no argument, is never unloaded, and does in the child only what it may: it
    // allocates nothing and takes no lock.
    unsafe { libc::pthread_atfork(None, None, Some(forget_after_fork)) };
    PROCESS.store(std::ptr::from_mut(process), Ordering::Release);
    process
}

/// Ends recording in the child of a fork, which shares buffers and files with its parent.
///
/// A call that was open stays so in the child, and its data are left alone here: what this has interrupted
/// may be using them. When the call ends it finds that the process is a child ([`is_forked`]), and records
/// nothing. A handler of a signal that forks while the recorder is at work in the same thread is not detected
/// before that work is done.
unsafe extern "C" fn forget_after_fork() {
    if let Some(process) = current() {
        // The end of the thread must not write out its events either.
        process.announce_end_of_thread(null_mut());
    }
    PROCESS.store(null_mut(), Ordering::Release);
    thread::forget();
}

unsafe extern "C" fn end_of_thread(thread: *mut libc::c_void) {
    // SAFETY: the value of the key is the location of the thread that ends, behind its last function.
    unsafe { thread::end(thread.cast()) };
}

impl Process {
    /// Appends a record to the journal.
    pub(crate) fn append(&self, record: &JournalRecord) {
        if is_forked() {
            return;
        }
        let line = record.to_line();
        let written = {
            let journal = self.journal.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            // One call for a line: it is written as a whole or not at all.
            journal.append(line.as_bytes())
        };
        if let Err(cause) = written {
            self.stop(&format!("the journal cannot be written: {cause}"));
        }
    }

    /// Returns the recorder's own communicator; `None` if it has been freed.
    pub(crate) fn communicator(&self) -> Option<usize> {
        self.communicators.has_world_group().then_some(self.own.communicator)
    }

    /// Whether the program has called `MPI_Init`.
    pub(crate) fn has_world(&self) -> bool {
        self.has_world.load(Ordering::Relaxed)
    }

    /// Notes that the program has called `MPI_Init` behind a session that it has opened.
    pub(crate) fn enter_world(&self) {
        if !self.has_world.swap(true, Ordering::Relaxed) {
            self.communicators.append_world(self);
        }
    }

    /// Notes that the program has started MPI once more.
    pub(crate) fn open(&self) {
        self.open.fetch_add(1, Ordering::Relaxed);
    }

    /// Frees what the recorder has of MPI, if the program is about to end that to which it belongs: `MPI_COMM_WORLD`
    /// by `MPI_Finalize`, or all of MPI. No processes are waited for here, as others may keep sessions.
    pub(crate) fn close(&self, #[cfg_attr(not(posix), allow(unused))] thread: &mut Thread, is_world: bool) {
        let was_last = self.open.fetch_sub(1, Ordering::Relaxed) == 1;
        #[cfg(posix)]
        if was_last || is_world {
            crate::stdio::end(thread);
            crate::posix::end(thread);
        }
        let ends = if self.own.session.is_none() { is_world } else { was_last };
        if ends && self.communicators.free_world_group(&self.mpi) {
            self.own.free(&self.mpi);
        }
    }

    /// Appends the name of a communicator or a window to the journal.
    pub(crate) fn append_name(&self, of: &str, number: u32, name: String) {
        self.append(&JournalRecord::Name { of: of.into(), number, name });
    }

    /// Appends a sentence for the user about something that limits the trace.
    pub(crate) fn notice(&self, text: &str) {
        self.append(&JournalRecord::Notice { text: text.into() });
    }

    /// Stops recording with a message; the program continues.
    pub(crate) fn stop(&self, cause: &str) {
        if self.has_stopped.swap(true, Ordering::AcqRel) {
            return;
        }
        crate::say(&format!("rank {} is not recorded any more: {cause}", self.rank));
        self.append(&JournalRecord::Stopped { cause: cause.into() });
    }

    /// Whether the process records nothing any more.
    pub(crate) fn has_stopped(&self) -> bool {
        self.has_stopped.load(Ordering::Relaxed)
    }

    /// Records that the program ends by itself, and writes out the events of the calling thread. Other
    /// threads may still be running; their events stay in their buffers.
    pub(crate) fn end(&self, status: i32) {
        // A call that has ended the program is over, too.
        let entered =
            thread::current().and_then(|thread| thread.lock().or_else(|| thread.take_over(u64::MAX, true)));
        if let Some(mut thread) = entered {
            iterations::leave(&mut thread);
            #[cfg(posix)]
            crate::stdio::end(&mut thread);
            thread.end_program(status);
            thread.lock_forever();
        }
        self.append(&JournalRecord::End { status });
    }

    /// Returns the number of a new thread.
    pub(crate) fn next_thread(&self) -> Option<u32> {
        let number = self.threads.fetch_add(1, Ordering::Relaxed);
        (number < u32::MAX / 2).then_some(number)
    }

    /// Appends the calling thread to the journal.
    pub(crate) fn append_thread(&self, thread: u32, has_switches: bool, has_counters: bool) {
        let mut name = [0u8; 64];
        // SAFETY: the calling thread exists, and there is room for its name.
        let known =
            unsafe { libc::pthread_getname_np(libc::pthread_self(), name.as_mut_ptr().cast(), 64) } == 0;
        let name = name.split(|&byte| byte == 0).next().unwrap_or_default();
        let name = String::from_utf8_lossy(name).into_owned();
        let is_own = known && thread > 0 && name != program_name();
        self.append(&JournalRecord::Thread {
            thread,
            name: is_own.then_some(name),
            has_switches,
            has_counters,
        });
    }

    /// Registers the thread's location to be ended with the thread.
    pub(crate) fn announce_end_of_thread(&self, thread: *mut Guarded) {
        // SAFETY: the key is valid, as it is never deleted.
        unsafe { libc::pthread_setspecific(self.end_of_thread, thread.cast()) };
    }

    /// Reserves some numbers for requests; returns the first.
    pub(crate) fn take_requests(&self, numbers: u64) -> u64 {
        self.next_request.fetch_add(numbers, Ordering::Relaxed)
    }
}

/// Returns the kernel's name of the program's first thread: the first 15 bytes of the program's name.
fn program_name() -> String {
    let name = std::env::current_exe().unwrap_or_default();
    let name = name.file_name().map(|name| name.as_bytes().to_vec()).unwrap_or_default();
    String::from_utf8_lossy(&name[..name.len().min(15)]).into_owned()
}
