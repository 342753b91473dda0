//! The reference's estimate of quantiles: a density as a series of Legendre polynomials, updated with each
//! sample (specification 13.4).
//!
//! Samples are not kept, so memory is bounded; the results are approximations, rough for few samples.

use crate::exchange::Batch;
use crate::exchange::batch::BatchReader;
use crate::wire::Wire;

/// Number of coefficients.
const ORDER: usize = 60;

/// Number of steps of the integration.
const STEPS: u32 = 10_000;

/// The samples of a rank, or of several, scaled to [0, 1].
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Density {
    count: u64,
    /// The mean of each polynomial over the samples.
    means: [f64; ORDER],
    /// The mean of each polynomial's square.
    squares: [f64; ORDER],
}

/// Legendre's polynomials, shifted to [0, 1].
fn legendre(x: f64) -> impl Iterator<Item = f64> {
    let t = 2.0 * x - 1.0;
    let (mut before, mut now) = (0.0, 1.0);
    (0..ORDER).map(move |order| {
        let (order, value) = (order as f64, now);
        (before, now) = (now, ((2.0 * order + 1.0) * t * now - order * before) / (order + 1.0));
        value
    })
}

impl Density {
    pub(super) fn new() -> Density {
        Density { count: 0, means: [0.0; ORDER], squares: [0.0; ORDER] }
    }

    pub(super) fn add(&mut self, sample: f64) {
        self.count += 1;
        let count = self.count as f64;
        let keep = (count - 1.0) / count;
        for (order, polynomial) in legendre(sample).enumerate() {
            let value = (2.0 * order as f64 + 1.0) * polynomial;
            self.means[order] = keep * self.means[order] + value / count;
            self.squares[order] = keep * self.squares[order] + value * value / count;
        }
    }

    /// Adds the samples of another estimate.
    pub(super) fn merge(&mut self, other: &Density) {
        let count = self.count + other.count;
        if other.count == 0 {
            return;
        }
        let [mine, theirs] = [self.count, other.count].map(|part| part as f64 / count as f64);
        self.count = count;
        for order in 0..ORDER {
            self.means[order] = mine * self.means[order] + theirs * other.means[order];
            self.squares[order] = mine * self.squares[order] + theirs * other.squares[order];
        }
    }

    /// Number of coefficients to use: more follow the samples closely, but also their noise.
    fn order(&self) -> usize {
        if self.count <= 5 {
            return ORDER;
        }
        let count = self.count as f64;
        let (mut error, mut best, mut at) = (0.0, f64::INFINITY, 1);
        for order in 0..ORDER {
            let (mean, square) = (self.means[order], self.squares[order]);
            error += (2.0 * square - (count + 1.0) * mean * mean) / (count - 1.0);
            if error < best {
                best = error;
                // The reference never stops at the constant alone.
                at = order.max(1);
            }
        }
        at + 1
    }

    /// Approximate quartiles of the samples; 0 where the estimate yields none (the reference prints
    /// uninitialized memory there).
    pub(super) fn quartiles(&self) -> [f64; 3] {
        let order = self.order();
        let width = 1.0 / f64::from(STEPS);
        let mut quartiles = [0.0; 3];
        let mut missing = [0.25, 0.5, 0.75].into_iter().zip(&mut quartiles).peekable();
        let (mut integral, mut debt) = (0.0, 0.0);
        for step in 0..STEPS {
            let x = (f64::from(step) + 0.5) * width;
            let density: f64 = legendre(x).take(order).zip(&self.means).map(|(p, mean)| p * mean).sum();
            let part = width * density;
            // Where the series is negative, what follows pays for it first.
            if part < 0.0 || debt < 0.0 {
                debt += part;
            } else {
                integral += part;
            }
            while let Some((_, quartile)) = missing.next_if(|(share, _)| integral >= *share) {
                *quartile = x;
            }
        }
        quartiles
    }
}

impl Wire for Box<Density> {
    fn put(&self, batch: &mut Batch) {
        (self.count, (self.means, self.squares)).put(batch);
    }

    fn get(reader: &mut BatchReader<'_>) -> Self {
        let (count, (means, squares)) = Wire::get(reader);
        Box::new(Density { count, means, squares })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(samples: impl IntoIterator<Item = f64>) -> Density {
        let mut density = Density::new();
        samples.into_iter().for_each(|sample| density.add(sample));
        density
    }

    #[test]
    fn polynomials_are_those_of_legendre() {
        let x = 0.3;
        let t: f64 = 2.0 * x - 1.0;
        let expected = [1.0, t, (3.0 * t * t - 1.0) / 2.0, (5.0 * t.powi(3) - 3.0 * t) / 2.0];
        for (found, expected) in legendre(x).zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
        }
    }

    #[test]
    fn quartiles_of_evenly_spread_samples_are_the_quarters() {
        let quartiles = of((0..1000).map(|k| (f64::from(k) + 0.5) / 1000.0)).quartiles();
        for (found, expected) in quartiles.into_iter().zip([0.25, 0.5, 0.75]) {
            assert!((found - expected).abs() < 1e-3, "{quartiles:?}");
        }
    }

    #[test]
    fn quartiles_of_one_sample_are_near_it() {
        for quartile in of([0.4]).quartiles() {
            assert!((quartile - 0.4).abs() < 0.03, "{quartile}");
        }
    }

    #[test]
    fn merged_ranks_are_like_one_with_all_samples() {
        let mut merged = of([0.1, 0.3]);
        merged.merge(&of([0.9]));
        merged.merge(&of([]));
        let all = of([0.1, 0.3, 0.9]);
        assert_eq!(merged.count, 3);
        for (found, expected) in merged.means.iter().zip(&all.means) {
            assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
        }
    }

    #[test]
    fn estimate_that_never_reaches_a_quarter_answers_zero() {
        assert_eq!(Density { means: [f64::NAN; ORDER], ..of([0.5]) }.quartiles(), [0.0; 3]);
    }

    #[test]
    fn density_survives_the_way_to_another_worker() {
        let density = of([0.2, 7.0]);
        let mut batch = Batch::new();
        Box::new(density.clone()).put(&mut batch);
        assert_eq!(*Box::<Density>::get(&mut BatchReader::new(&batch)), density);
    }
}
