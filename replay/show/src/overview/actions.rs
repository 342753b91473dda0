//! What to do first: the places that others wait for.

use cubex::{CnodeId, LocationId};
use details::manifest::Culprit;
use patterns::{PATTERNS, Pattern};
use sha2::{Digest, Sha256};

use super::Run;
use crate::error::{Result, or_obstacle};
use crate::opened::Opened;
use crate::output::numbers;
use crate::values::{DELAY, Values};
use crate::{paths, places};

/// The most actions.
const MOST: usize = 3;

/// The least share of delay costs, of a place that is named; and of the run, that all of them must have.
const LEAST: f64 = 0.05;
const LEAST_OF_RUN: f64 = 0.01;

/// The least excess of work over the mean that is to be balanced.
const EXCESS: f64 = 0.05;

/// Something to do.
#[derive(Clone, PartialEq, Debug)]
pub struct Action {
    /// The same in all runs of the same code: kind, `-`, 8 hexadecimal digits of its call path.
    pub id: String,
    /// `balance`, `earlier` or `unexplained`.
    pub kind: &'static str,
    /// What to do, in a sentence.
    pub text: String,
    /// The call path.
    pub cnode: CnodeId,
    /// The locations, in words.
    pub place: String,
    /// Waiting of others, in seconds.
    pub seconds: f64,
    /// Its share of all waiting that has a cause.
    pub share: f64,
    /// What shows it, in words.
    pub evidence: Vec<String>,
    /// The pattern of the waiting.
    pub pattern: Option<&'static str>,
    /// What helps against such waiting.
    pub advice: Option<&'static str>,
}

/// Kinds of waiting: the words of culprits, metrics of delay costs begin so, the metric of the wait state.
const KINDS: [(&str, &str, &str); 8] = [
    ("late senders", "delay_latesender", "mpi_latesender"),
    ("late receivers", "delay_latereceiver", "mpi_latereceiver"),
    ("waiting at barriers", "delay_barrier", "mpi_barrier_wait"),
    ("waiting at N x N", "delay_n2n", "mpi_wait_nxn"),
    ("late broadcasts", "delay_12n", "mpi_latebroadcast"),
    ("early reductions", "delay_n21", "mpi_earlyreduce"),
    ("waiting at OpenMP barriers", "delay_ompbarrier", "omp_ibarrier_wait"),
    ("idle threads", "delay_ompidle", "omp_idle_threads"),
];

/// The actions of a report: its culprits, else the places with most delay costs.
///
/// # Errors
/// If values cannot be read.
pub fn actions(opened: &Opened, values: &Values<'_>, run: &Run) -> Result<Vec<Action>> {
    let mut actions = match culprits(opened, values) {
        Some(culprits) => culprits,
        None => of_delays(values, run)?,
    };
    actions.retain(|action| action.share >= LEAST && run.share(action.seconds) >= LEAST_OF_RUN);
    actions.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    actions.truncate(MOST);
    Ok(actions)
}

/// An action for each culprit of the manifest, those of one call path and kind joined; `None` without a manifest.
pub fn culprits(opened: &Opened, values: &Values<'_>) -> Option<Vec<Action>> {
    let summary = &opened.manifest.as_ref()?.summary;
    let costs = summary.costs.unwrap_or(0.0);
    let is_there = |culprit: &&Culprit| (culprit.cnode as usize) < values.cube().cnodes.len();
    let culprits = summary.culprits.iter().filter(is_there);
    Some(joined(culprits.map(|culprit| of_culprit(values, culprit, costs))))
}

/// The id of an action.
fn id(values: &Values<'_>, kind: &str, cnode: CnodeId) -> String {
    let mut hash = Sha256::new();
    for name in paths::names(values.cube(), cnode) {
        hash.update(name.as_bytes());
        hash.update([0]);
    }
    let digits: String = hash.finalize().iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    format!("{kind}-{digits}")
}

/// The kind of an action, and what to do.
fn verb(is_unexplained: bool, more_work: Option<f64>, place: &str, function: &str) -> (&'static str, String) {
    match more_work.filter(|&more| more >= EXCESS) {
        _ if is_unexplained => {
            ("unexplained", format!("Look into {function} on {place}: time that the trace does not explain"))
        }
        Some(more) => (
            "balance",
            format!("Balance {function}: {place} has {} more work than the mean", numbers::percent(more)),
        ),
        None => ("earlier", format!("Let {function} end earlier on {place}")),
    }
}

fn of_culprit(values: &Values<'_>, culprit: &Culprit, costs: f64) -> Action {
    let cnode = CnodeId(culprit.cnode as usize);
    let function = paths::name(values.cube(), cnode);
    let (kind, text) = verb(culprit.is_unexplained, culprit.more_work, &culprit.place, function);
    let known = KINDS.iter().find(|(words, _, _)| *words == culprit.kind);
    let mut evidence = Vec::new();
    let victims = culprit.victims.as_ref().map_or(String::new(), |part| format!(" {}", part_text(part)));
    evidence.push(format!("{}{victims}", culprit.kind));
    if let Some(between) = &culprit.between {
        evidence.push(part_text(between));
    }
    if culprit.is_critical {
        evidence.push("on the critical path".into());
    }
    evidence.extend(culprit.samples.clone());
    let pattern = known.map(|known| known.2);
    Action {
        id: id(values, kind, cnode),
        kind,
        text,
        cnode,
        place: culprit.place.clone(),
        seconds: culprit.seconds,
        share: if costs > 0.0 { culprit.seconds / costs } else { 0.0 },
        evidence,
        pattern,
        advice: pattern.and_then(pattern_of).map(|pattern| pattern.explanation.advice()),
    }
}

/// A part of costs; with its share where there is much else.
fn part_text(part: &details::manifest::Part) -> String {
    if part.share < 0.95 {
        format!("{} ({})", part.text, numbers::percent(part.share))
    } else {
        part.text.clone()
    }
}

fn pattern_of(metric: &str) -> Option<&'static Pattern> {
    PATTERNS.iter().find(|pattern| pattern.metric.id == metric)
}

/// Joins actions of one kind at one call path: the places come after one another.
fn joined(actions: impl Iterator<Item = Action>) -> Vec<Action> {
    let mut all: Vec<Action> = Vec::new();
    for action in actions {
        match all.iter_mut().find(|before| before.id == action.id) {
            Some(before) => {
                before.seconds += action.seconds;
                before.share += action.share;
                before.evidence.push(format!("likewise {}", action.place));
                before.place = format!("{}, {}", before.place, action.place);
            }
            None => all.push(action),
        }
    }
    all
}

/// Actions of a report without manifest: the call path and location with most delay costs, for each call path.
fn of_delays(values: &Values<'_>, run: &Run) -> Result<Vec<Action>> {
    let cube = values.cube();
    let Some(delay) = values.find(DELAY) else { return Ok(Vec::new()) };
    let Ok(mut rows) = or_obstacle(values.exclusive(&delay))? else { return Ok(Vec::new()) };
    let mut places: Vec<(CnodeId, f64, usize, f64)> = Vec::new();
    let mut costs = 0.0;
    while let Some((cnode, row)) = rows.next()? {
        let sum: f64 = row.iter().sum();
        costs += sum;
        let largest = row.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
        if let Some((location, &value)) = largest.filter(|_| run.is_between[cnode.0]) {
            places.push((cnode, sum, location, value));
        }
        // More than enough to choose from, however many call paths there are.
        if places.len() > 1024 {
            places.sort_by(|a, b| b.1.total_cmp(&a.1));
            places.truncate(MOST);
        }
    }
    places.sort_by(|a, b| b.1.total_cmp(&a.1));
    places.truncate(MOST);
    let sizes = places::sizes(cube);
    let mut actions = Vec::new();
    for (cnode, sum, location, value) in places {
        let function = paths::name(cube, cnode);
        let stands_out = 2.0 * value >= sum;
        let name = places::name(cube, &sizes, LocationId(location));
        let place = if stands_out { name } else { format!("several ranks, most on {name}") };
        let more_work = if stands_out { excess(values, cnode, location)? } else { None };
        let (kind, text) = verb(false, more_work, &place, function);
        let seconds = if stands_out { value } else { sum };
        let (words, pattern) = largest_kind(values, cnode)?.unzip();
        actions.push(Action {
            id: id(values, kind, cnode),
            kind,
            text,
            cnode,
            place,
            seconds,
            share: if costs > 0.0 { seconds / costs } else { 0.0 },
            evidence: words.map(str::to_owned).into_iter().collect(),
            pattern,
            advice: pattern.and_then(pattern_of).map(|pattern| pattern.explanation.advice()),
        });
    }
    Ok(actions)
}

/// The excess of computation of a location at a call path over the mean of all threads, as a fraction of the mean.
fn excess(values: &Values<'_>, cnode: CnodeId, location: usize) -> Result<Option<f64>> {
    let Some(quantity) = values.find("comp") else { return Ok(None) };
    let row = or_obstacle(values.by_location(&quantity, &|at| at == cnode))?.unwrap_or_default();
    let threads = row.iter().zip(places::threads(values.cube())).filter(|(_, is_thread)| *is_thread);
    let (sum, count) = threads.fold((0.0, 0.0), |(sum, count), (value, _)| (sum + value, count + 1.0));
    let own = row.get(location).copied().unwrap_or(0.0);
    Ok((sum > 0.0).then(|| own * count / sum - 1.0))
}

/// The kind of waiting with most delay costs at a call path: in words, and its metric.
fn largest_kind(values: &Values<'_>, cnode: CnodeId) -> Result<Option<(&'static str, &'static str)>> {
    let mut largest = None;
    let mut most = 0.0;
    for (words, prefix, metric) in KINDS {
        let mut sum = 0.0;
        for name in [prefix.to_owned(), format!("{prefix}_longterm")] {
            let Some(quantity) = values.find(&name) else { continue };
            let row = or_obstacle(values.by_location(&quantity, &|at| at == cnode))?.unwrap_or_default();
            sum += row.iter().sum::<f64>();
        }
        if sum > most {
            (most, largest) = (sum, Some((words, metric)));
        }
    }
    Ok(largest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_those_of_patterns_and_metrics() {
        let metrics = patterns::metrics();
        for (_, delay, metric) in KINDS {
            assert!(metrics.iter().any(|it| it.id == delay), "{delay}");
            assert!(metrics.iter().any(|it| it.id == metric), "{metric}");
        }
    }
}
