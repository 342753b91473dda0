//! Structure of one location: its sequence of nodes, their graph, loops and iterations (structure 2.3 to 2.9).

use model::Ticks;
use rustc_hash::FxHashMap;
use structure::{Forest, Graph, GraphBuilder, Iteration, Iterations, LoopId, LoopTotals, Node, Step};

use crate::call_tree::{CallPath, NO_SITE};
use crate::focus::Window;
use crate::ids::PathId;
use crate::int::{to_u32, to_u64};
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
    /// Regions of MPI: where there are too many call paths.
    Region,
}

/// Nodes that a location may have at a level.
pub(super) const NODES: usize = 1 << 16;

/// The structure of a location at a level.
#[derive(Clone, Debug)]
pub(crate) struct Local {
    /// The level: a coarser one than was asked for if there were too many nodes.
    pub(crate) level: Level,
    /// Whether there were too many nodes, or loops nest too deep to look at all.
    pub(crate) is_irregular: bool,
    /// The node of each step, by the level's key.
    pub(crate) base: Vec<Node>,
    /// The place of each step in the program: its node where call sites are known, else its virtual site.
    pub(crate) sequence: Vec<Node>,
    /// The graph of these.
    pub(crate) graph: Graph,
    pub(crate) forest: Forest,
    /// The iterations of each loop.
    pub(crate) iterations: Iterations,
    /// Time and iterations of each loop.
    pub(crate) totals: Vec<LoopTotals>,
}

/// An iteration of a location, with its times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OwnIteration {
    /// Its first step.
    pub first: u32,
    /// The step behind its last one.
    pub behind: u32,
    /// Whether an instance of the loop begins or ends with it.
    pub is_border: bool,
    /// When it begins: at the enter of its first step.
    pub begin: Ticks,
    /// The enter of its last step.
    pub last_enter: Ticks,
    /// When it ends: at the enter of the step behind it; where the loop is left, at the leave of its last step.
    pub end: Ticks,
    /// Ticks in calls of MPI.
    pub in_mpi: Ticks,
    /// Whether recording was off in between.
    pub has_gap: bool,
}

impl OwnIteration {
    /// From begin to end.
    pub(super) fn window(&self) -> Window {
        Window { begin: self.begin, end: self.end }
    }
}

impl Local {
    /// Finds the structure of a location.
    pub(crate) fn new(steps: &Steps, paths: &[CallPath], wanted: Level) -> Local {
        let mut level = wanted;
        let mut base = nodes(steps, paths, level);
        while base.1 > NODES {
            level = match level {
                Level::Shape => Level::Path,
                Level::Site | Level::Path => Level::Region,
                Level::Region => break,
            };
            base = nodes(steps, paths, level);
        }
        let base = base.0;
        let sites = if level == Level::Site { None } else { Some(structure::sites(&base)) };
        // The places of a sequence that does not fold are no sites.
        let has_too_many = |sites: &Vec<Node>| sites.iter().any(|site| site.index() > NODES);
        let is_unfolded = sites.as_ref().is_some_and(has_too_many);
        let sequence = sites.filter(|_| !is_unfolded).unwrap_or_else(|| base.clone());
        let graph = graph(steps, &sequence);
        let forest = Forest::new(&graph);
        let mut iterations: Iterations = vec![Vec::new(); forest.loops().len()];
        structure::iterations(&forest, sequence.iter().copied(), |id, iteration| {
            iterations[id.index()].push(iteration);
        });
        let totals = totals(steps, &iterations);
        let is_irregular = level != wanted || is_unfolded || forest.is_cut();
        Local { level, is_irregular, base, sequence, graph, forest, iterations, totals }
    }

    /// The iterations of a loop with their times, and the word of each, by the order in which words first occur.
    pub(crate) fn timed(&self, steps: &Steps, id: LoopId) -> (Vec<OwnIteration>, Vec<u32>) {
        let words = structure::word_numbers(&self.forest, &self.sequence, &self.iterations, id);
        (timed(steps, &self.iterations[id.index()]), words)
    }
}

/// Recorded time and number of the iterations of each loop.
fn totals(steps: &Steps, iterations: &Iterations) -> Vec<LoopTotals> {
    // The enter of each step, and the leave of the last one.
    let mut enters: Vec<Ticks> = Vec::with_capacity(steps.len() + 1);
    let mut last = None;
    for (enter, leave) in steps.recorded() {
        enters.push(enter);
        last = Some(leave);
    }
    enters.extend(last);
    let ticks = |it: &Iteration| enters[it.end as usize] - enters[it.first as usize];
    let total = |all: &Vec<Iteration>| LoopTotals {
        ticks: all.iter().map(ticks).fold(0, Ticks::saturating_add),
        iterations: to_u64(all.len()),
    };
    iterations.iter().map(total).collect()
}

/// Adds times to iterations of one loop.
fn timed(steps: &Steps, iterations: &[Iteration]) -> Vec<OwnIteration> {
    let mut timed: Vec<OwnIteration> = Vec::with_capacity(iterations.len());
    let mut rest = iterations.iter().peekable();
    let mut polls = steps.polls.iter().peekable();
    let mut open: Option<OwnIteration> = None;
    let is_gap: Vec<bool> = steps.keys.iter().map(|key| key.is_gap).collect();
    let mut cuts = steps.cuts.iter().peekable();
    // Ticks in MPI so far, and when the step before was left.
    let (mut in_mpi, mut left): (Ticks, Ticks) = (0, 0);
    for (number, TimedStep { key, enter, leave }) in (0..).zip(steps.iter()) {
        let polled = polls.next_if(|(before, _)| *before == number).map_or(0, |(_, polls)| polls.ticks);
        let cut = cuts.next_if(|(before, _)| *before == number).map(|(_, [since, _])| *since);
        if let Some(mut ended) = open.take_if(|open| open.behind == number) {
            // Polls between two iterations are in the former, those behind the loop in none. An iteration that is cut out of the
            // run ends where that was done.
            let goes_on = rest.peek().is_some_and(|next| next.first == number);
            let end = cut.unwrap_or(if goes_on { enter } else { left });
            let polled = if goes_on || cut.is_some() { polled } else { 0 };
            (ended.end, ended.in_mpi) = (end, in_mpi + polled - ended.in_mpi);
            ended.is_border |= !goes_on;
            timed.push(ended);
        }
        in_mpi += polled;
        if let Some(&Iteration { first, end, begins_instance }) = rest.next_if(|next| next.first == number) {
            let is_border = begins_instance;
            open = Some(OwnIteration {
                first,
                behind: end,
                is_border,
                begin: enter,
                last_enter: enter,
                end: enter,
                in_mpi,
                has_gap: false,
            });
        }
        if let Some(open) = &mut open {
            open.last_enter = enter;
            open.has_gap |= is_gap[key as usize] || cut.is_some() && open.first != number;
        }
        // What was done while recording was off is not known.
        in_mpi += if is_gap[key as usize] { 0 } else { leave - enter };
        left = leave;
    }
    if let Some(ended) = open {
        timed.push(OwnIteration { end: left, in_mpi: in_mpi - ended.in_mpi, is_border: true, ..ended });
    }
    timed
}

/// The number of steps with known call sites: their own, or that of their caller. A call's line stands with its caller.
pub(crate) fn with_sites(steps: &Steps, paths: &[CallPath]) -> usize {
    let has_site = |path: PathId| paths.get(path.index()).is_some_and(|path| path.site != NO_SITE);
    let is_known =
        |path: PathId| has_site(path) || paths.get(path.index()).is_some_and(|path| has_site(path.parent));
    let known: Vec<bool> = steps.keys.iter().map(|key| is_known(key.path)).collect();
    steps.key_numbers().filter(|&key| known[key as usize]).count()
}

/// The node of each step, and how many nodes there are.
fn nodes(steps: &Steps, paths: &[CallPath], level: Level) -> (Vec<Node>, usize) {
    // Keys are numbered by first occurrence, as nodes are.
    let mut numbers: FxHashMap<u32, u32> = FxHashMap::default();
    let mut number = |of: u32| {
        let next = to_u32(numbers.len() + 1);
        Node::new(*numbers.entry(of).or_insert(next))
    };
    let of_key: Vec<Node> = match level {
        Level::Shape => (1..=to_u32(steps.keys.len())).map(Node::new).collect(),
        Level::Site | Level::Path => steps.keys.iter().map(|key| number(to_u32(key.path.index()))).collect(),
        Level::Region => steps.keys.iter().map(|key| number(paths[key.path.index()].region)).collect(),
    };
    let count = of_key.iter().map(|node| node.index()).max().unwrap_or(0);
    (steps.key_numbers().map(|key| of_key[key as usize]).collect(), count)
}

/// The graph of a sequence of nodes, with times.
fn graph(steps: &Steps, sequence: &[Node]) -> Graph {
    let mut builder = GraphBuilder::default();
    let mut now = steps.begin;
    let mut cuts = steps.cuts.iter().peekable();
    let mut polls = steps.polls.iter().peekable();
    let mut polls_before =
        |step: u32| polls.next_if(|(before, _)| *before == step).map(|&(_, polls)| polls).unwrap_or_default();
    for (number, (TimedStep { enter, leave, .. }, &node)) in (0..).zip(steps.iter().zip(sequence)) {
        // What was not recorded is on no edge. Bytes are those of keys: they are added to nodes below.
        let cut = cuts.next_if(|(before, _)| *before == number);
        let off = cut.map_or(0, |(_, [begin, end])| end - begin);
        let since = (enter - now - off).max(0);
        let step = Step { since, ticks: leave - enter, bytes: 0, polls: polls_before(number) };
        builder.visit(node, &step);
        now = leave;
    }
    let last = Step { polls: polls_before(to_u32(sequence.len())), ..Step::default() };
    builder.finish(&last).1
}
