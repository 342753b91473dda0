//! The counts of a thread that is profiled instead of traced: a file that outlives the process, see
//! `recording::profile`.
//!
//! Counting goes along with the events, which are made all the same and dropped: the size of the events since
//! the last count is the size of the path's part of a trace.

use std::io;
use std::path::Path;

use call_paths::GrowingFile;
use recording::profile::{MAGIC, PathCounts, ProfileHeader, TraceSize};

use crate::events::Events;

/// Maximum number of paths that are counted: as many as a thread can have.
const MOST: usize = 1 << 20;

/// The counts of one thread.
pub(crate) struct Counts {
    file: GrowingFile,
    /// Number of paths that there is room for.
    room: u32,
    /// Whether the file cannot grow any more.
    is_full: bool,
}

impl Counts {
    /// Creates the file of a location.
    pub(crate) fn create(path: &Path) -> io::Result<Counts> {
        let file = GrowingFile::create(path, size_of::<ProfileHeader>() + MOST * size_of::<PathCounts>())?;
        // SAFETY: the mapping is aligned to a page, its first segment is larger than a header, and nobody
        // else refers to it yet.
        unsafe {
            file.start()
                .cast::<ProfileHeader>()
                .write(ProfileHeader { magic: MAGIC, ..ProfileHeader::default() })
        };
        Ok(Counts { room: room(&file), file, is_full: false })
    }

    /// Counts that a path is entered. Not inlined, nor is [`Self::leave`]: threads that are traced are not to
    /// pay for it.
    #[inline(never)]
    pub(crate) fn enter(&mut self, events: &mut Events, time: u64, path: u32) {
        if events.is_muted() {
            return;
        }
        if let Some(entry) = self.entry(path) {
            entry.visits += 1;
            entry.entered = time;
        } else {
            self.header().lost += 1;
        }
        self.settle(events, time, path);
    }

    /// Counts that a path is left.
    #[inline(never)]
    pub(crate) fn leave(&mut self, events: &mut Events, time: u64, path: u32) {
        if events.is_muted() {
            return;
        }
        if let Some(entry) = self.entry(path) {
            // Where paths were cut short, two may be one that was entered twice: the inner one counts.
            if entry.entered != 0 {
                entry.time += time.saturating_sub(entry.entered);
                entry.entered = 0;
            }
        }
        self.settle(events, time, path);
    }

    /// Takes back the visit that has just begun, as its event has been taken back.
    pub(crate) fn revoke(&mut self, events: &Events, path: u32) {
        if events.is_muted() {
            return;
        }
        let now = events.trace();
        let before = std::mem::replace(&mut self.header().trace, now);
        if let Some(entry) = self.entry(path) {
            entry.visits -= 1;
            entry.entered = 0;
            entry.trace.events -= before.events - now.events;
            entry.trace.bytes -= before.bytes - now.bytes;
        }
    }

    /// Adds what was recorded and transferred since the last count to the path.
    #[inline]
    pub(crate) fn settle(&mut self, events: &mut Events, time: u64, path: u32) {
        let moved = events.take_transfers();
        let before = self.note(events, time);
        let now = self.header().trace;
        if let Some(entry) = self.entry(path) {
            entry.trace.events += now.events - before.events;
            entry.trace.bytes += now.bytes - before.bytes;
            entry.trace.flushes += now.flushes - before.flushes;
            entry.transfers.sent += moved.sent;
            entry.transfers.received += moved.received;
            entry.transfers.outgoing += moved.outgoing;
            entry.transfers.incoming += moved.incoming;
            entry.transfers.put += moved.put;
            entry.transfers.got += moved.got;
        }
    }

    /// Updates the size of the thread's trace; returns the size before.
    #[inline]
    pub(crate) fn note(&mut self, events: &Events, time: u64) -> TraceSize {
        let header = self.header();
        if header.first_time == 0 {
            header.first_time = time;
        }
        header.last_time = header.last_time.max(time);
        std::mem::replace(&mut header.trace, events.trace())
    }

    #[inline]
    fn header(&mut self) -> &mut ProfileHeader {
        // SAFETY: the header is at the start of the mapping, which is as large and aligned; only this value,
        // borrowed mutably, refers to it.
        unsafe { self.file.start().cast().as_mut() }
    }

    /// Returns the counts of a path; `None` if there is no room for them.
    #[inline]
    fn entry(&mut self, path: u32) -> Option<&mut PathCounts> {
        if path >= self.room && !self.make_room(path) {
            return None;
        }
        // SAFETY: `room` says that the counts are within the mapping; zeros are counts; only this value,
        // borrowed mutably, refers to them.
        unsafe {
            Some(
                self.file
                    .start()
                    .cast::<ProfileHeader>()
                    .add(1)
                    .cast::<PathCounts>()
                    .add(path as usize)
                    .as_mut(),
            )
        }
    }

    #[cold]
    fn make_room(&mut self, path: u32) -> bool {
        while path >= self.room && !self.is_full {
            // A path that could not be numbered has the number `u32::MAX`, for which there is never room.
            self.is_full = path as usize >= MOST || self.file.grow().is_err();
            self.room = room(&self.file);
        }
        path < self.room
    }
}

/// Returns the number of paths that a file has room for.
fn room(file: &GrowingFile) -> u32 {
    ((file.mapped() - size_of::<ProfileHeader>()) / size_of::<PathCounts>()) as u32
}
