//! Non-blocking and persistent operations, and their completion (MPI 4.0, 3.7 and 3.9).
//!
//! A call overwrites the handles of the requests that it completes, so their operations are taken out of the
//! table before it.

use recording::attributes::{PERSISTENT_OPERATION, UINT64};

use crate::call::Call;
use crate::channels::Channel;
use crate::gaps;
use crate::hooks::point_to_point::{ensure_status, ensure_statuses};
use crate::mpi::{Status, UNDEFINED, handle_at, proc_null, status_at};
use crate::record;
use crate::requests::{Operation, OperationKind, complete, incomplete};
use crate::wrappers::Arguments;

/// `MPI_Isend`, `Ibsend`, `Irsend`, `Issend`: (buffer, count, type, destination, tag, communicator, request).
#[inline]
pub(crate) fn send(
    call: &mut Call,
    arguments: Arguments<7>,
    real: impl FnOnce([usize; 7]) -> usize,
) -> usize {
    let operation = sending(call, &arguments.values);
    start_with(call, operation, arguments, real)
}

/// `MPI_Irecv`: (buffer, count, type, source, tag, communicator, request).
#[inline]
pub(crate) fn receive(
    call: &mut Call,
    arguments: Arguments<7>,
    real: impl FnOnce([usize; 7]) -> usize,
) -> usize {
    let operation = receiving(call, &arguments.values);
    start_with(call, operation, arguments, real)
}

/// `MPI_Imrecv`: (buffer, count, type, message, request).
pub(crate) fn matched_receive(
    call: &mut Call,
    arguments: Arguments<5>,
    real: impl FnOnce([usize; 5]) -> usize,
) -> usize {
    // SAFETY: the program passes the address of its handle, and no other thread receives this message.
    let probed = unsafe { call.thread.process.requests.remove(handle_at(arguments.values[3], 0)) };
    let is_recorded = !call.thread.events.is_muted();
    let operation =
        probed.map(|probed| Operation { number: call.thread.next_request(), is_recorded, ..probed });
    start_with(call, operation, arguments, real)
}

/// `MPI_Send_init`, `Bsend_init`, …: parameters as for `MPI_Isend`.
pub(crate) fn send_init(
    call: &mut Call,
    arguments: Arguments<7>,
    real: impl FnOnce([usize; 7]) -> usize,
) -> usize {
    let operation = sending(call, &arguments.values);
    let result = real(arguments.values);
    keep_persistent(call, operation, arguments.values[6], result);
    result
}

/// `MPI_Recv_init`: parameters as for `MPI_Irecv`.
pub(crate) fn receive_init(
    call: &mut Call,
    arguments: Arguments<7>,
    real: impl FnOnce([usize; 7]) -> usize,
) -> usize {
    let operation = receiving(call, &arguments.values);
    let result = real(arguments.values);
    keep_persistent(call, operation, arguments.values[6], result);
    result
}

/// `MPI_Start`: (request).
pub(crate) fn start(
    call: &mut Call,
    arguments: Arguments<1>,
    real: impl FnOnce([usize; 1]) -> usize,
) -> usize {
    restart(call, arguments.values[0], 1);
    real(arguments.values)
}

/// `MPI_Startall`: (count, requests).
pub(crate) fn start_all(
    call: &mut Call,
    arguments: Arguments<2>,
    real: impl FnOnce([usize; 2]) -> usize,
) -> usize {
    restart(call, arguments.values[1], arguments.values[0]);
    real(arguments.values)
}

/// `MPI_Wait`: (request, status).
#[inline]
pub(crate) fn wait(
    call: &mut Call,
    arguments: Arguments<2>,
    real: impl FnOnce([usize; 2]) -> usize,
) -> usize {
    let requests = RequestList { count: None, handles: 0, statuses: Statuses::Each(1) };
    completing(call, arguments, requests, real, |call, taken, values| taken.complete(call, 0, values[1], 0))
}

/// `MPI_Waitall`: (count, requests, statuses).
#[inline]
pub(crate) fn wait_all(
    call: &mut Call,
    arguments: Arguments<3>,
    real: impl FnOnce([usize; 3]) -> usize,
) -> usize {
    let requests = RequestList { count: Some(0), handles: 1, statuses: Statuses::Each(2) };
    completing(call, arguments, requests, real, |call, taken, values| taken.complete_all(call, values[2]))
}

/// `MPI_Waitany`: (count, requests, index, status).
pub(crate) fn wait_any(
    call: &mut Call,
    arguments: Arguments<4>,
    real: impl FnOnce([usize; 4]) -> usize,
) -> usize {
    let requests = RequestList { count: Some(0), handles: 1, statuses: Statuses::One(3) };
    completing(call, arguments, requests, real, |call, taken, values| {
        // SAFETY: the call has succeeded, so it has set the index.
        let index = unsafe { *(values[2] as *const i32) };
        taken.complete_one(call, index, values[3]);
    })
}

/// `MPI_Waitsome`, `MPI_Testsome`: (count, requests, completed, indices, statuses).
pub(crate) fn some(
    call: &mut Call,
    arguments: Arguments<5>,
    real: impl FnOnce([usize; 5]) -> usize,
) -> usize {
    let requests = RequestList { count: Some(0), handles: 1, statuses: Statuses::Completed(4) };
    completing(call, arguments, requests, real, |call, taken, values| {
        // SAFETY: the call has succeeded, so it has set the number of completed requests, and their indices.
        let done = unsafe { *(values[2] as *const i32) };
        for at in 0..done.max(0) as usize {
            // SAFETY: as above.
            let index = unsafe { *(values[3] as *const i32).add(at) } as usize;
            taken.complete(call, index, values[4], at);
        }
        if done == 0 {
            taken.incomplete(call);
        }
        taken.put_back(call);
    })
}

/// `MPI_Test`: (request, flag, status).
pub(crate) fn test(
    call: &mut Call,
    arguments: Arguments<3>,
    real: impl FnOnce([usize; 3]) -> usize,
) -> usize {
    let requests = RequestList { count: None, handles: 0, statuses: Statuses::Each(2) };
    completing(call, arguments, requests, real, |call, taken, values| {
        // SAFETY: the call has succeeded, so it has set the flag.
        match unsafe { *(values[1] as *const i32) } {
            0 => taken.incomplete(call),
            _ => taken.complete(call, 0, values[2], 0),
        }
        taken.put_back(call);
    })
}

/// `MPI_Testall`: (count, requests, flag, statuses).
pub(crate) fn test_all(
    call: &mut Call,
    arguments: Arguments<4>,
    real: impl FnOnce([usize; 4]) -> usize,
) -> usize {
    let requests = RequestList { count: Some(0), handles: 1, statuses: Statuses::Each(3) };
    completing(call, arguments, requests, real, |call, taken, values| {
        // SAFETY: the call has succeeded, so it has set the flag.
        match unsafe { *(values[2] as *const i32) } {
            0 => taken.incomplete(call),
            _ => taken.complete_all(call, values[3]),
        }
        taken.put_back(call);
    })
}

/// `MPI_Testany`: (count, requests, index, flag, status).
pub(crate) fn test_any(
    call: &mut Call,
    arguments: Arguments<5>,
    real: impl FnOnce([usize; 5]) -> usize,
) -> usize {
    let requests = RequestList { count: Some(0), handles: 1, statuses: Statuses::One(4) };
    completing(call, arguments, requests, real, |call, taken, values| {
        // SAFETY: the call has succeeded, so it has set index and flag.
        let (index, flag) = unsafe { (*(values[2] as *const i32), *(values[3] as *const i32)) };
        match flag {
            0 => {
                taken.incomplete(call);
                taken.put_back(call);
            }
            _ => taken.complete_one(call, index, values[4]),
        }
    })
}

/// `MPI_Request_get_status`: (request, flag, status). Reports completion without completing the request.
pub(crate) fn get_status(
    call: &mut Call,
    arguments: Arguments<3>,
    real: impl FnOnce([usize; 3]) -> usize,
) -> usize {
    let result = real(arguments.values);
    call.end();
    // SAFETY: the call has succeeded, so it has set the flag.
    if result as i32 == 0 && unsafe { *(arguments.values[1] as *const i32) } == 0 {
        // SAFETY: no other thread completes or starts the request meanwhile (MPI 4.0, 11.6).
        if let Some(operation) = unsafe { call.thread.process.requests.look(arguments.values[0]) } {
            incomplete(call, arguments.values[0], &operation);
        }
    }
    result
}

/// `MPI_Request_free`: (request). Its completion will not be reported to the program: in the trace a send
/// that is freed is complete, a receive cancelled.
pub(crate) fn free(
    call: &mut Call,
    arguments: Arguments<1>,
    real: impl FnOnce([usize; 1]) -> usize,
) -> usize {
    let process = call.thread.process;
    // SAFETY: the program passes the address of its handle.
    let handle = unsafe { handle_at(arguments.values[0], 0) };
    // SAFETY: no other thread uses the request any more.
    let freed = unsafe { process.requests.remove(handle) };
    if freed.is_some_and(|operation| operation.kind == OperationKind::PartitionedSend) {
        process.partitions.remove(handle);
    }
    let result = real(arguments.values);
    let time = call.end();
    let Some(operation) = freed.filter(|operation| operation.is_active) else { return result };
    let (sent, received) = match operation.kind {
        OperationKind::Send => (Some(operation.number), None),
        OperationKind::Receive => (None, Some(operation.number)),
        OperationKind::SendReceive => (Some(operation.number), Some(operation.received)),
        // To free an active request of another kind is an error (MPI 4.0, 3.7.3, 4.2, and 6.12).
        _ => return result,
    };
    if received.is_some() {
        gaps::abandoned(&mut call.thread, operation.source(), operation.begin);
    }
    if operation.is_recorded {
        call.thread.events.record_anyway(|events| {
            if let Some(send) = sent {
                record::mpi_isend_complete(events, time, send);
            }
            if let Some(receive) = received {
                record::mpi_request_cancelled(events, time, receive);
            }
        });
    }
    result
}

/// Positions of the requests and their statuses among the parameters of a call that may complete them.
struct RequestList {
    /// The number of requests; `None` for one.
    count: Option<usize>,
    /// The array of handles.
    handles: usize,
    statuses: Statuses,
}

/// Position of the status or the statuses of a call, and the requests that they belong to.
#[derive(Clone, Copy)]
enum Statuses {
    /// An array with one for each request, in their order.
    Each(usize),
    /// An array with one for each completed request, in the order of their indices.
    Completed(usize),
    /// That of the one request that is completed.
    One(usize),
}

/// Makes a call that may complete requests. `complete` is called if it has succeeded, with the values of the
/// parameters, and puts back what it does not complete.
#[inline]
fn completing<const N: usize>(
    call: &mut Call,
    arguments: Arguments<N>,
    list: RequestList,
    real: impl FnOnce([usize; N]) -> usize,
    complete: impl FnOnce(&mut Call, &mut TakenRequests, &[usize; N]),
) -> usize {
    let mut values = arguments.values;
    let count = list.count.map_or(1, |at| values[at]);
    let mut taken = TakenRequests::take(call, count, values[list.handles]);
    match list.statuses {
        Statuses::Each(at) | Statuses::Completed(at) => {
            ensure_statuses(call, &mut values[at], taken.count);
        }
        Statuses::One(at) => ensure_status(call, &mut values[at]),
    }
    let result = real(values);
    call.end();
    if result as i32 == 0 {
        complete(call, &mut taken, &values);
    } else {
        let statuses = if let Statuses::Each(at) = list.statuses { values[at] } else { 0 };
        taken.after_error(call, values[list.handles], statuses);
    }
    result
}

/// The operations of the requests that a call gets, taken out of the table before it.
struct TakenRequests {
    first: *mut (usize, Option<Operation>),
    count: usize,
}

impl TakenRequests {
    #[inline]
    fn take(call: &mut Call, count: usize, handles: usize) -> TakenRequests {
        let count = (count as i32).max(0) as usize;
        let room = call.thread.handles.address(count.max(1) * size_of::<(usize, Option<Operation>)>());
        let first = room as *mut (usize, Option<Operation>);
        if first.is_null() {
            return TakenRequests { first, count: 0 };
        }
        for at in 0..count {
            // SAFETY: the program passes so many handles, of requests that no other thread completes, and
            // there is room for so many entries.
            unsafe {
                let handle = handle_at(handles, at);
                let entry = first.add(at);
                entry.write((handle, None));
                call.thread.process.requests.take(handle, &mut (*entry).1);
            }
        }
        TakenRequests { first, count }
    }

    #[inline]
    fn entries(&mut self) -> &mut [(usize, Option<Operation>)] {
        if self.count == 0 {
            return &mut [];
        }
        // SAFETY: `take` has written so many elements; the memory is the thread's, and only this call uses
        // it.
        unsafe { std::slice::from_raw_parts_mut(self.first, self.count) }
    }

    /// Completes the request at `at`, by the status at `place` of `statuses`.
    #[inline]
    fn complete(&mut self, call: &mut Call, at: usize, statuses: usize, place: usize) {
        let Some((handle, taken)) = self.entries().get_mut(at).filter(|_| statuses != 0) else { return };
        if let Some(operation) = taken {
            // SAFETY: the call has succeeded, so it has set the status; no other thread completes the
            // request.
            unsafe { complete(call, *handle, operation, status_at(statuses, place)) };
            *taken = None;
        }
    }

    /// Completes the request with an index, if there is one, by the only status, and puts back the others.
    fn complete_one(&mut self, call: &mut Call, index: i32, status: usize) {
        if index != UNDEFINED {
            self.complete(call, index as usize, status, 0);
        }
        self.put_back(call);
    }

    #[inline]
    fn complete_all(&mut self, call: &mut Call, statuses: usize) {
        for at in 0..self.count {
            self.complete(call, at, statuses, at);
        }
    }

    /// Handles a call that has failed. Requests with overwritten handles are gone: if each has a status at
    /// `statuses`, they are complete; if only one status is known to be set, at no known place, `statuses` is
    /// 0. The others are put back.
    #[cold]
    fn after_error(&mut self, call: &mut Call, handles: usize, statuses: usize) {
        for at in 0..self.count {
            let Some(entry) = self.entries().get_mut(at) else { break };
            // SAFETY: the program passes so many handles.
            let is_gone = unsafe { handle_at(handles, at) } != entry.0;
            match entry.1.filter(|operation| is_gone && !operation.is_persistent) {
                Some(_) if statuses != 0 => self.complete(call, at, statuses, at),
                Some(_) => entry.1 = None,
                None => {}
            }
        }
        self.put_back(call);
    }

    fn incomplete(&mut self, call: &mut Call) {
        for (handle, operation) in self.entries() {
            if let Some(operation) = operation {
                incomplete(call, *handle, operation);
            }
        }
    }

    /// Puts back the operations that were not completed.
    fn put_back(&mut self, call: &mut Call) {
        for (handle, operation) in self.entries() {
            if let Some(operation) = operation.take() {
                // SAFETY: the request is the program's as before; no other thread completes it.
                unsafe { call.thread.process.requests.put_back(*handle, operation) };
            }
        }
    }
}

/// Makes a call that starts an operation, with the request as its last parameter.
#[inline]
fn start_with<const N: usize>(
    call: &mut Call,
    operation: Option<Operation>,
    arguments: Arguments<N>,
    real: impl FnOnce([usize; N]) -> usize,
) -> usize {
    if let Some(operation) = &operation {
        started(call, operation);
    }
    let result = real(arguments.values);
    keep(call, operation, arguments.values[N - 1], result);
    result
}

#[inline]
pub(crate) fn sending(
    call: &mut Call,
    [_, count, datatype, destination, tag, communicator, _]: &[usize; 7],
) -> Option<Operation> {
    let process = call.thread.process;
    if *destination as i32 == proc_null() {
        return None;
    }
    let communicator = process.communicators.find(*communicator)?;
    let number = call.thread.next_request();
    let mut operation = Operation {
        peer: *destination as u32,
        tag: *tag as u32,
        bytes: process.mpi.bytes(*count as i64, *datatype),
        ..Operation::new(OperationKind::Send, communicator.number(), number)
    };
    operation.start(call);
    Some(operation)
}

#[inline]
pub(crate) fn receiving(
    call: &mut Call,
    [_, _, _, source, tag, communicator, _]: &[usize; 7],
) -> Option<Operation> {
    let process = call.thread.process;
    if *source as i32 == proc_null() {
        return None;
    }
    let communicator = process.communicators.find(*communicator)?;
    let number = call.thread.next_request();
    let (peer, tag) = (*source as u32, *tag as u32);
    let mut operation =
        Operation { peer, tag, ..Operation::new(OperationKind::Receive, communicator.number(), number) };
    operation.start(call);
    Some(operation)
}

/// Records that an operation is started.
#[inline]
pub(crate) fn started(call: &mut Call, operation: &Operation) {
    let time = call.begin();
    match operation.kind {
        OperationKind::Send => {
            let Operation { scope, peer, tag, bytes, number, .. } = *operation;
            let missing = gaps::begin(&mut call.thread, Channel::To(scope, peer, tag));
            let events = &mut call.thread.events;
            gaps::report(events, time, missing);
            record::mpi_isend(events, time, peer.into(), scope.into(), tag.into(), bytes, number);
        }
        OperationKind::Receive | OperationKind::PartitionedReceive => {
            record::mpi_irecv_request(&mut call.thread.events, time, operation.number);
        }
        // Others than persistent ones record their start themselves.
        OperationKind::Collective(_) | OperationKind::Neighborhood(_) => {
            let events = &mut call.thread.events;
            events.attributes(time, &[(PERSISTENT_OPERATION, UINT64, operation.persistent.into())]);
            record::non_blocking_collective_request(events, time, operation.number);
        }
        _ => {}
    }
}

/// Keeps the operation of the request that the call has made. One that is complete already has a request that
/// it shares with others: its completion is recorded here, as its request can not be identified later.
#[inline]
pub(crate) fn keep(call: &mut Call, operation: Option<Operation>, request: usize, result: usize) {
    let Some(operation) = operation.filter(|_| result as i32 == 0) else { return };
    let process = call.thread.process;
    // SAFETY: the call has succeeded, so it has set the handle.
    let request = unsafe { handle_at(request, 0) };
    if !process.mpi.is_shared_request(request) {
        // SAFETY: the request is new, so no other thread uses it.
        unsafe { process.requests.keep(request, operation) };
    } else if operation.kind != OperationKind::Receive {
        // SAFETY: a shared request has no operation in the table, and no other thread changes that.
        unsafe { complete(call, request, &operation, Status::UNKNOWN) };
    }
}

/// Keeps the operation of a persistent request, which is inactive until it is started.
pub(crate) fn keep_persistent(call: &mut Call, operation: Option<Operation>, request: usize, result: usize) {
    let operation =
        operation.map(|operation| Operation { is_persistent: true, is_active: false, ..operation });
    keep(call, operation, request, result);
}

fn restart(call: &mut Call, requests: usize, count: usize) {
    for at in 0..(count as i32).max(0) as usize {
        // SAFETY: the program passes so many handles.
        let request = unsafe { handle_at(requests, at) };
        let number = call.thread.next_request();
        let restart = |operation: &mut Operation| {
            (operation.number, operation.is_active) = (number, true);
            operation.start(call);
            *operation
        };
        // SAFETY: no other thread starts or completes the request meanwhile (MPI 4.0, 11.6).
        let operation = unsafe { call.thread.process.requests.change(request, restart) };
        if let Some(operation) = operation {
            if operation.kind == OperationKind::PartitionedSend {
                call.thread.process.partitions.start(request, operation.received as u32);
            }
            started(call, &operation);
        }
    }
}
