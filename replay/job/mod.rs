//! Data of an analysis that all workers of a process share, and the threads on which they work.

use std::ops::Range;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::thread;

use new_directory::NewDirectory;
use otf2::Archive;
use rules::Rules;
use tracing::debug;

use crate::advice::{self, AdviceOptions};
use crate::agreement::Basis;
use crate::details::Scheme;
use crate::error::Error;
use crate::estimate::Estimate;
use crate::exchange::Exchange;
use crate::exchange::share;
use crate::exchange::threads::Team;
use crate::focus::Focus;
use crate::formulas::Formulas;
use crate::memory::{Memory, mebibytes};
use crate::metrics::{Metrics, Parts};
use crate::options::{DetailsPlace, Options};
use crate::progress::Progress;
use crate::report::RecordedIterations;
use crate::scaling::OtherRuns;
use crate::shared::Shared;
use crate::short::ShortOptions;
use crate::structure::LoopChoice;
use crate::trace::Trace;
use crate::what_if::{Scenario, WhatIf};
use crate::{Outcome, assignment, clock_correction, io, predicted, report, short, structure, tell, trace};

mod pipeline;

/// Data shared by all workers of a process.
pub(crate) struct Job {
    archive: Archive,
    target: PathBuf,
    /// The report's second name.
    link: Option<PathBuf>,
    /// Whether there are statistics beside the report.
    statistics: bool,
    pub(crate) trace: Trace,
    metrics: Metrics,
    formulas: Formulas,
    /// Bytes of event files, by process of the trace.
    weights: Vec<u64>,
    /// Processes of the trace, by worker.
    pub(crate) blocks: Vec<Range<usize>>,
    pub(crate) threads: usize,
    pub(crate) memory: Memory,
    estimate: Estimate,
    shared: Shared,
    together: u64,
    corrects_clocks: bool,
    has_structure: bool,
    /// What has the iterations; the analyzer's choice without.
    pub(crate) choice: Option<LoopChoice>,
    /// What is counted; all if there are none.
    pub(crate) focus: Vec<Focus>,
    /// Names of regions whose visits are phases.
    pub(crate) phases: Vec<String>,
    short: Option<ShortOptions>,
    /// Other conditions, under which the run is replayed.
    what_if: Option<WhatIf>,
    /// The rules of advice; `None` if it is not looked for.
    rules: Option<Rules>,
    /// Names and hashes of the user's files of rules.
    rule_files: Option<String>,
    advice: AdviceOptions,
    /// Runs of other sizes, with which this one is compared.
    other_runs: Option<OtherRuns>,
    /// The scenario of which the run is written, where, and whether the report is left to the analysis of what was written.
    predict: Option<(Scenario, PathBuf, bool)>,
    /// The directory of the archive that is written, at the process of worker 0.
    new_directory: Option<NewDirectory>,
    /// What is known of the iterations that the recording was limited to.
    pub(crate) recorded: RecordedIterations,
    details_place: DetailsPlace,
    instances: usize,
    windows: usize,
    /// How timelines are made, for details.
    scheme: Option<Scheme>,
    /// What the model of file I/O is made with, if it is wanted.
    io: Option<io::Asked>,
}

impl Job {
    pub(crate) fn open(options: &Options, exchange: &mut dyn Exchange) -> Result<Job, Error> {
        options.check()?;
        let predict = predicted::asked(options)?;
        let rules = options.looks_for_advice().then(|| advice::rules(&options.rules)).transpose()?;
        let archive = Archive::open(&options.experiment)?.by(options.io);
        let (target, link) = (report::target(options, &archive), report::link(options, &archive));
        if exchange.worker() == 0 {
            report::check_target(&target, link.as_deref(), options)?;
        }
        let file = archive.definition_file()?;
        let basis = Basis::new(options, &archive, &file);
        let definitions = archive.definition_records(&file).resolve()?;
        debug!(path = ?archive.definition_path(), bytes = file.len(), "definitions read");
        drop(file);
        let mut trace = Trace::new(definitions, options.semantics)
            .map_err(|error| Error::new(format!("{}: {error}", archive.definition_path().display())))?;
        if trace.locations.is_empty() {
            return Err(Error::new(format!(
                "{}: the archive defines no location, hence has no events; record the program again",
                archive.definition_path().display()
            )));
        }
        let other_runs = OtherRuns::open(options, &target, trace.processes.len(), exchange.worker() == 0)?;
        let recorded = match options.has_iterations() {
            true => RecordedIterations::read(&archive, &trace),
            false => RecordedIterations::NotLimited,
        };
        if options.clock_correction {
            let fineness = clock_correction::fineness(&trace.definitions.clock);
            trace.refine_clock(fineness);
        }
        let phases = phases(options, &trace);
        trace.mark_phases(&phases);
        trace.mark_phase_paths(&options.phases);
        if let Some(rules) = &rules {
            trace.mark_events(rules);
            if advice::reads_files(rules) {
                trace.read_files();
            }
        }
        let io = options.io_model.is_wanted().then(|| io::Asked::new(&mut trace, &options.io_model));
        let parts = Parts {
            causes: options.causes,
            file_model: options.io_model.is_wanted(),
            off_cpu: trace.switches.is_some(),
            // It is known of the whole run only.
            memory: options.focus.is_empty() && trace.tells_memory(),
            counters: trace.reported_counters.as_ref(),
            states: trace.reported_states.as_ref(),
            interfaces: trace.definitions.regions.iter().any(model::accelerators::is_of_accelerator),
            streams: trace.accelerators.is_some(),
        };
        let metrics = Metrics::of_analysis(parts, options.semantics);
        let formulas = Formulas::new(&trace, &metrics);
        let has_details = options.details_place() != DetailsPlace::Nowhere;
        let scheme = has_details.then(|| Scheme::new(&trace, &metrics, &formulas));
        let weights = weights(&archive, &trace, basis, exchange)?;
        // A worker without a process would have no work.
        let threads = options.threads.clamp(1, trace.processes.len());
        let blocks = assignment::blocks(&weights, exchange.workers() * threads);
        let mine =
            blocks[exchange.worker() * threads].start..blocks[(exchange.worker() + 1) * threads - 1].end;
        let size = |process: usize| (trace.processes[process].locations.len() as u64, weights[process]);
        let others = weights[..mine.start].iter().chain(&weights[mine.end..]);
        let others = others.fold(0, |sum: u64, &bytes| sum.saturating_add(bytes));
        let estimate = Estimate::new(options, mine.map(size), others);
        let short = options.short.as_ref().map(|short| (&short.directory, short::OPTION));
        let new = short.or(options.predict.as_ref().map(|directory| (directory, predicted::OPTION)));
        let new = new.filter(|_| exchange.worker() == 0);
        let new_directory = new.map(|(path, option)| NewDirectory::create(path, option, None)).transpose()?;
        let memory = Memory::of_this_process(threads);
        if let Some(limit) = &options.memory {
            memory.limit(limit, estimate)?;
        }
        Ok(Job {
            archive,
            target,
            link,
            statistics: options.statistics,
            trace,
            metrics,
            formulas,
            weights,
            blocks,
            threads,
            memory,
            estimate,
            shared: Shared::new(threads),
            together: options.together,
            corrects_clocks: options.clock_correction,
            has_structure: options.has_structure(),
            choice: options.choice.clone(),
            focus: options.focus.clone(),
            phases,
            short: options.short.clone(),
            what_if: options.replayed(),
            rules,
            rule_files: advice::named(&options.rules),
            advice: options.advice.clone(),
            other_runs,
            predict,
            new_directory,
            recorded,
            details_place: options.details_place(),
            instances: options.instances,
            windows: options.windows,
            scheme,
            io,
        })
    }

    pub(crate) fn describe(&self) -> String {
        let (processes, locations) = (self.trace.processes.len(), self.trace.locations.len());
        let largest = self.blocks.iter().map(|block| self.weights[block.clone()].iter().sum::<u64>()).max();
        format!(
            "{processes} processes, {locations} locations, {} bytes of events\n\
             {} workers, at most {} bytes of events for one\n\
             at most {} MiB of memory for this process, {} MiB with --memory",
            self.weights.iter().sum::<u64>(),
            self.blocks.len(),
            largest.unwrap_or(0),
            mebibytes(self.memory.with(self.estimate.all)),
            mebibytes(self.memory.with(self.estimate.least))
        )
    }

    /// Runs the pipeline on all threads of this process; returns the result of each.
    ///
    /// # Errors
    /// If the system starts fewer threads. No worker has begun then: a worker without its thread would leave
    /// the others waiting.
    pub(crate) fn work_on_threads(
        &self,
        exchange: &mut dyn Exchange,
        progress: &mut Progress,
    ) -> Result<Vec<Result<Outcome, Error>>, Error> {
        // A thread that starts with hardly any memory left would panic.
        self.memory.check(0).map_err(|error| {
            Error::new(format!("cannot start {} threads: {error}; --threads sets their number", self.threads))
        })?;
        let (team, process) = (Team::new(self.threads), exchange.worker());
        let (mut first, others) = team.members(exchange);
        let are_all_here = OnceLock::new();
        thread::scope(|scope| {
            let start = |(mut other, thread)| {
                let are_all_here = &are_all_here;
                let work = move || {
                    let mut progress = Progress::silent().of(process, thread);
                    let is_complete: bool = *are_all_here.wait();
                    is_complete.then(|| {
                        let outcome = self.work(&mut other, &mut progress);
                        outcome.map_err(|error| tell(error, &mut other))
                    })
                };
                thread::Builder::new().spawn_scoped(scope, work)
            };
            let others: Result<Vec<_>, _> = others.into_iter().zip(1..).map(start).collect();
            are_all_here.get_or_init(|| others.is_ok());
            let others = others.map_err(|error| {
                Error::new(format!(
                    "cannot start {} threads: {error}; choose fewer with --threads, or raise the limits on processes \
                     and memory (ulimit -u, ulimit -v)",
                    self.threads
                ))
            })?;
            let outcome = self.work(&mut first, progress).map_err(|error| tell(error, &mut first));
            let joined = others
                .into_iter()
                .filter_map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic)));
            Ok([outcome].into_iter().chain(joined).collect())
        })
    }
}

/// Names of regions whose visits are needed: those that a focus counts, and those that may be the iterations.
fn phases(options: &Options, trace: &Trace) -> Vec<String> {
    let mut phases: Vec<String> = options.focus.iter().flat_map(Focus::phases).map(str::to_owned).collect();
    match &options.choice {
        Some(choice) => phases.extend(choice.phase().map(str::to_owned)),
        None if options.has_iterations() => {
            let regions = trace.definitions.regions.iter().zip(&trace.kinds);
            let named = regions.filter(|(region, kind)| structure::is_phase(region) && !kind.is_mpi);
            phases.extend(named.map(|(region, _)| region.name.clone()));
        }
        None => {}
    }
    phases.sort();
    phases.dedup();
    phases
}

/// Returns the bytes of each process's event files. Each worker asks the file system for a part of them.
///
/// # Errors
/// If a worker failed, or has another basis.
fn weights(
    archive: &Archive,
    trace: &Trace,
    basis: Basis,
    exchange: &mut dyn Exchange,
) -> Result<Vec<u64>, Error> {
    let (worker, workers) = (exchange.worker(), exchange.workers());
    // A sparse file may claim any size; sums of sizes must not overflow.
    let most = u64::MAX / trace.locations.len() as u64;
    let cut = |size: u64| size.min(most);
    let size = |process: &trace::Process| {
        let locations = &trace.locations[process.locations.clone()];
        locations.iter().filter_map(|location| archive.event_bytes(location.reference)).map(cut).sum()
    };
    let mut mine = trace.processes.iter().skip(worker).step_by(workers).map(size).collect();
    basis.encode(&mut mine);
    let given = share(exchange, mine)?;
    let mut weights = vec![0; trace.processes.len()];
    for (worker, sizes) in basis.check(archive, &given)?.into_iter().enumerate() {
        for (weight, &size) in weights.iter_mut().skip(worker).step_by(workers).zip(sizes) {
            *weight = size;
        }
    }
    Ok(weights)
}
