//! Messages and collective operations, one process after the other (specification 2.1, 2.4).
//!
//! Requests, message order and the order of collective operations belong to the process: the events of its
//! threads are sorted by time first.

use std::collections::HashMap;

use replay::Semantics;

use super::EventRef;
use super::events::{AtWindow, Envelope, EventKind, Told};
use super::files::OpenTransfers;
use super::matching::Instance;
use super::needs::Class;
use super::read::Location;
use super::windows::{FENCE, OneSided, OpenEpochs, Place};
use super::world::{Group, World};

/// First code of operations that create or destroy handles; these are not counted anywhere (Q1).
pub(crate) const HANDLES: u8 = 17;

/// Channel of messages: the k-th send pairs with the k-th receive; source and destination are processes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Channel {
    pub(crate) communicator: usize,
    pub(crate) source: usize,
    pub(crate) destination: usize,
    pub(crate) tag: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Send {
    pub(crate) at: EventRef,
    pub(crate) channel: Channel,
    pub(crate) bytes: i64,
    /// cmp(s); none if the completion is not in the trace.
    pub(crate) completion: Option<EventRef>,
    pub(crate) is_cancelled: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Receive {
    /// The event that claimed the message: the matched probe, otherwise `posted`.
    pub(crate) claimed: EventRef,
    /// req(r).
    pub(crate) posted: EventRef,
    /// r.
    pub(crate) done: EventRef,
    pub(crate) channel: Channel,
    /// Source rank in the communicator.
    pub(crate) source_rank: u32,
    pub(crate) bytes: i64,
}

/// Operations of a series are numbered by themselves on each communicator (rest of MPI 4.2, 7.1).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Series {
    Data,
    Handles,
    Neighborhoods,
    NonBlocking,
    NonBlockingNeighborhoods,
    /// The starts of one persistent operation.
    Persistent(u64),
}

impl Series {
    pub(crate) fn is_blocking(self) -> bool {
        matches!(self, Series::Data | Series::Handles | Series::Neighborhoods)
    }
}

/// One process's part of a collective operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) process: usize,
    pub(crate) series: Series,
    pub(crate) is_among_neighbors: bool,
    /// `None` for what nobody waits in.
    pub(crate) class: Option<Class>,
    pub(crate) told: Told,
    /// The record of its begin, or the request.
    pub(crate) begun: EventRef,
    /// The record of its end, or completion.
    pub(crate) ended: EventRef,
}

/// A test of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tested {
    pub(crate) at: EventRef,
    /// The event that started the operation, if it is known.
    pub(crate) started: Option<EventRef>,
}

/// All operations, those of one process in the order of time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Operations {
    pub(crate) sends: Vec<Send>,
    pub(crate) receives: Vec<Receive>,
    /// Those of one process in the order of their ends.
    pub(crate) parts: Vec<Part>,
    /// Events that post receives, whether these complete or not, and that claim messages.
    pub(crate) posted: Vec<EventRef>,
    /// Matched probes, with their records.
    pub(crate) claimed: Vec<EventRef>,
    pub(crate) tests: Vec<Tested>,
    /// Events that complete operations, or cancel them.
    pub(crate) completions: Vec<EventRef>,
    /// Number of requests that never complete.
    pub(crate) open_requests: usize,
    /// Position of the first request of each process for a collective operation that never completes.
    pub(crate) never_completed: Vec<Option<usize>>,
    /// Enter and leave events of calls.
    pub(crate) enters: Vec<EventRef>,
    pub(crate) leaves: Vec<EventRef>,
    /// Position of the first gap in the record of each process.
    pub(crate) gaps: Vec<Option<usize>>,
    /// Whether the recorder of each process was switched off.
    pub(crate) were_off: Vec<bool>,
    /// Whether each process has posted receives that are active at the end.
    pub(crate) have_open_receives: Vec<bool>,
    pub(crate) one_sided: OneSided,
}

/// An active request.
#[derive(Clone, Copy)]
enum ActiveRequest {
    /// Index of the send.
    Send(usize),
    Receive(EventRef),
    /// With the number of the persistent operation.
    Collective(EventRef, Option<u64>),
    /// Of a message that a matched probe has claimed.
    Claimed(EventRef, Envelope, EventRef),
}

impl Part {
    /// Its position in the order in which operations are numbered.
    pub(crate) fn order(&self) -> usize {
        if self.series.is_blocking() { self.ended.order } else { self.begun.order }
    }

    /// Whether it counts as a collective operation, with its bytes (specification 4.1).
    pub(crate) fn is_counted(&self) -> bool {
        self.told.operation.0 < HANDLES && !self.class.is_some_and(Class::is_of_window_or_file)
    }
}

impl Operations {
    /// Whether a member's recorder was switched off before: the operation may differ from the others'.
    pub(crate) fn is_doubted(&self, instance: &Instance) -> bool {
        instance.parts.iter().flatten().any(|part| {
            let gap = self.gaps[part.process];
            self.were_off[part.process] && gap.is_some_and(|gap| part.order() >= gap)
        })
    }
}

/// Collects the operations of all processes.
pub(crate) fn collect(locations: &[Location], world: &World, semantics: Semantics) -> Operations {
    let mut operations = Operations::default();
    for process in 0..world.processes {
        ProcessReader {
            process,
            world,
            semantics,
            locations,
            all: &mut operations,
            begun: HashMap::new(),
            requests: HashMap::new(),
            claimed: HashMap::new(),
            requested: Vec::new(),
            epochs: OpenEpochs::default(),
            flushed: HashMap::new(),
            transfers: OpenTransfers::default(),
        }
        .collect();
    }
    operations
}

pub(super) struct ProcessReader<'a> {
    pub(super) process: usize,
    world: &'a World,
    semantics: Semantics,
    pub(super) locations: &'a [Location],
    pub(super) all: &'a mut Operations,
    /// The last begin of a collective operation on each location.
    begun: HashMap<usize, EventRef>,
    requests: HashMap<u64, ActiveRequest>,
    /// Messages that a matched probe has claimed.
    claimed: HashMap<u64, (EventRef, Envelope)>,
    /// Positions of all requests for collective operations.
    pub(super) requested: Vec<usize>,
    epochs: OpenEpochs,
    /// By location and call: the windows with accesses that are complete there.
    flushed: HashMap<(usize, usize), Vec<usize>>,
    pub(super) transfers: OpenTransfers,
}

impl<'a> ProcessReader<'a> {
    fn collect(&mut self) {
        let locations = self.locations;
        let of_process =
            || locations.iter().enumerate().filter(|(_, location)| location.process == self.process);
        let mut events: Vec<_> = of_process()
            .flat_map(|(location, it)| {
                it.events.iter().enumerate().map(move |(at, event)| (location, at, event))
            })
            .collect();
        events.sort_by_key(|(_, _, event)| event.time);
        // Operations before an unrecorded MPI_Init are unknown, and those of a location without events.
        let has_init =
            of_process().any(|(_, location)| location.calls.iter().any(|call| is_init(&call.mpi_name)));
        let is_complete = of_process().all(|(_, location)| !location.is_missing);
        let mut gap = if has_init && is_complete { None } else { Some(0) };
        let mut was_off = false;
        for (order, (location, at, event)) in events.into_iter().enumerate() {
            let place = |call| EventRef { location, call, time: event.time, order, at };
            match (event.kind, event.call) {
                (EventKind::RecordingOff, _) => (gap, was_off) = (gap.or(Some(order)), true),
                (EventKind::Left(left), _) => self.leave(place(left)),
                (EventKind::Entered(entered), _) => self.all.enters.push(place(entered)),
                // Specification 2.4: only calls of MPI communicate.
                (EventKind::CollectiveBegin, Some(call)) => _ = self.begun.insert(location, place(call)),
                (kind, Some(call)) if locations[location].calls[call].is_mpi => {
                    self.handle(place(call), kind)
                }
                _ => {}
            }
        }
        self.all.gaps.push(gap);
        self.all.were_off.push(was_off);
        let done = self.all.parts.iter().filter(|it| it.process == self.process && !it.series.is_blocking());
        let completed: Vec<usize> = done.map(|part| part.begun.order).collect();
        let never_completed = self.requested.iter().copied().find(|order| !completed.contains(order));
        self.all.never_completed.push(never_completed);
        self.all.open_requests += self.requests.len() + self.transfers.started();
        self.all.one_sided.end(&self.epochs);
        let is_receive =
            |it: &ActiveRequest| matches!(it, ActiveRequest::Receive(_) | ActiveRequest::Claimed(..));
        self.all.have_open_receives.push(self.requests.values().any(is_receive));
    }

    fn handle(&mut self, at: EventRef, kind: EventKind) {
        match kind {
            EventKind::Recv(_) | EventKind::IrecvRequest(_) => self.all.posted.push(at),
            // Who claims a message decides which one the process gets, like who posts a receive.
            EventKind::Probe(..) => {
                self.all.posted.push(at);
                self.all.claimed.push(at);
            }
            EventKind::IsendComplete(_)
            | EventKind::Irecv(..)
            | EventKind::Imrecv { .. }
            | EventKind::CollectiveComplete(..)
            | EventKind::Completed
            | EventKind::Window(_, AtWindow::Completed)
            | EventKind::Cancelled(_) => self.all.completions.push(at),
            _ => {}
        }
        match kind {
            EventKind::Send(envelope) => {
                self.send(at, envelope, Some(at));
            }
            EventKind::Isend(envelope, request) => {
                let send = self.send(at, envelope, None);
                self.requests.insert(request, ActiveRequest::Send(send));
            }
            EventKind::IsendComplete(request) => {
                if let Some(ActiveRequest::Send(send)) = self.requests.remove(&request) {
                    self.all.sends[send].completion = Some(at);
                }
            }
            EventKind::IrecvRequest(request) => {
                self.requests.insert(request, ActiveRequest::Receive(at));
            }
            EventKind::Recv(envelope) => self.receive(at, at, at, envelope, envelope.bytes),
            EventKind::Irecv(envelope, request) => {
                let posted = match self.requests.remove(&request) {
                    Some(ActiveRequest::Receive(posted)) => posted,
                    // The posting was not recorded: it counts as if it was posted now.
                    _ => {
                        self.all.posted.push(at);
                        at
                    }
                };
                self.receive(posted, posted, at, envelope, envelope.bytes);
            }
            EventKind::Cancelled(request) => {
                if let Some(ActiveRequest::Send(send)) = self.requests.remove(&request) {
                    self.all.sends[send].is_cancelled = true;
                }
            }
            EventKind::Probe(envelope, message) => {
                self.claimed.insert(message, (at, envelope));
            }
            EventKind::Mrecv { message, bytes } => {
                if let Some((claimed, envelope)) = self.claimed.remove(&message) {
                    self.receive(claimed, at, at, envelope, bytes);
                }
            }
            EventKind::ImrecvRequest { message, request } => {
                if let Some((claimed, envelope)) = self.claimed.remove(&message) {
                    self.requests.insert(request, ActiveRequest::Claimed(claimed, envelope, at));
                }
            }
            EventKind::Imrecv { request, bytes } => {
                if let Some(ActiveRequest::Claimed(claimed, envelope, posted)) =
                    self.requests.remove(&request)
                {
                    self.receive(claimed, posted, at, envelope, bytes);
                }
            }
            EventKind::Test(request) => {
                let started = self.requests.get(&request).map(|request| match *request {
                    ActiveRequest::Send(send) => self.all.sends[send].at,
                    ActiveRequest::Receive(posted) | ActiveRequest::Claimed(_, _, posted) => posted,
                    ActiveRequest::Collective(requested, _) => requested,
                });
                self.all.tests.push(Tested { at, started });
            }
            EventKind::CollectiveEnd(told) => self.collective_end(at, told),
            EventKind::CollectiveRequest(request, persistent) => {
                self.requested.push(at.order);
                self.requests.insert(request, ActiveRequest::Collective(at, persistent));
            }
            EventKind::CollectiveComplete(told, request) => {
                // If the request was not recorded, no call path names the operation.
                if let Some(ActiveRequest::Collective(begun, persistent)) = self.requests.remove(&request) {
                    let is_among_neighbors = told.neighbors.is_some();
                    let series = match persistent {
                        Some(operation) => Series::Persistent(operation),
                        None if is_among_neighbors => Series::NonBlockingNeighborhoods,
                        None => Series::NonBlocking,
                    };
                    let class = Class::of(&told, is_among_neighbors);
                    self.part((series, class), told, begun, at);
                }
            }
            EventKind::Window(window, what) => self.at_window(at, window, what),
            EventKind::File(file, what) => self.of_file(at, file, what),
            EventKind::Completed
            | EventKind::RecordingOff
            | EventKind::Entered(_)
            | EventKind::Left(_)
            | EventKind::Joined
            | EventKind::CollectiveBegin => {}
        }
    }

    fn collective_end(&mut self, at: EventRef, told: Told) {
        let Some(begun) = self.begun.remove(&at.location) else { return };
        let name = self.name(at);
        let is_among_neighbors = self.semantics == Semantics::Corrected
            && (told.neighbors.is_some() || name.starts_with("neighbor_"));
        let series = match told.operation.0 {
            // Q1
            HANDLES.. if self.semantics == Semantics::Reference => return,
            // What belongs to MPI_Init and MPI_Finalize is theirs (rest of MPI 3.2), and to free a communicator is local (rest of MPI 7.1).
            17 if !is_init(name) => Series::Handles,
            18 if name == "comm_disconnect" => Series::Handles,
            HANDLES.. => return,
            _ if is_among_neighbors => Series::Neighborhoods,
            _ => Series::Data,
        };
        let class = Class::of(&told, is_among_neighbors);
        self.part((series, class), told, begun, at);
    }

    pub(super) fn part(
        &mut self,
        (series, class): (Series, Option<Class>),
        told: Told,
        begun: EventRef,
        ended: EventRef,
    ) {
        let (process, is_among_neighbors) = (self.process, class == Some(Class::Neighborhood));
        self.all.parts.push(Part { process, series, is_among_neighbors, class, told, begun, ended });
    }

    /// Leaves a call.
    fn leave(&mut self, at: EventRef) {
        self.all.leaves.push(at);
        if self.name(at).starts_with("win_flush")
            && let Some(windows) = self.flushed.get(&(at.location, at.call))
        {
            self.all.one_sided.leave_flush(&self.epochs, windows, at);
        }
    }

    fn at_window(&mut self, at: EventRef, window: usize, what: AtWindow) {
        let place = Place { process: self.process, at, name: self.name(at) };
        self.all.one_sided.handle(&mut self.epochs, self.world, place, (window, what));
        match what {
            AtWindow::End(operation) => {
                let begun = self.begun.remove(&at.location).unwrap_or_else(|| self.entered(at));
                let (series, class) = match operation.0 {
                    FENCE => (Series::Data, Class::Fence),
                    17 | 19 | 21 => (Series::Handles, Class::WindowCreation),
                    _ => (Series::Handles, Class::WindowRelease),
                };
                self.part((series, Some(class)), Told::without_data(operation, window), begun, at);
            }
            AtWindow::Completed => {
                self.flushed.entry((at.location, at.call)).or_default().push(window);
            }
            _ => {}
        }
    }

    /// The event of entering the call around an event.
    pub(super) fn entered(&self, at: EventRef) -> EventRef {
        let call = &self.locations[at.location].calls[at.call];
        EventRef { time: call.enter, at: call.entered_at, ..at }
    }

    /// MPI's name of the region around an event.
    pub(super) fn name(&self, place: EventRef) -> &'a str {
        let locations = self.locations;
        &locations[place.location].calls[place.call].mpi_name
    }

    fn send(&mut self, at: EventRef, envelope: Envelope, completion: Option<EventRef>) -> usize {
        let Envelope { communicator, tag, bytes, .. } = envelope;
        let (source, destination) = (self.process, self.peer(envelope));
        let channel = Channel { communicator, source, destination, tag };
        self.all.sends.push(Send { at, channel, bytes, completion, is_cancelled: false });
        self.all.sends.len() - 1
    }

    fn receive(
        &mut self,
        claimed: EventRef,
        posted: EventRef,
        done: EventRef,
        envelope: Envelope,
        bytes: i64,
    ) {
        let Envelope { communicator, tag, peer: source_rank, .. } = envelope;
        let (source, destination) = (self.peer(envelope), self.process);
        let channel = Channel { communicator, source, destination, tag };
        self.all.receives.push(Receive { claimed, posted, done, channel, source_rank, bytes });
    }

    /// The process of a rank in a communicator; in an inter-communicator, in its other group.
    fn peer(&self, envelope: Envelope) -> usize {
        match &self.world.communicators[envelope.communicator] {
            Group::Alone => self.process,
            Group::One(members) => members[envelope.peer as usize],
            Group::Two(a, b) if a.contains(&self.process) => b[envelope.peer as usize],
            Group::Two(a, _) => a[envelope.peer as usize],
        }
    }
}

/// Specification 3.1
pub(crate) fn is_init(name: &str) -> bool {
    name == "init" || name == "init_thread"
}
