//! Rows of the table `grid`: the ticks of a class and of a group of locations, by bin.
//!
//! Bytes are zigzag LEB128 numbers (<https://en.wikipedia.org/wiki/LEB128>), one for each bin; a 0 is followed by the number
//! of further zeros, as most bins of most classes have none.

use model::Ticks;

use super::timeline::{FINE_BINS, Run};
use crate::int::to_usize;

/// Ticks by bin. Runs are added in constant time.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// By bin: ticks in it, and by how much more those of long runs are than in the bin before; the last one is behind the
    /// end.
    bins: Vec<(Ticks, Ticks)>,
    /// A bin has this power of two of fine bins.
    shift: u32,
}

impl Row {
    /// Makes a row without ticks; `bins` is a power of two, at most that of fine bins.
    pub(super) fn new(bins: u16) -> Row {
        let shift = FINE_BINS.trailing_zeros().saturating_sub(bins.trailing_zeros());
        Row { bins: vec![(0, 0); usize::from(bins) + 1], shift }
    }

    /// Adds the ticks of a run.
    #[inline]
    pub(super) fn add(&mut self, run: &Run) {
        let Run { first, last, head, full, tail, .. } = *run;
        let (from, to) = (usize::from(first >> self.shift), usize::from(last >> self.shift));
        if from == to {
            return self.put(from, run.ticks());
        }
        let (fine, times) = (1 << self.shift, |bins: u16| full.wrapping_mul(bins.into()));
        // Fine bins behind the first one in its bin, and before the last one in its bin.
        self.put(from, head.wrapping_add(times(fine - 1 - (first & (fine - 1)))));
        self.put(to, tail.wrapping_add(times(last & (fine - 1))));
        if to - from > 1 {
            let ticks = times(fine);
            self.bins[from + 1].1 = self.bins[from + 1].1.wrapping_add(ticks);
            self.bins[to].1 = self.bins[to].1.wrapping_sub(ticks);
        }
    }

    #[inline]
    fn put(&mut self, bin: usize, ticks: Ticks) {
        let sum = &mut self.bins[bin].0;
        *sum = sum.wrapping_add(ticks);
    }

    /// Adds the ticks that [`encode`] has written.
    pub(super) fn add_encoded(&mut self, bytes: &[u8]) {
        let mut bin = 0;
        each_encoded(bytes, |zeros, ticks| {
            bin += zeros;
            if ticks != 0 && bin + 1 < self.bins.len() {
                self.put(bin, ticks);
                bin += 1;
            }
        });
    }

    /// Removes all ticks.
    pub(super) fn clear(&mut self) {
        self.bins.fill((0, 0));
    }

    /// Returns the ticks by bin.
    pub(super) fn ticks(&self) -> impl Iterator<Item = Ticks> {
        let bins = &self.bins[..self.bins.len() - 1];
        bins.iter().scan(0, |level: &mut Ticks, &(ticks, change)| {
            *level = level.wrapping_add(change);
            Some(level.wrapping_add(ticks))
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

/// Reads what [`encode`] has written: how many zeros there are, or 0 of them and the ticks of a bin.
fn each_encoded(mut bytes: &[u8], mut read: impl FnMut(usize, Ticks)) {
    while !bytes.is_empty() {
        match take(&mut bytes) {
            0 => read(1 + to_usize(take(&mut bytes)), 0),
            number => read(0, (number >> 1).cast_signed() ^ -(number & 1).cast_signed()),
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

    #[test]
    fn runs_are_summed_up_to_wider_bins() {
        let mut row = Row::new(64);
        let run = |first, last, head, full, tail| Run { first, last, class: 0, head, full, tail };
        row.add(&run(0, 4095, 1, 1, 1));
        row.add(&run(63, 64, 10, 1, 11));
        row.add(&run(100, 127, 3, -2, 5));
        row.add(&Run::single(4095, 0, 7));
        let ticks: Vec<Ticks> = row.ticks().collect();
        assert_eq!((ticks[0], ticks[1], ticks[2], ticks[63]), (64 + 10, 64 + 11 + 8 - 52, 64, 64 + 7));
        assert_eq!(ticks.iter().sum::<Ticks>(), 4096 + 21 + 8 - 52 + 7);
        row.clear();
        assert!(row.ticks().all(|ticks| ticks == 0));
    }

    #[test]
    fn rows_come_back_from_their_bytes() {
        let ticks = [0, 0, 7, -1, 0, Ticks::MAX, Ticks::MIN, 64, 0, 0, 0];
        let mut bytes = Vec::new();
        encode(ticks.into_iter(), &mut bytes);
        assert_eq!(bytes[..4], [0, 1, 14, 1]);
        let mut row = Row::new(64);
        row.add_encoded(&bytes);
        row.add_encoded(&[2]);
        assert_eq!(row.ticks().take(11).collect::<Vec<_>>(), [&[1], &ticks[1..]].concat());
    }

    #[test]
    fn rows_without_ticks_have_no_bytes() {
        let mut bytes = vec![9];
        encode([0; 64].into_iter(), &mut bytes);
        assert_eq!(bytes, [9]);
    }
}
