//! Streams that are recorded, by their addresses, and what was counted of each.
//!
//! A set of a table has room for some streams: to look one up takes a load or two, and no search has to go on behind
//! streams that are closed. Where a set is full a stream is not recorded.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use super::layout::File;
use crate::hooks::transfers::{READ, WRITE};

/// Sets of the table, as a power of 2, and streams of a set.
const SETS: u32 = 8;
const WAYS: usize = 8;

/// Keys of a set: one line of the cache.
#[repr(align(64))]
struct Set([AtomicUsize; WAYS]);

static KEYS: [Set; 1 << SETS] = [const { Set([const { AtomicUsize::new(0) }; WAYS]) }; 1 << SETS];
static STREAMS: [[Stream; WAYS]; 1 << SETS] = [const { [const { Stream::none() }; WAYS] }; 1 << SETS];

/// A stream that is recorded. What is counted changes under the stream's lock.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Stream {
    handle: AtomicU32,
    appends: AtomicBool,
    /// Calls that were counted, and their bytes; also those that the last operation has left in the buffer.
    calls: AtomicU64,
    bytes: AtomicU64,
    /// `READ` or `WRITE`: of these calls, and of the last operation.
    mode: AtomicU32,
    /// Bytes in the buffer behind the last operation: that belong to it or came before, or are left to be read.
    rest: AtomicU64,
}

/// Marks that it is not known what was in the buffer.
const UNKNOWN_REST: u64 = u64::MAX;

/// What a stream is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Kept {
    /// The number of its handle in the process.
    pub(super) handle: u32,
    /// Whether what is written goes to the end of the file.
    pub(super) appends: bool,
}

/// Calls that were counted. There may be bytes without a call, the rest of one of which an operation has the beginning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Counted {
    /// `READ` or `WRITE`.
    pub(super) mode: u8,
    pub(super) calls: u64,
    pub(super) bytes: u64,
}

impl Counted {
    /// Whether there is nothing to be recorded.
    pub(super) fn is_none(self) -> bool {
        (self.calls, self.bytes) == (0, 0)
    }

    /// Divides what is written, with the call of so many bytes that comes last, into what has gone to the system and what is among
    /// so many bytes that are pending. A call belongs to its first byte.
    pub(super) fn split(self, call: u64, pending: u64) -> (Counted, Counted) {
        let bytes = self.bytes + call;
        let held = pending.min(bytes);
        let kept = match held {
            0 => 0,
            // Nothing has gone out.
            _ if held == bytes => self.calls + 1,
            _ => u64::from(held >= call),
        };
        let part = |calls, bytes| Counted { calls, bytes, ..self };
        (part(self.calls + 1 - kept, bytes - held), part(kept, held))
    }
}

impl Stream {
    const fn none() -> Stream {
        Stream {
            handle: AtomicU32::new(0),
            appends: AtomicBool::new(false),
            calls: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            mode: AtomicU32::new(0),
            rest: AtomicU64::new(0),
        }
    }

    /// Returns what it is.
    pub(super) fn kept(&self) -> Kept {
        Kept { handle: self.handle.load(Ordering::Relaxed), appends: self.appends.load(Ordering::Relaxed) }
    }

    fn keep(&self, kept: Kept, rest: u64) {
        self.handle.store(kept.handle, Ordering::Relaxed);
        self.appends.store(kept.appends, Ordering::Relaxed);
        self.calls.store(0, Ordering::Relaxed);
        self.bytes.store(0, Ordering::Relaxed);
        self.mode.store(WRITE.into(), Ordering::Relaxed);
        self.rest.store(rest, Ordering::Relaxed);
    }

    /// Whether calls of that kind can be counted without an operation in front of them, of those of the other kind.
    #[inline(always)]
    pub(super) fn can_count(&self, mode: u8) -> bool {
        self.mode.load(Ordering::Relaxed) == u32::from(mode) || self.turn(mode)
    }

    /// Counts a call, which can be counted. The caller has the stream's lock: no other one comes in between.
    #[inline(always)]
    pub(super) fn count(&self, mode: u8, bytes: u64) {
        debug_assert_eq!(self.mode.load(Ordering::Relaxed), u32::from(mode));
        self.calls.store(self.calls.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        self.bytes.store(self.bytes.load(Ordering::Relaxed) + bytes, Ordering::Relaxed);
    }

    /// Whether calls were counted that have written something.
    pub(super) fn has_written(&self) -> bool {
        self.has_counted() && self.mode.load(Ordering::Relaxed) == u32::from(WRITE)
    }

    fn has_counted(&self) -> bool {
        self.calls.load(Ordering::Relaxed) > 0 || self.bytes.load(Ordering::Relaxed) > 0
    }

    /// From now on calls of that kind are counted, unless some of the other kind are.
    #[cold]
    fn turn(&self, mode: u8) -> bool {
        if self.has_counted() {
            return false;
        }
        self.mode.store(mode.into(), Ordering::Relaxed);
        self.rest.store(UNKNOWN_REST, Ordering::Relaxed);
        true
    }

    /// Counts a call that has reached the system and is not recorded. Calls of the other kind that were counted are
    /// taken as some of this one.
    pub(super) fn count_unrecorded(&self, mode: u8, bytes: u64) {
        self.mode.store(mode.into(), Ordering::Relaxed);
        self.count(mode, bytes);
        self.rest.store(UNKNOWN_REST, Ordering::Relaxed);
    }

    /// Takes what was counted, without a look at the buffer.
    pub(super) fn take(&self) -> Counted {
        let mode = if self.mode.load(Ordering::Relaxed) == u32::from(READ) { READ } else { WRITE };
        Counted {
            mode,
            calls: self.calls.swap(0, Ordering::Relaxed),
            bytes: self.bytes.swap(0, Ordering::Relaxed),
        }
    }

    /// Takes what was counted, and what the buffer tells besides: `pending` bytes are to be written, or `left` are to
    /// be read. What is compiled into a program (`putc_unlocked`) is seen in the buffer only, a byte a call, and so
    /// are bytes that were read and given back.
    pub(super) fn take_with(&self, pending: u64, left: u64) -> Counted {
        let mut counted = self.take();
        let rest = self.rest.load(Ordering::Relaxed);
        if rest == UNKNOWN_REST {
            return counted;
        }
        let bytes = match counted.mode {
            WRITE => pending.checked_sub(rest).map(|bytes| bytes.max(counted.bytes)),
            _ => rest.checked_sub(left),
        };
        if let Some(bytes) = bytes {
            counted.calls += bytes.saturating_sub(counted.bytes);
            counted.bytes = bytes;
        }
        counted
    }

    /// Notes what is in the buffer behind an operation of that kind.
    pub(super) fn settle(&self, mode: u8, pending: u64, left: u64) {
        self.mode.store(mode.into(), Ordering::Relaxed);
        self.rest.store(if mode == WRITE { pending } else { left }, Ordering::Relaxed);
    }

    /// The same behind an operation that has left some of what was written among so many pending bytes: that counts for the next one.
    pub(super) fn settle_held(&self, held: Counted, pending: u64) {
        self.settle(WRITE, pending.saturating_sub(held.bytes), 0);
        self.calls.store(held.calls, Ordering::Relaxed);
        self.bytes.store(held.bytes, Ordering::Relaxed);
    }
}

#[inline(always)]
fn set(stream: usize) -> usize {
    // Fibonacci hashing; streams are at multiples of 16.
    ((stream as u64 >> 4).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - SETS)) as usize
}

/// The key of a stream; none has that of a place without one, 0.
#[inline(always)]
fn key(stream: usize) -> usize {
    stream | 1
}

/// Returns a stream that is recorded.
#[inline(always)]
pub(super) fn find(stream: usize) -> Option<&'static Stream> {
    let set = set(stream);
    let way = KEYS[set].0.iter().position(|known| known.load(Ordering::Acquire) == key(stream))?;
    Some(&STREAMS[set][way])
}

/// Returns a stream that is recorded, with the C library's data of it.
#[inline(always)]
pub(super) fn opened(stream: usize) -> Option<(&'static Stream, File)> {
    let known = find(stream)?;
    // SAFETY: the stream is in the table, so it is open; if the program closes it meanwhile, its own call is wrong.
    Some((known, unsafe { File::at(stream) }))
}

/// Adds a stream that was opened, which is not in the table and which no other thread knows yet; `false` if there is
/// no room.
pub(super) fn insert(stream: usize, kept: Kept, rest: u64) -> bool {
    let set = set(stream);
    for (known, place) in KEYS[set].0.iter().zip(&STREAMS[set]) {
        // Reserved for the moment: no stream has this key.
        if known.compare_exchange(0, 2, Ordering::Acquire, Ordering::Relaxed).is_ok() {
            place.keep(kept, rest);
            known.store(key(stream), Ordering::Release);
            return true;
        }
    }
    false
}

/// Removes a stream.
pub(super) fn remove(stream: usize) {
    for known in &KEYS[set(stream)].0 {
        let _ = known.compare_exchange(key(stream), 0, Ordering::Release, Ordering::Relaxed);
    }
}

/// Calls something for each stream.
pub(super) fn each(mut seen: impl FnMut(&'static Stream)) {
    for (keys, places) in KEYS.iter().zip(&STREAMS) {
        for (known, place) in keys.0.iter().zip(places) {
            if known.load(Ordering::Acquire) & 1 != 0 {
                seen(place);
            }
        }
    }
}

/// Removes all streams.
pub(super) fn clear() {
    KEYS.iter().flat_map(|set| &set.0).for_each(|known| known.store(0, Ordering::Release));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_found_until_they_are_removed_and_sets_can_be_full() {
        let kept = |handle| Kept { handle, appends: handle == 1 };
        let streams: Vec<usize> = (1..5000).map(|at| at * 16).collect();
        let inserted: Vec<bool> =
            streams.iter().map(|&stream| insert(stream, kept(stream as u32 / 16), 0)).collect();
        assert!(inserted[..512].iter().filter(|&&is_in| is_in).count() > 500);
        assert!(!inserted.iter().all(|&is_in| is_in));
        for (&stream, &is_in) in streams.iter().zip(&inserted) {
            let found = find(stream).map(Stream::kept);
            assert_eq!(found, is_in.then(|| kept(stream as u32 / 16)));
        }
        assert!(find(0).is_none());
        streams.iter().for_each(|&stream| remove(stream));
        assert!(streams.iter().all(|&stream| find(stream).is_none()));
        assert!(insert(streams[4000], kept(7), 0) && find(streams[4000]).is_some());
        let mut seen = 0;
        each(|_| seen += 1);
        assert_eq!(seen, 1);
        clear();
        assert!(find(streams[4000]).is_none());
    }

    #[test]
    fn what_stays_in_the_buffer_counts_for_the_next_operation() {
        let counted = |calls, bytes| Counted { mode: WRITE, calls, bytes };
        // The buffer was full, and all of the call is in it now.
        assert_eq!(counted(4, 4096).split(1024, 1024), (counted(4, 4096), counted(1, 1024)));
        // The call has filled the buffer, and its rest is there.
        assert_eq!(counted(4, 4000).split(1000, 904), (counted(5, 4096), counted(0, 904)));
        assert_eq!(counted(0, 904).split(100, 0), (counted(1, 1004), counted(0, 0)));
        // The first call finds no buffer, or the call fails.
        assert_eq!(counted(0, 0).split(1024, 1024), (counted(0, 0), counted(1, 1024)));
        assert_eq!(counted(2, 20).split(0, 20), (counted(0, 0), counted(3, 20)));
        // Something is pending from before.
        assert_eq!(counted(0, 0).split(10, 300), (counted(0, 0), counted(1, 10)));
        assert_eq!(counted(1, 0).split(0, 300), (counted(2, 0), counted(0, 0)));

        let stream = Stream::none();
        stream.keep(Kept { handle: 0, appends: false }, 0);
        stream.settle_held(counted(0, 904), 904);
        assert!(stream.has_written() && !stream.can_count(READ));
        stream.count(WRITE, 6);
        // One byte was put into the buffer unseen.
        assert_eq!(stream.take_with(911, 0), counted(2, 911));
        assert!(!stream.has_written() && stream.can_count(READ));
    }

    #[test]
    fn buffers_tell_of_calls_that_were_not_seen() {
        let counted = |mode, calls, bytes| Counted { mode, calls, bytes };
        let stream = Stream::none();
        stream.keep(Kept { handle: 0, appends: false }, 0);
        (0..3).for_each(|_| stream.count(WRITE, 8));
        // 6 bytes were put into the buffer unseen.
        assert_eq!(stream.take_with(30, 0), counted(WRITE, 9, 30));
        stream.settle(WRITE, 5, 0);
        stream.count(WRITE, 10);
        assert!(stream.can_count(WRITE) && !stream.can_count(READ));
        // Something was written out unseen.
        assert_eq!(stream.take_with(3, 0), counted(WRITE, 1, 10));
        assert!(stream.can_count(READ));
        stream.settle(READ, 0, 4096);
        stream.count(READ, 100);
        stream.count(READ, 1);
        // One byte was given back.
        assert_eq!(stream.take_with(0, 3996), counted(READ, 2, 100));
        stream.settle(READ, 0, 10);
        stream.count_unrecorded(READ, 500);
        assert_eq!(stream.take_with(0, 2), counted(READ, 1, 500));
    }
}
