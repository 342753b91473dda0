//! Records some iterations of the loop that the program repeats, which is found while it runs (structure 5).
//!
//! | module | contents |
//! |---|---|
//! | `search` | the calls of the first thread as a graph, and the loop in it |
//! | `hops` | that graph |
//! | `plan` | the agreement of the processes on iterations |
//! | `exchange` | how they talk to each other |
//! | `times` | when all iterations began |
//!
//! The search belongs to the thread that has called `MPI_Init`; that one talks to other processes, too, in its own calls of
//! MPI, as only it may where MPI has not been asked for threads. Other threads follow, as they do for rounds.

mod exchange;
mod hops;
mod plan;
mod search;
mod times;

use std::sync::{Mutex, PoisonError, TryLockError};

use model::mpi::{self, Polling};
use recording::functions;
use recording::iterations::Moment;
use recording::journal::{JournalRecord, LoopSearch};
use recording::settings::IterationChoice;

use crate::clock::now;
use crate::iterations::exchange::AllReduce;
use crate::iterations::plan::Plan;
use crate::iterations::search::{Passed, Search};
use crate::iterations::times::Times;
use crate::mpi::Mpi;
use crate::process::Process;
use crate::thread::{OpenCall, Thread};

/// Number of steps between two questions whether an exchange has a result, where the loop does not come to its header.
const POLL: u64 = 256;

/// The loops of a thread.
pub(crate) struct Loops {
    search: Search,
    times: Times,
}

impl Loops {
    pub(crate) fn new(now: u64) -> Loops {
        Loops { search: Search::new(now), times: Times::new() }
    }
}

/// The iterations of the process.
pub(crate) struct Iterations {
    agreement: Mutex<Agreement>,
    /// By function: whether its calls are no steps.
    is_poll: Vec<bool>,
}

struct Agreement {
    plan: Plan<AllReduce>,
    /// What was chosen last: whether the begin of the program is recorded still, and whether an iteration is.
    chosen: Option<(bool, bool)>,
    told: LoopSearch,
}

impl Iterations {
    /// Prepares the agreement; all processes do so.
    pub(crate) fn new(mpi: &Mpi, communicator: usize, choice: IterationChoice) -> Iterations {
        let plan = Plan::new(AllReduce::new(mpi, communicator), choice.count, choice.skip);
        let is_poll = functions::all()
            .iter()
            .map(|function| Polling::of_plain(&mpi::plain(function.name)).is_some())
            .collect();
        Iterations {
            agreement: Mutex::new(Agreement { plan, chosen: None, told: told(choice, None) }),
            is_poll,
        }
    }

    /// Changes the plan, and does what follows from it.
    fn update(&self, process: &Process, search: &Search, change: impl FnOnce(&mut Plan<AllReduce>)) {
        // It is locked in `MPI_Finalize` only, and by this thread.
        let mut agreement = match self.agreement.try_lock() {
            Ok(agreement) => agreement,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        change(&mut agreement.plan);
        let chosen = (!agreement.plan.is_begin_over(), agreement.plan.is_open());
        // Other threads look at it: changing it takes longer than all else.
        if agreement.chosen.replace(chosen) != Some(chosen) {
            process.rounds.choose(chosen.0, chosen.1);
        }
        if agreement.plan.take_change() {
            agreement.tell(process, Some(search));
        }
    }
}

impl Agreement {
    /// Tells the journal of the plan and of the search, if the thread has one.
    fn tell(&mut self, process: &Process, search: Option<&Search>) {
        self.told.windows = self.plan.windows().to_vec();
        self.told.is_begin_over = process.rounds.is_begin_over();
        if let Some(search) = search {
            let extent = search.extent();
            (self.told.nodes, self.told.steps, self.told.newest) =
                (extent.nodes, extent.steps, extent.newest);
            if let Some(found) = search.found() {
                (self.told.header, self.told.iterations) = (Some(found.path), found.iterations);
            }
        }
        process.append(&JournalRecord::LoopSearch(self.told.clone()));
    }
}

fn told(choice: IterationChoice, problem: Option<String>) -> LoopSearch {
    let IterationChoice { count, until_stable, .. } = choice;
    LoopSearch { wanted: count, until_stable, problem, ..LoopSearch::default() }
}

/// Tells the journal of the choice, and why no loop is looked for, if that is so. To be called at the start.
pub(crate) fn begin(process: &Process) {
    let Some(choice) = process.settings.iterations else { return };
    let problem = process.iterations.is_none().then(|| "the program has not begun with MPI_Init".to_string());
    process.append(&JournalRecord::LoopSearch(told(choice, problem)));
}

/// Notes that a thread calls a function on this path, before it is recorded; one that is recorded only if it does something
/// is no step.
#[inline]
pub(crate) fn step(thread: &mut Thread, function: u32, path: u32, is_recorded: bool) {
    if thread.loops.is_some() {
        take_step(thread, function, path, is_recorded);
    }
}

#[inline(never)]
fn take_step(thread: &mut Thread, function: u32, path: u32, is_recorded: bool) {
    let process = thread.process;
    let (Some(Loops { search, times }), Some(iterations)) =
        (thread.loops.as_deref_mut(), &process.iterations)
    else {
        return;
    };
    let OpenCall { begin, end, .. } = thread.call;
    search.spend(end.saturating_sub(begin));
    let is_poll = iterations.is_poll.get(function as usize).copied().unwrap_or(true);
    // A path that could not be numbered is no node.
    if is_poll || !is_recorded || path == u32::MAX {
        return;
    }
    search.complete(end);
    if search.is_due() && !process.rounds.is_in_window() {
        let begin = now();
        if search.look()
            && let Some(found) = search.found()
        {
            times.follow(process, found);
            let (header, begun) = (found.path, found.iterations);
            iterations.update(process, search, |plan| plan.follow(header, begun));
        }
        if !thread.events.is_muted() {
            thread.events.add_flush(begin, now());
        }
    }
    let steps = search.behind_header() + 1;
    match search.step(path, now) {
        Passed::Begun(iteration, moment) => {
            times.add(iteration, moment);
            let meetings = process.rounds.ended();
            iterations.update(process, search, |plan| plan.header(iteration, steps, meetings));
            return;
        }
        Passed::Left(iteration, moment) => times.end(iteration, moment),
        Passed::Back => times.end(0, Moment::default()),
        Passed::Nothing => {}
    }
    if steps.is_multiple_of(POLL) {
        iterations.update(process, search, |plan| plan.poll(steps));
    }
}

/// Ends the agreement, in `MPI_Finalize`, where all processes come.
pub(crate) fn end(thread: &mut Thread) {
    let process = thread.process;
    let Some(iterations) = &process.iterations else { return };
    let mut agreement = iterations.agreement.lock().unwrap_or_else(PoisonError::into_inner);
    agreement.plan.end();
    agreement.plan.exchange.free();
    agreement.told.has_ended = true;
    process.rounds.choose(!agreement.plan.is_begin_over(), false);
    agreement.tell(process, thread.loops.as_deref().map(|loops| &loops.search));
}

/// Tells the journal how far it has come, if the program ends without `MPI_Finalize`.
pub(crate) fn leave(thread: &mut Thread) {
    let Some(iterations) = &thread.process.iterations else { return };
    if let Ok(mut agreement) = iterations.agreement.try_lock()
        && !agreement.told.has_ended
    {
        agreement.plan.leave();
        agreement.tell(thread.process, thread.loops.as_deref().map(|loops| &loops.search));
    }
}
