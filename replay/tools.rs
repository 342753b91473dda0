//! What every step after the walk looks things up in.

use crate::assignment::Owners;
use crate::formulas::Formulas;
use crate::memory::Memory;
use crate::metrics::Metrics;
use crate::shared::Shared;
use crate::trace::Trace;

/// The trace, the metrics, and who works for what.
#[derive(Clone, Copy, Debug)]
pub struct Tools<'a> {
    /// The trace.
    pub trace: &'a Trace,
    /// All metrics.
    pub metrics: &'a Metrics,
    /// What follows from them.
    pub formulas: &'a Formulas,
    /// Who works for which process.
    pub owners: &'a Owners,
    /// What the threads of this process show each other.
    pub shared: &'a Shared,
    /// What memory is left.
    pub memory: &'a Memory,
    /// Bytes that one worker brings together of the others, at most.
    pub together: u64,
}

impl Tools<'_> {
    /// The process of a location.
    pub fn process_of(&self, location: u32) -> usize {
        self.trace.locations[location as usize].process
    }

    /// Whether any process has several threads.
    pub fn has_teams(&self) -> bool {
        let is_thread = |location: &usize| self.trace.locations[*location].is_thread();
        self.trace.processes.iter().any(|process| process.locations.clone().filter(is_thread).count() > 1)
    }

    /// The worker that owns a location.
    pub fn owner_of(&self, location: u32) -> usize {
        self.owners.of(self.process_of(location))
    }
}
