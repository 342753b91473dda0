//! Workers on threads, which share the exchange of their process.
//!
//! Every thread puts its batches down; the first thread, which alone may call MPI, sends those of all threads
//! to the other processes and distributes the received ones. Threads sleep while they wait. All processes
//! have the same number of threads; worker *w* is thread *w mod threads* of process *w / threads*.

use std::collections::VecDeque;
use std::mem::take;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::yield_now;
use std::time::Duration;

use tracing::debug;

use super::batch::BatchReader;
use super::{Batch, Exchange, lock, words};
use crate::error::Error;
use crate::int::to_usize;

/// Time for which a thread polls for posted words without sleeping: about that of a reply. Others run in
/// between.
const AWAKE: Duration = Duration::from_micros(300);

/// Longest sleep between two polls.
const LONGEST_NAP: Duration = Duration::from_millis(1);

/// State that the threads of a process share.
#[derive(Debug)]
pub struct Team {
    threads: usize,
    table: Mutex<Table>,
    changed: Condvar,
    /// Posted words by thread.
    mail: Vec<Mailbox>,
    /// Words posted to workers of other processes: the receiver, the sender, the words.
    outgoing: Mutex<Vec<(usize, usize, Batch)>>,
}

/// Words posted to a thread and not yet received: the senders, the words.
#[derive(Debug, Default)]
struct Mailbox {
    incoming: Mutex<VecDeque<(usize, Batch)>>,
    posted: Condvar,
}

impl Mailbox {
    fn put(&self, from: usize, words: Batch) {
        lock(&self.incoming).push_back((from, words));
        self.posted.notify_one();
    }

    /// Takes the oldest words. After `idle` without any it may sleep until there are some, for a while.
    fn take(&self, idle: Duration) -> Option<(usize, Batch)> {
        let mut incoming = lock(&self.incoming);
        if !incoming.is_empty() || idle.is_zero() {
            return incoming.pop_front();
        }
        if idle < AWAKE {
            drop(incoming);
            yield_now();
            return lock(&self.incoming).pop_front();
        }
        let woken = self.posted.wait_timeout_while(incoming, LONGEST_NAP, |incoming| incoming.is_empty());
        incoming = woken.unwrap_or_else(PoisonError::into_inner).0;
        incoming.pop_front()
    }
}

#[derive(Debug, Default)]
struct Table {
    /// Batches that each thread has put down, until the first thread takes them.
    outgoing: Vec<Option<Vec<Batch>>>,
    /// Batches for each thread.
    incoming: Vec<Option<Vec<Batch>>>,
    /// The lowest thread here that has failed.
    failed: Option<usize>,
    /// The worker whose failure has ended the exchange.
    ended: Option<usize>,
}

impl Team {
    /// A table for `threads` threads.
    pub fn new(threads: usize) -> Team {
        let table =
            Table { outgoing: vec![None; threads], incoming: vec![None; threads], ..Table::default() };
        Team {
            threads,
            table: Mutex::new(table),
            changed: Condvar::new(),
            mail: (0..threads).map(|_| Mailbox::default()).collect(),
            outgoing: Mutex::default(),
        }
    }

    /// The exchanges of all threads. The first one needs the exchange of the process.
    pub fn members<'t>(&'t self, process: &'t mut dyn Exchange) -> (First<'t>, Vec<Other<'t>>) {
        let (first, workers) = (process.worker() * self.threads, process.workers() * self.threads);
        let seat = |thread| Seat { team: self, thread, worker: first + thread, workers };
        (
            First { seat: seat(0), process },
            (1..self.threads).map(|thread| Other { seat: seat(thread) }).collect(),
        )
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        lock(&self.table)
    }

    fn wait<'g>(
        &self,
        table: MutexGuard<'g, Table>,
        until: impl Fn(&Table) -> bool,
    ) -> MutexGuard<'g, Table> {
        let ready = self.changed.wait_while(table, |table| !until(table));
        ready.unwrap_or_else(PoisonError::into_inner)
    }
}

/// A thread's seat at the table.
#[derive(Clone, Copy, Debug)]
struct Seat<'t> {
    team: &'t Team,
    thread: usize,
    worker: usize,
    workers: usize,
}

impl Seat<'_> {
    /// Puts batches down; `None` means that this thread has failed.
    fn put(&self, outgoing: Option<Vec<Batch>>) {
        debug!(worker = self.worker, words = outgoing.as_deref().map(words), "batches put down");
        let mut table = self.team.table();
        if outgoing.is_none() {
            table.failed = Some(table.failed.map_or(self.thread, |failed| failed.min(self.thread)));
        }
        table.outgoing[self.thread] = Some(outgoing.unwrap_or_default());
        self.team.changed.notify_all();
    }

    /// Takes the received batches, or returns the worker that has failed.
    fn take(&self) -> Result<Vec<Batch>, usize> {
        let table = self.team.table();
        let mut table =
            self.team.wait(table, |table| table.ended.is_some() || table.incoming[self.thread].is_some());
        match table.ended {
            Some(worker) => Err(worker),
            None => Ok(table.incoming[self.thread].take().unwrap_or_default()),
        }
    }
}

impl Seat<'_> {
    fn post(&self, worker: usize, words: Batch) {
        let first = self.worker - self.thread;
        match worker.checked_sub(first).and_then(|thread| self.team.mail.get(thread)) {
            Some(mailbox) => mailbox.put(self.worker, words),
            None => lock(&self.team.outgoing).push((worker, self.worker, words)),
        }
    }

    fn poll(&self, idle: Duration) -> Option<(usize, Batch)> {
        self.team.mail[self.thread].take(idle)
    }
}

/// The exchange of the first thread of a process.
pub struct First<'t> {
    seat: Seat<'t>,
    process: &'t mut dyn Exchange,
}

impl std::fmt::Debug for First<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "worker {} of {}", self.seat.worker, self.seat.workers)
    }
}

impl First<'_> {
    /// Exchanges the batches of all threads, once all have put theirs down.
    fn carry(&mut self) {
        let team = self.seat.team;
        let mut table = team.wait(team.table(), |table| table.outgoing.iter().all(Option::is_some));
        let mut outgoing: Vec<Vec<Batch>> =
            table.outgoing.iter_mut().map(|batches| batches.take().unwrap_or_default()).collect();
        let failed = table.failed;
        drop(table);
        let threads = team.threads;
        let result = match failed {
            Some(thread) => {
                let (me, first) = (self.process.worker(), self.process.fail());
                Err(first * threads + if first == me { thread } else { 0 })
            }
            None => {
                let own = take_own(&mut outgoing, self.process.worker());
                let packed = pack(outgoing, self.process.workers(), threads);
                let incoming = self.process.exchange(packed);
                let incoming = incoming.map(|incoming| unpack(incoming, own, self.process.worker()));
                incoming.map_err(|error| error.failed_worker().unwrap_or(0) * threads)
            }
        };
        let mut table = team.table();
        match result {
            Err(worker) => table.ended = Some(worker),
            Ok(incoming) => table.incoming = incoming.into_iter().map(Some).collect(),
        }
        team.changed.notify_all();
    }
}

impl First<'_> {
    /// Forwards posted words between the threads here and other processes.
    fn carry_mail(&mut self, idle: Duration) {
        let threads = self.seat.team.threads;
        let outgoing = take(&mut *lock(&self.seat.team.outgoing));
        for (to, from, mut words) in outgoing {
            words.extend([to as u64, from as u64]);
            self.process.post(to / threads, words);
        }
        let mut idle = idle;
        while let Some((_, mut words)) = self.process.poll(idle) {
            let (Some(from), Some(to)) = (words.pop(), words.pop()) else { continue };
            self.seat.team.mail[to_usize(to) % threads].put(to_usize(from), words);
            idle = Duration::ZERO;
        }
    }
}

/// Takes out the batches between threads of this process: they need not be packed.
fn take_own(outgoing: &mut [Vec<Batch>], process: usize) -> Vec<Vec<Batch>> {
    let threads = outgoing.len();
    let own = process * threads..(process + 1) * threads;
    outgoing.iter_mut().map(|batches| batches[own.clone()].iter_mut().map(take).collect()).collect()
}

/// For each process, the batches from all threads here to all threads there: lengths, then words.
fn pack(outgoing: Vec<Vec<Batch>>, processes: usize, threads: usize) -> Vec<Batch> {
    let to_process = |process: usize| {
        let to_threads = process * threads..(process + 1) * threads;
        let batches = || outgoing.iter().flat_map(|batches| &batches[to_threads.clone()]);
        let words: usize = batches().map(Vec::len).sum();
        if words == 0 {
            return Batch::new();
        }
        let mut packed = Batch::with_capacity(threads * threads + words);
        packed.extend(batches().map(|batch| batch.len() as u64));
        batches().for_each(|batch| packed.extend(batch));
        packed
    };
    (0..processes).map(to_process).collect()
}

/// For each thread here, the batch from each worker; `own` are the batches between threads of this process.
fn unpack(incoming: Vec<Batch>, own: Vec<Vec<Batch>>, process: usize) -> Vec<Vec<Batch>> {
    let threads = own.len();
    let mut by_thread: Vec<Vec<Batch>> = vec![Vec::with_capacity(incoming.len() * threads); threads];
    for packed in incoming {
        let mut reader = BatchReader::new(&packed);
        let lengths =
            if packed.is_empty() { &vec![0; threads * threads] } else { reader.words(threads * threads) };
        for from in lengths.chunks_exact(threads) {
            for (to, &length) in from.iter().enumerate() {
                by_thread[to].push(reader.words(to_usize(length)).to_vec());
            }
        }
    }
    for (from, batches) in own.into_iter().enumerate() {
        for (to, batch) in batches.into_iter().enumerate() {
            by_thread[to][process * threads + from] = batch;
        }
    }
    by_thread
}

impl Exchange for First<'_> {
    fn worker(&self) -> usize {
        self.seat.worker
    }

    fn workers(&self) -> usize {
        self.seat.workers
    }

    fn exchange(&mut self, outgoing: Vec<Batch>) -> Result<Vec<Batch>, Error> {
        self.seat.put(Some(outgoing));
        self.carry();
        self.seat.take().map_err(Error::worker_failed)
    }

    fn post(&mut self, worker: usize, mut words: Batch) {
        let threads = self.seat.team.threads;
        if worker / threads == self.process.worker() {
            return self.seat.post(worker, words);
        }
        // Not through the shared list: this thread may not forward that any more.
        words.extend([worker as u64, self.seat.worker as u64]);
        self.process.post(worker / threads, words);
    }

    fn poll(&mut self, idle: Duration) -> Option<(usize, Batch)> {
        if self.process.workers() == 1 {
            return self.seat.poll(idle);
        }
        self.carry_mail(Duration::ZERO);
        self.seat.poll(Duration::ZERO).or_else(|| {
            self.carry_mail(idle);
            self.seat.poll(Duration::ZERO)
        })
    }

    fn fail(&mut self) -> usize {
        self.seat.put(None);
        self.carry();
        self.seat.take().err().unwrap_or(self.seat.worker)
    }
}

/// The exchange of another thread.
#[derive(Debug)]
pub struct Other<'t> {
    seat: Seat<'t>,
}

impl Exchange for Other<'_> {
    fn worker(&self) -> usize {
        self.seat.worker
    }

    fn workers(&self) -> usize {
        self.seat.workers
    }

    fn exchange(&mut self, outgoing: Vec<Batch>) -> Result<Vec<Batch>, Error> {
        self.seat.put(Some(outgoing));
        self.seat.take().map_err(Error::worker_failed)
    }

    fn post(&mut self, worker: usize, words: Batch) {
        self.seat.post(worker, words);
    }

    fn poll(&mut self, idle: Duration) -> Option<(usize, Batch)> {
        self.seat.poll(idle)
    }

    fn fail(&mut self) -> usize {
        self.seat.put(None);
        self.seat.take().err().unwrap_or(self.seat.worker)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::{Solo, broadcast, reduce, share};

    /// Runs `work` on every thread of a team; returns the results in the order of workers.
    fn on_threads<T: Send>(threads: usize, work: impl Fn(&mut dyn Exchange) -> T + Sync) -> Vec<T> {
        let team = Team::new(threads);
        let mut process = Solo;
        let (mut first, others) = team.members(&mut process);
        std::thread::scope(|scope| {
            let work = &work;
            let others: Vec<_> =
                others.into_iter().map(|mut other| scope.spawn(move || work(&mut other))).collect();
            let mut answers = vec![work(&mut first)];
            answers.extend(others.into_iter().map(|other| other.join().unwrap()));
            answers
        })
    }

    #[test]
    fn every_worker_gets_what_each_has_for_it_in_every_round() {
        for threads in 1..5 {
            let answers = on_threads(threads, |exchange| {
                let me = exchange.worker() as u64;
                (0..20).all(|round| {
                    let outgoing = (0..threads as u64).map(|to| vec![round; (me * to) as usize]).collect();
                    let incoming = exchange.exchange(outgoing).unwrap();
                    incoming.iter().enumerate().all(|(from, batch)| *batch == vec![round; from * me as usize])
                })
            });
            assert_eq!(answers, vec![true; threads]);
        }
    }

    #[test]
    fn reducing_keeps_the_order_of_workers_and_broadcast_reaches_all() {
        for threads in 1..8 {
            let answers = on_threads(threads, |exchange| {
                let own = vec![exchange.worker() as u64];
                let all = reduce(exchange, own, Clone::clone, |mine, more| mine.extend(more)).unwrap();
                broadcast(exchange, all).unwrap()
            });
            let expected: Vec<u64> = (0..threads as u64).collect();
            assert_eq!(answers, vec![expected; threads]);
        }
    }

    #[test]
    fn failure_of_one_or_several_ends_the_exchange_of_all_and_the_lowest_speaks() {
        for failing in [&[0][..], &[2], &[1, 3]] {
            let answers = on_threads(4, |exchange| {
                share(exchange, vec![1]).unwrap();
                if failing.contains(&exchange.worker()) {
                    exchange.fail()
                } else {
                    share(exchange, vec![2]).unwrap_err().failed_worker().unwrap()
                }
            });
            assert_eq!(answers, [failing[0]; 4]);
        }
    }
}
