//! Wait states of non-blocking collective operations, and their overlap with other work (rest of MPI 2 and 4).

use std::collections::{BTreeMap, BTreeSet};

use model::mpi::makes_progress;

use super::operations::{HANDLES, NonBlocking, Operations};
use super::read::Call;
use super::{Analysis, EventRef};

/// Waiting of a call for one of the operations that it completes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CollectiveWait {
    class: Class,
    /// The completion record.
    pub(crate) done: EventRef,
    /// The event that is waited for: a request, or the enter of a call.
    pub(crate) cause: EventRef,
    arrival: i64,
    progress: i64,
}

impl CollectiveWait {
    pub(crate) fn idle(&self) -> i64 {
        self.arrival + self.progress
    }

    /// Class of the costs, in the names of metrics; scans have none (Q10).
    pub(crate) fn costs(&self) -> Option<&'static str> {
        Some(match self.class {
            Class::Barrier => "barrier",
            Class::NToN | Class::VariableNToN => "n2n",
            Class::OneToN => "12n",
            Class::NToOne => "n21",
            Class::Handle => "mgmt",
            Class::Scan => return None,
        })
    }
}

/// By location and call: the longest wait of the call.
pub(crate) type CollectiveWaits = BTreeMap<(usize, usize), CollectiveWait>;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Class {
    Barrier,
    OneToN,
    NToOne,
    NToN,
    VariableNToN,
    Scan,
    Handle,
}

impl Class {
    /// Specification 3.2: codes of OTF2.
    fn of(operation: u8) -> Option<Class> {
        Some(match operation {
            0 => Class::Barrier,
            1 | 4 | 5 => Class::OneToN,
            2 | 3 | 12 => Class::NToOne,
            6 | 7 | 8 | 11 | 13 | 16 => Class::NToN,
            9 | 10 => Class::VariableNToN,
            14 | 15 => Class::Scan,
            HANDLES => Class::Handle,
            _ => return None,
        })
    }

    /// Rest of MPI 2.1: members that began after one's own end were evidently not awaited.
    fn is_soft(self) -> bool {
        matches!(self, Class::VariableNToN | Class::Handle)
    }

    /// Rest of MPI 11: end of the metric's name.
    fn metric(self) -> &'static str {
        match self {
            Class::Barrier => "barrier",
            Class::OneToN => "12n",
            Class::NToOne => "n21",
            Class::NToN | Class::VariableNToN => "nxn",
            Class::Scan => "scan",
            Class::Handle => "create",
        }
    }
}

/// Rest of MPI 2.2: D, whom a member needs, by rank.
fn needed(class: Class, root: Option<usize>, members: &[&NonBlocking], own: usize) -> Vec<usize> {
    let sends = |&rank: &usize| members[rank].sent > 0;
    let (sent, received) = (members[own].sent > 0, members[own].received > 0);
    let all = 0..members.len();
    match class {
        Class::Barrier | Class::Handle => all.collect(),
        Class::NToN | Class::VariableNToN if received => all.filter(sends).collect(),
        Class::OneToN if received => root.into_iter().filter(sends).collect(),
        Class::NToOne if received && root == Some(own) => all.filter(sends).collect(),
        Class::Scan if sent || received => (0..=own).filter(sends).collect(),
        _ => Vec::new(),
    }
}

fn waits(name: &str) -> bool {
    matches!(name, "wait" | "waitany" | "waitall" | "waitsome")
}

impl Analysis {
    /// Adds overlap and completion, and returns the longest wait of each call. Of equals the first in the order of
    /// records.
    pub(super) fn nonblocking(
        &mut self,
        operations: &Operations,
        instances: &[Vec<usize>],
    ) -> CollectiveWaits {
        let (mut all, mut judged) = (CollectiveWaits::new(), BTreeSet::new());
        for instance in instances {
            let members: Vec<&NonBlocking> = instance.iter().map(|&at| &operations.nonblocking[at]).collect();
            let Some(class) = Class::of(members[0].operation.0) else { continue };
            if self.contradicts(operations, class, &members) {
                continue;
            }
            judged.extend(members.iter().map(|one| (one.done.location, one.done.call)));
            for own in 0..members.len() {
                let last = self.last(class, &members, own);
                let x = last.map_or(members[own].request, |rank| members[rank].request).time;
                self.overlap(members[own], x);
                if let Some(wait) = self.collective_wait(class, &members, own) {
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

    /// Of those that a member needs, the last one to request the operation; of equals the lowest rank.
    fn last(&self, class: Class, members: &[&NonBlocking], own: usize) -> Option<usize> {
        let root = members[own].root.map(|root| root as usize);
        let mut needed = needed(class, root, members, own);
        needed.retain(|&rank| !class.is_soft() || members[rank].request.time <= members[own].done.time);
        needed.into_iter().rev().max_by_key(|&rank| members[rank].request.time)
    }

    /// Whether a recorder was switched off before, and a member completes its operation before the last request that it
    /// needs: the numbers of the operations may be wrong.
    fn contradicts(&self, operations: &Operations, class: Class, members: &[&NonBlocking]) -> bool {
        let is_doubted = |one: &&NonBlocking| {
            let gap = operations.gaps[one.process];
            operations.were_off[one.process] && gap.is_some_and(|gap| one.request.order >= gap)
        };
        let is_early = |own: usize| {
            let last = self.last(class, members, own);
            last.is_some_and(|last| members[last].request.time > members[own].done.time)
        };
        members.iter().any(is_doubted) && (0..members.len()).any(is_early)
    }

    /// Rest of MPI 4.3
    fn collective_wait(&self, class: Class, members: &[&NonBlocking], own: usize) -> Option<CollectiveWait> {
        let (one, done) = (members[own], members[own].done);
        if !waits(self.name(done)) {
            return None;
        }
        let (enter, leave) = (self.enter(done), self.leave(done));
        let last = self.last(class, members, own);
        let x = last.map_or(enter, |rank| members[rank].request.time);
        let arrival = (x.min(leave) - enter).max(0);
        let root = one.root.map(|root| root as usize);
        let needed = needed(class, root, members, own);
        let others = needed.into_iter().filter(|&rank| rank != own);
        let returns =
            others.filter_map(|rank| self.next(members[rank].request).filter(|next| next.time <= leave));
        // Of equals the lowest rank.
        let returned = returns.collect::<Vec<_>>().into_iter().rev().max_by_key(|next| next.time);
        let progress = returned.map_or(0, |next| (next.time - x.max(enter)).max(0));
        let cause = match (returned, last) {
            (Some(next), _) if progress > 0 => next,
            (_, Some(last)) if arrival > 0 => members[last].request,
            _ => return None,
        };
        Some(CollectiveWait { class, done, cause, arrival, progress })
    }

    /// Rest of MPI 2.5: the first call of the process in which MPI makes progress, entered after the call with the request.
    fn next(&self, request: EventRef) -> Option<EventRef> {
        let left = self.end_of(request.location, request.call);
        let process = self.process(request);
        let locations = self.locations.iter().enumerate().filter(|(_, it)| it.process == process);
        let calls = locations.flat_map(|(at, it)| it.calls.iter().enumerate().map(move |call| (at, call)));
        let in_mpi = calls.filter(|(_, (_, call))| call.is_mpi && makes_progress(&call.mpi_name));
        let order =
            |&(location, (_, call)): &(usize, (usize, &Call))| (call.enter, location, call.entered_at);
        let later = in_mpi.filter(|it| order(it) > (left.time, left.location, left.at));
        let first = later.min_by_key(order);
        first.map(|(location, (call, it))| EventRef {
            location,
            call,
            time: it.enter,
            order: 0,
            at: it.entered_at,
        })
    }

    /// Rest of MPI 4.4: `x` is the time of the last request that the member needs, or of its own.
    fn overlap(&mut self, one: &NonBlocking, x: i64) {
        let call = |place: EventRef| (place.location, place.call);
        if call(one.request) == call(one.done) {
            return;
        }
        let (left, enter) = (self.leave(one.request), self.enter(one.done));
        let x = x.min(enter);
        self.add_at("mpi_overlap", one.request, (enter - left).max(0));
        self.add_at("mpi_overlap_hidden", one.request, (x - left).max(0));
        self.add_at("mpi_overlap_usable", one.request, (enter - left.max(x)).max(0));
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
        let with_messages: BTreeSet<_> = sent.chain(received).map(call).collect();
        for &call in judged.difference(&with_messages) {
            let place = self.end_of(call.0, call.1);
            if waits(self.name(place)) {
                let waited = all.get(&call).map_or(0, CollectiveWait::idle);
                self.add_at("mpi_nbcoll_completion", place, self.length(place) - waited);
            }
        }
    }

    /// Adds the waits that are the longest of their calls.
    pub(super) fn collective_waits(&mut self, all: CollectiveWaits) {
        for wait in all.into_values() {
            self.add_at("mpi_nbcoll_wait", wait.done, wait.idle());
            let metric = format!("mpi_nbcoll_wait_{}", wait.class.metric());
            self.add_at(&metric, wait.done, wait.arrival);
            self.add_at("mpi_nbcoll_wait_for_progress", wait.done, wait.progress);
            self.collective_waits.push(wait);
        }
    }
}
