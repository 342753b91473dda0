//! Reads traces of Paraver, and writes them as OTF2 archives, which the analyzer reads as those of any recorder.
//!
//! ```text
//! FILE.prv ─► header, records ─► steps of threads, ─► places of messages ─► events of each ─► traces.otf2
//! FILE.pcf ─► labels ────────────► messages of tasks    in their calls       location
//! FILE.row ─► names                (a temporary file)
//! ```
//!
//! | file | content |
//! |---|---|
//! | `text`, `fields`, `header`, `records`, `pcf`, `row` | the format of Paraver |
//! | `events`, `stack`, `regions`, `contexts`, `collectives`, `counters` | what Extrae's types of events mean |
//! | `spool`, `steps`, `messages` | what is kept until a thread is written |
//! | `placing`, `location`, `definitions` | the archive |
//! | `trace`, `archive`, `directory` | all of it, in order |
//!
//! Memory does not grow with the records, but for the messages of one task at a time. Nothing that files say is trusted.
#![warn(clippy::unwrap_used, clippy::indexing_slicing, clippy::cast_possible_truncation)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::indexing_slicing))]

mod archive;
mod collectives;
mod contexts;
mod counters;
mod definitions;
mod error;
mod events;
mod fields;
mod header;
mod location;
mod messages;
mod pcf;
mod placing;
mod records;
mod regions;
mod remarks;
mod row;
mod spool;
mod stack;
mod steps;
mod text;
mod trace;

pub use archive::{Imported, Sources, import};
pub use error::Error;
pub use remarks::Remarks;
