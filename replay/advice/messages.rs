//! The table `message`: a row for each message that was sent and received (advice 5.2).

use model::Ticks;
use rules::{ABSENT, Type};
use rustc_hash::FxHashSet;

use super::in_mpi::InMpi;
use super::received::{Kept, Messages, Received};
use super::sends::last_of;
use super::sequence::{OfProcess, Sequence, rank_of, whole};
use super::table::{Field, Of, RowTable, RowsAre};
use crate::ids::ReportPath;
use crate::int::to_u32;
use crate::report_paths::ReportPaths;
use crate::tools::Tools;
use crate::what_if::Nodes;

/// A message with both sides.
#[derive(Clone, Copy, Debug)]
pub(super) struct MessageRow {
    path: ReportPath,
    region: u32,
    source: i64,
    thread: i64,
    node: i64,
    destination: i64,
    bytes: i64,
    tag: i64,
    communicator: i64,
    /// What its receiver knows.
    received: Received,
    late_receiver: Ticks,
    /// Waiting for progress at both sides.
    stall: Ticks,
    between_send: i64,
    since_heard: i64,
    sender_in_mpi: Ticks,
    sender_call: ReportPath,
    send_enter: Ticks,
    send_leave: Ticks,
    /// The begin of the run.
    begin: Ticks,
    same_node: bool,
    two_way: bool,
    same_envelope: bool,
}

/// The table.
pub(super) const MESSAGES: RowTable<MessageRow> = RowTable {
    name: "message",
    about: "a message that was sent and received, at the call that sends it",
    rows: RowsAre::Plain,
    site: |row| (row.path, row.region),
    fields: &[
        Field { name: "rank", kind: Type::Rank, about: "the rank that sends", of: Of::Whole(|it| it.source) },
        Field {
            name: "thread",
            kind: Type::Count,
            about: "the number of the thread that sends, 0 for the main one",
            of: Of::Whole(|it| it.thread),
        },
        Field {
            name: "node",
            kind: Type::Text,
            about: "the node of the rank that sends",
            of: Of::Whole(|it| it.node),
        },
        Field {
            name: "source",
            kind: Type::Rank,
            about: "the rank that sends",
            of: Of::Whole(|it| it.source),
        },
        Field {
            name: "destination",
            kind: Type::Rank,
            about: "the rank that receives",
            of: Of::Whole(|it| it.destination),
        },
        Field { name: "bytes", kind: Type::Bytes, about: "its length", of: Of::Whole(|it| it.bytes) },
        Field { name: "tag", kind: Type::Count, about: "its tag", of: Of::Whole(|it| it.tag) },
        Field {
            name: "communicator",
            kind: Type::Count,
            about: "the number of its communicator",
            of: Of::Whole(|it| it.communicator),
        },
        Field {
            name: "send_path",
            kind: Type::Path,
            about: "the call that sends it",
            of: Of::Whole(|it| number(it.path)),
        },
        Field {
            name: "post_path",
            kind: Type::Path,
            about: "the call that posts its receive",
            of: Of::Whole(|it| number(it.received.post_path)),
        },
        Field {
            name: "receive_path",
            kind: Type::Path,
            about: "the call that completes its receive",
            of: Of::Whole(|it| number(it.received.receive_path)),
        },
        Field {
            name: "late_sender",
            kind: Type::Time,
            about: "what the receiver waits for its sender",
            of: Of::Whole(|it| it.received.late),
        },
        Field {
            name: "late_receiver",
            kind: Type::Time,
            about: "what the sender waits for its receiver",
            of: Of::Whole(|it| it.late_receiver),
        },
        Field {
            name: "stall",
            kind: Type::Time,
            about: "what either side waits for the other one to be in MPI, although both have begun",
            of: Of::Whole(|it| it.stall),
        },
        Field {
            name: "wrong_order",
            kind: Type::Time,
            about: "what the receiver waits for its sender, if it has received a message behind it that was sent before",
            of: Of::Whole(|it| if it.received.is_overtaken { it.received.late } else { 0 }),
        },
        Field {
            name: "between_send",
            kind: Type::Time,
            about: "work of the sender between the calls that start and complete the send, if these are two",
            of: Of::Whole(|it| it.between_send),
        },
        Field {
            name: "between_receive",
            kind: Type::Time,
            about: "work of the receiver between the calls that post and complete the receive, if these are two",
            of: Of::Whole(|it| it.received.between),
        },
        Field {
            name: "between_receive_and_send",
            kind: Type::Time,
            about: "work of the sender since the last call in which it has heard of others: one that completes a receive, or is an operation of many",
            of: Of::Whole(|it| it.since_heard),
        },
        Field {
            name: "sender_in_mpi",
            kind: Type::Time,
            about: "the part of late_sender in which the sender is in other calls of MPI",
            of: Of::Whole(|it| it.sender_in_mpi),
        },
        Field {
            name: "sender_call",
            kind: Type::Path,
            about: "the call in which it is longest meanwhile",
            of: Of::Whole(|it| number(it.sender_call)),
        },
        Field {
            name: "send_time",
            kind: Type::Time,
            about: "the time of the call that sends it",
            of: Of::Whole(|it| it.send_leave - it.send_enter),
        },
        Field {
            name: "send_enter",
            kind: Type::Instant,
            about: "when that call is entered",
            of: Of::Whole(|it| it.send_enter - it.begin),
        },
        Field {
            name: "send_leave",
            kind: Type::Instant,
            about: "when it is left",
            of: Of::Whole(|it| it.send_leave - it.begin),
        },
        Field {
            name: "post_enter",
            kind: Type::Instant,
            about: "when the call that posts the receive is entered",
            of: Of::Whole(|it| it.received.post_enter - it.begin),
        },
        Field {
            name: "receive_enter",
            kind: Type::Instant,
            about: "when the call that completes the receive is entered",
            of: Of::Whole(|it| it.received.receive_enter - it.begin),
        },
        Field {
            name: "receive_leave",
            kind: Type::Instant,
            about: "when it is left",
            of: Of::Whole(|it| it.received.receive_leave - it.begin),
        },
        Field {
            name: "same_node",
            kind: Type::Bool,
            about: "whether both ranks are on the same node",
            of: Of::Flag(|it| it.same_node),
        },
        Field {
            name: "two_way",
            kind: Type::Bool,
            about: "whether the receiver sends to the sender, too",
            of: Of::Flag(|it| it.two_way),
        },
        Field {
            name: "same_envelope",
            kind: Type::Bool,
            about: "whether the call before sent to the same rank with the same tag and communicator",
            of: Of::Flag(|it| it.same_envelope),
        },
    ],
};

/// A call path as a value of a column.
fn number(path: ReportPath) -> i64 {
    if path.is_none() { ABSENT } else { path.index() as i64 }
}

/// Gives the rows of a process of which its call paths in the report are known, in the order of its sends. Moments are since `begin`.
pub(super) fn rows(
    tools: &Tools<'_>,
    (paths, numbers): (&ReportPaths, &[ReportPath]),
    (nodes, begin): (&Nodes, Ticks),
    (kept, messages): (&Kept, &Messages),
    mut give: impl FnMut(MessageRow),
) {
    let Kept { process, operations, .. } = kept;
    let (process, operations) = (*process, &**operations);
    let (rank, first) = (rank_of(tools, process), tools.trace.processes[process].locations.start);
    let sequence = Sequence::new(operations);
    let of = OfProcess { process, rank, operations, sequence: &sequence, paths, numbers };
    let in_mpi = InMpi::new(first, operations);
    let received_from: FxHashSet<u32> = operations.sources.list().iter().map(|it| it.peer).collect();
    for (at, send) in operations.sends.iter().enumerate() {
        let Some((path, region)) = of.site(send.call) else { continue };
        let call = operations.call(send.call);
        let (location, enter) = (call.site.location, call.interval.enter);
        let Some(&received) = messages.find(location, send.position) else { continue };
        let envelope = operations.destination(send);
        let [late_receiver, stall] = kept.waits_of_send(to_u32(at));
        let completion = operations.calls.find(send.completion).filter(|_| send.completion != send.call);
        let work = |from: Ticks, to: Ticks| in_mpi.outside(location, from, to);
        let awaited = enter - received.late;
        let sender_call = in_mpi.longest(location, awaited, enter).and_then(|call| of.site(call));
        let last = last_of(&operations.sends[..at], sequence.before(send.call));
        let node = nodes.of(location as usize);
        let other = tools.trace.processes[envelope.peer as usize].locations.start;
        give(MessageRow {
            path,
            region,
            source: rank,
            thread: i64::from(location) - first as i64,
            node: node.map_or(ABSENT, i64::from),
            destination: rank_of(tools, envelope.peer as usize),
            bytes: whole(send.bytes),
            tag: envelope.tag.into(),
            communicator: envelope.communicator.into(),
            received,
            late_receiver,
            stall: stall.saturating_add(received.stall),
            between_send: completion.map_or(ABSENT, |it| work(call.interval.leave, it.interval.enter)),
            since_heard: in_mpi.heard(location, enter).map_or(ABSENT, |heard| work(heard, enter)),
            sender_in_mpi: in_mpi.inside(location, awaited, enter),
            sender_call: sender_call.map_or(ReportPath::NONE, |(path, _)| path),
            send_enter: enter,
            send_leave: call.interval.leave,
            begin,
            same_node: node.is_some() && node == nodes.of(other),
            two_way: received_from.contains(&envelope.peer),
            same_envelope: last.is_some_and(|last| last.envelope() == send.envelope()),
        });
    }
}
