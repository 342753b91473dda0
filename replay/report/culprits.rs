//! Culprits in the words of the summary.

use std::collections::BTreeMap;

use model::{LocationType, Paradigm};

use super::names;
use super::ranges::list;
use super::summary::{self, Part};
use super::work_by_counters::{self, Work};
use crate::causes::{self, DelayClass, Named, SampleCounts, Site, Stretch, Victims};
use crate::exchange::Batch;
use crate::exchange::batch::{BatchReader, wide};
use crate::fraction::{self, float};
use crate::functions::Function;
use crate::ids::ReportPath;
use crate::imbalance::Totals;
use crate::int::to_u32;
use crate::metrics::Metrics;
use crate::off_cpu::{Time, beyond_others};
use crate::report_paths::ReportPaths;
use crate::severity::MetricId;
use crate::trace::{Artificial, Trace};
use crate::walk::COMPARABLE;

/// Divisor of the longest waiting time for a culprit: locations with less than this quotient are not named.
const NOTABLE: i128 = 100;

/// Returns the kind of waiting in words, by class. Of collective operations it is more than waiting for a late member if there is
/// waiting for progress of non-blocking ones, too, which is in the class of the operation.
fn kind(class: DelayClass, with_progress: bool) -> &'static str {
    match class {
        DelayClass::Barrier if with_progress => "waiting for barriers",
        DelayClass::AllToAll if with_progress => "waiting for N x N operations",
        DelayClass::OneToAll if with_progress => "waiting for 1-to-N operations",
        DelayClass::AllToOne if with_progress => "waiting for N-to-1 operations",
        DelayClass::LateSender => "late senders",
        DelayClass::LateReceiver => "late receivers",
        DelayClass::Barrier => "waiting at barriers",
        DelayClass::AllToAll => "waiting at N x N",
        DelayClass::OneToAll => "late broadcasts",
        DelayClass::AllToOne => "early reductions",
        DelayClass::Neighbors => "waiting for neighbours",
        DelayClass::Communicators => "creating or disconnecting communicators",
        DelayClass::Progress => "waiting for progress",
        DelayClass::OneSided => "waiting for one-sided partners",
        DelayClass::Files => "waiting in collective file operations",
        DelayClass::ThreadBarrier => "waiting at OpenMP barriers",
        DelayClass::Accelerator => "waiting for devices",
        DelayClass::IdleThreads => "idle threads",
    }
}

/// Sums over a culprit's rows of the report.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Sums {
    /// Whether it is on the critical path.
    is_critical: bool,
    /// Computation above and below the mean, in ticks as fixed-point numbers.
    above: i128,
    below: i128,
    /// Its own values of [`Culprits::measured`], in ticks and occurrences, and those of all locations.
    measured: [i128; MEASURED],
    measured_of_all: [i128; MEASURED],
}

/// How many metrics are summed for a culprit and for all.
const MEASURED: usize = 4;
/// Of these: time off the processor, preempted and blocked; instructions and cycles.
const OFF: std::ops::Range<usize> = 0..2;
const COUNTERS: std::ops::Range<usize> = 2..4;

/// Collector of culprits' details from the rows of the report.
#[derive(Debug)]
pub(super) struct Culprits<'c> {
    delay: MetricId,
    critical_path: MetricId,
    above: MetricId,
    below: MetricId,
    /// By [`OFF`] and [`COUNTERS`].
    measured: [MetricId; MEASURED],
    idle_threads: MetricId,
    /// Waiting for progress of non-blocking collective operations.
    progress: MetricId,
    /// Costs of idle threads.
    idle_costs: [MetricId; 2],
    trace: &'c Trace,
    paths: &'c ReportPaths,
    found: &'c causes::Culprits,
    sums: Vec<Sums>,
    /// Delay costs of all places, and those of the recorder.
    total: i128,
    recorder: i128,
    has_idle_threads: bool,
    /// Whether idle threads are a part of the costs.
    has_idle_costs: bool,
    /// Whether some waited for progress of non-blocking collective operations.
    has_progress: bool,
}

impl<'c> Culprits<'c> {
    pub(super) fn new(
        trace: &'c Trace,
        metrics: &Metrics,
        paths: &'c ReportPaths,
        found: &'c causes::Culprits,
    ) -> Culprits<'c> {
        let id = |name: &str| metrics.find(name).unwrap_or(MetricId::MAX);
        Culprits {
            delay: id("delay"),
            critical_path: metrics.critical_path,
            above: id("imbalance_above"),
            below: id("imbalance_below"),
            measured: {
                let [preempted, blocked] = metrics
                    .off_cpu
                    .map_or([MetricId::MAX; 2], |[preempted, blocked, ..]| [preempted, blocked]);
                let [instructions, cycles] =
                    metrics.instructions_and_cycles.map(|it| it.unwrap_or(MetricId::MAX));
                [preempted, blocked, instructions, cycles]
            },
            idle_threads: metrics.idle_threads,
            progress: id("mpi_nbcoll_wait_for_progress"),
            idle_costs: ["delay_ompidle", "delay_ompidle_longterm"].map(id),
            trace,
            paths,
            found,
            sums: vec![Sums::default(); found.named.len()],
            total: 0,
            recorder: 0,
            has_idle_threads: false,
            has_idle_costs: false,
            has_progress: false,
        }
    }

    /// Whether a metric is collected.
    pub(super) fn is_about(&self, metric: MetricId) -> bool {
        [self.delay, self.critical_path, self.above, self.below, self.idle_threads, self.progress]
            .contains(&metric)
            || self.idle_costs.contains(&metric)
            || self.measured.contains(&metric)
    }

    /// Adds severities of some neighbours, of which `first` is the first one, at a call path.
    pub(super) fn add(&mut self, metric: MetricId, path: ReportPath, first: usize, row: &[i128]) {
        if metric == self.delay {
            let sum = row.iter().copied().fold(0, i128::saturating_add);
            self.total = self.total.saturating_add(sum);
            if self.trace.is_of_recorder(self.paths.region(path)) {
                self.recorder = self.recorder.saturating_add(sum);
            }
        }
        let is_positive = || row.iter().any(|&number| number > 0);
        self.has_idle_threads |= metric == self.idle_threads && is_positive();
        self.has_idle_costs |= self.idle_costs.contains(&metric) && is_positive();
        self.has_progress |= metric == self.progress && is_positive();
        let measured = self.measured.iter().position(|&known| known == metric);
        if ![self.critical_path, self.above, self.below].contains(&metric) && measured.is_none() {
            return;
        }
        let function = self.paths.functions.of(path);
        for (which, sums) in self.sums.iter_mut().enumerate() {
            if self.found.named[which].culprit.function != function {
                continue;
            }
            let is_member = |at: &usize| self.found.members.has(which, to_u32(first + at));
            if let Some(kind) = measured {
                let of_all = &mut sums.measured_of_all[kind];
                *of_all = row.iter().copied().fold(*of_all, i128::saturating_add);
            }
            for number in (0..row.len()).filter(is_member).map(|at| row[at]) {
                if let Some(kind) = measured {
                    sums.measured[kind] = sums.measured[kind].saturating_add(number);
                } else if metric == self.critical_path {
                    sums.is_critical |= number > 0;
                } else if metric == self.above {
                    sums.above = sums.above.saturating_add(number);
                } else {
                    sums.below = sums.below.saturating_add(number);
                }
            }
        }
    }

    pub(super) fn encode(&self, batch: &mut Batch) {
        batch.extend(wide(self.total.cast_unsigned()));
        batch.extend(wide(self.recorder.cast_unsigned()));
        batch.extend([self.has_idle_threads, self.has_idle_costs, self.has_progress].map(u64::from));
        for sums in &self.sums {
            batch.push(sums.is_critical.into());
            batch.extend(wide(sums.above.cast_unsigned()));
            batch.extend(wide(sums.below.cast_unsigned()));
            let measured = sums.measured.iter().chain(&sums.measured_of_all);
            measured.for_each(|sum| batch.extend(wide(sum.cast_unsigned())));
        }
    }

    /// Adds the data that another worker has collected from its locations.
    pub(super) fn merge(&mut self, reader: &mut BatchReader<'_>) {
        self.total = self.total.saturating_add(reader.wide().cast_signed());
        self.recorder = self.recorder.saturating_add(reader.wide().cast_signed());
        self.has_idle_threads |= reader.word() != 0;
        self.has_idle_costs |= reader.word() != 0;
        self.has_progress |= reader.word() != 0;
        for sums in &mut self.sums {
            sums.is_critical |= reader.word() != 0;
            sums.above = sums.above.saturating_add(reader.wide().cast_signed());
            sums.below = sums.below.saturating_add(reader.wide().cast_signed());
            for sum in sums.measured.iter_mut().chain(&mut sums.measured_of_all) {
                *sum = sum.saturating_add(reader.wide().cast_signed());
            }
        }
    }

    /// Whether threads were idle: that is no part of their time.
    pub(super) fn has_idle_threads(&self) -> bool {
        self.has_idle_threads
    }

    /// Returns the kind of waiting in words.
    pub(super) fn kind(&self, class: DelayClass) -> &'static str {
        kind(class, self.has_progress)
    }

    /// Returns the causes in words, once everything is collected. `are_known` says whether instructions, and cycles, are known of all.
    pub(super) fn tell(
        &self,
        computed: &Totals,
        is_parallel: &[bool],
        are_known: [bool; 2],
    ) -> summary::Causes {
        let seconds = |shares: i128| self.trace.definitions.clock.seconds(shares) / fraction::ONE;
        let culprits = self.found.named.iter().enumerate();
        summary::Causes {
            costs: seconds(self.total),
            recorder: seconds(self.recorder),
            has_idle: self.has_idle_costs,
            culprits: culprits
                .map(|(which, named)| self.culprit((which, named), computed, is_parallel, are_known))
                .collect(),
        }
    }

    fn culprit(
        &self,
        (which, named): (usize, &Named),
        computed: &Totals,
        is_parallel: &[bool],
        are_known: [bool; 2],
    ) -> summary::Culprit {
        let (trace, paths) = (self.trace, self.paths);
        let function = named.culprit.function;
        let locations: Vec<u32> = self.found.members.of(which).collect();
        let costs = named.culprit.costs;
        // Of time that was not recorded nothing is known but that it passed.
        let is_unrecorded = paths.region(function) == trace.artificial(Artificial::MeasurementOff);
        let site = named.site.as_ref().filter(|_| !is_unrecorded);
        let stretch = site.and_then(|site| site.stretch);
        let sums = &self.sums[which];
        let even = self.even(function, locations.len(), computed, is_parallel);
        let all = self.computation(function, computed);
        // Few samples may be of another function, unless it had no processor to be sampled on.
        let is_known = named.samples.is_none_or(|it| it.here >= COMPARABLE || away(it) >= AWAY);
        let more_work = more_work(sums, even).filter(|_| is_known && !is_unrecorded);
        let not_running =
            more_work.filter(|_| sums.measured[OFF] != [0; 2]).and_then(|_| not_running(sums, even, all));
        let counted = more_work.and_then(|_| {
            let resolution = trace.definitions.clock.resolution as f64;
            let work = |measured: [i128; MEASURED], ticks: f64| Work {
                seconds: ticks / resolution,
                counts: [0, 1].map(|at| are_known[at].then_some(measured[COUNTERS][at] as f64)),
            };
            let own = even + float(sums.above.saturating_sub(sums.below));
            let (own, of_all) = (work(sums.measured, own), work(sums.measured_of_all, all));
            work_by_counters::against(&own, &of_all, even / all)
        });
        summary::Culprit {
            location: who(trace, &locations),
            path: function,
            call_path: names::path(trace, paths, function),
            is_unexplained: trace.is_mpi(paths.region(function)),
            is_unrecorded,
            site: site.and_then(|site| self.site(site, named.samples.as_ref())),
            between: stretch.map(|stretch| between(trace, &stretch, costs)),
            between_seconds: stretch.map(|stretch| trace.definitions.clock.seconds(stretch.time.into())),
            seconds: trace.definitions.clock.seconds(costs) / fraction::ONE,
            kind: self.kind(named.culprit.class),
            victims: named.victims.as_ref().map(|who| victims(trace, who, costs)),
            is_critical: sums.is_critical && !is_unrecorded,
            more_work,
            not_running,
            counted,
            samples: named
                .samples
                .filter(|_| !trace.is_mpi(paths.region(function)) && !is_unrecorded)
                .map(samples),
        }
    }

    /// Returns the site in its function where a culprit was slow. If the line of a function is known from the
    /// stack at a call, it is the line of that call, and the time is behind it; a sample has its own line.
    fn site(&self, site: &Site, samples: Option<&SampleCounts>) -> Option<String> {
        let path = self.paths.own_path(self.trace, site.path);
        let is_behind = samples.is_none_or(|samples| samples.at_site == 0);
        match self.trace.sites.get(self.paths.site(path) as usize).filter(|_| is_behind) {
            Some((file, 0)) => Some(format!("after {}", names::base_name(file))),
            Some((file, line)) => Some(format!("after line {line} ({})", names::base_name(file))),
            None => names::site(self.trace, self.paths, path).map(|site| format!("({site})")),
        }
    }

    /// Returns the computation of all locations in a function, in ticks.
    fn computation(&self, function: Function, computed: &Totals) -> f64 {
        let in_function = self.paths.all().filter(|&path| self.paths.functions.of(path) == function);
        in_function.map(|path| computed.paths[path.index()].computation() as f64).sum()
    }

    /// Returns the computation in a function that so many locations would have if all had the mean, in ticks.
    fn even(&self, function: Function, locations: usize, computed: &Totals, is_parallel: &[bool]) -> f64 {
        let in_function = self.paths.all().filter(|&path| self.paths.functions.of(path) == function);
        let mean = |path: ReportPath| {
            let participants = computed.participants[usize::from(is_parallel[path.index()])];
            computed.paths[path.index()].computation() as f64 / participants.max(1) as f64
        };
        in_function.map(mean).sum::<f64>() * locations as f64
    }
}

/// Returns the excess of the computation of a place over the mean, as a fraction of the mean; `None` if there is none, or it is unknown.
/// `even` is what its computation would be if all had the mean, in ticks.
fn more_work(sums: &Sums, even: f64) -> Option<f64> {
    let more = sums.above.saturating_sub(sums.below);
    (more > 0 && even > 0.0).then(|| float(more) / even)
}

/// Returns why a place was not running in a part of its excess of computation over the mean, and the share of it (site 5.1): what of
/// the excess is time off the processor beyond the share of their time that others are off it there. `None` if that is less than a
/// tenth. `even` is what its computation would be if all had the mean, `all` that of all locations, in ticks.
fn not_running(sums: &Sums, even: f64, all: f64) -> Option<Part> {
    let excess = float(sums.above.saturating_sub(sums.below));
    let own = even + excess;
    let explained = |kind: usize| {
        let (off, of_all) = (sums.measured[kind], sums.measured_of_all[kind]);
        let others = Time { all: all - own, off: (of_all - off) as f64 };
        beyond_others(Time { all: own, off: off as f64 }, others).clamp(0.0, excess)
    };
    let [preempted, blocked] = [0, 1].map(explained);
    let share = (preempted + blocked) / excess;
    let others = "others had its processor";
    let itself = "it waited in the system";
    let text = match (preempted, blocked) {
        _ if preempted >= 9.0 * blocked => others.to_owned(),
        _ if blocked >= 9.0 * preempted => itself.to_owned(),
        _ => format!("{others} ({:.0} %), {itself}", 100.0 * (preempted / excess).min(1.0)),
    };
    (share >= 0.1).then(|| Part { text, share: share.min(1.0) })
}

/// Returns the names of locations: a thread, or several of one rank, or ranks.
fn who(trace: &Trace, locations: &[u32]) -> String {
    if let [only] = locations {
        return trace.location_name(*only as usize);
    }
    several(trace, locations)
}

/// Returns the processes of locations, in ascending order.
fn processes(trace: &Trace, locations: &[u32]) -> Vec<usize> {
    let mut processes: Vec<usize> =
        locations.iter().map(|&at| trace.locations[at as usize].process).collect();
    processes.dedup();
    processes
}

/// Returns several locations in words: threads or streams of one process, or ranks.
fn several(trace: &Trace, locations: &[u32]) -> String {
    let processes = processes(trace, locations);
    let is_stream = |at: &u32| trace.locations[*at as usize].kind == LocationType::ACCELERATOR_STREAM;
    if let &[process] = &processes[..] {
        let name = trace.location_name(trace.processes[process].locations.start);
        if locations.iter().any(is_stream) {
            let streams = locations.iter().filter(|at| is_stream(at)).count();
            return match streams < locations.len() {
                true => format!("threads and streams of {name}"),
                false => format!("{streams} streams of {name}"),
            };
        }
        let threads = locations.iter().map(|&at| trace.locations[at as usize].thread).collect();
        return format!("{} of {name}", list("threads", threads));
    }
    let rank = |&process: &usize| trace.processes[process].rank;
    match processes.iter().map(rank).collect() {
        Some(ranks) => list("ranks", ranks),
        None => list("processes", processes.iter().map(|&process| to_u32(process)).collect()),
    }
}

/// Returns the MPI calls before and after a culprit's site, in words.
fn between(trace: &Trace, stretch: &Stretch, costs: i128) -> Part {
    let name = |region: Option<u32>| region.map(|region| trace.region_name(region));
    let text = match (name(stretch.before), name(stretch.after)) {
        (Some(before), Some(after)) => format!("between {before} and {after}"),
        (Some(before), None) => format!("after {before}"),
        (None, Some(after)) => format!("before {after}"),
        (None, None) => String::new(),
    };
    Part { text, share: float(stretch.costs) / float(costs) }
}

/// The share of its time without a processor from which that is said of a culprit.
const AWAY: f64 = 0.5;

/// Returns the share of its time in which a culprit had no processor.
fn away(counts: SampleCounts) -> f64 {
    counts.away as f64 / counts.time.max(1) as f64
}

/// Returns the sample counts of a culprit in words, and whether it had no processor.
fn samples(counts: SampleCounts) -> String {
    let SampleCounts { here, all, .. } = counts;
    let share = away(counts);
    let away = match share >= AWAY {
        true => {
            format!(", without a processor for {:.0} % of its time: asleep, or others had it", 100.0 * share)
        }
        false => String::new(),
    };
    format!("{here} of {all} samples{away}")
}

/// Returns the region in which others wait for a culprit, and the ranks, or threads of one rank.
pub(super) fn victims(trace: &Trace, victims: &Victims, costs: i128) -> Part {
    let locations = notable(&victims.waiting);
    let who = match &locations[..] {
        &[only] => {
            let is_of_ranks =
                victims.region.is_none_or(|region| trace.region(region).paradigm == Paradigm::MPI);
            let name = trace.location_name(only as usize);
            // The first thread has the name of its rank.
            let is_first = trace.locations[only as usize].thread == 0;
            if is_first && !is_of_ranks { format!("thread 0 of {name}") } else { name }
        }
        several_locations => several(trace, several_locations),
    };
    let text = match victims.region {
        Some(region) => format!("in {} of {who}", names::function(trace.region_name(region))),
        None => format!("of {who}"),
    };
    let waiting = victims.waiting.values().fold(0, |sum: i128, &ticks| sum.saturating_add(ticks));
    Part { text, share: float(waiting) / float(costs) }
}

/// Returns the locations that wait long enough to be named.
fn notable(waiting: &BTreeMap<u32, i128>) -> Vec<u32> {
    let most = waiting.values().copied().max().unwrap_or(0);
    waiting.iter().filter(|&(_, &ticks)| ticks >= most / NOTABLE).map(|(&who, _)| who).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_hardly_waits_is_not_named() {
        let waiting = [(3, 1000), (4, 10), (7, 9), (9, 500)].into();
        assert_eq!(notable(&waiting), [3, 4, 9]);
        assert!(notable(&BTreeMap::new()).is_empty());
    }

    #[test]
    fn time_off_the_processor_beyond_the_share_of_others_is_said_of_an_excess_and_no_other() {
        // It has 200 where the mean is 100; the other three have 200 together.
        let told = |off: [i128; 2], off_of_others: [i128; 2]| {
            let mut sums = Sums { above: fraction::whole(100), ..Sums::default() };
            for kind in OFF {
                sums.measured[kind] = off[kind];
                sums.measured_of_all[kind] = off[kind] + off_of_others[kind];
            }
            not_running(&sums, 100.0, 400.0).map(|part| (part.text, part.share))
        };
        assert_eq!(told([80, 0], [0, 0]), Some(("others had its processor".into(), 0.8)));
        // Half of its time, and of that of others: it has more to compute.
        assert_eq!(told([100, 0], [100, 0]), None);
        assert_eq!(told([0, 200], [0, 20]), Some(("it waited in the system".into(), 1.0)));
        let both = told([40, 40], [0, 0]).unwrap();
        assert_eq!(both, ("others had its processor (40 %), it waited in the system".into(), 0.8));
    }

    #[test]
    fn samples_are_counted_and_time_without_a_processor_is_said() {
        let counts = SampleCounts { here: 31, at_site: 20, all: 40, time: 100, away: 10 };
        assert_eq!(samples(counts), "31 of 40 samples");
        let text = samples(SampleCounts { here: 0, away: 95, ..counts });
        assert!(text.starts_with("0 of 40 samples, without a processor for 95 % of its time"), "{text}");
    }
}
