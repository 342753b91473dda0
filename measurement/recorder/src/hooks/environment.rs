//! Start and end of MPI (MPI 4.0, chapter 11).

use model::CollectiveOp;

use crate::call::Call;
use crate::communicators::{MYSELF, WORLD};
use crate::energy;
use crate::iterations;
use crate::record;
use crate::synchronize;
use crate::volumes::ROOT_NONE;
use crate::wrappers::Arguments;

/// `MPI_Finalize`. Before it meters are read and clocks compared for the last time, the agreement on iterations ends, and what the recorder
/// has of MPI is freed, unless sessions go on.
pub(crate) fn finalize(
    call: &mut Call,
    arguments: Arguments<0>,
    real: impl FnOnce([usize; 0]) -> usize,
) -> usize {
    let begin = call.begin();
    record::collective_begin(&mut call.thread.events, begin);
    let process = call.thread.process;
    energy::append(process);
    synchronize::measure(process);
    synchronize::calibrate(process);
    iterations::end(&mut call.thread);
    process.close(&mut call.thread, true);
    let result = real(arguments.values);
    let time = call.end();
    let events = &mut call.thread.events;
    for communicator in [WORLD, MYSELF] {
        record::comm_destroy(events, time, communicator.into());
    }
    record::collective_end(events, time, CollectiveOp::DESTROY_HANDLE, WORLD.into(), ROOT_NONE, 0, 0);
    result
}

/// `MPI_Session_finalize`: (session). Clocks are not compared here, since other processes may keep their sessions.
pub(crate) fn close_session(
    call: &mut Call,
    arguments: Arguments<1>,
    real: impl FnOnce([usize; 1]) -> usize,
) -> usize {
    let process = call.thread.process;
    synchronize::calibrate(process);
    process.close(&mut call.thread, false);
    real(arguments.values)
}

/// `MPI_Abort`: (communicator, code). It does not return; everything recorded is in the buffers.
pub(crate) fn abort(
    call: &mut Call,
    arguments: Arguments<2>,
    real: impl FnOnce([usize; 2]) -> usize,
) -> usize {
    call.thread.process.notice(&format!("it called MPI_Abort with code {}", arguments.values[1] as i32));
    real(arguments.values)
}
