//! Attributes of events for what OTF2 has no fields for ([`model::attributes`]), as far as the walk uses them.

use model::{Definitions, attributes};
use otf2::{Attributes, MappingType, Mappings};

use super::gaps::{GapAttributes, MissingOperations};
use crate::int::low;

/// References of the attributes that a trace defines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KnownAttributes {
    gaps: Option<GapAttributes>,
    source: Option<u64>,
    tag: Option<u64>,
    communicator: Option<u64>,
    neighbors: [Option<u64>; 2],
    persistent: Option<u64>,
    file: Option<u64>,
    partitioned: Option<u64>,
    /// Where a transfer begins, and the displacement of a view; `None` unless file I/O is looked at.
    offset: Option<u64>,
    view: Option<u64>,
}

/// Names of attributes of file access, Score-P's where it has one.
const OFFSET: &str = "Offset";
const VIEW: &str = "View";

impl KnownAttributes {
    /// Finds those that a trace defines; `None` if it has none of them. Those of file access count only if they are wanted: few
    /// other events have attributes in the traces that have these.
    pub fn find(definitions: &Definitions, wants_files: bool) -> Option<KnownAttributes> {
        let names = &definitions.attributes;
        let find = |name: &str| Some(names.reference(names.iter().position(|known| known == name)?));
        let known = KnownAttributes {
            gaps: GapAttributes::find(definitions),
            source: find(attributes::PROBE_SOURCE),
            tag: find(attributes::PROBE_TAG),
            communicator: find(attributes::PROBE_COMM),
            neighbors: [find(attributes::NEIGHBORS_IN), find(attributes::NEIGHBORS_OUT)],
            persistent: find(attributes::PERSISTENT_OPERATION),
            file: find(attributes::HANDLE).or_else(|| find(attributes::FILE)),
            partitioned: find(attributes::PARTITIONED),
            offset: find(OFFSET).filter(|_| wants_files),
            view: find(VIEW).filter(|_| wants_files),
        };
        let has_any = known.gaps.is_some()
            || known.tells_probed_messages()
            || known.tells_neighbors()
            || known.tells_persistent_operations()
            || known.tells_files()
            || known.partitioned.is_some()
            || known.offset.is_some()
            || known.view.is_some();
        has_any.then_some(known)
    }

    /// Whether operations among neighbours say which these are.
    pub fn tells_neighbors(&self) -> bool {
        self.neighbors.iter().all(Option::is_some)
    }

    /// Whether starts of persistent collective operations have records, which say which operation is started.
    pub fn tells_persistent_operations(&self) -> bool {
        self.persistent.is_some()
    }

    /// Whether calls that handle files say which, if they have no record of their own.
    pub fn tells_files(&self) -> bool {
        self.file.is_some()
    }

    /// Whether displacements of views are recorded, if they are wanted.
    pub(crate) fn tells_views(&self) -> bool {
        self.view.is_some()
    }

    /// Whether probes that have found a message say which.
    pub fn tells_probed_messages(&self) -> bool {
        self.source.is_some() && self.tag.is_some() && self.communicator.is_some()
    }

    /// Reads the attributes of an event.
    #[cold]
    pub(super) fn read(&self, attributes: Attributes<'_>, mappings: &Mappings) -> Told {
        let missing = self.gaps.map(|gaps| gaps.read(attributes, mappings)).unwrap_or_default();
        let (mut source, mut tag, mut communicator) = (None, None, None);
        let (mut neighbors, mut persistent, mut file, mut partitioned) = ([None; 2], None, None, 0);
        let (mut offset, mut view) = (None, None);
        for attribute in attributes {
            let known = Some(u64::from(mappings.global(MappingType::Attribute, attribute.attribute)));
            let value = low(attribute.value.bits);
            if known == self.source {
                source = Some(value);
            } else if known == self.tag {
                tag = Some(value);
            } else if known == self.communicator {
                communicator = Some(value);
            } else if known == self.persistent {
                persistent = Some(value);
            } else if known == self.partitioned {
                partitioned = value;
            } else if known == self.offset {
                offset = Some(attribute.value.bits);
            } else if known == self.view {
                view = Some(attribute.value.bits);
            } else if known == self.file {
                file = Some(mappings.global(MappingType::IoHandle, value));
            } else if let Some(at) = self.neighbors.iter().position(|&attribute| attribute == known) {
                neighbors[at] = Some(mappings.global(MappingType::Group, value));
            }
        }
        let found = |((source, tag), communicator)| ProbedMessage { source, tag, communicator };
        Told {
            missing,
            probed: source.zip(tag).zip(communicator).map(found),
            neighbors: neighbors[0].zip(neighbors[1]).map(|(sources, destinations)| [sources, destinations]),
            persistent,
            file,
            partitioned,
            offset,
            view,
        }
    }
}

/// Attributes of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Told {
    /// On missing operations.
    pub(super) missing: MissingOperations,
    /// The message that a probe has found.
    pub(super) probed: Option<ProbedMessage>,
    /// References of the groups of neighbours that data comes from, and goes to.
    pub(super) neighbors: Option<[u32; 2]>,
    /// The number of a persistent operation on its communicator.
    pub(super) persistent: Option<u32>,
    /// The reference of a handle of a file.
    pub(super) file: Option<u32>,
    /// The number of the pair of requests of a partitioned message; 0 for others.
    pub(super) partitioned: u32,
    /// Where a transfer begins, in etypes of the view.
    pub(super) offset: Option<u64>,
    /// The displacement of a view, in bytes.
    pub(super) view: Option<u64>,
}

/// A message that a probe has found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ProbedMessage {
    /// Rank of its sender in the communicator.
    pub(super) source: u32,
    pub(super) tag: u32,
    /// The communicator: as the location numbers it, and once that is resolved its position in the definitions.
    pub(super) communicator: u32,
}
