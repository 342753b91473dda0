//! A line of a history: the numbers of a report as a JSON object.

use std::collections::BTreeMap;
use std::path::Path;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::compare::calls::Call;
use crate::compare::calls::Calls;
use crate::compare::reading::{
    Base, Culprit, FindingCount, Known, MetricSums, Reading, Shape, has_outside, is_of_start_up,
};
use crate::error::{Error, Result};
use crate::overview::ClassTime;
use crate::values::Unit;

/// The schema of lines.
const SCHEMA: &str = "replay-history/1";

/// Values of metrics at call paths that are kept: the largest ones.
const KEPT: usize = 100;

/// The share of a metric that may be missing at call paths where all are known: sums in another order differ so much.
const ALL: f64 = 1e-9;

/// Names of the longest call path that is kept.
const DEEPEST: usize = 1000;

/// A line. Times are in seconds, of CPU locations, without start-up and shutdown.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct HistoryLine {
    schema: String,
    /// What the report is of.
    #[serde(default)]
    pub(super) labels: BTreeMap<String, String>,
    ranks: usize,
    threads: usize,
    program: String,
    /// Where numbers come from; `None` if the line does not say.
    #[serde(default)]
    pub(super) base: Option<Base>,
    /// Number of CPU locations.
    locations: f64,
    /// Summed over locations.
    pub(super) run: f64,
    /// The longest one.
    length: f64,
    pub(super) waiting: Option<f64>,
    pub(super) coverage: Option<f64>,
    /// Number of occurrences by class.
    findings: Option<BTreeMap<String, u64>>,
    classes: Vec<ClassLine>,
    /// All metrics that add up, by unique name.
    pub(super) metrics: BTreeMap<String, MetricLine>,
    /// Whether values at call paths of one name are sums: otherwise some of them may be missing.
    #[serde(default)]
    by_name: bool,
    calls: Vec<CallLine>,
    /// Ids of actions; `None` without culprits.
    actions: Option<Vec<String>>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct ClassLine {
    name: String,
    title: String,
    role: String,
    seconds: f64,
}

/// A metric of a line.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct MetricLine {
    unit: String,
    pub(super) total: f64,
    /// Of the run's time; only of times.
    share: Option<f64>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct CallLine {
    metric: String,
    /// Names from the root on, and the paradigm of each.
    path: Vec<String>,
    paradigms: Vec<String>,
    /// Exclusive, summed over CPU locations.
    total: f64,
}

impl HistoryLine {
    /// The line of a run.
    pub(super) fn of(run: &Reading<'_>, labels: &[(String, String)]) -> HistoryLine {
        let share = |sums: &MetricSums| {
            (sums.unit == Unit::Seconds && run.total > 0.0).then(|| sums.total / run.total)
        };
        let metrics = run.metrics.iter().filter(|(_, sums)| sums.is_sum).map(|(name, sums)| {
            let unit = sums.unit.name().to_owned();
            (name.clone(), MetricLine { unit, total: sums.total, share: share(sums) })
        });
        let findings = run.findings.as_ref().map(|findings| {
            let mut counts = BTreeMap::new();
            findings.iter().for_each(|it| *counts.entry(it.class.clone()).or_default() += it.count);
            counts
        });
        let class = |it: &ClassTime| ClassLine {
            name: it.name.clone(),
            title: it.title.clone(),
            role: it.role.clone(),
            seconds: it.seconds,
        };
        HistoryLine {
            schema: SCHEMA.to_owned(),
            labels: labels.iter().cloned().collect(),
            ranks: run.shape.ranks,
            threads: run.shape.threads,
            program: run.shape.program.clone(),
            base: run.base,
            locations: run.locations,
            run: run.total,
            length: run.length,
            waiting: run.waiting,
            coverage: run.coverage,
            findings,
            classes: run.classes.iter().map(class).collect(),
            metrics: metrics.collect(),
            by_name: true,
            calls: largest(run),
            actions: run.culprits.as_ref().map(|culprits| culprits.iter().map(|it| it.id.clone()).collect()),
        }
    }

    /// The line with its end.
    pub(super) fn to_text(&self) -> String {
        // Keys are strings and numbers finite, so this does not fail.
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }

    /// Reads a line.
    ///
    /// # Errors
    /// If it is none, or of another schema.
    pub(super) fn parse(text: &str) -> Result<HistoryLine> {
        let wrong = |what: &str| Error::new(format!("{what}; expected a line of 'replay-show history add'"));
        let line: HistoryLine = serde_json::from_str(text).map_err(|error| wrong(&format!("{error}")))?;
        if line.schema != SCHEMA {
            return Err(wrong(&format!("schema {:?}, expected {SCHEMA:?}", line.schema)));
        }
        if line.calls.iter().any(|call| call.path.len() != call.paradigms.len() || call.path.len() > DEEPEST)
        {
            return Err(wrong(&format!(
                "a call path without as many paradigms as names, or with more than {DEEPEST}"
            )));
        }
        // The square of it must be a number, too.
        let is_sound = |number: f64| number.abs() < 1e100;
        let numbers = [line.locations, line.run, line.length];
        if !numbers.into_iter().all(|number| is_sound(number) && number > 0.0) {
            return Err(wrong("locations, run or length that are not above 0"));
        }
        Ok(line)
    }

    /// Ranks, threads and program.
    pub(super) fn shape(&self) -> Shape {
        Shape { ranks: self.ranks, threads: self.threads, program: self.program.clone() }
    }

    /// Labels in words.
    pub(super) fn label(&self) -> String {
        self.labels.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ")
    }

    /// The mean of a quantity over locations: the run, waiting, or a metric.
    pub(super) fn mean(&self, name: &str) -> Option<f64> {
        let sum = match name {
            "run" => Some(self.run),
            crate::values::WAITING => self.waiting,
            name if is_of_start_up(name) => None,
            name => self.metrics.get(name).map(|metric| metric.total - self.outside(name)),
        };
        sum.map(|sum| sum / self.locations)
    }

    /// What a metric has before `MPI_Init` and after `MPI_Finalize`, which is no part of the run.
    fn outside(&self, name: &str) -> f64 {
        let time = self.metrics.get("time").filter(|_| self.base == Some(Base::Details) && has_outside(name));
        time.map_or(0.0, |time| (time.total - self.run).max(0.0))
    }

    /// The unit of a quantity.
    pub(super) fn unit(&self, name: &str) -> Unit {
        match self.metrics.get(name) {
            Some(metric) => unit(&metric.unit),
            None => Unit::Seconds,
        }
    }

    /// The line as a run to compare with.
    pub(super) fn into_reading(self, log: &Path) -> Reading<'static> {
        let (shape, label) =
            (self.shape(), format!("{} {}", log.display(), self.label()).trim_end().to_owned());
        let mut calls: Vec<Call> = Vec::new();
        let mut known: FxHashMap<(Option<usize>, String, String), usize> = FxHashMap::default();
        let mut by_call: FxHashMap<String, FxHashMap<usize, (f64, f64)>> = FxHashMap::default();
        for call in self.calls {
            let mut parent = None;
            for (name, paradigm) in call.path.into_iter().zip(call.paradigms) {
                let place = *known.entry((parent, name.clone(), paradigm.clone())).or_insert_with(|| {
                    calls.push(Call { parent, name, paradigm, ..Call::default() });
                    calls.len() - 1
                });
                parent = Some(place);
            }
            if let Some(place) = parent {
                // The worst location is not known, and never asked for: there is no report.
                let sums = by_call.entry(call.metric).or_default().entry(place).or_default();
                *sums = (sums.0 + call.total, f64::NAN);
            }
        }
        let mut run = Reading::of_history(label, shape, self.locations, calls);
        run.base = self.base;
        (run.total, run.length, run.waiting, run.coverage) =
            (self.run, self.length, self.waiting, self.coverage);
        run.classes = self
            .classes
            .into_iter()
            .map(|it| ClassTime {
                share: it.seconds / self.run,
                name: it.name,
                title: it.title,
                role: it.role,
                seconds: it.seconds,
            })
            .collect();
        run.findings = self
            .findings
            .map(|counts| counts.into_iter().map(|(class, count)| FindingCount { class, count }).collect());
        run.culprits = self.actions.map(|ids| {
            let culprit = |id| Culprit { id, text: String::new(), path: Vec::new(), seconds: None };
            ids.into_iter().map(culprit).collect()
        });
        run.metrics = self
            .metrics
            .into_iter()
            // Lines of before have them, from calls that do not count.
            .filter(|(name, _)| !is_of_start_up(name))
            .map(|(name, metric)| {
                let by_call = by_call.remove(&name).unwrap_or_default();
                let mut sums = MetricSums {
                    unit: unit(&metric.unit),
                    is_sum: true,
                    total: metric.total,
                    by_call,
                    known: if self.by_name { Known::Listed } else { Known::Parts },
                };
                if sums.not_listed().abs() <= ALL * sums.total.abs() {
                    sums.known = Known::All;
                }
                (name, sums)
            })
            .collect();
        run.find_outside();
        run
    }
}

/// The unit of its name for scripts.
fn unit(name: &str) -> Unit {
    match name {
        "seconds" => Unit::Seconds,
        "count" => Unit::Count,
        "bytes" => Unit::Bytes,
        other => Unit::Other(other.to_owned()),
    }
}

/// The largest values of times at call paths, those of one name together; of equal ones the first by name.
fn largest(run: &Reading<'_>) -> Vec<CallLine> {
    let (calls, places) = Calls::join(std::slice::from_ref(&run.calls), true);
    let times = run.metrics.iter().filter(|(_, sums)| sums.is_sum && sums.unit == Unit::Seconds);
    let mut all: Vec<(&str, usize, f64)> = Vec::new();
    for (name, sums) in times {
        let mut totals: BTreeMap<usize, f64> = BTreeMap::new();
        for (&call, &(sum, _)) in &sums.by_call {
            *totals.entry(places[0][call]).or_default() += sum;
        }
        all.extend(totals.into_iter().map(|(call, total)| (name.as_str(), call, total)));
    }
    all.sort_by(|one, other| other.2.total_cmp(&one.2).then(one.0.cmp(other.0)).then(one.1.cmp(&other.1)));
    let line = |(metric, call, total): (&str, usize, f64)| {
        let callers = std::iter::successors(Some(call), |&at| calls.list[at].parent);
        let mut names: Vec<(String, String)> =
            callers.map(|at| (calls.list[at].name.clone(), calls.list[at].paradigm.clone())).collect();
        names.reverse();
        let (path, paradigms) = names.into_iter().unzip();
        CallLine { metric: metric.to_owned(), path, paradigms, total }
    };
    all.into_iter().map(line).filter(|line| line.path.len() <= DEEPEST).take(KEPT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_lines_are_refused() {
        for text in ["", "{", "[]", "{\"schema\": \"replay-history/2\"}"] {
            let error = HistoryLine::parse(text).unwrap_err().to_string();
            assert!(error.contains("expected a line"), "{error}");
        }
    }
}
