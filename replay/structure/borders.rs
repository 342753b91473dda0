//! Borders of iterations in the journal of a location, which has its time without the events in between.
//!
//! The ticks of all pieces before an event, and those that belong to no row, are the time since the first event, so borders are
//! found by adding up. A piece is all
//! time of a row between two marks; a border inside cuts it there, as if the row's time had come before that of later pieces.

use std::ops::Range;

use model::Ticks;

use super::agree::LocationIterations;
use crate::ids::{JournalPosition, Row};
use crate::journal::Journal;

/// A place in a journal from which on the iteration is another one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Border {
    /// The piece that it is in, or the first one behind it.
    position: JournalPosition,
    /// Ticks of that piece before it.
    into: Ticks,
    /// The common number of the iteration behind it; 0 for none.
    number: u32,
}

/// The borders of a location, in order.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Borders {
    list: Vec<Border>,
}

impl Borders {
    /// Finds the borders of iterations in a journal, of the `count` that all locations have.
    pub fn new(journal: &Journal, line: &LocationIterations, count: u64) -> Borders {
        let mut times: Vec<(Ticks, u32)> = Vec::new();
        for (place, own) in line.own.iter().enumerate() {
            let number = u32::try_from(line.number_of_all(Some(place), count)).unwrap_or(0);
            // An iteration begins where the one before ends, or later.
            if times.last().is_some_and(|&(time, _)| time == own.begin) {
                times.pop();
            }
            times.extend([(own.begin, number), (own.end, 0)]);
        }
        let mut now = journal.begin();
        let mut position = JournalPosition::default();
        let mut pieces = journal.pieces(position..journal.len());
        let mut piece = pieces.next();
        let mut skipped = journal.skipped().iter();
        let mut skip = skipped.next();
        let mut list: Vec<Border> = Vec::with_capacity(times.len());
        for (time, number) in times {
            while now < time {
                // What belongs to no row is on neither side.
                let next_skip = skip.map_or(journal.len(), |(place, _)| *place);
                while let Some((_, ticks)) = piece
                    && position < next_skip
                    && now < time
                    && now.saturating_add(ticks) <= time
                {
                    now = now.saturating_add(ticks);
                    (position, piece) = (position.next(), pieces.next());
                }
                let Some((_, ticks)) = skip.filter(|_| position >= next_skip && now < time) else { break };
                now = now.saturating_add(*ticks);
                skip = skipped.next();
            }
            if list.last().map_or(0, |border| border.number) != number {
                list.push(Border { position, into: time.saturating_sub(now).max(0), number });
            }
        }
        Borders { list }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none: all is outside of iterations.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Borders at marks of a journal, in order, each with the number of what begins there.
    pub fn at(marks: impl Iterator<Item = (JournalPosition, u32)>) -> Borders {
        Borders { list: marks.map(|(position, number)| Border { position, into: 0, number }).collect() }
    }

    /// The position of the first border, if there is one.
    pub fn first(&self) -> Option<JournalPosition> {
        self.list.first().map(|border| border.position)
    }

    /// The position of the last border, if there is one.
    pub fn last(&self) -> Option<JournalPosition> {
        self.list.last().map(|border| border.position)
    }

    /// How many borders lie before a position; perhaps `near`, from which it is searched.
    pub fn before(&self, position: JournalPosition, near: usize) -> usize {
        self.search(near, |border| {
            border.position < position || border.position == position && border.into == 0
        })
    }

    /// How many borders lie before a position or inside the piece before it; perhaps `near`.
    fn inside(&self, position: JournalPosition, near: usize) -> usize {
        self.search(near, |border| border.position < position)
    }

    /// The number of the first border of which it does not hold that it is before something, as it does of all before that one.
    fn search(&self, near: usize, is_before: impl Fn(&Border) -> bool) -> usize {
        let near = near.min(self.list.len());
        let (known, rest) = self.list.split_at(near);
        if known.last().is_some_and(|border| !is_before(border)) {
            return known.partition_point(is_before);
        }
        let mut reach = 1;
        while rest.get(reach - 1).is_some_and(&is_before) {
            reach *= 2;
        }
        let begin = reach / 2;
        near + begin + rest[begin..reach.min(rest.len())].partition_point(is_before)
    }

    /// The number of the iteration behind the first borders; 0 outside of iterations.
    pub fn number(&self, borders: usize) -> u32 {
        borders.checked_sub(1).map_or(0, |last| self.list[last].number)
    }

    /// How many borders lie before a stretch, and before its end or in the piece before it. The first may be `near`.
    pub fn ends(&self, stretch: Range<JournalPosition>, near: usize) -> [usize; 2] {
        let first = self.before(stretch.start, near);
        [first, self.inside(stretch.end, first)]
    }

    /// Cuts the pieces from a position on at the borders from `first` to before `last`, those that are in them: calls `with` for each
    /// part, with the number of borders before it. A piece of less than nothing is not cut.
    pub fn cut(
        &self,
        [first, last]: [usize; 2],
        (from, mut pieces): (JournalPosition, impl Iterator<Item = (Row, Ticks)>),
        mut with: impl FnMut(usize, Row, Ticks),
    ) {
        let mut position = from;
        // What is left of the piece there, and its ticks before the latest border.
        let (mut piece, mut spent) = (pieces.next(), 0);
        for (at, border) in (first..last).map(|at| (at, &self.list[at])) {
            while position < border.position
                && let Some((row, ticks)) = piece
            {
                if ticks != 0 {
                    with(at, row, ticks);
                }
                (position, piece, spent) = (position.next(), pieces.next(), 0);
            }
            if let Some((row, ticks)) = &mut piece {
                let part = (border.into - spent).min(*ticks);
                if part > 0 {
                    with(at, *row, part);
                    (*ticks, spent) = (*ticks - part, spent + part);
                }
            }
        }
        for (row, ticks) in piece.into_iter().chain(pieces).filter(|&(_, ticks)| ticks != 0) {
            with(last, row, ticks);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::agree::Numbering;
    use super::super::local::OwnIteration;
    use super::*;

    fn own(begin: Ticks, end: Ticks) -> OwnIteration {
        let (first, behind, last_enter) = (0, 0, begin);
        OwnIteration { first, behind, is_border: false, begin, last_enter, end, in_mpi: 0, has_gap: false }
    }

    /// From 100 on, two rows with 10 and 20 ticks before a mark; then 30 ticks, and behind 50 that belong to no row, 5.
    fn cut(iterations: &[(Ticks, Ticks)]) -> Vec<(u32, usize, Ticks)> {
        let mut journal = Journal::default();
        journal.start(100);
        journal.spend(Row::new(0), 10);
        journal.spend(Row::new(1), 20);
        journal.mark(Row::new(2));
        journal.spend(Row::new(1), 30);
        journal.skip(50);
        journal.spend(Row::new(1), 5);
        let own: Vec<OwnIteration> = iterations.iter().map(|&(begin, end)| own(begin, end)).collect();
        let words = vec![0; own.len()].into();
        let line = LocationIterations {
            location: 0,
            numbering: Numbering::Own,
            is_irregular: false,
            own: own.into(),
            words,
        };
        let borders = Borders::new(&journal, &line, 9);
        let all = JournalPosition::default()..journal.len();
        let ends = borders.ends(all.clone(), 0);
        let mut parts = Vec::new();
        borders.cut(ends, (all.start, journal.pieces(all)), |before, row, ticks| {
            parts.push((borders.number(before), row.index(), ticks));
        });
        parts
    }

    #[test]
    fn border_inside_a_piece_cuts_it() {
        let parts = [(0, 0, 10), (0, 1, 5), (1, 1, 15), (1, 1, 10), (2, 1, 20), (0, 1, 5)];
        assert_eq!(cut(&[(115, 140), (140, 160)]), parts);
    }

    #[test]
    fn borders_between_pieces_cut_none_and_what_is_between_iterations_is_outside() {
        let parts = [(0, 0, 10), (1, 1, 20), (0, 1, 20), (2, 1, 10), (0, 1, 5)];
        assert_eq!(cut(&[(110, 130), (150, 160)]), parts);
    }

    #[test]
    fn time_that_belongs_to_no_row_passes() {
        assert_eq!(
            cut(&[(165, 200), (212, 215)]),
            [(0, 0, 10), (0, 1, 20), (0, 1, 30), (0, 1, 2), (2, 1, 3)]
        );
        assert_eq!(
            cut(&[(150, 211)]),
            [(0, 0, 10), (0, 1, 20), (0, 1, 20), (1, 1, 10), (1, 1, 1), (0, 1, 4)]
        );
    }

    #[test]
    fn without_iterations_all_is_outside() {
        assert_eq!(cut(&[]), [(0, 0, 10), (0, 1, 20), (0, 1, 30), (0, 1, 5)]);
    }

    #[test]
    fn borders_are_found_from_anywhere() {
        let border = |at: usize| Border { position: JournalPosition::new(at), into: 0, number: 1 };
        let borders = Borders { list: [2, 3, 5, 8, 13, 21].map(border).into() };
        for near in 0..8 {
            let found = |position| borders.inside(JournalPosition::new(position), near);
            assert_eq!([0, 3, 4, 13, 14, 21, 22, 30].map(found), [0, 1, 2, 4, 5, 5, 6, 6]);
        }
        assert_eq!(Borders::default().inside(JournalPosition::new(3), 2), 0);
    }
}
