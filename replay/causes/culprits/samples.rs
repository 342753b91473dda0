//! Samples of the culprits. Samples are taken while a thread computes: a place that is slow and has no
//! samples has given the processor away, to sleep or to wait for something outside of MPI.

use std::collections::BTreeMap;

use model::Ticks;

use super::{CulpritPlaces, Site};
use crate::causes::lines::Lines;
use crate::error::Error;
use crate::exchange::{Exchange, gather};
use crate::ids::ReportPath;
use crate::severity::Severities;
use crate::tools::Tools;
use crate::walk::WalkedLocation;
use crate::wire::{self, batch_of, wire};

/// Numbers of samples of a culprit's locations.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SampleCounts {
    /// Samples in the culprit's function.
    pub here: u64,
    /// Samples of these in the line where it was slow.
    pub at_site: u64,
    /// All samples.
    pub all: u64,
    /// The time in the function, in ticks.
    pub time: Ticks,
    /// The part of this time without a processor, in ticks.
    pub away: Ticks,
}

wire!(SampleCounts { here, at_site, all, time, away });

/// Returns the sample counts of each culprit, on worker 0, which knows the sites; `None` without any sample.
///
/// # Errors
/// If a worker failed.
pub(super) fn count(
    tools: &Tools<'_>,
    places: &CulpritPlaces<'_>,
    sites: &[Option<Site>],
    locations: &[(&WalkedLocation, &Severities)],
    lines: &Lines,
    exchange: &mut dyn Exchange,
) -> Result<Vec<Option<SampleCounts>>, Error> {
    let mut counts = vec![SampleCounts::default(); places.culprits.len()];
    let mut of_paths: BTreeMap<(usize, ReportPath), u64> = BTreeMap::new();
    for (line, (walked, severities)) in locations.iter().enumerate() {
        let location = lines.location(line);
        if !places.members.has_any(location) {
            continue;
        }
        let all: u64 = walked.sampled.iter().map(|sampled| sampled.samples).sum();
        for (which, count) in counts.iter_mut().enumerate() {
            count.all += if places.members.has(which, location) { all } else { 0 };
        }
        let times = severities.dense(tools.metrics.time);
        for (row, &path) in lines.paths(line).iter().enumerate() {
            let Some(which) = places.culprit(path, location) else { continue };
            let sampled = walked.sampled.get(row).copied().unwrap_or_default();
            let count = &mut counts[which];
            count.here += sampled.samples;
            if sampled.samples > 0 {
                *of_paths.entry((which, places.paths.own_path(tools.trace, path))).or_default() +=
                    sampled.samples;
            }
            count.away = count.away.saturating_add(sampled.away);
            count.time = count.time.saturating_add(times.get(row).copied().unwrap_or(0));
        }
    }
    let words = batch_of([&(counts, of_paths)]);
    let mut sums = vec![SampleCounts::default(); sites.len()];
    let own_path = |site: &Option<Site>| site.map(|site| places.paths.own_path(tools.trace, site.path));
    let own_paths: Vec<Option<ReportPath>> = sites.iter().map(own_path).collect();
    // The other workers get empty batches.
    for batch in gather(exchange, words)?.iter().filter(|batch| !batch.is_empty()) {
        let (counts, of_paths): (Vec<SampleCounts>, BTreeMap<(usize, ReportPath), u64>) = wire::one(batch);
        for (sum, count) in sums.iter_mut().zip(counts) {
            sum.here += count.here;
            sum.all += count.all;
            sum.time = sum.time.saturating_add(count.time);
            sum.away = sum.away.saturating_add(count.away);
        }
        for ((which, path), samples) in of_paths {
            if own_paths[which] == Some(path) {
                sums[which].at_site += samples;
            }
        }
    }
    Ok(sums.into_iter().map(|sum| Some(sum).filter(|sum| sum.all > 0)).collect())
}
