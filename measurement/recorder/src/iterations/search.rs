//! The search for the loop that a thread repeats, while it runs (structure 5).
//!
//! A step is a call of MPI; its node is its call path. Polls are no steps, also those that complete something, which
//! depends on timing.

use structure::{Forest, Graph, GraphBuilder, LoopId, Node, Step, begins_iteration, loop_totals, main_loop};

/// Least number of steps without a new node before loops are looked for.
const QUIET: u64 = 256;
/// Least number of iterations of a loop that is taken for the main loop.
const ITERATIONS: u64 = 3;
/// Number of edges from which on the thread is taken to be without structure.
const MOST_EDGES: u32 = 1 << 16;
/// Maximum number of times that loops are looked for.
const MOST_LOOKS: u32 = 64;

/// The steps of a thread so far.
pub(crate) struct Search {
    /// By call path: its node; 0 if it has none.
    numbers: Vec<u32>,
    /// By node: its call path; the begin has none.
    paths: Vec<u32>,
    graph: GraphBuilder,
    edges: u32,
    /// The node of the last step.
    at: Node,
    /// When the last call before it ended.
    ended: u64,
    steps: u64,
    /// How many steps there were behind the last header.
    behind_header: u64,
    /// The step that was the first of its node.
    newest: u64,
    /// The step at which loops are looked for next.
    next_look: u64,
    looks: u32,
    /// How often no loop was found since one was.
    failures: u32,
    /// The loop that the thread repeats, if one has been found.
    found: Option<FoundLoop>,
}

/// A loop that a thread repeats.
pub(crate) struct FoundLoop {
    header: Node,
    /// Call path of the header.
    pub(crate) path: u32,
    /// By node: whether a step at the header begins an iteration if the step before was there.
    begins: Vec<bool>,
    /// Number of iterations that have begun.
    pub(crate) iterations: u64,
}

/// Figures of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Extent {
    pub(crate) nodes: u32,
    pub(crate) steps: u64,
    /// The step that was the first of its node.
    pub(crate) newest: u64,
}

impl Search {
    pub(crate) fn new(now: u64) -> Search {
        Search {
            numbers: Vec::new(),
            paths: vec![0],
            graph: GraphBuilder::default(),
            edges: 0,
            at: Node::BEGIN,
            ended: now,
            steps: 0,
            behind_header: 0,
            newest: 0,
            next_look: QUIET,
            looks: 0,
            failures: 0,
            found: None,
        }
    }

    pub(crate) fn extent(&self) -> Extent {
        Extent { nodes: self.paths.len() as u32 - 1, steps: self.steps, newest: self.newest }
    }

    /// The loop that the thread repeats, if one has been found.
    pub(crate) fn found(&self) -> Option<&FoundLoop> {
        self.found.as_ref()
    }

    /// How many steps there were behind the last header.
    pub(crate) fn behind_header(&self) -> u64 {
        self.behind_header
    }

    /// Notes when the last call ended, so that the last step is known.
    #[inline]
    pub(crate) fn complete(&mut self, ended: u64) {
        if self.at.is_step() && self.edges < MOST_EDGES {
            let ticks = ended.saturating_sub(self.ended) as i64;
            let edge = self.graph.visit(self.at, &Step { ticks, ..Step::default() });
            self.edges = self.edges.max(edge + 1);
        }
        self.ended = ended.max(self.ended);
    }

    /// Adds a step on a call path, when the one before is complete. Returns the number of the iteration that it begins, if
    /// it begins one.
    #[inline]
    pub(crate) fn step(&mut self, path: u32) -> Option<u64> {
        let node = match self.numbers.get(path as usize) {
            Some(&number) if number != 0 => Node::new(number),
            _ => self.add(path),
        };
        self.steps += 1;
        self.behind_header += 1;
        let before = std::mem::replace(&mut self.at, node);
        let iteration = self.found.as_mut()?.step(before, node)?;
        self.behind_header = 0;
        Some(iteration)
    }

    /// Numbers a call path that is new.
    #[cold]
    fn add(&mut self, path: u32) -> Node {
        let number = self.paths.len() as u32;
        if path as usize >= self.numbers.len() {
            self.numbers.resize((path as usize + 1).next_power_of_two(), 0);
        }
        self.numbers[path as usize] = number;
        self.paths.push(path);
        self.newest = self.steps + 1;
        self.look_later();
        Node::new(number)
    }

    /// The graph must stay as it is for a while, and for longer the more often it had no loop.
    fn look_later(&mut self) {
        let quiet = QUIET.max(2 * self.paths.len() as u64);
        self.next_look = self.steps + (quiet << self.failures.min(16));
    }

    /// Whether it is time to look for loops.
    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        self.steps >= self.next_look && self.edges < MOST_EDGES && self.looks < MOST_LOOKS
    }

    /// Looks for the loop that the thread repeats; returns whether it is another one than before.
    pub(crate) fn look(&mut self) -> bool {
        self.looks += 1;
        let graph = self.graph.clone().finish(&Step::default()).1;
        let Some(found) = FoundLoop::new(&graph, self.at, &self.paths) else {
            self.failures += 1;
            self.look_later();
            return false;
        };
        self.failures = 0;
        // A loop around it may show later without any new node.
        self.next_look = self.steps + self.steps / 4;
        let is_other = self.found.as_ref().is_none_or(|before| !found.is(before));
        if is_other {
            self.found = Some(found);
        }
        is_other
    }
}

impl FoundLoop {
    /// Chooses the main loop among those that a node is in.
    fn new(graph: &Graph, at: Node, paths: &[u32]) -> Option<FoundLoop> {
        let forest = Forest::new(graph);
        let mut totals = loop_totals(graph, &forest);
        for id in forest.children(None).filter(|&id| !forest.has(id, at)) {
            totals[id.index()].ticks = -1;
        }
        let id = main_loop(&forest, &totals)?;
        if totals[id.index()].iterations < ITERATIONS || !forest.has(id, at) {
            return None;
        }
        Some(FoundLoop::of(graph, &forest, id, paths))
    }

    fn of(graph: &Graph, forest: &Forest, id: LoopId, paths: &[u32]) -> FoundLoop {
        let header = forest.get(id).header;
        let begins: Vec<bool> =
            (0..graph.nodes.len() as u32).map(|node| begins_iteration(forest, id, Node::new(node))).collect();
        let to_header = graph.edges.iter().filter(|edge| edge.to == header);
        let begun = to_header.filter(|edge| begins[edge.from.index()]);
        let iterations = begun.map(|edge| edge.count).sum();
        let path = paths.get(header.index()).copied().unwrap_or(0);
        FoundLoop { header, path, begins, iterations }
    }

    /// Whether it is another one: the header's call is the same also of loops in each other, of which the outer one has
    /// fewer iterations.
    fn is(&self, before: &FoundLoop) -> bool {
        self.header == before.header && 2 * self.iterations >= before.iterations
    }

    /// Returns the number of the iteration that a step begins, if it begins one.
    #[inline]
    fn step(&mut self, before: Node, node: Node) -> Option<u64> {
        if node != self.header || !self.begins.get(before.index()).copied().unwrap_or(true) {
            return None;
        }
        self.iterations += 1;
        Some(self.iterations)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What was found in steps of ten ticks each: call path of the header, iterations by then, and steps by then.
    fn found(paths: impl IntoIterator<Item = u32>) -> (Search, Vec<(u32, u64, u64)>) {
        let (mut search, mut found) = (Search::new(0), Vec::new());
        for (path, ended) in paths.into_iter().zip((0..).step_by(10)) {
            search.complete(ended);
            if search.is_due() && search.look() {
                let it = search.found().unwrap();
                found.push((it.path, it.iterations, search.steps));
            }
            search.step(path);
        }
        (search, found)
    }

    /// A loop of five calls, behind three others.
    fn loop_of_five(iterations: usize) -> impl Iterator<Item = u32> {
        (10..13).chain((20..25).cycle().take(5 * iterations))
    }

    #[test]
    fn loop_is_found_when_nothing_is_new_and_its_iterations_are_counted_from_the_first_one() {
        let (search, loops) = found(loop_of_five(300));
        assert_eq!(loops, [(20, 52, 263)]);
        assert_eq!(search.found().unwrap().iterations, 300);
        assert_eq!(search.extent(), Extent { nodes: 8, steps: 1503, newest: 8 });
    }

    #[test]
    fn iterations_do_not_depend_on_when_the_loop_is_found() {
        for odd in 0..100 {
            // A call that comes once, in some iteration, puts off the end of the search.
            let steps = loop_of_five(odd).chain([60]).chain(loop_of_five(300 - odd).skip(3));
            let (search, _) = found(steps);
            assert_eq!(search.found().unwrap().iterations, 300, "behind {odd}");
        }
    }

    #[test]
    fn loop_around_the_one_that_was_found_replaces_it_without_anything_new() {
        let outer = || [1, 2].into_iter().chain([3, 4].into_iter().cycle().take(600)).chain([5]);
        let (search, loops) = found((0..40).flat_map(|_| outer()));
        let headers: Vec<u32> = loops.iter().map(|&(path, ..)| path).collect();
        assert_eq!(headers, [3, 1], "{loops:?}");
        assert_eq!(search.found().unwrap().iterations, 40);
        // Once it has three iterations.
        assert!(loops[1].1 < 6, "{loops:?}");
    }

    #[test]
    fn calls_that_never_come_again_are_no_loop() {
        let (search, loops) = found(0..5000);
        assert_eq!((loops.len(), search.looks), (0, 0));
        assert_eq!(search.extent(), Extent { nodes: 5000, steps: 5000, newest: 5000 });
    }

    #[test]
    fn search_ends_when_there_are_too_many_edges() {
        let mut state = 1_u64;
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as u32 % 1000
        };
        let (search, _) = found((0..200_000).map(|_| draw()));
        assert!(search.edges == MOST_EDGES && search.looks <= MOST_LOOKS);
    }
}
