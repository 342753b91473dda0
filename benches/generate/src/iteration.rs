//! An iteration of the pattern `iterations`: how long ranks work, and when they call MPI.
//!
//! All ranks begin it at the same time, since the one before ended with an operation of all ranks. So all times follow from
//! the draws of the iteration. They are those that a simulation of all ranks would give: in each operation of all it is
//! known who comes last.
//!
//! **Noise** is nearly normal. Comparing the draws of all ranks would take too long, so the rank that works longest is drawn,
//! and gets the largest of as many draws as there are ranks, of 16 at most. Ranks whose own draw is larger get as much
//! less as theirs is more.

use crate::draw::{below, draw};
use crate::job::Job;
use crate::mpi::{BETWEEN, CALL, MESSAGE, TO_RECORD};
use crate::tuning::{Slow, Work};

/// Usual work in nanoseconds: before the exchange, and in a repetition of the inner loop.
const RELAX: f64 = 400_000.0;
const SMOOTH: f64 = 100_000.0;

/// Longest work in nanoseconds.
const LONGEST_WORK: f64 = 1e12;

/// Time from the enter of an operation of all by the last rank to its end.
pub(crate) const DURATION: u64 = 800;

/// How much longer the last rank works at least, so that it does not depend on how times are rounded who is last.
const LEAD: u64 = 16;

/// Most draws that are compared.
const MOST_DRAWS: u32 = 16;

/// Streams of random numbers, besides those for the work of ranks: for the largest draw, and for inner loops.
const LARGEST: u64 = 1 << 40;
const REPETITIONS: u64 = 1 << 41;

/// Stretches of work of an iteration, at most: before the exchange, then one for each repetition of the inner loop.
const STRETCHES: u64 = 1 << 16;

/// A stretch of work of all ranks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch {
    /// Number of its random numbers.
    step: u64,
    /// Work without noise, in nanoseconds.
    usual: f64,
    /// The rank that works longest, its noise in standard deviations, and how much longer it works besides.
    last: u32,
    largest: f64,
    lead: u64,
    slow: Option<Slow>,
}

impl Stretch {
    /// The stretch of an iteration with this number, from 0 on.
    fn new(job: &Job, iteration: u64, stretch: u64) -> Stretch {
        let tuning = &job.tuning;
        let step = |stretch: u64| iteration * STRETCHES + stretch;
        let (work, usual) = if stretch == 0 { (Work::Relax, RELAX) } else { (Work::Smooth, SMOOTH) };
        let kind = tuning.every.filter(|every| iteration.is_multiple_of(every.number));
        let later = 1.0 + tuning.trend / 100.0 * (iteration - 1) as f64;
        let slow = tuning.slow.filter(|slow| slow.iteration == iteration);
        // Neighbours of the last rank before the exchange are behind it by a message's way. It stays the last one.
        let (drawn, lead) = if stretch == 1 { (step(0), MESSAGE + LEAD) } else { (step(stretch), LEAD) };
        let draws = u64::from(job.ranks.min(MOST_DRAWS));
        let draws = (0..draws).map(|number| normal(draw(job.seed, LARGEST + number, step(stretch))));
        Stretch {
            step: step(stretch),
            usual: usual * later * kind.map_or(1.0, |kind| kind.factor),
            last: slow.map_or_else(|| job.last(drawn), |slow| slow.rank),
            largest: draws.fold(f64::NEG_INFINITY, f64::max),
            lead,
            slow: slow.filter(|slow| slow.work == work),
        }
    }

    /// How long a rank works.
    pub(crate) fn ticks(&self, job: &Job, rank: u32) -> u64 {
        let (noise, lead) = if rank == self.last {
            (self.largest, self.lead)
        } else {
            let own = normal(draw(job.seed, rank.into(), self.step));
            (own.min(2.0 * self.largest - own), 0)
        };
        let factor = self.slow.filter(|slow| slow.rank == rank).map_or(1.0, |slow| slow.factor);
        let share = (1.0 + job.tuning.noise / 100.0 * noise).max(0.1);
        (self.usual * share * factor).clamp(100.0, LONGEST_WORK).round() as u64 + lead
    }
}

/// Maps a random number to a nearly normal distribution with mean 0 and standard deviation 1, from -3.5 to 3.5: the sum
/// of four even ones.
fn normal(drawn: u64) -> f64 {
    const LARGEST: u64 = u16::MAX as u64;
    let sum: u64 = (0..4).map(|part| drawn >> (16 * part) & LARGEST).sum();
    (sum as f64 / LARGEST as f64 - 2.0) * 1.732_050_8
}

/// An iteration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Iteration {
    /// Its number, from 1 on.
    number: u64,
    /// Time at which all ranks begin it.
    begin: u64,
    /// Repetitions of its inner loop.
    inner: u64,
    relax: Stretch,
}

/// Number of neighbours: none if there is no other rank.
fn number_of_neighbours(job: &Job) -> u64 {
    if job.ranks > 1 { 2 } else { 0 }
}

/// Time from the end of work to the enter of a call in the exchange.
fn until_call(number: u64) -> u64 {
    BETWEEN + number * (CALL + BETWEEN) + BETWEEN
}

impl Iteration {
    pub(crate) fn new(job: &Job, number: u64, begin: u64) -> Iteration {
        let (least, most) = (*job.tuning.inner.start(), *job.tuning.inner.end());
        let more = below(draw(job.seed, REPETITIONS, number), u64::from(most - least) + 1);
        Iteration { number, begin, inner: u64::from(least) + more, relax: Stretch::new(job, number, 0) }
    }

    /// Whether it has the additional call.
    pub(crate) fn has_call(&self, job: &Job) -> bool {
        job.tuning.every.is_some_and(|every| every.has_call && self.number.is_multiple_of(every.number))
    }

    /// Time at which a rank finishes the work before the exchange, which begins when its receives are posted.
    pub(crate) fn finished(&self, job: &Job, rank: u32) -> u64 {
        let posted = self.begin + BETWEEN + number_of_neighbours(job) * (BETWEEN + CALL) + BETWEEN;
        posted + 10 + self.relax.ticks(job, rank)
    }

    /// Time at which a rank has the messages of its neighbours.
    pub(crate) fn comes(&self, job: &Job, rank: u32) -> u64 {
        // What comes from the left was sent to the right, in the second call.
        let comes = |(from, call)| self.finished(job, from) + until_call(call) + MESSAGE;
        job.neighbours(rank).into_iter().zip([1, 0]).map(comes).max().unwrap_or(self.begin)
    }

    /// Time at which a rank enters the inner loop.
    fn exchanged(&self, job: &Job, rank: u32) -> u64 {
        let number = number_of_neighbours(job);
        let finished = self.finished(job, rank);
        if number == 0 {
            return finished + 3 * BETWEEN;
        }
        self.comes(job, rank).max(finished + until_call(number) + TO_RECORD) + 20 + 2 * BETWEEN
    }

    /// The repetitions of the inner loop: the work, and the end of the operation of all behind it.
    pub(crate) fn repetitions(&self, job: &Job) -> impl Iterator<Item = (Stretch, u64)> {
        let mut begin = self.exchanged(job, self.relax.last);
        (1..=self.inner).map(move |repetition| {
            let work = Stretch::new(job, self.number, repetition);
            let end = begin + 10 + work.ticks(job, work.last) + BETWEEN + DURATION;
            begin = end + 20;
            (work, end)
        })
    }

    /// Time at which all ranks begin the next one.
    pub(crate) fn end(&self, job: &Job) -> u64 {
        let solved = self.repetitions(job).last().map_or(self.begin, |(_, end)| end) + 20 + BETWEEN;
        if self.has_call(job) { solved + 2 * BETWEEN + DURATION + 20 + BETWEEN } else { solved }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_nearly_normal() {
        let values = || (0..10_000).map(|number| normal(draw(1, 2, number)));
        let mean = values().sum::<f64>() / 1e4;
        let variance = values().map(|value| value * value).sum::<f64>() / 1e4;
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.05, "{mean} {variance}");
        let beyond = |limit: f64| values().filter(|value| value.abs() > limit).count();
        assert!((2800..3500).contains(&beyond(1.0)) && (300..500).contains(&beyond(2.0)));
    }
}
