//! Collects the input of the search for root causes, as soon as the wait states of a process are found:
//! synchronisation points and delays.

use std::rc::Rc;

use model::Ticks;
use patterns::matched::{BarrierVisit, Interval};

use super::delay::{Delay, DelayClass, Form, Notice};
use super::event_times::EventTimes;
use super::points::{Next, Peers, SyncPoint};
use crate::accelerators::OffloadEdges;
use crate::details::critical::Link;
use crate::focus::Windows;
use crate::ids::{CallId, JournalPosition};
use crate::int::to_u32;
use crate::journal::{EventSpot, Journal, JournalSpot, Spot};
use crate::matching::{Matches, SendFacts, With};
use crate::operations::{Barrier, Envelope, Operations, ParallelRegion, WORLD_AT_FINALIZE, WORLD_AT_INIT};
use crate::options::Semantics;
use crate::trace::Trace;
use crate::wait_states::{EdgeWait, WaitingMessages};
use crate::walk::Walked;
use crate::wire::Half;

/// Data of a worker's processes, before any exchange.
#[derive(Clone, Debug, Default)]
pub struct Collected {
    /// The journal of each location.
    pub(super) journals: Vec<Journal>,
    /// The points of each location, in no order.
    pub(super) points: Vec<Vec<SyncPoint>>,
    /// Lists of processes that they have synchronised with.
    pub(super) lists: Vec<Rc<[u32]>>,
    /// Delays of their wait states.
    pub(super) notices: Vec<Notice>,
    /// Continuations of the critical path, for each meeting of a team.
    pub(super) meetings: Vec<Vec<JournalSpot>>,
    /// Periods of idle threads, in processes that have threads besides the main thread.
    pub(super) idle: Vec<Idle>,
    /// End of the critical path, if one of the processes was the last one in MPI_Finalize.
    pub(super) last: Option<JournalSpot>,
    /// Times of events; `None` without details.
    pub(super) times: Option<EventTimes>,
    /// Of each notice, how many ticks of its wait count; empty if all do.
    pub(super) counted: Vec<Ticks>,
}

impl Collected {
    /// Nothing yet; with times of events, if there are details.
    pub fn new(has_details: bool) -> Collected {
        Collected { times: has_details.then(EventTimes::default), ..Collected::default() }
    }
}

/// Periods in which the main thread works alone, while the others idle: before each fork and at the end,
/// since the last join.
#[derive(Clone, Debug)]
pub(super) struct Idle {
    /// The main thread's location.
    pub(super) location: u32,
    /// Number of the other threads.
    pub(super) others: u32,
    /// Starts of parallel regions that it forked outside of any other team, ascending.
    pub(super) forks: Vec<JournalPosition>,
    /// Joins of these teams, ascending.
    pub(super) joins: Vec<JournalPosition>,
}

/// The time of a call from `leave` on, if that was before its end.
fn completion(call: Interval, leave: Ticks) -> Ticks {
    (call.leave - leave).max(0)
}

/// Adds the data of the next process.
pub fn collect(
    trace: &Trace,
    walked: &mut Walked,
    matches: &Matches,
    (waiting, offload): (&WaitingMessages, &OffloadEdges),
    windows: Option<&Windows>,
    collected: &mut Collected,
) {
    let Collected { journals, points, notices, last, .. } = collected;
    journals.append(&mut walked.journals);
    let last = last.take();
    let base = points.len();
    points.resize_with(base + walked.process.locations.len(), Vec::new);
    let messages = waiting.receives.len() + waiting.sends.len() + waiting.edges.len() + waiting.probes.len();
    notices.reserve(messages);
    // Most processes have one thread, and others wait for it about as often as it waits for messages.
    if let [points] = &mut points[base..] {
        points.reserve(2 * messages + matches.partners.len());
    }
    let mut collector = Collector {
        operations: &walked.operations,
        first: walked.process.locations.first().map_or(0, |location| location.location),
        base,
        windows,
        collected,
    };
    collector.late_senders(matches, waiting);
    collector.late_receivers(matches, waiting, trace.semantics);
    collector.probes(matches, waiting);
    collector.edges(waiting);
    collector.collectives(matches);
    collector.offload(trace, offload);
    collector.parallel_regions();
    collector.thread_barriers();
    let others = walked.process.locations.iter().filter(|location| location.is_worker).count();
    collector.idle(to_u32(others));
    collected.last = last.or(collected.last);
}

pub(super) struct Collector<'a> {
    operations: &'a Operations,
    /// Location of the first thread, and index of its points among those of all locations.
    first: usize,
    base: usize,
    /// Where waiting counts; everywhere without.
    windows: Option<&'a Windows>,
    pub(super) collected: &'a mut Collected,
}

impl Collector<'_> {
    /// Adds a point of a location.
    pub(super) fn add(&mut self, location: u32, point: SyncPoint) {
        self.collected.points[self.base + location as usize - self.first].push(point);
    }

    /// Announces a delay; the wait is since `begin`.
    fn announce(&mut self, notice: Notice, begin: Ticks) {
        let delay = &notice.delay;
        if let Some(times) = self.collected.times.as_mut().filter(|_| delay.time - delay.wait != begin) {
            times.begins.push((delay.waiting, delay.wait, begin));
        }
        if let Some(windows) = self.windows {
            self.collected.counted.push(windows.inside(begin, delay.wait));
        }
        self.collected.notices.push(notice);
    }

    /// Notes the time of an event that the critical path may come to.
    pub(super) fn note(&mut self, spot: JournalSpot, time: Ticks, link: Link) {
        if let Some(times) = &mut self.collected.times {
            times.others.push((spot, time, link));
        }
    }

    fn late_senders(&mut self, matches: &Matches, waiting: &WaitingMessages) {
        for &(at, wait) in &waiting.receives {
            let receive = &self.operations.receives[at as usize];
            let Some(send) = matches.sends.get(at as usize) else { continue };
            let source = self.operations.source(receive);
            let call = self.operations.call(receive.call);
            let waiting = Spot { location: call.site.location, position: receive.position.in_journal() };
            self.late_sender(waiting, call.interval, (&send, source), wait);
        }
    }

    /// Probes wait for senders as receives do, until they are left.
    fn probes(&mut self, matches: &Matches, waiting: &WaitingMessages) {
        for &(probe, at, wait) in &waiting.probes {
            let probe = &self.operations.probes[probe as usize];
            let Some(send) = matches.sends.get(at as usize) else { continue };
            let source = self.operations.source(&self.operations.receives[at as usize]);
            let call = self.operations.call(probe.call);
            let waiting = Spot { location: call.site.location, position: probe.position.in_journal() };
            self.late_sender(waiting, call.interval, (&send, source), wait);
        }
    }

    /// Adds the wait of an event in a call for a message.
    fn late_sender(
        &mut self,
        waiting: JournalSpot,
        call: Interval,
        (send, source): (&SendFacts, &Envelope),
        wait: Ticks,
    ) {
        let delay = Delay {
            class: DelayClass::LateSender,
            form: Form::Edge,
            waiting,
            causing: Spot { location: send.place.location, position: send.position.in_journal() },
            wait,
            time: send.call.enter,
            scope: source.communicator,
        };
        let caused = send.call.length() - completion(send.call, call.leave);
        let taken = call.length() - completion(call, send.call.leave);
        self.edge(Notice { delay, taken: caused }, taken, source.peer, call.enter);
    }

    fn late_receivers(&mut self, matches: &Matches, waiting: &WaitingMessages, semantics: Semantics) {
        for &(at, wait) in &waiting.sends {
            let send = &self.operations.sends[at as usize];
            let Some(posting) = matches.postings.get(at as usize).filter(|_| send.completion != CallId::NONE)
            else {
                continue;
            };
            let call = self.operations.call(send.completion);
            let destination = self.operations.destination(send);
            let after = call.interval.leave - posting.call.leave;
            let completion_of_send = semantics.completion_of_send(after);
            let delay = Delay {
                class: DelayClass::LateReceiver,
                form: Form::Edge,
                waiting: Spot { location: call.site.location, position: send.completed.in_journal() },
                causing: Spot { location: posting.place.location, position: posting.position.in_journal() },
                wait,
                time: posting.call.enter,
                scope: destination.communicator,
            };
            let caused = posting.call.length() - completion(posting.call, call.interval.leave);
            let taken = call.interval.length().saturating_sub(completion_of_send);
            self.edge(Notice { delay, taken: caused }, taken, destination.peer, call.interval.enter);
        }
    }

    /// Waits for events of others that are no messages.
    fn edges(&mut self, waiting: &WaitingMessages) {
        for wait in &waiting.edges {
            let &EdgeWait { class, position, begin, ticks, process, awaited, communicator, base, .. } = wait;
            let call = self.operations.call(wait.call);
            let base = base.map(EventSpot::in_journal);
            // Another thread may have asked for the lock.
            let of_cause = base.map(|base| match base.location == awaited.spot.location {
                true => base.position,
                false => JournalPosition::NONE,
            });
            let (form, scope) = match of_cause {
                Some(base) => (Form::Holder, base.to_half()),
                None => (Form::Edge, communicator),
            };
            let delay = Delay {
                class,
                form,
                waiting: Spot { location: call.site.location, position: position.in_journal() },
                causing: awaited.spot.in_journal(),
                wait: ticks,
                time: awaited.call.enter,
                scope,
            };
            let caused = awaited.call.length() - completion(awaited.call, call.interval.leave);
            let taken = call.interval.length() - completion(call.interval, awaited.call.leave);
            self.edge(Notice { delay, taken: caused }, taken, process, begin);
        }
    }

    /// Adds a wait for an event of another process, or for one of [another location](super::points::own_location) of the same; `taken`
    /// is that of the waiting event, which waits since `begin`.
    pub(super) fn edge(&mut self, notice: Notice, taken: Ticks, process: u32, begin: Ticks) {
        let delay = notice.delay;
        let point = SyncPoint {
            position: delay.waiting.position,
            wait: delay.wait,
            taken,
            peers: Peers::One(process),
            next: Next::Blamed(delay.causing),
        };
        self.add(delay.waiting.location, point);
        self.announce(notice, begin);
    }

    fn collectives(&mut self, matches: &Matches) {
        for (at, partners) in &matches.partners {
            let collective = &self.operations.collectives[*at as usize];
            let (begin, end) = (collective.begin, collective.end);
            let membership = &matches.collectives[*at as usize];
            let Some(class) = collective.class else { continue };
            let Some(member) = membership.member(class, begin, end) else { continue };
            let call = self.operations.call(collective.call);
            let is_start = collective.communicator == WORLD_AT_INIT;
            // There is no waiting in MPI_Init (Q20). Calls outside of MPI have no severities.
            let wait = if is_start || !call.site.is_mpi { 0 } else { member.waiting() };
            let position = collective.position.in_journal();
            let here = Spot { location: call.site.location, position };
            let blamed = partners.blamed.map(EventSpot::in_journal);
            if collective.communicator == WORLD_AT_FINALIZE {
                self.note(here, begin, Link::Collective);
                if blamed == Some(here) {
                    self.collected.last = Some(here);
                }
            }
            let peers = match (&partners.with, collective.communicator) {
                (With::All, WORLD_AT_INIT | WORLD_AT_FINALIZE) => Peers::World,
                (With::All, communicator) => Peers::Communicator(communicator),
                (With::One(process), _) => Peers::One(*process),
                (With::Some(processes), _) => {
                    self.collected.lists.push(Rc::clone(processes));
                    Peers::Several(to_u32(self.collected.lists.len() - 1))
                }
            };
            self.add(
                call.site.location,
                SyncPoint {
                    position,
                    wait,
                    taken: call.interval.length() - member.completing(),
                    peers,
                    next: match blamed {
                        _ if is_start => Next::Start,
                        Some(blamed) => Next::Blamed(blamed),
                        None => Next::Through,
                    },
                },
            );
            let cause = blamed.filter(|&blamed| wait > 0 && blamed != here);
            if let (Some(causing), Some(class)) = (cause, DelayClass::of(class)) {
                let delay = Delay {
                    class,
                    form: Form::Group,
                    waiting: here,
                    causing,
                    wait,
                    time: member.last_begin,
                    scope: collective.communicator,
                };
                self.announce(Notice { delay, taken: 0 }, begin);
            }
        }
    }

    /// Starts of parallel regions: a team meets there, and the critical path continues at the master,
    /// backwards.
    fn parallel_regions(&mut self) {
        let mut regions: Vec<&ParallelRegion> = self.operations.parallel_regions.iter().collect();
        regions.sort_by_key(|region| region.team);
        for team in regions.chunk_by(|a, b| a.team == b.team) {
            let first_enter = team.iter().map(|region| region.enter).min().unwrap_or(0);
            let spot = |region: &&ParallelRegion| Spot {
                location: region.location,
                position: region.position.in_journal(),
            };
            let meeting = to_u32(self.collected.meetings.len());
            let masters = team.iter().filter(|region| region.is_master);
            self.collected.meetings.push(masters.clone().map(spot).collect());
            masters.for_each(|region| self.note(spot(region), region.enter, Link::Team));
            for region in team {
                let started = (region.enter - region.fork).max(0);
                let point = SyncPoint {
                    position: region.position.in_journal(),
                    wait: 0,
                    taken: started - (region.enter - first_enter),
                    peers: Peers::Region { team: region.team, is_master: region.is_master },
                    next: Next::Team(meeting),
                };
                self.add(region.location, point);
            }
        }
    }

    /// Barriers of teams: the last thread makes the others wait (specification 9.5).
    fn thread_barriers(&mut self) {
        let mut visits: Vec<&Barrier> =
            self.operations.barriers.iter().filter(|barrier| barrier.last.is_some()).collect();
        visits.sort_by_key(|barrier| barrier.last);
        for barrier in visits.chunk_by(|a, b| a.last == b.last) {
            let Some(last) = barrier[0].last.map(|last| &self.operations.barriers[last as usize]) else {
                continue;
            };
            let spot =
                |visit: &Barrier| Spot { location: visit.location, position: visit.position.in_journal() };
            let waiting = |visit: &Barrier| {
                let Barrier { class, visit, tasks, .. } = *visit;
                BarrierVisit { class, visit, last_enter: last.visit.enter, tasks }.waiting().max(0)
            };
            let meeting = to_u32(self.collected.meetings.len());
            let ahead = barrier.iter().filter(|visit| waiting(visit) == 0);
            self.collected.meetings.push(ahead.clone().map(|visit| spot(visit)).collect());
            ahead.for_each(|visit| self.note(spot(visit), visit.visit.enter, Link::Team));
            for visit in barrier {
                let point = SyncPoint {
                    position: visit.position.in_journal(),
                    wait: waiting(visit),
                    taken: visit.visit.length(),
                    peers: Peers::Barrier { team: visit.team },
                    next: Next::Team(meeting),
                };
                self.add(visit.location, point);
                let early = last.visit.enter - visit.visit.enter;
                if early > 0 {
                    let delay = Delay {
                        class: DelayClass::ThreadBarrier,
                        form: Form::Group,
                        waiting: spot(visit),
                        causing: spot(last),
                        wait: early,
                        time: last.visit.enter,
                        scope: visit.team,
                    };
                    self.announce(Notice { delay, taken: 0 }, visit.visit.enter);
                }
            }
        }
    }

    /// Adds the periods of idle threads; `others` is the number of threads that were in a team, besides the
    /// main thread.
    fn idle(&mut self, others: u32) {
        let location = to_u32(self.first);
        let mine = self.operations.parallel_regions.iter();
        let forks =
            mine.filter(|region| region.is_outermost && region.is_master && region.location == location);
        let forks: Vec<_> = forks.map(|region| region.position.in_journal()).collect();
        if others > 0 && !forks.is_empty() {
            let joins = self.operations.joins.iter().map(|join| join.in_journal()).collect();
            self.collected.idle.push(Idle { location, others, forks, joins });
        }
    }
}
