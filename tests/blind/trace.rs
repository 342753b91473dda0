//! Time outside of MPI in a trace, by rank and by the calls around it: separates wrong analyses from
//! disturbed runs.

use std::collections::BTreeMap;
use std::path::Path;

use crate::support::archive::each_event;
use otf2::{Archive, Event};

/// The MPI functions before and after a period outside of MPI.
type Period = [String; 2];

/// The rank and the period with the largest excess over the mean of all ranks, with the excess in seconds.
pub(crate) fn latest(experiment: &Path) -> Option<(usize, Period, f64)> {
    let mut times: BTreeMap<Period, Vec<u64>> = BTreeMap::new();
    let mut before: Option<(usize, String, u64)> = None;
    let mut open: Option<String> = None;
    let mut ranks = 0;
    each_event(experiment, |at, event, region| {
        // Locations of main threads have the numbers of their ranks.
        let (location, time) = (at.location as usize, at.time);
        ranks = ranks.max(location + 1);
        let entered = region.filter(|_| matches!(event, Event::CallingContextEnter { .. }));
        if let Some(entered) = entered.filter(|entered| entered.is_mpi) {
            if let Some((_, name, left)) = before.take().filter(|(at, ..)| *at == location) {
                let all = times.entry([name, entered.name.clone()]).or_default();
                all.resize(all.len().max(location + 1), 0);
                all[location] += time - left;
            }
            open = Some(entered.name.clone());
        } else if let Event::CallingContextLeave { .. } = event {
            // Functions of MPI do not call others, so this is the end of the open one.
            before = open.take().map(|name| (location, name, time)).or(before.take());
        }
    });
    let resolution =
        Archive::open(experiment).and_then(|archive| archive.definitions()).ok()?.clock.resolution;
    let excess = |(stretch, all): (Period, Vec<u64>)| {
        let (rank, &most) = all.iter().enumerate().max_by_key(|(_, time)| **time)?;
        let mean = all.iter().sum::<u64>() as f64 / ranks as f64;
        Some((rank, stretch, (most as f64 - mean) / resolution as f64))
    };
    times.into_iter().filter_map(excess).max_by(|one, other| one.2.total_cmp(&other.2))
}
