//! Writes the report, and collects what the summary says on the way.

use std::path::PathBuf;
use std::rc::Rc;

use cubex::{Complete, Writer};
use model::Paradigm;

use super::accounts::Accounts;
use super::collect::Collector;
use super::cube::describe;
use super::culprits::Culprits;
use super::names;
use super::remarks::Remarks;
use super::source::{IdleTime, Source, Sources, numbered};
use super::statistics::{EXTENSION, text};
use super::summary::{self, Summary, examples, total};
use super::survey::Survey;
use super::waiting::Waiting;
use crate::call_tree::{NO_PATH, PathId};
use crate::causes;
use crate::clock_correction::Violations;
use crate::error::Error;
use crate::exchange::{Exchange, gather};
use crate::findings::Findings;
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
    pub culprits: causes::Culprits,
}

/// About how many bytes writing the report takes: call trees, and what rows take while they are on their way.
pub fn bytes_needed(profiles: &[ProcessProfile]) -> u64 {
    400 * profiles.iter().map(|profile| profile.paths.len() as u64).sum::<u64>()
}

/// Writes the report of all workers' processes, and the statistics beside it. Worker 0 does, and answers the summary and the
/// complete report, which is not in place yet. Existing files are untouched.
///
/// # Errors
/// If a file cannot be written, or a worker failed.
pub fn write(
    target: PathBuf,
    tools: &Tools<'_>,
    profiles: &[ProcessProfile],
    paths: &ReportPaths,
    found: Found,
    exchange: &mut dyn Exchange,
) -> Result<Option<(Summary, Complete)>, Error> {
    let ReportPaths { tree, positions, numbers, .. } = paths;
    // The reference's tool adds neither where POSIX threads occur.
    let Tools { trace, metrics, formulas, .. } = *tools;
    let compares = trace.semantics == Semantics::Corrected
        || tree.iter().all(|path| trace.region(path.region).paradigm != Paradigm::PTHREAD);
    let list: Vec<Source<'_>> = profiles
        .iter()
        .zip(numbers)
        .flat_map(|(profile, numbers)| {
            let idle = IdleThreads::new(trace, metrics, profile).filter(|_| compares);
            let idle = idle.map(|idle| (numbered(idle.outside(), numbers).into(), idle));
            profile.locations.iter().enumerate().map(move |(thread, location)| {
                let is_thread = trace.locations[location.location].is_thread() && location.has_events();
                let idle = idle.as_ref().filter(|_| location.is_worker).map(|(outside, idle)| {
                    Box::new(IdleTime {
                        outside: Rc::clone(outside),
                        limited: numbered(&idle.limited(metrics, &location.severities), numbers),
                    })
                });
                let participates = [is_thread && thread == 0, is_thread];
                Source { severities: &location.severities, numbers, idle, participates }
            })
        })
        .collect();
    let mut is_parallel = vec![false; tree.len()];
    for (path, region) in parallel_regions(trace, tree).into_iter().enumerate() {
        is_parallel[positions[path] as usize] = region != NO_PATH;
    }
    let first = profiles.iter().flat_map(|profile| &profile.locations).map(|it| it.location).next();
    let mut sources = Sources::new(first.unwrap_or(0), list, metrics, formulas, paths, is_parallel);
    let Survey { totals, spreads, signs } = Survey::new(&sources);
    let computed = totals.of_all(exchange)?;
    match compares && computed.participants[1] > 1 {
        true => sources.compare(&computed, spreads),
        false => drop(spreads),
    }

    let first = profiles.first().map_or(0, |profile| profile.process);
    let number =
        |process: usize, path: PathId| numbers.get(process.checked_sub(first)?)?.get(path as usize).copied();
    let process_of = |location: u32| trace.locations[location as usize].process;
    let statistics = found.statistics.total(number, process_of, exchange)?;
    let accounts = Accounts::of_all(profiles, found.findings, exchange)?;
    let run_times = run_times(trace, profiles, exchange)?;
    let remarks = Remarks {
        waiting: Waiting::new(trace, metrics),
        culprits: Culprits::new(trace, metrics, paths, &found.culprits),
    };
    let mut collector = Collector::new(tools, &sources, signs, remarks, exchange)?;
    let written = if exchange.worker() == 0 {
        let cube = describe(trace, metrics, paths, &accounts, found.violations);
        let mut writer = Writer::create(&target, cube)?;
        writer.add_member("findings.tsv", findings_table(trace, &accounts.findings).as_bytes())?;
        if let Some(totals) = statistics {
            writer.add_companion(EXTENSION, text(trace, &totals));
        }
        collector.write(&mut writer, exchange)?;
        Some(writer.complete()?)
    } else {
        collector.send(exchange)?;
        None
    };
    let Remarks { waiting, culprits } = collector.remarks.of_all(exchange)?;
    let Some(complete) = written else { return Ok(None) };
    let name = |path: u32| {
        let name = names::path(trace, paths, path);
        names::site(trace, paths, path).map_or(name.clone(), |site| format!("{name} ({site})"))
    };
    let whole = |ticks: i128| trace.definitions.clock.seconds(ticks);
    let Accounts { findings, coverage, doubtful } = accounts;
    let doubt = |(&metric, &ticks): (&usize, &i64)| {
        let (seconds, of) = (whole(ticks.into()), whole(waiting.of(metric)?));
        Some(summary::Doubt { title: metrics.title(metric), seconds, of })
    };
    let run = total(run_times.iter().map(|times| times.run));
    let summary = Summary {
        run: whole(run.into()),
        not_recorded: whole(total(run_times.iter().map(|times| times.off)).into()),
        mpi: whole(total(run_times.iter().map(|times| times.mpi)).into()),
        waiting: whole(waiting.all().into()),
        locations: computed.participants[1] as usize,
        wait_states: waiting.largest(metrics, name, whole),
        ranks: waiting.ranks(trace, &run_times, whole),
        clock_error: whole(doubtful.limit.into()),
        corrected: found.violations.map(|it| (it.count, whole(it.largest.into()))),
        doubts: doubtful.waiting.iter().filter_map(doubt).collect(),
        causes: culprits.tell(&computed, &sources.is_parallel),
        examples: examples(trace, &findings),
        coverage,
        findings,
        report: target,
    };
    Ok(Some((summary, complete)))
}

/// The time of a location between MPI_Init and MPI_Finalize, in ticks.
#[derive(Clone, Copy, Default)]
pub(super) struct RunTimes {
    /// As far as it was recorded.
    pub(super) run: i64,
    /// Its part in MPI.
    pub(super) mpi: i64,
    /// While recording was off.
    off: i64,
}

/// The times of each CPU location; at worker 0. Other locations have none: accelerators and metrics do not wait for ranks.
fn run_times(
    trace: &Trace,
    profiles: &[ProcessProfile],
    exchange: &mut dyn Exchange,
) -> Result<Vec<RunTimes>, Error> {
    let locations = profiles
        .iter()
        .flat_map(|profile| &profile.locations)
        .filter(|l| trace.locations[l.location].is_thread());
    let words = locations
        .flat_map(|l| [l.location as u64, l.recorded_run() as u64, l.run_mpi as u64, l.run_off as u64])
        .collect();
    let mut times = vec![RunTimes::default(); trace.locations.len()];
    for words in gather(exchange, words)?.iter().flat_map(|batch| batch.chunks_exact(4)) {
        let [run, mpi, off] = [words[1], words[2], words[3]].map(u64::cast_signed);
        times[words[0] as usize] = RunTimes { run, mpi, off };
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
