//! The samples of a process, by pattern.

use model::Ticks;

use super::density::Density;
use super::{Bounds, Instance, SUBJECTS, Severest, SubjectId};
use crate::wire::wire;

/// Exact sums of samples, in ticks. Absurd ones, of a damaged trace, saturate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Moments {
    /// Number of samples.
    pub count: u64,
    /// Smallest sample; the largest number without any.
    pub minimum: u64,
    /// Largest sample; 0 without any.
    pub maximum: u64,
    /// Sum of samples.
    pub sum: u128,
    /// Sum of squares.
    pub squares: u128,
}

impl Default for Moments {
    fn default() -> Moments {
        Moments { count: 0, minimum: u64::MAX, maximum: 0, sum: 0, squares: 0 }
    }
}

impl Moments {
    fn add(&mut self, sample: u64) {
        let square = u128::from(sample) * u128::from(sample);
        let one =
            Moments { count: 1, minimum: sample, maximum: sample, sum: u128::from(sample), squares: square };
        self.merge(&one);
    }

    /// Adds other samples.
    pub(super) fn merge(&mut self, other: &Moments) {
        self.count += other.count;
        self.minimum = self.minimum.min(other.minimum);
        self.maximum = self.maximum.max(other.maximum);
        self.sum = self.sum.saturating_add(other.sum);
        self.squares = self.squares.saturating_add(other.squares);
    }

    /// The variance of the whole population, in square ticks.
    pub fn variance(&self) -> f64 {
        let count = u128::from(self.count);
        let (scaled, square) = (count.checked_mul(self.squares), self.sum.checked_mul(self.sum));
        match (scaled, square) {
            // Saturated sums of squares may be too small.
            (Some(scaled), Some(square)) => {
                scaled.saturating_sub(square) as f64 / (count as f64 * count as f64)
            }
            _ => {
                let mean = self.sum as f64 / count as f64;
                (self.squares as f64 / count as f64 - mean * mean).max(0.0)
            }
        }
    }
}

wire!(Moments { count, minimum, maximum, sum, squares });

/// Data about samples for their quantiles.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Spread {
    /// All samples: corrected semantics, and all samples before the bounds are known.
    Values(Vec<u64>),
    /// The reference's estimate, with the bound by which it scales.
    Estimate(u64, Box<Density>),
}

/// The samples of one pattern.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct OfPattern {
    pub(super) moments: Moments,
    pub(super) spread: Spread,
    pub(super) severest: Severest,
}

/// The instances that a process found, by pattern.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Samples {
    bounds: Option<Bounds>,
    /// Samples up to the last pattern that occurred.
    patterns: Vec<OfPattern>,
}

impl Samples {
    /// No samples. With `bounds` the spread of their values is estimated, which does not keep them.
    pub fn new(bounds: Option<&Bounds>) -> Samples {
        Samples { bounds: bounds.copied(), patterns: Vec::new() }
    }

    /// Adds an instance's time as a sample of a pattern.
    pub fn add(&mut self, subject: SubjectId, ticks: Ticks) {
        let pattern = self.pattern(subject);
        pattern.moments.add(ticks.unsigned_abs());
        pattern.spread.add(ticks.unsigned_abs());
    }

    /// Keeps an instance if it is one of the severest.
    pub fn offer(&mut self, subject: SubjectId, instance: Instance) {
        self.pattern(subject).severest.offer(instance);
    }

    /// Samples by pattern; may be shorter than the list of patterns.
    pub(super) fn into_patterns(self) -> Vec<OfPattern> {
        self.patterns
    }

    fn pattern(&mut self, subject: SubjectId) -> &mut OfPattern {
        debug_assert!(subject < SUBJECTS.len());
        for next in self.patterns.len()..=subject {
            let spread =
                self.bounds.map_or(Spread::Values(Vec::new()), |bounds| Spread::estimated(bounds[next]));
            let (moments, severest) = (Moments::default(), Severest::default());
            self.patterns.push(OfPattern { moments, spread, severest });
        }
        &mut self.patterns[subject]
    }
}

impl Spread {
    fn estimated(bound: u64) -> Spread {
        // If no call of the kind took any time, the reference divides by zero.
        Spread::Estimate(bound.max(1), Box::new(Density::new()))
    }

    fn add(&mut self, sample: u64) {
        match self {
            Spread::Values(values) => values.push(sample),
            Spread::Estimate(bound, density) => density.add(sample as f64 / *bound as f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire;

    fn moments(samples: &[u64]) -> Moments {
        let mut moments = Moments::default();
        samples.iter().for_each(|&sample| moments.add(sample));
        moments
    }

    #[test]
    fn variance_is_that_of_the_population() {
        assert_eq!(moments(&[2, 4, 4, 4, 5, 5, 7, 9]).variance(), 4.0);
        assert_eq!(moments(&[7]).variance(), 0.0);
    }

    #[test]
    fn variance_of_absurd_samples_is_a_number() {
        let absurd = moments(&[u64::MAX; 9]);
        assert!(absurd.variance().is_finite() && absurd.variance() >= 0.0);
    }

    #[test]
    fn moments_survive_the_way_to_another_worker() {
        let moments = moments(&[3, u64::MAX, 8]);
        assert_eq!(wire::one::<Moments>(&wire::batch_of([&moments])), moments);
    }
}
