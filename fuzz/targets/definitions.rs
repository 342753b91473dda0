//! Records of a global definition file in intact chunks: read twice alike, written and read again alike. The
//! resolved definitions have no reference out of range, and the analysis accepts them.

#![no_main]

use std::fs;
use std::path::Path;

use libfuzzer_sys::fuzz_target;
use model::{Definitions, Members};
use otf2::{Anchor, ArchiveWriter, ByteOrder, Definition, DefinitionCursor};
use replay::Semantics;
use replay::trace::Trace;
use replay_fuzz::{Chunked, check_error, check_message, check_same, definitions, peak, scratch};

fuzz_target!(|input: &[u8]| {
    let Chunked { bytes, chunk_size, order } = Chunked::new(input);
    let cursor = || DefinitionCursor::global(&bytes, Path::new("traces.def"), chunk_size);
    let (found, is_complete) = definitions(cursor(), &bytes);
    let (again, is_complete_again) = definitions(cursor(), &bytes);
    check_same(&found, &again);
    assert_eq!(is_complete, is_complete_again);
    let (resolved, memory) = peak(|| cursor().resolve());
    assert!(memory < (4 << 20) + 512 * bytes.len(), "{memory} bytes for a file of {}", bytes.len());
    match resolved {
        Ok(resolved) => {
            assert!(is_complete, "an incomplete file is refused");
            check_references(&resolved);
            for semantics in [Semantics::Corrected, Semantics::Reference] {
                if let Err(error) = Trace::new(resolved.clone(), semantics) {
                    check_message(&error);
                }
            }
        }
        Err(error) => check_error(&error, &bytes),
    }
    if is_complete && !found.is_empty() {
        round_trip(&found, order);
    }
});

/// Checks that every position is within the table that it refers to, and that parents come first.
fn check_references(all: &Definitions) {
    let parent = |at: usize, parent: Option<usize>| assert!(parent.is_none_or(|parent| parent < at));
    all.system_tree.iter().enumerate().for_each(|(at, node)| parent(at, node.parent));
    for (at, group) in all.location_groups.iter().enumerate() {
        assert!(group.parent.is_none_or(|node| node < all.system_tree.len()));
        parent(at, group.creator);
    }
    assert!(all.locations.iter().all(|location| location.group < all.location_groups.len()));
    for (at, communicator) in all.communicators.iter().enumerate() {
        parent(at, communicator.parent);
        let (Members::Group(one) | Members::Inter(one, _)) = communicator.members;
        let (Members::Group(other) | Members::Inter(_, other)) = communicator.members;
        assert!(one.max(other) < all.groups.len());
    }
    for (at, context) in all.calling_contexts.iter().enumerate() {
        parent(at, context.parent);
        assert!(context.region < all.regions.len());
    }
    for topology in &all.topologies {
        assert!(topology.communicator < all.communicators.len());
        assert!(topology.coordinates.iter().all(|(_, at)| at.len() == topology.dimensions.len()));
    }
    assert!(all.clock.resolution > 0 || all.clock == model::ClockProperties::default());
}

/// Writes the definitions that the writer accepts: reading gives the same, and writing those the same bytes.
fn round_trip(found: &[Definition<'_>], order: ByteOrder) {
    let (taken, bytes) = written(found, order);
    let chunk_size = Anchor::default().definition_chunk_size;
    let (read, is_complete) =
        definitions(DefinitionCursor::global(&bytes, Path::new("written"), chunk_size), &bytes);
    assert!(is_complete);
    check_same(&taken, &read);
    assert!(written(&read, order).1 == bytes, "written again, it is another file");
}

fn written<'a>(found: &[Definition<'a>], order: ByteOrder) -> (Vec<Definition<'a>>, Vec<u8>) {
    let directory = scratch().join("definitions");
    let anchor = Anchor { byte_order: order, ..Anchor::default() };
    let mut writer = ArchiveWriter::create(directory.join("traces.otf2"), anchor).expect("a new archive");
    let mut taken = Vec::new();
    for &definition in found {
        match writer.define(definition) {
            Ok(()) => taken.push(definition),
            Err(error) => check_message(&error),
        }
    }
    let locations = taken.iter().filter(|it| matches!(it, Definition::Location { .. })).count();
    assert_eq!(writer.anchor().locations, locations as u64);
    assert_eq!(writer.anchor().definitions, taken.len() as u64);
    writer.finish().expect("a complete archive");
    let bytes = fs::read(directory.join("traces.def")).expect("it was written");
    fs::remove_dir_all(&directory).expect("it was written");
    (taken, bytes)
}
