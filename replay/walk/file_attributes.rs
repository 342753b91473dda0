//! Attributes of events of file access (io.md 2.2), Score-P's where it has one. They are read only if file access is looked at.

use model::Definitions;
use otf2::{MappingType, Mappings, Value};

use super::attributes::reference;
use crate::int::low;

/// Where a transfer begins, in etypes of the view.
const OFFSET: usize = 0;
/// Of the leave of a call that sets a view: its displacement in bytes; bytes of its etype; bytes, extent and number of pieces
/// of its filetype; and the filetype as text.
const VIEW: usize = 1;
const ETYPE: usize = 2;
const SIZE: usize = 3;
const EXTENT: usize = 4;
const PIECES: usize = 5;
const TEXT: usize = 6;
/// Hints of an open file as text.
const HINTS: usize = 7;
/// Bytes of a file.
const FILE_SIZE: usize = 8;
/// How many calls of ISO C an operation stands for.
const CALLS: usize = 9;

const NAMES: [&str; 10] = [
    "Offset",
    "View",
    "ViewEtype",
    "ViewSize",
    "ViewExtent",
    "ViewPieces",
    "ViewType",
    "Hints",
    "FileSize",
    "Calls",
];

/// References of the attributes that a trace defines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct KnownFileAttributes([Option<u64>; NAMES.len()]);

impl KnownFileAttributes {
    /// Finds those that a trace defines; `None` if it has none of them.
    pub(super) fn find(definitions: &Definitions) -> Option<KnownFileAttributes> {
        let found = NAMES.map(|name| reference(definitions, name));
        found.iter().any(Option::is_some).then_some(KnownFileAttributes(found))
    }

    /// Whether displacements of views are recorded.
    pub(super) fn tells_views(&self) -> bool {
        self.0[VIEW].is_some()
    }

    /// Whether operations of ISO C say for how many calls they stand.
    pub(super) fn tells_calls_of_streams(&self) -> bool {
        self.0[CALLS].is_some()
    }

    /// Reads an attribute, if it is one of these; returns whether it is.
    pub(super) fn read(
        &self,
        told: &mut FileAttributes,
        reference: u64,
        value: Value,
        mappings: &Mappings,
    ) -> bool {
        let Some(at) = self.0.iter().position(|known| *known == Some(reference)) else { return false };
        let is_text = at == TEXT || at == HINTS;
        let text = || mappings.global(MappingType::String, low(value.bits)).into();
        told.0[at] = Some(if is_text { text() } else { value.bits });
        true
    }
}

/// What an event tells of file access.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct FileAttributes([Option<u64>; NAMES.len()]);

impl FileAttributes {
    /// Where a transfer begins, in etypes of the view.
    pub(crate) fn offset(&self) -> Option<u64> {
        self.0[OFFSET]
    }

    /// The displacement of a view, in bytes.
    pub(crate) fn view(&self) -> Option<u64> {
        self.0[VIEW]
    }

    /// Bytes of the etype of a view.
    pub(crate) fn etype(&self) -> Option<u64> {
        self.0[ETYPE]
    }

    /// Bytes of the filetype of a view without its holes, its extent in bytes, and its pieces without holes.
    pub(crate) fn shape(&self) -> [Option<u64>; 3] {
        [SIZE, EXTENT, PIECES].map(|at| self.0[at])
    }

    /// The filetype of a view as text: the reference of a string.
    pub(crate) fn text(&self) -> Option<u64> {
        self.0[TEXT]
    }

    /// Hints, `key=value;…`: the reference of a string.
    pub(crate) fn hints(&self) -> Option<u64> {
        self.0[HINTS]
    }

    /// Bytes of a file.
    pub(crate) fn file_size(&self) -> Option<u64> {
        self.0[FILE_SIZE]
    }
}
