//! Accesses to a window that have not been completed.
//!
//! MPI completes them by the window and the target, not one by one, so the window has to remember them: for each target
//! those that are not complete at all, and those that are complete at the origin only. Every access is looked at once
//! for each step that it makes, whatever else is open. Neighbours with one target and successive numbers are kept as one
//! run: what a loop of puts leaves is a few bytes.

use std::ptr::null_mut;

use crate::memory::{Scratch, anonymous};

/// Runs that a window remembers, in memory that is used as far as it is needed. A program that leaves more open than
/// that hears of it.
const RUNS: u32 = 1 << 20;

/// How far a call completes accesses (MPI 4.0, 12.5).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// At the origin, whose buffers are free again; not yet at the target.
    Origin,
    /// The epoch is over, as fences and `MPI_Win_complete` say it: at the origin only, and nothing is left to complete.
    Epoch,
    /// At the target too.
    Target,
}

/// What became of an access.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Completion {
    AtOrigin,
    AtTarget,
}

/// Successive accesses to one target.
#[derive(Clone, Copy)]
struct Run {
    /// Number of the first access.
    first: u64,
    /// When the last one began.
    begin: u64,
    count: u32,
    /// The next run of the list; behind the last one comes the first. Of a run that is not used, the next such.
    next: u32,
}

/// The lists of a target: what is not complete, and what needs no telling at the origin any more, because that has been
/// told, or a request will tell it.
const LISTS: usize = 2;
const OPEN: usize = 0;
const LOCAL: usize = 1;
/// No run. Runs have numbers from 1.
const NONE: u32 = 0;

/// The accesses under way on a window.
pub(crate) struct Pending {
    runs: *mut Run,
    /// Runs that have ever been used.
    used: u32,
    /// The first run that is not used any more.
    unused: u32,
    /// The last run of each list, [`LISTS`] for each target.
    lasts: Scratch,
    targets: usize,
    /// How many runs are in lists.
    count: u32,
}

// SAFETY: the memory belongs to these lists.
unsafe impl Send for Pending {}

impl Pending {
    pub(crate) const EMPTY: Pending =
        Pending { runs: null_mut(), used: 0, unused: NONE, lasts: Scratch::EMPTY, targets: 0, count: 0 };

    /// Prepares for a window of so many processes: nothing is open.
    pub(crate) fn clear(&mut self, targets: usize) {
        let lasts = self.lasts.address(targets * LISTS * size_of::<u32>()) as *mut u32;
        (self.used, self.unused, self.count) = (0, NONE, 0);
        self.targets = if lasts.is_null() { 0 } else { targets };
        // SAFETY: there is room for all lists.
        unsafe { lasts.write_bytes(0, self.targets * LISTS) };
    }

    /// Remembers an access that began then; answers false if there is no room. `has_request` if a request tells of its
    /// completion at the origin.
    #[inline]
    pub(crate) fn push(&mut self, begin: u64, number: u64, target: u32, has_request: bool) -> bool {
        let run = Run { first: number, begin, count: 1, next: NONE };
        target as usize >= self.targets || self.append(target, usize::from(has_request), run)
    }

    /// Completes the accesses to a target, or to all, by a call that began then; tells of each. What another thread has
    /// begun since may be complete or not: the next call will tell.
    pub(crate) fn complete(
        &mut self,
        begin: u64,
        target: Option<u32>,
        reach: Reach,
        mut tell: impl FnMut(Completion, u64),
    ) {
        let targets = target.map_or(0..self.targets as u32, |target| target..target + 1);
        for target in targets {
            if self.count == 0 || target as usize >= self.targets {
                return;
            }
            if reach != Reach::Origin {
                self.step(begin, (target, LOCAL), reach, &mut tell);
            }
            self.step(begin, (target, OPEN), reach, &mut tell);
        }
    }

    /// Takes all runs out of a list, tells what became of them, and puts back where they belong those that are left.
    fn step(
        &mut self,
        begin: u64,
        (target, list): (u32, usize),
        reach: Reach,
        tell: &mut impl FnMut(Completion, u64),
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
                    if list == OPEN {
                        tell(Completion::AtOrigin, number);
                    }
                    if reach == Reach::Target {
                        tell(Completion::AtTarget, number);
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

    /// A run that is in no list.
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
        // SAFETY: numbers are those that `take` gave.
        unsafe { &mut *self.runs.add(number as usize - 1) }
    }

    #[inline]
    fn last(&mut self, target: u32, list: usize) -> &mut u32 {
        let lasts = self.lasts.address(0) as *mut u32;
        // SAFETY: callers have seen that there are so many targets.
        unsafe { &mut *lasts.add(target as usize * LISTS + list) }
    }
}
