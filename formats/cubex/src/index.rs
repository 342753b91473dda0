//! `N.index`: the call paths that have a row in `N.data`, as positions in the row order of the metric.

use crate::error::{Error, Result};

const MARK: &[u8] = b"CUBEX.INDEX";
const SPARSE: u8 = 1;
const DENSE: u8 = 3;

/// Byte order of an index and its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    pub(crate) fn u32(self, bytes: [u8; 4]) -> u32 {
        if self == ByteOrder::Little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) }
    }

    pub(crate) fn u64(self, bytes: [u8; 8]) -> u64 {
        if self == ByteOrder::Little { u64::from_le_bytes(bytes) } else { u64::from_be_bytes(bytes) }
    }
}

/// A decoded index.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Index {
    pub(crate) byte_order: ByteOrder,
    /// Position of each row.
    pub(crate) positions: Vec<u32>,
}

/// Encodes the index of rows at these ascending positions: always sparse, always little-endian.
pub(crate) fn encode(positions: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(22 + 4 * positions.len());
    bytes.extend_from_slice(MARK);
    bytes.extend_from_slice(&1_u32.to_le_bytes());
    bytes.extend_from_slice(&0_u16.to_le_bytes());
    bytes.push(SPARSE);
    // Positions are distinct u32, so their number fits except in the one case that the writer refuses.
    bytes.extend_from_slice(&u32::try_from(positions.len()).unwrap_or(u32::MAX).to_le_bytes());
    for position in positions {
        bytes.extend_from_slice(&position.to_le_bytes());
    }
    bytes
}

/// Decodes an index for a call tree of `cnodes` nodes.
pub(crate) fn decode(bytes: &[u8], cnodes: usize) -> Result<Index> {
    let Some((head, rest)) = bytes.split_at_checked(18).filter(|(head, _)| head.starts_with(MARK)) else {
        return Err(Error::invalid("not an index: does not start with CUBEX.INDEX and a header").at(0));
    };
    let mark = head.get(11..15).and_then(|mark| mark.try_into().ok()).unwrap_or_default();
    let byte_order = if u32::from_le_bytes(mark) == 1 { ByteOrder::Little } else { ByteOrder::Big };
    let cnodes = u32::try_from(cnodes).unwrap_or(u32::MAX);
    let positions = match head.last().copied() {
        Some(DENSE) => (0..cnodes).collect(),
        // Without rows the count may be missing, too.
        Some(SPARSE) if rest.is_empty() => Vec::new(),
        Some(SPARSE) => sparse(rest, byte_order, cnodes)?,
        format => {
            let format = format.unwrap_or_default();
            return Err(Error::invalid(format!("index format {format}, expected 1 or 3")).at(17));
        }
    };
    Ok(Index { byte_order, positions })
}

fn sparse(bytes: &[u8], byte_order: ByteOrder, cnodes: u32) -> Result<Vec<u32>> {
    let words = bytes.chunks_exact(4);
    let mut words = words.map(|word| byte_order.u32(word.try_into().unwrap_or_default()));
    let count = words.next().ok_or_else(|| Error::invalid("the number of rows is cut off").at(18))?;
    if count > cnodes {
        return Err(
            Error::invalid(format!("{count} rows, expected at most {cnodes}, one per call path")).at(18)
        );
    }
    let stored = words.len();
    let positions: Vec<u32> = words.take(count as usize).collect();
    if positions.len() < count as usize {
        return Err(Error::invalid(format!("{count} rows, but only {stored} positions")).at(18));
    }
    let mut seen = vec![false; cnodes as usize];
    for (row, &position) in positions.iter().enumerate() {
        let problem = match seen.get_mut(position as usize) {
            None => format!("position {position}, expected less than {cnodes}"),
            Some(seen) if *seen => format!("position {position} appears twice"),
            Some(seen) => {
                *seen = true;
                continue;
            }
        };
        return Err(Error::invalid(problem).at(22 + 4 * row as u64));
    }
    Ok(positions)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(tail: &[u8]) -> Vec<u8> {
        [b"CUBEX.INDEX\x01\0\0\0\0\0", tail].concat()
    }

    #[test]
    fn encoded_index_decodes() {
        let decoded = decode(&encode(&[1, 4]), 5).unwrap();
        assert_eq!(decoded, Index { byte_order: ByteOrder::Little, positions: vec![1, 4] });
    }

    #[test]
    fn dense_index_has_all_rows_and_countless_one_none() {
        assert_eq!(decode(&index(b"\x03"), 3).unwrap().positions, [0, 1, 2]);
        assert_eq!(decode(&index(b"\x01"), 3).unwrap().positions, [0; 0]);
    }

    #[test]
    fn swapped_mark_means_big_endian() {
        let bytes = b"CUBEX.INDEX\0\0\0\x01\0\0\x01\0\0\0\x01\0\0\0\x02";
        assert_eq!(decode(bytes, 3).unwrap(), Index { byte_order: ByteOrder::Big, positions: vec![2] });
    }

    #[test]
    fn broken_index_is_explained() {
        let explain = |tail: &[u8]| decode(&index(tail), 4).unwrap_err().to_string();
        assert_eq!(explain(b"\x01\x09\0\0\0"), "byte 18: 9 rows, expected at most 4, one per call path");
        assert_eq!(explain(b"\x01\x02\0\0\0\x01\0\0\0"), "byte 18: 2 rows, but only 1 positions");
        assert_eq!(explain(b"\x01\x01\0\0\0\x04\0\0\0"), "byte 22: position 4, expected less than 4");
        assert_eq!(explain(b"\x01\x02\0\0\0\x03\0\0\0\x03\0\0\0"), "byte 26: position 3 appears twice");
        assert_eq!(explain(b"\x02"), "byte 17: index format 2, expected 1 or 3");
    }
}
