//! Strings that events refer to: each is in the journal once, with a number behind the program's arguments.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use recording::journal::JournalRecord;

use crate::key;
use crate::process::Process;
use crate::shared::Shared;

/// Bytes of strings that a process keeps: a program may describe another view for each access.
const MOST_BYTES: u64 = 16 << 20;
/// The longest string, in bytes.
const LONGEST: usize = 16 << 10;

/// The strings of the process.
pub(crate) struct Texts {
    /// Numbers by hashes.
    known: Shared<AtomicU32>,
    next: AtomicU32,
    bytes: AtomicU64,
}

impl Texts {
    pub(crate) const fn new() -> Texts {
        Texts { known: Shared::new(), next: AtomicU32::new(0), bytes: AtomicU64::new(0) }
    }

    /// Sets the first number, before any other thread records.
    pub(crate) fn begin(&self, first: usize) {
        self.next.store(first as u32, Ordering::Relaxed);
    }

    /// Returns the number of a string; `None` if it is too long, or there is no room for it.
    pub(crate) fn number(&self, process: &Process, text: &str) -> Option<u32> {
        if text.len() > LONGEST {
            return None;
        }
        let key = key::of_bytes(text.as_bytes());
        if let Some(known) = self.known.find(key) {
            return Some(known.load(Ordering::Relaxed));
        }
        let bytes = text.len() as u64;
        if self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes > MOST_BYTES {
            return None;
        }
        // One thread at a time adds a key, so that numbers are in the order of the journal.
        let known = self.known.get_or_insert(key, |number| {
            let string = self.next.fetch_add(1, Ordering::Relaxed);
            number.store(string, Ordering::Relaxed);
            process.append(&JournalRecord::Text { string, text: text.into() });
        });
        known.map(|number| number.load(Ordering::Relaxed))
    }
}
