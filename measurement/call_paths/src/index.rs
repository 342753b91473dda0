//! Hash index: the number of an item by its contents, in anonymous memory.

use crate::pages::Pages;
use std::io;

/// Numbers of items plus one, 0 for a free slot; at most half of the slots are taken.
pub(crate) struct Index {
    slots: Pages<u32>,
    taken: usize,
}

impl Index {
    /// Creates an empty index.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self { slots: Pages::new(1 << 12)?, taken: 0 })
    }

    /// Returns the number of the item with that hash for which `is` holds, or the slot where it goes.
    pub(crate) fn find(&self, hash: u64, is: impl Fn(u32) -> bool) -> Result<u32, usize> {
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        // Terminates, as half of the slots are free.
        loop {
            match self.slots.get(slot) {
                Some(0) | None => return Err(slot),
                Some(number) if is(number - 1) => return Ok(number - 1),
                Some(_) => slot = (slot + 1) & mask,
            }
        }
    }

    /// Inserts a number into the slot that was found for its item; `hash` returns the hash of any item.
    /// `false` if there is no memory for a larger table.
    pub(crate) fn insert(&mut self, slot: usize, number: u32, hash: impl Fn(u32) -> u64) -> bool {
        if (self.taken + 1) * 2 > self.slots.len() {
            let Ok(mut larger) = Pages::<u32>::new(self.slots.len() * 2) else { return false };
            let mask = larger.len() - 1;
            for &taken in self.slots.iter().filter(|slot| **slot != 0).chain([&(number + 1)]) {
                let mut slot = hash(taken - 1) as usize & mask;
                while larger[slot] != 0 {
                    slot = (slot + 1) & mask;
                }
                larger[slot] = taken;
            }
            self.slots = larger;
        } else if let Some(slot) = self.slots.get_mut(slot) {
            *slot = number + 1;
        }
        self.taken += 1;
        true
    }
}
