//! Workers as threads of the benchmark that count the traffic MPI would carry.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use replay::exchange::Batch;
use replay::progress::Progress;
use replay::{Error, Exchange, Options, analyze};

/// Traffic that one worker has sent.
#[derive(Clone, Copy, Default)]
pub(crate) struct Traffic {
    /// Number of exchanges among all workers: each needs one all-to-all of lengths.
    pub(crate) rounds: u64,
    /// Number of batches that were not empty.
    pub(crate) messages: u64,
    /// Size of these batches in bytes.
    pub(crate) bytes: u64,
}

/// A worker that counts its traffic.
struct CountingWorker {
    number: usize,
    to: Vec<Sender<Batch>>,
    from: Vec<Receiver<Batch>>,
    boxes: Vec<Sender<(usize, Batch)>>,
    letters: Receiver<(usize, Batch)>,
    traffic: Traffic,
}

/// Makes connected workers.
fn workers(number: usize) -> Vec<CountingWorker> {
    let (boxes, letters): (Vec<_>, Vec<_>) = (0..number).map(|_| channel()).unzip();
    let mut all: Vec<CountingWorker> = letters
        .into_iter()
        .enumerate()
        .map(|(number, letters)| CountingWorker {
            number,
            to: Vec::new(),
            from: Vec::new(),
            boxes: boxes.clone(),
            letters,
            traffic: Traffic::default(),
        })
        .collect();
    for from in 0..number {
        for to in 0..number {
            let (sender, receiver) = channel();
            all[from].to.push(sender);
            all[to].from.push(receiver);
        }
    }
    all
}

impl Exchange for CountingWorker {
    fn worker(&self) -> usize {
        self.number
    }

    fn workers(&self) -> usize {
        self.to.len()
    }

    fn exchange(&mut self, outgoing: Vec<Batch>) -> Result<Vec<Batch>, Error> {
        self.traffic.rounds += 1;
        for (to, batch) in outgoing.into_iter().enumerate() {
            if to != self.number && !batch.is_empty() {
                self.traffic.messages += 1;
                self.traffic.bytes += size_of_val(&batch[..]) as u64;
            }
            self.to[to].send(batch).map_err(|_| Error::worker_failed(to))?;
        }
        let hear = |(from, receiver): (usize, &Receiver<Batch>)| {
            receiver.recv().map_err(|_| Error::worker_failed(from))
        };
        self.from.iter().enumerate().map(hear).collect()
    }

    fn post(&mut self, worker: usize, words: Batch) {
        self.traffic.messages += 1;
        self.traffic.bytes += size_of_val(&words[..]) as u64;
        // A worker that is gone has failed, which the next exchange reports.
        let _ = self.boxes[worker].send((self.number, words));
    }

    fn poll(&mut self, idle: Duration) -> Option<(usize, Batch)> {
        self.letters.recv_timeout(idle.min(Duration::from_millis(1))).ok()
    }

    /// The other workers notice when this one is dropped.
    fn fail(&mut self) -> usize {
        self.number
    }
}

/// Traffic of an analysis with several workers, summed over them.
pub(crate) fn traffic(options: &Options, number: usize) -> Result<Traffic, replay::Error> {
    std::thread::scope(|scope| {
        let all: Vec<_> = workers(number)
            .into_iter()
            .map(|mut worker| {
                scope.spawn(move || {
                    analyze(options, &mut worker, &mut Progress::silent()).map(|_| worker.traffic)
                })
            })
            .collect();
        let mut sum = Traffic::default();
        for worker in all {
            let one = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            sum.rounds = one.rounds;
            sum.messages += one.messages;
            sum.bytes += one.bytes;
        }
        Ok(sum)
    })
}
