//! What a location did between two events, by row: its journal with all waiting taken out, summed up quickly
//! (specification 7.2 and 7.3).

use model::Ticks;

use super::points::{Peers, SyncPoint};
use super::previous::Past;
use crate::journal::{Journal, Position};
use crate::severity::Row;

/// The time between two events by row, while it is being summed up. One for all locations of a worker.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    values: Vec<Ticks>,
    is_used: Vec<bool>,
    used: Vec<Row>,
}

impl Scratch {
    #[inline]
    fn add(&mut self, row: Row, ticks: Ticks) {
        let at = row as usize;
        if at >= self.values.len() {
            self.values.resize(at + 1, 0);
            self.is_used.resize(at + 1, false);
        }
        if !self.is_used[at] {
            self.is_used[at] = true;
            self.used.push(row);
        }
        self.values[at] = ticks.saturating_add(self.values[at]);
    }

    /// Hands over the rows with time, in rising order, and is empty again.
    fn take(&mut self, into: &mut Vec<(Row, Ticks)>) {
        into.clear();
        self.used.sort_unstable();
        for row in self.used.drain(..) {
            let ticks = std::mem::take(&mut self.values[row as usize]);
            self.is_used[row as usize] = false;
            if ticks > 0 {
                into.push((row, ticks));
            }
        }
    }
}

/// A location's journal, with its synchronisation points.
#[derive(Clone, Debug)]
pub(super) struct TimeLine {
    journal: Journal,
    points: Vec<SyncPoint>,
    /// Sum of the waits of all points before one, by the number of points.
    waited: Vec<Ticks>,
    rows: usize,
    /// Distance of the sums below, in pieces.
    step: usize,
    /// Time by row before each `step`-th piece.
    sums: Vec<Ticks>,
}

impl TimeLine {
    /// Takes the waits out of a journal with `rows` rows. `points` are sorted.
    ///
    /// What a worker thread does from its last barrier in a team on, until it begins in the next one, counts as idle (7.2).
    pub(super) fn new(
        mut journal: Journal,
        points: Vec<SyncPoint>,
        rows: usize,
        is_worker: bool,
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
        let mut waited = Vec::with_capacity(points.len() + 1);
        waited.push(0);
        let mut sum = 0;
        for point in &points {
            // The mark of an event is a piece without time.
            if point.wait > 0 {
                journal.set(point.position, -point.wait);
                sum = point.wait.saturating_add(sum);
            }
            waited.push(sum);
        }
        // Half as many sums as there are pieces, at most. A stretch of time takes about as long as this distance.
        let step = (2 * rows).max(16);
        let mut sums = Vec::with_capacity(journal.len() as usize / step * rows);
        let mut current = vec![0; rows];
        for position in 0..journal.len() {
            let (row, ticks) = journal.piece(position);
            let time = &mut current[row as usize];
            *time = ticks.saturating_add(*time);
            if (position as usize + 1).is_multiple_of(step) {
                sums.extend_from_slice(&current);
            }
        }
        TimeLine { journal, points, waited, rows, step, sums }
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

    /// The row of a piece, and its ticks without waiting.
    pub(super) fn piece(&self, position: Position) -> (Row, Ticks) {
        self.journal.piece(position)
    }

    /// The rows of all pieces, and their ticks without waiting.
    pub(super) fn pieces(&self) -> impl Iterator<Item = (Row, Ticks)> {
        self.journal.pieces(0..self.journal.len())
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
        for end in self.points.iter().map(|point| point.position).chain([self.end()]) {
            for (row, ticks) in self.journal.pieces(from..end) {
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

    /// The time that was not waiting, by row, from the begin of the call of the point `after`, or the begin of the trace, until
    /// an event.
    pub(super) fn work(
        &self,
        after: Option<usize>,
        before: Position,
        scratch: &mut Scratch,
        into: &mut Vec<(Row, Ticks)>,
    ) {
        self.work_since(after.map(|at| self.points[at].position), before, scratch, into);
    }

    /// The time that was not waiting, by row, between two events.
    pub(super) fn work_since(
        &self,
        since: Option<Position>,
        before: Position,
        scratch: &mut Scratch,
        into: &mut Vec<(Row, Ticks)>,
    ) {
        self.sum(since.map_or(0, |since| since as usize + 1), before as usize, scratch);
        scratch.take(into);
    }

    /// The same without what the point `after` itself took (7.3).
    pub(super) fn pruned(
        &self,
        after: Option<usize>,
        before: Position,
        scratch: &mut Scratch,
        into: &mut Vec<(Row, Ticks)>,
    ) {
        self.work(after, before, scratch, into);
        let Some(point) = after.map(|at| &self.points[at]) else { return };
        let row = self.row(point.position);
        match into.binary_search_by_key(&row, |entry| entry.0) {
            Ok(at) => into[at].1 = into[at].1.saturating_sub(point.taken).max(0),
            // A completion may be longer than the call seems to be, with the reference's sign (Q7) or wrong clocks.
            Err(at) if point.taken < 0 => into.insert(at, (row, -point.taken)),
            Err(_) => {}
        }
    }

    fn sum(&self, first: usize, end: usize, scratch: &mut Scratch) {
        let direct = |from: usize, to: usize, scratch: &mut Scratch| {
            for position in from..to {
                let (row, ticks) = self.journal.piece(position as Position);
                scratch.add(row, ticks);
            }
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
        let line = TimeLine::new(journal.clone(), Vec::new(), 5, false);
        let mut scratch = Scratch::default();
        let mut sums = Vec::new();
        for end in [0, 1, 15, 16, 17, 700, 3071, 3072] {
            line.work(None, end, &mut scratch, &mut sums);
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
        let line = TimeLine::new(journal, vec![point(a, 4, 7), point(b, 12, 15), point(c, 0, 0)], 3, false);
        let (mut scratch, mut sums) = (Scratch::default(), Vec::new());
        line.pruned(Some(0), c, &mut scratch, &mut sums);
        assert_eq!(sums, [(0, 35), (1, 10 + 20 - 12 - 7)]);
        assert_eq!(line.waiting(Past::new(Some(0), 2)), 12);
        line.pruned(Some(1), c, &mut scratch, &mut sums);
        assert_eq!(sums, [(0, 5), (1, 5)]);
    }
}
