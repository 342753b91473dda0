//! Shapes: what the locations of a group do repeatedly. Graph, order, loops and words of its lowest location (structure 2.4, 2.5,
//! 2.6, 2.11).
//!
//! Shapes stay at the worker that has the location, until call paths have numbers of the report: `details` brings them together.

use std::cmp::Reverse;

use model::Ticks;
use structure::{Graph, Iteration, LoopId, Node, TemporalGraph, Times, Word};

use super::groups::{Group, Groups};
use super::local::{Level, Local};
use crate::error::Error;
use crate::exchange::batch::BatchReader;
use crate::exchange::{Batch, Exchange, broadcast, reduce};
use crate::ids::PathId;
use crate::int::{to_u32, to_u64};
use crate::walk::{Steps, Walked};
use crate::wire::{Wire, batch_of, one, wire};

/// Groups whose shapes are kept: those with most time.
const GROUPS: usize = 64;

/// Loops of a group whose words are looked for: those with most time.
const LOOPS: usize = 1 << 10;

/// Words of a loop that are kept: those of most iterations.
const WORDS: usize = 64;

/// Steps and instances in all words of a group that are kept, and progressions of a guard.
const PARTS: usize = 1 << 16;
const PROGRESSIONS: usize = 1 << 8;

/// Bytes of the order of a group.
const ORDER: usize = 1 << 18;

/// Groups of locations, of all workers.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct AllGroups {
    /// Those whose shapes are kept, that with most time first.
    pub kept: Vec<Group>,
    /// How many others there are.
    pub others: u64,
    /// The locations of these.
    pub other_locations: u64,
    /// The ticks of these.
    pub other_ticks: Ticks,
}

wire!(AllGroups { kept, others, other_locations, other_ticks });

/// The shapes of the groups, as far as this worker has their lowest locations.
#[derive(Clone, Debug, Default)]
pub struct Shapes {
    /// All groups, the same at each worker.
    pub groups: AllGroups,
    /// Shapes, by number of the group.
    pub own: Vec<Shape>,
}

/// What the locations of a group do repeatedly.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The number of the group.
    pub group: u32,
    /// Place of the process among those of this worker, whose call paths the sites have.
    pub process: usize,
    /// What distinguishes nodes: 0 call sites, 1 call paths and what is begun in calls, 2 call paths, 3 functions.
    pub level: u8,
    /// The number of steps.
    pub steps: u64,
    /// By node from 1: where it is.
    pub sites: Vec<Site>,
    /// The graph.
    pub graph: Graph,
    /// Bytes of the temporal graph, which has the order of all steps; `None` if they would be too many.
    pub order: Option<Vec<u8>>,
    /// The main loop, by number.
    pub main: Option<u32>,
    /// The loops, each before those inside it.
    pub loops: Vec<LoopShape>,
    /// Words of the whole sequence and of loops: those of each loop together, by first occurrence.
    pub words: Vec<LoopWord>,
}

/// Where a node is in the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Site {
    /// Number of the node by its level's key alone; several places without call sites may have the same.
    pub key: u32,
    /// The call path of its first visit, in the process's tree.
    pub path: PathId,
    /// The number of the innermost loop around it.
    pub around: Option<u32>,
    /// Whether it is no call, but the time for which recording was off.
    pub is_gap: bool,
}

/// A loop of a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LoopShape {
    /// The number of the loop around it.
    pub parent: Option<u32>,
    /// Its header.
    pub header: Node,
    /// The number of its iterations.
    pub iterations: u64,
    /// The number of its instances.
    pub instances: u64,
    /// Iterations of the instance with fewest, and of that with most.
    pub of_instance: [u64; 2],
    /// Ticks of its iterations, as far as they were recorded.
    pub times: Times,
    /// How many different words there are; 0 if they were not looked for.
    pub words: u64,
}

/// A word of a loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoopWord {
    /// The number of the loop; `None` for the whole sequence.
    pub of: Option<u32>,
    /// Its number, by first occurrence.
    pub number: u32,
    /// The word. A guard of very many progressions is left out.
    pub word: Word,
}

/// Finds the shapes of the groups with most time.
///
/// # Errors
/// If a worker failed.
pub(super) fn find(
    groups: &Groups,
    processes: &[Walked],
    exchange: &mut dyn Exchange,
) -> Result<Shapes, Error> {
    let all = of_all(groups.own.clone(), exchange)?;
    let mut own = Vec::new();
    let places = processes
        .iter()
        .enumerate()
        .flat_map(|(at, walked)| walked.steps.iter().zip(&walked.process.locations).map(move |it| (at, it)));
    let locals = groups.locals.iter().zip(&groups.main);
    for ((local, &main), (process, (steps, location))) in locals.zip(places) {
        let is_lowest = |group: &Group| group.location == to_u32(location.location);
        if let Some(group) = all.kept.iter().position(is_lowest) {
            own.push(shape((to_u32(group), process), (local, main), steps));
        }
    }
    own.sort_unstable_by_key(|shape| shape.group);
    Ok(Shapes { groups: all, own })
}

/// The groups of all workers; `own` are those that this worker has added up.
fn of_all(own: Vec<Group>, exchange: &mut dyn Exchange) -> Result<AllGroups, Error> {
    let encode = |all: &AllGroups| batch_of([all]);
    let mut all = AllGroups { kept: own, ..AllGroups::default() };
    all.cut();
    let all = reduce(exchange, all, encode, |all, batch| {
        let more = AllGroups::get(&mut BatchReader::new(batch));
        all.kept.extend(more.kept);
        all.others += more.others;
        all.other_locations += more.other_locations;
        all.other_ticks = all.other_ticks.saturating_add(more.other_ticks);
        all.cut();
    })?;
    let told: Batch = if exchange.worker() == 0 { encode(&all) } else { Batch::new() };
    Ok(one(&broadcast(exchange, told)?))
}

impl AllGroups {
    /// Keeps those with most time, of equals those with the lowest locations.
    fn cut(&mut self) {
        self.kept.sort_unstable_by_key(|group| (Reverse(group.ticks), group.location));
        for group in self.kept.drain(GROUPS.min(self.kept.len())..) {
            self.others += 1;
            self.other_locations += group.locations;
            self.other_ticks = self.other_ticks.saturating_add(group.ticks);
        }
    }
}

/// The shape of a group, from its lowest location.
fn shape((group, process): (u32, usize), (local, main): (&Local, Option<LoopId>), steps: &Steps) -> Shape {
    let times = times(local, steps);
    let (words, counts) = words(local, &times);
    let instances = |all: &[Iteration]| -> Vec<u64> {
        all.chunk_by(|_, next| !next.begins_instance).map(|instance| to_u64(instance.len())).collect()
    };
    let loops = local.forest.ids().zip(times).zip(counts).map(|((id, times), words)| {
        let it = local.forest.get(id);
        let instances = instances(&local.iterations[id.index()]);
        let of_instance = [instances.iter().min(), instances.iter().max()];
        LoopShape {
            parent: it.parent.map(number),
            header: it.header,
            iterations: instances.iter().sum(),
            instances: to_u64(instances.len()),
            of_instance: of_instance.map(|count| count.copied().unwrap_or(0)),
            times,
            words,
        }
    });
    let order = TemporalGraph::of(local.sequence.iter().copied()).map(|order| order.encode());
    Shape {
        group,
        process,
        level: match local.level {
            Level::Site => 0,
            Level::Shape => 1,
            Level::Path => 2,
            Level::Region => 3,
        },
        steps: to_u64(steps.len()),
        sites: sites(local, steps),
        graph: local.graph.clone(),
        order: order.filter(|order| order.len() <= ORDER),
        main: main.map(number),
        loops: loops.collect(),
        words,
    }
}

fn number(id: LoopId) -> u32 {
    to_u32(id.index())
}

/// Where each node is.
fn sites(local: &Local, steps: &Steps) -> Vec<Site> {
    let mut sites: Vec<Site> = Vec::with_capacity(local.graph.nodes.len());
    for ((key, base), &node) in steps.key_numbers().zip(&local.base).zip(&local.sequence) {
        if node.index() > sites.len() {
            let key = steps.keys[key as usize];
            sites.push(Site {
                key: base.number(),
                path: key.path,
                around: local.forest.around(node).map(number),
                is_gap: key.is_gap,
            });
        }
    }
    sites
}

/// The times of the iterations of each loop (structure 2.7), without those for which recording was off.
fn times(local: &Local, steps: &Steps) -> Vec<Times> {
    let (enters, leaves): (Vec<Ticks>, Vec<Ticks>) = steps.recorded().unzip();
    let of_loop = |all: &Vec<Iteration>| {
        let mut times = Times::default();
        for (at, it) in all.iter().enumerate() {
            let goes_on = all.get(at + 1).is_some_and(|next| !next.begins_instance);
            let end = if goes_on { enters[it.end as usize] } else { leaves[it.end as usize - 1] };
            times.add(end - enters[it.first as usize]);
        }
        times
    };
    local.iterations.iter().map(of_loop).collect()
}

/// The words that are kept, and the number of different ones by loop.
fn words(local: &Local, times: &[Times]) -> (Vec<LoopWord>, Vec<u64>) {
    let Local { forest, sequence, iterations, .. } = local;
    let mut longest: Vec<LoopId> = forest.ids().collect();
    longest.sort_unstable_by_key(|&id| (Reverse(times[id.index()].sum), id));
    let mut counts = vec![0; times.len()];
    let mut kept: Vec<LoopWord> = Vec::new();
    for id in [None].into_iter().chain(longest.into_iter().take(LOOPS).map(Some)) {
        let all = structure::words(forest, sequence, iterations, id).all;
        if let Some(id) = id {
            counts[id.index()] = to_u64(all.len());
        }
        let mut all: Vec<LoopWord> =
            (0..).zip(all).map(|(at, word)| LoopWord { of: id.map(number), number: at, word }).collect();
        all.sort_by_key(|it| Reverse(it.word.count));
        all.truncate(WORDS);
        kept.extend(all);
    }
    // The whole sequence, whatever it has, and the words of most iterations.
    kept.sort_by_key(|it| (it.of.is_some(), Reverse(it.word.count)));
    let mut parts = 0;
    kept.retain(|it| {
        parts += it.word.parts.len();
        parts <= PARTS || it.of.is_none() && parts <= 2 * PARTS
    });
    for LoopWord { word, .. } in &mut kept {
        if word.guard.len() > PROGRESSIONS {
            word.guard = Vec::new();
        }
    }
    kept.sort_unstable_by_key(|it| (it.of, it.number));
    (kept, counts)
}
