//! Windows: what the recorder knows of each. Keys are made as those of communicators.

use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use recording::journal::{self, JournalRecord, ranges};

use crate::communicators::Communicator;
use crate::handles::Handles;
use crate::inside::Inside;
use crate::key;
use crate::levels::Zeroed;
use crate::memory::Scratch;
use crate::pending::Pending;
use crate::process::Process;
use crate::shared::Shared;

/// No group.
pub(crate) const NO_GROUP: u32 = u32::MAX;

/// A window.
#[derive(Clone, Copy)]
pub(crate) struct Window {
    /// Its number in the process.
    pub(crate) number: u32,
    /// How many processes share it.
    pub(crate) size: u32,
    /// The rank of the process in it.
    pub(crate) rank: u32,
    /// Whether its memory came with it.
    pub(crate) is_allocated: bool,
    pub(crate) epochs: &'static Epochs,
}

/// A window, as it is kept for its handle.
struct Known {
    number: AtomicU32,
    size: AtomicU32,
    rank: AtomicU32,
    is_allocated: AtomicBool,
    /// Null until there is a window.
    epochs: AtomicPtr<Epochs>,
}

// SAFETY: numbers and a pointer, of which zero bytes are valid ones.
unsafe impl Zeroed for Known {}

impl Known {
    fn set(&self, window: Window) {
        self.number.store(window.number, Ordering::Relaxed);
        self.size.store(window.size, Ordering::Relaxed);
        self.rank.store(window.rank, Ordering::Relaxed);
        self.is_allocated.store(window.is_allocated, Ordering::Relaxed);
        self.epochs.store(std::ptr::from_ref(window.epochs).cast_mut(), Ordering::Release);
    }

    fn get(&self) -> Option<Window> {
        // SAFETY: null, or epochs that are never freed, complete when the pointer was stored.
        let epochs = unsafe { self.epochs.load(Ordering::Acquire).as_ref() }?;
        Some(Window {
            number: self.number.load(Ordering::Relaxed),
            size: self.size.load(Ordering::Relaxed),
            rank: self.rank.load(Ordering::Relaxed),
            is_allocated: self.is_allocated.load(Ordering::Relaxed),
            epochs,
        })
    }
}

/// What is under way on a window.
pub(crate) struct Epochs {
    /// The group that `MPI_Win_start` named, until `MPI_Win_complete`.
    pub(crate) access: AtomicU32,
    /// The group that `MPI_Win_post` named, until `MPI_Win_wait`.
    pub(crate) exposure: AtomicU32,
    /// Threads may access one window at a time, and one may complete what another has begun: unlike what a thread records
    /// this is shared, so there is a lock. Without a second thread it costs two atomic operations and no system call.
    pending: Mutex<Pending>,
}

impl Epochs {
    pub(crate) fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All windows of the process.
pub(crate) struct Windows {
    known: Handles<Known>,
    next: AtomicU32,
    /// Left by windows that were freed, for those to come.
    unused: Mutex<Vec<&'static Epochs>>,
    /// Numbers of groups by keys of their members.
    groups: Shared<AtomicU32>,
    next_group: AtomicU32,
    has_overflowed: AtomicBool,
}

impl Windows {
    pub(crate) fn new() -> Windows {
        Windows {
            known: Handles::new(),
            next: AtomicU32::new(0),
            unused: Mutex::new(Vec::new()),
            groups: Shared::new(),
            next_group: AtomicU32::new(0),
            has_overflowed: AtomicBool::new(false),
        }
    }

    /// What is known of a window.
    #[inline]
    pub(crate) fn find(&self, handle: usize) -> Option<Window> {
        self.known.find(handle).and_then(Known::get)
    }

    /// A window has been created on a communicator, which it is a child of with that key. Answers its number.
    pub(crate) fn enter(
        &self,
        process: &Process,
        handle: usize,
        (communicator, key): (&Communicator, u64),
        (name, is_allocated): (&str, bool),
    ) -> u32 {
        let unused = self.unused.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let epochs = unused.unwrap_or_else(|| {
            Box::leak(Box::new(Epochs {
                access: AtomicU32::new(NO_GROUP),
                exposure: AtomicU32::new(NO_GROUP),
                pending: Mutex::new(Pending::EMPTY),
            }))
        });
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (size, rank) = (communicator.size(), communicator.rank());
        epochs.pending().clear(size as usize);
        self.known.insert(handle, |known| known.set(Window { number, size, rank, is_allocated, epochs }));
        process.enter(&JournalRecord::Window(journal::Window {
            window: number,
            key,
            communicator: communicator.number(),
            name: name.into(),
        }));
        number
    }

    /// A window is about to be freed.
    pub(crate) fn remove(&self, handle: usize) {
        let Some(window) = self.known.remove(handle, Known::get).flatten() else { return };
        window.epochs.access.store(NO_GROUP, Ordering::Relaxed);
        window.epochs.exposure.store(NO_GROUP, Ordering::Relaxed);
        self.unused.lock().unwrap_or_else(PoisonError::into_inner).push(window.epochs);
    }

    /// The number of the group with the members of that one; [`NO_GROUP`] if a member is not in the world.
    pub(crate) fn group(&self, thread: &mut Inside, group: usize) -> u32 {
        let process = thread.process;
        // Taken out of the thread, which nothing may refer to while the MPI library is called.
        let mut room = std::mem::replace(&mut thread.handles, Scratch::EMPTY);
        let members = process.communicators.members_in(&process.mpi, group, &mut room);
        let number = members.map_or(NO_GROUP, |members| self.number_of_group(process, members));
        thread.handles = room;
        number
    }

    fn number_of_group(&self, process: &Process, members: &[u32]) -> u32 {
        // Groups are as many as neighbourhoods, a few: that two of them have one key of 64 bits will not happen.
        let introduce = || {
            let number = self.next_group.fetch_add(1, Ordering::Relaxed);
            process.enter(&JournalRecord::Group { group: number, members: ranges(members) });
            number
        };
        let key = key::of_words(members);
        let known = self.groups.enter(key, |number| number.store(introduce(), Ordering::Relaxed));
        known.map_or_else(introduce, |number| number.load(Ordering::Relaxed))
    }

    /// More accesses are open than a window remembers.
    #[cold]
    pub(crate) fn note_overflow(&self, process: &Process) {
        if !self.has_overflowed.swap(true, Ordering::Relaxed) {
            process.notice(
                "more one-sided accesses were open at a time than are remembered: some have no completion",
            );
        }
    }
}
