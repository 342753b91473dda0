//! What advice asks of the timed graph: the run time, and that of scenarios that rules name.

use model::Ticks;

use super::changes::Paths;
use super::predict::TimedGraph;
use super::scenario::{Change, Scenario};
use super::stretches::{RareWork, TENTHS};
use super::workers::Master;
use crate::causes::ComparedWork;
use crate::error::Error;
use crate::exchange::Exchange;
use crate::findings::Findings;
use crate::tools::Tools;
use crate::walk::WalkedProcess;

impl Scenario {
    /// Of one change.
    pub fn of_change(change: Change) -> Scenario {
        Scenario::of(change.to_string(), change)
    }
}

impl TimedGraph {
    /// The first end of `MPI_Init`, and the ticks from there to the last begin of `MPI_Finalize`; the first and the last record where
    /// there are none.
    ///
    /// # Errors
    /// If a worker failed.
    pub fn run(&self, exchange: &mut dyn Exchange) -> Result<(Ticks, Ticks), Error> {
        let begin = self.begin(exchange)?;
        Ok((begin, self.measured_end(exchange)? - begin))
    }

    /// The ranks that hand out work to others; known only if the graph was built for advice or the standard set.
    pub fn master_ranks(&self) -> Vec<i64> {
        self.masters.iter().map(|master| i64::from(master.rank)).collect()
    }

    /// The ranks that hand out work to others, with their workers; known only with the standard set.
    pub fn masters(&self) -> &[Master] {
        &self.masters
    }

    /// Of call paths given by names: the stretches of work between calls of MPI of this worker's main threads, and for each of these the work
    /// by tenth of the run, from `begin` so many ticks.
    pub fn work_of(
        &self,
        tools: &Tools<'_>,
        processes: &[WalkedProcess],
        names: &[String],
        (begin, run): (Ticks, Ticks),
    ) -> Vec<(RareWork, Vec<[Ticks; TENTHS]>)> {
        let paths = Paths::new(tools, processes, self, &[]);
        let mut mains = Vec::with_capacity(processes.len());
        let mut next = 0;
        for process in processes {
            mains.push(next);
            next += process.locations.len();
        }
        let kinds: Vec<_> = mains.iter().map(|&at| paths.kinds(at)).collect();
        let of = |name: &String| {
            let mut sum = RareWork::default();
            let mut by_tenth = Vec::with_capacity(mains.len());
            for (&at, kinds) in mains.iter().zip(&kinds) {
                let rows = paths.work_within(at, name);
                let work = paths.work_before_each(at, &rows);
                sum.add(&Paths::rare(&work, kinds));
                by_tenth.push(paths.by_tenth(at, &work, (begin, run)));
            }
            (sum, by_tenth)
        };
        names.iter().map(of).collect()
    }

    /// By location of this worker: the end of its `MPI_Init` and the begin of its `MPI_Finalize`, or its first and last mark.
    pub fn own_times(&self) -> Vec<[Ticks; 2]> {
        let of = |marks: &super::marks::Marks| {
            let time = |mark: u32| marks.list[mark as usize].time;
            let first = marks.begin.map(time).or_else(|| Some(marks.list.first()?.time));
            let last = marks.end.map(time).or_else(|| Some(marks.list.last()?.time));
            [first.unwrap_or(0), last.unwrap_or(0)]
        };
        self.graph.locations.iter().map(|of_location| of(&of_location.marks)).collect()
    }

    /// The run times of scenarios in ticks; `None` if one has none, or changes nothing.
    ///
    /// # Errors
    /// If a worker failed.
    pub fn run_times_of(
        &self,
        tools: &Tools<'_>,
        (processes, stretches): (&[WalkedProcess], &[ComparedWork]),
        scenarios: &[Scenario],
        findings: &mut Findings,
        exchange: &mut dyn Exchange,
    ) -> Result<Vec<Option<Ticks>>, Error> {
        if scenarios.is_empty() {
            return Ok(Vec::new());
        }
        let paths = Paths::new(tools, processes, self, stretches);
        let begin = self.begin(exchange)?;
        let all = self.run_times(tools, (processes, &paths), scenarios, begin, findings, exchange)?;
        let ticks = |it: super::predict::Prediction| {
            (!it.deadlocks && !it.is_unknown && !it.is_void).then_some(it.ticks)
        };
        Ok(all.into_iter().map(ticks).collect())
    }
}
