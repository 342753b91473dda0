//! Who made the others wait: what the summary says of the places with the largest delay costs.

use std::collections::BTreeMap;

use model::Paradigm;

use super::cells::Row;
use super::ranges::list;
use super::summary::Part;
use crate::causes::{Class, Named, Stretch, Victims};
use crate::exchange::Batch;
use crate::exchange::batch::{BatchReader, wide};
use crate::fraction::float;
use crate::imbalance::Totals;
use crate::metrics::Metrics;
use crate::severity::MetricId;
use crate::trace::Trace;

/// Who waits less than such a part of the one that waits most for a culprit is not named.
const NOTABLE: i128 = 100;

/// What the others do.
pub(super) fn kind(class: Class) -> &'static str {
    match class {
        Class::LateSender => "late senders",
        Class::LateReceiver => "late receivers",
        Class::Barrier => "waiting at barriers",
        Class::AllToAll => "waiting at N x N",
        Class::OneToAll => "late broadcasts",
        Class::AllToOne => "early reductions",
        Class::ThreadBarrier => "waiting at OpenMP barriers",
        Class::IdleThreads => "idle threads",
    }
}

/// What rows of the report say of a place that made others wait.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Culprit {
    path: u32,
    location: u32,
    /// Whether it is on the critical path.
    pub(super) is_critical: bool,
    /// Computation above the mean, in ticks as a fixed-point number.
    above: i128,
}

/// What is collected of culprits from the rows of the report.
#[derive(Debug)]
pub(super) struct Culprits {
    delay: MetricId,
    critical_path: MetricId,
    above: MetricId,
    culprits: Vec<Culprit>,
    /// All costs, of all places.
    total: i128,
}

impl Culprits {
    pub(super) fn new(metrics: &Metrics, named: &[Named]) -> Culprits {
        let id = |name: &str| metrics.find(name).unwrap_or(MetricId::MAX);
        let culprit = |named: &Named| {
            let (path, location) = (named.culprit.path, named.culprit.location);
            Culprit { path, location, is_critical: false, above: 0 }
        };
        Culprits {
            delay: id("delay"),
            critical_path: metrics.critical_path,
            above: id("imbalance_above"),
            culprits: named.iter().map(culprit).collect(),
            total: 0,
        }
    }

    /// Whether anything is collected of a metric.
    pub(super) fn is_about(&self, metric: MetricId) -> bool {
        [self.delay, self.critical_path, self.above].contains(&metric)
    }

    /// Adds severities of some neighbours, of which `first` is the first one, at a call path.
    pub(super) fn add(&mut self, metric: MetricId, path: u32, first: usize, row: Row<'_>) {
        if metric == self.delay {
            self.total = row.numbers().fold(self.total, i128::saturating_add);
        }
        if metric != self.critical_path && metric != self.above {
            return;
        }
        for culprit in self.culprits.iter_mut().filter(|culprit| culprit.path == path) {
            let at = (culprit.location as usize).checked_sub(first).filter(|at| *at < row.len());
            let Some(number) = at.map(|at| row.number(at)) else { continue };
            if metric == self.critical_path {
                culprit.is_critical = number > 0;
            } else {
                culprit.above = number;
            }
        }
    }

    pub(super) fn encode(&self, batch: &mut Batch) {
        batch.extend(wide(self.total.cast_unsigned()));
        for culprit in &self.culprits {
            batch.push(culprit.is_critical.into());
            batch.extend(wide(culprit.above.cast_unsigned()));
        }
    }

    /// Adds what another worker has collected, of other locations.
    pub(super) fn merge(&mut self, reader: &mut BatchReader<'_>) {
        self.total = self.total.saturating_add(reader.wide().cast_signed());
        for culprit in &mut self.culprits {
            culprit.is_critical |= reader.word() != 0;
            culprit.above += reader.wide().cast_signed();
        }
    }

    /// What was collected of each culprit, and all costs.
    pub(super) fn all(&self) -> (&[Culprit], i128) {
        (&self.culprits, self.total)
    }
}

impl Culprit {
    /// By which part of the mean its computation exceeds the mean; `None` if it does not.
    pub(super) fn more_work(&self, computed: &Totals, is_parallel: &[bool]) -> Option<f64> {
        let participants = computed.participants[usize::from(is_parallel[self.path as usize])];
        let sum = computed.paths[self.path as usize].computation() as f64;
        let mean = sum / participants as f64;
        (self.above > 0 && mean > 0.0).then(|| float(self.above) / mean)
    }
}

/// Where a culprit was slow: between which calls.
pub(super) fn between(trace: &Trace, stretch: &Stretch, costs: i128) -> Part {
    let name = |region: Option<u32>| region.map(|region| trace.region_name(region));
    let text = match (name(stretch.before), name(stretch.after)) {
        (Some(before), Some(after)) => format!("between {before} and {after}"),
        (Some(before), None) => format!("after {before}"),
        (None, Some(after)) => format!("before {after}"),
        (None, None) => String::new(),
    };
    Part { text, share: float(stretch.costs) / float(costs) }
}

/// Who waits for a culprit: in which region, and which ranks, or threads of one rank.
pub(super) fn victims(trace: &Trace, victims: &Victims, costs: i128) -> Part {
    let locations = notable(&victims.waiting);
    let mut processes: Vec<usize> =
        locations.iter().map(|&at| trace.locations[at as usize].process).collect();
    processes.dedup();
    let rank = |&process: &usize| trace.processes[process].rank;
    let who = match (&processes[..], &locations[..]) {
        (&[process], &[only]) => {
            let is_of_ranks =
                victims.region.is_none_or(|region| trace.region(region).paradigm == Paradigm::MPI);
            let name = trace.location_name(only as usize);
            // The first thread has the name of its rank.
            let is_first = only as usize == trace.processes[process].locations.start;
            if is_first && !is_of_ranks { format!("thread 0 of {name}") } else { name }
        }
        (&[process], _) => {
            let threads = locations.iter().map(|&at| trace.locations[at as usize].thread).collect();
            let process = trace.location_name(trace.processes[process].locations.start);
            format!("{} of {process}", list("threads", threads))
        }
        _ => match processes.iter().map(rank).collect() {
            Some(ranks) => list("ranks", ranks),
            None => list("processes", processes.iter().map(|&process| process as u32).collect()),
        },
    };
    let text = match victims.region {
        Some(region) => format!("in {} of {who}", trace.region_name(region)),
        None => format!("of {who}"),
    };
    let waiting = victims.waiting.values().fold(0, |sum: i128, &ticks| sum.saturating_add(ticks));
    Part { text, share: float(waiting) / float(costs) }
}

/// Who waits long enough to be named.
fn notable(waiting: &BTreeMap<u32, i128>) -> Vec<u32> {
    let most = waiting.values().copied().max().unwrap_or(0);
    waiting.iter().filter(|&(_, &ticks)| ticks >= most / NOTABLE).map(|(&who, _)| who).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::causes;

    #[test]
    fn culprit_is_on_the_critical_path_if_its_row_says_so() {
        let metrics = Metrics::new(true);
        let culprit = causes::Culprit { path: 2, location: 0, costs: 10, class: Class::Barrier };
        let named = [Named { culprit, victims: None, stretch: None }];
        let mut culprits = Culprits::new(&metrics, &named);
        culprits.add(culprits.delay, 2, 0, Row::Wide(&[10, 4]));
        culprits.add(culprits.critical_path, 2, 0, Row::Wide(&[0, 1]));
        culprits.add(culprits.critical_path, 2, 1, Row::Wide(&[1]));
        culprits.add(culprits.critical_path, 1, 0, Row::Wide(&[1]));
        assert!(!culprits.all().0[0].is_critical);
        culprits.add(culprits.critical_path, 2, 0, Row::Wide(&[1, 0]));
        assert!(culprits.all().0[0].is_critical);
        assert_eq!(culprits.all().1, 14);
    }

    #[test]
    fn who_hardly_waits_is_not_named() {
        let waiting = [(3, 1000), (4, 10), (7, 9), (9, 500)].into();
        assert_eq!(notable(&waiting), [3, 4, 9]);
        assert!(notable(&BTreeMap::new()).is_empty());
    }
}
