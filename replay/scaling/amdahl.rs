//! Amdahl's curve of an efficiency, as BSC's scripts fit it beside growth models (what-if 5.4).

/// Steps of the fit: it is at its end after a few.
const STEPS: usize = 50;

/// The curve `first / (parallel + (1 - parallel) · P)`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Amdahl {
    /// The value with one rank.
    pub first: f64,
    /// The part, from 0 to 1, that does not get less efficient with more ranks.
    pub parallel: f64,
}

impl Amdahl {
    /// Its value for so many ranks.
    pub fn at(&self, ranks: f64) -> f64 {
        self.first / (self.parallel + (1.0 - self.parallel) * ranks)
    }

    /// By least squares, of values by number of ranks; `None` if a value is not above 0, or there are fewer than two sizes.
    pub fn of(points: &[(u64, f64)]) -> Option<Amdahl> {
        if points.len() < 2 || points.iter().any(|&(_, value)| value <= 0.0 || !value.is_finite()) {
            return None;
        }
        let points: Vec<(f64, f64)> = points.iter().map(|&(ranks, value)| (ranks as f64, value)).collect();
        // 1 / value is the line a + b · P. Least squares of the values are found from there by Gauss-Newton: a small change of the line
        // changes the value by its square.
        let (mut a, mut b) = line(points.iter().map(|&(ranks, value)| (ranks, 1.0 / value, value.powi(4))))?;
        for _ in 0..STEPS {
            let at = |ranks: f64| a + b * ranks;
            if points.iter().any(|&(ranks, _)| at(ranks) <= 0.0) {
                break;
            }
            let moved = points.iter().map(|&(ranks, value)| {
                let now = 1.0 / at(ranks);
                (ranks, at(ranks) + (now - value) / now.powi(2), now.powi(4))
            });
            let Some(next) = line(moved) else { break };
            (a, b) = next;
        }
        Some(match (a < 0.0, b < 0.0) {
            // It falls faster than 1 / P: the curve with no parallel part that is nearest.
            (true, _) => {
                let squares: f64 = points.iter().map(|(ranks, _)| ranks.powi(-2)).sum();
                let products: f64 = points.iter().map(|(ranks, value)| value / ranks).sum();
                Amdahl { first: products / squares, parallel: 0.0 }
            }
            // It rises: the mean.
            (_, true) => {
                let sum: f64 = points.iter().map(|&(_, value)| value).sum();
                Amdahl { first: sum / points.len() as f64, parallel: 1.0 }
            }
            _ => Amdahl { first: 1.0 / (a + b), parallel: a / (a + b) },
        })
    }
}

/// The line through points (x, y, weight) by least squares: its value at 0 and its slope.
fn line(points: impl Iterator<Item = (f64, f64, f64)> + Clone) -> Option<(f64, f64)> {
    let sum = |of: fn((f64, f64, f64)) -> f64| points.clone().map(of).sum::<f64>();
    let all = sum(|(_, _, weight)| weight);
    let (mean_x, mean_y) = (sum(|(x, _, weight)| weight * x) / all, sum(|(_, y, weight)| weight * y) / all);
    let centred = points.clone().map(|(x, y, weight)| (x - mean_x, y - mean_y, weight));
    let (square, product) =
        centred.fold((0.0, 0.0), |(square, product), (x, y, w)| (square + w * x * x, product + w * x * y));
    let slope = product / square;
    (square > 0.0 && slope.is_finite()).then_some((mean_y - slope * mean_x, slope))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(of: impl Fn(f64) -> f64) -> Vec<(u64, f64)> {
        [2_u64, 4, 8, 16, 32].iter().map(|&ranks| (ranks, of(ranks as f64))).collect()
    }

    #[test]
    fn curve_is_found_again() {
        let truth = Amdahl { first: 0.95, parallel: 0.99 };
        let found = Amdahl::of(&points(|ranks| truth.at(ranks))).unwrap();
        assert!((found.first - 0.95).abs() < 1e-9 && (found.parallel - 0.99).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn no_other_curve_is_nearer_to_noisy_values() {
        let noise = [1.01, 0.98, 1.02, 0.99, 1.005];
        let curve = Amdahl { first: 0.9, parallel: 0.95 };
        let noisy: Vec<(u64, f64)> =
            points(|ranks| curve.at(ranks)).into_iter().zip(noise).map(|((p, y), e)| (p, y * e)).collect();
        let missed = |of: &Amdahl| noisy.iter().map(|&(p, y)| (y - of.at(p as f64)).powi(2)).sum::<f64>();
        let best = Amdahl::of(&noisy).unwrap();
        for (first, parallel) in [(1e-4, 0.0), (-1e-4, 0.0), (0.0, 1e-4), (0.0, -1e-4)] {
            let other = Amdahl { first: best.first + first, parallel: best.parallel + parallel };
            assert!(missed(&other) > missed(&best), "{other:?}");
        }
    }

    #[test]
    fn parallel_part_is_from_0_to_1() {
        let rising = Amdahl::of(&points(|ranks| 0.5 + ranks / 100.0)).unwrap();
        assert_eq!((rising.parallel, rising.at(1000.0)), (1.0, rising.first));
        assert!((rising.first - 0.624).abs() < 1e-12);
        let falling = Amdahl::of(&points(|ranks| 1.0 / (ranks * ranks))).unwrap();
        assert_eq!(falling.parallel, 0.0);
        assert_eq!(Amdahl::of(&points(|_| 0.0)), None);
        assert_eq!(Amdahl::of(&[(4, 0.5)]), None);
    }
}
