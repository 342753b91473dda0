//! Messages and requests: from the events of a process to its sends and receives (MPI 3.1, chapter 3).
//!
//! Requests are known by number per process. A number may be used again once its operation is complete.

use model::Ticks;
use patterns::matched::Completion;
use rustc_hash::FxHashMap;

use super::gaps::{Counted, MissingOperations};
use super::pending::Pending;
use super::process::ProcessWalk;
use super::stack::NONE;
use super::steps::Begun;
use crate::communicators::Participants;
use crate::coverage::Fate;
use crate::findings::Finding;
use crate::ids::{CallId, EventNumber};
use crate::int::to_u32;
use crate::operations::{Asked, Envelope, Envelopes, Flagged, NonBlocking, Operations, Receive, Send};

/// The operation of an active request.
#[derive(Clone, Copy, Debug)]
enum Request {
    /// A send: its position, or [`NONE`] if it is not analysed.
    Send(u32),
    /// A receive: the call that posted it, and its number among the receives.
    Receive(Posting),
    /// A collective operation: its position among the non-blocking ones, or [`NONE`] if it is not analysed.
    Collective(u32),
}

impl Request {
    /// What a test of it asks for.
    fn asked(self) -> Asked {
        match self {
            Request::Receive(posting) => Asked::Receive(posting.order),
            Request::Collective(position) if position != NONE => Asked::Collective(position),
            Request::Send(_) | Request::Collective(_) => Asked::Unknown,
        }
    }
}

/// The posting of a receive.
#[derive(Clone, Copy, Debug)]
struct Posting {
    call: CallId,
    position: EventNumber,
    order: u32,
}

/// A message that a matched probe has found and that was not received yet.
#[derive(Clone, Copy, Debug)]
struct Probed {
    message: Message,
    order: u32,
}

/// The message data of an event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    /// The other side's rank in the communicator.
    pub(super) peer: u32,
    /// Position of the communicator in the definitions.
    pub(super) communicator: u32,
    pub(super) tag: u32,
    /// The number of its pair of requests, if it is partitioned; else 0.
    pub(super) partitioned: u32,
    pub(super) bytes: u64,
}

/// The active requests of a process.
#[derive(Debug, Default)]
pub(super) struct Requests {
    pending: Pending<Request>,
    /// Messages that a matched probe has found, by their number.
    probed: FxHashMap<u64, Probed>,
    /// Probed messages that a request is receiving: the completion event has no more than the length.
    receiving: FxHashMap<u64, Message>,
    /// The number of posted receives.
    posted: u32,
    /// The number of completed collective operations.
    pub(super) completed: u32,
    /// By thread: the blocking probe whose message the next receive that it posts receives, by its position.
    pub(super) probes: FxHashMap<usize, usize>,
    /// By thread: the place in the order of posting of the message that it has just found by a matched probe.
    pub(super) matched: FxHashMap<usize, u32>,
}

impl Requests {
    /// Numbers a receive in the order of posting.
    pub(super) fn next_posted(&mut self) -> u32 {
        self.posted += 1;
        self.posted
    }

    /// What a test of a request asks for.
    pub(super) fn asked(&self, request: u64) -> Asked {
        self.pending.get(request).map_or(Asked::Unknown, |request| request.asked())
    }

    /// The numbers of receives and of non-blocking collective operations that were started.
    pub(super) fn started(&self, operations: &Operations) -> (u32, u32) {
        (self.posted, to_u32(operations.nonblocking.len()))
    }

    /// The number of posted receives.
    pub(super) fn posted(&self) -> u32 {
        self.posted
    }
}

impl ProcessWalk<'_> {
    /// Adds a send by a blocking call, or by the start of `request`.
    #[inline(always)]
    pub(super) fn send(&mut self, thread: usize, message: Message, request: Option<u64>, time: Ticks) {
        self.note_message(thread, message, Begun::Send);
        let with_data = usize::from(message.bytes > 0);
        let metrics = self.metrics;
        self.count(thread, [(metrics.sends[with_data], 1), (metrics.bytes_sent, message.bytes)]);
        let mut position = NONE;
        let envelope = self.envelope(thread, message, |operations| &mut operations.destinations);
        if let (Some(envelope), Some(call)) = (envelope, self.mpi_call(thread)) {
            position = to_u32(self.operations.sends.len());
            if let Some(missing) = self.told.unrecorded
                && self.count_missing(Counted::Sends(envelope), missing)
            {
                self.operations.unrecorded.sends.push((position, missing));
            }
            let event = self.mark_operation(thread);
            self.operations.sends.push(Send {
                time,
                bytes: message.bytes,
                call,
                completion: if request.is_some() { CallId::NONE } else { call },
                position: event,
                completed: if request.is_some() { EventNumber::NONE } else { event },
                envelope: Flagged::new(envelope),
            });
        }
        if let Some(request) = request {
            self.start(thread, request, Request::Send(position));
        }
    }

    /// Completes the send of a request.
    pub(super) fn complete_send(&mut self, thread: usize, request: u64) {
        self.complete(thread, Asked::Unknown);
        match self.requests.pending.remove(request) {
            Some(Request::Send(NONE)) => {}
            Some(Request::Send(position)) => {
                if let Some(call) = self.call(thread) {
                    let event = self.mark_operation(thread);
                    let send = &mut self.operations.sends[position as usize];
                    send.completion = call;
                    send.completed = event;
                }
            }
            other => self.unknown(thread, request, other),
        }
    }

    /// Posts a receive.
    pub(super) fn post_receive(&mut self, thread: usize, request: u64) {
        self.note_begun(thread, Begun::Posting);
        let order = self.number_posting(thread);
        let posting = self.posting(thread, order);
        self.start(thread, request, Request::Receive(posting));
    }

    /// Adds a receive by a blocking call, or by the completion of `request`.
    #[inline(always)]
    pub(super) fn receive(&mut self, thread: usize, message: Message, request: Option<u64>, time: Ticks) {
        let mut posting = None;
        if request.is_none() {
            self.note_message(thread, message, Begun::Receive);
        }
        if let Some(request) = request {
            let started = self.requests.pending.remove(request);
            self.complete(thread, started.map_or(Asked::Unknown, Request::asked));
            match started {
                Some(Request::Receive(started)) => posting = Some(started),
                // It was started while recording was off.
                None if self.told.posted_at.is_some() => {}
                other => self.unknown(thread, request, other),
            }
        }
        self.received(thread, message, posting, time);
    }

    /// Adds a message that a matched probe has taken from the queue; a receive will get it by `id`.
    pub(super) fn probe(&mut self, thread: usize, message: Message, id: u64) {
        let order = self.number_posting(thread);
        if let Some(frame) = self.threads[thread].stack.last_mut() {
            frame.completes = true;
            if self.trace.kinds.get(frame.region as usize).is_some_and(|kind| kind.is_probe) {
                self.requests.matched.insert(thread, order);
            }
        }
        self.requests.probed.insert(id, Probed { message, order });
    }

    /// Adds the blocking receive of a message that a matched probe has found.
    pub(super) fn receive_probed(&mut self, thread: usize, id: u64, bytes: u64, time: Ticks) {
        let Some(Probed { message, order }) = self.requests.probed.remove(&id) else {
            self.find(Finding::UnknownRequest, thread, || format!("message {id} was not probed"));
            return;
        };
        let posting = self.posting(thread, order);
        self.received(thread, Message { bytes, ..message }, Some(posting), time);
    }

    /// Starts the receive of a message that a matched probe has found.
    pub(super) fn post_probed(&mut self, thread: usize, id: u64, request: u64) {
        let Some(probed) = self.requests.probed.remove(&id) else {
            self.find(Finding::UnknownRequest, thread, || format!("message {id} was not probed"));
            return;
        };
        let posting = self.posting(thread, probed.order);
        self.start(thread, request, Request::Receive(posting));
        self.requests.receiving.insert(request, probed.message);
    }

    /// Completes the receive of a probed message.
    pub(super) fn complete_probed(&mut self, thread: usize, request: u64, bytes: u64, time: Ticks) {
        match self.requests.receiving.remove(&request) {
            Some(message) => self.receive(thread, Message { bytes, ..message }, Some(request), time),
            None => {
                self.complete(thread, Asked::Unknown);
                self.find(Finding::UnknownRequest, thread, || format!("request {request} was not started"));
            }
        }
    }

    /// Cancels a request.
    pub(super) fn cancel(&mut self, thread: usize, request: u64) {
        self.complete(thread, Asked::Unknown);
        match self.requests.pending.remove(request) {
            // To cancel a collective operation is an error (MPI 4.1, section 6.12): it stays without completion.
            Some(Request::Send(NONE) | Request::Receive(_) | Request::Collective(_)) => {}
            Some(Request::Send(position)) => self.operations.sends[position as usize].cancel(),
            None => self.unknown(thread, request, None),
        }
    }

    /// Adds a finding for each request that was never completed.
    pub(super) fn drop_requests(&mut self) {
        // In the order of their numbers, so that the first example is always the same.
        self.operations.has_open_receives =
            self.requests.pending.iter().any(|(_, pending)| matches!(pending, Request::Receive(_)));
        let mut open: Vec<u64> = self.requests.pending.iter().map(|(request, _)| request).collect();
        open.sort_unstable();
        for request in open {
            self.find(Finding::OpenRequest, 0, || format!("request {request}"));
        }
    }

    /// Returns the posting of a receive in the current call.
    #[inline(always)]
    fn posting(&mut self, thread: usize, order: u32) -> Posting {
        let call = self.call(thread).unwrap_or(CallId::NONE);
        Posting { call, position: self.mark_operation(thread), order }
    }

    #[inline(always)]
    fn received(&mut self, thread: usize, message: Message, posting: Option<Posting>, time: Ticks) {
        let order = posting.map_or_else(|| self.number_posting(thread), |posting| posting.order);
        let envelope = self.envelope(thread, message, |operations| &mut operations.sources);
        let call_while_off = self.operations.pause.and_then(|_| self.call_while_off(thread));
        let call = match call_while_off {
            None => self.mpi_call(thread),
            call => call,
        };
        let (Some(envelope), Some(call)) = (envelope, call) else { return };
        let posting = posting.filter(|posting| posting.call != CallId::NONE);
        let event = self.mark_operation(thread);
        let position = to_u32(self.operations.receives.len());
        let mut posted = posting.map_or((call, event), |posting| (posting.call, posting.position));
        if self.told != MissingOperations::default() {
            posted = self.hear_receive(thread, position, envelope).unwrap_or(posted);
        }
        let mut forgets = false;
        if let Some(frame) = self.threads[thread].stack.last_mut() {
            forgets = frame.inner_leave && self.trace.semantics.forgets_at_inner_leave();
            frame.inner_leave = false;
            frame.last_receive = position;
        }
        let forgets = forgets && self.operations.site(call).completion == Completion::WaitMany;
        let receive = Receive {
            time,
            bytes: message.bytes,
            call,
            posting: posted.0,
            position: event,
            posted_at: posted.1,
            posted: order,
            envelope: Flagged::new(envelope),
        };
        self.operations.receives.push(receive.forgetting(forgets));
    }

    /// Evaluates the gap attributes of a receive. Returns the position of its posting, if that is missing.
    #[cold]
    fn hear_receive(&mut self, thread: usize, position: u32, envelope: u32) -> Option<(CallId, EventNumber)> {
        let MissingOperations { unrecorded, posted_at, is_disordered, .. } = self.told;
        if let Some(missing) = unrecorded
            && self.count_missing(Counted::Receives(envelope), missing)
        {
            self.operations.unrecorded.receives.push((position, missing));
        }
        if is_disordered {
            self.operations.unrecorded.disordered.push(envelope);
        }
        self.operations.unrecorded.postings.push((position, posted_at?));
        self.missing_posting(thread, posted_at?)
    }

    /// Starts a non-blocking collective operation; which one it is says its completion.
    pub(super) fn request_collective(&mut self, thread: usize, request: u64, time: Ticks) {
        self.decide(thread, Fate::Analysed);
        self.note_begun(thread, Begun::NonBlocking);
        let mut position = NONE;
        if let Some(call) = self.mpi_call(thread) {
            position = to_u32(self.operations.nonblocking.len());
            let event = self.mark_operation(thread);
            self.operations.nonblocking.push(NonBlocking {
                requested: time,
                call,
                position: event,
                persistent: self.attributes.persistent,
                done: None,
            });
        }
        self.start(thread, request, Request::Collective(position));
    }

    /// Completes a request of a collective operation; returns its position among the non-blocking ones, if it is analysed.
    pub(super) fn completed_collective(&mut self, thread: usize, request: u64) -> Option<u32> {
        let started = self.requests.pending.remove(request);
        self.complete(thread, started.map_or(Asked::Unknown, Request::asked));
        match started {
            Some(Request::Collective(position)) => (position != NONE).then_some(position),
            other => {
                self.unknown(thread, request, other);
                None
            }
        }
    }

    #[inline(always)]
    fn start(&mut self, thread: usize, request: u64, pending: Request) {
        if self.requests.pending.insert(request, pending).is_some() {
            self.find(Finding::ReusedRequest, thread, || format!("request {request}"));
        }
    }

    #[cold]
    fn unknown(&mut self, thread: usize, request: u64, found: Option<Request>) {
        self.find(Finding::UnknownRequest, thread, || match found {
            None => format!("request {request} was not started"),
            Some(Request::Send(_)) => format!("request {request} is a send, something else was completed"),
            Some(Request::Receive(_)) => {
                format!("request {request} is a receive, something else was completed")
            }
            Some(Request::Collective(_)) => {
                format!("request {request} is a collective operation, something else was completed")
            }
        });
    }

    /// Returns the envelope of a message, as a position among those of its direction.
    fn envelope(
        &mut self,
        thread: usize,
        message: Message,
        envelopes: impl Fn(&mut Operations) -> &mut Envelopes,
    ) -> Option<u32> {
        let Message { communicator, peer: rank, tag, partitioned, .. } = message;
        let known = envelopes(&mut self.operations).find(communicator, rank, (tag, partitioned));
        if let Some(known) = known {
            return Some(known);
        }
        let peer = self.partner(thread, message)?;
        Some(envelopes(&mut self.operations).add(Envelope { communicator, peer, rank, tag, partitioned }))
    }

    /// Returns the other process of a message.
    #[inline]
    fn partner(&mut self, thread: usize, message: Message) -> Option<u32> {
        let participants = &self.trace.communicators[message.communicator as usize];
        if *participants == Participants::Outside {
            self.reach_out(thread);
            return None;
        }
        let partner = participants.peer(self.process, message.peer);
        if partner.is_none() {
            let communicator = self.trace.definitions.communicators.reference(message.communicator as usize);
            self.find(Finding::RankOutsideCommunicator, thread, || {
                format!("rank {} of communicator {communicator}", message.peer)
            });
        }
        partner.map(|process| to_u32(process))
    }

    /// Returns the current call, if it is one of MPI: operations elsewhere are counted, not analysed.
    #[inline(always)]
    pub(super) fn mpi_call(&mut self, thread: usize) -> Option<CallId> {
        if !self.is_in_mpi(thread) {
            self.find(Finding::OutsideMpi, thread, || "message");
            return None;
        }
        self.call(thread)
    }
}
