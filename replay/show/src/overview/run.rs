//! Times of the run: between `MPI_Init` and `MPI_Finalize`, of the threads of all processes.

use cubex::CnodeId;

use crate::error::{Result, or_obstacle};
use crate::opened::Opened;
use crate::values::{Combine, Quantity, Values, WAITING};
use crate::{paths, places, unrecorded};

/// Functions that are start-up and shutdown, with all that they call.
const START_UP: [&str; 3] = ["MPI_Init", "MPI_Init_thread", "MPI_Finalize"];

/// Times of the run, in seconds.
#[derive(Clone, PartialEq, Debug)]
pub struct Run {
    /// Of all threads.
    pub total: f64,
    /// The same with the time of threads that were idle: between parallel regions these have no events.
    pub with_idle: f64,
    /// The longest one of a thread, with what was not recorded.
    pub length: f64,
    /// In MPI.
    pub mpi: f64,
    /// Waiting for others; `None` if the report has no such metric.
    pub waiting: Option<f64>,
    /// Time that was not recorded.
    pub not_recorded: f64,
    /// Number of threads of which anything was recorded.
    pub threads: usize,
    /// Whether the times contain what lies before `MPI_Init` and after `MPI_Finalize`: metrics have no times.
    pub has_outside: bool,
    /// Whether a call path is no start-up or shutdown, and recorded.
    pub is_between: Vec<bool>,
}

impl Run {
    /// The times of a report: those of the manifest, else sums of its metrics without calls of start-up and shutdown.
    ///
    /// # Errors
    /// If values cannot be read.
    pub fn new(opened: &Opened, values: &Values<'_>) -> Result<Run> {
        let cube = values.cube();
        let is_start_up = |at: usize| START_UP.contains(&paths::name(cube, CnodeId(at)));
        let start_up = paths::with_those_below(values, (0..cube.cnodes.len()).map(is_start_up).collect());
        let is_of_run: Vec<bool> = start_up.into_iter().map(|is_start_up| !is_start_up).collect();
        let is_off = |at: usize| unrecorded::is_off(cube, CnodeId(at));
        let is_between: Vec<bool> = is_of_run.iter().enumerate().map(|(at, is)| *is && !is_off(at)).collect();
        let is_thread = places::threads(cube);
        if let Some(manifest) = &opened.manifest {
            let summary = &manifest.summary;
            let mut run = Run {
                total: summary.run,
                with_idle: summary.run,
                length: summary.length,
                mpi: summary.mpi,
                waiting: Some(summary.waiting),
                not_recorded: summary.not_recorded,
                threads: usize::try_from(summary.locations).unwrap_or(is_thread.len()),
                has_outside: false,
                is_between,
            };
            run.with_idle += run.sum_of(values, "omp_idle_threads")?;
            return Ok(run);
        }
        let threads = places::recorded_threads(values)?.into_iter().filter(|is_thread| *is_thread).count();
        let mut run = Run {
            total: 0.0,
            with_idle: 0.0,
            length: 0.0,
            mpi: 0.0,
            waiting: None,
            not_recorded: 0.0,
            threads,
            has_outside: is_of_run.contains(&false),
            is_between,
        };
        let Some(time) = values.find("time") else { return Ok(run) };
        let is_not_recorded = |cnode: CnodeId| is_of_run[cnode.0] && !run.is_between[cnode.0];
        let recorded = or_obstacle(values.by_location(&time, &|cnode| run.is_between[cnode.0]))?;
        let off = or_obstacle(values.by_location(&time, &is_not_recorded))?;
        if let (Ok(recorded), Ok(off)) = (recorded, off) {
            let times = recorded.iter().zip(&off).zip(&is_thread).filter(|(_, is_thread)| **is_thread);
            for ((time, off), _) in times {
                (run.total, run.not_recorded) = (run.total + time, run.not_recorded + off);
                run.length = run.length.max(time + off);
            }
        }
        run.with_idle = run.total;
        run.mpi = match values.find("mpi").filter(|metric| metric.obstacle().is_none()) {
            Some(mpi) => run.sum(values, &mpi)?.unwrap_or(0.0),
            // A profile without a metric for it: time in functions of MPI.
            None => {
                let is_mpi = |cnode: CnodeId| {
                    run.is_between[cnode.0] && cube.regions[cube.cnodes[cnode.0].region.0].paradigm == "mpi"
                };
                let row = or_obstacle(values.by_location(&time, &is_mpi))?;
                row.map_or(0.0, |row| row.iter().sum())
            }
        };
        if let Some(waiting) = values.find(WAITING) {
            run.waiting = run.sum(values, &waiting)?;
        }
        Ok(run)
    }

    /// The sum of a metric over the threads of all processes, or what else its values become, without start-up and shutdown; `None` if
    /// it has no values.
    ///
    /// # Errors
    /// If values cannot be read.
    pub fn sum(&self, values: &Values<'_>, quantity: &Quantity) -> Result<Option<f64>> {
        let is_thread = places::threads(values.cube());
        let of_threads = |row: &[f64], combine: Combine| {
            let own = row.iter().zip(&is_thread).filter(|(_, is_thread)| **is_thread);
            vec![Some(own.fold(combine.neutral(), |sum, (&value, _)| combine.of(sum, value)))]
        };
        let is_counted = |cnode: CnodeId| self.is_between[cnode.0];
        let Ok(sums) = or_obstacle(values.by_group(quantity, &is_counted, &of_threads))? else {
            return Ok(None);
        };
        Ok(sums.into_iter().flatten().next().and_then(|sum| quantity.known(sum)))
    }

    /// The same of a metric by name; 0 if the report has none.
    ///
    /// # Errors
    /// If values cannot be read.
    pub fn sum_of(&self, values: &Values<'_>, name: &str) -> Result<f64> {
        let Some(quantity) = values.find(name) else { return Ok(0.0) };
        Ok(self.sum(values, &quantity)?.unwrap_or(0.0))
    }

    /// What shares are of, in words.
    pub fn whole(&self) -> &'static str {
        if self.not_recorded > 0.0 { "the recorded time" } else { "the time" }
    }

    /// A part of the recorded time of all threads, with that of idle threads, as a share, from 0 to 1.
    pub fn share(&self, seconds: f64) -> f64 {
        if self.with_idle > 0.0 { seconds / self.with_idle } else { 0.0 }
    }
}
