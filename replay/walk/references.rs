//! Definitions that events refer to, by the numbers that they have at a location.

use otf2::{MappingType, Mappings};

use super::process::ProcessWalk;
use crate::findings::Finding;
use crate::int::to_u32;

impl ProcessWalk<'_> {
    /// Returns the position of a region that an event names.
    pub(super) fn region(&mut self, thread: usize, mappings: &Mappings, local: u32) -> Option<u32> {
        let reference = u64::from(mappings.global(MappingType::Region, local));
        let position = self.trace.definitions.regions.position(reference);
        if position.is_none() {
            self.undefined(thread, "region", reference);
        }
        position.map(|position| to_u32(position))
    }

    /// Returns the position of a communicator that an event names.
    #[inline(always)]
    pub(super) fn communicator(&mut self, thread: usize, mappings: &Mappings, local: u32) -> Option<u32> {
        let reference = u64::from(mappings.global(MappingType::Comm, local));
        let position = self.trace.definitions.communicators.position(reference);
        if position.is_none() {
            self.undefined(thread, "communicator", reference);
        }
        position.map(|position| to_u32(position))
    }

    /// Returns the position of a calling context that an event names.
    pub(super) fn context(&mut self, thread: usize, mappings: &Mappings, local: u32) -> Option<usize> {
        let reference = u64::from(mappings.global(MappingType::CallingContext, local));
        let position = self.trace.definitions.calling_contexts.position(reference);
        if position.is_none() {
            self.undefined(thread, "calling context", reference);
        }
        position
    }

    /// Finds that nothing is defined that an event names.
    #[cold]
    pub(super) fn undefined(&mut self, thread: usize, what: &str, reference: u64) {
        self.find(Finding::UndefinedReference, thread, || format!("{what} {reference}"));
    }
}
