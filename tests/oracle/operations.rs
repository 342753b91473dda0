//! Messages and collective operations, one process after the other (specification 2.1, 2.4).
//!
//! Requests, the order of messages and the order of collective operations belong to the process: what its threads do is
//! put in order of time first.

use std::collections::HashMap;

use model::CollectiveOp;

use super::Place;
use super::read::{Envelope, Group, Kind, Location, World};

/// The first code of operations that create or destroy handles; they count nowhere (Q1).
const HANDLES: u8 = 17;

/// What messages have to have in common to belong together; source and destination are processes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Channel {
    pub(crate) communicator: usize,
    pub(crate) source: usize,
    pub(crate) destination: usize,
    pub(crate) tag: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Send {
    pub(crate) at: Place,
    pub(crate) channel: Channel,
    pub(crate) bytes: i64,
    /// cmp(s); none if the completion is not in the trace.
    pub(crate) completion: Option<Place>,
    pub(crate) is_cancelled: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Receive {
    /// Where the message was claimed: the matched probe, else the same as `posted`.
    pub(crate) claimed: Place,
    /// req(r).
    pub(crate) posted: Place,
    /// r.
    pub(crate) done: Place,
    pub(crate) channel: Channel,
    /// The source as the communicator counts it.
    pub(crate) source_rank: u32,
    pub(crate) bytes: i64,
}

/// What one process did in a collective operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Collective {
    pub(crate) process: usize,
    pub(crate) communicator: usize,
    pub(crate) operation: CollectiveOp,
    pub(crate) root: Option<u32>,
    pub(crate) begin: i64,
    pub(crate) end: Place,
    pub(crate) sent: i64,
    pub(crate) received: i64,
}

/// All operations, those of one process in the order of time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Operations {
    pub(crate) sends: Vec<Send>,
    pub(crate) receives: Vec<Receive>,
    pub(crate) collectives: Vec<Collective>,
    /// Where calls are left.
    pub(crate) leaves: Vec<Place>,
    /// Of each process: where the first gap in its record is.
    pub(crate) gaps: Vec<Option<usize>>,
    /// Of each process: whether its recorder was switched off.
    pub(crate) were_off: Vec<bool>,
    /// Of each process: whether it has posted receives that are under way at the end.
    pub(crate) have_open_receives: Vec<bool>,
}

/// A request under way.
#[derive(Clone, Copy)]
enum Request {
    /// The number of the send.
    Send(usize),
    Receive(Place),
    /// Of a message that a matched probe has claimed.
    Claimed(Place, Envelope, Place),
}

/// Collects the operations of all processes.
pub(crate) fn collect(locations: &[Location], world: &World) -> Operations {
    let mut operations = Operations::default();
    for process in 0..world.processes {
        Process { process, world, all: &mut operations, requests: HashMap::new(), claimed: HashMap::new() }
            .collect(locations);
    }
    operations
}

struct Process<'a> {
    process: usize,
    world: &'a World,
    all: &'a mut Operations,
    requests: HashMap<u64, Request>,
    /// Messages that a matched probe has claimed.
    claimed: HashMap<u64, (Place, Envelope)>,
}

impl Process<'_> {
    fn collect(&mut self, locations: &[Location]) {
        let of_process =
            || locations.iter().enumerate().filter(|(_, location)| location.process == self.process);
        let mut happenings: Vec<_> = of_process()
            .flat_map(|(location, it)| {
                it.happenings.iter().enumerate().map(move |(at, happening)| (location, at, happening))
            })
            .collect();
        happenings.sort_by_key(|(_, _, happening)| happening.time);
        // What came before an unrecorded MPI_Init is unknown, and what a location without events did.
        let has_init =
            of_process().any(|(_, location)| location.calls.iter().any(|call| is_init(&call.mpi_name)));
        let is_complete = of_process().all(|(_, location)| !location.is_missing);
        let mut gap = if has_init && is_complete { None } else { Some(0) };
        let mut was_off = false;
        for (order, (location, at, happening)) in happenings.into_iter().enumerate() {
            let place = |call| Place { location, call, time: happening.time, order, at };
            match (happening.kind, happening.call) {
                (Kind::RecordingOff, _) => (gap, was_off) = (gap.or(Some(order)), true),
                (Kind::Left(left), _) => self.all.leaves.push(place(left)),
                // Specification 2.4: only calls of MPI communicate.
                (kind, Some(call)) if locations[location].calls[call].is_mpi => {
                    self.happened(place(call), kind)
                }
                _ => {}
            }
        }
        self.all.gaps.push(gap);
        self.all.were_off.push(was_off);
        let is_receive = |request: &Request| !matches!(request, Request::Send(_));
        self.all.have_open_receives.push(self.requests.values().any(is_receive));
    }

    fn happened(&mut self, at: Place, kind: Kind) {
        match kind {
            Kind::Send(envelope) => {
                self.send(at, envelope, Some(at));
            }
            Kind::Isend(envelope, request) => {
                let send = self.send(at, envelope, None);
                self.requests.insert(request, Request::Send(send));
            }
            Kind::IsendComplete(request) => {
                if let Some(Request::Send(send)) = self.requests.remove(&request) {
                    self.all.sends[send].completion = Some(at);
                }
            }
            Kind::IrecvRequest(request) => {
                self.requests.insert(request, Request::Receive(at));
            }
            Kind::Recv(envelope) => self.receive(at, at, at, envelope, envelope.bytes),
            Kind::Irecv(envelope, request) => {
                // Where its posting was not recorded, the completion is all that is known.
                let posted = match self.requests.remove(&request) {
                    Some(Request::Receive(posted)) => posted,
                    _ => at,
                };
                self.receive(posted, posted, at, envelope, envelope.bytes);
            }
            Kind::Cancelled(request) => {
                if let Some(Request::Send(send)) = self.requests.remove(&request) {
                    self.all.sends[send].is_cancelled = true;
                }
            }
            Kind::Probe(envelope, message) => {
                self.claimed.insert(message, (at, envelope));
            }
            Kind::Mrecv { message, bytes } => {
                if let Some((claimed, envelope)) = self.claimed.remove(&message) {
                    self.receive(claimed, at, at, envelope, bytes);
                }
            }
            Kind::ImrecvRequest { message, request } => {
                if let Some((claimed, envelope)) = self.claimed.remove(&message) {
                    self.requests.insert(request, Request::Claimed(claimed, envelope, at));
                }
            }
            Kind::Imrecv { request, bytes } => {
                if let Some(Request::Claimed(claimed, envelope, posted)) = self.requests.remove(&request) {
                    self.receive(claimed, posted, at, envelope, bytes);
                }
            }
            Kind::Collective { operation, communicator, root, begin, sent, received } => {
                if operation.0 < HANDLES {
                    let process = self.process;
                    let one =
                        Collective { process, communicator, operation, root, begin, end: at, sent, received };
                    self.all.collectives.push(one);
                }
            }
            Kind::RecordingOff | Kind::Entered | Kind::Left(_) | Kind::Joined => {}
        }
    }

    fn send(&mut self, at: Place, envelope: Envelope, completion: Option<Place>) -> usize {
        let Envelope { communicator, tag, bytes, .. } = envelope;
        let (source, destination) = (self.process, self.peer(envelope));
        let channel = Channel { communicator, source, destination, tag };
        self.all.sends.push(Send { at, channel, bytes, completion, is_cancelled: false });
        self.all.sends.len() - 1
    }

    fn receive(&mut self, claimed: Place, posted: Place, done: Place, envelope: Envelope, bytes: i64) {
        let Envelope { communicator, tag, peer: source_rank, .. } = envelope;
        let (source, destination) = (self.peer(envelope), self.process);
        let channel = Channel { communicator, source, destination, tag };
        self.all.receives.push(Receive { claimed, posted, done, channel, source_rank, bytes });
    }

    /// The process with a rank in a communicator; in an inter-communicator, in its other group.
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
