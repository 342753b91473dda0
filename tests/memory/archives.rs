//! Archives that take much memory for their size.

use model::{CollectiveOp, GroupType, Paradigm};
use otf2::{Definition, Event, List, UNDEFINED};

use crate::hostile::Hostile;

/// Makes an archive whose analysis takes as much memory as possible.
pub(crate) type Make = fn(&mut Hostile);

fn nested_calls(hostile: &mut Hostile) {
    hostile.region(0, 3, false);
    hostile.events(0, |write| (0..100_000).for_each(|_| write(Event::Enter { region: 0 })));
}

fn many_call_paths_and_many_threads(hostile: &mut Hostile) {
    (0..151).for_each(|region| hostile.region(region, 3, false));
    (0..500).for_each(|_| hostile.thread(0));
    hostile.events(0, |write| {
        for outer in 0..150 {
            write(Event::Enter { region: outer });
            for inner in 0..150 {
                write(Event::Enter { region: inner });
                write(Event::Leave { region: inner });
            }
            write(Event::Leave { region: outer });
        }
    });
    for thread in 1..=500 {
        hostile.events(thread, |write| {
            write(Event::Enter { region: 150 });
            write(Event::Leave { region: 150 });
        });
    }
}

fn communicators_of_one_large_group(hostile: &mut Hostile) {
    hostile.world(1);
    let members = [0; 20_000];
    hostile.define(Definition::Group {
        reference: 2,
        name: 0,
        members: List::from(&members[..]),
        group_type: GroupType::COMM_GROUP,
        paradigm: Paradigm::MPI,
        group_flags: 0,
    });
    for reference in 1..20_000 {
        hostile.define(Definition::Comm { reference, name: 0, group: 2, parent: UNDEFINED, flags: 0 });
    }
}

fn locations_without_events(hostile: &mut Hostile) {
    (0..20_000).for_each(|_| hostile.thread(0));
}

fn locations_without_files(hostile: &mut Hostile) {
    locations_without_events(hostile);
    hostile.has_events = false;
}

fn processes_without_events(hostile: &mut Hostile) {
    hostile.processes(20_000);
}

fn regions_of_one_long_name(hostile: &mut Hostile) {
    let name = "<".repeat(10_000);
    hostile.define(Definition::String { reference: 4, string: name.as_bytes() });
    (0..10_000).for_each(|region| hostile.region(region, if region % 1000 == 0 { 4 } else { 3 }, false));
    hostile.events(0, |write| {
        for region in 0..10_000 {
            write(Event::Enter { region });
            write(Event::Leave { region });
        }
    });
}

fn deep_calling_contexts(hostile: &mut Hostile) {
    hostile.region(0, 3, false);
    for reference in 0..50_000u32 {
        hostile.define(Definition::CallingContext {
            reference,
            region: 0,
            source_code_location: UNDEFINED,
            parent: reference.checked_sub(1).unwrap_or(UNDEFINED),
        });
    }
    hostile.events(0, |write| {
        write(Event::CallingContextEnter { calling_context: 49_999, unwind_distance: 50_001 });
    });
}

fn messages_to_oneself(hostile: &mut Hostile) {
    hostile.region(0, 2, true);
    hostile.world(1);
    hostile.events(0, |write| {
        write(Event::Enter { region: 0 });
        for tag in 0..100_000 {
            let msg_tag = tag % 250;
            write(Event::MpiSend { receiver: 0, communicator: 0, msg_tag, msg_length: 0 });
            write(Event::MpiRecv { sender: 0, communicator: 0, msg_tag, msg_length: 0 });
        }
    });
}

fn channels_of_one_message(hostile: &mut Hostile) {
    hostile.region(0, 2, true);
    hostile.world(1);
    hostile.events(0, |write| {
        write(Event::Enter { region: 0 });
        for msg_tag in 0..50_000 {
            write(Event::MpiSend { receiver: 0, communicator: 0, msg_tag, msg_length: 0 });
        }
    });
}

fn requests_that_are_never_completed(hostile: &mut Hostile) {
    hostile.region(0, 2, true);
    hostile.world(1);
    hostile.events(0, |write| {
        write(Event::Enter { region: 0 });
        for request_id in 0..100_000 {
            write(Event::MpiIrecvRequest { request_id });
        }
    });
}

fn calls_of_one_message(hostile: &mut Hostile) {
    hostile.region(0, 2, true);
    hostile.world(1);
    hostile.events(0, |write| {
        for _ in 0..100_000 {
            write(Event::Enter { region: 0 });
            write(Event::MpiSend { receiver: 0, communicator: 0, msg_tag: 0, msg_length: 0 });
            write(Event::Leave { region: 0 });
        }
    });
}

fn collective_operations(hostile: &mut Hostile) {
    hostile.region(0, 2, true);
    hostile.processes(2);
    hostile.world(2);
    for location in 0..2 {
        hostile.events(location, |write| {
            write(Event::Enter { region: 0 });
            (0..50_000).for_each(|_| write(collective(CollectiveOp::BARRIER, 0, 0)));
        });
    }
}

fn collective(collective_op: CollectiveOp, communicator: u32, bytes: u64) -> Event<'static> {
    Event::MpiCollectiveEnd { collective_op, communicator, root: 0, size_sent: bytes, size_received: bytes }
}

/// Every member needs the state of all members.
fn collective_operations_in_which_some_move_nothing(hostile: &mut Hostile) {
    let ranks = 2000;
    hostile.region(0, 2, true);
    hostile.processes(ranks);
    hostile.world(ranks.into());
    for rank in 0..u64::from(ranks) {
        hostile.events(rank, |write| {
            write(Event::Enter { region: 0 });
            (0..10).for_each(|_| write(collective(CollectiveOp::ALLREDUCE, 0, rank % 2)));
        });
    }
}

/// The excess of the last member of a barrier is different for each of the others; and all of them delay a
/// member that was not there, so that it is examined again.
fn barriers_that_wait_for_many_functions(hostile: &mut Hostile) {
    let (ranks, functions) = (1000, 4000);
    hostile.region(0, 2, true);
    (1..=functions).for_each(|region| hostile.region(region, 3, false));
    hostile.processes(ranks);
    hostile.world(ranks.into());
    let barrier: Vec<u64> = (0..u64::from(ranks) - 1).collect();
    hostile.define(Definition::Group {
        reference: 2,
        name: 0,
        members: List::from(&barrier[..]),
        group_type: GroupType::COMM_GROUP,
        paradigm: Paradigm::MPI,
        group_flags: 0,
    });
    hostile.define(Definition::Comm { reference: 1, name: 0, group: 2, parent: UNDEFINED, flags: 0 });
    let (last, end) = (u64::from(ranks) - 1, 10 * u64::from(functions));
    for rank in barrier {
        hostile.events_at(rank, |write| {
            if rank == 0 {
                for region in 1..=functions {
                    write(10 * u64::from(region) - 5, Event::Enter { region });
                    write(10 * u64::from(region), Event::Leave { region });
                }
            }
            write(if rank == 0 { end } else { 1 }, Event::Enter { region: 0 });
            write(end + 1, collective(CollectiveOp::BARRIER, 1, 0));
            write(end + 2, Event::Leave { region: 0 });
            write(end + 3, Event::Enter { region: 0 });
            let (receiver, msg_tag) = (last as u32, rank as u32);
            write(end + 4, Event::MpiSend { receiver, communicator: 0, msg_tag, msg_length: 0 });
            write(end + 5, Event::Leave { region: 0 });
        });
    }
    hostile.events_at(last, |write| {
        write(1, Event::Enter { region: 0 });
        for sender in 0..last as u32 {
            write(end + 6, Event::MpiRecv { sender, communicator: 0, msg_tag: sender, msg_length: 0 });
        }
        write(end + 7, Event::Leave { region: 0 });
    });
}

fn late_messages(hostile: &mut Hostile) {
    hostile.region(0, 2, true);
    hostile.processes(2);
    hostile.world(2);
    hostile.events_at(0, |write| {
        write(10, Event::Enter { region: 0 });
        for _ in 0..100_000 {
            write(11, Event::MpiSend { receiver: 1, communicator: 0, msg_tag: 0, msg_length: 0 });
        }
        write(12, Event::Leave { region: 0 });
    });
    hostile.events_at(1, |write| {
        write(1, Event::Enter { region: 0 });
        for _ in 0..100_000 {
            write(11, Event::MpiRecv { sender: 0, communicator: 0, msg_tag: 0, msg_length: 0 });
        }
        write(12, Event::Leave { region: 0 });
    });
}

/// Each waits for a message of the other one, again and again, so that all waiting has costs in turn.
fn late_messages_back_and_forth(hostile: &mut Hostile) {
    hostile.region(0, 2, true);
    hostile.processes(2);
    hostile.world(2);
    for rank in 0..2 {
        let other = 1 - rank as u32;
        hostile.events_at(rank, |write| {
            for step in 1..50_000 {
                let (sent, received) = (100 * step + 50 * rank, 100 * step + 50 * (1 - rank));
                let send = [
                    (sent, Event::Enter { region: 0 }),
                    (sent, Event::MpiSend { receiver: other, communicator: 0, msg_tag: 0, msg_length: 0 }),
                    (sent, Event::Leave { region: 0 }),
                ];
                let receive = [
                    (received - 40, Event::Enter { region: 0 }),
                    (received, Event::MpiRecv { sender: other, communicator: 0, msg_tag: 0, msg_length: 0 }),
                    (received, Event::Leave { region: 0 }),
                ];
                let both = if rank == 0 { [send, receive] } else { [receive, send] };
                both.into_iter().flatten().for_each(|(time, event)| write(time, event));
            }
        });
    }
}

/// Two processes that lock each other and access each other's memory, all the time.
fn locks(hostile: &mut Hostile) {
    hostile.functions(["MPI_Win_lock", "MPI_Put", "MPI_Win_unlock"]);
    hostile.processes(2);
    hostile.world(2);
    hostile.define(Definition::RmaWin { reference: 0, name: 0, comm: 0, flags: 0 });
    for location in 0..2 {
        let remote = 1 - location as u32;
        hostile.events_at(location, |write| {
            for at in 0..10_000 {
                let mut call = |begin: u64, region, event| {
                    write(10 * at + begin, Event::Enter { region });
                    write(10 * at + begin, event);
                    write(10 * at + begin + 2, Event::Leave { region });
                };
                call(1, 0, Event::RmaRequestLock { win: 0, remote, lock_id: 0, lock_type: 0 });
                call(3, 1, Event::RmaPut { win: 0, remote, bytes: 8, matching_id: at });
                call(5, 2, Event::RmaReleaseLock { win: 0, remote, lock_id: 0 });
            }
        });
    }
}

/// Two processes that open their memory to both, and access it.
fn epochs(hostile: &mut Hostile) {
    hostile.functions(["MPI_Win_post", "MPI_Win_start", "MPI_Win_complete", "MPI_Win_wait"]);
    hostile.processes(2);
    hostile.world(2);
    hostile.define(Definition::RmaWin { reference: 0, name: 0, comm: 0, flags: 0 });
    for location in 0..2 {
        hostile.events_at(location, |write| {
            for time in 0..10_000 {
                for region in 0..4 {
                    write(10 * time + 2 * u64::from(region), Event::Enter { region });
                    write(
                        10 * time + 2 * u64::from(region),
                        Event::RmaGroupSync { sync_level: 0, win: 0, group: 1 },
                    );
                    write(10 * time + 2 * u64::from(region) + 1, Event::Leave { region });
                }
            }
        });
    }
}

/// Operations of [`operations_of_a_byte`].
pub(crate) const OPERATIONS: u64 = 200_000;

/// One rank reads a file byte by byte.
pub(crate) fn operations_of_a_byte(hostile: &mut Hostile) {
    const READ: u8 = 0;
    hostile.define(Definition::String { reference: 10, string: b"POSIX" });
    hostile.define(Definition::IoParadigm {
        reference: 0,
        identification: 10,
        name: 10,
        io_paradigm_class: 0,
        io_paradigm_flags: 0,
        properties: List::from(&[][..]),
    });
    hostile.define(Definition::IoRegularFile { reference: 0, name: 3, scope: 0 });
    hostile.define(Definition::IoHandle {
        reference: 0,
        name: 3,
        file: 0,
        io_paradigm: 0,
        io_handle_flags: 0,
        comm: UNDEFINED,
        parent: UNDEFINED,
    });
    hostile.region(0, 3, false);
    hostile.events_at(0, |write| {
        write(0, Event::Enter { region: 0 });
        write(0, Event::IoCreateHandle { handle: 0, mode: 0, creation_flags: 0, status_flags: 0 });
        for matching_id in 0..OPERATIONS {
            // Some take longer than others.
            let begin = 1000 * matching_id;
            let (handle, end) = (0, begin + 100 + matching_id % 7);
            let (mode, operation_flags, bytes_request) = (READ, 0, 1);
            write(
                begin,
                Event::IoOperationBegin { handle, mode, operation_flags, bytes_request, matching_id },
            );
            write(end, Event::IoOperationComplete { handle, bytes_result: 1, matching_id });
        }
        write(1000 * OPERATIONS, Event::Leave { region: 0 });
    });
}

pub(crate) const ARCHIVES: [(&str, Make); 20] = [
    ("nested calls", nested_calls),
    ("many call paths and many threads", many_call_paths_and_many_threads),
    ("communicators of one large group", communicators_of_one_large_group),
    ("locations without events", locations_without_events),
    ("locations without files", locations_without_files),
    ("processes without events", processes_without_events),
    ("regions of one long name", regions_of_one_long_name),
    ("deep calling contexts", deep_calling_contexts),
    ("messages to oneself", messages_to_oneself),
    ("channels of one message", channels_of_one_message),
    ("requests that are never completed", requests_that_are_never_completed),
    ("calls of one message", calls_of_one_message),
    ("operations of a byte", operations_of_a_byte),
    ("collective operations", collective_operations),
    ("collective operations in which some move nothing", collective_operations_in_which_some_move_nothing),
    ("barriers that wait for many functions", barriers_that_wait_for_many_functions),
    ("late messages", late_messages),
    ("locks", locks),
    ("epochs", epochs),
    ("late messages back and forth", late_messages_back_and_forth),
];
