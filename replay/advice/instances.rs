//! The tables `visit` and `pair`: visits of regions, and pairs of calls, that events of rules are (advice 5.2).

use model::Ticks;
use rules::Type;

use super::sequence::{OfProcess, whole};
use super::table::{Field, Of, RowTable, RowsAre};
use crate::ids::{CallId, ReportPath};
use crate::int::to_u32;
use crate::operations::Operations;
use crate::walk::{EventInstances, EventVisit, Moment};

/// A visit, or a pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct InstanceRow {
    path: ReportPath,
    region: u32,
    rank: i64,
    thread: i64,
    begin: Ticks,
    end: Ticks,
    waiting: Ticks,
    mpi: Ticks,
    bytes: i64,
    calls: i64,
    /// Of a pair.
    end_path: ReportPath,
    between: Ticks,
}

/// Columns of both tables, and behind them those of pairs.
const FIELDS: [Field<InstanceRow>; 11] = [
    Field { name: "rank", kind: Type::Rank, about: "its rank", of: Of::Whole(|it| it.rank) },
    Field {
        name: "thread",
        kind: Type::Count,
        about: "the number of the thread, 0 for the main one",
        of: Of::Whole(|it| it.thread),
    },
    Field { name: "begin", kind: Type::Instant, about: "when it begins", of: Of::Whole(|it| it.begin) },
    Field { name: "end", kind: Type::Instant, about: "when it ends", of: Of::Whole(|it| it.end) },
    Field {
        name: "time",
        kind: Type::Time,
        about: "from its begin to its end",
        of: Of::Whole(|it| (it.end - it.begin).max(0)),
    },
    Field {
        name: "waiting",
        kind: Type::Time,
        about: "the part of it in which calls of MPI wait for others",
        of: Of::Whole(|it| it.waiting),
    },
    Field {
        name: "mpi",
        kind: Type::Time,
        about: "the part of it in calls of MPI",
        of: Of::Whole(|it| it.mpi),
    },
    Field {
        name: "bytes",
        kind: Type::Bytes,
        about: "bytes that are sent and received in it",
        of: Of::Whole(|it| it.bytes),
    },
    Field {
        name: "calls",
        kind: Type::Count,
        about: "calls of MPI that end in it",
        of: Of::Whole(|it| it.calls),
    },
    Field {
        name: "end_path",
        kind: Type::Path,
        about: "the call path of the call that ends it",
        of: Of::Whole(|it| it.end_path.index() as i64),
    },
    Field {
        name: "between",
        kind: Type::Time,
        about: "work between its two calls: time outside of MPI",
        of: Of::Whole(|it| it.between),
    },
];

/// The table of visits.
pub(super) const VISITS: RowTable<InstanceRow> = RowTable {
    name: "visit",
    about: "an outermost visit of a region of an event",
    rows: RowsAre::Visits,
    site: |row| (row.path, row.region),
    fields: FIELDS.split_at(9).0,
};

/// The table of pairs.
pub(super) const PAIRS: RowTable<InstanceRow> = RowTable {
    name: "pair",
    about: "a call that begins a pair of an event, with the one that ends it",
    rows: RowsAre::Pairs,
    site: |row| (row.path, row.region),
    fields: &FIELDS,
};

/// Gives the rows of a process with their events, thread by thread in the order of their ends: of visits, or of pairs.
pub(super) fn rows(
    of: OfProcess<'_>,
    (instances, are_pairs): (&EventInstances, bool),
    (sums, begin): (&CallSums, Ticks),
    mut give: impl FnMut(usize, InstanceRow),
) {
    let mut row = |first: &EventVisit, last: &EventVisit| {
        let (Some(path), Some(end_path)) = (of.path(first.path), of.path(last.path)) else { return };
        let thread = sums.thread(first.location);
        let (from, to) = (&first.enter, &last.leave);
        let [waiting, bytes] = sums.between(thread, from.next, to.next);
        let mpi = |from: &Moment, to: &Moment| (to.mpi - from.mpi).max(0);
        let between = (last.enter.time - first.leave.time).saturating_sub(mpi(&first.leave, &last.enter));
        let row = InstanceRow {
            path,
            region: of.paths.region(path),
            rank: of.rank,
            thread: thread as i64,
            begin: from.time - begin,
            end: to.time - begin,
            waiting,
            mpi: mpi(from, to),
            bytes,
            calls: i64::from(to.mpi_calls) - i64::from(from.mpi_calls),
            end_path,
            between: between.max(0),
        };
        give(first.event.into(), row);
    };
    if are_pairs {
        instances.pairs.iter().for_each(|[first, last]| row(first, last));
    } else {
        instances.visits.iter().for_each(|visit| row(visit, visit));
    }
}

/// Waiting and bytes of calls of MPI by thread, summed up in the order of the calls.
#[derive(Debug)]
pub(super) struct CallSums {
    /// The first location of the process.
    first: u32,
    /// By thread: each of its calls, with waiting and bytes of those up to it.
    threads: Vec<Vec<(CallId, [i64; 2])>>,
}

impl CallSums {
    /// Of a process, with waiting by call.
    pub(super) fn new(first: usize, operations: &Operations, waiting: &[(CallId, Ticks)]) -> CallSums {
        let first = to_u32(first);
        let calls = &operations.calls;
        let mut of_calls = vec![[0_i64; 2]; calls.len()];
        let mut add = |call: CallId, at: usize, value: i64| {
            if let Some(sums) = of_calls.get_mut(call.index()) {
                sums[at] = sums[at].saturating_add(value);
            }
        };
        waiting.iter().for_each(|&(call, ticks)| add(call, 0, ticks));
        let sends = operations.sends.iter().filter(|send| !send.is_cancelled());
        sends.for_each(|send| add(send.call, 1, whole(send.bytes)));
        operations.receives.iter().for_each(|receive| add(receive.call, 1, whole(receive.bytes)));
        for it in &operations.collectives {
            add(it.call, 1, whole(it.sent.saturating_add(it.received)));
        }
        for done in operations.nonblocking.iter().filter_map(|it| it.done.as_ref()) {
            add(done.call, 1, whole(done.sent.saturating_add(done.received)));
        }
        let mut threads: Vec<Vec<(CallId, [i64; 2])>> = Vec::new();
        for (at, own) in of_calls.into_iter().enumerate() {
            let call = CallId::new(at);
            let site = calls.site_of(call);
            let thread = (site.location - first) as usize;
            if thread >= threads.len() {
                threads.resize(thread + 1, Vec::new());
            }
            let sums = threads[thread].last().map_or([0; 2], |(_, sums)| *sums);
            let own = if site.is_mpi { own } else { [0; 2] };
            threads[thread].push((call, [0, 1].map(|it| sums[it].saturating_add(own[it]))));
        }
        CallSums { first, threads }
    }

    /// The number of a location among those of the process.
    fn thread(&self, location: u32) -> usize {
        (location - self.first) as usize
    }

    /// Waiting and bytes of calls of a thread from one call of the process on, in front of another one.
    fn between(&self, thread: usize, from: CallId, to: CallId) -> [i64; 2] {
        let calls = self.threads.get(thread).map_or(&[][..], Vec::as_slice);
        let before = |call: CallId| {
            let at = calls.partition_point(|&(other, _)| other < call);
            at.checked_sub(1).map_or([0; 2], |last| calls[last].1)
        };
        let [from, to] = [before(from), before(to)];
        [0, 1].map(|it| to[it].saturating_sub(from[it]))
    }
}
