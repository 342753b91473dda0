//! Several processes of an analysis as threads of the test: an exchange without MPI.

use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use replay::exchange::Batch;
use replay::progress::Progress;
use replay::{Error, Exchange, Options, Semantics, solvers};

/// A message of a collective exchange: a batch, or `None` for failure.
type Delivery = Option<Batch>;

/// A posted batch, with its sender.
type PostedBatch = (usize, Batch);

/// A simulated process.
struct ThreadProcess {
    number: usize,
    to: Vec<Sender<Delivery>>,
    from: Vec<Receiver<Delivery>>,
    boxes: Vec<Sender<PostedBatch>>,
    letters: Receiver<PostedBatch>,
}

impl ThreadProcess {
    fn swap(&mut self, outgoing: Vec<Delivery>) -> Vec<Delivery> {
        for (to, parcel) in self.to.iter().zip(outgoing) {
            // A process that is gone has failed, which the receiving below detects.
            let _ = to.send(parcel);
        }
        self.from.iter().map(|from| from.recv().unwrap_or(None)).collect()
    }
}

impl Exchange for ThreadProcess {
    fn worker(&self) -> usize {
        self.number
    }

    fn workers(&self) -> usize {
        self.to.len()
    }

    fn exchange(&mut self, outgoing: Vec<Batch>) -> Result<Vec<Batch>, Error> {
        assert_eq!(outgoing.len(), self.workers());
        let incoming = self.swap(outgoing.into_iter().map(Some).collect());
        match incoming.iter().position(Option::is_none) {
            Some(failed) => Err(Error::worker_failed(failed)),
            None => Ok(incoming.into_iter().flatten().collect()),
        }
    }

    fn post(&mut self, worker: usize, words: Batch) {
        self.boxes[worker].send((self.number, words)).unwrap();
    }

    fn poll(&mut self, idle: Duration) -> Option<(usize, Batch)> {
        self.letters.recv_timeout(idle.min(Duration::from_millis(1))).ok()
    }

    fn fail(&mut self) -> usize {
        let incoming = self.swap(vec![None; self.to.len()]);
        incoming.iter().position(Option::is_none).unwrap_or(self.number)
    }
}

/// Limits of the data that a worker may gather from others: nothing, so that they go step by step; that of a
/// few; and everything.
pub(crate) const TOGETHER: [u64; 3] = [0, 4 << 10, solvers::TOGETHER];

/// Analyzes with several processes of several threads; returns the result of each process, in their order.
pub(crate) fn analyze(
    experiment: &Path,
    report: &Path,
    semantics: Semantics,
    processes: usize,
    threads: usize,
) -> Vec<Result<replay::Outcome, Error>> {
    analyze_with(&Options { threads, ..super::options(experiment, report, semantics) }, processes)
}

/// Analyzes three times, with each of the [limits](TOGETHER); `check` reads the report.
///
/// # Panics
/// If there is no report.
pub(crate) fn analyze_each(options: &Options, processes: usize, mut check: impl FnMut(u64)) {
    for together in TOGETHER {
        for outcome in analyze_with(&Options { together, ..options.clone() }, processes) {
            outcome.unwrap();
        }
        check(together);
    }
}

/// Analyzes with several processes; returns the result of each, in their order.
pub(crate) fn analyze_with(options: &Options, processes: usize) -> Vec<Result<replay::Outcome, Error>> {
    let (mut to, mut from): (Vec<Vec<_>>, Vec<Vec<_>>) =
        (0..processes).map(|_| (Vec::new(), Vec::new())).unzip();
    for sender in &mut to {
        for receiver in &mut from {
            let (send, receive) = channel();
            sender.push(send);
            receiver.push(receive);
        }
    }
    let (boxes, letters): (Vec<_>, Vec<_>) = (0..processes).map(|_| channel()).unzip();
    std::thread::scope(|scope| {
        let all: Vec<_> = to
            .into_iter()
            .zip(from)
            .zip(letters)
            .enumerate()
            .map(|(number, ((to, from), letters))| {
                let boxes = boxes.clone();
                scope.spawn(move || {
                    let mut process = ThreadProcess { number, to, from, boxes, letters };
                    replay::analyze(options, &mut process, &mut Progress::silent())
                })
            })
            .collect();
        all.into_iter().map(|worker| worker.join().unwrap()).collect()
    })
}
