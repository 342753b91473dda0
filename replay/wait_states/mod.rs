//! Wait states of messages and collective operations: evaluates the patterns on matched operations, and adds
//! metrics that need both sides of a message.
//!
//! The rule of a pattern considers one match. This file has the rules beyond one match: of the messages that
//! one call completes only the longest wait counts, and a late message is remembered until it is overtaken.

mod combined_calls;
mod nonblocking;
mod one_sided;
mod pairwise;
mod polling;
mod probes;
mod stalls;

use std::cmp::Reverse;

use model::Ticks;
use patterns::matched::{Completion, Interval, LateMessage, ReceivedMessage};
use rustc_hash::FxHashMap;

use crate::causes::DelayClass;
use crate::coverage::Fate;
use crate::details::Scheme;
use crate::details::instances::{BothSides, ENTERED, NO_NUMBER};
use crate::findings::Finding;
use crate::ids::{CallId, EventNumber, PathId, Row};
use crate::int::to_u32;
use crate::journal::EventSpot;
use crate::late_messages::{Late, LateMessages};
use crate::matching::{Awaitable, Matches, Membership, PostingFacts, SendFacts, Sides};
use crate::metrics::{Metrics, NumberedPattern};
use crate::operations::{Envelope, Operations, Receive};
use crate::results::{Instances, Results};
use crate::severity::amount;
use crate::statistics::{Instance, SubjectId};
use crate::trace::Trace;
use crate::transfers::{self, Transfers};
use crate::unexplained::LongCalls;
use crate::walk::{Walked, WalkedProcess};
use combined_calls::CombinedCalls;
use nonblocking::CollectiveWaits;

/// Stands for "no message".
const NONE: u32 = u32::MAX;

/// The messages of a process that made it wait, as positions in its operations, with the ticks of waiting.
#[derive(Clone, Debug, Default)]
pub struct WaitingMessages {
    /// Receives that waited for their senders.
    pub receives: Vec<(u32, Ticks)>,
    /// Sends that waited for their receivers.
    pub sends: Vec<(u32, Ticks)>,
    /// Waits for events of others that are no messages.
    pub edges: Vec<EdgeWait>,
    /// Blocking probes that waited for senders, each with the receive of its message.
    pub probes: Vec<(u32, u32, Ticks)>,
    /// All messages, for details; nothing without a scheme.
    pub transfers: Option<Transfers>,
}

/// A wait of an event in a call for an event of another process (rest of MPI 2.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EdgeWait {
    /// Class of its costs.
    pub class: DelayClass,
    /// The call that waits.
    pub call: CallId,
    /// The event in it that waits.
    pub position: EventNumber,
    /// Since when, in ticks.
    pub begin: Ticks,
    /// How long.
    pub ticks: Ticks,
    /// The other process.
    pub process: u32,
    /// The event that is waited for.
    pub awaited: Awaitable,
    /// Number of the communicator or window among the sets of processes.
    pub communicator: u32,
    /// For a lock, the event since which its holder is charged: when it has asked for it.
    pub base: Option<EventSpot>,
}

/// Finds the wait states of a process and adds them to its severities, and to its timelines if there is a scheme.
pub fn find(
    (trace, metrics, scheme): (&Trace, &Metrics, Option<&Scheme>),
    walked: &mut Walked,
    matches: &Matches,
    instances: &mut Instances,
) -> WaitingMessages {
    let Walked { process, operations, results, .. } = walked;
    let transfers = scheme.map(|_| Transfers::default());
    let waiting = WaitingMessages { transfers, ..WaitingMessages::default() };
    let received = vec![Received::default(); operations.calls.sites().len()];
    let long = LongCalls::new(trace);
    let combined = CombinedCalls::new(operations, metrics, &matches.postings);
    let mut finder = Finder {
        process,
        operations,
        results,
        instances,
        metrics,
        scheme,
        waiting,
        received,
        long,
        combined,
        collective_waits: CollectiveWaits::new(operations, matches),
    };
    let (mut calls_with_late_sender, mut lost) = finder.receives(matches, trace);
    finder.add_received();
    finder.probes(matches);
    finder.polling(matches);
    finder.lose_nonblocking(trace, matches, &mut lost);
    finder.lose_pairwise(matches, &mut lost);
    finder.lose_epochs(matches, &mut lost);
    let lost = finder.lose_unmatched(matches, lost);
    if !operations.nonblocking.is_empty() {
        calls_with_late_sender.extend(finder.collective_waits.calls());
        calls_with_late_sender.sort_unstable();
        finder.nonblocking_waits(matches);
        finder.nonblocking_times(matches);
    }
    finder.sends(&matches.postings, &calls_with_late_sender);
    let accessed = finder.fences(trace, matches);
    finder.collectives(&matches.collectives, &accessed);
    finder.pairwise_waits(matches);
    finder.stalls(matches);
    finder.one_sided(trace, matches);
    finder.waits(&matches.waits);
    let Finder { long, waiting, .. } = finder;
    long.account(operations, &lost, trace.definitions.clock.resolution, &mut results.coverage);
    waiting
}

impl WaitingMessages {
    /// The waits for senders, in receives and in probes: position of the receive of the message, the call that waited, ticks.
    pub(crate) fn for_senders<'a>(
        &'a self,
        operations: &'a Operations,
    ) -> impl Iterator<Item = (u32, CallId, Ticks)> + 'a {
        let in_receives =
            self.receives.iter().map(|&(at, ticks)| (at, operations.receives[at as usize].call, ticks));
        let in_probes =
            self.probes.iter().map(|&(probe, at, ticks)| (at, operations.probes[probe as usize].call, ticks));
        in_receives.chain(in_probes)
    }

    /// The messages that were received, by position; nothing without details.
    pub(crate) fn deliveries(&self) -> &[transfers::Delivery] {
        self.transfers.as_ref().map_or(&[], |transfers| &transfers.deliveries)
    }
}

struct Finder<'a> {
    process: &'a WalkedProcess,
    operations: &'a Operations,
    results: &'a mut Results,
    instances: &'a mut Instances,
    metrics: &'a Metrics,
    scheme: Option<&'a Scheme>,
    waiting: WaitingMessages,
    /// By site of calls: the messages and bytes received there.
    received: Vec<Received>,
    long: LongCalls,
    combined: CombinedCalls,
    collective_waits: CollectiveWaits,
}

/// A late message: its position among those that this process received or sent, and the other side.
#[derive(Clone, Copy)]
enum LateSide<'m> {
    /// Its sender was late.
    Sender(usize, &'m SendFacts),
    /// Its sender was late for a probe, which is left by this event.
    Probed(EventNumber, usize, &'m SendFacts),
    /// Its receiver was late.
    Receiver(usize, &'m PostingFacts),
}

impl LateSide<'_> {
    /// Both sides of the wait for the message, which is charged to a call.
    fn sides(self, operations: &Operations, call: CallId, ticks: Ticks) -> BothSides {
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
            entered: [NO_NUMBER; ENTERED],
        }
    }
}

/// Numbers of received messages and bytes.
#[derive(Clone, Copy, Default)]
struct Received {
    /// Messages without data, and with data.
    messages: [i64; 2],
    bytes: i64,
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
    fn add(&mut self, location: u32, metric: usize, row: Row, value: i64) {
        let first = self.process.locations[0].location;
        self.results.severities[location as usize - first].add(metric, row, value);
    }

    /// Adds to a metric at the call path of a call of MPI.
    fn add_at(&mut self, call: CallId, metric: usize, value: i64) {
        let site = *self.operations.site(call);
        if site.is_mpi {
            self.add(site.location, metric, site.row, value);
        }
    }

    /// Reports an instance of a pattern that begins at a time.
    fn report(&mut self, pattern: &NumberedPattern, call: CallId, begin: Ticks, ticks: Ticks) {
        self.add_at(call, pattern.metric, ticks);
        self.show(pattern, call, begin, ticks);
        if self.operations.site(call).is_mpi && pattern.pattern.is_waiting {
            self.instances.doubtful.consider(pattern.metric, ticks);
        }
        if pattern.is_outermost_waiting {
            self.long.add(self.operations, call, ticks);
        }
        if let Some(subject) = pattern.subject.filter(|_| self.operations.site(call).is_mpi) {
            self.instances.samples.add(subject, ticks);
        }
    }

    /// Shows waiting in the timeline of its location.
    fn show(&mut self, pattern: &NumberedPattern, call: CallId, begin: Ticks, ticks: Ticks) {
        let site = self.operations.site(call);
        let class = self.scheme.and_then(|scheme| scheme.classes.of_wait(pattern.metric));
        if let Some(class) = class.filter(|_| site.is_mpi) {
            let first = self.process.locations[0].location;
            self.results.timelines[site.location as usize - first].wait(class, begin, ticks);
        }
    }

    /// Reports an instance of a pattern of messages, which lies in `interval`, at the late message.
    fn report_message(
        &mut self,
        pattern: &NumberedPattern,
        call: CallId,
        ticks: Ticks,
        interval: Interval,
        late: LateSide<'_>,
    ) {
        let operations = self.operations;
        // An instance is counted where its message is: a probe receives none.
        let (bytes, cause, counted) = match late {
            LateSide::Sender(_, send) => (send.bytes, send.place, call),
            LateSide::Probed(_, at, send) => (send.bytes, send.place, operations.receives[at].call),
            LateSide::Receiver(at, posting) => (operations.sends[at].bytes, posting.place, call),
        };
        let begin = operations.call(call).interval.enter;
        self.report(pattern, call, begin, ticks);
        if let Some(instances) = pattern.instances_of(bytes) {
            self.add_at(counted, instances, 1);
        }
        let instance = Instance {
            duration: Reverse(ticks),
            process: to_u32(self.process.number),
            enter: interval.enter,
            exit: interval.leave,
            path: PathId::NONE,
            cause,
        };
        self.offer(pattern.subject, call, instance, || late.sides(operations, call, ticks));
    }

    /// Offers an instance at a call as one of the severest.
    fn offer(
        &mut self,
        subject: Option<SubjectId>,
        call: CallId,
        instance: Instance,
        both: impl FnOnce() -> BothSides,
    ) {
        let site = self.operations.site(call);
        if let Some(subject) = subject.filter(|_| site.is_mpi) {
            let instance = Instance { path: site.path, ..instance };
            self.instances.samples.offer(subject, instance);
            if let Some(severe) = &mut self.instances.severe {
                severe.offer(subject, self.process, instance, both);
            }
        }
    }

    /// Counts sends without partner, and takes calls with unmatched operations out of the analysed coverage;
    /// `lost` has those of receives. Returns all these calls, in rising order.
    fn lose_unmatched(&mut self, matches: &Matches, mut lost: Vec<CallId>) -> Vec<CallId> {
        for (at, send) in self.operations.sends.iter().enumerate() {
            if matches.postings.is_alone(at) && !send.is_cancelled() {
                let location = self.operations.site(send.call).location as usize;
                lost.push(send.call);
                if send.completion != CallId::NONE {
                    lost.push(send.completion);
                }
                let Envelope { peer, tag, .. } = self.operations.destination(send);
                let finding = match matches.postings.is_unknown(at) {
                    true => Finding::UnknownOrder,
                    false if matches.paused.contains(peer) => Finding::UnrecordedPartner,
                    false => Finding::UnmatchedSend,
                };
                self.results
                    .findings
                    .add(finding, send.time, location, || format!("to process {peer} with tag {tag}"));
            }
        }
        for &at in &matches.unverified {
            let receive = &self.operations.receives[at as usize];
            let location = self.operations.site(receive.call).location as usize;
            self.results.findings.add(Finding::UnverifiedOrder, receive.time, location, || {
                let Envelope { rank, tag, .. } = self.operations.source(receive);
                format!("from rank {rank} with tag {tag}")
            });
        }
        for (collective, membership) in self.operations.collectives.iter().zip(&matches.collectives) {
            if *membership == Membership::Unmatched {
                lost.push(collective.call);
            }
        }
        lost.sort_unstable();
        lost.dedup();
        for &call in &lost {
            let call = self.operations.call(call);
            if call.is_analysed {
                self.results.coverage.lose(Fate::Unmatched, call.interval.leave - call.interval.enter);
            }
        }
        lost
    }

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
    fn receives(&mut self, matches: &Matches, trace: &Trace) -> (Vec<CallId>, Vec<CallId>) {
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
        for (pattern, rule) in &self.metrics.at_overtaking {
            if rule(&late_message, message) {
                let interval = Interval::new(message.sent, now.time);
                let sender = LateSide::Sender(late.receive as usize, &send);
                self.report_message(pattern, receive.call, late.idle, interval, sender);
            }
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
    fn add_received(&mut self) {
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
    fn sends(&mut self, postings: &Sides<PostingFacts>, calls_with_late_sender: &[CallId]) {
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

    /// Reports waiting in blocking collective operations; `accessed` has the latest accesses before fences, by position.
    fn collectives(&mut self, memberships: &[Membership], accessed: &FxHashMap<usize, Ticks>) {
        for (at, (collective, membership)) in self.operations.collectives.iter().zip(memberships).enumerate()
        {
            let (begin, end) = (collective.begin, collective.end);
            let Some(mut member) = collective.class.and_then(|class| membership.member(class, begin, end))
            else {
                continue;
            };
            if let Some(&accessed) = accessed.get(&at) {
                member.accessed = accessed;
            }
            for (pattern, rule) in &self.metrics.at_collective {
                let ticks = rule(&member);
                if ticks > 0 {
                    self.report(pattern, collective.call, begin, ticks);
                }
            }
        }
    }

    /// Offers the instances in collective operations that this process reports.
    fn waits(&mut self, waits: &[(u32, SubjectId, Instance, Option<BothSides>)]) {
        for (position, subject, instance, both) in waits {
            let call = self.operations.collectives[*position as usize].call;
            self.offer(Some(*subject), call, *instance, || both.unwrap_or_default());
        }
    }
}
