//! Numbers of 2^63 in an archive: in each record of the definitions, in the anchor, in lengths.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use model::{GroupType, Paradigm};
use otf2::{
    Anchor, ArchiveWriter, Definition, IdMap, IdPair, List, MappingType, Timestamp, UNDEFINED, Value,
};

use super::after;
use super::make::{self, MAIN, Size};
use crate::support::run::{analyze, run};
use crate::support::write::anchor;
use crate::support::{copy, fresh};

/// Writes an archive with a definition of each kind that is read, and others.
fn archive(directory: &Path) {
    let mut archive = ArchiveWriter::create(directory.join("traces.otf2"), anchor(false)).unwrap();
    make::define(&mut archive, Size::processes(2));
    let members = [0, 1].as_slice().into();
    let group_type = GroupType::COMM_GROUP;
    let dimension = [0].as_slice().into();
    let others = [
        Definition::Paradigm { paradigm: Paradigm::MPI, name: 0, paradigm_class: 0 },
        Definition::Group {
            reference: 2,
            name: 0,
            members,
            group_type,
            paradigm: Paradigm::MPI,
            group_flags: 0,
        },
        Definition::InterComm {
            reference: 1,
            name: 0,
            group_a: 1,
            group_b: 2,
            common_communicator: 0,
            flags: 0,
        },
        Definition::SystemTreeNodeProperty { system_tree_node: 0, name: 0, value: Value::string(0) },
        Definition::SystemTreeNodeDomain { system_tree_node: 0, system_tree_domain: 0 },
        Definition::LocationGroupProperty { location_group: 0, name: 0, value: Value::string(0) },
        Definition::LocationProperty { location: 0, name: 0, value: Value::string(0) },
        Definition::CartDimension { reference: 0, name: 0, size: 2, cart_periodicity: 0 },
        Definition::CartTopology { reference: 0, name: 0, communicator: 0, cart_dimensions: dimension },
        Definition::CartCoordinate { cart_topology: 0, rank: 1, coordinates: [1].as_slice().into() },
        Definition::SourceCodeLocation { reference: 0, file: 0, line_number: 1 },
        Definition::CallingContext { reference: 0, region: 0, source_code_location: 0, parent: UNDEFINED },
        Definition::InterruptGenerator {
            reference: 0,
            name: 0,
            interrupt_generator_mode: 0,
            base: 1,
            exponent: 1,
            period: 1,
        },
    ];
    others.into_iter().for_each(|definition| archive.define(definition).unwrap());
    for rank in 0..2 {
        let mut events = make::Events::new(&archive, rank);
        events.program(|events| events.barrier());
        events.finish();
        let mut local = archive.local_definitions(u64::from(rank)).unwrap();
        let mut map = |kind: MappingType, id_map| {
            local.write(Definition::MappingTable { mapping_type: kind.code(), id_map }).unwrap();
        };
        map(MappingType::Region, IdMap::Dense([0, 1, 2].as_slice().into()));
        let pair = [IdPair { local: u64::from(MAIN), global: 0 }];
        map(MappingType::String, IdMap::Sparse(List::from(&pair[..])));
        for time in [0, 5000] {
            let (time, offset) = (Timestamp(time), 3);
            local.write(Definition::ClockOffset { time, offset, standard_deviation: 0.0 }).unwrap();
        }
        local.finish().unwrap();
    }
    archive.finish().unwrap();
}

/// Places of the bodies of records in a small definition file: the last and the first of each kind.
fn records(file: &[u8]) -> Vec<Range<usize>> {
    let (mut firsts, mut lasts) = (BTreeMap::new(), BTreeMap::new());
    let mut at = 18;
    while file[at] >= 5 {
        let body = at + 2..at + 2 + usize::from(file[at + 1]);
        assert!(file[at + 1] < 240, "short enough to grow");
        firsts.entry(file[at]).or_insert(body.clone());
        lasts.insert(file[at], body.clone());
        at = body.end;
    }
    let mut all: Vec<_> = firsts.into_values().chain(lasts.into_values()).collect();
    all.sort_by_key(|body| body.start);
    all.dedup();
    all
}

/// Encodings of large numbers in a record: 2^63, and all bits one.
const LARGE: [&[u8]; 2] = [&[8, 0, 0, 0, 0, 0, 0, 0, 0x80], &[0xff]];

/// Variants of the file, with a large number at each possible place of each record, and with a large length
/// of each record.
fn claims(file: &[u8]) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for body in records(file) {
        for at in body.clone() {
            let end = at + 1 + usize::from(file[at]);
            if file[at] > 8 || end > body.end {
                continue;
            }
            for number in LARGE {
                let mut claim = [&file[..at], number, &file[end..]].concat();
                claim[body.start - 1] = (body.len() + number.len() - (end - at)) as u8;
                all.push(claim);
            }
        }
        for length in [1 << 63, u64::MAX] {
            let length = [&[0xff][..], &length.to_le_bytes()].concat();
            all.push([&file[..body.start - 1], &length, &file[body.start..]].concat());
        }
    }
    all
}

/// Analyzes with a limit of 1 GiB: the result is a report, or one message with the file's path.
fn expect_report_or_message(experiment: &Path, file: &Path, what: &str) {
    let arguments = [experiment, Path::new("--threads=1")];
    let done = run(&mut after("ulimit -v 1000000", arguments));
    if done.status != Some(0) {
        assert_eq!(done.status, Some(2), "{what}: {}", done.stderr);
        let [message] = done.messages()[..] else { panic!("{what}: not one message:\n{}", done.stderr) };
        assert!(message.contains(file.to_str().unwrap()), "{what}: {message}");
    }
}

/// Writes each variant of a file of the archive and analyzes it.
fn try_claims(file: &str) {
    let directory = fresh();
    let experiment = directory.path().join("exp");
    archive(&experiment);
    let path: PathBuf = experiment.join(file);
    analyze([&experiment]).expect(0);
    let claims = claims(&fs::read(&path).unwrap());
    assert!(claims.len() > 50, "{file}: {} claims", claims.len());
    for (number, claim) in claims.into_iter().enumerate() {
        fs::write(&path, claim).unwrap();
        expect_report_or_message(&experiment, &path, &format!("{file}, claim {number}"));
    }
}

#[test]
fn huge_numbers_in_definitions_give_a_report_or_one_message() {
    try_claims("traces.def");
}

#[test]
fn huge_numbers_in_local_definitions_give_a_report_or_one_message() {
    try_claims("traces/1.def");
}

#[test]
fn huge_numbers_in_the_anchor_give_a_report_or_one_message() {
    type Change = fn(&mut Anchor, u64);
    let changes: [(&str, Change); 6] = [
        ("locations", |anchor, number| anchor.locations = number),
        ("definitions", |anchor, number| anchor.definitions = number),
        ("event chunks", |anchor, number| anchor.event_chunk_size = number),
        ("definition chunks", |anchor, number| anchor.definition_chunk_size = number),
        ("trace id", |anchor, number| anchor.trace_id = number),
        ("snapshots", |anchor, number| {
            (anchor.snapshots, anchor.thumbnails) = (number as u32 | 1 << 31, u32::MAX);
        }),
    ];
    let directory = fresh();
    archive(&directory.path().join("real"));
    for (what, change) in changes {
        for number in [1 << 63, u64::MAX] {
            let experiment = directory.path().join("exp");
            copy(&directory.path().join("real"), &experiment);
            let path = experiment.join("traces.otf2");
            let mut anchor = Anchor::parse(&fs::read(&path).unwrap(), &path).unwrap();
            change(&mut anchor, number);
            fs::write(&path, anchor.encode(&path).unwrap()).unwrap();
            expect_report_or_message(&experiment, &path, what);
        }
    }
}

/// The numbers of properties are behind the last text of the anchor.
#[test]
fn huge_number_of_properties_in_the_anchor_is_one_message() {
    let directory = fresh();
    archive(directory.path());
    let path = directory.path().join("traces.otf2");
    let mut bytes = fs::read(&path).unwrap();
    let description = bytes.windows(6).position(|bytes| bytes == b"test\0\0").unwrap() + 5;
    bytes[description + 1..description + 5].fill(0xff);
    fs::write(&path, bytes).unwrap();
    let refused = analyze([directory.path()]);
    refused.expect(2);
    let messages = refused.messages();
    assert!(messages.len() == 1 && messages[0].contains("ends within the anchor"), "{}", refused.stderr);
}
