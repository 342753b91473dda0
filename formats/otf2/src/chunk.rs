//! Chunks: the equal pieces into which every file but the anchor is cut (`FORMAT.md`, "Chunks").
//!
//! Each starts with a header that holds its byte order; the last may be shorter. No record spans two chunks.
//! Reads the headers of a file; the cursors read what is between them.

use crate::Error;
use crate::bytes::{ByteOrder, Bytes};
use crate::record::{CHUNK_HEADER, END_OF_BUFFER, END_OF_CHUNK};
use std::path::Path;

/// Length of a chunk header: `03`, byte order, first and last event number.
pub(crate) const HEADER: usize = 18;

/// Reads a file chunk by chunk.
#[derive(Clone, Debug)]
pub(crate) struct ChunkReader<'a> {
    file: &'a [u8],
    path: &'a Path,
    size: usize,
    next: usize,
    finished: bool,
    /// The unread rest of the current chunk.
    pub(crate) bytes: Bytes<'a>,
}

impl<'a> ChunkReader<'a> {
    /// Starts before the first chunk of `file`.
    pub(crate) fn new(file: &'a [u8], path: &'a Path, size: u64) -> Self {
        // The anchor's check refuses smaller sizes; the maximum keeps the arithmetic safe nevertheless.
        let size = usize::try_from(size).unwrap_or(usize::MAX).max(HEADER);
        ChunkReader {
            file,
            path,
            size,
            next: 0,
            finished: false,
            bytes: Bytes::new(file, 0, 0, ByteOrder::Little),
        }
    }

    pub(crate) fn path(&self) -> &'a Path {
        self.path
    }

    pub(crate) fn file_size(&self) -> usize {
        self.file.len()
    }

    /// Enters the next chunk; `false` once the file is finished.
    #[cold]
    pub(crate) fn advance(&mut self) -> Result<bool, Error> {
        if self.finished {
            return Ok(false);
        }
        let begin = self.next;
        if begin >= self.file.len() {
            let at = self.bytes.at() as u64;
            self.finish();
            return Err(Error::truncated(self.path, at, "a chunk without end mark"));
        }
        let Some(&[mark, order, ..]) = self.file.get(begin..).and_then(<[u8]>::first_chunk::<HEADER>) else {
            self.finish();
            return Err(Error::truncated(self.path, begin as u64, "a chunk header"));
        };
        let Some(order) = ByteOrder::from_mark(order).filter(|_| mark == CHUNK_HEADER) else {
            self.finish();
            let message = format!("no chunk header: found {mark:02x} {order:02x}, expected 03 42 or 03 23");
            return Err(Error::damaged(self.path, begin as u64, message));
        };
        self.next = begin.saturating_add(self.size);
        self.bytes = Bytes::new(self.file, begin + HEADER, self.next, order);
        Ok(true)
    }

    /// Ends the file: no further chunk is read.
    pub(crate) fn finish(&mut self) {
        self.finished = true;
        self.bytes = Bytes::new(self.file, self.file.len(), self.file.len(), ByteOrder::Little);
    }

    /// Finishes, and returns the reason why the record `id` at `offset` cannot be decoded. `failed` is the
    /// position of the field at which decoding failed, if the record itself has an end.
    #[cold]
    pub(crate) fn fail(&mut self, offset: usize, id: u8, name: &str, failed: Option<Bytes<'_>>) -> Error {
        let (end, at) = (self.bytes.end(), offset as u64);
        self.finish();
        let message = match failed {
            _ if matches!(id, END_OF_CHUNK..=END_OF_BUFFER | CHUNK_HEADER) => {
                format!("a record cannot have the number {id}")
            }
            Some(body) if body.end() < end => {
                let field = body.at();
                let left = body.left();
                format!(
                    "{name} record: the field at byte {field:#x} is corrupt or longer than the {left} bytes left"
                )
            }
            Some(body) if body.left() >= 9 => {
                format!("{name} record: the number at byte {:#x} has an impossible size", body.at())
            }
            _ if end == self.file.len() => {
                return Error::truncated(self.path, at, &format!("a record ({name})"));
            }
            _ => format!("{name} record: longer than the rest of its chunk, which ends at byte {end:#x}"),
        };
        Error::damaged(self.path, at, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunks(file: &[u8]) -> ChunkReader<'_> {
        ChunkReader::new(file, Path::new("a.evt"), 20)
    }

    fn header(mark: u8) -> Vec<u8> {
        [&[3, mark][..], &[0; 16]].concat()
    }

    #[test]
    fn each_chunk_has_its_own_byte_order() {
        let file = [header(0x42), vec![7, 0], header(0x23), vec![2, 1]].concat();
        let mut chunks = chunks(&file);
        assert!(chunks.advance().unwrap());
        assert_eq!((chunks.bytes.order(), chunks.bytes.rest()), (ByteOrder::Little, &[7, 0][..]));
        assert!(chunks.advance().unwrap());
        assert_eq!((chunks.bytes.order(), chunks.bytes.rest()), (ByteOrder::Big, &[2, 1][..]));
        assert!(chunks.advance().unwrap_err().to_string().contains("without end mark"));
        assert!(!chunks.advance().unwrap(), "finished after an error");
    }

    #[test]
    fn cut_or_wrong_header_is_refused() {
        assert!(chunks(&[]).advance().unwrap_err().to_string().contains("the file ends within"));
        assert!(
            chunks(&header(0x42)[..17]).advance().unwrap_err().to_string().contains("the file ends within")
        );
        let wrong = header(0x41);
        assert!(
            chunks(&wrong)
                .advance()
                .unwrap_err()
                .to_string()
                .contains("found 03 41, expected 03 42 or 03 23")
        );
    }
}
