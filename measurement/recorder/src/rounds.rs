//! Rounds: the intervals of a run between collective calls on `MPI_COMM_WORLD`, some of which may not be
//! recorded.
//!
//! All processes count the same calls, so they open and close the window at the same ones, without
//! communication.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use model::MeasurementMode;
use recording::settings;

use crate::clock::now;
use crate::gaps;
use crate::thread::Thread;

/// The round of the process, and whether it is recorded.
pub(crate) struct Rounds {
    chosen: settings::Rounds,
    round: AtomicU64,
    /// Whether the program has switched recording off.
    is_off: AtomicBool,
    /// Whether events are recorded now; follows from the others.
    is_recorded: AtomicBool,
}

impl Rounds {
    pub(crate) fn new(chosen: settings::Rounds) -> Rounds {
        Rounds {
            chosen,
            round: AtomicU64::new(0),
            is_off: AtomicBool::new(false),
            is_recorded: AtomicBool::new(chosen.contains(0)),
        }
    }

    /// Whether events are recorded now.
    #[inline]
    pub(crate) fn is_recorded(&self) -> bool {
        self.is_recorded.load(Ordering::Relaxed)
    }

    /// Starts the next round, at a collective call on `MPI_COMM_WORLD`; returns how many rounds have ended. Every such
    /// call has a number of its own, also where a program makes two at once, against the rules of MPI.
    pub(crate) fn next(&self) -> u64 {
        let ended = 1 + self.round.fetch_add(1, Ordering::Relaxed);
        self.decide();
        ended
    }

    /// Switches recording on or off, for the program.
    pub(crate) fn switch(&self, on: bool) {
        self.is_off.store(!on, Ordering::Relaxed);
        self.decide();
    }

    fn decide(&self) {
        let round = self.round.load(Ordering::Relaxed);
        let wanted = self.chosen.contains(round) && !self.is_off.load(Ordering::Relaxed);
        self.is_recorded.store(wanted, Ordering::Relaxed);
    }
}

/// Makes the calling thread record, or not, according to the round and the program, and records the change.
/// Not inside of a call.
#[inline]
pub(crate) fn follow(thread: &mut Thread) {
    if thread.process.rounds.is_recorded() == thread.events.is_muted() && !thread.events.has_failed() {
        change(thread);
    }
}

/// Resumes recording, if it has not failed: the end of the program belongs to any trace.
pub(crate) fn resume(thread: &mut Thread) {
    if thread.events.is_muted() && !thread.events.has_failed() {
        change(thread);
    }
}

#[cold]
fn change(thread: &mut Thread) {
    let time = now();
    if thread.events.is_muted() {
        thread.events.mute(false);
        gaps::switch(&mut thread.events, time, MeasurementMode::ON);
        thread.enter_again(time);
    } else {
        gaps::switch(&mut thread.events, time, MeasurementMode::OFF);
        thread.remember_regions();
        thread.events.mute(true);
    }
}
