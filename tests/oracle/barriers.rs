//! OpenMP barriers (specification 11.2).

use super::Analysis;
use super::read::Role;

/// A thread's visit to a barrier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Visit {
    pub(crate) location: usize,
    pub(crate) call: usize,
    pub(crate) team: Option<usize>,
    metric: &'static str,
}

impl Analysis {
    /// The barriers of all teams: the k-th visits of all threads belong to one barrier. In a process with a
    /// thread whose events are missing, the last thread to enter is unknown.
    pub(super) fn barriers(&self) -> Vec<Vec<Visit>> {
        let mut visits = Vec::new();
        let is_missing = |process| self.locations.iter().any(|it| it.process == process && it.is_missing);
        let complete = self.locations.iter().enumerate().filter(|(_, it)| !is_missing(it.process));
        for (location, it) in complete {
            // Outside of teams there is no waiting.
            for (call, it) in it.calls.iter().enumerate().filter(|(_, call)| call.team.is_some()) {
                let metric = match it.role {
                    Role::ExplicitBarrier => "omp_ebarrier_wait",
                    Role::ImplicitBarrier => "omp_ibarrier_wait",
                    Role::Parallel | Role::Other => continue,
                };
                visits.push(Visit { location, call, team: it.team, metric });
            }
        }
        let number = |visit: &Visit| {
            let is_before =
                |it: &&Visit| (it.location, it.team) == (visit.location, visit.team) && it.call < visit.call;
            let process = self.locations[visit.location].process;
            (process, visit.team, visits.iter().filter(is_before).count())
        };
        let mut numbers: Vec<_> = visits.iter().map(number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let of = |wanted: &_| visits.iter().copied().filter(|visit| number(visit) == *wanted).collect();
        numbers.iter().map(of).collect()
    }

    /// Time at which the last thread enters a barrier.
    pub(super) fn latest_enter(&self, visits: &[Visit]) -> i64 {
        let enter = |visit: &Visit| self.locations[visit.location].calls[visit.call].enter;
        visits.iter().map(enter).max().unwrap()
    }

    /// Waiting time of a thread for the last one, without the tasks that it runs meanwhile.
    pub(super) fn idle_at_barrier(&self, visit: &Visit, latest: i64) -> i64 {
        let call = &self.locations[visit.location].calls[visit.call];
        (latest - call.enter - call.suspension()).max(0)
    }

    /// Each thread of a team waits for the last one, except while it runs tasks.
    pub(crate) fn thread_barriers(&mut self) {
        for visits in self.barriers() {
            let latest = self.latest_enter(&visits);
            for visit in &visits {
                let idle = self.idle_at_barrier(visit, latest);
                if idle > 0 {
                    let place = self.end_of(visit.location, visit.call);
                    self.add_ticks(visit.metric, place, self.enter(place), idle);
                }
            }
        }
    }
}
