//! Evaluation of gates over the runs of one side or two.

use rustc_hash::FxHashSet;

use super::{Gate, Limit, Name, Stat};
use crate::compare::changes::{CallChange, Compared, Floor};
use crate::compare::coverage;
use crate::compare::matching::Matching;
use crate::compare::measure::Measure;
use crate::compare::reading::{Culprit, Reading};
use crate::compare::samples::{Change, State, median};
use crate::compare::side::Side;
use crate::error::{Error, Result};
use crate::output::numbers;
use crate::paths;
use crate::values::{Unit, WAITING};

/// Call paths that are named with a verdict.
const NAMED: usize = 5;

/// The least share of the largest change that a call path must have to be named.
const LEAST_NAMED: f64 = 0.01;

/// The share of locations below the value of `p95`.
const PERCENTILE: f64 = 0.95;

/// What gates are evaluated over.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'c, 'r> {
    /// The side that B is compared with, and how call paths match; `None` of `check`.
    pub a: Option<(&'c Side<'r>, &'c Matching)>,
    /// The side that is judged.
    pub b: &'c Side<'r>,
    /// What the user wants a change to exceed.
    pub floor: &'c Floor,
    /// Number of gates, all of which must be right.
    pub gates: usize,
}

/// How a gate ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The condition does not hold.
    Passed,
    /// It holds.
    Failed,
    /// It holds, but the runs do not show a change with certainty.
    Unclear,
    /// There are no values.
    Missing,
}

impl Outcome {
    /// The word for people and scripts.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Passed => "passed",
            Outcome::Failed => "failed",
            Outcome::Unclear => "unclear",
            Outcome::Missing => "missing",
        }
    }
}

/// A call path of a verdict.
#[derive(Clone, PartialEq, Debug)]
pub struct CallLine {
    /// The names from the root on, with slashes between them.
    pub path: String,
    /// The value in B, or its change.
    pub value: f64,
    /// Whether it is a change.
    pub is_change: bool,
    /// The unit.
    pub unit: Unit,
}

impl CallLine {
    /// The value in words.
    pub fn number(&self) -> String {
        let decimals = numbers::decimals(self.value);
        match self.is_change {
            true => numbers::signed(self.value, &self.unit, decimals),
            false => numbers::of_unit(self.value, &self.unit, decimals),
        }
    }
}

/// The result of a gate.
#[derive(Clone, PartialEq, Debug)]
pub struct Verdict {
    /// The gate.
    pub gate: Gate,
    /// How it ended.
    pub outcome: Outcome,
    /// The numbers, or why there are none, in a sentence.
    pub message: String,
    /// Medians of A and B in `unit`; shares and ratios as fractions.
    pub values: [Option<f64>; 2],
    /// The unit of the values; empty for shares and ratios.
    pub unit: Unit,
    /// The call paths with the largest change, or with the largest values of one side.
    pub calls: Vec<CallLine>,
}

/// Values of each run of both sides, and how they are printed.
struct Numbers {
    a: Option<Vec<f64>>,
    b: Vec<f64>,
    unit: Unit,
    /// The run's time in the same form, which limits what counts as a change.
    runs: (f64, f64),
}

/// Call paths that a gate selects: of A and of B; `None` for all.
type Selected = Option<[Vec<bool>; 2]>;

/// Evaluates a gate.
///
/// # Errors
/// If it needs two sides and there is one, its limit has another unit than the metric, or values cannot be read.
pub fn evaluate(gate: &Gate, subject: &Subject<'_, '_>) -> Result<Verdict> {
    if gate.needs_two_sides() && subject.a.is_none() {
        return Err(wrong(
            gate,
            "compares two sides, and check has one: expected a limit such as 20% or 0.5s; use diff",
        ));
    }
    let selected = match selected(gate, subject) {
        Ok(selected) => selected,
        Err(missing) => return Ok(no_values(gate, missing)),
    };
    check_unit(gate, subject.b)?;
    let numbers = match numbers_of(gate, subject, selected.as_ref())? {
        Ok(numbers) => numbers,
        Err(missing) => return Ok(no_values(gate, missing)),
    };
    let a = numbers.a.as_deref().map(median);
    let b = median(&numbers.b);
    let change = numbers.a.as_deref().map(|a| {
        Change::between(a, &numbers.b, numbers.runs, subject.floor.of(&numbers.unit), subject.gates)
    });
    let outcome =
        match (holds(gate, a, b, change.as_ref()), gate.is_of_change(), change.map(|change| change.state)) {
            (false, ..) | (_, true, Some(State::Same)) => Outcome::Passed,
            (_, true, Some(State::Unclear)) => Outcome::Unclear,
            _ => Outcome::Failed,
        };
    // What was not analysed can only add to a value of one side that is too large already.
    let is_certain = outcome == Outcome::Failed && !gate.is_of_change() && gate.operator.is_above();
    if let Some(why) = too_little_coverage(gate, subject).filter(|_| !is_certain) {
        return Ok(no_values(gate, why));
    }
    let message = sentence(gate, a, b, &numbers.unit, outcome);
    let calls = calls(gate, subject, selected.as_ref());
    Ok(Verdict { gate: gate.clone(), outcome, message, values: [a, Some(b)], unit: numbers.unit, calls })
}

/// Culprits of B that are not among those of A, in most runs of B; the largest first. `None` if a run does not know its
/// culprits.
pub fn new_culprits(a: &Side<'_>, b: &Side<'_>) -> Option<Vec<Culprit>> {
    let known = known_ids(a)?;
    let mut found: Vec<(Culprit, usize)> = Vec::new();
    for run in &b.runs {
        for culprit in run.culprits.as_ref()?.iter().filter(|it| !known.contains(it.id.as_str())) {
            match found.iter_mut().find(|(other, _)| other.id == culprit.id) {
                Some((_, count)) => *count += 1,
                None => found.push((culprit.clone(), 1)),
            }
        }
    }
    found.retain(|(_, count)| 2 * count > b.runs.len());
    found.sort_by(|one, other| other.0.seconds.total_cmp(&one.0.seconds).then(one.0.id.cmp(&other.0.id)));
    Some(found.into_iter().map(|(culprit, _)| culprit).collect())
}

fn known_ids<'s>(side: &'s Side<'_>) -> Option<FxHashSet<&'s str>> {
    let mut known = FxHashSet::default();
    for run in &side.runs {
        known.extend(run.culprits.as_ref()?.iter().map(|culprit| culprit.id.as_str()));
    }
    Some(known)
}

fn wrong(gate: &Gate, message: &str) -> Error {
    Error::new(format!("gate {:?}: it {message}", gate.text))
}

fn no_values(gate: &Gate, message: String) -> Verdict {
    let (gate, outcome, unit) = (gate.clone(), Outcome::Missing, Unit::Count);
    Verdict { gate, outcome, message, values: [None, None], unit, calls: Vec::new() }
}

/// Why values of waiting are not known; `None` if they are, or the gate asks for others.
fn too_little_coverage(gate: &Gate, subject: &Subject<'_, '_>) -> Option<String> {
    let Name::Metric(name) = &gate.name else { return None };
    if !coverage::needs_coverage(name) {
        return None;
    }
    let a = subject.a.map(|(side, _)| side).filter(|_| gate.is_of_change());
    let side = [a, Some(subject.b)].into_iter().flatten().find(|side| !coverage::is_enough(side))?;
    let percent = numbers::percent(coverage::least(side)?);
    let label = &side.first().label;
    Some(format!("{label}: {name} is not known, as the analysis covers {percent} of the time in MPI"))
}

/// The call paths of a gate, with those below; an error if there are none.
fn selected(gate: &Gate, subject: &Subject<'_, '_>) -> std::result::Result<Selected, String> {
    let all = |side: &Side<'_>| vec![true; side.calls.list.len()];
    let own = |side: &Side<'_>| match &gate.path {
        Some(glob) => side.calls.with_those_below(side.select(glob)),
        None => all(side),
    };
    let is_none = |selected: &[bool]| !selected.contains(&true);
    let mut b = own(subject.b);
    let Some((side, matching)) = subject.a else {
        if is_none(&b) {
            return Err("its path matches no call path".to_owned());
        }
        return Ok(gate.path.as_ref().map(|_| [Vec::new(), b]));
    };
    let mut a = own(side);
    if is_none(&a) && is_none(&b) {
        return Err("its path matches no call path of either side".to_owned());
    }
    if gate.stat == Stat::New {
        b.iter_mut().enumerate().for_each(|(call, selected)| *selected &= !matching.is_matched(1, call));
        return Ok(Some([vec![false; a.len()], b]));
    }
    if gate.path.is_none() {
        return Ok(None);
    }
    // A function that was renamed is meant by either name.
    let mut pairs = vec![false; matching.pairs.len()];
    for (at, selected) in [&a, &b].into_iter().enumerate() {
        for (call, _) in selected.iter().enumerate().filter(|(_, selected)| **selected) {
            if !matching.is_skipped[at][call] {
                pairs[matching.of[at][call]] = true;
            }
        }
    }
    for (at, selected) in [&mut a, &mut b].into_iter().enumerate() {
        for (call, selected) in selected.iter_mut().enumerate() {
            *selected |= !matching.is_skipped[at][call] && pairs[matching.of[at][call]];
        }
    }
    Ok(Some([a, b]))
}

/// Refuses a limit whose unit is not that of the metric.
fn check_unit(gate: &Gate, side: &Side<'_>) -> Result<()> {
    if gate.stat == Stat::Imbalance {
        return Ok(());
    }
    let unit = match &gate.name {
        Name::Run => &Unit::Seconds,
        Name::Metric(name) => match side.unit(name) {
            Some(unit) => unit,
            None => return Ok(()),
        },
        _ => return Ok(()),
    };
    let is_right = match &gate.limit {
        Limit::Share(_) | Limit::Points(_) => *unit == Unit::Seconds,
        // No unit is needed to say nothing.
        Limit::Amount { unit: Unit::Count, value, .. } => {
            *value == 0.0 || !matches!(unit, Unit::Seconds | Unit::Bytes)
        }
        Limit::Amount { unit: limit, .. } => limit == unit,
        Limit::Ratio(_) | Limit::Relative(_) => true,
    };
    if is_right {
        return Ok(());
    }
    let expected = match unit {
        Unit::Seconds => "seconds, such as 0.5s, or a share, such as 20%",
        Unit::Bytes => "bytes, such as 4KiB",
        _ => "a number without unit",
    };
    Err(wrong(gate, &format!("has a limit of another unit than the values: expected {expected}")))
}

/// Whether the condition holds.
fn holds(gate: &Gate, a: Option<f64>, b: f64, change: Option<&Change>) -> bool {
    let operator = gate.operator;
    let before = a.unwrap_or(0.0);
    // A ratio to nothing: any value that counts is above all limits.
    let relative = |limit: f64| match (before == 0.0, change) {
        (true, Some(change)) => operator.is_above() && b.abs() > change.floor,
        _ => operator.holds(b, limit),
    };
    match gate.limit {
        Limit::Ratio(ratio) => relative(ratio * before),
        Limit::Relative(fraction) => relative(before + fraction * before.abs()),
        Limit::Points(points) => operator.holds(b - before, points),
        Limit::Share(share) => operator.holds(b, share),
        Limit::Amount { value, is_change: true, .. } => operator.holds(b - before, value),
        Limit::Amount { value, .. } => operator.holds(b, value),
    }
}

/// The values of a gate; an error in words if there are none.
fn numbers_of(
    gate: &Gate,
    subject: &Subject<'_, '_>,
    selected: Option<&[Vec<bool>; 2]>,
) -> Result<std::result::Result<Numbers, String>> {
    if gate.name == Name::NewActions {
        return Ok(new_actions(subject));
    }
    let is_share = matches!(gate.limit, Limit::Share(_) | Limit::Points(_)) || gate.name == Name::Coverage;
    let sample = |side: &Side<'_>, at: usize| -> Result<std::result::Result<Vec<f64>, String>> {
        let mut sample = Vec::new();
        for (number, run) in side.runs.iter().enumerate() {
            let own = selected.map(|selected| side.in_run(number, &selected[at]));
            match value(gate, run, own.as_deref(), is_share)? {
                Some(value) => sample.push(value),
                None => return Ok(Err(missing(gate, run))),
            }
        }
        Ok(Ok(sample))
    };
    let b = match sample(subject.b, 1)? {
        Ok(sample) => sample,
        Err(missing) => return Ok(Err(missing)),
    };
    let a = match subject.a.filter(|_| gate.stat != Stat::New).map(|(side, _)| sample(side, 0)).transpose()? {
        // Only B is asked for: that A lacks it is no obstacle.
        Some(Err(_)) if !gate.is_of_change() => None,
        Some(Err(missing)) => return Ok(Err(missing)),
        Some(Ok(sample)) => Some(sample),
        None => None,
    };
    let unit = match &gate.name {
        _ if is_share || gate.stat == Stat::Imbalance => Unit::Other(String::new()),
        Name::Run => Unit::Seconds,
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
    Ok(Ok(Numbers { a, b, unit, runs }))
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
    let known = known_ids(a).ok_or_else(|| no_culprits(a))?;
    let mut b = Vec::new();
    for run in &subject.b.runs {
        let culprits = run.culprits.as_ref().ok_or_else(|| no_culprits(subject.b))?;
        b.push(culprits.iter().filter(|it| !known.contains(it.id.as_str())).count() as f64);
    }
    Ok(Numbers { a: None, b, unit: Unit::Count, runs: (0.0, 0.0) })
}

/// The value of a run; `None` if it has none.
fn value(gate: &Gate, run: &Reading<'_>, selected: Option<&[bool]>, is_share: bool) -> Result<Option<f64>> {
    let metric = match &gate.name {
        Name::Coverage => return Ok(run.coverage),
        Name::Findings(class) => {
            let of_class = |findings: &Vec<crate::compare::reading::FindingCount>| {
                let own = findings.iter().filter(|finding| finding.class == *class);
                own.map(|finding| finding.count as f64).sum()
            };
            return Ok(run.findings.as_ref().map(of_class));
        }
        // Reports have no table of them yet.
        Name::Efficiency(_) | Name::NewActions => return Ok(None),
        Name::Run => "time",
        Name::Metric(name) => name,
    };
    let per_location = || -> Result<Option<Vec<f64>>> {
        Ok(run.by_location(metric, selected)?.filter(|row| !row.is_empty()))
    };
    let sum = || match (&gate.name, selected) {
        (Name::Run, _) => Some(run.total),
        // As the summary of the analysis counts it.
        (_, None) if metric == WAITING && run.waiting.is_some() => run.waiting,
        (_, None) => run.metrics.get(metric).map(|sums| sums.total),
        (_, Some(selected)) => {
            let sums = run.metrics.get(metric).filter(|sums| sums.is_sum)?;
            let own = sums.by_call.iter().filter(|(call, _)| selected.get(**call) == Some(&true));
            let mut own = own.map(|(_, &(sum, _))| sum).peekable();
            // A line of a history has the largest values only: what is not there is unknown.
            (run.report.is_some() || own.peek().is_some()).then(|| own.sum())
        }
    };
    let is_sum = gate.name == Name::Run || run.metrics.get(metric).is_some_and(|sums| sums.is_sum);
    let mean_run = run.total / run.locations;
    let value = match gate.stat {
        Stat::Mean | Stat::New if is_sum => sum().map(|sum| sum / run.locations),
        Stat::Mean | Stat::New | Stat::Total => sum(),
        Stat::Max if gate.name == Name::Run => Some(run.length),
        Stat::Max => per_location()?.map(|row| row.into_iter().fold(f64::NEG_INFINITY, f64::max)),
        Stat::P95 => per_location()?.map(percentile),
        Stat::Imbalance => per_location()?.and_then(|row| {
            let mean = row.iter().sum::<f64>() / row.len() as f64;
            (mean != 0.0).then(|| row.iter().copied().fold(f64::NEG_INFINITY, f64::max) / mean)
        }),
    };
    Ok(match (is_share, gate.stat) {
        (false, _) => value,
        (true, Stat::Total) => value.map(|value| value / run.total),
        (true, _) => value.map(|value| value / mean_run),
    }
    .filter(|value| value.is_finite()))
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
        Name::Efficiency(factor) => format!("{label}: the report has no efficiency.{factor}"),
        Name::Metric(name) if run.obstacles.contains(name) => {
            format!("{label}: values of metric {name} cannot be computed: n/a (derived)")
        }
        Name::Metric(name) if !run.metrics.contains_key(name) => {
            format!("{label}: no metric {name}: replay-show tree --metrics lists those that it has")
        }
        _ => format!("{label}: no value for this"),
    }
}

/// The numbers in a sentence.
fn sentence(gate: &Gate, a: Option<f64>, b: f64, unit: &Unit, outcome: Outcome) -> String {
    let number = |value: f64| match (&gate.name, &gate.limit, gate.stat) {
        (Name::Coverage, ..) => numbers::share(value),
        (_, Limit::Share(_) | Limit::Points(_), _) => format!("{} of the run", numbers::share(value)),
        (_, _, Stat::Imbalance) => format!("{value:.2}"),
        _ => numbers::of_unit(value, unit, numbers::decimals(value)),
    };
    let mut text = match a.filter(|_| gate.is_of_change()) {
        Some(a) => {
            let change = match gate.limit {
                Limit::Points(_) => numbers::signed(100.0 * (b - a), &Unit::Other("%".into()), 1),
                _ => numbers::change(if a == b { 0.0 } else { (b - a) / a.abs() }),
            };
            format!("{} → {} ({change})", number(a), number(b))
        }
        None => number(b),
    };
    if outcome == Outcome::Unclear {
        text += ", which so few runs do not show with certainty";
    }
    text
}

/// The call paths that are named with a verdict.
fn calls(gate: &Gate, subject: &Subject<'_, '_>, selected: Option<&[Vec<bool>; 2]>) -> Vec<CallLine> {
    let metric = match &gate.name {
        Name::Run => "time",
        Name::Metric(name) => name,
        _ => return Vec::new(),
    };
    let measure = match gate.stat {
        Stat::Total => Measure::Total,
        Stat::Max | Stat::P95 | Stat::Imbalance => Measure::Max,
        Stat::Mean | Stat::New => Measure::Mean,
    };
    let is_selected =
        |at: usize, call: usize| selected.is_none_or(|selected| selected[at].get(call) == Some(&true));
    if let Some((a, matching)) = subject.a.filter(|_| gate.is_of_change()) {
        let compared = Compared { sides: [a, subject.b], matching, measure, floor: subject.floor };
        let is_own = |change: &CallChange| {
            let pair = matching.pairs[change.pair];
            pair.b.is_some_and(|call| is_selected(1, call)) || pair.a.is_some_and(|call| is_selected(0, call))
        };
        let mut changes = compared.by_call(&[metric]);
        changes.retain(is_own);
        let largest = changes.first().map_or(0.0, |change| change.change.difference().abs());
        let is_large = |it: &CallChange| it.change.difference().abs() > LEAST_NAMED * largest;
        let changes = changes.into_iter().filter(is_large);
        let line = |change: CallChange| CallLine {
            path: paths::joined(compared.names(change.pair)),
            value: change.change.difference(),
            is_change: true,
            unit: change.unit,
        };
        return changes.take(NAMED).map(line).collect();
    }
    let (side, run) = (subject.b, subject.b.first());
    let Some(sums) = run.metrics.get(metric) else { return Vec::new() };
    let own = sums.by_call.iter().map(|(&call, &(sum, most))| (side.places[0][call], sum, most));
    let mut own: Vec<(usize, f64)> = own
        .filter(|(call, ..)| is_selected(1, *call))
        .filter_map(|(call, sum, most)| Some((call, measure.of(run, sum, Some(most), None)?)))
        .collect();
    own.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    let line = |(call, value): (usize, f64)| CallLine {
        path: paths::joined(side.calls.names(call)),
        value,
        is_change: false,
        unit: sums.unit.clone(),
    };
    own.into_iter().take(NAMED).map(line).collect()
}
