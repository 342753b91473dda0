//! Visits of regions and pairs of calls that rules look at (advice 5.1 and 5.3).
//!
//! A visit is an outermost one on its thread, and so is each call of a pair. An end belongs to a begin that was left before the end
//! was entered. What runs in an OpenMP task is none: another thread may go on with it. Nor is what the trace does not end.

use std::collections::VecDeque;
use std::mem::take;

use model::Ticks;
use otf2::{Event, MappingType, Mappings};
use rustc_hash::FxHashMap;

use super::marks::{Note, Noted};
use super::process::ProcessWalk;
use super::stack::Frame;
use crate::ids::{CallId, PathId};
use crate::trace::{EventPart, EventRole, Partner, WantedEvents};

/// Begins of an event that may be open on a thread (advice 5.3).
pub const MOST_OPEN: usize = 1 << 16;

/// A moment of a thread, with what was before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Moment {
    /// Its time.
    pub time: Ticks,
    /// Time in outermost calls of MPI before it.
    pub mpi: Ticks,
    /// How many of these were left before it.
    pub mpi_calls: u32,
    /// The next call of the process, by its place among the operations.
    pub next: CallId,
}

/// An outermost visit of a region that is part of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventVisit {
    /// The event, by its position among those of rules.
    pub event: u16,
    /// Position of the location in the report.
    pub location: u32,
    /// The call path in the process's tree.
    pub path: PathId,
    /// When it was entered.
    pub enter: Moment,
    /// When it was left.
    pub leave: Moment,
}

/// Calls of an event that are no pair.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Unpaired {
    /// Begins without an end.
    pub begins: u64,
    /// Ends without a begin.
    pub ends: u64,
    /// Whether more begins were open on a thread than are kept: nothing is known of the pairs.
    pub is_too_many: bool,
}

/// Visits and pairs of a process, those of one thread after those of the other, and of each in the order of their ends.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct EventInstances {
    /// Visits.
    pub visits: Vec<EventVisit>,
    /// Pairs: the call that begins, and the one that ends.
    pub pairs: Vec<[EventVisit; 2]>,
    /// By event; nothing without any wanted.
    pub unpaired: Vec<Unpaired>,
}

impl EventInstances {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.visits.is_empty() && self.pairs.is_empty()
    }
}

/// The state of a thread as far as events are concerned.
#[derive(Debug, Default)]
pub(super) struct ThreadEvents {
    mpi: MpiSoFar,
    /// Visits that were not left, the outermost first.
    open: Vec<OpenVisit>,
    /// By event.
    begins: FxHashMap<u16, OpenBegins>,
    found: EventInstances,
}

/// A visit that was not left.
#[derive(Debug)]
struct OpenVisit {
    part: EventPart,
    /// How many regions it is in.
    depth: usize,
    enter: Moment,
    /// The value of the parameter that pairs are told apart by.
    value: Option<u64>,
    /// How many calls had begun a pair before.
    begun: u64,
}

/// Calls of an event that have begun a pair without an end so far.
#[derive(Debug, Default)]
struct OpenBegins {
    /// By value of the parameter, if there is one: their numbers, and what they are, in their order.
    queues: FxHashMap<Option<u64>, VecDeque<(u64, EventVisit)>>,
    /// How many there are, and how many there have been.
    count: usize,
    begun: u64,
    unpaired: Unpaired,
}

impl OpenBegins {
    /// Adds one that was left.
    fn begin(&mut self, value: Option<u64>, visit: EventVisit) {
        if self.count == MOST_OPEN {
            self.unpaired.is_too_many = true;
            return;
        }
        self.queues.entry(value).or_default().push_back((self.begun, visit));
        self.count += 1;
        self.begun += 1;
    }

    /// Takes that of an end which was entered when so many calls had begun a pair.
    fn end(&mut self, partner: &Partner, value: Option<u64>, begun: u64) -> Option<EventVisit> {
        let queue = self.queues.get_mut(&value);
        let found = queue.and_then(|queue| {
            let before = queue.partition_point(|&(number, _)| number < begun);
            let at = if *partner == Partner::Last { before.checked_sub(1)? } else { 0 };
            let (_, visit) = if at < before { queue.remove(at)? } else { return None };
            Some((visit, queue.is_empty()))
        });
        let Some((visit, is_last)) = found else {
            self.unpaired.ends += 1;
            return None;
        };
        if is_last {
            // Values may be new each time.
            self.queues.remove(&value);
        }
        self.count -= 1;
        Some(visit)
    }
}

/// Outermost calls of MPI of a thread, as far as its notes were read.
#[derive(Debug, Default)]
struct MpiSoFar {
    notes: usize,
    calls: u32,
    ticks: Ticks,
    /// When one was entered that was not left.
    entered: Option<Ticks>,
}

impl MpiSoFar {
    /// Reads the notes until a moment.
    fn moment(&mut self, time: Ticks, next: CallId, notes: &[Note]) -> Moment {
        for note in notes.get(self.notes..).unwrap_or_default() {
            match note.what {
                Noted::Enter(_) => self.entered = Some(note.time),
                Noted::Leave => {
                    let ticks = self.entered.take().map_or(0, |entered| note.time - entered);
                    self.ticks = self.ticks.saturating_add(ticks);
                    self.calls = self.calls.saturating_add(1);
                }
                _ => {}
            }
        }
        self.notes = notes.len();
        let inside = self.entered.map_or(0, |entered| (time - entered).max(0));
        Moment { time, mpi: self.ticks.saturating_add(inside), mpi_calls: self.calls, next }
    }
}

impl ThreadEvents {
    /// Enters a region, which these parts are of, inside of so many others.
    fn enter(&mut self, parts: &[EventPart], depth: usize, enter: Moment) {
        for &part in parts {
            if self.open.iter().all(|open| open.part != part) {
                let begun = self.begins.get(&part.event).map_or(0, |begins| begins.begun);
                self.open.push(OpenVisit { part, depth, enter, value: None, begun });
            }
        }
    }

    /// Sets a parameter in the innermost region, which is inside of so many others.
    fn set(&mut self, events: &WantedEvents, depth: usize, (parameter, value): (u64, u64)) {
        for open in self.open.iter_mut().rev().take_while(|open| open.depth >= depth) {
            if open.depth == depth
                && let Partner::SameValue(parameters) = events.partner(open.part.event)
                && parameters.contains(&parameter)
            {
                open.value = Some(value);
            }
        }
    }

    /// Leaves a region inside of so many others.
    fn leave(
        &mut self,
        events: &WantedEvents,
        depth: usize,
        (location, path): (u32, PathId),
        leave: Moment,
        is_recorded: bool,
    ) {
        while let Some(OpenVisit { part, enter, value, begun, .. }) =
            self.open.pop_if(|open| open.depth >= depth)
        {
            if !is_recorded {
                continue;
            }
            let EventPart { event, role } = part;
            let visit = EventVisit { event, location, path, enter, leave };
            if role == EventRole::Visit {
                self.found.visits.push(visit);
                continue;
            }
            let partner = events.partner(event);
            let begins = self.begins.entry(event).or_default();
            match role {
                // Without a value it belongs to none.
                EventRole::Begin if value.is_none() && matches!(partner, Partner::SameValue(_)) => {
                    begins.unpaired.begins += 1;
                }
                EventRole::Begin => begins.begin(value, visit),
                _ => self.found.pairs.extend(begins.end(partner, value, begun).map(|begin| [begin, visit])),
            }
        }
    }

    /// Ends the events of the thread: what is open stays so.
    fn end(&mut self) {
        self.open.clear();
    }

    /// What was found, with what is open now; so many events there are.
    fn finish(mut self, events: usize) -> EventInstances {
        self.found.unpaired = vec![Unpaired::default(); events];
        for (event, begins) in self.begins {
            let mut unpaired = begins.unpaired;
            unpaired.begins += begins.count as u64;
            self.found.unpaired[usize::from(event)] = unpaired;
        }
        self.found
    }
}

impl Unpaired {
    /// Adds those of another thread, process or worker.
    pub fn add(&mut self, other: &Unpaired) {
        self.begins += other.begins;
        self.ends += other.ends;
        self.is_too_many |= other.is_too_many;
    }
}

impl ProcessWalk<'_> {
    /// Enters a region that is part of events, before its frame is there.
    pub(super) fn enter_events(&mut self, thread: usize, frame: &Frame) {
        let Some((depth, moment)) = self.moment(thread, frame.enter) else { return };
        if let Some(events) = &mut self.threads[thread].events {
            events.enter(self.trace.events.parts(frame.region), depth, moment);
        }
    }

    /// Leaves a region that is part of events, once its frame is gone.
    pub(super) fn leave_events(&mut self, thread: usize, frame: &Frame, time: Ticks) {
        let Some((depth, moment)) = self.moment(thread, time) else { return };
        let state = &mut self.threads[thread];
        if let Some(events) = &mut state.events {
            let place = (state.location, frame.path);
            // What was found at a sample may have been left and entered again.
            events.leave(&self.trace.events, depth, place, moment, frame.is_certain);
        }
    }

    /// Sets a parameter in the innermost region of a thread; other records are ignored as well.
    pub(super) fn set_parameter(&mut self, thread: usize, mappings: &Mappings, event: &Event<'_>) {
        let state = &mut self.threads[thread];
        state.ignore();
        let (parameter, value) = match *event {
            Event::ParameterInt { parameter, value } => (parameter, value.cast_unsigned()),
            Event::ParameterUnsignedInt { parameter, value } => (parameter, value),
            Event::ParameterString { parameter, string } => {
                (parameter, mappings.global(MappingType::String, string).into())
            }
            _ => return,
        };
        let parameter = mappings.global(MappingType::Parameter, parameter).into();
        if let Some(events) = &mut state.events
            && let Some(depth) = state.stack.len().checked_sub(1)
            && !state.schedule.runs_task()
        {
            events.set(&self.trace.events, depth, (parameter, value));
        }
        self.take_call_site(thread, parameter, value);
    }

    /// A time of a thread as a moment, with the number of regions that it is in; `None` in a task, and if no event is wanted.
    fn moment(&mut self, thread: usize, time: Ticks) -> Option<(usize, Moment)> {
        let next = CallId::new(self.operations.calls.len());
        let state = &mut self.threads[thread];
        let events = state.events.as_mut().filter(|_| !state.schedule.runs_task())?;
        let notes = state.noted.as_ref().map_or(&[][..], |noted| &noted.notes);
        Some((state.stack.len(), events.mpi.moment(time, next, notes)))
    }

    /// Ends all events before regions that the trace does not leave are closed.
    pub(super) fn end_events(&mut self) {
        self.threads.iter_mut().filter_map(|thread| thread.events.as_mut()).for_each(|events| events.end());
    }

    /// What was found at all threads; `None` if nothing was looked for, as there may be many processes.
    pub(super) fn take_events(&mut self) -> Option<Box<EventInstances>> {
        let count = self.trace.events.count();
        if count == 0 {
            return None;
        }
        let mut all = EventInstances { unpaired: vec![Unpaired::default(); count], ..Default::default() };
        for events in self.threads.iter_mut().filter_map(|thread| thread.events.take()) {
            let mut found = events.finish(count);
            all.visits.append(&mut found.visits);
            all.pairs.append(&mut found.pairs);
            all.unpaired.iter_mut().zip(take(&mut found.unpaired)).for_each(|(all, own)| all.add(&own));
        }
        all.visits.shrink_to_fit();
        all.pairs.shrink_to_fit();
        Some(Box::new(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One event with these partners, which has three regions: `v` is a visit, `b` begins a pair, `e` ends one.
    fn events(partner: Partner) -> WantedEvents {
        WantedEvents::of_partners(vec![partner])
    }

    fn parts(region: char) -> Vec<EventPart> {
        let role = match region {
            'v' => EventRole::Visit,
            'b' => EventRole::Begin,
            'e' => EventRole::End,
            // Both of the same name.
            _ => return ['b', 'e'].into_iter().flat_map(parts).collect(),
        };
        vec![EventPart { event: 0, role }]
    }

    fn moment(time: Ticks) -> Moment {
        Moment { time, mpi: 0, mpi_calls: 0, next: CallId::new(0) }
    }

    /// What is found if a thread enters the regions of a text, and leaves them at `)`; a digit is the value of a parameter. Times are
    /// positions in the text.
    fn found(partner: Partner, text: &str) -> EventInstances {
        let (events, mut thread, mut depth) = (events(partner), ThreadEvents::default(), 0);
        for (at, it) in text.chars().enumerate() {
            let now = moment(at as Ticks);
            match it {
                ')' => {
                    depth -= 1;
                    thread.leave(&events, depth, (3, PathId::new(depth)), now, true);
                }
                '0'..='9' => thread.set(&events, depth - 1, (7, u64::from(it))),
                ' ' => {}
                '(' => depth += 1,
                region => {
                    thread.enter(&parts(region), depth, now);
                    depth += 1;
                }
            }
        }
        thread.end();
        thread.finish(1)
    }

    /// When the calls of each pair were entered.
    fn pairs(partner: Partner, text: &str) -> Vec<[Ticks; 2]> {
        found(partner, text).pairs.iter().map(|pair| pair.map(|visit| visit.enter.time)).collect()
    }

    fn unpaired(partner: Partner, text: &str) -> [u64; 2] {
        let Unpaired { begins, ends, .. } = found(partner, text).unpaired[0];
        [begins, ends]
    }

    #[test]
    fn end_belongs_to_the_first_or_the_last_open_begin() {
        let text = "b) b) e) e)";
        assert_eq!(pairs(Partner::First, text), [[0, 6], [3, 9]]);
        assert_eq!(pairs(Partner::Last, text), [[3, 6], [0, 9]]);
        assert_eq!(unpaired(Partner::First, text), [0, 0]);
    }

    #[test]
    fn ends_without_a_begin_and_begins_without_an_end_are_counted_and_no_pairs() {
        assert_eq!(pairs(Partner::First, "e) b) e) b)"), [[3, 6]]);
        assert_eq!(unpaired(Partner::First, "e) b) e) b) b)"), [2, 1]);
        // Neither is what the trace does not end.
        assert_eq!(pairs(Partner::First, "b) e"), [] as [[Ticks; 2]; 0]);
        assert_eq!(found(Partner::First, "v").visits, []);
    }

    #[test]
    fn only_outermost_calls_begin_and_end_pairs() {
        assert_eq!(pairs(Partner::Last, "b(b))) (e(e)))"), [[0, 8]]);
        assert_eq!(unpaired(Partner::Last, "b(b))) (e(e)))"), [0, 0]);
    }

    #[test]
    fn end_belongs_to_a_begin_that_was_left_before_it_was_entered() {
        // The begin inside of the end is for the next one.
        assert_eq!(pairs(Partner::First, "e b)) e)"), [[2, 6]]);
        assert_eq!(pairs(Partner::Last, "b) e b)) e)"), [[0, 3], [5, 9]]);
        // The end inside of the begin is too early.
        assert_eq!(unpaired(Partner::First, "b e))"), [1, 1]);
    }

    #[test]
    fn region_that_begins_and_ends_pairs_ends_the_one_before() {
        assert_eq!(pairs(Partner::First, "x) x) x)"), [[0, 3], [3, 6]]);
    }

    #[test]
    fn pairs_of_a_parameter_have_the_same_value() {
        let partner = || Partner::SameValue(vec![7]);
        assert_eq!(pairs(partner(), "b1) b2) e2) e1)"), [[4, 8], [0, 12]]);
        assert_eq!(unpaired(partner(), "b) e) b1) e2)"), [2, 2]);
        // The value of a region inside is another one.
        assert_eq!(unpaired(partner(), "b(1)) e1)"), [1, 1]);
        assert_eq!(pairs(Partner::SameValue(vec![8]), "b1) e1)"), [] as [[Ticks; 2]; 0]);
    }

    #[test]
    fn visits_are_outermost() {
        let visits = found(Partner::First, "v(v)) ) v)").visits;
        let times: Vec<_> = visits.iter().map(|it| [it.enter.time, it.leave.time]).collect();
        assert_eq!((times, visits[0].location), (vec![[0, 6], [8, 9]], 3));
    }

    #[test]
    fn regions_that_were_found_at_samples_are_no_visits() {
        let (events, mut thread) = (events(Partner::First), ThreadEvents::default());
        for (time, is_recorded) in [(0, false), (2, true)] {
            thread.enter(&parts('v'), 0, moment(time));
            thread.leave(&events, 0, (0, PathId::new(0)), moment(time + 1), is_recorded);
        }
        let visits = thread.finish(1).visits;
        assert_eq!(visits.iter().map(|it| it.enter.time).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn more_open_begins_than_are_kept_are_told() {
        let found = found(Partner::First, &"b)".repeat(MOST_OPEN));
        assert_eq!((found.unpaired[0].begins, found.unpaired[0].is_too_many), (MOST_OPEN as u64, false));
        assert!(self::found(Partner::First, &"b)".repeat(MOST_OPEN + 1)).unpaired[0].is_too_many);
    }

    #[test]
    fn time_in_mpi_is_that_of_outermost_calls_until_the_moment() {
        let note = |time, what| Note { time, position: Default::default(), pieces: Default::default(), what };
        let enter = Noted::Enter(Default::default());
        let notes = [(0, Noted::Begin), (2, enter), (5, Noted::Leave), (6, enter), (9, Noted::Leave)]
            .map(|(a, b)| note(a, b));
        let mut mpi = MpiSoFar::default();
        let mut at = |time, notes: &[Note]| {
            let moment = mpi.moment(time, CallId::new(0), notes);
            (moment.mpi, moment.mpi_calls)
        };
        let found =
            [at(1, &notes[..1]), at(4, &notes[..2]), at(6, &notes[..3]), at(9, &notes), at(9, &notes)];
        assert_eq!(found, [(0, 0), (2, 0), (3, 1), (6, 2), (6, 2)]);
    }
}
