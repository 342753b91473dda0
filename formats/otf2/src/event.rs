//! Table of all event records.
//!
//! Fields are named as in OTF2, in snake case. Ranks, request, lock and matching ids are plain numbers; sizes
//! are in bytes; references are local to the location until [`Event::map`].

use crate::bytes::Bytes;
use crate::field::{Body, Field, Timestamp};
use crate::list::List;
use crate::mappings::{MappingType, Mappings};
use crate::record::{FileKind, records};
use crate::value::MetricValue;
use model::{CollectiveOp, MeasurementMode, Paradigm};

records! {
    mapped
    /// An event record.
    ///
    /// Roots of collective operations are ranks, [`ROOT_NONE`](crate::ROOT_NONE),
    /// [`ROOT_SELF`](crate::ROOT_SELF) or [`ROOT_THIS_GROUP`](crate::ROOT_THIS_GROUP).
    Event {
        /// Recording was suspended until `stop_time` to write out events; the measurement is disturbed in
        /// between.
        10 BufferFlush framed { stop_time: Timestamp }
        /// Recording was switched on or off.
        11 MeasurementOnOff framed { measurement_mode: MeasurementMode }
        /// A region begins.
        12 Enter singleton { region: u32 => Region }
        /// A region ends.
        13 Leave singleton { region: u32 => Region }
        /// A blocking send to rank `receiver` of the communicator.
        14 MpiSend framed { receiver: u32, communicator: u32 => Comm, msg_tag: u32, msg_length: u64 }
        /// A non-blocking send was started.
        15 MpiIsend framed {
            receiver: u32, communicator: u32 => Comm, msg_tag: u32, msg_length: u64, request_id: u64,
        }
        /// A non-blocking send was found complete.
        16 MpiIsendComplete singleton { request_id: u64 }
        /// A non-blocking receive was posted.
        17 MpiIrecvRequest singleton { request_id: u64 }
        /// A blocking receive from rank `sender` of the communicator is complete.
        18 MpiRecv framed { sender: u32, communicator: u32 => Comm, msg_tag: u32, msg_length: u64 }
        /// A non-blocking receive was found complete.
        19 MpiIrecv framed {
            sender: u32, communicator: u32 => Comm, msg_tag: u32, msg_length: u64, request_id: u64,
        }
        /// A request was tested and found incomplete.
        20 MpiRequestTest singleton { request_id: u64 }
        /// A request was cancelled.
        21 MpiRequestCancelled singleton { request_id: u64 }
        /// A collective operation begins.
        22 MpiCollectiveBegin framed {}
        /// A collective operation ends; sizes are those of this process.
        23 MpiCollectiveEnd framed {
            collective_op: CollectiveOp, communicator: u32 => Comm, root: u32, size_sent: u64, size_received: u64,
        }
        /// A parallel region begins. Superseded by `ThreadFork`, like all `Omp…` records by `Thread…`.
        24 OmpFork singleton { number_of_requested_threads: u32 }
        /// A parallel region ends.
        25 OmpJoin framed {}
        /// A lock was acquired.
        26 OmpAcquireLock framed { lock_id: u32, acquisition_order: u32 }
        /// A lock was released.
        27 OmpReleaseLock framed { lock_id: u32, acquisition_order: u32 }
        /// A task was created.
        28 OmpTaskCreate singleton { task_id: u64 }
        /// A task starts or resumes.
        29 OmpTaskSwitch singleton { task_id: u64 }
        /// A task ends.
        30 OmpTaskComplete singleton { task_id: u64 }
        /// Values of the members of a metric class or instance.
        31 Metric framed { metric: u32 => Metric, metric_values: List<'a, MetricValue, u8> }
        /// A parameter has a string as value.
        32 ParameterString framed { parameter: u32 => Parameter, string: u32 => String }
        /// A parameter has a signed number as value.
        33 ParameterInt framed { parameter: u32 => Parameter, value: i64 }
        /// A parameter has an unsigned number as value.
        34 ParameterUnsignedInt framed { parameter: u32 => Parameter, value: u64 }
        /// A window for one-sided communication was created.
        35 RmaWinCreate framed { win: u32 => RmaWin }
        /// A window was destroyed.
        36 RmaWinDestroy framed { win: u32 => RmaWin }
        /// A collective operation on a window begins.
        37 RmaCollectiveBegin framed {}
        /// A collective operation on a window ends; `sync_level` bits: 1 processes, 2 memory.
        38 RmaCollectiveEnd framed {
            collective_op: CollectiveOp, sync_level: u32, win: u32 => RmaWin, root: u32, bytes_sent: u64,
            bytes_received: u64,
        }
        /// Synchronisation of a group of a window's members; `sync_level` as in `RmaCollectiveEnd`.
        39 RmaGroupSync framed { sync_level: u32, win: u32 => RmaWin, group: u32 => Group }
        /// A lock was requested; `lock_type`: 0 exclusive, 1 shared.
        40 RmaRequestLock framed { win: u32 => RmaWin, remote: u32, lock_id: u64, lock_type: u8 }
        /// A lock was acquired.
        41 RmaAcquireLock framed { win: u32 => RmaWin, remote: u32, lock_id: u64, lock_type: u8 }
        /// An attempt to get a lock failed.
        42 RmaTryLock framed { win: u32 => RmaWin, remote: u32, lock_id: u64, lock_type: u8 }
        /// A lock was released.
        43 RmaReleaseLock framed { win: u32 => RmaWin, remote: u32, lock_id: u64 }
        /// Synchronisation with one process; `sync_type`: 0 memory, 1 notify in, 2 notify out.
        44 RmaSync framed { win: u32 => RmaWin, remote: u32, sync_type: u8 }
        /// Waiting for a change in a window.
        45 RmaWaitChange framed { win: u32 => RmaWin }
        /// A put was started.
        46 RmaPut framed { win: u32 => RmaWin, remote: u32, bytes: u64, matching_id: u64 }
        /// A get was started.
        47 RmaGet framed { win: u32 => RmaWin, remote: u32, bytes: u64, matching_id: u64 }
        /// An atomic operation was started; `atomic_type`: 0 accumulate … 7 fetch and accumulate.
        48 RmaAtomic framed {
            win: u32 => RmaWin, remote: u32, atomic_type: u8, bytes_sent: u64, bytes_received: u64, matching_id: u64,
        }
        /// An operation is complete when its call returns.
        49 RmaOpCompleteBlocking framed { win: u32 => RmaWin, matching_id: u64 }
        /// An operation was found complete at the origin.
        50 RmaOpCompleteNonBlocking framed { win: u32 => RmaWin, matching_id: u64 }
        /// An operation was tested and found incomplete.
        51 RmaOpTest framed { win: u32 => RmaWin, matching_id: u64 }
        /// An operation is complete at the target.
        52 RmaOpCompleteRemote framed { win: u32 => RmaWin, matching_id: u64 }
        /// A team of threads is requested.
        53 ThreadFork framed { model: Paradigm, number_of_requested_threads: u32 }
        /// The team is back to one thread.
        54 ThreadJoin framed { model: Paradigm }
        /// This thread starts to work in a team.
        55 ThreadTeamBegin framed { thread_team: u32 => Comm }
        /// This thread leaves a team.
        56 ThreadTeamEnd framed { thread_team: u32 => Comm }
        /// A lock was acquired; `acquisition_order` counts the acquisitions of the lock.
        57 ThreadAcquireLock framed { model: Paradigm, lock_id: u32, acquisition_order: u32 }
        /// A lock was released.
        58 ThreadReleaseLock framed { model: Paradigm, lock_id: u32, acquisition_order: u32 }
        /// A task was created; team, creator and generation number together identify it.
        59 ThreadTaskCreate framed { thread_team: u32 => Comm, creating_thread: u32, generation_number: u32 }
        /// A task starts or resumes.
        60 ThreadTaskSwitch framed { thread_team: u32 => Comm, creating_thread: u32, generation_number: u32 }
        /// A task ends.
        61 ThreadTaskComplete framed { thread_team: u32 => Comm, creating_thread: u32, generation_number: u32 }
        /// A thread was created; contingent and count pair it with `ThreadBegin`.
        62 ThreadCreate framed { thread_contingent: u32 => Comm, sequence_count: u64 }
        /// A created thread starts.
        63 ThreadBegin framed { thread_contingent: u32 => Comm, sequence_count: u64 }
        /// The end of a created thread was waited for.
        64 ThreadWait framed { thread_contingent: u32 => Comm, sequence_count: u64 }
        /// A created thread ends.
        65 ThreadEnd framed { thread_contingent: u32 => Comm, sequence_count: u64 }
        /// A calling context begins: `Enter` of traces with calling contexts.
        66 CallingContextEnter framed { calling_context: u32 => CallingContext, unwind_distance: u32 }
        /// A calling context ends.
        67 CallingContextLeave framed { calling_context: u32 => CallingContext }
        /// A sample was taken.
        68 CallingContextSample framed {
            calling_context: u32 => CallingContext, unwind_distance: u32, interrupt_generator: u32 => InterruptGenerator,
        }
        /// An I/O handle was created; flags are bits.
        69 IoCreateHandle framed { handle: u32 => IoHandle, mode: u8, creation_flags: u32, status_flags: u32 }
        /// An I/O handle was closed.
        70 IoDestroyHandle framed { handle: u32 => IoHandle }
        /// An I/O handle was duplicated.
        71 IoDuplicateHandle framed { old_handle: u32 => IoHandle, new_handle: u32 => IoHandle, status_flags: u32 }
        /// The position in a file was moved; `whence`: 0 from start, 1 from current, 2 from end, 3 data, 4
        /// hole.
        72 IoSeek framed { handle: u32 => IoHandle, offset_request: i64, whence: u8, offset_result: u64 }
        /// Status flags of a handle were changed.
        73 IoChangeStatusFlags framed { handle: u32 => IoHandle, status_flags: u32 }
        /// A file was deleted.
        74 IoDeleteFile framed { io_paradigm: u8, file: u32 => IoFile }
        /// A transfer begins; `mode`: 0 read, 1 write, 2 flush; `operation_flags` bits: 1 non-blocking, 2
        /// collective.
        75 IoOperationBegin framed {
            handle: u32 => IoHandle, mode: u8, operation_flags: u32, bytes_request: u64, matching_id: u64,
        }
        /// A transfer was tested and found incomplete.
        76 IoOperationTest framed { handle: u32 => IoHandle, matching_id: u64 }
        /// A non-blocking transfer was started.
        77 IoOperationIssued framed { handle: u32 => IoHandle, matching_id: u64 }
        /// A transfer is complete.
        78 IoOperationComplete framed { handle: u32 => IoHandle, bytes_result: u64, matching_id: u64 }
        /// A transfer was cancelled.
        79 IoOperationCancelled framed { handle: u32 => IoHandle, matching_id: u64 }
        /// A lock on a file was acquired; `lock_type`: 0 exclusive, 1 shared.
        80 IoAcquireLock framed { handle: u32 => IoHandle, lock_type: u8 }
        /// A lock on a file was released.
        81 IoReleaseLock framed { handle: u32 => IoHandle, lock_type: u8 }
        /// An attempt to lock a file failed.
        82 IoTryLock framed { handle: u32 => IoHandle, lock_type: u8 }
        /// The program starts. The arguments are strings, local ones even after `map`.
        83 ProgramBegin framed { program_name: u32 => String, program_arguments: List<'a, u32> }
        /// The program ends.
        84 ProgramEnd framed { exit_status: i64 }
        /// A non-blocking collective operation was started.
        85 NonBlockingCollectiveRequest framed { request_id: u64 }
        /// A non-blocking collective operation was found complete.
        86 NonBlockingCollectiveComplete framed {
            collective_op: CollectiveOp, communicator: u32 => Comm, root: u32, size_sent: u64, size_received: u64,
            request_id: u64,
        }
        /// A communicator was created.
        87 CommCreate framed { communicator: u32 => Comm }
        /// A communicator was freed.
        88 CommDestroy framed { communicator: u32 => Comm }
        /// A matching message was probed; `message_id` is all ones unless it was a matched probe.
        89 MpiProbe framed { sender: u32, communicator: u32 => Comm, tag: u32, message_id: u64 }
        /// A probed message was received.
        90 MpiMrecv framed { message_id: u64, msg_length: u64 }
        /// A non-blocking receive of a probed message was posted.
        91 MpiImrecvRequest framed { message_id: u64, request_id: u64 }
        /// A non-blocking receive of a probed message was found complete.
        92 MpiImrecv framed { request_id: u64, msg_length: u64 }
    }
}
