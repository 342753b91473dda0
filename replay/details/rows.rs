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

/// Bytes that are collected before they are appended: appending each number by itself takes longer than all else here.
struct Bytes<'a> {
    buffer: [u8; 256],
    length: usize,
    to: &'a mut Vec<u8>,
}

impl Bytes<'_> {
    #[inline]
    fn put(&mut self, number: u64) {
        if self.length + 10 > self.buffer.len() {
            self.flush();
        }
        let length = leb128_length(number);
        let at = self.length;
        if length <= 8 {
            let bytes = to_groups(number) | MORE & !(u64::MAX << (8 * (length - 1)));
            self.buffer[at..at + 8].copy_from_slice(&bytes.to_le_bytes());
        } else {
            put_long(number, &mut self.buffer[at..at + length]);
        }
        self.length += length;
    }

    fn put_zeros(&mut self, zeros: u64) {
        if zeros > 0 {
            self.put(0);
            self.put(zeros - 1);
        }
    }

    fn flush(&mut self) {
        self.to.extend_from_slice(&self.buffer[..self.length]);
        self.length = 0;
    }
}

/// Appends the bytes of a row; nothing if it has no ticks.
pub(super) fn encode(ticks: &[Ticks], bytes: &mut Vec<u8>) {
    let Some(last) = ticks.iter().rposition(|&ticks| ticks != 0) else { return };
    let mut bytes = Bytes { buffer: [0; 256], length: 0, to: bytes };
    let mut zeros = 0;
    for &ticks in &ticks[..=last] {
        if ticks == 0 {
            zeros += 1;
            continue;
        }
        bytes.put_zeros(zeros);
        zeros = 0;
        bytes.put((ticks << 1 ^ ticks >> 63).cast_unsigned());
    }
    bytes.put_zeros(to_u64(ticks.len() - 1 - last));
    bytes.flush();
}

/// Appends the bytes of some zeros.
pub(super) fn put_zeros(zeros: u64, bytes: &mut Vec<u8>) {
    let mut bytes = Bytes { buffer: [0; 256], length: 0, to: bytes };
    bytes.put_zeros(zeros);
    bytes.flush();
}

/// The bits of all bytes that say that more bytes follow.
const MORE: u64 = 0x8080_8080_8080_8080;

/// Returns the bytes that a number takes.
#[inline]
fn leb128_length(number: u64) -> usize {
    let bits = u64::BITS - (number | 1).leading_zeros();
    to_usize(u64::from(bits.div_ceil(7)))
}

/// Spreads the groups of 7 bits of a number below 2^56 over bytes: first halves, then quarters, then eighths.
#[inline]
fn to_groups(number: u64) -> u64 {
    let x = number & 0x0fff_ffff | (number & 0x00ff_ffff_f000_0000) << 4;
    let x = x & 0x0000_3fff_0000_3fff | (x & 0x0fff_c000_0fff_c000) << 2;
    x & 0x007f_007f_007f_007f | (x & 0x3f80_3f80_3f80_3f80) << 1
}

/// Undoes [`to_groups`].
#[inline]
fn from_groups(bytes: u64) -> u64 {
    let x = bytes & 0x007f_007f_007f_007f | (bytes & 0x7f00_7f00_7f00_7f00) >> 1;
    let x = x & 0x0000_3fff_0000_3fff | (x & 0x3fff_0000_3fff_0000) >> 2;
    x & 0x0fff_ffff | (x & 0x0fff_ffff_0000_0000) >> 4
}

/// Writes a number of 2^56 or more.
fn put_long(mut number: u64, bytes: &mut [u8]) {
    let last = bytes.len() - 1;
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = number.to_le_bytes()[0] & 0x7f | if at < last { 0x80 } else { 0 };
        number >>= 7;
    }
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

#[inline]
fn take(bytes: &mut &[u8]) -> u64 {
    if let Some(&eight) = bytes.first_chunk() {
        let eight = u64::from_le_bytes(eight);
        let ends = !eight & MORE;
        if ends != 0 {
            let bits = ends.trailing_zeros();
            *bytes = &bytes[to_usize(u64::from(bits / 8 + 1))..];
            return from_groups(eight & !MORE & (u64::MAX >> (63 - bits)));
        }
    }
    take_long(bytes)
}

/// Takes a number of 2^56 or more, or one of the last numbers.
fn take_long(bytes: &mut &[u8]) -> u64 {
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
