//! Accounts of processes besides severities: findings, coverage, doubtful wait states, run times.

use super::efficiency::WorkTotals;
use super::focus::FocusSummary;
use crate::clock_correction::Violations;
use crate::clock_errors::Doubtful;
use crate::coverage::Coverage;
use crate::error::Error;
use crate::exchange::batch::BatchReader;
use crate::exchange::{Batch, Exchange, gather, reduce};
use crate::findings::Findings;
use crate::int::{to_u64, to_usize};
use crate::results::Results;
use crate::scaling::RunFacts;
use crate::trace::Trace;
use crate::walk::WalkedProcess;
use crate::wire::Wire;

/// The accounts of all processes.
pub(super) struct Accounts {
    pub(super) findings: Findings,
    pub(super) coverage: Coverage,
    pub(super) doubtful: Doubtful,
    /// Violations of the clock condition, if clocks were corrected.
    pub(super) violations: Option<Violations>,
    /// The part of the run that counts; `None` if all does.
    pub(super) focus: Option<FocusSummary>,
    /// The work of main threads.
    pub(super) work: WorkTotals,
    /// Facts for efficiencies; `None` if they are not known.
    pub(super) efficiency: Option<RunFacts>,
    /// What a run that was not measured is predicted for.
    pub(super) scenario: Option<String>,
    /// By location.
    pub(super) run_times: Vec<RunTimes>,
}

impl Accounts {
    /// The energy of the run, in joules, and of how many nodes it is; of a part of the run, and of one that is only predicted, it is not
    /// known.
    pub(super) fn energy(&self, trace: &Trace) -> Option<(f64, usize)> {
        trace.energy().filter(|_| self.focus.is_none() && self.scenario.is_none())
    }

    /// Returns those of all workers, at worker 0.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn of_all(
        trace: &Trace,
        (processes, results): (&[WalkedProcess], &[Results]),
        findings: Findings,
        doubtful: Doubtful,
        violations: Option<Violations>,
        exchange: &mut dyn Exchange,
    ) -> Result<Accounts, Error> {
        let coverage = Coverage::default();
        let mut own = Accounts {
            findings,
            coverage,
            doubtful,
            violations,
            focus: None,
            work: WorkTotals::new(processes),
            efficiency: None,
            scenario: None,
            run_times: Vec::new(),
        };
        for results in results {
            own.findings.merge(results.findings.clone());
            own.coverage.merge(results.coverage);
        }
        let encode = |accounts: &Accounts| {
            let mut batch = Batch::new();
            accounts.findings.put(&mut batch);
            accounts.coverage.put(&mut batch);
            accounts.doubtful.put(&mut batch);
            accounts.work.put(&mut batch);
            batch
        };
        let mut all = reduce(exchange, own, encode, |accounts, words| {
            let mut reader = BatchReader::new(words);
            accounts.findings.merge(Wire::get(&mut reader));
            accounts.coverage.merge(Wire::get(&mut reader));
            accounts.doubtful.merge(&Wire::get(&mut reader));
            accounts.work.merge(Wire::get(&mut reader));
        })?;
        all.run_times = run_times(trace, processes, exchange)?;
        Ok(all)
    }
}

/// The time of a location between MPI_Init and MPI_Finalize, in ticks.
#[derive(Clone, Copy, Default)]
pub(super) struct RunTimes {
    /// The recorded time.
    pub(super) run: i64,
    /// The part of it in MPI.
    pub(super) mpi: i64,
    /// The time while recording was off.
    pub(super) off: i64,
}

/// Returns the times of each CPU location, at worker 0. Other locations have none: accelerators and metrics
/// do not wait for ranks.
fn run_times(
    trace: &Trace,
    processes: &[WalkedProcess],
    exchange: &mut dyn Exchange,
) -> Result<Vec<RunTimes>, Error> {
    let locations = processes
        .iter()
        .flat_map(|process| &process.locations)
        .filter(|l| trace.locations[l.location].is_thread());
    let words = locations
        .flat_map(|l| {
            let [run, mpi, off] = [l.recorded_run(), l.run_mpi, l.run_off].map(i64::cast_unsigned);
            [to_u64(l.location), run, mpi, off]
        })
        .collect();
    let mut times = vec![RunTimes::default(); trace.locations.len()];
    for words in gather(exchange, words)?.iter().flat_map(|batch| batch.chunks_exact(4)) {
        let [run, mpi, off] = [words[1], words[2], words[3]].map(u64::cast_signed);
        times[to_usize(words[0])] = RunTimes { run, mpi, off };
    }
    Ok(times)
}
