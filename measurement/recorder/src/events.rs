//! The events of a thread: OTF2 records in a buffer that outlives the process, written out chunk by chunk.
//!
//! Records have the bytes of an OTF2 event file from the start (`formats/otf2/FORMAT.md`), little endian. The buffer is a
//! mapped file, see `recording::buffer`; its header holds the position, so that nothing is lost with the process.

use std::path::Path;
use std::ptr::null_mut;
use std::sync::atomic::{Ordering, compiler_fence};

use call_paths::OwnFile;
use model::CollectiveOp;
use recording::buffer::{BufferHeader, HEADER_BYTES, MAGIC};
use recording::profile::{TraceSize, TransferredBytes};

use crate::clock::now;
use crate::memory;

/// Bytes of an OTF2 chunk header.
const CHUNK_HEADER: usize = 18;
/// Where the number of the last event is in it.
const LAST_EVENT: usize = 10;
/// Most fields of a record that has no list.
pub(crate) const MOST_FIELDS: usize = 12;
/// Most bytes that a field takes, or writes to.
const FIELD: usize = 9;
/// More than any record takes that has no list, with its time stamp.
const RECORD: usize = 128;
const _: () = assert!(9 + 2 + MOST_FIELDS * FIELD <= RECORD && MOST_FIELDS * FIELD < 0xff);
/// If less than this is free behind a call, the chunk is written out: most calls record less.
const RESERVE: usize = 4096;
/// Record numbers of OTF2 (`formats/otf2/src/event.rs`).
mod id {
    pub(super) const TIMESTAMP: u8 = 5;
    pub(super) const BUFFER_FLUSH: u8 = 10;
}

/// A position among the events.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    at: usize,
    time: u64,
    events: u64,
    chunks: u64,
}

/// The events of one thread under construction.
pub(crate) struct Events {
    header: *mut BufferHeader,
    chunk: *mut u8,
    /// Where the next record goes.
    at: usize,
    /// Where records must end: two bytes are for the end marks.
    end: usize,
    /// Time of the previous record.
    time: u64,
    /// Where full chunks go, unless they are dropped.
    file: Option<OwnFile>,
    /// A flush that has not been recorded yet, because records of an earlier time may still come.
    flushed: Option<(u64, u64)>,
    /// Whether records are dropped: outside of the rounds to record, or recording is off or has failed.
    is_muted: bool,
    has_failed: bool,
    /// Data that MPI has moved since somebody asked.
    pub(crate) moved: TransferredBytes,
}

impl Events {
    /// Makes the buffer and the event file of a location.
    ///
    /// Answers what failed, as a sentence.
    pub(crate) fn create(buffer: &Path, events: &Path, chunk_size: usize) -> Result<Events, String> {
        let failure = |path: &Path| {
            let path = path.display().to_string();
            move |cause| format!("{path}: {cause}")
        };
        let file = OwnFile::create(events, true).map_err(failure(events))?;
        let mapped = OwnFile::create(buffer, false)
            .and_then(|file| file.map(HEADER_BYTES + chunk_size))
            .map_err(failure(buffer))?;
        Ok(Events::over(mapped, chunk_size, Some(file)))
    }

    /// Events that are made as always, but dropped whenever the buffer is full: they tell what a trace would have.
    ///
    /// Answers what failed, as a sentence.
    pub(crate) fn counted(chunk_size: usize) -> Result<Events, String> {
        let memory = memory::anonymous(HEADER_BYTES + chunk_size).ok_or("there is no memory for a buffer")?;
        Ok(Events::over(memory, chunk_size, None))
    }

    /// Events in fresh memory that is long enough.
    fn over(memory: *mut u8, chunk_size: usize, file: Option<OwnFile>) -> Events {
        let mut made = Events {
            header: memory.cast(),
            // SAFETY: the memory is longer than a header.
            chunk: unsafe { memory.add(HEADER_BYTES) },
            end: chunk_size - 2,
            file,
            is_muted: false,
            has_failed: false,
            ..Events::dropped()
        };
        // SAFETY: the memory is fresh and ours; the magic comes last.
        unsafe {
            *made.header = BufferHeader { chunk_size: chunk_size as u64, ..BufferHeader::default() };
            made.open_chunk();
            compiler_fence(Ordering::Release);
            (*made.header).magic = MAGIC;
        }
        made
    }

    /// Events of a thread that cannot record: all are dropped.
    pub(crate) fn dropped() -> Events {
        Events {
            header: null_mut(),
            chunk: null_mut(),
            at: 0,
            end: usize::MAX,
            time: 0,
            file: None,
            flushed: None,
            is_muted: true,
            has_failed: true,
            moved: TransferredBytes::default(),
        }
    }

    /// Where the next record goes, to go back to by [`rewind`](Events::rewind).
    #[inline]
    pub(crate) fn mark(&self) -> Mark {
        let (events, chunks) = match self.is_muted {
            true => (0, 0),
            // SAFETY: the header is ours, unless nothing is recorded.
            false => unsafe { ((*self.header).events, (*self.header).chunks) },
        };
        Mark { at: self.at, time: self.time, events, chunks }
    }

    /// Takes the last record back if it is the only one behind the mark; answers whether it was.
    pub(crate) fn rewind(&mut self, mark: Mark) -> bool {
        if self.is_muted {
            return true;
        }
        // SAFETY: the header is ours.
        unsafe {
            if (*self.header).events != mark.events + 1 || (*self.header).chunks != mark.chunks {
                return false;
            }
            (self.at, self.time) = (mark.at, mark.time);
            (*self.header).filled = mark.at as u64;
            (*self.header).events = mark.events;
            (*self.header).last_time = mark.time;
        }
        true
    }

    /// Whether records are dropped at the moment.
    pub(crate) fn is_muted(&self) -> bool {
        self.is_muted
    }

    /// Drops records from now on, or no longer.
    pub(crate) fn mute(&mut self, mute: bool) {
        self.is_muted = mute || self.has_failed;
        self.moved = TransferredBytes::default();
    }

    /// Has something recorded even if records are dropped at the moment, unless writing has failed.
    #[inline]
    pub(crate) fn record_anyway(&mut self, record: impl FnOnce(&mut Events)) {
        let (is_muted, moved) = (self.is_muted, self.moved);
        self.is_muted = self.has_failed;
        record(self);
        if is_muted {
            (self.is_muted, self.moved) = (true, moved);
        }
    }

    /// Whether writing has failed: nothing is recorded any more.
    pub(crate) fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// How much has been recorded.
    #[inline]
    pub(crate) fn trace(&self) -> TraceSize {
        if self.header.is_null() {
            return TraceSize::default();
        }
        // SAFETY: the header is ours.
        let BufferHeader { chunks, events, .. } = unsafe { *self.header };
        TraceSize { events, bytes: chunks * (self.end as u64 + 2) + self.at as u64, flushes: chunks }
    }

    /// The data that MPI has moved since the last time.
    #[inline]
    pub(crate) fn take_transfers(&mut self) -> TransferredBytes {
        std::mem::take(&mut self.moved)
    }

    /// Appends a record with a length. `fields` gets the place of its fields, and returns the place behind them.
    ///
    /// # Safety
    /// There are at most [`MOST_FIELDS`].
    #[inline]
    pub(crate) unsafe fn framed(&mut self, time: u64, id: u8, fields: impl FnOnce(Fields) -> Fields) {
        let Some(at) = self.begin(time) else { return };
        // SAFETY: `begin` made room for the largest record; the fields end in it, by the caller.
        unsafe {
            *at = id;
            let body = at.add(2);
            let end = fields(Fields(body)).0;
            *at.add(1) = end.offset_from_unsigned(body) as u8;
            self.complete(end);
        }
    }

    /// Appends a record without a length, which has one field.
    #[inline]
    pub(crate) fn singleton(&mut self, time: u64, id: u8, value: u64) {
        let Some(at) = self.begin(time) else { return };
        // SAFETY: `begin` made room for the largest record.
        unsafe {
            *at = id;
            let end = Fields(at.add(1)).number(value).0;
            self.complete(end);
        }
    }

    /// Appends a record of any length, for those that have lists. What does not fit into a chunk is left out.
    pub(crate) fn long(&mut self, time: u64, id: u8, body: &[u8]) {
        if self.is_muted || body.len() + RECORD > self.end - CHUNK_HEADER {
            return;
        }
        if self.end - self.at < body.len() + RECORD && !self.flush() {
            return;
        }
        let Some(at) = self.begin(time) else { return };
        // SAFETY: there is room for the body besides the largest record.
        unsafe {
            *at = id;
            *at.add(1) = 0xff;
            at.add(2).cast::<[u8; 8]>().write_unaligned((body.len() as u64).to_le_bytes());
            std::ptr::copy_nonoverlapping(body.as_ptr(), at.add(10), body.len());
            self.complete(at.add(10 + body.len()));
        }
    }

    /// Appends a list of attributes for the next record, which must come at the same time: (attribute, type, value) with
    /// values that are integers.
    pub(crate) fn attributes(&mut self, time: u64, list: &[(u32, u8, u64)]) {
        const LIST: u8 = 6;
        // The list and its record have to be in one chunk, and no flush may come between.
        if !self.is_muted && self.end - self.at < 3 * RECORD + list.len() * 20 && !self.flush() {
            return;
        }
        let Some(at) = self.begin(time) else { return };
        // SAFETY: there is room as just seen, for an attribute takes less than 20 bytes; the header is ours.
        unsafe {
            *at = LIST;
            let body = at.add(2);
            let mut fields = Fields(body).number(list.len() as u64);
            for &(attribute, class, value) in list {
                fields = fields.number(attribute.into()).byte(class).number(value);
            }
            *at.add(1) = fields.0.offset_from_unsigned(body) as u8;
            self.complete(fields.0);
            // A list is not an event.
            (*self.header).events -= 1;
        }
    }

    /// Prepares for a record at that time: where its bytes go, the time stamp done.
    #[inline]
    fn begin(&mut self, time: u64) -> Option<*mut u8> {
        if self.is_muted {
            return None;
        }
        if (self.end - self.at < RECORD || self.flushed.is_some()) && !self.make_room(time) {
            return None;
        }
        // SAFETY: at least `RECORD` bytes are free.
        Some(unsafe { self.stamped(time) })
    }

    /// Where the next record goes, after a time stamp if one is due: time has passed, or a chunk begins. Never two in a
    /// row, which readers do not understand.
    #[inline]
    unsafe fn stamped(&mut self, time: u64) -> *mut u8 {
        // SAFETY: the caller made room.
        unsafe {
            let at = self.chunk.add(self.at);
            if time <= self.time && self.at > CHUNK_HEADER {
                return at;
            }
            self.time = time.max(self.time);
            *at = id::TIMESTAMP;
            at.add(1).cast::<[u8; 8]>().write_unaligned(self.time.to_le_bytes());
            at.add(9)
        }
    }

    /// The record that ends there is complete.
    #[inline]
    unsafe fn complete(&mut self, end: *mut u8) {
        // SAFETY: the end is in the chunk; the header is ours.
        unsafe {
            self.at = end.offset_from_unsigned(self.chunk);
            // The process may end at any instruction: the position must not move before the bytes are there.
            compiler_fence(Ordering::Release);
            (*self.header).filled = self.at as u64;
            (*self.header).events += 1;
            (*self.header).last_time = self.time;
        }
    }

    /// The rare things before a record: a flush that can be recorded now, a full chunk.
    #[cold]
    fn make_room(&mut self, time: u64) -> bool {
        if self.end - self.at < 2 * RECORD && !self.flush() {
            return false;
        }
        if let Some((begin, end)) = self.flushed.filter(|&(begin, _)| time >= begin) {
            self.flushed = None;
            // SAFETY: there is room for two records.
            unsafe {
                let at = self.stamped(begin);
                *at = id::BUFFER_FLUSH;
                *at.add(1) = 8;
                at.add(2).cast::<[u8; 8]>().write_unaligned(end.to_le_bytes());
                self.complete(at.add(10));
            }
        }
        true
    }

    /// The recorder disturbed the program between these times: to the trace, a flush. Should the last one not have been
    /// recorded yet, this is its continuation.
    pub(crate) fn disturb(&mut self, begin: u64, end: u64) {
        self.flushed = Some((self.flushed.map_or(begin, |(first, _)| first), end));
    }

    /// Writes the chunk out if it is nearly full. To be called where the time that it takes belongs to no MPI call.
    #[inline]
    pub(crate) fn relieve(&mut self) {
        if self.end - self.at < RESERVE {
            self.flush();
        }
    }

    /// Writes the chunk to the event file and begins the next one; answers whether that worked.
    #[cold]
    fn flush(&mut self) -> bool {
        if self.has_failed {
            return false;
        }
        let begin = now().max(self.time);
        let size = self.end + 2;
        // SAFETY: the bytes behind the last record are ours, up to the end of the chunk.
        unsafe {
            self.chunk.add(self.at).write_bytes(0, size - self.at);
            self.seal();
        }
        if let Some(Err(cause)) = self.file.as_ref().map(|file| file.append(self.bytes(size))) {
            // Whatever was recorded up to now stays in the buffer. Recording stops, the program goes on.
            (self.has_failed, self.is_muted) = (true, true);
            if let Some(file) = &self.file {
                // SAFETY: the header is ours. How many chunks are whole is still true.
                file.cut(unsafe { (*self.header).chunks } * size as u64);
            }
            crate::process::stop(&format!("the event file cannot be written: {cause}"));
            return false;
        }
        // SAFETY: the header is ours.
        unsafe {
            (*self.header).chunks += 1;
            self.open_chunk();
        }
        self.disturb(begin, now().max(begin));
        true
    }

    /// Fills in the number of the last event of the chunk.
    unsafe fn seal(&mut self) {
        // SAFETY: the chunk begins with its header.
        unsafe {
            let last = (*self.header).events;
            self.chunk.add(LAST_EVENT).cast::<[u8; 8]>().write_unaligned(last.to_le_bytes());
        }
    }

    /// Begins a chunk. It has to begin with a time stamp, which the next record brings.
    unsafe fn open_chunk(&mut self) {
        // SAFETY: the chunk is longer than its header.
        unsafe {
            self.chunk.write(3);
            self.chunk.add(1).write(0x42);
            let first = (*self.header).events + 1;
            self.chunk.add(2).cast::<[u8; 8]>().write_unaligned(first.to_le_bytes());
            self.chunk.add(LAST_EVENT).write_bytes(0, 8);
            self.at = CHUNK_HEADER;
            compiler_fence(Ordering::Release);
            (*self.header).filled = self.at as u64;
        }
    }

    /// Writes out what is left, with the end marks: the event file is complete.
    pub(crate) fn finish(&mut self) {
        if self.has_failed {
            return;
        }
        // SAFETY: two bytes are kept free for the end marks.
        unsafe {
            self.seal();
            self.chunk.add(self.at).write(2);
            self.chunk.add(self.at + 1).write(1);
        }
        if self.file.as_ref().is_some_and(|file| file.append(self.bytes(self.at + 2)).is_ok()) {
            // SAFETY: the header is ours.
            unsafe { (*self.header).ended = 1 };
        }
        (self.has_failed, self.is_muted) = (true, true);
    }

    /// The chunk as it would be in a file that is finished, up to its end marks.
    #[cfg(test)]
    pub(crate) fn bytes_of_chunk(&self) -> Vec<u8> {
        self.bytes(self.at + 2).to_vec()
    }

    /// The first bytes of the chunk.
    fn bytes(&self, bytes: usize) -> &[u8] {
        // SAFETY: a chunk has room for the end marks behind its records.
        unsafe { std::slice::from_raw_parts(self.chunk, bytes) }
    }
}

/// Where the fields of a record go.
#[derive(Clone, Copy)]
pub(crate) struct Fields(*mut u8);

impl Fields {
    /// A compressed number.
    ///
    /// # Safety
    /// There is room for a field ([`FIELD`] bytes).
    #[inline]
    pub(crate) unsafe fn number(self, value: u64) -> Fields {
        // SAFETY: by the caller.
        unsafe {
            let bytes = (71 - value.leading_zeros() as usize) / 8;
            *self.0 = bytes as u8;
            self.0.add(1).cast::<[u8; 8]>().write_unaligned(value.to_le_bytes());
            Fields(self.0.add(1 + bytes))
        }
    }

    /// A compressed number of 32 bits, of which all ones mean that there is none.
    ///
    /// # Safety
    /// There is room for a field.
    #[inline]
    pub(crate) unsafe fn optional(self, value: u32) -> Fields {
        // SAFETY: by the caller.
        unsafe { if value == u32::MAX { self.byte(0xff) } else { self.number(value.into()) } }
    }

    /// A collective operation.
    ///
    /// # Safety
    /// There is room for a field.
    #[inline]
    pub(crate) unsafe fn operation(self, operation: CollectiveOp) -> Fields {
        // SAFETY: by the caller.
        unsafe { self.byte(operation.0) }
    }

    /// A single byte: an enumeration.
    ///
    /// # Safety
    /// There is room for a field.
    #[inline]
    pub(crate) unsafe fn byte(self, value: u8) -> Fields {
        // SAFETY: by the caller.
        unsafe {
            *self.0 = value;
            Fields(self.0.add(1))
        }
    }
}

impl Drop for Events {
    /// Gives the memory of the buffer back; its file stays.
    fn drop(&mut self) {
        if !self.header.is_null() {
            // SAFETY: the buffer is this value's own, and so long.
            unsafe { libc::munmap(self.header.cast(), HEADER_BYTES + self.end + 2) };
        }
    }
}
