//! Blocks of rows: little-endian bytes, differences, compression.

use std::io::{Read, Write};
use std::ops::Range;

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

use crate::error::{Error, Result};
use crate::header::{Codec, Kind};
use crate::table::Values;

/// The level of compression, the same bytes wherever it runs. Level 6 makes times 1 to 10 % smaller, and takes three times as long.
const LEVEL: u32 = 1;

/// Bytes that a compressed byte can become at most (RFC 1951: a match of 258 bytes in two bits).
const EXPANSION: u64 = 1032;

/// Integers, of which blocks may have the differences.
trait Integer: Copy + Default {
    const WIDTH: usize;
    fn minus(self, other: Self) -> Self;
    fn plus(self, other: Self) -> Self;
    /// Puts its bytes, as many as it has.
    fn put(self, bytes: &mut [u8]);
    /// The integer with these bytes, as many as it has.
    fn get(bytes: &[u8]) -> Self;
}

macro_rules! integers {
    ($($integer:ty),*) => {
        $(impl Integer for $integer {
            const WIDTH: usize = size_of::<$integer>();

            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            fn put(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }

            fn get(bytes: &[u8]) -> Self {
                <$integer>::from_le_bytes(bytes.try_into().expect("as many bytes as it has"))
            }
        })*
    };
}

integers!(u8, u16, u32, u64, i64);

fn put_all<T: Integer>(rows: &[T], is_delta: bool) -> Vec<u8> {
    let mut bytes = vec![0; T::WIDTH * rows.len()];
    let mut before = T::default();
    for (bytes, &row) in bytes.chunks_exact_mut(T::WIDTH).zip(rows) {
        (if is_delta { row.minus(before) } else { row }).put(bytes);
        before = row;
    }
    bytes
}

fn get_all<T: Integer>(bytes: &[u8], is_delta: bool, rows: &mut Vec<T>) {
    let mut before = T::default();
    rows.extend(bytes.chunks_exact(T::WIDTH).map(|bytes| {
        let stored = T::get(bytes);
        before = if is_delta { before.plus(stored) } else { stored };
        before
    }));
}

/// A block of the rows in a range.
pub(crate) fn encode(values: &Values, rows: Range<usize>, codec: Codec) -> Vec<u8> {
    let is_delta = codec == Codec::DeltaZlib;
    let plain: Vec<u8> = match values {
        Values::U8(all) => put_all(&all[rows], is_delta),
        Values::U16(all) => put_all(&all[rows], is_delta),
        Values::U32(all) => put_all(&all[rows], is_delta),
        Values::U64(all) => put_all(&all[rows], is_delta),
        Values::I64(all) => put_all(&all[rows], is_delta),
        Values::F64(all) => all[rows].iter().flat_map(|row| row.to_le_bytes()).collect(),
        Values::Bytes(all) => {
            let rows = &all[rows];
            let mut bytes = Vec::with_capacity(rows.iter().map(|row| 4 + row.len()).sum());
            rows.iter().for_each(|row| bytes.extend(length(row).to_le_bytes()));
            rows.iter().for_each(|row| bytes.extend_from_slice(row));
            bytes
        }
    };
    match codec {
        Codec::Raw => plain,
        Codec::Zlib | Codec::DeltaZlib => {
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(LEVEL));
            let written = encoder.write_all(&plain).and_then(|()| encoder.finish());
            written.expect("a list takes all bytes")
        }
    }
}

/// The length of a row of bytes; longer ones were refused before.
fn length(row: &[u8]) -> u32 {
    u32::try_from(row.len()).unwrap_or(u32::MAX)
}

/// Appends the rows of a block.
pub(crate) fn decode(block: &[u8], rows: usize, codec: Codec, values: &mut Values) -> Result<()> {
    let kind = values.kind();
    let plain = match codec {
        Codec::Raw => block.to_vec(),
        Codec::Zlib | Codec::DeltaZlib => inflate(block, most(kind, rows, block.len()))?,
    };
    let is_delta = codec == Codec::DeltaZlib;
    if let Some(width) = kind.width().filter(|width| plain.len() != width * rows) {
        let found = plain.len();
        return Err(Error::new(format!("{found} bytes for {rows} rows, expected {}", width * rows)));
    }
    match values {
        Values::U8(all) => get_all(&plain, is_delta, all),
        Values::U16(all) => get_all(&plain, is_delta, all),
        Values::U32(all) => get_all(&plain, is_delta, all),
        Values::U64(all) => get_all(&plain, is_delta, all),
        Values::I64(all) => get_all(&plain, is_delta, all),
        Values::F64(all) => all.extend(
            plain
                .chunks_exact(8)
                .map(|bytes| f64::from_le_bytes(bytes.try_into().expect("as many bytes as it has"))),
        ),
        Values::Bytes(all) => strings(&plain, rows, all)?,
    }
    Ok(())
}

/// Bytes that a block may have without compression.
fn most(kind: Kind, rows: usize, compressed: usize) -> u64 {
    let by_size = (compressed as u64).saturating_mul(EXPANSION);
    // One more shows that there are too many.
    kind.width().map_or(by_size, |width| by_size.min((width * rows) as u64 + 1))
}

fn inflate(block: &[u8], most: u64) -> Result<Vec<u8>> {
    let mut plain = Vec::new();
    let read = ZlibDecoder::new(block).take(most).read_to_end(&mut plain);
    read.map_err(|error| Error::new(format!("cannot be decompressed: {error}")))?;
    Ok(plain)
}

fn strings(plain: &[u8], rows: usize, all: &mut Vec<Vec<u8>>) -> Result<()> {
    let missing =
        || Error::new(format!("{} bytes for {rows} rows, which say that they are longer", plain.len()));
    let (lengths, mut rest) = plain.split_at_checked(4 * rows).ok_or_else(missing)?;
    for length in lengths.chunks_exact(4) {
        let length = u32::from_le_bytes(length.try_into().expect("four bytes"));
        let (row, next) = rest.split_at_checked(length as usize).ok_or_else(missing)?;
        all.push(row.to_vec());
        rest = next;
    }
    if rest.is_empty() {
        Ok(())
    } else {
        Err(Error::new(format!("{} bytes behind the last row", rest.len())))
    }
}
