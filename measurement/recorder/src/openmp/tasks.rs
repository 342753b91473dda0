//! Explicit tasks: a thread that runs one while it waits elsewhere, as in a barrier, does not wait meanwhile.
//!
//! libgomp is given a function of the recorder for each function of a task, so that the data of tasks, which
//! libgomp and the program copy in several ways, are left alone. So the recorder does not know which task it is that
//! starts: it is numbered then, and its creation has the same place and time in the trace. Tasks of libgomp run on
//! the stack of whatever waits, and go on there until they are complete.

use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};

use call_paths::Registers;
use recording::openmp::TASK;
use recording::settings::ProfileMode;

use super::{enter_below, here, leave};
use crate::clock;
use crate::record;

/// A function that the compiler has made of a task's body.
type Body = unsafe extern "C-unwind" fn(*mut c_void);

/// Maximum number of functions of tasks that are recorded.
const MOST: usize = 64;

/// The addresses of the program's functions; 0 for those that are not used yet.
static BODIES: [AtomicUsize; MOST] = [const { AtomicUsize::new(0) }; MOST];

/// The functions that libgomp is given for them.
static SUBSTITUTES: [Body; MOST] = {
    macro_rules! eights {
        ($($eight:literal)*) => {
            [$(
                substitute::<{ 8 * $eight }>,
                substitute::<{ 8 * $eight + 1 }>,
                substitute::<{ 8 * $eight + 2 }>,
                substitute::<{ 8 * $eight + 3 }>,
                substitute::<{ 8 * $eight + 4 }>,
                substitute::<{ 8 * $eight + 5 }>,
                substitute::<{ 8 * $eight + 6 }>,
                substitute::<{ 8 * $eight + 7 }>,
            )*]
        };
    }
    eights!(0 1 2 3 4 5 6 7)
};

/// Returns the function that libgomp is to call for a task; the program's own if its team is not recorded, or there
/// are too many functions.
pub(super) fn body_for(body: usize) -> usize {
    let is_recorded = here().is_some_and(|thread| {
        // A task's time is part of that of what the thread waits in: a profile would have it twice.
        thread.process.settings.profile == ProfileMode::No
            && thread.openmp.size > 0
            && thread.openmp.nested == 0
    });
    if !is_recorded {
        return body;
    }
    let first = body >> 4;
    let mut slots = (0..MOST).map(|step| first.wrapping_add(step) % MOST);
    let is_own = |&slot: &usize| {
        let used = BODIES[slot].compare_exchange(0, body, Ordering::Relaxed, Ordering::Relaxed);
        used.is_ok() || used == Err(body)
    };
    // The slot of a function is only ever written with one value.
    slots.find(is_own).map_or(body, |slot| SUBSTITUTES[slot] as usize)
}

/// Runs a task: the function of that number.
///
/// # Safety
/// libgomp calls it with the data of a task that was created with that function.
unsafe extern "C-unwind" fn substitute<const SLOT: usize>(data: *mut c_void) {
    let address = BODIES[SLOT].load(Ordering::Relaxed);
    let task = begin(address as u64, Registers::here().stack);
    // SAFETY: the program has passed the function for this data; the slot was filled before the task was created.
    unsafe { std::mem::transmute::<usize, Body>(address)(data) };
    if let Some(task) = task {
        end(task);
    }
}

/// A task that a thread runs.
struct Task {
    team: u64,
    /// Number of the thread, and of the task in it.
    thread: u64,
    number: u64,
    /// The path that the thread was on before.
    suspended: u32,
}

/// Records that the calling thread starts a task; `None` if that is not recorded.
fn begin(address: u64, stack_pointer: u64) -> Option<Task> {
    let mut thread = here()?;
    if thread.openmp.size == 0 || thread.openmp.nested > 0 || thread.events.is_muted() || !thread.has_room() {
        return None;
    }
    thread.openmp.tasks = thread.openmp.tasks.wrapping_add(1).max(1);
    let task = Task {
        team: thread.openmp.team(),
        thread: thread.number.into(),
        number: thread.openmp.tasks.into(),
        suspended: thread.suspend_path(),
    };
    let time = clock::now();
    record::thread_task_create(&mut thread.events, time, task.team, task.thread, task.number);
    record::thread_task_switch(&mut thread.events, time, task.team, task.thread, task.number);
    enter_below(&mut thread, time, None, stack_pointer, TASK, address);
    Some(task)
}

/// Records that the calling thread has completed a task.
fn end(task: Task) {
    let Some(mut thread) = here() else { return };
    let time = clock::now();
    leave(&mut thread, time, TASK);
    thread.events.record_anyway(|events| {
        record::thread_task_complete(events, time, task.team, task.thread, task.number);
    });
    thread.resume_path(task.suspended);
    thread.events.flush_if_nearly_full();
}
