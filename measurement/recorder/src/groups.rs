//! Groups of processes that events refer to: targets of epochs, neighbours.

use std::sync::atomic::{AtomicU32, Ordering};

use recording::journal::{JournalRecord, ranges};

use crate::key;
use crate::process::Process;
use crate::shared::Shared;

/// The groups of the process, each once.
pub(crate) struct Groups {
    /// Numbers by keys of the members.
    known: Shared<AtomicU32>,
    next: AtomicU32,
}

impl Groups {
    pub(crate) const fn new() -> Groups {
        Groups { known: Shared::new(), next: AtomicU32::new(0) }
    }

    /// Returns the number of the group with these ranks of the world, which are all different.
    pub(crate) fn number(&self, process: &Process, members: &[u32]) -> u32 {
        // There are as many groups as neighbourhoods, a few: two of them will not have the same key of 64
        // bits.
        let introduce = || {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            process.append(&JournalRecord::Group { group: number, members: ranges(members) });
            number
        };
        let key = key::of_words(members);
        let known = self.known.get_or_insert(key, |number| number.store(introduce(), Ordering::Relaxed));
        known.map_or_else(introduce, |number| number.load(Ordering::Relaxed))
    }
}
