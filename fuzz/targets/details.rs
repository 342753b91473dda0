//! Any bytes as a table, as its header and blocks, or as a manifest: read or refused, memory in proportion. What was read
//! is the same when it is written and read again.

#![no_main]

use details::manifest::Manifest;
use libfuzzer_sys::fuzz_target;
use replay_fuzz::{Input, check_message, peak};

/// Bytes that a compressed byte can become as rows: 1,032 of text (RFC 1951), of which four can be the length of a row, which
/// takes 24; lists grow by doubling.
const EXPANSION: usize = 1032 * 24;

// The first byte chooses the meaning of the rest: 0 the whole table, 1 the header up to a byte 0 and then the blocks, 2 a
// manifest.
fuzz_target!(|input: &[u8]| {
    let mut input = Input(input);
    match input.byte() % 3 {
        0 => table(input.0),
        1 => {
            let end = input.0.iter().position(|&byte| byte == 0).unwrap_or(input.0.len());
            let header = input.bytes(end);
            input.byte();
            let length = u32::try_from(header.len()).expect("inputs are short").to_le_bytes();
            table(&[b"RPTABLE1", &length[..], header, input.0].concat());
        }
        _ => manifest(input.0),
    }
});

/// Reads a table twice, the second time as it is written.
fn table(bytes: &[u8]) {
    let (table, memory) = peak(|| details::parse(bytes));
    let is_compressed = bytes.windows(4).any(|word| word == b"zlib");
    let factor = if is_compressed { EXPANSION } else { 64 };
    assert!(memory < (1 << 16) + factor * bytes.len(), "{memory} bytes for {}", bytes.len());
    match table {
        Ok(table) => {
            assert!(
                table.columns.iter().all(|column| column.values.len() == table.rows()),
                "a value per row"
            );
            let written = details::write(&table).expect("what was read can be written");
            let again = details::parse(&written).expect("what was written can be read");
            // As text, since doubles may be NaN.
            assert!(table == again || format!("{table:?}") == format!("{again:?}"), "another table");
            assert_eq!(details::write(&again).as_ref(), Ok(&written), "written again, other bytes");
        }
        Err(error) => check_message(&error),
    }
}

/// Reads a manifest twice, the second time as it is written.
fn manifest(bytes: &[u8]) {
    let (manifest, memory) = peak(|| Manifest::parse(bytes));
    assert!(memory < (1 << 16) + 128 * bytes.len(), "{memory} bytes for {}", bytes.len());
    match manifest {
        Ok(manifest) => assert_eq!(Manifest::parse(&manifest.to_bytes()), Ok(manifest), "another manifest"),
        Err(error) => check_message(&error),
    }
}
