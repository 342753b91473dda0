//! The summary that a person can act on, about the time between the end of MPI_Init and the start of MPI_Finalize.

use std::fmt;
use std::path::PathBuf;

use rustc_hash::FxHashMap;

use super::cells::Row;
use crate::coverage::{Coverage, Fate};
use crate::exchange::Batch;
use crate::exchange::batch::{BatchReader, halves, pair, wide};
use crate::findings::Findings;
use crate::metrics::Metrics;
use crate::severity::MetricId;
use crate::trace::Trace;

/// How many of a kind the summary names.
const NAMED: usize = 5;

/// Waiting as it is collected from the rows of the report.
#[derive(Debug)]
pub(super) struct Waiting {
    /// Whether a metric is waiting, by metric.
    is_waiting: Vec<bool>,
    /// Whether a metric is waiting that no other waiting metric contains.
    is_top: Vec<bool>,
    /// Ticks by metric and call path, metrics below included.
    by_place: FxHashMap<(MetricId, u32), i128>,
    /// Ticks by location.
    by_location: Vec<i64>,
}

impl Waiting {
    pub(super) fn new(trace: &Trace, metrics: &Metrics) -> Waiting {
        let mut is_waiting = vec![false; metrics.list.len()];
        for pattern in &metrics.patterns {
            // Start-up and shut-down are not what a user can act on.
            let is_start_up = pattern.pattern.metric.parent == Some("mpi_init_exit");
            is_waiting[pattern.metric] = pattern.pattern.is_waiting && !is_start_up;
        }
        let parent = |at: MetricId| metrics.list.iter().position(|m| Some(m.id) == metrics.list[at].parent);
        let is_top = (0..metrics.list.len())
            .map(|at| is_waiting[at] && parent(at).is_none_or(|parent| !is_waiting[parent]))
            .collect();
        Waiting {
            is_waiting,
            is_top,
            by_place: FxHashMap::default(),
            by_location: vec![0; trace.locations.len()],
        }
    }

    /// All waiting of a metric, in ticks; `None` if it is not what a user can act on.
    pub(super) fn of(&self, metric: MetricId) -> Option<i128> {
        let of_metric = self.by_place.iter().filter(|(place, _)| place.0 == metric);
        self.is_waiting[metric].then(|| of_metric.map(|(_, ticks)| ticks).sum())
    }

    /// Whether anything is collected of a metric.
    pub(super) fn is_about(&self, metric: MetricId) -> bool {
        self.is_waiting[metric]
    }

    /// Adds severities of some neighbours, of which `first` is the first one, at a call path.
    pub(super) fn add(&mut self, metric: MetricId, path: u32, first: usize, row: Row<'_>) {
        if !self.is_waiting[metric] {
            return;
        }
        let all = self.by_place.entry((metric, path)).or_insert(0);
        for (sum, value) in self.by_location[first..].iter_mut().zip(row.numbers()) {
            *all += value;
            if self.is_top[metric] {
                *sum = sum.saturating_add(i64::try_from(value).unwrap_or(i64::MAX));
            }
        }
    }

    pub(super) fn encode(&self, batch: &mut Batch) {
        batch.push(self.by_place.len() as u64);
        for (&(metric, path), ticks) in &self.by_place {
            batch.push(pair(metric as u32, path));
            batch.extend(wide(ticks.cast_unsigned()));
        }
        let locations = (0..).zip(&self.by_location).filter(|(_, ticks)| **ticks != 0);
        let words: Batch = locations.flat_map(|(at, ticks)| [at, ticks.cast_unsigned()]).collect();
        batch.push(words.len() as u64);
        batch.extend(words);
    }

    /// Adds what another worker has collected.
    pub(super) fn merge(&mut self, reader: &mut BatchReader<'_>) {
        for _ in 0..reader.word() {
            let (metric, path) = halves(reader.word());
            *self.by_place.entry((metric as usize, path)).or_insert(0) += reader.wide().cast_signed();
        }
        let count = reader.word() as usize;
        for words in reader.words(count).chunks_exact(2) {
            self.by_location[words[0] as usize] += words[1].cast_signed();
        }
    }

    /// All waiting, in ticks.
    pub(super) fn all(&self) -> i64 {
        total(self.by_location.iter().copied())
    }

    /// The largest wait states, the largest first. `name` knows the call paths, `seconds` what a tick is.
    pub(super) fn largest(
        &self,
        metrics: &Metrics,
        name: impl Fn(u32) -> String,
        seconds: impl Fn(i128) -> f64,
    ) -> Vec<WaitState> {
        let mut wait_states = Vec::new();
        for (&(metric, path), &ticks) in &self.by_place {
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
            call_path: name(path),
            seconds: seconds(ticks),
        };
        wait_states.into_iter().take(NAMED).map(wait_state).collect()
    }

    /// The ranks that wait most: name, waiting, time.
    pub(super) fn ranks(
        &self,
        trace: &Trace,
        run_times: &[(i64, i64)],
        seconds: impl Fn(i128) -> f64,
    ) -> Vec<(String, f64, f64)> {
        let mut ranks: Vec<(i64, i64, usize)> = Vec::new();
        for process in &trace.processes {
            let locations = process.locations.clone();
            let waiting = total(self.by_location[locations.clone()].iter().copied());
            let run = total(run_times[locations.clone()].iter().map(|times| times.0));
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

/// For each finding that occurred, where first.
pub(super) fn examples(trace: &Trace, findings: &Findings) -> Vec<String> {
    let example = |finding| {
        findings.first(finding).map_or(String::new(), |first| {
            let place = trace.location_name(first.location as usize);
            let seconds = trace.definitions.clock.seconds(first.time.into());
            format!("first on {place} at {seconds:.6} s: {}", first.text)
        })
    };
    findings.occurred().map(example).collect()
}

/// A wait state at a call path, summed over all locations.
#[derive(Clone, PartialEq, Debug)]
pub struct WaitState {
    /// The name of the pattern.
    pub title: &'static str,
    /// The names of the regions from the root, with slashes between them.
    pub call_path: String,
    /// The time lost, in seconds.
    pub seconds: f64,
}

/// Waiting that may not have happened at all, but is an error of clocks.
#[derive(Clone, PartialEq, Debug)]
pub struct Doubt {
    /// The name of the pattern.
    pub title: &'static str,
    /// How much there is of it, in seconds.
    pub seconds: f64,
    /// How much waiting of this kind there is, in seconds.
    pub of: f64,
}

/// A part of what a culprit costs.
#[derive(Clone, PartialEq, Debug)]
pub struct Part {
    /// Which part.
    pub text: String,
    /// How much of all that it is, 1 being everything.
    pub share: f64,
}

impl fmt::Display for Part {
    /// Says how much it is only if there is much else.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", printable(&self.text))?;
        if self.share < 0.95 { write!(f, " ({:.0} %)", 100.0 * self.share) } else { Ok(()) }
    }
}

/// A place that made others wait.
#[derive(Clone, PartialEq, Debug)]
pub struct Culprit {
    /// The name of the location.
    pub location: String,
    /// The names of the regions from the root, with slashes between them.
    pub call_path: String,
    /// Between which calls of MPI it was slow, if it calls MPI itself.
    pub between: Option<Part>,
    /// What the waiting of the others costs, in seconds, through others' waiting included.
    pub seconds: f64,
    /// What kind of waiting costs most.
    pub kind: &'static str,
    /// Who waits in this way, and where, most of all.
    pub victims: Option<Part>,
    /// Whether the length of the run depends on it.
    pub is_critical: bool,
    /// By which part of the mean its computation exceeds the mean of all.
    pub more_work: Option<f64>,
}

impl fmt::Display for Culprit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {}", self.location, printable(&self.call_path))?;
        if let Some(between) = &self.between {
            write!(f, " {between}")?;
        }
        write!(f, ": {}", self.kind)?;
        if let Some(victims) = &self.victims {
            write!(f, " {victims}")?;
        }
        if self.is_critical {
            write!(f, "; on the critical path")?;
        }
        match self.more_work {
            Some(more) if more >= 0.005 => write!(f, "; {:.0} % more work than the mean", 100.0 * more),
            _ => Ok(()),
        }
    }
}

/// What an analysis found, in short. Times are in seconds, between the end of MPI_Init and the start of MPI_Finalize.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The time of all CPU locations.
    pub run: f64,
    /// Their time in MPI calls.
    pub mpi: f64,
    /// Their time waiting for others.
    pub waiting: f64,
    /// The number of CPU locations.
    pub locations: usize,
    /// The largest wait states, the largest first.
    pub wait_states: Vec<WaitState>,
    /// The ranks that wait most: name, waiting, time.
    pub ranks: Vec<(String, f64, f64)>,
    /// How wrong clocks are known to be, at least.
    pub clock_error: f64,
    /// With corrected clocks: how many events were too early, and by how much at most.
    pub corrected: Option<(u64, f64)>,
    /// Waiting that is no longer than that.
    pub doubts: Vec<Doubt>,
    /// The places that made others wait, the worst first.
    pub culprits: Vec<Culprit>,
    /// What waiting for all places costs.
    pub delay_costs: f64,
    /// Which share of the MPI time was analysed.
    pub coverage: Coverage,
    /// What was odd in the trace.
    pub findings: Findings,
    /// For each finding that occurred, where first.
    pub examples: Vec<String>,
    /// Where the report is.
    pub report: PathBuf,
}

/// A sum of ticks, which absurd times in a trace must not make overflow.
pub(super) fn total(ticks: impl Iterator<Item = i64>) -> i64 {
    ticks.fold(0, i64::saturating_add)
}

fn percent(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { 100.0 * part / whole } else { 0.0 }
}

/// A text from a trace for a terminal: without control characters.
fn printable(text: &str) -> String {
    text.replace(char::is_control, "\u{fffd}")
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Summary { run, mpi, waiting, .. } = *self;
        writeln!(f, "Between MPI_Init and MPI_Finalize, summed over {} threads: {run:.6} s", self.locations)?;
        writeln!(f, "  {:5.1} %  {mpi:12.6} s  in MPI", percent(mpi, run))?;
        writeln!(f, "  {:5.1} %  {waiting:12.6} s  waiting for others", percent(waiting, run))?;
        if self.wait_states.is_empty() {
            writeln!(f, "\nNo wait states.")?;
        } else {
            writeln!(f, "\nLargest wait states:")?;
        }
        for state in &self.wait_states {
            let share = percent(state.seconds, run);
            let path = printable(&state.call_path);
            writeln!(f, "  {share:5.1} %  {:12.6} s  {} in {path}", state.seconds, state.title)?;
        }
        if !self.culprits.is_empty() {
            writeln!(f, "\nWho made others wait, or idle ({:.6} s of delay costs):", self.delay_costs)?;
        }
        for culprit in &self.culprits {
            let share = percent(culprit.seconds, self.delay_costs);
            writeln!(f, "  {share:5.1} %  {:12.6} s  {culprit}", culprit.seconds)?;
        }
        if !self.ranks.is_empty() {
            writeln!(f, "\nRanks that wait most:")?;
        }
        for (name, waiting, run) in &self.ranks {
            writeln!(f, "  {:5.1} %  {waiting:12.6} s  {name}, of {run:.6} s", percent(*waiting, *run))?;
        }
        match self.corrected {
            None => {}
            Some((0, _)) => writeln!(f, "\nClocks needed no correction")?,
            Some((count, largest)) => {
                let events = if count == 1 { "event was" } else { "events were" };
                writeln!(f, "\nClocks were corrected: {count} {events} too early, by up to {largest:.9} s")?;
            }
        }
        if self.clock_error > 0.0 {
            let error = self.clock_error;
            let advice = if self.corrected.is_none() { " (--clock-correction helps)" } else { "" };
            writeln!(
                f,
                "\nClocks are wrong by at least {error:.9} s{advice}. Waiting that is no longer may be nothing else:"
            )?;
        }
        for Doubt { title, seconds, of } in &self.doubts {
            writeln!(f, "  {:5.1} %  {seconds:12.6} s  of {title}", percent(*seconds, *of))?;
        }
        if self.coverage.total() > 0 {
            let analysed = 100.0 * self.coverage.share(Fate::Analysed);
            writeln!(f, "\nCoverage: {analysed:.1} % of the MPI time was analysed for wait states")?;
        } else {
            writeln!(f, "\nCoverage: no time in MPI was recorded between MPI_Init and MPI_Finalize")?;
        }
        for fate in Fate::ALL.into_iter().skip(1).filter(|&fate| self.coverage.ticks(fate) > 0) {
            writeln!(f, "  {:5.1} %  not: {}", 100.0 * self.coverage.share(fate), fate.name())?;
        }
        let count = self.findings.occurred().count();
        if count == 0 {
            writeln!(f, "Findings: none")?;
        } else {
            writeln!(f, "Findings:")?;
        }
        for (finding, example) in self.findings.occurred().zip(&self.examples) {
            let (class, name) = (finding.class().name(), finding.name());
            writeln!(f, "  {:9} {:>9} x {name}: {}", class, self.findings.count(finding), finding.meaning())?;
            writeln!(f, "  {:9} {:>9}   {}", "", "", printable(example))?;
        }
        write!(f, "Report: {}", printable(&self.report.display().to_string()))
    }
}
