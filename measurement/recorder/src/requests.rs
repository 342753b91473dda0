//! Requests: what each will complete.

use model::CollectiveOp;

use crate::call::Call;
use crate::channels::Channel;
use crate::gaps::{self, Posting};
use crate::handles::{Fate, Handles};
use crate::mpi::Status;
use crate::record;

/// What a request is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Send,
    Receive,
    /// A non-blocking collective operation.
    Collective(CollectiveOp),
    /// A one-sided operation on a window.
    OneSided,
    /// A transfer of a file.
    File,
    /// A communicator that is being duplicated: entered when it is there.
    Duplicate,
}

/// An operation that a request stands for.
#[derive(Clone, Copy)]
pub(crate) struct Operation {
    pub(crate) kind: Kind,
    /// The number of the request in the trace, a new one whenever a persistent one is started; of files and windows the
    /// matching number.
    pub(crate) number: u64,
    /// Number of the communicator, window or file handle.
    pub(crate) scope: u32,
    /// Rank of the partner, or the root. Of a receive it may be any rank, as the tag may be any tag: a negative number.
    pub(crate) peer: u32,
    pub(crate) tag: u32,
    /// When it was started; of a message that a matched probe has found, when that began.
    pub(crate) begin: u64,
    /// Whether that is in the trace.
    pub(crate) is_recorded: bool,
    /// Bytes that are sent.
    pub(crate) bytes: u64,
    /// Bytes that are received, where that is known beforehand; a duplicate's origin; its handle is in `place`.
    pub(crate) received: u64,
    /// Where a duplicate's handle will be.
    pub(crate) place: usize,
    pub(crate) is_persistent: bool,
    /// Whether it has been started and not completed.
    pub(crate) is_active: bool,
}

impl Operation {
    /// One with nothing but its kind, its scope and its number; active, in the trace.
    pub(crate) fn new(kind: Kind, scope: u32, number: u64) -> Operation {
        Operation {
            kind,
            number,
            scope,
            peer: u32::MAX,
            tag: 0,
            begin: 0,
            is_recorded: true,
            bytes: 0,
            received: 0,
            place: 0,
            is_persistent: false,
            is_active: true,
        }
    }

    /// It starts in a call.
    #[inline]
    pub(crate) fn start(&mut self, call: &Call) {
        self.begin = call.thread.call.begin;
        self.is_recorded = !call.thread.events.is_muted();
    }

    /// How it was posted, if it is a receive.
    fn posting(&self) -> Posting {
        Posting { time: self.begin, is_recorded: self.is_recorded }
    }

    /// The channel of a receive, if it was asked for.
    pub(crate) fn source(&self) -> Option<Channel> {
        let is_any = (self.peer as i32) < 0 || (self.tag as i32) < 0;
        (!is_any).then_some(Channel::From(self.scope, self.peer, self.tag))
    }
}

/// All requests of the process.
pub(crate) struct Requests {
    pub(crate) known: Handles<Operation>,
}

impl Requests {
    pub(crate) const fn new() -> Requests {
        Requests { known: Handles::new() }
    }

    /// Puts the operation of a request in its `place`, if there is one, as the request is about to be completed, perhaps. It
    /// is taken out before the call: as soon as MPI has completed it, another thread may be given its handle for a new one.
    #[inline]
    pub(crate) fn take(&self, handle: usize, place: &mut Option<Operation>) {
        self.known.take(handle, |operation| {
            *place = Some(*operation);
            match operation.kind {
                _ if operation.is_persistent => Fate::Kept,
                // Requests of messages have pools in both MPIs.
                Kind::Send | Kind::Receive => Fate::Away,
                _ => Fate::Removed,
            }
        });
    }

    /// Puts an operation back that is not complete.
    #[inline]
    pub(crate) fn put_back(&self, handle: usize, operation: Operation) {
        if !operation.is_persistent {
            self.known.insert(handle, operation);
        }
    }
}

/// A request is complete: records what that means, at the time that the MPI library returned.
pub(crate) fn complete(call: &mut Call, handle: usize, done: &Operation, status: Status) {
    let process = call.thread.process;
    if !done.is_active {
        return;
    }
    if done.is_persistent
        && let Some(operation) = process.requests.known.find(handle)
    {
        operation.is_active = false;
    }
    let time = call.end();
    let scope = u64::from(done.scope);
    if status.is_cancelled && matches!(done.kind, Kind::Send | Kind::Receive) {
        if done.is_recorded {
            call.thread
                .events
                .record_anyway(|events| record::mpi_request_cancelled(events, time, done.number));
        } else if done.kind == Kind::Send {
            // It was counted, and later ones in the trace may have been told of it.
            gaps::lose(call.thread);
        }
        return;
    }
    let events = &mut call.thread.events;
    match done.kind {
        Kind::Send if done.is_recorded => {
            events.record_anyway(|events| record::mpi_isend_complete(events, time, done.number));
        }
        Kind::Send => {}
        Kind::Receive => {
            // A receive from MPI_PROC_NULL is never kept, so there is a sender.
            let (sender, tag) = (status.source as u32, status.tag as u32);
            let channel = Channel::From(done.scope, sender, tag);
            gaps::received(call.thread, channel, done.posting(), time, |events| {
                record::mpi_irecv(events, time, sender.into(), scope, tag.into(), status.bytes, done.number);
            });
        }
        Kind::Collective(operation) => record::non_blocking_collective_complete(
            events,
            time,
            operation,
            scope,
            done.peer,
            done.bytes,
            done.received,
            done.number,
        ),
        Kind::OneSided => record::rma_complete_non_blocking(events, time, scope, done.number),
        Kind::File => record::io_complete(events, time, scope, status.bytes, done.number),
        Kind::Duplicate => crate::hooks::communicators::duplicated(call, done, time),
    }
}

/// A request was tested and is not complete.
pub(crate) fn incomplete(call: &mut Call, operation: &Operation) {
    if !operation.is_active || !operation.is_recorded || call.is_quiet() {
        return;
    }
    let time = call.end();
    let events = &mut call.thread.events;
    let (number, scope) = (operation.number, u64::from(operation.scope));
    match operation.kind {
        Kind::Send | Kind::Receive | Kind::Collective(_) => record::mpi_request_test(events, time, number),
        Kind::OneSided => record::rma_test(events, time, scope, number),
        Kind::File => record::io_test(events, time, scope, number),
        Kind::Duplicate => {}
    }
}
