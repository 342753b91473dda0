//! The table `late_send`: whose messages came late, who waited where, and whether messages went both ways (advice 4.2).

use std::collections::BTreeMap;

use model::Ticks;
use rules::Type;
use rustc_hash::FxHashSet;

use super::Known;
use super::bounds::waited;
use super::sequence::rank_of;
use super::table::{Field, Of, RowTable, RowsAre};
use crate::error::Error;
use crate::exchange::{Batch, Exchange};
use crate::ids::{PathId, ReportPath};
use crate::int::{to_u32, to_usize};
use crate::matching::Matches;
use crate::tools::Tools;
use crate::wait_states::WaitingMessages;
use crate::walk::Walked;
use crate::wire::{self, Wire, wire};

/// Waiting of the receivers of late messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Waited {
    messages: u64,
    ticks: Ticks,
    /// The part of it in messages whose receiver sends to their sender, too.
    two_way: Ticks,
    /// The part of it in messages that are not eager everywhere.
    long: Ticks,
}

/// Messages up to so many bytes are sent whole, whether or not the receiver is in a call, by all libraries as they come: the least is
/// that of Open MPI 4 in shared memory.
const EAGER: u64 = 4096;

/// Late messages of a process of this worker: by the call path that waits, the process that sent, and the call path there.
pub(super) type LateMessages = BTreeMap<(PathId, u32, PathId), Waited>;

/// Late messages of a pair of call paths, at the process that sent.
#[derive(Clone, Copy, Debug)]
struct LateSends {
    process: u32,
    sent_in: PathId,
    waiting_in: u64,
    /// Whether the receiver hands out work to others.
    to_master: u64,
    waited: Waited,
}

/// Who sent late messages, in which call paths of the report, and whether their receivers hand out work.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Key {
    rank: i64,
    sent_in: ReportPath,
    waiting_in: ReportPath,
    to_master: bool,
}

wire!(Waited { messages, ticks, two_way, long });
wire!(LateSends { [process, sent_in], waiting_in, to_master, waited });

/// Late messages of a call path of a rank, and of one where their receivers waited.
#[derive(Clone, Copy, Debug)]
pub(super) struct LateSend {
    key: Key,
    region: u32,
    waited: Waited,
    is_master: bool,
    /// The share of the run that the sender waits itself.
    idle: f64,
}

impl LateSend {
    /// The rank that sent, and the waiting of receivers there, with the part of it of those that send to this rank, too; nothing
    /// where either side hands out work.
    pub(super) fn of_rank(&self) -> Option<(i64, Ticks, Ticks)> {
        let is_of_master = self.is_master || self.key.to_master;
        (!is_of_master).then_some((self.key.rank, self.waited.ticks, self.waited.two_way))
    }
}

/// The table.
pub(super) const LATE_SENDS: RowTable<LateSend> = RowTable {
    name: "late_send",
    about: "a call path of a rank that sent late messages, and one where their receivers waited",
    rows: RowsAre::Plain,
    site: |row| (row.key.sent_in, row.region),
    fields: &[
        Field {
            name: "rank",
            kind: Type::Rank,
            about: "the rank that sent",
            of: Of::Whole(|it| it.key.rank),
        },
        Field {
            name: "waiting_in",
            kind: Type::Path,
            about: "the call path where receivers waited",
            of: Of::Whole(|it| it.key.waiting_in.index() as i64),
        },
        Field {
            name: "messages",
            kind: Type::Count,
            about: "late messages",
            of: Of::Whole(|it| it.waited.messages.cast_signed()),
        },
        Field {
            name: "waiting",
            kind: Type::Time,
            about: "waiting of their receivers",
            of: Of::Whole(|it| it.waited.ticks),
        },
        Field {
            name: "two_way",
            kind: Type::Time,
            about: "the part of it of receivers that send to this rank, too",
            of: Of::Whole(|it| it.waited.two_way),
        },
        Field {
            name: "long",
            kind: Type::Time,
            about: "the part of it for messages of more than 4096 B, which some libraries move only while both sides are in MPI",
            of: Of::Whole(|it| it.waited.long),
        },
        Field {
            name: "is_master",
            kind: Type::Bool,
            about: "whether the rank hands out work to others",
            of: Of::Flag(|it| it.is_master),
        },
        Field {
            name: "to_master",
            kind: Type::Bool,
            about: "whether the receivers do",
            of: Of::Flag(|it| it.key.to_master),
        },
        Field {
            name: "idle",
            kind: Type::Number,
            about: "the share of the run that the rank waits itself",
            of: Of::Number(|it| it.idle),
        },
    ],
};

/// Late messages that a process received, once its wait states are known.
pub(super) fn late_messages(
    tools: &Tools<'_>,
    walked: &Walked,
    matches: &Matches,
    waiting: &WaitingMessages,
) -> LateMessages {
    let operations = &walked.operations;
    let sent_to: FxHashSet<u32> = operations.destinations.list().iter().map(|it| it.peer).collect();
    let mut late = LateMessages::new();
    for (at, call, ticks) in waiting.for_senders(operations) {
        let Some(send) = matches.sends.get(at as usize) else { continue };
        let process = to_u32(tools.process_of(send.place.location));
        let waited = late.entry((operations.site(call).path, process, send.place.path)).or_default();
        waited.messages += 1;
        waited.ticks = waited.ticks.saturating_add(ticks);
        if sent_to.contains(&process) {
            waited.two_way = waited.two_way.saturating_add(ticks);
        }
        if operations.receives.get(at as usize).is_some_and(|receive| receive.bytes > EAGER) {
            waited.long = waited.long.saturating_add(ticks);
        }
    }
    late
}

/// The rows, each at the worker of the process that sent, of the late messages of this worker's processes.
///
/// # Errors
/// If a worker failed.
pub(super) fn rows(
    tools: &Tools<'_>,
    (known, run): (Known<'_>, Ticks),
    late: &[LateMessages],
    exchange: &mut dyn Exchange,
) -> Result<Vec<LateSend>, Error> {
    let mut outgoing = vec![Batch::new(); exchange.workers()];
    let masters = known.timed.master_ranks();
    for ((late, numbers), receiver) in late.iter().zip(&known.paths.numbers).zip(known.processes) {
        let rank = rank_of(tools, receiver.number);
        let to_master = u64::from(masters.contains(&rank));
        for (&(waiting_in, process, sent_in), &waited) in late {
            let Some(path) = numbers.get(waiting_in.index()).filter(|path| !path.is_none()) else {
                continue;
            };
            let waiting_in = path.index() as u64;
            LateSends { process, sent_in, waiting_in, to_master, waited }
                .put(&mut outgoing[tools.owners.of(process as usize)]);
        }
    }
    let first = known.processes.first().map_or(0, |process| process.number);
    let mut rows = BTreeMap::<Key, Waited>::new();
    for batch in exchange.exchange(outgoing)? {
        for LateSends { process, sent_in, waiting_in, to_master, waited } in wire::all::<LateSends>(&batch) {
            let Some(numbers) = known.paths.numbers.get((process as usize).wrapping_sub(first)) else {
                continue;
            };
            let Some(&path) = numbers.get(sent_in.index()).filter(|path| !path.is_none()) else {
                continue;
            };
            let rank = rank_of(tools, process as usize);
            let waiting_in = ReportPath::new(to_usize(waiting_in));
            let key = Key { rank, sent_in: path, waiting_in, to_master: to_master == 1 };
            let sum = rows.entry(key).or_default();
            sum.messages += waited.messages;
            sum.ticks = sum.ticks.saturating_add(waited.ticks);
            sum.two_way = sum.two_way.saturating_add(waited.two_way);
            sum.long = sum.long.saturating_add(waited.long);
        }
    }
    let waits = known.processes.iter().zip(known.results).filter_map(|(process, results)| {
        let rank = i64::from(tools.trace.processes[process.number].rank?);
        Some((rank, waited(tools, &results.severities[0])))
    });
    let waits: BTreeMap<i64, Ticks> = waits.collect();
    let row = |(key, waited): (Key, Waited)| LateSend {
        key,
        region: known.paths.region(key.sent_in),
        waited,
        is_master: masters.contains(&key.rank),
        idle: waits.get(&key.rank).copied().unwrap_or(0) as f64 / run.max(1) as f64,
    };
    Ok(rows.into_iter().map(row).collect())
}
