//! Writing the container front to back; contents that are skipped are written later.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;

use super::header::{PAX, REGULAR, encode};
use super::{BLOCK, LARGE, has_ambiguous_padding};

/// A tar archive under construction. Sizes precede contents, so that contents can be streamed.
///
/// After a failed write all further ones fail, so a broken archive cannot be completed.
#[derive(Debug)]
pub(crate) struct ArchiveWriter<W> {
    out: W,
    /// Bytes still missing from the open member.
    missing: u64,
    /// Zeros that pad the open member to whole blocks.
    padding: u64,
    failed: bool,
}

impl<W: Write> ArchiveWriter<W> {
    pub(crate) fn new(out: W) -> ArchiveWriter<W> {
        ArchiveWriter { out, missing: 0, padding: 0, failed: false }
    }

    /// Opens a member. The caller then [writes](Self::write) exactly `size` bytes and calls
    /// [`end`](Self::end). The size must not be one with ambiguous padding.
    pub(crate) fn begin(&mut self, name: &str, size: u64) -> io::Result<()> {
        debug_assert!(!has_ambiguous_padding(size), "{name} has ambiguous size {size}");
        let in_header = if size < LARGE {
            size
        } else {
            // The only form that CubeLib understands: one record with the size alone, its own length in two
            // digits.
            let digits = size.to_string();
            let record = format!("{} size={digits}\n", "LL size=\n".len() + digits.len());
            self.put(&encode(&format!("PaxHeader/{name}"), PAX, record.len() as u64))?;
            self.put(record.as_bytes())?;
            self.zeros(fill(record.len() as u64))?;
            0
        };
        self.missing = size;
        self.padding = fill(size);
        self.put(&encode(name, REGULAR, in_header))
    }

    /// Appends contents to the open member.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        debug_assert!(bytes.len() as u64 <= self.missing, "more contents than announced");
        self.missing = self.missing.saturating_sub(bytes.len() as u64);
        self.put(bytes)
    }

    /// Closes the open member.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        debug_assert_eq!(self.missing, 0, "less contents than announced");
        self.zeros(self.padding)
    }

    /// Closes the archive, flushes the output and returns it.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        self.zeros(2 * BLOCK as u64)?;
        self.out.flush()?;
        Ok(self.out)
    }

    /// Writes up to two blocks of zeros.
    fn zeros(&mut self, count: u64) -> io::Result<()> {
        const ZEROS: [u8; 2 * BLOCK] = [0; 2 * BLOCK];
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        self.put(ZEROS.get(..count).unwrap_or(&ZEROS))
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.failed {
            return Err(io::Error::other("an earlier write failed"));
        }
        let result = self.out.write_all(bytes);
        self.failed = result.is_err();
        result
    }
}

/// Returns an archive of some members, of which each has a name and contents. A newline is appended to contents of ambiguous
/// size (see the crate's `FORMAT.md`).
///
/// # Errors
///
/// Never: memory takes all.
pub(crate) fn archive(members: &[(String, Vec<u8>)]) -> io::Result<Vec<u8>> {
    let mut archive = ArchiveWriter::new(Vec::new());
    for (name, bytes) in members {
        let padded = has_ambiguous_padding(bytes.len() as u64);
        archive.begin(name, bytes.len() as u64 + u64::from(padded))?;
        archive.write(bytes)?;
        if padded {
            archive.write(b"\n")?;
        }
        archive.end()?;
    }
    archive.finish()
}

impl ArchiveWriter<BufWriter<File>> {
    /// Skips contents of the open member, to be [written](Self::write_at) later, and returns their offset.
    pub(crate) fn skip(&mut self, count: u64) -> io::Result<u64> {
        debug_assert!(count <= self.missing, "more contents than announced");
        self.missing = self.missing.saturating_sub(count);
        let end = i64::try_from(count).map(SeekFrom::Current).map_err(io::Error::other)?;
        let result = self.out.seek(end);
        self.failed |= result.is_err();
        Ok(result? - count)
    }

    /// Writes contents that were skipped.
    pub(crate) fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let result = self.out.get_ref().write_all_at(bytes, offset);
        self.failed |= result.is_err();
        result
    }
}

/// Padding, in bytes, to a full last block.
fn fill(size: u64) -> u64 {
    size.next_multiple_of(BLOCK as u64) - size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn member_is_padded_to_a_block() {
        let mut archive = ArchiveWriter::new(Vec::new());
        archive.begin("a", 3).unwrap();
        archive.write(b"abc").unwrap();
        archive.end().unwrap();
        let bytes = archive.finish().unwrap();
        assert_eq!(bytes.len(), 512 + 512 + 1024);
        assert_eq!(&bytes[512..516], b"abc\0");
    }

    #[test]
    fn failed_write_cannot_be_finished() {
        let mut room = [0; 600];
        let mut archive = ArchiveWriter::new(&mut room[..]);
        archive.begin("a", 100).unwrap();
        assert!(archive.write(&[1; 100]).is_err());
        assert_eq!(archive.finish().unwrap_err().to_string(), "an earlier write failed");
    }

    #[test]
    fn size_of_8_gib_goes_into_a_record_of_its_own() {
        let mut archive = ArchiveWriter::new(Vec::new());
        archive.begin("0.data", LARGE).unwrap();
        let bytes = &archive.out;
        assert_eq!(bytes.len(), 3 * 512);
        assert!(bytes.starts_with(b"PaxHeader/0.data\0"));
        assert_eq!(bytes[156], b'x');
        assert!(bytes[512..].starts_with(b"19 size=8589934591\n\0"));
        assert!(bytes[1024..].starts_with(b"0.data\0"));
    }
}
