//! Definition cursor: decodes the definition records of one file in file order.
//!
//! Same guarantees as for events: no panic, no endless loop, finished after an error.

use crate::Error;
use crate::chunk::ChunkReader;
use crate::definition::Definition;
use crate::definitions;
use crate::record::{CHUNK_HEADER, END_OF_BUFFER, END_OF_CHUNK, END_OF_FILE, FileKind};
use std::path::Path;

/// A definition record and its offset.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DefinitionRecord<'a> {
    /// Offset of the record in its file, in bytes.
    pub offset: u64,
    /// The decoded record.
    pub definition: Definition<'a>,
}

/// Decodes a definition file.
#[derive(Clone, Debug)]
pub struct DefinitionCursor<'a> {
    chunks: ChunkReader<'a>,
    kind: FileKind,
}

impl<'a> DefinitionCursor<'a> {
    /// Starts before the first record of the global definitions; `path` is for messages, `chunk_size` comes
    /// from the anchor.
    pub fn global(file: &'a [u8], path: &'a Path, chunk_size: u64) -> Self {
        DefinitionCursor {
            chunks: ChunkReader::new(file, path, chunk_size),
            kind: FileKind::GlobalDefinitions,
        }
    }

    /// Like [`global`](Self::global), for the local definitions of one location.
    pub fn local(file: &'a [u8], path: &'a Path, chunk_size: u64) -> Self {
        DefinitionCursor {
            chunks: ChunkReader::new(file, path, chunk_size),
            kind: FileKind::LocalDefinitions,
        }
    }

    /// Returns the next definition, or `None` behind the last and after an error.
    ///
    /// # Errors
    /// If the file is corrupt or ends without its end mark.
    #[allow(clippy::should_implement_trait)] // As for events.
    pub fn next(&mut self) -> Result<Option<DefinitionRecord<'a>>, Error> {
        loop {
            let offset = self.chunks.bytes.at();
            match self.chunks.bytes.u8() {
                None | Some(END_OF_CHUNK) => {
                    if !self.chunks.advance()? {
                        return Ok(None);
                    }
                }
                Some(END_OF_FILE) => {
                    self.chunks.finish();
                    return Ok(None);
                }
                Some(id) => {
                    let definition = self.definition(id, offset)?;
                    return Ok(Some(DefinitionRecord { offset: offset as u64, definition }));
                }
            }
        }
    }

    fn definition(&mut self, id: u8, offset: usize) -> Result<Definition<'a>, Error> {
        let name = Definition::name_of(id, self.kind);
        let body = if matches!(id, END_OF_BUFFER | CHUNK_HEADER) { None } else { self.chunks.bytes.body() };
        let Some(mut body) = body else { return Err(self.chunks.fail(offset, id, name, None)) };
        match Definition::read(id, &mut body, self.kind) {
            Some(definition) => Ok(definition),
            None => Err(self.chunks.fail(offset, id, name, Some(body))),
        }
    }

    /// Resolves the remaining records into definitions, with every reference checked; meant for global ones.
    ///
    /// # Errors
    /// If the file is corrupt, or definitions contradict each other.
    pub fn resolve(self) -> Result<model::Definitions, Error> {
        definitions::resolve(self)
    }

    /// Size of the file in bytes.
    pub(crate) fn file_size(&self) -> usize {
        self.chunks.file_size()
    }

    /// An error about a record that this cursor has delivered.
    pub(crate) fn error(&self, offset: u64, message: impl Into<String>) -> Error {
        Error::damaged(self.chunks.path(), offset, message)
    }
}
