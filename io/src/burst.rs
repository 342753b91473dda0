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

/// An offset in bytes, or none, in eight bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Offset(u64);

impl Offset {
    fn new(offset: Option<u64>) -> Offset {
        Offset(offset.unwrap_or(u64::MAX))
    }

    pub(crate) fn get(self) -> Option<u64> {
        (self.0 < u64::MAX).then_some(self.0)
    }

    fn distance(self, to: Offset) -> Option<i64> {
        Some(distance(self.get()?, to.get()?))
    }
}

/// One operation, or several that are alike and equally far apart. There may be one for each operation, so it is small.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// Where the first one begins in what the rank sees.
    pub offset: Offset,
    /// The first byte of the first one in the file.
    pub first: Offset,
    /// From the first byte of each to the last one.
    pub length: u64,
    /// Bytes of each.
    pub size: u64,
    /// When the first one began.
    pub begin: u64,
    /// When all were complete.
    pub end: u64,
    /// If there are several.
    run: Option<Box<Run>>,
    /// Index of what holds at the first one.
    moment: u32,
    /// Index of the kind of access.
    pub access: u8,
    /// Whether the file was flushed behind each.
    pub is_flushed: bool,
}

/// Several operations.
#[derive(Clone, Debug)]
struct Run {
    count: u64,
    step: Step,
    /// Sum of durations.
    time: u64,
}

/// Distance between two operations; `None` where an offset is unknown.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Step {
    pub file: Option<i64>,
    pub view: Option<i64>,
}

/// What changes seldom from one operation to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Moment {
    pub tick: u64,
    pub epoch: u64,
    pub call_path: u32,
}

impl Entry {
    /// How many operations it is.
    pub(crate) fn count(&self) -> u64 {
        self.run.as_ref().map_or(1, |run| run.count)
    }

    /// Distance from one to the next, in bytes of the file.
    pub(crate) fn step(&self) -> i64 {
        self.run.as_ref().and_then(|run| run.step.file).unwrap_or(0)
    }

    /// Sum of durations, in ticks of the clock.
    pub(crate) fn time(&self) -> u64 {
        self.run.as_ref().map_or(self.end.saturating_sub(self.begin), |run| run.time)
    }

    fn add(&mut self, next: &Entry, step: Step) {
        let (count, time) = (self.count(), self.time().saturating_add(next.time()));
        let run = Run { count: count.saturating_add(1), step, time };
        match &mut self.run {
            Some(own) => **own = run,
            None => self.run = Some(Box::new(run)),
        }
        self.end = self.end.max(next.end);
        self.is_flushed &= next.is_flushed;
    }

    /// How far another operation is from this one, if they are alike.
    fn step_to(&self, next: &Entry) -> Option<Step> {
        let alike =
            |it: &Entry| (it.access, it.size, it.length, it.first.get().is_some(), it.offset.get().is_some());
        (alike(self) == alike(next))
            .then(|| Step { file: self.first.distance(next.first), view: self.offset.distance(next.offset) })
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
    /// Kinds of access.
    accesses: Vec<Access>,
    /// What holds at operations.
    moments: Vec<Moment>,
    /// Number of the opening, and ticks at the last operation (io.md 4.1).
    last: Option<(u64, u64)>,
    /// Whether the file was flushed.
    is_flushed: bool,
}

/// A burst that has ended.
#[derive(Clone, Debug)]
pub(crate) struct Ended {
    /// The operations, in their order.
    pub entries: Vec<Entry>,
    /// Begin and end of each collective operation, in their order.
    pub instances: Vec<(u64, u64)>,
    /// Kinds of access, by the index in entries.
    pub accesses: Vec<Access>,
    /// Number of the opening.
    pub opening: u64,
    /// Whether the file was flushed.
    pub is_flushed: bool,
    moments: Vec<Moment>,
}

impl Burst {
    /// Adds the next operation. All are of one opening.
    pub(crate) fn push(&mut self, operation: &Operation) {
        if operation.access.collective {
            self.instances.push((operation.begin, operation.end));
        }
        self.last = Some((operation.opening, operation.tick));
        let entry = self.entry(operation);
        let step = self.recent.back().and_then(|last| last.step_to(&entry));
        let goes_on = step.is_some_and(|step| self.recent.len() == 1 && self.moved == 0 || step == self.step);
        if !goes_on {
            self.settle();
        }
        self.step = step.unwrap_or_default();
        self.recent.push_back(entry);
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

    fn entry(&mut self, operation: &Operation) -> Entry {
        let Operation { tick, epoch, caller, access, .. } = *operation;
        let moment = Moment { tick, epoch, call_path: caller.call_path };
        if self.moments.last() != Some(&moment) {
            self.moments.push(moment);
        }
        let known = self.accesses.iter().position(|it| *it == access).unwrap_or_else(|| {
            self.accesses.push(access);
            self.accesses.len() - 1
        });
        Entry {
            offset: Offset::new(operation.offset),
            first: Offset::new(operation.first),
            length: operation.length,
            size: operation.size,
            begin: operation.begin,
            end: operation.end,
            run: None,
            moment: u32::try_from(self.moments.len() - 1).unwrap_or(u32::MAX),
            // There are 72 kinds.
            access: u8::try_from(known).unwrap_or(u8::MAX),
            is_flushed: false,
        }
    }

    /// Ends the run of the recent operations.
    fn settle(&mut self) {
        self.entries.extend(self.recent.drain(..));
        self.moved = 0;
    }

    /// Notes that the file was flushed behind the last operation, if there is one.
    pub(crate) fn flush(&mut self) {
        if let Some(last) = self.recent.back_mut() {
            last.is_flushed = true;
            self.is_flushed = true;
        }
    }

    /// Number of the opening and ticks at the last operation, if there is one.
    pub(crate) fn last(&self) -> Option<(u64, u64)> {
        self.last
    }

    /// The whole burst; `None` if nothing was in it.
    pub(crate) fn end(mut self) -> Option<Ended> {
        self.settle();
        Some(Ended {
            entries: self.entries,
            instances: self.instances,
            accesses: self.accesses,
            opening: self.last?.0,
            is_flushed: self.is_flushed,
            moments: self.moments,
        })
    }
}

impl Ended {
    /// The kind of access of an entry.
    pub(crate) fn access(&self, entry: &Entry) -> Option<Access> {
        self.accesses.get(usize::from(entry.access)).copied()
    }

    /// What holds at the begin of an entry.
    pub(crate) fn moment(&self, entry: &Entry) -> Option<Moment> {
        self.moments.get(usize::try_from(entry.moment).ok()?).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::write;

    fn folded(firsts: impl IntoIterator<Item = u64>) -> Vec<(u64, u64)> {
        let mut burst = Burst::default();
        firsts.into_iter().for_each(|first| burst.push(&write(0, first, 8)));
        burst.end().unwrap().entries.iter().map(|entry| (entry.first.get().unwrap(), entry.count())).collect()
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
    fn entries_are_small() {
        assert_eq!(size_of::<Entry>(), 64);
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
