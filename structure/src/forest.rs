//! Loops of an event flow graph, and how they nest (structure 2.6).
//!
//! A loop is a strongly connected component; its header is the node that was visited first. No dominators are needed: loops
//! with several entries get the one that was used first. Edges back to one header may be of several loops, one inside the
//! other: `(a b)×10 c` 50 times has two, and `a b a b c` one in which `c` comes every other time. A trace cannot tell, so they stay
//! apart where the inner one was repeated at least twice as often.

mod bodies;

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use self::bodies::Bodies;
use crate::components::{Neighbors, Search};
use crate::graph::Graph;
use crate::node::Node;

/// Number of a loop in its forest; a loop comes before those inside it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LoopId(u32);

impl LoopId {
    /// Its place in lists by loop.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loop {
    /// The node of it that was visited first.
    pub header: Node,
    /// The loop that it is in.
    pub parent: Option<LoopId>,
    /// Whether that has the same header.
    pub shares_header: bool,
    /// Behind the last of the loops inside it.
    end: LoopId,
    /// Its number among those beside it, from 1.
    place: u32,
}

/// The loops of a graph.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Forest {
    loops: Vec<Loop>,
    /// By node: the innermost loop around it.
    innermost: Vec<Option<LoopId>>,
    /// By node: if it is the header of loops, a node from which the innermost one is repeated, and that loop.
    headers: Vec<Option<(Node, LoopId)>>,
    /// Edges to headers from the nodes of their loops: the loop that they repeat.
    latches: FxHashMap<(Node, Node), LoopId>,
    is_cut: bool,
}

/// Nodes and edges that are looked at, at most: all of them so many times, and these. A graph without any order is one loop in
/// another as often as it has nodes, of which a program has a few.
const DEPTH: usize = 64;
const WORK: usize = 1 << 23;

impl Forest {
    /// Finds the loops of a graph.
    pub fn new(graph: &Graph) -> Forest {
        let mut finder = Finder::new(graph);
        let all = (1..graph.nodes.len()).map(|number| Node::new(crate::to_u32(number))).collect();
        let mut parts = VecDeque::from([Part { nodes: all, parent: None, loops: None }]);
        let most = DEPTH * (graph.nodes.len() + graph.edges.len()) + WORK;
        let mut work = 0;
        while let Some(part) = parts.pop_front().filter(|_| work <= most) {
            work += part.nodes.iter().map(|&node| 1 + finder.next.of(node).len()).sum::<usize>();
            finder.search(part, &mut parts);
        }
        Forest { is_cut: work > most, ..finder.finish(graph.nodes.len()) }
    }

    /// Whether loops inside of others were not looked for, since they nest too deep in a large graph.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// All loops, each before those inside it.
    pub fn loops(&self) -> &[Loop] {
        &self.loops
    }

    /// The numbers of all loops.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = LoopId> + use<> {
        (0..crate::to_u32(self.loops.len())).map(LoopId)
    }

    /// A loop.
    pub fn get(&self, id: LoopId) -> &Loop {
        &self.loops[id.index()]
    }

    /// The loops directly inside one, or inside none; in the order of first visits.
    pub fn children(&self, parent: Option<LoopId>) -> impl Iterator<Item = LoopId> {
        let range = match parent {
            None => 0..crate::to_u32(self.loops.len()),
            Some(id) => id.0 + 1..self.get(id).end.0,
        };
        range.map(LoopId).filter(move |&id| self.get(id).parent == parent)
    }

    /// The innermost loop around a node.
    pub fn around(&self, node: Node) -> Option<LoopId> {
        self.innermost.get(node.index()).copied().flatten()
    }

    /// Whether a node is in a loop.
    pub fn has(&self, id: LoopId, node: Node) -> bool {
        self.around(node).is_some_and(|inner| self.is_within(inner, id))
    }

    /// Whether a loop is another one, or inside it.
    pub fn is_within(&self, inner: LoopId, outer: LoopId) -> bool {
        outer <= inner && inner < self.get(outer).end
    }

    /// The loop that an edge repeats; `None` if it is no edge back to the header of a loop around both of its nodes.
    pub fn repeated_by(&self, from: Node, to: Node) -> Option<LoopId> {
        let (latch, id) = self.headers.get(to.index()).copied().flatten()?;
        if latch == from { Some(id) } else { self.latches.get(&(from, to)).copied() }
    }

    /// Whether a node is the header of a loop.
    pub fn is_header(&self, node: Node) -> bool {
        self.headers.get(node.index()).is_some_and(Option::is_some)
    }

    /// The nodes of a loop, those of inner loops included, in the order of first visits.
    pub fn nodes(&self, id: LoopId) -> impl Iterator<Item = Node> {
        let nodes = (1..self.innermost.len()).map(|number| Node::new(crate::to_u32(number)));
        nodes.filter(move |&node| self.has(id, node))
    }

    /// The name of a loop: its number, behind the numbers of the loops around it, such as `2.1`.
    pub fn name(&self, id: LoopId) -> String {
        let chain = std::iter::successors(Some(id), |&id| self.get(id).parent);
        let mut places: Vec<String> = chain.map(|id| self.get(id).place.to_string()).collect();
        places.reverse();
        places.join(".")
    }

    /// The loop with a name.
    pub fn named(&self, name: &str) -> Option<LoopId> {
        let mut found = None;
        for place in name.split('.') {
            let place: usize = place.parse().ok()?;
            found = Some(self.children(found).nth(place.checked_sub(1)?)?);
        }
        found
    }
}

/// Nodes in which loops are to be found.
struct Part {
    nodes: Vec<Node>,
    parent: Option<usize>,
    /// The outermost loops in it, if they are known already.
    loops: Option<Vec<Vec<Node>>>,
}

/// A loop while others are still to be found.
struct Found {
    header: Node,
    parent: Option<usize>,
    shares_header: bool,
    /// The nodes with edges to the header that repeat it.
    latches: Vec<Node>,
}

/// Loops that share a header, from the inside: latches, and how often their edges were taken.
struct Level {
    latches: Vec<Node>,
    passes: u64,
    /// The last of the original levels that were joined.
    last: u32,
}

/// Stands for a node that is in no level.
const NO_LEVEL: u32 = u32::MAX;

/// Whether a component is a loop: a single node is one only with an edge to itself.
fn is_loop(component: &[Node], next: &Neighbors) -> bool {
    component.len() > 1 || next.of(component[0]).contains(&component[0])
}

struct Finder {
    next: Neighbors,
    before: Neighbors,
    /// Of the edges in `before`: how often they were taken.
    counts: Vec<u64>,
    search: Search,
    /// By node: the number of the part in which loops are searched, or of the component that is looked at.
    part: Vec<u32>,
    parts: u32,
    level: Vec<u32>,
    /// By node: its component without the header.
    inner: Vec<u32>,
    innermost: Vec<Option<usize>>,
    found: Vec<Found>,
}

impl Finder {
    fn new(graph: &Graph) -> Finder {
        let nodes = graph.nodes.len();
        let edges = graph.inner_edges();
        let before = Neighbors::new(nodes, edges.clone().map(|edge| (edge.to, edge.from)));
        let counts = before.sorted(edges.clone().map(|edge| (edge.to, edge.count)));
        Finder {
            next: Neighbors::new(nodes, edges.clone().map(|edge| (edge.from, edge.to))),
            before,
            counts,
            search: Search::new(nodes),
            part: vec![0; nodes],
            parts: 0,
            level: vec![NO_LEVEL; nodes],
            inner: vec![0; nodes],
            innermost: vec![None; nodes],
            found: Vec::new(),
        }
    }

    /// Marks nodes as those of a new part, and returns its number.
    fn mark(&mut self, nodes: &[Node]) -> u32 {
        self.parts += 1;
        nodes.iter().for_each(|node| self.part[node.index()] = self.parts);
        self.parts
    }

    /// Finds the outermost loops in a part; adds the parts in which there may be inner ones.
    fn search(&mut self, Part { nodes, parent, loops }: Part, parts: &mut VecDeque<Part>) {
        let loops = loops.unwrap_or_else(|| {
            let (next, mut loops) = (&self.next, Vec::new());
            self.search.components(&nodes, next, |component| {
                if is_loop(component, next) {
                    loops.push(component.to_vec());
                }
            });
            loops
        });
        loops.into_iter().for_each(|component| self.take_apart(&component, parent, parts));
    }

    /// Makes the loops with the header of a component.
    fn take_apart(&mut self, component: &[Node], parent: Option<usize>, parts: &mut VecDeque<Part>) {
        let Some(&header) = component.iter().min() else { return };
        let (levels, mut loops) = self.levels(component, header);
        let mut inside = vec![Vec::new(); levels.len()];
        let outermost = levels.len() - 1;
        // By original level: the one that it belongs to.
        let mut of_level: Vec<usize> = Vec::new();
        for (at, level) in levels.iter().enumerate() {
            of_level.resize(level.last as usize + 1, at);
        }
        for &node in component.iter().filter(|&&node| node != header) {
            let level = self.level[node.index()];
            inside[of_level.get(level as usize).copied().unwrap_or(outermost)].push(node);
        }
        component.iter().for_each(|node| self.level[node.index()] = NO_LEVEL);
        let mut around = parent;
        for (at, (level, nodes)) in levels.into_iter().zip(inside).enumerate().rev() {
            let id = self.found.len();
            let latches = level.latches;
            self.found.push(Found { header, parent: around, shares_header: at != outermost, latches });
            nodes.iter().chain([&header]).for_each(|node| self.innermost[node.index()] = Some(id));
            // With a single level what is inside is what was looked at: all but the header.
            let loops = loops.take().filter(|_| outermost == 0);
            parts.push_back(Part { nodes, parent: Some(id), loops });
            around = Some(id);
        }
    }

    /// The levels of loops that share the header of a component, the innermost first; and the loops of the component without
    /// its header, if these had to be found. Marks the nodes of each level but the outermost, which has them all.
    fn levels(&mut self, component: &[Node], header: Node) -> (Vec<Level>, Option<Vec<Vec<Node>>>) {
        let number = self.mark(component);
        let latches: Vec<Node> =
            self.before.of(header).iter().copied().filter(|node| self.part[node.index()] == number).collect();
        let (levels, loops) = match latches[..] {
            // All of it.
            [_] => (vec![latches], None),
            _ => {
                let (levels, loops) = self.nested(component, header, number, latches);
                (levels, Some(loops))
            }
        };
        // How often the edges to the header were taken, by where they come from.
        let counts = self.before.of(header).iter().zip(&self.counts[self.before.range(header)]);
        let counts: FxHashMap<Node, u64> = counts.map(|(&from, &count)| (from, count)).collect();
        let mut joined: Vec<Level> = Vec::new();
        for (last, latches) in (0..).zip(levels) {
            let passes = latches.iter().map(|latch| counts[latch]).sum();
            let mut level = Level { latches, passes, last };
            while let Some(inner) = joined.pop_if(|inner| inner.passes < level.passes.saturating_mul(2)) {
                level.passes += inner.passes;
                level.latches.extend(inner.latches);
            }
            joined.push(level);
        }
        (joined, loops)
    }

    /// The latches of a component in levels, the innermost first: each level has all nodes of the one before, and others. Marks
    /// the nodes of each. Returns the loops of the component without its header, too.
    fn nested(
        &mut self,
        component: &[Node],
        header: Node,
        part: u32,
        mut latches: Vec<Node>,
    ) -> (Vec<Vec<Node>>, Vec<Vec<Node>>) {
        let mut bodies = Bodies::new(self, component, header, part);
        let mut sizes = FxHashMap::default();
        for chunk in latches.chunks(64) {
            let counts = bodies.sizes(&bodies.masks(&self.inner, header, chunk));
            sizes.extend(chunk.iter().copied().zip(counts));
        }
        latches.sort_unstable_by_key(|&latch| (if latch == header { 0 } else { sizes[&latch] }, latch));
        let mut levels: Vec<Vec<Node>> = Vec::new();
        for chunk in latches.chunks(64) {
            let masks = bodies.masks(&self.inner, header, chunk);
            for (bit, &latch) in chunk.iter().enumerate() {
                let is_in_body =
                    |node: &Node| *node == header || masks[self.inner[node.index()] as usize] >> bit & 1 == 1;
                let inner = self.inner[latch.index()];
                let is_new = latch == header || bodies.level(inner) == NO_LEVEL;
                match levels.last_mut() {
                    Some(level) if !is_new || !level.iter().rev().all(is_in_body) => level.push(latch),
                    _ => levels.push(vec![latch]),
                }
                let level = crate::to_u32(levels.len() - 1);
                if latch != header {
                    bodies.mark(inner, level);
                }
            }
        }
        for node in component.iter().filter(|&&node| node != header) {
            self.level[node.index()] = bodies.level(self.inner[node.index()]);
        }
        (levels, bodies.loops)
    }

    /// Sorts the loops by first visits, each before those inside it.
    fn finish(self, nodes: usize) -> Forest {
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); self.found.len()];
        let mut roots = Vec::new();
        for (id, found) in self.found.iter().enumerate() {
            found.parent.map_or(&mut roots, |parent| &mut children[parent]).push(id);
        }
        let key = |&id: &usize| self.found[id].header;
        roots.sort_by_key(key);
        children.iter_mut().for_each(|children| children.sort_by_key(key));
        let mut forest = Forest::default();
        let mut numbers = vec![LoopId(0); self.found.len()];
        // What is still to be numbered, the next one last.
        let numbered = |ids: &[usize]| ids.iter().copied().zip(1..).collect::<Vec<(usize, u32)>>();
        let mut rest = numbered(&roots);
        rest.reverse();
        while let Some((id, place)) = rest.pop() {
            let Found { header, parent, shares_header, .. } = self.found[id];
            numbers[id] = LoopId(crate::to_u32(forest.loops.len()));
            let (parent, end) = (parent.map(|parent| numbers[parent]), numbers[id]);
            forest.loops.push(Loop { header, parent, shares_header, end, place });
            rest.extend(numbered(&children[id]).into_iter().rev());
        }
        for at in (0..forest.loops.len()).rev() {
            let end = forest.loops[at].end.max(LoopId(crate::to_u32(at + 1)));
            forest.loops[at].end = end;
            if let Some(parent) = forest.loops[at].parent {
                let parent = &mut forest.loops[parent.index()];
                parent.end = parent.end.max(end);
            }
        }
        forest.headers = vec![None; nodes];
        for (found, &id) in self.found.iter().zip(&numbers) {
            forest.latches.extend(found.latches.iter().map(|&latch| ((latch, found.header), id)));
            let latch = found.latches.first().map(|&latch| (latch, id));
            let known = &mut forest.headers[found.header.index()];
            // Loops inside have larger numbers.
            *known = latch.filter(|_| known.is_none_or(|(_, other)| other < id)).or(*known);
        }
        let id = |found: &Option<usize>| found.map(|found| numbers[found]);
        forest.innermost = self.innermost.iter().take(nodes).map(id).collect();
        forest
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::{nodes, numbered, random};

    fn forest(sequence: &[Node]) -> Forest {
        Forest::new(&Graph::of(sequence.iter().copied()))
    }

    /// Name, header and nodes of each loop.
    fn shown(forest: &Forest) -> Vec<(String, u32, Vec<u32>)> {
        let numbers = |id| forest.nodes(id).map(Node::number).collect();
        forest.ids().map(|id| (forest.name(id), forest.get(id).header.number(), numbers(id))).collect()
    }

    #[test]
    fn loops_nest_by_their_components() {
        // 1 (2 3 (4 5)* 6)* 7
        let sequence = nodes(&[1, 2, 3, 4, 5, 4, 5, 6, 2, 3, 4, 5, 6, 7]);
        let forest = forest(&sequence);
        let all = [("1", 2, vec![2, 3, 4, 5, 6]), ("1.1", 4, vec![4, 5])];
        assert_eq!(shown(&forest), all.map(|(name, header, nodes)| (name.into(), header, nodes)));
        assert_eq!(forest.named("1.1"), Some(LoopId(1)));
        assert_eq!((forest.named("1.2"), forest.named("0"), forest.named("x")), (None, None, None));
        let repeated = |from, to| forest.repeated_by(Node::new(from), Node::new(to));
        assert_eq!(
            [repeated(6, 2), repeated(5, 4), repeated(1, 2)],
            [Some(LoopId(0)), Some(LoopId(1)), None]
        );
    }

    #[test]
    fn a_node_that_follows_itself_is_a_loop_and_a_node_alone_is_none() {
        assert_eq!(shown(&forest(&nodes(&[1, 2, 2, 2, 3]))), [("1".into(), 2, vec![2])]);
        assert_eq!(shown(&forest(&nodes(&[1, 2, 3]))), []);
        assert_eq!(shown(&forest(&[])), []);
    }

    #[test]
    fn loops_with_one_header_stay_apart_where_the_inner_one_is_repeated_twice_as_often() {
        let often: Vec<Node> =
            (0..50).flat_map(|_| [nodes(&[1, 2]).repeat(10), nodes(&[3])].concat()).collect();
        let forest_of_often = forest(&often);
        assert_eq!(shown(&forest_of_often), [("1".into(), 1, vec![1, 2, 3]), ("1.1".into(), 1, vec![1, 2])]);
        assert!(forest_of_often.get(LoopId(1)).shares_header);
        let now_and_then: Vec<Node> = (0..50).flat_map(|_| nodes(&[1, 2, 1, 2, 3])).collect();
        assert_eq!(shown(&forest(&now_and_then)), [("1".into(), 1, vec![1, 2, 3])]);
    }

    #[test]
    fn a_thousand_loops_inside_each_other_are_found() {
        // Each node leads to the next one, and the last one back to all.
        let depth = 1000_u32;
        let mut sequence: Vec<u32> = (1..=depth).collect();
        (1..depth).rev().for_each(|header| sequence.extend(header..=depth));
        let forest = forest(&nodes(&sequence));
        let deepest = forest.ids().map(|id| forest.name(id).split('.').count()).max();
        assert_eq!((forest.loops().len(), deepest), (depth as usize - 1, Some(depth as usize - 1)));
    }

    /// The definition, word for word, with sets.
    struct ByDefinition {
        edges: BTreeMap<(u32, u32), u64>,
        found: Vec<(u32, Vec<u32>)>,
    }

    impl ByDefinition {
        fn new(sequence: &[Node]) -> ByDefinition {
            let mut edges = BTreeMap::new();
            for pair in sequence.windows(2) {
                *edges.entry((pair[0].number(), pair[1].number())).or_default() += 1;
            }
            let mut it = ByDefinition { edges, found: Vec::new() };
            it.search(&sequence.iter().map(|node| node.number()).collect());
            it.found.sort();
            it
        }

        /// Nodes from which a node is reached inside a set, with it.
        fn reaching(&self, node: u32, inside: &BTreeSet<u32>) -> BTreeSet<u32> {
            let (mut all, mut rest) = (BTreeSet::from([node]), vec![node]);
            while let Some(node) = rest.pop() {
                for &(from, to) in self.edges.keys() {
                    if to == node && inside.contains(&from) && all.insert(from) {
                        rest.push(from);
                    }
                }
            }
            all
        }

        fn search(&mut self, inside: &BTreeSet<u32>) {
            let mut rest = inside.clone();
            while let Some(&first) = rest.first() {
                let reaching = self.reaching(first, inside);
                let component: BTreeSet<u32> = reaching
                    .into_iter()
                    .filter(|&node| self.reaching(node, inside).contains(&first))
                    .collect();
                rest.retain(|node| !component.contains(node));
                if component.len() > 1 || self.edges.contains_key(&(first, first)) {
                    self.take_apart(component);
                }
            }
        }

        fn take_apart(&mut self, component: BTreeSet<u32>) {
            let header = *component.first().unwrap();
            let others: BTreeSet<u32> = component.iter().copied().filter(|&node| node != header).collect();
            let latches = component.iter().filter(|&&node| self.edges.contains_key(&(node, header)));
            let body = |&latch: &u32| match latch == header {
                true => BTreeSet::from([header]),
                false => &self.reaching(latch, &others) | &BTreeSet::from([header]),
            };
            let mut bodies: Vec<_> = latches.map(|latch| (body(latch), *latch)).collect();
            bodies.sort_by_key(|(body, latch)| (body.len(), *latch));
            let mut levels: Vec<(BTreeSet<u32>, u64)> = Vec::new();
            for (body, latch) in bodies {
                let passes = self.edges[&(latch, header)];
                match levels.last_mut() {
                    Some((set, sum)) if !(set.is_subset(&body) && *set != body) => {
                        (*set, *sum) = (&*set | &body, *sum + passes);
                    }
                    _ => levels.push((body, passes)),
                }
            }
            let mut at = 0;
            while at + 1 < levels.len() {
                if levels[at].1 >= 2 * levels[at + 1].1 {
                    at += 1;
                    continue;
                }
                let inner = levels.remove(at);
                levels[at] = (&levels[at].0 | &inner.0, levels[at].1 + inner.1);
                at = at.saturating_sub(1);
            }
            levels.last_mut().unwrap().0 = component;
            let mut inner = BTreeSet::from([header]);
            for (set, _) in levels {
                self.found.push((header, set.iter().copied().collect()));
                self.search(&(&set - &inner));
                inner = &inner | &set;
            }
        }
    }

    #[test]
    fn loops_are_those_of_the_definition() {
        let mut draw = random(17);
        for round in 0..3000 {
            let (alphabet, length) = (draw(9) + 1, draw(60));
            let sequence = numbered((0..length).map(|_| draw(alphabet)));
            let mut found: Vec<_> =
                shown(&forest(&sequence)).into_iter().map(|(_, header, nodes)| (header, nodes)).collect();
            found.sort();
            assert_eq!(found, ByDefinition::new(&sequence).found, "round {round}: {sequence:?}");
        }
    }

    #[test]
    fn a_graph_without_order_is_cut() {
        let mut draw = random(5);
        let without_order = Forest::new(&Graph::of(numbered((0..60_000).map(|_| draw(5000)))));
        assert!(
            without_order.is_cut() && without_order.ids().all(|id| without_order.nodes(id).next().is_some())
        );
    }

    #[test]
    fn a_cycle_of_65536_nodes_is_one_loop() {
        let cycle: Vec<Node> = (1..=65_536).chain(1..=65_536).map(Node::new).collect();
        let forest = Forest::new(&Graph::of(cycle));
        assert_eq!(forest.loops().len(), 1);
    }
}
