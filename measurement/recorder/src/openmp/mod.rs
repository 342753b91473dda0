//! OpenMP of programs that GCC has compiled: its runtime, libgomp, is called by functions that the compiler puts
//! in the place of constructs. Those that others wait in are exported here and pass on to the next ones.
//!
//! | module | contents |
//! |---|---|
//! | `exports`, `runtime` | the exported functions, and the next ones of these names |
//! | `teams` | parallel regions: fork, members, join |
//! | `barriers` | barriers in them |
//! | `tasks` | explicit tasks |
//! | `locks` | critical sections, locks, and the order in which threads get them |
//!
//! A team is recorded if the thread that has started MPI forks it, and is in no other one. Nested parallel
//! regions, and those that other threads fork, pass through, as do barriers in them.
//!
//! Recording is switched off behind the region for the threads of a team, so that all of them record the same.
//!
//! A construct is an open region of its thread, as regions that the program names are; so what is called in
//! it has its path below it. The recorder keeps no lock while libgomp is at work.

mod barriers;
mod exports;
mod locks;
mod runtime;
mod tasks;
mod teams;

use call_paths::{RegionBase, Registers};
use model::Paradigm;
use recording::openmp::{LARGEST_TEAM, TEAMS};

use crate::clock;
use crate::inside::Inside;
use crate::process;
use crate::rounds;
use crate::thread::{self, OpenRegion};

/// OpenMP's number in the records of threads.
const OPENMP: u8 = Paradigm::OPENMP.0;

/// The part of a thread in the team that is forked.
#[derive(Default)]
pub(crate) struct Membership {
    /// Number of threads of the team; 0 outside of teams that are recorded.
    size: u32,
    /// How many parallel regions the thread is in that are nested in the team's.
    nested: u32,
    /// Number of tasks that the thread has started.
    tasks: u32,
    /// Whether the journal has the place of this thread in teams.
    is_placed: bool,
    /// Sizes of the teams that the journal has, in the thread that forks them.
    sizes: Vec<u32>,
}

impl Membership {
    /// Whether the thread is in a team.
    pub(crate) fn is_in_team(&self) -> bool {
        self.size > 0
    }

    /// Returns the number of the team's communicator in events.
    fn team(&self) -> u64 {
        (TEAMS + self.size.min(LARGEST_TEAM)).into()
    }
}

/// A call of libgomp by the program.
#[derive(Clone, Copy)]
struct RuntimeCall {
    /// Its construct, as the kind of nodes of call paths, which is also the key of its region.
    kind: u32,
    /// The target of these nodes.
    target: u64,
    /// The registers of the exported function.
    registers: Registers,
}

/// Locks the location of the calling thread if it has one; `None` if the thread is inside of MPI.
fn here() -> Option<Inside> {
    thread::current()?.lock()
}

/// Locks the calling thread's location, a new one if it has none; `None` also if OpenMP is not to be recorded.
fn anywhere() -> Option<Inside> {
    process::current().filter(|process| process.settings.openmp)?;
    let mut thread = thread::here()?.lock()?;
    rounds::follow(&mut thread);
    Some(thread)
}

/// Enters the region of a call; `false` if too many are open.
fn enter(thread: &mut Inside, call: RuntimeCall) -> bool {
    let base = thread.base();
    let Some(paths) = &mut thread.paths else { return false };
    let base = paths.at_region(call.registers, base, call.kind, call.target);
    open(thread, clock::now(), call.kind, base)
}

/// Enters a region directly in another one, or in none, without a look at the stack: of that, the functions that
/// are called below `stack_pointer` belong to the region. Returns whether it is open now.
fn enter_below(
    thread: &mut Inside,
    time: u64,
    outer: Option<RegionBase>,
    stack_pointer: u64,
    kind: u32,
    target: u64,
) -> bool {
    let Some(paths) = &mut thread.paths else { return false };
    let base = paths.at_earlier_region(outer, stack_pointer, kind, target);
    open(thread, time, kind, base)
}

fn open(thread: &mut Inside, time: u64, kind: u32, base: RegionBase) -> bool {
    // Not if it is too deep to keep: nobody would wait for its end.
    let is_open = thread.has_room() && thread.open_region(OpenRegion { key: kind.into(), base });
    if is_open {
        thread.enter_path(time, base.node);
    }
    is_open
}

/// Leaves the innermost region of a kind, with those in it, if there is one.
fn leave(thread: &mut Inside, time: u64, kind: u32) {
    thread.close_kept_regions(kind.into(), |thread, path| thread.leave_path(time, path));
}
