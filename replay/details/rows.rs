//! Rows of the table `grid`: the ticks of a class and of a group of locations, by bin.
//!
//! Bytes are zigzag LEB128 numbers (<https://en.wikipedia.org/wiki/LEB128>), one for each bin; a 0 is followed by the number
//! of further zeros, as most bins of most classes have none.

use std::slice::ChunksExact;

use model::Ticks;

use super::timeline::{FINE_BINS, Run};
use crate::int::{to_u64, to_usize};

/// Ticks by bin of neighbouring groups. Runs are added in constant time. All rows are one piece of memory, which the system
/// gets back; of many small ones it would not.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    /// The number of bins of a row.
    width: usize,
    /// Ticks by group and bin, but for those of long runs between their first and their last bin.
    ticks: Vec<Ticks>,
    /// By how much more the ticks of long runs are than in the bin before. Empty as long as there are no long runs.
    changes: Vec<Ticks>,
    /// Whether there may be ticks.
    is_used: bool,
    /// A bin has this power of two of fine bins.
    shift: u32,
}

impl Rows {
    /// Makes rows without ticks; `bins` is a power of two, at most that of fine bins.
    pub(super) fn new(groups: usize, bins: u16) -> Rows {
        let width = usize::from(bins);
        let shift = FINE_BINS.trailing_zeros().saturating_sub(bins.trailing_zeros());
        Rows { width, ticks: vec![0; groups * width], changes: Vec::new(), is_used: false, shift }
    }

    /// Adds the ticks of a run to a group.
    ///
    /// # Panics
    /// If there is no such group.
    #[inline]
    pub(super) fn add(&mut self, group: usize, run: &Run) {
        self.is_used = true;
        let row = group * self.width;
        let (from, to) = (usize::from(run.first >> self.shift), usize::from(run.last >> self.shift));
        if run.first == run.last {
            self.put(row + from, run.head);
        } else if from == to {
            self.put(row + from, run.ticks());
        } else {
            self.add_long(run, row + from, row + to);
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
            if self.changes.is_empty() {
                self.changes = vec![0; self.ticks.len()];
            }
            let ticks = times(fine);
            self.changes[from + 1] = self.changes[from + 1].wrapping_add(ticks);
            self.changes[to] = self.changes[to].wrapping_sub(ticks);
        }
    }

    #[inline]
    fn put(&mut self, at: usize, ticks: Ticks) {
        let sum = &mut self.ticks[at];
        *sum = sum.wrapping_add(ticks);
    }

    /// Adds the ticks that [`encode`] has written to a group.
    pub(super) fn add_encoded(&mut self, group: usize, bytes: &[u8]) {
        self.is_used = true;
        let row = group * self.width;
        let mut bin = 0;
        each_encoded(bytes, |zeros, ticks| {
            bin += zeros;
            if ticks != 0 && bin < self.width {
                self.put(row + bin, ticks);
                bin += 1;
            }
        });
    }

    /// Returns the ticks by bin, one group after the other; none if there are no ticks at all.
    pub(super) fn groups(&mut self) -> ChunksExact<'_, Ticks> {
        let mut level: Ticks = 0;
        for (ticks, change) in self.ticks.iter_mut().zip(&self.changes) {
            // A long run ends in its row, so each row begins with 0.
            level = level.wrapping_add(*change);
            *ticks = ticks.wrapping_add(level);
        }
        self.changes.fill(0);
        let ticks = if self.is_used { &self.ticks[..] } else { &[] };
        ticks.chunks_exact(self.width)
    }

    /// Removes all ticks.
    pub(super) fn clear(&mut self) {
        if self.is_used {
            self.ticks.fill(0);
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

/// Appends a number in LEB128.
pub(super) fn put(mut number: u64, bytes: &mut Vec<u8>) {
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
        let mut rows = Rows::new(1, 64);
        let run = |first, last, head, full, tail| Run { first, last, class: 0, head, full, tail };
        rows.add(0, &run(0, 4095, 1, 1, 1));
        rows.add(0, &run(63, 64, 10, 1, 11));
        rows.add(0, &run(100, 127, 3, -2, 5));
        rows.add(0, &Run::single(4095, 0, 7));
        let ticks = rows.groups().next().unwrap().to_vec();
        assert_eq!((ticks[0], ticks[1], ticks[2], ticks[63]), (64 + 10, 64 + 11 + 8 - 52, 64, 64 + 7));
        assert_eq!(ticks.iter().sum::<Ticks>(), 4096 + 21 + 8 - 52 + 7);
        assert_eq!(rows.groups().next(), Some(&ticks[..]), "ticks of long runs are added once");
        rows.clear();
        assert_eq!(rows.groups().next(), None);
        rows.add(0, &run(0, 4095, 1, 1, 1));
        assert_eq!(rows.groups().next(), Some(&[64; 64][..]));
    }

    #[test]
    fn groups_have_rows_of_their_own() {
        let mut rows = Rows::new(3, 64);
        let run = |first, last| Run { first, last, class: 0, head: 1, full: 1, tail: 1 };
        rows.add(2, &run(0, 4095));
        rows.add(0, &run(4032, 4095));
        rows.add(0, &run(64, 4095));
        let mut first = [64; 64];
        (first[0], first[63]) = (0, 128);
        assert_eq!(rows.groups().collect::<Vec<_>>(), [first, [0; 64], [64; 64]]);
    }

    #[test]
    fn rows_come_back_from_their_bytes() {
        let ticks = [0, 0, 7, -1, 0, Ticks::MAX, Ticks::MIN, 64, 0, 0, 0];
        let mut bytes = Vec::new();
        encode(&ticks, &mut bytes);
        assert_eq!(bytes[..4], [0, 1, 14, 1]);
        let mut rows = Rows::new(2, 64);
        rows.add_encoded(1, &bytes);
        rows.add_encoded(1, &[2]);
        assert_eq!(rows.groups().nth(1).unwrap()[..11], [&[1], &ticks[1..]].concat());
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
            let mut rows = Rows::new(1, 64);
            rows.add_encoded(0, &bytes);
            assert_eq!(rows.groups().next().unwrap()[..ticks.len()], *ticks);
        }
    }
}
