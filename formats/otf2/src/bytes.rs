//! Bounds-checked reading of primitive values.
//!
//! Guarantee: no method panics, reads past its bound, or advances after a failure. The window is described by
//! offsets into the whole file, so a position is always the absolute offset that a message needs
//! (`FORMAT.md`, "Primitives").

/// Byte order of a chunk or an anchor file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum ByteOrder {
    /// Least significant byte first; mark `0x42`.
    #[default]
    Little,
    /// Most significant byte first; mark `0x23`.
    Big,
}

impl ByteOrder {
    /// The byte order with this mark.
    pub(crate) fn from_mark(mark: u8) -> Option<Self> {
        match mark {
            0x42 => Some(ByteOrder::Little),
            0x23 => Some(ByteOrder::Big),
            _ => None,
        }
    }

    /// The mark in the second byte of every chunk and of the anchor.
    pub(crate) fn mark(self) -> u8 {
        match self {
            ByteOrder::Little => 0x42,
            ByteOrder::Big => 0x23,
        }
    }
}

/// A window of a file that is read from front to back.
///
/// **Invariant:** `at <= end <= file.len()`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bytes<'a> {
    file: &'a [u8],
    at: usize,
    end: usize,
    order: ByteOrder,
}

impl<'a> Bytes<'a> {
    /// The bytes of `file` from `at` to `end`; bounds outside the file are cut.
    pub(crate) fn new(file: &'a [u8], at: usize, end: usize, order: ByteOrder) -> Self {
        let end = end.min(file.len());
        Bytes { file, at: at.min(end), end, order }
    }

    /// Absolute offset of the next byte.
    #[inline]
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Absolute offset of the end of the window.
    #[inline]
    pub(crate) fn end(&self) -> usize {
        self.end
    }

    #[inline]
    pub(crate) fn order(&self) -> ByteOrder {
        self.order
    }

    #[inline]
    pub(crate) fn left(&self) -> usize {
        self.end - self.at
    }

    /// Advances until `left` bytes remain; never steps back.
    #[inline]
    pub(crate) fn leave(&mut self, left: usize) {
        self.at = self.at.max(self.end.saturating_sub(left));
    }

    /// The remaining bytes.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.since(self.at, self.end)
    }

    /// The remaining bytes, and all behind them in the file.
    pub(crate) fn rest_of_file(&self) -> &'a [u8] {
        self.file.get(self.at..).unwrap_or_default()
    }

    /// The bytes between two absolute offsets.
    pub(crate) fn since(&self, from: usize, to: usize) -> &'a [u8] {
        self.file.get(from..to).unwrap_or_default()
    }

    /// The same window from another absolute offset on.
    pub(crate) fn restarted(&self, at: usize) -> Self {
        Bytes { at: at.min(self.end), ..*self }
    }

    #[inline]
    pub(crate) fn u8(&mut self) -> Option<u8> {
        if self.at >= self.end {
            return None;
        }
        let value = *self.file.get(self.at)?;
        self.at += 1;
        Some(value)
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        let bytes = self.fixed()?;
        Some(match self.order {
            ByteOrder::Little => u16::from_le_bytes(bytes),
            ByteOrder::Big => u16::from_be_bytes(bytes),
        })
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        let bytes = self.fixed()?;
        Some(match self.order {
            ByteOrder::Little => u32::from_le_bytes(bytes),
            ByteOrder::Big => u32::from_be_bytes(bytes),
        })
    }

    #[inline]
    pub(crate) fn u64(&mut self) -> Option<u64> {
        let bytes = self.fixed()?;
        Some(match self.order {
            ByteOrder::Little => u64::from_le_bytes(bytes),
            ByteOrder::Big => u64::from_be_bytes(bytes),
        })
    }

    #[inline]
    fn fixed<const N: usize>(&mut self) -> Option<[u8; N]> {
        if self.left() < N {
            return None;
        }
        let value = *self.file.get(self.at..)?.first_chunk::<N>()?;
        self.at += N;
        Some(value)
    }

    /// A compressed number of up to four bytes.
    #[inline(always)]
    pub(crate) fn compressed_u32(&mut self) -> Option<u32> {
        // The cast cuts nothing but the upper half of "all bits one".
        #[allow(clippy::cast_possible_truncation)]
        self.compressed(4).map(|value| value as u32)
    }

    /// A compressed number of up to eight bytes.
    #[inline(always)]
    pub(crate) fn compressed_u64(&mut self) -> Option<u64> {
        self.compressed(8)
    }

    /// Reads any width with one load of eight bytes, which may look past `end` but never past the file.
    #[inline(always)]
    fn compressed(&mut self, width: usize) -> Option<u64> {
        let Some([size, payload @ ..]) = self.file.get(self.at..)?.first_chunk::<9>() else {
            return self.compressed_near_end(width);
        };
        let size = usize::from(*size);
        if size > width {
            return self.all_ones();
        }
        let next = self.at + 1 + size;
        if next > self.end {
            return None;
        }
        self.at = next;
        Some(low_bytes(*payload, size, self.order))
    }

    /// [`compressed`](Self::compressed) within the last eight bytes of the file.
    #[cold]
    fn compressed_near_end(&mut self, width: usize) -> Option<u64> {
        let (&size, payload) = self.rest().split_first()?;
        let size = usize::from(size);
        if size > width {
            return self.all_ones();
        }
        let payload = payload.get(..size)?;
        let mut padded = [0; 8];
        padded.get_mut(..size)?.copy_from_slice(payload);
        self.at += 1 + size;
        Some(low_bytes(padded, size, self.order))
    }

    /// Reads a number with size byte `FF`: all bits are one. Any other size that is too large is corrupt.
    #[cold]
    fn all_ones(&mut self) -> Option<u64> {
        let mut copy = *self;
        if copy.u8()? != 0xff {
            return None;
        }
        *self = copy;
        Some(u64::MAX)
    }

    /// Reads a string up to its terminating zero, which is consumed and not part of it.
    pub(crate) fn string(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest();
        let length = rest.iter().position(|&byte| byte == 0)?;
        self.at += length + 1;
        rest.get(..length)
    }

    /// Reads the length of a record, returns its body and steps over it; `None` if it does not end within
    /// this window.
    #[inline(always)]
    pub(crate) fn body(&mut self) -> Option<Bytes<'a>> {
        let start = *self;
        let length = match self.u8()? {
            0xff => self.u64().and_then(|length| usize::try_from(length).ok()).unwrap_or(usize::MAX),
            length => usize::from(length),
        };
        if length > self.left() {
            *self = start;
            return None;
        }
        let body = Bytes { end: self.at + length, ..*self };
        self.at = body.end;
        Some(body)
    }
}

/// Mask of the low bytes, by number of bytes.
const BITS: [u64; 9] =
    [0, 0xff, 0xffff, 0xff_ffff, 0xffff_ffff, 0xff_ffff_ffff, 0xffff_ffff_ffff, u64::MAX >> 8, u64::MAX];

/// The number in the first `size` bytes of eight.
#[inline(always)]
fn low_bytes(bytes: [u8; 8], size: usize, order: ByteOrder) -> u64 {
    match order {
        ByteOrder::Little => u64::from_le_bytes(bytes) & BITS.get(size).copied().unwrap_or(u64::MAX),
        ByteOrder::Big => {
            let unused = 64u32.saturating_sub(8 * u32::try_from(size).unwrap_or(8));
            u64::from_be_bytes(bytes).checked_shr(unused).unwrap_or(0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn little(bytes: &[u8]) -> Bytes<'_> {
        Bytes::new(bytes, 0, bytes.len(), ByteOrder::Little)
    }

    fn big(bytes: &[u8]) -> Bytes<'_> {
        Bytes::new(bytes, 0, bytes.len(), ByteOrder::Big)
    }

    #[test]
    fn compressed_number_has_size_byte_and_payload() {
        for padding in [&[][..], &[9; 12]] {
            let with = |bytes: &[u8]| [bytes, padding].concat();
            assert_eq!(little(&with(&[0])).compressed_u32(), Some(0));
            assert_eq!(little(&with(&[2, 0xe2, 1])).compressed_u32(), Some(482));
            assert_eq!(big(&with(&[2, 1, 0xe2])).compressed_u32(), Some(482));
            assert_eq!(little(&with(&[2, 5, 0])).compressed_u32(), Some(5), "non-minimal forms are fine");
            assert_eq!(little(&with(&[0xff])).compressed_u32(), Some(u32::MAX));
            assert_eq!(little(&with(&[0xff])).compressed_u64(), Some(u64::MAX));
            assert_eq!(
                little(&with(&[8, 1, 2, 3, 4, 5, 6, 7, 8])).compressed_u64(),
                Some(0x0807_0605_0403_0201)
            );
            assert_eq!(
                big(&with(&[8, 1, 2, 3, 4, 5, 6, 7, 8])).compressed_u64(),
                Some(0x0102_0304_0506_0708)
            );
            assert_eq!(little(&with(&[5, 1, 2, 3, 4, 5])).compressed_u32(), None, "five bytes are no u32");
            assert_eq!(little(&with(&[9, 1, 2, 3, 4, 5, 6, 7, 8, 9])).compressed_u64(), None);
        }
    }

    #[test]
    fn number_cut_by_bound_is_refused_and_nothing_moves() {
        let file = [4, 1, 2, 3, 4, 0, 0, 0, 0, 0];
        for end in 0..5 {
            let mut bytes = Bytes::new(&file, 0, end, ByteOrder::Little);
            assert_eq!((bytes.compressed_u32(), bytes.at()), (None, 0), "end {end}");
        }
        assert_eq!(Bytes::new(&file, 0, 5, ByteOrder::Little).compressed_u32(), Some(0x0403_0201));
    }

    #[test]
    fn body_longer_than_window_is_refused() {
        assert_eq!(little(&[2, 7, 8]).body().map(|body| body.rest()), Some(&[7, 8][..]));
        assert!(little(&[3, 7, 8]).body().is_none());
        assert!(little(&[0xff, 1, 0, 0, 0, 0, 0, 0, 0, 7]).body().is_some_and(|body| body.rest() == [7]));
        assert!(little(&[0xff; 20]).body().is_none(), "a length of 2^64 - 1");
    }

    #[test]
    fn string_without_zero_is_refused() {
        assert_eq!(little(b"ab\0c").string(), Some(&b"ab"[..]));
        assert_eq!(little(b"ab").string(), None);
    }
}
