//! Chunk writer: fills chunks with records (`FORMAT.md`, "When a chunk is full").
//!
//! Starts a new chunk exactly where the reference library does, keeps a byte free behind every record and two
//! behind the last, and holds no more than one chunk in memory.

use super::file::NewFile;
use crate::Error;
use crate::anchor::Anchor;
use crate::bytes::ByteOrder;
use crate::chunk::HEADER;
use crate::field::Body;
use crate::record::{CHUNK_HEADER, END_OF_BUFFER, END_OF_FILE, TIMESTAMP};
use std::path::{Path, PathBuf};

/// Offset of the number of the last event in a chunk header.
const LAST_EVENT: usize = 10;

/// A chunked file under construction.
#[derive(Debug)]
pub(crate) struct ChunkWriter {
    file: NewFile,
    chunk: Vec<u8>,
    size: usize,
    order: ByteOrder,
    events: u64,
}

impl ChunkWriter {
    /// Creates an event file.
    pub(crate) fn events(path: PathBuf, anchor: &Anchor) -> Result<Self, Error> {
        ChunkWriter::create(path, anchor, anchor.event_chunk_size)
    }

    /// Creates a definition file.
    pub(crate) fn definitions(path: PathBuf, anchor: &Anchor) -> Result<Self, Error> {
        ChunkWriter::create(path, anchor, anchor.definition_chunk_size)
    }

    fn create(path: PathBuf, anchor: &Anchor, size: u64) -> Result<Self, Error> {
        anchor.check_to_write(&path)?;
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        let order = anchor.byte_order;
        let file = NewFile::create(path)?;
        let mut writer = ChunkWriter { file, chunk: Vec::new(), size, order, events: 0 };
        writer.open();
        Ok(writer)
    }

    pub(crate) fn unsynced(&mut self) {
        self.file.unsynced();
    }

    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    /// Number of events so far.
    pub(crate) fn event_count(&self) -> u64 {
        self.events
    }

    /// Makes room for records of at most `need` bytes; returns whether that took a new chunk.
    #[inline]
    pub(crate) fn reserve(
        &mut self,
        need: usize,
        name: impl FnOnce() -> &'static str,
    ) -> Result<bool, Error> {
        if need < self.size - self.chunk.len() {
            return Ok(false);
        }
        let room = self.size - HEADER;
        if need >= room {
            let name = name();
            let message =
                format!("cannot write a {name} record: it may take {need} bytes, a chunk holds {room}");
            return Err(Error::file(self.path(), message));
        }
        self.next_chunk()?;
        Ok(true)
    }

    /// Appends a time stamp.
    pub(crate) fn timestamp(&mut self, time: u64) {
        self.chunk.push(TIMESTAMP);
        self.u64(time);
    }

    /// Appends a record without length byte.
    pub(crate) fn singleton(&mut self, id: u8, body: &Body) {
        self.chunk.push(id);
        self.chunk.extend_from_slice(body.bytes());
    }

    /// Appends a record with its length, in the long form if its upper bound requires it.
    pub(crate) fn framed(&mut self, id: u8, body: &Body) {
        self.chunk.push(id);
        match u8::try_from(body.bytes().len()) {
            Ok(length) if length_size(body) == 1 => self.chunk.push(length),
            _ => {
                self.chunk.push(0xff);
                self.u64(body.bytes().len() as u64);
            }
        }
        self.chunk.extend_from_slice(body.bytes());
    }

    /// Counts an event: the records since the last call.
    pub(crate) fn count_event(&mut self) {
        self.events += 1;
    }

    /// Writes the end marks and publishes the file under its name.
    pub(crate) fn finish(mut self) -> Result<(), Error> {
        if self.size - self.chunk.len() < 2 {
            self.next_chunk()?;
        }
        self.chunk.extend([END_OF_FILE, END_OF_BUFFER]);
        self.write_chunk()?;
        self.file.publish()
    }

    fn next_chunk(&mut self) -> Result<(), Error> {
        self.chunk.resize(self.size, 0);
        self.write_chunk()?;
        self.open();
        Ok(())
    }

    /// Starts a chunk; the number of its last event is filled in when the chunk is written.
    fn open(&mut self) {
        self.chunk.clear();
        self.chunk.extend([CHUNK_HEADER, self.order.mark()]);
        self.u64(self.events + 1);
        self.u64(0);
    }

    fn write_chunk(&mut self) -> Result<(), Error> {
        let last = self.encoded(self.events);
        for (byte, value) in self.chunk.iter_mut().skip(LAST_EVENT).zip(last) {
            *byte = value;
        }
        self.file.append(&self.chunk)
    }

    fn u64(&mut self, value: u64) {
        self.chunk.extend(self.encoded(value));
    }

    fn encoded(&self, value: u64) -> [u8; 8] {
        match self.order {
            ByteOrder::Little => value.to_le_bytes(),
            ByteOrder::Big => value.to_be_bytes(),
        }
    }
}

/// Length of the length field of a record.
pub(crate) fn length_size(body: &Body) -> usize {
    if body.bound() < 255 { 1 } else { 9 }
}
