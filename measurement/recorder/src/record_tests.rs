//! Records as the recorder writes them, read by OTF2's reader: each kind of record, field by field.

use std::path::Path;

use model::{CollectiveOp, MeasurementMode};
use otf2::{Attribute, Event, EventCursor, Timestamp, Value, ValueType};

use super::*;

const CHUNK: usize = 1 << 16;
const MANY: u64 = u64::MAX - 1;

/// Writes a record at a time.
type Write<'a> = &'a dyn Fn(&mut Events, u64);

/// Writes records at successive times, and checks the events that the reader returns.
fn expect(write: &[Write<'_>], expected: &[Event<'_>]) {
    let mut events = Events::counted(CHUNK).expect("there is memory");
    for (time, write) in (1..).zip(write) {
        write(&mut events, time);
    }
    events.finish();
    let file = events.bytes_of_chunk();
    let mut cursor = EventCursor::new(&file, Path::new("events"), CHUNK as u64);
    for (time, &expected) in (1..).zip(expected) {
        let found = cursor.next().expect("the file is intact").expect("there is another event");
        assert_eq!((found.time, found.position, found.event), (time, time, expected));
        assert!(found.attributes.is_empty());
    }
    assert_eq!(cursor.next().expect("the file is intact"), None);
}

/// Writes each record by its function, and checks for the event behind the arrow.
macro_rules! expect {
    ($($name:ident($($field:expr),*) => $event:ident $fields:tt;)*) => {
        expect(
            &[$(&|events, time| $name(events, time, $($field),*)),*],
            &[$(Event::$event $fields),*],
        )
    };
}

#[test]
fn messages_and_requests_are_read_as_they_were_recorded() {
    expect! {
        mpi_send(1, 2, 300, 70_000) => MpiSend { receiver: 1, communicator: 2, msg_tag: 300, msg_length: 70_000 };
        mpi_isend(1, 2, 3, MANY, 5) => MpiIsend { receiver: 1, communicator: 2, msg_tag: 3, msg_length: MANY, request_id: 5 };
        mpi_isend_complete(MANY) => MpiIsendComplete { request_id: MANY };
        mpi_irecv_request(255) => MpiIrecvRequest { request_id: 255 };
        mpi_recv(1, 2, 3, 0) => MpiRecv { sender: 1, communicator: 2, msg_tag: 3, msg_length: 0 };
        mpi_irecv(1, 2, 3, 4, 1 << 40) => MpiIrecv { sender: 1, communicator: 2, msg_tag: 3, msg_length: 4, request_id: 1 << 40 };
        mpi_request_test(256) => MpiRequestTest { request_id: 256 };
        mpi_request_cancelled(0) => MpiRequestCancelled { request_id: 0 };
    }
}

#[test]
fn collective_operations_and_communicators_are_read_as_they_were_recorded() {
    let operation = CollectiveOp::SCAN;
    expect! {
        collective_begin() => MpiCollectiveBegin {};
        collective_end(operation, 1, 2, 3, 4) => MpiCollectiveEnd {
            collective_op: operation, communicator: 1, root: 2, size_sent: 3, size_received: 4
        };
        collective_end(operation, 1, u32::MAX, MANY, 4) => MpiCollectiveEnd {
            collective_op: operation, communicator: 1, root: u32::MAX, size_sent: MANY, size_received: 4
        };
        non_blocking_collective_request(1) => NonBlockingCollectiveRequest { request_id: 1 };
        non_blocking_collective_complete(operation, 1, u32::MAX - 1, 3, 4, 5) => NonBlockingCollectiveComplete {
            collective_op: operation, communicator: 1, root: u32::MAX - 1, size_sent: 3, size_received: 4, request_id: 5
        };
        comm_create(1) => CommCreate { communicator: 1 };
        comm_destroy(2) => CommDestroy { communicator: 2 };
    }
}

#[test]
fn one_sided_communication_is_read_as_it_was_recorded() {
    let operation = CollectiveOp::BARRIER;
    expect! {
        rma_win_create(1) => RmaWinCreate { win: 1 };
        rma_win_destroy(2) => RmaWinDestroy { win: 2 };
        rma_collective_begin() => RmaCollectiveBegin {};
        rma_collective_end(operation, 3, 1, 2, 4, 5) => RmaCollectiveEnd {
            collective_op: operation, sync_level: 3, win: 1, root: 2, bytes_sent: 4, bytes_received: 5
        };
        rma_group_sync(3, 1, 2) => RmaGroupSync { sync_level: 3, win: 1, group: 2 };
        rma_request_lock(1, u32::MAX, 3, 4) => RmaRequestLock { win: 1, remote: u32::MAX, lock_id: 3, lock_type: 4 };
        rma_release_lock(1, 2, 3) => RmaReleaseLock { win: 1, remote: 2, lock_id: 3 };
        rma_sync(1, 2, 3) => RmaSync { win: 1, remote: 2, sync_type: 3 };
        rma_put(1, 2, 3, MANY) => RmaPut { win: 1, remote: 2, bytes: 3, matching_id: MANY };
        rma_get(1, 2, MANY, 4) => RmaGet { win: 1, remote: 2, bytes: MANY, matching_id: 4 };
        rma_atomic(1, 2, 3, 4, 5, 6) => RmaAtomic {
            win: 1, remote: 2, atomic_type: 3, bytes_sent: 4, bytes_received: 5, matching_id: 6
        };
        rma_complete_non_blocking(1, 2) => RmaOpCompleteNonBlocking { win: 1, matching_id: 2 };
        rma_test(1, 2) => RmaOpTest { win: 1, matching_id: 2 };
        rma_complete_remote(1, 2) => RmaOpCompleteRemote { win: 1, matching_id: 2 };
    }
}

#[test]
fn files_are_read_as_they_were_recorded() {
    expect! {
        io_create_handle(1, 2, 3, 4) => IoCreateHandle { handle: 1, mode: 2, creation_flags: 3, status_flags: 4 };
        io_destroy_handle(1) => IoDestroyHandle { handle: 1 };
        io_seek(1, -5_i64 as u64, 2, 3) => IoSeek { handle: 1, offset_request: -5, whence: 2, offset_result: 3 };
        io_delete_file(0, 2) => IoDeleteFile { io_paradigm: 0, file: 2 };
        io_begin(1, 2, 3, MANY, 5) => IoOperationBegin {
            handle: 1, mode: 2, operation_flags: 3, bytes_request: MANY, matching_id: 5
        };
        io_test(1, 2) => IoOperationTest { handle: 1, matching_id: 2 };
        io_issued(1, 2) => IoOperationIssued { handle: 1, matching_id: 2 };
        io_complete(1, u64::MAX, 3) => IoOperationComplete { handle: 1, bytes_result: u64::MAX, matching_id: 3 };
    }
}

#[test]
fn call_paths_and_the_program_are_read_as_they_were_recorded() {
    let arguments = [1, 2, 3];
    expect! {
        program_begin(3) => ProgramBegin { program_name: 0, program_arguments: arguments[..].into() };
        measurement_on_off(MeasurementMode::OFF.0) => MeasurementOnOff { measurement_mode: MeasurementMode::OFF };
        calling_context_enter(1, 2) => CallingContextEnter { calling_context: 1, unwind_distance: 2 };
        calling_context_sample(1, 2, 3) => CallingContextSample {
            calling_context: 1, unwind_distance: 2, interrupt_generator: 3
        };
        calling_context_leave(1) => CallingContextLeave { calling_context: 1 };
        program_end(-1_i64 as u64) => ProgramEnd { exit_status: -1 };
    }
}

#[test]
fn flush_is_read_before_the_record_that_follows_it() {
    expect(
        &[&|events, time| {
            events.add_flush(time, time + 5);
            comm_create(events, time + 1, 7);
        }],
        &[Event::BufferFlush { stop_time: Timestamp(6) }, Event::CommCreate { communicator: 7 }],
    );
}

#[test]
fn attributes_belong_to_the_record_behind_them() {
    const UINT64: u8 = 4;
    let list = [(1, 2), (300, MANY), (u32::MAX - 1, 0)];
    let mut events = Events::counted(CHUNK).expect("there is memory");
    events.attributes(5, &list.map(|(attribute, value)| (attribute, UINT64, value)));
    comm_create(&mut events, 5, 7);
    events.finish();
    let file = events.bytes_of_chunk();
    let mut cursor = EventCursor::new(&file, Path::new("events"), CHUNK as u64);
    let found = cursor.next().expect("the file is intact").expect("there is an event");
    assert_eq!((found.time, found.position, found.event), (5, 1, Event::CommCreate { communicator: 7 }));
    let of = |(attribute, bits)| Attribute { attribute, value: Value::new(ValueType::UINT64, bits) };
    assert_eq!(found.attributes.iter().collect::<Vec<_>>(), list.map(of));
}
