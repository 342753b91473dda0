//! What is known of a master, and what other numbers of workers and other chunks would take (what-if 6.2 to 6.4).

use model::Ticks;

use super::farm::{Task, best, farm, numbers};
use super::formula::Formula;
use super::measure::{Iteration, Measured, MeasuredTask};
use super::policies::{PART, Units, adjusting, fixed, predictive};
use crate::what_if::lines::Line;

/// A master with its workers: what was measured of them, and what is predicted. Times are ticks.
#[derive(Clone, PartialEq, Debug)]
pub struct Master {
    /// Its rank.
    pub rank: u32,
    /// The ranks of its workers, in rising order.
    pub workers: Vec<u32>,
    /// Names of the call path that sends most tasks, with slashes between them.
    pub sends_in: String,
    /// The same of the one that receives most results.
    pub receives_in: String,
    /// How many tasks were answered.
    pub tasks: u64,
    /// How often all results were in.
    pub iterations: u64,
    /// The master's time for a task; `None` if it is not known.
    pub service: Option<Ticks>,
    /// A message without data, one way.
    pub latency: Ticks,
    /// Ticks for a byte; 0 if it is not known.
    pub by_byte: f64,
    /// The work of all tasks.
    pub work: Ticks,
    /// Bytes of all tasks to the workers.
    pub bytes_there: u64,
    /// Bytes of their results.
    pub bytes_back: u64,
    /// Units of work in all tasks.
    pub units: u64,
    /// Mean time of a unit.
    pub unit_mean: f64,
    /// Standard deviation of it.
    pub unit_deviation: f64,
    /// From the first task to the last result, of all iterations.
    pub measured: Ticks,
    /// From the last result of each worker to the end of its iteration, of all workers and iterations.
    pub idle: Ticks,
    /// The work of the tasks that were done last, of all iterations.
    pub last: Ticks,
    /// By number of workers: the time of all iterations, replayed by tasks.
    pub times: Vec<(u32, Ticks)>,
    /// The number of workers with the best relation of time and efficiency, and its time.
    pub best: (u32, Ticks),
    /// Why that is not known.
    pub unknown: Option<Unknown>,
    /// By formula, where each worker gets one task in an iteration: what an iteration takes.
    pub formula: Option<Formula>,
    /// Other ways to hand out work.
    pub policies: Vec<Policy>,
}

/// A way to hand out work, as it would be for all iterations.
#[derive(Clone, PartialEq, Debug)]
pub struct Policy {
    /// What it is.
    pub kind: PolicyKind,
    /// Units of the first chunk, with as many workers as there are.
    pub first: u64,
    /// Chunks with as many workers as there are.
    pub chunks: u64,
    /// Ticks with as many workers as there are.
    pub now: Ticks,
    /// Ticks with the best number of workers.
    pub best: Ticks,
}

/// A rule for sizes of chunks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum PolicyKind {
    /// Chunks of one size, in so many batches.
    Fixed {
        /// Chunks for each worker.
        batches: u64,
    },
    /// A fixed part of what is left for each batch.
    Predictive,
    /// A part that depends on how much times of units differ in iterations before.
    Adjusting,
}

/// Why nothing is said of other numbers of workers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unknown {
    /// The master never sent a task behind a receive or another task.
    Service,
    /// The times of service differ so much that their sum is not known.
    Noise,
    /// Workers have less than two tasks each in an iteration: with other numbers work would be divided in another way.
    Tasks,
    /// Iterations have tasks of different lengths.
    Iterations,
    /// The time as it was is not that of the replay.
    Replay,
}

/// Numbers of batches that are tried with chunks of one size.
const BATCHES: [u64; 7] = [1, 2, 4, 8, 16, 32, 64];

/// Past iterations whose units say how much times differ.
const WINDOW: usize = 8;

/// The most units that all tasks are divided into.
const UNITS: u64 = 1 << 20;

/// How long messages take, one way.
#[derive(Clone, Copy, Debug)]
pub(in crate::what_if) struct Network {
    /// The line of messages up to the limit.
    pub eager: Line,
    /// That of longer ones.
    pub rendezvous: Line,
    /// In bytes.
    pub limit: i64,
}

impl Network {
    fn of(&self, bytes: u64) -> Line {
        if i64::try_from(bytes).is_ok_and(|bytes| bytes <= self.limit) { self.eager } else { self.rendezvous }
    }

    fn transfer(&self, bytes: u64) -> Ticks {
        self.of(bytes).at(bytes)
    }

    fn task(&self, there: u64, work: Ticks, back: u64) -> Task {
        Task { there: self.transfer(there), work, back: self.transfer(back) }
    }
}

impl Master {
    /// Of what was measured; `None` without tasks.
    pub(super) fn new(
        rank: u32,
        workers: Vec<u32>,
        [sends_in, receives_in]: [String; 2],
        measured: &Measured,
        network: &Network,
    ) -> Option<Master> {
        let tasks = measured.tasks().count() as u64;
        let count = u32::try_from(workers.len()).unwrap_or(u32::MAX);
        let bytes_there: u64 = measured.tasks().map(|task| task.there).sum();
        let line = network.of(bytes_there.checked_div(tasks)?);
        let services = measured.services();
        let service = services.get(services.len().saturating_sub(1) / 2).copied();
        let farm_of = |workers: u32| {
            let of = |iteration: &Iteration| by_tasks(iteration, service.unwrap_or(0), workers, network);
            measured.iterations.iter().map(of).sum::<Ticks>()
        };
        let times: Vec<(u32, Ticks)> = numbers(count).into_iter().map(|x| (x, farm_of(x))).collect();
        let best = best(&times)?;
        let unit = unit(measured);
        let rates = measured.tasks().map(|task| (units_of(task, unit), task.work));
        let (units, unit_mean, unit_deviation) = spread(rates);
        let mut master = Master {
            rank,
            workers,
            sends_in,
            receives_in,
            tasks,
            iterations: measured.iterations.len() as u64,
            service,
            latency: line.intercept,
            by_byte: line.ticks_by_byte(),
            work: measured.tasks().map(|task| task.work).sum(),
            bytes_there,
            bytes_back: measured.tasks().map(|task| task.back).sum(),
            units,
            unit_mean,
            unit_deviation,
            measured: measured.iterations.iter().map(|iteration| iteration.ticks).sum(),
            idle: measured.iterations.iter().map(|iteration| iteration.idle).sum(),
            last: measured.iterations.iter().map(|iteration| iteration.last).sum(),
            times,
            best,
            unknown: None,
            formula: None,
            policies: Vec::new(),
        };
        master.unknown = master.why_unknown(measured, &services, network);
        master.formula = master.by_formula(measured);
        if master.unknown.is_none() {
            master.policies = master.chunks(measured, unit, network);
        }
        Some(master)
    }

    /// The number of workers.
    pub fn count(&self) -> u32 {
        u32::try_from(self.workers.len()).unwrap_or(u32::MAX)
    }

    /// The replayed time with as many workers as there are.
    pub fn now(&self) -> Ticks {
        let now = self.times.iter().find(|(workers, _)| *workers == self.count());
        now.map_or(0, |&(_, ticks)| ticks)
    }

    /// What the master takes to serve all tasks, if it is known: no number of workers makes it shorter.
    pub fn least(&self) -> Option<Ticks> {
        Some(self.service? * self.tasks.cast_signed())
    }

    /// How much longer the replay of the run as it was is, as a share of what it replays.
    pub fn error(&self) -> f64 {
        // The first service of an iteration is before its first task, where measuring begins.
        let begun = self.service.unwrap_or(0) * self.iterations.cast_signed();
        (self.now() - begun - self.measured) as f64 / self.measured.max(1) as f64
    }

    /// All policies.
    fn chunks(&self, measured: &Measured, unit: u64, network: &Network) -> Vec<Policy> {
        let service = self.service.unwrap_or(0);
        let units: Vec<Units> = measured
            .iterations
            .iter()
            .map(|it| Units::new(it.tasks.iter().map(|task| (units_of(task, unit), task.work))))
            .collect();
        let deviations = deviations(measured, unit);
        let of_unit = |bytes: u64| bytes as f64 / self.units.max(1) as f64;
        let [there, back] = [self.bytes_there, self.bytes_back].map(of_unit);
        // Ticks of all iterations, chunks of all, and units of the first one.
        let run = |workers: u32, sizes: &dyn Fn(usize, u64) -> Vec<u64>| {
            let (mut ticks, mut count, mut first) = (0, 0, 0);
            for (at, units) in units.iter().enumerate() {
                let chunks = sizes(at, units.count());
                count += chunks.len() as u64;
                first = if at == 0 { chunks.first().copied().unwrap_or(0) } else { first };
                let task = |(size, work): (u64, Ticks)| {
                    network.task(whole(size as f64 * there), work, whole(size as f64 * back))
                };
                ticks += farm(units.times(chunks).map(task), service, workers);
            }
            (ticks, count, first)
        };
        let policy = |kind: PolicyKind| {
            let of = |workers: u32| {
                run(workers, &|at, units| match kind {
                    PolicyKind::Fixed { batches } => fixed(units, workers, batches),
                    PolicyKind::Adjusting if at > 0 => adjusting(units, workers, deviations[at]),
                    PolicyKind::Predictive | PolicyKind::Adjusting => predictive(units, workers, PART),
                })
            };
            let (now, chunks, first) = of(self.count());
            Policy { kind, first, chunks, now, best: of(self.best.0).0 }
        };
        let mut policies: Vec<Policy> =
            BATCHES.iter().map(|&batches| policy(PolicyKind::Fixed { batches })).collect();
        policies.push(policy(PolicyKind::Predictive));
        policies.push(policy(PolicyKind::Adjusting));
        policies
    }

    /// The policy with the shortest time for as many workers as there are, of equals the first.
    pub fn best_policy(&self) -> Option<&Policy> {
        self.policies.iter().min_by_key(|policy| policy.now)
    }
}

/// What an iteration takes with so many workers, replayed by tasks.
pub(super) fn by_tasks(iteration: &Iteration, service: Ticks, workers: u32, network: &Network) -> Ticks {
    let tasks = iteration.tasks.iter().map(|task| network.task(task.there, task.work, task.back));
    farm(tasks, service, workers)
}

/// The bytes of a unit of work; 0 if each task is one, as where none is twice as long as another one.
fn unit(measured: &Measured) -> u64 {
    let bytes = || measured.tasks().map(|task| task.there);
    let (least, most) = (bytes().min().unwrap_or(0), bytes().max().unwrap_or(0));
    let all: u64 = bytes().sum();
    if least > 0 && most > 2 * least { least.max(all / UNITS) } else { 0 }
}

/// The units of a task, 1 at least.
fn units_of(task: &MeasuredTask, unit: u64) -> u64 {
    match unit {
        0 => 1,
        unit => ((task.there + unit / 2) / unit).max(1),
    }
}

/// The number of units, and mean and standard deviation of their times, of tasks with units and ticks.
fn spread(tasks: impl Iterator<Item = (u64, Ticks)>) -> (u64, f64, f64) {
    let (mut count, mut sum, mut squares) = (0_u64, 0.0, 0.0);
    for (units, ticks) in tasks {
        let time = ticks as f64 / units as f64;
        count += units;
        sum += ticks as f64;
        squares += ticks as f64 * time;
    }
    let mean = sum / count.max(1) as f64;
    (count, mean, (squares / count.max(1) as f64 - mean * mean).max(0.0).sqrt())
}

/// For each iteration, σ / μ of the times of units in those before; 0 where nothing is known.
fn deviations(measured: &Measured, unit: u64) -> Vec<f64> {
    let of = |at: usize| {
        let before = &measured.iterations[at.saturating_sub(WINDOW)..at];
        let tasks = before.iter().flat_map(|it| &it.tasks).map(|task| (units_of(task, unit), task.work));
        let (_, mean, deviation) = spread(tasks);
        if mean > 0.0 { deviation / mean } else { 0.0 }
    };
    (0..measured.iterations.len()).map(of).collect()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn whole(number: f64) -> u64 {
    number as u64
}
