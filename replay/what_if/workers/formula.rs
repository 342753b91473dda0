//! The best number of workers by a formula, where each gets one share of a balanced load (what-if 6.3).

/// The line T(x) = a + b / x of what an iteration takes with x workers, in ticks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Formula {
    /// What does not get shorter with more workers: `2 m₀ + α λ V`.
    pub constant: f64,
    /// What is shared by them: `(1 − α) λ V + Tc`.
    pub shared: f64,
    /// The work of all in an iteration, Tc.
    pub work: f64,
}

/// What an iteration moves and computes, in ticks and bytes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Load {
    /// Ticks of a message without data, m₀.
    pub latency: f64,
    /// Ticks for a byte, λ.
    pub by_byte: f64,
    /// Bytes there and back, V.
    pub bytes: f64,
    /// The share of them that goes there, α.
    pub there: f64,
    /// Work, Tc.
    pub work: f64,
}

impl Formula {
    /// Of this load.
    pub(super) fn new(Load { latency, by_byte, bytes, there, work }: Load) -> Formula {
        let transfer = by_byte * bytes;
        Formula { constant: 2.0 * latency + there * transfer, shared: (1.0 - there) * transfer + work, work }
    }

    /// Ticks of an iteration with so many workers.
    pub fn time(&self, workers: u32) -> f64 {
        self.constant + self.shared / f64::from(workers)
    }

    /// Time over efficiency, `Pi(x) = x T(x)² / Tc`: the smaller the better.
    pub fn index(&self, workers: u32) -> f64 {
        f64::from(workers) * self.time(workers).powi(2) / self.work
    }

    /// Where the index is smallest, `b / a`; infinite if nothing stays constant.
    pub fn optimum(&self) -> f64 {
        self.shared / self.constant
    }

    /// The number of workers with the smallest index, 1 at least.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub fn best(&self) -> u32 {
        let below = self.optimum().clamp(1.0, f64::from(u32::MAX / 2)).floor() as u32;
        if self.index(below + 1) < self.index(below) { below + 1 } else { below }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_has_its_best_number_where_the_index_is_smallest() {
        let load = Load { latency: 0.05, by_byte: 8e-6, bytes: 2e9, there: 0.5, work: 1e5 };
        let formula = Formula::new(load);
        let is_near = |found: f64, wanted: f64, error: f64| (found - wanted).abs() <= error;
        assert!(is_near(formula.constant, 8000.1, 1e-9) && is_near(formula.shared, 108_000.0, 1e-9));
        assert!(is_near(formula.optimum(), 13.4998, 5e-5));
        assert!(is_near(formula.index(13), 34572.732, 5e-4) && is_near(formula.index(14), 34571.869, 5e-4));
        assert_eq!(formula.best(), 14);
        assert!((1..100).all(|workers| formula.index(14) <= formula.index(workers)));
    }

    #[test]
    fn one_worker_is_the_least() {
        let load = Load { latency: 100.0, by_byte: 0.0, bytes: 0.0, there: 0.5, work: 50.0 };
        assert_eq!(Formula::new(load).best(), 1);
    }
}
