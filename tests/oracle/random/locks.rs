//! Locks of windows.

use crate::support::trace::AtWindow;

use super::ProgramGenerator;
use super::windows::Until;

/// The calls that may wait for a lock, or for the target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Blocked {
    Lock,
    Access,
    Flush,
    Unlock,
    Nowhere,
}

/// A lock epoch: the process, the rank that it locks, or all of them.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    rank: usize,
    window: usize,
    target: Option<usize>,
    is_shared: bool,
    blocked: Blocked,
}

impl ProgramGenerator {
    /// Some members of a window lock ranks of it, one after the other; often it is the same rank.
    pub(super) fn locks(&mut self, window: usize) {
        let members = self.windows[window].members.clone();
        let common = self.random.below(members.len());
        let was_synchronising = self.windows[window].is_synchronising;
        self.windows[window].is_synchronising |= self.is_lawful;
        for _ in 0..1 + self.random.below(4) {
            let rank = self.random.pick(&members);
            if self.random.chance(15) {
                let computing = self.random.pick(&members);
                self.processes[computing].now += self.random.below(100) as u64;
            }
            let count = if self.random.chance(15) { 2 } else { 1 };
            let epochs: Vec<Epoch> = (0..count).map(|_| self.epoch(rank, window, common)).collect();
            let mut open: Vec<Epoch> = Vec::new();
            for epoch in epochs {
                // To lock a rank twice is against the rules.
                if open.iter().all(|other| other.target != epoch.target) || self.breaks() {
                    self.lock(epoch);
                    open.push(epoch);
                }
            }
            self.meanwhile();
            for &epoch in &open {
                self.use_lock(epoch);
            }
            for epoch in open {
                if !self.breaks() {
                    self.unlock(epoch);
                }
            }
        }
        self.windows[window].is_synchronising = was_synchronising;
    }

    fn epoch(&mut self, rank: usize, window: usize, common: usize) -> Epoch {
        let members = self.windows[window].members.len();
        let target = if self.random.chance(75) { common } else { self.random.below(members) };
        let target = (!self.random.chance(20)).then_some(target);
        let is_shared = target.is_none() || self.random.chance(30);
        let blocked = self.random.pick(&[
            Blocked::Lock,
            Blocked::Lock,
            Blocked::Access,
            Blocked::Flush,
            Blocked::Unlock,
            Blocked::Nowhere,
        ]);
        Epoch { rank, window, target, is_shared, blocked }
    }

    /// Until when a call waits: for those that have had the lock before, or for a target to be in MPI.
    fn held_up(&mut self, epoch: Epoch, at: Blocked) -> Until {
        let Epoch { rank, window, target, is_shared, blocked } = epoch;
        let excludes = |&&(origin, of, is_exclusive, _): &&(usize, usize, bool, u64)| {
            origin != rank && target.is_none_or(|target| target == of) && (is_exclusive || !is_shared)
        };
        let released = self.windows[window].released.iter().filter(excludes).map(|it| it.3).max();
        let released = released.filter(|_| blocked == at);
        let member = target.unwrap_or_else(|| self.random.below(self.windows[window].members.len()));
        let computing = self.windows[window].members[member];
        let back = self.processes[computing].now + self.random.below(10) as u64;
        if self.random.chance(30) { released.max(Some(back)) } else { released }
    }

    fn lock(&mut self, epoch: Epoch) {
        let Epoch { rank, window, target, is_shared, .. } = epoch;
        let call = if target.is_some() { "MPI_Win_lock" } else { "MPI_Win_lock_all" };
        let thread = self.enter_alone(rank, call);
        let until = self.held_up(epoch, Blocked::Lock);
        let target = target.map(|target| target as u32);
        self.wait_with(rank, (thread, window), AtWindow::RequestLock { target, is_shared }, until);
    }

    /// Accesses, and flushes, not all of which complete something.
    fn use_lock(&mut self, epoch: Epoch) {
        let Epoch { rank, window, target, .. } = epoch;
        for _ in 0..self.random.below(3) {
            let target = target.unwrap_or_else(|| self.random.below(self.windows[window].members.len()));
            let until = self.held_up(epoch, Blocked::Access);
            self.access(rank, window, target, until);
            self.meanwhile();
        }
        if self.random.chance(40) {
            let call = self.random.pick(&[
                "MPI_Win_flush",
                "MPI_Win_flush_all",
                "MPI_Win_flush_local",
                "MPI_Win_flush_local_all",
            ]);
            let thread = self.enter_alone(rank, call);
            let until = self.held_up(epoch, Blocked::Flush);
            match self.random.chance(80) {
                true => self.wait_with(rank, (thread, window), AtWindow::Complete(0), until),
                false => self.leave(rank, thread),
            }
        }
    }

    fn unlock(&mut self, epoch: Epoch) {
        let Epoch { rank, window, target, is_shared, .. } = epoch;
        let call = if target.is_some() { "MPI_Win_unlock" } else { "MPI_Win_unlock_all" };
        let thread = self.enter_alone(rank, call);
        let until = self.held_up(epoch, Blocked::Unlock);
        if self.random.chance(50) {
            self.window_step(rank, thread, window, AtWindow::Complete(0));
        }
        let of = target.map(|target| target as u32);
        self.wait_with(rank, (thread, window), AtWindow::ReleaseLock { target: of }, until);
        let now = self.processes[rank].now;
        let members = self.windows[window].members.len();
        let targets = target.map_or(0..members, |target| target..target + 1);
        self.windows[window].released.extend(targets.map(|target| (rank, target, !is_shared, now)));
    }
}
