//! Events of a location, with references for names.

use model::{MeasurementMode, Paradigm};
use otf2::{Event, List, MappingType, MetricValue, ROOT_NONE, Timestamp, ValueType};

use super::attributes::{attribute, group_of};
use super::definitions::copying;
use super::names::Names;
use super::{Written, team_of};
use crate::support::trace::{
    AtWindow, CopyDirection, Message, MetricClass, OfFile, Step, Stream, StreamKind, Trace,
};

impl Names {
    /// The events of a stream with references for names, within the events of the program.
    pub(super) fn events(&self, trace: &Trace, stream: &Stream) -> Vec<Written> {
        let mapped = self.mapped(trace);
        let local = |kind: MappingType, global: u32| match mapped.iter().find(|it| it.0 == kind) {
            Some((_, count)) if stream.mapped && global < *count => count - 1 - global,
            _ => global,
        };
        let region = |name: &str| local(MappingType::Region, self.region_of[name]);
        let comm = |name: &str| {
            let team = (name == "team").then(|| team_of(trace, stream.rank));
            let known = team.or_else(|| self.communicators.get(name).copied());
            local(MappingType::Comm, known.unwrap_or_else(|| panic!("no communicator {name:?}")))
        };
        let group = |name: &str| {
            let mut known =
                ["world", "self"].into_iter().chain(trace.communicators.iter().map(|it| it.0.as_str()));
            let at = known.position(|known| known == name);
            group_of(trace, at.unwrap_or_else(|| panic!("no communicator {name:?}")) as u64) as u32
        };
        let context = |name: &str| {
            let known = self.contexts.get(name);
            local(MappingType::CallingContext, *known.unwrap_or_else(|| panic!("no context {name:?}")))
        };
        let mut stack: Vec<(&str, &[(&'static str, u64)])> = Vec::new();
        let mut events = Vec::new();
        let is_main = stream.kind == StreamKind::Thread && stream.thread == 0;
        let program = stream.program.as_ref().or(trace.program.as_ref()).filter(|_| is_main);
        let times = stream.events.first().zip(stream.events.last()).map(|(a, b)| (a.0, b.0));
        if let (Some(program), Some((first, _))) = (program, times) {
            let program_name = local(MappingType::String, self.string_of[program]);
            let event = Event::ProgramBegin { program_name, program_arguments: List::EMPTY };
            events.push((first, event, Vec::new()));
        }
        for (time, step) in &stream.events {
            let (step, attributes) = match step {
                Step::WithAttributes(step, attributes) => (&**step, attributes.as_slice()),
                step => (step, &[][..]),
            };
            let mut attributes = attributes;
            let event = match step {
                Step::Enter(name) => {
                    stack.push((name, &[]));
                    Event::Enter { region: region(name) }
                }
                Step::Offload { region: name, at_enter, at_leave } => {
                    stack.push((name, at_leave));
                    attributes = at_enter;
                    Event::Enter { region: region(name) }
                }
                Step::Copy { direction, bytes, until } => {
                    let (begin, end) = copy(trace, stream, *direction, *bytes);
                    events.push((*time, begin, Vec::new()));
                    events.push((*until, end, Vec::new()));
                    continue;
                }
                Step::Leave => {
                    let (name, at_leave) = stack.pop().unwrap_or_else(|| panic!("{time} <: nothing is open"));
                    if attributes.is_empty() {
                        attributes = at_leave;
                    }
                    Event::Leave { region: region(name) }
                }
                Step::LeaveRegion(name) => {
                    if stack.last().is_some_and(|open| open.0 == name) {
                        stack.pop();
                    }
                    Event::Leave { region: region(name) }
                }
                Step::ContextEnter(name, unwind_distance) => Event::CallingContextEnter {
                    calling_context: context(name),
                    unwind_distance: *unwind_distance,
                },
                Step::ContextLeave(name) => Event::CallingContextLeave { calling_context: context(name) },
                Step::Sample(name, unwind_distance) => Event::CallingContextSample {
                    calling_context: context(name),
                    unwind_distance: *unwind_distance,
                    interrupt_generator: 0,
                },
                Step::Parameter(name, value) => {
                    Event::ParameterUnsignedInt { parameter: self.string_of[name], value: *value }
                }
                Step::Flush { until } => Event::BufferFlush { stop_time: Timestamp(trace.offset + until) },
                Step::Window(name, event) => {
                    let known = self.windows.get(name).unwrap_or_else(|| panic!("no window {name:?}"));
                    at_window(event, local(MappingType::RmaWin, *known), &group)
                }
                Step::File(name, event) => {
                    let known = self.files.get(name).unwrap_or_else(|| panic!("no file {name:?}"));
                    of_file(event, local(MappingType::IoHandle, *known))
                }
                _ => communication(step, &comm).or_else(|| threading(step, &comm)).expect("every step"),
            };
            events.push((
                *time,
                event,
                attributes.iter().map(|known| attribute(trace, known, (&local, &self.string_of))).collect(),
            ));
        }
        if let (Some(_), Some((_, last))) = (program, times) {
            events.push((last, Event::ProgramEnd { exit_status: 0 }, Vec::new()));
        }
        events.into_iter().map(|(time, event, attributes)| (trace.offset + time, event, attributes)).collect()
    }
}

fn communication(step: &Step, comm: &dyn Fn(&str) -> u32) -> Option<Event<'static>> {
    let parts = |m: &Message| (m.peer, comm(&m.communicator), m.tag, m.bytes);
    Some(match step {
        Step::Send(message) => {
            let (receiver, communicator, msg_tag, msg_length) = parts(message);
            Event::MpiSend { receiver, communicator, msg_tag, msg_length }
        }
        Step::Isend(message, request_id) => {
            let (receiver, communicator, msg_tag, msg_length) = parts(message);
            Event::MpiIsend { receiver, communicator, msg_tag, msg_length, request_id: *request_id }
        }
        Step::Recv(message) => {
            let (sender, communicator, msg_tag, msg_length) = parts(message);
            Event::MpiRecv { sender, communicator, msg_tag, msg_length }
        }
        Step::Irecv(message, request_id) => {
            let (sender, communicator, msg_tag, msg_length) = parts(message);
            Event::MpiIrecv { sender, communicator, msg_tag, msg_length, request_id: *request_id }
        }
        Step::Probe(message, message_id) => {
            let (sender, communicator, tag, _) = parts(message);
            Event::MpiProbe { sender, communicator, tag, message_id: *message_id }
        }
        Step::IsendComplete(request_id) => Event::MpiIsendComplete { request_id: *request_id },
        Step::IrecvRequest(request_id) => Event::MpiIrecvRequest { request_id: *request_id },
        Step::Test(request_id) => Event::MpiRequestTest { request_id: *request_id },
        Step::Cancel(request_id) => Event::MpiRequestCancelled { request_id: *request_id },
        Step::Mrecv { message, bytes } => Event::MpiMrecv { message_id: *message, msg_length: *bytes },
        Step::ImrecvRequest { message, request } => {
            Event::MpiImrecvRequest { message_id: *message, request_id: *request }
        }
        Step::Imrecv { request, bytes } => Event::MpiImrecv { request_id: *request, msg_length: *bytes },
        Step::CommCreate(communicator) => Event::CommCreate { communicator: comm(communicator) },
        Step::CollectiveBegin => Event::MpiCollectiveBegin {},
        Step::WindowCollectiveBegin => Event::RmaCollectiveBegin {},
        Step::CollectiveEnd { operation, root, sent, received, communicator } => Event::MpiCollectiveEnd {
            collective_op: *operation,
            communicator: comm(communicator),
            root: root.unwrap_or(ROOT_NONE),
            size_sent: *sent,
            size_received: *received,
        },
        Step::NonBlockingRequest(request_id) => {
            Event::NonBlockingCollectiveRequest { request_id: *request_id }
        }
        Step::NonBlockingComplete { operation, root, sent, received, communicator, request } => {
            Event::NonBlockingCollectiveComplete {
                collective_op: *operation,
                communicator: comm(communicator),
                root: root.unwrap_or(ROOT_NONE),
                size_sent: *sent,
                size_received: *received,
                request_id: *request,
            }
        }
        _ => return None,
    })
}

/// A copy on a stream in the window of copies, begin and end. Score-P matches all of them by one number.
fn copy(
    trace: &Trace,
    stream: &Stream,
    direction: CopyDirection,
    bytes: u64,
) -> (Event<'static>, Event<'static>) {
    let partner = match direction {
        CopyDirection::OnDevice => stream.reference(),
        CopyDirection::ToDevice | CopyDirection::ToHost => u64::from(stream.rank),
    };
    let remote =
        copying(trace).iter().position(|it| it.reference() == partner).expect("a main thread") as u32;
    let (win, matching_id) = (trace.windows.len() as u32, 42);
    let begin = match direction {
        CopyDirection::ToHost => Event::RmaPut { win, remote, bytes, matching_id },
        CopyDirection::ToDevice | CopyDirection::OnDevice => {
            Event::RmaGet { win, remote, bytes, matching_id }
        }
    };
    (begin, Event::RmaOpCompleteBlocking { win, matching_id })
}

/// OTF2's rank for all members of a window.
const ALL: u32 = u32::MAX;

fn at_window(event: &AtWindow, win: u32, group: &dyn Fn(&str) -> u32) -> Event<'static> {
    let (lock_id, matching_id) = (0, 0);
    match *event {
        AtWindow::CollectiveEnd(collective_op) => Event::RmaCollectiveEnd {
            collective_op,
            sync_level: 3,
            win,
            root: ROOT_NONE,
            bytes_sent: 0,
            bytes_received: 0,
        },
        AtWindow::GroupSync { group: ref name, level } => {
            Event::RmaGroupSync { sync_level: level, win, group: group(name) }
        }
        AtWindow::RequestLock { target, is_shared } => {
            Event::RmaRequestLock { win, remote: target.unwrap_or(ALL), lock_id, lock_type: is_shared.into() }
        }
        AtWindow::ReleaseLock { target } => {
            Event::RmaReleaseLock { win, remote: target.unwrap_or(ALL), lock_id }
        }
        AtWindow::Put { target, bytes } => Event::RmaPut { win, remote: target, bytes, matching_id },
        AtWindow::Get { target, bytes } => Event::RmaGet { win, remote: target, bytes, matching_id },
        AtWindow::Atomic { target, sent, received } => Event::RmaAtomic {
            win,
            remote: target,
            atomic_type: 0,
            bytes_sent: sent,
            bytes_received: received,
            matching_id,
        },
        AtWindow::Complete(matching_id) => Event::RmaOpCompleteBlocking { win, matching_id },
    }
}

fn of_file(event: &OfFile, handle: u32) -> Event<'static> {
    match *event {
        OfFile::Create => Event::IoCreateHandle { handle, mode: 0, creation_flags: 0, status_flags: 0 },
        OfFile::Destroy => Event::IoDestroyHandle { handle },
        OfFile::Begin { operation, mode, flags, bytes } => Event::IoOperationBegin {
            handle,
            mode,
            operation_flags: flags,
            bytes_request: bytes,
            matching_id: operation,
        },
        OfFile::Complete(matching_id, bytes_result) => {
            Event::IoOperationComplete { handle, bytes_result, matching_id }
        }
        OfFile::Cancel(matching_id) => Event::IoOperationCancelled { handle, matching_id },
        OfFile::Seek(to) => {
            Event::IoSeek { handle, offset_request: to.cast_signed(), whence: 0, offset_result: to }
        }
    }
}

/// The metric values that a script can record, whole numbers and real ones, which are half more; an event borrows its list.
static VALUES: [[[MetricValue; 1]; 64]; 2] = {
    let mut values = [
        [[MetricValue { kind: ValueType::UINT64, bits: 0 }]; 64],
        [[MetricValue { kind: ValueType::DOUBLE, bits: 0 }]; 64],
    ];
    let mut at = 0;
    while at < 64 {
        values[0][at][0].bits = at as u64;
        values[1][at][0].bits = (at as f64 + 0.5).to_bits();
        at += 1;
    }
    values
};

fn threading(step: &Step, comm: &dyn Fn(&str) -> u32) -> Option<Event<'static>> {
    let model = Paradigm::OPENMP;
    Some(match step {
        Step::Fork => Event::ThreadFork { model, number_of_requested_threads: 2 },
        Step::Join => Event::ThreadJoin { model },
        Step::TeamBegin => Event::ThreadTeamBegin { thread_team: comm("team") },
        Step::TeamEnd => Event::ThreadTeamEnd { thread_team: comm("team") },
        &Step::TaskCreate(creating_thread, generation_number) => {
            Event::ThreadTaskCreate { thread_team: comm("team"), creating_thread, generation_number }
        }
        &Step::TaskSwitch(creating_thread, generation_number) => {
            Event::ThreadTaskSwitch { thread_team: comm("team"), creating_thread, generation_number }
        }
        &Step::TaskComplete(creating_thread, generation_number) => {
            Event::ThreadTaskComplete { thread_team: comm("team"), creating_thread, generation_number }
        }
        &Step::Acquire { model, lock, order } => {
            Event::ThreadAcquireLock { model, lock_id: lock, acquisition_order: order }
        }
        &Step::Release { model, lock, order } => {
            Event::ThreadReleaseLock { model, lock_id: lock, acquisition_order: order }
        }
        Step::Recording(on) => Event::MeasurementOnOff {
            measurement_mode: if *on { MeasurementMode::ON } else { MeasurementMode::OFF },
        },
        Step::Metric(class, value) => {
            let of_kind = &VALUES[usize::from(*class == MetricClass::Joules)];
            let values = of_kind.get(*value as usize).expect("a metric value below 64");
            Event::Metric { metric: *class as u32, metric_values: values.as_slice().into() }
        }
        _ => return None,
    })
}
