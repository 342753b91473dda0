//! The table `send`: a row for each message at its sender (advice 5.2, `message`).

use model::Ticks;
use rules::{ABSENT, Type};

use super::rounds::rounds;
use super::sequence::{OfProcess, in_order, members, rank_of, whole};
use super::table::{Field, Of, RowTable, RowsAre};
use crate::ids::{CallId, ReportPath};
use crate::operations::Send;
use crate::tools::Tools;
use crate::wait_states::WaitingMessages;

/// A message at its sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct SendRow {
    path: ReportPath,
    region: u32,
    rank: i64,
    destination: i64,
    tag: i64,
    communicator: i64,
    members: i64,
    bytes: i64,
    time: Ticks,
    waiting: Ticks,
    gap: i64,
    same_envelope: bool,
    same_destination: bool,
    is_first: bool,
    to_all: bool,
}

/// The table.
pub(super) const SENDS: RowTable<SendRow> = RowTable {
    name: "send",
    about: "a message at its sender",
    rows: RowsAre::Plain,
    site: |row| (row.path, row.region),
    fields: &[
        Field { name: "rank", kind: Type::Rank, about: "the rank that sends", of: Of::Whole(|it| it.rank) },
        Field {
            name: "destination",
            kind: Type::Rank,
            about: "the rank that receives",
            of: Of::Whole(|it| it.destination),
        },
        Field { name: "tag", kind: Type::Count, about: "its tag", of: Of::Whole(|it| it.tag) },
        Field {
            name: "communicator",
            kind: Type::Count,
            about: "the number of its communicator",
            of: Of::Whole(|it| it.communicator),
        },
        Field {
            name: "members",
            kind: Type::Count,
            about: "how many members that communicator has",
            of: Of::Whole(|it| it.members),
        },
        Field { name: "bytes", kind: Type::Bytes, about: "its length", of: Of::Whole(|it| it.bytes) },
        Field {
            name: "time",
            kind: Type::Time,
            about: "the time of the call that sends it",
            of: Of::Whole(|it| it.time),
        },
        Field {
            name: "waiting",
            kind: Type::Time,
            about: "the part of it in which that call waits for the receiver",
            of: Of::Whole(|it| it.waiting),
        },
        Field {
            name: "gap",
            kind: Type::Time,
            about: "the time since the last call of MPI of the thread",
            of: Of::Whole(|it| it.gap),
        },
        Field {
            name: "same_envelope",
            kind: Type::Bool,
            about: "whether the call before sent to the same rank with the same tag and communicator",
            of: Of::Flag(|it| it.same_envelope),
        },
        Field {
            name: "same_destination",
            kind: Type::Bool,
            about: "whether the call before sent to the same rank with the same communicator",
            of: Of::Flag(|it| it.same_destination),
        },
        Field {
            name: "is_first",
            kind: Type::Bool,
            about: "whether the call before sent nothing",
            of: Of::Flag(|it| it.is_first),
        },
        Field {
            name: "first_to",
            kind: Type::Rank,
            about: "the rank that receives, if the call before sent nothing",
            of: Of::Whole(|it| if it.is_first { it.destination } else { ABSENT }),
        },
        Field {
            name: "to_all",
            kind: Type::Bool,
            about: "whether it is one of several in a row, of the same length, to all others of the communicator",
            of: Of::Flag(|it| it.to_all),
        },
    ],
};

/// The last of some sends that a call has sent, if it has sent any of them.
pub(super) fn last_of(sends: &[Send], call: CallId) -> Option<&Send> {
    // Sends are in the order of calls, but for other threads in between.
    sends.iter().rev().take_while(|it| it.call >= call).find(|it| it.call == call)
}

/// Gives the rows of a process, in the order of its sends.
pub(super) fn rows(
    tools: &Tools<'_>,
    of: OfProcess<'_>,
    waiting: &WaitingMessages,
    mut give: impl FnMut(SendRow),
) {
    let OfProcess { operations, sequence, rank, .. } = of;
    let sends = &operations.sends;
    let follows = |one: &Send, next: &Send| {
        let [a, b] = [one, next].map(|it| operations.destination(it));
        one.call == sequence.before(next.call) && one.bytes == next.bytes && a.communicator == b.communicator
    };
    let to_all = rounds(sends, follows, |send| {
        let envelope = operations.destination(send);
        (envelope.peer, members(tools, envelope.communicator).saturating_sub(1))
    });
    let mut waits = in_order(&waiting.sends);
    for (at, send) in sends.iter().enumerate() {
        let waited = match waits.next_if(|&(of, _)| of as usize == at) {
            Some((_, ticks)) if send.completion == send.call => ticks,
            _ => 0,
        };
        let Some((path, region)) = of.site(send.call) else { continue };
        let envelope = operations.destination(send);
        let before = sequence.before(send.call);
        let last = last_of(&sends[..at], before);
        give(SendRow {
            path,
            region,
            rank,
            destination: rank_of(tools, envelope.peer as usize),
            tag: envelope.tag.into(),
            communicator: envelope.communicator.into(),
            members: members(tools, envelope.communicator),
            bytes: whole(send.bytes),
            time: operations.call(send.call).interval.length(),
            waiting: waited,
            gap: sequence.gap(operations, send.call).unwrap_or(ABSENT),
            same_envelope: last.is_some_and(|last| last.envelope() == send.envelope()),
            same_destination: last
                .map(|last| operations.destination(last))
                .is_some_and(|last| (last.peer, last.communicator) == (envelope.peer, envelope.communicator)),
            is_first: last.is_none(),
            to_all: to_all[at],
        });
    }
}
