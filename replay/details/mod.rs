//! Details of a report: when, between whom and through whom waiting came about, in bounded tables.
//!
//! `docs/details.md` describes the tables. Each file here makes some of them, in three steps: what a worker's processes
//! have is collected while operations are still there, brought together, and put into tables at worker 0. Rows, orders
//! and limits follow from the trace alone, so the bytes are the same for any workers.

pub mod instances;

use details::Table;
use std::mem::take;

use details::manifest::{Class, Complete, Level};

use crate::error::Error;
use crate::exchange::Exchange;
use crate::matching::Matches;
use crate::report_paths::ReportPaths;
use crate::tools::Tools;
use crate::trace::Trace;
use crate::wait_states::WaitingMessages;
use crate::walk::Walked;
use instances::{Selected, SevereWaits};

/// The tables of a report, at worker 0, and what the manifest says of them.
#[derive(Clone, Debug, Default)]
pub struct Details {
    /// The tables, and whether each has all there is.
    pub tables: Vec<(Table, Complete)>,
    /// Classes of time.
    pub classes: Vec<Class>,
    /// Levels of the table `grid`.
    pub levels: Vec<Level>,
}

/// What a worker has collected from its processes.
#[derive(Debug, Default)]
pub struct DetailsCollector {
    /// The severest waits so far.
    pub severe: SevereWaits,
    /// Those of the table, once they are selected.
    selected: Selected,
}

impl DetailsCollector {
    /// Collects from the operations of a process, once its wait states are known.
    pub fn collect(&mut self, trace: &Trace, walked: &Walked, matches: &Matches, waiting: &WaitingMessages) {
        let _ = (trace, walked, matches, waiting);
    }

    /// Selects the waits of the table `instances`, about so many: root causes are asked about them.
    ///
    /// # Errors
    /// If a worker failed.
    pub fn select(
        &mut self,
        tools: &Tools<'_>,
        paths: &ReportPaths,
        rows: usize,
        exchange: &mut dyn Exchange,
    ) -> Result<(), Error> {
        self.selected = take(&mut self.severe).select(tools, paths, rows, exchange)?;
        Ok(())
    }

    /// Brings together what all workers have collected; the tables are at worker 0.
    ///
    /// # Errors
    /// If a worker failed.
    pub fn of_all(
        self,
        tools: &Tools<'_>,
        paths: &ReportPaths,
        exchange: &mut dyn Exchange,
    ) -> Result<Details, Error> {
        let _ = paths;
        let mut details = Details::default();
        if exchange.worker() == 0 {
            details.tables.push(instances::table(tools.metrics, &self.selected, instances::Found::default()));
        }
        Ok(details)
    }
}
