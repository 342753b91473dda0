//! The table `receive`: a row for each message at its receiver (advice 5.2, `message`).

use model::Ticks;
use patterns::matched::Completion;
use rules::{ABSENT, Type};

use super::rounds::rounds;
use super::sequence::{OfProcess, in_order, members, rank_of, whole};
use super::table::{Field, Of, RowTable, RowsAre};
use crate::ids::ReportPath;
use crate::int::to_u32;
use crate::matching::Matches;
use crate::operations::Receive;
use crate::tools::Tools;
use crate::wait_states::WaitingMessages;

/// A message at its receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReceiveRow {
    path: ReportPath,
    region: u32,
    rank: i64,
    source: i64,
    tag: i64,
    communicator: i64,
    bytes: i64,
    time: Ticks,
    waiting: Ticks,
    gap: i64,
    found_late: i64,
    members: i64,
    from_all: bool,
}

/// The table.
pub(super) const RECEIVES: RowTable<ReceiveRow> = RowTable {
    name: "receive",
    about: "a message at its receiver",
    rows: RowsAre::Plain,
    site: |row| (row.path, row.region),
    fields: &[
        Field {
            name: "rank",
            kind: Type::Rank,
            about: "the rank that receives",
            of: Of::Whole(|it| it.rank),
        },
        Field {
            name: "source",
            kind: Type::Rank,
            about: "the rank that sends",
            of: Of::Whole(|it| it.source),
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
            about: "the time of the call that completes it",
            of: Of::Whole(|it| it.time),
        },
        Field {
            name: "waiting",
            kind: Type::Time,
            about: "what that call waits for its sender",
            of: Of::Whole(|it| it.waiting),
        },
        Field {
            name: "gap",
            kind: Type::Time,
            about: "the time since the last call of MPI of the thread",
            of: Of::Whole(|it| it.gap),
        },
        Field {
            name: "found_late",
            kind: Type::Time,
            about: "of a message that a test has found, and behind which the thread does not go on as long as before: the time since it was sent, or its send begun if that has not returned, and its receive posted, at most that since the last call of MPI",
            of: Of::Whole(|it| it.found_late),
        },
        Field {
            name: "from_all",
            kind: Type::Bool,
            about: "whether it is one of several in a row, of the same length, from all others of the communicator",
            of: Of::Flag(|it| it.from_all),
        },
    ],
};

/// Gives the rows of a process, in the order of completions.
pub(super) fn rows(
    tools: &Tools<'_>,
    of: OfProcess<'_>,
    (matches, waiting): (&Matches, &WaitingMessages),
    mut give: impl FnMut(ReceiveRow),
) {
    let OfProcess { operations, sequence, rank, .. } = of;
    let mut waits = in_order(&waiting.receives);
    let follows = |one: &Receive, next: &Receive| {
        let [a, b] = [one, next].map(|it| operations.source(it));
        let is_next = one.call == next.call || one.call == sequence.before(next.call);
        is_next && one.bytes == next.bytes && a.communicator == b.communicator
    };
    let from_all = rounds(&operations.receives, follows, |receive| {
        let envelope = operations.source(receive);
        (envelope.peer, members(tools, envelope.communicator).saturating_sub(1))
    });
    for (at, receive) in operations.receives.iter().enumerate() {
        let waited = waits.next_if(|&(of, _)| of as usize == at).map_or(0, |(_, ticks)| ticks);
        let Some((path, region)) = of.site(receive.call) else { continue };
        let envelope = operations.source(receive);
        let call = operations.call(receive.call);
        let gap = sequence.gap(operations, receive.call);
        let found_late = || {
            let send = matches.sends.get(at).filter(|_| call.site.completion == Completion::Test)?;
            // A send that returns no sooner waits for this call to move the message.
            let has_returned = send.call.leave < call.interval.enter;
            let sent = if has_returned { send.call.leave } else { send.call.enter };
            let there = sent.max(operations.posting(to_u32(at)).leave);
            // Work that goes on as before does not wait for the message.
            let behind = sequence.gap_behind(operations, receive.call).unwrap_or(0);
            Some((call.interval.enter - there).clamp(0, gap?)).filter(|_| behind <= gap.unwrap_or(0) / 2)
        };
        give(ReceiveRow {
            path,
            region,
            rank,
            source: rank_of(tools, envelope.peer as usize),
            tag: envelope.tag.into(),
            communicator: envelope.communicator.into(),
            bytes: whole(receive.bytes),
            time: call.interval.length(),
            waiting: waited,
            gap: gap.unwrap_or(ABSENT),
            members: members(tools, envelope.communicator),
            from_all: from_all[at],
            found_late: found_late().unwrap_or(ABSENT),
        });
    }
}
