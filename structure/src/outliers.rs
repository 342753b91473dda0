//! Iterations that took much more or less time than those around them, and the trend of all (structure 3.3).

use model::Ticks;

/// Half of the neighbours with which an iteration is compared.
const AROUND: usize = 50;

/// Deviations beyond so many times their usual size are no noise. The median of deviations is smaller than the standard
/// deviation of a normal distribution by the second factor.
const DEVIATIONS: f64 = 5.0 * 1.4826;

/// Share of the median that a deviation needs at least.
const SHARE: f64 = 0.05;

/// Pieces of the run whose medians show a trend.
const PIECES: usize = 64;

/// An iteration unlike those around it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Outlier {
    /// Its place among those compared.
    pub place: usize,
    /// How much longer than the median of those around it; less than 0 if shorter.
    pub excess: f64,
}

/// Returns the iterations unlike those around them, by place. `error` is the error of the clocks in ticks.
pub fn outliers(elapsed: &[Ticks], error: Ticks) -> Vec<Outlier> {
    let medians = medians_around(elapsed);
    let excess: Vec<f64> =
        elapsed.iter().zip(&medians).map(|(&elapsed, median)| elapsed as f64 - median).collect();
    let usual = median(&mut excess.iter().map(|excess| excess.abs()).collect::<Vec<f64>>());
    let is_unlike = |&(at, excess): &(usize, f64)| {
        excess.abs() > (DEVIATIONS * usual).max(SHARE * medians[at]).max(error as f64)
    };
    let unlike = excess.iter().copied().enumerate().filter(is_unlike);
    unlike.map(|(place, excess)| Outlier { place, excess }).collect()
}

/// The median of each value and those around it; of all if these are not more.
fn medians_around(values: &[Ticks]) -> Vec<f64> {
    let number = |ticks: Ticks| ticks as f64;
    if values.len() <= 2 * AROUND + 1 {
        return vec![median(&mut values.iter().copied().map(number).collect::<Vec<f64>>()); values.len()];
    }
    // Those around the current value, rising; at first those before the last one of the first value's.
    let mut window: Vec<Ticks> = values[..AROUND].to_vec();
    window.sort_unstable();
    let place = |window: &[Ticks], value: Ticks| window.partition_point(|&other| other < value);
    let median_at = |at: usize| {
        if let Some(&value) = values.get(at + AROUND) {
            window.insert(place(&window, value), value);
        }
        if let Some(left) = at.checked_sub(AROUND + 1) {
            window.remove(place(&window, values[left]));
        }
        let middle = window.len() / 2;
        match window.len() % 2 {
            1 => number(window[middle]),
            _ => f64::midpoint(number(window[middle - 1]), number(window[middle])),
        }
    };
    (0..values.len()).map(median_at).collect()
}

/// Returns the relative change of the time of an iteration from the first to the last one; `None` where there is none that noise
/// would not make. The slope is that of Theil and Sen, between the medians of pieces of the run; it has to be significant
/// by Kendall's test.
pub fn trend(elapsed: &[Ticks]) -> Option<f64> {
    let (count, pieces) = (elapsed.len(), elapsed.len().min(PIECES));
    let piece = |at: usize| {
        let piece = &elapsed[at * count / pieces..(at + 1) * count / pieces];
        median(&mut piece.iter().map(|&ticks| ticks as f64).collect::<Vec<f64>>())
    };
    let medians: Vec<f64> = (0..pieces).map(piece).collect();
    let pairs = (0..pieces).flat_map(|i| (i + 1..pieces).map(move |j| (i, j)));
    let mut slopes: Vec<f64> =
        pairs.clone().map(|(i, j)| (medians[j] - medians[i]) / (j - i) as f64).collect();
    if slopes.is_empty() {
        return None;
    }
    let order: i64 = pairs.map(|(i, j)| medians[j].total_cmp(&medians[i]) as i64).sum();
    let all = median(&mut elapsed.iter().map(|&ticks| ticks as f64).collect::<Vec<f64>>());
    let change = median(&mut slopes) * (pieces - 1) as f64 / all;
    let by_chance = 3.0 * ((pieces * (pieces - 1) * (2 * pieces + 5)) as f64 / 18.0).sqrt();
    (order.abs() as f64 > by_chance && change.abs() >= SHARE).then_some(change)
}

/// The median, of an even number the mean of the two in the middle; 0 of none.
fn median(values: &mut [f64]) -> f64 {
    let middle = values.len() / 2;
    if values.is_empty() {
        return 0.0;
    }
    let is_odd = values.len() % 2 == 1;
    let (below, &mut upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    if is_odd {
        return upper;
    }
    let lower = below.iter().copied().max_by(f64::total_cmp).unwrap_or(upper);
    f64::midpoint(lower, upper)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random;

    fn places(elapsed: &[Ticks], error: Ticks) -> Vec<usize> {
        outliers(elapsed, error).iter().map(|outlier| outlier.place).collect()
    }

    #[test]
    fn an_iteration_of_three_times_the_length_is_unlike_the_others() {
        let elapsed = [vec![10; 20], vec![30], vec![10; 20]].concat();
        assert_eq!(outliers(&elapsed, 0), [Outlier { place: 20, excess: 20.0 }]);
        assert_eq!(places(&elapsed, 20), []);
        assert_eq!(places(&[], 0), []);
    }

    #[test]
    fn medians_are_those_of_the_values_around() {
        let mut draw = random(17);
        for count in [0, 1, 2 * AROUND, 2 * AROUND + 1, 2 * AROUND + 2, 400] {
            let values: Vec<Ticks> = (0..count).map(|_| Ticks::from(draw(50)) - 25).collect();
            let around = |at: usize| match count <= 2 * AROUND + 1 {
                true => &values[..],
                false => &values[at.saturating_sub(AROUND)..(at + AROUND + 1).min(count)],
            };
            let median_at =
                |at| median(&mut around(at).iter().map(|&ticks| ticks as f64).collect::<Vec<f64>>());
            assert_eq!(medians_around(&values), (0..count).map(median_at).collect::<Vec<f64>>());
        }
    }

    #[test]
    fn iterations_that_get_longer_slowly_are_no_outliers_but_a_trend() {
        // By a thousandth an iteration, and by a quarter from the first to the last one, of the median.
        let elapsed: Vec<Ticks> = (1000..1300).collect();
        assert_eq!(places(&elapsed, 0), []);
        let change = trend(&elapsed).unwrap();
        assert!((change - 295.0 / 1149.5).abs() < 0.005, "{change}");
        assert_eq!(trend(&[7, 9].repeat(50)), None);
        assert_eq!((trend(&[]), trend(&[5])), (None, None));
    }

    #[test]
    fn noise_is_neither_outlier_nor_trend() {
        let mut draw = random(41);
        let (mut runs_with_outliers, mut runs_with_trend) = (0, 0);
        for _ in 0..200 {
            // Nearly normal, with a deviation of 3 %.
            let noise =
                |draw: &mut dyn FnMut(u32) -> u32| (0..12).map(|_| i64::from(draw(1000))).sum::<i64>();
            let elapsed: Vec<Ticks> = (0..300).map(|_| 100_000 + 3 * (noise(&mut draw) - 6000)).collect();
            runs_with_outliers += usize::from(!places(&elapsed, 0).is_empty());
            runs_with_trend += usize::from(trend(&elapsed).is_some());
        }
        assert!((runs_with_outliers, runs_with_trend) <= (4, 0), "{runs_with_outliers} {runs_with_trend}");
    }
}
