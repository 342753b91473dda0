//! Late senders and late receivers. The rule of a pattern considers one message; of the messages that one call completes only the
//! longest wait counts, and a late message is remembered until it is overtaken.

use model::Ticks;
use patterns::matched::{Completion, Interval, LateMessage, ReceivedMessage};

use super::nonblocking::CollectiveWaits;
use super::{Finder, Received};
use crate::details::instances::{BothSides, ENTERED, NO_NUMBER};
use crate::findings::Finding;
use crate::ids::{CallId, EventNumber};
use crate::int::to_u32;
use crate::late_messages::{Late, LateMessages};
use crate::matching::{Matches, PostingFacts, SendFacts, Sides};
use crate::metrics::NumberedPattern;
use crate::operations::{Envelope, Operations, Receive};
use crate::severity::amount;
use crate::trace::Trace;

/// Stands for "no message".
const NONE: u32 = u32::MAX;

/// A late message: its position among those that this process received or sent, and the other side.
#[derive(Clone, Copy)]
pub(super) enum LateSide<'m> {
    /// Its sender was late.
    Sender(usize, &'m SendFacts),
    /// Its sender was late for a probe, which is left by this event.
    Probed(EventNumber, usize, &'m SendFacts),
    /// Its receiver was late.
    Receiver(usize, &'m PostingFacts),
}

impl LateSide<'_> {
    /// Both sides of the wait for the message, which is charged to a call.
    pub(super) fn sides(self, operations: &Operations, call: CallId, ticks: Ticks) -> BothSides {
        let call = operations.call(call);
        let (Envelope { communicator, tag, .. }, waits_at, cause_call, cause_at, bytes) = match self {
            LateSide::Sender(at, send) => {
                let receive = &operations.receives[at];
                (*operations.source(receive), receive.position, send.call, send.position, send.bytes)
            }
            LateSide::Probed(position, at, send) => {
                let receive = &operations.receives[at];
                (*operations.source(receive), position, send.call, send.position, send.bytes)
            }
            LateSide::Receiver(at, posting) => {
                let send = &operations.sends[at];
                (*operations.destination(send), send.completed, posting.call, posting.position, send.bytes)
            }
        };
        BothSides {
            waiting: call.site.place(),
            call: call.interval,
            begin: call.interval.enter,
            ticks,
            waits_at,
            cause_call,
            cause_time: cause_call.enter,
            cause_at,
            communicator,
            tag,
            bytes,
            members: 0,
            team: NO_NUMBER,
            pattern: None,
            entered: [NO_NUMBER; ENTERED],
        }
    }
}

/// The longest wait among the messages of one call so far.
#[derive(Clone, Copy)]
struct Longest {
    call: CallId,
    /// Position of the pattern among those at late messages, or at sends.
    rule: usize,
    idle: Ticks,
    /// Position of the message.
    message: usize,
}

impl Finder<'_> {
    /// Reports oddities of the receive at a position and of its send, if it has one.
    fn check_receive(&mut self, at: usize, send: Option<&SendFacts>, matches: &Matches, trace: &Trace) {
        let receive = &self.operations.receives[at];
        let is_fine = |send: &SendFacts| receive.bytes <= send.bytes && send.time <= receive.time;
        if send.is_some_and(is_fine) {
            return;
        }
        let location = self.operations.site(receive.call).location as usize;
        let findings = &mut self.results.findings;
        let Some(send) = send else {
            let Envelope { peer, rank, tag, .. } = self.operations.source(receive);
            let finding = match matches.sends.is_unknown(at) {
                true => Finding::UnknownOrder,
                false if matches.paused.contains(peer) => Finding::UnrecordedPartner,
                false => Finding::UnmatchedReceive,
            };
            return findings
                .add(finding, receive.time, location, || format!("from rank {rank} with tag {tag}"));
        };
        if receive.bytes > send.bytes {
            findings.add(Finding::ShortSend, receive.time, location, || {
                format!("{} bytes received, {} sent", { receive.bytes }, send.bytes)
            });
        }
        if send.time > receive.time {
            findings.add(Finding::ClockMessage, receive.time, location, || {
                format!("received {} ticks before it was sent", trace.recorded(send.time - receive.time))
            });
        }
    }

    /// Finds late senders and messages that overtake late ones. Returns the calls in which a late sender was
    /// the longest wait so far, in rising order, and the calls that received a message without send.
    pub(super) fn receives(&mut self, matches: &Matches, trace: &Trace) -> (Vec<CallId>, Vec<CallId>) {
        let sends = &matches.sends;
        let mut lost = Vec::new();
        let mut calls_with_late_sender = Vec::new();
        let mut longest: Vec<Longest> = Vec::new();
        let mut remembered = LateMessages::new(trace.semantics);
        for (at, receive) in self.operations.receives.iter().enumerate() {
            if receive.forgets() {
                longest.retain(|longest| longest.call != receive.call);
            }
            let send = sends.get(at);
            self.check_receive(at, send.as_ref(), matches, trace);
            let Some(send) = send else {
                lost.push(receive.call);
                // Only the receive has the length of this message.
                self.count_receive(receive, receive.bytes);
                self.transfer(None, false);
                if receive.is_last_of_call() {
                    self.report_longest(&mut longest, receive, sends, &mut remembered);
                }
                continue;
            };
            let message = send.received(self.operations, receive);
            let mut has_waited = false;
            for (number, (pattern, rule)) in self.metrics.at_late_message.iter().enumerate() {
                let idle = rule(&message);
                if idle <= 0 {
                    continue;
                }
                has_waited = true;
                if message.completion == Completion::SendReceive
                    && self.combined.waits_longer_for_receiver(receive.call, idle)
                {
                    continue;
                }
                if message.completion != Completion::WaitMany {
                    let interval = Interval::new(message.receive.enter, receive.time);
                    self.report_message(pattern, receive.call, idle, interval, LateSide::Sender(at, &send));
                    self.remember_late(pattern, at, idle, send.time, &mut remembered);
                    continue;
                }
                let candidate = Longest { call: receive.call, rule: number, idle, message: at };
                match longest.iter_mut().find(|known| (known.call, known.rule) == (receive.call, number)) {
                    Some(known) if known.idle >= idle => continue,
                    Some(known) => *known = candidate,
                    None => longest.push(candidate),
                }
                if pattern.is_outermost_waiting && calls_with_late_sender.last() != Some(&receive.call) {
                    calls_with_late_sender.push(receive.call);
                }
            }
            for late in remembered.overtaken(send.time) {
                self.report_overtaken(late, sends, &message, receive);
            }
            self.count_receive(receive, send.bytes);
            self.transfer(Some(&send), has_waited);
            if receive.is_last_of_call() {
                self.report_longest(&mut longest, receive, sends, &mut remembered);
            }
        }
        calls_with_late_sender.sort_unstable();
        (calls_with_late_sender, lost)
    }

    /// Reports that the message received now has overtaken a late one.
    fn report_overtaken(
        &mut self,
        late: Late,
        sends: &Sides<SendFacts>,
        message: &ReceivedMessage,
        now: &Receive,
    ) {
        let receive = &self.operations.receives[late.receive as usize];
        let Some(send) = sends.get(late.receive as usize) else { return };
        let late_message = LateMessage { sent: late.sent, source: self.operations.source(receive).rank };
        let mut is_overtaken = false;
        for (pattern, rule) in &self.metrics.at_overtaking {
            if rule(&late_message, message) {
                is_overtaken = true;
                let interval = Interval::new(message.sent, now.time);
                let sender = LateSide::Sender(late.receive as usize, &send);
                self.report_message(pattern, receive.call, late.idle, interval, sender);
            }
        }
        if is_overtaken {
            self.waiting.overtaken.push(late.receive);
        }
    }

    /// Reports the longest wait of a call that completed several messages, at its last message.
    fn report_longest(
        &mut self,
        longest: &mut Vec<Longest>,
        last: &Receive,
        sends: &Sides<SendFacts>,
        remembered: &mut LateMessages,
    ) {
        longest.retain(|known| {
            let call = last.call;
            if known.call != call {
                return true;
            }
            let is_longest = |waits: &mut CollectiveWaits| !waits.is_longer(call, known.idle);
            if let Some(send) = sends.get(known.message).filter(|_| !last.is_lost())
                && is_longest(&mut self.collective_waits)
            {
                let receive = &self.operations.receives[known.message];
                let message = send.received(self.operations, receive);
                let pattern = &self.metrics.at_late_message[known.rule].0;
                let interval = Interval::new(message.receive.enter, receive.time);
                self.report_message(
                    pattern,
                    call,
                    known.idle,
                    interval,
                    LateSide::Sender(known.message, &send),
                );
                self.remember_late(pattern, known.message, known.idle, send.time, remembered);
            }
            false
        });
    }

    /// Leaves a wait to root causes, and its message to those that may overtake it; unless another pattern has the same
    /// time, which does so.
    fn remember_late(
        &mut self,
        pattern: &NumberedPattern,
        receive: usize,
        idle: Ticks,
        sent: Ticks,
        remembered: &mut LateMessages,
    ) {
        if pattern.is_outermost_waiting {
            self.waiting.receives.push((to_u32(receive), idle));
            remembered.remember(sent, idle, to_u32(receive));
        }
    }

    fn count_receive(&mut self, receive: &Receive, bytes: u64) {
        if !self.counts(receive.time) {
            return;
        }
        let received = &mut self.received[self.operations.calls.site_number(receive.call)];
        received.messages[usize::from(bytes > 0)] += 1;
        received.bytes = received.bytes.saturating_add(amount(bytes));
    }

    /// Notes the next message that was received, for details.
    fn transfer(&mut self, send: Option<&SendFacts>, has_waited: bool) {
        if let Some(transfers) = &mut self.waiting.transfers {
            transfers.receive(self.operations, send, has_waited);
        }
    }

    /// The same for a message that was sent.
    fn transfer_of_send(&mut self, at: usize, posting: &PostingFacts, has_waited: bool) {
        if let Some(transfers) = self.waiting.transfers.as_mut().filter(|_| !has_waited) {
            transfers.send(self.operations, at, posting.call.enter, posting.received);
        }
    }

    /// Adds received messages and bytes to the metrics of MPI.
    pub(super) fn add_received(&mut self) {
        let received = std::mem::take(&mut self.received);
        for (site, Received { messages, bytes }) in self.operations.calls.sites().iter().zip(received) {
            if site.is_mpi && messages != [0; 2] {
                for (&metric, number) in self.metrics.receives.iter().zip(messages) {
                    self.add(site.location, metric, site.row, number);
                }
                self.add(site.location, self.metrics.bytes_received, site.row, bytes);
            }
        }
    }

    /// Finds late receivers. A call that completed several messages and had a late sender among them counts
    /// for that alone.
    pub(super) fn sends(&mut self, postings: &Sides<PostingFacts>, calls_with_late_sender: &[CallId]) {
        let mut longest: Vec<Longest> = Vec::new();
        // The reference goes backwards: an instance ends when the first message of its call was received
        // (specification 13.2). By call: its first message. The list is not made of zeros, as each page would
        // be read first and written later, which interrupts other threads.
        let mut firsts: Vec<u32> = vec![NONE; self.operations.calls.len()];
        let exit_of = |first: u32| postings.get(first as usize).map_or(0, |posting| posting.received);
        for (at, (send, posting)) in self.operations.sends.iter().zip(postings.iter()).enumerate() {
            let Some(posting) = posting else { continue };
            let Some(call) = self.operations.calls.find(send.completion) else {
                self.transfer_of_send(at, &posting, false);
                continue;
            };
            let message = posting.sent(&call, send.bytes);
            let first = &mut firsts[send.completion.index()];
            if *first == NONE {
                *first = to_u32(at);
            }
            let first = *first;
            let mut has_waited = false;
            for (number, (pattern, rule)) in self.metrics.at_send.iter().enumerate() {
                let idle = rule(&message);
                if idle <= 0 {
                    continue;
                }
                has_waited = true;
                if message.completion == Completion::SendReceive
                    && !self.combined.waits_for_receiver(send.completion)
                {
                    continue;
                }
                if call.site.completion != Completion::WaitMany {
                    let interval = Interval::new(message.send.enter, exit_of(first));
                    let receiver = LateSide::Receiver(at, &posting);
                    self.report_message(pattern, send.completion, idle, interval, receiver);
                    if pattern.is_outermost_waiting {
                        self.waiting.sends.push((to_u32(at), idle));
                    }
                } else if calls_with_late_sender.binary_search(&send.completion).is_err() {
                    longest.push(Longest { call: send.completion, rule: number, idle, message: at });
                }
            }
            self.transfer_of_send(at, &posting, has_waited);
        }
        // The longest of each call; of equal ones the one sent last, whose length decides which metric counts
        // it.
        longest.sort_by_key(|known| (known.call, known.rule, known.idle, known.message));
        for of_call in longest.chunk_by(|a, b| (a.call, a.rule) == (b.call, b.rule)) {
            let Some(known) = of_call.last() else { continue };
            let Some(posting) = postings.get(known.message) else { continue };
            let exit = exit_of(firsts[known.call.index()]);
            let interval = Interval::new(self.operations.call(known.call).interval.enter, exit);
            let pattern = &self.metrics.at_send[known.rule].0;
            let receiver = LateSide::Receiver(known.message, &posting);
            self.report_message(pattern, known.call, known.idle, interval, receiver);
            if pattern.is_outermost_waiting {
                self.waiting.sends.push((to_u32(known.message), known.idle));
            }
        }
    }
}
