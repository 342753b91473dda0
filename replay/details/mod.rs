//! Details of a report: when, between whom and through whom waiting came about, in bounded tables.
//!
//! `docs/details.md` describes the tables. Each file here makes some of them, in three steps: what a worker's processes
//! have is collected while operations are still there, brought together, and put into tables at worker 0. Rows, orders
//! and limits follow from the trace alone, so the bytes are the same for any workers.

mod communication;

use details::Table;
use details::manifest::{Class, Complete, Level};

use communication::Communication;

use crate::error::Error;
use crate::exchange::Exchange;
use crate::matching::{Latecomers, Matches};
use crate::report_paths::ReportPaths;
use crate::tools::Tools;
use crate::wait_states::WaitingMessages;
use crate::walk::Walked;

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
    communication: Communication,
}

impl DetailsCollector {
    /// Where matching notes who came last to collective operations.
    pub fn latecomers(&mut self) -> &mut Latecomers {
        &mut self.communication.latecomers
    }

    /// Collects from the operations of a process, once its wait states are known.
    pub fn collect(
        &mut self,
        tools: &Tools<'_>,
        walked: &Walked,
        matches: &Matches,
        waiting: &WaitingMessages,
    ) {
        self.communication.collect(tools, walked, matches, waiting);
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
        let mut details = Details::default();
        details.tables.extend(self.communication.of_all(tools, paths, exchange)?);
        Ok(details)
    }
}
