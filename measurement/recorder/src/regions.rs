//! Events from the program itself: named regions and phases (`measurement/include`), recording on and off,
//! and the start and end of every function that is compiled with `-finstrument-functions`.

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicU32, Ordering};

use call_paths::Registers;
use recording::journal::{JournalRecord, Region};
use recording::paths;

use crate::clock;
use crate::inside::Inside;
use crate::instrumented;
use crate::key;
use crate::process;
use crate::rounds;
use crate::shared::Shared;
use crate::thread::{self, OpenRegion, Thread};

/// Numbers of regions by their keys.
static NUMBERS: Shared<AtomicU32> = Shared::new();
static NEXT: AtomicU32 = AtomicU32::new(0);

/// Maximum number of functions that are remembered if they are entered before `MPI_Init`.
const MAX_EARLY: usize = 256;

/// A function that was entered before `MPI_Init`.
#[derive(Clone, Copy)]
struct EarlyFunction {
    function: u64,
    time: u64,
    /// The stack pointer in the function.
    stack_pointer: u64,
}

thread_local! {
    static ENTERED_EARLY: RefCell<Vec<EarlyFunction>> = const { RefCell::new(Vec::new()) };
}

/// Locks the calling thread's location; `None` if the thread is inside of MPI, or there is no recording.
fn outside() -> Option<Inside> {
    let mut thread = thread::here()?.lock()?;
    rounds::follow(&mut thread);
    Some(thread)
}

fn enter(mut thread: Inside, registers: Registers, key: u64, kind: u32, target: u64) {
    let base = thread.base();
    if let Some(paths) = &mut thread.paths {
        let base = paths.at_region(registers, base, kind, target);
        if thread.open_region(OpenRegion { key, base }) {
            let time = clock::now();
            thread.enter_path(time, base.node);
        }
    }
    thread.events.flush_if_nearly_full();
}

fn leave(mut thread: Inside, key: u64) {
    let time = clock::now();
    thread.close_regions(key, |thread, path| thread.leave_path(time, path));
    thread.events.flush_if_nearly_full();
}

/// # Safety
/// Name and file are null or strings that end with a NUL.
unsafe fn begin_named(
    registers: Registers,
    name: *const c_char,
    file: *const c_char,
    line: c_int,
    is_phase: bool,
) {
    if name.is_null() {
        return;
    }
    let Some(thread) = outside() else { return };
    // SAFETY: the caller guarantees it, and the name is not null.
    let (name, file) =
        unsafe { (CStr::from_ptr(name), if file.is_null() { None } else { Some(CStr::from_ptr(file)) }) };
    let of_name = key::of_bytes(name.to_bytes());
    let whole = key::of(&[of_name, file.map_or(0, |file| key::of_bytes(file.to_bytes())), line as u64]);
    if !thread.process.filter.admits(name, name, file) {
        return;
    }
    let introduce = || {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        thread.process.append(&JournalRecord::Region(Region {
            region: number,
            name: name.to_string_lossy().into_owned(),
            file: file.map(|file| file.to_string_lossy().into_owned()),
            line: line.max(0) as u32,
            phase: is_phase,
        }));
        number
    };
    let known = NUMBERS.get_or_insert(whole, |number| number.store(introduce(), Ordering::Relaxed));
    let number = known.map_or_else(introduce, |number| number.load(Ordering::Relaxed));
    enter(thread, registers, of_name, paths::REGION, number.into());
}

/// # Safety
/// The name is null or a string that ends with a NUL.
unsafe fn end_named(name: *const c_char) {
    if name.is_null() {
        return;
    }
    if let Some(thread) = outside() {
        // SAFETY: the caller guarantees it, and the name is not null.
        leave(thread, key::of_bytes(unsafe { CStr::from_ptr(name) }.to_bytes()));
    }
}

/// Enters a named region.
///
/// # Safety
/// Name and file are null or strings that end with a NUL.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn replay_region_begin(name: *const c_char, file: *const c_char, line: c_int) {
    // SAFETY: the caller guarantees it.
    unsafe { begin_named(Registers::here(), name, file, line, false) };
}

/// Leaves the innermost region of that name, and with it those that were entered in it.
///
/// # Safety
/// The name is null or a string that ends with a NUL.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn replay_region_end(name: *const c_char) {
    // SAFETY: the caller guarantees it.
    unsafe { end_named(name) };
}

/// Enters a phase: a region that is analyzed as a whole.
///
/// # Safety
/// As for [`replay_region_begin`].
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn replay_phase_begin(name: *const c_char, file: *const c_char, line: c_int) {
    // SAFETY: the caller guarantees it.
    unsafe { begin_named(Registers::here(), name, file, line, true) };
}

/// Leaves a phase.
///
/// # Safety
/// The name is null or a string that ends with a NUL.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn replay_phase_end(name: *const c_char) {
    // SAFETY: the caller guarantees it.
    unsafe { end_named(name) };
}

/// Switches recording on for the process.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn replay_recording_on() {
    if let Some(process) = process::current() {
        process.rounds.switch(true);
        follow();
    }
}

/// Switches recording off for the process.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn replay_recording_off() {
    if let Some(process) = process::current() {
        process.channels.begin();
        process.rounds.switch(false);
        follow();
    }
}

/// Switches the calling thread at once.
fn follow() {
    drop(outside());
}

/// Whether the process records.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn replay_recording_is_on() -> c_int {
    process::current().is_some_and(|process| !process.has_stopped() && process.rounds.is_recorded()).into()
}

/// Enters a function that was compiled with `-finstrument-functions`. Passes on the stack pointer of that
/// function, which is lost in any function that has a frame of its own.
///
/// # Safety
/// Called by the compiler's code only.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn __cyg_profile_func_enter(function: *mut c_void, site: *mut c_void) {
    std::arch::naked_asm!("lea rdx, [rsp + 8]", "jmp {}", sym function_enter)
}

/// Enters a function that was compiled with `-finstrument-functions`.
///
/// # Safety
/// Called by the compiler's code only.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn __cyg_profile_func_enter(function: *mut c_void, site: *mut c_void) {
    std::arch::naked_asm!("mov x2, sp", "b {}", sym function_enter)
}

extern "C" fn function_enter(function: u64, _site: u64, stack_pointer: u64) {
    match outside() {
        Some(thread) if instrumented::admits(&thread.process.filter, function) => {
            enter(thread, Registers::here(), function, paths::FUNCTION, function);
        }
        Some(_) => {}
        None if process::current().is_none() => {
            clock::ensure_chosen();
            let _ = ENTERED_EARLY.try_with(|entered| {
                let mut entered = entered.borrow_mut();
                if entered.len() < MAX_EARLY {
                    entered.push(EarlyFunction { function, time: clock::now(), stack_pointer });
                }
            });
        }
        None => {}
    }
}

/// Leaves a function that was compiled with `-finstrument-functions`.
///
/// # Safety
/// Called by the compiler's code only.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn __cyg_profile_func_exit(function: *mut c_void, _site: *mut c_void) {
    match outside() {
        Some(thread) if instrumented::admits(&thread.process.filter, function as u64) => {
            leave(thread, function as u64);
        }
        Some(_) => {}
        None if process::current().is_none() => {
            let _ = ENTERED_EARLY.try_with(|entered| {
                let mut entered = entered.borrow_mut();
                if entered.last().is_some_and(|last| last.function == function as u64) {
                    entered.pop();
                }
            });
        }
        None => {}
    }
}

/// Records the functions that were entered before recording began and are still active.
pub(crate) fn enter_earlier(thread: &mut Thread, until: u64) {
    let entered = ENTERED_EARLY.try_with(|entered| std::mem::take(&mut *entered.borrow_mut()));
    for EarlyFunction { function, time, stack_pointer } in entered.unwrap_or_default() {
        if !instrumented::admits(&thread.process.filter, function) {
            continue;
        }
        let base = thread.base();
        let Some(paths) = &mut thread.paths else { return };
        let base = paths.at_earlier_region(base, stack_pointer, paths::FUNCTION, function);
        if thread.open_region(OpenRegion { key: function, base }) {
            thread.enter_settled_path(time.min(until), base.node);
        }
    }
}
