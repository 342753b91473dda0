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
//! ```
//! # use io_model::*;
//! # use std::collections::{BTreeMap, BTreeSet};
//! // A rank opens file 0 and writes twice.
//! let mut walk = Walk::new(0, Settings { gap: GAP, transfers: 0, small_bytes: 1 << 20, has_exact_streams: true });
//! walk.create(1, &Opening {
//!     file: 0, layer: Layer::Mpi, members: Some(1), append: false, size: None, direct: false, hints: None, has_views: true,
//!     is_nested: false,
//!     was_open: false,
//! });
//! let id = Id { location: 0, handle: 1, number: 0 };
//! for time in [0, 10] {
//!     walk.begin(id, &Begin {
//!         kind: Kind::Write, collective: false, non_blocking: false, pointer: Pointer::Individual, offset: None,
//!         requested: Some(4096), begin: time, tick: 0, epoch: 0, caller: Caller::default(),
//!     });
//!     walk.complete(id, time + 5, Some(4096));
//! }
//! let rank = walk.finish();
//!
//! // All ranks together.
//! let files = Files::new(vec!["out".to_owned()], &BTreeMap::from([(0, BTreeSet::from([0]))]));
//! let phases = phases(rank.simple, &files);
//! let model = Model::new(Parts { resolution: 1000, run: 20, phases, files, facts: rank.facts, ..Parts::default() });
//! assert_eq!(model.families[0].weight, 8192);
//! assert_eq!(model.ior[&1].lines, ["ior -a MPIIO -N 1 -b 8192 -t 4096 -s 1 -w -k -o FILE"]);
//! ```
//!
//! Deliberately absent: traces, MPI, waiting in collective I/O, and exchange between workers.

// Casts that may lose bits are written nowhere without saying why.
#![cfg_attr(
    not(test),
    deny(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)
)]

mod access;
mod beneath;
mod burst;
mod by_opening;
mod bytes;
mod calls;
mod contention;
mod datatype;
mod defects;
mod estimate;
mod facts;
mod family;
mod files;
mod finding;
mod grouping;
mod heat;
mod in_flight;
mod in_time;
mod inefficiency;
mod ior;
mod ior_json;
mod json;
mod look;
mod looked;
mod mode;
mod names;
mod numbers;
mod observed;
mod operation;
mod order;
mod origin;
mod outline;
mod owners;
mod phase;
mod picture;
mod pointer;
mod ranks;
mod records;
mod repetition;
mod script;
mod shared_pointer;
mod simple;
mod sizes;
mod stream;
mod systems;
#[cfg(test)]
mod tests;
mod thresholds;
mod time;
mod together;
mod transfer;
mod transfers;
mod tsv;
mod view;
mod walk;

pub use access::{Access, Kind, Layer, Pointer};
pub use beneath::{Beneath, Bottom, Requests};
pub use bytes::Reads;
pub use calls::{Call, Calls, Purpose};
pub use datatype::{BadType, Datatype, PIECES};
pub use defects::{AtCall, Defect, Sums};
pub use estimate::{Estimate, estimates, fastest, relative_error, transfer_time};
pub use facts::{AccessTotals, FileFacts};
pub use family::{Family, families};
pub use files::Files;
pub use finding::{Finding, Findings};
pub use grouping::Key;
pub use heat::{Grid, Heat};
pub use in_flight::InFlight;
pub use inefficiency::{Busiest, Flaw, Inefficiency};
pub use ior::{Command, commands};
pub use ior_json::read_ior;
pub use json::{FileEntry, Lines, Model, Parts, VERSION};
pub use looked::{Extent, FileTransfers, Looked, heat, look_at_transfers};
pub use mode::Mode;
pub use names::file_families;
pub use observed::Observed;
pub use operation::{Caller, Operation};
pub use origin::Origin;
pub use phase::{Phase, Position, about, phases};
pub use picture::picture;
pub use ranks::Ranges;
pub use records::{Begin, Id, Opening, Request, Settings, Walked, Whence};
pub use script::script;
pub use shared_pointer::{SharedStep, SharedSteps, ordered_offsets};
pub use simple::{Flushes, Lane, Manner, Simple, Steps};
pub use sizes::{BOUNDS, Bins, clusters};
pub use stream::{GAP, Stream};
pub use systems::{COLUMNS, Manners, Measured, Problem, read_systems, write_systems};
pub use thresholds::Thresholds;
pub use time::Spread;
pub use together::Together;
pub use transfers::Transfers;
pub use tsv::tsv;
pub use view::{Pieces, SetView, View};
pub use walk::Walk;
