//! The table `collectives`: calls, bytes and waiting by communicator and function.

use std::collections::BTreeMap;

use details::manifest::Complete;
use details::{Column, Table, Unit};
use rustc_hash::FxHashMap;

use super::matrix::ticks;
use super::{Known, NONE, last};
use crate::matching::Matches;
use crate::metrics::Metrics;
use crate::operations::{WORLD_AT_FINALIZE, WORLD_AT_INIT};
use crate::report_paths::ReportPaths;
use crate::walk::Walked;
use crate::wire::wire;

/// The numbers of a region in the report, in the order in which it lists them.
pub(super) struct Regions {
    numbers: FxHashMap<u32, u32>,
}

impl Regions {
    /// The regions of call paths: each is listed when the first of its call paths is.
    pub(super) fn new(paths: &ReportPaths) -> Regions {
        let mut numbers = FxHashMap::default();
        let mut next = 0;
        for node in &paths.nodes {
            numbers.entry(node.region).or_insert_with(|| {
                next += 1;
                next - 1
            });
        }
        Regions { numbers }
    }

    /// The number of a region; that for none if no call path has it.
    pub(super) fn number(&self, region: u32) -> u32 {
        self.numbers.get(&region).copied().unwrap_or(NONE)
    }
}

/// The number of a communicator in tables: `MPI_Init` and `MPI_Finalize` have none.
pub(super) fn communicator(number: u32) -> u32 {
    match number {
        WORLD_AT_INIT | WORLD_AT_FINALIZE => NONE,
        number => number,
    }
}

/// Collective operations on a communicator, by one function.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Numbers {
    /// Operations.
    calls: u64,
    /// Members that took part in them.
    members: u64,
    bytes_out: u64,
    bytes_in: u64,
    waiting: u64,
    completion: u64,
}

impl Numbers {
    fn add(&mut self, other: &Numbers) {
        self.calls = self.calls.saturating_add(other.calls);
        self.members = self.members.saturating_add(other.members);
        self.bytes_out = self.bytes_out.saturating_add(other.bytes_out);
        self.bytes_in = self.bytes_in.saturating_add(other.bytes_in);
        self.waiting = self.waiting.saturating_add(other.waiting);
        self.completion = self.completion.saturating_add(other.completion);
    }
}

/// A row of the table: communicator, and region among those of the trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Row {
    communicator: u32,
    region: u32,
    numbers: Numbers,
}

wire!(Numbers { calls, members, bytes_out, bytes_in, waiting, completion });

wire!(Row { [communicator, region], numbers });

/// The collective operations of a worker's processes, by communicator and region.
#[derive(Clone, Debug, Default)]
pub(super) struct Collectives {
    all: FxHashMap<(u32, u32), Numbers>,
}

impl Collectives {
    /// Adds the next process: what it did as a member, and waited, as the report has it.
    pub(super) fn collect(&mut self, metrics: &Metrics, walked: &Walked, matches: &Matches) {
        self.collect_nonblocking(walked);
        let operations = &*walked.operations;
        let mut pairwise = matches.pairwise.iter().peekable();
        for (at, (collective, membership)) in
            operations.collectives.iter().zip(&matches.collectives).enumerate()
        {
            let progression = pairwise.next_if(|(position, _)| *position as usize == at);
            let site = operations.site(collective.call);
            if !site.is_mpi {
                continue;
            }
            let region = walked.process.paths[site.path.index()].region;
            let sum = self.all.entry((collective.communicator, region)).or_default();
            sum.members += 1;
            sum.bytes_out = sum.bytes_out.saturating_add(collective.sent);
            sum.bytes_in = sum.bytes_in.saturating_add(collective.received);
            let (begin, end) = (collective.begin, collective.end);
            let member = collective.class.and_then(|class| membership.member(class, begin, end));
            let Some(member) = member.or_else(|| progression?.1.member(collective)) else { continue };
            for (pattern, rule) in metrics.at_collective(member.class) {
                let ticks = ticks(rule(&member));
                if ticks > 0 {
                    let is_waiting = pattern.pattern.is_waiting;
                    let sum = if is_waiting { &mut sum.waiting } else { &mut sum.completion };
                    *sum = sum.saturating_add(ticks);
                }
            }
        }
    }

    /// Adds the part of a process in non-blocking operations, at the functions that start them. Calls of other functions wait.
    fn collect_nonblocking(&mut self, walked: &Walked) {
        let operations = &*walked.operations;
        for operation in &operations.nonblocking {
            let site = operations.site(operation.call);
            let Some(done) = operation.done.filter(|_| site.is_mpi) else { continue };
            let region = walked.process.paths[site.path.index()].region;
            let sum = self.all.entry((done.communicator, region)).or_default();
            sum.members += 1;
            sum.bytes_out = sum.bytes_out.saturating_add(done.sent);
            sum.bytes_in = sum.bytes_in.saturating_add(done.received);
        }
    }

    /// Adds the numbers of operations, which only those that judge them know.
    pub(super) fn count(&mut self, lasts: &[last::Row]) {
        for last in lasts {
            let sum = self.all.entry((last.communicator, last.region)).or_default();
            sum.calls = sum.calls.saturating_add(last.times);
        }
    }

    /// The rows of this worker.
    pub(super) fn into_rows(self) -> Vec<Row> {
        let row = |((communicator, region), numbers)| Row { communicator, region, numbers };
        let mut rows: Vec<Row> = self.all.into_iter().map(row).collect();
        rows.sort_unstable_by_key(|row| (row.communicator, row.region));
        rows
    }
}

/// Makes the table of the rows of all workers.
pub(super) fn table(rows: Vec<Row>, regions: &Regions) -> Known {
    let mut sums: BTreeMap<(u32, u32), Numbers> = BTreeMap::new();
    for row in &rows {
        let key = (communicator(row.communicator), regions.number(row.region));
        sums.entry(key).or_default().add(&row.numbers);
    }
    let column = |name: &str, unit: Unit, of: fn(&Numbers) -> u64| {
        Column::of_numbers(name, Some(unit), sums.values().map(of))
    };
    let columns = vec![
        Column::of_numbers("communicator", None, sums.keys().map(|key| key.0.into())).delta(),
        Column::of_numbers("region", None, sums.keys().map(|key| key.1.into())).delta(),
        column("calls", Unit::Count, |it| it.calls),
        column("members", Unit::Count, |it| it.members),
        column("bytes_out", Unit::Byte, |it| it.bytes_out),
        column("bytes_in", Unit::Byte, |it| it.bytes_in),
        column("waiting", Unit::Tick, |it| it.waiting),
        column("completion", Unit::Tick, |it| it.completion),
    ];
    (Table { name: "collectives".into(), columns }, Complete::Is(true))
}
