//! The windows of the process. Their keys are made as those of communicators.

use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use recording::journal::{self, JournalRecord};

use crate::communicators::Communicator;
use crate::handles::Handles;
use crate::inside::Inside;
use crate::levels::Zeroed;
use crate::memory::Scratch;
use crate::pending::PendingAccesses;
use crate::process::Process;

/// No group.
pub(crate) const NO_GROUP: u32 = u32::MAX;

/// A window.
#[derive(Clone, Copy)]
pub(crate) struct Window {
    /// Its number in the process.
    pub(crate) number: u32,
    /// Number of processes in it.
    pub(crate) size: u32,
    /// The rank of the process in it.
    pub(crate) rank: u32,
    /// Whether it was created with its memory.
    pub(crate) is_allocated: bool,
    pub(crate) epochs: &'static Epochs,
}

/// A window, as it is stored for its handle.
struct WindowSlot {
    number: AtomicU32,
    size: AtomicU32,
    rank: AtomicU32,
    is_allocated: AtomicBool,
    /// Null until a window is stored.
    epochs: AtomicPtr<Epochs>,
}

// SAFETY: atomic integers, a `bool` and a pointer; zero is a value of each.
unsafe impl Zeroed for WindowSlot {}

impl WindowSlot {
    fn set(&self, window: Window) {
        self.number.store(window.number, Ordering::Relaxed);
        self.size.store(window.size, Ordering::Relaxed);
        self.rank.store(window.rank, Ordering::Relaxed);
        self.is_allocated.store(window.is_allocated, Ordering::Relaxed);
        self.epochs.store(std::ptr::from_ref(window.epochs).cast_mut(), Ordering::Release);
    }

    fn get(&self) -> Option<Window> {
        // SAFETY: the pointer is null or to epochs that are never freed, complete when it was stored.
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

/// The epochs and accesses under way on a window.
pub(crate) struct Epochs {
    /// The group of `MPI_Win_start`, until `MPI_Win_complete`.
    pub(crate) access: AtomicU32,
    /// The group of `MPI_Win_post`, until `MPI_Win_wait`.
    pub(crate) exposure: AtomicU32,
    /// Several threads may access one window at the same time, and one may complete what another has begun:
    /// unlike a thread's events this is shared, so there is a lock. Without a second thread it costs two
    /// atomic operations and no system call.
    pending: Mutex<PendingAccesses>,
}

impl Epochs {
    pub(crate) fn pending(&self) -> MutexGuard<'_, PendingAccesses> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All windows of the process.
pub(crate) struct Windows {
    known: Handles<WindowSlot>,
    next: AtomicU32,
    /// The epochs of windows that were freed, to be reused.
    unused: Mutex<Vec<&'static Epochs>>,
    has_overflowed: AtomicBool,
}

impl Windows {
    pub(crate) fn new() -> Windows {
        Windows {
            known: Handles::new(),
            next: AtomicU32::new(0),
            unused: Mutex::new(Vec::new()),
            has_overflowed: AtomicBool::new(false),
        }
    }

    /// Returns a window.
    #[inline]
    pub(crate) fn find(&self, handle: usize) -> Option<Window> {
        self.known.find(handle).and_then(WindowSlot::get)
    }

    /// Adds a window that has been created on a communicator, of which it is a child with that key. Returns
    /// its number.
    pub(crate) fn insert(
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
                pending: Mutex::new(PendingAccesses::EMPTY),
            }))
        });
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (size, rank) = (communicator.size(), communicator.rank());
        epochs.pending().clear(size as usize);
        self.known.insert(handle, |known| known.set(Window { number, size, rank, is_allocated, epochs }));
        process.append(&JournalRecord::Window(journal::Window {
            window: number,
            key,
            communicator: communicator.number(),
            name: name.into(),
        }));
        number
    }

    /// Removes a window that is about to be freed.
    pub(crate) fn remove(&self, handle: usize) {
        let Some(window) = self.known.remove(handle, WindowSlot::get).flatten() else { return };
        window.epochs.access.store(NO_GROUP, Ordering::Relaxed);
        window.epochs.exposure.store(NO_GROUP, Ordering::Relaxed);
        self.unused.lock().unwrap_or_else(PoisonError::into_inner).push(window.epochs);
    }

    /// Returns the number of the group with these members; [`NO_GROUP`] if a member is not in the world.
    pub(crate) fn group(&self, thread: &mut Inside, group: usize) -> u32 {
        let process = thread.process;
        // Taken out of the thread's data, which nothing may refer to while the MPI library is called.
        let mut room = std::mem::replace(&mut thread.handles, Scratch::EMPTY);
        let members = process.communicators.members_in(&process.mpi, group, &mut room);
        let number = members.map_or(NO_GROUP, |members| process.groups.number(process, members));
        thread.handles = room;
        number
    }

    /// Notes that more accesses are open than a window keeps.
    #[cold]
    pub(crate) fn note_overflow(&self, process: &Process) {
        if !self.has_overflowed.swap(true, Ordering::Relaxed) {
            process.notice(
                "more one-sided accesses were open at a time than are remembered: some have no completion",
            );
        }
    }
}
