//! Rows of the table `grid`: the ticks of a class and of a group of locations, by bin.
//!
//! Bytes are zigzag LEB128 numbers (<https://en.wikipedia.org/wiki/LEB128>), one for each bin; a 0 is followed by the number
//! of further zeros, as most bins of most classes have none.

use model::Ticks;

use super::timeline::{FINE_BINS, Run};

/// Ticks by bin as differences between neighbours, to which runs are added in constant time. The last one is behind the end.
#[derive(Clone, Debug)]
pub(super) struct Row {
    differences: Vec<Ticks>,
    /// Fine bins of a bin.
    fine: u16,
}

impl Row {
    /// Makes a row without ticks; `bins` is a power of two, at most that of fine bins.
    pub(super) fn new(bins: u16) -> Row {
        Row { differences: vec![0; usize::from(bins) + 1], fine: FINE_BINS / bins.max(1) }
    }

    /// Adds the ticks of a run.
    pub(super) fn add(&mut self, run: &Run) {
        let Run { first, bins, ticks, .. } = *run;
        let end = first + bins;
        let (from, to) = (first / self.fine, (end - 1) / self.fine);
        if from == to {
            return self.add_to(from, from + 1, ticks.wrapping_mul(bins.into()));
        }
        let times = |bins: u16| ticks.wrapping_mul(bins.into());
        self.add_to(from, from + 1, times((from + 1) * self.fine - first));
        self.add_to(from + 1, to, times(self.fine));
        self.add_to(to, to + 1, times(end - to * self.fine));
    }

    /// Adds ticks to each of some bins.
    fn add_to(&mut self, first: u16, end: u16, ticks: Ticks) {
        if first < end {
            let [from, to] = [first, end].map(usize::from);
            self.differences[from] = self.differences[from].wrapping_add(ticks);
            self.differences[to] = self.differences[to].wrapping_sub(ticks);
        }
    }

    /// Removes all ticks.
    pub(super) fn clear(&mut self) {
        self.differences.fill(0);
    }

    /// Returns the ticks by bin.
    pub(super) fn ticks(&self) -> impl Iterator<Item = Ticks> {
        let bins = &self.differences[..self.differences.len() - 1];
        bins.iter().scan(0, |sum: &mut Ticks, &difference| {
            *sum = sum.wrapping_add(difference);
            Some(*sum)
        })
    }
}

/// Appends the bytes of a row; nothing if it has no ticks.
pub(super) fn encode(ticks: impl Iterator<Item = Ticks>, bytes: &mut Vec<u8>) {
    let start = bytes.len();
    let (mut zeros, mut is_empty) = (0, true);
    for ticks in ticks {
        if ticks == 0 {
            zeros += 1;
            continue;
        }
        put_zeros(zeros, bytes);
        (zeros, is_empty) = (0, false);
        put((ticks << 1 ^ ticks >> 63).cast_unsigned(), bytes);
    }
    put_zeros(zeros, bytes);
    if is_empty {
        bytes.truncate(start);
    }
}

/// Appends the bytes of some zeros.
pub(super) fn put_zeros(zeros: u64, bytes: &mut Vec<u8>) {
    if zeros > 0 {
        put(0, bytes);
        put(zeros - 1, bytes);
    }
}

fn put(mut number: u64, bytes: &mut Vec<u8>) {
    while number >= 0x80 {
        bytes.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    bytes.push(number.to_le_bytes()[0]);
}

/// Adds the ticks that [`encode`] has written to those of another row.
pub(super) fn add_encoded(mut bytes: &[u8], ticks: &mut [Ticks]) {
    let mut bin = 0;
    while !bytes.is_empty() {
        match take(&mut bytes) {
            0 => bin += 1 + crate::int::to_usize(take(&mut bytes)),
            number => {
                if let Some(sum) = ticks.get_mut(bin) {
                    *sum = sum.wrapping_add((number >> 1).cast_signed() ^ -(number & 1).cast_signed());
                }
                bin += 1;
            }
        }
    }
}

fn take(bytes: &mut &[u8]) -> u64 {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let Some((&byte, rest)) = bytes.split_first() else { break };
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(first: u16, bins: u16, ticks: Ticks) -> Run {
        Run { first, bins, class: 0, ticks }
    }

    #[test]
    fn runs_are_summed_up_to_wider_bins() {
        let mut row = Row::new(64);
        let runs = [run(0, 1, 5), run(63, 2, 10), run(0, 4096, 1), run(100, 28, -1), run(4095, 1, 7)];
        runs.iter().for_each(|run| row.add(run));
        let ticks: Vec<Ticks> = row.ticks().collect();
        assert_eq!((ticks[0], ticks[1], ticks[2], ticks[63]), (64 + 15, 64 + 10 - 28, 64, 64 + 7));
        assert_eq!(ticks.iter().sum::<Ticks>(), 5 + 20 + 4096 - 28 + 7);
        row.clear();
        assert!(row.ticks().all(|ticks| ticks == 0));
    }

    #[test]
    fn rows_come_back_from_their_bytes() {
        let ticks = [0, 0, 7, -1, 0, Ticks::MAX, Ticks::MIN, 64, 0, 0, 0];
        let mut bytes = Vec::new();
        encode(ticks.into_iter(), &mut bytes);
        assert_eq!(bytes[..4], [0, 1, 14, 1]);
        let mut sums = [1; 11];
        add_encoded(&bytes, &mut sums);
        let expected: Vec<Ticks> = ticks.iter().map(|ticks| ticks.wrapping_add(1)).collect();
        assert_eq!(sums[..], expected);
    }

    #[test]
    fn rows_without_ticks_have_no_bytes() {
        let mut bytes = vec![9];
        encode([0; 64].into_iter(), &mut bytes);
        assert_eq!(bytes, [9]);
    }
}
