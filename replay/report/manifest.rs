//! The manifest of the details: the trace in numbers, and the summary for programs.

use std::collections::BTreeSet;

use details::manifest::{
    Clocks, Communicator, Coverage, Culprit, Doubt, Finding, Manifest, Member, Metric, Part, Rank, Recorded,
    SCHEMA, Summary, WaitState, member,
};

use super::accounts::RunTimes;
use super::recorded::RecordedIterations;
use super::summary;
use crate::communicators::Participants;
use crate::coverage::Fate;
use crate::details::Details;
use crate::int::{to_u32, to_u64};
use crate::metrics::{Metrics, NumberedPattern};
use crate::report_paths::ReportPaths;
use crate::tools::Tools;
use crate::trace::{Location, Process, Trace};
use crate::wire::Half;

/// Members of a communicator that are listed, and communicators: the manifest is read as a whole.
const MEMBERS: usize = 64;
const COMMUNICATORS: usize = 1024;

/// Characters of a name, or of an example, that are kept.
const NAME: usize = 200;

/// Returns the manifest, once everything is at worker 0.
pub(super) fn manifest(
    tools: &Tools<'_>,
    paths: &ReportPaths,
    recorder: &str,
    details: &Details,
    summary: &summary::Summary,
    run_times: &[RunTimes],
) -> Manifest {
    let (trace, metrics) = (tools.trace, tools.metrics);
    let clock = &trace.definitions.clock;
    let threads = |process: &Process| {
        trace.locations[process.locations.clone()].iter().filter(|location| location.is_thread()).count()
    };
    Manifest {
        schema: SCHEMA.into(),
        ticks_per_second: clock.resolution,
        begin: 0,
        end: trace.length(),
        ranks: to_u64(trace.processes.len()),
        locations: to_u64(trace.locations.len()),
        threads: to_u64(trace.processes.iter().map(threads).max().unwrap_or(0)),
        nodes: nodes(trace),
        program: program(trace, paths),
        recorder: recorder.into(),
        semantics: trace.semantics.name().into(),
        classes: details.classes.clone(),
        levels: details.levels.clone(),
        metrics: listed(metrics),
        communicators: communicators(trace),
        main_loop: details.main_loop.clone(),
        recorded: recorded(&summary.recorded),
        tables: details
            .tables
            .iter()
            .map(|(table, complete)| Member {
                member: member(&table.name),
                rows: to_u64(table.rows()),
                complete: complete.clone(),
            })
            .collect(),
        summary: short(trace, metrics.has_causes, summary, run_times),
    }
}

/// Returns what is known of the iterations that the archive was limited to.
fn recorded(iterations: &RecordedIterations) -> Option<Recorded> {
    let RecordedIterations::Known(compared) = iterations else { return None };
    let found = compared.found.clone().unwrap_or_default();
    let [of, iterations] = compared.times.map(|times| times.count);
    Some(Recorded {
        is_short: !compared.weights.is_empty(),
        iterations,
        of,
        numbers: found.numbers,
        are_main_loop: found.are_recorded,
        weights: compared.weights.iter().map(|&(_, weight)| weight).collect(),
    })
}

/// Returns the metrics of patterns, in the order of [`Metrics::patterns`].
fn listed(metrics: &Metrics) -> Vec<Metric> {
    let metric = |pattern: &NumberedPattern| Metric {
        name: pattern.pattern.metric.id.into(),
        title: pattern.pattern.title.into(),
    };
    metrics.patterns.iter().map(metric).collect()
}

/// Returns the number of nodes: the nodes of the system tree that have processes.
fn nodes(trace: &Trace) -> u64 {
    let group = |location: &Location| trace.definitions.locations[location.definition].group;
    let parents =
        trace.locations.iter().map(|location| trace.definitions.location_groups[group(location)].parent);
    to_u64(parents.flatten().collect::<BTreeSet<usize>>().len())
}

/// Returns the name of the program, if there is one.
fn program(trace: &Trace, paths: &ReportPaths) -> String {
    let roots = paths.all().filter(|&path| paths.parent(path).is_none()).map(|path| paths.region(path));
    let programs: BTreeSet<u32> = roots.filter(|&region| trace.is_program(region)).collect();
    match programs.len() {
        1 => programs.first().map_or(String::new(), |&region| trace.region_name(region).into()),
        _ => String::new(),
    }
}

/// Returns the begin of a text.
fn cut(text: &str) -> String {
    match text.chars().count() > NAME {
        true => text.chars().take(NAME).chain(['…']).collect(),
        false => text.into(),
    }
}

/// Returns the communicators of MPI, windows, and handles of files; only the first ones, if there are very many.
fn communicators(trace: &Trace) -> Vec<Communicator> {
    let communicator = |(number, participants): (usize, &Participants)| {
        let members = participants.processes()?;
        let listed = (members.len() <= MEMBERS).then(|| members.to_vec());
        Some(Communicator {
            number: to_u32(number),
            name: cut(&trace.set_label(number)),
            size: to_u64(members.len()),
            members: listed,
        })
    };
    trace.communicators.iter().enumerate().filter_map(communicator).take(COMMUNICATORS).collect()
}

/// Returns the summary in numbers.
fn short(trace: &Trace, has_causes: bool, summary: &summary::Summary, run_times: &[RunTimes]) -> Summary {
    let seconds = |ticks: i64| trace.definitions.clock.seconds(ticks.into());
    let causes = &summary.causes;
    Summary {
        locations: to_u64(summary.locations),
        run: summary.run,
        length: seconds(run_times.iter().map(|times| times.run.saturating_add(times.off)).max().unwrap_or(0)),
        not_recorded: summary.not_recorded,
        mpi: summary.mpi,
        waiting: summary.waiting,
        wait_states: summary.wait_states.iter().map(wait_state).collect(),
        costs: has_causes.then_some(causes.costs),
        recorder_costs: causes.recorder,
        culprits: causes.culprits.iter().map(culprit).collect(),
        ranks: summary
            .ranks
            .iter()
            .map(|(name, waiting, run)| Rank { name: name.clone(), waiting: *waiting, run: *run })
            .collect(),
        coverage: Fate::ALL
            .into_iter()
            .map(|fate| Coverage { fate: fate.name().into(), seconds: seconds(summary.coverage.ticks(fate)) })
            .collect(),
        findings: findings(summary),
        clocks: Clocks {
            error: summary.clock_error,
            corrected: summary.corrected.map(|(count, _)| count),
            largest: summary.corrected.map(|(_, largest)| largest),
            doubts: summary.doubts.iter().map(doubt).collect(),
        },
    }
}

fn wait_state(state: &summary::WaitState) -> WaitState {
    WaitState {
        metric: state.metric.into(),
        cnode: state.path.to_half(),
        call_path: state.call_path.clone(),
        seconds: state.seconds,
    }
}

fn culprit(culprit: &summary::Culprit) -> Culprit {
    let part = |part: &summary::Part| Part { text: part.text.clone(), share: part.share };
    Culprit {
        place: culprit.location.clone(),
        cnode: culprit.path.to_half(),
        call_path: culprit.call_path.clone(),
        seconds: culprit.seconds,
        kind: culprit.kind.into(),
        is_unexplained: culprit.is_unexplained,
        site: culprit.site.clone(),
        between: culprit.between.as_ref().map(part),
        between_seconds: culprit.between_seconds,
        victims: culprit.victims.as_ref().map(part),
        is_critical: culprit.is_critical,
        more_work: culprit.more_work,
        not_running: culprit.not_running.as_ref().map(part),
        counted: culprit.counted.clone(),
        samples: culprit.samples.clone(),
    }
}

fn findings(summary: &summary::Summary) -> Vec<Finding> {
    let finding = |(finding, example): (crate::findings::Finding, &String)| Finding {
        class: finding.class().name().into(),
        name: finding.name().into(),
        count: summary.findings.count(finding),
        meaning: finding.meaning().into(),
        example: cut(example),
    };
    summary.findings.occurred().zip(&summary.examples).map(finding).collect()
}

fn doubt(doubt: &summary::Doubt) -> Doubt {
    Doubt { metric: doubt.metric.into(), seconds: doubt.seconds, of: doubt.of }
}
