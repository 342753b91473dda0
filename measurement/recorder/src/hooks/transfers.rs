//! File accesses (MPI 4.0, 14.4).
//!
//! A transfer starts with its call and is complete when the status is there: at the end of the call, of the
//! call that completes its request, or of the second half of a split collective operation. It is recorded
//! behind the call, with the time of its start: errors of files are usually returned (MPI 4.0, 14.7), and
//! `MPI_Type_size` of a type that the call has refused would end the program.
//!
//! If files of the C library are recorded as well, records of these may come in between, and times must not go
//! backwards. So the start is recorded before the call, and its bytes are filled in behind it; if a chunk of the
//! event file has been written out meanwhile, they stay unknown. One that is refused is complete with 0 bytes, or
//! cancelled.
//!
//! Functions with an explicit offset have one parameter more than the others, behind the file.

use recording::attributes::{OFFSET, UINT64};

use crate::call::Call;
use crate::events::OpenField;
use crate::hooks::files::has_inner_calls;
use crate::hooks::point_to_point::ensure_status;
use crate::hooks::requests::keep;
use crate::mpi::status_at;
use crate::record;
use crate::requests::{Operation, OperationKind};
use crate::wrappers::Arguments;

/// Values of OTF2's `IoOperationMode`.
pub(crate) const READ: u8 = 0;
pub(crate) const WRITE: u8 = 1;
pub(crate) const FLUSH: u8 = 2;

/// Bits of OTF2's `IoOperationFlag`.
pub(crate) const NON_BLOCKING: u64 = 1;
pub(crate) const COLLECTIVE: u64 = 2;

/// OTF2's undefined value, for a number of bytes or an offset that is not known.
pub(crate) const UNKNOWN: u64 = u64::MAX;

/// Parameters of blocking and non-blocking functions without an offset: (file, buffer, count, type, status or
/// request).
const WHOLE: usize = 5;
/// Parameters of the first half of a split collective operation without an offset: (file, buffer, count,
/// type).
const HALF: usize = 4;

macro_rules! transfers {
    ($($(#[$doc:meta])* $name:ident: $how:ident($mode:ident, $flags:expr);)*) => {
        $(
            $(#[$doc])*
            pub(crate) fn $name<const N: usize>(
                call: &mut Call,
                arguments: Arguments<N>,
                real: impl FnOnce([usize; N]) -> usize,
            ) -> usize {
                $how(call, arguments, ($mode, $flags), real)
            }
        )*
    };
}

transfers! {
    /// `MPI_File_read`, `_at`, `_shared`.
    read: blocking(READ, 0);
    /// `MPI_File_read_all`, `_at_all`, `_ordered`.
    read_all: blocking(READ, COLLECTIVE);
    /// `MPI_File_write`, `_at`, `_shared`.
    write: blocking(WRITE, 0);
    /// `MPI_File_write_all`, `_at_all`, `_ordered`.
    write_all: blocking(WRITE, COLLECTIVE);
    /// `MPI_File_iread`, `_at`, `_shared`.
    iread: non_blocking(READ, NON_BLOCKING);
    /// `MPI_File_iread_all`, `_at_all`.
    iread_all: non_blocking(READ, NON_BLOCKING | COLLECTIVE);
    /// `MPI_File_iwrite`, `_at`, `_shared`.
    iwrite: non_blocking(WRITE, NON_BLOCKING);
    /// `MPI_File_iwrite_all`, `_at_all`.
    iwrite_all: non_blocking(WRITE, NON_BLOCKING | COLLECTIVE);
    /// `MPI_File_read_all_begin`, `_at_all_begin`, `_ordered_begin`.
    read_begin: split(READ, NON_BLOCKING | COLLECTIVE);
    /// `MPI_File_write_all_begin`, `_at_all_begin`, `_ordered_begin`.
    write_begin: split(WRITE, NON_BLOCKING | COLLECTIVE);
}

/// `MPI_File_read_all_end`, `MPI_File_write_all_end`, …: (file, buffer, status).
pub(crate) fn end(call: &mut Call, arguments: Arguments<3>, real: impl FnOnce([usize; 3]) -> usize) -> usize {
    let mut values = arguments.values;
    let known = call.thread.process.files.find(values[0]);
    let begun = known.and_then(|file| Some((u64::from(file.number()), file.end_split()?)));
    ensure_status(call, &mut values[2]);
    let result = real(values);
    call.end();
    completed(call, begun, result, values[2]);
    result
}

fn blocking<const N: usize>(
    call: &mut Call,
    arguments: Arguments<N>,
    kind: (u8, u64),
    real: impl FnOnce([usize; N]) -> usize,
) -> usize {
    let mut values = arguments.values;
    ensure_status(call, &mut values[N - 1]);
    let start = Start::before(call, &values, N > WHOLE, kind);
    let result = real(values);
    call.end();
    let begun = start.behind(call, &values, result);
    completed(call, begun, result, values[N - 1]);
    result
}

fn non_blocking<const N: usize>(
    call: &mut Call,
    arguments: Arguments<N>,
    kind: (u8, u64),
    real: impl FnOnce([usize; N]) -> usize,
) -> usize {
    let start = Start::before(call, &arguments.values, N > WHOLE, kind);
    let result = real(arguments.values);
    let time = call.end();
    if let Some((file, number)) = start.behind(call, &arguments.values, result) {
        if result as i32 != 0 {
            record::io_cancelled(&mut call.thread.events, time, file, number);
            return result;
        }
        record::io_issued(&mut call.thread.events, time, file, number);
        let operation = Operation::new(OperationKind::File, file as u32, number);
        keep(call, Some(operation), arguments.values[N - 1], result);
    }
    result
}

fn split<const N: usize>(
    call: &mut Call,
    arguments: Arguments<N>,
    kind: (u8, u64),
    real: impl FnOnce([usize; N]) -> usize,
) -> usize {
    let start = Start::before(call, &arguments.values, N > HALF, kind);
    let result = real(arguments.values);
    let time = call.end();
    if let Some((file, number)) = start.behind(call, &arguments.values, result) {
        if result as i32 != 0 {
            record::io_cancelled(&mut call.thread.events, time, file, number);
            return result;
        }
        record::io_issued(&mut call.thread.events, time, file, number);
        if let Some(known) = call.thread.process.files.find(arguments.values[0]) {
            known.begin_split(number);
        }
    }
    result
}

/// The start of a transfer, which is recorded before its call or behind it.
struct Start {
    has_offset: bool,
    mode: u8,
    flags: u64,
    /// Numbers of the file and of the operation, and the place of the bytes, if it has been recorded before.
    early: Option<(u64, u64, Option<OpenField>)>,
}

impl Start {
    /// Records the start before the call, if others may be recorded in that.
    #[inline]
    fn before(call: &mut Call, values: &[usize], has_offset: bool, (mode, flags): (u8, u64)) -> Start {
        let mut start = Start { has_offset, mode, flags, early: None };
        if has_inner_calls()
            && let Some(file) = call.thread.process.files.find(values[0])
        {
            let (file, number) = (file.number().into(), call.thread.next_request());
            start.offset(call, values);
            let begin = call.begin();
            let bytes = record::io_begin_early(&mut call.thread.events, begin, (file, mode, flags), number);
            start.early = Some((file, number, bytes));
        }
        start
    }

    /// Records the start behind the call, or completes its record; returns the numbers of the file and of the
    /// operation. `None` if there is no record of a call that has failed.
    #[inline]
    fn behind(self, call: &mut Call, values: &[usize], result: usize) -> Option<(u64, u64)> {
        let process = call.thread.process;
        let has_failed = result as i32 != 0;
        let count = 2 + usize::from(self.has_offset);
        let bytes = || process.mpi.bytes(values[count] as i64, values[count + 1]);
        if let Some((file, number, place)) = self.early {
            if let Some(place) = place.filter(|_| !has_failed) {
                call.thread.events.fill(place, bytes());
            }
            return Some((file, number));
        }
        if has_failed {
            return None;
        }
        let file = u64::from(process.files.find(values[0])?.number());
        let number = call.thread.next_request();
        self.offset(call, values);
        let begin = call.begin();
        record::io_begin(&mut call.thread.events, begin, file, self.mode, self.flags, bytes(), number);
        Some((file, number))
    }

    /// Adds the offset to the record of the start, which comes next.
    #[inline]
    fn offset(&self, call: &mut Call, values: &[usize]) {
        if self.has_offset {
            let begin = call.begin();
            call.thread.events.attributes(begin, &[(OFFSET, UINT64, values[1] as u64)]);
        }
    }
}

/// Records that a transfer is complete, by its status. A second half that failed has completed it
/// nonetheless, with 0 bytes.
fn completed(call: &mut Call, begun: Option<(u64, u64)>, result: usize, status: usize) {
    let time = call.end();
    if let Some((file, number)) = begun {
        let has_moved = result as i32 == 0 && status != 0;
        // SAFETY: the call has succeeded, so it has set the status.
        let bytes = if has_moved { unsafe { status_at(status, 0) }.bytes } else { 0 };
        record::io_complete(&mut call.thread.events, time, file, bytes, number);
    }
}
