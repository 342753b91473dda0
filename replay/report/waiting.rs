//! Waiting time for the summary, collected from the rows of the report as they are sent.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::accounts::RunTimes;
use super::summary::{NAMED, Part, Polled, WaitState, total};
use crate::exchange::Batch;
use crate::exchange::batch::{BatchReader, halves, pair, wide};
use crate::fraction::float;
use crate::ids::ReportPath;
use crate::int::{to_u32, to_u64, to_usize};
use crate::metrics::Metrics;
use crate::severity::MetricId;
use crate::trace::Trace;
use crate::wire::Half;

/// Collector of waiting time from the rows of the report.
#[derive(Debug)]
pub(super) struct WaitingTime {
    /// Whether a metric is waiting time, by metric.
    is_waiting: Vec<bool>,
    /// Whether a metric is waiting time that no other such metric contains.
    is_top: Vec<bool>,
    /// The metric of polling, which is no waiting time.
    polling: MetricId,
    /// Ticks by metric and call path, child metrics included.
    by_place: FxHashMap<(MetricId, ReportPath), i128>,
    /// Ticks by location.
    by_location: Vec<i64>,
}

impl WaitingTime {
    pub(super) fn new(trace: &Trace, metrics: &Metrics) -> WaitingTime {
        let mut is_waiting = vec![false; metrics.list.len()];
        for pattern in &metrics.patterns {
            is_waiting[pattern.metric] = pattern.pattern.is_waiting && !pattern.pattern.is_of_start_up();
        }
        let parent = |at: MetricId| metrics.list.iter().position(|m| Some(m.id) == metrics.list[at].parent);
        let is_top = (0..metrics.list.len())
            .map(|at| is_waiting[at] && parent(at).is_none_or(|parent| !is_waiting[parent]))
            .collect();
        WaitingTime {
            is_waiting,
            is_top,
            polling: metrics.polling,
            by_place: FxHashMap::default(),
            by_location: vec![0; trace.locations.len()],
        }
    }

    /// Returns the waiting time of a metric, in ticks; `None` if users can do little about it.
    pub(super) fn of(&self, metric: MetricId) -> Option<i128> {
        let of_metric = self.by_place.iter().filter(|(place, _)| place.0 == metric);
        self.is_waiting[metric].then(|| of_metric.map(|(_, ticks)| ticks).sum())
    }

    /// Whether a metric is collected.
    pub(super) fn is_about(&self, metric: MetricId) -> bool {
        self.is_waiting[metric] || metric == self.polling
    }

    /// Adds severities of some neighbours, of which `first` is the first one, at a call path.
    pub(super) fn add(&mut self, metric: MetricId, path: ReportPath, first: usize, row: &[i128]) {
        if !self.is_about(metric) {
            return;
        }
        let all = self.by_place.entry((metric, path)).or_insert(0);
        for (sum, &value) in self.by_location[first..].iter_mut().zip(row) {
            *all += value;
            if self.is_top[metric] {
                *sum = sum.saturating_add(i64::try_from(value).unwrap_or(i64::MAX));
            }
        }
    }

    pub(super) fn encode(&self, batch: &mut Batch) {
        batch.push(to_u64(self.by_place.len()));
        for (&(metric, path), ticks) in &self.by_place {
            batch.push(pair(to_u32(metric), path.to_half()));
            batch.extend(wide(ticks.cast_unsigned()));
        }
        let locations = (0..).zip(&self.by_location).filter(|(_, ticks)| **ticks != 0);
        let words: Batch = locations.flat_map(|(at, ticks)| [at, ticks.cast_unsigned()]).collect();
        batch.push(to_u64(words.len()));
        batch.extend(words);
    }

    /// Adds the data that another worker has collected.
    pub(super) fn merge(&mut self, reader: &mut BatchReader<'_>) {
        for _ in 0..reader.word() {
            let (metric, path) = halves(reader.word());
            *self.by_place.entry((metric as usize, ReportPath::of_half(path))).or_insert(0) +=
                reader.wide().cast_signed();
        }
        let count = to_usize(reader.word());
        for words in reader.words(count).chunks_exact(2) {
            self.by_location[to_usize(words[0])] += words[1].cast_signed();
        }
    }

    /// Returns all waiting time, in ticks.
    pub(super) fn all(&self) -> i64 {
        total(self.by_location.iter().copied())
    }

    /// Returns the largest wait states in descending order. `name` returns the names of call paths, `seconds`
    /// converts ticks.
    pub(super) fn largest(
        &self,
        metrics: &Metrics,
        name: impl Fn(ReportPath) -> String,
        seconds: impl Fn(i128) -> f64,
    ) -> Vec<WaitState> {
        let mut wait_states = Vec::new();
        for (&(metric, path), &ticks) in self.by_place.iter().filter(|(place, _)| place.0 != self.polling) {
            let below = (0..metrics.list.len()).filter(|&at| {
                metrics.list[at].parent == Some(metrics.list[metric].id) && self.is_waiting[at]
            });
            let contained: i128 = below.filter_map(|below| self.by_place.get(&(below, path))).copied().sum();
            if ticks > contained {
                wait_states.push((ticks - contained, metric, path));
            }
        }
        wait_states.sort_unstable_by_key(|&(ticks, metric, path)| (-ticks, metric, path));
        let wait_state = |(ticks, metric, path)| WaitState {
            title: metrics.title(metric),
            metric: metrics.list[metric].id,
            path,
            call_path: name(path),
            seconds: seconds(ticks),
        };
        wait_states.into_iter().take(NAMED).map(wait_state).collect()
    }

    /// Returns the time of polling, with the call path that has most of it; `None` if there is none.
    pub(super) fn polled(
        &self,
        name: impl Fn(ReportPath) -> String,
        seconds: impl Fn(i128) -> f64,
    ) -> Option<Polled> {
        let places = || self.by_place.iter().filter(|(place, _)| place.0 == self.polling);
        let all: i128 = places().map(|(_, ticks)| ticks).sum();
        let (&(_, path), &most) = places().max_by_key(|&(&(_, path), &ticks)| (ticks, Reverse(path)))?;
        let part = Part { text: name(path), share: float(most) / float(all) };
        (all > 0).then(|| Polled { seconds: seconds(all), part })
    }

    /// Returns the ranks with the longest waiting time: name, waiting time, time.
    pub(super) fn ranks(
        &self,
        trace: &Trace,
        run_times: &[RunTimes],
        seconds: impl Fn(i128) -> f64,
    ) -> Vec<(String, f64, f64)> {
        let mut ranks: Vec<(i64, i64, usize)> = Vec::new();
        for process in &trace.processes {
            let locations = process.locations.clone();
            let waiting = total(self.by_location[locations.clone()].iter().copied());
            let run = total(run_times[locations.clone()].iter().map(|times| times.run));
            if waiting > 0 {
                ranks.push((waiting, run, locations.start));
            }
        }
        ranks.sort_unstable_by_key(|&(waiting, _, first)| (-waiting, first));
        let rank = |(waiting, run, first): (i64, i64, usize)| {
            (trace.location_name(first), seconds(waiting.into()), seconds(run.into()))
        };
        ranks.into_iter().take(NAMED).map(rank).collect()
    }
}
