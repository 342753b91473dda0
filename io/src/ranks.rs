//! Sets of ranks.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Numbers in rising order, as ranges with both ends.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug, Serialize, Deserialize)]
pub struct Ranges(pub Vec<(u64, u64)>);

impl Ranges {
    /// The ranges of numbers that rise.
    pub fn of(numbers: impl IntoIterator<Item = u64>) -> Ranges {
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for number in numbers {
            match ranges.last_mut() {
                Some((_, last)) if last.checked_add(1) == Some(number) => *last = number,
                _ => ranges.push((number, number)),
            }
        }
        Ranges(ranges)
    }
}

/// `1-3,7`
impl fmt::Display for Ranges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (first, last)) in self.0.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            match first == last {
                true => write!(f, "{comma}{first}")?,
                false => write!(f, "{comma}{first}-{last}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_one_range() {
        assert_eq!(Ranges::of([1, 2, 3, 7, 9, 10]).to_string(), "1-3,7,9-10");
        assert_eq!(Ranges::of([]).to_string(), "");
        assert_eq!(Ranges::of([u64::MAX, 0]).0.len(), 2);
    }
}
