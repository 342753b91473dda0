//! Groups: locations whose graphs are alike, counts apart. They have the same main loop (structure 2.10).

use std::collections::BTreeMap;

use structure::{LoopId, LoopTotals, main_loop};

use super::Structure;
use super::local::{Borders, Level, Local};
use crate::error::Error;
use crate::exchange::batch::BatchReader;
use crate::exchange::{Batch, Exchange, share};
use crate::int::{to_u64, to_usize, words};
use crate::report_paths::ReportPaths;
use crate::walk::{Steps, WalkedProcess};
use crate::wire::{Half, Wire};

/// Key of a group: a hash of what its locations have in common.
type GroupKey = u128;

/// The structures of this worker's locations.
#[derive(Clone, Debug)]
pub(super) struct Groups {
    locals: Vec<Local>,
    main: Vec<Option<LoopId>>,
}

impl Groups {
    /// Finds the structure of each location, and the main loop of each group.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn find(
        level: Level,
        processes: &[WalkedProcess],
        steps: &[Vec<Steps>],
        paths: &ReportPaths,
        exchange: &mut dyn Exchange,
    ) -> Result<Groups, Error> {
        let (mut locals, mut keys) = (Vec::new(), Vec::new());
        for ((process, steps), numbers) in processes.iter().zip(steps).zip(&paths.numbers) {
            for (steps, location) in steps.iter().zip(&process.locations) {
                let local = Local::new(steps, level);
                let rank = to_u64(location.location);
                keys.push((key(&local, steps, level, |path| numbers[path].to_half().into()), rank));
                locals.push(local);
            }
        }
        let totals = totals(&locals, &keys, exchange)?;
        let main =
            locals.iter().zip(totals).map(|(local, totals)| main_loop(&local.forest, &totals)).collect();
        Ok(Groups { locals, main })
    }

    /// Steps in iterations of main loops.
    pub(super) fn covered(&self) -> u64 {
        let of = |(local, main): (&Local, &Option<LoopId>)| match main {
            Some(id) => local.sequence.iter().filter(|&&node| local.forest.has(*id, node)).count(),
            None => 0,
        };
        self.locals.iter().zip(&self.main).map(of).map(to_u64).sum()
    }

    /// Gives the iterations of all locations common numbers.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn common(
        &self,
        steps: &[Vec<Steps>],
        exchange: &mut dyn Exchange,
    ) -> Result<Structure, Error> {
        let mut weights: BTreeMap<u64, i128> = BTreeMap::new();
        let mut counts = Vec::new();
        for ((local, main), steps) in self.locals.iter().zip(&self.main).zip(steps.iter().flatten()) {
            let iterations = main.map(|id| local.iterations(id)).unwrap_or_default();
            let borders = Borders::new(steps);
            let ticks: i128 = iterations.iter().map(|&iteration| i128::from(borders.ticks(iteration))).sum();
            counts.push(to_u64(iterations.len()));
            if !steps.is_empty() {
                *weights.entry(to_u64(iterations.len())).or_default() += ticks;
            }
        }
        let mut batch = Batch::new();
        for (count, ticks) in &weights {
            count.put(&mut batch);
            ticks.put(&mut batch);
        }
        let mut all: BTreeMap<u64, i128> = BTreeMap::new();
        for batch in share(exchange, batch)? {
            let mut reader = BatchReader::new(&batch);
            while !reader.is_empty() {
                let (count, ticks) = <(u64, i128)>::get(&mut reader);
                *all.entry(count).or_default() += ticks;
            }
        }
        let most = all.into_iter().rev().max_by_key(|&(_, ticks)| ticks);
        Ok(Structure { iterations: most.map_or(0, |(count, _)| count), counts })
    }
}

/// What a location has in common with others of its group: keys of nodes in the order of first visits, the sites that these
/// have, edges without counts, and loops.
fn key(local: &Local, steps: &Steps, level: Level, path_of: impl Fn(usize) -> u64) -> GroupKey {
    let mut hash = Hash128::default();
    let mut nodes = 0;
    for (step, base) in steps.iter().zip(&local.base) {
        if base.index() > nodes {
            nodes = base.index();
            let key = steps.keys[step.key as usize];
            hash.add(path_of(key.path.index()));
            hash.add(if level == Level::Shape { key.shape } else { 0 });
        }
    }
    let mut sites = 0;
    for (site, base) in local.sequence.iter().zip(&local.base) {
        if site.index() > sites {
            sites = site.index();
            hash.add(base.number().into());
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

/// Totals of the loops of each location's group: the sums of ticks, and the iterations of its first location.
fn totals(
    locals: &[Local],
    keys: &[(GroupKey, u64)],
    exchange: &mut dyn Exchange,
) -> Result<Vec<Vec<LoopTotals>>, Error> {
    // One worker adds up the totals of a group, chosen by its key.
    let workers = to_u64(exchange.workers());
    let worker_of = |key: GroupKey| to_usize(words(key)[1] % workers);
    let mut outgoing = vec![Batch::new(); exchange.workers()];
    for (local, &(key, location)) in locals.iter().zip(keys) {
        let batch = &mut outgoing[worker_of(key)];
        (key, location).put(batch);
        local.totals.len().put(batch);
        for totals in &local.totals {
            (totals.ticks, totals.iterations).put(batch);
        }
    }
    let told = exchange.exchange(outgoing)?;
    let mut sums: BTreeMap<GroupKey, (u64, Vec<LoopTotals>)> = BTreeMap::new();
    let mut asked = Vec::new();
    for batch in &told {
        let mut reader = BatchReader::new(batch);
        let mut of_worker = Vec::new();
        while !reader.is_empty() {
            let (key, location) = <(GroupKey, u64)>::get(&mut reader);
            let count = usize::get(&mut reader);
            let (first, sum) =
                sums.entry(key).or_insert_with(|| (u64::MAX, vec![LoopTotals::default(); count]));
            for sum in sum.iter_mut() {
                let (ticks, iterations) = <(i64, u64)>::get(&mut reader);
                sum.ticks = sum.ticks.saturating_add(ticks);
                if location < *first {
                    sum.iterations = iterations;
                }
            }
            *first = location.min(*first);
            of_worker.push(key);
        }
        asked.push(of_worker);
    }
    let answer = |keys: &Vec<GroupKey>| {
        let mut batch = Batch::new();
        for key in keys {
            for totals in &sums[key].1 {
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
    Ok(locals.iter().zip(keys).map(&mut of_local).collect())
}
