//! Operations of one rank on one file: bursts (io.md 4.2), and etypes of unknown views (io.md 3.3).

use crate::access::{Kind, Pointer};
use crate::burst::Burst;
use crate::numbers::distance;
use crate::operation::Operation;
use crate::simple::{Manner, Simple, Source, simple_phases};

/// Calls that communicate which a burst bears between two operations, unless one says otherwise (io.md 4.2).
pub const GAP: u64 = 4;

/// All operations of one rank on one file, in the order of their begins, folded while they come.
#[derive(Clone, Debug)]
pub struct Stream {
    rank: u32,
    file: u32,
    gap: u64,
    burst: Burst,
    openings: Openings,
    simple: Vec<Simple>,
}

/// What is known of openings.
#[derive(Clone, Default, Debug)]
struct Openings {
    /// By their numbers, rising.
    all: Vec<(u64, Opened)>,
    /// Index of the one that was asked for last.
    last: usize,
}

impl Openings {
    /// What is known of one; most are asked for many times.
    fn of(&mut self, opening: u64) -> Option<&mut Opened> {
        if self.all.get(self.last).is_none_or(|(last, _)| *last != opening) {
            self.last = self.all.binary_search_by_key(&opening, |(opening, _)| *opening).ok()?;
        }
        Some(&mut self.all[self.last].1)
    }
}

/// What is known of an opening.
#[derive(Clone, Debug)]
struct Opened {
    manner: Manner,
    is_view_known: bool,
    reads: Even,
    writes: Even,
}

impl Stream {
    /// No operation yet; bursts are cut where more than `gap` calls communicate.
    pub fn new(rank: u32, file: u32, gap: u64) -> Stream {
        Stream { rank, file, gap, burst: Burst::default(), openings: Openings::default(), simple: Vec::new() }
    }

    /// Says how the file was opened, from 1 on, and whether views are known. What is said last of an opening before a burst
    /// ends holds for the burst.
    pub fn open(&mut self, opening: u64, manner: Manner, is_view_known: bool) {
        let Openings { all, .. } = &mut self.openings;
        match all.binary_search_by_key(&opening, |(opening, _)| *opening) {
            Ok(at) => (all[at].1.manner, all[at].1.is_view_known) = (manner, is_view_known),
            Err(at) => {
                let new = Opened { manner, is_view_known, reads: Even::None, writes: Even::None };
                all.insert(at, (opening, new));
            }
        }
    }

    /// Adds the next operation.
    pub fn push(&mut self, operation: Operation) {
        if let Some((opening, tick)) = self.burst.last()
            && (opening != operation.opening || operation.tick.saturating_sub(tick) > self.gap)
        {
            self.end_burst();
        }
        if operation.access.pointer == Pointer::Explicit
            && let Some(opened) = self.openings.of(operation.opening)
        {
            let even = match operation.access.kind {
                Kind::Read => &mut opened.reads,
                Kind::Write => &mut opened.writes,
            };
            even.push(operation.size, operation.offset);
        }
        self.burst.push(&operation);
    }

    /// Notes that the file was flushed behind the last operation, if there is one.
    pub fn flush(&mut self) {
        self.burst.flush();
    }

    /// All simple phases, in the order of their bursts.
    pub fn finish(mut self) -> Vec<Simple> {
        self.end_burst();
        for (number, simple) in (0..).zip(&mut self.simple) {
            simple.number = number;
            if let Some(opened) = self.openings.of(simple.opening)
                && !opened.is_view_known
            {
                simple.scale(|access| match access.kind {
                    Kind::Read => opened.reads.etype(),
                    Kind::Write => opened.writes.etype(),
                });
            }
        }
        self.simple
    }

    fn end_burst(&mut self) {
        let burst = self.burst.end();
        let Some(opening) = burst.opening() else { return };
        let opened = self.openings.of(opening).map(|opened| &*opened);
        let none = Manner::default();
        let source = Source {
            rank: self.rank,
            file: self.file,
            opening,
            is_view_known: opened.is_none_or(|opened| opened.is_view_known),
            manner: opened.map_or(&none, |opened| &opened.manner),
        };
        self.simple.extend(simple_phases(burst, &source));
        self.burst.clear();
    }
}

/// Whether requests are equally large and equally far apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Even {
    None,
    One { size: u64, last: u64 },
    Many { size: u64, last: u64, step: i64 },
    Not,
}

impl Even {
    fn push(&mut self, size: u64, offset: Option<u64>) {
        *self = match (*self, offset) {
            (Even::None, Some(last)) => Even::One { size, last },
            (Even::One { size: before, last }, Some(offset)) if before == size => {
                Even::Many { size, last: offset, step: distance(last, offset) }
            }
            (Even::Many { size: before, last, step }, Some(offset))
                if before == size && distance(last, offset) == step =>
            {
                Even::Many { size, last: offset, step }
            }
            _ => Even::Not,
        };
    }

    /// Bytes of the etype, if requests are taken as one behind the other; 1 if nothing says so (io.md 3.3).
    fn etype(self) -> u64 {
        let Even::Many { size, step, .. } = self else { return 1 };
        match u64::try_from(step) {
            Ok(step) if step > 0 && size > 0 && size % step == 0 => size / step,
            _ => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simple::{Flushes, Steps};
    use crate::tests::write;
    use proptest::prelude::*;

    fn simple(operations: impl IntoIterator<Item = Operation>) -> Vec<Simple> {
        let mut stream = Stream::new(0, 0, GAP);
        operations.into_iter().for_each(|it| stream.push(it));
        stream.finish()
    }

    #[test]
    fn bursts_end_where_much_communicates_and_at_another_opening() {
        let at = |tick, opening| Operation { tick, opening, ..write(0, 0, 8) };
        let reps =
            |list: &[Operation]| simple(list.iter().copied()).iter().map(|it| it.rep).collect::<Vec<_>>();
        assert_eq!(reps(&[at(0, 1), at(4, 1), at(8, 1)]), [3]);
        assert_eq!(reps(&[at(0, 1), at(4, 1), at(9, 1)]), [2, 1]);
        assert_eq!(reps(&[at(0, 1), at(0, 2), at(0, 2)]), [1, 2]);
    }

    #[test]
    fn small_requests_do_not_break_the_pattern() {
        let noisy = (0..8).flat_map(|at| [write(0, at << 20, 1 << 20), write(0, 1 << 40, 96)]);
        let [core, residue] = &simple(noisy)[..] else { panic!("not two") };
        assert_eq!((core.rep, core.bytes(), core.residue), (8, 8 << 20, false));
        assert_eq!((residue.rep, residue.operations(), residue.bytes(), residue.residue), (1, 8, 768, true));
    }

    #[test]
    fn a_million_regular_requests_are_one_simple_phase() {
        let [one] = &simple((0..1_000_000).map(|at| write(at, at * 8, 8)))[..] else { panic!("not one") };
        assert_eq!((one.rep, one.time, one.bytes()), (1_000_000, 1_000_000, 8_000_000));
        assert_eq!(one.lanes[0].steps, [Steps { step: 8, length: 8, count: 999_999 }]);
    }

    #[test]
    fn etypes_of_unknown_views_follow_from_even_steps() {
        let steps = |offsets: [u64; 3]| {
            let mut stream = Stream::new(0, 0, GAP);
            stream.open(1, Manner::default(), false);
            offsets.into_iter().for_each(|offset| stream.push(write(0, offset, 400)));
            let simple = stream.finish();
            (simple[0].lanes[0].steps[0].step, simple[0].offset.unwrap())
        };
        assert_eq!(steps([10, 20, 30]), (400, 400));
        assert_eq!(steps([10, 20, 40]), (10, 10));
        assert_eq!(steps([0, 300, 600]), (300, 0));
    }

    #[test]
    fn flushes_are_noted_for_the_burst() {
        let flushes = |behind: [bool; 2]| {
            let mut stream = Stream::new(0, 0, GAP);
            stream.flush();
            for (at, flush) in (0..).zip(behind) {
                stream.push(write(0, at * 8, 8));
                if flush {
                    stream.flush();
                }
            }
            stream.finish()[0].flushes
        };
        assert_eq!(flushes([true, true]), Flushes::Each);
        assert_eq!(flushes([false, true]), Flushes::Some);
        assert_eq!(flushes([false, false]), Flushes::None);
    }

    proptest! {
        #[test]
        fn steps_are_those_between_all_requests(runs in prop::collection::vec((1..80_u64, 0..3_u64), 1..6)) {
            let (mut firsts, mut at) = (Vec::new(), 1 << 20);
            for (count, step) in runs {
                for _ in 0..count {
                    firsts.push(at);
                    at = at + 8 * step - 8;
                }
            }
            let mut steps: Vec<Steps> = Vec::new();
            for pair in firsts.windows(2) {
                let step = distance(pair[0], pair[1]);
                match steps.last_mut() {
                    Some(last) if last.step == step => last.count += 1,
                    _ => steps.push(Steps { step, length: 8, count: 1 }),
                }
            }
            let [one] = &simple(firsts.iter().map(|first| write(0, *first, 8)))[..] else { panic!("not one") };
            let lane = &one.lanes[0];
            prop_assert_eq!(&lane.steps, &steps);
            let count = firsts.len() as u64;
            prop_assert_eq!((lane.requests, lane.bytes, one.time, one.rep), (count, 8 * count, count, count));
        }
    }
}
