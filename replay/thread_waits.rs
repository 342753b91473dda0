//! Evaluates the patterns of threads: barriers and locks of a process. Their partners were found during the walk.

use model::Ticks;
use patterns::matched::{Acquisition, BarrierVisit};

use crate::metrics::Metrics;
use crate::walk::ProcessProfile;

/// Finds the wait states of a process's threads and adds them to their severities.
pub fn find(profile: &mut ProcessProfile, metrics: &Metrics) {
    let Some(first) = profile.locations.first().map(|location| location.location) else { return };
    let mut add = |location: u32, metric: usize, row: u32, ticks: Ticks| {
        if ticks > 0 {
            profile.locations[location as usize - first].severities.add(metric, row, ticks);
        }
    };
    for barrier in &profile.operations.barriers {
        let Some(last_enter) = barrier.last_enter else { continue };
        let (class, visit, tasks) = (barrier.class, barrier.visit, barrier.tasks);
        let visit = BarrierVisit { class, visit, last_enter, tasks };
        for (pattern, rule) in &metrics.at_thread_barrier {
            add(barrier.location, pattern.metric, barrier.row, rule(&visit));
        }
    }
    for lock in &profile.operations.locks {
        let acquisition = Acquisition { class: lock.class, call: lock.call, released: lock.released };
        for (pattern, rule) in &metrics.at_lock {
            add(lock.location, pattern.metric, lock.row, rule(&acquisition));
        }
    }
}
