//! The pipeline of an analysis, which every worker runs ([`analyze`](crate::analyze)).

use std::mem::take;
use std::sync::Arc;

use model::Ticks;
use new_directory::NewDirectory;
use tracing::debug;

use crate::accelerators;
use crate::advice::{self, Collector, Known};
use crate::assignment::Owners;
use crate::causes::{Collected, Focused, FoundCauses, Wanted};
use crate::clock_correction::Corrected;
use crate::clock_errors::Doubtful;
use crate::details::DetailsCollector;
use crate::details::windows::Limits;
use crate::error::Error;
use crate::exchange::Exchange;
use crate::exchange::{Batch, broadcast, share};
use crate::findings::{Finding, Findings};
use crate::focus::Focus;
use crate::focus::Windows;
use crate::matching::Matches;
use crate::options::DetailsPlace;
use crate::progress::Progress;
use crate::report::{FocusSummary, Found, RecordedIterations, WhatIfSummary};
use crate::report_paths::ReportPaths;
use crate::results::Instances;
use crate::statistics::Statistics;
use crate::structure::{Agreed, Asked, ByIteration, FoundStructure};
use crate::tools::Tools;
use crate::walk::{Notes, Positions, Walked};
use crate::what_if::{Purpose, TimedGraph, WhatIf};
use crate::{
    Outcome, causes, clock_correction, clock_errors, deadlock, focus, io, matching, predicted, report,
    scratch, short, signals, statistics, structure, thread_waits, wait_states, walk,
};

use super::Job;

impl Job {
    /// Walks the events of a worker's processes, with corrected times instead of the recorded ones if `times`
    /// has any. If there are `windows` of each process, only what lies in these counts. Calls `take` for each process as soon as it is
    /// walked, with its position.
    pub(crate) fn walk(
        &self,
        notes: Notes<'_>,
        times: &[Vec<Vec<Ticks>>],
        windows: &[Arc<Windows>],
        mut take: impl FnMut(usize, &mut Walked),
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
            take(at, &mut walked);
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
            let walked = self.walk(notes, &[], &[], |_, _| {}, exchange, progress)?;
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
        let mut of_streams = Vec::new();
        let take_walked = |at: usize, walked: &mut Walked| {
            if let Some(details) = &mut details {
                details.take_walked(walked);
            }
            // What ran on streams depends on no other process, and takes more memory than what follows from it.
            of_streams.push(accelerators::find(trace, metrics, walked, windows.get(at).map(Arc::as_ref)));
        };
        let mut walked = self.walk(notes, &corrected.times, windows, take_walked, exchange, progress)?;
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
        let processes_found = walked.into_iter().zip(matches).zip(of_streams);
        for (at, ((mut walked, matches), offload)) in processes_found.enumerate() {
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
