//! Structure of one location: its sequence of nodes, their graph, loops and iterations (structure 2.3 to 2.9).

use model::Ticks;
use rustc_hash::FxHashMap;
use structure::{Forest, Graph, GraphBuilder, Iteration, LoopId, LoopTotals, Node, Step};

use crate::call_tree::{CallPath, NO_SITE};
use crate::ids::PathId;
use crate::int::to_u32;
use crate::walk::{Steps, TimedStep};

/// What distinguishes nodes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Level {
    /// Call paths with known call sites: each call of the source is a node.
    Site,
    /// Call paths without call sites, and what is begun in the calls.
    Shape,
    /// Call paths without call sites.
    Path,
}

/// The structure of a location at a level.
#[derive(Clone, Debug)]
pub(crate) struct Local {
    /// The node of each step, by the level's key.
    pub(crate) base: Vec<Node>,
    /// The place of each step in the program: its node where call sites are known, else its virtual site.
    pub(crate) sequence: Vec<Node>,
    /// The graph of these.
    pub(crate) graph: Graph,
    pub(crate) forest: Forest,
    /// Time and iterations of each loop.
    pub(crate) totals: Vec<LoopTotals>,
}

impl Local {
    /// Finds the structure of a location.
    pub(crate) fn new(steps: &Steps, level: Level) -> Local {
        let base = nodes(steps, level);
        let sequence = match level {
            Level::Site => base.clone(),
            Level::Shape | Level::Path => structure::sites(&base),
        };
        let graph = graph(steps, &sequence);
        let forest = Forest::new(&graph);
        let borders = Borders::new(steps);
        let mut totals = vec![LoopTotals::default(); forest.loops().len()];
        structure::iterations(&forest, sequence.iter().copied(), |id, iteration| {
            let totals = &mut totals[id.index()];
            totals.iterations += 1;
            totals.ticks = totals.ticks.saturating_add(borders.ticks(iteration));
        });
        Local { base, sequence, graph, forest, totals }
    }

    /// The iterations of a loop, and the word of each, by the order in which words first occur.
    pub(crate) fn iterations(&self, id: LoopId) -> (Vec<Iteration>, Vec<u32>) {
        let mut all: Vec<Vec<Iteration>> = vec![Vec::new(); self.forest.loops().len()];
        structure::iterations(&self.forest, self.sequence.iter().copied(), |of, iteration| {
            all[of.index()].push(iteration);
        });
        let words = structure::words(&self.forest, &self.sequence, &all, Some(id)).of_iterations;
        (all.swap_remove(id.index()), words)
    }
}

/// When iterations begin and end.
#[derive(Clone, Debug)]
pub(crate) struct Borders {
    enters: Vec<Ticks>,
    /// The leave of the last step.
    end: Ticks,
}

impl Borders {
    /// Takes the times of steps.
    pub(crate) fn new(steps: &Steps) -> Borders {
        let end = steps.iter().last().map_or(0, |step| step.leave);
        Borders { enters: steps.iter().map(|step| step.enter).collect(), end }
    }

    /// The times at which steps were entered.
    pub(crate) fn into_enters(self) -> Vec<Ticks> {
        self.enters
    }

    /// The time of an iteration: from the enter of its first step to that of the step behind its last one.
    pub(crate) fn ticks(&self, iteration: Iteration) -> Ticks {
        let end = self.enters.get(iteration.end as usize).copied().unwrap_or(self.end);
        end - self.enters[iteration.first as usize]
    }
}

/// The number of steps with known call sites: their own, or that of their caller. A call's line stands with its caller.
pub(crate) fn with_sites(steps: &Steps, paths: &[CallPath]) -> usize {
    let has_site = |path: PathId| paths.get(path.index()).is_some_and(|path| path.site != NO_SITE);
    let is_known =
        |path: PathId| has_site(path) || paths.get(path.index()).is_some_and(|path| has_site(path.parent));
    let known: Vec<bool> = steps.keys.iter().map(|key| is_known(key.path)).collect();
    steps.iter().filter(|step| known[step.key as usize]).count()
}

/// The node of each step.
fn nodes(steps: &Steps, level: Level) -> Vec<Node> {
    // Keys are numbered by first occurrence, as nodes are.
    let mut numbers: FxHashMap<PathId, u32> = FxHashMap::default();
    let of_key: Vec<Node> = match level {
        Level::Shape => (1..=to_u32(steps.keys.len())).map(Node::new).collect(),
        Level::Site | Level::Path => {
            let number = |key: &crate::walk::StepKey| {
                let next = to_u32(numbers.len() + 1);
                Node::new(*numbers.entry(key.path).or_insert(next))
            };
            steps.keys.iter().map(number).collect()
        }
    };
    steps.iter().map(|step| of_key[step.key as usize]).collect()
}

/// The graph of a sequence of nodes, with times.
fn graph(steps: &Steps, sequence: &[Node]) -> Graph {
    let mut builder = GraphBuilder::default();
    let mut now = steps.begin;
    let mut polls = steps.polls.iter().peekable();
    let mut polls_before =
        |step: u32| polls.next_if(|(before, _)| *before == step).map(|&(_, polls)| polls).unwrap_or_default();
    for (number, (TimedStep { enter, leave, .. }, &node)) in (0..).zip(steps.iter().zip(sequence)) {
        // Bytes are those of keys: they are added to nodes below.
        let step = Step { since: enter - now, ticks: leave - enter, bytes: 0, polls: polls_before(number) };
        builder.visit(node, &step);
        now = leave;
    }
    let last = Step { polls: polls_before(to_u32(sequence.len())), ..Step::default() };
    builder.finish(&last).1
}
