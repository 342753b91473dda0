//! Messages and collective operations, one process after the other (specification 2.1, 2.4).
//!
//! Requests, message order and the order of collective operations belong to the process: the events of its
//! threads are sorted by time first.

use std::collections::HashMap;

use model::CollectiveOp;

use super::EventRef;
use super::read::{Envelope, EventKind, Group, Location, World};

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

/// One process's part of a collective operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Collective {
    pub(crate) process: usize,
    pub(crate) communicator: usize,
    pub(crate) operation: CollectiveOp,
    pub(crate) root: Option<u32>,
    pub(crate) begin: i64,
    pub(crate) end: EventRef,
    pub(crate) sent: i64,
    pub(crate) received: i64,
}

/// One process's part of a non-blocking collective operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NonBlocking {
    pub(crate) process: usize,
    pub(crate) communicator: usize,
    pub(crate) operation: CollectiveOp,
    pub(crate) root: Option<u32>,
    pub(crate) sent: i64,
    pub(crate) received: i64,
    pub(crate) request: EventRef,
    pub(crate) done: EventRef,
}

/// All operations, those of one process in the order of time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Operations {
    pub(crate) sends: Vec<Send>,
    pub(crate) receives: Vec<Receive>,
    pub(crate) collectives: Vec<Collective>,
    /// Those of one process in the order of completion.
    pub(crate) nonblocking: Vec<NonBlocking>,
    /// Position of the first request of each process for a collective operation that never completes.
    pub(crate) never_completed: Vec<Option<usize>>,
    /// Leave events of calls.
    pub(crate) leaves: Vec<EventRef>,
    /// Position of the first gap in the record of each process.
    pub(crate) gaps: Vec<Option<usize>>,
    /// Whether the recorder of each process was switched off.
    pub(crate) were_off: Vec<bool>,
    /// Whether each process has posted receives that are active at the end.
    pub(crate) have_open_receives: Vec<bool>,
}

/// An active request.
#[derive(Clone, Copy)]
enum ActiveRequest {
    /// Index of the send.
    Send(usize),
    Receive(EventRef),
    Collective(EventRef),
    /// Of a message that a matched probe has claimed.
    Claimed(EventRef, Envelope, EventRef),
}

/// Collects the operations of all processes.
pub(crate) fn collect(locations: &[Location], world: &World) -> Operations {
    let mut operations = Operations::default();
    for process in 0..world.processes {
        ProcessReader {
            process,
            world,
            all: &mut operations,
            requests: HashMap::new(),
            claimed: HashMap::new(),
            requested: Vec::new(),
        }
        .collect(locations);
    }
    operations
}

struct ProcessReader<'a> {
    process: usize,
    world: &'a World,
    all: &'a mut Operations,
    requests: HashMap<u64, ActiveRequest>,
    /// Messages that a matched probe has claimed.
    claimed: HashMap<u64, (EventRef, Envelope)>,
    /// Positions of all requests for collective operations.
    requested: Vec<usize>,
}

impl ProcessReader<'_> {
    fn collect(&mut self, locations: &[Location]) {
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
                (EventKind::Left(left), _) => self.all.leaves.push(place(left)),
                // Specification 2.4: only calls of MPI communicate.
                (kind, Some(call)) if locations[location].calls[call].is_mpi => {
                    self.handle(place(call), kind)
                }
                _ => {}
            }
        }
        self.all.gaps.push(gap);
        self.all.were_off.push(was_off);
        let done = self.all.nonblocking.iter().filter(|one| one.process == self.process);
        let completed: Vec<usize> = done.map(|one| one.request.order).collect();
        let never_completed = self.requested.iter().copied().find(|order| !completed.contains(order));
        self.all.never_completed.push(never_completed);
        let is_receive =
            |it: &ActiveRequest| matches!(it, ActiveRequest::Receive(_) | ActiveRequest::Claimed(..));
        self.all.have_open_receives.push(self.requests.values().any(is_receive));
    }

    fn handle(&mut self, at: EventRef, kind: EventKind) {
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
                // If the posting was not recorded, only the completion is known.
                let posted = match self.requests.remove(&request) {
                    Some(ActiveRequest::Receive(posted)) => posted,
                    _ => at,
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
            EventKind::Collective { operation, communicator, root, begin, sent, received } => {
                if operation.0 < HANDLES {
                    let process = self.process;
                    let one =
                        Collective { process, communicator, operation, root, begin, end: at, sent, received };
                    self.all.collectives.push(one);
                }
            }
            EventKind::CollectiveRequest(request) => {
                self.requested.push(at.order);
                self.requests.insert(request, ActiveRequest::Collective(at));
            }
            EventKind::CollectiveComplete { operation, communicator, root, sent, received, request } => {
                // If the request was not recorded, no call path names the operation.
                if let Some(ActiveRequest::Collective(request)) = self.requests.remove(&request) {
                    let process = self.process;
                    self.all.nonblocking.push(NonBlocking {
                        process,
                        communicator,
                        operation,
                        root,
                        sent,
                        received,
                        request,
                        done: at,
                    });
                }
            }
            EventKind::RecordingOff | EventKind::Entered | EventKind::Left(_) | EventKind::Joined => {}
        }
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
