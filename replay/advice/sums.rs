//! Sums over the main threads of all ranks, by call path of the report: what culprits are judged by.

use model::Ticks;

use super::Known;
use super::bounds::waiting_metrics;
use crate::causes::DelayClass;
use crate::error::Error;
use crate::exchange::{Batch, Exchange, share};
use crate::fraction;
use crate::ids::{ReportPath, Row};
use crate::results::Results;
use crate::severity::{Severities, amount};
use crate::tools::Tools;
use crate::walk::WalkedProcess;
use crate::what_if::RowClass;
use crate::wire::{self, Wire, wire};

/// Sums of a call path.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Sum {
    /// Its time without waiting, and that of the rank with most of it.
    pub work: Ticks,
    pub most: Ticks,
    /// That rank; of several the first.
    pub rank: u32,
    /// How many ranks come there, and how often all of them together.
    pub ranks: u32,
    pub visits: i64,
    /// Waiting that it has caused.
    pub cost: Ticks,
    /// Its time on the critical path.
    pub on_path: Ticks,
    /// Of its time, that off the processor, preempted and blocked, and that of the rank with most of its time.
    pub off: Off,
    pub off_of_most: Off,
    /// Samples of the rank with most of its time.
    pub samples_of_most: i64,
}

/// Time off the processor: preempted, blocked.
pub(super) type Off = [Ticks; 2];

wire!(Sum { work, most, [rank, ranks], visits, cost, on_path, off, off_of_most, samples_of_most });

/// Sums by call path.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct PathSums(pub(super) Vec<Sum>);

impl Sum {
    fn add(&mut self, other: &Sum) {
        if (other.most, std::cmp::Reverse(other.rank)) > (self.most, std::cmp::Reverse(self.rank)) {
            (self.most, self.rank) = (other.most, other.rank);
            (self.off_of_most, self.samples_of_most) = (other.off_of_most, other.samples_of_most);
        }
        self.off.iter_mut().zip(other.off).for_each(|(sum, off)| *sum = sum.saturating_add(off));
        self.work = self.work.saturating_add(other.work);
        self.ranks += other.ranks;
        self.visits = self.visits.saturating_add(other.visits);
        self.cost = self.cost.saturating_add(other.cost);
        self.on_path = self.on_path.saturating_add(other.on_path);
    }
}

impl PathSums {
    /// Of all ranks.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn find(
        known: Known<'_>,
        work: &[WorkOfRank],
        exchange: &mut dyn Exchange,
    ) -> Result<PathSums, Error> {
        let mut own = vec![Sum { rank: u32::MAX, ..Sum::default() }; known.paths.len()];
        for &WorkOfRank { rank, ref work } in work {
            for &Work { path, work, visits, cost, on_path, off, samples, .. } in work {
                let ranks = u32::from(work != 0 || visits != 0);
                let (off_of_most, samples_of_most) = (off, samples);
                let sum = Sum {
                    work,
                    most: work,
                    rank,
                    ranks,
                    visits,
                    cost,
                    on_path,
                    off,
                    off_of_most,
                    samples_of_most,
                };
                own[path.index()].add(&sum);
            }
        }
        let mut words = Batch::new();
        for (path, sum) in known.paths.all().zip(&own).filter(|(_, sum)| sum.ranks > 0 || sum.cost > 0) {
            (path.index() as u64, *sum).put(&mut words);
        }
        let mut all = vec![Sum { rank: u32::MAX, ..Sum::default() }; known.paths.len()];
        for batch in share(exchange, words)? {
            for (path, sum) in wire::all::<(u64, Sum)>(&batch) {
                all[crate::int::to_usize(path)].add(&sum);
            }
        }
        Ok(PathSums(all))
    }

    /// Those of a call path.
    pub(super) fn of(&self, path: ReportPath) -> &Sum {
        &self.0[path.index()]
    }
}

/// Waiting that a call path of a thread has caused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Costs {
    /// All of it.
    pub all: Ticks,
    /// Of those that wait for a late message, and of those among them that wait for others that do.
    pub late: Ticks,
    pub indirect: Ticks,
}

/// The delay costs of a row.
pub(super) fn costs(tools: &Tools<'_>, severities: &Severities, row: Row) -> Costs {
    let metrics = tools.metrics;
    let [short, long] = metrics.delay_costs[DelayClass::LateSender as usize];
    let (mut all, mut late, mut indirect) = (0_i128, 0_i128, 0_i128);
    severities.records().1.each(row, |metric, value| {
        if metrics.delay_costs.as_flattened().contains(&metric) {
            all = all.saturating_add(value);
        }
        if metric == short || metric == long {
            late = late.saturating_add(value);
        }
        if metric == long {
            indirect = indirect.saturating_add(value);
        }
    });
    let [all, late, indirect] = [all, late, indirect].map(fraction::whole_part);
    Costs { all, late, indirect }
}

/// What a main thread did in a call path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    pub path: ReportPath,
    pub work: Ticks,
    pub visits: i64,
    pub cost: Ticks,
    /// The part of it in late messages, and what of that waits for others that do.
    pub late: Ticks,
    pub indirect: Ticks,
    pub on_path: Ticks,
    pub off: Off,
    pub samples: i64,
    /// Bytes of messages that it sends there, or whose receive it completes there.
    pub bytes: u64,
}

/// What a rank did.
#[derive(Clone, Debug)]
pub(super) struct WorkOfRank {
    pub rank: u32,
    pub work: Vec<Work>,
}

/// Which call paths are summed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Which {
    /// Those outside of MPI.
    Work,
    /// Calls of MPI, but of start-up and of the end.
    Calls,
}

impl Which {
    fn has(self, class: RowClass) -> bool {
        match self {
            Which::Work => class.is_work(),
            Which::Calls => matches!(class, RowClass::Mpi | RowClass::Kept),
        }
    }
}

/// What the ranks of this worker did.
pub(super) fn work(tools: &Tools<'_>, known: Known<'_>, which: Which) -> Vec<WorkOfRank> {
    let processes = known.processes.iter().zip(known.results).enumerate();
    let that_ran = processes.filter(|(_, (process, _))| !process.has_not_run());
    let of = |(at, (process, results)): (usize, (&WalkedProcess, &Results))| WorkOfRank {
        rank: tools.trace.processes[process.number].rank.unwrap_or(u32::MAX),
        work: Work::of(tools, (&known, which), at, &results.severities[0]),
    };
    that_ran.map(of).collect()
}

impl Work {
    /// Of the main thread of the process at a position of this worker.
    fn of(
        tools: &Tools<'_>,
        (known, which): (&Known<'_>, Which),
        at: usize,
        severities: &Severities,
    ) -> Vec<Work> {
        let metrics = tools.metrics;
        let time = severities.column(metrics.time);
        let visits = severities.column(metrics.visits);
        let on_path = severities.column(metrics.critical_path);
        let off = metrics
            .off_cpu
            .map(|[preempted, blocked, ..]| [preempted, blocked].map(|metric| severities.column(metric)));
        let bytes = [metrics.bytes_sent, metrics.bytes_received].map(|metric| severities.column(metric));
        let waiting: Vec<_> = waiting_metrics(tools).map(|metric| severities.column(metric)).collect();
        let sampled = &known.processes[at].locations[0].sampled;
        let numbers = &known.paths.numbers[at];
        let mut list = Vec::new();
        let classes = RowClass::of_paths(tools.trace, &known.processes[at].paths);
        for (row, own) in severities.paths().iter().enumerate() {
            let Some(&path) = numbers.get(own.index()) else { continue };
            if path.is_none() || !which.has(classes[own.index()]) {
                continue;
            }
            let costs = costs(tools, severities, Row::new(row));
            let of = |column: &[Ticks]| column.get(row).copied().unwrap_or(0);
            let waited = waiting.iter().map(|column| of(column)).fold(0, Ticks::saturating_add);
            list.push(Work {
                path,
                work: of(&time).saturating_sub(waited),
                visits: of(&visits),
                cost: costs.all,
                late: costs.late,
                indirect: costs.indirect,
                on_path: of(&on_path),
                samples: sampled.get(row).map_or(0, |it| amount(it.samples)),
                off: off.as_ref().map_or(Off::default(), |off| off.each_ref().map(|column| of(column))),
                bytes: bytes
                    .iter()
                    .map(|column| of(column).max(0).cast_unsigned())
                    .fold(0, u64::saturating_add),
            });
        }
        list
    }
}
