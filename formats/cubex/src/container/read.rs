//! Reading the container: a table of members, and their bytes by offset.
//!
//! Checksums, modes, owners and times are ignored. Allocations never exceed the size of the file.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::BLOCK;
use super::header::{Block, PAX, REGULAR, decode, has_magic};
use crate::error::{Error, Result};

/// An open archive.
#[derive(Debug)]
pub(crate) struct Archive {
    file: File,
    members: BTreeMap<String, Member>,
}

/// Place of a member's contents in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Member {
    offset: u64,
    pub(crate) size: u64,
}

impl Archive {
    /// Opens an archive and indexes its members; of several with one name the last counts.
    pub(crate) fn open(path: &Path) -> Result<Archive> {
        let file = File::open(path).map_err(|error| Error::io("open", error))?;
        let size = file.metadata().map_err(|error| Error::io("open", error))?.len();
        let members = HeaderScan { file: &file, size, at: 0 }.members()?;
        Ok(Archive { file, members })
    }

    /// The names of all members, sorted.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.members.keys().map(String::as_str)
    }

    pub(crate) fn member(&self, name: &str) -> Option<Member> {
        self.members.get(name).copied()
    }

    /// Reads `length` bytes from an offset in the member. Fails if the member is shorter, before allocating
    /// anything.
    pub(crate) fn read(&self, member: Member, from: u64, length: u64) -> Result<Vec<u8>> {
        let end = from.checked_add(length).filter(|end| *end <= member.size);
        let (Some(_), Ok(length)) = (end, usize::try_from(length)) else {
            let message = format!("{length} bytes expected, but the member has {} in all", member.size);
            return Err(Error::invalid(message).at(from));
        };
        let mut bytes = vec![0; length];
        let result = self.file.read_exact_at(&mut bytes, member.offset + from);
        result.map_err(|error| Error::io("read", error).at(from))?;
        Ok(bytes)
    }

    /// Reads a whole member.
    pub(crate) fn read_all(&self, member: Member) -> Result<Vec<u8>> {
        self.read(member, 0, member.size)
    }
}

/// Scan of the headers of an archive.
struct HeaderScan<'f> {
    file: &'f File,
    size: u64,
    at: u64,
}

impl HeaderScan<'_> {
    fn members(mut self) -> Result<BTreeMap<String, Member>> {
        let mut members = BTreeMap::new();
        let mut large = None;
        let mut nameless = 0;
        if !self.block(0)?.is_some_and(|block| has_magic(&block)) {
            return Err(Error::invalid("not a report: does not start with a tar header").at(0));
        }
        while let Some(block) = self.block(self.at)? {
            let header = decode(&block).map_err(|error| error.at(self.at))?;
            let start = self.at + BLOCK as u64;
            let Some(header) = header else {
                // One zero block may be padding, two are the end.
                nameless += 1;
                if nameless == 2 {
                    break;
                }
                self.at = start;
                continue;
            };
            nameless = 0;
            let size = large.take().unwrap_or(header.size);
            if size > self.size - start {
                let message =
                    format!("{size} bytes announced, but the file ends after {}", self.size - start);
                return Err(Error::invalid(message).in_member(&header.name));
            }
            match header.kind {
                REGULAR => {
                    members.insert(header.name, Member { offset: start, size });
                }
                PAX => large = self.large_size(start, size)?,
                _ => {}
            }
            self.at = self.next_header(start, size)?;
        }
        Ok(members)
    }

    /// The block at an offset; `None` if the file ends within it.
    fn block(&self, at: u64) -> Result<Option<Block>> {
        if at.checked_add(BLOCK as u64).is_none_or(|end| end > self.size) {
            return Ok(None);
        }
        let mut block = [0; BLOCK];
        self.file.read_exact_at(&mut block, at).map_err(|error| Error::io("read", error).at(at))?;
        Ok(Some(block))
    }

    /// Offset of the header behind these contents: by tar's padding if a header is there, otherwise by
    /// CubeLib's.
    fn next_header(&self, start: u64, size: u64) -> Result<u64> {
        let end = start + size;
        let next = end.checked_next_multiple_of(BLOCK as u64).unwrap_or(u64::MAX);
        let ambiguous = size > 0 && next == end;
        if ambiguous && !self.block(next)?.is_some_and(|block| has_magic(&block)) {
            return Ok(next.saturating_add(BLOCK as u64));
        }
        Ok(next)
    }

    /// The size that a PAX header gives for the next member: records of the form `length key=value\n`.
    fn large_size(&self, start: u64, size: u64) -> Result<Option<u64>> {
        let mut text = vec![0; usize::try_from(size.min(1 << 16)).unwrap_or_default()];
        self.file.read_exact_at(&mut text, start).map_err(|error| Error::io("read", error).at(start))?;
        let mut found = None;
        for record in String::from_utf8_lossy(&text).lines() {
            let value = record.split_once(' ').and_then(|(_, pair)| pair.strip_prefix("size="));
            if let Some(value) = value {
                let size = value.parse().map_err(|_| Error::invalid("PAX size is not a number").at(start))?;
                found = Some(size);
            }
        }
        Ok(found)
    }
}
