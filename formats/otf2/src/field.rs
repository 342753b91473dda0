//! Field types of records: the Rust type of a field determines its encoding.
//!
//! | type | on disk |
//! |---|---|
//! | `u8`, and enumerations | one byte |
//! | `u32`, `u64` | compressed |
//! | `i64` | compressed; negative numbers at full width |
//! | [`Timestamp`] | eight bytes |
//! | `f64` | eight bytes |
//! | `&[u8]` | bytes and a terminating zero |
//! | [`Value`](crate::Value) | a type byte and a value of that type |
//! | [`List`](crate::List) | a count and so many elements |
//!
//! Reading cannot panic and allocates nothing; `None` means that the field does not fit or is corrupt.

use crate::bytes::{ByteOrder, Bytes};
use model::{
    CollectiveOp, GroupType, LocationGroupType, LocationType, MeasurementMode, Paradigm, RegionRole,
};

/// The all-ones number that stands for "no such definition" in 32-bit references.
pub const UNDEFINED: u32 = u32::MAX;

/// Root of a collective operation that has none.
pub const ROOT_NONE: u32 = u32::MAX;

/// Root on an inter-communicator: this process (`MPI_ROOT`).
pub const ROOT_SELF: u32 = u32::MAX - 1;

/// Root on an inter-communicator: another process of this group (`MPI_PROC_NULL`).
pub const ROOT_THIS_GROUP: u32 = u32::MAX - 2;

/// An instant on the clock of one location, in ticks, before any correction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Timestamp(pub u64);

/// A type of a record field.
pub(crate) trait Field<'a>: Sized {
    fn read(bytes: &mut Bytes<'a>) -> Option<Self>;
    fn write(&self, body: &mut Body);
}

/// Encoder of a record's body, with the upper bound of its size that decides in which chunk it goes
/// (`FORMAT.md`, "When a chunk is full").
#[derive(Debug)]
pub(crate) struct Body {
    bytes: Vec<u8>,
    order: ByteOrder,
    /// Whether fields count with their actual size, as in definitions, instead of their maximal size, as in
    /// events.
    exact: bool,
    bound: usize,
    fault: Option<&'static str>,
}

impl Body {
    pub(crate) fn new(order: ByteOrder, exact: bool) -> Self {
        Body { bytes: Vec::new(), order, exact, bound: 0, fault: None }
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.bound = 0;
        self.fault = None;
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// At least the length of `bytes`.
    pub(crate) fn bound(&self) -> usize {
        self.bound
    }

    /// Why the record cannot be written, if so.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        self.fault
    }

    /// Marks the record as one that cannot be written.
    pub(crate) fn refuse(&mut self, reason: &'static str) {
        self.fault = Some(reason);
    }

    /// Counts all that `write` writes as `bound` bytes.
    pub(crate) fn counted_as(&mut self, bound: usize, write: impl FnOnce(&mut Self)) {
        let before = self.bound;
        write(self);
        self.bound = before + bound;
    }

    pub(crate) fn u8(&mut self, value: u8) {
        self.bytes.push(value);
        self.bound += 1;
    }

    pub(crate) fn u16(&mut self, value: u16) {
        self.fixed(value.to_le_bytes());
    }

    pub(crate) fn u32(&mut self, value: u32) {
        self.fixed(value.to_le_bytes());
    }

    pub(crate) fn u64(&mut self, value: u64) {
        self.fixed(value.to_le_bytes());
    }

    fn fixed<const N: usize>(&mut self, mut little: [u8; N]) {
        if self.order == ByteOrder::Big {
            little.reverse();
        }
        self.bytes.extend_from_slice(&little);
        self.bound += N;
    }

    pub(crate) fn compressed_u32(&mut self, value: u32) {
        if value == u32::MAX { self.all_ones(4) } else { self.compressed(value.into(), 4) }
    }

    pub(crate) fn compressed_u64(&mut self, value: u64) {
        if value == u64::MAX { self.all_ones(8) } else { self.compressed(value, 8) }
    }

    /// Encodes a two's complement number of `width` bytes, zero-extended; unlike unsigned numbers, −1 has no
    /// short form.
    pub(crate) fn compressed_signed(&mut self, bits: u64, width: usize) {
        self.compressed(bits, width);
    }

    fn all_ones(&mut self, width: usize) {
        self.bytes.push(0xff);
        self.bound += if self.exact { 1 } else { 1 + width };
    }

    fn compressed(&mut self, value: u64, width: usize) {
        let size = 8 - value.leading_zeros() as usize / 8;
        // `size` is at most 8.
        self.bytes.push(size.to_le_bytes()[0]);
        // Appending eight bytes and truncating is faster than appending a variable number.
        let bytes = match self.order {
            ByteOrder::Little => value.to_le_bytes(),
            ByteOrder::Big => value.checked_shl(value.leading_zeros() / 8 * 8).unwrap_or(0).to_be_bytes(),
        };
        let before = self.bytes.len();
        self.bytes.extend_from_slice(&bytes);
        self.bytes.truncate(before + size);
        self.bound += 1 + if self.exact { size } else { width };
    }

    pub(crate) fn string(&mut self, value: &[u8]) {
        if value.contains(&0) {
            self.refuse("a string that contains a zero byte");
        }
        self.bytes.extend_from_slice(value);
        self.bytes.push(0);
        self.bound += value.len() + 1;
    }
}

impl Field<'_> for u8 {
    #[inline(always)]
    fn read(bytes: &mut Bytes<'_>) -> Option<Self> {
        bytes.u8()
    }

    fn write(&self, body: &mut Body) {
        body.u8(*self);
    }
}

impl Field<'_> for u32 {
    #[inline(always)]
    fn read(bytes: &mut Bytes<'_>) -> Option<Self> {
        bytes.compressed_u32()
    }

    fn write(&self, body: &mut Body) {
        body.compressed_u32(*self);
    }
}

impl Field<'_> for u64 {
    #[inline(always)]
    fn read(bytes: &mut Bytes<'_>) -> Option<Self> {
        bytes.compressed_u64()
    }

    fn write(&self, body: &mut Body) {
        body.compressed_u64(*self);
    }
}

impl Field<'_> for i64 {
    #[inline(always)]
    fn read(bytes: &mut Bytes<'_>) -> Option<Self> {
        bytes.compressed_u64().map(u64::cast_signed)
    }

    fn write(&self, body: &mut Body) {
        body.compressed_signed(self.cast_unsigned(), 8);
    }
}

impl Field<'_> for Timestamp {
    #[inline(always)]
    fn read(bytes: &mut Bytes<'_>) -> Option<Self> {
        bytes.u64().map(Timestamp)
    }

    fn write(&self, body: &mut Body) {
        body.u64(self.0);
    }
}

impl Field<'_> for f64 {
    fn read(bytes: &mut Bytes<'_>) -> Option<Self> {
        bytes.u64().map(f64::from_bits)
    }

    fn write(&self, body: &mut Body) {
        body.u64(self.to_bits());
    }
}

impl<'a> Field<'a> for &'a [u8] {
    fn read(bytes: &mut Bytes<'a>) -> Option<Self> {
        bytes.string()
    }

    fn write(&self, body: &mut Body) {
        body.string(self);
    }
}

/// Implements [`Field`] for the model's enumerations, which are single bytes.
macro_rules! byte_fields {
    ($($type:ident)*) => {$(
        impl Field<'_> for $type {
            #[inline]
            fn read(bytes: &mut Bytes<'_>) -> Option<Self> {
                bytes.u8().map($type)
            }

            fn write(&self, body: &mut Body) {
                body.u8(self.0);
            }
        }
    )*};
}

byte_fields! { CollectiveOp GroupType LocationGroupType LocationType MeasurementMode Paradigm RegionRole }

#[cfg(test)]
mod tests {
    use super::*;

    fn written(order: ByteOrder, write: impl FnOnce(&mut Body)) -> (Vec<u8>, usize) {
        let mut body = Body::new(order, false);
        write(&mut body);
        (body.bytes().to_vec(), body.bound())
    }

    #[test]
    fn numbers_are_written_minimal_and_bounded_by_their_width() {
        let little = |value: u64| written(ByteOrder::Little, |body| body.compressed_u64(value));
        assert_eq!(little(0), (vec![0], 9));
        assert_eq!(little(482), (vec![2, 0xe2, 1], 9));
        assert_eq!(little(u64::from(u32::MAX)), (vec![4, 255, 255, 255, 255], 9));
        assert_eq!(little(u64::MAX), (vec![255], 9));
        assert_eq!(written(ByteOrder::Big, |body| 482u32.write(body)), (vec![2, 1, 0xe2], 5));
    }

    #[test]
    fn negative_numbers_take_the_full_width() {
        let (bytes, bound) = written(ByteOrder::Little, |body| (-1i64).write(body));
        assert_eq!((bytes, bound), (vec![8, 255, 255, 255, 255, 255, 255, 255, 255], 9));
    }

    #[test]
    fn definitions_count_exactly() {
        let mut body = Body::new(ByteOrder::Little, true);
        7u32.write(&mut body);
        UNDEFINED.write(&mut body);
        assert_eq!(body.bound(), body.bytes().len());
    }
}
