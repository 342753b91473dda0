//! Waiting for non-blocking collective operations, in the calls that complete them, and the time that these had to overlap
//! (rest of MPI 2.4, 4.3, 4.4).

use std::cmp::Reverse;

use model::Ticks;
use patterns::matched::{CollectiveMember, Completion, NonBlockingMember};
use rustc_hash::FxHashSet;

use super::{EdgeWait, Finder};
use crate::causes::DelayClass;
use crate::communicators::Participants;
use crate::coverage::Fate;
use crate::details::instances::{BothSides, ENTERED, NO_NUMBER};
use crate::ids::{CallId, PathId};
use crate::int::to_u32;
use crate::matching::{Matches, Progression};
use crate::metrics::Metrics;
use crate::operations::{Done, Operations};
use crate::statistics::Instance;
use crate::trace::Trace;

/// An operation that made the call wait which completed it.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    call: CallId,
    /// The wait; 0 if the call has waited longer for a message.
    waiting: Ticks,
    /// Its place in the order of completions.
    order: u32,
    /// Position among the non-blocking operations of the process.
    operation: u32,
}

/// By completing call, in rising order: the operation with the longest wait, the one that was completed first among equals.
#[derive(Clone, Debug, Default)]
pub(super) struct CollectiveWaits {
    longest: Vec<Candidate>,
}

impl CollectiveWaits {
    /// Finds them. Which of them are longer than the waits for messages is known once all messages were received.
    pub(super) fn new(operations: &Operations, matches: &Matches) -> CollectiveWaits {
        let mut longest = Vec::new();
        for (at, operation) in (0..).zip(&operations.nonblocking) {
            let Some((Done { call, order, .. }, member)) =
                matches.nonblocking_member(operations, at as usize, operation)
            else {
                continue;
            };
            let waiting = member.waiting();
            if waiting > 0 {
                longest.push(Candidate { call, waiting, order, operation: at });
            }
        }
        longest.sort_by_key(|it: &Candidate| (it.call, Reverse(it.waiting), it.order));
        longest.dedup_by_key(|it| it.call);
        CollectiveWaits { longest }
    }

    /// The calls with such a wait.
    pub(super) fn calls(&self) -> impl Iterator<Item = CallId> {
        self.longest.iter().filter(|known| known.waiting > 0).map(|known| known.call)
    }

    /// Whether a call has waited longer for a collective operation than for a message. If not, that wait does not count.
    pub(super) fn is_longer(&mut self, call: CallId, for_message: Ticks) -> bool {
        let Ok(at) = self.longest.binary_search_by_key(&call, |known| known.call) else { return false };
        let known = &mut self.longest[at];
        if known.waiting <= for_message {
            known.waiting = 0;
        }
        known.waiting > 0
    }
}

/// The second half of a split transfer of a file as patterns of blocking transfers see it, to which its waiting belongs.
fn as_blocking(member: &NonBlockingMember) -> CollectiveMember {
    let (begin, end) = (member.call.enter, member.call.leave);
    let last_begin = begin + member.waiting();
    CollectiveMember { class: member.class, begin, end, last_begin, first_end: end, accessed: Ticks::MIN }
}

impl Finder<'_> {
    /// Takes calls with operations whose partners are missing out of the analysed coverage: adds them to `lost`. Operations on
    /// communicators that are none of MPI are not analysed.
    pub(super) fn lose_nonblocking(&mut self, trace: &Trace, matches: &Matches, lost: &mut Vec<CallId>) {
        let (mut others, mut outside) = (FxHashSet::default(), FxHashSet::default());
        for (operation, progression) in self.operations.nonblocking.iter().zip(&matches.nonblocking) {
            let Some(done) = operation.done else {
                lost.push(operation.call);
                continue;
            };
            match trace.communicators[done.communicator as usize] {
                Participants::NotMpi => others.extend([operation.call, done.call]),
                Participants::Outside => outside.extend([operation.call, done.call]),
                _ if *progression == Progression::Unmatched => lost.extend([operation.call, done.call]),
                _ => {}
            }
        }
        others.retain(|call| !outside.contains(call));
        for (mut calls, fate) in [(others, Fate::OtherCollective), (outside, Fate::OutsideProcesses)] {
            lost.iter().for_each(|call| _ = calls.remove(call));
            let calls = calls.into_iter().map(|call| self.operations.call(call));
            for call in calls.filter(|call| call.is_analysed) {
                self.results.coverage.lose(fate, call.interval.length());
            }
        }
    }

    /// Reports the waits that are the longest of their calls.
    pub(super) fn nonblocking_waits(&mut self, matches: &Matches) {
        let operations = self.operations;
        let mut longest = std::mem::take(&mut self.collective_waits.longest);
        longest.retain(|candidate| candidate.waiting > 0);
        longest.sort_by_key(|candidate| candidate.operation);
        for Candidate { operation: at, .. } in longest {
            let at = at as usize;
            let operation = &operations.nonblocking[at];
            let Some((done, member)) = matches.nonblocking_member(operations, at, operation) else {
                continue;
            };
            let split = as_blocking(&member);
            let (of_split, of_others) = match member.completion {
                Completion::SplitTransfer => (self.metrics.at_collective(split.class), &[][..]),
                _ => (&[][..], &self.metrics.at_nonblocking[..]),
            };
            let of_split = of_split.iter().map(|(pattern, rule)| (pattern, rule(&split)));
            let of_others = of_others.iter().map(|(pattern, rule)| (pattern, rule(&member)));
            // The statistics do not tell kinds apart. A wait for the last member and then for progress is of no kind.
            let waiting = member.waiting();
            let kind = of_others.clone().find(|(it, ticks)| it.subject.is_none() && *ticks == waiting);
            let kind = kind.map(|(pattern, _)| pattern.position);
            for (pattern, ticks) in of_others.chain(of_split) {
                if ticks <= 0 {
                    continue;
                }
                let begin = self.begin_of_part(pattern, (member.call.enter, waiting), ticks);
                let counted = self.report(pattern, done.call, begin, ticks);
                let Progression::Together { blamed: Some((_, blamed)), .. } = matches.nonblocking[at] else {
                    continue;
                };
                let instance = Instance {
                    duration: Reverse(counted),
                    process: to_u32(self.process.number),
                    enter: member.call.enter,
                    exit: member.call.leave,
                    path: PathId::NONE,
                    cause: blamed.place,
                };
                let both = || BothSides {
                    waiting: operations.site(done.call).place(),
                    call: member.call,
                    begin: member.call.enter,
                    ticks,
                    waits_at: done.position,
                    cause_call: blamed.call,
                    cause_time: member.call.enter + ticks,
                    cause_at: blamed.spot.position,
                    communicator: done.communicator,
                    tag: NO_NUMBER,
                    bytes: done.sent.saturating_add(done.received),
                    members: 0,
                    team: NO_NUMBER,
                    pattern: kind,
                    entered: [NO_NUMBER; ENTERED],
                };
                self.offer(pattern.subject, done.call, instance, both);
            }
            let Progression::Together { blamed: Some((process, awaited)), .. } = matches.nonblocking[at]
            else {
                continue;
            };
            if let Some(class) = DelayClass::of(member.class) {
                self.waiting.edges.push(EdgeWait {
                    class,
                    call: done.call,
                    position: done.position,
                    begin: member.call.enter,
                    ticks: member.waiting(),
                    process,
                    awaited,
                    communicator: done.communicator,
                    base: None,
                });
            }
        }
    }

    /// Adds what the calls took that completed collective operations and nothing else, beyond their `waits`, and the overlap of
    /// each operation at the call that started it.
    pub(super) fn nonblocking_times(&mut self, matches: &Matches) {
        let operations = self.operations;
        let Metrics { nonblocking_completion, overlap, .. } = *self.metrics;
        // Calls with what they have waited; without, if they have completed something else, too.
        let mut completing: Vec<(CallId, Option<Ticks>)> = Vec::new();
        for (at, operation) in operations.nonblocking.iter().enumerate() {
            let Some((done, member)) = matches.nonblocking_member(operations, at, operation) else {
                continue;
            };
            let completed = member.call.enter;
            if done.call != operation.call {
                let started = operations.call(operation.call).interval.leave;
                let awaited = member.last_request.map_or(started, |last| last.min(completed).max(started));
                let times = [(started, completed), (started, awaited), (awaited, completed)];
                for (metric, (begin, end)) in overlap.into_iter().zip(times) {
                    self.add_ticks(operation.call, metric, begin, (end - begin).max(0));
                }
            }
            if member.completion.blocks() {
                completing.push((done.call, Some(member.waiting())));
            }
        }
        completing.sort_by_key(|&(call, waited)| (call, Reverse(waited)));
        completing.dedup_by_key(|&mut (call, _)| call);
        let of_messages = operations.receives.iter().map(|receive| receive.call);
        let of_messages = of_messages.chain(operations.sends.iter().map(|send| send.completion));
        for call in of_messages.chain(operations.one_sided.completing.iter().copied()) {
            if let Ok(at) = completing.binary_search_by_key(&call, |&(call, _)| call) {
                completing[at].1 = None;
            }
        }
        for (call, waited) in completing {
            if let Some(waited) = waited {
                let interval = operations.call(call).interval;
                let ticks = interval.length() - waited;
                self.add_ticks(call, nonblocking_completion, interval.leave - ticks, ticks);
            }
        }
    }
}
