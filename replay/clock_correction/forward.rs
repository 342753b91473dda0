//! Forward pass: lower bounds of the corrected times of events, from location to location (specification
//! 15.2).

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

/// State of a location in the forward pass.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Index of its part, and of the location there.
    part: usize,
    line: usize,
    /// The next station, and the shift of the one before it.
    next: usize,
    ahead: Parts,
}

/// Forward pass of all locations of a group of workers.
pub(super) struct ForwardPass<'a> {
    tools: &'a Tools<'a>,
    group: &'a Group<Stations>,
    places: Vec<Place>,
    /// Lower bound of each receive, by part and link.
    told: Vec<Vec<Ticks>>,
    /// Meetings by part.
    meetings: Vec<Meetings>,
    /// Locations that can continue.
    ready: Vec<usize>,
    findings: &'a mut Findings,
}

impl std::fmt::Debug for ForwardPass<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} locations on their way", self.places.len())
    }
}

impl<'a> ForwardPass<'a> {
    /// Starts with all locations at their start.
    pub(super) fn new(
        tools: &'a Tools<'a>,
        group: &'a Group<Stations>,
        findings: &'a mut Findings,
    ) -> ForwardPass<'a> {
        let parts = group.parts.iter().enumerate();
        let places = parts.flat_map(|(part, stations)| {
            (0..stations.lines()).map(move |line| Place { part, line, next: 0, ahead: 0 })
        });
        let places: Vec<Place> = places.collect();
        ForwardPass {
            tools,
            group,
            told: group.parts.iter().map(|part| vec![NOT_YET; part.links.len()]).collect(),
            meetings: group.parts.iter().map(|part| part.meetings.clone()).collect(),
            ready: (0..places.len()).rev().collect(),
            places,
            findings,
        }
    }

    /// The next station of a location.
    fn next(&self, at: usize) -> Option<&'a Station> {
        let Place { part, line, next, .. } = self.places[at];
        self.group.parts[part].station(line, next)
    }

    /// Advances a location as far as possible; collects the bounds for other events in `sent`.
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

    /// Handles the lower bound of an event. Returns its location, if that event is next there.
    fn handle_event(&mut self, spot: RecordSpot, time: Ticks) -> Option<usize> {
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

    /// Sends the time of an event to the other side of a link.
    fn notify(&mut self, to: Side, time: Ticks, tell: &mut impl FnMut(usize, (Side, Ticks))) {
        let worker = to.worker(self.tools);
        let Some(part) = self.group.has(worker) else {
            tell(self.group.solvers.of(worker), (to, time));
            return;
        };
        match to {
            Side::Event(spot) => {
                let ready = self.handle_event(spot, time);
                self.ready.extend(ready);
            }
            Side::Seat { number, .. } => {
                let mut ends = Vec::new();
                self.meetings[part].begin(number, time, |spot, time| ends.push((Side::Event(spot), time)));
                ends.into_iter().for_each(|(end, time)| self.notify(end, time, tell));
            }
        }
    }

    /// Sends the bounds to the owners of the locations, after the end of the pass. Returns those of this
    /// worker's locations, by location and link.
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

impl Recurrence for ForwardPass<'_> {
    type Message = (Side, Ticks);

    fn step(&mut self, tell: &mut impl FnMut(usize, (Side, Ticks))) -> bool {
        let Some(at) = self.ready.pop() else { return false };
        let mut sent = Vec::new();
        self.go(at, &mut sent);
        sent.into_iter().for_each(|(to, time)| self.notify(to, time, tell));
        true
    }

    fn hear(&mut self, _: usize, (to, time): (Side, Ticks), tell: &mut impl FnMut(usize, (Side, Ticks))) {
        self.notify(to, time, tell);
    }

    fn blocked(&self) -> Option<Blocked> {
        let blocked = |at: usize| {
            let Station { position, time, .. } = *self.next(at)?;
            let spot = Spot { location: self.group.location(at), position };
            Some(Blocked { time, spot: spot.into() })
        };
        (0..self.places.len()).filter_map(blocked).min()
    }

    /// Releases an event that depends on itself: events were not recorded in the order in which they
    /// happened.
    fn release(&mut self, blocked: Blocked) {
        self.findings.add(
            Finding::CyclicWait,
            blocked.time,
            blocked.spot.location as usize,
            || "what comes after an event is what it waits for",
        );
        while self.handle_event(blocked.spot.record(), NOTHING).is_some() {}
        self.ready.push(self.group.at(blocked.spot.location));
    }
}
