//! What the way forward needs to know of a worker's locations: their events with links, and how clocks drift in between.

use std::ops::Range;

use model::Ticks;

use super::links::{Role, Side};
use super::meetings::Meetings;
use super::way::{Drift, Least, Way, rounded};
use crate::exchange::Batch;
use crate::exchange::batch::{BatchReader, halves, pair};
use crate::journal::Position;
use crate::solvers::Part;

/// An event with links.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Station {
    /// The number of its record.
    pub(super) position: Position,
    /// Its links, among those of the part.
    links: (u32, u32),
    /// Its recorded time.
    pub(super) time: Ticks,
    /// From the station before, at the first from the begin.
    pub(super) drift: Drift,
}

impl Station {
    /// The numbers of its links among those of the part.
    pub(super) fn links(&self) -> Range<usize> {
        self.links.0 as usize..self.links.1 as usize
    }
}

/// A link as its event sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Seen {
    /// The event is not before something else.
    Receive,
    /// What is at the other side is not before the event and so many ticks.
    Send(Side, Ticks),
}

/// The stations of a worker's locations.
#[derive(Clone, PartialEq, Debug)]
pub struct Stations {
    /// The first location; the others follow without gap.
    first: u32,
    list: Vec<Station>,
    /// Where the stations of each location end.
    ends: Vec<u32>,
    pub(super) links: Vec<Seen>,
    pub(super) meetings: Meetings,
}

impl Stations {
    pub(super) fn new(first: u32, ways: &[Way], least: Least, meetings: Meetings) -> Stations {
        let (mut list, mut ends, mut links) = (Vec::new(), Vec::new(), Vec::new());
        for way in ways {
            let before = links.len();
            list.extend(way.drifts(least).into_iter().map(|(of_event, drift)| {
                let position = way.links[of_event.start].spot.position;
                let links = ((before + of_event.start) as u32, (before + of_event.end) as u32);
                Station { position, links, time: way.times[position as usize], drift }
            }));
            links.extend(way.links.iter().map(|link| match link.role {
                Role::Receive => Seen::Receive,
                Role::Send => Seen::Send(link.other, rounded(least.of(link))),
            }));
            ends.push(list.len() as u32);
        }
        Stations { first, list, ends, links, meetings }
    }

    fn range(&self, line: usize) -> Range<usize> {
        let begin = line.checked_sub(1).map_or(0, |before| self.ends[before]);
        begin as usize..self.ends[line] as usize
    }

    /// A station of a location.
    pub(super) fn station(&self, line: usize, number: usize) -> Option<&Station> {
        self.list[self.range(line)].get(number)
    }

    /// The number of a location's station at an event.
    pub(super) fn at(&self, line: usize, position: Position) -> Option<usize> {
        self.list[self.range(line)].binary_search_by_key(&position, |station| station.position).ok()
    }
}

/// Words in a batch: before everything else, of a location, of a station, and of a link.
const HEAD: usize = 4;
const LINE: usize = 1;
const STATION: usize = 5;
const LINK: usize = 2;

/// Stands for the time to the other side where there is none.
const RECEIVE: u64 = u64::MAX;

impl Part for Stations {
    fn first(&self) -> u32 {
        self.first
    }

    fn lines(&self) -> usize {
        self.ends.len()
    }

    fn words(&self) -> usize {
        let lists = LINE * self.ends.len() + STATION * self.list.len() + LINK * self.links.len();
        HEAD + lists + self.meetings.words()
    }

    fn encode(&self) -> Batch {
        let mut batch = Batch::with_capacity(self.words());
        let counts = [self.ends.len(), self.list.len(), self.links.len()];
        batch.push(self.first.into());
        batch.extend(counts.map(|count| count as u64));
        batch.extend(self.ends.iter().map(|&end| u64::from(end)));
        batch.extend(self.list.iter().flat_map(|station| {
            let Station { position, links, time, drift } = station;
            let [loss, least, time] = [drift.loss, drift.least, *time].map(i64::cast_unsigned);
            [(*position).into(), pair(links.0, links.1), time, loss, least]
        }));
        batch.extend(self.links.iter().flat_map(|link| match *link {
            Seen::Receive => [0, RECEIVE],
            Seen::Send(other, ticks) => [other.encode(), ticks.cast_unsigned()],
        }));
        self.meetings.encode(&mut batch);
        batch
    }

    fn decode(words: &[u64]) -> Stations {
        let reader = &mut BatchReader::new(words);
        let first = reader.word() as u32;
        let [lines, stations, links] = [(); 3].map(|()| reader.word() as usize);
        let station = |words: &[u64]| {
            let [time, loss, least] = [2, 3, 4].map(|at| words[at].cast_signed());
            let drift = Drift { loss, least };
            Station { position: words[0] as Position, links: halves(words[1]), time, drift }
        };
        let link = |words: &[u64]| match words[1] {
            RECEIVE => Seen::Receive,
            ticks => Seen::Send(Side::decode(words[0]), ticks.cast_signed()),
        };
        Stations {
            first,
            ends: reader.words(lines * LINE).iter().map(|&end| end as u32).collect(),
            list: reader.words(stations * STATION).chunks_exact(STATION).map(station).collect(),
            links: reader.words(links * LINK).chunks_exact(LINK).map(link).collect(),
            meetings: Meetings::decode(reader),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock_correction::links::{Kind, Link};
    use crate::clock_correction::meetings::Member;
    use crate::journal::Spot;
    use crate::walk::Records;

    #[test]
    fn stations_come_back_from_their_words() {
        let least = Least::new(1_000_000_000);
        let spot = |position| Spot { location: 4, position };
        let link = |position, role, other| Link { spot: spot(position), role, kind: Kind::Message, other };
        let links = vec![
            link(1, Role::Receive, Side::Event(Spot { location: 9, position: 3 })),
            link(1, Role::Send, Side::Seat { worker: 2, number: 5 }),
            link(3, Role::Send, Side::Event(Spot { location: 9, position: 3 })),
        ];
        let records = Records { times: vec![10, 20, 20, 4000], ignored: vec![2] };
        let ways = [Way::new(records, links), Way::default()];
        let mut meetings = Meetings::new(1);
        let member = |sends| Member { begin: spot(0), end: spot(3), sends, receives: !sends };
        drop(meetings.add(&[member(true), member(false)], false));
        drop(meetings.add(&[member(false), member(true)], true));
        let stations = Stations::new(4, &ways, least, meetings);
        let batch = stations.encode();
        assert_eq!(batch.len(), stations.words());
        let decoded = Stations::decode(&batch);
        assert_eq!(decoded, stations);
        let second = decoded.station(0, 1).unwrap();
        assert_eq!((second.position, second.links(), second.time), (3, 2..3, 4000));
        assert_eq!((decoded.at(0, 3), decoded.at(0, 2), decoded.at(1, 3)), (Some(1), None, None));
    }
}
