//! Waiting for messages: a process with a core for each of its threads polls, so that a message costs a microsecond;
//! where threads share cores, it yields its core at once, and is woken when a message has arrived.
//!
//! MPI cannot wake a process: its libraries poll, too. So the sender of a message to a process of the same
//! node also rings its *alarm*, a datagram socket. Nothing depends on it: a sleeping process also polls now
//! and then. It does so often in the beginning, unless there are very many processes: beside other programs,
//! a woken process has to wait for its turn, while a polling one has mostly had it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::hash::{BuildHasher, Hasher};
use std::hint::spin_loop;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::thread::{available_parallelism, sleep};
use std::time::{Duration, Instant};

use rustc_hash::FxBuildHasher;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::thread::{CpuSet, sched_getaffinity};

/// Time for which a process with a core of its own polls without sleeping: longer than most replies take. It
/// does not yield meanwhile: another program would get the core for milliseconds.
const AWAKE: Duration = Duration::from_micros(100);

/// Time of sleep between two polls: at first; for large messages, which make progress only while both sides
/// poll; and at most.
pub(super) const NAP: Duration = Duration::from_micros(20);
const LONGEST_NAP: Duration = Duration::from_millis(1);

/// Fraction of the waiting time so far that a nap lasts: otherwise two processes that wait for each other in
/// turn would both slow down.
const PART: u32 = 16;

/// Processes per processor from which on only alarms wake them: polling would take all time.
const MANY: usize = 16;

/// Number of polls without a pause after waking: the message may arrive after the alarm.
const LOOKS: u32 = 3;

/// Place of a process, which it sends to all others at start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Placement {
    /// Ids of the machine, and of the network namespace, to which abstract sockets belong.
    machine: u64,
    network: u64,
    /// Id of its alarm; 0 if it has none.
    alarm: u64,
    /// Number of its threads, which all want a processor.
    threads: u64,
    /// The processors that it may run on.
    processors: [u64; Placement::PROCESSORS],
}

impl Placement {
    /// Number of words of the largest processor mask that the system supports.
    const PROCESSORS: usize = CpuSet::MAX_CPU / 64;

    /// Number of words of [`encode`](Place::encode).
    pub(super) const WORDS: usize = Placement::PROCESSORS + 4;

    /// The place of this process, with its alarm and its number of threads.
    fn new(alarm: u64, threads: usize) -> Placement {
        let hash = |bytes: &[u8]| {
            let mut hasher = FxBuildHasher.build_hasher();
            hasher.write(bytes);
            hasher.finish()
        };
        // The boot id: containers on one machine have different host names.
        let machine = fs::read("/proc/sys/kernel/random/boot_id").or_else(|_| fs::read("/etc/hostname"));
        let network = fs::read_link("/proc/self/ns/net").unwrap_or_default();
        let mut processors = [0; Placement::PROCESSORS];
        let mut set = |processor: usize| processors[processor / 64] |= 1 << (processor % 64);
        match sched_getaffinity(None) {
            Ok(mask) => (0..CpuSet::MAX_CPU).filter(|&processor| mask.is_set(processor)).for_each(&mut set),
            // There are too many for such a mask: their number suffices.
            Err(_) => {
                (0..available_parallelism().map_or(1, usize::from).min(CpuSet::MAX_CPU)).for_each(&mut set)
            }
        }
        Placement {
            machine: hash(&machine.unwrap_or_default()),
            network: hash(network.as_os_str().as_encoded_bytes()),
            alarm,
            threads: threads as u64,
            processors,
        }
    }

    /// Encodes it in words.
    pub(super) fn encode(&self) -> Vec<u64> {
        let mut words = vec![self.machine, self.network, self.alarm, self.threads];
        words.extend(self.processors);
        words
    }

    /// Decodes the words of [`encode`](Place::encode).
    pub(super) fn decode(words: &[u64]) -> Placement {
        let processors = std::array::from_fn(|at| words[4 + at]);
        let [machine, network, alarm, threads] = [words[0], words[1], words[2], words[3]];
        Placement { machine, network, alarm, threads, processors }
    }
}

/// Number of bits set.
fn count(processors: &[u64]) -> u32 {
    processors.iter().map(|word| word.count_ones()).sum()
}

/// Number of processes of one machine, of their threads, and of the processors that they may run on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Share {
    processes: usize,
    threads: u64,
    processors: usize,
}

impl Share {
    /// The share of the machine of a process.
    fn of(place: &Placement, places: &[Placement]) -> Share {
        let mut processors = [0; Placement::PROCESSORS];
        let here = places.iter().filter(|other| other.machine == place.machine);
        for other in here.clone() {
            processors.iter_mut().zip(other.processors).for_each(|(all, word)| *all |= word);
        }
        let threads = here.clone().map(|other| other.threads).sum();
        Share { processes: here.count(), threads, processors: count(&processors) as usize }
    }

    /// Whether there are very many processes on each processor.
    fn is_packed(self) -> bool {
        self.processes > MANY * self.processors
    }

    /// Whether the threads of a machine share processors: there are fewer processors than threads, or several processes
    /// were bound to the same few.
    fn is_crowded(self, place: &Placement, places: &[Placement]) -> bool {
        let mut bound: BTreeMap<[u64; Placement::PROCESSORS], u64> = BTreeMap::new();
        for other in places.iter().filter(|other| other.machine == place.machine) {
            *bound.entry(other.processors).or_default() += other.threads;
        }
        let is_full = |(processors, &threads): (&[u64; Placement::PROCESSORS], &u64)| {
            threads > count(processors).into()
        };
        self.threads > self.processors as u64 || bound.iter().any(is_full)
    }
}

/// Means of waiting of this process.
#[derive(Debug)]
pub(super) struct Waiting {
    share: Share,
    is_crowded: bool,
    /// Socket on which this process is woken, if it is to be.
    alarm: Option<UnixDatagram>,
    /// Socket that wakes others, and their addresses, by worker on this machine.
    bell: Option<UnixDatagram>,
    alarms: Vec<Option<SocketAddr>>,
    place: Placement,
}

/// Address of an alarm.
fn address(alarm: u64) -> io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(format!("replay-analyze-{alarm:016x}"))
}

/// Opens a socket with a unique random name.
fn hang_up() -> Option<(u64, UnixDatagram)> {
    let chance = std::hash::RandomState::new();
    (0..8_u32).find_map(|attempt| {
        let alarm = chance.hash_one(attempt) | 1;
        let socket = UnixDatagram::bind_addr(&address(alarm).ok()?).ok()?;
        socket.set_nonblocking(true).ok()?;
        Some((alarm, socket))
    })
}

impl Waiting {
    /// Initial state of a process with so many threads that does not know the others yet.
    pub(super) fn new(threads: usize) -> Waiting {
        let (number, alarm) = hang_up().unzip();
        let place = Placement::new(number.unwrap_or(0), threads);
        let share =
            Share { processes: 1, threads: place.threads, processors: count(&place.processors) as usize };
        Waiting { share, is_crowded: true, alarm, bell: None, alarms: Vec::new(), place }
    }

    /// The place to be sent to the others.
    pub(super) fn place(&self) -> Placement {
        self.place
    }

    /// Receives the places of all workers.
    pub(super) fn learn(&mut self, places: &[Placement]) {
        self.share = Share::of(&self.place, places);
        self.is_crowded = self.share.is_crowded(&self.place, places);
        if !self.is_crowded {
            (self.alarm, self.bell) = (None, None);
            return;
        }
        let is_near = |place: &Placement| {
            (place.machine, place.network) == (self.place.machine, self.place.network) && place.alarm != 0
        };
        let alarm = |place: &Placement| is_near(place).then(|| address(place.alarm).ok()).flatten();
        self.alarms = places.iter().map(alarm).collect();
        self.bell = UnixDatagram::unbound().ok().filter(|bell| bell.set_nonblocking(true).is_ok());
    }

    /// Wakes a worker after a message was sent to it, if it sleeps.
    pub(super) fn ring(&self, worker: usize) {
        if let (Some(bell), Some(Some(alarm))) = (&self.bell, self.alarms.get(worker)) {
            // If the queue of the socket is full, earlier alarms will wake the worker.
            let _ = bell.send_to_addr(&[1], alarm);
        }
    }

    /// Waits a moment for a message.
    pub(super) fn pause(&self, patience: &mut Patience) {
        let idle = patience.since.get_or_insert_with(Instant::now).elapsed();
        if !self.is_crowded && idle < AWAKE {
            return spin_loop();
        }
        if patience.looks > 0 {
            patience.looks -= 1;
            return spin_loop();
        }
        let nap = (idle / PART).clamp(NAP, LONGEST_NAP);
        let Some(alarm) = &self.alarm else { return sleep(nap) };
        let nap = if self.share.is_packed() { LONGEST_NAP } else { nap };
        let timeout = Timespec { tv_sec: 0, tv_nsec: nap.subsec_nanos().into() };
        let has_rung = poll(&mut [PollFd::new(alarm, PollFlags::IN)], Some(&timeout));
        if has_rung.is_ok_and(|count| count > 0) && alarm.recv(&mut [0; 8]).is_ok() {
            patience.looks = LOOKS;
        }
    }

    /// Waits a moment during the transfer of a large message.
    pub(super) fn rest(&self) {
        if self.is_crowded { sleep(NAP) } else { spin_loop() }
    }

    /// Describes how the processes of this machine wait.
    pub(super) fn describe(&self) -> String {
        let Share { processes, threads, processors } = self.share;
        let mut text = String::new();
        let _ = match self.is_crowded {
            false => write!(text, "waits by looking: a processor for each thread of this node"),
            true => write!(text, "waits asleep: threads of this node share processors"),
        };
        let _ = write!(text, " ({processes} processes, {threads} threads, {processors} processors)");
        text
    }
}

/// State of a wait for one message.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Patience {
    since: Option<Instant>,
    /// Number of polls left before it sleeps again.
    looks: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(machine: u64, processors: u64) -> Placement {
        let mut words = [0; Placement::PROCESSORS];
        words[0] = processors;
        Placement { machine, network: 1, alarm: 0, threads: 1, processors: words }
    }

    fn is_crowded(places: &[Placement]) -> bool {
        Share::of(&places[0], places).is_crowded(&places[0], places)
    }

    #[test]
    fn processors_are_those_of_all_processes_of_the_machine() {
        assert!(!is_crowded(&[place(1, 0b11), place(1, 0b11), place(2, 0b11)]));
        assert!(is_crowded(&[place(1, 0b11), place(1, 0b11), place(1, 0b11)]));
        // Bound to one processor each, and two of three to the same one.
        assert!(!is_crowded(&[place(1, 0b01), place(1, 0b10)]));
        assert!(is_crowded(&[place(1, 0b001), place(1, 0b010), place(1, 0b010), place(1, 0b1100)]));
    }

    #[test]
    fn processes_with_more_threads_than_there_are_processors_wait_asleep() {
        let of_two_threads = |processors| Placement { threads: 2, ..place(1, processors) };
        assert!(!is_crowded(&[of_two_threads(0b1111), of_two_threads(0b1111)]));
        assert!(is_crowded(&[of_two_threads(0b11), of_two_threads(0b11)]));
        assert!(is_crowded(&[of_two_threads(0b01), of_two_threads(0b1110)]));
    }

    #[test]
    fn places_come_back_from_their_words() {
        let place = Placement::new(7, 3);
        assert!(count(&place.processors) > 0);
        assert_eq!(place.encode().len(), Placement::WORDS);
        assert_eq!(Placement::decode(&place.encode()), place);
    }

    #[test]
    fn alarm_wakes_who_sleeps() {
        let mut one = Waiting::new(1);
        let mut other = Waiting::new(1);
        let mut places = [one.place(), other.place()];
        places.iter_mut().for_each(|place| place.processors = [0; Placement::PROCESSORS]);
        one.learn(&places);
        other.learn(&places);
        one.ring(1);
        let mut patience = Patience::default();
        other.pause(&mut patience);
        assert_eq!(patience.looks, LOOKS);
        // There was no other alarm.
        (0..=LOOKS).for_each(|_| other.pause(&mut patience));
        assert_eq!(patience.looks, 0);
    }
}
