//! How units of work are handed out in chunks (what-if 6.4).

use model::Ticks;

/// The part of what is left that a batch has where nothing else is known.
pub(super) const PART: f64 = 0.5;

/// Chunks of one size, ⌈M / (B N)⌉, for so many batches: fixed size chunking.
pub(super) fn fixed(units: u64, workers: u32, batches: u64) -> Vec<u64> {
    let size = units.div_ceil((batches * u64::from(workers)).max(1)).max(1);
    let whole = usize::try_from(units / size).unwrap_or(0);
    let mut chunks = vec![size; whole];
    chunks.extend(Some(units % size).filter(|&rest| rest > 0));
    chunks
}

/// Chunks in batches of one for each worker: a batch has a part of what is left, 1 / `divisor`, other ones in the first batch and in
/// later ones. A chunk has one unit at least.
fn factoring(units: u64, workers: u32, [first, later]: [f64; 2]) -> Vec<u64> {
    let mut chunks = Vec::new();
    let mut left = units;
    while left > 0 {
        let divisor = if chunks.is_empty() { first } else { later };
        let size = whole(left as f64 / (divisor * f64::from(workers))).max(1);
        for _ in 0..workers {
            let chunk = size.min(left);
            chunks.extend(Some(chunk).filter(|&chunk| chunk > 0));
            left -= chunk;
        }
    }
    chunks
}

/// Dynamic predictive factoring: each batch has a fixed part of what is left.
pub(super) fn predictive(units: u64, workers: u32, part: f64) -> Vec<u64> {
    factoring(units, workers, [1.0 / part; 2])
}

/// Dynamic adjusting factoring: the first batch, and what later ones have of the rest, by σ / μ of the times of units.
pub(super) fn adjusting(units: u64, workers: u32, deviation: f64) -> Vec<u64> {
    let spread = deviation * (f64::from(workers) / 2.0).sqrt();
    factoring(units, workers, [1.0 + spread, 2.0 + spread])
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn whole(number: f64) -> u64 {
    number as u64
}

/// The units of tasks in their order: ticks up to each, from the first.
#[derive(Clone, Debug, Default)]
pub(super) struct Units {
    /// By number of units: the ticks of so many.
    sums: Vec<Ticks>,
}

impl Units {
    /// Of tasks with their units and ticks.
    pub(super) fn new(tasks: impl Iterator<Item = (u64, Ticks)>) -> Units {
        let mut sums = vec![0];
        let mut before = 0;
        for (units, ticks) in tasks {
            // Equal parts, of which no tick is lost.
            let part = |unit: u64| before + whole_part(ticks, unit, units);
            sums.extend((1..=units).map(part));
            before += ticks;
        }
        Units { sums }
    }

    /// How many.
    pub(super) fn count(&self) -> u64 {
        self.sums.len() as u64 - 1
    }

    /// The ticks of chunks with so many units, in their order.
    pub(super) fn times(&self, chunks: impl IntoIterator<Item = u64>) -> impl Iterator<Item = (u64, Ticks)> {
        let mut begin = 0;
        chunks.into_iter().map(move |chunk| {
            let end = (begin + usize::try_from(chunk).unwrap_or(usize::MAX)).min(self.sums.len() - 1);
            let ticks = self.sums[end] - self.sums[begin];
            begin = end;
            (chunk, ticks)
        })
    }
}

fn whole_part(ticks: Ticks, unit: u64, units: u64) -> Ticks {
    let part = i128::from(ticks) * i128::from(unit) / i128::from(units.max(1));
    Ticks::try_from(part).unwrap_or(Ticks::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sizes of batches: of eight workers each has eight chunks of one size, but the last.
    fn batches(chunks: &[u64], workers: usize) -> Vec<u64> {
        chunks.chunks(workers).map(|batch| batch[0]).collect()
    }

    #[test]
    fn adjusting_factoring_has_the_chunks_of_the_example() {
        let chunks = adjusting(1000, 8, 0.5);
        assert_eq!(batches(&chunks, 8), [62, 21, 14, 9, 6, 4, 3, 2, 1, 1, 1, 1]);
        assert_eq!(chunks.iter().sum::<u64>(), 1000);
    }

    #[test]
    fn adjusting_factoring_without_noise_is_one_batch() {
        assert_eq!(adjusting(1000, 8, 0.0), [125; 8]);
    }

    #[test]
    fn predictive_factoring_has_the_chunks_of_the_example() {
        let chunks = predictive(1000, 8, PART);
        assert_eq!(batches(&chunks, 8), [62, 31, 16, 8, 4, 2, 1, 1]);
        assert_eq!(chunks.iter().sum::<u64>(), 1000);
    }

    #[test]
    fn fixed_chunks_are_of_one_size_but_the_last() {
        assert_eq!(fixed(100, 4, 1), [25; 4]);
        assert_eq!(fixed(100, 8, 2), [7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 2]);
        assert_eq!(fixed(3, 8, 64), [1; 3]);
        assert_eq!(fixed(0, 8, 1), [0; 0]);
    }

    #[test]
    fn units_of_a_task_take_equal_parts_of_its_time() {
        let units = Units::new([(2, 11), (1, 7)].into_iter());
        assert_eq!(units.count(), 3);
        assert_eq!(units.times([1, 1, 1]).collect::<Vec<_>>(), [(1, 5), (1, 6), (1, 7)]);
        assert_eq!(units.times([3]).collect::<Vec<_>>(), [(3, 18)]);
    }
}
