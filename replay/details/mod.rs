//! Details of a report: when, between whom and through whom waiting came about, in bounded tables.
//!
//! `docs/details.md` describes the tables. Each file here makes some of them, in three steps: what a worker's processes
//! have is collected while operations are still there, brought together, and put into tables at worker 0. Rows, orders
//! and limits follow from the trace alone, so the bytes are the same for any workers.

mod chains;
pub mod critical;
pub mod instances;

use details::Table;
use std::mem::take;

use details::manifest::{Class, Complete, Level};

use crate::causes::Answers;
use crate::error::Error;
use crate::exchange::Exchange;
use crate::matching::Matches;
use crate::report_paths::ReportPaths;
use crate::tools::Tools;
use crate::trace::Trace;
use crate::wait_states::WaitingMessages;
use crate::walk::Walked;
use crate::wire::Half;
use instances::{Selected, SelectedWait, SevereWaits};

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
    /// What root causes know about them; `None` without root causes.
    pub answers: Option<Answers>,
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

    /// The waits that root causes are asked about.
    pub fn asked(&self) -> &[SelectedWait] {
        &self.selected.waits
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
        let has_causes = self.answers.is_some();
        let Answers { chains, origins, direct, critical } = self.answers.unwrap_or_default();
        let critical = if has_causes { critical.of_all(exchange)? } else { critical };
        if exchange.worker() > 0 {
            return Ok(details);
        }
        let origins: Vec<u32> = origins.into_iter().map(Half::to_half).collect();
        let found = instances::Found { origins: &origins, direct: &direct, windows: &[] };
        details.tables.push(instances::table(tools.metrics, &self.selected, found));
        if has_causes {
            details.tables.push(chains::table(&self.selected.waits, &chains));
            details.tables.push(critical::table(&critical));
        }
        Ok(details)
    }
}
