//! Questions to other processes when they come back to MPI, and their answers, in bulk.

use model::Ticks;
use rustc_hash::FxHashMap;

use super::pairwise::Awaitable;
use super::progress::ProgressCalls;
use crate::error::Error;
use crate::exchange::{Batch, Exchange};
use crate::int::to_usize;
use crate::tools::Tools;
use crate::walk::Walked;
use crate::wire::{self, Wire};

/// Questions, each with what it is about.
#[derive(Debug)]
pub(super) struct Questions<T> {
    /// By worker: about what.
    subjects: Vec<Vec<T>>,
    /// By worker: process, since when, until when.
    outgoing: Vec<Batch>,
}

impl<T> Questions<T> {
    /// None yet.
    pub(super) fn new(workers: usize) -> Questions<T> {
        let subjects = (0..workers).map(|_| Vec::new()).collect();
        Questions { subjects, outgoing: vec![Batch::new(); workers] }
    }

    /// Asks whether a process that is outside of MPI at a time comes back before another one.
    pub(super) fn ask(
        &mut self,
        tools: &Tools<'_>,
        process: u32,
        (since, until): (Ticks, Ticks),
        subject: T,
    ) {
        let worker = tools.owners.of(process as usize);
        (process, (since, until)).put(&mut self.outgoing[worker]);
        self.subjects[worker].push(subject);
    }

    /// Asks all at once. `found` is called with the subject of each question whose process comes back, and with entering the call
    /// with which it does.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn send(
        self,
        processes: &[Walked],
        exchange: &mut dyn Exchange,
        mut found: impl FnMut(&T, Awaitable),
    ) -> Result<(), Error> {
        let told = exchange.exchange(self.outgoing)?;
        let answers = exchange.exchange(answers(processes, &told))?;
        for (subjects, batch) in self.subjects.iter().zip(&answers) {
            for (number, returned) in wire::all::<(u64, Awaitable)>(batch) {
                found(&subjects[to_usize(number)], returned);
            }
        }
        Ok(())
    }
}

/// Answers the questions of each worker, in their order: the numbers of those whose process comes back, each with the return.
fn answers(processes: &[Walked], told: &[Batch]) -> Vec<Batch> {
    let first = processes.first().map_or(0, |walked| walked.process.number);
    let mut known: FxHashMap<u32, ProgressCalls> = FxHashMap::default();
    let answer = |batch: &Batch| {
        let mut answer = Batch::new();
        for (number, (process, (since, until))) in (0_u64..).zip(wire::all::<(u32, (Ticks, Ticks))>(batch)) {
            let operations = &processes[process as usize - first].operations;
            let calls = known.entry(process).or_insert_with(|| ProgressCalls::new(operations));
            let Some(id) = calls.return_after(since) else { continue };
            let call = operations.call(id);
            if call.interval.enter <= until {
                (number, Awaitable::new(operations, id, call.entered)).put(&mut answer);
            }
        }
        answer
    };
    told.iter().map(answer).collect()
}
