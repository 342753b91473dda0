//! Input of the forward pass: the events with links of a worker's locations, and the drift of clocks in
//! between.

use std::ops::Range;

use model::Ticks;

use super::links::{Role, Side};
use super::meetings::Meetings;
use super::way::{Drift, Least, LocationShift, rounded};
use crate::exchange::Batch;
use crate::exchange::batch::BatchReader;
use crate::ids::RecordNumber;
use crate::int::to_u32;
use crate::solvers::Part;
use crate::wire::{self, Wire, wire};

/// An event with links.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Station {
    /// The number of its record.
    pub(super) position: RecordNumber,
    /// Range of its links among those of the part.
    first_link: u32,
    end_link: u32,
    /// Its recorded time.
    pub(super) time: Ticks,
    /// Drift from the station before, or from the start.
    pub(super) drift: Drift,
}

impl Station {
    /// Range of its links among those of the part.
    pub(super) fn links(&self) -> Range<usize> {
        self.first_link as usize..self.end_link as usize
    }
}

/// A link at its event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Seen {
    /// The event is not before the other side.
    Receive,
    /// The other side is not before the event and so many ticks.
    Send(Side, Ticks),
}

/// The stations of a worker's locations.
#[derive(Clone, PartialEq, Debug)]
pub struct Stations {
    /// Number of the first location; the others follow without gap.
    first: u32,
    list: Vec<Station>,
    /// End of the stations of each location.
    ends: Vec<u32>,
    pub(super) links: Vec<Seen>,
    pub(super) meetings: Meetings,
}

impl Stations {
    pub(super) fn new(first: u32, ways: &[LocationShift], least: Least, meetings: Meetings) -> Stations {
        let (mut list, mut ends, mut links) = (Vec::new(), Vec::new(), Vec::new());
        for way in ways {
            let before = links.len();
            list.extend(way.drifts(least).into_iter().map(|(of_event, drift)| {
                let position = way.links[of_event.start].spot.position;
                let [first_link, end_link] = [of_event.start, of_event.end].map(|at| to_u32(before + at));
                Station { position, first_link, end_link, time: way.times[position.index()], drift }
            }));
            links.extend(way.links.iter().map(|link| match link.role {
                Role::Receive => Seen::Receive,
                Role::Send => Seen::Send(link.other, rounded(least.of(link))),
            }));
            ends.push(to_u32(list.len()));
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

    /// Index of a location's station at an event.
    pub(super) fn at(&self, line: usize, position: RecordNumber) -> Option<usize> {
        self.list[self.range(line)].binary_search_by_key(&position, |station| station.position).ok()
    }
}

/// Numbers of words in a batch: of the header, of a location, of a station, and of a link.
const HEAD: usize = 4;
const LINE: usize = 1;
const STATION: usize = 5;
const LINK: usize = 2;

/// Code of a receive, in place of the time to the other side.
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
}

wire!(Stations { first, ends, list, links, meetings });

wire!(Station { position, [first_link, end_link], time, drift });

impl Wire for Seen {
    fn put(&self, batch: &mut Batch) {
        match *self {
            Seen::Receive => batch.extend([0, RECEIVE]),
            Seen::Send(other, ticks) => (other, ticks).put(batch),
        }
    }

    fn get(reader: &mut BatchReader<'_>) -> Seen {
        match *reader.words(2) {
            [_, RECEIVE] => Seen::Receive,
            ref words => {
                let (other, ticks) = wire::one(words);
                Seen::Send(other, ticks)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock_correction::links::{Link, LinkKind};
    use crate::clock_correction::meetings::Member;
    use crate::journal::Spot;
    use crate::walk::RecordTimes;
    use crate::wire::batch_of;

    #[test]
    fn stations_come_back_from_their_words() {
        let least = Least::new(1_000_000_000);
        let at = |location, record| Spot { location, position: RecordNumber::new(record) };
        let spot = |record| at(4, record);
        let link =
            |position, role, other| Link { spot: spot(position), role, kind: LinkKind::Message, other };
        let links = vec![
            link(1, Role::Receive, Side::Event(at(9, 3))),
            link(1, Role::Send, Side::Seat { worker: 2, number: 5 }),
            link(3, Role::Send, Side::Event(at(9, 3))),
        ];
        let records = RecordTimes { times: vec![10, 20, 20, 4000], ignored: vec![RecordNumber::new(2)] };
        let ways = [LocationShift::new(records, links), LocationShift::default()];
        let mut meetings = Meetings::new(1);
        let member = |sends| Member { begin: spot(0), end: spot(3), sends, receives: !sends };
        drop(meetings.add(&[member(true), member(false)], false));
        drop(meetings.add(&[member(false), member(true)], true));
        let stations = Stations::new(4, &ways, least, meetings);
        let batch = batch_of([&stations]);
        assert_eq!(batch.len(), stations.words());
        let decoded = wire::one::<Stations>(&batch);
        assert_eq!(decoded, stations);
        let second = decoded.station(0, 1).unwrap();
        assert_eq!((second.position, second.links(), second.time), (RecordNumber::new(3), 2..3, 4000));
        assert_eq!(
            (
                decoded.at(0, RecordNumber::new(3)),
                decoded.at(0, RecordNumber::new(2)),
                decoded.at(1, RecordNumber::new(3))
            ),
            (Some(1), None, None)
        );
    }
}
