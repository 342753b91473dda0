//! The timed graph: marks of all locations of a worker, and which of them depend on others (what-if 2).

use model::Ticks;

use super::compact::Compacted;
use super::dependencies::{Dependency, DependencyKind, NOBODY};
use super::goals::Goals;
use super::marks::Marks;
use super::near::partition_point_near;
use crate::ids::Row;

/// A message that was sent, and that a completion completes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SentMessage {
    /// The completion, by its position.
    pub completion: u32,
    /// The location that receives it; [`NOBODY`] if that is not known.
    pub partner: u32,
    /// Its length.
    pub bytes: u64,
    /// When its receive was posted; [`Ticks::MIN`] if that is not known.
    pub posted: Ticks,
}

/// A message that a completion completes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct DoneMessage {
    /// Whether it was sent; else it was received.
    pub is_send: bool,
    /// Its length.
    pub bytes: u64,
    /// The location of the other side.
    pub partner: Option<u32>,
    /// When its receive was posted, of one that was sent.
    pub posted: Option<Ticks>,
}

/// The graph of a location.
#[derive(Clone, Debug, Default)]
pub(super) struct LocationGraph {
    /// Its marks.
    pub marks: Marks,
    /// The dependencies of its completions, in no order.
    pub dependencies: Compacted<Dependency>,
    /// The messages that it has sent and completed, until times are explained; then in the order of completions.
    pub sent: Vec<SentMessage>,
    /// The messages that it has received from nobody knows whom, so that nothing depends on their sends: completion, and bytes. The
    /// others are dependencies.
    pub received: Vec<(u32, u64)>,
    /// Receives that may have been free to choose their messages: dependency, and the call path of the posting; in rising order.
    pub choices: Vec<(u32, Row)>,
    /// Whom its marks tell their times; in the order of marks once all are known.
    pub goals: Goals,
    /// The dependencies in the order of their completions, once all are known.
    order: Vec<u32>,
    /// By completion: where its dependencies begin in that order; and the end of all.
    order_of: Vec<u32>,
}

impl LocationGraph {
    /// Of these marks, none of which depends on anything yet.
    pub(super) fn new(marks: Marks) -> LocationGraph {
        LocationGraph { marks, ..LocationGraph::default() }
    }

    /// Adds a dependency; returns its number.
    pub(super) fn depend(&mut self, completion: u32, kind: DependencyKind, bytes: u64, starts: u32) -> u32 {
        self.dependencies.push(Dependency {
            completion,
            kind,
            bytes,
            starts,
            latest: Ticks::MIN,
            transfer: 0,
            steps: 0,
            partner: NOBODY,
            is_choice: false,
        })
    }

    /// Brings goals, messages and dependencies in order.
    pub(super) fn sort(&mut self) {
        self.goals.sort();
        self.sent.sort_by_key(|sent| sent.completion);
        self.received.sort_by_key(|&(completion, _)| completion);
        self.dependencies.shrink_to_fit();
        let completions = self.marks.completions.len() as usize;
        // How many each has, at the place behind the next one; then where those of the next one go, which ends where its end is.
        self.order_of = vec![0; completions + 2];
        for dependency in self.dependencies.iter() {
            self.order_of[dependency.completion as usize + 2] += 1;
        }
        for at in 1..self.order_of.len() {
            self.order_of[at] += self.order_of[at - 1];
        }
        self.order = vec![0; self.dependencies.len() as usize];
        for (number, dependency) in (0..).zip(self.dependencies.iter()) {
            let place = &mut self.order_of[dependency.completion as usize + 1];
            self.order[*place as usize] = number;
            *place += 1;
        }
        self.order_of.truncate(completions + 1);
    }

    /// The numbers of the dependencies of a completion, once all are in order.
    pub(super) fn dependencies_of(&self, completion: u32) -> &[u32] {
        let of = |at: u32| self.order_of[at as usize] as usize;
        &self.order[of(completion)..of(completion + 1)]
    }

    /// The call path where the receive of a message was posted, if that may have been free to choose it.
    pub(super) fn choice(&self, dependency: u32) -> Option<Row> {
        let found = self.choices.binary_search_by_key(&dependency, |&(number, _)| number);
        found.ok().map(|at| self.choices[at].1)
    }

    /// The messages of a completion, once all are in order; searched from where those of the last one were found.
    pub(super) fn done_of(&self, completion: u32, found: &mut DoneAt) -> impl Iterator<Item = DoneMessage> {
        let sent = run_of(&self.sent, completion, |sent| sent.completion, &mut found.sent);
        let sent = sent.iter().map(|sent| DoneMessage {
            is_send: true,
            bytes: sent.bytes,
            partner: Some(sent.partner).filter(|&partner| partner != NOBODY),
            posted: Some(sent.posted).filter(|&posted| posted != Ticks::MIN),
        });
        let received = |bytes, partner| DoneMessage { is_send: false, bytes, partner, posted: None };
        let unknown = run_of(&self.received, completion, |&(completion, _)| completion, &mut found.received);
        let unknown = unknown.iter().map(move |&(_, bytes)| received(bytes, None));
        let dependencies = self.dependencies_of(completion).iter();
        let dependencies = dependencies.map(|&number| self.dependencies.get(number));
        let known = dependencies.filter(|dependency| dependency.kind.is_of_receive());
        let known = known.map(move |dependency| received(dependency.bytes, Some(dependency.partner)));
        sent.chain(unknown).chain(known)
    }
}

/// Where messages of a completion were found.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DoneAt {
    sent: usize,
    received: usize,
}

/// The entries of a completion in a list that is in the order of completions.
fn run_of<'l, T>(list: &'l [T], completion: u32, of: impl Fn(&T) -> u32, found: &mut usize) -> &'l [T] {
    let first = partition_point_near(list, *found, |it| of(it) < completion);
    *found = first;
    let count = list[first..].iter().take_while(|it| of(it) == completion).count();
    &list[first..first + count]
}

/// A member's place in a meeting: an operation of many.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Seat {
    /// The meeting.
    pub meeting: u32,
    /// The dependency of its end: location and number; `None` if it waits for nobody.
    pub waits: Option<(u32, u32)>,
    /// Whether others wait for its begin.
    pub sends: bool,
}

/// An operation of many, as far as somebody waits in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Meeting {
    /// Its first seat; the others follow up to those of the next one.
    pub first: u32,
    /// Whether each member waits for those before it only, as in a scan.
    pub in_turn: bool,
    /// How many members others wait for.
    pub senders: u32,
}

/// The meetings that a worker holds.
#[derive(Clone, Debug, Default)]
pub(super) struct Meetings {
    /// All.
    pub list: Vec<Meeting>,
    /// The seats of all.
    pub seats: Vec<Seat>,
}

impl Meetings {
    /// The numbers of the seats of a meeting.
    pub(super) fn seats_of(&self, meeting: usize) -> std::ops::Range<usize> {
        let end = self.list.get(meeting + 1).map_or(self.seats.len(), |next| next.first as usize);
        self.list[meeting].first as usize..end
    }
}

/// The graph of a worker's locations.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    /// The first of its locations; the others follow without gap.
    pub first: u32,
    /// By location.
    pub locations: Vec<LocationGraph>,
    /// The meetings that the worker holds.
    pub meetings: Meetings,
}

impl Graph {
    /// The graph of a location.
    ///
    /// # Panics
    /// If the location is not one of this worker's.
    pub(super) fn of(&mut self, location: u32) -> &mut LocationGraph {
        &mut self.locations[(location - self.first) as usize]
    }
}
