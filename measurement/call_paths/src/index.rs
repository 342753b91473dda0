//! Finds the number of a node by its contents: a hash table in anonymous memory.

use crate::pages::Pages;
use recording::paths::Node;
use std::io;

/// Numbers of nodes plus one, 0 where there is none; at most half of the slots are taken.
pub(crate) struct Index {
    slots: Pages<u32>,
    taken: usize,
}

impl Index {
    /// An empty one.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self { slots: Pages::new(1 << 12)?, taken: 0 })
    }

    /// The number of a node, or the slot where it goes.
    pub(crate) fn find(&self, node: &Node, read: impl Fn(u32) -> Node) -> Result<u32, usize> {
        let mask = self.slots.len() - 1;
        let mut slot = hash(node) as usize & mask;
        // Ends, as half of the slots are free.
        loop {
            match self.slots.get(slot) {
                Some(0) | None => return Err(slot),
                Some(number) if read(number - 1) == *node => return Ok(number - 1),
                Some(_) => slot = (slot + 1) & mask,
            }
        }
    }

    /// Puts a number into the slot that was found for its node. `false` if there is no memory for more.
    pub(crate) fn insert(&mut self, slot: usize, number: u32, read: impl Fn(u32) -> Node) -> bool {
        if (self.taken + 1) * 2 > self.slots.len() {
            let Ok(mut larger) = Pages::<u32>::new(self.slots.len() * 2) else { return false };
            let mask = larger.len() - 1;
            for &taken in self.slots.iter().filter(|slot| **slot != 0).chain([&(number + 1)]) {
                let mut slot = hash(&read(taken - 1)) as usize & mask;
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

fn hash(node: &Node) -> u64 {
    let mixed = node.target
        ^ (u64::from(node.parent) << 32 | u64::from(node.kind)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    mixed ^ mixed >> 32
}
