//! Parallel regions: the thread that has started MPI forks a team, whose threads call the function that the
//! compiler has made of the region's body.
//!
//! libgomp is given a function of the recorder in its place, which records the region around it. The barrier at
//! the end of the region is made before libgomp's own, as OPARI2 does it for Score-P: so each thread knows when the
//! last one has come. libgomp's own barrier has nobody to wait for then.

use std::ffi::{c_int, c_void};

use call_paths::Registers;
use recording::journal::JournalRecord;
use recording::openmp::{FORK, LARGEST_TEAM, LAST_BARRIER, PARALLEL};

use super::runtime::Runtime;
use super::{OPENMP, RuntimeCall, anywhere, enter, enter_below, here, leave};
use crate::clock;
use crate::inside::Inside;
use crate::record;
use crate::rounds;

/// A parallel region, for the threads of its team. It is on the stack of the one that forks it, which waits for
/// the others.
struct ParallelRegion {
    runtime: &'static Runtime,
    /// The function of the region's body, its address, and the argument for it.
    body: unsafe extern "C-unwind" fn(*mut c_void),
    address: u64,
    data: *mut c_void,
}

/// What becomes of a parallel region.
enum Fate {
    /// It is recorded.
    Recorded(&'static Runtime),
    /// It is in another one, of a team that the thread is a member of.
    Nested,
    /// It passes through.
    Ignored,
}

/// Calls `real` to fork a team; it gets the function that the team's threads are to call, and the argument for it.
///
/// # Safety
/// `body` is the address of a function that may be called with `data`; `real` calls the function that it gets with
/// the argument that it gets, in any threads, before it returns.
pub(super) unsafe fn fork(
    registers: Registers,
    body: usize,
    data: usize,
    threads: u32,
    real: impl FnOnce(usize, usize) -> usize,
) -> usize {
    match begin(registers, threads) {
        Fate::Ignored => real(body, data),
        Fate::Nested => {
            let result = real(body, data);
            if let Some(mut thread) = here() {
                thread.openmp.nested = thread.openmp.nested.saturating_sub(1);
            }
            result
        }
        Fate::Recorded(runtime) => {
            // SAFETY: the caller guarantees it.
            let function =
                unsafe { std::mem::transmute::<usize, unsafe extern "C-unwind" fn(*mut c_void)>(body) };
            let region =
                ParallelRegion { runtime, body: function, address: body as u64, data: data as *mut c_void };
            let result = real(member as *const () as usize, &raw const region as usize);
            join();
            result
        }
    }
}

/// Records the fork of a team, if that is to be recorded.
fn begin(registers: Registers, threads: u32) -> Fate {
    let Some(mut thread) = here().filter(|thread| thread.process.settings.openmp) else {
        return Fate::Ignored;
    };
    if thread.openmp.size > 0 {
        thread.openmp.nested += 1;
        return Fate::Nested;
    }
    rounds::follow(&mut thread);
    let Some(runtime) = Runtime::get().filter(|_| thread.number == 0 && !thread.events.is_muted()) else {
        return Fate::Ignored;
    };
    if !enter(&mut thread, RuntimeCall { kind: FORK, target: 0, registers }) {
        return Fate::Ignored;
    }
    let requested = match threads {
        // SAFETY: the function takes no argument, and may be called anywhere.
        0 => positive(unsafe { (runtime.largest)() }),
        threads => threads,
    };
    record::thread_fork(&mut thread.events, clock::now(), OPENMP, requested.into());
    Fate::Recorded(runtime)
}

/// Records that all threads of a team have left it.
fn join() {
    let Some(mut thread) = here() else { return };
    let time = clock::now();
    // What begins in the trace ends in it.
    thread.events.record_anyway(|events| record::thread_join(events, time, OPENMP));
    leave(&mut thread, time, FORK);
    thread.events.flush_if_nearly_full();
}

/// The function that the threads of a team call.
///
/// # Safety
/// The region is that which the team was forked for.
unsafe extern "C-unwind" fn member(region: *const ParallelRegion) {
    // SAFETY: the caller guarantees it, and the thread that forks the team waits for this one.
    let region = unsafe { &*region };
    let is_member = enter_region(region, Registers::here().stack);
    // SAFETY: the compiler has passed the function and the argument.
    unsafe { (region.body)(region.data) };
    wait_for_all(region, is_member);
    if is_member {
        leave_region();
    }
}

/// Makes the calling thread a member of a team and enters the region; `false` if that is not recorded. Functions
/// that are called below the stack pointer belong to the region.
fn enter_region(region: &ParallelRegion, stack_pointer: u64) -> bool {
    // SAFETY: the functions take no argument, and may be called anywhere.
    let (place, size) = unsafe { (positive((region.runtime.place)()), positive((region.runtime.size)())) };
    let Some(mut thread) = anywhere() else { return false };
    if thread.events.is_muted() || thread.openmp.size > 0 || !(1..=LARGEST_TEAM).contains(&size) {
        return false;
    }
    introduce(&mut thread, place, size);
    (thread.openmp.size, thread.openmp.nested) = (size, 0);
    let (time, team) = (clock::now(), thread.openmp.team());
    record::thread_team_begin(&mut thread.events, time, team);
    let outer = thread.base();
    enter_below(&mut thread, time, outer, stack_pointer, PARALLEL, region.address);
    true
}

/// Tells the journal of a new member, or of a team of a new size.
fn introduce(thread: &mut Inside, place: u32, size: u32) {
    let (process, number) = (thread.process, thread.number);
    if !thread.openmp.is_placed {
        thread.openmp.is_placed = true;
        process.append(&JournalRecord::TeamMember { thread: number, place });
    }
    if place == 0 && !thread.openmp.sizes.contains(&size) {
        thread.openmp.sizes.push(size);
        process.append(&JournalRecord::Team { size });
    }
}

/// Waits for the other threads of the team, whether this one is recorded or not: all have to come, or none may.
fn wait_for_all(region: &ParallelRegion, is_member: bool) {
    if region.runtime.cancels {
        return;
    }
    if is_member && let Some(mut thread) = here() {
        // Nothing is called in it but tasks, which do not belong to it.
        let (time, outer) = (clock::now(), thread.base());
        enter_below(&mut thread, time, outer, Registers::here().stack, LAST_BARRIER, region.address);
    }
    // SAFETY: it is the barrier of the region that this thread is in, and all threads of the team come here.
    unsafe { (region.runtime.barrier)() };
}

/// Leaves the region and the barrier at its end.
fn leave_region() {
    let Some(mut thread) = here() else { return };
    let (time, team) = (clock::now(), thread.openmp.team());
    leave(&mut thread, time, PARALLEL);
    thread.events.record_anyway(|events| record::thread_team_end(events, time, team));
    (thread.openmp.size, thread.openmp.nested) = (0, 0);
    thread.events.flush_if_nearly_full();
}

/// Returns a number of libgomp, which is not negative.
fn positive(number: c_int) -> u32 {
    number.max(0) as u32
}
