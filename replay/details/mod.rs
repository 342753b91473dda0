//! Details of a report: when, between whom and through whom waiting came about, in bounded tables.
//!
//! `docs/details.md` describes the tables. Each file here makes some of them, in three steps: what a worker's processes
//! have is collected while operations are still there, brought together, and put into tables at worker 0. Rows, orders
//! and limits follow from the trace alone, so the bytes are the same for any workers.

mod classes;
mod communication;
mod flow;
mod grid;
mod idle;
mod rows;
mod timeline;

use details::Table;
use details::manifest::{Class, Complete, Level};

pub use classes::{ClassId, Classes, THREADS, WaitClass};
pub use idle::LocationTimeline;
pub use timeline::{Bins, Timeline};

use crate::error::Error;
use crate::exchange::Exchange;
use crate::formulas::Formulas;
use crate::matching::{Latecomers, Matches};
use crate::metrics::Metrics;
use crate::report_paths::ReportPaths;
use crate::tools::Tools;
use crate::trace::Trace;
use crate::wait_states::WaitingMessages;
use crate::walk::Walked;
use communication::Communication;
use flow::FlowTable;
use grid::Grid;

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

/// How timelines are made.
#[derive(Clone, Debug)]
pub struct Scheme {
    /// The classes of time.
    pub classes: Classes,
    /// The fine bins.
    pub bins: Bins,
}

impl Scheme {
    /// Determines classes and bins for a trace.
    pub fn new(trace: &Trace, metrics: &Metrics, formulas: &Formulas) -> Scheme {
        Scheme { classes: Classes::new(trace, metrics, formulas), bins: Bins::new(trace) }
    }
}

/// What a worker has collected from its processes.
#[derive(Debug)]
pub struct DetailsCollector<'s> {
    grid: Grid<'s>,
    flow: FlowTable,
    communication: Communication,
}

impl DetailsCollector<'_> {
    /// Starts without anything.
    pub fn new<'s>(trace: &Trace, scheme: &'s Scheme) -> DetailsCollector<'s> {
        DetailsCollector {
            grid: Grid::new(trace, scheme),
            flow: FlowTable::new(scheme.bins),
            communication: Communication::default(),
        }
    }

    /// Where matching notes who came last to collective operations.
    pub fn latecomers(&mut self) -> &mut Latecomers {
        &mut self.communication.latecomers
    }

    /// Takes the timelines of a process that was walked; processes come in their order.
    pub fn take_walked(&mut self, walked: &mut Walked) {
        self.grid.take_walked(&walked.process, &mut walked.results);
    }

    /// Collects from a process, once its wait states are known.
    pub fn collect(
        &mut self,
        tools: &Tools<'_>,
        walked: &mut Walked,
        matches: &Matches,
        waiting: &WaitingMessages,
    ) {
        self.communication.collect(tools, walked, matches, waiting);
        self.flow.add(tools.trace, walked.process.number, &walked.operations, matches);
        self.grid.add(tools.trace, tools.metrics, &walked.process, &mut walked.results);
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
        let (grid, classes, levels) = self.grid.of_all(exchange)?;
        let flow = self.flow.of_all(exchange)?;
        let mut tables: Vec<_> = [grid, flow].map(|table| (table, Complete::Is(true))).into();
        tables.extend(self.communication.of_all(tools, paths, exchange)?);
        Ok(Details { tables, classes, levels })
    }
}
