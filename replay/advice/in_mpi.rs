//! Time of threads inside of MPI, and outside: what is work between two moments, as far as calls are kept. Tests that find nothing are not.

use model::Ticks;

use crate::ids::CallId;
use crate::int::to_u32;
use crate::operations::Operations;

/// Calls that are looked at for the longest one between two moments: the last ones.
const LOOKED_AT: usize = 64;

/// Calls of MPI of a process by thread, in the order of time.
#[derive(Debug)]
pub(super) struct InMpi {
    /// The first location of the process.
    first: u32,
    threads: Vec<Vec<Within>>,
}

/// A call of MPI, as far as none before it on its thread goes on.
#[derive(Clone, Copy, Debug)]
struct Within {
    call: CallId,
    enter: Ticks,
    leave: Ticks,
    /// In calls before it.
    before: Ticks,
    /// When the thread has last heard of others: the end of a call that received, or that was an operation of many; up to this one.
    heard: Option<Ticks>,
}

impl InMpi {
    /// Of a process with this first location.
    pub(super) fn new(first: usize, operations: &Operations) -> InMpi {
        let first = to_u32(first);
        let calls = &operations.calls;
        let mut hears = vec![false; calls.len()];
        let mut hear = |call: CallId| {
            if let Some(hears) = hears.get_mut(call.index()) {
                *hears = true;
            }
        };
        operations.receives.iter().for_each(|receive| hear(receive.call));
        operations.collectives.iter().for_each(|it| hear(it.call));
        operations.nonblocking.iter().filter_map(|it| it.done.as_ref()).for_each(|done| hear(done.call));
        let mut threads: Vec<Vec<Within>> = Vec::new();
        for call in (0..calls.len()).map(CallId::new) {
            let it = calls.get(call);
            if !it.site.is_mpi {
                continue;
            }
            let thread = (it.site.location - first) as usize;
            if thread >= threads.len() {
                threads.resize(thread + 1, Vec::new());
            }
            let (enter, leave) = (it.interval.enter, it.interval.leave);
            threads[thread].push(Within { call, enter, leave, before: 0, heard: None });
        }
        for calls in &mut threads {
            calls.sort_by_key(|it| (it.enter, it.call));
            let (mut end, mut before, mut heard) = (Ticks::MIN, 0, None);
            for it in calls {
                if hears[it.call.index()] {
                    heard = heard.max(Some(it.leave));
                }
                (it.enter, it.leave) = (it.enter.max(end), it.leave.max(end));
                (it.before, it.heard) = (before, heard);
                before += it.leave - it.enter;
                end = it.leave;
            }
        }
        InMpi { first, threads }
    }

    /// Calls of the thread of a location that were entered before a moment.
    fn until(&self, location: u32, time: Ticks) -> &[Within] {
        let calls = self.threads.get((location - self.first) as usize).map_or(&[][..], Vec::as_slice);
        &calls[..calls.partition_point(|it| it.enter < time)]
    }

    /// Ticks in calls between two moments.
    pub(super) fn inside(&self, location: u32, from: Ticks, to: Ticks) -> Ticks {
        let up_to = |time: Ticks| {
            let last = self.until(location, time).last();
            last.map_or(0, |it| it.before + (time.min(it.leave) - it.enter).max(0))
        };
        (up_to(to) - up_to(from)).max(0)
    }

    /// Ticks outside of calls between two moments.
    pub(super) fn outside(&self, location: u32, from: Ticks, to: Ticks) -> Ticks {
        ((to - from).max(0) - self.inside(location, from, to)).max(0)
    }

    /// The call with most time between two moments; of several the last one.
    pub(super) fn longest(&self, location: u32, from: Ticks, to: Ticks) -> Option<CallId> {
        let calls = self.until(location, to).iter().rev().take(LOOKED_AT);
        let inside = |it: &Within| it.leave.min(to) - it.enter.max(from);
        let calls = calls.take_while(|it| it.leave > from).map(|it| (inside(it), it.call));
        calls.filter(|&(ticks, _)| ticks > 0).reduce(|a, b| if b.0 > a.0 { b } else { a }).map(|it| it.1)
    }

    /// When the thread of a location has last heard of others, in calls that it entered before a moment.
    pub(super) fn heard(&self, location: u32, time: Ticks) -> Option<Ticks> {
        self.until(location, time).last()?.heard
    }
}
