//! Lines of a text, plain or compressed by gzip, of any length in little memory.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use crate::error::{Error, Fault, Result};

/// The first two bytes of a file that gzip has compressed.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Bytes that are read at once.
const BLOCK: usize = 1 << 20;

/// The longest line in bytes: a header with a million tasks has less than a fifth of it.
const LONGEST: usize = 1 << 26;

/// The longest name in bytes: definitions have room for it.
const LONGEST_NAME: usize = 1 << 12;

/// Which file of a trace a text is: messages about it say what to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Trace,
    Labels,
    Names,
}

impl Kind {
    /// What the file is to a reader of messages.
    fn called(self) -> &'static str {
        match self {
            Kind::Trace => "the trace",
            Kind::Labels => "the labels of the trace",
            Kind::Names => "the names of the trace",
        }
    }

    /// What helps if the file cannot be read.
    fn advice(self, cause: io::ErrorKind) -> &'static str {
        match (self, cause) {
            (Kind::Trace, io::ErrorKind::NotFound) => "give a FILE.prv or FILE.prv.gz that is there",
            (Kind::Trace, io::ErrorKind::IsADirectory) => "give the FILE.prv or FILE.prv.gz in it",
            (Kind::Trace, _) => "make it readable, or copy it anew",
            (Kind::Labels, _) => {
                "it has the names of all functions: copy the file that lies beside the trace where it was recorded"
            }
            (Kind::Names, _) => "make it readable, or remove it: it need not be there",
        }
    }

    /// What lines should be, and what to do if they have no end.
    fn expected(self) -> &'static str {
        match self {
            Kind::Trace => "records with line ends; is this a trace of Paraver?",
            Kind::Labels => {
                "lines as EVENT_TYPE and VALUES; copy the file that lies beside the trace where it was recorded"
            }
            Kind::Names => "lines as \"LEVEL NODE SIZE 2\"; copy it anew, or remove it: it need not be there",
        }
    }
}

/// A file that is opened, or why it cannot be: that is said when it is read, as another file is to blame first, maybe.
pub(crate) struct Opened(std::result::Result<File, Option<io::Error>>);

impl Opened {
    pub(crate) fn new(file: io::Result<File>) -> Opened {
        Opened(file.map_err(Some))
    }
}

impl Read for Opened {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.0 {
            Ok(file) => file.read(buffer),
            Err(cause) => Err(cause.take().unwrap_or_else(|| io::ErrorKind::Other.into())),
        }
    }
}

/// A line with a name in it as text: UTF-8 without zero bytes, which end names in archives, and not longer than names can be.
pub(crate) fn named(line: &[u8]) -> String {
    let cut = line.get(..LONGEST_NAME).unwrap_or(line);
    String::from_utf8_lossy(cut).replace('\0', "\u{fffd}")
}

/// Lines of a text, one after the other.
pub(crate) struct Lines<'r> {
    kind: Kind,
    path: PathBuf,
    source: Box<dyn Read + 'r>,
    buffer: Vec<u8>,
    /// What of the buffer has not been returned yet.
    begin: usize,
    end: usize,
    /// The number of the line that was returned last, from 1 on, and the offset of its first byte in the text.
    line: u64,
    byte: u64,
    /// The offset of the next line.
    next: u64,
}

impl<'r> Lines<'r> {
    /// Opens a text; the path is for messages.
    pub(crate) fn new(kind: Kind, path: &Path, source: impl Read + 'r) -> Result<Lines<'r>> {
        let mut first = Vec::with_capacity(GZIP.len());
        let mut source = source;
        let is_read = source.by_ref().take(GZIP.len() as u64).read_to_end(&mut first);
        is_read.map_err(|cause| {
            let (called, advice) = (kind.called(), kind.advice(cause.kind()));
            Error::file(path, format_args!("cannot read {called}: {cause}; {advice}"))
        })?;
        let is_compressed = first == GZIP;
        let whole = io::Cursor::new(first).chain(source);
        let source: Box<dyn Read + 'r> =
            if is_compressed { Box::new(MultiGzDecoder::new(whole)) } else { Box::new(whole) };
        let path = path.to_owned();
        Ok(Lines { kind, path, source, buffer: Vec::new(), begin: 0, end: 0, line: 0, byte: 0, next: 0 })
    }

    /// The next line without its end.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>> {
        let mut searched = self.begin;
        let (end, skipped) = loop {
            let rest = self.buffer.get(searched..self.end).unwrap_or_default();
            if let Some(at) = memchr::memchr(b'\n', rest) {
                break (searched + at, 1);
            }
            searched = self.end;
            let moved = self.begin;
            if self.fill()? == 0 {
                if self.begin == self.end {
                    return Ok(None);
                }
                break (self.end, 0);
            }
            searched -= moved - self.begin;
        };
        let begin = self.begin;
        self.begin = end + skipped;
        self.line += 1;
        self.byte = self.next;
        self.next += (self.begin - begin) as u64;
        let line = self.buffer.get(begin..end).unwrap_or_default();
        Ok(Some(line.strip_suffix(b"\r").unwrap_or(line)))
    }

    /// Reads more behind what there is; returns the number of bytes, 0 at the end.
    fn fill(&mut self) -> Result<usize> {
        if self.begin > 0 {
            self.buffer.copy_within(self.begin..self.end, 0);
            self.end -= self.begin;
            self.begin = 0;
        }
        if self.end > LONGEST {
            let message =
                format_args!("found a line of more than {LONGEST} bytes, expected {}", self.kind.expected());
            return Err(Error::at(&self.path, self.line + 1, self.next, message));
        }
        let needed = self.end + BLOCK;
        if self.buffer.len() < needed {
            self.buffer.resize(needed.max(2 * self.buffer.len()), 0);
        }
        loop {
            match self.source.read(self.buffer.get_mut(self.end..).unwrap_or_default()) {
                Ok(count) => {
                    self.end += count;
                    return Ok(count);
                }
                Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
                Err(cause) => {
                    let message = format_args!("cannot read the file: {cause}; copy it anew");
                    return Err(Error::at(&self.path, self.line + 1, self.next, message));
                }
            }
        }
    }

    /// Bytes of the lines that were returned.
    pub(crate) fn bytes(&self) -> u64 {
        self.next
    }

    /// The error for a fault in the line that was returned last.
    #[cold]
    pub(crate) fn error(&self, fault: &Fault) -> Error {
        // Nothing was returned of an empty text, which ends in its first line.
        Error::at(&self.path, self.line.max(1), self.byte + fault.at as u64, &fault.message)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn lines(bytes: &[u8]) -> Vec<(u64, u64, String)> {
        let mut lines = Lines::new(Kind::Trace, Path::new("a"), bytes).unwrap();
        let mut all = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            let line = String::from_utf8_lossy(line).into_owned();
            all.push((lines.line, lines.byte, line));
        }
        all
    }

    #[test]
    fn lines_have_numbers_and_offsets_however_they_end() {
        let expected: Vec<(u64, u64, String)> =
            vec![(1, 0, "ab".into()), (2, 3, "".into()), (3, 5, "c".into())];
        assert_eq!(lines(b"ab\n\r\nc"), expected);
        assert_eq!(lines(b"ab\n\r\nc\n"), expected);
        assert_eq!(lines(b""), []);
    }

    #[test]
    fn long_lines_are_whole_and_compressed_texts_are_read() {
        let long = "x".repeat(3 * BLOCK);
        let text = format!("{long}\n1\n{long}");
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(text.as_bytes()).unwrap();
        for bytes in [text.clone().into_bytes(), gzip.finish().unwrap()] {
            let all = lines(&bytes);
            assert_eq!(all.len(), 3);
            assert!(all[0].2 == long && all[2].2 == long && all[1].2 == "1");
            assert_eq!(all[2].1, 3 * BLOCK as u64 + 3);
        }
    }

    #[test]
    fn names_can_be_written() {
        assert_eq!(named(b"a\0\xffb"), "a\u{fffd}\u{fffd}b");
        assert_eq!(named(&[b'x'; 10_000]).len(), LONGEST_NAME);
    }

    #[test]
    fn damaged_compression_is_an_error_with_a_place() {
        let mut lines = Lines::new(Kind::Trace, Path::new("a.prv.gz"), &[0x1f, 0x8b, 8, 0, 0][..]).unwrap();
        let error = lines.next().unwrap_err().to_string();
        assert!(error.starts_with("a.prv.gz: line 1, byte 0: cannot read the file: "), "{error}");
    }
}
