//! Points: events at which a location has synchronised with others (specification 7.1).

use std::collections::{BTreeMap, BTreeSet};

use replay::Semantics;

use crate::oracle::messages::Late;
use crate::oracle::nonblocking::CollectiveWait;
use crate::oracle::operations::Operations;
use crate::oracle::read::Role;
use crate::oracle::{Analysis, EventRef};

/// Continuation of the critical path before a point, seen backwards.
#[derive(Clone, Debug)]
pub(super) enum Next {
    /// On the same location, past the point.
    Through,
    /// None: the path starts here.
    Start,
    /// If the point waits, at the event that it waits for.
    At(EventRef),
    /// At threads of the same team.
    Team(Vec<EventRef>),
}

/// A synchronisation point of a location.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub(super) place: EventRef,
    pub(super) wait: i64,
    pub(super) total: i64,
    pub(super) completion: i64,
    /// The processes that it synchronised with.
    pub(super) ranks: BTreeSet<usize>,
    /// The team, if it is in OpenMP's list of points.
    pub(super) team: Option<usize>,
    pub(super) next: Next,
}

impl Point {
    /// Whether the critical path stops there.
    pub(super) fn is_stop(&self) -> bool {
        match self.next {
            Next::Through => false,
            Next::Start | Next::Team(_) => true,
            Next::At(_) => self.wait > 0,
        }
    }
}

/// The points of all locations, by position.
pub(super) struct Points(Vec<BTreeMap<usize, Point>>);

impl Points {
    /// Collects all points. Wait states come first: the first point at an event wins (Q23).
    pub(super) fn new(analysis: &Analysis, operations: &Operations, processes: usize) -> Points {
        let mut points = Points(vec![BTreeMap::new(); analysis.locations.len()]);
        points.late_senders(analysis, operations);
        points.late_receivers(analysis, operations);
        points.collective_waits(analysis);
        points.collective_instances(analysis, processes);
        points.parallel_regions(analysis);
        points.thread_barriers(analysis);
        points.causes_of_late_messages(analysis, operations);
        points.causes_of_collective_waits(analysis);
        points
    }

    fn add(&mut self, point: Point) {
        self.0[point.place.location].entry(point.place.at).or_insert(point);
    }

    pub(super) fn at(&self, event: EventRef) -> Option<&Point> {
        self.0[event.location].get(&event.at)
    }

    /// The points of a location.
    pub(super) fn of(&self, location: usize) -> Vec<&Point> {
        self.0[location].values().collect()
    }

    /// The points before an event, the latest first.
    pub(super) fn before(&self, event: EventRef) -> impl Iterator<Item = &Point> {
        self.0[event.location].range(..event.at).rev().map(|(_, point)| point)
    }

    /// prev(e, q)
    pub(super) fn previous(&self, event: EventRef, process: usize) -> Option<&Point> {
        self.before(event).find(|point| point.ranks.contains(&process))
    }

    /// between(a, e); without `a`, from the start of the trace.
    pub(super) fn between(&self, since: Option<&Point>, event: EventRef) -> Vec<&Point> {
        self.before(event)
            .take_while(|point| since.is_none_or(|since| point.place.at > since.place.at))
            .collect()
    }

    fn late_senders(&mut self, analysis: &Analysis, operations: &Operations) {
        for &Late { send, receive, idle } in &analysis.late_senders {
            let (s, r) = (operations.sends[send].at, operations.receives[receive].done);
            self.add(Point {
                place: r,
                wait: idle,
                total: analysis.length(r),
                completion: (analysis.leave(r) - analysis.leave(s)).max(0),
                ranks: BTreeSet::from([analysis.process(s)]),
                team: None,
                next: Next::At(s),
            });
        }
    }

    fn late_receivers(&mut self, analysis: &Analysis, operations: &Operations) {
        for (c, req, idle) in late_receivers(analysis, operations) {
            let after = analysis.leave(c) - analysis.leave(req);
            self.add(Point {
                place: c,
                wait: idle,
                total: analysis.length(c),
                completion: match analysis.semantics {
                    // Q7
                    Semantics::Reference => after.min(0),
                    Semantics::Corrected => after.max(0),
                },
                ranks: BTreeSet::from([analysis.process(req)]),
                team: None,
                next: Next::At(req),
            });
        }
    }

    /// The events that late messages were waited for, unless they wait themselves.
    fn causes_of_late_messages(&mut self, analysis: &Analysis, operations: &Operations) {
        let cause = |cause: EventRef, waiting: EventRef| Point {
            place: cause,
            wait: 0,
            total: analysis.length(cause),
            completion: (analysis.leave(cause) - analysis.leave(waiting)).max(0),
            ranks: BTreeSet::from([analysis.process(waiting)]),
            team: None,
            next: Next::Through,
        };
        for &Late { send, receive, .. } in &analysis.late_senders {
            self.add(cause(operations.sends[send].at, operations.receives[receive].done));
        }
        for (c, req, _) in late_receivers(analysis, operations) {
            self.add(cause(req, c));
        }
    }

    /// Rest of MPI 2.3: waits for non-blocking collective operations.
    fn collective_waits(&mut self, analysis: &Analysis) {
        for wait in edges(analysis) {
            self.add(Point {
                place: wait.done,
                wait: wait.idle(),
                total: analysis.length(wait.done),
                completion: (analysis.leave(wait.done) - analysis.leave(wait.cause)).max(0),
                ranks: BTreeSet::from([analysis.process(wait.cause)]),
                team: None,
                next: Next::At(wait.cause),
            });
        }
    }

    /// The events that they wait for: several processes may wait for one.
    fn causes_of_collective_waits(&mut self, analysis: &Analysis) {
        for wait in edges(analysis) {
            let cause = wait.cause;
            let same = |other: &&CollectiveWait| {
                (other.cause.location, other.cause.at) == (cause.location, cause.at)
            };
            let of_cause: Vec<&CollectiveWait> = edges(analysis).filter(same).collect();
            let left = of_cause.iter().map(|other| analysis.leave(other.done)).min();
            let left = left.expect("the wait itself");
            self.add(Point {
                place: cause,
                wait: 0,
                total: analysis.length(cause),
                completion: (analysis.leave(cause) - left).max(0),
                ranks: of_cause.iter().map(|other| analysis.process(other.done)).collect(),
                team: None,
                next: Next::Through,
            });
        }
    }

    fn collective_instances(&mut self, analysis: &Analysis, processes: usize) {
        for meeting in &analysis.collective_instances {
            for partner in &meeting.partners {
                self.add(Point {
                    place: partner.place,
                    wait: partner.wait,
                    total: analysis.length(partner.place),
                    completion: partner.completion,
                    ranks: match meeting.class {
                        "init" | "finalize" => (0..processes).collect(),
                        _ => partner.ranks.clone(),
                    },
                    team: None,
                    next: match meeting.class {
                        "init" => Next::Start,
                        _ => Next::At(meeting.blamed),
                    },
                });
            }
        }
    }

    /// The path continues at the master only.
    fn parallel_regions(&mut self, analysis: &Analysis) {
        for visits in parallel_regions(analysis) {
            let enter = |place: &EventRef| analysis.enter(*place);
            let earliest = visits.iter().map(|(place, _)| enter(place)).min().unwrap();
            let is_master = |place: &EventRef| analysis.locations[place.location].thread == 0;
            let masters: Vec<EventRef> = visits.iter().map(|(place, _)| *place).filter(is_master).collect();
            for &(place, fork) in &visits {
                self.add(Point {
                    place,
                    wait: 0,
                    total: (enter(&place) - fork).max(0),
                    completion: enter(&place) - earliest,
                    ranks: BTreeSet::new(),
                    team: analysis.locations[place.location].calls[place.call].team,
                    next: Next::Team(masters.clone()),
                });
            }
        }
    }

    /// The path continues at all threads that did not wait (Q12).
    fn thread_barriers(&mut self, analysis: &Analysis) {
        for visits in analysis.barriers() {
            let latest = analysis.latest_enter(&visits);
            let ahead = visits.iter().filter(|visit| analysis.idle_at_barrier(visit, latest) == 0);
            let ahead: Vec<EventRef> =
                ahead.map(|visit| analysis.end_of(visit.location, visit.call)).collect();
            for visit in &visits {
                let place = analysis.end_of(visit.location, visit.call);
                self.add(Point {
                    place,
                    wait: analysis.idle_at_barrier(visit, latest),
                    total: analysis.length(place),
                    completion: 0,
                    ranks: BTreeSet::new(),
                    team: visit.team,
                    next: Next::Team(ahead.clone()),
                });
            }
        }
    }
}

/// Waits of sends for late receivers: c, req(r), and the waiting time.
pub(super) fn late_receivers(analysis: &Analysis, operations: &Operations) -> Vec<(EventRef, EventRef, i64)> {
    let late = analysis.late_receivers.iter();
    let events = late.map(|late| {
        let c = operations.sends[late.send].completion.expect("a send that waits completes");
        (c, operations.receives[late.receive].posted, late.idle)
    });
    events.collect()
}

/// The waits for non-blocking collective operations that have causes.
pub(super) fn edges(analysis: &Analysis) -> impl Iterator<Item = &CollectiveWait> {
    analysis.collective_waits.iter().filter(|wait| wait.costs().is_some())
}

/// The parallel regions of all teams: the enter event of each thread, and the time of the team's fork.
fn parallel_regions(analysis: &Analysis) -> Vec<Vec<(EventRef, i64)>> {
    let mut teams: BTreeMap<_, Vec<(EventRef, i64)>> = BTreeMap::new();
    for (location, it) in analysis.locations.iter().enumerate() {
        for (call, visit) in it.calls.iter().enumerate().filter(|(_, call)| call.role == Role::Parallel) {
            if let Some(fork) = visit.fork {
                let place = EventRef { location, call, time: visit.enter, order: 0, at: visit.entered_at };
                teams.entry((it.process, visit.team)).or_default().push((place, fork));
            }
        }
    }
    teams.into_values().collect()
}
