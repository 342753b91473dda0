//! A temporary file with many streams of bytes, so that memory does not grow with the trace.
//!
//! A trace is in the order of time, an archive in that of threads. Each stream has a block in memory; full blocks go
//! behind each other into the file. Items are never divided among blocks.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use integer_encoding::VarInt;

/// Memory of the blocks of all streams.
const ALL: usize = 64 << 20;

/// Sizes that a block can have.
const SIZES: [usize; 2] = [1 << 9, 1 << 16];

/// Bytes of many streams.
#[derive(Debug)]
pub(crate) struct Spool {
    file: File,
    size: usize,
    end: u64,
    streams: Vec<Stream>,
}

#[derive(Clone, Debug, Default)]
struct Stream {
    /// What is not in the file yet.
    block: Vec<u8>,
    /// Offsets and lengths of blocks in the file.
    written: Vec<(u64, usize)>,
}

impl Spool {
    /// Makes empty streams in a file that has no name any more.
    pub(crate) fn new(file: File, streams: usize) -> Spool {
        let [least, most] = SIZES;
        let size = (ALL / streams.max(1)).clamp(least, most);
        Spool { file, size, end: 0, streams: vec![Stream::default(); streams] }
    }

    /// Appends an item to a stream.
    #[inline]
    pub(crate) fn push(&mut self, stream: usize, item: &[u8]) -> io::Result<()> {
        let Some(to) = self.streams.get_mut(stream) else { return Ok(()) };
        if to.block.len() + item.len() > self.size && !to.block.is_empty() {
            self.file.write_all_at(&to.block, self.end)?;
            to.written.push((self.end, to.block.len()));
            self.end += to.block.len() as u64;
            to.block.clear();
        }
        to.block.extend_from_slice(item);
        Ok(())
    }

    /// Whether nothing was appended to a stream.
    pub(crate) fn is_empty(&self, stream: usize) -> bool {
        self.streams.get(stream).is_none_or(|stream| stream.block.is_empty() && stream.written.is_empty())
    }

    /// The blocks of a stream from the begin on.
    pub(crate) fn blocks(&self, stream: usize) -> Blocks<'_> {
        Blocks { spool: self, stream, next: 0 }
    }
}

/// The blocks of a stream, one after the other.
#[derive(Debug)]
pub(crate) struct Blocks<'s> {
    spool: &'s Spool,
    stream: usize,
    next: usize,
}

impl Blocks<'_> {
    /// Puts the next block in the place of what is in a buffer; returns whether there was one.
    pub(crate) fn next(&mut self, buffer: &mut Vec<u8>) -> io::Result<bool> {
        let Some(stream) = self.spool.streams.get(self.stream) else { return Ok(false) };
        let at = self.next;
        self.next += 1;
        match stream.written.get(at) {
            Some(&(offset, length)) => {
                buffer.resize(length, 0);
                self.spool.file.read_exact_at(buffer, offset)?;
                Ok(true)
            }
            None => {
                buffer.clear();
                buffer.extend_from_slice(&stream.block);
                Ok(at == stream.written.len() && !stream.block.is_empty())
            }
        }
    }
}

/// Appends a number in as few bytes as it needs.
#[inline]
pub(crate) fn put(number: u64, bytes: &mut Vec<u8>) {
    let mut encoded = [0; 10];
    let length = number.encode_var(&mut encoded);
    bytes.extend_from_slice(encoded.get(..length).unwrap_or_default());
}

/// Takes a number; nothing at the end of the bytes.
#[inline]
pub(crate) fn take(bytes: &mut &[u8]) -> Option<u64> {
    let (number, length) = u64::decode_var(bytes)?;
    *bytes = bytes.get(length..)?;
    Some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_read_as_they_were_written() {
        let mut spool = Spool::new(tempfile::tempfile().unwrap(), 1 << 20);
        let mut item = Vec::new();
        for number in 0..2000_u64 {
            for stream in [3, 5] {
                item.clear();
                put(number << (number % 50), &mut item);
                put(u64::MAX, &mut item);
                spool.push(stream, &item).unwrap();
            }
        }
        assert!(spool.is_empty(4) && !spool.is_empty(5));
        for stream in [3, 5] {
            let mut blocks = spool.blocks(stream);
            let mut buffer = Vec::new();
            let mut expected = 0..2000_u64;
            while blocks.next(&mut buffer).unwrap() {
                let mut left = buffer.as_slice();
                while let Some(number) = take(&mut left) {
                    let next = expected.next().unwrap();
                    assert_eq!((number, take(&mut left)), (next << (next % 50), Some(u64::MAX)));
                }
            }
            assert_eq!(expected.next(), None);
        }
    }
}
