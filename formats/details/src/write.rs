//! Writing: all bytes of a table.

use crate::codec::encode;
use crate::error::{Error, Result};
use crate::header::{Block, ColumnHeader, Header, MAGIC, ROWS};
use crate::table::{Column, Table, Values};

/// Returns the bytes of a table.
///
/// # Errors
/// If columns have different numbers of rows or equal names, if a row of bytes has 4 GiB or more, or if a codec does not fit
/// the type.
pub fn write(table: &Table) -> Result<Vec<u8>> {
    table.check()?;
    let mut blocks = Vec::new();
    let columns = table.columns.iter().map(|column| column_header(column, &mut blocks));
    let columns = columns.collect::<Result<Vec<_>>>()?;
    let header = Header { name: table.name.clone(), rows: table.rows() as u64, columns };
    let header = serde_json::to_vec(&header).map_err(|error| Error::new(error.to_string()))?;
    let length = u32::try_from(header.len()).map_err(|_| Error::new("the header is too long"))?;
    let mut bytes = MAGIC.to_vec();
    bytes.extend(length.to_le_bytes());
    bytes.extend(header);
    bytes.extend(blocks);
    Ok(bytes)
}

/// Appends the blocks of a column, and returns where they are.
fn column_header(column: &Column, bytes: &mut Vec<u8>) -> Result<ColumnHeader> {
    let Column { name, unit, codec, values } = column;
    if let Values::Bytes(rows) = values
        && let Some(row) = rows.iter().find(|row| u32::try_from(row.len()).is_err())
    {
        return Err(Error::new(format!("column {name}: a row of {} bytes", row.len())));
    }
    let mut blocks: Vec<Block> = Vec::new();
    for first in (0..values.len()).step_by(ROWS) {
        let rows = first..values.len().min(first + ROWS);
        let count = rows.len() as u64;
        let block = encode(values, rows, *codec);
        blocks.push((bytes.len() as u64, block.len() as u64, count));
        bytes.extend(block);
    }
    Ok(ColumnHeader { name: name.clone(), kind: values.kind(), unit: *unit, codec: *codec, blocks })
}
