//! Operations of a rank on a file that follow each other closely (io.md 4.2), folded while they come (io.md 4.10).
//!
//! Where many operations are alike and equally far apart, only the first and last few are kept one by one; those between are
//! one entry. No pattern is longer than those few, so whatever is cut later is cut between entries.

use std::collections::VecDeque;

use crate::access::Access;
use crate::numbers::distance;
use crate::operation::Operation;

/// How many operations may be the longest repeated pattern (io.md 4.3), and how many are kept at both ends of a folded run.
pub(crate) const LONGEST: usize = 16;

/// One operation, or several that are alike and equally far apart.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The first of them.
    pub first: Operation,
    /// How many there are.
    pub count: u64,
    /// Distance from one to the next, in bytes of the file, and in bytes of what the rank sees.
    pub step: Step,
    /// Sum of their durations, in ticks of the clock.
    pub time: u64,
    /// When the last one was complete.
    pub end: u64,
    /// Behind how many of them the file was flushed.
    pub flushed: u64,
}

/// Distance between two operations; `None` where an offset is unknown.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Step {
    pub file: Option<i64>,
    pub view: Option<i64>,
}

impl Entry {
    fn new(operation: Operation) -> Entry {
        let time = operation.end.saturating_sub(operation.begin);
        Entry { first: operation, count: 1, step: Step::default(), time, end: operation.end, flushed: 0 }
    }

    fn add(&mut self, next: &Entry, step: Step) {
        self.count = self.count.saturating_add(1);
        self.step = step;
        self.time = self.time.saturating_add(next.time);
        self.end = self.end.max(next.end);
        self.flushed = self.flushed.saturating_add(next.flushed);
    }
}

/// A burst that may go on.
#[derive(Clone, Default, Debug)]
pub(crate) struct Burst {
    entries: Vec<Entry>,
    /// The last operations, all alike and equally far apart.
    recent: VecDeque<Entry>,
    /// How far apart the recent ones are, once there are two.
    step: Step,
    /// How many of the run of the recent ones are among the entries.
    moved: usize,
    /// Begin and end of each collective operation, in their order.
    instances: Vec<(u64, u64)>,
    /// Ticks at the last operation (io.md 4.1).
    tick: u64,
    /// How often the file was flushed.
    flushes: u64,
}

impl Burst {
    /// Adds the next operation.
    pub(crate) fn push(&mut self, operation: Operation) {
        if operation.access.collective {
            self.instances.push((operation.begin, operation.end));
        }
        self.tick = operation.tick;
        let step = self.recent.back().and_then(|last| step(&last.first, &operation));
        let goes_on = step.is_some_and(|step| self.recent.len() == 1 && self.moved == 0 || step == self.step);
        if !goes_on {
            self.settle();
        }
        self.step = step.unwrap_or_default();
        self.recent.push_back(Entry::new(operation));
        if self.recent.len() > LONGEST
            && let Some(oldest) = self.recent.pop_front()
        {
            match self.entries.last_mut() {
                Some(run) if self.moved > LONGEST => run.add(&oldest, self.step),
                _ => self.entries.push(oldest),
            }
            self.moved = self.moved.saturating_add(1);
        }
    }

    /// Ends the run of the recent operations.
    fn settle(&mut self) {
        self.entries.extend(self.recent.drain(..));
        self.moved = 0;
    }

    /// Notes that the file was flushed behind the last operation.
    pub(crate) fn flush(&mut self) {
        if let Some(last) = self.recent.back_mut() {
            last.flushed = 1;
            self.flushes = self.flushes.saturating_add(1);
        }
    }

    /// Number of the opening and ticks at the last operation, if there is one.
    pub(crate) fn last(&self) -> Option<(u64, u64)> {
        self.recent.back().map(|last| (last.first.opening, self.tick))
    }

    /// Whether the file was flushed.
    pub(crate) fn is_flushed(&self) -> bool {
        self.flushes > 0
    }

    /// The entries of the whole burst, and begin and end of each collective operation.
    pub(crate) fn finish(mut self) -> (Vec<Entry>, Vec<(u64, u64)>) {
        self.settle();
        (self.entries, self.instances)
    }
}

/// How far the second operation is from the first one, if they are alike.
fn step(first: &Operation, second: &Operation) -> Option<Step> {
    let alike = |it: &Operation| -> (Access, u64, u64, bool, bool) {
        (it.access, it.size, it.length, it.first.is_some(), it.offset.is_some())
    };
    (alike(first) == alike(second)).then(|| Step {
        file: first.first.zip(second.first).map(|(from, to)| distance(from, to)),
        view: first.offset.zip(second.offset).map(|(from, to)| distance(from, to)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::write;

    fn folded(firsts: impl IntoIterator<Item = u64>) -> Vec<(u64, u64)> {
        let mut burst = Burst::default();
        firsts.into_iter().for_each(|first| burst.push(write(0, first, 8)));
        burst.finish().0.iter().map(|entry| (entry.first.first.unwrap(), entry.count)).collect()
    }

    #[test]
    fn a_regular_loop_of_any_length_has_few_entries() {
        for count in [1, 2, 16, 17, 32, 33, 34, 35, 100, 100_000] {
            let entries = folded((0..count).map(|at| at * 8));
            assert!(entries.len() <= 34, "{count}: {}", entries.len());
            assert_eq!(entries.iter().map(|(_, count)| count).sum::<u64>(), count);
            assert_eq!(entries[entries.len() - 1].0, (count - 1) * 8);
        }
        assert_eq!(folded((0..40).map(|at| at * 8))[16], (16 * 8, 8));
    }

    #[test]
    fn another_step_begins_another_run() {
        let entries = folded((0..40).map(|at| at * 8).chain((0..40).map(|at| 10_000 + at * 16)));
        assert_eq!(
            entries.iter().filter(|(_, count)| *count > 1).collect::<Vec<_>>(),
            [&(16 * 8, 8), &(10_256, 8)]
        );
    }
}
