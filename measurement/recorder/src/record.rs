//! The OTF2 records that the recorder writes, with their fields (`formats/otf2/src/event.rs`).

use model::CollectiveOp;
use recording::attributes::UINT64;

use crate::events::{Events, MOST_FIELDS, OpenField};

macro_rules! records {
    ($(
        $(#[$doc:meta])*
        $id:literal $name:ident($($field:ident: $class:ident),*) $(=> $($way:ident: $bytes:ident),+)?;
    )*) => {
        $(
            $(#[$doc])*
            #[inline]
            #[allow(clippy::too_many_arguments)] // As many as the record has fields.
            pub(crate) fn $name(events: &mut Events, time: u64, $($field: records!(@type $class)),*) {
                $($(events.moved.$way = events.moved.$way.wrapping_add($bytes);)+)?
                const {
                    let fields: &[&str] = &[$(stringify!($field)),*];
                    assert!(fields.len() <= MOST_FIELDS);
                }
                // SAFETY: `const` above checks that there are at most `MOST_FIELDS` fields, each written by a
                // function of `Fields`.
                unsafe { events.framed(time, $id, |fields| fields$(.$class($field))*) };
            }
        )*
    };
    (@type number) => { u64 };
    (@type optional) => { u32 };
    (@type byte) => { u8 };
    (@type operation) => { CollectiveOp };
}

macro_rules! singletons {
    ($($(#[$doc:meta])* $id:literal $name:ident;)*) => {
        $(
            $(#[$doc])*
            #[inline]
            pub(crate) fn $name(events: &mut Events, time: u64, value: u64) {
                events.singleton(time, $id, value);
            }
        )*
    };
}

// Behind an arrow: the direction in which bytes are transferred, for `counts`.
records! {
    14 mpi_send(receiver: number, communicator: number, tag: number, bytes: number) => sent: bytes;
    15 mpi_isend(receiver: number, communicator: number, tag: number, bytes: number, request: number) => sent: bytes;
    18 mpi_recv(sender: number, communicator: number, tag: number, bytes: number) => received: bytes;
    19 mpi_irecv(sender: number, communicator: number, tag: number, bytes: number, request: number) => received: bytes;
    11 measurement_on_off(mode: byte);
    22 collective_begin();
    23 collective_end(operation: operation, communicator: number, root: optional, sent: number, received: number) => outgoing: sent, incoming: received;
    35 rma_win_create(window: number);
    36 rma_win_destroy(window: number);
    37 rma_collective_begin();
    38 rma_collective_end(operation: operation, level: number, window: number, root: optional, sent: number, received: number);
    39 rma_group_sync(level: number, window: number, group: number);
    40 rma_request_lock(window: number, remote: optional, lock: number, kind: byte);
    43 rma_release_lock(window: number, remote: optional, lock: number);
    44 rma_sync(window: number, remote: number, kind: byte);
    46 rma_put(window: number, remote: number, bytes: number, matching: number) => put: bytes;
    47 rma_get(window: number, remote: number, bytes: number, matching: number) => got: bytes;
    48 rma_atomic(window: number, remote: number, kind: byte, sent: number, received: number, matching: number) => put: sent, got: received;
    50 rma_complete_non_blocking(window: number, matching: number);
    51 rma_test(window: number, matching: number);
    52 rma_complete_remote(window: number, matching: number);
    66 calling_context_enter_fields(context: number, distance: number);
    67 calling_context_leave_fields(context: number);
    68 calling_context_sample(context: number, distance: number, generator: number);
    69 io_create_handle(handle: number, mode: byte, creation: number, status: number);
    70 io_destroy_handle(handle: number);
    71 io_duplicate_handle(old: number, new: number, status: number);
    72 io_seek(handle: number, offset: number, whence: byte, result: number);
    73 io_change_status_flags(handle: number, status: number);
    74 io_delete_file(paradigm: byte, file: number);
    75 io_begin(handle: number, mode: byte, flags: number, bytes: number, matching: number);
    76 io_test(handle: number, matching: number);
    77 io_issued(handle: number, matching: number);
    78 io_complete(handle: number, bytes: number, matching: number);
    79 io_cancelled(handle: number, matching: number);
    80 io_acquire_lock(handle: number, kind: byte);
    81 io_release_lock(handle: number, kind: byte);
    82 io_try_lock(handle: number, kind: byte);
    84 program_end(status: number);
    85 non_blocking_collective_request(request: number);
    86 non_blocking_collective_complete(operation: operation, communicator: number, root: optional, sent: number, received: number, request: number) => outgoing: sent, incoming: received;
    87 comm_create(communicator: number);
    88 comm_destroy(communicator: number);
}

#[cfg(openmp)]
records! {
    53 thread_fork(model: byte, threads: number);
    54 thread_join(model: byte);
    55 thread_team_begin(team: number);
    56 thread_team_end(team: number);
    57 thread_acquire_lock(model: byte, lock: number, order: number);
    58 thread_release_lock(model: byte, lock: number, order: number);
    59 thread_task_create(team: number, thread: number, task: number);
    60 thread_task_switch(team: number, thread: number, task: number);
    61 thread_task_complete(team: number, thread: number, task: number);
}

singletons! {
    16 mpi_isend_complete;
    17 mpi_irecv_request;
    20 mpi_request_test;
    21 mpi_request_cancelled;
}

/// Records that a call path is entered, with the distance of `CallPaths::distance`.
#[inline]
pub(crate) fn calling_context_enter(events: &mut Events, time: u64, context: u32, distance: u32) {
    calling_context_enter_fields(events, time, context.into(), distance.into());
}

/// Records that a transfer begins of which the bytes will be known later; returns where they go.
pub(crate) fn io_begin_early(
    events: &mut Events,
    time: u64,
    (handle, mode, flags): (u64, u8, u64),
    matching: u64,
) -> Option<OpenField> {
    io_begin(events, time, handle, mode, flags, u64::MAX, matching);
    events.long_field_before(matching)
}

/// Records that a call path is left.
#[inline]
pub(crate) fn calling_context_leave(events: &mut Events, time: u64, context: u32) {
    calling_context_leave_fields(events, time, context.into());
}

/// Values of a `Metric` that have room in its record, besides the class and their number.
pub(crate) const MOST_VALUES: usize = (MOST_FIELDS - 2) / 2;

/// How values of a class of metrics get among the events: [`metric`], or [`Events::defer`].
pub(crate) type WriteMetric = fn(&mut Events, u64, u32, &[u64]);

/// Records values of the members of a class of metrics, all of them unsigned; at most [`MOST_VALUES`].
#[inline]
pub(crate) fn metric(events: &mut Events, time: u64, class: u32, values: &[u64]) {
    const METRIC: u8 = 31;
    let values = &values[..values.len().min(MOST_VALUES)];
    // SAFETY: the class, the number of values, and two fields for each are at most `MOST_FIELDS`.
    unsafe {
        events.framed(time, METRIC, |fields| {
            let fields = fields.number(class.into()).byte(values.len() as u8);
            values.iter().fold(fields, |fields, &value| fields.byte(UINT64).number(value))
        });
    }
}

/// Records `ProgramBegin`: the name is string 0 of the process, its arguments are the next ones.
pub(crate) fn program_begin(events: &mut Events, time: u64, arguments: usize) {
    let mut body = Vec::with_capacity(16 + 5 * arguments);
    let number = |body: &mut Vec<u8>, value: u32| {
        let bytes = (39 - value.leading_zeros() as usize) / 8;
        body.push(bytes as u8);
        body.extend_from_slice(&value.to_le_bytes()[..bytes]);
    };
    number(&mut body, 0);
    number(&mut body, arguments as u32);
    (1..=arguments).for_each(|argument| number(&mut body, argument as u32));
    events.long(time, 83, &body);
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
