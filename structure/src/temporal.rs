//! Temporal event flow graphs: the order of a sequence, without loss, as the visits of nodes at which edges were taken (structure
//! 2.5).
//!
//! Visits of a node are numbered from 0. Of the edges out of a node the one taken most needs no partition: it is taken at all
//! visits at which no other one is. A regular sequence has a few partitions, however long it is.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::graph::Graph;
use crate::node::Node;
use crate::partition::{PartitionBuilder, Progression};

/// Most closed blocks and progressions, unless there are at least [`STEPS_OF_ONE`] steps for each: an irregular sequence would
/// take more memory than itself.
const MOST: usize = 4096;
const STEPS_OF_ONE: usize = 4;

/// An edge out of a node.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Way {
    /// Where it leads.
    pub to: Node,
    /// The visits at which it is taken; empty for the first edge of a node, which is taken at all others.
    pub visits: Vec<Progression>,
}

/// A temporal event flow graph.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TemporalGraph {
    /// By node, beginning with the begin: the edge taken most, or first among equals, then the others in this order.
    pub ways: Vec<Vec<Way>>,
}

/// Collects the visits at which edges are taken, step by step.
#[derive(Clone, Debug, Default)]
pub struct TemporalBuilder {
    /// By number of the edge.
    visits: Vec<PartitionBuilder>,
    /// By node: number of its visits so far.
    counts: Vec<u32>,
    steps: usize,
    closed: usize,
    is_irregular: bool,
}

impl TemporalBuilder {
    /// Takes an edge out of a node.
    #[inline]
    pub fn take(&mut self, from: Node, edge: u32) {
        if self.is_irregular {
            return;
        }
        let (at, edge) = (from.index(), edge as usize);
        if at >= self.counts.len() {
            self.counts.resize(at + 1, 0);
        }
        if edge >= self.visits.len() {
            self.visits.resize_with(edge + 1, PartitionBuilder::default);
        }
        let visits = &mut self.visits[edge];
        let before = visits.len();
        visits.push(self.counts[at]);
        self.closed += visits.len() - before;
        self.steps += 1;
        match self.counts[at].checked_add(1) {
            Some(next) if self.closed <= MOST || self.closed * STEPS_OF_ONE <= self.steps => {
                self.counts[at] = next;
            }
            _ => (self.is_irregular, self.visits) = (true, Vec::new()),
        }
    }

    /// Returns the graph, given the one with the edges; `None` if the sequence is irregular.
    pub fn finish(self, graph: &Graph) -> Option<TemporalGraph> {
        if self.is_irregular {
            return None;
        }
        let mut of_node: Vec<Vec<usize>> = vec![Vec::new(); graph.nodes.len()];
        graph.edges.iter().enumerate().for_each(|(edge, it)| of_node[it.from.index()].push(edge));
        let mut visits: Vec<_> = self.visits.into_iter().map(PartitionBuilder::finish).collect();
        let mut ways_of = |mut edges: Vec<usize>| {
            // Edges are numbered in the order in which they were first taken.
            edges.sort_by_key(|&edge| (Reverse(graph.edges[edge].count), edge));
            let way = |(place, edge): (usize, usize)| {
                let taken = std::mem::take(&mut visits[edge]);
                Way { to: graph.edges[edge].to, visits: if place == 0 { Vec::new() } else { taken } }
            };
            edges.into_iter().enumerate().map(way).collect()
        };
        Some(TemporalGraph { ways: of_node.into_iter().map(&mut ways_of).collect() })
    }
}

impl TemporalGraph {
    /// The graph of a sequence; `None` if that is irregular.
    pub fn of(sequence: impl IntoIterator<Item = Node>) -> Option<TemporalGraph> {
        let (mut graph, mut temporal) = (crate::GraphBuilder::default(), TemporalBuilder::default());
        let mut at = Node::BEGIN;
        for node in sequence {
            temporal.take(at, graph.visit(node, &crate::Step::default()));
            at = node;
        }
        let (edge, graph) = graph.finish(&crate::Step::default());
        temporal.take(at, edge);
        temporal.finish(&graph)
    }

    /// Decodes the sequence. It ends early where the graph is damaged: at a node that has no edges.
    pub fn sequence(&self) -> impl Iterator<Item = Node> {
        let mut walkers: Vec<_> = self.ways.iter().map(|ways| Walker::new(ways)).collect();
        let mut at = Node::BEGIN;
        std::iter::from_fn(move || {
            at = walkers.get_mut(at.index())?.next()?;
            (at != Node::END).then_some(at)
        })
    }

    /// Encodes the graph (structure 2.5): the number of nodes in a row that lead to the next one only, then a fork, and so on;
    /// of a fork the number of edges, and for each the signed distance of its node and its progressions. All in LEB128.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut run = 0;
        for (number, ways) in self.ways.iter().enumerate() {
            if leads_on(number, ways) {
                run += 1;
                continue;
            }
            put(&mut bytes, std::mem::take(&mut run));
            put(&mut bytes, ways.len() as u64);
            for (place, way) in ways.iter().enumerate() {
                let (to, from) = (place_of(way.to), number as i64);
                put(&mut bytes, 2 * (to - from).unsigned_abs() + u64::from(to < from));
                if place > 0 {
                    put(&mut bytes, way.visits.len() as u64);
                    let mut before = 0;
                    for part in &way.visits {
                        put(&mut bytes, u64::from(part.first - before));
                        put(&mut bytes, part.blocks().into());
                        put(&mut bytes, part.block.into());
                        if part.blocks() > 1 {
                            put(&mut bytes, part.stride.into());
                        }
                        before = part.last;
                    }
                }
            }
        }
        if run > 0 {
            put(&mut bytes, run);
        }
        bytes
    }

    /// Decodes a graph of so many nodes, without the begin; `None` if the bytes are not of such a graph.
    pub fn decode(bytes: &[u8], nodes: u32) -> Option<TemporalGraph> {
        let mut reader = bytes;
        let count = nodes as usize + 1;
        let mut ways: Vec<Vec<Way>> = Vec::new();
        while ways.len() < count {
            let run = take(&mut reader)?;
            for _ in 0..run {
                let next = Node::new(u32::try_from(ways.len() + 1).ok().filter(|&next| next <= nodes)?);
                ways.push(vec![Way { to: next, visits: Vec::new() }]);
            }
            if ways.len() == count {
                break;
            }
            // Each edge takes a byte at least, so no count makes us ask for more memory than the bytes have.
            let edges = take(&mut reader).filter(|&edges| 0 < edges && edges <= reader.len() as u64)?;
            let from = i64::try_from(ways.len()).ok()?;
            let way = |place| {
                let to = take(&mut reader)?;
                let distance = i64::try_from(to / 2).ok()?;
                let to = if to % 2 == 1 { from - distance } else { from + distance };
                let to = match to {
                    -1 => Node::END,
                    to => Node::new(u32::try_from(to).ok().filter(|&to| 0 < to && to <= nodes)?),
                };
                let visits = if place == 0 { Vec::new() } else { progressions(&mut reader)? };
                Some(Way { to, visits })
            };
            ways.push((0..edges).map(way).collect::<Option<_>>()?);
        }
        reader.is_empty().then_some(TemporalGraph { ways })
    }
}

/// Whether a node leads to the next number only.
fn leads_on(number: usize, ways: &[Way]) -> bool {
    matches!(ways, [only] if only.to != Node::END && only.to.index() == number + 1)
}

/// The number of a node in the encoding, in which the end is -1.
fn place_of(node: Node) -> i64 {
    if node == Node::END { -1 } else { node.number().into() }
}

fn progressions(reader: &mut &[u8]) -> Option<Vec<Progression>> {
    let count = take(reader).filter(|&count| count <= reader.len() as u64)?;
    let mut before = 0_u32;
    let part = |_| {
        let first = before.checked_add(take_u32(reader)?)?;
        let (blocks, block) = (take_u32(reader)?, take_u32(reader)?);
        let stride = if blocks > 1 { take_u32(reader)?.max(1) } else { 0 };
        let last = blocks.checked_sub(1)?.checked_mul(stride)?.checked_add(block.checked_sub(1)?)?;
        let last = first.checked_add(last)?;
        before = last;
        Some(Progression { first, last, stride, block })
    };
    (0..count).map(part).collect()
}

/// The ways out of a node, from one visit to the next.
struct Walker<'a> {
    visit: u32,
    /// The edge taken where no other one is.
    rest: Option<Node>,
    /// The next visit at which each of the others is taken.
    next: BinaryHeap<Reverse<(u32, usize)>>,
    others: Vec<(Node, Box<dyn Iterator<Item = u32> + 'a>)>,
}

impl<'a> Walker<'a> {
    fn new(ways: &'a [Way]) -> Walker<'a> {
        let numbers = |way: &'a Way| -> Box<dyn Iterator<Item = u32> + 'a> {
            Box::new(way.visits.iter().flat_map(Progression::numbers))
        };
        let mut others: Vec<_> = ways.iter().skip(1).map(|way| (way.to, numbers(way))).collect();
        let first = |(place, (_, numbers)): (usize, &mut (Node, Box<dyn Iterator<Item = u32> + 'a>))| {
            numbers.next().map(|number| Reverse((number, place)))
        };
        let next = others.iter_mut().enumerate().filter_map(first).collect();
        Walker { visit: 0, rest: ways.first().map(|way| way.to), next, others }
    }

    fn next(&mut self) -> Option<Node> {
        let visit = self.visit;
        self.visit = visit.checked_add(1)?;
        let Some(&Reverse((number, place))) = self.next.peek() else { return self.rest };
        if number != visit {
            return self.rest;
        }
        self.next.pop();
        let (node, numbers) = &mut self.others[place];
        self.next.extend(numbers.next().map(|number| Reverse((number, place))));
        Some(*node)
    }
}

fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    bytes.push(number.to_le_bytes()[0]);
}

fn take(reader: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = reader.split_first()?;
        *reader = rest;
        number |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

fn take_u32(reader: &mut &[u8]) -> Option<u32> {
    take(reader)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{nodes, numbered, random};

    /// Encodes a sequence, decodes it, and returns the number of bytes.
    fn round_trip(sequence: &[Node]) -> usize {
        let graph = TemporalGraph::of(sequence.iter().copied()).unwrap();
        assert_eq!(graph.sequence().collect::<Vec<_>>(), sequence);
        let bytes = graph.encode();
        let count = sequence.iter().map(|node| node.number()).max().unwrap_or(0);
        assert_eq!(TemporalGraph::decode(&bytes, count).as_ref(), Some(&graph));
        bytes.len()
    }

    #[test]
    fn the_example_has_one_partition() {
        // A B C B C B D
        let sequence = nodes(&[1, 2, 3, 2, 3, 2, 4]);
        let graph = TemporalGraph::of(sequence.iter().copied()).unwrap();
        let last = Progression { first: 2, last: 2, stride: 0, block: 1 };
        let out_of_b = [(3, vec![]), (4, vec![last])];
        assert_eq!(graph.ways[2], out_of_b.map(|(to, visits)| Way { to: Node::new(to), visits }));
        round_trip(&sequence);
    }

    #[test]
    fn sequences_come_back_from_bytes() {
        round_trip(&[]);
        round_trip(&nodes(&[1]));
        round_trip(&nodes(&[1, 1, 1]));
        let mut draw = random(3);
        for _ in 0..10_000 {
            let (alphabet, length) = (draw(50) + 1, draw(300));
            round_trip(&numbered((0..length).map(|_| draw(alphabet))));
        }
        // Longer ones are given up unless they repeat something, here with one odd step in twenty.
        for _ in 0..200 {
            let (period, length) = (draw(60) + 1, draw(10_000));
            round_trip(&numbered(
                (0..length).map(|at| if draw(20) == 0 { draw(period) } else { at % period }),
            ));
        }
    }

    #[test]
    fn a_long_regular_sequence_takes_a_few_bytes() {
        let iteration = || (0..20).flat_map(|i| vec![i; 1 + i as usize % 3]);
        let sequence = numbered((0..1000).flat_map(|_| iteration()).chain([99]));
        assert!(round_trip(&sequence) < 200);
    }

    #[test]
    fn an_irregular_sequence_is_given_up() {
        let mut draw = random(5);
        assert_eq!(TemporalGraph::of(numbered((0..40_000).map(|_| draw(40)))), None);
    }

    #[test]
    fn damaged_bytes_are_refused_or_end() {
        let mut draw = random(11);
        let sequence = numbered((0..200).map(|at| if at % 7 == 3 { draw(9) } else { at % 7 }));
        let graph = TemporalGraph::of(sequence.iter().copied()).unwrap();
        let bytes = graph.encode();
        for _ in 0..5000 {
            let mut bytes = bytes.clone();
            let at = draw(bytes.len() as u32) as usize;
            bytes[at] = draw(256) as u8;
            bytes.truncate(if draw(3) == 0 { draw(bytes.len() as u32) as usize } else { bytes.len() });
            if let Some(graph) = TemporalGraph::decode(&bytes, 9) {
                let _ = graph.sequence().take(1000).count();
            }
        }
    }
}
