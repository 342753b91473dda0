//! Forward replay: the times of all marks, from location to location, of several scenarios at once (what-if 2.1).

use model::Ticks;

use super::classes::RowClass;
use super::graph::{DependencyKind, Goal, Graph, LocationGraph, Role};
use super::lanes::{Lane, RowChanges};
use super::marks::{Completion, Kind};
use crate::exchange::Batch;
use crate::exchange::batch::BatchReader;
use crate::findings::{Finding, Findings};
use crate::ids::{EventNumber, RecordNumber, Row};
use crate::journal::{EventSpot, Spot};
use crate::relay::{Blocked, Recurrence};
use crate::tools::Tools;
use crate::wire::Wire;

/// Times of one event in all lanes.
type Times<const K: usize> = [Ticks; K];

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
    /// Its next dependency in their order.
    next_dependency: usize,
    /// The time of the last mark.
    now: Times<K>,
    /// When it last heard of others.
    heard: Times<K>,
    /// Of each dependency the latest start that was told, and how many were not.
    told: Vec<(Times<K>, u32)>,
    /// Whether it waits to be told something.
    is_waiting: bool,
    /// When `MPI_Finalize` began, or else the last mark.
    end: Option<Times<K>>,
    /// By lane: marks whose time is not the measured one.
    moved: [u64; K],
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
    graph: &'a Graph,
    /// By location and row.
    classes: &'a [Vec<RowClass>],
    lanes: &'a Lanes<K>,
    me: usize,
    places: Vec<Place<K>>,
    meetings: Vec<MeetingState<K>>,
    /// By seat: the begin, where members wait in turn.
    begun: Vec<Option<Times<K>>>,
    ready: Vec<usize>,
    findings: &'a mut Findings,
    /// By location and mark: its times, if they are kept.
    kept: Option<Vec<Vec<Times<K>>>>,
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
        (graph, classes): (&'a Graph, &'a [Vec<RowClass>]),
        lanes: &'a Lanes<K>,
        me: usize,
        findings: &'a mut Findings,
    ) -> Forward<'a, K> {
        let place = |of: &LocationGraph| Place {
            next: 0,
            next_goal: 0,
            next_dependency: 0,
            now: [Ticks::MIN; K],
            heard: [Ticks::MIN; K],
            told: of.dependencies.iter().map(|dependency| ([Ticks::MIN; K], dependency.starts)).collect(),
            is_waiting: false,
            end: None,
            moved: [0; K],
        };
        let places: Vec<Place<K>> = graph.locations.iter().map(place).collect();
        let meeting = |meeting: &super::graph::Meeting| MeetingState {
            missing: meeting.senders,
            settled: 0,
            latest: [Ticks::MIN; K],
        };
        Forward {
            tools,
            graph,
            classes,
            lanes,
            me,
            meetings: graph.meetings.list.iter().map(meeting).collect(),
            begun: vec![None; graph.meetings.seats.len()],
            ready: (0..places.len()).rev().collect(),
            places,
            findings,
            kept: None,
        }
    }

    /// Keeps the times of all marks.
    pub(super) fn keeping(self) -> Forward<'a, K> {
        let room = |of: &LocationGraph| Vec::with_capacity(of.marks.list.len());
        Forward { kept: Some(self.graph.locations.iter().map(room).collect()), ..self }
    }

    /// The times of all marks by location, if they were kept.
    pub(super) fn kept(self) -> Vec<Vec<Times<K>>> {
        self.kept.unwrap_or_default()
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

    /// Lets a location go on as far as it can; `told` gets whom it tells what.
    fn go(&mut self, at: usize, told: &mut Vec<Told<K>>) {
        let of = &self.graph.locations[at];
        let place = &mut self.places[at];
        let (classes, changes) = (&self.classes[at], &self.lanes.changes[at]);
        while let Some(mark) = of.marks.list.get(place.next) {
            let mut has_heard = mark.kind == Kind::Fixed || place.next == 0;
            let times = match mark.kind {
                Kind::Fixed => [mark.time; K],
                Kind::Work => {
                    let pieces = of.marks.pieces_of(place.next);
                    std::array::from_fn(|lane| {
                        let work = self.lanes.lanes[lane].work(pieces, classes, &changes[lane]);
                        place.now[lane].saturating_add(work)
                    })
                }
                Kind::Completion(number) => {
                    let first = place.next_dependency;
                    let of_completion =
                        |number_of: &&u32| of.dependencies[**number_of as usize].completion == number;
                    let numbers = &of.order[first..];
                    let count = numbers.iter().take_while(of_completion).count();
                    let numbers = &numbers[..count];
                    if numbers.iter().any(|&number| place.told[number as usize].1 > 0) {
                        place.is_waiting = true;
                        return;
                    }
                    place.next_dependency += count;
                    has_heard |= count > 0;
                    let completion = &of.marks.completions[number as usize];
                    std::array::from_fn(|lane| {
                        self.lanes.lanes[lane].end(of, completion, numbers, place, &changes[lane], lane)
                    })
                }
            };
            (0..K).for_each(|lane| place.moved[lane] += u64::from(times[lane] != mark.time));
            place.now = times;
            if let Some(kept) = &mut self.kept {
                kept[at].push(times);
            }
            if has_heard {
                place.heard = times;
            }
            if of.marks.end == Some(crate::int::to_u32(place.next)) {
                place.end = Some(times);
            }
            let row = row_of(of, place.next);
            while let Some(&(_, goal)) =
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
                let dependency = &self.graph.locations[at].dependencies[number as usize];
                let place = &mut self.places[at];
                let (latest, missing) = &mut place.told[number as usize];
                let is_rendezvous = dependency.kind == DependencyKind::Rendezvous;
                for lane in 0..K {
                    let is_needless =
                        role == Role::Posting && is_rendezvous && self.lanes.lanes[lane].is_eager(dependency);
                    if !is_needless {
                        latest[lane] = latest[lane].max(times[lane]);
                    }
                }
                *missing = missing.saturating_sub(1);
                if *missing == 0 && place.is_waiting {
                    place.is_waiting = false;
                    self.ready.push(at);
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
    of.marks.rows.get(mark).copied().unwrap_or(Row::NONE)
}

impl Lane {
    /// The time of a completion (what-if 2.1).
    fn end<const K: usize>(
        &self,
        of: &LocationGraph,
        completion: &Completion,
        numbers: &[u32],
        place: &Place<K>,
        changes: &RowChanges,
        lane: usize,
    ) -> Ticks {
        let enter = place.now[lane];
        if completion.is_of_many && !completion.completes_messages && changes.is_removed(completion.row) {
            return enter;
        }
        let mut end = enter.saturating_add(self.overhead(completion));
        for &number in numbers {
            let dependency = &of.dependencies[number as usize];
            let latest = place.told[number as usize].0[lane];
            if !self.drops(dependency, completion) && latest > Ticks::MIN {
                end = end.max(latest.saturating_add(self.transfer(dependency, completion)));
            }
        }
        end.saturating_add(self.rest(completion))
    }
}

impl<const K: usize> Recurrence for Forward<'_, K> {
    type Message = Told<K>;

    fn step(&mut self, tell: &mut impl FnMut(usize, Told<K>)) -> bool {
        let Some(at) = self.ready.pop() else { return false };
        let mut told = Vec::new();
        self.go(at, &mut told);
        told.into_iter().for_each(|told| self.take(told, tell));
        true
    }

    fn hear(&mut self, _: usize, told: Told<K>, tell: &mut impl FnMut(usize, Told<K>)) {
        self.take(told, tell);
    }

    fn blocked(&self) -> Option<Blocked> {
        let blocked = |(at, place): (usize, &Place<K>)| {
            let mark = self.graph.locations[at].marks.list.get(place.next)?;
            let location = self.graph.first + crate::int::to_u32(at);
            let position: EventNumber = RecordNumber::new(place.next).into();
            Some(Blocked { time: mark.time, spot: Spot { location, position } })
        };
        self.places.iter().enumerate().filter_map(blocked).min()
    }

    /// Releases a mark that depends on itself: what was not told counts with its measured time.
    fn release(&mut self, Blocked { time, spot }: Blocked) {
        let EventSpot { location, .. } = spot;
        self.findings.add(
            Finding::CyclicWait,
            time,
            location as usize,
            || "replayed under other conditions, what comes after an event is what it waits for",
        );
        let at = (location - self.graph.first) as usize;
        let of = &self.graph.locations[at];
        let place = &mut self.places[at];
        if let Some(Kind::Completion(number)) = of.marks.list.get(place.next).map(|mark| mark.kind) {
            for &dependency in of.dependencies_of(number) {
                let (latest, missing) = &mut place.told[dependency as usize];
                if *missing > 0 {
                    let measured = of.dependencies[dependency as usize].latest;
                    latest.iter_mut().for_each(|latest| *latest = (*latest).max(measured));
                    *missing = 0;
                }
            }
        }
        place.is_waiting = false;
        self.ready.push(at);
    }
}
