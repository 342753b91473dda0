//! Tar headers: the block of 512 bytes in front of each member.

use super::BLOCK;
use crate::error::{Error, Result};

/// Type of an ordinary member; old archives also use a zero byte.
pub(super) const REGULAR: u8 = b'0';
/// Type of a PAX record about the member that follows, such as its size.
pub(super) const PAX: u8 = b'x';

const SIZE_AT: usize = 124;
const CHECKSUM_AT: usize = 148;
const KIND_AT: usize = 156;
const MAGIC_AT: usize = 257;

pub(super) type Block = [u8; BLOCK];

/// A decoded header. The checksum is ignored: CubeW 4.8 writes wrong ones.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) name: String,
    pub(super) kind: u8,
    pub(super) size: u64,
}

/// Encodes the header of a member. Nothing in it depends on the host, the user or the time.
pub(super) fn encode(name: &str, kind: u8, size: u64) -> Block {
    let mut block = [0; BLOCK];
    put(&mut block, 0, name.as_bytes());
    put(&mut block, 100, b"0000600\0");
    put(&mut block, 108, b"0000000\0");
    put(&mut block, 116, b"0000000\0");
    put(&mut block, SIZE_AT, format!("{size:011o}\0").as_bytes());
    put(&mut block, 136, b"00000000000\0");
    put(&mut block, CHECKSUM_AT, b"        ");
    put(&mut block, KIND_AT, &[kind]);
    put(&mut block, MAGIC_AT, b"ustar\x0000nouser");
    put(&mut block, 297, b"users");
    let sum: u32 = block.iter().map(|&byte| u32::from(byte)).sum();
    put(&mut block, CHECKSUM_AT, format!("{sum:06o}\0 ").as_bytes());
    block
}

fn put(block: &mut Block, at: usize, bytes: &[u8]) {
    for (to, from) in block.iter_mut().skip(at).zip(bytes) {
        *to = *from;
    }
}

/// Whether the block has the magic of a tar header.
pub(super) fn has_magic(block: &Block) -> bool {
    block.get(MAGIC_AT..).is_some_and(|rest| rest.starts_with(b"ustar"))
}

/// Decodes a header; `None` if the block has no name.
pub(super) fn decode(block: &Block) -> Result<Option<Header>> {
    let name = block.get(..100).unwrap_or_default().split(|&byte| byte == 0).next().unwrap_or_default();
    if name.is_empty() {
        return Ok(None);
    }
    let name = String::from_utf8_lossy(name).into_owned();
    let Some(size) = block.get(SIZE_AT..SIZE_AT + 12).and_then(number) else {
        return Err(Error::invalid("the size in a tar header is not a number").in_member(&name));
    };
    let kind = block.get(KIND_AT).copied().filter(|&kind| kind != 0).unwrap_or(REGULAR);
    Ok(Some(Header { name, kind, size }))
}

/// A number field: octal digits, or (GNU, for large values) big-endian binary behind a set high bit.
fn number(field: &[u8]) -> Option<u64> {
    if let [0x80, binary @ ..] = field {
        return binary
            .iter()
            .try_fold(0_u64, |sum, &byte| sum.checked_mul(256)?.checked_add(u64::from(byte)));
    }
    let digits = field.split(|&byte| byte == 0).next().unwrap_or_default().trim_ascii();
    digits.iter().try_fold(0_u64, |sum, &digit| match digit {
        b'0'..=b'7' => sum.checked_mul(8)?.checked_add(u64::from(digit - b'0')),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_header_decodes() {
        let header = Header { name: "12.index".into(), kind: REGULAR, size: 0o123_4567 };
        assert_eq!(decode(&encode("12.index", REGULAR, 0o123_4567)).unwrap(), Some(header));
    }

    #[test]
    fn checksum_counts_its_own_field_as_blanks() {
        let mut block = encode("a", REGULAR, 1);
        assert_eq!(&block[154..156], b"\0 ");
        let stored = u32::from_str_radix(std::str::from_utf8(&block[148..154]).unwrap(), 8).unwrap();
        block[148..156].fill(b' ');
        assert_eq!(stored, block.iter().map(|&byte| u32::from(byte)).sum());
    }

    #[test]
    fn binary_size_is_understood_and_bounded() {
        let mut field = [0; 12];
        field[0] = 0x80;
        field[7] = 2;
        assert_eq!(number(&field), Some(0x2_0000_0000));
        field[2] = 1;
        assert_eq!(number(&field), None);
        assert_eq!(number(b"00000000129\0"), None);
    }
}
