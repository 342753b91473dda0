//! What is known of other numbers of workers, and where the formula holds (what-if 6.3).

use std::collections::BTreeSet;

use model::Ticks;

use super::formula::{Formula, Load};
use super::master::{Master, Network, Unknown, by_tasks};
use super::measure::{Iteration, Measured};

/// The largest error of the replay by tasks as it was, as a share.
const MISFIT: f64 = 0.05;

/// The largest share of the best time by which the sum of all services may differ.
const NOISE: f64 = 0.1;

/// By how much longest and shortest iterations, or tasks of them, may differ.
const DIFFERENT: f64 = 2.0;

impl Master {
    /// Why nothing is said of other numbers of workers, if so.
    pub(super) fn why_unknown(
        &self,
        measured: &Measured,
        services: &[Ticks],
        network: &Network,
    ) -> Option<Unknown> {
        let Some(service) = self.service else { return Some(Unknown::Service) };
        if self.tasks < 2 * u64::from(self.count()) * self.iterations {
            return Some(Unknown::Tasks);
        }
        let longest = measured.iterations.iter().map(|it| it.ticks).max().unwrap_or(0);
        // Short ones decide nothing.
        let counts = |it: &&Iteration| it.ticks as f64 * DIFFERENT >= longest as f64;
        let means = || measured.iterations.iter().filter(counts).map(mean_work);
        let (least, most) = (means().fold(f64::INFINITY, f64::min), means().fold(0.0, f64::max));
        let are_short = measured.iterations.iter().filter(|it| !counts(it)).map(|it| it.ticks).sum::<Ticks>();
        if most > DIFFERENT * least || are_short as f64 > NOISE * self.measured as f64 {
            return Some(Unknown::Iterations);
        }
        let quartile = |part: usize| services[(services.len() - 1) * part / 4];
        let differs = (quartile(3) - quartile(1)).saturating_mul(self.tasks.cast_signed());
        if differs as f64 > NOISE * self.best.1 as f64 {
            return Some(Unknown::Noise);
        }
        let is_off = |iteration: &Iteration| {
            let replayed = by_tasks(iteration, service, self.count(), network) - service;
            (replayed - iteration.ticks).abs() as f64 > 2.0 * MISFIT * iteration.ticks as f64
        };
        let off: Ticks = measured.iterations.iter().filter(|it| is_off(it)).map(|it| it.ticks).sum();
        if self.error().abs() > MISFIT || off as f64 > NOISE * self.measured as f64 {
            return Some(Unknown::Replay);
        }
        None
    }

    /// The formula, where it may be used: one task for each worker in each iteration, all alike, no service to speak of, and a known
    /// network, and only if it has the time as it was.
    pub(super) fn by_formula(&self, measured: &Measured) -> Option<Formula> {
        let is_one_each = |iteration: &Iteration| {
            let workers: BTreeSet<u32> = iteration.tasks.iter().map(|task| task.worker).collect();
            iteration.tasks.len() == self.workers.len() && workers.len() == self.workers.len()
        };
        let service = self.service?;
        let iterations = self.iterations as f64;
        let (work, bytes) = (self.work as f64, self.bytes_there + self.bytes_back);
        let serving = service as f64 * self.tasks as f64;
        let is_served = serving <= 0.1 * work / f64::from(self.count());
        if !measured.iterations.iter().all(is_one_each) || !is_served || self.by_byte <= 0.0 || bytes == 0 {
            return None;
        }
        let formula = Formula::new(Load {
            latency: self.latency as f64,
            by_byte: self.by_byte,
            bytes: bytes as f64 / iterations,
            there: self.bytes_there as f64 / bytes as f64,
            work: work / iterations,
        });
        let time = formula.time(self.count());
        let is_near = |it: &Iteration| (time - it.ticks as f64).abs() <= 2.0 * MISFIT * it.ticks as f64;
        let near: Ticks = measured.iterations.iter().filter(|it| is_near(it)).map(|it| it.ticks).sum();
        let error = (time * iterations - self.measured as f64).abs() / self.measured.max(1) as f64;
        (error <= MISFIT && near as f64 >= (1.0 - NOISE) * self.measured as f64).then_some(formula)
    }
}

fn mean_work(iteration: &Iteration) -> f64 {
    let work: Ticks = iteration.tasks.iter().map(|task| task.work).sum();
    work as f64 / iteration.tasks.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::what_if::lines::{Line, ONE};
    use crate::what_if::workers::measure::MeasuredTask;

    const SERVICE: Ticks = 100;

    /// An eighth of a tick for a byte, unless nothing is known of it.
    fn network(by_byte: bool) -> Network {
        let line = Line { intercept: 100, slope: if by_byte { ONE / 8 } else { 0 } };
        Network { eager: line, rendezvous: line, limit: 4096 }
    }

    fn task(worker: u32, work: Ticks) -> MeasuredTask {
        MeasuredTask { worker, there: 1000, back: 1000, work }
    }

    /// An iteration of four workers with tasks of this length, as long as its replay.
    fn iteration(tasks: u32, work: Ticks) -> Iteration {
        let tasks = (0..tasks).map(|at| task(1 + at % 4, work)).collect();
        let iteration = Iteration { tasks, ..Iteration::default() };
        let ticks = by_tasks(&iteration, SERVICE, 4, &network(true)) - SERVICE;
        Iteration { ticks, ..iteration }
    }

    fn master(iterations: Vec<Iteration>, answering: Vec<Ticks>, by_byte: bool) -> Master {
        let measured = Measured { iterations, answering, ..Measured::default() };
        Master::new(0, vec![1, 2, 3, 4], Default::default(), &measured, &network(by_byte)).unwrap()
    }

    fn unknown(iterations: Vec<Iteration>, answering: Vec<Ticks>) -> Option<Unknown> {
        master(iterations, answering, true).unknown
    }

    #[test]
    fn other_numbers_are_known_where_the_replay_has_the_measured_time() {
        let known = master(vec![iteration(40, 10_000)], vec![SERVICE; 36], true);
        assert_eq!((known.unknown, known.policies.len()), (None, 9));
        assert_eq!(known.error(), 0.0);
        // Rounds of service, message, task, message; 225 for a message, and three more services in the first one.
        assert_eq!(known.now(), 10 * (SERVICE + 225 + 10_000 + 225) + 3 * SERVICE);
        assert_eq!(known.least(), Some(40 * SERVICE));
        let longer = Iteration { ticks: known.measured * 11 / 10, ..iteration(40, 10_000) };
        assert_eq!(unknown(vec![longer], vec![SERVICE; 36]), Some(Unknown::Replay));
    }

    #[test]
    fn reason_says_why_other_numbers_are_not_known() {
        let services = vec![SERVICE; 30];
        assert_eq!(unknown(vec![iteration(40, 10_000)], vec![]), Some(Unknown::Service));
        assert_eq!(unknown(vec![iteration(7, 10_000)], services.clone()), Some(Unknown::Tasks));
        assert_eq!(unknown(vec![iteration(8, 10_000)], services.clone()), None);
        let differing = vec![iteration(40, 10_000), iteration(12, 30_000)];
        assert_eq!(unknown(differing, services.clone()), Some(Unknown::Iterations));
        let alike = vec![iteration(40, 10_000), iteration(40, 15_000)];
        assert_eq!(unknown(alike, services), None);
        let noisy = (0..40).map(|at| if at < 25 { SERVICE } else { 20 * SERVICE }).collect();
        assert_eq!(unknown(vec![iteration(40, 10_000)], noisy), Some(Unknown::Noise));
    }

    /// Iterations of one task for each of four workers, which take that long.
    fn rounds(ticks: &[Ticks]) -> Vec<Iteration> {
        let tasks = || (1..=4).map(|worker| task(worker, 100_000)).collect();
        ticks.iter().map(|&ticks| Iteration { tasks: tasks(), ticks, ..Iteration::default() }).collect()
    }

    #[test]
    fn formula_is_used_only_where_it_holds() {
        // a = 2 · 100 + 0.5 · 0.125 · 8000, b = 0.5 · 0.125 · 8000 + 400000: 700 + 400500 / 4 with four workers.
        let known = master(rounds(&[100_825; 10]), vec![10; 30], true);
        let formula = known.formula.unwrap();
        let near = |found: f64, wanted: f64| (found - wanted).abs() < 0.01;
        assert!(near(formula.constant, 700.0) && near(formula.shared, 400_500.0), "{formula:?}");
        assert_eq!((formula.best(), known.unknown), (572, Some(Unknown::Tasks)));
        // Too much service: more than a tenth of the work of a worker, which is a million.
        assert!(master(rounds(&[100_825; 10]), vec![2500; 30], true).formula.is_some());
        assert!(master(rounds(&[100_825; 10]), vec![2501; 30], true).formula.is_none());
        // The time of a byte is not known; iterations take another time, all or some; a worker has more than one task.
        assert!(master(rounds(&[100_825; 10]), vec![10; 30], false).formula.is_none());
        assert!(master(rounds(&[110_700; 10]), vec![10; 30], true).formula.is_none());
        assert!(master(rounds(&[90_000, 111_400, 90_000, 111_400]), vec![10; 30], true).formula.is_none());
        assert!(master(vec![iteration(8, 100_000)], vec![10; 30], true).formula.is_none());
    }
}
