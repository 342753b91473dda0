//! Messages (MPI 4.0, chapter 3).

use crate::call::Call;
use crate::channels::Channel;
use crate::gaps::{self, Posting};
use crate::mpi::{self, STATUS_BYTES, Status, is_status_ignore, proc_null, status_at};
use crate::record;
use crate::wrappers::Arguments;

/// `MPI_Send`, `Bsend`, `Rsend`, `Ssend`: (buffer, count, type, destination, tag, communicator).
#[inline]
pub(crate) fn send(
    call: &mut Call,
    arguments: Arguments<6>,
    real: impl FnOnce([usize; 6]) -> usize,
) -> usize {
    let [_, count, datatype, destination, tag, communicator] = arguments.values;
    sent(call, (count, datatype), (destination, tag), communicator);
    real(arguments.values)
}

/// `MPI_Recv`: (buffer, count, type, source, tag, communicator, status).
#[inline]
pub(crate) fn receive(
    call: &mut Call,
    arguments: Arguments<7>,
    real: impl FnOnce([usize; 7]) -> usize,
) -> usize {
    let mut values = arguments.values;
    ensure_status(call, &mut values[6]);
    let result = real(values);
    call.end();
    if result as i32 == 0 {
        received(call, values[3], values[5], values[6]);
    }
    result
}

/// `MPI_Sendrecv`: (buffer, count, type, destination, tag, buffer, count, type, source, tag, communicator,
/// status).
#[inline]
pub(crate) fn send_receive(
    call: &mut Call,
    arguments: Arguments<12>,
    real: impl FnOnce([usize; 12]) -> usize,
) -> usize {
    let mut values = arguments.values;
    sent(call, (values[1], values[2]), (values[3], values[4]), values[10]);
    ensure_status(call, &mut values[11]);
    let result = real(values);
    call.end();
    if result as i32 == 0 {
        received(call, values[8], values[10], values[11]);
    }
    result
}

/// `MPI_Sendrecv_replace`: (buffer, count, type, destination, tag, source, tag, communicator, status).
#[inline]
pub(crate) fn send_receive_replace(
    call: &mut Call,
    arguments: Arguments<9>,
    real: impl FnOnce([usize; 9]) -> usize,
) -> usize {
    let mut values = arguments.values;
    sent(call, (values[1], values[2]), (values[3], values[4]), values[7]);
    ensure_status(call, &mut values[8]);
    let result = real(values);
    call.end();
    if result as i32 == 0 {
        received(call, values[5], values[7], values[8]);
    }
    result
}

/// `MPI_Mrecv`: (buffer, count, type, message, status). The status has the source, but only the probe knew
/// the communicator: it has been kept for the message.
pub(crate) fn matched_receive(
    call: &mut Call,
    arguments: Arguments<5>,
    real: impl FnOnce([usize; 5]) -> usize,
) -> usize {
    let mut values = arguments.values;
    // SAFETY: the program passes the address of its handle, and no other thread receives this message.
    let probed = unsafe { call.thread.process.requests.remove(mpi::handle_at(values[3], 0)) };
    ensure_status(call, &mut values[4]);
    let result = real(values);
    let time = call.end();
    if let Some(probed) = probed.filter(|_| result as i32 == 0) {
        // SAFETY: the call has succeeded, so it has set the status.
        let status = unsafe { status_at(values[4], 0) };
        let posting = Posting { time: probed.begin, is_recorded: !call.thread.events.is_muted() };
        record_receive(call, probed.scope, &status, posting, time);
    }
    result
}

/// Records a message that is sent to a rank.
#[inline]
fn sent(
    call: &mut Call,
    (count, datatype): (usize, usize),
    (destination, tag): (usize, usize),
    communicator: usize,
) {
    let process = call.thread.process;
    if destination as i32 == proc_null() {
        return;
    }
    let Some(communicator) = process.communicators.find(communicator) else { return };
    let bytes = process.mpi.bytes(count as i64, datatype);
    let (rank, number, tag) = (destination as u32, communicator.number(), tag as u32);
    let missing = gaps::begin(&mut call.thread, Channel::To(number, rank, tag));
    let (time, events) = (call.begin(), &mut call.thread.events);
    gaps::report(events, time, missing);
    record::mpi_send(events, time, rank.into(), number.into(), tag.into(), bytes);
}

/// Records a message that has been received, by the status at that address.
#[inline]
fn received(call: &mut Call, source: usize, communicator: usize, status: usize) {
    let process = call.thread.process;
    if source as i32 == proc_null() {
        return;
    }
    let Some(communicator) = process.communicators.find(communicator) else { return };
    let time = call.end();
    // SAFETY: the call has succeeded, so it has set the status.
    let status = unsafe { status_at(status, 0) };
    if status.source == proc_null() {
        return;
    }
    let is_recorded = !call.thread.events.is_muted();
    let posting = Posting { time: call.begin(), is_recorded };
    record_receive(call, communicator.number(), &status, posting, time);
}

/// Records a message that a blocking call has received.
#[inline]
fn record_receive(call: &mut Call, communicator: u32, status: &Status, posting: Posting, time: u64) {
    let (source, tag, bytes) = (status.source as u32, status.tag as u32, status.bytes);
    gaps::received(&mut call.thread, Channel::From(communicator, source, tag), posting, time, |events| {
        record::mpi_recv(events, time, source.into(), communicator.into(), tag.into(), bytes);
    });
}

/// Makes sure that there is a status: one of ours if the program wants none.
#[inline]
pub(crate) fn ensure_status(call: &mut Call, status: &mut usize) {
    ensure_statuses(call, status, 1);
}

/// Makes sure that there is an array of statuses.
#[inline]
pub(crate) fn ensure_statuses(call: &mut Call, statuses: &mut usize, count: usize) {
    if is_status_ignore(*statuses) {
        *statuses = call.thread.statuses.address(count.max(1) * STATUS_BYTES);
    }
}
