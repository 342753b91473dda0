//! Replay: a parallel post-mortem analyzer for MPI programs.
//!
//! ```text
//!     bytes → events → calls and operations → matches → wait states → severities → report
//!     otf2    cursor   walk                   matching   patterns      formulas     report
//!                                                ↑                                    ↑
//!                                                └────── exchange: solo | MPI ────────┘
//! ```
//!
//! [`analyze`] is the pipeline. Every worker runs it; each owns a block of the traced processes, and they swap batches
//! through an [`Exchange`]. A report is byte-identical for any number of workers: times are integer ticks, orders are those
//! of ranks, and nothing of the analysis run is in it.
//!
//! `docs/architecture.md` of the project says more.

pub mod assignment;
pub mod call_tree;
pub mod communicators;
pub mod coverage;
pub mod error;
pub mod exchange;
pub mod findings;
pub mod formulas;
pub mod late_messages;
pub mod matching;
pub mod metrics;
pub mod operations;
pub mod options;
pub mod progress;
pub mod report;
pub mod severity;
pub mod trace;
pub mod wait_states;
pub mod walk;

use std::path::PathBuf;

use otf2::Archive;

pub use error::Error;
pub use exchange::Exchange;
pub use options::{Options, Semantics};
pub use report::{Summary, WaitState};

use exchange::{broadcast, share};
use findings::Findings;
use formulas::Selections;
use matching::Owners;
use metrics::Metrics;
use progress::Progress;
use trace::Trace;

/// What an analysis that wrote its report answers.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What was found; on worker 0 only.
    pub summary: Option<Summary>,
    /// Whether the trace lacks data, on every worker.
    pub lacks_data: bool,
}

/// Analyzes a trace and writes the report. Every worker must call it with the same options.
///
/// # Errors
/// If there is no report, in words for the user. A worker that gets an error which [is its own](Error::is_own) must call
/// [`Exchange::fail`].
pub fn analyze(
    options: &Options,
    exchange: &mut dyn Exchange,
    progress: &mut Progress,
) -> Result<Outcome, Error> {
    progress.phase("open");
    let archive = Archive::open(&options.experiment)?;
    let target = target(options, &archive);
    if exchange.worker() == 0 {
        report::check_target(&target, options.force)?;
    }
    let trace = Trace::new(archive.definitions()?, options.semantics)?;
    if trace.locations.is_empty() {
        return Err(Error::new(format!(
            "{}: the archive defines no location, hence has no events; record the program again",
            archive.definition_path().display()
        )));
    }
    let metrics = Metrics::new();
    let weights = weights(&archive, &trace, exchange)?;
    let blocks = assignment::blocks(&weights, exchange.workers());
    let owners = Owners::new(&blocks);
    let mine = blocks[exchange.worker()].clone();

    progress.tell(|| {
        let (processes, locations) = (trace.processes.len(), trace.locations.len());
        let bytes: u64 = weights.iter().sum();
        format!("{processes} processes, {locations} locations, {bytes} bytes of events")
    });
    progress.tell(|| {
        let largest = blocks.iter().map(|block| weights[block.clone()].iter().sum::<u64>()).max();
        let (workers, largest) = (blocks.len(), largest.unwrap_or(0));
        format!("{workers} workers, at most {largest} bytes of events for one")
    });

    progress.phase("read events");
    progress.expect(weights[mine.clone()].iter().sum());
    let mut profiles = Vec::with_capacity(mine.len());
    for process in mine {
        profiles.push(walk::walk(&archive, &trace, &metrics, process)?);
        progress.advance(weights[process]);
    }

    progress.phase("match");
    let mut findings = Findings::default();
    let matches = matching::match_operations(&trace, &profiles, &owners, &mut findings, exchange)?;

    progress.phase("find wait states");
    let selections = Selections::new(&trace, &metrics);
    for (profile, matches) in profiles.iter_mut().zip(matches) {
        wait_states::find(profile, &matches, &metrics, trace.semantics);
        profile.operations = operations::Operations::default();
        for location in &mut profile.locations {
            formulas::derive(&mut location.severities, &profile.tree, &metrics, &selections);
        }
    }

    progress.phase("write report");
    let summary = report::write(target, &trace, &metrics, &profiles, findings, exchange)?;
    // Only now does everyone know that there is a report.
    let lacks_data = summary.as_ref().is_some_and(|summary| summary.findings.has_data_loss());
    let answer = broadcast(exchange, vec![u64::from(lacks_data)])?;
    progress.done();
    Ok(Outcome { summary, lacks_data: answer == [1] })
}

/// Where the report goes.
fn target(options: &Options, archive: &Archive) -> PathBuf {
    options.report.clone().unwrap_or_else(|| archive.directory().join("trace.cubex"))
}

/// The bytes of each process's event files. Each worker asks the file system for a part of them.
fn weights(archive: &Archive, trace: &Trace, exchange: &mut dyn Exchange) -> Result<Vec<u64>, Error> {
    let (worker, workers) = (exchange.worker(), exchange.workers());
    let size = |process: &trace::Process| {
        let locations = &trace.locations[process.locations.clone()];
        locations.iter().filter_map(|location| archive.event_bytes(location.reference)).sum()
    };
    let mine = trace.processes.iter().skip(worker).step_by(workers).map(size).collect();
    let mut weights = vec![0; trace.processes.len()];
    for (worker, sizes) in share(exchange, mine)?.into_iter().enumerate() {
        for (weight, size) in weights.iter_mut().skip(worker).step_by(workers).zip(sizes) {
            *weight = size;
        }
    }
    Ok(weights)
}
