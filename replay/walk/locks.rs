//! Locks: the previous holder of each lock (specification 11.3).
//!
//! The trace numbers the acquisitions of each lock. The n-th acquisition waits for the last release of the
//! previous one, whatever the clocks say. A lock that one thread acquires several times keeps its number
//! until it is free.

use model::{Paradigm, Ticks};
use patterns::matched::Interval;

use super::marks::Noted;
use super::process::ProcessWalk;
use crate::findings::Finding;
use crate::ids::PathId;
use crate::int::to_u32;
use crate::operations::{Lock, Place, Release};

/// An acquisition in the order of a lock: paradigm and number of the lock, number of the acquisition.
type Turn = (u8, u32, u32);

/// The recorded lock events of a process.
#[derive(Clone, Debug, Default)]
pub(super) struct Locks {
    /// Each with the location, and the position in the operations; `None` if the call is not one that locks.
    acquired: Vec<(Turn, u32, Option<u32>)>,
    released: Vec<(Turn, Release)>,
}

impl ProcessWalk<'_> {
    /// Adds the acquisition of a lock. Without a number its place in the order is unknown.
    pub(super) fn acquire(&mut self, thread: usize, model: Paradigm, lock: u32, order: u32, time: Ticks) {
        if order == 0 {
            self.threads[thread].ignore();
            return;
        }
        self.note_threads(thread, Noted::Acquire((model.0, lock, order)), time);
        let location = self.threads[thread].location;
        let frame = self.threads[thread].stack.last();
        let class = |region: u32| self.trace.kinds.get(region as usize).and_then(|kind| kind.lock);
        let position = frame.and_then(|frame| Some((frame, class(frame.region)?))).map(|(frame, class)| {
            let call = Interval::new(frame.enter, time);
            self.operations.locks.push(Lock { location, row: frame.row, class, call, released: None });
            to_u32(self.operations.locks.len() - 1)
        });
        self.locks.acquired.push(((model.0, lock, order), location, position));
    }

    /// Adds the release of a lock.
    pub(super) fn release(&mut self, thread: usize, model: Paradigm, lock: u32, order: u32, time: Ticks) {
        if order == 0 {
            self.threads[thread].ignore();
            return;
        }
        self.note_threads(thread, Noted::Release((model.0, lock, order)), time);
        let thread = &self.threads[thread];
        // Outside of any call the path is the root.
        let path = thread.stack.last().map_or(PathId::default(), |frame| frame.path);
        let release = Release { time, place: Place { location: thread.location, path } };
        self.locks.released.push(((model.0, lock, order), release));
    }

    /// Finds for each acquisition of a lock the release before.
    pub(super) fn match_locks(&mut self) {
        let Locks { mut acquired, mut released } = std::mem::take(&mut self.locks);
        // Both sorts are stable: they keep the order of time.
        acquired.sort_by_key(|&(turn, ..)| turn);
        released.sort_by_key(|&(turn, _)| turn);
        for claims in acquired.chunk_by(|a, b| a.0 == b.0) {
            let ((model, lock, order), first, _) = claims[0];
            let is_claimed_twice = claims.iter().any(|&(_, location, _)| location != first);
            let before = (model, lock, order - 1);
            // The last of several releases: before it the lock was not free.
            let end = released.partition_point(|&(turn, _)| turn <= before);
            let release = end.checked_sub(1).map(|at| released[at]).filter(|&(turn, _)| turn == before);
            for (_, location, position) in claims {
                let Some(position) = *position else { continue };
                let lock_of = &mut self.operations.locks[position as usize];
                let finding = match release {
                    _ if is_claimed_twice => Finding::LockOrder,
                    // It may be missing as recording was off, which is another finding.
                    None if order > 1 && self.operations.pause.is_none() => Finding::MissingRelease,
                    _ => {
                        lock_of.released = release.map(|(_, release)| release);
                        continue;
                    }
                };
                let time = lock_of.call.leave;
                self.findings
                    .add(finding, time, *location as usize, || format!("lock {lock}, number {order}"));
            }
        }
    }
}
