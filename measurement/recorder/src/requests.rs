//! Requests: what each will complete.

use model::CollectiveOp;

use crate::call::Call;
use crate::channels::Channel;
use crate::gaps::{self, Posting};
use crate::handles::{Fate, Handles, Owned};
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
        self.begin = call.begin();
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

/// All requests of the process, and the messages that matched probes have found.
///
/// What a request stands for belongs to the call that is made on it: of a correct program there is one at a time. Threads
/// may not complete one request together (MPI 4.0, 11.6.2), and that one thread may ask for the status of a request that
/// another one completes is nowhere said.
pub(crate) struct Requests {
    known: Handles<Owned<Operation>>,
}

impl Requests {
    pub(crate) const fn new() -> Requests {
        Requests { known: Handles::new() }
    }

    /// Puts the operation of a request in its `place`, if there is one, as the request is about to be completed, perhaps. It
    /// is taken out before the call: as soon as MPI has completed it, another thread may be given its handle for a new one.
    ///
    /// # Safety
    /// No other thread makes a call on the request.
    #[inline]
    pub(crate) unsafe fn take(&self, handle: usize, place: &mut Option<Operation>) {
        self.known.take(handle, |known| {
            // SAFETY: by the caller; a request that is found has been kept.
            let operation = place.insert(unsafe { known.get() });
            match operation.kind {
                _ if operation.is_persistent => Fate::Kept,
                // Requests of messages have pools in both MPIs.
                Kind::Send | Kind::Receive => Fate::Away,
                _ => Fate::Removed,
            }
        });
    }

    /// Keeps the operation of a request, until it is taken or removed.
    ///
    /// # Safety
    /// No other thread makes a call on the request.
    #[inline]
    pub(crate) unsafe fn keep(&self, handle: usize, operation: Operation) {
        // SAFETY: by the caller.
        self.known.insert(handle, |known| unsafe { known.set(operation) });
    }

    /// Puts an operation back that is not complete.
    ///
    /// # Safety
    /// No other thread makes a call on the request.
    #[inline]
    pub(crate) unsafe fn put_back(&self, handle: usize, operation: Operation) {
        if !operation.is_persistent {
            // SAFETY: by the caller.
            unsafe { self.keep(handle, operation) };
        }
    }

    /// The operation of a request that stays.
    ///
    /// # Safety
    /// No other thread makes a call on the request, unless it also looks only.
    pub(crate) unsafe fn look(&self, handle: usize) -> Option<Operation> {
        // SAFETY: by the caller; a request that is found has been kept.
        self.known.find(handle).map(|known| unsafe { known.get() })
    }

    /// Changes the operation of a request; returns what `change` returns, `None` if the request is not known.
    ///
    /// # Safety
    /// No other thread makes a call on the request, and `change` uses no request.
    pub(crate) unsafe fn change<R>(
        &self,
        handle: usize,
        change: impl FnOnce(&mut Operation) -> R,
    ) -> Option<R> {
        // SAFETY: by the caller; a request that is found has been kept.
        self.known.find(handle).map(|known| unsafe { known.change(change) })
    }

    /// Forgets a request, which is not used any more; returns its operation.
    ///
    /// # Safety
    /// No other thread makes a call on the request.
    pub(crate) unsafe fn remove(&self, handle: usize) -> Option<Operation> {
        // SAFETY: by the caller; a request that is found has been kept.
        self.known.remove(handle, |known| unsafe { known.get() })
    }
}

/// A request is complete: records what that means, at the time that the MPI library returned.
///
/// # Safety
/// No other thread makes a call on the request.
pub(crate) unsafe fn complete(call: &mut Call, handle: usize, done: &Operation, status: Status) {
    let process = call.thread.process;
    if !done.is_active {
        return;
    }
    if done.is_persistent {
        // SAFETY: by the caller.
        unsafe { process.requests.change(handle, |operation| operation.is_active = false) };
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
            gaps::lose(&mut call.thread);
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
            gaps::received(&mut call.thread, channel, done.posting(), time, |events| {
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
