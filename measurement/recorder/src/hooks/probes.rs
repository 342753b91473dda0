//! Probes (MPI 4.0, 3.8). There is no record of them: what a probe has found is in attributes of the leave
//! record, which comes next. A probe that has found nothing has none, nor has one of `MPI_PROC_NULL`.

use recording::attributes::{COMM, PROBE_COMM, PROBE_SOURCE, PROBE_TAG, UINT32};

use crate::call::Call;
use crate::hooks::point_to_point::ensure_status;
use crate::mpi::{handle_at, proc_null, status_at};
use crate::requests::{Operation, OperationKind};
use crate::wrappers::Arguments;

/// `MPI_Probe`: (source, tag, communicator, status).
pub(crate) fn probe(
    call: &mut Call,
    arguments: Arguments<4>,
    real: impl FnOnce([usize; 4]) -> usize,
) -> usize {
    let mut values = arguments.values;
    ensure_status(call, &mut values[3]);
    let result = real(values);
    call.end();
    if result as i32 == 0 {
        found(call, values[2], values[3]);
    }
    result
}

/// `MPI_Iprobe`: (source, tag, communicator, flag, status).
pub(crate) fn test(
    call: &mut Call,
    arguments: Arguments<5>,
    real: impl FnOnce([usize; 5]) -> usize,
) -> usize {
    let mut values = arguments.values;
    ensure_status(call, &mut values[4]);
    let result = real(values);
    call.end();
    // SAFETY: the call has succeeded, so it has set the flag.
    if result as i32 == 0 && unsafe { *(values[3] as *const i32) } != 0 {
        found(call, values[2], values[4]);
    }
    result
}

/// `MPI_Mprobe`: (source, tag, communicator, message, status).
pub(crate) fn matched_probe(
    call: &mut Call,
    arguments: Arguments<5>,
    real: impl FnOnce([usize; 5]) -> usize,
) -> usize {
    let mut values = arguments.values;
    ensure_status(call, &mut values[4]);
    let result = real(values);
    call.end();
    if result as i32 == 0 {
        matched(call, values[2], values[3], values[4]);
    }
    result
}

/// `MPI_Improbe`: (source, tag, communicator, flag, message, status).
pub(crate) fn matched_test(
    call: &mut Call,
    arguments: Arguments<6>,
    real: impl FnOnce([usize; 6]) -> usize,
) -> usize {
    let mut values = arguments.values;
    ensure_status(call, &mut values[5]);
    let result = real(values);
    call.end();
    // SAFETY: the call has succeeded, so it has set the flag.
    if result as i32 == 0 && unsafe { *(values[3] as *const i32) } != 0 {
        matched(call, values[2], values[4], values[5]);
    }
    result
}

/// Keeps the message that a matched probe has found, as only the probe knows its communicator.
fn matched(call: &mut Call, communicator: usize, message: usize, status: usize) {
    let process = call.thread.process;
    // SAFETY: the call has succeeded, so it has set the handle.
    let message = unsafe { handle_at(message, 0) };
    if let Some(known) = process.communicators.find(communicator)
        && message != process.mpi.message_no_proc
    {
        let begin = call.begin();
        let probed = Operation { begin, ..Operation::new(OperationKind::Receive, known.number(), 0) };
        // SAFETY: the message is new, so no other thread uses its handle.
        unsafe { process.requests.keep(message, probed) };
        found(call, communicator, status);
    }
}

/// Adds the message that was found, by the status at that address, to the next record, which is the leave.
#[inline]
fn found(call: &mut Call, communicator: usize, status: usize) {
    let known = call.thread.process.communicators.find(communicator);
    let Some(communicator) = known.filter(|_| status != 0) else { return };
    // SAFETY: the call has found a message, so it has set the status.
    let status = unsafe { status_at(status, 0) };
    if status.source != proc_null() {
        let list = [
            (PROBE_SOURCE, UINT32, u64::from(status.source as u32)),
            (PROBE_TAG, UINT32, u64::from(status.tag as u32)),
            (PROBE_COMM, COMM, u64::from(communicator.number())),
        ];
        let time = call.end();
        call.thread.events.attributes(time, &list);
    }
}
