//! Reduction of the samples of processes to those of the whole trace, at worker 0.

use super::density::Density;
use super::quantiles::quartiles;
use super::rank_tree::{Node, RankTree};
use super::samples::Spread;
use super::{Bounds, Instance, Moments, SUBJECTS, Samples, Severest};
use crate::error::Error;
use crate::exchange::batch::BatchReader;
use crate::exchange::{Batch, Exchange, broadcast, gather, reduce};
use crate::ids::{PathId, ReportPath};
use crate::int::to_u64;
use crate::operations::Place;
use crate::wire::{self, Wire, batch_of};

/// Estimate over some ranks, if they have samples.
type Estimate = Option<Box<Density>>;

/// Samples of a worker's processes.
#[derive(Clone, Debug)]
pub struct Statistics {
    bounds: Option<Bounds>,
    patterns: Vec<OfPattern>,
    /// The severest instances of each pattern, by process in ascending order; call paths are those of the
    /// process.
    severest: Vec<(usize, Vec<Severest>)>,
}

/// Samples of one pattern in a worker's processes.
#[derive(Clone, Debug)]
struct OfPattern {
    moments: Moments,
    /// All samples (corrected semantics).
    values: Vec<u64>,
    /// Estimates by rank (reference semantics).
    estimates: RankTree<Estimate>,
    /// The severest instances, with call paths of the report.
    severest: Severest<ReportPath>,
}

/// The instances of a pattern in the whole trace, in ticks.
#[derive(Clone, PartialEq, Debug)]
pub struct PatternTotal {
    /// Exact sums; in the reference semantics the minimum is at most the bound (specification 13.4, step 3).
    pub moments: Moments,
    /// Quartiles: exact, or the reference's estimate.
    pub quartiles: [f64; 3],
    /// The severest instances, each with the call path of its cause.
    pub severest: Vec<(Instance<ReportPath>, ReportPath)>,
}

fn combine(lower: &mut Estimate, higher: &Estimate) {
    match (lower, higher) {
        (Some(lower), Some(higher)) => lower.merge(higher),
        (lower @ None, Some(higher)) => *lower = Some(higher.clone()),
        (_, None) => {}
    }
}

impl Statistics {
    /// Empty statistics; with bounds in the reference semantics.
    pub fn new(bounds: Option<Bounds>) -> Statistics {
        let pattern = OfPattern {
            moments: Moments::default(),
            values: Vec::new(),
            estimates: RankTree::new(),
            severest: Severest::default(),
        };
        Statistics { bounds, patterns: vec![pattern; SUBJECTS.len()], severest: Vec::new() }
    }

    /// Adds the samples of the next process.
    pub fn absorb(&mut self, process: usize, samples: Samples) {
        let mut found = samples.into_patterns().into_iter();
        let mut severest = Vec::new();
        for pattern in &mut self.patterns {
            let estimate = found.next().and_then(|of_process| {
                pattern.moments.merge(&of_process.moments);
                severest.push(of_process.severest);
                match of_process.spread {
                    Spread::Values(values) => {
                        pattern.values.extend(values);
                        None
                    }
                    Spread::Estimate(_, density) => Some(density).filter(|_| of_process.moments.count > 0),
                }
            });
            if self.bounds.is_some() {
                pattern.estimates.push(Node { first: process as u64, ranks: 1, value: estimate }, combine);
            }
        }
        if !severest.is_empty() {
            self.severest.push((process, severest));
        }
    }

    /// The statistics of all workers, by pattern; at worker 0. `number` returns the report's number of a call
    /// path of one of this worker's processes, `process_of` the process of any location.
    ///
    /// # Errors
    /// If a worker failed.
    pub fn total(
        mut self,
        number: impl Fn(usize, PathId) -> Option<ReportPath>,
        process_of: impl Fn(u32) -> usize,
        exchange: &mut dyn Exchange,
    ) -> Result<Option<Vec<PatternTotal>>, Error> {
        for (process, by_pattern) in std::mem::take(&mut self.severest) {
            for (pattern, severest) in self.patterns.iter_mut().zip(by_pattern) {
                for instance in severest.instances() {
                    let Instance { duration, process: rank, path, enter, exit, cause } = *instance;
                    let Some(path) = number(process, path) else { continue };
                    pattern.severest.offer(Instance { duration, process: rank, path, enter, exit, cause });
                }
            }
        }
        let mut values: Vec<Vec<u64>> =
            self.patterns.iter_mut().map(|pattern| std::mem::take(&mut pattern.values)).collect();
        let patterns = reduce(exchange, self.patterns, encode, merge)?;
        let mut causes = causes(&patterns, number, process_of, exchange)?.into_iter();
        let is_first = exchange.worker() == 0;
        let exact = match self.bounds {
            None => {
                let extents: Vec<(u64, u64)> =
                    patterns.iter().map(|pattern| (pattern.moments.count, pattern.moments.maximum)).collect();
                quartiles(&mut values, is_first.then_some(&extents[..]), exchange)?
            }
            Some(_) => Vec::new(),
        };
        if !is_first {
            return Ok(None);
        }
        let total = |(at, pattern): (usize, OfPattern)| {
            let mut moments = pattern.moments;
            let quartiles = match self.bounds {
                None => exact[at].map(|ticks| ticks as f64),
                Some(bounds) => {
                    // The reference starts with the bound as the minimum.
                    moments.minimum = moments.minimum.min(bounds[at]);
                    let estimate = pattern.estimates.total(combine).flatten();
                    let shares = estimate.map_or([0.0; 3], |estimate| estimate.quartiles());
                    shares.map(|share| share * bounds[at].max(1) as f64)
                }
            };
            let severest = pattern.severest.instances().iter().copied().zip(&mut causes).collect();
            PatternTotal { moments, quartiles, severest }
        };
        Ok(Some(patterns.into_iter().enumerate().map(total).collect()))
    }
}

fn encode(patterns: &Vec<OfPattern>) -> Batch {
    let mut batch = Batch::new();
    for pattern in patterns {
        pattern.moments.put(&mut batch);
        pattern.severest.put(&mut batch);
        batch.push(to_u64(pattern.estimates.nodes().len()));
        for Node { first, ranks, value } in pattern.estimates.nodes() {
            batch.extend([*first, *ranks]);
            value.put(&mut batch);
        }
    }
    batch
}

/// Adds the samples of the next higher workers.
fn merge(patterns: &mut Vec<OfPattern>, words: &[u64]) {
    let mut reader = BatchReader::new(words);
    for pattern in patterns {
        pattern.moments.merge(&Moments::get(&mut reader));
        for &instance in Severest::<ReportPath>::get(&mut reader).instances() {
            pattern.severest.offer(instance);
        }
        for _ in 0..reader.word() {
            let (first, ranks) = (reader.word(), reader.word());
            pattern.estimates.push(Node { first, ranks, value: Wire::get(&mut reader) }, combine);
        }
    }
}

/// The call paths of the causes of all instances, at worker 0. Only the worker of the causing process knows
/// them.
fn causes(
    patterns: &[OfPattern],
    number: impl Fn(usize, PathId) -> Option<ReportPath>,
    process_of: impl Fn(u32) -> usize,
    exchange: &mut dyn Exchange,
) -> Result<Vec<ReportPath>, Error> {
    let patterns = if exchange.worker() == 0 { patterns } else { &[] };
    let instances = patterns.iter().flat_map(|pattern| pattern.severest.instances());
    let causes = broadcast(exchange, batch_of(instances.map(|instance| &instance.cause)))?;
    let causes: Vec<Place> = wire::all(&causes).collect();
    let mut known = Batch::new();
    for (at, cause) in causes.iter().enumerate() {
        if let Some(path) = number(process_of(cause.location), cause.path) {
            (at, path).put(&mut known);
        }
    }
    let mut paths = vec![ReportPath::NONE; causes.len()];
    for batch in gather(exchange, known)? {
        for (at, path) in wire::all::<(usize, ReportPath)>(&batch) {
            paths[at] = path;
        }
    }
    Ok(paths)
}
