//! Event writer: writes the event file of one location.

use super::chunks::{ChunkWriter, length_size};
use crate::Error;
use crate::anchor::Anchor;
use crate::event::Event;
use crate::field::{Body, Field};
use crate::record::{ATTRIBUTE_LIST, FileKind};
use crate::value::Attributes;
use std::path::PathBuf;

/// Room that is reserved for a time stamp, whether one is written or not.
const TIMESTAMP_SIZE: usize = 9;

/// Writes the event file of one location.
#[derive(Debug)]
pub struct EventWriter {
    chunks: ChunkWriter,
    fields: Body,
    attributes: Body,
    time: u64,
}

impl EventWriter {
    /// Creates an event file of an archive with this anchor. Threads and processes can write locations
    /// concurrently; only the one that writes the anchor needs an [`ArchiveWriter`](crate::ArchiveWriter).
    ///
    /// # Errors
    /// If the file cannot be created or the anchor is invalid.
    pub fn create(path: impl Into<PathBuf>, anchor: &Anchor) -> Result<Self, Error> {
        let chunks = ChunkWriter::events(path.into(), anchor)?;
        let body = || Body::new(anchor.byte_order, false);
        Ok(EventWriter { chunks, fields: body(), attributes: body(), time: 0 })
    }

    pub(crate) fn unsynced(&mut self) {
        self.chunks.unsynced();
    }

    /// Appends an event that happened at `time`, in ticks of the location's clock.
    ///
    /// # Errors
    /// If `time` is before the previous event's, an attribute occurs twice, the record is too large for a
    /// chunk or cannot be encoded, or the file cannot be written. The last error loses the file, the others
    /// only the event.
    pub fn write(&mut self, time: u64, event: Event<'_>, attributes: Attributes<'_>) -> Result<(), Error> {
        if time < self.time {
            return Err(
                self.refusal(&event, &format!("its time {time} is before {}, the previous one", self.time))
            );
        }
        self.fields.clear();
        let id = event.write(&mut self.fields, FileKind::Events);
        let singleton = Event::is_singleton(id);
        let mut need = 1 + self.fields.bound() + TIMESTAMP_SIZE;
        if !singleton {
            need += length_size(&self.fields);
        }
        self.attributes.clear();
        if !attributes.is_empty() {
            if let Some(twice) = repeated(attributes) {
                return Err(self.refusal(&event, &format!("attribute {twice} occurs twice")));
            }
            attributes.write(&mut self.attributes);
            need += self.attributes.bound() + length_size(&self.attributes) + 1;
        }
        if let Some(fault) = self.fields.fault().or(self.attributes.fault()) {
            return Err(self.refusal(&event, fault));
        }
        // A chunk starts with a time stamp, and two in a row are not allowed. Time 0 always gets one.
        let begins_chunk = self.chunks.reserve(need, || event.name())?;
        if begins_chunk || time > self.time || time == 0 {
            self.chunks.timestamp(time);
            self.time = time;
        }
        if !attributes.is_empty() {
            self.chunks.framed(ATTRIBUTE_LIST, &self.attributes);
        }
        if singleton {
            self.chunks.singleton(id, &self.fields);
        } else {
            self.chunks.framed(id, &self.fields);
        }
        self.chunks.count_event();
        Ok(())
    }

    /// Completes the file and returns the number of its events.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn finish(self) -> Result<u64, Error> {
        let events = self.chunks.event_count();
        self.chunks.finish()?;
        Ok(events)
    }

    #[cold]
    fn refusal(&self, event: &Event<'_>, reason: &str) -> Error {
        Error::file(self.chunks.path(), format!("cannot write a {} record: {reason}", event.name()))
    }
}

/// An attribute that occurs twice.
fn repeated(attributes: Attributes<'_>) -> Option<u32> {
    let mut references: Vec<u32> = attributes.iter().map(|attribute| attribute.attribute).collect();
    references.sort_unstable();
    references.iter().zip(references.iter().skip(1)).find(|(a, b)| a == b).map(|(&twice, _)| twice)
}
