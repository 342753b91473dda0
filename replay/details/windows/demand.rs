//! Windows that users ask for when there is a report: the calls and messages of any locations in any part of the run.
//!
//! Rows and limits are those of the windows that a report has. The files of the locations' processes are read from their begin
//! each time, as there is no index.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use cubex::Cube;
use details::Table;
use details::manifest::Manifest;
use model::Ticks;
use otf2::Archive;

use super::demand_paths::PathsOfReport;
use super::plan::{Plan, Window};
use super::read::read;
use super::rows::Rows;
use super::table::tables_of_events;
use crate::assignment::Owners;
use crate::details::instances::NO_NUMBER;
use crate::error::Error;
use crate::exchange::Solo;
use crate::formulas::Formulas;
use crate::memory::Memory;
use crate::metrics::Metrics;
use crate::options::Semantics;
use crate::shared::Shared;
use crate::tools::Tools;
use crate::trace::Trace;

/// Locations of a window, at most.
pub const MOST_LOCATIONS: usize = 64;

/// The trace that a report is of, open for windows.
#[derive(Debug)]
pub struct TraceWindows {
    archive: Archive,
    trace: Trace,
    metrics: Metrics,
    formulas: Formulas,
    owners: Owners,
    paths: PathsOfReport,
}

impl TraceWindows {
    /// Opens the trace in an experiment directory and compares it with its report.
    ///
    /// # Errors
    /// If it cannot be read, if the report is of another trace, and if the report has corrected times, which are not in the
    /// trace.
    pub fn open(experiment: &Path, report: &Cube, manifest: &Manifest) -> Result<TraceWindows, Error> {
        let archive = Archive::open(experiment)?;
        let wrong = |why: &str| Error::new(format!("{}: {why}", archive.anchor_path().display()));
        let attribute = |key: &str| report.attributes.iter().find(|it| it.key == key);
        if attribute("Replay::Clock correction").is_some() {
            return Err(wrong(
                "no windows: times of the report are corrected, and those of the trace are not",
            ));
        }
        let semantics = Semantics::named(&manifest.semantics).unwrap_or_default();
        let definitions = archive.definition_records(&archive.definition_file()?).resolve()?;
        let trace = Trace::new(definitions, semantics);
        let trace = trace.map_err(|error| wrong(&error.to_string()))?;
        let clock = &trace.definitions.clock;
        let is_same = trace.locations.len() == report.locations.len()
            && trace.length() == manifest.end
            && clock.resolution == manifest.ticks_per_second;
        if !is_same {
            return Err(wrong("the report is of another trace: replay-analyze writes one of this trace"));
        }
        let metrics = Metrics::new(true, semantics);
        let formulas = Formulas::new(&trace, &metrics);
        let owners = Owners::new(&vec![0..trace.processes.len(); 1]);
        let paths = PathsOfReport::new(report);
        Ok(TraceWindows { archive, trace, metrics, formulas, owners, paths })
    }

    /// Reads the calls and messages of some locations in a time, in ticks since the begin of the trace. Returns the tables
    /// `windows`, `window_calls` and `window_messages` with one window, each with what a limit has left out of it, in words.
    ///
    /// # Errors
    /// If there are no such locations, too many or none, if the time is empty, if files cannot be read, or memory gets short.
    pub fn read(&self, time: Range<Ticks>, locations: &[u32]) -> Result<[(Table, Option<String>); 3], Error> {
        let count = self.trace.locations.len();
        if locations.is_empty() || locations.len() > MOST_LOCATIONS {
            return Err(Error::new(format!("a window has 1 to {MOST_LOCATIONS} locations")));
        }
        if let Some(unknown) = locations.iter().find(|&&location| location as usize >= count) {
            return Err(Error::new(format!("no location {unknown}: the report has {count}")));
        }
        if time.is_empty() {
            return Err(Error::new("the window ends before it begins"));
        }
        let mut distinct: Vec<u32> = Vec::with_capacity(locations.len());
        locations.iter().for_each(|&it| {
            if !distinct.contains(&it) {
                distinct.push(it)
            }
        });
        let window =
            Window { instance: NO_NUMBER as usize, begin: time.start, end: time.end, locations: distinct };
        let plan = Plan { windows: vec![window], ..Plan::default() };
        let (shared, memory) = (Shared::new(1), Memory::of_this_process(1));
        let tools = Tools {
            trace: &self.trace,
            metrics: &self.metrics,
            formulas: &self.formulas,
            owners: &self.owners,
            shared: &shared,
            memory: &memory,
            together: 0,
            has_details: true,
        };
        let numbers = |process: &_| Cow::Owned(self.paths.numbers(&self.trace, process));
        let mut rows: Rows = read(&self.archive, &tools, numbers, &plan, &mut Solo)?;
        rows.finish();
        Ok(tables_of_events(&plan, &rows))
    }
}
