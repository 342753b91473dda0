//! Container: a report is a flat, uncompressed tar archive of named members.
//!
//! Readers disagree on one point. For a member whose size is a positive multiple of 512, CubeLib expects one
//! more block of zeros than tar has. Archives written here never contain such a member, so all readers agree
//! on them; archives read here may follow either rule.

mod header;
mod read;
mod write;

pub(crate) use read::{Archive, Member};
pub(crate) use write::{ArchiveWriter, archive};

/// Block size of tar: headers take one block, contents are padded to whole ones.
const BLOCK: usize = 512;

/// Sizes from here on do not go into the header (8 GiB - 1, as in the reference writers).
const LARGE: u64 = 0x1_FFFF_FFFF;

/// Whether CubeLib and tar disagree on the padding behind a member of this size.
pub(crate) fn has_ambiguous_padding(size: u64) -> bool {
    size.is_multiple_of(BLOCK as u64)
}
