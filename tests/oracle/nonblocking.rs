//! Wait states of non-blocking collective operations, and their overlap with other work (rest of MPI 2 and 4).

use std::collections::{BTreeMap, BTreeSet};

use model::mpi::makes_progress;

use super::matching::Instance;
use super::needs::Class;
use super::operations::{Operations, Part};
use super::world::World;
use super::{Analysis, Edge, EventRef};

/// Waiting of a call for one of the operations that it completes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CollectiveWait {
    class: Class,
    /// The completion record.
    done: EventRef,
    /// The event that is waited for: a request, or the enter of a call.
    cause: EventRef,
    arrival: i64,
    progress: i64,
}

impl CollectiveWait {
    pub(crate) fn idle(&self) -> i64 {
        self.arrival + self.progress
    }
}

/// By location and call: the longest wait of the call.
pub(crate) type CollectiveWaits = BTreeMap<(usize, usize), CollectiveWait>;

/// Rest of MPI 11: end of the metric's name.
fn metric(class: Class) -> &'static str {
    match class {
        Class::Barrier => "barrier",
        Class::OneToN => "12n",
        Class::NToOne => "n21",
        Class::NToN | Class::VariableNToN => "nxn",
        Class::Scan => "scan",
        Class::Creation => "create",
        Class::Neighborhood => "neighbor",
        Class::FileTransfer => "io",
        _ => panic!("{class:?} is not non-blocking"),
    }
}

fn waits(name: &str) -> bool {
    matches!(name, "wait" | "waitany" | "waitall" | "waitsome")
}

/// Rest of MPI 9: the second call of a split operation on a file.
fn ends_transfer(name: &str) -> bool {
    name.starts_with("file_") && name.ends_with("_end")
}

impl Analysis {
    /// Adds overlap and completion, and returns the longest wait of each call. Of equals the first in the order of
    /// records.
    pub(super) fn nonblocking(
        &mut self,
        operations: &Operations,
        instances: &[Instance],
        world: &World,
    ) -> CollectiveWaits {
        let (mut all, mut judged) = (CollectiveWaits::new(), BTreeSet::new());
        for instance in instances.iter().filter(|it| !it.any().series.is_blocking()) {
            let Some(class) = instance.any().class else { continue };
            if self.contradicts(operations, instance, world) {
                self.after_gap += 1;
                continue;
            }
            for own in 0..instance.parts.len() {
                let Some(needed) = instance.needed(class, world, own) else { continue };
                let one = instance.parts[own].expect("a member that needs others has a part");
                judged.insert((one.ended.location, one.ended.call));
                let x = instance.awaited(class, &needed, own).unwrap_or(one.begun).time;
                self.arrivals.insert((one.begun.location, one.begun.at), x);
                self.overlap(&one, x);
                if let Some(wait) = self.collective_wait(instance, class, &needed, own) {
                    let known = all.entry((wait.done.location, wait.done.call)).or_insert(wait);
                    if (wait.idle(), known.done.at) > (known.idle(), wait.done.at) {
                        *known = wait;
                    }
                }
            }
        }
        self.completion(operations, &judged, &all);
        all
    }

    /// Whether a recorder was switched off before, and a member ends its operation before the last one begins that it needs:
    /// the numbers of the operations may be wrong.
    pub(super) fn contradicts(&self, operations: &Operations, instance: &Instance, world: &World) -> bool {
        let Some(class) = instance.any().class else { return false };
        let is_early = |own: usize| {
            let needed = instance.needed(class, world, own).unwrap_or_default();
            let x = instance.awaited(class, &needed, own);
            x.is_some_and(|x| x.time > instance.parts[own].as_ref().unwrap().ended.time)
        };
        operations.is_doubted(instance) && (0..instance.parts.len()).any(is_early)
    }

    /// Rest of MPI 4.3
    fn collective_wait(
        &self,
        instance: &Instance,
        class: Class,
        needed: &[usize],
        own: usize,
    ) -> Option<CollectiveWait> {
        let done = instance.parts[own].as_ref()?.ended;
        if !waits(self.name(done)) && !ends_transfer(self.name(done)) {
            return None;
        }
        let (enter, leave) = (self.enter(done), self.leave(done));
        let last = instance.awaited(class, needed, own);
        let x = last.map_or(enter, |last| last.time);
        let arrival = (x.min(leave) - enter).max(0);
        let others = needed.iter().filter(|&&rank| rank != own && instance.is_awaited(class, rank, own));
        let returns = others.filter_map(|&rank| {
            let next = self.next(instance.parts[rank].as_ref()?.begun)?;
            (next.time <= leave).then_some(next)
        });
        // Of equals the lowest rank.
        let returned = returns.collect::<Vec<_>>().into_iter().rev().max_by_key(|next| next.time);
        let progress = returned.map_or(0, |next| (next.time - x.max(enter)).max(0));
        let cause = match (returned, last) {
            (Some(next), _) if progress > 0 => next,
            (_, Some(last)) if arrival > 0 => last,
            _ => return None,
        };
        Some(CollectiveWait { class, done, cause, arrival, progress })
    }

    /// Rest of MPI 2.5: the first call of the process in which MPI makes progress, entered after the call with the request was
    /// left; in the same tick, of those that were entered after that call.
    fn next(&self, request: EventRef) -> Option<EventRef> {
        let left = self.leave(request);
        let entered = self.locations[request.location].calls[request.call].entered_at;
        let calls = self.calls_of(self.process(request));
        let in_mpi = calls.filter(|(_, call)| call.is_mpi && makes_progress(&call.mpi_name));
        let order = |place: &EventRef| (place.time, place.location, place.at);
        let since = (self.enter(request), request.location, entered);
        let later = in_mpi.map(|(place, _)| place).filter(|place| place.time >= left && order(place) > since);
        later.min_by_key(order)
    }

    /// Rest of MPI 4.4: `x` is the time of the last request that the member needs, or of its own.
    fn overlap(&mut self, one: &Part, x: i64) {
        let call = |place: EventRef| (place.location, place.call);
        let (request, done) = (one.begun, one.ended);
        if call(request) == call(done) {
            return;
        }
        let (left, enter) = (self.leave(request), self.enter(done));
        let x = x.min(enter);
        self.add_ticks("mpi_overlap", request, left, (enter - left).max(0));
        self.add_ticks("mpi_overlap_hidden", request, left, (x - left).max(0));
        self.add_ticks("mpi_overlap_usable", request, left.max(x), (enter - left.max(x)).max(0));
    }

    /// Rest of MPI 4.3: the rest of calls that complete collective operations and nothing else. `judged` has those that
    /// complete one of which all members are known.
    fn completion(
        &mut self,
        operations: &Operations,
        judged: &BTreeSet<(usize, usize)>,
        all: &CollectiveWaits,
    ) {
        let call = |place: EventRef| (place.location, place.call);
        let sent = operations.sends.iter().filter_map(|send| send.completion);
        let received = operations.receives.iter().map(|receive| receive.done);
        let accessed = operations.one_sided.completions.iter().copied();
        let with_others: BTreeSet<_> = sent.chain(received).chain(accessed).map(call).collect();
        for &call in judged.difference(&with_others) {
            let place = self.end_of(call.0, call.1);
            if waits(self.name(place)) {
                let waited = all.get(&call).map_or(0, CollectiveWait::idle);
                self.add_completion("mpi_nbcoll_completion", place, self.length(place) - waited);
            }
        }
    }

    /// Adds the waits that are the longest of their calls.
    pub(super) fn collective_waits(&mut self, all: CollectiveWaits) {
        for wait in all.into_values() {
            let CollectiveWait { done, arrival, progress, .. } = wait;
            let begin = self.enter(done);
            self.waited.insert((done.location, done.call), wait.idle());
            if ends_transfer(self.name(done)) {
                self.add_ticks("mpi_io_collective_wait", done, begin, wait.idle());
            } else {
                self.add_ticks("mpi_nbcoll_wait", done, begin, wait.idle());
                let of_class = format!("mpi_nbcoll_wait_{}", metric(wait.class));
                self.add_ticks(&of_class, done, begin, arrival);
                self.add_ticks("mpi_nbcoll_wait_for_progress", done, begin + arrival, progress);
            }
            if let Some(class) = wait.class.costs() {
                self.edges.push(Edge::new(class, done, wait.cause, (begin, wait.idle())));
            }
        }
    }
}
