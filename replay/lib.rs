//! Replay: a parallel post-mortem analyzer for MPI programs.
//!
//! ```text
//!     bytes → events → calls and operations → matches → wait states → root causes → severities → report
//!     otf2    cursor   walk                   matching   patterns      causes        formulas     report
//!                                                ↑                       ↑                          ↑
//!                                                └────────── exchange: solo | threads | MPI ────────┘
//! ```
//!
//! [`analyze`] is the pipeline. Every worker runs it; each owns a block of the traced processes, and workers
//! exchange batches through an [`Exchange`]. A report is byte-identical for any number of workers: times are
//! integer ticks, orders are those of ranks, and the report contains nothing about the run of the analysis.
//!
//! More is in `docs/architecture.md` of the project.

// Casts that may lose bits are only in `int`: no reader of another one need ask whether its number fits.
#![cfg_attr(
    not(test),
    deny(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::undocumented_unsafe_blocks)
)]

pub mod accelerators;
pub mod advice;
pub mod agreement;
pub mod allocated;
pub mod assignment;
pub mod call_tree;
pub mod causes;
pub mod clock_correction;
pub mod clock_errors;
pub mod communicators;
mod copied_archive;
pub mod coverage;
pub mod deadlock;
pub mod details;
pub mod error;
pub mod estimate;
pub mod exchange;
pub mod files_in_mpi;
pub mod findings;
pub mod focus;
pub mod formulas;
pub mod fraction;
pub mod functions;
mod groups;
pub mod idle_threads;
pub mod ids;
pub mod imbalance;
pub mod int;
pub mod io;
mod job;
pub mod journal;
mod kept;
pub mod late_messages;
pub mod matching;
pub mod memory;
pub mod metrics;
mod off_cpu;
pub mod operations;
pub mod options;
pub mod plan;
pub mod predicted;
pub mod progress;
pub mod reference;
pub mod relay;
pub mod report;
pub mod report_paths;
pub mod results;
pub mod scaling;
pub mod scratch;
pub mod severity;
pub mod shared;
pub mod short;
pub mod signals;
pub mod solvers;
pub mod statistics;
pub mod structure;
pub mod thread_numbers;
pub mod thread_waits;
pub mod tools;
pub mod trace;
mod transfers;
mod unexplained;
pub mod wait_states;
pub mod walk;
pub mod what_if;
pub mod wire;

use tracing::debug;

pub use error::Error;
pub use exchange::Exchange;
pub use focus::Focus;
pub use options::{DetailsPlace, MemoryLimit, Options, Semantics};
pub use report::{
    ComparedIterations, Extrapolated, IterationTimes, MainLoop, RecordedIterations, StructureSummary,
    Summary, WaitState,
};
pub use structure::LoopChoice;
pub use what_if::WhatIf;

use crate::advice::{AdviceOptions, WantedAdvice};
use crate::io::IoOptions;
use crate::job::Job;
use crate::predicted::PredictedRun;
use crate::progress::Progress;
use crate::report::WhatIfSummary;
use crate::structure::FoundStructure;

/// The result of an analysis that wrote its report.
#[derive(Clone, Default, Debug)]
pub struct Outcome {
    /// The summary of the report; on worker 0 only.
    pub summary: Option<Summary>,
    /// The structure of the run; on worker 0 that of all locations.
    pub structure: FoundStructure,
    /// Whether the trace lacks data, on every worker.
    pub lacks_data: bool,
    /// The predicted run, whose analysis is left: there is no report yet; on worker 0 only.
    pub(crate) predicted: Option<(PredictedRun, WhatIfSummary)>,
}

/// Analyzes a trace and writes the report. Every process must call it with the same options; each works with
/// [`Options::threads`] threads.
///
/// # Errors
/// If there is no report, in words for the user. All processes get an error then; the one whose error
/// [is its own](Error::is_own) has to print it. Nothing may be exchanged afterwards.
pub fn analyze(
    options: &Options,
    exchange: &mut dyn Exchange,
    progress: &mut Progress,
) -> Result<Outcome, Error> {
    if !options.reports_predicted() {
        return analyze_one(options, exchange, progress);
    }
    // The report is that of the archive: what is read of it is then what anybody reads of it. Nothing but the run time is needed of
    // the measured run, and for `without` its root causes.
    let details = Some(DetailsPlace::Nowhere);
    let causes = options.causes && options.what_if.as_ref().is_some_and(WhatIf::needs_causes);
    let advice = AdviceOptions { wanted: WantedAdvice::Never, ..AdviceOptions::default() };
    let measured = Options {
        causes,
        structure: false,
        choice: None,
        details,
        advice,
        rules: Vec::new(),
        io_model: IoOptions::default(),
        ..options.clone()
    };
    let predicted = analyze_one(&measured, exchange, progress)?.predicted;
    let experiment = options.predict.clone().unwrap_or_default();
    let of_predicted = Options { experiment, what_if: None, predict: None, ..options.clone() };
    let mut outcome = analyze_one(&of_predicted, exchange, progress)?;
    if let Some((summary, (run, what_if))) = outcome.summary.as_mut().zip(predicted) {
        (summary.predicted, summary.what_if) = (Some(run), Some(what_if));
    }
    Ok(outcome)
}

/// Analyzes one trace.
fn analyze_one(
    options: &Options,
    exchange: &mut dyn Exchange,
    progress: &mut Progress,
) -> Result<Outcome, Error> {
    progress.phase("open");
    debug!(?options, processes = exchange.workers(), "analysis");
    let job = Job::open(options, exchange).map_err(|error| tell(error, exchange))?;
    progress.tell(|| job.describe());
    if let Some(waiting) = exchange.describe() {
        progress.tell(|| waiting);
    }
    if job.threads == 1 {
        return job.work(exchange, progress).map_err(|error| tell(error, exchange));
    }
    let mut outcomes = job.work_on_threads(exchange, progress).map_err(|error| tell(error, exchange))?;
    // One message for all: that of the thread that has to print it, if it is a thread of this process.
    let speaker = outcomes.iter().position(|outcome| outcome.as_ref().is_err_and(Error::is_own));
    outcomes.swap_remove(speaker.unwrap_or(0))
}

/// Reports an error to the other workers. If several fail at once, only one keeps its own error; the others
/// return that another worker failed.
fn tell(error: Error, exchange: &mut dyn Exchange) -> Error {
    if !error.is_own() {
        return error;
    }
    match exchange.fail() {
        first if first == exchange.worker() => error,
        first => Error::worker_failed(first),
    }
}
