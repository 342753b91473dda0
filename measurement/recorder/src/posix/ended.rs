//! Asynchronous transfers that have ended where nothing may be recorded: MPI asks for those that it has issued itself in
//! any of its calls, and handlers of signals may ask for some. They end in the trace with the next call for a file.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::record;
use crate::thread::Thread;

/// A transfer that has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Ended {
    pub(super) handle: u32,
    /// Matches the records of the operation.
    pub(super) number: u64,
    /// Bytes that were moved; `None` if it was cancelled, or has failed.
    pub(super) bytes: Option<u64>,
}

/// Transfers that can wait for a record; more have no end in the trace.
const MOST: usize = 256;
/// States of places.
const FREE: u32 = 0;
const CLAIMED: u32 = 1;
const FILLED: u32 = 2;

/// Of one that was cancelled.
const CANCELLED: u64 = u64::MAX - 1;

struct Place {
    state: AtomicU32,
    handle: AtomicU32,
    number: AtomicU64,
    bytes: AtomicU64,
}

static PLACES: [Place; MOST] = [const {
    Place {
        state: AtomicU32::new(FREE),
        handle: AtomicU32::new(0),
        number: AtomicU64::new(0),
        bytes: AtomicU64::new(0),
    }
}; MOST];
/// How many are filled.
static COUNT: AtomicU32 = AtomicU32::new(0);

/// Claims the first place in that state.
fn claim(state: u32) -> Option<&'static Place> {
    PLACES.iter().find(|place| {
        place.state.compare_exchange(state, CLAIMED, Ordering::Acquire, Ordering::Relaxed).is_ok()
    })
}

/// Keeps one until something is recorded.
pub(super) fn keep(ended: Ended) {
    let Some(place) = claim(FREE) else { return };
    place.handle.store(ended.handle, Ordering::Relaxed);
    place.number.store(ended.number, Ordering::Relaxed);
    place.bytes.store(ended.bytes.unwrap_or(CANCELLED), Ordering::Relaxed);
    place.state.store(FILLED, Ordering::Release);
    COUNT.fetch_add(1, Ordering::Release);
}

/// Takes one that was kept.
fn take() -> Option<Ended> {
    if COUNT.load(Ordering::Acquire) == 0 {
        return None;
    }
    let place = claim(FILLED)?;
    let bytes = Some(place.bytes.load(Ordering::Relaxed)).filter(|&bytes| bytes != CANCELLED);
    let (handle, number) = (place.handle.load(Ordering::Relaxed), place.number.load(Ordering::Relaxed));
    place.state.store(FREE, Ordering::Release);
    COUNT.fetch_sub(1, Ordering::Relaxed);
    Some(Ended { handle, number, bytes })
}

/// Records all that were kept.
#[inline]
pub(super) fn settle(thread: &mut Thread, time: u64) {
    while let Some(ended) = take() {
        record(thread, time, ended);
    }
}

/// Records the end of a transfer of which the begin is in the trace, even while nothing else is recorded.
pub(super) fn record(thread: &mut Thread, time: u64, Ended { handle, number, bytes }: Ended) {
    thread.events.record_anyway(|events| match bytes {
        Some(bytes) => record::io_complete(events, time, handle.into(), bytes, number),
        None => record::io_cancelled(events, time, handle.into(), number),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transfers_wait_for_their_records_and_those_beyond_the_room_are_left_out() {
        assert_eq!(take(), None);
        let ended = |number| Ended { handle: 3, number, bytes: (number > 0).then_some(number * 8) };
        (0..=MOST as u64).for_each(|number| keep(ended(number)));
        (0..MOST as u64).for_each(|number| assert_eq!(take(), Some(ended(number))));
        assert_eq!(take(), None);
    }
}
