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
    /// Which fork of the process made it, from 1.
    number: u32,
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
    /// Number of forks so far.
    forks: u32,
}

impl Teams {
    fn find(&mut self, number: u32) -> Option<&mut Team> {
        self.open.iter_mut().rev().find(|team| team.number == number)
    }
}

impl ProcessWalk<'_> {
    /// A thread forks a team.
    pub(super) fn fork(&mut self, thread: usize, time: Ticks) {
        let path = self.threads[thread].path();
        self.threads[thread].account(path, time);
        self.teams.forks += 1;
        let number = self.teams.forks;
        self.teams.open.push(Team { number, master: thread, path, fork: time, left: Vec::new() });
        self.threads[thread].team = number;
    }

    /// Number of forks so far.
    pub(super) fn forks(&self) -> u32 {
        self.teams.forks
    }

    /// Whether a thread cannot begin in a team yet: each time it does, there was a fork before, whatever its clock says.
    pub(super) fn waits_for_fork(&self, thread: usize) -> bool {
        self.threads[thread].teams >= self.teams.forks
    }

    /// A thread becomes a member of the innermost team; what it does hangs below the fork.
    pub(super) fn begin_team(&mut self, thread: usize) {
        let state = &mut self.threads[thread];
        state.teams += 1;
        if let Some(team) = self.teams.open.last()
            && team.master != thread
        {
            state.team = team.number;
            if state.stack.is_empty() {
                state.base = team.path;
            }
        }
    }

    /// Charges the fork to a parallel region that a thread is about to enter.
    pub(super) fn enter_parallel_region(&mut self, thread: usize, path: PathId, time: Ticks) {
        let state = &mut self.threads[thread];
        let Some(team) = self.teams.find(state.team) else { return };
        let started = (time - team.fork).max(0);
        state.severities.add(self.metrics.omp_management, path, started);
        state.severities.add(self.metrics.omp_fork, path, started);
        if team.master == thread {
            state.account(path, time);
        } else {
            state.add_time(path, started);
        }
    }

    /// Remembers when a thread left its parallel region: until the join it waits in there.
    pub(super) fn leave_parallel_region(&mut self, thread: usize, path: PathId, time: Ticks) {
        let number = self.threads[thread].team;
        if let Some(team) = self.teams.find(number) {
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
        // The master goes on in the team from which it forked this one, if it is in any.
        let outer = self.teams.open.iter().rev().find(|team| team.master == thread);
        self.threads[thread].team = outer.map_or(0, |team| team.number);
    }

    /// Forgets teams that were never joined.
    pub(super) fn close_teams(&mut self) {
        self.teams.open.clear();
    }
}
