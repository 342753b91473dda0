//! Victims: for each culprit, the region with most of the waiting for it, and the waiting time by location.

use std::collections::BTreeMap;

use super::forward::Waiting;
use super::{Culprit, NAMED};
use crate::error::Error;
use crate::exchange::{Batch, Exchange, gather, share};
use crate::ids::ReportPath;
use crate::report_paths::ReportPaths;
use crate::wire::{self, Halves, Wire, batch_of};

/// The victims of a culprit, in the region with most of this waiting.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Victims {
    /// Position among the regions of the [`Trace`](crate::trace::Trace); `None` of idle threads.
    pub region: Option<u32>,
    /// Their waiting time for the culprit, in ticks as a fixed-point number, by location; on worker 0 only.
    pub waiting: BTreeMap<u32, i128>,
}

/// Stands for "no region".
const NO_REGION: u32 = u32::MAX;

/// Returns the victims of each culprit, from the waiting at this worker.
///
/// # Errors
/// If a worker failed.
pub(super) fn find(
    paths: &ReportPaths,
    culprits: &[Culprit],
    waiting: Waiting,
    exchange: &mut dyn Exchange,
) -> Result<Vec<Option<Victims>>, Error> {
    // Ordered maps, because the order of messages follows from them.
    let mut by_region: BTreeMap<(u32, u32), i128> = BTreeMap::new();
    let mut by_location: BTreeMap<(u32, u32, u32), i128> = BTreeMap::new();
    for ((path, location), sums) in waiting {
        let region = match path {
            ReportPath::NONE => NO_REGION,
            path => paths.region(path),
        };
        for (which, ticks) in (0..).zip(sums).filter(|sum| sum.1 > 0) {
            add(&mut by_region, (which, region), ticks);
            add(&mut by_location, (which, region, location), ticks);
        }
    }
    let mut all = BTreeMap::new();
    for batch in share(exchange, batch_of([&by_region]))? {
        let told: BTreeMap<(u32, u32), i128> = wire::one(&batch);
        told.into_iter().for_each(|(place, ticks)| add(&mut all, place, ticks));
    }
    let mut regions = [None; NAMED];
    for (&(which, region), &ticks) in &all {
        let largest = &mut regions[which as usize];
        // The first of equals.
        if largest.is_none_or(|(_, most)| ticks > most) {
            *largest = Some((region, ticks));
        }
    }
    let regions = regions.map(|largest| largest.map(|largest| largest.0));

    let mut words = Batch::new();
    for (&(which, region, location), ticks) in &by_location {
        if regions[which as usize] == Some(region) {
            (Halves(which, location), *ticks).put(&mut words);
        }
    }
    let mut victims: Vec<Option<Victims>> = regions[..culprits.len()]
        .iter()
        .map(|region| {
            region.map(|region| Victims {
                region: Some(region).filter(|&region| region != NO_REGION),
                waiting: BTreeMap::new(),
            })
        })
        .collect();
    for batch in gather(exchange, words)? {
        for (Halves(which, location), ticks) in wire::all::<(Halves<u32, u32>, i128)>(&batch) {
            if let Some(victims) = &mut victims[which as usize] {
                add(&mut victims.waiting, location, ticks);
            }
        }
    }
    Ok(victims)
}

fn add<K: Ord>(sums: &mut BTreeMap<K, i128>, key: K, ticks: i128) {
    let sum = sums.entry(key).or_default();
    *sum = sum.saturating_add(ticks);
}
