//! What a timed graph is built for: scenarios of the user, and advice.

use super::scenario::WhatIf;

/// What a timed graph is built for.
#[derive(Clone, Copy, Debug)]
pub struct Purpose<'w> {
    /// Scenarios that are replayed.
    pub what_if: Option<&'w WhatIf>,
    /// Whether advice is looked for, with scenarios that rules name.
    pub advises: bool,
}

impl<'w> Purpose<'w> {
    /// `None` if there is nothing to replay.
    pub fn new(what_if: Option<&'w WhatIf>, advises: bool) -> Option<Purpose<'w>> {
        (what_if.is_some() || advises).then_some(Purpose { what_if, advises })
    }

    /// Whether masters and their workers are needed.
    pub(super) fn has_masters(&self) -> bool {
        self.advises || self.what_if == Some(&WhatIf::Standard)
    }

    /// The least size from which on standard sends wait for their receives in any scenario; rules name none of these.
    pub(super) fn rendezvous(&self) -> Option<u64> {
        self.what_if.and_then(WhatIf::rendezvous)
    }

    /// Whether events may have another order in any scenario.
    pub(super) fn reorders(&self) -> bool {
        self.advises || self.what_if.is_some_and(WhatIf::reorders)
    }

    /// Whether a scenario is about what root causes have found; rules name none of these.
    pub(super) fn needs_causes(&self) -> bool {
        self.what_if.is_some_and(WhatIf::needs_causes)
    }
}
