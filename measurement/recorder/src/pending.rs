//! Accesses to a window that have not been completed.
//!
//! MPI completes them by window and target, not one by one, so they are kept: for each target those that are
//! not complete at all, and those that are complete at the origin only. Those that fetch data are kept apart:
//! when the data are there, they are complete at the target as well. Every access is touched once for each
//! step of its completion, whatever else is open. Successive accesses to one target with consecutive numbers
//! are kept as one run: a loop of puts takes a few bytes.

use std::ptr::null_mut;

use crate::memory::{Scratch, anonymous};

/// Maximum number of runs that a window keeps, in memory that is used as far as it is needed. A program that
/// leaves more open gets a notice.
const RUNS: u32 = 1 << 20;

/// How far a call completes accesses (MPI 4.0, 12.5).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// At the origin, where buffers may be reused; not yet at the target.
    Origin,
    /// The epoch ends, by a fence or `MPI_Win_complete`: at the origin only, but for those that fetch data, and
    /// nothing is left to complete.
    Epoch,
    /// At the target too.
    Target,
}

/// A completion of an access that is to be recorded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Completion {
    AtOrigin,
    AtTarget,
}

/// An access as far as its completion depends on it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// It changes data at the target.
    Changes,
    /// The same, with a request that reports its completion at the origin.
    ChangesWithRequest,
    /// It fetches data.
    Fetches,
}

/// Successive accesses to one target, with consecutive numbers.
#[derive(Clone, Copy)]
struct Run {
    /// Number of the first access.
    first: u64,
    /// Time of the last access.
    begin: u64,
    count: u32,
    /// The next run of the list, which is circular: the last run leads to the first. Of an unused run, the
    /// next unused one.
    next: u32,
}

/// The lists of a target: accesses that are not complete, those with a completion at the origin that has
/// been recorded, or will be by a request, and those that fetch data and are not complete.
const LISTS: usize = 3;
const OPEN: usize = 0;
const LOCAL: usize = 1;
const FETCHING: usize = 2;
/// No run: runs have numbers from 1.
const NONE: u32 = 0;

/// The accesses under way on a window.
pub(crate) struct PendingAccesses {
    runs: *mut Run,
    /// Number of runs that were ever used.
    used: u32,
    /// The first unused run.
    unused: u32,
    /// The last run of each list, [`LISTS`] for each target.
    lasts: Scratch,
    targets: usize,
    /// Number of runs in lists.
    count: u32,
}

// SAFETY: the memory belongs to this value alone, and does not depend on the thread.
unsafe impl Send for PendingAccesses {}

impl PendingAccesses {
    pub(crate) const EMPTY: PendingAccesses = PendingAccesses {
        runs: null_mut(),
        used: 0,
        unused: NONE,
        lasts: Scratch::EMPTY,
        targets: 0,
        count: 0,
    };

    /// Resets the lists for a window of so many processes.
    pub(crate) fn clear(&mut self, targets: usize) {
        let lasts = self.lasts.address(targets * LISTS * size_of::<u32>()) as *mut u32;
        (self.used, self.unused, self.count) = (0, NONE, 0);
        self.targets = if lasts.is_null() { 0 } else { targets };
        // SAFETY: the memory has room for all lists, or their number is 0.
        unsafe { lasts.write_bytes(0, self.targets * LISTS) };
    }

    /// Adds an access that began at that time; `false` if there is no room.
    #[inline]
    pub(crate) fn push(&mut self, begin: u64, number: u64, target: u32, access: Access) -> bool {
        let run = Run { first: number, begin, count: 1, next: NONE };
        let list = match access {
            Access::Changes => OPEN,
            Access::ChangesWithRequest => LOCAL,
            Access::Fetches => FETCHING,
        };
        target as usize >= self.targets || self.append(target, list, run)
    }

    /// Completes the accesses to a target, or to all, by a call that began at that time, and calls `report`
    /// for each completion. Accesses that another thread has begun since may be complete or not: they are
    /// left to the next call.
    pub(crate) fn complete(
        &mut self,
        begin: u64,
        target: Option<u32>,
        reach: Reach,
        mut report: impl FnMut(Completion, u64),
    ) {
        let targets = target.map_or(0..self.targets as u32, |target| target..target + 1);
        for target in targets {
            if self.count == 0 || target as usize >= self.targets {
                return;
            }
            // At the origin those are complete already.
            let skipped = if reach == Reach::Origin { LOCAL } else { LISTS };
            for list in [LOCAL, OPEN, FETCHING] {
                if list != skipped && *self.last(target, list) != NONE {
                    self.step(begin, (target, list), reach, &mut report);
                }
            }
        }
    }

    /// Empties a list, reports the completions of its runs, and puts what is left into the lists where it
    /// belongs.
    fn step(
        &mut self,
        begin: u64,
        (target, list): (u32, usize),
        reach: Reach,
        report: &mut impl FnMut(Completion, u64),
    ) {
        let last = std::mem::replace(self.last(target, list), NONE);
        if last == NONE {
            return;
        }
        let mut at = self.run(last).next;
        loop {
            let run = *self.run(at);
            self.run(at).next = self.unused;
            (self.unused, self.count) = (at, self.count - 1);
            if run.begin > begin {
                self.append(target, list, run);
            } else {
                for number in run.first..run.first + u64::from(run.count) {
                    if list != LOCAL {
                        report(Completion::AtOrigin, number);
                    }
                    if reach == Reach::Target || (reach == Reach::Epoch && list == FETCHING) {
                        report(Completion::AtTarget, number);
                    }
                }
                if reach == Reach::Origin {
                    self.append(target, LOCAL, run);
                }
            }
            if at == last {
                return;
            }
            at = run.next;
        }
    }

    /// Appends a run to a list, or to the last run there.
    #[inline]
    fn append(&mut self, target: u32, list: usize, run: Run) -> bool {
        let last = *self.last(target, list);
        if last != NONE {
            let before = self.run(last);
            if before.first + u64::from(before.count) == run.first && before.count <= u32::MAX - run.count {
                before.count += run.count;
                before.begin = before.begin.max(run.begin);
                return true;
            }
        }
        let at = self.take();
        if at == NONE {
            return false;
        }
        let first = if last == NONE { at } else { std::mem::replace(&mut self.run(last).next, at) };
        *self.run(at) = Run { next: first, ..run };
        *self.last(target, list) = at;
        self.count += 1;
        true
    }

    /// Returns a run that is in no list; [`NONE`] without memory.
    fn take(&mut self) -> u32 {
        if self.unused != NONE {
            let taken = self.unused;
            self.unused = self.run(taken).next;
            return taken;
        }
        if self.runs.is_null() {
            let Some(memory) = anonymous(RUNS as usize * size_of::<Run>()) else { return NONE };
            self.runs = memory.cast();
        }
        if self.used == RUNS {
            return NONE;
        }
        self.used += 1;
        self.used
    }

    #[inline]
    fn run(&mut self, number: u32) -> &mut Run {
        // SAFETY: numbers of runs come from `take`, which has mapped memory for all of them; the result
        // borrows this value mutably.
        unsafe { &mut *self.runs.add(number as usize - 1) }
    }

    #[inline]
    fn last(&mut self, target: u32, list: usize) -> &mut u32 {
        let lasts = self.lasts.address(0) as *mut u32;
        // SAFETY: callers have checked that there is such a target, for which `clear` has made room; the
        // result borrows this value mutably.
        unsafe { &mut *lasts.add(target as usize * LISTS + list) }
    }
}
