//! Several runs: whether a difference between two samples is more than noise.

use super::ranks::two_sided;

/// The least share of a value that a change has to have.
const LEAST_OF_VALUE: f64 = 0.02;

/// The least share of the run's time that a change has to have.
const LEAST_OF_RUN: f64 = 0.005;

/// Runs on each side from which on ranks are tested.
const MANY: usize = 5;

/// The probability of being wrong that is accepted, for all gates together.
const RISK: f64 = 0.05;

/// What a change is. More is worse, unless [`Change::of_better`] says otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// Certainly more.
    Worse,
    /// Certainly less.
    Better,
    /// No more than noise.
    Same,
    /// More than the floor, but the runs do not show it with certainty.
    Unclear,
}

impl State {
    /// The word for people and scripts.
    pub fn name(self) -> &'static str {
        match self {
            State::Worse => "worse",
            State::Better => "better",
            State::Same => "same",
            State::Unclear => "unclear",
        }
    }

    /// The state if less is worse.
    #[must_use]
    pub fn reversed(self) -> State {
        match self {
            State::Worse => State::Better,
            State::Better => State::Worse,
            state => state,
        }
    }
}

/// A change between two samples, in the unit of the quantity.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Change {
    /// Median of A.
    pub a: f64,
    /// Median of B.
    pub b: f64,
    /// What a change has to exceed.
    pub floor: f64,
    /// What it is.
    pub state: State,
}

impl Change {
    /// The difference of the medians.
    pub fn difference(&self) -> f64 {
        self.b - self.a
    }

    /// The difference as a fraction of A; infinite if A is 0 and B is not.
    pub fn relative(&self) -> f64 {
        let difference = self.difference();
        if difference == 0.0 { 0.0 } else { difference / self.a.abs() }
    }

    /// Compares samples of at least one value each. `run` are the medians of the run's time in the same unit, or 0 if there
    /// is none; `floor` is what the user wants at least, and `gates` the number of comparisons that must all be right.
    pub fn between(a: &[f64], b: &[f64], run: (f64, f64), floor: f64, gates: usize) -> Change {
        let medians = (median(a), median(b));
        // Of the larger one, so that the exchanged sides give the mirrored change.
        let of_value = LEAST_OF_VALUE * medians.0.abs().max(medians.1.abs());
        let floor = of_value.max(LEAST_OF_RUN * run.0.max(run.1)).max(floor);
        let difference = medians.1 - medians.0;
        let state = if difference.is_nan() || difference.abs() <= floor {
            State::Same
        } else if !is_certain(a, b, difference, gates) {
            State::Unclear
        } else if difference > 0.0 {
            State::Worse
        } else {
            State::Better
        };
        Change { a: medians.0, b: medians.1, floor, state }
    }

    /// The same change of a quantity of which more is better.
    #[must_use]
    pub fn of_better(self) -> Change {
        Change { state: self.state.reversed(), ..self }
    }
}

/// Whether a difference above the floor is certain.
fn is_certain(a: &[f64], b: &[f64], difference: f64, gates: usize) -> bool {
    if a.len() == 1 && b.len() == 1 {
        return true;
    }
    if a.len().min(b.len()) < MANY {
        return is_apart(a, b, difference);
    }
    let accepted = RISK / gates.max(1) as f64;
    let test = two_sided(a, b);
    match test.least > accepted {
        true => test.p <= test.least && is_apart(a, b, difference),
        false => test.p <= accepted,
    }
}

/// Whether ranges do not overlap and medians are two standard deviations apart.
fn is_apart(a: &[f64], b: &[f64], difference: f64) -> bool {
    let is_below = |lower: &[f64], upper: &[f64]| range(lower).1 < range(upper).0;
    (is_below(a, b) || is_below(b, a)) && difference.abs() > 2.0 * pooled_deviation(a, b)
}

/// Least and greatest value.
pub fn range(values: &[f64]) -> (f64, f64) {
    values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), &value| (least.min(value), most.max(value)))
}

/// The median; 0 of no values.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match (sorted.get(middle), sorted.len() % 2, middle.checked_sub(1)) {
        (Some(upper), 0, Some(below)) => f64::midpoint(sorted[below], *upper),
        (Some(value), _, _) => *value,
        (None, ..) => 0.0,
    }
}

/// Pooled standard deviation; 0 of one value each.
fn pooled_deviation(a: &[f64], b: &[f64]) -> f64 {
    let squares = |values: &[f64]| -> f64 {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        values.iter().map(|value| (value - mean).powi(2)).sum()
    };
    let freedom = (a.len() + b.len()).saturating_sub(2);
    if freedom == 0 { 0.0 } else { ((squares(a) + squares(b)) / freedom as f64).sqrt() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(a: &[f64], b: &[f64]) -> State {
        Change::between(a, b, (0.0, 0.0), 0.0, 1).state
    }

    #[test]
    fn single_runs_are_compared_with_the_floor() {
        assert_eq!(state(&[1.0], &[1.01]), State::Same);
        assert_eq!(state(&[1.0], &[1.05]), State::Worse);
        assert_eq!(state(&[1.05], &[1.0]), State::Better);
        let change = |run, floor| Change::between(&[1.0], &[1.05], (run, run), floor, 1).state;
        assert_eq!(change(100.0, 0.0), State::Same, "half a percent of the run is 0.5");
        assert_eq!(change(1.0, 0.1), State::Same, "the user wants 0.1");
    }

    #[test]
    fn few_runs_must_be_apart() {
        assert_eq!(state(&[1.0, 1.01, 0.99], &[1.1, 1.11, 1.12]), State::Worse);
        assert_eq!(state(&[1.0, 1.2, 0.9], &[1.1, 1.15, 1.3]), State::Unclear);
        assert_eq!(state(&[1.0], &[1.1, 1.11, 1.12]), State::Worse);
    }

    #[test]
    fn many_runs_are_ranked() {
        let a = [1.0, 1.01, 0.99, 1.02, 0.98];
        let b = [1.05, 1.06, 1.07, 1.08, 1.015];
        assert_eq!(state(&a, &b), State::Worse, "though ranges overlap");
        assert_eq!(
            Change::between(&a, &b, (0.0, 0.0), 0.0, 10).state,
            State::Unclear,
            "ten gates ask for more"
        );
    }

    #[test]
    fn medians_of_odd_and_even_samples() {
        assert_eq!((median(&[3.0, 1.0, 2.0]), median(&[4.0, 1.0, 2.0, 3.0]), median(&[])), (2.0, 2.5, 0.0));
    }

    /// Numbers of a fixed sequence, normally distributed.
    struct Normal(u64);

    impl Normal {
        fn uniform(&mut self) -> f64 {
            // xorshift64*
            self.0 ^= self.0 >> 12;
            self.0 ^= self.0 << 25;
            self.0 ^= self.0 >> 27;
            (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1_u64 << 53) as f64
        }

        fn sample(&mut self, runs: usize, mean: f64, deviation: f64) -> Vec<f64> {
            let next = |_| {
                let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
                mean + deviation * radius * (std::f64::consts::TAU * self.uniform()).cos()
            };
            (0..runs).map(next).collect()
        }
    }

    /// The share of 2000 drawn comparisons that are certainly worse.
    fn worse(runs: usize, noise: f64, growth: f64) -> f64 {
        let mut normal = Normal(42);
        let is_worse = |_: &i32| {
            let (a, b) = (normal.sample(runs, 1.0, noise), normal.sample(runs, 1.0 + growth, noise));
            state(&a, &b) == State::Worse
        };
        (0..2000).filter(is_worse).count() as f64 / 2000.0
    }

    #[test]
    fn drawn_runs_have_the_rates_of_the_documentation() {
        for (runs, noise, growth, rate) in [
            (3, 0.03, 0.0, 0.028),
            (5, 0.03, 0.0, 0.012),
            (3, 0.03, 0.1, 0.83),
            (5, 0.03, 0.1, 0.97),
            (3, 0.01, 0.0, 0.007),
            (5, 0.01, 0.0, 0.007),
            (3, 0.01, 0.05, 0.99),
            (5, 0.01, 0.05, 0.99),
        ] {
            let found = worse(runs, noise, growth);
            assert!((found - rate).abs() <= 0.02, "{runs} runs, {noise}, {growth}: {found} for {rate}");
        }
    }
}
