//! The files of a process under recording: the contract between the recorder, which is inside the program,
//! and the launcher, which makes an OTF2 archive of them afterwards, whether the program ended or died.
//!
//! An experiment directory under recording:
//!
//! | file | what | written |
//! |---|---|---|
//! | `traces/<location>.evt` | full chunks of OTF2 events, see [`mod@buffer`] | appended by its thread, a chunk at a time |
//! | `recording/<location>.buffer` | the chunk that is being filled, see [`mod@buffer`] | mapped by its thread |
//! | `recording/<location>.paths` | call paths, numbered as in the events, see [`mod@paths`] | mapped by its thread |
//! | `recording/<location>.python` | Python functions that call paths refer to, see [`mod@python`] | mapped by its thread |
//! | `recording/<location>.profile` | instead of events: counts per call path, see [`mod@profile`] | mapped by its thread |
//! | `recording/<rank>.<number>.iterations` | when iterations of a loop began, see [`mod@iterations`] | a mapped file for
//! each loop of which some are to be recorded |
//! | `recording/<rank>.journal` | everything else as lines of JSON, see [`journal::JournalRecord`] | appended
//! by the process |
//!
//! All of it is readable at any moment: a process that is killed leaves whatever it has recorded. When the
//! archive is complete (its anchor file comes last), `recording/` is removed. A program that is profiled has
//! no events, and its `recording/` becomes `profile.cubex`.
//!
//! The crate also holds the tables of all MPI functions, [`mod@functions`], of [`mod@file_functions`], of constructs of OpenMP, [`mod@openmp`],
//! of [`mod@attributes`], of [`mod@counters`], meters of [`mod@energy`], the class of metrics of [`mod@off_cpu`], and what is known of [`mod@scorep`], and reads filter files, [`mod@filter`], and the system's list of mounted
//! file systems, [`mod@mounts`].

#![deny(clippy::undocumented_unsafe_blocks)]

pub mod attributes;
pub mod buffer;
pub mod counters;
pub mod energy;
pub mod file_functions;
pub mod filter;
pub mod functions;
pub mod iterations;
pub mod journal;
pub mod layout;
pub mod mounts;
pub mod off_cpu;
pub mod openmp;
pub mod paths;
pub mod profile;
pub mod python;
pub mod scorep;
pub mod settings;
