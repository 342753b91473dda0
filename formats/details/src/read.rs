//! Reading: nothing that a header says is trusted before it is checked.

use crate::codec::decode;
use crate::error::{Error, Result};
use crate::header::{ColumnHeader, Header, Kind, MAGIC, ROWS};
use crate::table::{Column, Table, Values};

/// Returns the table with these bytes.
///
/// # Errors
/// If they are no table, with the byte at which that shows.
pub fn parse(bytes: &[u8]) -> Result<Table> {
    let rest = bytes
        .strip_prefix(MAGIC)
        .ok_or_else(|| Error::new("no table: it does not begin with RPTABLE1").at(0))?;
    let (length, rest) =
        rest.split_first_chunk().ok_or_else(|| Error::new("the table ends in its header").at(8))?;
    let length = u32::from_le_bytes(*length) as usize;
    let cut = || Error::new(format!("a header of {length} bytes, of which {} are there", rest.len())).at(8);
    let (header, blocks) = rest.split_at_checked(length).ok_or_else(cut)?;
    let header: Header =
        serde_json::from_slice(header).map_err(|error| Error::new(format!("header: {error}")).at(12))?;
    let start = 12 + length as u64;
    // Blocks that share bytes would make small files into large tables.
    let places = header.columns.iter().flat_map(|column| &column.blocks);
    let sum = places.fold(0_u64, |sum, &(_, size, _)| sum.saturating_add(size));
    if sum > blocks.len() as u64 {
        return Err(Error::new(format!(
            "blocks of {sum} bytes together, of which {} are there",
            blocks.len()
        ))
        .at(12));
    }
    let columns = header.columns.into_iter().map(|column| read_column(column, header.rows, blocks, start));
    let table = Table { name: header.name, columns: columns.collect::<Result<_>>()? };
    table.check().map_err(|error| error.at(12))?;
    Ok(table)
}

/// The rows of a column; `start` is where the blocks begin in the table.
fn read_column(column: ColumnHeader, rows: u64, blocks: &[u8], start: u64) -> Result<Column> {
    let ColumnHeader { name, kind, unit, codec, blocks: places } = column;
    let wrong = |what: String| Error::new(format!("column {name}: {what}"));
    kind.check(codec).map_err(|what| wrong(what.into()).at(12))?;
    let mut values = match kind {
        Kind::U8 => Values::U8(Vec::new()),
        Kind::U16 => Values::U16(Vec::new()),
        Kind::U32 => Values::U32(Vec::new()),
        Kind::U64 => Values::U64(Vec::new()),
        Kind::I64 => Values::I64(Vec::new()),
        Kind::F64 => Values::F64(Vec::new()),
        Kind::Bytes => Values::Bytes(Vec::new()),
    };
    let mut left = rows;
    for (offset, size, count) in places {
        let expected = left.min(ROWS as u64);
        if count != expected || count == 0 {
            return Err(wrong(format!("a block of {count} rows, expected {expected}")).at(12));
        }
        left -= count;
        let block = usize::try_from(offset).ok().zip(usize::try_from(size).ok());
        let block = block.and_then(|(offset, size)| blocks.get(offset..)?.get(..size));
        let beyond = || wrong(format!("{size} bytes from byte {offset} on, of {}", blocks.len())).at(start);
        let block = block.ok_or_else(beyond)?;
        let rows = usize::try_from(count).map_err(|_| wrong(format!("{count} rows")))?;
        decode(block, rows, codec, &mut values)
            .map_err(|error| wrong(format!("block: {error}")).at(start + offset))?;
    }
    if left > 0 {
        return Err(wrong(format!("{left} rows are in no block")).at(12));
    }
    Ok(Column { name, unit, codec, values })
}
