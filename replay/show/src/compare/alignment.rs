//! Alignment of call paths of one name, such as a function that is entered once for each line it calls from: in order, so
//! that those stand beside each other that call the same.

/// What a pair is worth that has nothing in common but its name: less than anything in common.
const NAME: f64 = 1e-6;

/// Returns pairs of positions in both lists, in rising order, with the largest sum of likeness, which is from 0 to 1. Of
/// equal sums the one with pairs at the end of `one` comes first.
pub(super) fn align(one: usize, other: usize, likeness: impl Fn(usize, usize) -> f64) -> Vec<(usize, usize)> {
    // The best sums for the first i and the first j; Needleman and Wunsch, J. Mol. Biol. 48 (1970).
    let mut best = vec![vec![0.0_f64; other + 1]; one + 1];
    let worth: Vec<Vec<f64>> =
        (0..one).map(|i| (0..other).map(|j| NAME + likeness(i, j)).collect()).collect();
    for i in 0..one {
        for j in 0..other {
            best[i + 1][j + 1] = (best[i][j] + worth[i][j]).max(best[i][j + 1]).max(best[i + 1][j]);
        }
    }
    let (mut i, mut j, mut pairs) = (one, other, Vec::new());
    while i > 0 && j > 0 {
        if best[i][j] <= best[i][j - 1] {
            j -= 1;
        } else if best[i][j] <= best[i - 1][j] {
            i -= 1;
        } else {
            (i, j) = (i - 1, j - 1);
            pairs.push((i, j));
        }
    }
    pairs.reverse();
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(one: &str, other: &str) -> Vec<(usize, usize)> {
        let letters = [one, other].map(|text| text.as_bytes().to_vec());
        align(one.len(), other.len(), |i, j| f64::from(u8::from(letters[0][i] == letters[1][j])))
    }

    #[test]
    fn what_was_added_or_removed_moves_nothing_else() {
        assert_eq!(pairs("abc", "axbc"), [(0, 0), (1, 2), (2, 3)]);
        assert_eq!(pairs("axbc", "abc"), [(0, 0), (2, 1), (3, 2)]);
        assert_eq!(pairs("abc", "bcd"), [(1, 0), (2, 1)]);
    }

    #[test]
    fn those_with_nothing_in_common_keep_their_order() {
        assert_eq!(pairs("abc", "axc"), [(0, 0), (1, 1), (2, 2)]);
        assert_eq!(pairs("ab", "xy"), [(0, 0), (1, 1)]);
        assert_eq!(pairs("", "xy"), []);
    }
}
