//! The counts of a thread that is profiled instead of traced: a file that outlives the process, see
//! `recording::profile`.
//!
//! They are kept beside the events, which are made all the same and dropped: what a path has of the events since the
//! last count is what its trace would have.

use std::io;
use std::path::Path;

use call_paths::GrowingFile;
use recording::profile::{MAGIC, PathCounts, ProfileHeader, TraceSize};

use crate::events::Events;

/// Most paths that are counted: as many as a thread can have.
const MOST: usize = 1 << 20;

/// The counts of one thread.
pub(crate) struct Counts {
    file: GrowingFile,
    /// Entries that there is room for.
    room: u32,
    /// Whether no more can be had.
    is_full: bool,
}

impl Counts {
    /// Makes the file of a location.
    pub(crate) fn create(path: &Path) -> io::Result<Counts> {
        let file = GrowingFile::create(path, size_of::<ProfileHeader>() + MOST * size_of::<PathCounts>())?;
        // SAFETY: the file is larger than its header and aligned to a page.
        unsafe {
            file.start()
                .cast::<ProfileHeader>()
                .write(ProfileHeader { magic: MAGIC, ..ProfileHeader::default() })
        };
        Ok(Counts { room: room(&file), file, is_full: false })
    }

    /// A path is entered. Not inlined, nor is the next: threads that are traced are not to pay for it.
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

    /// It is left.
    #[inline(never)]
    pub(crate) fn leave(&mut self, events: &mut Events, time: u64, path: u32) {
        if events.is_muted() {
            return;
        }
        if let Some(entry) = self.entry(path) {
            // Where paths were cut short, two may be one that was entered twice: what is left first counts.
            if entry.entered != 0 {
                entry.time += time.saturating_sub(entry.entered);
                entry.entered = 0;
            }
        }
        self.settle(events, time, path);
    }

    /// The visit that has just begun was none: it is taken back, as its event has been.
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

    /// Counts for the path what was recorded and moved since the last count.
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
        }
    }

    /// Counts for the thread what was recorded; answers how much that was before.
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
        // SAFETY: the mapping begins with it, and only this thread uses it.
        unsafe { self.file.start().cast().as_mut() }
    }

    /// The entry of a path; `None` if there is no room for it.
    #[inline]
    fn entry(&mut self, path: u32) -> Option<&mut PathCounts> {
        if path >= self.room && !self.make_room(path) {
            return None;
        }
        // SAFETY: there is room for it in the mapping, only this thread uses it, and zeros are an entry.
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
            // Without a path there is no number, and no room could ever do.
            self.is_full = path as usize >= MOST || self.file.grow().is_err();
            self.room = room(&self.file);
        }
        path < self.room
    }
}

/// How many entries a file has room for.
fn room(file: &GrowingFile) -> u32 {
    ((file.mapped() - size_of::<ProfileHeader>()) / size_of::<PathCounts>()) as u32
}
