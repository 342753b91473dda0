//! Where the ends of messages are among the steps of their thread: which call of MPI sends, posts and completes them.
//!
//! ```text
//! call     [ MPI_Irecv ]         [ MPI_Wait        ]
//! message  posted                         completed
//! ```
//!
//! A message is sent and posted where a call begins, and over where a call ends. So if one call ends and another one
//! begins at a time, what is over belongs to the first, and what is sent or posted to the second. If several calls begin at
//! a time, those that are known to be about messages come first.

use std::io;

use crate::steps::{Callee, Step, Steps};

/// A place among the steps of a thread.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Place {
    /// The number of steps in front of it.
    pub(crate) position: u64,
    /// The number of the call of MPI that it is in, from 1 on; 0 if it is in none.
    pub(crate) call: u32,
}

/// One side of a message at a thread: the sender's or the receiver's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Side {
    /// Position of the message among those of the task.
    pub(crate) message: u32,
    pub(crate) is_send: bool,
    /// When it is sent or posted, and when it is over.
    pub(crate) begin: u64,
    pub(crate) end: u64,
    pub(crate) begins: Place,
    pub(crate) ends: Place,
}

/// One end of a side.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Point {
    time: u64,
    is_begin: bool,
    side: usize,
}

/// Calls of MPI that are open, and the number of all.
#[derive(Debug, Default)]
struct Calls {
    /// By open call: the number of the innermost call of MPI, which it is or is in; 0 if there is none.
    open: Vec<u32>,
    count: u32,
}

impl Calls {
    /// The innermost call of MPI, if one is open.
    fn innermost(&self) -> u32 {
        self.open.last().copied().unwrap_or(0)
    }

    /// Goes on by a step; returns the call of MPI that begins.
    fn apply(&mut self, step: Step) -> Option<(u32, Callee)> {
        match step {
            Step::Enter { of: Callee::Program, .. } => self.open.push(self.innermost()),
            Step::Enter { of, .. } => {
                self.count = self.count.saturating_add(1);
                self.open.push(self.count);
                return Some((self.count, of));
            }
            Step::Leave => {
                self.open.pop();
            }
            Step::Count { .. } | Step::Collective(_) | Step::Callers { .. } => {}
        }
        None
    }
}

/// Calls of MPI that begin at a time.
#[derive(Debug, Default)]
struct Begun {
    first: Option<Place>,
    last: Option<Place>,
    /// Whether these are about messages.
    is_of_messages: bool,
}

impl Begun {
    fn add(&mut self, place: Place, of: Callee) {
        let is_of_messages = of == Callee::Messages;
        if is_of_messages && !self.is_of_messages {
            *self = Begun { is_of_messages, ..Begun::default() };
        }
        if is_of_messages == self.is_of_messages {
            self.first = self.first.or(Some(place));
            self.last = Some(place);
        }
    }
}

/// Finds the places of all sides.
pub(crate) fn place(mut steps: Steps<'_>, sides: &mut [Side]) -> io::Result<()> {
    let mut points: Vec<Point> = Vec::with_capacity(2 * sides.len());
    for (at, side) in sides.iter().enumerate() {
        points.push(Point { time: side.begin, is_begin: true, side: at });
        points.push(Point { time: side.end, is_begin: false, side: at });
    }
    points.sort_unstable();
    let mut calls = Calls::default();
    let mut position: u64 = 0;
    let mut next = steps.next()?;
    for of_time in points.chunk_by(|a, b| a.time == b.time) {
        let Some(time) = of_time.first().map(|point| point.time) else { continue };
        while let Some((_, step)) = next.filter(|step| step.0 < time) {
            calls.apply(step);
            position += 1;
            next = steps.next()?;
        }
        let before = Place { position, call: calls.innermost() };
        let mut begun = Begun::default();
        while let Some((_, step)) = next.filter(|step| step.0 == time) {
            position += 1;
            if let Some((call, of)) = calls.apply(step) {
                begun.add(Place { position, call }, of);
            }
            next = steps.next()?;
        }
        let open = (before.call > 0).then_some(before);
        let outside = Place { position, call: 0 };
        let ends = open.or(begun.first).unwrap_or(outside);
        let begins = begun.last.or(open).unwrap_or(outside);
        for point in of_time {
            let Some(side) = sides.get_mut(point.side) else { continue };
            // Without length both ends are in the same call.
            match point.is_begin {
                true => side.begins = begins,
                false if side.begin == side.end => side.ends = begins,
                false => side.ends = ends,
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spool::Spool;
    use crate::steps::encode;

    /// Calls that a side is in, of a thread with calls about messages at these times.
    fn calls(calls: &[(u64, u64)], begin: u64, end: u64) -> (u32, u32) {
        let calls: Vec<_> = calls.iter().map(|&(enter, leave)| (enter, leave, Callee::Messages)).collect();
        calls_of(&calls, begin, end)
    }

    fn calls_of(calls: &[(u64, u64, Callee)], begin: u64, end: u64) -> (u32, u32) {
        let mut spool = Spool::new(tempfile::tempfile().unwrap(), 1);
        let mut last = 0;
        for &(enter, leave, of) in calls {
            for (time, step) in [(enter, Step::Enter { region: 0, of }), (leave, Step::Leave)] {
                let mut item = Vec::new();
                encode(time - last, step, &mut item);
                last = time;
                spool.push(0, &item).unwrap();
            }
        }
        let none = Place::default();
        let mut sides = [Side { message: 0, is_send: false, begin, end, begins: none, ends: none }];
        place(Steps::new(&spool, 0), &mut sides).unwrap();
        (sides[0].begins.call, sides[0].ends.call)
    }

    #[test]
    fn messages_begin_in_the_call_that_begins_and_end_in_the_one_that_ends() {
        let touching = [(0, 10), (10, 20), (20, 30)];
        assert_eq!(calls(&touching, 10, 20), (2, 2));
        assert_eq!(calls(&touching, 0, 30), (1, 3));
        assert_eq!(calls(&touching, 10, 30), (2, 3));
        assert_eq!(calls(&touching, 12, 17), (2, 2), "within");
        assert_eq!(calls(&[(0, 10), (10, 10), (10, 20)], 10, 10), (3, 3), "without length");
        assert_eq!(calls(&[(0, 5), (10, 20)], 7, 8), (0, 0), "outside");
        assert_eq!(calls(&[(0, 5)], 5, 9), (1, 0));
        assert_eq!(calls(&[], 5, 9), (0, 0));
    }

    #[test]
    fn of_calls_at_one_time_those_about_messages_come_first() {
        let posts = [(0, 0, Callee::Messages), (0, 0, Callee::Mpi), (10, 20, Callee::Messages)];
        assert_eq!(calls_of(&posts, 0, 20), (1, 3));
        assert_eq!(calls_of(&[(0, 5, Callee::Mpi), (5, 5, Callee::Mpi)], 0, 5), (1, 1));
    }
}
