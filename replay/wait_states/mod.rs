//! Wait states of messages and collective operations: evaluates the patterns on matched operations, and adds
//! metrics that need both sides of a message.
//!
//! The rule of a pattern considers one match. The files of this directory have the rules beyond one match.

mod combined_calls;
mod messages;
mod nonblocking;
mod one_sided;
mod pairwise;
mod polling;
mod probes;
mod stalls;

use std::cmp::Reverse;

use model::Ticks;
use patterns::matched::Interval;
use rustc_hash::FxHashMap;

use crate::causes::DelayClass;
use crate::coverage::Fate;
use crate::details::Scheme;
use crate::details::instances::BothSides;
use crate::findings::Finding;
use crate::focus::{self, Windows};
use crate::ids::{CallId, EventNumber, PathId, Row};
use crate::int::to_u32;
use crate::journal::EventSpot;
use crate::matching::{Awaitable, Matches, Membership};
use crate::metrics::{Metrics, NumberedPattern};
use crate::operations::{Envelope, Operations};
use crate::results::{Instances, Results};
use crate::statistics::{Instance, SubjectId};
use crate::structure::ByIteration;
use crate::trace::Trace;
use crate::transfers::{self, Transfers};
use crate::unexplained::LongCalls;
use crate::walk::{Walked, WalkedProcess};
use combined_calls::CombinedCalls;
use messages::LateSide;
use nonblocking::CollectiveWaits;

/// The messages of a process that made it wait, as positions in its operations, with the ticks of waiting.
#[derive(Clone, Debug, Default)]
pub struct WaitingMessages {
    /// Receives that waited for their senders.
    pub receives: Vec<(u32, Ticks)>,
    /// Those among them whose messages others have overtaken, in no order.
    pub overtaken: Vec<u32>,
    /// Sends that waited for their receivers.
    pub sends: Vec<(u32, Ticks)>,
    /// Waits for events of others that are no messages.
    pub edges: Vec<EdgeWait>,
    /// Blocking probes that waited for senders, each with the receive of its message.
    pub probes: Vec<(u32, u32, Ticks)>,
    /// Waiting in calls of MPI, each as often as it waits; nothing unless rules are over events that the process has.
    pub calls: Option<Vec<(CallId, Ticks)>>,
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
    /// How long; 0 if the event has waited for another one before, so that this wait has no costs.
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

/// Finds the wait states of a process and adds them to its severities, and to its timelines if there is a scheme; those parts that lie
/// in windows, if there are windows.
pub fn find(
    (trace, metrics, scheme): (&Trace, &Metrics, Option<&Scheme>),
    walked: &mut Walked,
    matches: &Matches,
    windows: Option<&Windows>,
    instances: &mut Instances,
    by_iteration: Option<&mut ByIteration>,
) -> WaitingMessages {
    let Walked { process, operations, events, results, .. } = walked;
    let transfers = scheme.map(|_| Transfers::default());
    let calls = events.as_ref().is_some_and(|events| !events.is_empty()).then(Vec::new);
    let waiting = WaitingMessages { calls, transfers, ..WaitingMessages::default() };
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
        windows,
        by_iteration,
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
    let Finder { long, waiting, by_iteration, .. } = finder;
    if let Some(by_iteration) = by_iteration {
        by_iteration.end_process();
    }
    long.account(operations, (&lost, windows), trace.definitions.clock.resolution, &mut results.coverage);
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
    /// Where things count; everywhere without.
    windows: Option<&'a Windows>,
    by_iteration: Option<&'a mut ByIteration>,
}

/// Numbers of received messages and bytes.
#[derive(Clone, Copy, Default)]
struct Received {
    /// Messages without data, and with data.
    messages: [i64; 2],
    bytes: i64,
}

impl Finder<'_> {
    fn add(&mut self, location: u32, metric: usize, row: Row, value: i64) {
        let first = self.process.locations[0].location;
        self.results.severities[location as usize - first].add(metric, row, value);
    }

    /// Whether an event of the process counts.
    fn counts(&self, time: Ticks) -> bool {
        focus::counts(self.windows, time)
    }

    /// Adds those of the ticks from a time on that count to a metric at the call path of a call of MPI; returns them.
    fn add_ticks(&mut self, call: CallId, metric: usize, begin: Ticks, ticks: Ticks) -> Ticks {
        let counted = focus::counted(self.windows, begin, ticks);
        self.add_at(call, metric, counted);
        counted
    }

    /// Adds what counts to a metric at the call path of a call of MPI.
    fn add_at(&mut self, call: CallId, metric: usize, value: i64) {
        let site = *self.operations.site(call);
        if site.is_mpi {
            self.add(site.location, metric, site.row, value);
            if let Some(by_iteration) = &mut self.by_iteration {
                by_iteration.add(site.location, self.operations.call(call).interval.enter, metric, value);
            }
        }
    }

    /// Reports an instance of a pattern that begins at a time; returns how much of it counts.
    fn report(&mut self, pattern: &NumberedPattern, call: CallId, begin: Ticks, ticks: Ticks) -> Ticks {
        // Waiting comes first in a call, completion last.
        let first = match pattern.pattern.is_waiting {
            true => begin,
            false => self.operations.call(call).interval.leave.saturating_sub(ticks),
        };
        let counted = self.add_ticks(call, pattern.metric, first, ticks);
        self.show(pattern, call, begin, ticks);
        if self.operations.site(call).is_mpi && pattern.pattern.is_waiting {
            self.instances.doubtful.consider(pattern.metric, ticks, counted);
        }
        if pattern.is_outermost_waiting {
            self.long.add(self.operations, call, ticks);
            if let Some(calls) = &mut self.waiting.calls {
                calls.push((call, ticks));
            }
        }
        let subject = pattern.subject.filter(|_| self.operations.site(call).is_mpi);
        if let Some(subject) = subject.filter(|_| counted > 0) {
            self.instances.samples.add(subject, counted);
        }
        counted
    }

    /// When a pattern's part of a wait begins: most begin with the wait, some end with it.
    fn begin_of_part(&self, pattern: &NumberedPattern, (begin, wait): (Ticks, Ticks), part: Ticks) -> Ticks {
        if self.metrics.ends_of_waits.contains(&pattern.metric) { begin + wait - part } else { begin }
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
        let inside = self.report(pattern, call, begin, ticks);
        // Counted once, however many parts it has: where its call begins.
        let is_here = self.counts(operations.call(counted).interval.enter);
        if let Some(instances) = pattern.instances_of(bytes).filter(|_| is_here) {
            self.add_at(counted, instances, 1);
        }
        let instance = Instance {
            duration: Reverse(inside),
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
        let counts = self.windows.is_none() || instance.duration.0 > 0;
        if let Some(subject) = subject.filter(|_| site.is_mpi && counts) {
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
                let (enter, length) = (call.interval.enter, call.interval.length());
                let counted = focus::counted(self.windows, enter, length);
                self.results.coverage.lose(Fate::Unmatched, counted);
            }
        }
        lost
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
            for (pattern, rule) in self.metrics.at_collective(member.class) {
                let ticks = rule(&member);
                if ticks > 0 {
                    self.report(pattern, collective.call, begin, ticks);
                }
            }
        }
    }

    /// Offers the instances in collective operations that this process reports.
    fn waits(&mut self, waits: &[(u32, SubjectId, Instance, Option<Box<BothSides>>)]) {
        for (position, subject, instance, both) in waits {
            let call = self.operations.collectives[*position as usize].call;
            // The waits of all members together: they are not cut at windows, which may differ.
            let length = instance.exit - instance.enter;
            if self.windows.is_some_and(|windows| windows.inside(instance.enter, length) == 0) {
                continue;
            }
            self.offer(Some(*subject), call, *instance, || both.as_deref().copied().unwrap_or_default());
        }
    }
}
