//! Borders of iterations in the journal of a location, which has its time without the events in between.
//!
//! The ticks of all pieces before an event, and those that belong to no row, are the time since the first event, so borders are
//! found by adding up. A piece is all
//! time of a row between two marks; a border inside cuts it there, as if the row's time had come before that of later pieces.

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
        let mut skipped = journal.skipped().iter().peekable();
        let mut list: Vec<Border> = Vec::with_capacity(times.len());
        for (time, number) in times {
            while now < time {
                if let Some((_, ticks)) = skipped.next_if(|skipped| skipped.0 <= position) {
                    // What belongs to no row is on neither side.
                    now = now.saturating_add(*ticks);
                    continue;
                }
                let ticks = if position < journal.len() { journal.piece(position).1 } else { break };
                if now.saturating_add(ticks) > time {
                    break;
                }
                now = now.saturating_add(ticks);
                position = position.next();
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

    /// How many borders lie before a position.
    pub fn before(&self, position: JournalPosition) -> usize {
        self.list.partition_point(|border| {
            border.position < position || border.position == position && border.into == 0
        })
    }

    /// How many borders lie before a position or inside the piece before it.
    pub fn inside(&self, position: JournalPosition) -> usize {
        self.list.partition_point(|border| border.position < position)
    }

    /// The number of the iteration behind the first borders; 0 outside of iterations.
    pub fn number(&self, borders: usize) -> u32 {
        borders.checked_sub(1).map_or(0, |last| self.list[last].number)
    }

    /// Cuts pieces at the borders: calls `with` for each part, with the number of its iteration.
    pub fn cut(
        &self,
        pieces: impl Iterator<Item = (JournalPosition, Row, Ticks)>,
        mut with: impl FnMut(u32, Row, Ticks),
    ) {
        let mut next: Option<usize> = None;
        for (position, row, ticks) in pieces {
            let mut at =
                next.unwrap_or_else(|| self.list.partition_point(|border| border.position < position));
            let mut from = 0;
            while let Some(border) = self.list.get(at).filter(|border| border.position <= position) {
                if border.position == position && ticks > 0 {
                    let until = border.into.clamp(from, ticks);
                    if until > from {
                        with(self.number(at), row, until - from);
                    }
                    from = until;
                }
                at += 1;
            }
            if ticks != from {
                with(self.number(at), row, ticks - from);
            }
            next = Some(at);
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
        let pieces = JournalPosition::default()
            .until(journal.len())
            .zip(journal.pieces(Default::default()..journal.len()));
        let mut parts = Vec::new();
        borders.cut(pieces.map(|(position, (row, ticks))| (position, row, ticks)), |number, row, ticks| {
            parts.push((number, row.index(), ticks));
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
}
