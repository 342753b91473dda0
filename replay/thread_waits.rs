//! Wait states of threads: evaluates the patterns of barriers and locks of a process. The walk has found the
//! partners.
//!
//! In the statistics each waiting thread is a sample; an instance is a lock that a thread acquired, or a
//! barrier with all its threads (specification 13.2).

use std::cmp::Reverse;

use model::Ticks;
use patterns::matched::{Acquisition, BarrierVisit, Interval};

use crate::details::Scheme;
use crate::details::instances::{BothSides, ENTERED, NO_NUMBER};
use crate::focus::{self, Windows};
use crate::ids::{EventNumber, PathId, Row};
use crate::int::to_u32;
use crate::metrics::{Metrics, NumberedPattern};
use crate::operations::{Barrier, Operations, Place};
use crate::results::{Instances, Results};
use crate::statistics::Instance;
use crate::walk::{Walked, WalkedProcess};

/// Finds the wait states of a process's threads and adds them to their severities; those parts that lie in windows, if there are
/// windows.
pub fn find(
    metrics: &Metrics,
    scheme: Option<&Scheme>,
    walked: &mut Walked,
    windows: Option<&Windows>,
    instances: &mut Instances,
) {
    let Walked { process, operations, results, .. } = walked;
    let mut finder = ThreadWaitFinder { process, scheme, results, instances, windows };
    finder.locks(operations, metrics);
    finder.barriers(operations, metrics);
}

struct ThreadWaitFinder<'a> {
    process: &'a WalkedProcess,
    scheme: Option<&'a Scheme>,
    results: &'a mut Results,
    instances: &'a mut Instances,
    windows: Option<&'a Windows>,
}

impl ThreadWaitFinder<'_> {
    fn locks(&mut self, operations: &Operations, metrics: &Metrics) {
        for lock in &operations.locks {
            let released = lock.released.map(|release| release.time);
            let acquisition = Acquisition { class: lock.class, call: lock.call, released };
            for (pattern, rule) in &metrics.at_lock {
                let ticks = rule(&acquisition);
                if let Some(release) = lock.released.filter(|_| ticks > 0) {
                    let counted = self.add(pattern, (lock.location, lock.row), lock.call.enter, ticks);
                    let path = self.path(lock.location, lock.row);
                    let both = || BothSides {
                        waiting: Place { location: lock.location, path },
                        call: lock.call,
                        begin: lock.call.enter,
                        ticks,
                        waits_at: EventNumber::NONE,
                        cause_call: Interval::new(release.time, release.time),
                        cause_time: release.time,
                        cause_at: EventNumber::NONE,
                        communicator: NO_NUMBER,
                        tag: NO_NUMBER,
                        bytes: 0,
                        members: 0,
                        team: NO_NUMBER,
                        pattern: None,
                        entered: [NO_NUMBER; ENTERED],
                    };
                    self.offer(
                        pattern,
                        counted,
                        (lock.call.enter, lock.call.leave),
                        path,
                        release.place,
                        both,
                    );
                }
            }
        }
    }

    fn barriers(&mut self, operations: &Operations, metrics: &Metrics) {
        // The visits of each barrier together. All threads have the same call path, unless the trace is odd.
        let mut visits: Vec<&Barrier> =
            operations.barriers.iter().filter(|visit| visit.last.is_some()).collect();
        visits.sort_unstable_by_key(|visit| (visit.last, visit.location));
        for barrier in visits.chunk_by(|a, b| a.last == b.last) {
            let Some(last) = barrier[0].last.map(|last| &operations.barriers[last as usize]) else {
                continue;
            };
            let cause = Place { location: last.location, path: self.path(last.location, last.row) };
            let enter = barrier.iter().map(|visit| visit.visit.enter).fold(Ticks::MAX, Ticks::min);
            let exit = barrier.iter().map(|visit| visit.visit.leave).fold(Ticks::MIN, Ticks::max);
            for (pattern, rule) in &metrics.at_thread_barrier {
                let mut sum: Ticks = 0;
                let (mut longest, mut who) = (0, barrier[0]);
                for visit in barrier {
                    let ticks = rule(&BarrierVisit {
                        class: visit.class,
                        visit: visit.visit,
                        last_enter: last.visit.enter,
                        tasks: visit.tasks,
                    });
                    if ticks > 0 {
                        let place = (visit.location, visit.row);
                        let counted = self.add(pattern, place, visit.visit.enter, ticks);
                        sum = sum.saturating_add(counted);
                        if ticks > longest {
                            (longest, who) = (ticks, visit);
                        }
                    }
                }
                if sum > 0 {
                    let path = self.path(barrier[0].location, barrier[0].row);
                    let waiting = Place { location: who.location, path: self.path(who.location, who.row) };
                    let both = || BothSides {
                        waiting,
                        call: who.visit,
                        begin: who.visit.enter,
                        ticks: longest,
                        waits_at: who.position,
                        cause_call: last.visit,
                        cause_time: last.visit.enter,
                        cause_at: last.position,
                        communicator: NO_NUMBER,
                        tag: NO_NUMBER,
                        bytes: 0,
                        members: to_u32(barrier.len()),
                        team: who.team,
                        pattern: None,
                        entered: BothSides::entered(
                            barrier.iter().map(|visit| (visit.visit.enter, visit.location)),
                        ),
                    };
                    self.offer(pattern, sum, (enter, exit), path, cause, both);
                }
            }
        }
    }

    /// Returns the position of a location among those of the process.
    fn thread(&self, location: u32) -> usize {
        location as usize - self.process.locations[0].location
    }

    fn path(&self, location: u32, row: Row) -> PathId {
        self.results.severities[self.thread(location)].paths()[row.index()]
    }

    /// Adds the waiting time of a thread, which begins at a time, as far as it counts; returns that.
    fn add(
        &mut self,
        pattern: &NumberedPattern,
        (location, row): (u32, Row),
        begin: Ticks,
        ticks: Ticks,
    ) -> Ticks {
        let thread = self.thread(location);
        let counted = focus::counted(self.windows, begin, ticks);
        self.results.severities[thread].add(pattern.metric, row, counted);
        if let Some(class) = self.scheme.and_then(|scheme| scheme.classes.of_wait(pattern.metric)) {
            self.results.timelines[thread].wait(class, begin, ticks);
        }
        if let Some(subject) = pattern.subject.filter(|_| counted > 0) {
            self.instances.samples.add(subject, counted);
        }
        counted
    }

    /// Offers an instance between two times with its cause as one of the severest.
    fn offer(
        &mut self,
        pattern: &NumberedPattern,
        ticks: Ticks,
        (enter, exit): (Ticks, Ticks),
        path: PathId,
        cause: Place,
        both: impl FnOnce() -> BothSides,
    ) {
        let process = to_u32(self.process.number);
        let Some(subject) = pattern.subject.filter(|_| ticks > 0) else { return };
        let instance = Instance { duration: Reverse(ticks), process, enter, exit, path, cause };
        self.instances.samples.offer(subject, instance);
        if let Some(severe) = &mut self.instances.severe {
            severe.offer(subject, self.process, instance, both);
        }
    }
}
