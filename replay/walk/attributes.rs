//! Attributes of events for what OTF2 has no fields for ([`model::attributes`]), as far as the walk uses them.

use model::{Definitions, LocationType, accelerators, attributes};
use otf2::{Attributes, MappingType, Mappings, ValueType};

use super::file_attributes::{FileAttributes, KnownFileAttributes};
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
    /// The handle of the file of a call, by either name.
    files: [Option<u64>; 2],
    partitioned: Option<u64>,
    /// The stream of an accelerator, and the event, of a call.
    offload: [Option<u64>; 2],
    /// Whether those are all.
    tells_streams_only: bool,
    /// Those of file access; `None` unless file I/O is looked at.
    access: Option<KnownFileAttributes>,
}

/// The reference of the attribute of this name, if a trace defines it.
pub(super) fn reference(definitions: &Definitions, name: &str) -> Option<u64> {
    let names = &definitions.attributes;
    Some(names.reference(names.iter().position(|known| known == name)?))
}

impl KnownAttributes {
    /// Finds those that a trace defines; `None` if it has none of them. Those of file access count only if they are wanted: few
    /// other events have attributes in the traces that have these.
    pub fn find(definitions: &Definitions, wants_files: bool) -> Option<KnownAttributes> {
        let find = |name| reference(definitions, name);
        let has_streams =
            definitions.locations.iter().any(|location| location.kind == LocationType::ACCELERATOR_STREAM);
        let mut known = KnownAttributes {
            gaps: GapAttributes::find(definitions),
            source: find(attributes::PROBE_SOURCE),
            tag: find(attributes::PROBE_TAG),
            communicator: find(attributes::PROBE_COMM),
            neighbors: [find(attributes::NEIGHBORS_IN), find(attributes::NEIGHBORS_OUT)],
            persistent: find(attributes::PERSISTENT_OPERATION),
            files: [attributes::FILE, attributes::HANDLE].map(find),
            partitioned: find(attributes::PARTITIONED),
            offload: [accelerators::STREAM, accelerators::EVENT]
                .map(|name| find(name).filter(|_| has_streams)),
            tells_streams_only: false,
            access: wants_files.then(|| KnownFileAttributes::find(definitions)).flatten(),
        };
        let tells_others = known.gaps.is_some()
            || known.tells_probed_messages()
            || known.tells_neighbors()
            || known.tells_persistent_operations()
            || known.tells_files()
            || known.partitioned.is_some()
            || known.access.is_some();
        let tells_streams = known.offload.iter().any(Option::is_some);
        known.tells_streams_only = tells_streams && !tells_others;
        (tells_streams || tells_others).then_some(known)
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
        self.files.iter().any(Option::is_some)
    }

    /// Whether displacements of views are recorded, if they are wanted.
    pub(crate) fn tells_views(&self) -> bool {
        self.access.is_some_and(|known| known.tells_views())
    }

    /// Whether an operation of ISO C says for how many calls it stands, so that it is one of those that reach the system.
    pub(crate) fn tells_calls_of_streams(&self) -> bool {
        self.access.is_some_and(|known| known.tells_calls_of_streams())
    }

    /// Whether probes that have found a message say which.
    pub fn tells_probed_messages(&self) -> bool {
        self.source.is_some() && self.tag.is_some() && self.communicator.is_some()
    }

    /// Whether they tell of streams of accelerators and their events, and of nothing else.
    pub(super) fn tells_streams_only(&self) -> bool {
        self.tells_streams_only
    }

    /// Reads the stream of an accelerator and the event that an event names.
    pub(super) fn read_streams(&self, attributes: Attributes<'_>, mappings: &Mappings) -> [Option<u64>; 2] {
        let mut told = [None; 2];
        for attribute in attributes {
            let reference = Some(u64::from(mappings.global(MappingType::Attribute, attribute.attribute)));
            // References of locations are global.
            for (known, told) in self.offload.iter().zip(&mut told) {
                *told = if *known == reference { Some(attribute.value.bits) } else { *told };
            }
        }
        told
    }

    /// Reads those attributes of an event that tell of file access; returns whether there are others.
    pub(super) fn read_access(
        &self,
        attributes: Attributes<'_>,
        mappings: &Mappings,
        told: &mut FileAttributes,
    ) -> bool {
        let Some(files) = &self.access else { return true };
        let mut has_others = false;
        for attribute in attributes {
            let reference = mappings.global(MappingType::Attribute, attribute.attribute).into();
            has_others |= !files.read(told, reference, attribute.value, mappings);
        }
        has_others
    }

    /// Reads the attributes of an event, but for those that tell of file access, which have told this.
    #[cold]
    pub(super) fn read(
        &self,
        attributes: Attributes<'_>,
        mappings: &Mappings,
        access: FileAttributes,
    ) -> Told {
        let missing = self.gaps.map(|gaps| gaps.read(attributes, mappings)).unwrap_or_default();
        let (mut source, mut tag, mut communicator) = (None, None, None);
        let (mut neighbors, mut persistent, mut file, mut partitioned) = ([None; 2], None, None, 0);
        let (mut stream, mut event) = (None, None);
        for attribute in attributes {
            let reference = u64::from(mappings.global(MappingType::Attribute, attribute.attribute));
            let known = Some(reference);
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
            } else if known == self.offload[0] {
                // References of locations are global.
                stream = Some(attribute.value.bits);
            } else if known == self.offload[1] {
                event = Some(attribute.value.bits);
            } else if self.files.contains(&known) && attribute.value.kind == ValueType::IO_HANDLE {
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
            stream,
            event,
            access,
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
    /// The reference of the location of a stream of an accelerator.
    pub(super) stream: Option<u64>,
    /// The number of an event of an accelerator.
    pub(super) event: Option<u64>,
    /// On file access.
    pub(super) access: FileAttributes,
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
