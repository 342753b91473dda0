//! Writes the report, and collects what the summary says on the way.

use std::path::PathBuf;

use cubex::{CnodeId, MetricId, Writer};
use model::Paradigm;
use patterns::Unit;

use super::accounts::Accounts;
use super::cube::describe;
use super::culprits::{Culprit, Culprits, between, kind, victims};
use super::rows::{Piece, RowSets, Value, collect};
use super::source::{Imbalance, Source, totals as computation};
use super::statistics::{EXTENSION, text};
use super::summary::{self, Summary, Waiting, examples, total};
use crate::call_tree::{NO_PATH, PathId};
use crate::causes::Named;
use crate::clock_correction::Violations;
use crate::error::Error;
use crate::exchange::{Exchange, gather};
use crate::findings::Findings;
use crate::fraction;
use crate::idle_threads::{IdleThreads, parallel_regions};
use crate::options::Semantics;
use crate::report_paths::ReportPaths;
use crate::statistics::Statistics;
use crate::tools::Tools;
use crate::trace::Trace;
use crate::walk::ProcessProfile;

/// What workers found besides severities.
#[derive(Clone, Debug)]
pub struct Found {
    /// What was odd; findings of single processes are in their profiles.
    pub findings: Findings,
    /// The instances of wait states.
    pub statistics: Statistics,
    /// What was wrong with clocks, if they were corrected.
    pub violations: Option<Violations>,
    /// Who made others wait.
    pub culprits: Vec<Named>,
}

/// What worker 0 makes of the rows.
struct Output {
    writer: Writer,
    waiting: Waiting,
    culprits: Culprits,
}

/// About how many bytes writing the report takes: call trees, and what rows take while they are on their way.
pub fn bytes_needed(profiles: &[ProcessProfile]) -> u64 {
    400 * profiles.iter().map(|profile| profile.paths.len() as u64).sum::<u64>()
}

/// Writes the report of all workers' processes, and the statistics beside it. Worker 0 does, and answers the summary.
///
/// # Errors
/// If a file cannot be written, or a worker failed. Existing files are untouched then.
pub fn write(
    target: PathBuf,
    tools: &Tools<'_>,
    profiles: &[ProcessProfile],
    paths: &ReportPaths,
    found: Found,
    exchange: &mut dyn Exchange,
) -> Result<Option<Summary>, Error> {
    let ReportPaths { tree, order, positions, numbers } = paths;
    // The reference's tool adds neither where POSIX threads occur.
    let Tools { trace, metrics, formulas, .. } = *tools;
    let compares = trace.semantics == Semantics::Corrected
        || tree.iter().all(|path| trace.region(path.region).paradigm != Paradigm::PTHREAD);
    let idle: Vec<Option<IdleThreads>> = profiles
        .iter()
        .map(|profile| IdleThreads::new(trace, metrics, profile).filter(|_| compares))
        .collect();
    let mut sources: Vec<Source<'_>> = profiles
        .iter()
        .zip(numbers)
        .zip(&idle)
        .flat_map(|((profile, numbers), idle)| {
            profile.locations.iter().enumerate().map(move |(thread, location)| {
                let is_thread =
                    trace.locations[location.location].is_thread() && !location.severities.paths().is_empty();
                Source {
                    location: location.location,
                    severities: &location.severities,
                    paths: &profile.paths,
                    numbers,
                    metrics,
                    formulas,
                    idle: idle.as_ref().filter(|_| location.is_worker),
                    participates: [is_thread && thread == 0, is_thread],
                    imbalance: None,
                }
            })
        })
        .collect();
    let mut is_parallel = vec![false; tree.len()];
    for (path, region) in parallel_regions(trace, tree).into_iter().enumerate() {
        is_parallel[positions[path] as usize] = region != NO_PATH;
    }
    let computed = computation(&sources, &is_parallel).of_all(exchange)?;
    let imbalance = Imbalance { totals: &computed, is_parallel: &is_parallel };
    for source in &mut sources {
        source.imbalance = compares.then_some(imbalance);
    }

    let first = profiles.first().map_or(0, |profile| profile.process);
    let number =
        |process: usize, path: PathId| numbers.get(process.checked_sub(first)?)?.get(path as usize).copied();
    let process_of = |location: u32| trace.locations[location as usize].process;
    let statistics = found.statistics.total(number, process_of, exchange)?;
    let accounts = Accounts::of_all(profiles, found.findings, exchange)?;
    let run_times = run_times(trace, profiles, exchange)?;
    let rows = RowSets::of_all(&sources, metrics.list.len(), tree.len(), exchange)?;
    let mut output = if exchange.worker() == 0 {
        let cube = describe(trace, metrics, tree, order, &accounts, found.violations);
        let mut writer = Writer::create(&target, cube)?;
        writer.add_member("findings.tsv", findings_table(trace, &accounts.findings).as_bytes())?;
        if let Some(totals) = statistics {
            writer.add_companion(EXTENSION, text(trace, &totals));
        }
        Some(Output {
            writer,
            waiting: Waiting::new(trace, metrics),
            culprits: Culprits::new(metrics, &found.culprits),
        })
    } else {
        None
    };
    for group in rows.groups() {
        write_group(tools, &group, &sources, &rows, output.as_mut(), exchange)?;
    }
    let Some(Output { writer, waiting, culprits }) = output else { return Ok(None) };
    writer.finish()?;
    let name = |path: u32| trace.path_name(tree, order[path as usize]);
    let whole = |ticks: i128| trace.definitions.clock.seconds(ticks);
    let Accounts { findings, coverage, doubtful } = accounts;
    let doubt = |(&metric, &ticks): (&usize, &i64)| {
        let (seconds, of) = (whole(ticks.into()), whole(waiting.of(metric)?));
        Some(summary::Doubt { title: metrics.title(metric), seconds, of })
    };
    let (of_rows, delay_costs) = culprits.all();
    let seconds = |shares: i128| whole(shares) / fraction::ONE;
    let culprit =
        |(Named { culprit, victims: who, stretch }, of_rows): (&Named, &Culprit)| summary::Culprit {
            location: trace.location_name(culprit.location as usize),
            call_path: name(culprit.path),
            between: stretch.as_ref().map(|stretch| between(trace, stretch, culprit.costs)),
            seconds: seconds(culprit.costs),
            kind: kind(culprit.class),
            victims: who.as_ref().map(|who| victims(trace, who, culprit.costs)),
            is_critical: of_rows.is_critical,
            more_work: of_rows.more_work(&computed, &is_parallel),
        };
    // What would be 0.0 % is not worth a line.
    let counts = |named: &Named| named.culprit.costs >= delay_costs / 2000;
    Ok(Some(Summary {
        run: whole(total(run_times.iter().map(|times| times.0)).into()),
        mpi: whole(total(run_times.iter().map(|times| times.1)).into()),
        waiting: whole(waiting.all().into()),
        locations: trace.locations.iter().filter(|location| location.is_thread()).count(),
        wait_states: waiting.largest(metrics, name, whole),
        ranks: waiting.ranks(trace, &run_times, whole),
        clock_error: whole(doubtful.limit.into()),
        corrected: found.violations.map(|it| (it.count, whole(it.largest.into()))),
        doubts: doubtful.waiting.iter().filter_map(doubt).collect(),
        culprits: found.culprits.iter().zip(of_rows).filter(|it| counts(it.0)).map(culprit).collect(),
        delay_costs: seconds(delay_costs),
        examples: examples(trace, &findings),
        coverage,
        findings,
        report: target,
    }))
}

/// Writes the rows of some metrics, whose values come together, or of one, whose values may come in pieces.
fn write_group(
    tools: &Tools<'_>,
    group: &[usize],
    sources: &[Source<'_>],
    rows: &RowSets,
    mut output: Option<&mut Output>,
    exchange: &mut dyn Exchange,
) -> Result<(), Error> {
    if let &[metric] = group {
        let mut pieces = rows.pieces(metric).into_iter();
        let mut next = || match pieces.next() {
            Some(piece) => Ok(collect(sources, tools.formulas, &[piece], exchange)?.pop()),
            None => Ok(None),
        };
        return match output {
            Some(output) => write_metric(tools, metric, rows, next, output),
            None => {
                while next()?.is_some() {}
                Ok(())
            }
        };
    }
    let pieces: Vec<Piece> = group.iter().flat_map(|&metric| rows.pieces(metric)).collect();
    let values = collect(sources, tools.formulas, &pieces, exchange)?;
    for (piece, values) in pieces.iter().zip(values) {
        if let Some(output) = &mut output {
            let mut values = Some(values);
            write_metric(tools, piece.metric, rows, || Ok(values.take()), output)?;
        }
    }
    Ok(())
}

/// Writes the rows of a metric, from the pieces that `next` has.
fn write_metric(
    tools: &Tools<'_>,
    metric: usize,
    rows: &RowSets,
    mut next: impl FnMut() -> Result<Option<Vec<Value>>, Error>,
    Output { writer, waiting, culprits }: &mut Output,
) -> Result<(), Error> {
    let cnodes: Vec<CnodeId> = rows.rows(metric).into_iter().map(|path| CnodeId(path as usize)).collect();
    let mut row_writer = writer.metric(MetricId(metric), &cnodes)?;
    let Tools { trace, metrics, formulas, .. } = *tools;
    let unit = metrics.list[metric].unit;
    let one = if formulas.has_fractions(metric) { fraction::ONE } else { 1.0 };
    let mut seconds = vec![0.0; trace.locations.len()];
    let mut counts = vec![0; trace.locations.len()];
    while let Some(values) = next()? {
        for row in values.chunk_by(|a, b| a.path == b.path) {
            let path = row[0].path;
            if unit == Unit::Seconds {
                seconds.fill(0.0);
                for value in row {
                    let ticks = value.number();
                    seconds[value.location as usize] = trace.definitions.clock.seconds(ticks) / one;
                }
                row_writer.push_f64(CnodeId(path as usize), &seconds)?;
            } else {
                counts.fill(0);
                for value in row {
                    counts[value.location as usize] = value.number() as u64;
                }
                row_writer.push_u64(CnodeId(path as usize), &counts)?;
            }
            waiting.add(metric, path, row);
            culprits.add(metric, row);
        }
    }
    row_writer.finish()?;
    Ok(())
}

/// For each CPU location its time between MPI_Init and MPI_Finalize, and its MPI time in there, in ticks; at worker 0.
/// Other locations have none: accelerators and metrics do not wait for ranks.
fn run_times(
    trace: &Trace,
    profiles: &[ProcessProfile],
    exchange: &mut dyn Exchange,
) -> Result<Vec<(i64, i64)>, Error> {
    let locations = profiles
        .iter()
        .flat_map(|profile| &profile.locations)
        .filter(|l| trace.locations[l.location].is_thread());
    let words = locations.flat_map(|l| [l.location as u64, l.run as u64, l.run_mpi as u64]).collect();
    let mut times = vec![(0, 0); trace.locations.len()];
    for words in gather(exchange, words)?.iter().flat_map(|batch| batch.chunks_exact(3)) {
        times[words[0] as usize] = (words[1] as i64, words[2] as i64);
    }
    Ok(times)
}

/// The findings as a table of tab-separated values, for programs.
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
