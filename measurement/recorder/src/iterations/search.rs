//! The search for the loop that a thread repeats, while it runs (structure 5).
//!
//! A step is a call of MPI; its node is its call path. Polls are no steps, also those that complete something, which
//! depends on timing.

use recording::iterations::Moment;
use structure::{Forest, Graph, LoopId, Node, begins_iteration, loop_totals, main_loop};

use crate::iterations::hops::Hops;

/// Least number of steps without a new node before loops are looked for.
const QUIET: u64 = 256;
/// Least number of iterations of a loop that is taken for the main loop.
const ITERATIONS: u64 = 3;
/// Number of edges from which on the thread is taken to be without structure.
const MOST_EDGES: usize = 1 << 16;
/// Maximum number of times that loops are looked for.
const MOST_LOOKS: u32 = 64;

/// The steps of a thread so far.
pub(crate) struct Search {
    /// By call path: its node; 0 if it has none.
    numbers: Vec<u32>,
    /// By node: its call path; the begin has none.
    paths: Vec<u32>,
    graph: Hops,
    /// By node: when it was visited first, and ticks in MPI until then.
    firsts: Vec<(u64, u64)>,
    /// The node of the last step.
    at: Node,
    /// Ticks in MPI so far.
    in_mpi: u64,
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
    /// By node: whether it is in the loop.
    members: Vec<bool>,
    /// Number of iterations that have begun.
    pub(crate) iterations: u64,
    /// The begin of the first one; all zero if the loop had been left and entered again before it was found.
    pub(crate) begin: Moment,
    /// Since when the thread is outside of the loop, and the ticks in MPI by then; `None` inside.
    left: Option<(u64, u64)>,
    /// Ticks outside of the loop since it was found, all and in MPI.
    outside: (u64, u64),
}

/// What a step means for the loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Passed {
    /// Nothing.
    Nothing,
    /// An iteration begins.
    Begun(u64, Moment),
    /// The loop was left with the step before, in an iteration.
    Left(u64, Moment),
    /// It has not been left: the thread comes back into the same iteration.
    Back,
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
            firsts: vec![(0, 0)],
            graph: Hops::new(),
            at: Node::BEGIN,
            in_mpi: 0,
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

    /// Adds ticks of a call, which may be a poll.
    #[inline]
    pub(crate) fn spend(&mut self, ticks: u64) {
        self.in_mpi += ticks;
    }

    /// Notes when the last call ended, so that the last step is known.
    #[inline]
    pub(crate) fn complete(&mut self, ended: u64) {
        if self.at.is_step() && self.graph.edges() < MOST_EDGES {
            self.graph.visit(self.at, ended.saturating_sub(self.ended));
        }
        self.ended = ended.max(self.ended);
    }

    /// Adds a step on a call path, when the one before is complete; the clock is asked where that matters.
    #[inline]
    pub(crate) fn step(&mut self, path: u32, clock: impl FnOnce() -> u64) -> Passed {
        let (node, clock) = match self.numbers.get(path as usize) {
            Some(&number) if number != 0 => (Node::new(number), clock),
            _ => return self.add(path, clock()),
        };
        self.pass(node, clock)
    }

    #[inline]
    fn pass(&mut self, node: Node, clock: impl FnOnce() -> u64) -> Passed {
        self.steps += 1;
        self.behind_header += 1;
        let before = std::mem::replace(&mut self.at, node);
        let Some(found) = &mut self.found else { return Passed::Nothing };
        if found.begins_at(before, node) {
            self.behind_header = 0;
            return found.begin((clock(), self.in_mpi));
        }
        if found.has(node) == found.left.is_none() {
            return Passed::Nothing;
        }
        found.cross((self.ended, self.in_mpi))
    }

    /// Adds a step on a call path that is new.
    #[cold]
    fn add(&mut self, path: u32, now: u64) -> Passed {
        let number = self.paths.len() as u32;
        if path as usize >= self.numbers.len() {
            self.numbers.resize((path as usize + 1).next_power_of_two(), 0);
        }
        self.numbers[path as usize] = number;
        self.paths.push(path);
        self.firsts.push((now, self.in_mpi));
        self.newest = self.steps + 1;
        self.look_later();
        self.pass(Node::new(number), || now)
    }

    /// The graph must stay as it is for a while, and for longer the more often it had no loop.
    fn look_later(&mut self) {
        let quiet = QUIET.max(2 * self.paths.len() as u64);
        self.next_look = self.steps + (quiet << self.failures.min(16));
    }

    /// Whether it is time to look for loops.
    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        self.steps >= self.next_look && self.graph.edges() < MOST_EDGES && self.looks < MOST_LOOKS
    }

    /// Looks for the loop that the thread repeats; returns whether it is another one than before.
    pub(crate) fn look(&mut self) -> bool {
        self.looks += 1;
        let graph = self.graph.graph();
        let Some(found) = FoundLoop::new(&graph, self.at, (&self.paths, &self.firsts)) else {
            self.failures += 1;
            self.look_later();
            return false;
        };
        self.failures = 0;
        // A loop around it may show later without any new node.
        self.next_look = self.steps + self.steps / 4;
        match &mut self.found {
            // Calls that are new may be in it.
            Some(before) if found.is(before) => before.members = found.members,
            _ => {
                self.found = Some(found);
                return true;
            }
        }
        false
    }
}

impl FoundLoop {
    /// Chooses the main loop among those that a node is in.
    fn new(graph: &Graph, at: Node, nodes: (&[u32], &[(u64, u64)])) -> Option<FoundLoop> {
        let forest = Forest::new(graph);
        let mut totals = loop_totals(graph, &forest);
        for id in forest.children(None).filter(|&id| !forest.has(id, at)) {
            totals[id.index()].ticks = -1;
        }
        let id = main_loop(&forest, &totals)?;
        if totals[id.index()].iterations < ITERATIONS || !forest.has(id, at) {
            return None;
        }
        Some(FoundLoop::of(graph, &forest, id, nodes))
    }

    fn of(graph: &Graph, forest: &Forest, id: LoopId, (paths, firsts): (&[u32], &[(u64, u64)])) -> FoundLoop {
        let header = forest.get(id).header;
        let nodes = || (0..graph.nodes.len() as u32).map(Node::new);
        let begins: Vec<bool> = nodes().map(|node| begins_iteration(forest, id, node)).collect();
        let members: Vec<bool> = nodes().map(|node| forest.has(id, node)).collect();
        let has = |node: Node| members.get(node.index()).copied().unwrap_or(false);
        let entries = graph.edges.iter().filter(|edge| has(edge.to) && !has(edge.from));
        let (time, mpi) = match entries.map(|edge| edge.count).sum() {
            1_u64 => firsts.get(header.index()).copied().unwrap_or_default(),
            _ => (0, 0),
        };
        let begin = Moment { time, mpi, outside: 0 };
        let to_header = graph.edges.iter().filter(|edge| edge.to == header);
        let begun = to_header.filter(|edge| begins[edge.from.index()]);
        let iterations = begun.map(|edge| edge.count).sum();
        let path = paths.get(header.index()).copied().unwrap_or(0);
        FoundLoop { header, path, begins, members, iterations, begin, left: None, outside: (0, 0) }
    }

    /// Whether it is another one: the header's call is the same also of loops in each other, of which the outer one has
    /// fewer iterations.
    fn is(&self, before: &FoundLoop) -> bool {
        self.header == before.header && 2 * self.iterations >= before.iterations
    }

    /// Whether a step begins an iteration.
    #[inline]
    fn begins_at(&self, before: Node, node: Node) -> bool {
        node == self.header && self.begins.get(before.index()).copied().unwrap_or(true)
    }

    /// Whether a node is in the loop. One that is new is not, as far as is known.
    #[inline]
    fn has(&self, node: Node) -> bool {
        self.members.get(node.index()).copied().unwrap_or(false)
    }

    /// Begins an iteration, at that time and with so many ticks in MPI before it.
    fn begin(&mut self, (time, in_mpi): (u64, u64)) -> Passed {
        if let Some((left, in_mpi_then)) = self.left.take() {
            self.outside.0 += time.saturating_sub(left);
            self.outside.1 += in_mpi - in_mpi_then;
        }
        self.iterations += 1;
        Passed::Begun(self.iterations, self.moment((time, in_mpi)))
    }

    /// Goes out of the loop, with the step that ended at that time, or back into it. Who comes back at the header begins an
    /// iteration; who comes back elsewhere has not left it.
    #[cold]
    fn cross(&mut self, ended: (u64, u64)) -> Passed {
        match self.left.take() {
            Some(_) => Passed::Back,
            None => {
                self.left = Some(ended);
                Passed::Left(self.iterations, self.moment(ended))
            }
        }
    }

    fn moment(&self, (time, in_mpi): (u64, u64)) -> Moment {
        let (outside, in_mpi_outside) = self.outside;
        Moment { time, mpi: in_mpi - in_mpi_outside, outside }
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
            search.step(path, || ended);
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

    /// What is passed when a loop of five calls of 3 ticks, one begun every 10 ticks, has been found and further calls follow.
    fn passed_behind_a_loop(paths: &[u32]) -> Vec<(u32, Passed)> {
        let mut search = Search::new(0);
        let mut passed = Vec::new();
        for (path, begin) in loop_of_five(60).chain(paths.iter().copied()).zip((1_000..).step_by(10)) {
            if begin > 1_000 {
                search.spend(3);
            }
            search.complete(begin - 7);
            if search.is_due() {
                search.look();
            }
            let it = search.step(path, || begin);
            if begin >= 1_000 + 10 * 303 {
                passed.push((path, it));
            }
        }
        let begin = search.found().unwrap().begin;
        // The first of its calls is behind three others.
        assert_eq!(begin, Moment { time: 1_030, mpi: 9, outside: 0 });
        passed
    }

    #[test]
    fn time_outside_of_the_loop_is_that_between_leaving_it_and_its_next_begin() {
        let mut moments = passed_behind_a_loop(&[20, 21, 60, 20, 21]);
        moments.retain(|(_, passed)| *passed != Passed::Nothing);
        let at = |time, mpi, outside| Moment { time, mpi, outside };
        let expected = [
            (20, Passed::Begun(61, at(4_030, 909, 0))),
            // The call before ended at 4043, behind 305 calls; the one outside lasts 3 ticks.
            (60, Passed::Left(61, at(4_043, 915, 0))),
            (20, Passed::Begun(62, at(4_060, 915, 17))),
        ];
        assert_eq!(moments, expected);
    }

    #[test]
    fn loop_is_not_left_by_a_call_in_the_middle_of_an_iteration() {
        let mut moments = passed_behind_a_loop(&[20, 60, 22, 20]);
        moments.retain(|(_, passed)| *passed != Passed::Nothing);
        let paths: Vec<u32> = moments.iter().map(|&(path, _)| path).collect();
        assert_eq!(paths, [20, 60, 22, 20]);
        assert_eq!(moments[2].1, Passed::Back);
        let last = Moment { time: 4_060, mpi: 918, outside: 0 };
        assert_eq!(moments[3].1, Passed::Begun(62, last));
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
        assert!(search.graph.edges() == MOST_EDGES && search.looks <= MOST_LOOKS);
    }
}
