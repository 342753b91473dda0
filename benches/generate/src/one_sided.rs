//! Calls of one-sided communication as their events. Records have the times of the start or the end of their call, as those
//! of the recorder: accesses and what others have to answer (posts, requests of locks) the start, ends and completions the
//! end.

use model::CollectiveOp;
use otf2::{Event, ROOT_NONE};

use crate::location::Location;
use crate::mpi::{BETWEEN, CALL};
use crate::objects::WINDOW;
use crate::regions::{
    ACCUMULATE, PUT, WIN_COMPLETE, WIN_FENCE, WIN_FLUSH, WIN_FLUSH_ALL, WIN_FLUSH_LOCAL, WIN_LOCK,
    WIN_LOCK_ALL, WIN_POST, WIN_START, WIN_UNLOCK, WIN_UNLOCK_ALL, WIN_WAIT,
};

/// Bits of OTF2's `RmaSyncLevel`.
pub(crate) const PROCESS: u32 = 1;
const MEMORY: u32 = 2;

/// Values of OTF2's `LockType`.
const EXCLUSIVE: u8 = 0;
const SHARED: u8 = 1;

/// OTF2's number of a lock: locks of MPI have none.
const LOCK: u64 = 0;
/// All ranks of a window, as what is locked.
const ALL: u32 = u32::MAX;

/// OTF2's `RmaAtomicType` of `MPI_Accumulate`.
const OF_ACCUMULATE: u8 = 0;

/// How far the accesses of a rank are complete, as numbers of accesses.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Accesses {
    /// The next one.
    next: u64,
    /// The first that is not complete at the origin.
    at_origin: u64,
    /// The first that is not complete at the target.
    at_target: u64,
}

/// A call that completes the accesses of a rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flush {
    /// At the target that was accessed.
    One,
    /// At all targets.
    All,
    /// At the origin only.
    Local,
}

/// Until where a call completes accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reach {
    /// At the origin; those at the target are left to others.
    Origin,
    /// At the origin, and an epoch ends, so that nothing is left.
    Epoch,
    /// At the target too.
    Target,
}

impl Location<'_> {
    /// Puts data into the window of a rank, in a call that returns at a time.
    #[track_caller]
    pub(crate) fn put_until(&mut self, time: u64, target: u32, bytes: u64) -> Result<(), otf2::Error> {
        let matching_id = self.access();
        self.enter(BETWEEN, PUT)?;
        self.after(0, Event::RmaPut { win: WINDOW, remote: target, bytes, matching_id })?;
        self.event(time, Event::Leave { region: PUT })
    }

    /// The same, in a call that does not wait.
    #[track_caller]
    pub(crate) fn put(&mut self, target: u32, bytes: u64) -> Result<(), otf2::Error> {
        self.put_until(self.now() + BETWEEN + CALL, target, bytes)
    }

    /// Adds data to that of a rank, in a call that returns at a time.
    #[track_caller]
    pub(crate) fn accumulate_until(&mut self, time: u64, target: u32, bytes: u64) -> Result<(), otf2::Error> {
        let matching_id = self.access();
        self.enter(BETWEEN, ACCUMULATE)?;
        let access = Event::RmaAtomic {
            win: WINDOW,
            remote: target,
            atomic_type: OF_ACCUMULATE,
            bytes_sent: bytes,
            bytes_received: 0,
            matching_id,
        };
        self.after(0, access)?;
        self.event(time, Event::Leave { region: ACCUMULATE })
    }

    /// Writes a fence that ends at a time.
    #[track_caller]
    pub(crate) fn fence(&mut self, time: u64) -> Result<(), otf2::Error> {
        self.enter(BETWEEN, WIN_FENCE)?;
        self.after(0, Event::RmaCollectiveBegin {})?;
        self.completions(time, Reach::Epoch)?;
        self.event(time, end_of_collective(CollectiveOp::BARRIER, PROCESS | MEMORY))?;
        self.event(time, Event::Leave { region: WIN_FENCE })
    }

    /// Lets the ranks access this one that send data to it.
    #[track_caller]
    pub(crate) fn post(&mut self) -> Result<(), otf2::Error> {
        let [origins, _] = self.groups;
        self.synchronize_first(self.now() + BETWEEN + CALL, WIN_POST, origins)
    }

    /// Begins to access the ranks that this one sends data to, in a call that returns at a time.
    #[track_caller]
    pub(crate) fn start_until(&mut self, time: u64) -> Result<(), otf2::Error> {
        let [_, targets] = self.groups;
        self.synchronize_first(time, WIN_START, targets)
    }

    /// Ends these accesses, in a call that returns at a time.
    #[track_caller]
    pub(crate) fn complete_until(&mut self, time: u64) -> Result<(), otf2::Error> {
        let [_, targets] = self.groups;
        self.enter(BETWEEN, WIN_COMPLETE)?;
        self.completions(time, Reach::Epoch)?;
        self.synchronize_last(time, WIN_COMPLETE, targets)
    }

    /// Waits until a time for the end of the accesses of others.
    #[track_caller]
    pub(crate) fn wait_for_accesses(&mut self, time: u64) -> Result<(), otf2::Error> {
        let [origins, _] = self.groups;
        self.enter(BETWEEN, WIN_WAIT)?;
        self.synchronize_last(time, WIN_WAIT, origins)
    }

    /// Gets an exclusive lock of a rank at a time.
    #[track_caller]
    pub(crate) fn lock_until(&mut self, time: u64, target: u32) -> Result<(), otf2::Error> {
        self.request_lock(time, WIN_LOCK, (target, EXCLUSIVE))
    }

    /// Releases it at a time.
    #[track_caller]
    pub(crate) fn unlock_until(&mut self, time: u64, target: u32) -> Result<(), otf2::Error> {
        self.release_lock(time, WIN_UNLOCK, target)
    }

    /// Gets the locks of all ranks, which it shares with others.
    #[track_caller]
    pub(crate) fn lock_all(&mut self) -> Result<(), otf2::Error> {
        self.request_lock(self.now() + BETWEEN + CALL, WIN_LOCK_ALL, (ALL, SHARED))
    }

    /// Completes accesses under these locks, in a call that returns at a time.
    #[track_caller]
    pub(crate) fn flush_until(&mut self, time: u64, flush: Flush) -> Result<(), otf2::Error> {
        let (region, reach) = match flush {
            Flush::One => (WIN_FLUSH, Reach::Target),
            Flush::All => (WIN_FLUSH_ALL, Reach::Target),
            Flush::Local => (WIN_FLUSH_LOCAL, Reach::Origin),
        };
        self.enter(BETWEEN, region)?;
        self.completions(time, reach)?;
        self.event(time, Event::Leave { region })
    }

    /// Releases them.
    #[track_caller]
    pub(crate) fn unlock_all(&mut self) -> Result<(), otf2::Error> {
        self.release_lock(self.now() + BETWEEN + CALL, WIN_UNLOCK_ALL, ALL)
    }

    /// Returns the number of the next access.
    fn access(&mut self) -> u64 {
        self.accesses.next += 1;
        self.accesses.next - 1
    }

    /// Writes which accesses a call has completed that returns at a time.
    fn completions(&mut self, time: u64, reach: Reach) -> Result<(), otf2::Error> {
        let Accesses { next, at_origin, at_target } = self.accesses;
        let first = if reach == Reach::Target { at_target } else { at_origin };
        for matching_id in first..next {
            if matching_id >= at_origin {
                self.event(time, Event::RmaOpCompleteNonBlocking { win: WINDOW, matching_id })?;
            }
            if reach == Reach::Target {
                self.event(time, Event::RmaOpCompleteRemote { win: WINDOW, matching_id })?;
            }
        }
        let at_target = if reach == Reach::Origin { at_target } else { next };
        self.accesses = Accesses { next, at_origin: next, at_target };
        Ok(())
    }

    /// Writes a call whose synchronisation is recorded before it.
    #[track_caller]
    fn synchronize_first(&mut self, time: u64, region: u32, group: u32) -> Result<(), otf2::Error> {
        self.enter(BETWEEN, region)?;
        self.after(0, Event::RmaGroupSync { sync_level: PROCESS, win: WINDOW, group })?;
        self.event(time, Event::Leave { region })
    }

    /// Writes the end of a call whose synchronisation is recorded behind it.
    #[track_caller]
    fn synchronize_last(&mut self, time: u64, region: u32, group: u32) -> Result<(), otf2::Error> {
        self.event(time, Event::RmaGroupSync { sync_level: PROCESS | MEMORY, win: WINDOW, group })?;
        self.event(time, Event::Leave { region })
    }

    #[track_caller]
    fn request_lock(
        &mut self,
        time: u64,
        region: u32,
        (remote, lock_type): (u32, u8),
    ) -> Result<(), otf2::Error> {
        self.enter(BETWEEN, region)?;
        self.after(0, Event::RmaRequestLock { win: WINDOW, remote, lock_id: LOCK, lock_type })?;
        self.event(time, Event::Leave { region })
    }

    #[track_caller]
    fn release_lock(&mut self, time: u64, region: u32, remote: u32) -> Result<(), otf2::Error> {
        self.enter(BETWEEN, region)?;
        self.completions(time, Reach::Target)?;
        self.event(time, Event::RmaReleaseLock { win: WINDOW, remote, lock_id: LOCK })?;
        self.event(time, Event::Leave { region })
    }
}

/// The end of a collective operation on the window.
pub(crate) fn end_of_collective(collective_op: CollectiveOp, sync_level: u32) -> Event<'static> {
    let (win, root) = (WINDOW, ROOT_NONE);
    Event::RmaCollectiveEnd { collective_op, sync_level, win, root, bytes_sent: 0, bytes_received: 0 }
}
