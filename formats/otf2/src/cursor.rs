//! Events of one location, from its first to its last.
//!
//! Promise: no input makes a cursor panic or loop, it allocates nothing unless it fails, and after an error it is
//! finished. Every complete record before a cut or corrupt one is delivered. Times and references are as in the file;
//! [`Event::map`] and [`ClockCorrection`](crate::ClockCorrection) make them global. That times do not decrease is the
//! rule of the format, but not checked here.

use crate::Error;
use crate::chunk::Chunks;
use crate::event::Event;
use crate::field::Field;
use crate::record::{
    ATTRIBUTE_LIST, CHUNK_HEADER, END_OF_BUFFER, END_OF_CHUNK, END_OF_FILE, FileKind, TIMESTAMP,
};
use crate::value::Attributes;
use std::path::Path;

/// An event with what belongs to it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EventRecord<'a> {
    /// Number of the event within its location, beginning with 1. Events of unknown kind count.
    pub position: u64,
    /// Offset of the record in its file, in bytes.
    pub offset: u64,
    /// Ticks on the clock of the location.
    pub time: u64,
    /// What the event says beyond its fields.
    pub attributes: Attributes<'a>,
    /// What happened.
    pub event: Event<'a>,
}

/// Steps through an event file.
#[derive(Clone, Debug)]
pub struct EventCursor<'a> {
    chunks: Chunks<'a>,
    time: u64,
    position: u64,
}

impl<'a> EventCursor<'a> {
    /// Stands before the first event of a file; `path` is for messages, `chunk_size` comes from the anchor.
    pub fn new(file: &'a [u8], path: &'a Path, chunk_size: u64) -> Self {
        EventCursor { chunks: Chunks::new(file, path, chunk_size), time: 0, position: 0 }
    }

    /// The next event, or `None` behind the last and after an error.
    ///
    /// # Errors
    /// If the file is corrupt or ends without its end mark.
    #[inline]
    #[allow(clippy::should_implement_trait)] // The iterator would have to transpose every result.
    pub fn next(&mut self) -> Result<Option<EventRecord<'a>>, Error> {
        let mut attributes = Attributes::EMPTY;
        loop {
            let bytes = &mut self.chunks.bytes;
            let offset = bytes.at();
            match bytes.u8() {
                Some(TIMESTAMP) => match bytes.u64() {
                    Some(time) => self.time = time,
                    None => return Err(self.chunks.fail(offset, TIMESTAMP, "time stamp", None)),
                },
                None | Some(END_OF_CHUNK) => {
                    if !self.chunks.advance()? {
                        return Ok(None);
                    }
                }
                Some(END_OF_FILE) => {
                    self.chunks.finish();
                    return Ok(None);
                }
                Some(ATTRIBUTE_LIST) => attributes = self.attributes(offset)?,
                Some(id) => {
                    let Some(event) = self.event(id) else { return Err(self.failure(offset, id)) };
                    self.position += 1;
                    let (position, time, offset) = (self.position, self.time, offset as u64);
                    return Ok(Some(EventRecord { position, offset, time, attributes, event }));
                }
            }
        }
    }

    #[inline]
    fn event(&mut self, id: u8) -> Option<Event<'a>> {
        let bytes = &mut self.chunks.bytes;
        if Event::is_singleton(id) {
            return Event::read(id, bytes, FileKind::Events);
        }
        if matches!(id, END_OF_BUFFER | CHUNK_HEADER) {
            return None;
        }
        let mut body = bytes.body()?;
        Event::read(id, &mut body, FileKind::Events)
    }

    #[cold]
    fn attributes(&mut self, offset: usize) -> Result<Attributes<'a>, Error> {
        let body = self.chunks.bytes.body();
        let mut left = body;
        left.as_mut()
            .and_then(Attributes::read)
            .ok_or_else(|| self.chunks.fail(offset, ATTRIBUTE_LIST, "attribute list", left))
    }

    /// Decodes the record at `offset` again to find out why it cannot be decoded.
    #[cold]
    fn failure(&mut self, offset: usize, id: u8) -> Error {
        let mut bytes = self.chunks.bytes;
        bytes = bytes.restarted(offset + 1);
        let mut body = if Event::is_singleton(id) { Some(bytes) } else { bytes.body() };
        if let Some(body) = &mut body {
            let _ = Event::read(id, body, FileKind::Events);
        }
        self.chunks.fail(offset, id, Event::name_of(id, FileKind::Events), body)
    }
}
