//! The buffer of a location: events that had been recorded and not yet written out.

use crate::Error;
use recording::buffer::{HEADER_BYTES, MAGIC};
use recording::layout;
use std::fs;
use std::path::Path;

/// Length of the header of a chunk.
pub(crate) const CHUNK_HEADER: usize = 18;

/// The contents of a buffer.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct Buffer {
    /// Number of the first event in the chunk.
    pub(crate) first_event: u64,
    /// The complete records of the chunk, without its header.
    pub(crate) records: Vec<u8>,
    /// Number of events in the chunks before this one and in its records.
    pub(crate) events: u64,
    /// Number of chunks that the event file has.
    pub(crate) chunks: u64,
    /// Whether the event file is complete without the buffer.
    pub(crate) has_ended: bool,
}

/// Reads the buffer of a location; `None` if there is none.
///
/// # Errors
/// If the file cannot be read, or its header is impossible.
pub(crate) fn read(directory: &Path, location: u64, chunk_size: u64) -> Result<Option<Buffer>, Error> {
    let path = layout::buffer(directory, location);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(cause) => return Err(Error::io(&path, "read the file", cause)),
    };
    parse(&bytes, chunk_size).map(Some).map_err(|(offset, message)| Error::at(&path, offset, message))
}

/// Parses the bytes of a buffer's file; an error has the offset of the problem.
fn parse(bytes: &[u8], chunk_size: u64) -> Result<Buffer, (u64, String)> {
    // The fields of `recording::buffer::BufferHeader`, in their order.
    let field = |number: usize| {
        let bytes = bytes.get(number * 8..).and_then(<[u8]>::first_chunk);
        bytes.copied().map(u64::from_ne_bytes).ok_or((number as u64 * 8, "the file ends here".to_string()))
    };
    if field(0)? != MAGIC {
        return Err((0, "not a buffer, or one that was never ready".into()));
    }
    if field(1)? != chunk_size {
        return Err((8, format!("chunks of {} bytes, the journal says {chunk_size}", field(1)?)));
    }
    let (filled, events, chunks, has_ended) = (field(2)?, field(3)?, field(4)?, field(7)? != 0);
    // Before the first record there may be no header.
    if has_ended || filled < CHUNK_HEADER as u64 {
        return Ok(Buffer { first_event: 0, records: Vec::new(), events, chunks, has_ended });
    }
    if filled > chunk_size {
        return Err((16, format!("{filled} bytes of a chunk of {chunk_size} are filled")));
    }
    let Some(chunk) = bytes.get(HEADER_BYTES..).and_then(|chunk| chunk.get(..filled as usize)) else {
        return Err((16, format!("{filled} bytes of the chunk are filled, the file ends before them")));
    };
    let (header, records) = chunk.split_at(CHUNK_HEADER);
    if header[..2] != [3, order_mark()] {
        return Err((HEADER_BYTES as u64, "no header of a chunk".into()));
    }
    let first_event = header[2..].first_chunk().copied().map_or(0, u64::from_ne_bytes);
    Ok(Buffer { first_event, records: records.to_vec(), events, chunks, has_ended })
}

/// Returns the second byte of a chunk, the byte order (OTF2's endianness flag): the recorder's is the
/// machine's.
pub(crate) fn order_mark() -> u8 {
    if cfg!(target_endian = "big") { 0x23 } else { 0x42 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: u64 = 256 << 10;

    fn file(filled: u64, ended: u64) -> Vec<u8> {
        let fields = [MAGIC, SIZE, filled, 9, 2, 100, 200, ended];
        let mut bytes: Vec<u8> = fields.iter().flat_map(|field| field.to_ne_bytes()).collect();
        bytes.resize(HEADER_BYTES, 0);
        bytes.extend([3, order_mark()]);
        bytes.extend(8u64.to_ne_bytes());
        bytes.extend(0u64.to_ne_bytes());
        bytes.extend([7; 10]);
        bytes
    }

    #[test]
    fn complete_records_are_what_is_filled() {
        let buffer = parse(&file(20, 0), SIZE).unwrap();
        let expected = Buffer { first_event: 8, records: vec![7; 2], events: 9, chunks: 2, has_ended: false };
        assert_eq!(buffer, expected);
        assert!(parse(&file(28, 0), SIZE).is_ok());
        assert!(parse(&file(0, 0), SIZE).unwrap().records.is_empty());
        assert!(parse(&file(20, 1), SIZE).unwrap().has_ended);
    }

    #[test]
    fn damage_is_named_with_its_place() {
        let refused = |bytes: &[u8], size| parse(bytes, size).unwrap_err().0;
        assert_eq!(refused(&[], SIZE), 0);
        assert_eq!(refused(&file(20, 0)[..20], SIZE), 16);
        assert_eq!(refused(&file(29, 0), SIZE), 16);
        assert_eq!(refused(&file(u64::MAX, 0), SIZE), 16);
        assert_eq!(refused(&file(20, 0), SIZE + 1), 8);
        let mut damaged = file(20, 0);
        damaged[0] ^= 1;
        assert_eq!(refused(&damaged, SIZE), 0);
        let mut damaged = file(20, 0);
        damaged[HEADER_BYTES] = 0;
        assert_eq!(refused(&damaged, SIZE), HEADER_BYTES as u64);
    }
}
