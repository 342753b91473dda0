//! Partitioned communication (MPI 4.0, chapter 4). A message whose parts the sender makes ready one by one, each from
//! whatever thread, is sent when the last one is ready. Both sides have persistent requests, which are matched in the
//! order in which they were initialized, and never with requests of other kinds: so messages of each pair have a
//! number of their own, in an attribute.

use recording::attributes::{PARTITIONED, UINT32};

use crate::call::Call;
use crate::channels::Channel;
use crate::gaps;
use crate::hooks::requests::keep_persistent;
use crate::mpi::proc_null;
use crate::record;
use crate::requests::{Operation, OperationKind};
use crate::wrappers::Arguments;

/// `MPI_Psend_init`: (buffer, partitions, count, type, destination, tag, communicator, info, request).
pub(crate) fn send_init(
    call: &mut Call,
    arguments: Arguments<9>,
    real: impl FnOnce([usize; 9]) -> usize,
) -> usize {
    initialize(call, arguments, OperationKind::PartitionedSend, Channel::PartitionedTo, real)
}

/// `MPI_Precv_init`: (buffer, partitions, count, type, source, tag, communicator, info, request).
pub(crate) fn receive_init(
    call: &mut Call,
    arguments: Arguments<9>,
    real: impl FnOnce([usize; 9]) -> usize,
) -> usize {
    initialize(call, arguments, OperationKind::PartitionedReceive, Channel::PartitionedFrom, real)
}

/// `MPI_Pready`: (partition, request).
pub(crate) fn ready(
    call: &mut Call,
    arguments: Arguments<2>,
    real: impl FnOnce([usize; 2]) -> usize,
) -> usize {
    make_ready(call, arguments.values[1], 1);
    real(arguments.values)
}

/// `MPI_Pready_range`: (first, last, request).
pub(crate) fn ready_range(
    call: &mut Call,
    arguments: Arguments<3>,
    real: impl FnOnce([usize; 3]) -> usize,
) -> usize {
    let [first, last, request] = arguments.values;
    make_ready(call, request, (last as i32).saturating_sub(first as i32).saturating_add(1));
    real(arguments.values)
}

/// `MPI_Pready_list`: (count, partitions, request).
pub(crate) fn ready_list(
    call: &mut Call,
    arguments: Arguments<3>,
    real: impl FnOnce([usize; 3]) -> usize,
) -> usize {
    let [count, _, request] = arguments.values;
    make_ready(call, request, count as i32);
    real(arguments.values)
}

/// Makes a call that initializes a request. Its number is the same on both sides if both count those that succeed.
fn initialize(
    call: &mut Call,
    arguments: Arguments<9>,
    kind: OperationKind,
    channel: impl FnOnce(u32, u32, u32, u32) -> Channel,
    real: impl FnOnce([usize; 9]) -> usize,
) -> usize {
    let [_, partitions, count, datatype, peer, tag, communicator, _, request] = arguments.values;
    let result = real(arguments.values);
    let process = call.thread.process;
    let known = process.communicators.find(communicator).filter(|_| result as i32 == 0);
    let Some(communicator) = known.filter(|_| peer as i32 != proc_null()) else { return result };
    let (scope, peer, tag) = (communicator.number(), peer as u32, tag as u32);
    let partitions = partitions as i64;
    let operation = Operation {
        peer,
        tag,
        bytes: process.mpi.bytes((count as i64).saturating_mul(partitions), datatype),
        received: partitions as u64,
        persistent: process.partitions.next_of(channel(scope, peer, tag, 0)),
        ..Operation::new(kind, scope, 0)
    };
    keep_persistent(call, Some(operation), request, result);
    result
}

/// Records that a message is sent, if so many more partitions are the last ones.
fn make_ready(call: &mut Call, request: usize, count: i32) {
    let process = call.thread.process;
    if !process.partitions.ready(request, count.max(0) as u32) {
        return;
    }
    // SAFETY: the request is active, as partitions of it were left, and can only be completed behind this call: nobody
    // changes its operation meanwhile.
    let Some(operation) = (unsafe { process.requests.look(request) }) else { return };
    let Operation { scope, peer, tag, bytes, number, persistent, .. } = operation;
    process.partitions.set_recorded(request, !call.thread.events.is_muted());
    let missing = gaps::begin(&mut call.thread, Channel::PartitionedTo(scope, peer, tag, persistent));
    let (time, events) = (call.begin(), &mut call.thread.events);
    gaps::report_with(events, time, missing, [(PARTITIONED, UINT32, persistent.into())]);
    record::mpi_isend(events, time, peer.into(), scope.into(), tag.into(), bytes, number);
}

/// Records that a partitioned send is complete, if it is in the trace.
pub(crate) fn sent(call: &mut Call, request: usize, done: &Operation, time: u64) {
    if call.thread.process.partitions.is_recorded(request) {
        call.thread.events.record_anyway(|events| record::mpi_isend_complete(events, time, done.number));
    }
}

/// Records that a partitioned message has been received: both sides have the same length (MPI 4.0, 4.2.1).
pub(crate) fn received(call: &mut Call, done: &Operation, time: u64) {
    let Operation { scope, peer, tag, bytes, number, persistent, .. } = *done;
    let channel = Channel::PartitionedFrom(scope, peer, tag, persistent);
    let told = (PARTITIONED, UINT32, persistent.into());
    gaps::received_with(&mut call.thread, channel, done.posting(), time, told, |events| {
        record::mpi_irecv(events, time, peer.into(), scope.into(), tag.into(), bytes, number);
    });
}
