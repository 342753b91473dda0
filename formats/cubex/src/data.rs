//! `N.data`: the rows of a metric. A row is the packed values of all locations.

use std::io::Read;

use crate::DataType;
use crate::datatype::NumberKind;
use crate::error::{Error, Result};
use crate::index::ByteOrder;

/// Magic of plain data.
pub(crate) const MARK: &[u8] = b"CUBEX.DATA";
/// Magic of compressed data.
pub(crate) const COMPRESSED_MARK: &[u8] = b"ZCUBEX.DATA";

/// A number type that can be written.
pub(crate) trait WireNumber: Copy {
    const KIND: NumberKind;
    const NAME: &'static str;
    fn to_le_bytes(self) -> [u8; 8];
}

macro_rules! wire_numbers {
    ($($number:ident $kind:ident)*) => {$(
        impl WireNumber for $number {
            const KIND: NumberKind = NumberKind::$kind;
            const NAME: &'static str = stringify!($number);
            fn to_le_bytes(self) -> [u8; 8] {
                $number::to_le_bytes(self)
            }
        }
    )*};
}

wire_numbers! { f64 Float u64 Unsigned i64 Signed }

/// The values of a row, one per location, in the type they have in the file (short integers are widened).
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Floats.
    F64(Vec<f64>),
    /// Unsigned integers.
    U64(Vec<u64>),
    /// Signed integers.
    I64(Vec<i64>),
    /// Compound elements, undecoded, in the byte order of the file: [`DataType::size`] bytes for each
    /// location.
    Raw(Vec<u8>),
}

impl Values {
    /// The values as floats, rounded where they exceed 53 bits; `None` for compound elements.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "documented rounding")]
    pub fn to_f64(&self) -> Option<Vec<f64>> {
        match self {
            Values::F64(values) => Some(values.clone()),
            Values::U64(values) => Some(values.iter().map(|&value| value as f64).collect()),
            Values::I64(values) => Some(values.iter().map(|&value| value as f64).collect()),
            Values::Raw(_) => None,
        }
    }
}

/// Decodes one row.
pub(crate) fn decode(row: &[u8], data_type: &DataType, byte_order: ByteOrder) -> Values {
    let size = data_type.size().and_then(|size| usize::try_from(size).ok()).unwrap_or(1).max(1);
    let elements = row.chunks_exact(size);
    // Little-endian, extended to 64 bits.
    let wide = |element: &[u8], filler: u8| {
        let mut bytes = [filler; 8];
        let in_order = |(to, from): (&mut u8, &u8)| *to = *from;
        match byte_order {
            ByteOrder::Little => bytes.iter_mut().zip(element).for_each(in_order),
            ByteOrder::Big => bytes.iter_mut().zip(element.iter().rev()).for_each(in_order),
        }
        bytes
    };
    let is_negative = |element: &[u8]| {
        let top = if byte_order == ByteOrder::Little { element.last() } else { element.first() };
        top.is_some_and(|byte| byte & 0x80 != 0)
    };
    match data_type.number_kind() {
        Some(NumberKind::Float) => Values::F64(elements.map(|it| f64::from_le_bytes(wide(it, 0))).collect()),
        Some(NumberKind::Unsigned) => {
            Values::U64(elements.map(|it| u64::from_le_bytes(wide(it, 0))).collect())
        }
        Some(NumberKind::Signed) => {
            let filler = |element| if is_negative(element) { 0xff } else { 0 };
            Values::I64(elements.map(|it| i64::from_le_bytes(wide(it, filler(it)))).collect())
        }
        None => Values::Raw(row.to_vec()),
    }
}

/// Place of a compressed row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blob {
    /// Offset in the member.
    pub(crate) offset: u64,
    /// Compressed size.
    pub(crate) size: u64,
}

/// Decodes the table of compressed rows: the place of each, in row order.
///
/// `table` holds the entries, as many as there are rows; `member_size` is the size of the whole member. All
/// blobs together fit into the member, so that what they inflate to is bounded by the file's size, too
/// (deflate shrinks at most about a thousandfold).
pub(crate) fn blobs(
    table: &[u8],
    byte_order: ByteOrder,
    row_size: u64,
    member_size: u64,
) -> Result<Vec<Blob>> {
    let blobs_start = TABLE_START + table.len() as u64;
    let mut blobs = vec![None; table.len() / ENTRY_SIZE];
    let mut total = 0_u64;
    for (number, entry) in table.chunks_exact(ENTRY_SIZE).enumerate() {
        let at = TABLE_START + (number * ENTRY_SIZE) as u64;
        let mut words = entry.chunks_exact(8).map(|word| byte_order.u64(word.try_into().unwrap_or_default()));
        let mut word = || words.next().unwrap_or_default();
        let (plain_offset, offset, size) = (word(), word(), word());
        let row = plain_offset.checked_div(row_size).filter(|row| row * row_size == plain_offset);
        let slot = row.and_then(|row| blobs.get_mut(usize::try_from(row).ok()?));
        let Some(slot) = slot.filter(|slot| slot.is_none()) else {
            return Err(Error::invalid(format!("offset {plain_offset} is not that of another row")).at(at));
        };
        let offset = blobs_start
            .checked_add(offset)
            .filter(|start| start.checked_add(size).is_some_and(|end| end <= member_size));
        total = total.saturating_add(size);
        match offset {
            Some(offset) if total <= member_size => *slot = Some(Blob { offset, size }),
            _ => return Err(Error::invalid("compressed row lies beyond the end or over another").at(at)),
        }
    }
    // No two entries are for the same row, so each row has one.
    Ok(blobs.into_iter().flatten().collect())
}

/// Offset of the table of compressed rows: behind the magic and the count of rows.
pub(crate) const TABLE_START: u64 = COMPRESSED_MARK.len() as u64 + 8;
/// Bytes per entry of the table.
pub(crate) const ENTRY_SIZE: usize = 24;

/// Inflates one row of exactly `row_size` bytes.
pub(crate) fn inflate(blob: &[u8], row_size: u64) -> Result<Vec<u8>> {
    let mut row = Vec::new();
    let decoder = flate2::read::ZlibDecoder::new(blob);
    decoder
        .take(row_size.saturating_add(1))
        .read_to_end(&mut row)
        .map_err(|error| Error::invalid(format!("compressed row: {error}")))?;
    if row.len() as u64 != row_size {
        return Err(Error::invalid(format!("compressed row does not inflate to {row_size} bytes")));
    }
    Ok(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_integers_are_widened_with_their_sign() {
        let row = [0xff, 0xfe];
        let decoded = |data_type, byte_order| decode(&row, &data_type, byte_order);
        assert_eq!(decoded(DataType::Int16, ByteOrder::Little), Values::I64(vec![-257]));
        assert_eq!(decoded(DataType::Int16, ByteOrder::Big), Values::I64(vec![-2]));
        assert_eq!(decoded(DataType::UInt16, ByteOrder::Big), Values::U64(vec![0xfffe]));
        assert_eq!(decoded(DataType::Int8, ByteOrder::Big), Values::I64(vec![-1, -2]));
    }

    #[test]
    fn compound_elements_stay_bytes() {
        assert_eq!(decode(&[7; 16], &DataType::Rate, ByteOrder::Big), Values::Raw(vec![7; 16]));
    }

    #[test]
    fn blobs_over_one_another_are_refused() {
        let entry = |row: u64| [row * 8, 0, 30].into_iter().flat_map(u64::to_le_bytes);
        let table: Vec<u8> = entry(0).chain(entry(1)).collect();
        let error = blobs(&table, ByteOrder::Little, 8, 19 + 48 - 10).unwrap_err();
        assert!(error.to_string().contains("beyond the end"), "{error}");
    }

    #[test]
    fn row_that_inflates_too_far_is_refused() {
        use std::io::Write;
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(&[0; 1 << 20]).unwrap();
        let bomb = encoder.finish().unwrap();
        assert_eq!(inflate(&bomb, 1 << 20).unwrap().len(), 1 << 20);
        assert!(inflate(&bomb, 16).is_err());
    }
}
