//! Blocks: neighbouring iterations that share a row of a series, where there are very many.

use crate::int::{to_u64, to_usize};

/// Rows of a series, besides that of what is outside. More iterations share rows.
const ROWS: u64 = 1 << 17;

/// How iterations share rows: as many neighbours as a power of two has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Blocks {
    shift: u32,
}

impl Blocks {
    /// Those of so many iterations.
    pub fn new(iterations: u64) -> Blocks {
        Blocks { shift: iterations.div_ceil(ROWS).next_power_of_two().trailing_zeros() }
    }

    /// Those of twice as many.
    #[must_use]
    pub fn doubled(self) -> Blocks {
        Blocks { shift: self.shift + 1 }
    }

    /// How many iterations share a row.
    pub fn size(self) -> u64 {
        1 << self.shift
    }

    /// The row of an iteration by its number; what is outside, number 0, has row 0.
    pub fn row(self, number: u64) -> usize {
        to_usize(if number == 0 { 0 } else { ((number - 1) >> self.shift) + 1 })
    }

    /// The number of the first iteration of a row behind 0.
    pub fn first(self, row: usize) -> u64 {
        ((to_u64(row) - 1) << self.shift) + 1
    }
}
