//! Definition writer: global and local definition files.

use super::chunks::{ChunkWriter, length_size};
use crate::Error;
use crate::anchor::Anchor;
use crate::definition::Definition;
use crate::field::Body;
use crate::record::FileKind;
use std::path::PathBuf;

/// Writes a definition file of either kind.
#[derive(Debug)]
pub(crate) struct DefinitionWriter {
    chunks: ChunkWriter,
    fields: Body,
    kind: FileKind,
}

impl DefinitionWriter {
    pub(crate) fn create(path: PathBuf, anchor: &Anchor, kind: FileKind) -> Result<Self, Error> {
        let chunks = ChunkWriter::definitions(path, anchor)?;
        Ok(DefinitionWriter { chunks, fields: Body::new(anchor.byte_order, true), kind })
    }

    pub(crate) fn write(&mut self, definition: Definition<'_>) -> Result<(), Error> {
        self.fields.clear();
        let id = definition.write(&mut self.fields, self.kind);
        if let Some(fault) = self.fields.fault() {
            return Err(self.refusal(&definition, fault));
        }
        let need = 1 + length_size(&self.fields) + self.fields.bound();
        self.chunks.reserve(need, || definition.name())?;
        self.chunks.framed(id, &self.fields);
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<(), Error> {
        self.chunks.finish()
    }

    #[cold]
    fn refusal(&self, definition: &Definition<'_>, reason: &str) -> Error {
        Error::file(self.chunks.path(), format!("cannot write a {} record: {reason}", definition.name()))
    }
}

/// Writes the definition file of one location.
#[derive(Debug)]
pub struct LocalDefinitionWriter {
    definitions: DefinitionWriter,
    mapped: Vec<u8>,
    last_offset: Option<u64>,
}

impl LocalDefinitionWriter {
    /// Creates a local definition file of an archive with this anchor.
    ///
    /// # Errors
    /// If the file cannot be created or the anchor is invalid.
    pub fn create(path: impl Into<PathBuf>, anchor: &Anchor) -> Result<Self, Error> {
        let definitions = DefinitionWriter::create(path.into(), anchor, FileKind::LocalDefinitions)?;
        Ok(LocalDefinitionWriter { definitions, mapped: Vec::new(), last_offset: None })
    }

    pub(crate) fn unsynced(&mut self) {
        self.definitions.chunks.unsynced();
    }

    /// Appends a record: a mapping table, a clock offset, or any other definition with local references.
    ///
    /// # Errors
    /// If a mapping table is empty or the second of its type, a clock offset is not later than the one
    /// before, the record is too large for a chunk or belongs elsewhere, or the file cannot be written.
    pub fn write(&mut self, definition: Definition<'_>) -> Result<(), Error> {
        if let Some(reason) = self.objection(&definition) {
            return Err(self.definitions.refusal(&definition, reason));
        }
        self.definitions.write(definition)?;
        match definition {
            Definition::MappingTable { mapping_type, .. } => self.mapped.push(mapping_type),
            Definition::ClockOffset { time, .. } => self.last_offset = Some(time.0),
            _ => {}
        }
        Ok(())
    }

    /// Why readers would refuse the record after those before it.
    fn objection(&self, definition: &Definition<'_>) -> Option<&'static str> {
        match definition {
            Definition::MappingTable { id_map, .. } if id_map.is_empty() => Some("it is empty: leave it out"),
            Definition::MappingTable { mapping_type, .. } if self.mapped.contains(mapping_type) => {
                Some("it is the second of its kind")
            }
            Definition::ClockOffset { time, .. } if self.last_offset.is_some_and(|last| time.0 <= last) => {
                Some("its time is not after the previous one's")
            }
            _ => None,
        }
    }

    /// Completes the file.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn finish(self) -> Result<(), Error> {
        self.definitions.finish()
    }
}
