//! Locks of windows, and targets that are outside of MPI (rest of MPI 8.4, 8.5).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::operations::Operations;
use super::windows::{LockCall, LockEpoch};
use super::world::World;
use super::{Analysis, Edge, EventRef};

/// A call that waits for a lock: until when, for which process, and both of its epochs' events.
#[derive(Clone, Copy)]
struct LockWait {
    call: LockCall,
    until: i64,
    holder: usize,
    requested: EventRef,
    released: EventRef,
}

/// By location and call: its wait for a lock.
type LockWaits = BTreeMap<(usize, usize), LockWait>;

impl LockEpoch {
    fn requested(&self) -> EventRef {
        self.calls[0].at
    }

    fn released(&self) -> Option<EventRef> {
        self.is_released.then(|| self.calls[self.calls.len() - 1].at)
    }

    /// Its calls towards one of its targets.
    fn towards(&self, target: usize) -> impl Iterator<Item = LockCall> + '_ {
        self.calls.iter().copied().filter(move |call| call.accessed.is_none_or(|it| it == target))
    }
}

/// The metric of a wait in a call of an epoch.
fn metric(call: LockCall, what: &str) -> String {
    let kind = if call.accessed.is_some() { "comm" } else { "sync" };
    format!("mpi_rma_{kind}_{what}")
}

impl Analysis {
    pub(super) fn locks(&mut self, operations: &Operations, world: &World) {
        let waits = self.contention(operations, world);
        for wait in waits.values() {
            let LockWait { call, until, requested, released, .. } = *wait;
            let begin = self.enter(call.at);
            let ticks = until - begin;
            self.add_ticks(&metric(call, "lock_competition"), call.at, begin, ticks);
            let requested = Some(requested).filter(|requested| requested.location == released.location);
            let edge = Edge::new("rma", call.at, released, (begin, ticks));
            self.edges.push(Edge { is_lock: true, requested, ..edge });
        }
        self.target_progress(operations, &waits);
    }

    /// Each epoch waits for the last one before it of another rank that excludes it.
    fn contention(&self, operations: &Operations, world: &World) -> LockWaits {
        let epochs = operations.one_sided.lock_epochs.iter().filter_map(|it| Some((it, it.released()?)));
        let mut on_target: BTreeMap<(usize, usize), Vec<(&LockEpoch, EventRef)>> = BTreeMap::new();
        for (epoch, released) in epochs {
            let all = || world.members(epoch.window).unwrap_or_else(|| vec![epoch.origin]);
            for target in epoch.target.map_or_else(all, |target| vec![target]) {
                on_target.entry((epoch.window, target)).or_default().push((epoch, released));
            }
        }
        let mut waits = LockWaits::new();
        for ((_, target), mut epochs) in on_target {
            epochs.sort_by_key(|(epoch, released)| (self.leave(*released), epoch.origin));
            for (at, (epoch, _)) in epochs.iter().enumerate() {
                let excludes = |other: &LockEpoch| {
                    other.origin != epoch.origin && (other.is_exclusive || epoch.is_exclusive)
                };
                let Some((holder, released)) = epochs[..at].iter().rev().find(|(it, _)| excludes(it)) else {
                    continue;
                };
                let is_after = |call: &LockCall| self.leave(call.at) > self.enter(*released);
                let Some(call) = epoch.towards(target).find(is_after) else { continue };
                let until = self.leave(*released).min(self.leave(call.at));
                if until > self.enter(call.at) {
                    let (requested, released) = (holder.requested(), *released);
                    let wait = LockWait { call, until, holder: holder.origin, requested, released };
                    let known = waits.entry((call.at.location, call.at.call)).or_insert(wait);
                    // One call waits once, until the last one has released its lock; of equals for the lowest rank.
                    let key = |it: &LockWait| (it.until, Reverse(it.holder));
                    if key(&wait) > key(known) {
                        *known = wait;
                    }
                }
            }
        }
        waits
    }

    /// Calls of lock epochs wait until their target is in MPI again. If a call has waited for a lock, that wait has the costs.
    fn target_progress(&mut self, operations: &Operations, waits: &LockWaits) {
        // By location and call: the event in it, and its targets.
        let mut calls: BTreeMap<(usize, usize), (LockCall, BTreeSet<usize>)> = BTreeMap::new();
        for epoch in &operations.one_sided.lock_epochs {
            let accessed: BTreeSet<usize> = epoch.calls.iter().filter_map(|call| call.accessed).collect();
            for &call in &epoch.calls {
                let targets = match (call.accessed, epoch.target) {
                    (Some(target), _) | (None, Some(target)) => BTreeSet::from([target]),
                    (None, None) => accessed.clone(),
                };
                let others = targets.into_iter().filter(|&target| target != epoch.origin);
                let of_call =
                    calls.entry((call.at.location, call.at.call)).or_insert((call, BTreeSet::new()));
                of_call.1.extend(others);
            }
        }
        for (place, (call, targets)) in calls {
            let lock = waits.get(&place);
            let since = lock.map_or(self.enter(call.at), |lock| lock.until);
            let leave = self.leave(call.at);
            let returns = targets.into_iter().filter_map(|target| self.back_in_mpi(target, since));
            let returns = returns.filter(|returned| since < leave && returned.time <= leave);
            // Of equals the lowest rank.
            let Some(returned) = returns.collect::<Vec<_>>().into_iter().rev().max_by_key(|it| it.time)
            else {
                continue;
            };
            let ticks = returned.time - since;
            self.add_ticks(&metric(call, "wait_for_progress"), call.at, since, ticks);
            self.edges.push(Edge::new("rma", call.at, returned, (since, ticks)));
        }
    }
}
