//! Forward replay: the times of all marks, from location to location, of several scenarios at once (what-if 2.1).

use std::collections::VecDeque;

use model::Ticks;

use super::dependencies::{Dependency, DependencyKind};
use super::explain::Usual;
use super::goals::{Goal, Role};
use super::graph::{Graph, LocationGraph};
use super::lanes::{Lane, RowChanges};
use super::marks::Kind;
use super::predict::TimedGraph;
use crate::exchange::Batch;
use crate::exchange::batch::BatchReader;
use crate::findings::{Finding, Findings};
use crate::ids::{EventNumber, RecordNumber, Row};
use crate::int::to_u32;
use crate::journal::{EventSpot, Spot};
use crate::relay::{Blocked, Recurrence};
use crate::tools::Tools;
use crate::wire::Wire;

/// So many marks of a location are replayed before another one goes on: what it tells others is kept until they need it.
const MARKS: usize = 1024;

/// Times of one event in all lanes.
pub(super) type Times<const K: usize> = [Ticks; K];

/// A message between workers: a start, or the begin of a member, has these times.
#[derive(Clone, Copy, Debug)]
pub(super) struct Told<const K: usize> {
    goal: Goal,
    times: Times<K>,
}

impl<const K: usize> Wire for Told<K> {
    fn put(&self, batch: &mut Batch) {
        self.goal.put(batch);
        self.times.iter().for_each(|time| time.put(batch));
    }

    fn get(reader: &mut BatchReader<'_>) -> Told<K> {
        let goal = Wire::get(reader);
        Told { goal, times: std::array::from_fn(|_| Wire::get(reader)) }
    }
}

/// State of a location.
#[derive(Clone, Debug)]
struct Place<const K: usize> {
    /// Its next mark, and its next goal.
    next: usize,
    next_goal: usize,
    /// The time of the last mark.
    now: Times<K>,
    /// When it last heard of others.
    heard: Times<K>,
    /// What the next call of MPI waits for before it begins.
    awaited: Times<K>,
    /// By dependency: how many of its starts were not told, and where their latest time is.
    starts: Vec<Starts>,
    /// Whether it waits to be told something.
    is_waiting: bool,
    /// When `MPI_Finalize` began, or else the last mark.
    end: Option<Times<K>>,
    /// By lane: marks whose time is not the measured one.
    moved: [u64; K],
    /// By call path with a choice of messages: when its last message was sent, measured and replayed.
    chosen: Vec<(Row, Ticks, Times<K>)>,
    /// By lane: messages that would come in another order than the one before at the same call path.
    otherwise: [u64; K],
}

/// The starts of a dependency, as far as they were told.
#[derive(Clone, Copy, Debug)]
struct Starts {
    missing: u32,
    /// The number of their latest time among those that are kept; [`NOT_KEPT`] before the first was told, and when it was used.
    kept: u32,
}

/// Stands for no time.
const NOT_KEPT: u32 = u32::MAX;

/// Times that were told and not yet used.
#[derive(Clone, Debug, Default)]
struct Kept<const K: usize> {
    times: Vec<Times<K>>,
    free: Vec<u32>,
}

impl<const K: usize> Kept<K> {
    /// The latest time of a dependency so far.
    fn latest(&mut self, starts: &mut Starts) -> &mut Times<K> {
        if starts.kept == NOT_KEPT {
            starts.kept = self.free.pop().unwrap_or_else(|| {
                self.times.push([Ticks::MIN; K]);
                to_u32(self.times.len() - 1)
            });
            self.times[starts.kept as usize] = [Ticks::MIN; K];
        }
        &mut self.times[starts.kept as usize]
    }

    /// The latest time of a dependency.
    fn get(&self, starts: Starts) -> Times<K> {
        self.times.get(starts.kept as usize).copied().unwrap_or([Ticks::MIN; K])
    }

    /// Forgets the time of a dependency.
    fn forget(&mut self, starts: &mut Starts) {
        if starts.kept != NOT_KEPT {
            self.free.push(std::mem::replace(&mut starts.kept, NOT_KEPT));
        }
    }
}

/// State of a meeting.
#[derive(Clone, Debug)]
struct MeetingState<const K: usize> {
    missing: u32,
    settled: usize,
    latest: Times<K>,
}

/// The scenarios of a replay at the locations of a worker.
#[derive(Clone, Debug)]
pub(super) struct Lanes<const K: usize> {
    /// What they change everywhere.
    pub lanes: [Lane; K],
    /// By location and lane.
    pub changes: Vec<[RowChanges; K]>,
}

/// The forward replay at the locations of a worker.
pub(super) struct Forward<'a, const K: usize> {
    tools: &'a Tools<'a>,
    timed: &'a TimedGraph,
    graph: &'a Graph,
    lanes: &'a Lanes<K>,
    me: usize,
    places: Vec<Place<K>>,
    kept: Kept<K>,
    meetings: Vec<MeetingState<K>>,
    /// By seat: the begin, where members wait in turn.
    begun: Vec<Option<Times<K>>>,
    /// Locations that may go on.
    ready: VecDeque<usize>,
    /// By lane: whether calls of MPI take as long as they did.
    keeps_calls: [bool; K],
    /// What the location tells that goes on.
    told: Vec<Told<K>>,
    watched: Option<Watched<'a, K>>,
    findings: &'a mut Findings,
    /// Whether a location waits for itself as its messages wait for their receives in these scenarios.
    has_deadlock: bool,
}

/// Marks whose replayed times are kept.
#[derive(Debug)]
struct Watched<'a, const K: usize> {
    /// By location, in rising order.
    marks: &'a [Vec<u32>],
    /// By location: the times of these marks.
    times: Vec<Vec<Times<K>>>,
    /// By location: the latest start that each has waited for; [`Ticks::MIN`] for none.
    starts: Vec<Vec<Times<K>>>,
}

impl<const K: usize> Watched<'_, K> {
    /// Keeps the times of a mark of a location, if they are wanted.
    fn see(&mut self, at: usize, mark: usize, times: Times<K>, start: Times<K>) {
        let seen = &mut self.times[at];
        if self.marks[at].get(seen.len()).is_some_and(|&next| next as usize == mark) {
            seen.push(times);
            self.starts[at].push(start);
        }
    }
}

impl<const K: usize> std::fmt::Debug for Forward<'_, K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} locations in {K} lanes", self.places.len())
    }
}

impl<'a, const K: usize> Forward<'a, K> {
    /// Starts with all locations at their begin.
    pub(super) fn new(
        tools: &'a Tools<'a>,
        timed: &'a TimedGraph,
        lanes: &'a Lanes<K>,
        me: usize,
        findings: &'a mut Findings,
    ) -> Forward<'a, K> {
        let graph = &timed.graph;
        let is_rendezvous =
            |dependency: &Dependency| lanes.lanes.iter().any(|lane| lane.is_rendezvous(dependency));
        let starts = |dependency: &Dependency| {
            let is_there = dependency.kind != DependencyKind::IfRendezvous || is_rendezvous(dependency);
            Starts { missing: if is_there { dependency.starts } else { 0 }, kept: NOT_KEPT }
        };
        let place = |of: &LocationGraph| Place {
            next: 0,
            next_goal: 0,
            now: [Ticks::MIN; K],
            heard: [Ticks::MIN; K],
            awaited: [Ticks::MIN; K],
            starts: of.dependencies.iter().map(|it| starts(&it)).collect(),
            is_waiting: false,
            end: None,
            moved: [0; K],
            chosen: Vec::new(),
            otherwise: [0; K],
        };
        let places: Vec<Place<K>> = graph.locations.iter().map(place).collect();
        let meeting = |meeting: &super::graph::Meeting| MeetingState {
            missing: meeting.senders,
            settled: 0,
            latest: [Ticks::MIN; K],
        };
        Forward {
            tools,
            timed,
            graph,
            lanes,
            me,
            meetings: graph.meetings.list.iter().map(meeting).collect(),
            begun: match graph.meetings.list.iter().any(|meeting| meeting.in_turn) {
                true => vec![None; graph.meetings.seats.len()],
                false => Vec::new(),
            },
            ready: (0..places.len()).collect(),
            keeps_calls: std::array::from_fn(|lane| {
                let has_nodes = lanes.changes.iter().any(|changes| changes[lane].nodes.is_some());
                lanes.lanes[lane].keeps_calls() && !has_nodes
            }),
            told: Vec::new(),
            places,
            kept: Kept::default(),
            watched: None,
            findings,
            has_deadlock: false,
        }
    }

    /// Keeps the times of some marks: by location, in rising order.
    pub(super) fn watch(&mut self, marks: &'a [Vec<u32>]) {
        let times = || marks.iter().map(|marks| Vec::with_capacity(marks.len())).collect();
        self.watched = Some(Watched { marks, times: times(), starts: times() });
    }

    /// The times that were kept, by location; and the latest start that each mark has waited for, [`Ticks::MIN`] for none.
    pub(super) fn seen(self) -> [Vec<Vec<Times<K>>>; 2] {
        self.watched.map(|watched| [watched.times, watched.starts]).unwrap_or_default()
    }

    /// The latest begin of `MPI_Finalize`, or the latest end of a location where there is none; of each lane.
    pub(super) fn ends(&self) -> (Option<Times<K>>, Times<K>) {
        let latest = |times: &mut dyn Iterator<Item = Times<K>>| {
            times.fold([Ticks::MIN; K], |sum, time| std::array::from_fn(|lane| sum[lane].max(time[lane])))
        };
        let mut finalized = self.places.iter().filter_map(|place| place.end).peekable();
        let has_any = finalized.peek().is_some();
        let finalized = latest(&mut finalized);
        (has_any.then_some(finalized), latest(&mut self.places.iter().map(|place| place.now)))
    }

    /// How many marks have another time than they had, by lane.
    pub(super) fn moved(&self) -> [u64; K] {
        std::array::from_fn(|lane| self.places.iter().map(|place| place.moved[lane]).sum())
    }

    /// How many messages would come in another order than the one before at their call path, by lane.
    pub(super) fn otherwise(&self) -> [u64; K] {
        std::array::from_fn(|lane| self.places.iter().map(|place| place.otherwise[lane]).sum())
    }

    /// Whether a location waits for itself, as its messages wait for their receives.
    pub(super) fn has_deadlock(&self) -> bool {
        self.has_deadlock
    }

    /// Lets a location go on as far as it can; `told` gets whom it tells what.
    fn go(&mut self, at: usize, told: &mut Vec<Told<K>>) {
        let of = &self.graph.locations[at];
        let place = &mut self.places[at];
        let (classes, changes) = (&self.timed.classes[at], &self.lanes.changes[at]);
        let location = self.graph.first + to_u32(at);
        let usual = Usual { location, nodes: &self.timed.nodes, lines: &self.timed.lines };
        let lanes = &self.lanes.lanes;
        let end = place.next + MARKS;
        while let Some(mark) = of.marks.list.get(place.next) {
            if place.next == end {
                self.ready.push_back(at);
                return;
            }
            let mut has_heard = mark.kind() == Kind::Fixed || place.next == 0;
            let mut start = [Ticks::MIN; K];
            let times = match mark.kind() {
                Kind::Fixed => std::array::from_fn(|lane| lanes[lane].of(mark.time)),
                Kind::Work => {
                    let ticks = place.next.checked_sub(1).map_or(0, |at| mark.time - of.marks.list[at].time);
                    let is_call = mark.is_call();
                    std::array::from_fn(|lane| {
                        let work = lanes[lane].work(ticks, (&of.marks, place.next), classes, &changes[lane]);
                        let time = place.now[lane].saturating_add(work);
                        if is_call { time.max(place.awaited[lane]) } else { time }
                    })
                }
                Kind::Completion(number) => {
                    let numbers = of.dependencies_of(number);
                    if numbers.iter().any(|&number| place.starts[number as usize].missing > 0) {
                        place.is_waiting = true;
                        return;
                    }
                    has_heard |= !numbers.is_empty();
                    let completion = &of.marks.completions.get(number);
                    let of_many = numbers.iter().filter(|_| completion.is_of_many);
                    let mut of_many = of_many.map(|&at| of.dependencies.get(at));
                    let of_many = of_many.find(|dependency| dependency.steps > 0);
                    let mut end: Times<K> = std::array::from_fn(|lane| {
                        place.now[lane].saturating_add(lanes[lane].overhead(
                            completion,
                            of_many.as_ref(),
                            &usual,
                        ))
                    });
                    let mut is_free = [false; K];
                    for &number in numbers {
                        let dependency = &of.dependencies.get(number);
                        let latest = self.kept.get(place.starts[number as usize]);
                        self.kept.forget(&mut place.starts[number as usize]);
                        if dependency.is_choice
                            && let Some(row) = of.choice(number)
                        {
                            place.choose(row, (dependency.latest, latest), lanes);
                        }
                        for lane in 0..K {
                            if latest[lane] == Ticks::MIN
                                || lanes[lane].drops(dependency, completion, &changes[lane])
                            {
                                continue;
                            }
                            let transfer = match self.keeps_calls[lane] {
                                true => dependency.transfer << lanes[lane].fine,
                                false => lanes[lane].transfer(dependency, completion, &usual, &changes[lane]),
                            };
                            start[lane] = start[lane].max(latest[lane]);
                            let there = latest[lane].saturating_add(transfer);
                            if dependency.kind.is_of_receive() && changes[lane].is_overlapped(completion.row)
                            {
                                place.awaited[lane] = place.awaited[lane].max(there);
                                is_free[lane] = true;
                            } else {
                                end[lane] = end[lane].max(there);
                            }
                        }
                    }
                    std::array::from_fn(|lane| {
                        let is_removed = completion.is_of_many
                            && !completion.completes_messages
                            && changes[lane].is_removed(completion.row);
                        match () {
                            () if is_removed => place.now[lane],
                            () if is_free[lane] => end[lane],
                            () => end[lane].saturating_add(lanes[lane].rest(completion)),
                        }
                    })
                }
            };
            (0..K).for_each(|lane| place.moved[lane] += u64::from(times[lane] != lanes[lane].of(mark.time)));
            if let Some(watched) = &mut self.watched {
                watched.see(at, place.next, times, start);
            }
            place.now = times;
            if has_heard {
                place.heard = times;
            }
            if of.marks.end == Some(to_u32(place.next)) {
                place.end = Some(times);
            }
            let row = row_of(of, place.next);
            while let Some((_, goal)) =
                of.goals.get(place.next_goal).filter(|(of, _)| *of as usize == place.next)
            {
                place.next_goal += 1;
                let is_sent = matches!(goal, Goal::Dependency { role: Role::Sent, .. });
                let times = match is_sent {
                    true => std::array::from_fn(|lane| match changes[lane].is_early(row) {
                        true => place.heard[lane],
                        false => times[lane],
                    }),
                    false => times,
                };
                told.push(Told { goal, times });
            }
            place.next += 1;
        }
    }

    /// Handles what a start or a member tells.
    fn take(&mut self, Told { goal, times }: Told<K>, tell: &mut impl FnMut(usize, Told<K>)) {
        let worker = goal.worker(self.tools);
        if worker != self.me {
            return tell(worker, Told { goal, times });
        }
        match goal {
            Goal::Dependency { location, number, role } => {
                let at = (location - self.graph.first) as usize;
                let dependency = &self.graph.locations[at].dependencies.get(number);
                let place = &mut self.places[at];
                let starts = &mut place.starts[number as usize];
                if starts.missing == 0 {
                    return;
                }
                let latest = self.kept.latest(starts);
                let is_rendezvous = dependency.kind == DependencyKind::Rendezvous;
                let completion = &self.graph.locations[at].marks.completions.get(dependency.completion);
                for lane in 0..K {
                    let is_needless = role == Role::Posting
                        && (is_rendezvous && self.lanes.lanes[lane].is_eager(dependency)
                            || self.lanes.changes[at][lane].is_posted(completion.row));
                    if !is_needless {
                        latest[lane] = latest[lane].max(times[lane]);
                    }
                }
                starts.missing -= 1;
                if starts.missing == 0 && place.is_waiting {
                    place.is_waiting = false;
                    self.ready.push_back(at);
                }
            }
            Goal::Seat { number, .. } => {
                let mut ends = Vec::new();
                self.meet(number as usize, times, &mut ends);
                ends.into_iter().for_each(|told| self.take(told, tell));
            }
        }
    }

    /// A member has begun; collects the ends of those that have waited for it last.
    fn meet(&mut self, seat: usize, times: Times<K>, ends: &mut Vec<Told<K>>) {
        let meetings = &self.graph.meetings;
        let number = meetings.seats[seat].meeting as usize;
        let (meeting, state) = (&meetings.list[number], &mut self.meetings[number]);
        let seats = meetings.seats_of(number);
        let mut end = |seat: usize, times| {
            if let Some((location, number)) = meetings.seats[seat].waits {
                ends.push(Told { goal: Goal::Dependency { location, number, role: Role::Other }, times });
            }
        };
        let raise = |latest: &mut Times<K>, times: Times<K>| {
            (0..K).for_each(|lane| latest[lane] = latest[lane].max(times[lane]));
        };
        if meeting.in_turn {
            self.begun[seat] = Some(times);
            for seat in seats.skip(state.settled) {
                match self.begun[seat] {
                    Some(times) => raise(&mut state.latest, times),
                    None if meetings.seats[seat].sends => return,
                    None => {}
                }
                state.settled += 1;
                end(seat, state.latest);
            }
            return;
        }
        raise(&mut state.latest, times);
        state.missing = state.missing.saturating_sub(1);
        if state.missing == 0 {
            let latest = state.latest;
            seats.for_each(|seat| end(seat, latest));
        }
    }
}

/// The row of the call that a mark enters.
fn row_of(of: &LocationGraph, mark: usize) -> Row {
    of.marks.list.get(mark).map_or(Row::NONE, |mark| mark.row())
}

impl<const K: usize> Place<K> {
    /// Notes that a message came that its receive may have chosen. The order of two at a call path is the one of the run, or not.
    fn choose(&mut self, row: Row, (measured, sent): (Ticks, Times<K>), lanes: &[Lane; K]) {
        let Some((_, before, replayed)) = self.chosen.iter_mut().find(|(of, ..)| *of == row) else {
            return self.chosen.push((row, measured, sent));
        };
        for lane in 0..K {
            let order = lanes[lane].of(*before).cmp(&lanes[lane].of(measured));
            self.otherwise[lane] += u64::from(replayed[lane].cmp(&sent[lane]) != order);
        }
        (*before, *replayed) = (measured, sent);
    }
}

impl<const K: usize> Recurrence for Forward<'_, K> {
    type Message = Told<K>;

    fn step(&mut self, tell: &mut impl FnMut(usize, Told<K>)) -> bool {
        let Some(at) = self.ready.pop_front() else { return false };
        let mut told = std::mem::take(&mut self.told);
        self.go(at, &mut told);
        told.drain(..).for_each(|told| self.take(told, tell));
        self.told = told;
        true
    }

    fn hear(&mut self, _: usize, told: Told<K>, tell: &mut impl FnMut(usize, Told<K>)) {
        self.take(told, tell);
    }

    fn blocked(&self) -> Option<Blocked> {
        let blocked = |(at, place): (usize, &Place<K>)| {
            let mark = self.graph.locations[at].marks.list.get(place.next)?;
            let location = self.graph.first + to_u32(at);
            let position: EventNumber = RecordNumber::new(place.next).into();
            Some(Blocked { time: mark.time, spot: Spot { location, position } })
        };
        self.places.iter().enumerate().filter_map(blocked).min()
    }

    /// Releases a mark that depends on itself: what was not told counts with its measured time.
    fn release(&mut self, Blocked { time, spot }: Blocked) {
        let EventSpot { location, .. } = spot;
        let at = (location - self.graph.first) as usize;
        let of = &self.graph.locations[at];
        let place = &mut self.places[at];
        let mut finding = Finding::CyclicWait;
        if let Some(Kind::Completion(number)) = of.marks.list.get(place.next).map(|mark| mark.kind()) {
            for &dependency in of.dependencies_of(number) {
                let starts = &mut place.starts[dependency as usize];
                let dependency = of.dependencies.get(dependency);
                if starts.missing > 0 {
                    if dependency.kind == DependencyKind::IfRendezvous {
                        finding = Finding::WouldDeadlock;
                    }
                    let latest = self.kept.latest(starts);
                    for (latest, lane) in latest.iter_mut().zip(&self.lanes.lanes) {
                        *latest = (*latest).max(lane.of(dependency.latest));
                    }
                    starts.missing = 0;
                }
            }
        }
        self.has_deadlock |= finding == Finding::WouldDeadlock;
        self.findings.add(
            finding,
            time,
            location as usize,
            || "replayed under other conditions, what comes after an event is what it waits for",
        );
        place.is_waiting = false;
        self.ready.push_back(at);
    }
}
