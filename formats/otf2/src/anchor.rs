//! The anchor file `<name>.otf2`: one small piece that says how the rest of the archive is written.
//!
//! Parsing accepts every anchor that can be told apart; [`Anchor::check`] refuses what this crate cannot read.

use crate::Error;
use crate::bytes::{ByteOrder, Bytes};
use crate::field::Body;
use crate::record::{CHUNK_HEADER, END_OF_BUFFER, END_OF_CHUNK, END_OF_FILE};
use std::path::Path;

/// The sizes of chunks, in bytes, that the format allows.
pub const CHUNK_SIZES: std::ops::RangeInclusive<u64> = 256 << 10..=16 << 20;

const MAGIC: &[u8] = b"OTF2";
const POSIX: u8 = 1;
const NO_COMPRESSION: u8 = 1;
/// The trace format that this crate writes, and the latest that it reads.
const TRACE_FORMAT: u8 = 2;
/// The latest anchor format; later ones would have more fields behind the known ones.
const ANCHOR_FORMAT: u8 = 3;

/// What an anchor file says.
///
/// The default describes an archive as this crate writes it: little-endian, events in chunks of 1 MiB, definitions in
/// chunks of 256 KiB.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Anchor {
    /// Order of the bytes of this file.
    pub byte_order: ByteOrder,
    /// Which fields the anchor has: 1 neither properties nor trace id, 2 no counts of snapshots, 3 all.
    pub anchor_format: u8,
    /// Format of the other files: 1 or 2.
    pub trace_format: u8,
    /// Major, minor and bugfix number of the OTF2 library that wrote the archive.
    pub version: [u8; 3],
    /// Size of the chunks of event files, in bytes.
    pub event_chunk_size: u64,
    /// Size of the chunks of definition files, in bytes.
    pub definition_chunk_size: u64,
    /// How the files are stored: 1 as plain files, 2 in SION containers, 3 not at all.
    pub substrate: u8,
    /// How the chunks are compressed: 1 not, 2 with zlib.
    pub compression: u8,
    /// Number of locations; information only.
    pub locations: u64,
    /// Number of global definition records.
    pub definitions: u64,
    /// The machine that was measured; often empty.
    pub machine: String,
    /// The program that made the trace.
    pub creator: String,
    /// Anything else; often empty.
    pub description: String,
    /// Names such as `OTF2::MPI_COMMUNICATION_COMPLETE` with their values.
    pub properties: Vec<(String, String)>,
    /// A number that is meant to be unique.
    pub trace_id: u64,
    /// Number of snapshots.
    pub snapshots: u32,
    /// Number of thumbnails.
    pub thumbnails: u32,
}

impl Default for Anchor {
    fn default() -> Self {
        Anchor {
            byte_order: ByteOrder::Little,
            anchor_format: ANCHOR_FORMAT,
            trace_format: TRACE_FORMAT,
            version: [3, 0, 0],
            event_chunk_size: 1 << 20,
            definition_chunk_size: 256 << 10,
            substrate: POSIX,
            compression: NO_COMPRESSION,
            locations: 0,
            definitions: 0,
            machine: String::new(),
            creator: String::new(),
            description: String::new(),
            properties: Vec::new(),
            trace_id: 0,
            snapshots: 0,
            thumbnails: 0,
        }
    }
}

impl Anchor {
    /// Decodes an anchor file; `path` is for messages. Strings that are not UTF-8 are read as well as possible.
    ///
    /// # Errors
    /// If it is no anchor file or ends too early.
    pub fn parse(file: &[u8], path: &Path) -> Result<Self, Error> {
        let order = match file {
            [CHUNK_HEADER, mark, rest @ ..] if rest.starts_with(b"OTF2\0") => ByteOrder::from_mark(*mark),
            _ => None,
        };
        let Some(order) = order else {
            return Err(Error::file(path, "not an OTF2 anchor file: it does not begin with the mark of one"));
        };
        let mut bytes = Bytes::new(file, 2, file.len(), order);
        match Anchor::read(&mut bytes) {
            Some(anchor) => Ok(anchor),
            None => Err(Error::truncated(path, bytes.at() as u64, "the anchor")),
        }
    }

    fn read(bytes: &mut Bytes<'_>) -> Option<Self> {
        bytes.string()?;
        let mut anchor = Anchor {
            byte_order: bytes.order(),
            anchor_format: bytes.u8()?,
            trace_format: bytes.u8()?,
            version: [bytes.u8()?, bytes.u8()?, bytes.u8()?],
            event_chunk_size: bytes.u64()?,
            definition_chunk_size: bytes.u64()?,
            substrate: bytes.u8()?,
            compression: bytes.u8()?,
            locations: bytes.u64()?,
            definitions: bytes.u64()?,
            machine: text(bytes)?,
            creator: text(bytes)?,
            description: text(bytes)?,
            ..Anchor::default()
        };
        if anchor.anchor_format >= 2 {
            for _ in 0..bytes.u32()? {
                anchor.properties.push((text(bytes)?, text(bytes)?));
            }
            anchor.trace_id = bytes.u64()?;
        }
        if anchor.anchor_format >= 3 {
            anchor.snapshots = bytes.u32()?;
            anchor.thumbnails = bytes.u32()?;
        }
        Some(anchor)
    }

    /// Encodes the anchor file.
    ///
    /// # Errors
    /// If a string contains a zero byte; `path` is for the message.
    pub fn encode(&self, path: &Path) -> Result<Vec<u8>, Error> {
        let mut body = Body::new(self.byte_order, true);
        body.u8(CHUNK_HEADER);
        body.u8(self.byte_order.mark());
        body.string(MAGIC);
        for byte in [self.anchor_format, self.trace_format].iter().chain(&self.version) {
            body.u8(*byte);
        }
        body.u64(self.event_chunk_size);
        body.u64(self.definition_chunk_size);
        body.u8(self.substrate);
        body.u8(self.compression);
        body.u64(self.locations);
        body.u64(self.definitions);
        for string in [&self.machine, &self.creator, &self.description] {
            body.string(string.as_bytes());
        }
        if self.anchor_format >= 2 {
            let Ok(properties) = u32::try_from(self.properties.len()) else {
                return Err(Error::file(path, "cannot write the anchor: too many properties"));
            };
            body.u32(properties);
            for (name, value) in &self.properties {
                body.string(name.as_bytes());
                body.string(value.as_bytes());
            }
            body.u64(self.trace_id);
        }
        if self.anchor_format >= 3 {
            body.u32(self.snapshots);
            body.u32(self.thumbnails);
        }
        for mark in [END_OF_FILE, END_OF_BUFFER, END_OF_CHUNK] {
            body.u8(mark);
        }
        match body.fault() {
            Some(fault) => Err(Error::file(path, format!("cannot write the anchor: {fault}"))),
            None => Ok(body.bytes().to_vec()),
        }
    }

    /// Refuses archives that this crate can neither read nor write; `path` is for the message.
    ///
    /// # Errors
    /// For later trace formats, other substrates than plain files, compression, and chunk sizes out of range.
    pub fn check(&self, path: &Path) -> Result<(), Error> {
        let refuse = |message: String| Err(Error::file(path, message));
        if self.trace_format > TRACE_FORMAT {
            return refuse(format!(
                "trace format {}, expected at most {TRACE_FORMAT}: the archive was written by a newer OTF2 library",
                self.trace_format
            ));
        }
        match self.substrate {
            POSIX => {}
            2 => {
                return refuse(
                    "the archive is stored in SION containers: record it again with plain files".into(),
                );
            }
            3 => {
                return refuse(
                    "the archive has an anchor only: its writer was told to store no events".into(),
                );
            }
            other => {
                return refuse(format!("unknown file substrate {other}, expected {POSIX} (plain files)"));
            }
        }
        if self.compression != NO_COMPRESSION {
            return refuse(format!(
                "compression {}, expected {NO_COMPRESSION} (none): record the archive again without",
                self.compression
            ));
        }
        for (size, of) in [(self.event_chunk_size, "event"), (self.definition_chunk_size, "definition")] {
            if !CHUNK_SIZES.contains(&size) {
                return refuse(format!(
                    "{of} chunks of {size} bytes, expected {} to {} bytes",
                    CHUNK_SIZES.start(),
                    CHUNK_SIZES.end()
                ));
            }
        }
        Ok(())
    }
}

fn text(bytes: &mut Bytes<'_>) -> Option<String> {
    bytes.string().map(|string| String::from_utf8_lossy(string).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path() -> &'static Path {
        Path::new("traces.otf2")
    }

    fn sample(byte_order: ByteOrder, anchor_format: u8) -> Anchor {
        let mut anchor = Anchor { byte_order, anchor_format, creator: "me".into(), ..Anchor::default() };
        if anchor_format >= 2 {
            anchor.properties.push(("A::B".into(), "true".into()));
            anchor.trace_id = 77;
        }
        anchor
    }

    #[test]
    fn every_format_and_order_survives_encoding() {
        for order in [ByteOrder::Little, ByteOrder::Big] {
            for format in 1..=3 {
                let anchor = sample(order, format);
                let bytes = anchor.encode(path()).unwrap();
                assert_eq!(Anchor::parse(&bytes, path()).unwrap(), anchor);
                assert_eq!(bytes[..8], [3, order.mark(), b'O', b'T', b'F', b'2', 0, format]);
            }
        }
    }

    #[test]
    fn cut_anchor_is_an_error_at_every_length() {
        let bytes = sample(ByteOrder::Little, 3).encode(path()).unwrap();
        for length in 0..bytes.len() - 3 {
            assert!(Anchor::parse(&bytes[..length], path()).is_err(), "length {length}");
        }
    }

    #[test]
    fn unsupported_archives_are_refused_with_a_reason() {
        let refused = |anchor: Anchor| anchor.check(path()).unwrap_err().to_string();
        let anchor = Anchor::default;
        assert!(
            refused(Anchor { trace_format: 3, ..anchor() }).contains("trace format 3, expected at most 2")
        );
        assert!(refused(Anchor { substrate: 2, ..anchor() }).contains("SION"));
        assert!(refused(Anchor { substrate: 3, ..anchor() }).contains("anchor only"));
        assert!(refused(Anchor { compression: 2, ..anchor() }).contains("compression 2"));
        assert!(
            refused(Anchor { event_chunk_size: 1000, ..anchor() }).contains("event chunks of 1000 bytes")
        );
        assert!(anchor().check(path()).is_ok());
    }
}
