//! Attribution of exclusive time to call paths, in the order of events, when a location enters or leaves a
//! call (specification 7.2).

use super::events::EventKind;
use super::read::Reader;

impl Reader<'_> {
    /// Attributes the time until now to the innermost call; in a task outside of calls, to the call path
    /// where it runs.
    pub(super) fn book(&mut self, time: i64) {
        let path = match self.stack.last() {
            Some(&call) => Some(self.location.calls[call].path.clone()),
            None => self.tasks.runs().then(|| self.base()),
        };
        if let (Some(path), Some(since)) = (path, self.booked) {
            self.location.spend(&path, since, time - since);
        }
        self.booked = Some(time);
    }

    /// A call is entered, a parallel region with the time of its fork: the time since then belongs to the
    /// region. Returns the position among the location's events.
    pub(super) fn book_enter(&mut self, time: i64, path: &str, fork: Option<i64>) -> usize {
        self.book(time);
        let started = fork.map_or(0, |fork| (time - fork).max(0));
        if let (0, Some(&parent)) = (self.location.thread, self.stack.last()) {
            let parent = self.location.calls[parent].path.clone();
            self.location.spend(&parent, time - started, -started);
        }
        self.add_event(time, EventKind::Entered(self.location.calls.len()));
        self.location.spend(path, time - started, started);
        self.location.events.len() - 1
    }

    /// A call has been left. On a worker the time of the master's join is already known.
    pub(super) fn book_leave(&mut self, time: i64, call: usize) {
        let call = self.location.calls[call].clone();
        if let Some(since) = self.booked {
            self.location.spend(&call.path, since, time - since);
        }
        self.booked = Some(time);
        if self.location.thread > 0 {
            self.location.spend(&call.path, time, call.join.map_or(0, |join| (join - time).max(0)));
        }
    }

    /// The master joins a team: the time since it left the parallel region belongs to that region.
    pub(super) fn book_join(&mut self, time: i64, fork: i64) {
        self.book(time);
        let regions = self.location.calls.iter().filter(|call| call.fork == Some(fork));
        let regions: Vec<_> = regions.map(|call| (call.path.clone(), (time - call.leave).max(0))).collect();
        for (path, waited) in regions {
            if let Some(&parent) = self.stack.last() {
                let parent = self.location.calls[parent].path.clone();
                self.location.spend(&parent, time - waited, -waited);
            }
            self.location.spend(&path, time - waited, waited);
        }
        self.add_event(time, EventKind::Joined);
    }
}
