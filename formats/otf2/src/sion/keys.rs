//! Keys: the bytes of a task are pieces, each behind the key of the location that it belongs to
//! (`FORMAT.md`, "Keys").

use super::container::Container;
use super::read_all;
use crate::Error;
use crate::bytes::Bytes;
use std::ops::Range;

/// Length of what is before a piece: a key and a number of bytes.
const HEADER: usize = 16;

/// The parts of a container with the pieces of a key; `chunks` are those of the key's task.
///
/// # Errors
/// If the container cannot be read, or a piece does not fit.
pub(super) fn ranges(
    container: &Container,
    chunks: &[Range<u64>],
    key: u64,
) -> Result<Vec<Range<u64>>, Error> {
    let file = container.file();
    let mut task = Task { chunks, at: 0, left: chunks.iter().map(|chunk| chunk.end - chunk.start).sum() };
    let mut found = Vec::new();
    while task.left > 0 {
        let offset = task.offset();
        if task.left < HEADER as u64 {
            let message = format!("{} bytes at the end of a task, expected a key and its bytes", task.left);
            return Err(Error::damaged(file.path(), offset, message));
        }
        let mut header = [0; HEADER];
        read_all(file, &task.take(HEADER as u64), &mut header)?;
        let mut header = Bytes::new(&header, 0, HEADER, container.order());
        let (of, bytes) = (header.u64().unwrap_or(0), header.u64().unwrap_or(0));
        // OTF2 writes a buffer that has something in it.
        if bytes == 0 || bytes > task.left {
            let message = format!("{bytes} bytes for key {of}, expected 1 to {}", task.left);
            return Err(Error::damaged(file.path(), offset, message));
        }
        let piece = task.take(bytes);
        if of == key {
            found.extend(piece);
        }
    }
    Ok(found)
}

/// The bytes of a task from a place on.
struct Task<'c> {
    /// The chunk of the place, and those behind it.
    chunks: &'c [Range<u64>],
    /// Bytes of the first chunk before the place.
    at: u64,
    /// Bytes of the task behind the place.
    left: u64,
}

impl Task<'_> {
    /// Offset of the place in the container.
    fn offset(&self) -> u64 {
        self.chunks.first().map_or(0, |chunk| chunk.start + self.at)
    }

    /// Moves on by so many bytes, of which there must be as many; returns where they are.
    fn take(&mut self, mut bytes: u64) -> Vec<Range<u64>> {
        let mut taken = Vec::new();
        self.left = self.left.saturating_sub(bytes);
        while bytes > 0
            && let Some((chunk, behind)) = self.chunks.split_first()
        {
            let begin = chunk.start + self.at;
            let end = chunk.end.min(begin.saturating_add(bytes));
            taken.push(begin..end);
            bytes -= end - begin;
            self.at += end - begin;
            if end == chunk.end {
                (self.chunks, self.at) = (behind, 0);
            }
        }
        taken
    }
}
