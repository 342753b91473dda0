//! The test of Mann and Whitney: how likely two samples of one distribution are to differ in their ranks as much as these do.

/// Products of sizes up to which all ways to draw the samples are counted; above, a normal distribution stands for them.
const EXACT: usize = 20 * 20;

/// The result of a test.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Test {
    /// The probability, two-sided.
    pub(super) p: f64,
    /// The least probability that samples of these sizes can have.
    pub(super) least: f64,
}

/// Compares two samples. Equal values share the mean of their ranks.
pub(super) fn two_sided(a: &[f64], b: &[f64]) -> Test {
    let (small, large) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let ranks = doubled_ranks(small, large);
    let sum: usize = ranks[..small.len()].iter().sum();
    if small.len() * large.len() <= EXACT {
        exact(&ranks, small.len(), sum)
    } else {
        normal(&ranks, small.len(), sum)
    }
}

/// Twice the rank of each value, those of the first sample first: whole numbers, also for equal values.
fn doubled_ranks(first: &[f64], second: &[f64]) -> Vec<usize> {
    let values: Vec<f64> = first.iter().chain(second).copied().collect();
    let mut sorted = values.clone();
    sorted.sort_by(f64::total_cmp);
    let rank = |value: &f64| {
        let below = sorted.partition_point(|other| other.total_cmp(value).is_lt());
        let upto = sorted.partition_point(|other| other.total_cmp(value).is_le());
        below + upto + 1
    };
    values.iter().map(rank).collect()
}

/// Counts the ways to choose as many ranks as the first sample has, by their sum.
fn exact(ranks: &[usize], chosen: usize, sum: usize) -> Test {
    let all: usize = ranks.iter().sum();
    // By number of chosen ranks and their sum.
    let mut ways = vec![vec![0.0_f64; all + 1]; chosen + 1];
    ways[0][0] = 1.0;
    for &rank in ranks {
        for count in (1..=chosen).rev() {
            let (fewer, more) = ways.split_at_mut(count);
            let (fewer, more) = (&fewer[count - 1], &mut more[0]);
            more[rank..].iter_mut().zip(fewer).for_each(|(more, fewer)| *more += fewer);
        }
    }
    let ways = &ways[chosen];
    let total: f64 = ways.iter().sum();
    // Distances from the mean, times the number of ranks, so that they are whole.
    let distance = |sum: usize| (sum * ranks.len()).abs_diff(all * chosen);
    let own = distance(sum);
    let extreme: f64 =
        ways.iter().enumerate().filter(|(sum, _)| distance(*sum) >= own).map(|(_, ways)| ways).sum();
    Test { p: extreme / total, least: 2.0 / total }
}

/// The same by the normal distribution with equal mean and variance, corrected for ties and continuity.
fn normal(ranks: &[usize], chosen: usize, sum: usize) -> Test {
    let (count, chosen) = (ranks.len() as f64, chosen as f64);
    let mean = chosen * (count + 1.0) / 2.0;
    let variance_of_ranks: f64 =
        ranks.iter().map(|&rank| (rank as f64 / 2.0 - (count + 1.0) / 2.0).powi(2)).sum::<f64>()
            / (count - 1.0);
    let variance = variance_of_ranks * chosen * (count - chosen) / count;
    if variance <= 0.0 {
        return Test { p: 1.0, least: 0.0 };
    }
    let distance = ((sum as f64 / 2.0 - mean).abs() - 0.5).max(0.0);
    Test { p: (2.0 * upper_tail(distance / variance.sqrt())).min(1.0), least: 0.0 }
}

/// The probability that a normally distributed number is above x ≥ 0, within 1e-7 (Abramowitz and Stegun 26.2.17).
fn upper_tail(x: f64) -> f64 {
    const FACTORS: [f64; 5] = [0.319_381_530, -0.356_563_782, 1.781_477_937, -1.821_255_978, 1.330_274_429];
    let t = 1.0 / (1.0 + 0.231_641_9 * x);
    let polynomial = FACTORS.iter().rev().fold(0.0, |sum, factor| (sum + factor) * t);
    (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt() * polynomial
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) -> bool {
        (found - expected).abs() < 1e-6
    }

    #[test]
    fn exact_probabilities_are_those_of_tables() {
        let low = [1.0, 2.0, 3.0, 4.0, 5.0];
        assert!(near(two_sided(&low, &[6.0, 7.0, 8.0, 9.0, 10.0]).p, 2.0 / 252.0));
        // U = 2, the largest that is significant at 5 %.
        assert!(near(two_sided(&[1.0, 2.0, 3.0, 4.0, 7.0], &[5.0, 6.0, 8.0, 9.0, 10.0]).p, 8.0 / 252.0));
        assert!(near(two_sided(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]).p, 0.1));
        assert!(near(two_sided(&low, &low).p, 1.0));
    }

    #[test]
    fn ties_share_ranks() {
        // Doubled ranks 2 5 5 8: of the 6 ways to choose two, 2 + 5 (twice) and 5 + 8 (twice) are as far from the mean.
        assert!(near(two_sided(&[1.0, 2.0], &[2.0, 3.0]).p, 4.0 / 6.0));
        assert!(near(two_sided(&[1.0; 5], &[1.0; 5]).p, 1.0));
        assert!(near(two_sided(&[1.0; 30], &[1.0; 30]).p, 1.0));
    }

    #[test]
    fn normal_approximation_is_near_the_exact_probability() {
        let a: Vec<f64> = (0..20).map(f64::from).collect();
        let b: Vec<f64> = (0..20).map(|at| f64::from(at) + 6.5).collect();
        let ranks = doubled_ranks(&a, &b);
        let sum = ranks[..20].iter().sum();
        let (exact, normal) = (exact(&ranks, 20, sum).p, normal(&ranks, 20, sum).p);
        assert!((exact - normal).abs() < 0.002, "{exact} {normal}");
        assert!(near(upper_tail(1.959_963_985), 0.025) && near(upper_tail(0.0), 0.5));
    }

    #[test]
    fn exchanged_samples_have_the_same_probability() {
        let (a, b) = ([1.0, 4.0, 2.0, 9.0, 9.0], [3.0, 9.0, 5.0, 7.0, 11.0, 12.0]);
        assert_eq!(two_sided(&a, &b), two_sided(&b, &a));
    }
}
