//! Who communicates with whom, how much, and who waits: the tables `matrix`, `processes`, `collectives`, `last`, `sizes`.
//!
//! Sums are made process by process while operations are there. Then there are two rounds: in the first one owners
//! of senders and receivers tell each other what only they know, in the second one worker 0 gets all rows.

mod collectives;
mod last;
mod matrix;
mod processes;
mod sizes;

use details::Table;
use details::manifest::Complete;

use crate::error::Error;
use crate::exchange::batch::BatchReader;
use crate::exchange::{Batch, Exchange, gather};
use crate::ids::PathId;
use crate::int::to_u32;
use crate::matching::{Latecomer, Latecomers, Matches};
use crate::report_paths::ReportPaths;
use crate::tools::Tools;
use crate::wait_states::WaitingMessages;
use crate::walk::Walked;
use crate::wire::Wire;

use collectives::Collectives;
use matrix::{PairWait, Pairs};
use processes::{Caused, Processes};
use sizes::{Size, Sizes};

/// Stands for none: a process or communicator that is not one.
const NONE: u32 = u32::MAX;

/// A table, and whether it has all there is.
pub(super) type Known = (Table, Complete);

/// What a worker knows of the communication of its processes.
#[derive(Debug, Default)]
pub(super) struct Communication {
    /// Who came last to the collective operations that this worker judges.
    pub(super) latecomers: Latecomers,
    pairs: Pairs,
    processes: Processes,
    sizes: Sizes,
    collectives: Collectives,
}

impl Communication {
    /// Adds the next process, once its wait states are known.
    pub(super) fn collect(
        &mut self,
        tools: &Tools<'_>,
        walked: &Walked,
        matches: &Matches,
        waiting: &WaitingMessages,
    ) {
        self.pairs.collect(walked, waiting);
        self.processes.collect(tools.metrics, walked);
        self.sizes.collect(walked, matches, waiting);
        self.collectives.collect(tools.metrics, walked, matches);
    }

    /// Frees what is needed only to add processes.
    pub(super) fn finish(&mut self) {
        self.sizes.finish();
    }

    /// Brings together what all workers have; the tables are at worker 0, the others have none.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn of_all(
        mut self,
        tools: &Tools<'_>,
        paths: &ReportPaths,
        exchange: &mut dyn Exchange,
    ) -> Result<Vec<Known>, Error> {
        let (worker, workers, owners) = (exchange.worker(), exchange.workers(), tools.owners);
        let first = to_u32(owners.first(worker));
        let told = Told {
            pairs: self.pairs.take_waits(),
            sizes: self.sizes.take_others(|process| owners.of(process as usize) == worker),
            caused: self.pairs.caused(),
            latecomers: self.latecomers.into_list(),
        };
        let counts = self.pairs.counts();
        let mut outgoing: Vec<Batch> = vec![Batch::new(); workers];
        outgoing.iter_mut().for_each(|batch| counts.put(batch));
        told.put(&mut outgoing, |process| owners.of(process as usize));
        let mut all_counts = matrix::Counts::default();
        let mut latecomers = Vec::new();
        for batch in exchange.exchange(outgoing)? {
            let mut reader = BatchReader::new(&batch);
            let counts: matrix::Counts = Wire::get(&mut reader);
            all_counts.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
            let heard = Told::get(&mut reader);
            heard.pairs.iter().for_each(|wait| self.pairs.hear(first, wait));
            heard.pairs.iter().for_each(|wait| self.processes.hear(first, &wait.caused()));
            heard.caused.iter().for_each(|caused| self.processes.hear_senders(first, caused));
            self.sizes.hear(heard.sizes);
            latecomers.extend(heard.latecomers);
        }
        let number =
            |process: u32, path: PathId| paths.numbers[(process - first) as usize].get(path.index()).copied();
        let lasts = last::by_region(&latecomers, |it| Some(paths.region(number(it.speaker, it.path)?)));
        drop(latecomers);
        self.collectives.count(&lasts);

        let limit = matrix::limit(&all_counts);
        let mut words = Batch::new();
        self.processes.into_rows(first).put(&mut words);
        self.sizes.into_rows(number).put(&mut words);
        self.collectives.into_rows().put(&mut words);
        lasts.put(&mut words);
        self.pairs.put_rows(first, limit, &mut words);
        let told = gather(exchange, words)?;
        if worker > 0 {
            return Ok(Vec::new());
        }
        let regions = collectives::Regions::new(paths);
        let (mut processes, mut sizes, mut calls, mut lasts) = (vec![], vec![], vec![], vec![]);
        let mut rows = Vec::with_capacity(told.len());
        for batch in &told {
            let mut reader = BatchReader::new(batch);
            processes.extend(Vec::<processes::Line>::get(&mut reader));
            sizes.extend(Vec::<sizes::Row>::get(&mut reader));
            calls.extend(Vec::<collectives::Row>::get(&mut reader));
            lasts.extend(Vec::<last::Row>::get(&mut reader));
            rows.push(reader.rest());
        }
        let matrix = matrix::table(&rows, &all_counts);
        drop(rows);
        drop(told);
        Ok(vec![
            matrix,
            processes::table(&processes),
            collectives::table(calls, &regions),
            last::table(lasts, &regions),
            sizes::table(sizes),
        ])
    }
}

/// What workers tell each other of messages and collective operations.
#[derive(Debug, Default)]
struct Told {
    /// What senders waited, to the owners of receivers.
    pairs: Vec<PairWait>,
    /// What senders know of messages, to the owners of receivers.
    sizes: Vec<Size>,
    /// What receivers waited, to the owners of senders.
    caused: Vec<Caused>,
    /// Who came last, to the owners of processes that know the function.
    latecomers: Vec<Latecomer>,
}

impl Told {
    /// Appends each to the batch of its owner.
    fn put(self, outgoing: &mut [Batch], owner: impl Fn(u32) -> usize) {
        put_lists(self.pairs, outgoing, |it| owner(it.destination));
        put_lists(self.sizes, outgoing, |it| owner(it.receiver));
        put_lists(self.caused, outgoing, |it| owner(it.process));
        put_lists(self.latecomers, outgoing, |it| owner(it.speaker));
    }

    fn get(reader: &mut BatchReader<'_>) -> Told {
        Told {
            pairs: Wire::get(reader),
            sizes: Wire::get(reader),
            caused: Wire::get(reader),
            latecomers: Wire::get(reader),
        }
    }
}

/// Appends a list to each batch: those of the items that are for its worker.
fn put_lists<T: Wire>(items: Vec<T>, outgoing: &mut [Batch], owner: impl Fn(&T) -> usize) {
    let places: Vec<usize> = outgoing.iter().map(Vec::len).collect();
    outgoing.iter_mut().for_each(|batch| batch.push(0));
    for item in items {
        let worker = owner(&item);
        outgoing[worker][places[worker]] += 1;
        item.put(&mut outgoing[worker]);
    }
}
