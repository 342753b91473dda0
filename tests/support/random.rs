//! Random traces, reproducible: small programs that obey MPI's rules and avoid the reference's quirks.
//!
//! Operations are drawn one after the other for the whole program, so that every message is received and
//! there is no deadlock. Half of the traces have clocks that agree; in the others every rank has a clock of
//! its own, so that messages can arrive before they were sent.

pub(crate) use super::chance::Random;
use super::random_team::{Locks, team};
use super::regions::operation;
use super::trace::{Members, Message, Step, Stream, Trace};

/// An active request.
#[derive(Clone)]
struct Pending {
    request: u64,
    /// The message that it receives; `None` for a send.
    receives: Option<Message>,
}

/// A process under construction.
struct RandomProcess {
    stream: Stream,
    /// Other threads, in teams with the main thread.
    workers: Vec<Stream>,
    /// Number of acquisitions of each lock.
    locks: Locks,
    now: u64,
    depth: usize,
    pending: Vec<Pending>,
}

impl RandomProcess {
    fn at(&mut self, step: Step) {
        self.stream.at(self.now, step);
    }
}

struct TraceGenerator {
    random: Random,
    processes: Vec<RandomProcess>,
    /// Name and members of each communicator, the world first.
    communicators: Vec<(String, Vec<usize>)>,
    /// Whether clocks agree.
    is_synchronous: bool,
    requests: u64,
    /// Whether threads lock POSIX mutexes, too.
    has_mutexes: bool,
}

/// The random trace with this number.
pub(crate) fn trace(seed: u64) -> Trace {
    let mut random = Random::new(seed + 1);
    let ranks = 2 + random.below(5);
    let mut communicators = vec![("world".to_owned(), (0..ranks).collect::<Vec<_>>())];
    for number in 0..random.below(3) {
        let mut members: Vec<usize> = (0..ranks).collect();
        for at in (1..ranks).rev() {
            members.swap(at, random.below(at + 1));
        }
        members.truncate(1 + random.below(ranks));
        communicators.push((format!("comm{number}"), members));
    }
    let is_synchronous = random.chance(50);
    let start = |random: &mut Random| if is_synchronous { 0 } else { random.below(400) as u64 };
    let processes = (0..ranks)
        .map(|rank| RandomProcess {
            now: start(&mut random),
            stream: Stream::new(rank as u32),
            workers: Vec::new(),
            locks: Locks::default(),
            depth: 0,
            pending: Vec::new(),
        })
        .collect();
    let mut generator = TraceGenerator {
        random,
        processes,
        communicators,
        is_synchronous,
        requests: 0,
        has_mutexes: seed.is_multiple_of(3),
    };
    generator.run();
    let ranks = |members: &[usize]| members.iter().map(|&rank| rank as u64).collect();
    Trace {
        resolution: [1_000_000_000, 2_600_032_510][seed as usize % 2],
        offset: 1_000_000 * (seed % 3),
        big_endian: seed.is_multiple_of(5),
        program: (!seed.is_multiple_of(7)).then(|| "/bin/prog".into()),
        communicators: generator.communicators[1..]
            .iter()
            .map(|(name, members)| (name.clone(), Members::Ranks(ranks(members))))
            .collect(),
        streams: generator
            .processes
            .into_iter()
            .enumerate()
            .flat_map(|(at, process)| {
                let mapped = (seed as usize + at).is_multiple_of(4);
                let streams = [process.stream].into_iter().chain(process.workers);
                streams.map(move |stream| Stream { mapped, ..stream })
            })
            .collect(),
        ..Trace::default()
    }
}

impl TraceGenerator {
    fn run(&mut self) {
        for rank in 0..self.processes.len() {
            self.processes[rank].at(Step::Enter("main".into()));
            self.call(rank, "MPI_Init", &[]);
        }
        for _ in 0..10 + self.random.below(50) {
            match self.random.below(11) {
                0 | 1 => self.function(),
                2..=4 => self.message(),
                5 => self.overtake(),
                6 | 7 => {
                    let rank = self.random.below(self.processes.len());
                    self.complete(rank);
                }
                8 | 9 => self.collective(),
                _ => {
                    let process = self.random.below(self.processes.len());
                    let RandomProcess { stream, workers, locks, now, .. } = &mut self.processes[process];
                    *now = team(&mut self.random, locks, stream, workers, *now, self.has_mutexes);
                }
            }
        }
        for rank in 0..self.processes.len() {
            let pending = std::mem::take(&mut self.processes[rank].pending);
            self.completing_call(rank, "MPI_Waitall", &pending);
            while self.processes[rank].depth > 0 {
                self.leave_function(rank);
            }
            self.call(rank, "MPI_Finalize", &[]);
            self.pause(rank, 1);
            self.processes[rank].at(Step::Leave);
        }
    }

    /// Advances the time of a rank.
    fn pause(&mut self, rank: usize, at_least: u64) {
        self.processes[rank].now += at_least + self.random.below(20) as u64;
    }

    /// Makes a rank not earlier than a time, if clocks agree.
    fn wait_for(&mut self, rank: usize, time: u64) {
        if self.is_synchronous {
            self.processes[rank].now = self.processes[rank].now.max(time);
        }
    }

    fn enter(&mut self, rank: usize, region: &str) {
        self.pause(rank, 1);
        self.processes[rank].at(Step::Enter(region.into()));
    }

    fn leave(&mut self, rank: usize) {
        self.pause(rank, 0);
        self.processes[rank].at(Step::Leave);
    }

    fn call(&mut self, rank: usize, region: &str, steps: &[Step]) {
        self.enter(rank, region);
        for step in steps {
            self.pause(rank, 0);
            self.processes[rank].at(step.clone());
        }
        self.leave(rank);
    }

    fn function(&mut self) {
        let rank = self.random.below(self.processes.len());
        if self.processes[rank].depth > 0 && self.random.chance(50) || self.processes[rank].depth > 3 {
            self.leave_function(rank);
        } else {
            let name = self.random.pick(&["f", "g", "h"]);
            self.enter(rank, name);
            self.processes[rank].depth += 1;
        }
    }

    fn leave_function(&mut self, rank: usize) {
        self.leave(rank);
        self.processes[rank].depth -= 1;
    }

    fn request(&mut self) -> u64 {
        self.requests += 1;
        self.requests
    }

    /// Draws a communicator and two of its ranks: its name, and for each the process and its rank in the
    /// communicator.
    fn pair(&mut self) -> Option<(String, [(usize, u32); 2])> {
        let (name, members) = &self.communicators[self.random.below(self.communicators.len())];
        if members.len() < 2 {
            return None;
        }
        let from = self.random.below(members.len());
        let to = (from + 1 + self.random.below(members.len() - 1)) % members.len();
        Some((name.clone(), [(members[from], from as u32), (members[to], to as u32)]))
    }

    fn message(&mut self) {
        let Some((communicator, [from, to])) = self.pair() else { return };
        let (tag, bytes) = (self.random.below(3) as u32, self.random.pick(&[0, 8, 100_000]));
        let message = |peer: u32| Message { peer, tag, bytes, communicator: communicator.clone() };
        let (sent, received) = (message(to.1), message(from.1));
        // A blocking receive must not overtake a posted one on its channel.
        let is_posted = self.processes[to.0].pending.iter().any(|it| it.receives.as_ref() == Some(&received))
            || self.processes[to.0].pending.iter().any(|it| {
                it.receives.as_ref().is_some_and(|other| {
                    (other.peer, other.tag, &other.communicator)
                        == (received.peer, tag, &received.communicator)
                })
            });
        let blocks = self.random.chance(50);
        let receives_blocking = !is_posted && self.random.chance(50);
        let mode = self.random.pick(&["MPI_Send", "MPI_Ssend", "MPI_Bsend", "MPI_Rsend"]);

        if !receives_blocking {
            let request = self.request();
            self.call(to.0, "MPI_Irecv", &[Step::IrecvRequest(request)]);
            self.processes[to.0].pending.push(Pending { request, receives: Some(received.clone()) });
        } else {
            self.enter(to.0, "MPI_Recv");
        }
        let posted = self.processes[to.0].now;
        if blocks {
            self.enter(from.0, mode);
            self.processes[from.0].at(Step::Send(sent));
        } else {
            let request = self.request();
            self.call(from.0, "MPI_Isend", &[Step::Isend(sent, request)]);
            self.processes[from.0].pending.push(Pending { request, receives: None });
        }
        let sent_at = self.processes[from.0].now;
        if receives_blocking {
            self.wait_for(to.0, sent_at);
            self.pause(to.0, 0);
            self.processes[to.0].at(Step::Recv(received));
            self.leave(to.0);
        }
        if blocks {
            if mode == "MPI_Ssend" {
                self.wait_for(from.0, posted);
            }
            self.leave(from.0);
        }
    }

    /// Two messages with different tags, received in the opposite order.
    fn overtake(&mut self) {
        let Some((communicator, [from, to])) = self.pair() else { return };
        let message = |peer, tag| Message { peer, tag, bytes: 8, communicator: communicator.clone() };
        for tag in [10, 11] {
            self.call(from.0, "MPI_Bsend", &[Step::Send(message(to.1, tag))]);
        }
        let sent = self.processes[from.0].now;
        for tag in [11, 10] {
            self.enter(to.0, "MPI_Recv");
            self.wait_for(to.0, sent);
            self.pause(to.0, 0);
            self.processes[to.0].at(Step::Recv(message(from.1, tag)));
            self.leave(to.0);
        }
    }

    /// A rank completes some of its requests. Receives of one channel complete in the order of posting.
    fn complete(&mut self, rank: usize) {
        let all = std::mem::take(&mut self.processes[rank].pending);
        let call = self.random.pick(&[
            "MPI_Wait",
            "MPI_Waitany",
            "MPI_Waitall",
            "MPI_Waitsome",
            "MPI_Test",
            "MPI_Testall",
        ]);
        let is_single = matches!(call, "MPI_Wait" | "MPI_Waitany" | "MPI_Test");
        let (mut now, mut later): (Vec<Pending>, Vec<Pending>) = (Vec::new(), Vec::new());
        let channel = |it: &Pending| it.receives.as_ref().map(|m| (m.peer, m.tag, m.communicator.clone()));
        for one in all {
            let is_behind = later.iter().any(|it| it.receives.is_some() && channel(it) == channel(&one));
            if is_behind || (is_single && !now.is_empty()) || self.random.chance(40) {
                later.push(one);
            } else {
                now.push(one);
            }
        }
        self.processes[rank].pending = later;
        if let Some(first) = now.first().filter(|_| call.starts_with("MPI_Test")) {
            self.call(rank, call, &[Step::Test(first.request)]);
        }
        self.completing_call(rank, call, &now);
    }

    fn completing_call(&mut self, rank: usize, call: &str, requests: &[Pending]) {
        let steps: Vec<Step> = requests
            .iter()
            .map(|it| match &it.receives {
                Some(message) => Step::Irecv(message.clone(), it.request),
                None => Step::IsendComplete(it.request),
            })
            .collect();
        if !steps.is_empty() {
            if self.is_synchronous {
                // All messages that will arrive were sent before the latest time of all ranks.
                let latest = self.processes.iter().map(|process| process.now).max().unwrap_or(0);
                self.enter(rank, call);
                self.wait_for(rank, latest);
                for step in steps {
                    self.processes[rank].at(step);
                }
                self.leave(rank);
            } else {
                self.call(rank, call, &steps);
            }
        }
    }

    fn collective(&mut self) {
        const CALLS: [&str; 12] = [
            "Barrier",
            "Bcast",
            "Scatter",
            "Gather",
            "Reduce",
            "Allgather",
            "Alltoall",
            "Allreduce",
            "Reduce_scatter",
            "Scan",
            "Exscan",
            "Alltoallv",
        ];
        let (name, members) = self.communicators[self.random.below(self.communicators.len())].clone();
        let call = self.random.pick(&CALLS);
        let operation = operation(&call.to_lowercase()).expect("an operation");
        let root = self.random.below(members.len());
        let is_rooted = matches!(call, "Bcast" | "Scatter" | "Gather" | "Reduce");
        for &rank in &members {
            self.enter(rank, &format!("MPI_{call}"));
            self.processes[rank].at(Step::CollectiveBegin);
        }
        let latest = members.iter().map(|&rank| self.processes[rank].now).max().unwrap_or(0);
        for (number, &rank) in members.iter().enumerate() {
            let any = |random: &mut Random| random.pick(&[0, 8, 8, 800]);
            let (sent, received) = match call {
                "Barrier" => (0, 0),
                "Bcast" | "Scatter" if number == root => (any(&mut self.random), 0),
                "Bcast" | "Scatter" => (0, any(&mut self.random)),
                "Gather" | "Reduce" if number != root => (any(&mut self.random), 0),
                _ => (any(&mut self.random), any(&mut self.random)),
            };
            if call == "Barrier" || self.random.chance(70) {
                self.wait_for(rank, latest);
            }
            self.pause(rank, 0);
            self.processes[rank].at(Step::CollectiveEnd {
                operation,
                root: is_rooted.then_some(root as u32),
                sent,
                received,
                communicator: name.clone(),
            });
            self.leave(rank);
        }
    }
}
