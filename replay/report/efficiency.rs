//! Facts of the run for efficiencies that need no replay: the work of all main threads, added up (what-if 5.1).

use model::{ClockProperties, Ticks};

use crate::scaling::RunFacts;
use crate::walk::{MainThreadWork, WalkedProcess};
use crate::what_if::{Efficiency, Predictions};
use crate::wire::wire;

/// What of main threads is added up over all processes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct WorkTotals {
    /// Whether the work of all main threads is known.
    is_known: bool,
    /// Of processes with `MPI_Init`.
    begun: ThreadTotals,
    /// Of all that have run.
    all: ThreadTotals,
    /// The first end of `MPI_Init`, the last begin of `MPI_Finalize`.
    initialized: Ticks,
    finalized: Ticks,
    /// The first record, and the last one.
    first: Ticks,
    last: Ticks,
}

/// Totals of some main threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct ThreadTotals {
    threads: u64,
    work: Ticks,
    most: Ticks,
    /// How many of them know their instructions, and their cycles; and how many these are.
    counting: [u64; 2],
    counts: [u64; 2],
}

wire!(ThreadTotals { threads, work, most, counting, counts });
wire!(WorkTotals { is_known, begun, all, initialized, finalized, first, last });

impl ThreadTotals {
    fn add(&mut self, other: ThreadTotals) {
        self.threads += other.threads;
        self.work = self.work.saturating_add(other.work);
        self.most = self.most.max(other.most);
        for at in 0..self.counts.len() {
            self.counting[at] += other.counting[at];
            self.counts[at] = self.counts[at].saturating_add(other.counts[at]);
        }
    }
}

impl Default for WorkTotals {
    fn default() -> WorkTotals {
        WorkTotals {
            is_known: true,
            begun: ThreadTotals::default(),
            all: ThreadTotals::default(),
            initialized: Ticks::MAX,
            finalized: Ticks::MIN,
            first: Ticks::MAX,
            last: Ticks::MIN,
        }
    }
}

impl WorkTotals {
    /// Of some processes.
    pub(super) fn new(processes: &[WalkedProcess]) -> WorkTotals {
        let mut own = WorkTotals::default();
        for process in processes.iter().filter(|process| !process.has_not_run()) {
            own.add_thread(process.work.as_deref());
        }
        own
    }

    fn add_thread(&mut self, work: Option<&MainThreadWork>) {
        let Some(&MainThreadWork { initialized, finalized, first, last, work, counts }) = work else {
            self.is_known = false;
            return;
        };
        let counting = counts.map(|count| u64::from(count.is_some()));
        let counts = counts.map(Option::unwrap_or_default);
        let thread = ThreadTotals { threads: 1, work, most: work, counting, counts };
        self.all.add(thread);
        if initialized.is_some() {
            self.begun.add(thread);
        }
        self.initialized = self.initialized.min(initialized.unwrap_or(Ticks::MAX));
        self.finalized = self.finalized.max(finalized.unwrap_or(Ticks::MIN));
        (self.first, self.last) = (self.first.min(first), self.last.max(last));
    }

    /// Adds those of other processes.
    pub(super) fn merge(&mut self, other: WorkTotals) {
        self.is_known &= other.is_known;
        self.begun.add(other.begun);
        self.all.add(other.all);
        self.initialized = self.initialized.min(other.initialized);
        self.finalized = self.finalized.max(other.finalized);
        (self.first, self.last) = (self.first.min(other.first), self.last.max(other.last));
    }

    /// The run time, and the totals of the main threads that count; `None` if they are not known, or there is nothing to be known.
    fn known(&self) -> Option<(Ticks, ThreadTotals)> {
        let begin = if self.initialized < Ticks::MAX { self.initialized } else { self.first };
        let end = if self.finalized > Ticks::MIN { self.finalized } else { self.last };
        let totals = if self.begun.threads > 0 { self.begun } else { self.all };
        let run = end.saturating_sub(begin);
        // Nobody works longer than the run takes, unless times are wrong.
        (self.is_known && totals.threads > 0 && run > 0 && totals.most <= run).then_some((run, totals))
    }

    /// The facts, with the run time on an ideal network if that is known.
    pub(super) fn facts(&self, ideal: Option<Ticks>, clock: &ClockProperties) -> Option<RunFacts> {
        let (run, ThreadTotals { threads, work, most, counting, counts }) = self.known()?;
        let seconds = |ticks: Ticks| clock.seconds(ticks.into());
        let counted = |at: usize| (counting[at] == threads).then_some(counts[at]);
        Some(RunFacts {
            ranks: threads,
            run: seconds(run),
            ideal: ideal.map(seconds),
            work: seconds(work),
            most: seconds(most),
            instructions: counted(0),
            cycles: counted(1),
        })
    }

    /// Takes the work to be what it is here: pieces between marks of a thread are only roughly of the regions that they are said to be
    /// of. Efficiencies of which it is not known are not known either, those of phases and of all threads as little.
    pub(super) fn correct(&self, predictions: &mut Predictions) {
        let ideal = predictions.efficiency.map(|efficiency| efficiency.ideal);
        predictions.efficiency = self.known().zip(ideal).map(|((run, totals), ideal)| Efficiency {
            work: totals.work,
            most: totals.most,
            ranks: totals.threads,
            run,
            ideal,
        });
        if predictions.efficiency.is_none() {
            (predictions.levels, predictions.phases) = Default::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walk::WalkedLocation;

    fn thread(initialized: Option<Ticks>, finalized: Option<Ticks>, work: Ticks) -> Option<MainThreadWork> {
        Some(MainThreadWork { initialized, finalized, first: 5, last: 95, work, counts: [Some(7), None] })
    }

    fn known(threads: &[Option<MainThreadWork>]) -> Option<(Ticks, u64, Ticks, Ticks)> {
        let mut totals = WorkTotals::default();
        for &work in threads {
            let mut other = WorkTotals::default();
            other.add_thread(work.as_ref());
            totals.merge(other);
        }
        totals.known().map(|(run, totals)| (run, totals.threads, totals.work, totals.most))
    }

    #[test]
    fn run_is_from_the_first_end_of_init_to_the_last_begin_of_finalize() {
        let threads = [thread(Some(12), Some(80), 30), thread(Some(10), Some(90), 50)];
        assert_eq!(known(&threads), Some((80, 2, 80, 50)));
    }

    #[test]
    fn without_init_and_finalize_it_is_from_the_first_to_the_last_record() {
        assert_eq!(known(&[thread(None, None, 60), thread(None, None, 20)]), Some((90, 2, 80, 60)));
        // Others than those with MPI_Init do not count where there are any.
        assert_eq!(known(&[thread(None, None, 60), thread(Some(10), None, 20)]), Some((85, 1, 20, 20)));
    }

    #[test]
    fn nothing_is_known_of_all_if_one_is_not_known_or_there_is_none() {
        assert_eq!(known(&[thread(Some(10), Some(90), 60), None]), None);
        assert_eq!(known(&[]), None);
    }

    #[test]
    fn main_threads_that_have_not_run_count_nothing_and_those_whose_events_are_lost_are_not_known() {
        let process = |end, is_lost, work: Option<MainThreadWork>| WalkedProcess {
            number: 0,
            paths: Box::default(),
            locations: Box::new([WalkedLocation {
                location: 0,
                run: 0,
                run_mpi: 0,
                run_off: 0,
                is_worker: false,
                is_lost,
                sampled: Vec::new(),
                end,
            }]),
            work: work.map(Box::new),
            file_times: Box::default(),
        };
        let known = |other| {
            let processes = [process(95, false, thread(Some(10), Some(90), 60)), other];
            WorkTotals::new(&processes).known().map(|(run, totals)| (run, totals.threads, totals.work))
        };
        assert_eq!(known(process(Ticks::MIN, false, None)), Some((80, 1, 60)));
        assert_eq!(known(process(Ticks::MIN, true, None)), None);
        assert_eq!(known(process(95, false, None)), None);
    }
}
