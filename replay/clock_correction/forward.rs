//! The way forward: since when each event can have been, from location to location (specification 15.2).

use model::Ticks;

use super::links::{NOT_YET, Side};
use super::meetings::Meetings;
use super::stations::{Seen, Station, Stations};
use super::way::{NOTHING, Parts, later, needed};
use crate::error::Error;
use crate::exchange::Exchange;
use crate::exchange::batch::BatchReader;
use crate::findings::{Finding, Findings};
use crate::journal::{RecordSpot, Spot};
use crate::relay::{Blocked, Recurrence};
use crate::solvers::{Group, Part};
use crate::tools::Tools;
use crate::walk::FARTHEST;

/// A location on its way.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// The part that it is in, and its number there.
    part: usize,
    line: usize,
    /// The station to come, and by how much the one before it was put off.
    next: usize,
    ahead: Parts,
}

/// All locations of a group of workers on their way.
pub(super) struct Forward<'a> {
    tools: &'a Tools<'a>,
    group: &'a Group<Stations>,
    places: Vec<Place>,
    /// By part and link: since when a receive can have been.
    told: Vec<Vec<Ticks>>,
    /// By part.
    meetings: Vec<Meetings>,
    /// Locations that can go on.
    ready: Vec<usize>,
    findings: &'a mut Findings,
}

impl std::fmt::Debug for Forward<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} locations on their way", self.places.len())
    }
}

impl<'a> Forward<'a> {
    /// All locations at their begin.
    pub(super) fn new(
        tools: &'a Tools<'a>,
        group: &'a Group<Stations>,
        findings: &'a mut Findings,
    ) -> Forward<'a> {
        let parts = group.parts.iter().enumerate();
        let places = parts.flat_map(|(part, stations)| {
            (0..stations.lines()).map(move |line| Place { part, line, next: 0, ahead: 0 })
        });
        let places: Vec<Place> = places.collect();
        Forward {
            tools,
            group,
            told: group.parts.iter().map(|part| vec![NOT_YET; part.links.len()]).collect(),
            meetings: group.parts.iter().map(|part| part.meetings.clone()).collect(),
            ready: (0..places.len()).rev().collect(),
            places,
            findings,
        }
    }

    /// The station that a location comes to.
    fn next(&self, at: usize) -> Option<&'a Station> {
        let Place { part, line, next, .. } = self.places[at];
        self.group.parts[part].station(line, next)
    }

    /// Lets a location go on as far as it can; puts what its events tell others into `sent`.
    fn go(&mut self, at: usize, sent: &mut Vec<(Side, Ticks)>) {
        let part = self.places[at].part;
        let links = &self.group.parts[part].links;
        let told = &self.told[part];
        while let Some(station) = self.next(at) {
            let receives = station.links().filter(|&link| links[link] == Seen::Receive);
            if receives.clone().any(|link| told[link] == NOT_YET) {
                return;
            }
            let place = &mut self.places[at];
            let drift = station.drift.of(place.ahead);
            place.ahead = needed(drift, station.time, receives.map(|link| told[link]));
            place.next += 1;
            let now = later(station.time, place.ahead);
            sent.extend(links[station.links()].iter().filter_map(|link| match *link {
                Seen::Receive => None,
                Seen::Send(other, ticks) => {
                    Some((other, now.saturating_add(ticks).clamp(-FARTHEST, FARTHEST)))
                }
            }));
        }
    }

    /// An event is told since when it can have been. Answers its location, if that comes to it next.
    fn hear_event(&mut self, spot: RecordSpot, time: Ticks) -> Option<usize> {
        let at = self.group.at(spot.location);
        let Place { part, line, next, .. } = self.places[at];
        let stations = &self.group.parts[part];
        let number = stations.at(line, spot.position)?;
        let told = &mut self.told[part];
        let mut links = stations.station(line, number)?.links();
        let link = links.find(|&link| stations.links[link] == Seen::Receive && told[link] == NOT_YET)?;
        told[link] = time;
        (number == next).then_some(at)
    }

    /// Tells the other side of a link when something has happened.
    fn tell(&mut self, to: Side, time: Ticks, tell: &mut impl FnMut(usize, (Side, Ticks))) {
        let worker = to.worker(self.tools);
        let Some(part) = self.group.has(worker) else {
            tell(self.group.solvers.of(worker), (to, time));
            return;
        };
        match to {
            Side::Event(spot) => {
                let ready = self.hear_event(spot, time);
                self.ready.extend(ready);
            }
            Side::Seat { number, .. } => {
                let mut ends = Vec::new();
                self.meetings[part].begin(number, time, |spot, time| ends.push((Side::Event(spot), time)));
                ends.into_iter().for_each(|(end, time)| self.tell(end, time, tell));
            }
        }
    }

    /// Once all have come to their end: gives back to each worker what its locations were told. Answers what this worker's were,
    /// by location and link.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn give_back(
        self,
        links: impl Iterator<Item = usize>,
        exchange: &mut dyn Exchange,
    ) -> Result<Vec<Vec<Ticks>>, Error> {
        let words = |told: Vec<Ticks>| told.into_iter().map(Ticks::cast_unsigned).collect();
        let told = self.group.give_back(self.told.into_iter().map(words).collect(), exchange)?;
        let mut reader = BatchReader::new(&told);
        let mut of_line = |links| reader.words(links).iter().map(|word| word.cast_signed()).collect();
        Ok(links.map(&mut of_line).collect())
    }
}

impl Recurrence for Forward<'_> {
    type Message = (Side, Ticks);

    fn step(&mut self, tell: &mut impl FnMut(usize, (Side, Ticks))) -> bool {
        let Some(at) = self.ready.pop() else { return false };
        let mut sent = Vec::new();
        self.go(at, &mut sent);
        sent.into_iter().for_each(|(to, time)| self.tell(to, time, tell));
        true
    }

    fn hear(&mut self, _: usize, (to, time): (Side, Ticks), tell: &mut impl FnMut(usize, (Side, Ticks))) {
        self.tell(to, time, tell);
    }

    fn blocked(&self) -> Option<Blocked> {
        let blocked = |at: usize| {
            let Station { position, time, .. } = *self.next(at)?;
            let spot = Spot { location: self.group.location(at), position };
            Some(Blocked { time, spot: spot.into() })
        };
        (0..self.places.len()).filter_map(blocked).min()
    }

    /// What it waits for depends on itself: events were not recorded in the order in which they happened.
    fn release(&mut self, blocked: Blocked) {
        self.findings.add(
            Finding::CyclicWait,
            blocked.time,
            blocked.spot.location as usize,
            || "what comes after an event is what it waits for",
        );
        while self.hear_event(blocked.spot.record(), NOTHING).is_some() {}
        self.ready.push(self.group.at(blocked.spot.location));
    }
}
