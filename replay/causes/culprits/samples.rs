//! How often samples have met culprits. Samples are taken while a thread computes: a place that is slow and was never met has
//! given the processor away, to sleep or to wait for something outside of MPI.

use model::Ticks;

use super::Places;
use crate::causes::lines::Lines;
use crate::error::Error;
use crate::exchange::{Batch, Exchange, gather};
use crate::tools::Tools;
use crate::walk::LocationProfile;

/// The samples of a culprit's locations.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SampleCounts {
    /// Those in the culprit's function.
    pub here: u64,
    /// All of them.
    pub all: u64,
    /// The time in the function, in ticks.
    pub time: Ticks,
    /// The part of it in which no processor was at work there, in ticks.
    pub away: Ticks,
}

/// Counts the samples of each culprit, on worker 0; `None` where no sample was taken.
///
/// # Errors
/// If a worker failed.
pub(super) fn count(
    tools: &Tools<'_>,
    places: &Places<'_>,
    locations: &[&LocationProfile],
    lines: &Lines,
    exchange: &mut dyn Exchange,
) -> Result<Vec<Option<SampleCounts>>, Error> {
    let mut counts = vec![SampleCounts::default(); places.culprits.len()];
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
            count.away = count.away.saturating_add(sampled.away);
            count.time = count.time.saturating_add(times.get(row).copied().unwrap_or(0));
        }
    }
    let words = |count: &SampleCounts| {
        [count.here, count.all, count.time.cast_unsigned(), count.away.cast_unsigned()]
    };
    let words: Batch = counts.iter().flat_map(words).collect();
    let mut sums = vec![SampleCounts::default(); counts.len()];
    for batch in gather(exchange, words)? {
        for (sum, words) in sums.iter_mut().zip(batch.chunks_exact(4)) {
            sum.here += words[0];
            sum.all += words[1];
            sum.time = sum.time.saturating_add(words[2].cast_signed());
            sum.away = sum.away.saturating_add(words[3].cast_signed());
        }
    }
    Ok(sums.into_iter().map(|sum| Some(sum).filter(|sum| sum.all > 0)).collect())
}
