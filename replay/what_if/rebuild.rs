//! Marks of a location in another order, or in parts: what scenarios need that change the order of events.

use model::Ticks;

use super::completions::Completion;
use super::goals::{Goal, Goals};
use super::graph::LocationGraph;
use super::marks::{Kind, Mark, Marks, Piece};
use crate::ids::Row;
use crate::int::to_u32;

/// A location while its marks are made anew. The numbers of completions and dependencies stay; new ones follow behind.
#[derive(Debug)]
pub(super) struct Rebuilding<'a> {
    old: &'a LocationGraph,
    new: Marks,
    goals: Goals,
    /// By old mark: the new one.
    place_of: Vec<u32>,
}

impl<'a> Rebuilding<'a> {
    /// Of a location whose goals are in order.
    pub(super) fn new(old: &'a LocationGraph) -> Rebuilding<'a> {
        Rebuilding {
            old,
            new: old.marks.anew(),
            goals: Goals::default(),
            place_of: vec![0; old.marks.list.len()],
        }
    }

    /// The goals of an old mark.
    pub(super) fn goals_of(&self, mark: usize) -> impl Iterator<Item = Goal> + Clone + use<'a> {
        self.old.goals.of(to_u32(mark))
    }

    /// The next mark is an old one.
    pub(super) fn keep(&mut self, mark: usize) {
        self.keep_with(mark, self.old.marks.pieces_of(mark));
        self.goals_of(mark).for_each(|goal| self.tell(goal));
    }

    /// The next mark is an old one with other pieces of time before it, and without its goals.
    pub(super) fn keep_with(&mut self, mark: usize, pieces: impl IntoIterator<Item = Piece>) {
        let old = self.old.marks.list[mark];
        self.place_of[mark] = to_u32(self.new.list.len());
        if let Kind::Completion(number) = old.kind() {
            let mark = to_u32(self.new.list.len());
            self.new.completions.change(number, |completion| completion.mark = mark);
        }
        let before = mark.checked_sub(1).map_or(old.time, |before| self.old.marks.list[before].time);
        self.push(mark, old, pieces, old.time - before);
    }

    /// The next mark is only the end of some work.
    pub(super) fn work(&mut self, like: usize, pieces: impl IntoIterator<Item = Piece>) {
        let old = self.old.marks.list[like];
        self.push(like, Mark::new(old.time, Kind::Work, old.pieces), pieces, 0);
    }

    /// The next mark waits for a part of a message; returns its completion.
    pub(super) fn wait(&mut self, like: usize, row: Row) -> u32 {
        let completion = Completion::new(to_u32(self.new.list.len()), row, false);
        let number = self.new.completions.push(Completion { completes_messages: true, ..completion });
        let old = self.old.marks.list[like];
        self.push(like, Mark::new(old.time, Kind::Completion(number), old.pieces), [], 0);
        number
    }

    /// The mark that was made last has a goal.
    pub(super) fn tell(&mut self, goal: Goal) {
        self.goals.push(to_u32(self.new.list.len().saturating_sub(1)), goal);
    }

    /// Times are those of a run with this order in which nothing else changes.
    fn push(
        &mut self,
        like: usize,
        mut mark: Mark,
        pieces: impl IntoIterator<Item = Piece>,
        duration: Ticks,
    ) {
        let marks = &mut self.new;
        let mut work = 0;
        for Piece { row, ticks } in pieces {
            work += ticks;
            if row != Row::NONE {
                marks.pieces.spend(row, ticks);
            }
        }
        marks.pieces.close();
        mark.time = match (mark.kind(), marks.list.last()) {
            (Kind::Work, Some(before)) => before.time + work,
            (Kind::Completion(_), Some(before)) => before.time + duration,
            (Kind::Fixed, _) | (_, None) => mark.time,
        };
        mark.pieces = marks.pieces.len();
        marks.list.push(mark);
        marks.place_like(&self.old.marks, like);
    }

    /// The marks, and the goals in their order; all old marks were kept.
    pub(super) fn finish(mut self) -> (Marks, Goals) {
        self.new.pieces.shrink();
        let place = |mark: u32| self.place_of[mark as usize];
        self.new.begin = self.old.marks.begin.map(place);
        self.new.end = self.old.marks.end.map(place);
        self.new.borders = self.old.marks.borders.iter().map(|&mark| place(mark)).collect();
        (self.new, self.goals)
    }
}
