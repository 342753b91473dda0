//! The way forward: what happened too early is put off, and everything after it on its location (specification 15.2).
//!
//! A location whose clock was put forward goes a little slower from then on, until it agrees with its own clock again.

use std::ops::Range;

use model::Ticks;

use super::links::{Kind, Link, NOT_YET, Role, Side};
use super::meetings::Meetings;
use crate::exchange::Batch;
use crate::exchange::batch::BatchReader;
use crate::findings::{Finding, Findings};
use crate::journal::Position;
use crate::relay::{self, Blocked, Recurrence};
use crate::tools::Tools;
use crate::walk::{FARTHEST, Records};

/// What is told where nothing is known: before all times.
const NOTHING: Ticks = NOT_YET + 1;

/// 1 − γ: what a clock that was put forward loses.
const SLOWDOWN: f64 = 1e-5;

/// What takes how long at least, in ticks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Least {
    /// From an event of a location to the next one.
    pub(super) step: f64,
    /// From a send to its receive, between processes.
    pub(super) message: f64,
    /// The same between threads.
    pub(super) of_threads: f64,
}

impl Least {
    /// For a clock with so many ticks a second. Where ticks are coarse, a step is less than one: a whole tick for each event
    /// would stretch time, and events stay in order without it.
    pub(super) fn new(resolution: u64) -> Least {
        let resolution = resolution as f64;
        Least { step: 1e-9 * resolution, message: 1e-6 * resolution, of_threads: 1e-8 * resolution }
    }

    /// From the event at one side of a link to the one at the other side.
    pub(super) fn of(self, link: &Link) -> f64 {
        match link.kind {
            Kind::Message => self.message,
            Kind::Threads => self.of_threads,
            // Of events at once, that of the first location comes first.
            Kind::Order => f64::from(link.first() > link.second()),
        }
    }
}

/// An event that was too early.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Jump {
    /// The number of its record.
    pub(super) record: Position,
    /// When it would have been.
    pub(super) from: Ticks,
    /// When it is.
    pub(super) to: Ticks,
}

/// A location on its way.
#[derive(Debug, Default)]
pub(super) struct Way {
    /// The times of its records: corrected up to `record`, original from there on.
    pub(super) times: Vec<Ticks>,
    pub(super) links: Vec<Link>,
    /// What each link was told: a receive since when it can have been, later a send until when.
    pub(super) told: Vec<Ticks>,
    pub(super) jumps: Vec<Jump>,
    /// The link to come.
    next: usize,
    /// The records that do not matter, the last first, of those to come.
    ignored: Vec<Position>,
    /// The record to come; the original time of the one before it that matters, and by how much that was put off, in
    /// ticks.
    record: usize,
    before: Option<Ticks>,
    ahead: f64,
}

impl Way {
    pub(super) fn new(records: Records, links: Vec<Link>) -> Way {
        let Records { times, mut ignored } = records;
        ignored.reverse();
        let told = vec![NOT_YET; links.len()];
        Way { times, links, told, ignored, ..Way::default() }
    }

    /// By how much the record to come is put off on account of those before it.
    fn drift(&self, least: Least) -> f64 {
        let Some(before) = self.before else { return 0.0 };
        let elapsed = (self.times[self.record] - before) as f64;
        (self.ahead + least.step - elapsed).max(self.ahead - SLOWDOWN * elapsed).max(0.0)
    }

    fn put_off(&mut self, ahead: f64) {
        let time = &mut self.times[self.record];
        (self.before, self.ahead) = (Some(*time), ahead);
        *time = later(*time, ahead);
        self.record += 1;
    }

    /// A record that has no link.
    fn pass(&mut self, least: Least) {
        if self.ignored.last().is_none_or(|&ignored| ignored as usize != self.record) {
            self.put_off(self.drift(least));
            return;
        }
        self.ignored.pop();
        // It needs no time of its own.
        let drift = self.drift(Least { step: 0.0, ..least });
        self.times[self.record] = later(self.times[self.record], drift);
        self.record += 1;
    }

    /// Goes on as far as possible; puts what its events tell others into `told`.
    fn go(&mut self, least: Least, told: &mut Vec<(Side, Ticks)>) {
        loop {
            let link = self.links.get(self.next).map(|link| link.spot.position as usize);
            let until = link.unwrap_or(usize::MAX).min(self.times.len());
            while self.record < until {
                self.pass(least);
            }
            if link.is_none() || self.record >= self.times.len() {
                return;
            }
            let of_event = self.links_from(self.next, until as Position);
            let receives = of_event.clone().filter(|&at| self.links[at].role == Role::Receive);
            if receives.clone().any(|at| self.told[at] == NOT_YET) {
                return;
            }
            let time = self.times[self.record];
            let drift = self.drift(least);
            let needed = receives.filter(|&at| self.told[at] != NOTHING);
            let needed = needed.map(|at| self.told[at].saturating_sub(time) as f64);
            let needed = needed.fold(drift, f64::max);
            if needed > drift {
                let record = self.record as Position;
                self.jumps.push(Jump { record, from: later(time, drift), to: later(time, needed) });
            }
            self.put_off(needed);
            let now = self.times[until];
            let sends = self.links[of_event.clone()].iter().filter(|link| link.role == Role::Send);
            told.extend(sends.map(|link| (link.other, later(now, least.of(link)))));
            self.next = of_event.end;
        }
    }

    /// The numbers of the links of an event, of which the first is known.
    fn links_from(&self, first: usize, position: Position) -> Range<usize> {
        let of_event = self.links[first..].iter().take_while(|link| link.spot.position == position);
        first..first + of_event.count()
    }

    /// The numbers of the links of an event.
    fn links_of(&self, position: Position) -> Range<usize> {
        self.links_from(self.links.partition_point(|link| link.spot.position < position), position)
    }

    /// The link that it cannot go beyond.
    fn blocked(&self) -> Option<&Link> {
        self.links.get(self.next).filter(|_| self.record < self.times.len())
    }

    /// An event is told since when it can have been. Answers whether it was the one to come.
    fn hear(&mut self, position: Position, time: Ticks) -> bool {
        let mut of_event = self.links_of(position);
        let first = of_event.start;
        let waits = |at: &usize| self.links[*at].role == Role::Receive && self.told[*at] == NOT_YET;
        let Some(at) = of_event.find(waits) else { return false };
        self.told[at] = time;
        first == self.next
    }

    /// A send can have been no later than this.
    pub(super) fn limit(&mut self, position: Position, latest: Ticks) {
        let of_event = self.links_of(position);
        self.told[of_event].iter_mut().for_each(|told| *told = latest.min(*told));
    }
}

fn later(time: Ticks, ticks: f64) -> Ticks {
    time.saturating_add(rounded(ticks)).clamp(-FARTHEST, FARTHEST)
}

/// The nearest number of ticks; not less than none.
pub(super) fn rounded(ticks: f64) -> Ticks {
    (ticks + 0.5) as Ticks
}

/// All locations of a worker on their way.
pub(super) struct Forward<'a> {
    tools: &'a Tools<'a>,
    least: Least,
    worker: usize,
    /// The location of the first way; the others follow without gap.
    first: u32,
    pub(super) ways: Vec<Way>,
    pub(super) meetings: Meetings,
    /// Ways that can go on.
    ready: Vec<usize>,
    pub(super) findings: &'a mut Findings,
}

impl std::fmt::Debug for Forward<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} locations on their way", self.ways.len())
    }
}

impl<'a> Forward<'a> {
    /// All locations at their begin.
    pub(super) fn new(
        tools: &'a Tools<'a>,
        least: Least,
        worker: usize,
        first: u32,
        ways: Vec<Way>,
        meetings: Meetings,
        findings: &'a mut Findings,
    ) -> Forward<'a> {
        let ready = (0..ways.len()).rev().collect();
        Forward { tools, least, worker, first, ways, meetings, ready, findings }
    }

    /// The way of one of this worker's locations.
    pub(super) fn way(&mut self, location: u32) -> &mut Way {
        &mut self.ways[(location - self.first) as usize]
    }

    /// Tells the other side of a link when something has happened.
    fn tell(&mut self, to: Side, time: Ticks, tell: &mut impl FnMut(usize, (Side, Ticks))) {
        let worker = to.worker(self.tools);
        if worker != self.worker {
            tell(worker, (to, time));
            return;
        }
        match to {
            Side::Event(spot) => {
                let at = (spot.location - self.first) as usize;
                if self.ways[at].hear(spot.position, time) {
                    self.ready.push(at);
                }
            }
            Side::Seat { number, .. } => {
                let mut ends = Vec::new();
                self.meetings.begin(number, time, |spot, time| ends.push((Side::Event(spot), time)));
                ends.into_iter().for_each(|(end, time)| self.tell(end, time, tell));
            }
        }
    }
}

impl Recurrence for Forward<'_> {
    type Message = (Side, Ticks);

    fn step(&mut self, tell: &mut impl FnMut(usize, (Side, Ticks))) -> bool {
        let Some(at) = self.ready.pop() else { return false };
        let mut told = Vec::new();
        self.ways[at].go(self.least, &mut told);
        told.into_iter().for_each(|(to, time)| self.tell(to, time, tell));
        true
    }

    fn hear(&mut self, _: usize, (to, time): (Side, Ticks), tell: &mut impl FnMut(usize, (Side, Ticks))) {
        self.tell(to, time, tell);
    }

    fn blocked(&self) -> Option<Blocked> {
        let blocked = |way: &Way| {
            let spot = way.blocked()?.spot;
            Some(Blocked { time: way.times[spot.position as usize], spot })
        };
        self.ways.iter().filter_map(blocked).min()
    }

    /// What it waits for depends on itself: events were not recorded in the order in which they happened.
    fn release(&mut self, blocked: Blocked) {
        self.findings.add(
            Finding::CyclicWait,
            blocked.time,
            blocked.spot.location as usize,
            || "what comes after an event is what it waits for",
        );
        let at = (blocked.spot.location - self.first) as usize;
        while self.ways[at].hear(blocked.spot.position, NOTHING) {}
        self.ready.push(at);
    }
}

/// Since when an event can have been.
impl relay::Message for (Side, Ticks) {
    fn encode(self, batch: &mut Batch) {
        batch.extend([self.0.encode(), self.1.cast_unsigned()]);
    }

    fn decode(reader: &mut BatchReader<'_>) -> (Side, Ticks) {
        (Side::decode(reader.word()), reader.word().cast_signed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::Spot;

    /// Steps of 2 ticks at least, messages of 100, between threads 10.
    const LEAST: Least = Least { step: 2.0, message: 100.0, of_threads: 10.0 };

    /// A location with records at these times, of which some do not matter, and links of some.
    fn way(times: &[Ticks], ignored: &[Position], links: &[(Position, Role)]) -> Way {
        let link = |&(position, role): &(Position, Role)| Link {
            spot: Spot { location: 0, position },
            role,
            kind: Kind::Message,
            other: Side::Event(Spot { location: 1, position: 7 }),
        };
        let records = Records { times: times.to_vec(), ignored: ignored.to_vec() };
        Way::new(records, links.iter().map(link).collect())
    }

    fn go(way: &mut Way) -> Vec<Ticks> {
        let mut told = Vec::new();
        way.go(LEAST, &mut told);
        told.into_iter().map(|(_, time)| time).collect()
    }

    #[test]
    fn receive_waits_until_it_is_told_and_what_follows_catches_up_slowly() {
        let mut way =
            way(&[0, 50, 60, 100_060], &[], &[(0, Role::Send), (1, Role::Receive), (3, Role::Send)]);
        assert_eq!(go(&mut way), [100]);
        assert_eq!(way.blocked().map(|link| link.spot.position), Some(1));
        assert!(way.hear(1, 80));
        assert_eq!(go(&mut way), [100_189]);
        assert_eq!(way.times, [0, 80, 90, 100_089]);
        assert_eq!(way.jumps, [Jump { record: 1, from: 50, to: 80 }]);
        assert!(way.blocked().is_none());
    }

    #[test]
    fn receive_that_is_late_enough_stays_where_it_is() {
        let mut way = way(&[0, 50], &[], &[(1, Role::Receive)]);
        assert!(way.hear(1, 50) && go(&mut way).is_empty());
        assert_eq!((&way.times[..], &way.jumps[..]), (&[0, 50][..], &[][..]));
    }

    #[test]
    fn events_at_once_get_a_step_each_but_not_records_that_do_not_matter() {
        let mut way = way(&[5, 5, 5, 5, 100], &[1, 2], &[]);
        go(&mut way);
        assert_eq!(way.times, [5, 5, 5, 7, 102]);
    }

    #[test]
    fn two_receives_of_one_event_are_told_one_after_the_other() {
        let mut way = way(&[0, 10], &[], &[(1, Role::Receive), (1, Role::Receive)]);
        assert!(go(&mut way).is_empty() && way.hear(1, 300) && go(&mut way).is_empty());
        assert!(way.hear(1, 200) && !way.hear(1, 900));
        go(&mut way);
        assert_eq!(way.times, [0, 300]);
    }
}
