//! Strongly connected components of a part of a graph (Tarjan 1972), without recursion.

use crate::node::Node;

/// Neighbours of each node, by node.
#[derive(Clone, Debug)]
pub(crate) struct Neighbors {
    /// Where those of each node begin, and the end of all.
    firsts: Vec<u32>,
    list: Vec<Node>,
}

impl Neighbors {
    /// Sorts pairs of a node and its neighbour by node; the nodes have numbers below `nodes`.
    pub(crate) fn new(nodes: usize, pairs: impl Iterator<Item = (Node, Node)> + Clone) -> Neighbors {
        let mut firsts = vec![0_u32; nodes + 1];
        pairs.clone().for_each(|(node, _)| firsts[node.index() + 1] += 1);
        for at in 0..nodes {
            firsts[at + 1] += firsts[at];
        }
        let mut all = Neighbors { list: vec![Node::BEGIN; firsts[nodes] as usize], firsts };
        all.list = all.sorted(pairs);
        all
    }

    /// Sorts values of the same pairs in the same order as these.
    pub(crate) fn sorted<T: Copy + Default>(&self, pairs: impl Iterator<Item = (Node, T)>) -> Vec<T> {
        let mut next = self.firsts.clone();
        let mut sorted = vec![T::default(); self.list.len()];
        for (node, value) in pairs {
            let place = &mut next[node.index()];
            sorted[*place as usize] = value;
            *place += 1;
        }
        sorted
    }

    /// Where the neighbours of a node are in the list of all.
    pub(crate) fn range(&self, node: Node) -> std::ops::Range<usize> {
        let at = node.index();
        self.firsts[at] as usize..self.firsts[at + 1] as usize
    }

    /// The neighbours of a node.
    pub(crate) fn of(&self, node: Node) -> &[Node] {
        &self.list[self.range(node)]
    }
}

/// Memory of a search, by node.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    /// When a node was found, from 1; 0 before, [`DONE`] once its component is known, and outside of what is searched.
    found: Vec<u32>,
    /// The earliest node, by when it was found, that can be reached.
    low: Vec<u32>,
}

/// Later than all: what is done is never the earliest.
const DONE: u32 = u32::MAX;

impl Search {
    /// For nodes with numbers below this.
    pub(crate) fn new(nodes: usize) -> Search {
        Search { found: vec![DONE; nodes], low: vec![0; nodes] }
    }

    /// Calls a function with each component of these nodes, and the edges between them. A component comes before those from
    /// which it can be reached.
    pub(crate) fn components(&mut self, nodes: &[Node], next: &Neighbors, mut with: impl FnMut(&[Node])) {
        nodes.iter().for_each(|node| self.found[node.index()] = 0);
        let mut count = 0_u32;
        let mut open: Vec<Node> = Vec::new();
        // Nodes that are being searched, each with the number of its neighbours that are done.
        let mut way: Vec<(Node, usize)> = Vec::new();
        for &root in nodes {
            if self.found[root.index()] != 0 {
                continue;
            }
            way.push((root, 0));
            while let Some((node, done)) = way.last_mut() {
                let at = node.index();
                if self.found[at] == 0 {
                    count += 1;
                    (self.found[at], self.low[at]) = (count, count);
                    open.push(*node);
                }
                let mut low = self.low[at];
                // Nothing is new any more, and nothing that is open was found earlier.
                let is_settled = count as usize == nodes.len() && low == self.found[open[0].index()];
                let neighbors = if is_settled { &[] } else { &next.of(*node)[*done..] };
                let new = neighbors.iter().position(|neighbor| {
                    let found = self.found[neighbor.index()];
                    // No node was found at 0, so what is new would be the earliest.
                    low = if found == 0 { low } else { low.min(found) };
                    found == 0
                });
                self.low[at] = low;
                if let Some(place) = new {
                    *done += place + 1;
                    let neighbor = neighbors[place];
                    way.push((neighbor, 0));
                    continue;
                }
                way.pop();
                if let Some((parent, _)) = way.last() {
                    let parent = parent.index();
                    self.low[parent] = self.low[parent].min(low);
                }
                if low == self.found[at] {
                    let first = open.iter().rposition(|node| node.index() == at).unwrap_or(0);
                    open[first..].iter().for_each(|node| self.found[node.index()] = DONE);
                    with(&open[first..]);
                    open.truncate(first);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{nodes, random};

    #[test]
    fn components_are_those_of_mutual_reach_and_come_before_what_leads_to_them() {
        let mut draw = random(1);
        for _ in 0..500 {
            let count = draw(12) as usize + 1;
            let pairs: Vec<(u32, u32)> =
                (0..draw(30)).map(|_| (draw(count as u32), draw(count as u32))).collect();
            let inside: Vec<bool> = (0..count).map(|_| draw(5) > 0).collect();
            let mut reach = vec![vec![false; count]; count];
            for &(a, b) in pairs.iter().filter(|(a, b)| inside[*a as usize] && inside[*b as usize]) {
                reach[a as usize][b as usize] = true;
            }
            for k in 0..count {
                for i in 0..count {
                    for j in 0..count {
                        reach[i][j] |= reach[i][k] && reach[k][j];
                    }
                }
            }
            let list: Vec<u32> = (0..count as u32).filter(|&node| inside[node as usize]).collect();
            let to_nodes = |&(a, b): &(u32, u32)| (Node::new(a), Node::new(b));
            let next = Neighbors::new(count, pairs.iter().map(to_nodes));
            let mut found: Vec<Vec<Node>> = Vec::new();
            Search::new(count).components(&nodes(&list), &next, |part| found.push(part.to_vec()));
            assert_eq!(found.iter().map(Vec::len).sum::<usize>(), list.len());
            for (at, part) in found.iter().enumerate() {
                for a in part {
                    assert!(part.iter().all(|b| a == b || reach[a.index()][b.index()]));
                    let later = found[at + 1..].iter().flatten();
                    assert!(later.clone().all(|b| !reach[a.index()][b.index()]), "{pairs:?} {found:?}");
                }
            }
        }
    }
}
