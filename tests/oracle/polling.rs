//! Polling: tests and probes that find nothing (rest of MPI 6.3).

use replay::Semantics;

use super::operations::Operations;
use super::probes::is_same;
use super::world::World;
use super::{Analysis, EventRef};

/// Until when something was awaited that a poll asks for, and the metric of the time before.
type Until = (i64, &'static str);

impl Analysis {
    pub(super) fn polling(&mut self, operations: &Operations, messages: &[(usize, usize)], world: &World) {
        if self.semantics == Semantics::Reference {
            return;
        }
        for location in 0..self.locations.len() {
            for call in 0..self.locations[location].calls.len() {
                let end = self.end_of(location, call);
                let awaited = match self.name(end) {
                    "test" | "testany" | "testall" | "testsome" if !self.completes(operations, end) => {
                        self.awaited_by_test(operations, messages, end)
                    }
                    "iprobe" | "improbe" if self.finds_nothing(operations, world, end) => {
                        self.awaited_by_probe(operations, messages, end)
                    }
                    _ => continue,
                };
                let enter = self.enter(end);
                self.add_ticks("mpi_polling", end, enter, self.length(end));
                if let Some((until, metric)) = awaited {
                    let part = until.min(self.leave(end)) - enter;
                    self.add_ticks(metric, end, enter, part.max(0));
                }
            }
        }
    }

    fn completes(&self, operations: &Operations, end: EventRef) -> bool {
        operations.completions.iter().any(|it| (it.location, it.call) == (end.location, end.call))
    }

    fn finds_nothing(&self, operations: &Operations, world: &World, end: EventRef) -> bool {
        let found = self.locations[end.location].calls[end.call].found;
        let finds = world.has_found_messages && found.is_some();
        !finds && self.claims(operations, end).is_none()
    }

    /// Of the operations that a test asks for.
    fn awaited_by_test(
        &self,
        operations: &Operations,
        messages: &[(usize, usize)],
        end: EventRef,
    ) -> Option<Until> {
        let is_here = |it: &EventRef| (it.location, it.call) == (end.location, end.call);
        let told: Vec<Option<EventRef>> =
            operations.tests.iter().filter(|test| is_here(&test.at)).map(|test| test.started).collect();
        let started = match told.is_empty() {
            true => self.completed_next(operations, end).into_iter().map(Some).collect(),
            false => told,
        };
        // What is not known may be there from the start on. Of equals the first in the order of records counts.
        let until = started.into_iter().map(|started| self.until(operations, messages, started?));
        let time = |until: &Option<Until>| until.map_or(i64::MIN, |it| it.0);
        match self.name(end) {
            "test" | "testall" => until.collect::<Vec<_>>().into_iter().rev().max_by_key(time),
            _ => until.min_by_key(time),
        }?
    }

    /// Of the message that the location receives next.
    fn awaited_by_probe(
        &self,
        operations: &Operations,
        messages: &[(usize, usize)],
        end: EventRef,
    ) -> Option<Until> {
        let posted = self.next_posted(operations, end)?;
        let mut posted = messages.iter().filter(|it| is_same(operations.receives[it.1].claimed, posted));
        let send = operations.sends[posted.next()?.0].at;
        Some((self.enter(send), "mpi_polling_latesender"))
    }

    /// The starts of what the next successful test at the same call path completes, as far as it was started before a poll; a
    /// receive by a matched probe.
    fn completed_next(&self, operations: &Operations, end: EventRef) -> Vec<EventRef> {
        let calls = self.locations[end.location].calls.iter().enumerate();
        let path = self.path(end);
        let mut later = calls.filter(|(_, call)| call.path == path && call.entered_at > end.at);
        let Some((next, _)) =
            later.find(|(call, _)| self.completes(operations, self.end_of(end.location, *call)))
        else {
            return Vec::new();
        };
        let is_there = |it: EventRef| (it.location, it.call) == (end.location, next);
        let receives = operations.receives.iter().filter(|receive| is_there(receive.done));
        let receives = receives.map(|receive| (receive.done.at, receive.posted, receive.claimed.order));
        let parts = operations.parts.iter().filter(|part| !part.series.is_blocking() && is_there(part.ended));
        let parts = parts.map(|part| (part.ended.at, part.begun, part.begun.order));
        let mut all: Vec<(usize, EventRef, usize)> = receives.chain(parts).collect();
        all.sort_by_key(|it| it.0);
        let entered = operations.enters.iter().find(|it| (it.location, it.call) == (end.location, end.call));
        let entered = entered.expect("a call is entered").order;
        all.into_iter().filter(|&(.., order)| order < entered).map(|(_, started, _)| started).collect()
    }

    /// Until when what an event starts was awaited: a message until it is sent, a collective operation until all that the
    /// process needs have begun.
    fn until(
        &self,
        operations: &Operations,
        messages: &[(usize, usize)],
        started: EventRef,
    ) -> Option<Until> {
        let mut posted = messages.iter().filter(|it| is_same(operations.receives[it.1].posted, started));
        if let Some(&(send, _)) = posted.next() {
            return Some((self.enter(operations.sends[send].at), "mpi_polling_latesender"));
        }
        let x = self.arrivals.get(&(started.location, started.at))?;
        Some((*x, "mpi_polling_nbcoll"))
    }
}
