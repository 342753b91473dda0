//! The events of a thread: OTF2 records in a buffer that outlives the process, written out chunk by chunk.
//!
//! Records have the bytes of an OTF2 event file from the start (`formats/otf2/FORMAT.md`), little endian. The
//! buffer is a mapped file, see `recording::buffer`; its header holds the position, so that nothing is lost
//! with the process.

use std::path::Path;
use std::ptr::null_mut;
use std::sync::atomic::{Ordering, compiler_fence};

use call_paths::OwnFile;
use model::CollectiveOp;
use recording::buffer::{BufferHeader, HEADER_BYTES, MAGIC};
use recording::profile::{TraceSize, TransferredBytes};

use crate::clock::now;
use crate::memory;
use crate::record::{self, MOST_VALUES};

/// Size of an OTF2 chunk header in bytes.
const CHUNK_HEADER: usize = 18;
/// Offset of the number of the last event in it.
const LAST_EVENT: usize = 10;
/// Maximum number of fields of a record without a list.
pub(crate) const MOST_FIELDS: usize = 14;
/// Maximum number of bytes that a field takes, or that writing it touches.
const FIELD: usize = 9;
/// Upper bound of the size of a record without a list, with its time stamp.
const RECORD: usize = 144;
const _: () = assert!(9 + 2 + MOST_FIELDS * FIELD <= RECORD && MOST_FIELDS * FIELD < 0xff);
/// The chunk is written out behind a call if less than this is free: most calls record less.
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

/// A field of eight bytes in a record, to be filled in.
#[derive(Clone, Copy)]
pub(crate) struct OpenField {
    /// Offset in the chunk.
    at: usize,
    /// Number of the chunk.
    chunks: u64,
}

/// Classes of metrics that a thread has values of.
const CLASSES: usize = 2;

/// Values of the members of a class of metrics.
#[derive(Clone, Copy)]
struct MetricValues {
    class: u32,
    count: usize,
    values: [u64; MOST_VALUES],
}

/// The events of one thread under construction.
pub(crate) struct Events {
    header: *mut BufferHeader,
    chunk: *mut u8,
    /// Offset of the next record.
    at: usize,
    /// Offset at which records must end: two bytes behind it are for the end marks.
    end: usize,
    /// Time of the previous record.
    time: u64,
    /// The event file, to which full chunks are appended; `None` if they are dropped.
    file: Option<OwnFile>,
    /// A flush that has not been recorded yet, because records of an earlier time may still come.
    flushed: Option<(u64, u64)>,
    /// Likewise values of metrics, and their time: what a call has done is recorded behind it, some of it with the time of its begin.
    deferred: [Option<MetricValues>; CLASSES],
    deferred_at: u64,
    /// Whether there is either.
    is_waiting: bool,
    /// Whether records are dropped: outside of the rounds to record, or recording is off or has failed.
    is_muted: bool,
    has_failed: bool,
    /// Bytes that MPI has transferred since [`Self::take_transfers`].
    pub(crate) moved: TransferredBytes,
}

impl Events {
    /// Creates the buffer and the event file of a location.
    ///
    /// An error is a sentence.
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

    /// Creates events that are made as always, but dropped whenever the buffer is full: to count the size of
    /// a trace.
    ///
    /// An error is a sentence.
    pub(crate) fn counted(chunk_size: usize) -> Result<Events, String> {
        let memory = memory::anonymous(HEADER_BYTES + chunk_size).ok_or("there is no memory for a buffer")?;
        Ok(Events::over(memory, chunk_size, None))
    }

    /// Creates events in fresh memory of `HEADER_BYTES + chunk_size` bytes.
    fn over(memory: *mut u8, chunk_size: usize, file: Option<OwnFile>) -> Events {
        let mut made = Events {
            header: memory.cast(),
            // SAFETY: callers pass memory that is longer than a header.
            chunk: unsafe { memory.add(HEADER_BYTES) },
            end: chunk_size - 2,
            file,
            is_muted: false,
            has_failed: false,
            ..Events::dropped()
        };
        // SAFETY: callers pass memory that is fresh, aligned to a page and used by nobody else. The magic
        // comes last.
        unsafe {
            *made.header = BufferHeader { chunk_size: chunk_size as u64, ..BufferHeader::default() };
            made.open_chunk();
            compiler_fence(Ordering::Release);
            (*made.header).magic = MAGIC;
        }
        made
    }

    /// Creates the events of a thread that cannot record: all are dropped.
    pub(crate) fn dropped() -> Events {
        Events {
            header: null_mut(),
            chunk: null_mut(),
            at: 0,
            end: usize::MAX,
            time: 0,
            file: None,
            flushed: None,
            deferred: [None; CLASSES],
            deferred_at: 0,
            is_waiting: false,
            is_muted: true,
            has_failed: true,
            moved: TransferredBytes::default(),
        }
    }

    /// Returns the position of the next record, for [`rewind`](Events::rewind).
    #[inline]
    pub(crate) fn mark(&self) -> Mark {
        let (events, chunks) = match self.is_muted {
            true => (0, 0),
            // SAFETY: `is_muted` is false only if there is a buffer, which starts with the header.
            false => unsafe { ((*self.header).events, (*self.header).chunks) },
        };
        Mark { at: self.at, time: self.time, events, chunks }
    }

    /// Takes back the last records if they are as many as there are behind the mark; returns whether they were.
    pub(crate) fn rewind(&mut self, mark: Mark, records: u64) -> bool {
        if self.is_muted {
            return true;
        }
        // SAFETY: there is a buffer, as `is_muted` is false, and it starts with the header.
        unsafe {
            if (*self.header).events != mark.events + records || (*self.header).chunks != mark.chunks {
                return false;
            }
            (self.at, self.time) = (mark.at, mark.time);
            (*self.header).filled = mark.at as u64;
            (*self.header).events = mark.events;
            (*self.header).last_time = mark.time;
        }
        self.deferred = [None; CLASSES];
        true
    }

    /// Whether records are dropped at the moment.
    pub(crate) fn is_muted(&self) -> bool {
        self.is_muted
    }

    /// Drops records from now on, or records them again.
    pub(crate) fn mute(&mut self, mute: bool) {
        self.is_muted = mute || self.has_failed;
        self.moved = TransferredBytes::default();
    }

    /// Runs `record` even while records are dropped, unless writing has failed.
    #[inline]
    pub(crate) fn record_anyway(&mut self, record: impl FnOnce(&mut Events)) {
        let (is_muted, moved) = (self.is_muted, self.moved);
        self.is_muted = self.has_failed;
        record(self);
        if is_muted {
            (self.is_muted, self.moved) = (true, moved);
        }
    }

    /// Drops records from now on: the buffer and the event file belong to the process that this one was
    /// forked from.
    #[cold]
    pub(crate) fn abandon(&mut self) {
        (self.has_failed, self.is_muted) = (true, true);
    }

    /// Whether writing has failed: nothing is recorded any more.
    pub(crate) fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// Returns the size of the trace so far.
    #[inline]
    pub(crate) fn trace(&self) -> TraceSize {
        if self.header.is_null() {
            return TraceSize::default();
        }
        // SAFETY: a header that is not null is that of the buffer.
        let BufferHeader { chunks, events, .. } = unsafe { *self.header };
        TraceSize { events, bytes: chunks * (self.end as u64 + 2) + self.at as u64, flushes: chunks }
    }

    /// Returns the bytes that MPI has transferred since the last time.
    #[inline]
    pub(crate) fn take_transfers(&mut self) -> TransferredBytes {
        std::mem::take(&mut self.moved)
    }

    /// Appends a record with a length. `fields` gets the place of its fields, and returns the place behind
    /// them.
    ///
    /// # Safety
    /// `fields` writes at most [`MOST_FIELDS`] fields from that place on, and returns the place behind the
    /// last.
    #[inline(always)]
    pub(crate) unsafe fn framed(&mut self, time: u64, id: u8, fields: impl FnOnce(Fields) -> Fields) {
        let Some(at) = self.begin(time) else { return };
        // SAFETY: `begin` made room for the largest record, within which the fields end, as the caller
        // guarantees.
        unsafe {
            *at = id;
            let body = at.add(2);
            let end = fields(Fields(body)).0;
            *at.add(1) = end.offset_from_unsigned(body) as u8;
            self.complete(end);
        }
    }

    /// Returns the field with eight bytes that is the last but one of the record before, in front of one with that
    /// value. `None` if records are dropped.
    pub(crate) fn long_field_before(&self, last: u64) -> Option<OpenField> {
        if self.is_muted {
            return None;
        }
        let length = 1 + (71 - last.leading_zeros() as usize) / 8;
        // SAFETY: there is a buffer, as `is_muted` is false, and it starts with the header.
        let chunks = unsafe { (*self.header).chunks };
        Some(OpenField { at: self.at.checked_sub(length + 8)?, chunks })
    }

    /// Fills in a field, unless its chunk has been written out.
    pub(crate) fn fill(&mut self, field: OpenField, value: u64) {
        // SAFETY: a header that is not null is that of the buffer.
        if self.header.is_null() || unsafe { (*self.header).chunks } != field.chunks || field.at + 8 > self.at
        {
            return;
        }
        // SAFETY: the field is in front of the end of the records in the chunk.
        unsafe { self.chunk.add(field.at).cast::<[u8; 8]>().write_unaligned(value.to_le_bytes()) };
    }

    /// Appends a record with one field and without a length.
    #[inline(always)]
    pub(crate) fn singleton(&mut self, time: u64, id: u8, value: u64) {
        let Some(at) = self.begin(time) else { return };
        // SAFETY: `begin` made room for the largest record.
        unsafe {
            *at = id;
            let end = Fields(at.add(1)).number(value).0;
            self.complete(end);
        }
    }

    /// Appends a record of any length, for those with lists. One that does not fit into a chunk is left out.
    pub(crate) fn long(&mut self, time: u64, id: u8, body: &[u8]) {
        if self.is_muted || body.len() + (2 + CLASSES) * RECORD > self.end - CHUNK_HEADER {
            return;
        }
        if self.end - self.at < body.len() + (2 + CLASSES) * RECORD && !self.flush() {
            return;
        }
        let Some(at) = self.begin(time) else { return };
        // SAFETY: there is room for the body besides the largest record, as checked above.
        unsafe {
            *at = id;
            *at.add(1) = 0xff;
            at.add(2).cast::<[u8; 8]>().write_unaligned((body.len() as u64).to_le_bytes());
            std::ptr::copy_nonoverlapping(body.as_ptr(), at.add(10), body.len());
            self.complete(at.add(10 + body.len()));
        }
    }

    /// Appends a list of attributes for the next record, which must have the same time: (attribute, type,
    /// value) with integer values.
    pub(crate) fn attributes(&mut self, time: u64, list: &[(u32, u8, u64)]) {
        const LIST: u8 = 6;
        // The list and its record have to be in one chunk, without a flush between them.
        if !self.is_muted && self.end - self.at < (3 + CLASSES) * RECORD + list.len() * 20 && !self.flush() {
            return;
        }
        let Some(at) = self.begin(time) else { return };
        // SAFETY: there is room, as checked above, for an attribute takes less than 20 bytes; there is a
        // buffer, as `begin` has returned a place in it.
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

    /// Prepares for a record at that time: writes a time stamp if one is due, and returns where the record
    /// goes.
    #[inline(always)]
    fn begin(&mut self, time: u64) -> Option<*mut u8> {
        if self.is_muted {
            return None;
        }
        if (self.end - self.at < RECORD || self.is_waiting) && !self.make_room(time) {
            return None;
        }
        // SAFETY: at least `RECORD` bytes are free.
        Some(unsafe { self.stamped(time) })
    }

    /// Writes a time stamp if one is due, because time has passed or a chunk starts, and returns the place
    /// behind it. Never two in a row, which readers do not understand.
    ///
    /// # Safety
    /// There is a buffer, and at least 9 bytes of it are free behind `at`.
    #[inline]
    unsafe fn stamped(&mut self, time: u64) -> *mut u8 {
        // SAFETY: the caller guarantees the room.
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

    /// Completes the record that ends there.
    ///
    /// # Safety
    /// There is a buffer, and `end` is in its chunk, behind `at`.
    #[inline]
    unsafe fn complete(&mut self, end: *mut u8) {
        // SAFETY: the caller guarantees both, and the buffer starts with the header.
        unsafe {
            self.at = end.offset_from_unsigned(self.chunk);
            // The process may die at any instruction: the position must not move before the bytes are there.
            compiler_fence(Ordering::Release);
            (*self.header).filled = self.at as u64;
            (*self.header).events += 1;
            (*self.header).last_time = self.time;
        }
    }

    /// Does what is rarely due before a record: writes out a full chunk, records a flush that may be recorded
    /// by now.
    #[cold]
    fn make_room(&mut self, time: u64) -> bool {
        // For this record, a flush, and metrics.
        if self.end - self.at < (2 + CLASSES) * RECORD && !self.flush() {
            return false;
        }
        if !self.is_waiting {
            return true;
        }
        self.is_waiting = false;
        if self.flushed.is_none_or(|(begin, _)| begin >= self.deferred_at) {
            self.record_deferred(time);
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
        self.record_deferred(time);
        self.is_waiting = self.flushed.is_some() || self.deferred[0].is_some();
        true
    }

    /// Records deferred metrics in front of a record at that time, if that is not before theirs. There is room for all.
    fn record_deferred(&mut self, time: u64) {
        if time >= self.deferred_at {
            for MetricValues { class, count, values } in
                std::mem::take(&mut self.deferred).into_iter().flatten()
            {
                record::metric(self, self.deferred_at, class, &values[..count]);
            }
        }
    }

    /// Records values of metrics at that time, in front of the next record at that time or later: some at an earlier one may come
    /// before. Those of two classes at most; all have the same time.
    pub(crate) fn defer(&mut self, time: u64, class: u32, values: &[u64]) {
        let mut kept = MetricValues { class, count: values.len().min(MOST_VALUES), values: [0; MOST_VALUES] };
        kept.values[..kept.count].copy_from_slice(&values[..kept.count]);
        if self.deferred.iter().flatten().any(|it| it.class == class) {
            self.record_deferred(time);
        }
        if let Some(free) = self.deferred.iter_mut().find(|it| it.is_none()) {
            *free = Some(kept);
            (self.deferred_at, self.is_waiting) = (time, true);
        }
    }

    /// Notes that the recorder delayed the program between these times, which the trace shows as a flush. If
    /// the previous one has not been recorded yet, it is extended.
    pub(crate) fn add_flush(&mut self, begin: u64, end: u64) {
        self.flushed = Some((self.flushed.map_or(begin, |(first, _)| first), end));
        self.is_waiting = true;
    }

    /// Writes out the chunk if it is nearly full. To be called where the time that it takes belongs to no MPI
    /// call.
    #[inline]
    pub(crate) fn flush_if_nearly_full(&mut self) {
        if self.end - self.at < RESERVE {
            self.flush();
        }
    }

    /// Writes the chunk to the event file and starts the next one; returns whether that worked.
    #[cold]
    fn flush(&mut self) -> bool {
        if self.has_failed {
            return false;
        }
        let begin = now().max(self.time);
        let size = self.end + 2;
        // SAFETY: there is a buffer, as writing has not failed, and its chunk has `size` bytes.
        unsafe {
            self.chunk.add(self.at).write_bytes(0, size - self.at);
            self.seal();
        }
        if let Some(Err(cause)) = self.file.as_ref().map(|file| file.append(self.bytes(size))) {
            // Everything recorded so far stays in the buffer. Recording stops, the program continues.
            (self.has_failed, self.is_muted) = (true, true);
            if let Some(file) = &self.file {
                // SAFETY: as above. The number of complete chunks is still right.
                file.cut(unsafe { (*self.header).chunks } * size as u64);
            }
            crate::process::stop(&format!("the event file cannot be written: {cause}"));
            return false;
        }
        // SAFETY: as above.
        unsafe {
            (*self.header).chunks += 1;
            self.open_chunk();
        }
        self.add_flush(begin, now().max(begin));
        if let Some(process) = crate::process::current() {
            process.rounds.note_written(size as u64);
        }
        true
    }

    /// Fills in the number of the last event of the chunk.
    ///
    /// # Safety
    /// There is a buffer.
    unsafe fn seal(&mut self) {
        // SAFETY: the caller guarantees it; the chunk starts with its header, which is longer than
        // `LAST_EVENT + 8` bytes.
        unsafe {
            let last = (*self.header).events;
            self.chunk.add(LAST_EVENT).cast::<[u8; 8]>().write_unaligned(last.to_le_bytes());
        }
    }

    /// Starts a chunk. Its first record must be a time stamp, which the next record brings.
    ///
    /// # Safety
    /// There is a buffer.
    unsafe fn open_chunk(&mut self) {
        // SAFETY: the caller guarantees it; the chunk is longer than its header.
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

    /// Writes out the rest, with the end marks: the event file is complete.
    pub(crate) fn finish(&mut self) {
        if self.has_failed {
            return;
        }
        // SAFETY: there is a buffer, as writing has not failed; two bytes are kept free for the end marks.
        unsafe {
            self.seal();
            self.chunk.add(self.at).write(2);
            self.chunk.add(self.at + 1).write(1);
        }
        if self.file.as_ref().is_some_and(|file| file.append(self.bytes(self.at + 2)).is_ok()) {
            // SAFETY: as above.
            unsafe { (*self.header).ended = 1 };
        }
        (self.has_failed, self.is_muted) = (true, true);
    }

    /// Returns the chunk as it would be in a complete file, up to its end marks.
    #[cfg(test)]
    pub(crate) fn bytes_of_chunk(&self) -> Vec<u8> {
        self.bytes(self.at + 2).to_vec()
    }

    /// Returns the first bytes of the chunk.
    fn bytes(&self, bytes: usize) -> &[u8] {
        // SAFETY: callers have a buffer, and ask for no more than a chunk: the end marks fit behind its
        // records.
        unsafe { std::slice::from_raw_parts(self.chunk, bytes) }
    }
}

/// The place of the next field of a record.
#[derive(Clone, Copy)]
pub(crate) struct Fields(*mut u8);

impl Fields {
    /// Writes a compressed integer, and returns the place behind it.
    ///
    /// # Safety
    /// There is room for a field ([`FIELD`] bytes).
    #[inline]
    pub(crate) unsafe fn number(self, value: u64) -> Fields {
        // SAFETY: the caller guarantees it; at most `1 + 8` bytes are written.
        unsafe {
            let bytes = (71 - value.leading_zeros() as usize) / 8;
            *self.0 = bytes as u8;
            self.0.add(1).cast::<[u8; 8]>().write_unaligned(value.to_le_bytes());
            Fields(self.0.add(1 + bytes))
        }
    }

    /// Writes a compressed integer of 32 bits, or one byte for the undefined value `u32::MAX`, and returns
    /// the place behind it.
    ///
    /// # Safety
    /// There is room for a field.
    #[inline]
    pub(crate) unsafe fn optional(self, value: u32) -> Fields {
        // SAFETY: the caller guarantees it.
        unsafe { if value == u32::MAX { self.byte(0xff) } else { self.number(value.into()) } }
    }

    /// Writes a collective operation (`OTF2_CollectiveOp`), and returns the place behind it.
    ///
    /// # Safety
    /// There is room for a field.
    #[inline]
    pub(crate) unsafe fn operation(self, operation: CollectiveOp) -> Fields {
        // SAFETY: the caller guarantees it.
        unsafe { self.byte(operation.0) }
    }

    /// Writes a single byte, for an enumeration, and returns the place behind it.
    ///
    /// # Safety
    /// There is room for a field.
    #[inline]
    pub(crate) unsafe fn byte(self, value: u8) -> Fields {
        // SAFETY: the caller guarantees it.
        unsafe {
            *self.0 = value;
            Fields(self.0.add(1))
        }
    }
}

impl Drop for Events {
    /// Unmaps the buffer; its file stays.
    fn drop(&mut self) {
        if !self.header.is_null() {
            // SAFETY: the mapping is this value's own, and has this size.
            unsafe { libc::munmap(self.header.cast(), HEADER_BYTES + self.end + 2) };
        }
    }
}
