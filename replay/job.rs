//! The pipeline of an analysis, which every worker runs ([`analyze`](crate::analyze)).

use std::mem::take;
use std::ops::Range;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::thread;

use model::Ticks;
use new_directory::NewDirectory;
use otf2::Archive;
use rules::Rules;
use tracing::debug;

use crate::accelerators;
use crate::advice::{self, AdviceOptions, Collector, Known};
use crate::agreement::Basis;
use crate::assignment::Owners;
use crate::causes::{Collected, Focused, FoundCauses, Wanted};
use crate::clock_correction::Corrected;
use crate::clock_errors::Doubtful;
use crate::details::windows::Limits;
use crate::details::{DetailsCollector, Scheme};
use crate::error::Error;
use crate::estimate::Estimate;
use crate::exchange::Exchange;
use crate::exchange::threads::Team;
use crate::exchange::{Batch, broadcast, share};
use crate::findings::{Finding, Findings};
use crate::focus::Focus;
use crate::focus::Windows;
use crate::formulas::Formulas;
use crate::matching::Matches;
use crate::memory::{Memory, mebibytes};
use crate::metrics::{Metrics, Parts};
use crate::options::{DetailsPlace, Options};
use crate::progress::Progress;
use crate::report::{FocusSummary, Found, RecordedIterations, WhatIfSummary};
use crate::report_paths::ReportPaths;
use crate::results::Instances;
use crate::scaling::OtherRuns;
use crate::shared::Shared;
use crate::short::ShortOptions;
use crate::statistics::Statistics;
use crate::structure::{Agreed, Asked, ByIteration, FoundStructure, LoopChoice};
use crate::tools::Tools;
use crate::trace::Trace;
use crate::walk::{Notes, Positions, Walked};
use crate::what_if::{Purpose, Scenario, TimedGraph, WhatIf};
use crate::{
    Outcome, assignment, causes, clock_correction, clock_errors, deadlock, focus, io, matching, predicted,
    report, scratch, short, signals, statistics, structure, tell, thread_waits, trace, wait_states, walk,
};

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

    /// Walks the events of a worker's processes, with corrected times instead of the recorded ones if `times`
    /// has any. If there are `windows` of each process, only what lies in these counts.
    pub(crate) fn walk(
        &self,
        notes: Notes<'_>,
        times: &[Vec<Vec<Ticks>>],
        windows: &[Arc<Windows>],
        mut details: Option<&mut DetailsCollector<'_>>,
        exchange: &dyn Exchange,
        progress: &mut Progress,
    ) -> Result<Vec<Walked>, Error> {
        let Job { archive, trace, metrics, weights, memory, .. } = self;
        progress.phase("read events");
        let mine = self.blocks[exchange.worker()].clone();
        let end = mine.end;
        progress.expect(weights[mine.clone()].iter().sum());
        let mut processes = Vec::with_capacity(mine.len());
        for (at, process) in mine.enumerate() {
            let times = times.get(at).map_or(&[][..], Vec::as_slice);
            let notes = Notes { windows: windows.get(at), ..notes };
            let files = walk::open(archive, trace, process)?;
            debug!(
                traced = process,
                locations = trace.processes[process].locations.len(),
                bytes = weights[process],
                "event files opened"
            );
            if process + 1 < end {
                walk::expect(archive, trace, process + 1, weights[process + 1]);
            }
            let mut walked = walk::walk(archive, trace, metrics, &files, notes, times, memory)?;
            if let Some(details) = &mut details {
                details.take_walked(&mut walked);
            }
            processes.push(walked);
            progress.advance(weights[process]);
        }
        Ok(processes)
    }

    /// Finds the structure of the run, and the iterations of this worker's locations; if all workers have the memory.
    fn structure(
        &self,
        tools: &Tools<'_>,
        walked: &[Walked],
        matches: &[Matches],
        findings: &mut Findings,
        details: Option<&mut DetailsCollector<'_>>,
        exchange: &mut dyn Exchange,
    ) -> Result<(FoundStructure, Option<Arc<Agreed>>), Error> {
        if !self.has_structure {
            return Ok((FoundStructure::NotLookedFor, None));
        }
        if structure::is_short(tools, structure::bytes_needed(walked), exchange)? {
            return Ok((FoundStructure::MemoryIsShort, None));
        }
        let asked = Asked { choice: self.choice.as_ref(), loops: &[] };
        let found = structure::find(tools, walked, matches, asked, findings, exchange)?;
        if let Some(details) = details {
            details.shapes = found.shapes;
        }
        Ok(match found.main {
            Some((agreed, structure)) => (FoundStructure::Loop(Box::new(structure)), Some(agreed)),
            None => (FoundStructure::NoLoop, None),
        })
    }

    /// Runs the pipeline for one worker.
    pub(crate) fn work(
        &self,
        exchange: &mut dyn Exchange,
        progress: &mut Progress,
    ) -> Result<Outcome, Error> {
        let Job { trace, metrics, formulas, memory, shared, .. } = self;
        let (worker, block) = (exchange.worker(), &self.blocks[exchange.worker()]);
        debug!(worker, workers = self.blocks.len(), traced = ?block, "processes assigned");
        let owners = Owners::new(&self.blocks);
        let has_details = self.details_place != DetailsPlace::Nowhere;
        let (owners, together) = (&owners, self.together);
        let tools = Tools { trace, metrics, formulas, owners, shared, memory, together, has_details };
        let is_alone = exchange.workers() == self.threads;
        let mut findings = Findings::default();
        let mut corrected = Corrected::default();
        if self.corrects_clocks {
            let notes = Notes::of(Positions::Records);
            let walked = self.walk(notes, &[], &[], None, exchange, progress)?;
            progress.phase("correct clocks");
            let matching = matching::bytes_needed(trace, &walked, is_alone, false);
            memory.check(matching + clock_correction::bytes_needed(&walked))?;
            corrected = clock_correction::correct(&tools, walked, &mut findings, exchange)?;
        }
        let scheme = self.scheme.as_ref();
        let purpose = Purpose::new(self.what_if.as_ref(), self.rules.is_some());
        let needs_journals = metrics.has_causes || purpose.is_some();
        let positions = if needs_journals { Positions::Journal } else { Positions::Nothing };
        let mut details = scheme.map(|scheme| DetailsCollector::new(trace, scheme, block));
        let (mut focused, mut focus_summary) = (None, None);
        if !self.focus.is_empty() {
            let (windows, in_program) = focus::windows(self, &tools, &corrected.times, exchange, progress)?;
            let has_own_end = !self.focus.iter().all(Focus::is_of_time);
            let focused = focused.insert(Focused { windows, has_own_end });
            let names = (&self.focus[..], self.choice.as_ref());
            focus_summary = Some(FocusSummary::new(names, in_program, focused, exchange)?);
        }
        let windows = focused.as_ref().map_or(&[][..], |focused| &focused.windows);
        let notes = Notes {
            positions,
            scheme,
            has_steps: self.has_structure,
            has_marks: purpose.is_some(),
            windows: None,
            io: self.io.as_ref(),
            has_file_operations: self.rules.as_ref().is_some_and(advice::reads_files)
                && !trace.definitions.file_handles.is_empty(),
        };
        let mut walked = self.walk(notes, &corrected.times, windows, details.as_mut(), exchange, progress)?;
        corrected.times = Vec::new();

        progress.phase("match");
        memory.check(matching::bytes_needed(trace, &walked, is_alone, details.is_some()))?;
        if exchange.worker() == 0 && !trace.definitions.is_clock_defined {
            findings.add(Finding::UndefinedClock, 0, 0, || "there is no ClockProperties record");
        }
        let latecomers = details.as_mut().map(DetailsCollector::latecomers);
        let matches = matching::match_operations(&tools, &walked, &mut findings, latecomers, exchange)?;
        deadlock::find(trace, &walked, &matches, &mut findings, exchange)?;
        let (mut found_structure, agreed) =
            self.structure(&tools, &walked, &matches, &mut findings, details.as_mut(), exchange)?;
        for walked in &mut walked {
            (walked.steps, walked.visits) = Default::default();
        }
        let timed = match purpose {
            Some(purpose) => {
                memory.check(TimedGraph::bytes_needed(&walked, purpose))?;
                Some(TimedGraph::build(&tools, &mut walked, &matches, purpose, exchange)?)
            }
            None => None,
        };
        for walked in &mut walked {
            walked.borders = Default::default();
        }

        progress.phase("find wait states");
        let bounds = statistics::bounds(&walked, trace.semantics, exchange)?;
        let clock_error = clock_errors::largest(&walked, &matches, exchange)?;
        let mut by_iteration = match (agreed.clone(), &mut found_structure) {
            (Some(agreed), FoundStructure::Loop(structure)) => {
                ByIteration::prepare(&tools, agreed, structure, &walked, clock_error, exchange)?
            }
            _ => None,
        };
        let found = (agreed.as_deref(), &found_structure);
        let plan = self.short.as_ref().map(|short| short::plan(&tools, short, &walked, found, exchange));
        let plan = plan.transpose()?;
        drop(agreed);
        let paths = ReportPaths::unify(trace, walked.iter().map(|walked| &walked.process), exchange)?;
        let of_files = match &self.io {
            Some(asked) => asked.gather(&tools, &mut walked, &paths, exchange)?,
            None => None,
        };
        let mut statistics = Statistics::new(bounds);
        let mut doubtful = Doubtful::new(clock_error);
        let mut collected = Collected::new(has_details);
        let (mut processes, mut results) = (Vec::new(), Vec::new());
        let mut collector = match (&self.rules, &timed) {
            (Some(rules), Some(timed)) => Some(Collector::new(&tools, rules, (timed, &walked), exchange)?),
            _ => None,
        };
        for (at, (mut walked, matches)) in walked.into_iter().zip(matches).enumerate() {
            let windows = windows.get(at).map(Arc::as_ref);
            let mut instances = Instances::new(bounds.as_ref(), clock_error);
            instances.severe = details.as_mut().map(|details| take(&mut details.severe));
            let tools_of_waits = (trace, metrics, scheme);
            let by_iteration = by_iteration.as_mut();
            let waiting = wait_states::find(
                tools_of_waits,
                &mut walked,
                &matches,
                windows,
                &mut instances,
                by_iteration,
            );
            thread_waits::find(metrics, scheme, &mut walked, windows, &mut instances);
            let offload = accelerators::find(trace, metrics, &mut walked, windows);
            if let Some(details) = &mut details {
                details.severe = instances.severe.unwrap_or_default();
                details.collect(&tools, &mut walked, &matches, &waiting);
            }
            if let Some(collector) = &mut collector {
                collector.collect(&tools, (at, &paths), &walked, (&matches, &waiting));
            }
            if metrics.has_causes {
                causes::collect(trace, &mut walked, &matches, (&waiting, &offload), windows, &mut collected);
            }
            if let Some(collector) = &mut collector {
                collector.keep(&walked, matches, &waiting);
            }
            statistics.absorb(walked.process.number, instances.samples);
            doubtful.merge(&instances.doubtful);
            processes.push(walked.process);
            results.push(walked.results);
        }
        if let Some(collector) = &mut collector {
            collector.collect_messages(&tools, &paths, exchange)?;
        }

        if let Some(details) = &mut details {
            details.select(&tools, &paths, self.instances, exchange)?;
        }
        // Windows need the times of events once more, and corrected ones are not kept.
        let most = if self.corrects_clocks { 0 } else { self.windows };
        let limits = Limits { windows: most, weights: &self.weights };
        let mut causes = FoundCauses::default();
        if metrics.has_causes {
            progress.phase("find root causes");
            let located = (&processes[..], &mut results[..]);
            let asked = details.as_ref().map(|details| details.questions(limits));
            let has_stretches = self.what_if.as_ref().is_some_and(WhatIf::needs_causes);
            let by_iteration = by_iteration.as_mut();
            let wanted = Wanted { asked, by_iteration, focused: focused.as_ref(), has_stretches };
            causes = causes::find(&tools, located, collected, &paths, wanted, &mut findings, exchange)?;
            if let Some(details) = &mut details {
                details.answers = causes.answers.take();
            }
        }

        // Root causes replace all shares.
        accelerators::add_imbalance(&tools, &processes, &mut results, &paths, exchange)?;

        if let (FoundStructure::Loop(structure), Some(by_iteration)) = (&mut found_structure, by_iteration) {
            structure.series = Some(by_iteration.of_all(exchange)?);
        }

        let predictions = match (&self.what_if, &timed) {
            (Some(what_if), Some(timed)) => {
                progress.phase("replay scenarios");
                let stretches = causes.stretches.as_deref().unwrap_or_default();
                Some(timed.predict(&tools, &processes, (what_if, stretches), &mut findings, exchange)?)
            }
            _ => None,
        };
        let advice = match (collector, &timed) {
            (Some(collector), Some(timed)) => {
                progress.phase("look for advice");
                let stretches = causes.stretches.as_deref().unwrap_or_default();
                let known = Known {
                    timed,
                    processes: &processes,
                    results: &results,
                    paths: &paths,
                    stretches,
                    findings: &findings,
                    doubtful: &doubtful,
                    least_percent: self.advice.least_percent(),
                };
                Some(advice::find(&tools, known, collector, exchange)?)
            }
            _ => None,
        };
        if let Some(predictions) = predictions.as_ref().filter(|_| self.predict.is_some()) {
            predicted::check(predictions)?;
        }
        let short = match (&self.short, plan) {
            (Some(options), Some(plan)) => {
                progress.phase("write short archive");
                let Job { archive, weights, .. } = self;
                let source = short::SourceArchive { archive, bytes: weights, first: block.start };
                short::write(&tools, options, source, plan, &found_structure, exchange)?
            }
            _ => None,
        };
        let predicted = match (&self.predict, timed) {
            (Some((scenario, directory, _)), Some(timed)) => {
                progress.phase("write predicted run");
                let Job { archive, weights, .. } = self;
                let source = short::SourceArchive { archive, bytes: weights, first: block.start };
                let compared = causes.stretches.as_deref().unwrap_or_default();
                let asked = (&timed, scenario, compared);
                predicted::write(&tools, directory, asked, &processes, source, exchange)?
            }
            _ => None,
        };
        if let Some((_, _, true)) = self.predict {
            scratch::verify()?;
            share(exchange, Batch::new())?;
            if worker == 0 {
                self.new_directory.iter().try_for_each(NewDirectory::put_in_place)?;
            }
            // Only after this round is the archive there for all workers.
            share(exchange, Batch::new())?;
            let clock = &trace.definitions.clock;
            let what_if = predictions.map(|predictions| WhatIfSummary::new(&predictions, clock));
            return Ok(Outcome { predicted: predicted.zip(what_if), ..Outcome::default() });
        }
        progress.phase("report");
        memory.check(report::bytes_needed(&processes))?;
        scratch::verify()?;
        let violations = corrected.violations;
        let details = match details {
            Some(mut details) => {
                details.read_windows(&self.archive, &tools, &paths, limits, exchange)?;
                let why_none = self.corrects_clocks.then_some("none with corrected clocks");
                let mut details = details.of_all(&tools, &paths, why_none, exchange)?;
                if worker == 0 {
                    details.add_series(trace, metrics, &found_structure);
                }
                Some((self.details_place, details))
            }
            None => None,
        };
        let file_costs = match (metrics.has_causes, trace.definitions.file_handles.is_empty()) {
            (true, false) => io::file_costs(&tools, (&processes, &results), &paths, exchange)?,
            _ => io::AllFileCosts::default(),
        };
        let asked = self.io.as_ref().zip(of_files);
        let io_model = asked.map(|(asked, of_files)| (asked.model(trace, of_files, &file_costs), asked));
        if let Some(summary) = &mut focus_summary {
            summary.costs = causes.focused;
        }
        let found = Found {
            results,
            findings,
            statistics: self.statistics.then_some(statistics),
            doubtful,
            violations,
            culprits: causes.culprits,
            structure: &found_structure,
            focus: focus_summary,
            recorded: if self.has_structure { self.recorded.clone() } else { RecordedIterations::NotLimited },
            scenario: predicted::scenario_of(&self.archive),
            predictions,
            advice: advice.map(|advice| (advice, &self.advice)),
            rule_files: self.rule_files.as_deref(),
            others: self.other_runs.as_ref(),
            details,
            file_costs,
            io: io_model,
        };
        let (target, recorder) = (self.target.clone(), &self.archive.anchor().creator);
        let written = report::write(target, &tools, &processes, &paths, found, recorder, exchange)?;
        // No worker leaves this round before all have come to it: the point of no return
        // (docs/architecture.md, The end). Until then a signal for the process of worker 0, which has the
        // files, still removes them.
        if exchange.worker() >= self.threads {
            signals::decide();
        }
        share(exchange, Batch::new())?;
        let summary = match written {
            Some((mut summary, report)) => {
                (summary.short, summary.predicted) = (short, predicted);
                signals::decide();
                self.new_directory.iter().try_for_each(NewDirectory::put_in_place)?;
                report.put_in_place()?;
                if !self.statistics {
                    report::remove_statistics(&self.target)?;
                }
                if let Some(link) = &self.link {
                    report::put_link_in_place(&self.target, link)?;
                }
                debug!(path = ?self.target, "report put in place");
                Some(summary)
            }
            None => None,
        };
        // Only after this round do all workers know that there is a report.
        let lacks_data = summary.as_ref().is_some_and(|summary| summary.findings.has_data_loss());
        let answer = broadcast(exchange, vec![u64::from(lacks_data)])?;
        progress.done();
        let lacks_data = answer == [1];
        Ok(Outcome { summary, structure: found_structure, lacks_data, predicted: None })
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
