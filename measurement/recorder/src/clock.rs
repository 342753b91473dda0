//! The clock: the cheapest one that only goes forward at a constant rate.
//!
//! On x86-64 that is the time stamp counter, if the processor says that it is invariant and the kernel itself uses it
//! (so it is the same on all cores); on AArch64 the generic timer. Else `CLOCK_MONOTONIC_RAW`, which nobody slews.

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

/// What both clocks showed when the library was loaded.
static LOADED: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];
static IS_CHOSEN: AtomicBool = AtomicBool::new(false);

/// Notes when the library was loaded.
pub(crate) fn note_loading() {
    LOADED[0].store(monotonic(), Ordering::Relaxed);
    LOADED[1].store(counter(), Ordering::Relaxed);
}

/// When the library was loaded, in ticks of the clock that has been chosen.
pub(crate) fn loaded() -> u64 {
    LOADED[usize::from(IS_COUNTER.load(Ordering::Relaxed))].load(Ordering::Relaxed)
}

/// Chooses the clock by the user's settings unless that has been done.
pub(crate) fn ensure_chosen() {
    if !IS_CHOSEN.load(Ordering::Relaxed) {
        let settings = Settings::read(|name| std::env::var(name).ok());
        choose(settings.map_or(ClockSource::Auto, |settings| settings.clock));
    }
}

/// Now, in ticks.
#[inline]
pub(crate) fn now() -> u64 {
    if IS_COUNTER.load(Ordering::Relaxed) { counter() } else { monotonic() }
}

/// What the journal calls the clock.
pub(crate) fn name() -> &'static str {
    if IS_COUNTER.load(Ordering::Relaxed) { "tsc" } else { "monotonic" }
}

/// Nanoseconds of `CLOCK_MONOTONIC_RAW`.
pub(crate) fn monotonic() -> u64 {
    read(libc::CLOCK_MONOTONIC_RAW)
}

/// Nanoseconds since 1970.
pub(crate) fn realtime() -> u64 {
    read(libc::CLOCK_REALTIME)
}

/// Equal in processes whose clocks are one and the same.
pub(crate) fn domain() -> u64 {
    let boot = fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let mut text = boot;
    text.extend_from_slice(name().as_bytes());
    if !IS_COUNTER.load(Ordering::Relaxed) {
        // Clocks can be shifted for containers.
        let namespace = fs::read_link("/proc/self/ns/time").unwrap_or_default();
        text.extend_from_slice(namespace.to_string_lossy().as_bytes());
    }
    crate::key::of_bytes(&text)
}

fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock exists, the time is ours.
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
    // SAFETY: reads the virtual counter, which Linux lets programs do.
    unsafe { std::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack)) };
    ticks
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn counter() -> u64 {
    monotonic()
}

#[cfg(target_arch = "x86_64")]
fn is_counter_reliable() -> bool {
    // Leaf 0x8000_0007 says in bit 8 of edx whether the rate is constant and never stops.
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
