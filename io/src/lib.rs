//! The model of file I/O (io.md): operations of ranks on files become phases, which say where, how much and in which pattern a program
//! reads and writes, how long that took, how to reproduce it, and how long it would take elsewhere.
//!
//! Workers fold the operations of their ranks while they go through the records, with a [`Walk`] for each rank. What comes out,
//! [`Simple`] phases, are plain values that workers exchange; [`phases()`] makes phases of all those of a family of files, and
//! [`families()`] puts similar ones together. Integers are compared and sorted, so no order of workers shows.
//!
//! Sections named (io.md 4.4) are those of the specification of file I/O. Sizes and offsets are in bytes, times in ticks of the
//! trace's clock, unless something else is said. What is unknown is `None`, never 0.
//!
//! Deliberately absent: traces, MPI, waiting in collective I/O, and exchange between workers.

// Casts that may lose bits are written nowhere without saying why.
#![cfg_attr(
    not(test),
    deny(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)
)]

mod access;
mod burst;
mod bytes;
mod contention;
mod datatype;
mod estimate;
mod facts;
mod family;
mod files;
mod finding;
mod heat;
mod ior;
mod ior_json;
mod json;
mod mode;
mod names;
mod numbers;
mod operation;
mod origin;
mod phase;
mod picture;
mod pointer;
mod ranks;
mod records;
mod repetition;
mod script;
mod simple;
mod sizes;
mod stream;
mod systems;
#[cfg(test)]
mod tests;
mod time;
mod tsv;
mod view;
mod walk;

pub use access::{Access, Kind, Layer, Pointer};
pub use bytes::{Reads, Transfer, reads};
pub use contention::contended;
pub use datatype::{BadType, Datatype, PIECES};
pub use estimate::{Estimate, estimates, fastest, relative_error, transfer_time};
pub use facts::{AccessTotals, FileFacts};
pub use family::{Family, families};
pub use files::Files;
pub use finding::{Finding, Findings};
pub use heat::{Grid, Heat, heat};
pub use ior::{Command, commands};
pub use ior_json::read_ior;
pub use json::{FileEntry, Model, Parts, VERSION};
pub use mode::Mode;
pub use names::file_families;
pub use operation::Operation;
pub use origin::Origin;
pub use phase::{Key, Phase, Position, phases};
pub use picture::picture;
pub use pointer::ordered_offsets;
pub use ranks::Ranges;
pub use records::{Begin, Id, Opening, Settings, Walked, Whence};
pub use script::script;
pub use simple::{Flushes, Lane, Manner, Simple, Steps};
pub use sizes::{BOUNDS, Bins, clusters};
pub use stream::{GAP, Stream};
pub use systems::{COLUMNS, Manners, Measured, Problem, read_systems, write_systems};
pub use tsv::tsv;
pub use view::{SetView, View};
pub use walk::Walk;
