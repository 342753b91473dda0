//! Relay: runs computations that go from location to location, over all workers, until all work is done.
//!
//! Messages are small, and gathered as long as there is other work; no dependency ever needs an exchange of
//! all workers. A worker without work sleeps. To detect termination, worker 0 asks all workers without work
//! how many batches they have sent and received. If two such counts in a row are equal, and no batch is under
//! way, all work is done (F. Mattern: Algorithms for distributed termination detection, 1987). If locations
//! are still blocked then, they wait for each other, and the first of them goes on without what it waits for.
//! That state does not depend on the speed of workers, so neither does the report.

use std::time::{Duration, Instant};

use model::Ticks;

use crate::exchange::batch::BatchReader;
use crate::exchange::{Batch, Exchange};
use crate::journal::EventSpot;
use crate::wire::{Wire, wire};

/// The most words of messages for one worker that are gathered: MPI libraries send this many at once without
/// waiting for the receiver.
const GATHERED: usize = 256;

/// The most locations that go on before this worker looks for messages.
const STEPS: usize = 64;

/// How long worker 0 is without work before it asks the others.
const PATIENCE: Duration = Duration::from_micros(300);

/// Kinds of batches.
const WORK: u64 = 0;
const ASK: u64 = 1;
const STATUS: u64 = 2;
const RELEASE: u64 = 3;
const END: u64 = 4;

/// A computation that goes from location to location: each goes on until it needs a message that another has
/// not sent yet.
pub trait Recurrence {
    /// A message between locations of different workers.
    type Message: Wire;

    /// Lets one location go on as far as it can; `tell` sends messages to other workers. Returns whether
    /// there was such a location.
    fn step(&mut self, tell: &mut impl FnMut(usize, Self::Message)) -> bool;

    /// Receives a message from a worker.
    fn hear(&mut self, from: usize, message: Self::Message, tell: &mut impl FnMut(usize, Self::Message));

    /// Returns the first of the locations that cannot go on.
    fn blocked(&self) -> Option<Blocked>;

    /// Lets a location go on although something is missing, as it waits for itself.
    fn release(&mut self, blocked: Blocked);
}

/// A location that cannot go on. If no location can, the smallest one does so first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Blocked {
    /// The time of the event that it cannot handle.
    pub time: Ticks,
    /// The event that it cannot handle.
    pub spot: EventSpot,
}

wire!(Blocked { time, spot });

/// The reply of a worker without work.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Status {
    sent: u64,
    received: u64,
    blocked: Option<Blocked>,
}

wire!(Status { sent, received, blocked });

/// Batches that this worker gathers, and numbers of those that it has sent and received.
struct Mail {
    gathered: Vec<Batch>,
    sent: u64,
    received: u64,
}

impl Mail {
    /// Sends gathered messages; only full batches if there is more work.
    fn send(&mut self, exchange: &mut dyn Exchange, only_full: bool) {
        for (worker, batch) in self.gathered.iter_mut().enumerate() {
            if batch.len() > if only_full { GATHERED } else { 0 } {
                let mut words = vec![WORK];
                words.append(batch);
                exchange.post(worker, words);
                self.sent += 1;
            }
        }
    }
}

/// Makes a batch of this kind with a value.
fn kind(kind: u64, with: &impl Wire) -> Batch {
    let mut batch = vec![kind];
    with.put(&mut batch);
    batch
}

/// Runs a computation to its end on one worker that has all of it.
pub fn run_alone<R: Recurrence>(work: &mut R) {
    loop {
        while work.step(&mut |_, _| ()) {}
        match work.blocked() {
            Some(blocked) => work.release(blocked),
            None => return,
        }
    }
}

/// Runs a computation to its end on all workers.
pub fn run<R: Recurrence>(work: &mut R, exchange: &mut dyn Exchange) {
    let workers = exchange.workers();
    if workers == 1 {
        return run_alone(work);
    }
    let mut mail = Mail { gathered: vec![Batch::new(); workers], sent: 0, received: 0 };
    let mut judge = (exchange.worker() == 0).then(|| Judge::new(workers));
    let mut is_asked = false;
    // The time since when there has been neither work nor a message.
    let mut idle_since: Option<Instant> = None;
    loop {
        let mut steps = 0;
        while steps < STEPS && work.step(&mut |to, message| message.put(&mut mail.gathered[to])) {
            steps += 1;
            mail.send(exchange, true);
        }
        let is_idle = steps < STEPS;
        let idle = idle_since.map_or(Duration::ZERO, |since| since.elapsed());
        if is_idle {
            mail.send(exchange, false);
            let status = Status { sent: mail.sent, received: mail.received, blocked: None };
            if is_asked {
                exchange.post(0, kind(STATUS, &Status { blocked: work.blocked(), ..status }));
                is_asked = false;
            }
            if let Some(judge) = &mut judge {
                match judge.decide(|| Status { blocked: work.blocked(), ..status }, idle) {
                    Decision::Wait => {}
                    Decision::Ask => (1..workers).for_each(|worker| exchange.post(worker, vec![ASK])),
                    Decision::Release(0, blocked) => {
                        work.release(blocked);
                        continue;
                    }
                    Decision::Release(worker, blocked) => {
                        exchange.post(worker, kind(RELEASE, &blocked));
                    }
                    Decision::End => {
                        // The first thread of a process receives the messages of its other threads, so it
                        // ends last.
                        (1..workers).rev().for_each(|worker| exchange.post(worker, vec![END]));
                        return;
                    }
                }
            }
        }
        let Some((from, batch)) = exchange.poll(if is_idle { idle } else { Duration::ZERO }) else {
            idle_since = idle_since.filter(|_| is_idle).or(is_idle.then(Instant::now));
            continue;
        };
        idle_since = None;
        let mut reader = BatchReader::new(&batch);
        match reader.word() {
            WORK => {
                mail.received += 1;
                while !reader.is_empty() {
                    let message = R::Message::get(&mut reader);
                    work.hear(from, message, &mut |to, message| message.put(&mut mail.gathered[to]));
                }
            }
            ASK => is_asked = true,
            STATUS => {
                if let Some(judge) = &mut judge {
                    judge.hear(from, Status::get(&mut reader));
                }
            }
            RELEASE => work.release(Blocked::get(&mut reader)),
            _ => return,
        }
    }
}

/// The next action of worker 0.
enum Decision {
    Wait,
    Ask,
    Release(usize, Blocked),
    End,
}

/// Termination detection on worker 0.
struct Judge {
    /// The replies of workers in this round.
    heard: Vec<Option<Status>>,
    is_asking: bool,
    /// The batches sent and received by all workers in the round before.
    before: Option<(u64, u64)>,
    rounds: u32,
}

impl Judge {
    fn new(workers: usize) -> Judge {
        Judge { heard: vec![None; workers], is_asking: false, before: None, rounds: 1 }
    }

    fn hear(&mut self, worker: usize, status: Status) {
        self.heard[worker] = Some(status);
    }

    /// Returns the next action. `own` is the status of worker 0, which has been without work for so long.
    fn decide(&mut self, own: impl FnOnce() -> Status, idle: Duration) -> Decision {
        if !self.is_asking {
            // Asking wakes all workers: the longer the computation takes, the more rarely they are asked.
            if idle < PATIENCE * self.rounds.min(20) {
                return Decision::Wait;
            }
            self.is_asking = true;
            return Decision::Ask;
        }
        if self.heard[1..].iter().any(Option::is_none) {
            return Decision::Wait;
        }
        self.heard[0] = Some(own());
        let all: Vec<Status> = self.heard.iter_mut().filter_map(Option::take).collect();
        self.is_asking = false;
        let sums = (all.iter().map(|one| one.sent).sum(), all.iter().map(|one| one.received).sum());
        let is_over = sums.0 == sums.1 && self.before == Some(sums);
        self.before = Some(sums);
        if !is_over {
            // If the work may be done, the second count follows at once.
            self.rounds = if sums.0 == sums.1 { 0 } else { self.rounds + 1 };
            return Decision::Wait;
        }
        // The released location may go on without sending anything, so the counts would say nothing.
        self.before = None;
        let blocked = all.iter().enumerate().filter_map(|(worker, one)| Some((one.blocked?, worker)));
        // Where there is one circle there may be many, so the next count follows at once until there is work
        // again.
        self.rounds = 0;
        blocked.min().map_or(Decision::End, |(blocked, worker)| Decision::Release(worker, blocked))
    }
}
