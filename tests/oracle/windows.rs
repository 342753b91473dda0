//! One-sided communication of each process: accesses to windows, and the epochs that they belong to (rest of MPI 8.1).

use std::collections::BTreeMap;

use super::EventRef;
use super::events::AtWindow;
use super::world::World;

/// Code of OTF2 for a barrier, which a fence is.
pub(crate) const FENCE: u8 = 0;

/// Bit of a level of synchronisation: of memory, and not only of processes.
const MEMORY: u32 = 2;

/// Put, get, or one of their relatives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) at: EventRef,
    pub(crate) origin: usize,
    pub(crate) window: usize,
    /// `None` if the window does not have that rank.
    pub(crate) target: Option<usize>,
    /// Bytes that are put and that are got.
    pub(crate) bytes: [i64; 2],
    /// Number of fences of the window before.
    pub(crate) fences: usize,
}

/// From start to complete.
#[derive(Clone, Debug)]
pub(crate) struct AccessEpoch {
    pub(crate) origin: usize,
    pub(crate) window: usize,
    pub(crate) targets: Vec<usize>,
    pub(crate) start: EventRef,
    pub(crate) complete: Option<EventRef>,
    /// Indices of its accesses.
    pub(crate) accesses: Vec<usize>,
}

/// From post to wait, or to a test that ends it.
#[derive(Clone, Debug)]
pub(crate) struct ExposureEpoch {
    pub(crate) target: usize,
    pub(crate) window: usize,
    pub(crate) origins: Vec<usize>,
    pub(crate) post: EventRef,
    pub(crate) end: Option<EventRef>,
}

/// From lock to unlock.
#[derive(Clone, Debug)]
pub(crate) struct LockEpoch {
    pub(crate) origin: usize,
    pub(crate) window: usize,
    /// `None` for all members of the window.
    pub(crate) target: Option<usize>,
    pub(crate) is_exclusive: bool,
    /// Request, accesses, flushes that complete something, and release.
    pub(crate) calls: Vec<LockCall>,
    pub(crate) is_released: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct LockCall {
    pub(crate) at: EventRef,
    /// The target, if it is an access.
    pub(crate) accessed: Option<usize>,
}

/// One-sided communication of all processes, that of one process in the order of time.
#[derive(Clone, Debug, Default)]
pub(crate) struct OneSided {
    pub(crate) accesses: Vec<Access>,
    pub(crate) access_epochs: Vec<AccessEpoch>,
    pub(crate) exposure_epochs: Vec<ExposureEpoch>,
    pub(crate) lock_epochs: Vec<LockEpoch>,
    /// Events that tell that accesses are complete.
    pub(crate) completions: Vec<EventRef>,
    /// Numbers of epochs without end, without begin, of those that another thread begins once more, and of targets that a
    /// window does not have.
    pub(crate) never_ended: usize,
    pub(crate) not_begun: usize,
    pub(crate) concurrent: usize,
    pub(crate) outside: usize,
}

/// The open epochs of a process; indices, by window, for locks also by target.
#[derive(Default)]
pub(super) struct OpenEpochs {
    access: BTreeMap<usize, usize>,
    exposure: BTreeMap<usize, usize>,
    locks: BTreeMap<(usize, Option<usize>), usize>,
    /// Number of fences by window.
    fences: BTreeMap<usize, usize>,
}

/// An event of a process: in a call of this name, without `mpi_`.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) process: usize,
    pub(super) at: EventRef,
    pub(super) name: &'a str,
}

impl OneSided {
    pub(super) fn handle(
        &mut self,
        open: &mut OpenEpochs,
        world: &World,
        place: Place<'_>,
        (window, what): (usize, AtWindow),
    ) {
        let Place { process, at, .. } = place;
        match what {
            AtWindow::End(operation) if operation.0 == FENCE => *open.fences.entry(window).or_default() += 1,
            AtWindow::End(_) => {}
            AtWindow::Completed => self.completions.push(at),
            AtWindow::GroupSync { group, level } => {
                self.synchronise(open, place, window, (&world.groups[group], level));
            }
            AtWindow::RequestLock { target, is_exclusive } => {
                let Some(target) = self.locked(world, process, window, target) else { return };
                let calls = vec![LockCall { at, accessed: None }];
                let before = open.locks.insert((window, target), self.lock_epochs.len());
                self.begin_again(before.map(|before| self.lock_epochs[before].calls[0].at), at);
                self.lock_epochs.push(LockEpoch {
                    origin: process,
                    window,
                    target,
                    is_exclusive,
                    calls,
                    is_released: false,
                });
            }
            AtWindow::ReleaseLock(target) => {
                let Some(target) = self.locked(world, process, window, target) else { return };
                match open.locks.remove(&(window, target)) {
                    Some(epoch) => {
                        self.lock_epochs[epoch].calls.push(LockCall { at, accessed: None });
                        self.lock_epochs[epoch].is_released = true;
                    }
                    None => self.not_begun += 1,
                }
            }
            AtWindow::Access { target, bytes } => {
                let target = world.rank(window, process, target);
                let fences = open.fences.get(&window).copied().unwrap_or(0);
                self.outside += usize::from(target.is_none());
                if target.is_some() {
                    self.access(open, (window, target), at);
                }
                self.accesses.push(Access { at, origin: process, window, target, bytes, fences });
            }
        }
    }

    /// An access belongs to the access epoch of the window, and to the lock epochs on its target.
    fn access(&mut self, open: &OpenEpochs, (window, target): (usize, Option<usize>), at: EventRef) {
        if let Some(&epoch) = open.access.get(&window) {
            self.access_epochs[epoch].accesses.push(self.accesses.len());
        }
        for (_, &epoch) in
            open.locks.iter().filter(|(key, _)| [(window, target), (window, None)].contains(key))
        {
            self.lock_epochs[epoch].calls.push(LockCall { at, accessed: target });
        }
    }

    /// Names of calls decide which epochs begin or end.
    fn synchronise(
        &mut self,
        open: &mut OpenEpochs,
        Place { process, at, name }: Place<'_>,
        window: usize,
        (group, level): (&[usize], u32),
    ) {
        match name {
            "win_start" => {
                let before = open.access.insert(window, self.access_epochs.len());
                self.begin_again(before.map(|before| self.access_epochs[before].start), at);
                let (targets, accesses) = (group.to_vec(), Vec::new());
                let epoch =
                    AccessEpoch { origin: process, window, targets, start: at, complete: None, accesses };
                self.access_epochs.push(epoch);
            }
            "win_complete" => match open.access.remove(&window) {
                Some(epoch) => self.access_epochs[epoch].complete = Some(at),
                None => self.not_begun += 1,
            },
            "win_post" => {
                let before = open.exposure.insert(window, self.exposure_epochs.len());
                self.begin_again(before.map(|before| self.exposure_epochs[before].post), at);
                let origins = group.to_vec();
                let epoch = ExposureEpoch { target: process, window, origins, post: at, end: None };
                self.exposure_epochs.push(epoch);
            }
            // A test may fail.
            "win_test" if level & MEMORY == 0 => {}
            "win_wait" | "win_test" => match open.exposure.remove(&window) {
                Some(epoch) => self.exposure_epochs[epoch].end = Some(at),
                None => self.not_begun += 1,
            },
            _ => {}
        }
    }

    /// An epoch may begin before another one of its kind has ended, which began at `before`. That one is dropped.
    fn begin_again(&mut self, before: Option<EventRef>, at: EventRef) {
        match before {
            Some(before) if before.location != at.location => self.concurrent += 1,
            Some(_) => self.not_begun += 1,
            None => {}
        }
    }

    /// The target of a lock, if it is one rank; `None` without one.
    fn locked(
        &mut self,
        world: &World,
        process: usize,
        window: usize,
        target: Option<u32>,
    ) -> Option<Option<usize>> {
        let Some(rank) = target else { return Some(None) };
        let target = world.rank(window, process, rank);
        self.outside += usize::from(target.is_none());
        target.map(Some)
    }

    /// A flush is left: it belongs to all lock epochs of the windows of which it has completed something.
    pub(super) fn leave_flush(&mut self, open: &OpenEpochs, flushed: &[usize], at: EventRef) {
        for (_, &epoch) in open.locks.iter().filter(|((window, _), _)| flushed.contains(window)) {
            self.lock_epochs[epoch].calls.push(LockCall { at, accessed: None });
        }
    }

    /// The events of a process end.
    pub(super) fn end(&mut self, open: &OpenEpochs) {
        self.never_ended += open.access.len() + open.exposure.len() + open.locks.len();
    }
}
