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
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Way<'a> {
    /// Where it leads.
    pub to: Node,
    /// The visits at which it is taken; empty for the first edge of a node, which is taken at all others.
    pub visits: &'a [Progression],
}

/// A temporal event flow graph. All edges, and all progressions, are in one list each: there may be millions.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TemporalGraph {
    /// By node: the end of its edges.
    nodes: Vec<u32>,
    /// Where edges lead, and the end of their progressions.
    edges: Vec<(Node, u32)>,
    visits: Vec<Progression>,
}

/// Collects the visits at which edges are taken, step by step.
#[derive(Clone, Debug, Default)]
pub struct TemporalBuilder {
    /// By number of the edge.
    visits: Vec<Visits>,
    /// Of edges that were taken at more than one block of visits: all blocks but the last one.
    more: Vec<PartitionBuilder>,
    /// By node: number of its visits so far.
    counts: Vec<u32>,
    steps: usize,
    closed: usize,
    is_irregular: bool,
}

/// The last block of visits at which an edge was taken. In an irregular graph most edges have no other.
#[derive(Clone, Copy, Default, Debug)]
struct Visits {
    first: u32,
    /// 0 before the edge is taken.
    length: u32,
    /// The place of the blocks before, from 1; 0 if there are none.
    before: u32,
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
            self.visits.resize(edge + 1, Visits::default());
        }
        let (visits, visit) = (&mut self.visits[edge], self.counts[at]);
        if visits.length == 0 {
            (visits.first, visits.length) = (visit, 1);
        } else if visits.first + visits.length == visit {
            visits.length += 1;
        } else {
            self.end_block(edge);
            (self.visits[edge].first, self.visits[edge].length) = (visit, 1);
        }
        self.steps += 1;
        match visit.checked_add(1) {
            Some(next) if self.closed <= MOST || self.closed * STEPS_OF_ONE <= self.steps => {
                self.counts[at] = next;
            }
            _ => (self.is_irregular, self.visits, self.more) = (true, Vec::new(), Vec::new()),
        }
    }

    /// Puts the last block of an edge to those before.
    fn end_block(&mut self, edge: usize) {
        let visits = &mut self.visits[edge];
        if visits.before == 0 {
            self.more.push(PartitionBuilder::default());
            visits.before = crate::to_u32(self.more.len());
        }
        let partition = &mut self.more[visits.before as usize - 1];
        let before = partition.len();
        partition.push_block(visits.first, visits.length);
        self.closed += partition.len() - before;
    }

    /// Returns the graph, given the one with the edges; `None` if the sequence is irregular.
    pub fn finish(mut self, graph: &Graph) -> Option<TemporalGraph> {
        if self.is_irregular {
            return None;
        }
        // By node: its edges, the one taken most first. They are numbered in the order in which they were first taken.
        let mut ends = vec![0_u32; graph.nodes.len()];
        graph.edges.iter().for_each(|edge| ends[edge.from.index()] += 1);
        let mut next = 0;
        for place in &mut ends {
            (*place, next) = (next, next + *place);
        }
        let mut of_node = vec![(Reverse(0), 0); graph.edges.len()];
        for (number, edge) in (0_u32..).zip(&graph.edges) {
            let place = &mut ends[edge.from.index()];
            of_node[*place as usize] = (Reverse(edge.count), number);
            *place += 1;
        }
        let mut order =
            TemporalGraph { nodes: ends, edges: Vec::with_capacity(of_node.len()), visits: Vec::new() };
        let mut begin = 0;
        for &end in &order.nodes {
            let edges = &mut of_node[begin..end as usize];
            edges.sort_unstable();
            for (place, &(_, number)) in edges.iter().enumerate() {
                if place > 0 {
                    let Visits { first, length, before } = self.visits[number as usize];
                    match before.checked_sub(1) {
                        None => order.visits.push(Progression::block(first, length)),
                        Some(more) => {
                            let mut partition = std::mem::take(&mut self.more[more as usize]);
                            partition.push_block(first, length);
                            order.visits.extend(partition.finish());
                        }
                    }
                }
                order.edges.push((graph.edges[number as usize].to, crate::to_u32(order.visits.len())));
            }
            begin = end as usize;
        }
        Some(order)
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

    /// Of each node, beginning with the begin: the edge taken most, or first among equals, then the others in this order.
    pub fn nodes(&self) -> impl Iterator<Item = impl ExactSizeIterator<Item = Way<'_>>> {
        (0..self.nodes.len()).map(|number| self.ways(number))
    }

    /// The edges out of a node.
    fn ways(&self, number: usize) -> impl ExactSizeIterator<Item = Way<'_>> {
        let begin = number.checked_sub(1).map_or(0, |before| self.nodes[before]);
        (begin as usize..self.nodes[number] as usize).map(|edge| {
            let (to, end) = self.edges[edge];
            let begin = edge.checked_sub(1).map_or(0, |before| self.edges[before].1);
            Way { to, visits: &self.visits[begin as usize..end as usize] }
        })
    }

    /// Decodes the sequence. It ends early where the graph is damaged: at a node that has no edges.
    pub fn sequence(&self) -> impl Iterator<Item = Node> {
        let mut walkers: Vec<_> = self.nodes().map(Walker::new).collect();
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
        for (number, ways) in self.nodes().enumerate() {
            if self.leads_on(number) {
                run += 1;
                continue;
            }
            put(&mut bytes, std::mem::take(&mut run));
            put(&mut bytes, ways.len() as u64);
            for (place, way) in ways.enumerate() {
                let (to, from) = (place_of(way.to), number as i64);
                put(&mut bytes, 2 * (to - from).unsigned_abs() + u64::from(to < from));
                if place > 0 {
                    put(&mut bytes, way.visits.len() as u64);
                    let mut before = 0;
                    for part in way.visits {
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
        let mut graph = TemporalGraph { nodes: Vec::new(), edges: Vec::new(), visits: Vec::new() };
        while graph.nodes.len() < count {
            let run = take(&mut reader)?;
            for _ in 0..run {
                let next = u32::try_from(graph.nodes.len() + 1).ok().filter(|&next| next <= nodes)?;
                graph.edges.push((Node::new(next), u32::try_from(graph.visits.len()).ok()?));
                graph.nodes.push(u32::try_from(graph.edges.len()).ok()?);
            }
            if graph.nodes.len() == count {
                break;
            }
            // Each edge takes a byte at least, so no count makes us ask for more memory than the bytes have.
            let edges = take(&mut reader).filter(|&edges| 0 < edges && edges <= reader.len() as u64)?;
            let from = i64::try_from(graph.nodes.len()).ok()?;
            for place in 0..edges {
                let to = take(&mut reader)?;
                let distance = i64::try_from(to / 2).ok()?;
                let to = if to % 2 == 1 { from - distance } else { from + distance };
                let to = match to {
                    -1 => Node::END,
                    to => Node::new(u32::try_from(to).ok().filter(|&to| 0 < to && to <= nodes)?),
                };
                if place > 0 {
                    progressions(&mut reader, &mut graph.visits)?;
                }
                graph.edges.push((to, u32::try_from(graph.visits.len()).ok()?));
            }
            graph.nodes.push(u32::try_from(graph.edges.len()).ok()?);
        }
        reader.is_empty().then_some(graph)
    }

    /// Whether a node leads to the next number only.
    fn leads_on(&self, number: usize) -> bool {
        let mut ways = self.ways(number);
        let is_next = |only: Way<'_>| only.to != Node::END && only.to.index() == number + 1;
        ways.len() == 1 && ways.next().is_some_and(is_next)
    }
}

/// The number of a node in the encoding, in which the end is -1.
fn place_of(node: Node) -> i64 {
    if node == Node::END { -1 } else { node.number().into() }
}

fn progressions(reader: &mut &[u8], visits: &mut Vec<Progression>) -> Option<()> {
    let count = take(reader).filter(|&count| count <= reader.len() as u64)?;
    let mut before = 0_u32;
    for _ in 0..count {
        let first = before.checked_add(take_u32(reader)?)?;
        let (blocks, block) = (take_u32(reader)?, take_u32(reader)?);
        let stride = if blocks > 1 { take_u32(reader)?.max(1) } else { 0 };
        let last = blocks.checked_sub(1)?.checked_mul(stride)?.checked_add(block.checked_sub(1)?)?;
        let last = first.checked_add(last)?;
        before = last;
        visits.push(Progression { first, last, stride, block });
    }
    Some(())
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
    fn new(mut ways: impl Iterator<Item = Way<'a>>) -> Walker<'a> {
        let rest = ways.next().map(|way| way.to);
        let numbers = |visits: &'a [Progression]| -> Box<dyn Iterator<Item = u32> + 'a> {
            Box::new(visits.iter().flat_map(Progression::numbers))
        };
        let mut others: Vec<_> = ways.map(|way| (way.to, numbers(way.visits))).collect();
        let first = |(place, (_, numbers)): (usize, &mut (Node, Box<dyn Iterator<Item = u32> + 'a>))| {
            numbers.next().map(|number| Reverse((number, place)))
        };
        let next = others.iter_mut().enumerate().filter_map(first).collect();
        Walker { visit: 0, rest, next, others }
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
        let of = |to, visits| Way { to: Node::new(to), visits };
        assert!(graph.ways(2).eq([of(3, &[][..]), of(4, &[last])]));
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
