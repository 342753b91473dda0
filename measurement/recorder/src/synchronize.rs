//! Clock offsets of the processes (Cristian 1989): of many round trips between a process and rank 0 the
//! shortest is the most accurate, where the time that rank 0 sends is taken for that in its middle.
//!
//! Processes that read the same clock are compared once, through one of them, the leader; if all do (one
//! node), no messages are exchanged. All exchanges here are made by all processes at the same calls: in
//! the first one that starts MPI, in `MPI_Finalize`, and in between behind collective calls on
//! `MPI_COMM_WORLD`, of which all processes count the same number.

use std::sync::atomic::{AtomicU64, Ordering};

use recording::journal::{ClockCalibration, ClockOffset, JournalRecord};

use crate::clock;
use crate::mpi::Mpi;
use crate::process::Process;

/// Round trips for one measurement.
const ROUND_TRIPS: usize = 64;
/// The tag of messages in the recorder's own communicator.
const TAG: i32 = 1;
/// Number of the collective call at which rank 0 is first asked whether a measurement is due.
const FIRST_ASKED: u64 = 256;

/// The process with the same clock, and when clocks are compared next.
pub(crate) struct Clocks {
    /// The first process that reads the same clock.
    leader: u32,
    /// At rank 0: the leader of each process.
    leaders: Vec<u32>,
    /// Whether there is more than one clock.
    differ: bool,
    /// At rank 0: time of the last measurement.
    last: AtomicU64,
    /// Number of the collective call at which rank 0 is asked next whether a measurement is due.
    next_asked: AtomicU64,
}

impl Clocks {
    /// Whether the process with that rank is the first one of those that read its clock, which are on one host.
    pub(crate) fn is_leader(&self, rank: u32) -> bool {
        self.leader == rank
    }
}

/// Finds out which processes read the same clock. To be called by all processes.
pub(crate) fn find_clocks(mpi: &Mpi, communicator: usize, rank: u32, size: u32) -> Clocks {
    let domain = clock::domain();
    let mut domains = vec![0u64; if rank == 0 { size as usize } else { 1 }];
    let mut mine = [0u32; 2];
    let mut assignments = vec![[0u32; 2]; if rank == 0 { size as usize } else { 1 }];
    let mut leaders = Vec::new();
    // SAFETY: rank 0 has room for 8 bytes of each process, and every process has 8 bytes to send and to
    // receive.
    unsafe {
        (mpi.gather)(
            (&raw const domain).cast(),
            8,
            mpi.byte,
            domains.as_mut_ptr().cast(),
            8,
            mpi.byte,
            0,
            communicator,
        );
        if rank == 0 {
            let mut first_of = std::collections::HashMap::new();
            for (at, domain) in domains.iter().enumerate() {
                assignments[at][0] = *first_of.entry(*domain).or_insert(at as u32);
            }
            let differ = u32::from(first_of.len() > 1);
            assignments.iter_mut().for_each(|assignment| assignment[1] = differ);
            leaders = assignments.iter().map(|assignment| assignment[0]).collect();
        }
        (mpi.scatter)(
            assignments.as_ptr().cast(),
            8,
            mpi.byte,
            mine.as_mut_ptr().cast(),
            8,
            mpi.byte,
            0,
            communicator,
        );
    }
    Clocks {
        leader: mine[0],
        leaders,
        differ: mine[1] != 0,
        last: AtomicU64::new(clock::monotonic()),
        next_asked: AtomicU64::new(FIRST_ASKED),
    }
}

/// Measures the clock offsets of all processes and writes them to the journals. To be called by all
/// processes.
pub(crate) fn measure(process: &Process) {
    let clocks = &process.clocks;
    if clocks.leader == 0 {
        let ticks = clock::now();
        process.append(&JournalRecord::Offset(ClockOffset { ticks, reference: ticks, round_trip: 0 }));
    }
    let Some(communicator) = process.communicator().filter(|_| clocks.differ) else { return };
    let mpi = &process.mpi;
    let mut found = [0u64; 3];
    if process.rank == 0 {
        let is_leader = |&(rank, &leader): &(u32, &u32)| rank == leader && leader != 0;
        let leaders = (0..).zip(&clocks.leaders).filter(is_leader);
        leaders.for_each(|(leader, _)| answer(mpi, communicator, leader));
        clocks.last.store(clock::monotonic(), Ordering::Relaxed);
    } else if clocks.leader == process.rank {
        found = ask(mpi, communicator);
    }
    let everybody = if process.rank == 0 { process.size as usize } else { 1 };
    let mut all = vec![[0u64; 3]; everybody];
    // Rank 0 distributes the leaders' results.
    // SAFETY: rank 0 has room for 24 bytes of each process, and every process has 24 bytes to send and to
    // receive.
    unsafe {
        (mpi.gather)(
            found.as_ptr().cast(),
            24,
            mpi.byte,
            all.as_mut_ptr().cast(),
            24,
            mpi.byte,
            0,
            communicator,
        );
        let found_by = |&leader: &u32| all.get(leader as usize).copied().unwrap_or_default();
        let of_each: Vec<[u64; 3]> = clocks.leaders.iter().map(found_by).collect();
        (mpi.scatter)(
            of_each.as_ptr().cast(),
            24,
            mpi.byte,
            found.as_mut_ptr().cast(),
            24,
            mpi.byte,
            0,
            communicator,
        );
    }
    if clocks.leader != 0 {
        let [ticks, reference, round_trip] = found;
        process.append(&JournalRecord::Offset(ClockOffset { ticks, reference, round_trip }));
    }
}

/// Sends rank 0's time to a leader, once for each round trip.
fn answer(mpi: &Mpi, communicator: usize, leader: u32) {
    let mut nothing = 0u8;
    for _ in 0..ROUND_TRIPS {
        // SAFETY: there is room for one byte, and there are eight bytes to send.
        unsafe {
            (mpi.recv)(&raw mut nothing, 1, mpi.byte, leader as i32, TAG, communicator, mpi.status_ignore());
            let now = clock::now();
            (mpi.send)((&raw const now).cast(), 8, mpi.byte, leader as i32, TAG, communicator);
        }
    }
}

/// Measures a leader's offset; returns its time in the middle of the shortest round trip, rank 0's time then,
/// and the duration of the round trip.
fn ask(mpi: &Mpi, communicator: usize) -> [u64; 3] {
    let mut best = [0, 0, u64::MAX];
    for _ in 0..ROUND_TRIPS {
        let (nothing, mut reference) = (0u8, 0u64);
        let begin = clock::now();
        // SAFETY: there is one byte to send, and room for eight.
        unsafe {
            (mpi.send)(&raw const nothing, 1, mpi.byte, 0, TAG, communicator);
            (mpi.recv)((&raw mut reference).cast(), 8, mpi.byte, 0, TAG, communicator, mpi.status_ignore());
        }
        let round_trip = clock::now().saturating_sub(begin);
        if round_trip < best[2] {
            best = [begin + round_trip / 2, reference, round_trip];
        }
    }
    best
}

/// Measures offsets behind a collective call of all processes with that number, if that is due, which rank 0 decides; it is
/// asked seldom, at calls that all processes know beforehand. Returns the start and the end of the exchange,
/// if there was one.
pub(crate) fn between(process: &Process, call: u64) -> Option<(u64, u64)> {
    let clocks = &process.clocks;
    let interval = process.settings.clock_interval;
    if !clocks.differ || interval <= 0.0 {
        return None;
    }
    if call != clocks.next_asked.load(Ordering::Relaxed) {
        return None;
    }
    let communicator = process.communicator()?;
    let begin = clock::now();
    let elapsed = clock::monotonic().saturating_sub(clocks.last.load(Ordering::Relaxed)) as f64 / 1e9;
    // Number of calls until it is due, at the rate so far.
    let is_due = elapsed >= interval / 2.0;
    let calls = (call as f64 * interval / elapsed.max(1e-3)).clamp(1.0, 1e9) as u64;
    let mut decision = [u64::from(is_due), call + calls];
    // SAFETY: all processes have sixteen bytes.
    unsafe { (process.mpi.bcast)(decision.as_mut_ptr().cast(), 16, process.mpi.byte, 0, communicator) };
    clocks.next_asked.store(decision[1], Ordering::Relaxed);
    if decision[0] != 0 {
        measure(process);
    }
    Some((begin, clock::now()))
}

/// Writes a calibration to the journal: the clocks read at one moment.
pub(crate) fn calibrate(process: &Process) {
    let before = clock::now();
    let (nanoseconds, realtime) = (clock::monotonic(), clock::realtime());
    let after = clock::now();
    process.append(&JournalRecord::Calibration(ClockCalibration {
        ticks: before + (after - before) / 2,
        nanoseconds,
        realtime,
    }));
}
