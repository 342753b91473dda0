//! Critical sections and locks: who waits for whom is told by numbers of acquisitions, which are given while the
//! lock is held.

use std::sync::atomic::{AtomicU32, Ordering};

use recording::openmp::{ATOMIC, CRITICAL, CRITICAL_BLOCK};

use super::{OPENMP, RuntimeCall, anywhere, enter, enter_below, leave};
use crate::clock;
use crate::inside::Inside;
use crate::levels::Zeroed;
use crate::record;
use crate::shared::Shared;

/// A lock. Its values change while a thread has it, so that they need no ordering.
struct LockState {
    /// Its number in the process.
    number: AtomicU32,
    /// The number of the last acquisition, from 1; 0 before the first.
    order: AtomicU32,
    /// The number of the thread that has it, plus 1; 0 if none has, or it was got without being recorded.
    holder: AtomicU32,
    /// How often that thread has it.
    depth: AtomicU32,
}

// SAFETY: zero bytes are the values 0.
unsafe impl Zeroed for LockState {}

/// Locks by their addresses. Of critical sections with a name, that is the compiler's variable for the name.
static LOCKS: Shared<LockState> = Shared::new();
static NEXT: AtomicU32 = AtomicU32::new(0);

/// Stands for the address of the lock of all critical sections without a name.
const UNNAMED: u64 = 1;

/// Records that the calling thread has got a lock. One that may be nested keeps its number until it is free.
fn acquire(thread: &mut Inside, time: u64, lock: u64, may_nest: bool) {
    if thread.events.is_muted() {
        return;
    }
    let is_new =
        |state: &LockState| state.number.store(NEXT.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
    let Some(state) = LOCKS.get_or_insert(lock, is_new) else { return };
    let own = thread.number.wrapping_add(1);
    let depth = state.depth.load(Ordering::Relaxed);
    if may_nest && depth > 0 && state.holder.load(Ordering::Relaxed) == own {
        state.depth.store(depth + 1, Ordering::Relaxed);
    } else {
        state.depth.store(1, Ordering::Relaxed);
        state.holder.store(own, Ordering::Relaxed);
        state.order.fetch_add(1, Ordering::Relaxed);
    }
    let (number, order) = (state.number.load(Ordering::Relaxed), state.order.load(Ordering::Relaxed));
    record::thread_acquire_lock(&mut thread.events, time, OPENMP, number.into(), order.into());
}

/// Records that a thread is about to release a lock, if it was recorded that it has got it.
fn release(thread: &mut Inside, time: u64, lock: u64) {
    let Some(state) = LOCKS.find(lock).filter(|state| state.holder.load(Ordering::Relaxed) > 0) else {
        return;
    };
    let depth = state.depth.load(Ordering::Relaxed);
    state.depth.store(depth.saturating_sub(1), Ordering::Relaxed);
    if depth <= 1 {
        state.holder.store(0, Ordering::Relaxed);
    }
    let (number, order) = (state.number.load(Ordering::Relaxed), state.order.load(Ordering::Relaxed));
    record::thread_release_lock(&mut thread.events, time, OPENMP, number.into(), order.into());
}

/// Makes a call that gets a lock if `has_got` says so of its result; returns the result.
fn get(
    call: RuntimeCall,
    lock: u64,
    may_nest: bool,
    real: impl FnOnce() -> usize,
    has_got: impl FnOnce(usize) -> bool,
) -> usize {
    let is_entered = anywhere().is_some_and(|mut thread| enter(&mut thread, call));
    let result = real();
    if is_entered && let Some(mut thread) = anywhere() {
        let time = clock::now();
        if has_got(result) {
            acquire(&mut thread, time, lock, may_nest);
        }
        leave(&mut thread, time, call.kind);
        thread.events.flush_if_nearly_full();
    }
    result
}

/// Whether a function that tests a lock has got it: the result is an `int`.
fn is_true(result: usize) -> bool {
    result as i32 != 0
}

/// The hook of `omp_set_lock`.
pub(super) fn set(call: RuntimeCall, lock: u64, real: impl FnOnce() -> usize) -> usize {
    get(call, lock, false, real, |_| true)
}

/// The hook of `omp_set_nest_lock`.
pub(super) fn set_nested(call: RuntimeCall, lock: u64, real: impl FnOnce() -> usize) -> usize {
    get(call, lock, true, real, |_| true)
}

/// The hook of `omp_test_lock`.
pub(super) fn test(call: RuntimeCall, lock: u64, real: impl FnOnce() -> usize) -> usize {
    get(call, lock, false, real, is_true)
}

/// The hook of `omp_test_nest_lock`.
pub(super) fn test_nested(call: RuntimeCall, lock: u64, real: impl FnOnce() -> usize) -> usize {
    get(call, lock, true, real, is_true)
}

/// The hook of `omp_unset_lock` and `omp_unset_nest_lock`.
pub(super) fn unset(call: RuntimeCall, lock: u64, real: impl FnOnce() -> usize) -> usize {
    let mut is_entered = false;
    if let Some(mut thread) = anywhere() {
        is_entered = enter(&mut thread, call);
        release(&mut thread, clock::now(), lock);
    }
    let result = real();
    if is_entered && let Some(mut thread) = anywhere() {
        leave(&mut thread, clock::now(), call.kind);
        thread.events.flush_if_nearly_full();
    }
    result
}

/// The hook of `GOMP_critical_name_start`.
pub(super) fn begin_critical(call: RuntimeCall, lock: u64, real: impl FnOnce() -> usize) -> usize {
    let is_entered = anywhere().is_some_and(|mut thread| enter(&mut thread, call));
    let result = real();
    if is_entered && let Some(mut thread) = anywhere() {
        let time = clock::now();
        acquire(&mut thread, time, lock, false);
        if let Some(section) = thread.base() {
            enter_below(&mut thread, time, Some(section), section.stack_pointer, CRITICAL_BLOCK, call.target);
        }
    }
    result
}

/// The hook of `GOMP_critical_name_end`.
pub(super) fn end_critical(_: RuntimeCall, lock: u64, real: impl FnOnce() -> usize) -> usize {
    if let Some(mut thread) = anywhere() {
        let time = clock::now();
        leave(&mut thread, time, CRITICAL_BLOCK);
        release(&mut thread, time, lock);
    }
    let result = real();
    if let Some(mut thread) = anywhere() {
        leave(&mut thread, clock::now(), CRITICAL);
        thread.events.flush_if_nearly_full();
    }
    result
}

/// The hook of `GOMP_critical_start`.
pub(super) fn begin_unnamed(call: RuntimeCall, _: u64, real: impl FnOnce() -> usize) -> usize {
    begin_critical(call, UNNAMED, real)
}

/// The hook of `GOMP_critical_end`.
pub(super) fn end_unnamed(call: RuntimeCall, _: u64, real: impl FnOnce() -> usize) -> usize {
    end_critical(call, UNNAMED, real)
}

/// The hook of `GOMP_atomic_start`.
pub(super) fn begin_atomic(call: RuntimeCall, _: u64, real: impl FnOnce() -> usize) -> usize {
    if let Some(mut thread) = anywhere() {
        enter(&mut thread, call);
    }
    real()
}

/// The hook of `GOMP_atomic_end`.
pub(super) fn end_atomic(_: RuntimeCall, _: u64, real: impl FnOnce() -> usize) -> usize {
    let result = real();
    if let Some(mut thread) = anywhere() {
        leave(&mut thread, clock::now(), ATOMIC);
        thread.events.flush_if_nearly_full();
    }
    result
}
