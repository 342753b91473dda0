//! Growth models: how a number develops with the number of ranks, as one term of a fixed set (what-if 5.4).

use std::fmt;

use super::student;

/// The fewest sizes that a model is made of.
pub const FEWEST: usize = 5;

/// A term that is nowhere a larger part of the model is none.
const LEAST_PART: f64 = 0.0005;

/// The probability that a value lies in its interval.
const CERTAINTY: f64 = 0.95;

/// Exponents of P, as fractions, and the largest exponent of its logarithm beside it: the default set of Extra-P.
const EXPONENTS: [(u8, u8, u8); 20] = [
    (0, 1, 2),
    (1, 4, 2),
    (1, 3, 2),
    (1, 2, 2),
    (2, 3, 2),
    (3, 4, 2),
    (4, 5, 0),
    (1, 1, 2),
    (5, 4, 1),
    (4, 3, 1),
    (3, 2, 2),
    (5, 3, 0),
    (7, 4, 0),
    (2, 1, 2),
    (9, 4, 0),
    (7, 3, 0),
    (5, 2, 2),
    (8, 3, 0),
    (11, 4, 0),
    (3, 1, 1),
];

/// The term P^i · log₂^j P. With both exponents 0 the model is a constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Term {
    /// The exponent of P, as a fraction; negative if it falls.
    pub numerator: i8,
    /// What the fraction is of.
    pub denominator: u8,
    /// The exponent of the logarithm.
    pub logarithm: u8,
}

impl Term {
    /// The constant.
    pub const CONSTANT: Term = Term { numerator: 0, denominator: 1, logarithm: 0 };

    /// Whether the model is a constant.
    pub fn is_constant(self) -> bool {
        self.numerator == 0 && self.logarithm == 0
    }

    /// Its value for so many ranks.
    pub fn at(self, ranks: f64) -> f64 {
        let exponent = f64::from(self.numerator) / f64::from(self.denominator);
        ranks.powf(exponent) * ranks.log2().powi(i32::from(self.logarithm))
    }

    /// All terms but the constant; with `falls` also those with negative exponents of P.
    fn all(falls: bool) -> impl Iterator<Item = Term> {
        let signs = if falls { &[1, -1][..] } else { &[1] };
        let pairs = EXPONENTS.into_iter().flat_map(|(i, of, most)| (0..=most).map(move |j| (i, of, j)));
        signs.iter().flat_map(move |&sign| {
            let pairs =
                pairs.clone().filter(move |&(i, _, j)| if sign > 0 { (i, j) != (0, 0) } else { i > 0 });
            pairs.map(move |(i, denominator, logarithm)| Term {
                numerator: sign * i.cast_signed(),
                denominator,
                logarithm,
            })
        })
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Term { numerator, denominator, logarithm } = *self;
        let logarithm = match logarithm {
            0 => String::new(),
            1 => "log₂(P)".to_owned(),
            _ => "log₂²(P)".to_owned(),
        };
        let power = match (numerator, denominator) {
            (0, _) => String::new(),
            (1, 1) => "P".to_owned(),
            (_, 1) => format!("P^{numerator}"),
            _ => format!("P^({numerator}/{denominator})"),
        };
        match (power.is_empty(), logarithm.is_empty()) {
            (true, true) => write!(f, "1"),
            (false, false) => write!(f, "{power} · {logarithm}"),
            _ => write!(f, "{power}{logarithm}"),
        }
    }
}

/// A value that a model gives, and the interval that it lies in with 95 %.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Forecast {
    /// The number of ranks.
    pub ranks: u64,
    /// The value.
    pub value: f64,
    /// The ends of the interval.
    pub interval: [f64; 2],
}

/// A model: `constant + factor · term`.
#[derive(Clone, PartialEq, Debug)]
pub struct Growth {
    /// The term.
    pub term: Term,
    /// What does not depend on the number of ranks.
    pub constant: f64,
    /// The factor of the term; 0 of a constant model.
    pub factor: f64,
    /// Adjusted coefficient of determination: the share of the variance that the model explains, less what any term would. 0 of a
    /// constant model.
    pub adjusted_r2: f64,
    /// Symmetric mean absolute percentage error of values that are left out, one after the other; from 0 to 200.
    pub error: f64,
    /// For twice and four times the largest number of ranks.
    pub forecasts: [Forecast; 2],
}

/// A straight line through points.
#[derive(Clone, Copy, Debug)]
struct Line {
    constant: f64,
    factor: f64,
}

impl Line {
    /// By least squares; `None` if all x are the same, or numbers are too large.
    fn fit(x: &[f64], y: &[f64]) -> Option<Line> {
        let (mean_x, mean_y) = (mean(x), mean(y));
        let square: f64 = x.iter().map(|x| (x - mean_x).powi(2)).sum();
        let product: f64 = x.iter().zip(y).map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
        let factor = product / square;
        let line = Line { constant: mean_y - factor * mean_x, factor };
        (square > 0.0 && line.constant.is_finite() && factor.is_finite()).then_some(line)
    }

    fn at(self, x: f64) -> f64 {
        self.constant + self.factor * x
    }
}

fn mean(of: &[f64]) -> f64 {
    of.iter().sum::<f64>() / of.len() as f64
}

/// The symmetric error of a value that was estimated, from 0 to 2.
fn symmetric(found: f64, wanted: f64) -> f64 {
    match found.abs() + wanted.abs() {
        0.0 => 0.0,
        both => 2.0 * (found - wanted).abs() / both,
    }
}

/// The error of estimates that are made of all points but one, in percent; `None` if one cannot be made.
fn error_of(x: &[f64], y: &[f64], estimate: impl Fn(&[f64], &[f64], f64) -> Option<f64>) -> Option<f64> {
    let mut sum = 0.0;
    for out in 0..x.len() {
        let others = |of: &[f64]| {
            let others = of.iter().enumerate().filter(|&(at, _)| at != out);
            others.map(|(_, value)| *value).collect::<Vec<f64>>()
        };
        sum += symmetric(estimate(&others(x), &others(y), x[out])?, y[out]);
    }
    Some(100.0 * sum / x.len() as f64)
}

impl Growth {
    /// The model of values by number of ranks, in ascending order; `falls` says that terms with negative exponents count, as for a
    /// problem that stays the same. `None` with fewer sizes than [`FEWEST`].
    pub fn of(points: &[(u64, f64)], falls: bool) -> Option<Growth> {
        if points.len() < FEWEST {
            return None;
        }
        let ranks: Vec<f64> = points.iter().map(|&(ranks, _)| ranks as f64).collect();
        let y: Vec<f64> = points.iter().map(|&(_, value)| value).collect();
        let of_constant = error_of(&ranks, &y, |_, others, _| Some(mean(others)))?;
        let mut best = (of_constant, Term::CONSTANT, Line { constant: mean(&y), factor: 0.0 });
        for term in Term::all(falls) {
            let x: Vec<f64> = ranks.iter().map(|&ranks| term.at(ranks)).collect();
            let Some(line) = Line::fit(&x, &y) else { continue };
            let matters = x.iter().any(|&x| (line.factor * x).abs() >= LEAST_PART * line.at(x).abs());
            let estimate = |x: &[f64], y: &[f64], at: f64| Some(Line::fit(x, y)?.at(at));
            if let Some(error) = error_of(&x, &y, estimate).filter(|&error| matters && error < best.0) {
                best = (error, term, line);
            }
        }
        let (error, term, line) = best;
        Some(Growth::new(term, line, error, points))
    }

    fn new(term: Term, line: Line, error: f64, points: &[(u64, f64)]) -> Growth {
        let y: Vec<f64> = points.iter().map(|&(_, value)| value).collect();
        let count = y.len() as f64;
        let coefficients = if term.is_constant() { 1 } else { 2 };
        let x: Vec<f64> = points.iter().map(|&(ranks, _)| term.at(ranks as f64)).collect();
        let mean_y = mean(&y);
        let missed: f64 = x.iter().zip(&y).map(|(&x, y)| (y - line.at(x)).powi(2)).sum();
        let all: f64 = y.iter().map(|y| (y - mean_y).powi(2)).sum();
        let adjusted_r2 = match term.is_constant() || all == 0.0 {
            true => 0.0,
            false => 1.0 - missed / all * (count - 1.0) / (count - 2.0),
        };
        let freedom = y.len() - coefficients;
        let deviation = (missed / freedom as f64).sqrt();
        let mean_x = mean(&x);
        let square: f64 = x.iter().map(|x| (x - mean_x).powi(2)).sum();
        let largest = points.iter().map(|&(ranks, _)| ranks).max().unwrap_or(0);
        let forecast = |times: u64| {
            let ranks = largest.saturating_mul(times);
            let at = term.at(ranks as f64);
            let distance = if term.is_constant() { 0.0 } else { (at - mean_x).powi(2) / square };
            let width =
                student::two_sided(CERTAINTY, freedom) * deviation * (1.0 + 1.0 / count + distance).sqrt();
            let value = line.at(at);
            Forecast { ranks, value, interval: [value - width, value + width] }
        };
        Growth {
            term,
            constant: line.constant,
            factor: line.factor,
            adjusted_r2,
            error,
            forecasts: [forecast(2), forecast(4)],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: [u64; 6] = [4, 8, 16, 32, 64, 128];

    fn points(of: impl Fn(f64) -> f64) -> Vec<(u64, f64)> {
        SIZES.iter().map(|&ranks| (ranks, of(ranks as f64))).collect()
    }

    fn near(found: f64, wanted: f64) -> bool {
        (found - wanted).abs() <= 1e-6 * wanted.abs().max(1e-6)
    }

    #[test]
    fn there_are_42_pairs_of_exponents_besides_the_constant() {
        assert_eq!(Term::all(false).count(), 42);
        let negative: Vec<Term> = Term::all(true).skip(42).collect();
        // The logarithms alone have no exponent of P that could be negative.
        assert_eq!((negative.len(), negative.iter().all(|term| term.numerator < 0)), (40, true));
    }

    #[test]
    fn every_term_is_found_again_without_noise() {
        for term in Term::all(true) {
            let model = Growth::of(&points(|ranks| 0.5 + 3.0 * term.at(ranks)), true).unwrap();
            assert_eq!(model.term, term);
            assert!(near(model.constant, 0.5) && near(model.factor, 3.0), "{term}: {model:?}");
            assert!(model.adjusted_r2 > 0.999_999 && model.error < 1e-4, "{term}: {model:?}");
            let [double, four] = model.forecasts;
            assert_eq!([double.ranks, four.ranks], [256, 512]);
            assert!(near(four.value, 0.5 + 3.0 * term.at(512.0)), "{term}");
        }
    }

    #[test]
    fn term_is_found_in_spite_of_noise_of_two_percent_and_the_interval_contains_the_truth() {
        let noise = [1.02, 0.99, 0.985, 1.015, 0.99, 1.01];
        for (truth, near_terms) in [
            (Term { numerator: 1, denominator: 1, logarithm: 0 }, ["P", "P^(4/5)", "P^(3/4) · log₂(P)"]),
            (Term { numerator: -1, denominator: 1, logarithm: 0 }, ["P^-1", "P^(-5/4)", "P^(-4/5)"]),
        ] {
            let of = |ranks: f64| 2.0 + 5.0 * truth.at(ranks);
            let noisy: Vec<(u64, f64)> =
                points(of).into_iter().zip(noise).map(|((p, y), e)| (p, y * e)).collect();
            let model = Growth::of(&noisy, true).unwrap();
            assert!(near_terms.contains(&model.term.to_string().as_str()), "{truth}: {}", model.term);
            for Forecast { ranks, interval: [low, high], .. } in model.forecasts {
                assert!((low..=high).contains(&of(ranks as f64)), "{truth}: {model:?}");
            }
        }
    }

    #[test]
    fn constant_wins_where_nothing_grows() {
        let exact = Growth::of(&points(|_| 0.7), true).unwrap();
        assert!(exact.term.is_constant() && near(exact.constant, 0.7) && exact.factor == 0.0);
        assert_eq!(exact.term.to_string(), "1");
        // A term of less than 0.05 % is none, however well it fits.
        let tiny = Growth::of(&points(|ranks| 1.0 + 1e-6 * ranks), true).unwrap();
        assert!(tiny.term.is_constant(), "{tiny:?}");
        let small = Growth::of(&points(|ranks| 1.0 + 1e-5 * ranks), true).unwrap();
        assert_eq!(small.term.to_string(), "P");
        // Alternating values are explained by no term.
        let mut sign = 1.0;
        let alternating: Vec<(u64, f64)> = SIZES
            .iter()
            .map(|&p| {
                sign = -sign;
                (p, 1.0 + 0.1 * sign)
            })
            .collect();
        assert!(Growth::of(&alternating, true).unwrap().term.is_constant());
    }

    #[test]
    fn interval_and_adjusted_r2_are_those_computed_by_hand() {
        // Means 3 and 4; sums of squares 10, of products 6; residuals' squares 2.4; t of 3 degrees of freedom 3.182446.
        let points = [(1, 2.0), (2, 4.0), (3, 5.0), (4, 4.0), (5, 5.0)];
        let line = Line::fit(&[1.0, 2.0, 3.0, 4.0, 5.0], &[2.0, 4.0, 5.0, 4.0, 5.0]).unwrap();
        let term = Term { numerator: 1, denominator: 1, logarithm: 0 };
        let model = Growth::new(term, line, 0.0, &points);
        assert!(
            near(model.constant, 2.2) && near(model.factor, 0.6) && near(model.adjusted_r2, 1.0 - 1.6 / 3.0)
        );
        let [double, four] = model.forecasts;
        let width = 3.182_446_305 * 0.8_f64.sqrt();
        assert!(near(double.value, 8.2) && near(four.value, 14.2));
        assert!(near(double.interval[1], 8.2 + width * 6.1_f64.sqrt()), "{double:?}");
        assert!(near(four.interval[0], 14.2 - width * 30.1_f64.sqrt()), "{four:?}");
        // Of a constant: 4 degrees of freedom, 2.776445; squares 6.
        let constant = Line { constant: 4.0, factor: 0.0 };
        let [double, four] = Growth::new(Term::CONSTANT, constant, 0.0, &points).forecasts;
        assert!(
            near(double.interval[1], 4.0 + 2.776_445 * (1.5_f64 * 1.2).sqrt())
                && double.interval == four.interval
        );
    }

    #[test]
    fn error_is_that_of_values_that_are_left_out() {
        // Means of the others: 2.5 and 2; errors 2 · 1.5 / 3.5, 0, 2 · 1.5 / 4.5 … of 1, 2, 3.
        let found = error_of(&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0], |_, others, _| Some(mean(others))).unwrap();
        assert!(near(found, 100.0 * (3.0 / 3.5 + 0.0 + 3.0 / 4.5) / 3.0));
        assert_eq!(symmetric(0.0, 0.0), 0.0);
    }

    #[test]
    fn fewer_than_five_sizes_make_no_model_and_falling_terms_are_asked_for() {
        assert_eq!(Growth::of(&points(|ranks| ranks)[..4], true), None);
        let falling = points(|ranks| 1.0 + 100.0 / ranks);
        assert_eq!(Growth::of(&falling, true).unwrap().term.to_string(), "P^-1");
        assert!(Growth::of(&falling, false).unwrap().term.numerator >= 0);
    }

    #[test]
    fn terms_are_written_as_formulas() {
        let text = |numerator, denominator, logarithm| Term { numerator, denominator, logarithm }.to_string();
        assert_eq!(text(1, 1, 1), "P · log₂(P)");
        assert_eq!(text(-4, 3, 1), "P^(-4/3) · log₂(P)");
        assert_eq!((text(0, 1, 2), text(3, 1, 0)), ("log₂²(P)".into(), "P^3".into()));
    }
}
