//! Random programs that use everything that MPI allows, reproducible.
//!
//! Simulates a small MPI: messages arrive at once, where the first receive that was posted for them takes
//! them, or they are kept until they are received. The next thread, the requests that complete and their
//! order are drawn. Clocks need not agree, the recorder may be switched off, files may be lost, and the
//! program may die or hang.

use std::collections::{BTreeSet, VecDeque};

use crate::support::random::Random;
use crate::support::trace::{Members, Message, Step, Stream, Trace};

mod calls;
mod ending;
mod epochs;
pub(crate) mod features;
mod files;
mod group;
mod locks;
mod neighbors;
mod nonblocking;
mod probes;
mod program;
mod windows;

use files::SimulatedFile;
use neighbors::Topology;
use nonblocking::{PersistentCollective, SimulatedCollective};
use windows::SimulatedWindow;

/// Envelope of a receive, with wildcards.
#[derive(Clone, Debug)]
struct ReceivePattern {
    communicator: String,
    source: Option<u32>,
    tag: Option<u32>,
}

impl ReceivePattern {
    fn takes(&self, message: &Message) -> bool {
        self.communicator == message.communicator
            && self.source.is_none_or(|source| source == message.peer)
            && self.tag.is_none_or(|tag| tag == message.tag)
    }
}

/// A message that has arrived, as at its receiver.
#[derive(Clone, Debug)]
struct Arrived {
    message: Message,
    sent_at: u64,
    /// Process and request of a sender that could still cancel it.
    sender: Option<(usize, u64)>,
}

#[derive(Clone, Debug)]
enum State {
    Sends,
    Posted(ReceivePattern),
    Received(Arrived),
    /// By a matched probe.
    Claimed(Arrived),
    /// Number of the operation, and of the member.
    Collective(usize, usize),
}

/// An active request.
#[derive(Clone, Debug)]
struct SimulatedRequest {
    number: u64,
    state: State,
    /// The persistent operation, if the request can be started again.
    persistent: Option<Persistent>,
}

/// Operation of a persistent request.
#[derive(Clone, Debug)]
enum Persistent {
    Send { to: usize, sent: Message, received: Message },
    Receive(ReceivePattern),
}

/// A call that has been entered, and whose events come later.
#[derive(Clone, Debug)]
enum Open {
    Receive,
    Probe,
    Complete(&'static str),
    Leave,
}

#[derive(Debug)]
struct SimulatedThread {
    stream: Stream,
    /// Number of open functions, and the number of them at the start of the parallel region.
    depth: usize,
    floor: usize,
    open: Option<Open>,
}

/// A process under construction.
#[derive(Debug)]
struct SimulatedProcess {
    now: u64,
    threads: Vec<SimulatedThread>,
    /// Whether all of its threads may call MPI.
    is_multiple: bool,
    is_parallel: bool,
    /// Whether there was a parallel region: from then on workers work only in such regions.
    has_forked: bool,
    /// Whether the recorder is off, and loses events.
    is_off: bool,
    requests: Vec<SimulatedRequest>,
    inactive: Vec<(u64, Persistent)>,
    arrived: Vec<Arrived>,
    claimed: Vec<(u64, Arrived)>,
    /// Collective operations that it still has to request, in this order; as numbers of operation and member.
    due: VecDeque<(usize, usize)>,
}

struct ProgramGenerator {
    random: Random,
    processes: Vec<SimulatedProcess>,
    /// Communicators, and behind the first ones sets of neighbours.
    communicators: Vec<(String, Members)>,
    usable: usize,
    topologies: Vec<Topology>,
    /// Whether the recorder tells what probes have found, what tests have asked for, and which persistent operation is
    /// started.
    tells_probes: bool,
    tells_tests: bool,
    tells_persistent: bool,
    /// Non-blocking operations so far.
    collectives: Vec<SimulatedCollective>,
    persistent: Vec<PersistentCollective>,
    windows: Vec<SimulatedWindow>,
    files: Vec<SimulatedFile>,
    /// Number of operations in between of which something else is done.
    nesting: usize,
    /// Whether clocks agree.
    is_synchronous: bool,
    /// Whether threads use tags of their own.
    has_own_tags: bool,
    /// Percentages.
    switches_off: usize,
    contradicts: usize,
    forgets: usize,
    breaks: usize,
    numbers: u64,
    has_wildcards: bool,
    /// Whether processes wait for each other at the end.
    is_hung: bool,
    /// Whether message lengths increase or decrease, each different, in a program that is recorded completely
    /// by our own recorder.
    distinct: Option<bool>,
    /// Whether nothing contradicts MPI, the clocks agree, and everything is recorded.
    is_lawful: bool,
}

/// The random trace with this number.
pub(crate) fn trace(seed: u64) -> Trace {
    program(seed).0
}

/// A random trace with one thread per process, without matched probes and gaps, in which each message has a
/// different length: later ones are longer, or shorter.
pub(crate) fn distinct(seed: u64, is_rising: bool) -> Trace {
    generate(seed, Some(is_rising), false).0
}

/// A random trace of a program with one thread per process that keeps to MPI's rules, recorded from MPI_Init to MPI_Finalize
/// with clocks that agree: nobody leaves an operation before those that it needs have begun. Buffers are never flushed.
pub(crate) fn lawful(seed: u64) -> Trace {
    generate(seed, None, true).0
}

/// The random trace with this number, and its features.
pub(crate) fn program(seed: u64) -> (Trace, BTreeSet<&'static str>) {
    generate(seed, None, false)
}

fn generate(seed: u64, distinct: Option<bool>, is_lawful: bool) -> (Trace, BTreeSet<&'static str>) {
    let mut random = Random::new(seed.wrapping_mul(2_654_435_761) + 77);
    let ranks = 1 + random.below(5);
    let is_whole = distinct.is_some() || is_lawful;
    let threads = if random.chance(30) && !is_whole { 1 + random.below(3) } else { 1 };
    let mut communicators = group::communicators(&mut random, ranks);
    let usable = communicators.len();
    let topologies = match distinct {
        None => {
            let lost = if is_lawful { 0 } else { 3 };
            neighbors::topologies(&mut random, &mut communicators, ranks, lost)
        }
        Some(_) => Vec::new(),
    };
    let is_synchronous = random.chance(50) || is_lawful;
    let is_multiple = random.chance(60);
    let process = |rank: usize, random: &mut Random| SimulatedProcess {
        now: if is_synchronous { 0 } else { random.below(300) as u64 },
        threads: (0..threads)
            .map(|thread| SimulatedThread {
                stream: Stream { thread: thread as u32, ..Stream::new(rank as u32) },
                depth: 0,
                floor: 0,
                open: None,
            })
            .collect(),
        is_multiple,
        is_parallel: false,
        has_forked: false,
        is_off: false,
        requests: Vec::new(),
        inactive: Vec::new(),
        arrived: Vec::new(),
        claimed: Vec::new(),
        due: VecDeque::new(),
    };
    let processes = (0..ranks).map(|rank| process(rank, &mut random)).collect();
    let has_own_tags = random.chance(50);
    let switches_off = if random.chance(25) && !is_whole { 4 } else { 0 };
    let contradicts = if random.chance(5) && !is_whole { 10 } else { 0 };
    let forgets = if random.chance(25) && !is_lawful { 8 } else { 0 };
    let [tells_probes, tells_tests, tells_persistent] = [50, 60, 70].map(|percent| random.chance(percent));
    let [with_windows, with_files] = if is_lawful { [60, 50] } else { [35, 30] };
    let windows = match distinct.is_none() && random.chance(with_windows) {
        true => windows::windows(&mut random, &communicators[..usable], ranks),
        false => Vec::new(),
    };
    let files = match distinct.is_none() && random.chance(with_files) {
        true => files::files(&mut random, &communicators[..usable], ranks),
        false => Vec::new(),
    };
    let breaks = if !is_whole && random.chance(30) { 4 } else { 0 };
    let mut generator = ProgramGenerator {
        random,
        processes,
        communicators,
        usable,
        topologies,
        tells_probes,
        tells_tests,
        tells_persistent,
        collectives: Vec::new(),
        persistent: Vec::new(),
        windows,
        files,
        nesting: 0,
        is_synchronous,
        has_own_tags,
        switches_off,
        contradicts,
        forgets,
        breaks,
        numbers: 0,
        has_wildcards: false,
        is_hung: false,
        distinct,
        is_lawful,
    };
    generator.run();
    let (has_wildcards, is_hung) = (generator.has_wildcards, generator.is_hung);
    let trace = generator.finish(seed);
    let features = features::features(&trace, has_wildcards, is_hung);
    (trace, features)
}

impl SimulatedProcess {
    /// Number of threads that may act now.
    fn active(&self) -> usize {
        if self.has_forked && !self.is_parallel { 1 } else { self.threads.len() }
    }
}

impl ProgramGenerator {
    /// The resulting trace: streams with clocks and references of their own, some cut short.
    fn finish(mut self, seed: u64) -> Trace {
        let is_whole = self.distinct.is_some() || self.is_lawful;
        let is_aborted = self.random.chance(20) && !is_whole;
        let loses_files = if self.random.chance(10) && !is_whole { 25 } else { 0 };
        let mut streams = Vec::new();
        for mut process in std::mem::take(&mut self.processes) {
            let clock = self.clock(process.now);
            let has_fork =
                process.threads.iter().any(|it| it.stream.events.iter().any(|event| event.1 == Step::Fork));
            let end = if is_aborted && !has_fork && self.random.chance(50) {
                self.random.below(process.now as usize + 1) as u64
            } else {
                u64::MAX
            };
            let threads = process.threads.len() as u32;
            for thread in &mut process.threads {
                let mut stream = thread.stream.clone();
                // Locations of workers may be numbered in reverse.
                stream.id = (seed % 4 < 2 && stream.thread > 0).then(|| threads - stream.thread);
                stream.events.retain(|event| event.0 <= end);
                // The buffer is flushed before the end.
                let last = stream.events.last().map_or(0, |event| event.0);
                stream.events.retain(|event| event.0 < last || !matches!(event.1, Step::Flush { .. }));
                stream.mapped = self.random.chance(25);
                let is_left_out = stream.events.is_empty() && !seed.is_multiple_of(3);
                stream.missing = self.random.chance(loses_files) || is_left_out;
                stream.clock.clone_from(&clock);
                streams.push(stream);
            }
        }
        Trace {
            resolution: self.random.pick(&[1_000_000_000, 2_600_032_510, 1_000_000]),
            // Clocks may be behind the start.
            offset: 1_000_000 * (1 + seed % 3),
            big_endian: self.random.chance(20),
            // A program that hangs has no end.
            program: (self.is_lawful || !self.is_hung && self.random.chance(85)).then(|| "/bin/prog".into()),
            communicators: self.communicators,
            windows: self.windows.into_iter().map(|window| (window.name, window.communicator)).collect(),
            files: self.files.into_iter().map(|file| (file.name, file.communicator)).collect(),
            streams,
            ..Trace::default()
        }
    }

    /// Clock offsets that never let time stand still for long.
    fn clock(&mut self, end: u64) -> Vec<(u64, i64)> {
        if self.random.chance(60) || self.is_lawful {
            return Vec::new();
        }
        let (mut time, mut clock) = (self.random.below(50) as u64, Vec::new());
        for _ in 0..self.random.below(4) {
            clock.push((time, self.random.below(end as usize / 20 + 20) as i64 - end as i64 / 40));
            time += end / 3 + 100;
        }
        clock
    }
}
