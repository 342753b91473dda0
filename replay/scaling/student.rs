//! Quantiles of Student's t distribution, for prediction intervals.

use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};

/// The probability that |t| is at most this, with so many degrees of freedom: the finite sums for whole numbers of them (Abramowitz and
/// Stegun, 26.7.3 and 26.7.4).
fn within(t: f64, freedom: usize) -> f64 {
    let angle = (t / (freedom as f64).sqrt()).atan();
    let (sine, cosine) = angle.sin_cos();
    let is_odd = freedom % 2 == 1;
    // Each term is the one before, times cos² and a fraction.
    let (mut term, mut sum) = if is_odd { (cosine, 0.0) } else { (1.0, 0.0) };
    let first = if is_odd { 1 } else { 0 };
    for step in (first..freedom.saturating_sub(1)).step_by(2) {
        sum += term;
        term *= cosine * cosine * (step + 1) as f64 / (step + 2) as f64;
    }
    if is_odd { FRAC_2_PI * (angle + sine * sum) } else { sine * sum }
}

/// The number that |t| does not exceed with this probability, below 1; infinite without degrees of freedom.
pub(super) fn two_sided(probability: f64, freedom: usize) -> f64 {
    if freedom == 0 {
        return f64::INFINITY;
    }
    // In terms of the angle the range is bounded; 60 halvings are more than a float tells apart.
    let (mut low, mut high) = (0.0, FRAC_PI_2);
    let t = |angle: f64| angle.tan() * (freedom as f64).sqrt();
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if within(t(middle), freedom) < probability { low = middle } else { high = middle }
    }
    t((low + high) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_printed_tables() {
        // Any table of Student's t: 95 % and 99 %, two-sided.
        let table = [
            (1, 12.7062, 63.6567),
            (2, 4.3027, 9.9248),
            (3, 3.1824, 5.8409),
            (4, 2.7764, 4.6041),
            (5, 2.5706, 4.0321),
            (6, 2.4469, 3.7074),
            (7, 2.3646, 3.4995),
            (10, 2.2281, 3.1693),
            (11, 2.2010, 3.1058),
            (30, 2.0423, 2.7500),
            (120, 1.9799, 2.6174),
        ];
        for (freedom, t95, t99) in table {
            assert!((two_sided(0.95, freedom) - t95).abs() < 6e-5, "{freedom}: {}", two_sided(0.95, freedom));
            assert!((two_sided(0.99, freedom) - t99).abs() < 6e-5, "{freedom}: {}", two_sided(0.99, freedom));
        }
        assert_eq!(two_sided(0.95, 0), f64::INFINITY);
    }

    #[test]
    fn probability_of_one_degree_of_freedom_is_that_of_an_angle() {
        // Cauchy: a half lies within 1.
        assert!((within(1.0, 1) - 0.5).abs() < 1e-15);
        // Two degrees: t / sqrt(2 + t²).
        assert!((within(3.0, 2) - 3.0 / 11f64.sqrt()).abs() < 1e-15);
    }
}
