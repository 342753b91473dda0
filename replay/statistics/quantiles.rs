//! Exact quantiles of values that are distributed over workers: digit by digit, all patterns at once.
//!
//! Worker 0 broadcasts the leading digits of its searches, all workers return how many of their values
//! continue with each next digit. Values are not sent, and the traffic does not depend on their number.

use crate::error::Error;
use crate::exchange::batch::BatchReader;
use crate::exchange::{Batch, Exchange, broadcast, reduce};
use crate::int::to_usize;
use crate::wire::Wire;

/// Bits of a digit: 64 numbers for each quantile and round, at most eleven rounds.
const BITS: u32 = 6;

/// Number of values of a digit.
const VALUES: u64 = 1 << BITS;

/// Search for a quantile.
#[derive(Clone, Copy, Debug)]
struct Search {
    pattern: usize,
    /// Its known leading digits.
    known: u64,
    /// Its rank among the values with these digits: 1, 2, …
    rank: u64,
}

/// Quartiles by pattern: of *n* sorted values the *k*-th, with *k* = ⌈*n*/4⌉, ⌈*n*/2⌉, ⌈3*n*/4⌉; 0 without
/// values. `extents`, at worker 0, are the number of values and the largest; the results of other workers are
/// meaningless. Sorts the values.
///
/// # Errors
/// If a worker failed.
pub(super) fn quartiles(
    values: &mut [Vec<u64>],
    extents: Option<&[(u64, u64)]>,
    exchange: &mut dyn Exchange,
) -> Result<Vec<[u64; 3]>, Error> {
    values.iter_mut().for_each(|values| values.sort_unstable());
    let mut searches: Vec<Search> = Vec::new();
    for (pattern, &(count, _)) in extents.into_iter().flatten().enumerate().filter(|(_, extent)| extent.0 > 0)
    {
        for quarter in 1..=3 {
            // ⌈count * quarter / 4⌉ without overflow.
            let rank = count / 4 * quarter + (count % 4 * quarter).div_ceil(4);
            searches.push(Search { pattern, known: 0, rank });
        }
    }
    let largest = extents.into_iter().flatten().map(|extent| extent.1).max().unwrap_or(0);
    let mut digits = (u64::BITS - largest.leading_zeros()).div_ceil(BITS);
    loop {
        let mut question = Batch::new();
        if digits > 0 {
            digits -= 1;
            digits.put(&mut question);
            question.extend(searches.iter().flat_map(|search| [search.pattern as u64, search.known]));
        }
        // An empty question ends the search: all digits are known.
        let question = broadcast(exchange, question)?;
        if question.is_empty() {
            break;
        }
        let mut reader = BatchReader::new(&question);
        let digit: u32 = Wire::get(&mut reader);
        let asked = reader.rest();
        let counts: Batch =
            asked.chunks_exact(2).flat_map(|of| counts(&values[to_usize(of[0])], of[1], digit)).collect();
        let counts = reduce(exchange, counts, Batch::clone, |mine, theirs| {
            mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
        })?;
        for (search, counts) in searches.iter_mut().zip(counts.chunks_exact(to_usize(VALUES))) {
            search.go_on(counts);
        }
    }
    let mut quartiles = vec![[0; 3]; values.len()];
    for three in searches.chunks_exact(3) {
        quartiles[three[0].pattern] = [0, 1, 2].map(|at| three[at].known);
    }
    Ok(quartiles)
}

/// Numbers of sorted values with these leading digits, by their next digit; `digit` digits follow after that.
fn counts(values: &[u64], known: u64, digit: u32) -> impl Iterator<Item = u64> {
    let shift = digit * BITS;
    let up_to = move |next: u64| values.partition_point(|value| value >> shift < known << BITS | next) as u64;
    (0..VALUES).map(move |next| {
        let end = if next == VALUES - 1 {
            values.partition_point(|value| value >> shift <= known << BITS | next) as u64
        } else {
            up_to(next + 1)
        };
        end - up_to(next)
    })
}

impl Search {
    /// Determines the next digit from the numbers of values.
    fn go_on(&mut self, counts: &[u64]) {
        for (digit, &count) in (0..).zip(counts) {
            if self.rank <= count {
                self.known = self.known << BITS | digit;
                return;
            }
            self.rank -= count;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::Solo;

    fn of(values: &[u64]) -> [u64; 3] {
        let extent = (values.len() as u64, values.iter().copied().max().unwrap_or(0));
        quartiles(&mut [values.to_vec()], Some(&[extent]), &mut Solo).unwrap()[0]
    }

    #[test]
    fn quartiles_are_values_that_so_many_do_not_exceed() {
        assert_eq!(of(&[]), [0; 3]);
        assert_eq!(of(&[7]), [7; 3]);
        assert_eq!(of(&[9, 1]), [1, 1, 9]);
        assert_eq!(of(&[4, 3, 2, 1]), [1, 2, 3]);
        assert_eq!(of(&[50, 40, 30, 20, 10]), [20, 30, 40]);
        assert_eq!(of(&[0, 0, 0, 0]), [0; 3]);
    }

    #[test]
    fn any_number_of_digits_is_found() {
        for bit in 0..64 {
            let value = 1u64 << bit;
            assert_eq!(of(&[value - 1, value, u64::MAX]), [value - 1, value, u64::MAX]);
        }
    }

    #[test]
    fn patterns_are_searched_at_once() {
        let mut values = [vec![3, 1, 2], vec![], vec![1 << 40]];
        let extents = [(3, 3), (0, 0), (1, 1 << 40)];
        let found = quartiles(&mut values, Some(&extents), &mut Solo).unwrap();
        assert_eq!(found, [[1, 2, 3], [0; 3], [1 << 40; 3]]);
    }
}
