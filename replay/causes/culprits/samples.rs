//! How often samples have met culprits. Samples are taken while a thread computes: a place that is slow and was never met has
//! given the processor away, to sleep or to wait for something outside of MPI.

use std::collections::BTreeMap;

use model::Ticks;

use super::{Places, Site};
use crate::causes::lines::Lines;
use crate::error::Error;
use crate::exchange::batch::{halves, pair};
use crate::exchange::{Batch, Exchange, gather};
use crate::tools::Tools;
use crate::walk::LocationProfile;

/// The samples of a culprit's locations.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SampleCounts {
    /// Those in the culprit's function.
    pub here: u64,
    /// Those of them in the line where it was slow.
    pub at_site: u64,
    /// All of them.
    pub all: u64,
    /// The time in the function, in ticks.
    pub time: Ticks,
    /// The part of it in which no processor was at work there, in ticks.
    pub away: Ticks,
}

/// Counts the samples of each culprit, on worker 0, which knows the sites; `None` where no sample was taken.
///
/// # Errors
/// If a worker failed.
pub(super) fn count(
    tools: &Tools<'_>,
    places: &Places<'_>,
    sites: &[Option<Site>],
    locations: &[&LocationProfile],
    lines: &Lines,
    exchange: &mut dyn Exchange,
) -> Result<Vec<Option<SampleCounts>>, Error> {
    let mut counts = vec![SampleCounts::default(); places.culprits.len()];
    let mut of_paths: BTreeMap<(usize, u32), u64> = BTreeMap::new();
    for (line, profile) in locations.iter().enumerate() {
        let location = lines.location(line);
        if !places.members.has_any(location) {
            continue;
        }
        let all: u64 = profile.sampled.iter().map(|sampled| sampled.samples).sum();
        for (which, count) in counts.iter_mut().enumerate() {
            count.all += if places.members.has(which, location) { all } else { 0 };
        }
        let times = profile.severities.dense(tools.metrics.time);
        for (row, &path) in lines.paths(line).iter().enumerate() {
            let Some(which) = places.culprit(path, location) else { continue };
            let sampled = profile.sampled.get(row).copied().unwrap_or_default();
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
    let words = |count: &SampleCounts| {
        [count.here, count.all, count.time.cast_unsigned(), count.away.cast_unsigned()]
    };
    let mut words: Batch = counts.iter().flat_map(words).collect();
    words.extend(of_paths.iter().flat_map(|(&(which, path), &samples)| [pair(which as u32, path), samples]));
    let mut sums = vec![SampleCounts::default(); counts.len()];
    let own_path = |site: &Option<Site>| site.map(|site| places.paths.own_path(tools.trace, site.path));
    let own_paths: Vec<Option<u32>> = sites.iter().map(own_path).collect();
    for batch in gather(exchange, words)? {
        // The other workers get empty batches.
        let Some((of_culprits, of_paths)) = batch.split_at_checked(4 * sums.len()) else { continue };
        for (sum, words) in sums.iter_mut().zip(of_culprits.chunks_exact(4)) {
            sum.here += words[0];
            sum.all += words[1];
            sum.time = sum.time.saturating_add(words[2].cast_signed());
            sum.away = sum.away.saturating_add(words[3].cast_signed());
        }
        for words in of_paths.chunks_exact(2) {
            let (which, path) = halves(words[0]);
            if own_paths[which as usize] == Some(path) {
                sums[which as usize].at_site += words[1];
            }
        }
    }
    Ok(sums.into_iter().map(|sum| Some(sum).filter(|sum| sum.all > 0)).collect())
}
