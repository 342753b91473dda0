//! Fork and join: which time of a worker thread is a parallel region's, and below which call path it hangs.
//!
//! A worker runs between fork and join only. The time from the fork until a thread is in the parallel region, and from
//! its leave until the join, is management; both belong to the parallel region, on the forking thread too.

use model::Ticks;

use super::process::ProcessWalk;
use crate::call_tree::PathId;

/// A team of threads between fork and join.
#[derive(Clone, Debug)]
struct Team {
    /// The thread that forked it.
    master: usize,
    /// Where it was forked.
    path: PathId,
    fork: Ticks,
    /// Parallel regions that were left: thread, path, time.
    left: Vec<(usize, PathId, Ticks)>,
}

/// The teams of a process that are not joined yet; the last is the innermost.
#[derive(Clone, Debug, Default)]
pub(super) struct Teams {
    open: Vec<Team>,
}

impl ProcessWalk<'_> {
    /// A thread forks a team.
    pub(super) fn fork(&mut self, thread: usize, time: Ticks) {
        let path = self.threads[thread].path();
        self.threads[thread].account(path, time);
        self.teams.open.push(Team { master: thread, path, fork: time, left: Vec::new() });
    }

    /// A thread becomes a member of the innermost team; what it does hangs below the fork.
    pub(super) fn begin_team(&mut self, thread: usize) {
        if self.threads[thread].stack.is_empty()
            && let Some(team) = self.teams.open.last()
        {
            self.threads[thread].base = team.path;
        }
    }

    /// Charges the fork to a parallel region that a thread is about to enter.
    pub(super) fn enter_parallel_region(&mut self, thread: usize, path: PathId, time: Ticks) {
        let Some(team) = self.teams.open.last() else { return };
        let started = (time - team.fork).max(0);
        let is_master = team.master == thread;
        let state = &mut self.threads[thread];
        state.severities.add(self.metrics.omp_management, path, started);
        state.severities.add(self.metrics.omp_fork, path, started);
        if is_master {
            state.account(path, time);
        } else {
            state.add_time(path, started);
        }
    }

    /// Remembers when a thread left its parallel region: until the join it waits in there.
    pub(super) fn leave_parallel_region(&mut self, thread: usize, path: PathId, time: Ticks) {
        if let Some(team) = self.teams.open.last_mut() {
            team.left.push((thread, path, time));
        }
    }

    /// A thread joins its innermost team.
    pub(super) fn join(&mut self, thread: usize, time: Ticks) {
        let Some(at) = self.teams.open.iter().rposition(|team| team.master == thread) else { return };
        let team = self.teams.open.remove(at);
        for (member, path, left) in team.left {
            let waited = (time - left).max(0);
            let state = &mut self.threads[member];
            state.severities.add(self.metrics.omp_management, path, waited);
            if member == thread {
                state.account(path, time);
            } else {
                state.add_time(path, waited);
            }
        }
    }

    /// Forgets teams that were never joined.
    pub(super) fn close_teams(&mut self) {
        self.teams.open.clear();
    }
}
