//! Messages that do not move on although they have been sent, as the other process is outside of MPI (rest of MPI 6.5).
//!
//! Facts of messages do not say when a process comes back to MPI. So where a call goes on for no known reason, the other
//! processes of its messages are asked, in bulk.

use std::cmp::Reverse;

use model::Ticks;
use patterns::matched::{Completion, StalledMessage};
use rustc_hash::FxHashMap;

use super::pairwise::Awaitable;
use super::returns::Questions;
use super::{GROWING, Matches};
use crate::ids::CallId;
use crate::int::to_u32;
use crate::metrics::Metrics;
use crate::operations::Operations;
use crate::tools::Tools;
use crate::trace::Trace;
use crate::walk::Walked;

/// A call that waits until another process is in MPI again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stall {
    /// The call.
    pub call: CallId,
    /// Position of the message's communicator in the definitions.
    pub communicator: u32,
    /// The message that has stalled longest.
    pub message: StalledMessage,
    /// The other process of the message.
    pub process: u32,
    /// Entering the call with which that process is in MPI again.
    pub returned: Awaitable,
}

/// A message for which a call goes on without a known reason.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rest {
    call: CallId,
    communicator: u32,
    process: u32,
    /// Since when the message has been sent, and the call does not wait.
    since: Ticks,
    /// The end of the call.
    leave: Ticks,
}

/// Bytes of a question: its subject, the words that are sent and received, the wait of its call, and the answer.
const OF_QUESTION: u64 = GROWING * 3 * (size_of::<Rest>() + size_of::<Stall>()) as u64;

/// How many bytes the questions of a process take at most.
pub(super) fn bytes_needed(trace: &Trace, operations: &Operations) -> u64 {
    let shortest = trace.shortest_rest();
    let receives = operations.receives.iter().filter(|receive| is_long(operations, receive.call, shortest));
    let sends = operations.sends.iter().filter(|send| is_long(operations, send.completion, shortest));
    OF_QUESTION * (receives.count() + sends.count()) as u64
}

/// Whether a call that completes messages takes at least so many ticks, and leaving it is an event.
fn is_long(operations: &Operations, call: CallId, shortest: Ticks) -> bool {
    // Most calls are short, so that they are not looked for.
    operations.calls.find(call).is_some_and(|call| call.interval.length() >= shortest)
        && operations.left(call).is_some()
}

/// Asks the other processes of all messages of a process that are completed by calls which go on without a known reason for some
/// time. `subject` makes the subjects of the questions.
pub(super) fn question<T>(
    tools: &Tools<'_>,
    walked: &Walked,
    matches: &Matches,
    questions: &mut Questions<T>,
    subject: impl Fn(Rest) -> T,
) {
    let operations = &*walked.operations;
    let (me, shortest) = (to_u32(walked.process.number), tools.trace.shortest_rest());
    let is_long = |call: CallId| is_long(operations, call, shortest);
    let mut waits: Option<FxHashMap<CallId, Ticks>> = None;
    let mut question = |call: CallId, (process, communicator): (u32, u32), sent: Ticks| {
        let waits = waits.get_or_insert_with(|| waits_of_calls(tools.metrics, operations, matches, is_long));
        let interval = operations.call(call).interval;
        let since = sent.max(interval.enter + waits.get(&call).copied().unwrap_or(0));
        if process != me && interval.leave - since >= shortest {
            let rest = Rest { call, communicator, process, since, leave: interval.leave };
            questions.ask(tools, process, (since, interval.leave), subject(rest));
        }
    };
    for (at, receive) in operations.receives.iter().enumerate().filter(|(_, receive)| is_long(receive.call)) {
        if let Some(send) = matches.sends.get(at) {
            let source = operations.source(receive);
            question(receive.call, (source.peer, source.communicator), send.call.leave);
        }
    }
    for (at, send) in operations.sends.iter().enumerate().filter(|(_, send)| is_long(send.completion)) {
        if !matches.postings.is_alone(at) {
            let destination = operations.destination(send);
            question(send.completion, (destination.peer, destination.communicator), Ticks::MIN);
        }
    }
}

/// Adds a process that comes back to MPI.
pub(super) fn receive(matches: &mut Matches, rest: &Rest, returned: Awaitable) {
    let Rest { call, communicator, process, since, leave } = *rest;
    let message = StalledMessage { since, returned: returned.call.enter, leave };
    if message.stall() > 0 {
        matches.stalls.push(Stall { call, communicator, message, process, returned });
    }
}

impl Matches {
    /// Of several messages of a call the one that has stalled longest counts.
    pub(super) fn keep_longest_stalls(&mut self) {
        let key =
            |stall: &Stall| (stall.call, Reverse(stall.message.stall()), stall.process, stall.communicator);
        self.stalls.sort_by_key(key);
        self.stalls.dedup_by_key(|stall| stall.call);
    }
}

/// How long calls wait for other reasons: of the operations that one call completes the longest wait counts (rest of MPI 2.4).
fn waits_of_calls(
    metrics: &Metrics,
    operations: &Operations,
    matches: &Matches,
    is_long: impl Fn(CallId) -> bool,
) -> FxHashMap<CallId, Ticks> {
    // For senders and members of collective operations, and for receivers.
    let mut longest: FxHashMap<CallId, [Ticks; 2]> = FxHashMap::default();
    let mut add = |call: CallId, kind: usize, ticks: Ticks| {
        let known = &mut longest.entry(call).or_default()[kind];
        *known = ticks.max(*known);
    };
    for (at, receive) in operations.receives.iter().enumerate().filter(|(_, receive)| is_long(receive.call)) {
        if let Some(send) = matches.sends.get(at) {
            let message = send.received(operations, receive);
            metrics.at_late_message.iter().for_each(|(_, rule)| add(receive.call, 0, rule(&message)));
        }
    }
    for (at, operation) in operations.nonblocking.iter().enumerate() {
        if let Some((done, member)) =
            matches.nonblocking_member(operations, at, operation).filter(|(done, _)| is_long(done.call))
        {
            add(done.call, 0, member.waiting());
        }
    }
    for (at, send) in operations.sends.iter().enumerate().filter(|(_, send)| is_long(send.completion)) {
        if let Some(posting) = matches.postings.get(at) {
            let message = posting.sent(&operations.call(send.completion), send.bytes);
            metrics.at_send.iter().for_each(|(_, rule)| add(send.completion, 1, rule(&message)));
        }
    }
    let longest_of = |(call, [for_sender, for_receiver]): (CallId, [Ticks; 2])| {
        let is_combined = operations.site(call).completion == Completion::SendReceive;
        let has_late_sender = for_sender > 0 && !is_combined;
        (call, if has_late_sender { for_sender } else { for_sender.max(for_receiver).max(0) })
    };
    longest.into_iter().map(longest_of).collect()
}
