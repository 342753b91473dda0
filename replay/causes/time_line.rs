//! What a location did between two events, by row: its journal with all waiting taken out, summed up quickly
//! (specification 7.2 and 7.3).
//!
//! Nearly all events that anyone asks for are points. So the journal is kept once more in short: between two points, a row
//! has one piece there, however often others could have been made to wait meanwhile.

use std::ops::Range;

use model::Ticks;

use super::points::{Peers, SyncPoint};
use super::previous::Past;
use crate::journal::{Journal, Position};
use crate::severity::Row;

/// The time between two events by row, while it is being summed up. One for all locations of a worker.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    values: Vec<Ticks>,
    /// A bit for each row that was added to.
    used: Vec<u64>,
}

impl Scratch {
    /// Makes room for so many rows.
    fn reach(&mut self, rows: usize) {
        if rows > self.values.len() {
            self.values.resize(rows, 0);
            self.used.resize(rows.div_ceil(64), 0);
        }
    }

    #[inline]
    fn add(&mut self, row: Row, ticks: Ticks) {
        let sum = &mut self.values[row as usize];
        *sum = ticks.saturating_add(*sum);
        self.used[row as usize / 64] |= 1 << (row % 64);
    }

    /// Takes out what a call of a point took. A completion may be longer than the call seems to be, with the reference's sign
    /// (Q7) or wrong clocks.
    fn prune(&mut self, row: Row, taken: Ticks) {
        let sum = self.values[row as usize];
        let rest = if sum > 0 { sum.saturating_sub(taken) } else { taken.saturating_neg() };
        self.add(row, rest.max(0).saturating_sub(sum));
    }

    /// Hands over what was added to the first `rows` rows, in order, and is empty again.
    #[inline]
    fn take(&mut self, rows: usize, mut with: impl FnMut(Row, Ticks)) {
        for (at, used) in self.used[..rows.div_ceil(64)].iter_mut().enumerate() {
            while *used != 0 {
                let row = 64 * at + used.trailing_zeros() as usize;
                *used &= *used - 1;
                with(row as Row, std::mem::take(&mut self.values[row]));
            }
        }
    }

    /// Hands over the rows with time, in order, and is empty again.
    fn take_time(&mut self, rows: usize, into: &mut Vec<(Row, Ticks)>) {
        into.clear();
        self.take(rows, |row, ticks| {
            if ticks > 0 {
                into.push((row, ticks));
            }
        });
    }
}

/// A location's journal, with its synchronisation points.
#[derive(Clone, Debug)]
pub(super) struct TimeLine {
    /// The journal, with all waiting.
    journal: Journal,
    points: Vec<SyncPoint>,
    /// The journal without waiting, in short.
    short: Journal,
    /// Where each point is in there, and the end.
    places: Vec<Position>,
    /// Sum of the waits of all points before one, by the number of points.
    waited: Vec<Ticks>,
    rows: usize,
    /// Distance of the sums below, in short pieces.
    step: usize,
    /// Time by row before each `step`-th short piece.
    sums: Vec<Ticks>,
}

impl TimeLine {
    /// Takes the waits out of a journal with `rows` rows; `points` are sorted. `short` is room for it in short.
    ///
    /// What a worker thread does from its last barrier in a team on, until it begins in the next one, counts as idle (7.2).
    pub(super) fn new(
        mut journal: Journal,
        points: Vec<SyncPoint>,
        rows: usize,
        is_worker: bool,
        scratch: &mut Scratch,
        short: &mut Journal,
    ) -> TimeLine {
        if is_worker {
            let is_begin = |point: &SyncPoint| matches!(point.peers, Peers::Region { is_master: false, .. });
            let begins = points.iter().enumerate().filter(|(_, point)| is_begin(point));
            let begins = begins.map(|(at, point)| (at, point.position));
            for (at, end) in begins.chain([(points.len(), journal.len())]) {
                let before = at.checked_sub(1).map(|before| &points[before]);
                if let Some(barrier) = before.filter(|point| matches!(point.peers, Peers::Barrier { .. })) {
                    (barrier.position + 1..end).for_each(|position| journal.set(position, 0));
                }
            }
        }
        scratch.reach(rows);
        short.clear();
        let mut places = Vec::with_capacity(points.len() + 1);
        let mut waited = Vec::with_capacity(points.len() + 1);
        waited.push(0);
        let (mut from, mut sum) = (0, 0);
        for point in &points {
            shorten(&journal, from..point.position, rows, scratch, short);
            // The mark of an event is a piece without time.
            places.push(short.mark(journal.piece(point.position).0));
            if point.wait > 0 {
                short.set(short.len() - 1, -point.wait);
                sum = point.wait.saturating_add(sum);
            }
            waited.push(sum);
            from = point.position + 1;
        }
        shorten(&journal, from..journal.len(), rows, scratch, short);
        places.push(short.len());
        // As large as it has to be.
        let mut short = short.clone();
        short.shrink();
        let step = (2 * rows).max(16);
        let sums = sums(&short, rows, step);
        TimeLine { journal, points, short, places, waited, rows, step, sums }
    }

    /// The location's synchronisation points, by position.
    pub(super) fn points(&self) -> &[SyncPoint] {
        &self.points
    }

    /// The event behind a past, if it is a point.
    pub(super) fn point_behind(&self, past: Past, event: Position) -> Option<&SyncPoint> {
        self.points.get(past.points().end).filter(|point| point.position == event)
    }

    /// The row of an event.
    pub(super) fn row(&self, position: Position) -> Row {
        self.journal.piece(position).0
    }

    /// The row of a point, and its ticks without waiting.
    pub(super) fn point_piece(&self, point: usize) -> (Row, Ticks) {
        self.short.piece(self.places[point])
    }

    /// The rows of all pieces, and their ticks without waiting.
    pub(super) fn pieces(&self) -> impl Iterator<Item = (Row, Ticks)> {
        self.pieces_between(0, self.end())
    }

    /// The same from one piece until another one.
    fn pieces_between(&self, from: Position, to: Position) -> impl Iterator<Item = (Row, Ticks)> {
        let next = self.points.partition_point(|point| point.position < from);
        let mut points = self.points[next..].iter().peekable();
        (from..to).zip(self.journal.pieces(from..to)).map(move |(position, (row, ticks))| {
            match points.next_if(|point| point.position == position) {
                Some(point) => (row, -point.wait.max(0)),
                None => (row, ticks),
            }
        })
    }

    /// The time in some rows before each point, and before the end: one after the other for each of them. A row may be
    /// missing.
    pub(super) fn before_points(&self, rows: &[Option<Row>]) -> Vec<Ticks> {
        let mut column = vec![rows.len(); self.rows];
        for (at, row) in rows.iter().enumerate() {
            if let Some(row) = row {
                column[*row as usize] = at;
            }
        }
        // The last one is of all other rows.
        let mut current = vec![0; rows.len() + 1];
        let mut sums = Vec::with_capacity((self.points.len() + 1) * rows.len());
        let mut from = 0;
        for &end in &self.places {
            for (row, ticks) in self.short.pieces(from..end) {
                let sum: &mut Ticks = &mut current[column[row as usize]];
                *sum = ticks.saturating_add(*sum);
            }
            from = end;
            sums.extend_from_slice(&current[..rows.len()]);
        }
        sums
    }

    /// Whether the location did nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.journal.is_empty()
    }

    /// The position behind everything.
    pub(super) fn end(&self) -> Position {
        self.journal.len()
    }

    /// The waiting in a past.
    pub(super) fn waiting(&self, past: Past) -> Ticks {
        let points = past.points();
        self.waited[points.end].saturating_sub(self.waited[points.start])
    }

    /// The time that was not waiting, by row, in the past of an event.
    pub(super) fn work(
        &self,
        past: Past,
        event: Position,
        scratch: &mut Scratch,
        into: &mut Vec<(Row, Ticks)>,
    ) {
        self.sum(past, event, scratch);
        scratch.take_time(self.rows, into);
    }

    /// The same between two events of any kind, piece by piece.
    pub(super) fn work_since(
        &self,
        since: Option<Position>,
        before: Position,
        scratch: &mut Scratch,
        into: &mut Vec<(Row, Ticks)>,
    ) {
        self.sum_pieces(since, before, scratch);
        scratch.take_time(self.rows, into);
    }

    /// The time that was not waiting, by row, in the past of an event, without what the point before it took (7.3).
    pub(super) fn pruned(
        &self,
        past: Past,
        event: Position,
        scratch: &mut Scratch,
        into: &mut Vec<(Row, Ticks)>,
    ) {
        self.sum(past, event, scratch);
        if let Some(after) = past.after() {
            scratch.prune(self.point_piece(after).0, self.points[after].taken);
        }
        scratch.take_time(self.rows, into);
    }

    /// Sums up the past of an event.
    fn sum(&self, past: Past, event: Position, scratch: &mut Scratch) {
        let first = past.after().map_or(0, |after| self.places[after] as usize + 1);
        let end = past.points().end;
        let event_of_end = self.points.get(end).map_or(self.end(), |point| point.position);
        if event == event_of_end {
            return self.sum_short(first, self.places[end] as usize, scratch);
        }
        // An event that is no point.
        let last = end.checked_sub(1);
        self.sum_short(first, last.map_or(0, |last| self.places[last] as usize + 1), scratch);
        self.sum_pieces(last.map(|last| self.points[last].position), event, scratch);
    }

    fn sum_pieces(&self, since: Option<Position>, before: Position, scratch: &mut Scratch) {
        let first = since.map_or(0, |since| since + 1);
        self.pieces_between(first, before.max(first)).for_each(|(row, ticks)| scratch.add(row, ticks));
    }

    fn sum_short(&self, first: usize, end: usize, scratch: &mut Scratch) {
        let direct = |from: usize, to: usize, scratch: &mut Scratch| {
            let pieces = self.short.pieces(from as Position..to as Position);
            pieces.for_each(|(row, ticks)| scratch.add(row, ticks));
        };
        let (next, last) = (first.div_ceil(self.step), end / self.step);
        if next >= last {
            return direct(first, end, scratch);
        }
        direct(first, next * self.step, scratch);
        for row in 0..self.rows {
            let before = |number: usize| match number {
                0 => 0,
                number => self.sums[(number - 1) * self.rows + row],
            };
            let ticks: Ticks = before(last);
            let ticks = ticks.saturating_sub(before(next));
            if ticks != 0 {
                scratch.add(row as Row, ticks);
            }
        }
        direct(last * self.step, end, scratch);
    }
}

/// Adds some pieces of a journal to another one, those of each row as one.
fn shorten(
    journal: &Journal,
    pieces: Range<Position>,
    rows: usize,
    scratch: &mut Scratch,
    short: &mut Journal,
) {
    for (row, ticks) in journal.pieces(pieces) {
        // Many are marks.
        if ticks != 0 {
            scratch.add(row, ticks);
        }
    }
    scratch.take(rows, |row, ticks| short.spend(row, ticks));
}

/// The time by row before each `step`-th piece. Half as many sums as there are pieces, at most: a stretch of time takes
/// about as long to sum up as this distance.
fn sums(journal: &Journal, rows: usize, step: usize) -> Vec<Ticks> {
    let mut sums = Vec::with_capacity(journal.len() as usize / step * rows);
    let mut current = vec![0; rows];
    for (number, (row, ticks)) in (1_usize..).zip(journal.pieces(0..journal.len())) {
        let time: &mut Ticks = &mut current[row as usize];
        *time = ticks.saturating_add(*time);
        if number.is_multiple_of(step) {
            sums.extend_from_slice(&current);
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::causes::points::Next;

    fn point(position: Position, wait: Ticks, taken: Ticks) -> SyncPoint {
        SyncPoint { position, wait, taken, peers: Peers::World, next: Next::Through }
    }

    #[test]
    fn sums_from_anywhere_to_anywhere_are_those_of_the_pieces() {
        let mut journal = Journal::default();
        // As many as make a whole number of steps.
        for at in 0..1536_u32 {
            journal.spend(at % 5, i64::from(at % 11) + 1);
            journal.mark(at % 3);
        }
        let (mut scratch, mut sums) = (Scratch::default(), Vec::new());
        // Not all marks are points.
        let points = (0..900).map(|at| point(2 * at + 1, 0, 0)).collect();
        let line = TimeLine::new(journal.clone(), points, 5, false, &mut scratch, &mut Journal::default());
        for end in [0, 1, 15, 16, 17, 700, 701, 2900, 3071, 3072] {
            let before = line.points().partition_point(|point| point.position < end);
            line.work(Past::new(None, before), end, &mut scratch, &mut sums);
            let mut expected = [0; 5];
            (0..end).for_each(|at| expected[journal.piece(at).0 as usize] += journal.piece(at).1);
            let expected: Vec<_> = (0..).zip(expected).filter(|&(_, ticks)| ticks > 0).collect();
            assert_eq!(sums, expected, "until {end}");
        }
    }

    #[test]
    fn waiting_and_the_call_of_the_point_before_are_no_work() {
        let mut journal = Journal::default();
        let a = journal.mark(1);
        journal.spend(1, 10);
        journal.spend(0, 30);
        let b = journal.mark(1);
        journal.spend(1, 20);
        journal.spend(0, 5);
        let c = journal.mark(2);
        let (mut scratch, mut sums) = (Scratch::default(), Vec::new());
        let points = vec![point(a, 4, 7), point(b, 12, 15), point(c, 0, 0)];
        let line = TimeLine::new(journal, points, 3, false, &mut scratch, &mut Journal::default());
        line.pruned(Past::new(Some(0), 2), c, &mut scratch, &mut sums);
        assert_eq!(sums, [(0, 35), (1, 10 + 20 - 12 - 7)]);
        assert_eq!(line.waiting(Past::new(Some(0), 2)), 12);
        line.pruned(Past::new(Some(1), 2), c, &mut scratch, &mut sums);
        assert_eq!(sums, [(0, 5), (1, 5)]);
    }
}
