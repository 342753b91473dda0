//! Time maps: time of a location between two events, by row, from its journal with all waiting taken out
//! (specification 7.2 and 7.3).
//!
//! Nearly all events in queries are points. So there is a second, shorter journal with one piece per row
//! between two points, however many events lie there at which other locations could have been made to wait.

use std::ops::Range;

use model::Ticks;

use super::points::{Peers, SyncPoint};
use super::previous::Past;
use crate::ids::{JournalPosition, Row};
use crate::int::to_u32;
use crate::journal::Journal;

/// Index from rows to entries of a list of sums under construction; one for all locations of a worker.
#[derive(Clone, Debug, Default)]
pub(super) struct RowPlaces {
    /// Entry of each row. For a row that is not in the list, any entry: the row in the list decides.
    of_rows: Vec<u32>,
}

impl RowPlaces {
    /// Grows the index to this number of rows.
    fn reach(&mut self, rows: usize) {
        self.of_rows.resize(self.of_rows.len().max(rows), 0);
    }

    /// Adds the ticks of rows to sums.
    #[inline]
    fn add(&mut self, pieces: impl IntoIterator<Item = (Row, Ticks)>, sums: &mut Vec<(Row, Ticks)>) {
        let places = &mut self.of_rows[..];
        for (row, ticks) in pieces {
            let place = &mut places[row.index()];
            match sums.get_mut(*place as usize) {
                Some((its_row, sum)) if *its_row == row => *sum = ticks.saturating_add(*sum),
                _ => {
                    *place = to_u32(sums.len());
                    sums.push((row, ticks));
                }
            }
        }
    }

    /// Subtracts the time that the call of a point took. A completion may be longer than the call seems to
    /// be, with the reference's sign (Q7) or wrong clocks.
    fn prune(&mut self, row: Row, taken: Ticks, sums: &mut Vec<(Row, Ticks)>) {
        self.add([(row, 0)], sums);
        let sum = &mut sums[self.of_rows[row.index()] as usize].1;
        let rest = if *sum > 0 { sum.saturating_sub(taken) } else { taken.saturating_neg() };
        *sum = rest.max(0);
    }
}

/// Time line: a location's journal, with its synchronisation points.
#[derive(Clone, Debug)]
pub(super) struct TimeLine {
    /// The journal, with all waiting.
    journal: Journal,
    points: Vec<SyncPoint>,
    /// The short journal, without points.
    short: Journal,
    /// Data of each point, and of the end.
    stops: Vec<Stop>,
    rows: usize,
    /// Numbers of the points with prefix sums, far enough from each other.
    sums_at: Vec<u32>,
    /// Prefix sums: time by row before each of these.
    sums: Vec<Ticks>,
}

/// Derived data of a point; of the end, too, except for the row.
#[derive(Clone, Debug)]
struct Stop {
    /// Position in the short journal.
    place: JournalPosition,
    row: Row,
    /// Sum of the waits of all points before.
    waited: Ticks,
}

impl TimeLine {
    /// Takes the waits out of a journal with `rows` rows; `points` are sorted.
    ///
    /// The time of a worker thread from its last barrier in a team until it starts in the next one counts as
    /// idle (specification 7.2).
    pub(super) fn new(
        mut journal: Journal,
        points: Vec<SyncPoint>,
        rows: usize,
        is_worker: bool,
        room: &mut RowPlaces,
    ) -> TimeLine {
        if is_worker {
            let is_begin = |point: &SyncPoint| matches!(point.peers, Peers::Region { is_master: false, .. });
            let begins = points.iter().enumerate().filter(|(_, point)| is_begin(point));
            let begins = begins.map(|(at, point)| (at, point.position));
            for (at, end) in begins.chain([(points.len(), journal.len())]) {
                let before = points[..at].iter().rfind(|point| point.peers != Peers::Nobody);
                if let Some(barrier) = before.filter(|point| matches!(point.peers, Peers::Barrier { .. })) {
                    barrier.position.next().until(end).for_each(|position| journal.set(position, 0));
                }
            }
        }
        room.reach(rows);
        let mut stops = Vec::with_capacity(points.len() + 1);
        let mut short = Journal::with_room(journal.len());
        let (mut from, mut waited) = (JournalPosition::default(), 0);
        for point in &points {
            short.spend_all(&journal, from..point.position);
            short.close();
            stops.push(Stop { place: short.len(), row: journal.piece(point.position).0, waited });
            waited = point.wait.max(0).saturating_add(waited);
            from = point.position.next();
        }
        short.spend_all(&journal, from..journal.len());
        short.shrink();
        stops.push(Stop { place: short.len(), row: Row::NONE, waited });
        let mut line =
            TimeLine { journal, points, short, stops, rows, sums_at: Vec::new(), sums: Vec::new() };
        line.sum_up();
        line
    }

    /// The location's synchronisation points, by position.
    pub(super) fn points(&self) -> &[SyncPoint] {
        &self.points
    }

    /// The event that ends a past, if it is a point.
    pub(super) fn point_behind(&self, past: Past, event: JournalPosition) -> Option<&SyncPoint> {
        self.points.get(past.points().end).filter(|point| point.position == event)
    }

    /// The part of a past since an event, if that is a point in it; otherwise all of it.
    pub(super) fn past_since(&self, event: JournalPosition, past: Past) -> Past {
        let end = past.points().end;
        match self.points.binary_search_by_key(&event, |point| point.position) {
            Ok(at) if at < end => Past::new(Some(at), end),
            _ => past,
        }
    }

    /// The row of the event that ends a past.
    pub(super) fn row(&self, past: Past, event: JournalPosition) -> Row {
        match self.point_behind(past, event) {
            Some(_) => self.stops[past.points().end].row,
            None => self.journal.piece(event).0,
        }
    }

    /// The row of an event of any kind, if there is such an event.
    pub(super) fn row_at(&self, event: JournalPosition) -> Option<Row> {
        (event < self.journal.len()).then(|| self.journal.piece(event).0)
    }

    /// The row of a point, and its ticks without waiting.
    pub(super) fn point_piece(&self, point: usize) -> (Row, Ticks) {
        (self.stops[point].row, -self.points[point].wait.max(0))
    }

    /// The rows of all pieces, and their ticks without waiting.
    pub(super) fn pieces(&self) -> impl Iterator<Item = (Row, Ticks)> {
        self.pieces_between(JournalPosition::default(), self.end())
    }

    /// The pieces from one position to another, without waiting.
    pub(super) fn pieces_between(
        &self,
        from: JournalPosition,
        to: JournalPosition,
    ) -> impl Iterator<Item = (Row, Ticks)> {
        let next = self.points.partition_point(|point| point.position < from);
        let mut points = self.points[next..].iter();
        let mut next = points.next();
        from.until(to).zip(self.journal.pieces(from..to)).map(move |(position, (row, ticks))| match next {
            Some(point) if point.position == position => {
                next = points.next();
                (row, -point.wait.max(0))
            }
            _ => (row, ticks),
        })
    }

    /// The pieces from one position to another, waiting included.
    pub(super) fn all_between(
        &self,
        from: JournalPosition,
        to: JournalPosition,
    ) -> impl Iterator<Item = (Row, Ticks)> {
        self.journal.pieces(from..to)
    }

    /// Whether the journal is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.journal.is_empty()
    }

    /// The position behind all pieces.
    pub(super) fn end(&self) -> JournalPosition {
        self.journal.len()
    }

    /// The waiting time in a past.
    pub(super) fn waiting(&self, past: Past) -> Ticks {
        let points = past.points();
        self.stops[points.end].waited.saturating_sub(self.stops[points.start].waited)
    }

    /// The time without waiting, by row in no order, in the past of an event.
    pub(super) fn work(
        &self,
        past: Past,
        event: JournalPosition,
        places: &mut RowPlaces,
        into: &mut Vec<(Row, Ticks)>,
    ) {
        self.sum(past, event, places, into);
        into.retain(|&(_, ticks)| ticks > 0);
    }

    /// The time without waiting between two events of any kind, piece by piece.
    pub(super) fn work_since(
        &self,
        since: Option<JournalPosition>,
        before: JournalPosition,
        places: &mut RowPlaces,
        into: &mut Vec<(Row, Ticks)>,
    ) {
        into.clear();
        self.sum_pieces(since, before, places, into);
        into.retain(|&(_, ticks)| ticks > 0);
    }

    /// The time without waiting, by row in no order, in the past of an event, less the time that the point
    /// before it took (specification 7.3).
    pub(super) fn pruned(
        &self,
        past: Past,
        event: JournalPosition,
        places: &mut RowPlaces,
        into: &mut Vec<(Row, Ticks)>,
    ) {
        self.sum(past, event, places, into);
        if let Some(after) = past.after() {
            places.prune(self.stops[after].row, self.points[after].taken, into);
        }
        into.retain(|&(_, ticks)| ticks > 0);
    }

    /// Sums up the past of an event.
    fn sum(&self, past: Past, event: JournalPosition, places: &mut RowPlaces, into: &mut Vec<(Row, Ticks)>) {
        into.clear();
        let points = past.points();
        let event_of_end = self.points.get(points.end).map_or(self.end(), |point| point.position);
        if event == event_of_end {
            let until = self.stops[points.end].place;
            return self.sum_points(points, until, places, into);
        }
        // An event that is not a point.
        let last = points.end.checked_sub(1).map(|last| self.points[last].position);
        let until = self.behind(points.end);
        self.sum_points(points, until, places, into);
        self.sum_pieces(last, event, places, into);
    }

    fn sum_pieces(
        &self,
        since: Option<JournalPosition>,
        before: JournalPosition,
        places: &mut RowPlaces,
        into: &mut Vec<(Row, Ticks)>,
    ) {
        let first = since.map_or(JournalPosition::default(), JournalPosition::next);
        let pieces = self.pieces_between(first, before.max(first));
        places.add(pieces, into);
    }

    /// Sums up some points with the pieces before them and, in the short journal, behind them up to a
    /// position.
    fn sum_points(
        &self,
        points: Range<usize>,
        until: JournalPosition,
        places: &mut RowPlaces,
        into: &mut Vec<(Row, Ticks)>,
    ) {
        let Range { start, end } = points;
        let mut directly = |points: Range<usize>, until: JournalPosition| {
            let pieces = self.short.pieces(self.behind(points.start)..until);
            places.add(pieces, into);
            places.add(points.map(|point| self.point_piece(point)), into);
        };
        let sums = match until.index() - self.behind(start).index() > 2 * distance(self.rows) {
            true => {
                let first = self.sums_at.partition_point(|&at| (at as usize) < start);
                first..self.sums_at.partition_point(|&at| at as usize <= end)
            }
            false => 0..0,
        };
        if sums.len() < 2 {
            return directly(start..end, until);
        }
        let (first, last) = (sums.start, sums.end - 1);
        let [next, before] = [first, last].map(|number| self.sums_at[number] as usize);
        directly(start..next, self.behind(next));
        directly(before..end, until);
        let [first, last] = [first, last].map(|number| &self.sums[number * self.rows..][..self.rows]);
        let differences = first.iter().zip(last).map(|(before, ticks)| ticks.saturating_sub(*before));
        let rows = Row::default().until(Row::NONE);
        places.add(rows.zip(differences).filter(|(_, ticks)| *ticks != 0), into);
    }

    /// The position in the short journal behind all points before one.
    fn behind(&self, point: usize) -> JournalPosition {
        point.checked_sub(1).map_or(JournalPosition::default(), |last| self.stops[last].place)
    }

    /// Computes the prefix sums.
    fn sum_up(&mut self) {
        let mut current = vec![0; self.rows];
        let mut before = 0;
        for number in 0..self.points.len() {
            let from = self.behind(number);
            if from.index() - before >= distance(self.rows) {
                self.sums_at.push(to_u32(number));
                self.sums.extend_from_slice(&current);
                before = from.index();
            }
            let mut add = |row: Row, ticks: Ticks| {
                let sum: &mut Ticks = &mut current[row.index()];
                *sum = ticks.saturating_add(*sum);
            };
            self.short.pieces(from..self.stops[number].place).for_each(|(row, ticks)| add(row, ticks));
            let (row, ticks) = self.point_piece(number);
            add(row, ticks);
        }
        self.sums_at.shrink_to_fit();
        self.sums.shrink_to_fit();
    }
}

/// Distance of prefix sums, in pieces of the short journal. They take at most half as much memory as that
/// journal, and summing up a range takes about as long as this distance.
fn distance(rows: usize) -> usize {
    (4 * rows).max(32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::causes::points::Next;

    fn point(position: JournalPosition, wait: Ticks, taken: Ticks) -> SyncPoint {
        SyncPoint { position, wait, taken, peers: Peers::World, next: Next::Through }
    }

    #[test]
    fn sums_from_anywhere_to_anywhere_are_those_of_the_pieces() {
        let mut journal = Journal::default();
        // As many as make a whole number of steps.
        for at in 0..1536 {
            journal.spend(Row::new(at % 5), i64::try_from(at % 11).unwrap() + 1);
            journal.mark(Row::new(at % 3));
        }
        let (mut places, mut sums) = (RowPlaces::default(), Vec::new());
        // Not all marks are points.
        let at = JournalPosition::new;
        let points = (0..900).map(|number| point(at(2 * number + 1), 0, 0)).collect();
        let line = TimeLine::new(journal.clone(), points, 5, false, &mut places);
        for end in [0, 1, 15, 16, 17, 700, 701, 2900, 3071, 3072].map(at) {
            let before = line.points().partition_point(|point| point.position < end);
            line.work(Past::new(None, before), end, &mut places, &mut sums);
            sums.sort_unstable();
            let mut expected = [0; 5];
            journal.pieces(at(0)..end).for_each(|(row, ticks)| expected[row.index()] += ticks);
            let expected = expected.into_iter().enumerate().filter(|&(_, ticks)| ticks > 0);
            let expected: Vec<_> = expected.map(|(row, ticks)| (Row::new(row), ticks)).collect();
            assert_eq!(sums, expected, "until {end:?}");
        }
    }

    #[test]
    fn waiting_and_the_call_of_the_point_before_are_no_work() {
        let rows = [0, 1, 2].map(Row::new);
        let mut journal = Journal::default();
        let a = journal.mark(rows[1]);
        journal.spend(rows[1], 10);
        journal.spend(rows[0], 30);
        let b = journal.mark(rows[1]);
        journal.spend(rows[1], 20);
        journal.spend(rows[0], 5);
        let c = journal.mark(rows[2]);
        let (mut places, mut sums) = (RowPlaces::default(), Vec::new());
        let points = vec![point(a, 4, 7), point(b, 12, 15), point(c, 0, 0)];
        let line = TimeLine::new(journal, points, 3, false, &mut places);
        line.pruned(Past::new(Some(0), 2), c, &mut places, &mut sums);
        sums.sort_unstable();
        assert_eq!(sums, [(rows[0], 35), (rows[1], 10 + 20 - 12 - 7)]);
        assert_eq!(line.waiting(Past::new(Some(0), 2)), 12);
        line.pruned(Past::new(Some(1), 2), c, &mut places, &mut sums);
        sums.sort_unstable();
        assert_eq!(sums, [(rows[0], 5), (rows[1], 5)]);
    }
}
