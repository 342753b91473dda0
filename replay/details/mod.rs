//! Details of a report: when, between whom and through whom waiting came about, in bounded tables.
//!
//! `docs/details.md` describes the tables. Each file here makes some of them, in three steps: what a worker's processes
//! have is collected while operations are still there, brought together, and put into tables at worker 0. Rows, orders
//! and limits follow from the trace alone, so the bytes are the same for any workers.

mod chains;
mod classes;
mod communication;
pub mod critical;
mod flow;
mod grid;
mod idle;
pub mod instances;
mod rows;
mod series;
mod structure;
mod timeline;
pub mod windows;

use std::borrow::Cow;
use std::mem::take;
use std::ops::Range;

use details::Table;
use details::manifest::{Class, Complete, Level, MainLoop};
use otf2::Archive;

pub use classes::{ClassId, Classes, THREADS, WaitClass};
pub use idle::LocationTimeline;
pub use timeline::{Bins, Timeline};

use crate::causes::{Answers, Questions};
use crate::error::Error;
use crate::exchange::{Exchange, gather};
use crate::formulas::Formulas;
use crate::ids::ReportPath;
use crate::matching::{Latecomers, Matches};
use crate::metrics::Metrics;
use crate::report_paths::ReportPaths;
use crate::structure::{FoundStructure, Shapes};
use crate::tools::Tools;
use crate::trace::Trace;
use crate::wait_states::WaitingMessages;
use crate::walk::{Walked, WalkedProcess};
use crate::wire::{self, batch_of};
use communication::Communication;
use flow::FlowTable;
use grid::Grid;
use instances::{Selected, SevereWaits, WaitRow};
use windows::{Limits, Plan};

/// The tables of a report, at worker 0, and what the manifest says of them.
#[derive(Clone, Debug, Default)]
pub struct Details {
    /// The tables, and whether each has all there is.
    pub tables: Vec<(Table, Complete)>,
    /// Classes of time.
    pub classes: Vec<Class>,
    /// Levels of the table `grid`.
    pub levels: Vec<Level>,
    /// The main loop.
    pub main_loop: Option<MainLoop>,
}

impl Details {
    /// Adds the tables of the main loop, if there is one and its series are known.
    pub fn add_series(&mut self, trace: &Trace, metrics: &Metrics, structure: &FoundStructure) {
        if let FoundStructure::Loop(structure) = structure
            && let Some(series) = &structure.series
        {
            let (tables, main_loop) = series::tables(trace, metrics, structure, series);
            self.tables.extend(tables);
            self.main_loop = Some(main_loop);
        }
    }
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
    /// The severest waits so far.
    pub severe: SevereWaits,
    /// Those of the table, once they are selected.
    selected: Selected,
    /// What root causes know about them; `None` without root causes.
    pub answers: Option<Answers>,
    /// Graphs, loops and words; `None` if structure was not looked for.
    pub shapes: Option<Shapes>,
    /// The windows around them, and what was read there.
    plan: Plan,
    read: windows::Rows,
}

impl DetailsCollector<'_> {
    /// Starts without anything of a worker's processes.
    pub fn new<'s>(trace: &Trace, scheme: &'s Scheme, processes: &Range<usize>) -> DetailsCollector<'s> {
        DetailsCollector {
            grid: Grid::new(trace, scheme, processes),
            flow: FlowTable::new(scheme.bins),
            communication: Communication::default(),
            severe: SevereWaits::default(),
            selected: Selected::default(),
            answers: None,
            shapes: None,
            plan: Plan::default(),
            read: windows::Rows::default(),
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

    /// Selects the waits of the table `instances`, about so many, once all processes are collected: root causes are asked
    /// about them. What is collected takes less memory from now on.
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
        self.grid.finish();
        self.communication.finish();
        self.selected = take(&mut self.severe).select(tools, paths, rows, exchange)?;
        Ok(())
    }

    /// What root causes are asked.
    pub fn questions<'a>(&'a self, limits: Limits<'a>) -> Questions<'a> {
        Questions { waits: &self.selected.waits, limits }
    }

    /// Reads what was done in the windows around severe waits.
    ///
    /// # Errors
    /// If a worker failed, or memory gets short.
    pub fn read_windows(
        &mut self,
        archive: &Archive,
        tools: &Tools<'_>,
        paths: &ReportPaths,
        limits: Limits<'_>,
        exchange: &mut dyn Exchange,
    ) -> Result<(), Error> {
        self.plan = match &mut self.answers {
            Some(answers) => take(&mut answers.plan),
            None => Plan::of_all(tools, &self.selected.waits, &[], limits, exchange)?,
        };
        if !self.plan.windows.is_empty() {
            let first = tools.owners.first(exchange.worker());
            let numbers = |process: &WalkedProcess| Cow::Borrowed(&paths.numbers[process.number - first][..]);
            self.read = windows::read(archive, tools, numbers, &self.plan, exchange)?;
        }
        Ok(())
    }

    /// Brings together what all workers have collected; the tables are at worker 0. `why_none` says why there are no windows.
    ///
    /// # Errors
    /// If a worker failed.
    pub fn of_all(
        self,
        tools: &Tools<'_>,
        paths: &ReportPaths,
        why_none: Option<&str>,
        exchange: &mut dyn Exchange,
    ) -> Result<Details, Error> {
        let (grid, classes, levels) = self.grid.of_all(exchange)?;
        let flow = self.flow.of_all(exchange)?;
        let communication = self.communication.of_all(tools, paths, exchange)?;
        let structure = match self.shapes {
            Some(shapes) => structure::tables(&shapes, paths, exchange)?,
            None => Vec::new(),
        };
        let (selected, plan, has_causes) = (&self.selected, &self.plan, self.answers.is_some());
        let Answers { chains, origins, direct, critical, window_waits, .. } =
            self.answers.unwrap_or_default();
        let critical = if has_causes { critical.of_all(exchange)? } else { critical };
        let read = windows::gather(self.read, plan, exchange)?;
        let window_waits = gather(exchange, batch_of(&window_waits))?;
        if exchange.worker() > 0 {
            return Ok(Details::default());
        }
        let mut details = Details { classes, levels, ..Details::default() };
        details.tables.extend([grid, flow].map(|table| (table, Complete::Is(true))));
        details.tables.extend(communication);
        let window_waits: Vec<_> = window_waits.iter().flat_map(|batch| wire::all(batch)).collect();
        let row = |(at, wait)| {
            let origin = origins.get(at).copied().unwrap_or(ReportPath::NONE);
            let window = plan.of_waits.get(at).copied().unwrap_or(instances::NO_NUMBER);
            WaitRow::new(tools.metrics, wait, (origin, direct.get(at).copied().flatten()), window)
        };
        let rows: Vec<WaitRow> = selected.waits.iter().enumerate().map(row).collect();
        details.tables.push(instances::table(&rows, selected));
        details.tables.extend(windows::tables(tools, paths, (plan, &read), &rows, &window_waits, why_none));
        if has_causes {
            details.tables.push(chains::table(&self.selected.waits, &chains));
            details.tables.push(critical::table(&critical));
        }
        details.tables.extend(structure);
        Ok(details)
    }
}
