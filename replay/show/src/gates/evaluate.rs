//! Evaluation of gates over the runs of one side or two.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use super::numbers::{Numbers, Sample, numbers_of};
use super::{Gate, Limit, Name, Stat};
use crate::compare::changes::{CallChange, Compared, Floor};
use crate::compare::coverage;
use crate::compare::matching::Matching;
use crate::compare::measure::Measure;
use crate::compare::reading::Culprit;
use crate::compare::samples::{Change, State, median};
use crate::compare::side::Side;
use crate::error::{Error, Result};
use crate::output::numbers;
use crate::paths;
use crate::values::Unit;

/// Call paths that are named with a verdict.
const NAMED: usize = 5;

/// The least share of the largest change that a call path must have to be named.
const LEAST_NAMED: f64 = 0.01;

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

/// Call paths that a gate selects: of A and of B; `None` for all.
pub(super) type Selected = Option<[Vec<bool>; 2]>;

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
    let outcomes: Vec<Outcome> =
        numbers.ends().map(|(a, b)| outcome(gate, a, b, &numbers, subject)).collect();
    let Some(&outcome) = outcomes.first().filter(|&one| outcomes.iter().all(|other| other == one)) else {
        return Ok(no_values(gate, numbers.why_unknown(gate, subject)));
    };
    // What was not analysed can only add to a value of one side that is too large already.
    let is_certain = outcome == Outcome::Failed && !gate.is_of_change() && gate.operator.is_above();
    if let Some(why) = too_little_coverage(gate, subject).filter(|_| !is_certain) {
        return Ok(no_values(gate, why));
    }
    let message = sentence(gate, &numbers, outcome);
    let calls = calls(gate, subject, selected.as_ref());
    let values = [numbers.a.as_ref().and_then(Sample::median), numbers.b.median()];
    Ok(Verdict { gate: gate.clone(), outcome, message, values, unit: numbers.unit, calls })
}

/// How a gate ends with these values of A and B.
fn outcome(
    gate: &Gate,
    a: Option<&[f64]>,
    b: &[f64],
    numbers: &Numbers,
    subject: &Subject<'_, '_>,
) -> Outcome {
    let change =
        a.map(|a| Change::between(a, b, numbers.runs, subject.floor.of(&numbers.unit), subject.gates));
    let holds = holds(gate, a.map(median), median(b), change.as_ref());
    match (holds, gate.is_of_change(), change.map(|change| change.state)) {
        (false, ..) | (_, true, Some(State::Same)) => Outcome::Passed,
        (_, true, Some(State::Unclear)) => Outcome::Unclear,
        _ => Outcome::Failed,
    }
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
    let seconds = |culprit: &Culprit| culprit.seconds.unwrap_or(0.0);
    found.sort_by(|(one, _), (other, _)| seconds(other).total_cmp(&seconds(one)).then(one.id.cmp(&other.id)));
    Some(found.into_iter().map(|(culprit, _)| culprit).collect())
}

pub(super) fn known_ids<'s>(side: &'s Side<'_>) -> Option<FxHashSet<&'s str>> {
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

/// The numbers in a sentence.
fn sentence(gate: &Gate, numbers: &Numbers, outcome: Outcome) -> String {
    let number = |value: f64| match (&gate.name, &gate.limit, gate.stat) {
        (Name::Coverage, ..) => numbers::share(value),
        (_, Limit::Share(_) | Limit::Points(_), _) => format!("{} of the run", numbers::share(value)),
        (_, _, Stat::Imbalance) => format!("{value:.2}"),
        _ => numbers::of_unit(value, &numbers.unit, numbers::decimals(value)),
    };
    // Where only limits are known, no change is: it has the same state for all values between them.
    let words = |sample: &Sample| match sample.median() {
        Some(value) => number(value),
        None => format!("{} to {}", number(median(&sample.least)), number(median(&sample.most))),
    };
    let mut text = match numbers.a.as_ref().filter(|_| gate.is_of_change()) {
        Some(sample) => {
            let change = match (sample.median(), numbers.b.median()) {
                (Some(a), Some(b)) => match gate.limit {
                    Limit::Points(_) => numbers::signed(100.0 * (b - a), &Unit::Other("%".into()), 1),
                    _ => numbers::change(if a == b { 0.0 } else { (b - a) / a.abs() }),
                },
                _ => "as far as it is known".to_owned(),
            };
            format!("{} → {} ({change})", words(sample), words(&numbers.b))
        }
        None => words(&numbers.b),
    };
    if let Some(counted) = numbers.counted {
        text += &format!(", counting {counted}");
    }
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
    // Several call paths of one name are one where a log is the other side.
    let mut totals: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
    for (&call, &(sum, most)) in &sums.by_call {
        let total = totals.entry(side.places[0][call]).or_default();
        *total = (total.0 + sum, total.1 + most);
    }
    let mut own: Vec<(usize, f64)> = totals
        .into_iter()
        .filter(|(call, _)| is_selected(1, *call))
        .filter_map(|(call, (sum, most))| Some((call, measure.of(run, sum, Some(most), None)?)))
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
