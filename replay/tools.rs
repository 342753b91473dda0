//! Data that every step after the walk reads: trace, metrics, formulas, owners, memory.

use crate::assignment::Owners;
use crate::formulas::Formulas;
use crate::memory::Memory;
use crate::metrics::Metrics;
use crate::shared::Shared;
use crate::trace::Trace;

/// References to the trace, the metrics and the assignment of work.
#[derive(Clone, Copy, Debug)]
pub struct Tools<'a> {
    /// The trace.
    pub trace: &'a Trace,
    /// All metrics.
    pub metrics: &'a Metrics,
    /// The formulas of metrics that are computed from others.
    pub formulas: &'a Formulas,
    /// The owner of each process.
    pub owners: &'a Owners,
    /// The data that threads of this process read from each other.
    pub shared: &'a Shared,
    /// The memory limits.
    pub memory: &'a Memory,
    /// The most bytes that one worker brings together from others.
    pub together: u64,
    /// Whether the report has details.
    pub has_details: bool,
}

impl Tools<'_> {
    /// Returns the process of a location.
    pub fn process_of(&self, location: u32) -> usize {
        self.trace.locations[location as usize].process
    }

    /// Whether any process has several threads.
    pub fn has_teams(&self) -> bool {
        let is_thread = |location: &usize| self.trace.locations[*location].is_thread();
        self.trace.processes.iter().any(|process| process.locations.clone().filter(is_thread).count() > 1)
    }

    /// Returns the worker that owns a location.
    pub fn owner_of(&self, location: u32) -> usize {
        self.owners.of(self.process_of(location))
    }
}
