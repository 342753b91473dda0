//! The report: from the severities of all workers to the file for viewers, and the summary for users.

mod accounts;
mod advice;
mod advice_table;
mod advised;
mod cube;
mod culprits;
mod efficiencies;
mod efficiency;
mod file_io;
mod file_waiting;
mod focus;
mod found;
mod index;
mod locations;
mod manifest;
mod masters;
pub(crate) mod names;
mod numbers;
mod ranges;
mod recorded;
mod remarks;
mod rows;
mod scaling;
mod send;
mod statistics;
mod structure;
mod summary;
mod survey;
mod target;
mod waiting;
mod what_if;
mod work_by_counters;
mod write;

pub use advised::AdviceSummary;
pub(crate) use cube::region;
pub use efficiencies::PhaseSummary;
pub use file_io::{IoModel, IoSummary};
pub use file_waiting::{CostlyFile, FileWaiting};
pub use focus::FocusSummary;
pub use found::{FoundIterations, Moment};
pub use recorded::{
    ComparedIterations, Extrapolated, ITERATIONS_TABLE, IterationColumns, IterationTimes, RecordedIterations,
    ShortProperties,
};
pub use scaling::ScalingSummary;
pub(crate) use structure::loop_place;
pub use structure::{Kind, MainLoop, StructureSummary, Unlike};
pub(crate) use summary::printable;
pub use summary::{Causes, Culprit, Summary, WaitState};
pub use target::{check_target, link, put_link_in_place, remove_statistics, target};
pub use what_if::{Gain, LatencySummary, WhatIfSummary};
pub use write::{Found, bytes_needed, write};
