//! Requests, and the operations that they stand for.

use model::CollectiveOp;

use crate::call::Call;
use crate::channels::Channel;
use crate::gaps::{self, Posting};
use crate::handles::{Fate, Handles, Owned};
use crate::hooks::{communicators, exchanges, partitioned};
use crate::mpi::Status;
use crate::neighborhoods::NeighborGroups;
use crate::record;
use crate::volumes::ROOT_NONE;

/// The kind of operation of a request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OperationKind {
    Send,
    Receive,
    /// A send and a receive.
    SendReceive,
    /// A send that starts when the last of its partitions is ready.
    PartitionedSend,
    PartitionedReceive,
    /// A non-blocking collective operation.
    Collective(CollectiveOp),
    /// A non-blocking collective operation among neighbours.
    Neighborhood(CollectiveOp),
    /// A one-sided operation on a window that changes data there.
    OneSided,
    /// A one-sided operation that fetches data.
    OneSidedGet,
    /// A transfer of a file.
    File,
    /// A communicator that is being duplicated, a non-blocking collective operation: the duplicate is created
    /// when the request is complete.
    Duplicate,
}

/// The operation of a request.
#[derive(Clone, Copy)]
pub(crate) struct Operation {
    pub(crate) kind: OperationKind,
    /// The number of the request in the trace, a new one whenever a persistent one is started; of files and
    /// windows the matching number.
    pub(crate) number: u64,
    /// Number of the communicator, window or file handle.
    pub(crate) scope: u32,
    /// Rank of the partner, or the root. Of a receive it may be `MPI_ANY_SOURCE`, and the tag `MPI_ANY_TAG`:
    /// negative numbers; of a send and a receive these are the receive's. Of an operation among neighbours these
    /// are the numbers of their groups: those that the process receives from, and those that it sends to.
    pub(crate) peer: u32,
    pub(crate) tag: u32,
    /// When it was started; for a message that a matched probe has found, when the probe started.
    pub(crate) begin: u64,
    /// Whether the start is in the trace.
    pub(crate) is_recorded: bool,
    /// Bytes that are sent; of a send and a receive the most that are received; of a partitioned message its length;
    /// of a duplicate its handle.
    pub(crate) bytes: u64,
    /// Bytes that are received, where that is known beforehand; for a duplicate, its origin; of a send and a receive
    /// the receive's number; of a partitioned message the number of its partitions.
    pub(crate) received: u64,
    /// Number of a persistent collective operation among those that were initialized on its communicator; of a
    /// partitioned message among those of its channel.
    pub(crate) persistent: u32,
    pub(crate) is_persistent: bool,
    /// Whether it has been started and not completed.
    pub(crate) is_active: bool,
}

impl Operation {
    /// Creates an operation with its kind, its scope and its number only; active, in the trace.
    pub(crate) fn new(kind: OperationKind, scope: u32, number: u64) -> Operation {
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
            persistent: 0,
            is_persistent: false,
            is_active: true,
        }
    }

    /// Notes that it starts in a call.
    #[inline]
    pub(crate) fn start(&mut self, call: &Call) {
        self.begin = call.begin();
        self.is_recorded = !call.thread.events.is_muted();
    }

    /// Returns its posting, if it is a receive.
    pub(crate) fn posting(&self) -> Posting {
        Posting { time: self.begin, is_recorded: self.is_recorded }
    }

    /// Returns the channel of a receive, unless source or tag are wildcards.
    pub(crate) fn source(&self) -> Option<Channel> {
        let is_any = (self.peer as i32) < 0 || (self.tag as i32) < 0;
        (!is_any).then_some(Channel::From(self.scope, self.peer, self.tag))
    }
}

/// All requests of the process, and the messages that matched probes have found.
///
/// The operation of a request belongs to the call that is made on it: in a correct program there is one at a
/// time. Threads may not complete one request together (MPI 4.0, 11.6.2), and nothing permits a thread to get
/// the status of a request that another one completes.
pub(crate) struct Requests {
    known: Handles<Owned<Operation>>,
}

impl Requests {
    pub(crate) const fn new() -> Requests {
        Requests { known: Handles::new() }
    }

    /// Copies the operation of a request to `place`, if there is one, because the request is about to be
    /// completed, perhaps. It is taken out before the call: as soon as MPI has completed it, another thread
    /// may get its handle for a new one.
    ///
    /// # Safety
    /// No other thread makes a call on the request.
    #[inline]
    pub(crate) unsafe fn take(&self, handle: usize, place: &mut Option<Operation>) {
        self.known.take(handle, |known| {
            // SAFETY: the caller guarantees it; a request that is found has a value.
            let operation = place.insert(unsafe { known.get() });
            match operation.kind {
                _ if operation.is_persistent => Fate::Kept,
                // Requests of messages come from pools in both MPIs.
                OperationKind::Send | OperationKind::Receive | OperationKind::SendReceive => Fate::Away,
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
        // SAFETY: the caller guarantees it.
        self.known.insert(handle, |known| unsafe { known.set(operation) });
    }

    /// Puts back an operation that is not complete.
    ///
    /// # Safety
    /// No other thread makes a call on the request.
    #[inline]
    pub(crate) unsafe fn put_back(&self, handle: usize, operation: Operation) {
        if !operation.is_persistent {
            // SAFETY: the caller guarantees it.
            unsafe { self.keep(handle, operation) };
        }
    }

    /// Returns the operation of a request, which stays.
    ///
    /// # Safety
    /// No other thread makes a call on the request, unless that only looks as well.
    pub(crate) unsafe fn look(&self, handle: usize) -> Option<Operation> {
        // SAFETY: the caller guarantees it; a request that is found has a value.
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
        // SAFETY: the caller guarantees it; a request that is found has a value.
        self.known.find(handle).map(|known| unsafe { known.change(change) })
    }

    /// Removes a request, which is not used any more; returns its operation.
    ///
    /// # Safety
    /// No other thread makes a call on the request.
    pub(crate) unsafe fn remove(&self, handle: usize) -> Option<Operation> {
        // SAFETY: the caller guarantees it; a request that is found has a value.
        self.known.remove(handle, |known| unsafe { known.get() })
    }
}

/// Records the completion of a request, at the time that the MPI library returned.
///
/// # Safety
/// No other thread makes a call on the request.
pub(crate) unsafe fn complete(call: &mut Call, handle: usize, done: &Operation, status: Status) {
    let process = call.thread.process;
    if !done.is_active {
        return;
    }
    if done.is_persistent {
        // SAFETY: the caller guarantees it.
        unsafe { process.requests.change(handle, |operation| operation.is_active = false) };
    }
    let time = call.end();
    let scope = u64::from(done.scope);
    if status.is_cancelled && matches!(done.kind, OperationKind::Send | OperationKind::Receive) {
        if done.is_recorded {
            call.thread
                .events
                .record_anyway(|events| record::mpi_request_cancelled(events, time, done.number));
        } else if done.kind == OperationKind::Send {
            // It was counted, and later ones in the trace may have the count as an attribute.
            gaps::lose_count(&mut call.thread);
        }
        return;
    }
    let events = &mut call.thread.events;
    match done.kind {
        OperationKind::Send if done.is_recorded => {
            events.record_anyway(|events| record::mpi_isend_complete(events, time, done.number));
        }
        OperationKind::Send => {}
        OperationKind::Receive => {
            // A receive from MPI_PROC_NULL is never kept, so there is a sender.
            let (sender, tag) = (status.source as u32, status.tag as u32);
            let channel = Channel::From(done.scope, sender, tag);
            gaps::received(&mut call.thread, channel, done.posting(), time, |events| {
                record::mpi_irecv(events, time, sender.into(), scope, tag.into(), status.bytes, done.number);
            });
        }
        OperationKind::SendReceive => exchanges::complete(call, done, status, time),
        OperationKind::PartitionedSend => partitioned::sent(call, handle, done, time),
        OperationKind::PartitionedReceive => partitioned::received(call, done, time),
        OperationKind::Collective(operation) => record::non_blocking_collective_complete(
            events,
            time,
            operation,
            scope,
            done.peer,
            done.bytes,
            done.received,
            done.number,
        ),
        OperationKind::Neighborhood(operation) => {
            let groups = NeighborGroups { incoming: done.peer, outgoing: done.tag };
            events.attributes(time, &groups.attributes());
            record::non_blocking_collective_complete(
                events,
                time,
                operation,
                scope,
                ROOT_NONE,
                done.bytes,
                done.received,
                done.number,
            );
        }
        OperationKind::OneSided => record::rma_complete_non_blocking(events, time, scope, done.number),
        OperationKind::OneSidedGet => {
            record::rma_complete_non_blocking(events, time, scope, done.number);
            record::rma_complete_remote(events, time, scope, done.number);
        }
        OperationKind::File => record::io_complete(events, time, scope, status.bytes, done.number),
        OperationKind::Duplicate => communicators::duplicated(call, done, time),
    }
}

/// Records that a request was tested and is not complete.
pub(crate) fn incomplete(call: &mut Call, handle: usize, operation: &Operation) {
    if !operation.is_active || !operation.is_recorded || call.is_quiet() {
        return;
    }
    // As long as partitions are not ready, the trace has no request that could be tested.
    let is_sent = operation.kind != OperationKind::PartitionedSend
        || call.thread.process.partitions.is_recorded(handle);
    if !is_sent {
        return;
    }
    let time = call.end();
    let events = &mut call.thread.events;
    let (number, scope) = (operation.number, u64::from(operation.scope));
    match operation.kind {
        OperationKind::SendReceive => {
            record::mpi_request_test(events, time, number);
            record::mpi_request_test(events, time, operation.received);
        }
        OperationKind::Send
        | OperationKind::Receive
        | OperationKind::PartitionedSend
        | OperationKind::PartitionedReceive
        | OperationKind::Collective(_)
        | OperationKind::Neighborhood(_)
        | OperationKind::Duplicate => record::mpi_request_test(events, time, number),
        OperationKind::OneSided | OperationKind::OneSidedGet => record::rma_test(events, time, scope, number),
        OperationKind::File => record::io_test(events, time, scope, number),
    }
}
