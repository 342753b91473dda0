//! Rows of the table `grid`: the ticks of a class and of a group of locations, by bin.
//!
//! Bytes are zigzag LEB128 numbers (<https://en.wikipedia.org/wiki/LEB128>), one for each bin; a 0 is followed by the number
//! of further zeros, as most bins of most classes have none.

use model::Ticks;

use super::timeline::{FINE_BINS, Run};
use crate::int::{to_u64, to_usize};

/// Ticks by bin. Runs are added in constant time.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// Ticks by bin, but for those of long runs between their first and their last bin.
    bins: Vec<Ticks>,
    /// By how much more the ticks of long runs are than in the bin before; the last one is behind the end. Empty as long as
    /// there are no long runs.
    changes: Vec<Ticks>,
    /// Whether there may be ticks.
    is_used: bool,
    /// A bin has this power of two of fine bins.
    shift: u32,
}

impl Row {
    /// Makes a row without ticks; `bins` is a power of two, at most that of fine bins.
    pub(super) fn new(bins: u16) -> Row {
        let shift = FINE_BINS.trailing_zeros().saturating_sub(bins.trailing_zeros());
        Row { bins: vec![0; usize::from(bins)], changes: Vec::new(), is_used: false, shift }
    }

    /// Adds the ticks of a run.
    #[inline]
    pub(super) fn add(&mut self, run: &Run) {
        self.is_used = true;
        let (from, to) = (usize::from(run.first >> self.shift), usize::from(run.last >> self.shift));
        if run.first == run.last {
            self.put(from, run.head);
        } else if from == to {
            self.put(from, run.ticks());
        } else {
            self.add_long(run, from, to);
        }
    }

    /// Adds the ticks of a run that ends in another bin than that of its begin.
    fn add_long(&mut self, run: &Run, from: usize, to: usize) {
        let Run { first, last, head, full, tail, .. } = *run;
        let (fine, times) = (1 << self.shift, |bins: u16| full.wrapping_mul(bins.into()));
        // Fine bins behind the first one in its bin, and before the last one in its bin.
        self.put(from, head.wrapping_add(times(fine - 1 - (first & (fine - 1)))));
        self.put(to, tail.wrapping_add(times(last & (fine - 1))));
        if to - from > 1 {
            self.changes.resize(self.bins.len() + 1, 0);
            let ticks = times(fine);
            self.changes[from + 1] = self.changes[from + 1].wrapping_add(ticks);
            self.changes[to] = self.changes[to].wrapping_sub(ticks);
        }
    }

    #[inline]
    fn put(&mut self, bin: usize, ticks: Ticks) {
        let sum = &mut self.bins[bin];
        *sum = sum.wrapping_add(ticks);
    }

    /// Adds the ticks that [`encode`] has written.
    pub(super) fn add_encoded(&mut self, bytes: &[u8]) {
        self.is_used = true;
        let mut bin = 0;
        each_encoded(bytes, |zeros, ticks| {
            bin += zeros;
            if ticks != 0 && bin < self.bins.len() {
                self.put(bin, ticks);
                bin += 1;
            }
        });
    }

    /// Returns the ticks by bin; none if there are no ticks at all.
    pub(super) fn ticks(&mut self) -> &[Ticks] {
        if !self.is_used {
            return &[];
        }
        let mut level: Ticks = 0;
        for (ticks, change) in self.bins.iter_mut().zip(&self.changes) {
            level = level.wrapping_add(*change);
            *ticks = ticks.wrapping_add(level);
        }
        self.changes.fill(0);
        &self.bins
    }

    /// Removes all ticks.
    pub(super) fn clear(&mut self) {
        if self.is_used {
            self.bins.fill(0);
            self.changes.fill(0);
            self.is_used = false;
        }
    }
}

/// Appends the bytes of a row; nothing if it has no ticks.
pub(super) fn encode(ticks: &[Ticks], bytes: &mut Vec<u8>) {
    let Some(last) = ticks.iter().rposition(|&ticks| ticks != 0) else { return };
    let mut zeros = 0;
    for &ticks in &ticks[..=last] {
        if ticks == 0 {
            zeros += 1;
            continue;
        }
        put_zeros(zeros, bytes);
        zeros = 0;
        put((ticks << 1 ^ ticks >> 63).cast_unsigned(), bytes);
    }
    put_zeros(to_u64(ticks.len() - 1 - last), bytes);
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
        let ticks = row.ticks().to_vec();
        assert_eq!((ticks[0], ticks[1], ticks[2], ticks[63]), (64 + 10, 64 + 11 + 8 - 52, 64, 64 + 7));
        assert_eq!(ticks.iter().sum::<Ticks>(), 4096 + 21 + 8 - 52 + 7);
        assert_eq!(row.ticks(), ticks, "ticks of long runs are added once");
        row.clear();
        assert!(row.ticks().is_empty());
        row.add(&run(0, 4095, 1, 1, 1));
        assert_eq!(row.ticks(), [64; 64]);
    }

    #[test]
    fn rows_come_back_from_their_bytes() {
        let ticks = [0, 0, 7, -1, 0, Ticks::MAX, Ticks::MIN, 64, 0, 0, 0];
        let mut bytes = Vec::new();
        encode(&ticks, &mut bytes);
        assert_eq!(bytes[..4], [0, 1, 14, 1]);
        let mut row = Row::new(64);
        row.add_encoded(&bytes);
        row.add_encoded(&[2]);
        assert_eq!(row.ticks()[..11], [&[1], &ticks[1..]].concat());
    }

    #[test]
    fn rows_without_ticks_have_no_bytes() {
        let mut bytes = vec![9];
        encode(&[0; 64], &mut bytes);
        encode(&[], &mut bytes);
        assert_eq!(bytes, [9]);
    }

    #[test]
    fn numbers_of_any_length_come_back() {
        let ticks: Vec<Ticks> = (0..63).flat_map(|bit| [1 << bit, -(1 << bit), (1 << bit) - 1]).collect();
        for ticks in ticks.chunks(64) {
            let mut bytes = Vec::new();
            encode(ticks, &mut bytes);
            let mut row = Row::new(64);
            row.add_encoded(&bytes);
            assert_eq!(row.ticks()[..ticks.len()], *ticks);
        }
    }
}
