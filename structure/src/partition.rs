//! Sets of rising numbers, such as the visits of a node at which an edge was taken, as progressions of blocks (structure 2.5).

use std::fmt;

/// The numbers `first + j·stride + i` with 0 ≤ i < `block`, j ≥ 0, not beyond `last`; with stride 0 a single block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Progression {
    /// Its smallest number.
    pub first: u32,
    /// Its largest number.
    pub last: u32,
    /// From the beginning of one block to that of the next one; 0 if there is only one.
    pub stride: u32,
    /// The length of each block.
    pub block: u32,
}

impl Progression {
    /// A single block.
    pub(crate) fn block(first: u32, length: u32) -> Progression {
        Progression { first, last: first + length - 1, stride: 0, block: length }
    }

    /// Number of its blocks.
    pub fn blocks(&self) -> u32 {
        match self.stride {
            0 => 1,
            stride => (self.last - (self.block - 1) - self.first) / stride + 1,
        }
    }

    /// Its numbers, rising.
    pub fn numbers(&self) -> impl Iterator<Item = u32> + use<> {
        let Progression { first, stride, block, .. } = *self;
        (0..self.blocks()).flat_map(move |j| first + j * stride..first + j * stride + block)
    }
}

impl fmt::Display for Progression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Progression { first, last, stride, block } = self;
        write!(f, "{first},{last},{stride},{block}")
    }
}

/// Collects rising numbers into progressions, greedily from the left: blocks of neighbours, of which those of equal length at
/// equal distances are taken together.
#[derive(Clone, Debug, Default)]
pub struct PartitionBuilder {
    done: Vec<Progression>,
    /// The progression that may still grow, with the beginning of its last block.
    open: Option<(Progression, u32)>,
    /// The block that may still grow: its beginning and length.
    block: Option<(u32, u32)>,
}

impl PartitionBuilder {
    /// Adds the next number, which is larger than all before.
    #[inline]
    pub fn push(&mut self, number: u32) {
        match &mut self.block {
            Some((begin, length)) if *begin + *length == number => *length += 1,
            _ => {
                self.end_block();
                self.block = Some((number, 1));
            }
        }
    }

    /// Number of blocks and progressions that cannot grow any more.
    pub fn len(&self) -> usize {
        self.done.len()
    }

    /// Whether there are none of these.
    pub fn is_empty(&self) -> bool {
        self.done.is_empty()
    }

    /// Returns the progressions.
    pub fn finish(mut self) -> Vec<Progression> {
        self.end_block();
        self.done.extend(self.open.map(|(open, _)| open));
        self.done
    }

    fn end_block(&mut self) {
        if let Some((begin, length)) = self.block.take() {
            self.push_block(begin, length);
        }
    }

    /// Adds a block of neighbours behind all before, that no number added later is a neighbour of.
    pub(crate) fn push_block(&mut self, begin: u32, length: u32) {
        if let Some((open, before)) = &mut self.open
            && open.block == length
            && (open.stride == 0 || begin - *before == open.stride)
        {
            (open.stride, open.last, *before) = (begin - *before, begin + length - 1, begin);
            return;
        }
        let single = Progression::block(begin, length);
        self.done.extend(self.open.replace((single, begin)).map(|(open, _)| open));
    }
}

/// Returns rising numbers as progressions.
pub fn partition(numbers: impl IntoIterator<Item = u32>) -> Vec<Progression> {
    let mut builder = PartitionBuilder::default();
    numbers.into_iter().for_each(|number| builder.push(number));
    builder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(numbers: &[u32]) -> String {
        let parts = partition(numbers.iter().copied());
        parts.iter().map(Progression::to_string).collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn numbers_are_taken_together_in_blocks_and_progressions() {
        assert_eq!(printed(&[]), "");
        assert_eq!(printed(&[3]), "3,3,0,1");
        assert_eq!(printed(&[4, 5, 6]), "4,6,0,3");
        assert_eq!(printed(&[0, 2, 4, 5]), "0,2,2,1 | 4,5,0,2");
        assert_eq!(printed(&[0, 1, 5, 6, 10, 11, 13]), "0,11,5,2 | 13,13,0,1");
        assert_eq!(printed(&[0, 3, 6, 10, 14]), "0,6,3,1 | 10,14,4,1");
    }

    #[test]
    fn progressions_have_exactly_the_numbers_they_were_made_of() {
        let mut draw = crate::random(7);
        for _ in 0..2000 {
            let (length, dense) = (draw(60), draw(4) + 2);
            let numbers: Vec<u32> = (0..length).filter(|_| draw(dense) != 0).collect();
            let parts = partition(numbers.iter().copied());
            let again: Vec<u32> = parts.iter().flat_map(Progression::numbers).collect();
            assert_eq!(again, numbers);
        }
    }
}
