//! Groups: locations whose graphs are alike, counts apart. They have the same main loop (structure 2.10).

use std::collections::BTreeMap;

use model::Ticks;
use structure::{LoopId, LoopTotals, main_loop};

use super::local::{Level, Local};
use crate::call_tree::CallPath;
use crate::error::Error;
use crate::exchange::batch::BatchReader;
use crate::exchange::{Batch, Exchange};
use crate::int::{to_u32, to_u64, to_usize, words};
use crate::walk::{Steps, Walked};
use crate::wire::{Wire, wire};

/// Key of a group: a hash of what its locations have in common.
type GroupKey = u128;

/// A group: locations with equal graphs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Group {
    /// Its lowest location.
    pub location: u32,
    /// How many these are.
    pub locations: u64,
    /// Ticks from the first event to the last step, summed over its locations.
    pub ticks: Ticks,
}

wire!(Group { location, locations, ticks });

/// The structures of this worker's locations.
#[derive(Clone, Debug)]
pub(super) struct Groups {
    pub(super) locals: Vec<Local>,
    /// The main loop of each.
    pub(super) main: Vec<Option<LoopId>>,
    /// Groups of locations with steps that this worker has added up; each group is at one worker.
    pub(super) own: Vec<Group>,
}

impl Groups {
    /// Finds the structure of each location, and the main loop of each group.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn find(
        level: Level,
        processes: &[Walked],
        exchange: &mut dyn Exchange,
    ) -> Result<Groups, Error> {
        let (mut locals, mut keys) = (Vec::new(), Vec::new());
        for Walked { process, steps, .. } in processes {
            let hashes = hashes(&process.paths);
            for (steps, location) in steps.iter().zip(&process.locations) {
                let local = Local::new(steps, &process.paths, level);
                keys.push((key(&local, steps, &process.paths, &hashes), to_u64(location.location)));
                locals.push(local);
            }
        }
        let (totals, own) = totals(&locals, &keys, exchange)?;
        let main =
            locals.iter().zip(totals).map(|(local, totals)| main_loop(&local.forest, &totals)).collect();
        Ok(Groups { locals, main, own })
    }

    /// Steps in iterations of main loops.
    pub(super) fn covered(&self) -> u64 {
        let of = |(local, main): (&Local, &Option<LoopId>)| match main {
            Some(id) => local.iterations[id.index()].iter().map(|it| u64::from(it.end - it.first)).sum(),
            None => 0,
        };
        self.locals.iter().zip(&self.main).map(of).sum()
    }
}

/// What a location has in common with others of its group: keys of nodes in the order of first visits, the sites that these
/// have, edges without counts, and loops.
fn key(local: &Local, steps: &Steps, paths: &[CallPath], hashes: &[u64]) -> GroupKey {
    let mut hash = Hash128::default();
    let (mut nodes, mut sites) = (0, 0);
    let all = local.graph.nodes.len() - 1;
    for ((key, base), site) in steps.key_numbers().zip(&local.base).zip(&local.sequence) {
        if base.index() > nodes {
            nodes = base.index();
            let key = steps.keys[key as usize];
            hash.add(match local.level {
                Level::Region => paths[key.path.index()].region.into(),
                Level::Site | Level::Shape | Level::Path => hashes[key.path.index()],
            });
            hash.add(if local.level == Level::Shape { key.shape } else { 0 });
        }
        if site.index() > sites {
            sites = site.index();
            hash.add(base.number().into());
        }
        // A new node is a new site, too.
        if sites == all {
            break;
        }
    }
    let mut edges: Vec<(u32, u32)> =
        local.graph.edges.iter().map(|edge| (edge.from.number(), edge.to.number())).collect();
    edges.sort_unstable();
    for (from, to) in edges {
        hash.add(u64::from(from) << 32 | u64::from(to));
    }
    for it in local.forest.loops() {
        let parent = it.parent.map_or(0, |parent| to_u64(parent.index()) + 1);
        hash.add(parent << 32 | u64::from(it.header.number()));
    }
    hash.0
}

/// Hashes of call paths: of regions and call sites, the same for all processes.
fn hashes(paths: &[CallPath]) -> Vec<u64> {
    let mut hashes: Vec<u64> = Vec::with_capacity(paths.len());
    for path in paths {
        let mut hash = Hash128::default();
        hash.add(hashes.get(path.parent.index()).copied().unwrap_or(0));
        hash.add(u64::from(path.region) << 32 | u64::from(path.site));
        hashes.push(words(hash.0)[1]);
    }
    hashes
}

/// A hash of 128 bits.
#[derive(Clone, Copy, Debug, Default)]
struct Hash128(u128);

impl Hash128 {
    fn add(&mut self, word: u64) {
        const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
        let mixed = (self.0 ^ u128::from(word)).wrapping_mul(PRIME);
        self.0 = mixed ^ (mixed >> 61);
    }
}

/// A group while its locations are added up.
struct Sum {
    first: u64,
    locations: u64,
    /// `None` of locations without steps.
    ticks: Option<Ticks>,
    totals: Vec<LoopTotals>,
}

/// Totals of the loops of each location's group: the sums of ticks, and the iterations of its first location. And the groups of
/// locations with steps that this worker has added up.
fn totals(
    locals: &[Local],
    keys: &[(GroupKey, u64)],
    exchange: &mut dyn Exchange,
) -> Result<(Vec<Vec<LoopTotals>>, Vec<Group>), Error> {
    // One worker adds up the totals of a group, chosen by its key.
    let workers = to_u64(exchange.workers());
    let worker_of = |key: GroupKey| to_usize(words(key)[1] % workers);
    let mut outgoing = vec![Batch::new(); exchange.workers()];
    for (local, &(key, location)) in locals.iter().zip(keys) {
        let batch = &mut outgoing[worker_of(key)];
        (key, location).put(batch);
        (!local.sequence.is_empty()).then(|| local.graph.ticks()).put(batch);
        local.totals.len().put(batch);
        for totals in &local.totals {
            (totals.ticks, totals.iterations).put(batch);
        }
    }
    let told = exchange.exchange(outgoing)?;
    let mut sums: BTreeMap<GroupKey, Sum> = BTreeMap::new();
    let mut asked = Vec::new();
    for batch in &told {
        let mut reader = BatchReader::new(batch);
        let mut of_worker = Vec::new();
        while !reader.is_empty() {
            let (key, location) = <(GroupKey, u64)>::get(&mut reader);
            let (ticks, count) = <(Option<Ticks>, usize)>::get(&mut reader);
            let sum = sums.entry(key).or_insert_with(|| {
                let totals = vec![LoopTotals::default(); count];
                Sum { first: u64::MAX, locations: 0, ticks: ticks.map(|_| 0), totals }
            });
            sum.locations += 1;
            sum.ticks = sum.ticks.zip(ticks).map(|(sum, ticks)| sum.saturating_add(ticks));
            for total in &mut sum.totals {
                let (ticks, iterations) = <(i64, u64)>::get(&mut reader);
                total.ticks = total.ticks.saturating_add(ticks);
                if location < sum.first {
                    total.iterations = iterations;
                }
            }
            sum.first = location.min(sum.first);
            of_worker.push(key);
        }
        asked.push(of_worker);
    }
    let answer = |keys: &Vec<GroupKey>| {
        let mut batch = Batch::new();
        for key in keys {
            for totals in &sums[key].totals {
                (totals.ticks, totals.iterations).put(&mut batch);
            }
        }
        batch
    };
    let answers = exchange.exchange(asked.iter().map(answer).collect())?;
    let mut readers: Vec<BatchReader<'_>> = answers.iter().map(|batch| BatchReader::new(batch)).collect();
    let mut of_local = |(local, &(key, _)): (&Local, &(GroupKey, u64))| {
        let reader = &mut readers[worker_of(key)];
        let mut next = || {
            let (ticks, iterations) = <(i64, u64)>::get(reader);
            LoopTotals { ticks, iterations }
        };
        (0..local.totals.len()).map(|_| next()).collect()
    };
    let totals = locals.iter().zip(keys).map(&mut of_local).collect();
    let group = |sum: &Sum| {
        let location = to_u32(to_usize(sum.first));
        Some(Group { location, locations: sum.locations, ticks: sum.ticks? })
    };
    Ok((totals, sums.values().filter_map(group).collect()))
}
