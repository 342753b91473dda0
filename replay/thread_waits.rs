//! Evaluates the patterns of threads: barriers and locks of a process. Their partners were found during the walk.
//!
//! In the statistics each thread that waits is a sample; the instance is a lock that a thread got, or a barrier with all
//! its threads (specification 13.2).

use std::cmp::Reverse;

use model::Ticks;
use patterns::matched::{Acquisition, BarrierVisit};

use crate::int::to_u32;
use crate::metrics::{Metrics, NumberedPattern};
use crate::operations::{Barrier, Operations, Place};
use crate::severity::Row;
use crate::statistics::Instance;
use crate::walk::ProcessProfile;

/// Finds the wait states of a process's threads and adds them to their severities.
pub fn find(profile: &mut ProcessProfile, metrics: &Metrics) {
    let operations = profile.operations.clone();
    locks(profile, &operations, metrics);
    barriers(profile, &operations, metrics);
}

fn locks(profile: &mut ProcessProfile, operations: &Operations, metrics: &Metrics) {
    for lock in &operations.locks {
        let released = lock.released.map(|release| release.time);
        let acquisition = Acquisition { class: lock.class, call: lock.call, released };
        for (pattern, rule) in &metrics.at_lock {
            let ticks = rule(&acquisition);
            if let Some(release) = lock.released.filter(|_| ticks > 0) {
                add(profile, pattern, lock.location, lock.row, ticks);
                let path = path(profile, lock.location, lock.row);
                offer(profile, pattern, ticks, (lock.call.enter, lock.call.leave), path, release.place);
            }
        }
    }
}

fn barriers(profile: &mut ProcessProfile, operations: &Operations, metrics: &Metrics) {
    // The visits of each barrier together. All threads are in one call path, unless the trace is odd.
    let mut visits: Vec<&Barrier> = operations.barriers.iter().filter(|visit| visit.last.is_some()).collect();
    visits.sort_unstable_by_key(|visit| (visit.last, visit.location));
    for barrier in visits.chunk_by(|a, b| a.last == b.last) {
        let Some(last) = barrier[0].last.map(|last| &operations.barriers[last as usize]) else { continue };
        let cause = Place { location: last.location, path: path(profile, last.location, last.row) };
        let enter = barrier.iter().map(|visit| visit.visit.enter).fold(Ticks::MAX, Ticks::min);
        let exit = barrier.iter().map(|visit| visit.visit.leave).fold(Ticks::MIN, Ticks::max);
        for (pattern, rule) in &metrics.at_thread_barrier {
            let mut sum: Ticks = 0;
            for visit in barrier {
                let ticks = rule(&BarrierVisit {
                    class: visit.class,
                    visit: visit.visit,
                    last_enter: last.visit.enter,
                    tasks: visit.tasks,
                });
                if ticks > 0 {
                    add(profile, pattern, visit.location, visit.row, ticks);
                    sum = sum.saturating_add(ticks);
                }
            }
            if sum > 0 {
                let path = path(profile, barrier[0].location, barrier[0].row);
                offer(profile, pattern, sum, (enter, exit), path, cause);
            }
        }
    }
}

/// Position of a location among those of its process.
fn thread(profile: &ProcessProfile, location: u32) -> usize {
    location as usize - profile.locations[0].location
}

fn path(profile: &ProcessProfile, location: u32, row: Row) -> u32 {
    profile.locations[thread(profile, location)].severities.paths()[row as usize]
}

/// A thread waited.
fn add(profile: &mut ProcessProfile, pattern: &NumberedPattern, location: u32, row: Row, ticks: Ticks) {
    let thread = thread(profile, location);
    profile.locations[thread].severities.add(pattern.metric, row, ticks);
    if let Some(subject) = pattern.subject {
        profile.samples.add(subject, ticks);
    }
}

/// An instance that lies between two times and was caused at `cause`.
fn offer(
    profile: &mut ProcessProfile,
    pattern: &NumberedPattern,
    ticks: Ticks,
    (enter, exit): (Ticks, Ticks),
    path: u32,
    cause: Place,
) {
    let process = to_u32(profile.process);
    let Some(subject) = pattern.subject else { return };
    profile.samples.offer(subject, Instance { duration: Reverse(ticks), process, enter, exit, path, cause });
}
