//! Delays among the threads of a process (specification 9.5 and 9.6).

use crate::oracle::EventRef;
use crate::oracle::barriers::Visit;
use crate::oracle::events::EventKind;
use crate::oracle::read::{Call, Location, Role};

use super::Causes;
use super::delays::{Delay, ratio, waiting};
use super::time_map::{difference, sum};

impl Causes<'_> {
    /// Specification 9.5: the last thread makes the others of its team wait, with or without tasks.
    pub(super) fn of_barriers(&self) -> Vec<Delay> {
        self.analysis.barriers().iter().flat_map(|visits| self.of_barrier(visits)).collect()
    }

    fn of_barrier(&self, visits: &[Visit]) -> Vec<Delay> {
        let latest = self.analysis.latest_enter(visits);
        let place = |visit: &Visit| self.analysis.end_of(visit.location, visit.call);
        let enter = |visit: &Visit| self.analysis.enter(place(visit));
        let last = visits.iter().find(|visit| enter(visit) == latest).expect("the last thread");
        let before = |visit: &Visit| {
            self.points.before(place(visit)).find(|point| point.team.is_some() && point.team == visit.team)
        };
        let (blamed, since) = (place(last), before(last));
        let waited = self.waited(since, blamed);
        let early = visits.iter().filter(|visit| enter(visit) < latest);
        let delay = |visit: &Visit| {
            let excess = difference(&self.prune(since, blamed), &self.prune(before(visit), place(visit)));
            Delay {
                class: "ompbarrier",
                waiting: Some(place(visit)),
                causing: blamed,
                scale: ratio(latest - enter(visit), sum(&excess) + waited),
                share: self.analysis.focus.share(enter(visit), latest - enter(visit)),
                excess,
                waited,
                reach: waiting(self.points.between(since, blamed)),
            }
        };
        early.map(delay).collect()
    }

    /// Specification 9.6: before each fork and at the end the other threads wait for the main thread, which
    /// works alone since the last join.
    pub(super) fn of_idle_threads(&self) -> Vec<Delay> {
        let mains = (0..self.locations()).filter(|&at| self.analysis.locations[at].thread == 0);
        mains.flat_map(|main| self.of_main_thread(main)).collect()
    }

    fn of_main_thread(&self, main: usize) -> Vec<Delay> {
        let locations = &self.analysis.locations;
        let is_worker = |other: &&Location| other.process == locations[main].process && other.is_worker;
        let others = locations.iter().filter(is_worker).count();
        let calls = locations[main].calls.iter().enumerate();
        let regions = calls.filter(|(_, call)| call.role == Role::Parallel && call.fork.is_some());
        // The event, and the time until which the main thread works alone.
        let enter = |(number, call): (usize, &Call)| {
            let (location, at) = (main, call.entered_at);
            (EventRef { location, call: number, time: call.enter, order: 0, at }, call.fork)
        };
        let mut ends: Vec<(EventRef, Option<i64>)> = regions.map(enter).collect();
        if others == 0 || ends.is_empty() {
            return Vec::new();
        }
        ends.push((self.end(main), locations[main].end));
        ends.into_iter().filter_map(|(end, until)| self.alone(end, until?, others)).collect()
    }

    /// The time map of the main thread alone before an event; `None` before its first join.
    fn alone(&self, end: EventRef, until: i64, others: usize) -> Option<Delay> {
        let since = self.points.before(end).find(|point| point.team.is_some());
        let events = &self.analysis.locations[end.location].events;
        let is_join = |at: &usize| matches!(events[*at].kind, EventKind::Joined);
        let join = match since {
            Some(since) => Some((since.place.at..events.len()).find(is_join)?),
            None => None,
        };
        let begin = events[join.unwrap_or(0)].time;
        let points = self.points.between(since, end);
        let waits = self.waits(&points);
        let excess = difference(&self.runtimes(join, end), &waits);
        let (worked, waited) = (sum(&excess), sum(&waits));
        Some(Delay {
            class: "ompidle",
            waiting: None,
            causing: end,
            scale: if worked + waited > 0 { others as f64 } else { 0.0 },
            share: self.analysis.focus.share(begin, until - begin),
            excess,
            waited,
            reach: waiting(points),
        })
    }
}
