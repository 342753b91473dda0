//! Points: events at which a location has synchronised with others (specification 7.1).

use std::collections::{BTreeMap, BTreeSet};

use replay::Semantics;

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
    pub(super) fn new(analysis: &Analysis, processes: usize) -> Points {
        let mut points = Points(vec![BTreeMap::new(); analysis.locations.len()]);
        points.waiting_events(analysis);
        points.collective_instances(analysis, processes);
        points.parallel_regions(analysis);
        points.thread_barriers(analysis);
        points.causes(analysis);
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

    /// The points between two events.
    pub(super) fn after(&self, since: EventRef, event: EventRef) -> Vec<&Point> {
        self.before(event).take_while(|point| point.place.at > since.at).collect()
    }

    /// Events that wait for another one (rest of MPI 2.3).
    fn waiting_events(&mut self, analysis: &Analysis) {
        for edge in &analysis.edges {
            let after = analysis.leave(edge.waiting) - analysis.leave(edge.cause);
            self.add(Point {
                place: edge.waiting,
                wait: edge.wait,
                total: analysis.length(edge.waiting),
                completion: match (edge.class, analysis.semantics) {
                    // Q7
                    ("latereceiver", Semantics::Reference) => after.min(0),
                    _ => after.max(0),
                },
                ranks: BTreeSet::from([analysis.process(edge.cause)]),
                team: None,
                next: Next::At(edge.cause),
            });
        }
    }

    /// The events that they wait for, unless these wait themselves. Several may wait for one.
    fn causes(&mut self, analysis: &Analysis) {
        for edge in &analysis.edges {
            let cause = edge.cause;
            let of_cause = analysis
                .edges
                .iter()
                .filter(|other| (other.cause.location, other.cause.at) == (cause.location, cause.at));
            let of_cause: Vec<EventRef> = of_cause.map(|other| other.waiting).collect();
            let left = of_cause.iter().map(|&waiting| analysis.leave(waiting)).min();
            self.add(Point {
                place: cause,
                wait: 0,
                total: analysis.length(cause),
                completion: (analysis.leave(cause) - left.expect("the event itself")).max(0),
                ranks: of_cause.iter().map(|&waiting| analysis.process(waiting)).collect(),
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
