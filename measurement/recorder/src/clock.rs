//! The clock of a process: the cheapest one that never goes backwards and has a constant rate.
//!
//! On x86-64 that is the time stamp counter, if the processor says that it is invariant and the kernel itself
//! uses it (so it is the same on all cores); on AArch64 the generic timer. Otherwise `CLOCK_MONOTONIC_RAW`,
//! which NTP does not slew.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use recording::settings::{ClockSource, Settings};

static IS_COUNTER: AtomicBool = AtomicBool::new(false);

/// Chooses the clock.
pub(crate) fn choose(clock: ClockSource) {
    let counter = match clock {
        ClockSource::Auto => is_counter_reliable(),
        ClockSource::Tsc => cfg!(any(target_arch = "x86_64", target_arch = "aarch64")),
        ClockSource::Monotonic => false,
    };
    IS_COUNTER.store(counter, Ordering::Relaxed);
    IS_CHOSEN.store(true, Ordering::Relaxed);
}

/// Readings of both clocks when the library was loaded.
static LOADED: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];
static IS_CHOSEN: AtomicBool = AtomicBool::new(false);

/// Reads both clocks when the library is loaded.
pub(crate) fn note_loading() {
    LOADED[0].store(monotonic(), Ordering::Relaxed);
    LOADED[1].store(counter(), Ordering::Relaxed);
}

/// Returns when the library was loaded, in ticks of the clock that has been chosen.
pub(crate) fn loaded() -> u64 {
    LOADED[usize::from(IS_COUNTER.load(Ordering::Relaxed))].load(Ordering::Relaxed)
}

/// Chooses the clock by the user's settings unless one has been chosen.
pub(crate) fn ensure_chosen() {
    if !IS_CHOSEN.load(Ordering::Relaxed) {
        let settings = Settings::read(|name| std::env::var(name).ok());
        choose(settings.map_or(ClockSource::Auto, |settings| settings.clock));
    }
}

/// Returns the time, in ticks.
#[inline]
pub(crate) fn now() -> u64 {
    if IS_COUNTER.load(Ordering::Relaxed) { counter() } else { monotonic() }
}

/// Returns the name of the clock in the journal.
pub(crate) fn name() -> &'static str {
    if IS_COUNTER.load(Ordering::Relaxed) { "tsc" } else { "monotonic" }
}

/// Returns nanoseconds of `CLOCK_MONOTONIC_RAW`.
pub(crate) fn monotonic() -> u64 {
    read(libc::CLOCK_MONOTONIC_RAW)
}

/// Returns nanoseconds since 1970.
pub(crate) fn realtime() -> u64 {
    read(libc::CLOCK_REALTIME)
}

/// Returns a number that is equal in processes with one and the same clock.
pub(crate) fn domain() -> u64 {
    let boot = fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let mut text = boot;
    text.extend_from_slice(name().as_bytes());
    if !IS_COUNTER.load(Ordering::Relaxed) {
        // Clocks can be shifted for containers (`time_namespaces(7)`).
        let namespace = fs::read_link("/proc/self/ns/time").unwrap_or_default();
        text.extend_from_slice(namespace.to_string_lossy().as_bytes());
    }
    crate::key::of_bytes(&text)
}

fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock exists, and `time` is writable.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn counter() -> u64 {
    // SAFETY: every x86-64 processor has the counter.
    unsafe { std::arch::x86_64::_rdtsc() }
}

#[cfg(target_arch = "aarch64")]
#[inline]
fn counter() -> u64 {
    let ticks;
    // SAFETY: reads the virtual counter, which Linux permits to programs; touches neither memory nor stack.
    unsafe { std::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack)) };
    ticks
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn counter() -> u64 {
    monotonic()
}

#[cfg(target_arch = "x86_64")]
fn is_counter_reliable() -> bool {
    // Bit 8 of edx in leaf 0x8000_0007: the rate is constant and the counter never stops (invariant TSC).
    let highest = std::arch::x86_64::__cpuid(0x8000_0000).eax;
    let is_invariant = highest >= 0x8000_0007 && std::arch::x86_64::__cpuid(0x8000_0007).edx & 1 << 8 != 0;
    let kernel = fs::read("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    is_invariant && kernel.is_ok_and(|name| name.starts_with(b"tsc"))
}

#[cfg(target_arch = "aarch64")]
fn is_counter_reliable() -> bool {
    true
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn is_counter_reliable() -> bool {
    false
}
