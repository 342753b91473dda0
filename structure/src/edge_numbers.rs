//! Numbers of edges by their ends: a table that takes 8 bytes each, as a graph without order has millions of edges.

use crate::graph::Edge;
use crate::node::Node;

/// Finds the number of an edge.
#[derive(Clone, Default, Debug)]
pub(crate) struct EdgeNumbers {
    /// A power of two. An edge is at the place that the first bits of its hash say, or at the next free one, so that a larger
    /// table has the edges in nearly the same order.
    slots: Vec<Slot>,
    count: usize,
}

#[derive(Clone, Copy, Default, Debug)]
struct Slot {
    hash: u32,
    /// The number behind that of the edge; 0 if there is none.
    next: u32,
}

const SLOTS: usize = 64;

impl EdgeNumbers {
    /// The number of an edge among these; an edge that is new gets the next number, and is to be added there.
    pub(crate) fn number(&mut self, from: Node, to: Node, edges: &[Edge]) -> u32 {
        // At most two thirds are taken.
        if self.slots.len() * 2 <= self.count * 3 {
            self.grow();
        }
        let hash = hash(from, to);
        let mut at = self.place(hash);
        loop {
            let Slot { hash: known, next } = self.slots[at];
            if next == 0 {
                let next = crate::to_u32(edges.len() + 1);
                self.slots[at] = Slot { hash, next };
                self.count += 1;
                return next - 1;
            }
            if known == hash {
                let edge = &edges[next as usize - 1];
                if (edge.from, edge.to) == (from, to) {
                    return next - 1;
                }
            }
            at = self.behind(at);
        }
    }

    /// Where to look for an edge first.
    fn place(&self, hash: u32) -> usize {
        let bits = self.slots.len().trailing_zeros().min(u32::BITS);
        (hash >> (u32::BITS - bits)) as usize
    }

    fn behind(&self, at: usize) -> usize {
        (at + 1) & (self.slots.len() - 1)
    }

    fn grow(&mut self) {
        let slots = vec![Slot::default(); (2 * self.slots.len()).max(SLOTS)];
        for slot in std::mem::replace(&mut self.slots, slots).into_iter().filter(|slot| slot.next > 0) {
            let mut at = self.place(slot.hash);
            while self.slots[at].next > 0 {
                at = self.behind(at);
            }
            self.slots[at] = slot;
        }
    }
}

/// The first bits of a product with a number without pattern, which depend on all of both ends.
fn hash(from: Node, to: Node) -> u32 {
    let ends = u64::from(from.number()) << u32::BITS | u64::from(to.number());
    let [a, b, c, d, ..] = ends.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes();
    u32::from_be_bytes([a, b, c, d])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Polls, Times, random};

    #[test]
    fn edges_keep_their_numbers_while_the_table_grows() {
        let mut draw = random(9);
        let (mut table, mut edges) = (EdgeNumbers::default(), Vec::new());
        let mut known = std::collections::BTreeMap::new();
        for _ in 0..20_000 {
            let [from, to] = [draw(100), if draw(50) == 0 { u32::MAX } else { draw(100) }].map(Node::new);
            let expected = *known.entry((from, to)).or_insert(edges.len() as u32);
            assert_eq!(table.number(from, to, &edges), expected);
            if expected as usize == edges.len() {
                edges.push(Edge { from, to, count: 0, times: Times::default(), polls: Polls::default() });
            }
        }
        assert!(edges.len() > 5000);
    }
}
