//! The anchor file `<name>.otf2`: byte order, chunk sizes and versions of the rest of the archive.
//!
//! Parsing accepts every anchor that can be decoded; [`Anchor::check`] refuses what this crate cannot read.

use crate::Error;
use crate::bytes::{ByteOrder, Bytes};
use crate::field::Body;
use crate::record::{CHUNK_HEADER, END_OF_BUFFER, END_OF_CHUNK, END_OF_FILE};
use std::path::Path;

/// Range of chunk sizes, in bytes, that the format allows.
pub const CHUNK_SIZES: std::ops::RangeInclusive<u64> = 256 << 10..=16 << 20;

const MAGIC: &[u8] = b"OTF2";
/// Length of the signature of an anchor: `03`, byte order, magic and its zero.
const MARKED: usize = 7;
const POSIX: u8 = 1;
/// Substrate of archives whose locations share SION containers.
pub(crate) const SION: u8 = 2;
const NO_COMPRESSION: u8 = 1;
/// The trace format that this crate writes, and the latest that it reads.
const TRACE_FORMAT: u8 = 2;
/// The latest anchor format; later ones would append fields to the known ones.
const ANCHOR_FORMAT: u8 = 3;

/// The content of an anchor file.
///
/// The default describes an archive as this crate writes it: little-endian, events in chunks of 1 MiB,
/// definitions in chunks of 256 KiB.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Anchor {
    /// Byte order of the anchor file.
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
    /// Storage of the files: 1 as plain files, 2 in SION containers, 3 not at all.
    pub substrate: u8,
    /// Compression of the chunks: 1 none, 2 zlib.
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
    /// Identifier of the trace, meant to be unique.
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
    /// Decodes an anchor file; `path` is for messages. Invalid UTF-8 in strings is replaced.
    ///
    /// # Errors
    /// If it is not an anchor file or ends too early.
    pub fn parse(file: &[u8], path: &Path) -> Result<Self, Error> {
        let order = match file {
            [CHUNK_HEADER, mark, rest @ ..] if rest.starts_with(b"OTF2\0") => ByteOrder::from_mark(*mark),
            _ => None,
        };
        let Some(order) = order else {
            let begins = |mark| [CHUNK_HEADER, mark, b'O', b'T', b'F', b'2'].starts_with(file);
            if begins(ByteOrder::Little.mark()) || begins(ByteOrder::Big.mark()) {
                return Err(Error::truncated(path, file.len() as u64, "the anchor"));
            }
            let found: Vec<String> = file.iter().take(MARKED).map(|byte| format!("{byte:02x}")).collect();
            let message = format!(
                "not an OTF2 anchor file: it begins with {}, expected 03, 42 or 23, and \"OTF2\" with a zero byte; \
                 name another file, or copy the archive again",
                found.join(" ")
            );
            return Err(Error::at(path, 0, message));
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
    /// For later trace formats, archives that are an anchor only, compression, and chunk sizes out of range.
    pub fn check(&self, path: &Path) -> Result<(), Error> {
        match self.problem() {
            None => Ok(()),
            Some(Refusal { byte, message, is_damage: true }) => Err(Error::damaged(path, byte, message)),
            Some(Refusal { byte, message, is_damage: false }) => Err(Error::at(path, byte, message)),
        }
    }

    /// [`check`](Self::check) for an archive to be written, which has no anchor file yet: errors have no
    /// offset. SION containers are read only.
    pub(crate) fn check_to_write(&self, path: &Path) -> Result<(), Error> {
        if self.substrate == SION {
            return Err(Error::file(
                path,
                "SION containers are not written: choose plain files (substrate 1)",
            ));
        }
        self.problem().map_or(Ok(()), |problem| Err(Error::file(path, problem.message)))
    }

    fn problem(&self) -> Option<Refusal> {
        let damage = |byte, message| Some(Refusal { byte, message, is_damage: true });
        let unsupported = |byte, message| Some(Refusal { byte, message, is_damage: false });
        if self.trace_format > TRACE_FORMAT {
            let message = format!(
                "trace format {}, expected at most {TRACE_FORMAT}: the archive was written by a newer OTF2 library, \
                 and needs a newer reader",
                self.trace_format
            );
            return unsupported(8, message);
        }
        match self.substrate {
            POSIX | SION => {}
            3 => {
                let message = "the archive has an anchor only: its writer was told to store no events, \
                               record it again with plain files";
                return unsupported(28, message.into());
            }
            other => {
                let message = format!(
                    "unknown file substrate {other}, expected {POSIX} (plain files) or {SION} (SION containers)"
                );
                return damage(28, message);
            }
        }
        match self.compression {
            NO_COMPRESSION => {}
            2 => {
                let message = format!(
                    "compression 2 (zlib), expected {NO_COMPRESSION} (none): record the archive again without"
                );
                return unsupported(29, message);
            }
            other => {
                return damage(29, format!("unknown compression {other}, expected {NO_COMPRESSION} (none)"));
            }
        }
        let sizes = [(12, self.event_chunk_size, "event"), (20, self.definition_chunk_size, "definition")];
        let (byte, size, of) = sizes.into_iter().find(|(_, size, _)| !CHUNK_SIZES.contains(size))?;
        let (least, most) = (CHUNK_SIZES.start(), CHUNK_SIZES.end());
        damage(byte, format!("{of} chunks of {size} bytes, expected {least} to {most} bytes"))
    }
}

/// Why an anchor is refused.
struct Refusal {
    /// Offset of the field in the file.
    byte: u64,
    message: String,
    /// Whether the file must be damaged, since no writer produces this.
    is_damage: bool,
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
    fn what_no_writer_writes_is_damage_at_its_byte() {
        for (anchor, byte, is_damage) in [
            (Anchor { trace_format: 3, ..Anchor::default() }, 8, false),
            (Anchor { event_chunk_size: 1000, ..Anchor::default() }, 12, true),
            (Anchor { definition_chunk_size: 1001, ..Anchor::default() }, 20, true),
            (Anchor { substrate: 9, ..Anchor::default() }, 28, true),
            (Anchor { compression: 9, ..Anchor::default() }, 29, true),
        ] {
            let error = anchor.check(path()).unwrap_err();
            assert_eq!((error.offset(), error.is_damage()), (Some(byte), is_damage), "{error}");
            let (file, whole) = (anchor.encode(path()).unwrap(), Anchor::default().encode(path()).unwrap());
            let changed = file.iter().zip(&whole).position(|(a, b)| a != b);
            assert_eq!(changed.map(|at| at as u64), Some(byte), "{error}");
        }
    }

    #[test]
    fn other_file_is_told_from_a_cut_anchor() {
        let reason = |bytes: &[u8]| Anchor::parse(bytes, path()).unwrap_err();
        assert!(reason(b"hello, you").to_string().contains("begins with 68 65 6c 6c 6f 2c 20, expected 03"));
        assert!(reason(&[3, 0x42, b'O']).to_string().contains("byte 0x3: the file ends within the anchor"));
        assert!(reason(b"hi").to_string().contains("begins with 68 69, expected"));
        assert!(reason(&[]).is_damage() && !reason(b"hello, you").is_damage());
    }

    #[test]
    fn unsupported_archives_are_refused_with_a_reason() {
        let refused = |anchor: Anchor| anchor.check(path()).unwrap_err().to_string();
        let anchor = Anchor::default;
        assert!(
            refused(Anchor { trace_format: 3, ..anchor() }).contains("trace format 3, expected at most 2")
        );
        assert!(refused(Anchor { substrate: 3, ..anchor() }).contains("anchor only"));
        assert!(refused(Anchor { compression: 2, ..anchor() }).contains("compression 2"));
        assert!(
            refused(Anchor { event_chunk_size: 1000, ..anchor() }).contains("event chunks of 1000 bytes")
        );
        assert!(refused(Anchor { compression: 77, ..anchor() }).contains("unknown compression 77"));
        assert!(anchor().check(path()).is_ok());
    }

    #[test]
    fn archive_in_containers_is_read_only() {
        let anchor = Anchor { substrate: SION, ..Anchor::default() };
        assert!(anchor.check(path()).is_ok());
        assert!(anchor.check_to_write(path()).unwrap_err().to_string().contains("choose plain files"));
    }
}
