//! Sends and receives with one request (MPI 4.0, 3.11): in the trace these are two requests, which are complete at
//! once.

use crate::call::Call;
use crate::channels::Channel;
use crate::gaps;
use crate::hooks::requests::{keep, receiving, sending, started};
use crate::mpi::{STATUS_BYTES, Status, status_at};
use crate::next::symbol;
use crate::process::Process;
use crate::record;
use crate::requests::{Operation, OperationKind};
use crate::wrappers::Arguments;

/// `MPI_Isendrecv`: (buffer, count, type, destination, tag, buffer, count, type, source, tag, communicator, request).
pub(crate) fn exchange(
    call: &mut Call,
    arguments: Arguments<12>,
    real: impl FnOnce([usize; 12]) -> usize,
) -> usize {
    let [_, count, kind, destination, tag, _, room, room_kind, source, source_tag, communicator, request] =
        arguments.values;
    let sent = [0, count, kind, destination, tag, communicator, 0];
    let received = [0, room, room_kind, source, source_tag, communicator, 0];
    start(call, (sent, received), request, || real(arguments.values))
}

/// `MPI_Isendrecv_replace`: (buffer, count, type, destination, tag, source, tag, communicator, request).
pub(crate) fn replace(
    call: &mut Call,
    arguments: Arguments<9>,
    real: impl FnOnce([usize; 9]) -> usize,
) -> usize {
    let [_, count, kind, destination, tag, source, source_tag, communicator, request] = arguments.values;
    let sent = [0, count, kind, destination, tag, communicator, 0];
    let received = [0, count, kind, source, source_tag, communicator, 0];
    start(call, (sent, received), request, || real(arguments.values))
}

/// Makes a call that starts both operations; their arguments are those of `MPI_Isend` and `MPI_Irecv`.
fn start(
    call: &mut Call,
    (sent, received): ([usize; 7], [usize; 7]),
    request: usize,
    real: impl FnOnce() -> usize,
) -> usize {
    let process = call.thread.process;
    let send = sending(call, &sent);
    let mut receive = receiving(call, &received);
    // Without a destination it is a receive as any other.
    let is_unknown = |receive: &Operation| send.is_some() && receive.source().is_none() && !are_told(process);
    let is_lost = receive.as_ref().is_some_and(is_unknown);
    if is_lost {
        receive = None;
    }
    for operation in [&send, &receive].into_iter().flatten() {
        started(call, operation);
    }
    let operation = match (send, receive) {
        (Some(send), Some(receive)) => Some(Operation {
            kind: OperationKind::SendReceive,
            bytes: process.mpi.bytes(received[1] as i64, received[2]),
            received: receive.number,
            peer: receive.peer,
            tag: receive.tag,
            ..send
        }),
        (one, other) => one.or(other),
    };
    let result = real();
    call.end();
    if is_lost {
        let begin = call.begin();
        gaps::abandoned(&mut call.thread, None, begin);
    }
    keep(call, operation, request, result);
    result
}

/// Records that both operations are complete.
pub(crate) fn complete(call: &mut Call, done: &Operation, status: Status, time: u64) {
    let Operation { number: send, received: receive, scope, .. } = *done;
    if done.is_recorded {
        call.thread.events.record_anyway(|events| record::mpi_isend_complete(events, time, send));
    }
    let (sender, tag, bytes) = if are_told(call.thread.process) {
        (status.source as u32, status.tag as u32, status.bytes)
    } else {
        (done.peer, done.tag, done.bytes)
    };
    let channel = Channel::From(scope, sender, tag);
    gaps::received(&mut call.thread, channel, done.posting(), time, |events| {
        record::mpi_irecv(events, time, sender.into(), scope.into(), tag.into(), bytes, receive);
    });
}

/// Whether the MPI library tells of the message that such a request has received. MPICH 4.0 does not: the status is
/// what an earlier request has left. Where it is not told, the message is taken to be as long as it may be, and of a
/// receive with wildcards nothing is known. The process asks once, with a message to itself.
fn are_told(process: &Process) -> bool {
    *process.tells_exchanges.get_or_init(|| asked(process).unwrap_or(false))
}

fn asked(process: &Process) -> Option<bool> {
    /// Bytes and tag of the message, unlike those that a status is likely to have from before.
    const BYTES: usize = 7;
    const TAG: i32 = 29_173;
    type Exchange = unsafe extern "C" fn(
        *const u8,
        i32,
        usize,
        i32,
        i32,
        *mut u8,
        i32,
        usize,
        i32,
        i32,
        usize,
        *mut usize,
    ) -> i32;
    type Wait = unsafe extern "C" fn(*mut usize, *mut u8) -> i32;
    let (exchange, wait) = (symbol(c"PMPI_Isendrecv")?, symbol(c"PMPI_Wait")?);
    let (mpi, rank, communicator) = (&process.mpi, process.rank as i32, process.communicator()?);
    let (sent, mut received) = ([0u8; BYTES], [0u8; BYTES]);
    // In integers, so that it is aligned.
    let mut status = [0u64; STATUS_BYTES / 8];
    let mut request = 0;
    // SAFETY: the symbols are the functions of these names, with the parameters that MPI 4.0 fixes; the buffers have
    // as many bytes, and live until the request is complete; request and status are writable and large enough. Nobody
    // else sends messages with this tag on the recorder's communicator, of which the process has this rank.
    unsafe {
        let exchange = std::mem::transmute::<usize, Exchange>(exchange);
        let wait = std::mem::transmute::<usize, Wait>(wait);
        let count = BYTES as i32;
        let failed = exchange(
            sent.as_ptr(),
            count,
            mpi.byte,
            rank,
            TAG,
            received.as_mut_ptr(),
            count,
            mpi.byte,
            rank,
            TAG,
            communicator,
            &mut request,
        );
        if failed != 0 || wait(&mut request, status.as_mut_ptr().cast()) != 0 {
            return None;
        }
        let told = status_at(status.as_ptr() as usize, 0);
        Some((told.source, told.tag, told.bytes) == (rank, TAG, BYTES as u64))
    }
}
