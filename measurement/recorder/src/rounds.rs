//! Rounds: the intervals of a run between collective calls on `MPI_COMM_WORLD`, some of which may not be
//! recorded.
//!
//! All processes count the same calls, so they open and close the window at the same ones, without
//! communication.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use model::MeasurementMode;
use recording::settings::{self, IterationChoice};

use crate::clock::now;
use crate::gaps;
use crate::thread::Thread;

/// The round of the process, and whether it is recorded.
pub(crate) struct Rounds {
    chosen: settings::Rounds,
    /// What is recorded instead, if the user wants iterations.
    by_iteration: Option<ByIteration>,
    round: AtomicU64,
    /// Whether the program has switched recording off.
    is_off: AtomicBool,
    /// Whether events are recorded now; follows from the others.
    is_recorded: AtomicBool,
}

/// Recording by iterations: the begin of the program, then windows.
struct ByIteration {
    /// Bytes of events that may be recorded before a loop is found, and those that have been.
    limit: u64,
    written: AtomicU64,
    is_begin: AtomicBool,
    is_window: AtomicBool,
}

impl Rounds {
    pub(crate) fn new(chosen: settings::Rounds, iterations: Option<IterationChoice>) -> Rounds {
        let by_iteration = iterations.map(|IterationChoice { until_stable, .. }| ByIteration {
            limit: until_stable,
            written: AtomicU64::new(0),
            is_begin: AtomicBool::new(until_stable > 0),
            is_window: AtomicBool::new(false),
        });
        let rounds = Rounds {
            chosen,
            by_iteration,
            round: AtomicU64::new(0),
            is_off: AtomicBool::new(false),
            is_recorded: AtomicBool::new(false),
        };
        rounds.decide();
        rounds
    }

    /// Returns how many rounds have ended.
    pub(crate) fn ended(&self) -> u64 {
        self.round.load(Ordering::Relaxed)
    }

    /// Whether an iteration is recorded that the user has asked for.
    pub(crate) fn is_in_window(&self) -> bool {
        self.by_iteration.as_ref().is_some_and(|it| it.is_window.load(Ordering::Relaxed))
    }

    /// Whether the program is not recorded from its begin on any more.
    pub(crate) fn is_begin_over(&self) -> bool {
        self.by_iteration.as_ref().is_some_and(|it| !it.is_begin.load(Ordering::Relaxed))
    }

    /// Chooses whether the begin of the program is recorded still, and whether an iteration is.
    pub(crate) fn choose(&self, is_begin: bool, is_window: bool) {
        let Some(it) = &self.by_iteration else { return };
        if !is_begin {
            it.is_begin.store(false, Ordering::SeqCst);
        }
        it.is_window.store(is_window, Ordering::SeqCst);
        self.decide();
    }

    /// Notes that so many bytes of events have been written out.
    pub(crate) fn note_written(&self, bytes: u64) {
        let Some(it) = &self.by_iteration else { return };
        if it.is_begin.load(Ordering::Relaxed)
            && it.written.fetch_add(bytes, Ordering::Relaxed) + bytes >= it.limit
        {
            it.is_begin.store(false, Ordering::SeqCst);
            self.decide();
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
        let ended = 1 + self.round.fetch_add(1, Ordering::SeqCst);
        self.decide();
        ended
    }

    /// Switches recording on or off, for the program.
    pub(crate) fn switch(&self, on: bool) {
        self.is_off.store(!on, Ordering::SeqCst);
        self.decide();
    }

    /// Decides again until nothing has changed meanwhile: other threads decide, too, and the last one must know all.
    fn decide(&self) {
        loop {
            let wanted = self.is_wanted();
            self.is_recorded.store(wanted, Ordering::SeqCst);
            if self.is_wanted() == wanted {
                return;
            }
        }
    }

    fn is_wanted(&self) -> bool {
        let is_chosen = match &self.by_iteration {
            None => self.chosen.contains(self.round.load(Ordering::SeqCst)),
            Some(it) => it.is_begin.load(Ordering::SeqCst) || it.is_window.load(Ordering::SeqCst),
        };
        is_chosen && !self.is_off.load(Ordering::SeqCst)
    }
}

/// Makes the calling thread record, or not, according to the round and the program, and records the change.
/// Not inside of a call. In a team of OpenMP it goes on until it leaves that.
#[inline]
pub(crate) fn follow(thread: &mut Thread) {
    if thread.process.rounds.is_recorded() == thread.events.is_muted()
        && !thread.events.has_failed()
        && (thread.events.is_muted() || !thread.is_in_team())
    {
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
    // As long as nothing is recorded this only forgets.
    thread.settle(time);
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
