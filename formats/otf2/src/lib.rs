//! OTF2 trace archives.
#![warn(clippy::unwrap_used, clippy::indexing_slicing, clippy::cast_possible_truncation)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::indexing_slicing))]

mod anchor;
mod archive;
mod bytes;
mod chunk;
mod clock;
mod cursor;
mod definition;
mod definition_cursor;
mod definitions;
mod error;
mod event;
mod field;
mod legacy;
mod list;
mod local;
mod map;
mod mappings;
mod record;
mod value;
mod writer;

pub use anchor::{Anchor, CHUNK_SIZES};
pub use archive::Archive;
pub use bytes::ByteOrder;
pub use clock::{ClockCorrection, ClockOffset};
pub use cursor::{EventCursor, EventRecord};
pub use definition::Definition;
pub use definition_cursor::{DefinitionCursor, DefinitionRecord};
pub use error::Error;
pub use event::Event;
pub use field::{ROOT_NONE, ROOT_SELF, ROOT_THIS_GROUP, Timestamp, UNDEFINED};
pub use list::{Elems, List};
pub use local::LocalDefinitions;
pub use map::FileBytes;
pub use mappings::{IdMap, IdPair, MappingType, Mappings};
pub use value::{Attribute, Attributes, IoParadigmProperty, MetricValue, Value, ValueType};
pub use writer::{ArchiveWriter, EventWriter, LocalDefinitionWriter};
