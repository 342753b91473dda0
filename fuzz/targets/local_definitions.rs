//! Records of a local definition file in intact chunks: read twice alike, written and read again alike.
//! Mapping tables agree with a linear search in the records, and a corrected time does not depend on earlier
//! ones.

#![no_main]

use std::fs;
use std::path::Path;

use libfuzzer_sys::fuzz_target;
use otf2::{
    Anchor, ByteOrder, Definition, DefinitionCursor, IdMap, LocalDefinitionWriter, LocalDefinitions,
    MappingType,
};
use replay_fuzz::{Chunked, check_error, check_message, check_same, definitions, peak, scratch};

fuzz_target!(|input: &[u8]| {
    let Chunked { bytes, chunk_size, order } = Chunked::new(input);
    let cursor = || DefinitionCursor::local(&bytes, Path::new("0.def"), chunk_size);
    let (found, is_complete) = definitions(cursor(), &bytes);
    let (again, is_complete_again) = definitions(cursor(), &bytes);
    check_same(&found, &again);
    assert_eq!(is_complete, is_complete_again);
    let (local, memory) = peak(|| LocalDefinitions::collect(cursor()));
    assert!(memory < (1 << 16) + 512 * bytes.len(), "{memory} bytes for a file of {}", bytes.len());
    match local {
        Ok(local) => {
            assert!(is_complete, "an incomplete file is refused");
            check_mappings(&local, &found);
            check_clock(local, &found);
        }
        Err(error) => check_error(&error, &bytes),
    }
    if is_complete && !found.is_empty() {
        round_trip(&found, order);
    }
});

/// Checks the mappings: the first table of a type counts; a number that is not in it is global already.
fn check_mappings(local: &LocalDefinitions, found: &[Definition<'_>]) {
    for kind in MappingType::ALL {
        let table = found.iter().find_map(|definition| match *definition {
            Definition::MappingTable { mapping_type, id_map } if mapping_type == kind.code() => Some(id_map),
            _ => None,
        });
        let expected = |reference: u64| match table {
            None => reference,
            Some(IdMap::Dense(globals)) => {
                globals.iter().zip(0..).find(|pair| pair.1 == reference).map_or(reference, |pair| pair.0)
            }
            Some(IdMap::Sparse(pairs)) => {
                let found = pairs.iter().filter(|pair| pair.local == reference).last();
                found.map_or(reference, |pair| pair.global)
            }
        };
        let named = match table {
            Some(IdMap::Sparse(pairs)) => pairs.iter().map(|pair| pair.local).take(20).collect(),
            _ => Vec::new(),
        };
        for reference in [0, 1, 7, 63, 64, 300, u32::MAX.into(), u64::MAX].into_iter().chain(named) {
            let mapped = local.mappings.global64(kind, reference);
            assert_eq!(mapped, expected(reference), "{kind:?} {reference}");
            if let Ok(reference) = u32::try_from(reference) {
                assert_eq!(local.mappings.global(kind, reference), mapped as u32);
            }
            assert!(!local.mappings.is_identity(kind) || mapped == reference);
        }
    }
}

fn check_clock(mut local: LocalDefinitions, found: &[Definition<'_>]) {
    let offsets = found.iter().filter_map(|definition| match definition {
        Definition::ClockOffset { time, offset, .. } => Some((time.0, *offset)),
        _ => None,
    });
    let offsets: Vec<(u64, i64)> = offsets.collect();
    assert!(offsets.is_sorted_by(|a, b| a.0 < b.0));
    assert_eq!(local.clock.is_identity(), offsets.len() < 2);
    let fresh = local.clock.clone();
    let near = offsets.iter().flat_map(|&(time, _)| [time.wrapping_sub(1), time, time.wrapping_add(1)]);
    let times: Vec<u64> = [0, 1, 1 << 40, u64::MAX].into_iter().chain(near.take(60)).collect();
    for &time in times.iter().chain(times.iter().rev()) {
        assert_eq!(local.clock.correct(time), fresh.clone().correct(time), "the same after any other time");
    }
    // At the clock offsets, interpolation is exact only at the start of the first interval.
    if let [(time, offset), _, ..] = offsets[..] {
        assert_eq!(local.clock.correct(time), time.wrapping_add_signed(offset));
    }
}

/// Writes the definitions that the writer accepts: reading gives the same, and writing those the same bytes.
fn round_trip(found: &[Definition<'_>], order: ByteOrder) {
    let (taken, bytes) = written(found, order);
    let chunk_size = Anchor::default().definition_chunk_size;
    let (read, is_complete) =
        definitions(DefinitionCursor::local(&bytes, Path::new("written"), chunk_size), &bytes);
    assert!(is_complete);
    check_same(&taken, &read);
    assert!(written(&read, order).1 == bytes, "written again, it is another file");
}

fn written<'a>(found: &[Definition<'a>], order: ByteOrder) -> (Vec<Definition<'a>>, Vec<u8>) {
    let path = scratch().join("0.def");
    let anchor = Anchor { byte_order: order, ..Anchor::default() };
    let mut writer = LocalDefinitionWriter::create(&path, &anchor).expect("a new file");
    let mut taken = Vec::new();
    for &definition in found {
        match writer.write(definition) {
            Ok(()) => taken.push(definition),
            Err(error) => check_message(&error),
        }
    }
    writer.finish().expect("a complete file");
    (taken, fs::read(&path).expect("it was written"))
}
