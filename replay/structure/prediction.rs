//! Signature of the run: parts that stand for all, and how well they do (structure 3.5).
//!
//! Phases are the kinds of iterations of the main loop, those of other loops, and each stretch between loops. A part stands for each,
//! with the number of times that it was done as its weight; those with 1 % of the run and more are relevant. What all takes is
//! predicted as the sum of weights times values of relevant parts. It is measured, too, so the error is known.

use model::Ticks;
use structure::Cluster;

use super::beside::Beside;
use super::series::{IterationTotals, kinds};
use super::values::{MetricSeries, Series};
use super::{Signature, Structure};
use crate::fraction::float;
use crate::int::{to_u32, to_u64};
use crate::severity::MetricId;

/// Kinds of iterations of a loop other than the main one, at most.
const KINDS: usize = 3;

/// Share of the run from which on a phase is relevant.
const RELEVANT: f64 = 0.01;

/// Iterations of the main loop that a short recording would begin with.
pub const FIRST: usize = 10;

/// An iteration that stands for others: its place, which is its number less 1, and how many it stands for, itself included.
pub type Weight = (usize, u64);

/// What a phase is a part of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PhaseOf {
    /// The main loop.
    MainLoop,
    /// Another loop, by its number in the order of time, from 0.
    OtherLoop(usize),
    /// A stretch before, between or behind loops, by its number in the order of time, from 0.
    Stretch(usize),
    /// All that is between instances of the main loop.
    BetweenInstances,
}

/// A part of the run that stands for others.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Phase {
    /// What it is a part of.
    pub of: PhaseOf,
    /// The number of the iteration that stands for others; 1 of a stretch.
    pub representative: u64,
    /// How many it stands for, itself included.
    pub weight: u64,
    /// Ticks until the last location is through: of the part that stands for others.
    pub elapsed: Ticks,
    /// Its time over all locations, in ticks.
    pub time: i128,
    /// Its time in MPI over all locations.
    pub mpi: i128,
    /// The share of the run, from 0 to 1.
    pub share: f64,
}

impl Phase {
    /// Whether it counts in predictions.
    pub fn is_relevant(&self) -> bool {
        self.share >= RELEVANT
    }

    fn values(&self) -> [f64; 3] {
        [self.elapsed as f64, self.time as f64, self.mpi as f64]
    }
}

/// A quantity as it was measured, and as parts of the run have it.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Prediction {
    /// The measured value.
    pub measured: f64,
    /// What the relevant phases predict.
    pub predicted: f64,
    /// What is predicted if the first ten iterations stand for the main loop.
    pub by_first: f64,
}

impl Prediction {
    /// The error relative to the measured value.
    pub fn error(&self) -> f64 {
        relative(self.predicted, self.measured)
    }

    /// The error if the first ten iterations stand for the main loop.
    pub fn error_by_first(&self) -> f64 {
        relative(self.by_first, self.measured)
    }
}

fn relative(predicted: f64, measured: f64) -> f64 {
    (predicted - measured).abs() / measured.max(1.0)
}

/// Predicts elapsed time, time and time in MPI of all iterations of the main loop from some of them.
pub(super) fn of_iterations(all: &[IterationTotals], weights: &[Weight]) -> [Prediction; 3] {
    let first = first_weights(all.len());
    std::array::from_fn(|axis| Prediction {
        measured: all.iter().map(|one| values(one)[axis]).sum(),
        predicted: weights.iter().map(|&(at, weight)| weight as f64 * values(&all[at])[axis]).sum(),
        by_first: first.iter().map(|&(at, weight)| weight * values(&all[at])[axis]).sum(),
    })
}

/// The weights of representatives, by place.
pub(super) fn weights(clusters: &[Cluster]) -> Vec<Weight> {
    clusters.iter().map(|cluster| (cluster.representative, to_u64(cluster.members.len()))).collect()
}

/// The weights of the first iterations if these stand for all.
fn first_weights(all: usize) -> Vec<(usize, f64)> {
    let count = all.min(FIRST);
    (0..count).map(|at| (at, all as f64 / count as f64)).collect()
}

impl Structure {
    /// Iterations of the main loop that stand for all, at most so many; `None` if there are too few iterations.
    pub fn representatives(&self, most: usize) -> Option<Vec<Weight>> {
        self.signature.as_ref()?;
        Some(weights(&kinds(&self.iterations, most).1))
    }

    /// Those of the signature; none without one.
    pub fn signature_weights(&self) -> Vec<Weight> {
        self.signature.as_ref().map_or_else(Vec::new, |Signature { clusters, .. }| weights(clusters))
    }

    /// The phases of the run: iterations of the main loop that stand for all, those of other loops, and stretches.
    pub fn phases(&self, weights: &[Weight]) -> Vec<Phase> {
        let mut phases = of_loop(PhaseOf::MainLoop, &self.iterations, weights);
        for (number, iterations) in self.beside.loops.iter().enumerate() {
            let (_, clusters) = kinds(iterations, KINDS);
            phases.extend(of_loop(PhaseOf::OtherLoop(number), iterations, &self::weights(&clusters)));
        }
        if let Some((between, stretches)) = self.beside.stretches.split_last() {
            for (number, stretch) in stretches.iter().enumerate() {
                phases.push(phase(PhaseOf::Stretch(number), (1, 1), stretch, stretch.elapsed()));
            }
            phases.push(phase(PhaseOf::BetweenInstances, (1, 1), between, self.elapsed_between()));
        }
        phases.retain(|phase| phase.elapsed != 0 || phase.time != 0);
        let run = self.measured()[0].max(1.0);
        for phase in &mut phases {
            phase.share = phase.weight as f64 * phase.elapsed as f64 / run;
        }
        phases
    }

    /// Elapsed time, time and time in MPI of the main loop, in this order: measured, and predicted.
    pub fn loop_times(&self, weights: &[Weight]) -> [Prediction; 3] {
        of_iterations(&self.iterations, weights)
    }

    /// Those of the run.
    pub fn run_times(&self, weights: &[Weight]) -> [Prediction; 3] {
        let (main, others): (Vec<Phase>, Vec<Phase>) = self
            .phases(weights)
            .into_iter()
            .filter(Phase::is_relevant)
            .partition(|phase| phase.of == PhaseOf::MainLoop);
        let sum = |phases: &[Phase], axis: usize| -> f64 {
            phases.iter().map(|phase| phase.weight as f64 * phase.values()[axis]).sum()
        };
        let (measured, of_loop) = (self.measured(), self.loop_times(weights));
        std::array::from_fn(|axis| {
            let others = sum(&others, axis);
            Prediction {
                measured: measured[axis],
                predicted: sum(&main, axis) + others,
                by_first: of_loop[axis].by_first + others,
            }
        })
    }

    /// The values of metrics in the run, by metric: what is outside of iterations counts as it is. None if single iterations have
    /// no values, as there are very many.
    pub fn run_metrics(&self, weights: &[Weight]) -> Vec<(MetricId, Prediction)> {
        let run = self.measured()[0].max(1.0);
        let share = |at: usize, weight: u64| weight as f64 * self.iterations[at].elapsed() as f64 / run;
        let relevant = weights.iter().copied().filter(|&(at, weight)| share(at, weight) >= RELEVANT);
        self.metrics_by(&relevant.collect::<Vec<Weight>>(), true)
    }

    /// The values of metrics in iterations of the main loop, likewise.
    pub fn loop_metrics(&self, weights: &[Weight]) -> Vec<(MetricId, Prediction)> {
        self.metrics_by(weights, false)
    }

    /// The values of metrics by iterations that stand for others.
    fn metrics_by(&self, weights: &[Weight], with_outside: bool) -> Vec<(MetricId, Prediction)> {
        let Some(series) = self.series.as_ref().filter(|series| series.blocks.size() == 1) else {
            return Vec::new();
        };
        let weights: Vec<(usize, f64)> = weights.iter().map(|&(at, weight)| (at, weight as f64)).collect();
        let first = first_weights(self.iterations.len());
        // Time and time in MPI have none outside of iterations, and are predicted with phases.
        let others = series.metrics.iter().filter(|(_, series)| series.has_outside());
        let sides = [&weights[..], &first];
        others.map(|(&metric, it)| (metric, predicted(series, it, with_outside, sides))).collect()
    }

    /// Elapsed time, time and time in MPI of all phases as they were.
    fn measured(&self) -> [f64; 3] {
        let Beside { loops, stretches } = &self.beside;
        let all = self.iterations.iter().chain(loops.iter().flatten()).chain(stretches);
        let mut sums = all.fold([0.0; 3], |sums: [f64; 3], one| {
            let values = values(one);
            std::array::from_fn(|axis| sums[axis] + values[axis])
        });
        if let Some(between) = stretches.last() {
            sums[0] += (self.elapsed_between() - between.elapsed()) as f64;
        }
        sums
    }

    /// Ticks between instances of the main loop, until the last location is through.
    fn elapsed_between(&self) -> Ticks {
        let (Some(first), Some(last)) = (self.iterations.first(), self.iterations.last()) else { return 0 };
        let inside: Ticks = self.iterations.iter().map(IterationTotals::elapsed).sum();
        last.end - first.last_begin - inside
    }
}

fn values(one: &IterationTotals) -> [f64; 3] {
    [one.elapsed() as f64, one.time.sum as f64, one.mpi.sum as f64]
}

fn of_loop(of: PhaseOf, all: &[IterationTotals], weights: &[Weight]) -> Vec<Phase> {
    let phase = |&(at, weight): &Weight| phase(of, (to_u64(at) + 1, weight), &all[at], all[at].elapsed());
    weights.iter().map(phase).collect()
}

fn phase(of: PhaseOf, (representative, weight): (u64, u64), one: &IterationTotals, elapsed: Ticks) -> Phase {
    let (time, mpi) = (one.time.sum, one.mpi.sum);
    Phase { of, representative, weight, elapsed, time, mpi, share: 0.0 }
}

/// A metric by iterations that stand for all, and by the first ones; with what is outside of iterations as it is, or without.
fn predicted(
    series: &Series,
    of_metric: &MetricSeries,
    with_outside: bool,
    [weights, first]: [&[(usize, f64)]; 2],
) -> Prediction {
    let value = |row: usize| {
        let sum = of_metric.values[row].sum;
        if of_metric.has_shares { float(sum) } else { sum as f64 }
    };
    let row = |at: usize| series.blocks.row(u64::from(to_u32(at)) + 1);
    let outside = if with_outside { value(0) } else { 0.0 };
    let sum = |weights: &[(usize, f64)]| -> f64 {
        outside + weights.iter().map(|&(at, weight)| weight * value(row(at))).sum::<f64>()
    };
    Prediction {
        measured: (usize::from(!with_outside)..of_metric.values.len()).map(value).sum(),
        predicted: sum(weights),
        by_first: sum(first),
    }
}
