//! Writing of the report: the data of all workers is gathered, the file written, the summary made.

use std::path::{Path, PathBuf};

use cubex::{Attribute, Complete, Writer};
use details::advice::{ADVICE, AdviceFile};
use details::manifest::{BESIDE, MANIFEST, Manifest, digest, member};
use details::scaling::SCALING;
use details::what_if::WHAT_IF;
use model::Paradigm;

use super::accounts::{Accounts, RunTimes};
use super::advice_table::{self, TABLE};
use super::advised::AdviceSummary;
use super::cube::describe;
use super::file_io::{IoModel, IoSummary};
use super::file_waiting::FileWaiting;
use super::focus::FocusSummary;
use super::locations::Locations;
use super::manifest::manifest;
use super::names;
use super::recorded::RecordedIterations;
use super::remarks::Remarks;
use super::scaling::{ScalingSummary, ticks_by_path};
use super::send::send;
use super::statistics::{EXTENSION, text};
use super::structure::StructureSummary;
use super::summary::{self, Summary, examples, total};
use super::survey::Survey;
use super::target::followed;
use super::what_if::WhatIfSummary;
use crate::advice::{Advice, AdviceOptions};
use crate::causes;
use crate::clock_correction::Violations;
use crate::clock_errors::Doubtful;
use crate::details::Details;
use crate::error::Error;
use crate::exchange::{Batch, Exchange, share};
use crate::findings::{Finding, Findings};
use crate::ids::{PathId, ReportPath};
use crate::imbalance::Totals;
use crate::int::to_usize;
use crate::io;
use crate::options::DetailsPlace;
use crate::report_paths::ReportPaths;
use crate::results::Results;
use crate::scaling::OtherRuns;
use crate::statistics::{PatternTotal, Statistics};
use crate::structure::FoundStructure;
use crate::tools::Tools;
use crate::trace::Trace;
use crate::walk::WalkedProcess;
use crate::what_if::Predictions;

/// Extension of the archive of details beside a report.
pub(super) const DETAILS: &str = "details";

/// Results of the workers besides severities.
#[derive(Clone, Debug)]
pub struct Found<'a> {
    /// The severities and findings of each process.
    pub results: Vec<Results>,
    /// Findings that belong to no single process.
    pub findings: Findings,
    /// The instances of wait states.
    pub statistics: Option<Statistics>,
    /// Wait states that may be an artifact of wrong clocks.
    pub doubtful: Doubtful,
    /// Violations of the clock condition, if clocks were corrected.
    pub violations: Option<Violations>,
    /// The culprits.
    pub culprits: causes::Culprits,
    /// The structure of the run.
    pub structure: &'a FoundStructure,
    /// The part of the run that counts; `None` if all does.
    pub focus: Option<FocusSummary>,
    /// What is known of the iterations that the recording was limited to.
    pub recorded: RecordedIterations,
    /// The run under other conditions.
    pub predictions: Option<Predictions>,
    /// What to change first, and what was asked of it.
    pub advice: Option<(Advice, &'a AdviceOptions)>,
    /// Names and hashes of the user's files of rules, with which advice was looked for.
    pub rule_files: Option<&'a str>,
    /// Runs of other sizes, with which this one is compared.
    pub others: Option<&'a OtherRuns>,
    /// What a run that was not measured is predicted for.
    pub scenario: Option<String>,
    /// The details, and where they go.
    pub details: Option<(DetailsPlace, Details)>,
    /// What calls on files cost others; at worker 0 only.
    pub file_costs: io::AllFileCosts,
    /// The model of file I/O, if it was asked for, and what is written of it; at worker 0 only.
    pub io: Option<(io_model::Model, &'a io::Asked)>,
}

/// Returns the approximate number of bytes that writing the report needs: call trees, and rows in transit.
pub fn bytes_needed(processes: &[WalkedProcess]) -> u64 {
    400 * processes.iter().map(|process| process.paths.len() as u64).sum::<u64>()
}

/// Writes the report of all workers' processes, and the statistics beside it; `recorder` is the creator of the trace. Worker 0 writes, and returns
/// the summary and the complete report, which is not in place yet. Existing files are untouched.
///
/// # Errors
/// If a file cannot be written, or a worker failed.
pub fn write(
    target: PathBuf,
    tools: &Tools<'_>,
    processes: &[WalkedProcess],
    paths: &ReportPaths,
    found: Found<'_>,
    recorder: &str,
    exchange: &mut dyn Exchange,
) -> Result<Option<(Summary, Complete)>, Error> {
    let compares = compares(tools.trace, paths);
    let Found {
        results,
        findings,
        statistics,
        doubtful,
        violations,
        culprits,
        structure,
        focus,
        mut recorded,
        mut predictions,
        advice,
        rule_files,
        others,
        scenario,
        details,
        file_costs,
        io,
    } = found;
    let mut locations = Locations::new(tools, (processes, &results), paths, compares);
    let mut survey = Survey::new(&locations);
    let computed = std::mem::take(&mut survey.totals).of_all(exchange)?;
    locations.computed = Some(&computed).filter(|computed| compares && computed.participants[1] > 1);
    let statistics = match statistics {
        Some(statistics) => total_statistics(statistics, tools.trace, processes, paths, exchange)?,
        None => None,
    };
    let mut accounts =
        Accounts::of_all(tools.trace, (processes, &results), findings, doubtful, violations, exchange)?;
    (accounts.focus, accounts.scenario) = (focus, scenario);
    if let Some(predictions) = &mut predictions {
        accounts.work.correct(predictions);
    }
    let ideal = predictions.as_ref().and_then(|predictions| Some(predictions.efficiency?.ideal));
    accounts.efficiency = accounts.work.facts(ideal, &tools.trace.definitions.clock);
    let index = survey.index(&locations).of_all(exchange)?;
    let mut remarks = Remarks::new(tools, paths, &culprits);
    let mut writer = match exchange.worker() {
        0 => Some(begin(&target, tools, paths, &accounts, statistics)?),
        _ => None,
    };
    send(tools, &locations, &index, &mut remarks, writer.as_mut(), exchange)?;
    let remarks = remarks.of_all(exchange)?;
    let run_times = std::mem::take(&mut accounts.run_times);
    let ticks = others.map(|_| ticks_by_path(tools, &results, paths, exchange)).transpose()?;
    let written = match writer {
        Some(mut writer) => {
            let mut summary = summarize(tools, &locations, &computed, accounts, &run_times, &remarks, target);
            summary.structure = StructureSummary::new(tools.trace, paths, structure);
            recorded.compare_with(tools.trace, tools.metrics, structure);
            if recorded.stand_for_others() {
                summary.structure.of_representatives();
            }
            summary.recorded = recorded;
            let clock = &tools.trace.definitions.clock;
            if let Some((found_advice, options)) = advice {
                let advice = AdviceSummary::new(tools, paths, (&found_advice, options));
                let table = advice_table::table(tools, paths, &found_advice);
                add_advice(&mut writer, (&advice.file, &table), options)?;
                let rules = rule_files.map(|files| Attribute::new("Replay::Rules", files));
                advice.attributes().chain(rules).for_each(|attribute| writer.add_attribute(attribute));
                summary.advice = Some(advice);
            }
            summary.what_if = predictions.map(|predictions| WhatIfSummary::new(&predictions, clock));
            if let Some(what_if) = &summary.what_if {
                what_if.attributes().for_each(|attribute| writer.add_attribute(attribute));
                writer.add_member(WHAT_IF, &what_if.file().to_bytes())?;
            }
            if let (Some(others), Some(ticks)) = (others, &ticks) {
                let scaling = ScalingSummary::new(tools, paths, others, summary.efficiency, ticks);
                if let Some(file) = scaling.file() {
                    writer.add_member(SCALING, &file.to_bytes())?;
                }
                summary.scaling = Some(scaling);
            }
            let model = io.map(|(model, asked)| {
                for (path, bytes) in asked.outputs(&model) {
                    writer.add_file(followed(path), bytes);
                }
                IoModel::new(model, asked.relevance(), (tools.trace, paths))
            });
            let about = (&culprits, &remarks.culprits);
            let waiting = FileWaiting::new((tools.trace, paths), &file_costs.list, about, summary.run);
            let is_told = model.is_some() || waiting.is_some();
            summary.io = is_told.then_some(IoSummary { model, waiting });
            if let Some((place, details)) = details {
                let manifest = manifest(tools, paths, recorder, &details, &summary, &run_times);
                add_details(&mut writer, place, &manifest, &details)?;
            }
            Some((summary, writer.complete()?))
        }
        None => None,
    };
    // The other processes put signals off only when the files are complete.
    share(exchange, Batch::new())?;
    Ok(written)
}

/// Adds advice for programs: as members, and as the file that was asked for.
fn add_advice(
    writer: &mut Writer,
    (advice, table): (&AdviceFile, &str),
    options: &AdviceOptions,
) -> Result<(), Error> {
    let bytes = advice.to_bytes();
    writer.add_member(ADVICE, &bytes)?;
    writer.add_member(TABLE, table.as_bytes())?;
    if let Some(path) = options.file() {
        writer.add_file(followed(path.clone()), bytes);
    }
    Ok(())
}

/// Adds the details: as members of the report, or as an archive beside it, to which the report refers.
fn add_details(
    writer: &mut Writer,
    place: DetailsPlace,
    manifest: &Manifest,
    details: &Details,
) -> Result<(), Error> {
    let manifest = manifest.to_bytes();
    let digest = digest(&manifest);
    let mut members = vec![(MANIFEST.to_owned(), manifest)];
    for (table, _) in &details.tables {
        let name = member(&table.name);
        let bytes = details::write(table).map_err(|error| Error::new(format!("{name}: {error}")))?;
        members.push((name, bytes));
    }
    match place {
        DetailsPlace::Inside => {
            for (name, bytes) in &members {
                writer.add_member(name, bytes)?;
            }
        }
        DetailsPlace::Beside => {
            writer.add_attribute(Attribute::new(BESIDE, digest));
            writer.add_companion_archive(DETAILS, &members)?;
        }
        DetailsPlace::Nowhere => {}
    }
    Ok(())
}

/// Whether locations are compared, and idle time is computed.
fn compares(trace: &Trace, paths: &ReportPaths) -> bool {
    let is_of_posix = |region| trace.region(region).paradigm == Paradigm::PTHREAD;
    trace.semantics.compares_posix_threads() || !paths.nodes.iter().any(|path| is_of_posix(path.region))
}

/// Returns the statistics of all workers, at worker 0.
fn total_statistics(
    statistics: Statistics,
    trace: &Trace,
    processes: &[WalkedProcess],
    paths: &ReportPaths,
    exchange: &mut dyn Exchange,
) -> Result<Option<Vec<PatternTotal>>, Error> {
    let first = processes.first().map_or(0, |process| process.number);
    let number = |process: usize, path: PathId| {
        paths.numbers.get(process.checked_sub(first)?)?.get(path.index()).copied()
    };
    let process_of = |location: u32| trace.locations[location as usize].process;
    statistics.total(number, process_of, exchange)
}

/// Creates the file with everything except the values.
fn begin(
    target: &Path,
    tools: &Tools<'_>,
    paths: &ReportPaths,
    accounts: &Accounts,
    statistics: Option<Vec<PatternTotal>>,
) -> Result<Writer, Error> {
    let mut writer = Writer::create(target, describe(tools.trace, tools.metrics, paths, accounts))?;
    writer.add_member("findings.tsv", findings_table(tools.trace, &accounts.findings).as_bytes())?;
    if let Some(totals) = statistics {
        writer.add_companion(EXTENSION, text(tools.trace, &totals).into_bytes());
    }
    Ok(writer)
}

/// Returns the summary, once everything is at worker 0.
fn summarize(
    tools: &Tools<'_>,
    locations: &Locations<'_>,
    computed: &Totals,
    accounts: Accounts,
    run_times: &[RunTimes],
    Remarks { waiting, culprits }: &Remarks<'_>,
    report: PathBuf,
) -> Summary {
    let (trace, metrics, paths) = (tools.trace, tools.metrics, locations.paths);
    let energy = accounts.energy(trace);
    let Accounts { findings, coverage, doubtful, violations, focus, efficiency, scenario, .. } = accounts;
    let name = |path: ReportPath| {
        let name = names::path(trace, paths, path);
        names::site(trace, paths, path).map_or(name.clone(), |site| format!("{name} ({site})"))
    };
    let seconds = |ticks: i128| trace.definitions.clock.seconds(ticks);
    let doubt = |(&metric, &ticks): (&usize, &i64)| {
        let (ticks, of) = (seconds(ticks.into()), seconds(waiting.of(metric)?));
        Some(summary::Doubt {
            title: metrics.title(metric),
            metric: metrics.list[metric].id,
            seconds: ticks,
            of,
        })
    };
    // Threads that lack values are findings, ranks make the numbers of the run unknown.
    let are_complete =
        [Finding::WithoutCounters, Finding::BackwardCounter].iter().all(|&it| findings.count(it) == 0);
    let are_counters_known = efficiency.as_ref().map_or([false; 2], |run| {
        [run.instructions, run.cycles].map(|count| are_complete && count.is_some())
    });
    Summary {
        energy,
        run: seconds(total(run_times.iter().map(|times| times.run)).into()),
        has_idle: culprits.has_idle_threads(),
        not_recorded: seconds(total(run_times.iter().map(|times| times.off)).into()),
        mpi: seconds(total(run_times.iter().map(|times| times.mpi)).into()),
        waiting: seconds(waiting.all().into()),
        locations: to_usize(computed.participants[1]),
        wait_states: waiting.largest(metrics, name, seconds),
        focus,
        structure: StructureSummary::default(),
        recorded: RecordedIterations::default(),
        efficiency,
        what_if: None,
        advice: None,
        io: None,
        scaling: None,
        short: None,
        scenario,
        predicted: None,
        polled: waiting.polled(name, seconds),
        ranks: waiting.ranks(trace, run_times, seconds),
        clock_error: seconds(doubtful.limit.into()),
        corrected: violations.map(|it| (it.count, seconds(it.largest.into()))),
        doubts: doubtful.waiting.iter().filter_map(doubt).collect(),
        causes: culprits.tell(computed, &locations.is_parallel, are_counters_known),
        examples: examples(trace, &findings),
        coverage,
        findings,
        report,
    }
}

/// Returns the findings as a table of tab-separated values, for programs.
fn findings_table(trace: &Trace, findings: &Findings) -> String {
    let mut table =
        String::from("finding\tclass\tcount\tfirst at second\tfirst at location\tfirst example\tmeaning\n");
    for finding in findings.occurred() {
        let (time, location, text) = match findings.first(finding) {
            Some(first) => {
                let seconds = trace.definitions.clock.seconds(i128::from(first.time));
                (format!("{seconds:.9}"), trace.location_name(first.location as usize), first.text.clone())
            }
            None => Default::default(),
        };
        let text = text.replace(char::is_control, " ");
        let (name, class, count) = (finding.name(), finding.class().name(), findings.count(finding));
        let meaning = finding.meaning();
        table += &format!("{name}\t{class}\t{count}\t{time}\t{location}\t{text}\t{meaning}\n");
    }
    table
}
