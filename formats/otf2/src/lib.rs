//! Reads and writes OTF2 trace archives, without the OTF2 library.
//!
//! An archive is an anchor file, a file of global definitions, and per location (thread, stream) a file of
//! events and one of local definitions, which say how the location's references and times become global.
//! `FORMAT.md` beside this crate describes the bytes.
//!
//! | layer | types |
//! |---|---|
//! | archive | [`Archive`], [`Anchor`], [`ArchiveWriter`] |
//! | file | [`FileBytes`], [`EventCursor`], [`DefinitionCursor`] |
//! | | [`EventWriter`], [`LocalDefinitionWriter`] |
//! | record | [`Event`], [`Definition`], and their parts: [`List`], [`Attribute`], [`Value`], … |
//! | from local to global | [`LocalDefinitions`]: [`Mappings`] and [`ClockCorrection`] |
//!
//! Guarantees:
//!
//! * Bytes are not trusted: no input makes a reader panic, loop endlessly, or allocate more than a small
//!   multiple of the file's size. [`Error`] has file, byte, record, what was found and what was expected.
//! * Events are decoded in place: a cursor copies nothing and allocates nothing. Only the files of archives in SION
//!   containers are put together in memory when they are opened.
//! * Records and fields of later versions of the format are skipped; those that older versions lack have the
//!   defaults of the format.
//! * A file that is decoded and encoded again is the same byte by byte, if OTF2 2.0 or later wrote it.
//!
//! Deliberately absent: merging the events of several locations, markers, snapshots, thumbnails, compressed
//! chunks (refused with a message), writing SION containers, and any interpretation of events.
//!
//! # Writing and reading
//!
//! ```
//! use model::{LocationGroupType, LocationType, Paradigm, RegionRole};
//! use otf2::{Anchor, Archive, ArchiveWriter, Attributes, Definition, Event, UNDEFINED};
//!
//! # let directory = std::env::temp_dir().join(format!("otf2-example-{}", std::process::id()));
//! let mut archive = ArchiveWriter::create(directory.join("traces.otf2"), Anchor::default())?;
//! archive.define(Definition::ClockProperties {
//!     timer_resolution: 1_000_000_000,
//!     global_offset: 1000,
//!     trace_length: 500,
//!     realtime_timestamp: u64::MAX,
//! })?;
//! archive.define(Definition::String { reference: 0, string: b"main" })?;
//! archive.define(Definition::LocationGroup {
//!     reference: 0,
//!     name: 0,
//!     location_group_type: LocationGroupType::PROCESS,
//!     system_tree_parent: UNDEFINED,
//!     creating_location_group: UNDEFINED,
//! })?;
//! archive.define(Definition::Location {
//!     reference: 0,
//!     name: 0,
//!     location_type: LocationType::CPU_THREAD,
//!     number_of_events: 2,
//!     location_group: 0,
//! })?;
//! archive.define(Definition::Region {
//!     reference: 0,
//!     name: 0,
//!     description: UNDEFINED,
//!     source_file: UNDEFINED,
//!     begin_line_number: 0,
//!     end_line_number: 0,
//!     canonical_name: 0,
//!     region_role: RegionRole::FUNCTION,
//!     paradigm: Paradigm::USER,
//!     region_flags: 0,
//! })?;
//! let mut events = archive.events(0)?;
//! events.write(1000, Event::Enter { region: 0 }, Attributes::EMPTY)?;
//! events.write(1500, Event::Leave { region: 0 }, Attributes::EMPTY)?;
//! events.finish()?;
//! archive.finish()?;
//!
//! let archive = Archive::open(&directory)?;
//! let definitions = archive.definitions()?;
//! for position in 0..definitions.locations.len() {
//!     let location = definitions.locations.reference(position);
//!     let mut local = archive.local_definitions(location)?;
//!     let file = archive.event_file(location)?;
//!     let mut events = archive.events(&file);
//!     while let Some(record) = events.next()? {
//!         let time = local.clock.correct(record.time);
//!         if let Event::Enter { region } = record.event.map(&local.mappings) {
//!             let region = definitions.regions.find(region.into());
//!             println!("{time} enter {}", region.map_or("?", |region| &region.name));
//!             # assert_eq!((time, region.unwrap().name.as_str()), (1000, "main"));
//!         }
//!     }
//! }
//! # std::fs::remove_dir_all(directory).unwrap();
//! # Ok::<(), otf2::Error>(())
//! ```
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
mod mappings;
mod metric_values;
mod record;
mod region_events;
mod sion;
mod value;
mod writer;

pub use anchor::{Anchor, CHUNK_SIZES};
pub use archive::Archive;
pub use bytes::ByteOrder;
pub use clock::{ClockCorrection, ClockOffset};
pub use cursor::{EventCursor, EventHead, EventRecord};
pub use definition::Definition;
pub use definition_cursor::{DefinitionCursor, DefinitionRecord};
pub use error::Error;
pub use event::Event;
pub use field::{ROOT_NONE, ROOT_SELF, ROOT_THIS_GROUP, Timestamp, UNDEFINED};
pub use files::{FileBytes, Io};
pub use list::{List, ListIter};
pub use local::LocalDefinitions;
pub use mappings::{IdMap, IdPair, MappingType, Mappings};
pub use region_events::{RegionEvent, RegionEvents};
pub use value::{Attribute, Attributes, IoParadigmProperty, MetricValue, Value, ValueType};
pub use writer::{ArchiveWriter, EventWriter, LocalDefinitionWriter};
