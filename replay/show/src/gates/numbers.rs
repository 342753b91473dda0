//! The numbers of a gate: a value of each run of both sides.

use super::evaluate::{Subject, known_ids};
use super::{AdviceNumber, Gate, Limit, Name, Stat};
use crate::compare::advice::{RunAdvice, counts_of_new};
use crate::compare::measure::Measure;
use crate::compare::reading::{FindingCount, Known, Reading, has_outside, is_of_start_up};
use crate::compare::samples::median;
use crate::compare::side::Side;
use crate::error::Result;
use crate::values::{Unit, WAITING};

/// The share of locations below the value of `p95`.
const PERCENTILE: f64 = 0.95;

/// Values of each run: the least and the most that they can be, which are the same where they are known.
#[derive(Clone, Debug, Default)]
pub(super) struct Sample {
    /// The least.
    pub(super) least: Vec<f64>,
    /// The most.
    pub(super) most: Vec<f64>,
}

impl Sample {
    fn push(&mut self, (least, most): (f64, f64)) {
        self.least.push(least);
        self.most.push(most);
    }

    fn is_known(&self) -> bool {
        self.least == self.most
    }

    /// The median; `None` if it is not known.
    pub(super) fn median(&self) -> Option<f64> {
        self.is_known().then(|| median(&self.least))
    }
}

/// Values of each run of both sides, and how they are printed.
pub(super) struct Numbers {
    pub(super) a: Option<Sample>,
    pub(super) b: Sample,
    pub(super) unit: Unit,
    /// The run's time in the same form, which limits what counts as a change.
    pub(super) runs: (f64, f64),
    /// What is counted, where that depends on what the reports have.
    pub(super) counted: Option<&'static str>,
}

impl Numbers {
    /// All pairs of the least and the most values of both sides.
    pub(super) fn ends(&self) -> impl Iterator<Item = (Option<&[f64]>, &[f64])> {
        let a = self.a.as_ref();
        let ends_of_a = [a.map(|a| &a.least[..]), a.map(|a| &a.most[..])];
        let ends_of_b = [&self.b.least[..], &self.b.most[..]];
        ends_of_a.into_iter().flat_map(move |a| ends_of_b.into_iter().map(move |b| (a, b)))
    }

    /// Why it is not known how the gate ends, though there are values.
    pub(super) fn why_unknown(&self, gate: &Gate, subject: &Subject<'_, '_>) -> String {
        let has_kept_all = |side: &Side<'_>| match &gate.name {
            _ if gate.stat == Stat::New => side.knows_calls(),
            Name::Metric(name) => {
                side.runs.iter().all(|run| run.metrics.get(name).is_none_or(|sums| sums.known == Known::All))
            }
            _ => true,
        };
        match subject.a.map(|(a, _)| a).filter(|a| !has_kept_all(a)).map(Side::first) {
            Some(run) => format!(
                "{}: it depends on call paths that are not among those with the largest values, which the log has kept",
                run.label
            ),
            None => format!(
                "{}: it depends on work before MPI_Init and after MPI_Finalize, which is no part of the run; at which call \
                 paths that is, is not known",
                subject.b.first().label
            ),
        }
    }
}

/// The values of a gate; an error in words if there are none.
pub(super) fn numbers_of(
    gate: &Gate,
    subject: &Subject<'_, '_>,
    selected: Option<&[Vec<bool>; 2]>,
) -> Result<std::result::Result<Numbers, String>> {
    if gate.name == Name::NewActions {
        return Ok(new_actions(subject));
    }
    let is_share = matches!(gate.limit, Limit::Share(_) | Limit::Points(_)) || gate.name == Name::Coverage;
    let sample = |side: &Side<'_>, at: usize| -> Result<std::result::Result<Sample, String>> {
        let mut sample = Sample::default();
        for (number, run) in side.runs.iter().enumerate() {
            let own = selected.map(|selected| side.in_run(number, &selected[at]));
            match value(gate, run, own.as_deref(), is_share)? {
                Some(value) => sample.push(value),
                None => return Ok(Err(missing(gate, run))),
            }
        }
        Ok(Ok(sample))
    };
    let mut b = match sample(subject.b, 1)? {
        Ok(sample) => sample,
        Err(missing) => return Ok(Err(missing)),
    };
    if gate.stat == Stat::New && subject.a.is_some_and(|(side, _)| !side.knows_calls()) {
        // What the log has not kept need not be new.
        b.least.iter_mut().for_each(|value| *value = value.min(0.0));
    }
    let a = match subject.a.filter(|_| gate.stat != Stat::New).map(|(side, _)| sample(side, 0)).transpose()? {
        // Only B is asked for: that A lacks it is no obstacle.
        Some(Err(_)) if !gate.is_of_change() => None,
        Some(Err(missing)) => return Ok(Err(missing)),
        Some(Ok(sample)) => Some(sample),
        None => None,
    };
    let unit = match &gate.name {
        _ if is_share || gate.stat == Stat::Imbalance => Unit::Other(String::new()),
        Name::Run | Name::Advice(AdviceNumber::Most | AdviceNumber::Expected) => Unit::Seconds,
        Name::Metric(name) => subject.b.unit(name).cloned().unwrap_or(Unit::Count),
        _ => Unit::Count,
    };
    let run = |side: &Side<'_>| match (&unit, gate.stat) {
        _ if is_share => 1.0,
        (Unit::Seconds, Stat::Total) => side.run_time(Measure::Total),
        (Unit::Seconds, _) => side.run_time(Measure::Mean),
        _ => 0.0,
    };
    let runs = (subject.a.map_or(0.0, |(side, _)| run(side)), run(subject.b));
    Ok(Ok(Numbers { a, b, unit, runs, counted: None }))
}

fn new_actions(subject: &Subject<'_, '_>) -> std::result::Result<Numbers, String> {
    let no_culprits = |side: &Side<'_>| {
        let run = side.runs.iter().find(|run| run.culprits.is_none());
        format!(
            "{}: the report has no culprits: expected one of replay-analyze with details",
            run.map_or("", |run| &run.label)
        )
    };
    let Some((a, _)) = subject.a else { return Err("there is no other side".to_owned()) };
    let numbers = |b: Sample, counted| Numbers {
        a: None,
        b,
        unit: Unit::Count,
        runs: (0.0, 0.0),
        counted: Some(counted),
    };
    if let Some(counts) = counts_of_new(a, subject.b) {
        let mut b = Sample::default();
        counts.into_iter().for_each(|count| b.push((count as f64, count as f64)));
        return Ok(numbers(b, "advice"));
    }
    let known = known_ids(a).ok_or_else(|| no_culprits(a))?;
    let mut b = Sample::default();
    for run in &subject.b.runs {
        let culprits = run.culprits.as_ref().ok_or_else(|| no_culprits(subject.b))?;
        let count = culprits.iter().filter(|it| !known.contains(it.id.as_str())).count() as f64;
        b.push((count, count));
    }
    Ok(numbers(b, "culprits"))
}

/// The least and the most that the value of a run can be; `None` if it has none.
fn value(
    gate: &Gate,
    run: &Reading<'_>,
    selected: Option<&[bool]>,
    is_share: bool,
) -> Result<Option<(f64, f64)>> {
    let exact = |value: f64| (value, value);
    let metric = match &gate.name {
        Name::Coverage => return Ok(run.coverage.map(exact)),
        Name::Findings(class) => {
            let of_class = |findings: &Vec<FindingCount>| {
                let own = findings.iter().filter(|finding| finding.class == *class);
                own.map(|finding| finding.count as f64).sum()
            };
            return Ok(run.findings.as_ref().map(of_class).map(exact));
        }
        Name::Advice(number) => {
            return Ok(run.advice.as_ref().and_then(|it| advice(*number, it, is_share)).map(exact));
        }
        // Reports have no table of them yet.
        Name::Efficiency(_) | Name::NewActions => return Ok(None),
        Name::Run => "time",
        Name::Metric(name) => name,
    };
    if !run.metrics.contains_key(metric) && gate.name != Name::Run {
        return Ok(None);
    }
    let per_location = || -> Result<Option<Vec<f64>>> {
        Ok(run.by_location(metric, selected)?.filter(|row| !row.is_empty()))
    };
    let sum = || match (&gate.name, selected) {
        (Name::Run, _) => Some(exact(run.total)),
        // As the summary of the analysis counts it.
        (_, None) if metric == WAITING && run.waiting.is_some() => run.waiting.map(exact),
        (_, None) => run.sum(metric).map(exact),
        (_, Some(selected)) => at_calls(run, metric, selected),
    };
    let is_sum = gate.name == Name::Run || run.metrics.get(metric).is_some_and(|sums| sums.is_sum);
    let mean_run = run.total / run.locations;
    let value = match gate.stat {
        Stat::Mean | Stat::New if is_sum => {
            sum().map(|(least, most)| (least / run.locations, most / run.locations))
        }
        Stat::Mean | Stat::New | Stat::Total => sum(),
        Stat::Max if gate.name == Name::Run => Some(exact(run.length)),
        Stat::Max => per_location()?.map(|row| row.into_iter().fold(f64::NEG_INFINITY, f64::max)).map(exact),
        Stat::P95 => per_location()?.map(percentile).map(exact),
        Stat::Imbalance => per_location()?.and_then(|row| {
            let mean = row.iter().sum::<f64>() / row.len() as f64;
            let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            (mean != 0.0).then(|| exact(most / mean))
        }),
    };
    let whole = match (is_share, gate.stat) {
        (false, _) => 1.0,
        (true, Stat::Total) => run.total,
        (true, _) => mean_run,
    };
    let value = value.map(|(least, most)| (least / whole, most / whole));
    Ok(value.filter(|(least, most)| least.is_finite() && most.is_finite()))
}

/// A number of advice; 0 if there is none, as nothing is known to be saved. `None` if none of it was replayed.
fn advice(number: AdviceNumber, advice: &RunAdvice, is_share: bool) -> Option<f64> {
    let largest = |gains: &mut dyn Iterator<Item = f64>| match gains.reduce(f64::max) {
        None if !advice.list.is_empty() => None,
        largest => Some(largest.unwrap_or(0.0) / if is_share { advice.run } else { 1.0 }),
    };
    let value = match number {
        AdviceNumber::Count => Some(advice.list.len() as f64),
        AdviceNumber::Most => largest(&mut advice.list.iter().map(|it| it.most)),
        AdviceNumber::Expected => largest(&mut advice.list.iter().filter_map(|it| it.expected)),
    };
    value.filter(|value| value.is_finite())
}

/// What a metric can be at some call paths, summed over CPU locations.
fn at_calls(run: &Reading<'_>, metric: &str, selected: &[bool]) -> Option<(f64, f64)> {
    let sum = |metric: &str| {
        let sums = run.metrics.get(metric).filter(|sums| sums.is_sum)?;
        let own = sums.by_call.iter().filter(|(call, _)| selected.get(**call) == Some(&true));
        Some(own.map(|(_, &(sum, _))| sum).sum::<f64>())
    };
    let listed = sum(metric)?;
    let others = run.metrics.get(metric)?.not_listed();
    // What lies outside of the run is work.
    let outside =
        if has_outside(metric) { run.outside.min(sum("comp").unwrap_or(listed)).max(0.0) } else { 0.0 };
    Some((listed + others.min(0.0) - outside, listed + others.max(0.0)))
}

/// The least value that 95 % do not exceed.
fn percentile(mut row: Vec<f64>) -> f64 {
    row.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "from 1 to the number of values"
    )]
    let rank = (PERCENTILE * row.len() as f64).ceil() as usize;
    row.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
}

/// Why a run has no value.
fn missing(gate: &Gate, run: &Reading<'_>) -> String {
    let label = &run.label;
    match &gate.name {
        Name::Coverage => format!("{label}: the report does not say how much was analysed"),
        Name::Findings(_) => format!("{label}: the report has no findings about its trace"),
        Name::Advice(_) if run.advice.is_some() => {
            format!("{label}: none of its advice was replayed: only bounds are known")
        }
        Name::Advice(_) if run.report.is_none() => format!("{label}: a log has no advice"),
        Name::Advice(_) => {
            format!(
                "{label}: advice was not looked for: expected a report of replay-analyze --advice or --what-if"
            )
        }
        Name::Efficiency(factor) => format!("{label}: the report has no efficiency.{factor}"),
        Name::Metric(name) if run.obstacles.contains(name) => {
            format!("{label}: values of metric {name} cannot be computed: n/a (derived)")
        }
        Name::Metric(name) if is_of_start_up(name) && run.start_up.is_none() => format!(
            "{label}: metric {name} is of start-up and shutdown, which are left out: expected --all{}",
            if run.report.is_none() { ", which a log does not have" } else { "" }
        ),
        Name::Metric(name) if !run.metrics.contains_key(name) && run.has_metric(name) => {
            format!("{label}: metric {name} has no value anywhere")
        }
        Name::Metric(name) if !run.metrics.contains_key(name) => {
            format!("{label}: no metric {name}: replay-show tree --metrics lists those that it has")
        }
        _ => format!("{label}: no value for this"),
    }
}
