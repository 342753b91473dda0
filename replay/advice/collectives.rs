//! The table `collective`: a row for each member of a blocking collective operation (advice 5.2).

use model::{CollectiveOp, Ticks};
use rules::{ABSENT, Type};

use super::sequence::{OfProcess, members, rank_of, whole};
use super::table::{Field, Of, RowTable, RowsAre};
use crate::ids::{CallId, ReportPath};
use crate::matching::{Matches, Progression, Synchronised};
use crate::operations::Collective;
use crate::tools::Tools;

/// Kinds of operations by OTF2's code, as MPI calls them.
pub(super) const OPERATIONS: [&str; 17] = [
    "Barrier",
    "Bcast",
    "Gather",
    "Gatherv",
    "Scatter",
    "Scatterv",
    "Allgather",
    "Allgatherv",
    "Alltoall",
    "Alltoallv",
    "Alltoallw",
    "Allreduce",
    "Reduce",
    "Reduce_scatter",
    "Scan",
    "Exscan",
    "Reduce_scatter_block",
];

/// A member of an operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct CollectiveRow {
    path: ReportPath,
    region: u32,
    rank: i64,
    operation: i64,
    communicator: i64,
    members: i64,
    sent: i64,
    received: i64,
    time: Ticks,
    wait: Ticks,
    completion: Ticks,
    is_last: bool,
    gap: i64,
    gap_behind: i64,
    before: i64,
    same: bool,
    same_bytes: bool,
    next_to: bool,
    may_protect: bool,
    last_rank: i64,
    previous_region: i64,
    next_region: i64,
}

/// The table.
pub(super) const COLLECTIVES: RowTable<CollectiveRow> = RowTable {
    name: "collective",
    about: "a member of a blocking collective operation",
    rows: RowsAre::Plain,
    site: |row| (row.path, row.region),
    fields: &[
        Field { name: "rank", kind: Type::Rank, about: "its rank", of: Of::Whole(|it| it.rank) },
        Field {
            name: "operation",
            kind: Type::Operation,
            about: "its kind",
            of: Of::Whole(|it| it.operation),
        },
        Field {
            name: "communicator",
            kind: Type::Count,
            about: "the number of its communicator",
            of: Of::Whole(|it| it.communicator),
        },
        Field {
            name: "members",
            kind: Type::Count,
            about: "how many members there are",
            of: Of::Whole(|it| it.members),
        },
        Field { name: "sent", kind: Type::Bytes, about: "bytes that it sends", of: Of::Whole(|it| it.sent) },
        Field {
            name: "received",
            kind: Type::Bytes,
            about: "bytes that it receives",
            of: Of::Whole(|it| it.received),
        },
        Field { name: "time", kind: Type::Time, about: "the time of its call", of: Of::Whole(|it| it.time) },
        Field {
            name: "wait",
            kind: Type::Time,
            about: "the part of it in which it waits for others",
            of: Of::Whole(|it| it.wait),
        },
        Field {
            name: "completion",
            kind: Type::Time,
            about: "the rest of it",
            of: Of::Whole(|it| it.completion),
        },
        Field {
            name: "is_last",
            kind: Type::Bool,
            about: "whether those that wait for others wait for it",
            of: Of::Flag(|it| it.is_last),
        },
        Field {
            name: "gap",
            kind: Type::Time,
            about: "the time since the last call of MPI of the thread",
            of: Of::Whole(|it| it.gap),
        },
        Field {
            name: "gap_behind",
            kind: Type::Time,
            about: "the time until the next call of MPI of the thread",
            of: Of::Whole(|it| it.gap_behind),
        },
        Field {
            name: "before",
            kind: Type::Operation,
            about: "the operation of the call before, if it is one of the same communicator",
            of: Of::Whole(|it| it.before),
        },
        Field {
            name: "same",
            kind: Type::Bool,
            about: "whether the call before is the same operation with the same communicator and root",
            of: Of::Flag(|it| it.same),
        },
        Field {
            name: "same_bytes",
            kind: Type::Bool,
            about: "whether the call before is an operation of the same communicator, and root if both have one, with as many bytes",
            of: Of::Flag(|it| it.same_bytes),
        },
        Field {
            name: "next_to",
            kind: Type::Bool,
            about: "whether the call before or behind, with less time in between than it takes without waiting, is an operation of the same communicator that synchronises all",
            of: Of::Flag(|it| it.next_to),
        },
        Field {
            name: "may_protect",
            kind: Type::Bool,
            about: "whether it is a barrier, and the call before or behind is of a file or a window, or starts processes",
            of: Of::Flag(|it| it.may_protect),
        },
        Field {
            name: "last_rank",
            kind: Type::Rank,
            about: "the rank that others wait for",
            of: Of::Whole(|it| it.last_rank),
        },
        Field {
            name: "previous_region",
            kind: Type::Text,
            about: "the call of MPI before on its thread",
            of: Of::Region(|it| it.previous_region),
        },
        Field {
            name: "next_region",
            kind: Type::Text,
            about: "the call of MPI behind on its thread",
            of: Of::Region(|it| it.next_region),
        },
    ],
};

/// Gives the rows of a process, in the order of its operations.
pub(super) fn rows(
    tools: &Tools<'_>,
    of: OfProcess<'_>,
    matches: &Matches,
    mut give: impl FnMut(CollectiveRow),
) {
    let OfProcess { operations, sequence, rank, process, .. } = of;
    let all = &operations.collectives;
    let is_known = |it: &Collective| usize::from(it.operation) < OPERATIONS.len() && it.call != CallId::NONE;
    let mut pairwise = matches.pairwise.iter().peekable();
    let last_ranks = last_ranks(tools, all.len(), matches);
    for (at, it) in all.iter().enumerate() {
        let progression = pairwise.next_if(|(position, _)| *position as usize == at);
        let Some((path, region)) = of.site(it.call).filter(|_| is_known(it)) else { continue };
        let membership = matches.collectives.get(at).copied().unwrap_or_default();
        let of_class = it.class.and_then(|class| membership.member(class, it.begin, it.end));
        let member = of_class.or_else(|| progression?.1.member(it));
        let rules = member.iter().flat_map(|member| {
            let rules = tools.metrics.at_collective(member.class).iter();
            rules.filter(|(pattern, _)| pattern.pattern.is_waiting).map(|(_, rule)| rule(member))
        });
        let time = operations.call(it.call).interval.length();
        let wait = rules.sum::<Ticks>().clamp(0, time);
        let gap = sequence.gap(operations, it.call);
        let before = at.checked_sub(1).map(|before| &all[before]).filter(|before| {
            before.call == sequence.before(it.call)
                && before.communicator == it.communicator
                && is_known(before)
        });
        let next = all.get(at + 1).filter(|next| {
            sequence.before(next.call) == it.call && next.communicator == it.communicator && is_known(next)
        });
        let is_near = |gap: Option<Ticks>| gap.is_some_and(|gap| gap <= time - wait);
        let next_to_before = before.is_some_and(|it| synchronises_all(it.operation)) && is_near(gap);
        let next_to_next = next.is_some_and(|next| {
            synchronises_all(next.operation) && is_near(sequence.gap(operations, next.call))
        });
        let last_begin = membership.synchronisation().map(|it| it.last_begin);
        give(CollectiveRow {
            path,
            region,
            rank,
            operation: it.operation.into(),
            communicator: it.communicator.into(),
            members: members(tools, it.communicator),
            sent: whole(it.sent),
            received: whole(it.received),
            time,
            wait,
            completion: time - wait,
            is_last: last_begin.is_some_and(|last| it.begin >= last),
            gap: gap.unwrap_or(ABSENT),
            gap_behind: sequence.gap_behind(operations, it.call).unwrap_or(ABSENT),
            before: before.map_or(ABSENT, |before| before.operation.into()),
            same: before.is_some_and(|before| before.operation == it.operation && before.root == it.root),
            same_bytes: before.is_some_and(|before| {
                let is_as_long = before.sent.max(before.received) == it.sent.max(it.received);
                has_same_root(before, it) && (is_as_long || is_root(tools, process, it))
            }),
            next_to: next_to_before || next_to_next,
            may_protect: CollectiveOp(it.operation) == CollectiveOp::BARRIER
                && [sequence.before(it.call), sequence.behind(it.call)]
                    .into_iter()
                    .any(|call| is_protected(tools, of, call)),
            last_rank: last_ranks[at],
            previous_region: of.region(sequence.before(it.call)).map_or(ABSENT, i64::from),
            next_region: of.region(sequence.behind(it.call)).map_or(ABSENT, i64::from),
        });
    }
}

/// For each of so many operations the rank that others wait for, as root causes blame it, or [`ABSENT`].
fn last_ranks(tools: &Tools<'_>, operations: usize, matches: &Matches) -> Vec<i64> {
    let mut ranks = vec![ABSENT; operations];
    let blamed = |&(at, ref it): &(u32, Synchronised)| Some((at, tools.process_of(it.blamed?.location)));
    let of_pairs = |&(at, it): &(u32, Progression)| match it {
        Progression::Together { blamed: Some((process, _)), .. } => Some((at, process as usize)),
        _ => None,
    };
    let partners = matches.partners.iter().filter_map(blamed);
    for (at, process) in partners.chain(matches.pairwise.iter().filter_map(of_pairs)) {
        ranks[at as usize] = rank_of(tools, process);
    }
    ranks
}

/// Whether a call does what others may see outside of messages, so that a barrier beside it may be needed (advice 4.4, `barrier`).
fn is_protected(tools: &Tools<'_>, of: OfProcess<'_>, call: CallId) -> bool {
    of.region(call).is_some_and(|region| {
        let name = tools.trace.region_name(region);
        ["MPI_File_", "MPI_Win_", "MPI_Comm_spawn"].iter().any(|prefix| name.starts_with(prefix))
    })
}

/// Whether a process is the root, for which operations count the bytes of all members or not.
fn is_root(tools: &Tools<'_>, process: usize, it: &Collective) -> bool {
    let communicator = tools.trace.communicators.get(it.communicator as usize);
    communicator.is_some_and(|communicator| communicator.peer(process, it.root) == Some(process))
}

/// Whether no member returns before all have begun.
fn synchronises_all(operation: u8) -> bool {
    matches!(
        CollectiveOp(operation),
        CollectiveOp::BARRIER
            | CollectiveOp::ALLGATHER
            | CollectiveOp::ALLGATHERV
            | CollectiveOp::ALLTOALL
            | CollectiveOp::ALLREDUCE
            | CollectiveOp::REDUCE_SCATTER
            | CollectiveOp::REDUCE_SCATTER_BLOCK
    )
}

/// Whether two operations have the same root, as far as they have one.
fn has_same_root(one: &Collective, other: &Collective) -> bool {
    let has_root = |it: &Collective| {
        matches!(
            CollectiveOp(it.operation),
            CollectiveOp::BCAST
                | CollectiveOp::GATHER
                | CollectiveOp::GATHERV
                | CollectiveOp::SCATTER
                | CollectiveOp::SCATTERV
                | CollectiveOp::REDUCE
        )
    };
    !has_root(one) || !has_root(other) || one.root == other.root
}
