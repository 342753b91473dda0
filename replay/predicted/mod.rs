//! Predicted runs: the archive as it would be under other conditions (what-if 3.3).
//!
//! ```text
//!     graph ─► forward ─► times of marks ─┐
//!     event files ─► second walk ─► pieces of time ─► times of records ─► copy ─► files
//! ```
//!
//! All records stay, with other times; these are global ones, so that no location has a clock of its own.

mod archive;
mod copy;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use new_directory::{failed, part_of};

use crate::causes::ComparedWork;
use crate::copied_archive::of_locations;
use crate::error::Error;
use crate::exchange::{Batch, Exchange, gather, share};
use crate::options::Options;
use crate::report::printable;
use crate::short::SourceArchive;
use crate::tools::Tools;
use crate::walk::{self, Notes, Positions, WalkedProcess};
use crate::what_if::{Predictions, Scenario, TimedGraph, WhatIf};
use crate::wire;
use crate::wire::Wire;

use archive::Files;
use copy::Copied;

/// The option that asks for it.
pub const OPTION: &str = "--predict";

/// Property of an archive that is no measured run: the scenario that it is predicted for.
const PROPERTY: &str = "REPLAY::WHAT_IF";

/// Bytes of pieces of time and of records for each byte of an event file, while they are copied.
const OF_EVENTS: u64 = 8;

/// What is asked for: the scenario, the directory, and whether the report is that of the predicted run.
///
/// # Errors
/// If there is not exactly one scenario, or times would not be those of the records.
pub fn asked(options: &Options) -> Result<Option<(Scenario, PathBuf, bool)>, Error> {
    let Some(directory) = &options.predict else { return Ok(None) };
    if options.clock_correction {
        return Err(Error::new("--predict moves times as they were recorded: leave out --clock-correction"));
    }
    if options.short.is_some() || !options.focus.is_empty() {
        return Err(Error::new("--predict writes all of the run: leave out --short and --focus"));
    }
    let scenario = options.what_if.as_ref().and_then(WhatIf::only).ok_or_else(|| {
        Error::new(
            "--predict writes the run in one scenario: give one with --what-if, such as --what-if=ideal",
        )
    })?;
    if options.what_if.as_ref().is_some_and(WhatIf::reorders) {
        return Err(Error::new(format!(
            "--predict writes the events of the run with other times: in {scenario} they are others, or in another order"
        )));
    }
    Ok(Some((scenario.clone(), directory.clone(), options.reports_predicted())))
}

/// Checks that there is a run to write.
///
/// # Errors
/// If processes would wait for each other.
pub(crate) fn check(predictions: &Predictions) -> Result<(), Error> {
    match predictions.list.iter().find(|prediction| prediction.deadlocks) {
        Some(prediction) => Err(Error::new(format!(
            "--predict: in {} processes wait for each other for ever, so that there is no run to write",
            prediction.scenario
        ))),
        None => Ok(()),
    }
}

/// The predicted run that was written, for the summary.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PredictedRun {
    /// Its directory.
    pub directory: PathBuf,
    /// How many records have another time.
    pub moved: u64,
}

impl fmt::Display for PredictedRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let directory = printable(&self.directory.display().to_string());
        writeln!(f, "Predicted run: {directory}, {} records have other times", self.moved)
    }
}

/// The scenario that an archive is predicted for; `None` of a measured run.
pub fn scenario_of(archive: &otf2::Archive) -> Option<String> {
    let properties = &archive.anchor().properties;
    properties.iter().find(|(name, _)| name == PROPERTY).map(|(_, scenario)| scenario.clone())
}

/// Writes the archive under the name that it has until it is complete. Returns what is said of it, at worker 0.
///
/// # Errors
/// If a file cannot be read or written, memory is short, or a worker failed.
pub fn write(
    tools: &Tools<'_>,
    directory: &Path,
    (timed, scenario, compared): (&TimedGraph, &Scenario, &[ComparedWork]),
    processes: &[WalkedProcess],
    source: SourceArchive<'_>,
    exchange: &mut dyn Exchange,
) -> Result<Option<PredictedRun>, Error> {
    let bytes = processes.iter().map(|process| source.bytes[process.number]).max().unwrap_or(0);
    tools.memory.check(timed.bytes_of_times().saturating_add(bytes.saturating_mul(OF_EVENTS)))?;
    let replayed = timed.replayed(tools, processes, (scenario, compared), exchange)?;
    let part = part_of(directory);
    let files = Files { source: source.archive, trace: tools.trace, directory: &part };
    if exchange.worker() == 0 {
        let path = of_locations(files.source, files.directory);
        fs::create_dir(&path).map_err(|cause| failed(&path, &cause, OPTION))?;
    }
    share(exchange, Batch::new())?;
    let notes = Notes { has_marks: true, ..Notes::of(Positions::Pieces) };
    let first = processes.first().map_or(0, |process| process.range().start);
    let mut copied = Copied::default();
    for process in processes {
        let opened = walk::open(source.archive, tools.trace, process.number)?;
        let walked =
            walk::walk(source.archive, tools.trace, tools.metrics, &opened, notes, &[], tools.memory)?;
        drop(opened);
        for (thread, location) in process.range().enumerate() {
            let times =
                replayed.times(location - first, &walked.notes[thread], &walked.record_pieces[thread]);
            copied.merge(files.copy(&tools.trace.locations[location], times)?);
        }
    }
    let mut told = Batch::new();
    copied.put(&mut told);
    let told = gather(exchange, told)?;
    if exchange.worker() != 0 {
        return Ok(None);
    }
    let mut all = Copied::default();
    for batch in &told {
        all.merge(wire::one(batch));
    }
    files.finish(&all, scenario)?;
    Ok(Some(PredictedRun { directory: directory.to_owned(), moved: all.moved }))
}
