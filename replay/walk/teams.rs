//! Fork and join: the time of worker threads in parallel regions, and the call paths above it.
//!
//! A worker runs only between fork and join. The time from the fork until a thread is in the parallel region,
//! and from its leave until the join, is management; both belong to the parallel region, on the forking
//! thread too.

use model::Ticks;

use super::barriers::TeamBarriers;
use super::marks::Noted;
use super::process::ProcessWalk;
use crate::ids::{EventNumber, PathId, Row};
use crate::journal::Spot;
use crate::operations::{ParallelRegion, TeamEvent, TeamEventKind};

/// A team of threads between fork and join.
#[derive(Clone, Debug)]
struct Team {
    /// Number of its fork in the process, from 1.
    number: u32,
    /// The reference of its communicator, once the first member has begun in it.
    communicator: Option<u32>,
    /// The thread that forked it.
    master: usize,
    /// The call path of the fork.
    path: PathId,
    fork: Ticks,
    /// Parallel regions that were left: thread, row of its severities, time.
    left: Vec<(usize, Row, Ticks)>,
    barriers: TeamBarriers,
}

/// The teams of a process that are not joined yet; the last is the innermost.
#[derive(Clone, Debug, Default)]
pub(super) struct Teams {
    open: Vec<Team>,
    /// Number of forks so far.
    forks: u32,
    /// Whether the main thread has no more events.
    is_over: bool,
}

impl Teams {
    fn find(&mut self, number: u32) -> Option<&mut Team> {
        self.open.iter_mut().rev().find(|team| team.number == number)
    }
}

impl ProcessWalk<'_> {
    /// Forks a team.
    pub(super) fn fork(&mut self, thread: usize, time: Ticks) {
        let path = self.threads[thread].stack.path();
        self.threads[thread].account_innermost(time);
        self.teams.forks += 1;
        let number = self.teams.forks;
        let team = Team {
            number,
            communicator: None,
            master: thread,
            path,
            fork: time,
            left: Vec::new(),
            barriers: TeamBarriers::default(),
        };
        self.teams.open.push(team);
        self.threads[thread].member_of.push(number);
        self.note_team(thread, number, TeamEventKind::Fork, time);
    }

    /// Notes the current record of a thread as one about a team, if records are numbered or events are noted.
    fn note_team(&mut self, thread: usize, team: u32, kind: TeamEventKind, time: Ticks) {
        self.note_threads(thread, Noted::Team(kind, team), time);
        if thread == 0 && self.threads[thread].stack.mpi_depth == 0 {
            self.main.team(kind, time);
        }
        let (location, position) = (self.threads[thread].location, self.threads[thread].record());
        if position != EventNumber::NONE {
            self.operations.teams.push(TeamEvent { team, kind, spot: Spot { location, position } });
        }
    }

    /// Returns the number of forks so far, and whether the main thread has no more of them.
    pub(super) fn forks(&self) -> (u32, bool) {
        (self.teams.forks, self.teams.is_over)
    }

    /// Notes that the main thread has no more events, or never had any: no thread waits for its forks.
    pub(super) fn end_forks(&mut self) {
        self.teams.is_over = true;
    }

    /// Whether a thread cannot begin in a team yet: each time it does, there was a fork before, whatever its
    /// clock says.
    pub(super) fn waits_for_fork(&self, thread: usize) -> bool {
        self.threads[thread].teams >= self.teams.forks && !self.teams.is_over
    }

    /// Returns the order of joins at the same time: the innermost comes first, and all come after everything
    /// else.
    pub(super) fn turn_of_join(&self, thread: usize) -> u32 {
        let team = self.teams.open.iter().rfind(|team| team.master == thread);
        u32::MAX - team.map_or(1, |team| team.number)
    }

    /// Whether a thread has left a team that is not joined yet: its next begin is in a later team.
    pub(super) fn has_left_team(&self, thread: usize) -> bool {
        let member_of = &self.threads[thread].member_of;
        self.teams.open.iter().any(|team| team.barriers.has(thread) && !member_of.contains(&team.number))
    }

    /// Makes a thread a member of the innermost team with this communicator, or of the innermost one without
    /// a member yet; its call paths hang below the fork.
    pub(super) fn begin_team(&mut self, thread: usize, communicator: u32, time: Ticks) {
        let state = &mut self.threads[thread];
        state.teams += 1;
        let is_it = |team: &Team, wanted| team.communicator == wanted;
        let teams = &mut self.teams.open;
        let known = teams.iter().rposition(|team| is_it(team, Some(communicator)));
        let Some(at) = known.or_else(|| teams.iter().rposition(|team| is_it(team, None))) else { return };
        let team = &mut teams[at];
        team.communicator = Some(communicator);
        team.barriers.begin(thread);
        if team.master != thread {
            state.member_of.push(team.number);
            if state.stack.is_empty() {
                state.stack.base = team.path;
            }
        }
        let number = team.number;
        self.note_team(thread, number, TeamEventKind::Begin, time);
    }

    /// Removes a thread from its innermost team; the thread that forked it stays until the join.
    pub(super) fn end_team(&mut self, thread: usize, time: Ticks) {
        let innermost = self.threads[thread].member_of.last().copied();
        if let Some(number) = innermost {
            self.note_team(thread, number, TeamEventKind::End, time);
        }
        let is_master =
            innermost.and_then(|number| self.teams.find(number)).is_some_and(|t| t.master == thread);
        if !is_master {
            let state = &mut self.threads[thread];
            state.member_of.pop();
            // The next regions do not hang below the fork any more.
            state.stack.base = PathId::NONE;
        }
    }

    /// Charges the fork to a parallel region that a thread is about to enter.
    pub(super) fn enter_parallel_region(&mut self, thread: usize, row: Row, time: Ticks) {
        let state = &mut self.threads[thread];
        let Some(team) = state.member_of.last().and_then(|&number| self.teams.find(number)) else { return };
        let fork = team.fork;
        let started = (time - fork).max(0);
        self.operations.parallel_regions.push(ParallelRegion {
            team: team.number,
            location: state.location,
            is_master: team.master == thread,
            is_outermost: state.member_of.len() == 1,
            fork: team.fork,
            enter: time,
            position: state.mark(row),
        });
        let counted = state.counted(fork, started);
        state.severities.add(self.metrics.omp_management, row, counted);
        state.severities.add(self.metrics.omp_fork, row, counted);
        if team.master == thread {
            state.account(row, time);
        } else {
            state.add_time(row, fork, started);
        }
        state.manage(row, fork, started);
    }

    /// Returns the number and the barriers of a thread's innermost team; `None` outside of any.
    pub(super) fn barriers(&mut self, thread: usize) -> Option<(u32, &mut TeamBarriers)> {
        let &number = self.threads[thread].member_of.last()?;
        self.teams.find(number).map(|team| (number, &mut team.barriers))
    }

    /// Notes the time at which a thread left its parallel region: until the join it waits in there.
    pub(super) fn leave_parallel_region(&mut self, thread: usize, row: Row, time: Ticks) {
        let number = self.threads[thread].member_of.last();
        if let Some(team) = number.and_then(|&number| self.teams.find(number)) {
            team.left.push((thread, row, time));
        }
    }

    /// Joins the innermost team of a thread.
    pub(super) fn join(&mut self, thread: usize, time: Ticks) {
        let Some(at) = self.teams.open.iter().rposition(|team| team.master == thread) else { return };
        let team = self.teams.open.remove(at);
        self.note_team(thread, team.number, TeamEventKind::Join, time);
        self.match_barriers(team.barriers);
        for (member, row, left) in team.left {
            let waited = (time - left).max(0);
            let state = &mut self.threads[member];
            let counted = state.counted(left, waited);
            state.severities.add(self.metrics.omp_management, row, counted);
            if member == thread {
                state.account(row, time);
            } else {
                state.add_time(row, left, waited);
            }
            state.manage(row, left, waited);
        }
        self.threads[thread].member_of.retain(|&number| number != team.number);
        if thread == 0 && self.threads[thread].member_of.is_empty() {
            let position = self.threads[thread].mark_innermost();
            self.operations.joins.extend((position != EventNumber::NONE).then_some(position));
        }
    }

    /// Discards teams that were never joined.
    pub(super) fn close_teams(&mut self) {
        for team in std::mem::take(&mut self.teams.open) {
            self.match_barriers(team.barriers);
        }
    }
}
