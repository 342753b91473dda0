//! Tests and probes that do not wait: whether something was complete or found, and if not what was asked for (rest of MPI 6.3).

use model::mpi::Polling;
use rustc_hash::FxHashMap;

use super::process::ProcessWalk;
use super::stack::Frame;
use crate::ids::Row;
use crate::operations::Asked;

/// What is known of polls that are not settled yet.
#[derive(Debug, Default)]
pub(super) struct Asking {
    /// What the current test of a thread has asked for in vain, behind the number of the thread.
    tested: Vec<(usize, Asked)>,
    /// By thread: probes that have found nothing, since its last receive was posted.
    probes: FxHashMap<usize, Vec<usize>>,
    /// By thread and row: tests without records of what they asked for, until one completes something.
    untold: FxHashMap<(usize, Row), Vec<Untold>>,
    /// What was completed while there are such tests, behind the number of the thread.
    completed: Vec<(usize, Asked)>,
}

/// A test without records of what it asked for.
#[derive(Clone, Copy, Debug)]
struct Untold {
    poll: usize,
    /// Numbers of the receives and of the non-blocking collective operations that were started before.
    posted: u32,
    requested: u32,
}

impl ProcessWalk<'_> {
    /// Notes that a request is complete in the current call of a thread.
    #[inline]
    pub(super) fn complete(&mut self, thread: usize, what: Asked) {
        if let Some(steps) = &mut self.threads[thread].steps {
            steps.complete();
        }
        let Some(frame) = self.threads[thread].stack.last_mut() else { return };
        frame.completes = true;
        let is_poll =
            || self.trace.kinds.get(frame.region as usize).is_some_and(|kind| kind.polling.is_some());
        if !self.asking.untold.is_empty() && is_poll() {
            self.asking.completed.push((thread, what));
        }
    }

    /// Notes that a test of a thread has asked for a request in vain.
    pub(super) fn test(&mut self, thread: usize, request: u64) {
        let asked = self.requests.asked(request);
        self.asking.tested.push((thread, asked));
    }

    /// Leaves a call that may be a poll; a look at the state of a request is none (rest of MPI 6.3).
    pub(super) fn leave_poll(&mut self, thread: usize, polling: Polling, frame: &Frame) {
        let is_probe = polling == Polling::Probe;
        let mut asked = Vec::new();
        self.asking.tested.retain(|&(of, what)| {
            if of == thread {
                asked.push(what);
            }
            of != thread
        });
        if polling == Polling::Status || is_probe && self.attributes.probed.is_some() {
            return;
        }
        if frame.completes {
            self.settle(thread, frame.row);
            return;
        }
        let Some(call) = self.call(thread) else { return };
        let has_records = !asked.is_empty();
        let poll = self.operations.polls.add(call, polling == Polling::Any, asked);
        if is_probe {
            self.asking.probes.entry(thread).or_default().push(poll);
        } else if !has_records {
            let (posted, requested) = self.requests.started(&self.operations);
            let untold = Untold { poll, posted, requested };
            self.asking.untold.entry((thread, frame.row)).or_default().push(untold);
        }
    }

    /// A test has completed something: that is what the ones before it at the same call path have asked for, as far as it was
    /// started before them.
    fn settle(&mut self, thread: usize, row: Row) {
        let mut completed = Vec::new();
        self.asking.completed.retain(|&(of, what)| {
            if of == thread {
                completed.push(what);
            }
            of != thread
        });
        let Some(polls) = self.asking.untold.remove(&(thread, row)) else { return };
        for Untold { poll, posted, requested } in polls {
            let is_before = |what: &&Asked| match **what {
                Asked::Receive(order) => order <= posted,
                Asked::Collective(position) => position < requested,
                Asked::Unknown => false,
            };
            self.operations.polls.tell(poll, completed.iter().filter(is_before).copied());
        }
        if self.asking.untold.is_empty() {
            self.asking.completed.clear();
        }
    }

    /// Notes that a thread posts a receive: its probes before have asked for that.
    pub(super) fn settle_probes(&mut self, thread: usize, order: u32) {
        if self.asking.probes.is_empty() {
            return;
        }
        for poll in self.asking.probes.remove(&thread).unwrap_or_default() {
            self.operations.polls.tell(poll, [Asked::Receive(order)]);
        }
    }
}
