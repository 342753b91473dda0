//! Runs all workers' locations backwards, or forwards, until nothing is left to do, and finds out when that is.
//!
//! Messages are small, and gathered as long as there is something else to do; it never is one exchange of all workers for
//! each dependency. A worker without work sleeps. Worker 0 asks everyone how many batches they have sent and received
//! once they have nothing to do: if two such counts in a row are equal, and nothing is under way, all have come to an end
//! (F. Mattern: Algorithms for distributed termination detection, 1987). If locations still wait for costs then, they wait
//! for each other: the first of them goes on without. That state does not depend on who was faster, so neither does the
//! report.

use std::time::{Duration, Instant};

use super::backward::{Blocked, Costs, Message};
use super::delay::Class;
use crate::exchange::batch::BatchReader;
use crate::exchange::{Batch, Exchange};
use crate::journal::Spot;

/// Words of messages for one worker that are gathered at most: MPI libraries send so many at once without waiting for the
/// receiver.
const GATHERED: usize = 256;

/// Locations that go on before this worker looks for messages.
const STEPS: usize = 64;

/// How long worker 0 has nothing to do before it asks the others.
const PATIENCE: Duration = Duration::from_micros(300);

/// Kinds of batches.
const WORK: u64 = 0;
const ASK: u64 = 1;
const STATUS: u64 = 2;
const RELEASE: u64 = 3;
const END: u64 = 4;

/// Marks a message about the critical path; others have a bit for each class that costs.
const PATH: u64 = 1 << 63;

/// What a worker answers when it has nothing to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Status {
    sent: u64,
    received: u64,
    blocked: Option<Blocked>,
}

impl Status {
    fn encode(&self) -> Batch {
        let mut words = vec![STATUS, self.sent, self.received];
        if let Some(Blocked { time, spot, number }) = self.blocked {
            words.extend([time as u64, spot.encode(), u64::from(number)]);
        }
        words
    }

    fn decode(words: &[u64]) -> Status {
        let blocked = |words: &[u64]| Blocked {
            time: words[0] as i64,
            spot: Spot::decode(words[1]),
            number: words[2] as u32,
        };
        Status {
            sent: words[1],
            received: words[2],
            blocked: words.get(3..).filter(|words| !words.is_empty()).map(blocked),
        }
    }
}

/// Batches on their way from this worker.
struct Mail {
    gathered: Vec<Batch>,
    sent: u64,
    received: u64,
}

impl Mail {
    fn put(&mut self, worker: usize, message: Message) {
        let batch = &mut self.gathered[worker];
        match message {
            Message::Path(spot) => batch.extend([PATH, spot.encode()]),
            Message::Costs(number, costs) => {
                let head = batch.len();
                batch.push(u64::from(number) << 8);
                for (class, cost) in costs.iter().enumerate().filter(|(_, cost)| **cost != 0.0) {
                    batch[head] |= 1 << class;
                    batch.push(cost.to_bits());
                }
            }
        }
    }

    /// Sends what was gathered; only full batches, if there is more to do.
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

fn read(reader: &mut BatchReader<'_>) -> Message {
    let head = reader.word();
    if head == PATH {
        return Message::Path(Spot::decode(reader.word()));
    }
    let mut costs: Costs = [0.0; Class::COUNT];
    for (class, cost) in costs.iter_mut().enumerate() {
        if head >> class & 1 == 1 {
            *cost = f64::from_bits(reader.word());
        }
    }
    Message::Costs((head >> 8) as u32, costs)
}

/// The locations of a worker on their way through the trace.
pub(super) trait Sweep {
    /// Lets one location go on as far as it can; `tell` takes messages to other workers. Answers whether there was one.
    fn step(&mut self, tell: &mut impl FnMut(usize, Message)) -> bool;

    /// A message has come from a worker.
    fn hear(&mut self, worker: usize, message: Message, tell: &mut impl FnMut(usize, Message));

    /// The location that would have to go on first, of those that cannot.
    fn blocked(&self) -> Option<Blocked>;

    /// Lets a location go on although something is missing.
    fn release(&mut self, blocked: Blocked);
}

/// Runs everything to its end. A worker may have a message for itself to begin with.
pub(super) fn run(sweep: &mut impl Sweep, first: Option<Message>, exchange: &mut dyn Exchange) {
    let workers = exchange.workers();
    let mut mail = Mail { gathered: vec![Batch::new(); workers], sent: 0, received: 0 };
    if let Some(first) = first {
        sweep.hear(exchange.worker(), first, &mut |worker, message| mail.put(worker, message));
    }
    if workers == 1 {
        loop {
            while sweep.step(&mut |_, _| ()) {}
            match sweep.blocked() {
                Some(blocked) => sweep.release(blocked),
                None => return,
            }
        }
    }
    let mut judge = (exchange.worker() == 0).then(|| Judge::new(workers));
    let mut is_asked = false;
    // Since when there was neither work nor a message.
    let mut idle_since: Option<Instant> = None;
    loop {
        let mut steps = 0;
        while steps < STEPS && sweep.step(&mut |worker, message| mail.put(worker, message)) {
            steps += 1;
            mail.send(exchange, true);
        }
        let is_idle = steps < STEPS;
        let idle = idle_since.map_or(Duration::ZERO, |since| since.elapsed());
        if is_idle {
            mail.send(exchange, false);
            let status = Status { sent: mail.sent, received: mail.received, blocked: None };
            if is_asked {
                exchange.post(0, Status { blocked: sweep.blocked(), ..status }.encode());
                is_asked = false;
            }
            if let Some(judge) = &mut judge {
                match judge.decide(|| Status { blocked: sweep.blocked(), ..status }, idle) {
                    Decision::Wait => {}
                    Decision::Ask => (1..workers).for_each(|worker| exchange.post(worker, vec![ASK])),
                    Decision::Release(0, blocked) => {
                        sweep.release(blocked);
                        continue;
                    }
                    Decision::Release(worker, blocked) => {
                        let Blocked { time, spot, number } = blocked;
                        exchange.post(worker, vec![RELEASE, time as u64, spot.encode(), number.into()]);
                    }
                    Decision::End => {
                        // The first thread of a process, which has the others' mail, comes last.
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
        match batch[0] {
            WORK => {
                mail.received += 1;
                let mut reader = BatchReader::new(&batch[1..]);
                while !reader.is_empty() {
                    let message = read(&mut reader);
                    sweep.hear(from, message, &mut |worker, message| mail.put(worker, message));
                }
            }
            ASK => is_asked = true,
            STATUS => {
                if let Some(judge) = &mut judge {
                    judge.hear(from, Status::decode(&batch));
                }
            }
            RELEASE => sweep.release(Blocked {
                time: batch[1] as i64,
                spot: Spot::decode(batch[2]),
                number: batch[3] as u32,
            }),
            _ => return,
        }
    }
}

/// What worker 0 does next.
enum Decision {
    Wait,
    Ask,
    Release(usize, Blocked),
    End,
}

/// Finds out whether everyone has come to an end.
struct Judge {
    /// What workers have answered in this round.
    heard: Vec<Option<Status>>,
    is_asking: bool,
    /// What all had sent and received in the round before.
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

    /// `own` is the status of worker 0, which has had nothing to do for so long.
    fn decide(&mut self, own: impl FnOnce() -> Status, idle: Duration) -> Decision {
        if !self.is_asking {
            // Asking wakes everyone: the longer it takes, the less often.
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
            // The second look at what may be over needs no patience either.
            self.rounds = if sums.0 == sums.1 { 0 } else { self.rounds + 1 };
            return Decision::Wait;
        }
        // Whoever goes on may send nothing: what was counted is true no more.
        self.before = None;
        let blocked = all.iter().enumerate().filter_map(|(worker, one)| Some((one.blocked?, worker)));
        // Where there is one circle there may be many: no patience until somebody has something to do again.
        self.rounds = 0;
        blocked.min().map_or(Decision::End, |(blocked, worker)| Decision::Release(worker, blocked))
    }
}
