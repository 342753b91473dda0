//! Operations of a rank on a file that follow each other closely (io.md 4.2), folded while they come (io.md 4.10).
//!
//! Where many operations are alike and equally far apart, only the first and last few are kept one by one; those between are
//! one entry. No pattern is longer than those few, so whatever is cut later is cut between entries.

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

/// A burst, to which more may come.
#[derive(Clone, Default, Debug)]
pub(crate) struct Burst {
    /// The operations. Those of the last run are in their order, until some of it are one entry: then the last few, which are behind that
    /// entry, go round.
    entries: Vec<Entry>,
    /// Index of the first entry of the run of the last operations, all alike and equally far apart.
    run: usize,
    /// How far apart these are, once there are two.
    step: Step,
    /// Index of the oldest of those that go round, if they do.
    oldest: Option<usize>,
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
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended<'a>(&'a Burst);

/// How many entries a run has whose operations are all kept one by one.
const ONE_BY_ONE: usize = 2 * LONGEST + 1;

impl Burst {
    /// Adds the next operation. All are of one opening.
    pub(crate) fn push(&mut self, operation: &Operation) {
        if operation.access.collective {
            self.instances.push((operation.begin, operation.end));
        }
        self.last = Some((operation.opening, operation.tick));
        let entry = self.entry(operation);
        let step = self.newest().and_then(|last| self.entries[last].step_to(&entry));
        let goes_on = step.is_some_and(|step| self.entries.len() - self.run == 1 || step == self.step);
        if !goes_on {
            self.settle();
            self.run = self.entries.len();
        }
        self.step = step.unwrap_or_default();
        if self.entries.len() - self.run < ONE_BY_ONE {
            self.entries.push(entry);
            return;
        }
        let middle = self.run + LONGEST;
        let oldest = self.oldest.unwrap_or(middle + 1);
        let over = std::mem::replace(&mut self.entries[oldest], entry);
        self.entries[middle].add(&over, self.step);
        self.oldest = Some(if oldest + 1 < self.entries.len() { oldest + 1 } else { middle + 1 });
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

    /// Index of the last operation.
    fn newest(&self) -> Option<usize> {
        match self.oldest {
            Some(oldest) if oldest > self.run + LONGEST + 1 => Some(oldest - 1),
            _ => self.entries.len().checked_sub(1),
        }
    }

    /// Puts those that go round in their order.
    fn settle(&mut self) {
        if let Some(oldest) = self.oldest.take() {
            let first = self.run + LONGEST + 1;
            self.entries[first..].rotate_left(oldest - first);
        }
    }

    /// Notes that the file was flushed behind the last operation, if there is one.
    pub(crate) fn flush(&mut self) {
        if let Some(newest) = self.newest() {
            self.entries[newest].is_flushed = true;
            self.is_flushed = true;
        }
    }

    /// Number of the opening and ticks at the last operation, if there is one.
    pub(crate) fn last(&self) -> Option<(u64, u64)> {
        self.last
    }

    /// Says that no more comes.
    pub(crate) fn end(&mut self) -> Ended<'_> {
        self.settle();
        Ended(self)
    }

    /// Begins another one in the room of this one.
    pub(crate) fn clear(&mut self) {
        let Burst { entries, instances, accesses, moments, .. } = self;
        entries.clear();
        instances.clear();
        accesses.clear();
        moments.clear();
        (self.run, self.oldest, self.last, self.is_flushed) = (0, None, None, false);
    }
}

impl<'a> Ended<'a> {
    /// The operations, in their order.
    pub(crate) fn entries(&self) -> &'a [Entry] {
        &self.0.entries
    }

    /// Begin and end of each collective operation, in their order.
    pub(crate) fn instances(&self) -> &'a [(u64, u64)] {
        &self.0.instances
    }

    /// Number of the opening, if there is an operation.
    pub(crate) fn opening(&self) -> Option<u64> {
        Some(self.0.last?.0)
    }

    /// Whether the file was flushed.
    pub(crate) fn is_flushed(&self) -> bool {
        self.0.is_flushed
    }

    /// The kind of access of an entry.
    pub(crate) fn access(&self, entry: &Entry) -> Option<Access> {
        self.0.accesses.get(usize::from(entry.access)).copied()
    }

    /// What holds at the begin of an entry.
    pub(crate) fn moment(&self, entry: &Entry) -> Option<Moment> {
        self.0.moments.get(usize::try_from(entry.moment).ok()?).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::write;
    use proptest::prelude::*;

    fn folded(firsts: impl IntoIterator<Item = u64>) -> Vec<(u64, u64)> {
        let mut burst = Burst::default();
        firsts.into_iter().for_each(|first| burst.push(&write(0, first, 8)));
        burst.end().entries().iter().map(|entry| (entry.first.get().unwrap(), entry.count())).collect()
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

    /// Of each run with more than 33 operations the first and the last 16 and one entry for all between.
    fn plain(firsts: &[u64]) -> Vec<(u64, u64)> {
        let (mut found, mut rest) = (Vec::new(), firsts);
        while let [first, ..] = *rest {
            let step = rest.get(1).map_or(0, |next| next.wrapping_sub(first));
            let count = 1 + rest.windows(2).take_while(|pair| pair[1].wrapping_sub(pair[0]) == step).count();
            let (run, behind) = rest.split_at(count);
            let between = count.saturating_sub(2 * LONGEST);
            match between {
                0 | 1 => found.extend(run.iter().map(|first| (*first, 1))),
                _ => {
                    found.extend(run[..LONGEST].iter().map(|first| (*first, 1)));
                    found.push((run[LONGEST], between as u64));
                    found.extend(run[count - LONGEST..].iter().map(|first| (*first, 1)));
                }
            }
            rest = behind;
        }
        found
    }

    proptest! {
        #[test]
        fn runs_are_folded_wherever_they_end(runs in prop::collection::vec((1..80_u64, 0..3_u64), 0..6)) {
            let (mut firsts, mut at) = (Vec::new(), 0);
            for (count, step) in runs {
                for _ in 0..count {
                    firsts.push(at);
                    at += 8 * step;
                }
            }
            prop_assert_eq!(folded(firsts.iter().copied()), plain(&firsts));
        }
    }
}
