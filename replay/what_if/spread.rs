//! Work that all ranks share evenly between operations of all of them (advice 3.1).

use model::Ticks;

use super::changes::Paths;
use super::lanes::{RowChanges, Shorter};
use super::marks::{Kind, Marks};
use super::stretches::share_of;
use crate::error::Error;
use crate::exchange::{Exchange, broadcast, reduce};
use crate::int::to_u32;

/// Work by phase, added up over ranks: a phase is what lies between two operations of all ranks.
#[derive(Clone, Debug, Default)]
struct ByPhase {
    ranks: u64,
    /// Phases of the rank that has the fewest, and the work in each; what is behind belongs to the last.
    phases: usize,
    work: Vec<Ticks>,
}

impl ByPhase {
    fn of_rank(work: Vec<Ticks>) -> ByPhase {
        ByPhase { ranks: 1, phases: work.len(), work }
    }

    fn add(&mut self, other: ByPhase) {
        if self.ranks == 0 {
            return *self = other;
        }
        if other.ranks > 0 {
            self.ranks += other.ranks;
            self.phases = self.phases.min(other.phases);
            self.work.resize(self.work.len().max(other.work.len()), 0);
            self.work.iter_mut().zip(other.work).for_each(|(sum, ticks)| *sum = sum.saturating_add(ticks));
        }
    }

    fn to_words(&self) -> Vec<u64> {
        let work = self.work.iter().map(|ticks| ticks.cast_unsigned());
        [self.ranks, self.phases as u64].into_iter().chain(work).collect()
    }

    fn of_words(words: &[u64]) -> ByPhase {
        let phases = usize::try_from(words[1]).unwrap_or(usize::MAX);
        ByPhase { ranks: words[0], phases, work: words[2..].iter().map(|word| word.cast_signed()).collect() }
    }

    /// The phases that all ranks have.
    fn common(mut self) -> Vec<Ticks> {
        fold(&mut self.work, self.phases);
        self.work
    }
}

/// Adds what is behind some phases to the last of them.
fn fold(work: &mut Vec<Ticks>, phases: usize) {
    let behind = work.drain(phases.min(work.len())..).fold(0, Ticks::saturating_add);
    if let Some(last) = work.last_mut() {
        *last = last.saturating_add(behind);
    }
}

impl Paths<'_> {
    /// In each phase, the work of main threads at a call path is what it is on average; where a rank has none, it comes
    /// at the begin of the phase, while others do theirs.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn spread(
        &self,
        path: &str,
        changes: &mut [RowChanges],
        exchange: &mut dyn Exchange,
    ) -> Result<(), Error> {
        let is_main = |at: usize| matches!(self.rank(at), (Some(_), 0));
        let mut sums = ByPhase::default();
        for at in (0..changes.len()).filter(|&at| is_main(at)) {
            let rows = self.work_within(at, path);
            let marks = &self.graph.locations[at].marks;
            let mut work = vec![0];
            for_each_phase(marks, |phase, mark| {
                work.resize(phase + 1, 0);
                work[phase] += self.work_before(at, mark, &rows);
            });
            sums.add(ByPhase::of_rank(work));
        }
        let all =
            reduce(exchange, sums, ByPhase::to_words, |sums, words| sums.add(ByPhase::of_words(words)))?;
        let words = broadcast(exchange, all.to_words())?;
        let all = ByPhase::of_words(&words);
        let (ranks, sums) = (all.ranks.max(1).cast_signed(), all.common());
        for (at, of) in changes.iter_mut().enumerate().filter(|&(at, _)| is_main(at)) {
            self.take_mean(at, path, &sums, ranks, of);
        }
        Ok(())
    }

    /// The work of a rank in each phase becomes the mean.
    fn take_mean(&self, at: usize, path: &str, sums: &[Ticks], ranks: Ticks, of: &mut RowChanges) {
        let rows = self.work_within(at, path);
        let marks = &self.graph.locations[at].marks;
        let mut own = vec![0; sums.len()];
        let mut begins = vec![0; sums.len()];
        let last = sums.len() - 1;
        for_each_phase(marks, |phase, mark| {
            let phase = phase.min(last);
            own[phase] += self.work_before(at, mark, &rows);
            if marks.list[mark].kind() == Kind::Work && begins[phase] == 0 {
                begins[phase] = to_u32(mark);
            }
        });
        let mean = |phase: usize| sums[phase].div_euclid(ranks);
        let mut factors = Vec::new();
        for_each_phase(marks, |phase, mark| {
            let phase = phase.min(last);
            if own[phase] > 0 && self.work_before(at, mark, &rows) != 0 {
                factors.push((to_u32(mark), share_of(mean(phase), own[phase])));
            }
        });
        let without =
            (0..sums.len()).filter(|&phase| own[phase] <= 0 && mean(phase) > 0 && begins[phase] > 0);
        of.added.extend(without.map(|phase| (begins[phase], mean(phase))));
        of.added.sort_unstable();
        of.added.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            kept.1 += if is_same { next.1 } else { 0 };
            is_same
        });
        of.shorter.push(Shorter { rows, marks: factors });
    }
}

/// Calls a function with each mark between `MPI_Init` and `MPI_Finalize`, and the number of its phase.
fn for_each_phase(marks: &Marks, mut each: impl FnMut(usize, usize)) {
    let mut phase = 0;
    for mark in marks.inside() {
        each(phase, mark);
        if let Kind::Completion(number) = marks.list[mark].kind() {
            phase += usize::from(marks.completions.get(number).is_of_all);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_of_ranks_are_added_up_and_those_that_not_all_have_belong_to_the_last() {
        let mut sums = ByPhase::of_rank(vec![5, 7, 9]);
        sums.add(ByPhase::of_rank(vec![1, 2]));
        sums = ByPhase::of_words(&sums.to_words());
        sums.add(ByPhase::default());
        assert_eq!((sums.ranks, sums.phases), (2, 2));
        assert_eq!(sums.common(), [6, 18]);
    }
}
