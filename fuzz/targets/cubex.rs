//! Any bytes as a report, or as members of an intact one: everything is read or refused, references are in
//! range, rows have a value per location. A report that the writer accepts is then the same, however often it
//! is rewritten.

#![no_main]

use std::fs;
use std::path::Path;

use cubex::{Cube, MetricId, Placed, Report, Values, Writer};
use libfuzzer_sys::fuzz_target;
use replay_fuzz::{Input, check_message, peak, scratch};

/// Two metrics, two call paths, two locations; `DOUBLE` is the type of the first metric.
const ANCHOR: &str = include_str!("../../formats/cubex/tests/minimal.xml");

const TYPES: &[&str] = &[
    "DOUBLE",
    "UINT64",
    "INT64",
    "MINDOUBLE",
    "MAXDOUBLE",
    "INT16",
    "UINT8",
    "TAU_ATOMIC",
    "NDOUBLES(3)",
    "HISTOGRAM(536870912)",
    "unknown",
];

/// Limit of the number of values: above, sums along the call tree take too long.
const MANY: usize = 100_000;

// The first byte chooses the meaning of the rest: 0 the whole file, 1 the anchor beside intact rows, 2 index
// and rows beside an intact anchor with the data type that the second byte chooses, 3 all three.
fuzz_target!(|input: &[u8]| {
    let mut input = Input(input);
    let file = match input.byte() % 4 {
        0 => input.0.to_vec(),
        1 => archive(&[
            ("anchor.xml", input.0),
            ("0.index", b"CUBEX.INDEX\x01\0\0\0\0\0\x03"),
            ("0.data", &[b"CUBEX.DATA".as_slice(), &[0x3f; 4096]].concat()),
        ]),
        2 => {
            let anchor = ANCHOR.replacen("DOUBLE", input.choice(TYPES).unwrap_or(&""), 1);
            let length = usize::from(input.byte());
            let index = input.bytes(length);
            archive(&[("anchor.xml", anchor.as_bytes()), ("0.index", index), ("0.data", input.0)])
        }
        _ => {
            let (index, data) = (usize::from(input.byte()), input.number());
            let (index, data) = (input.bytes(index), input.bytes(data));
            archive(&[("anchor.xml", input.0), ("0.index", index), ("0.data", data)])
        }
    };
    let path = scratch().join("any.cubex");
    fs::write(&path, &file).expect("the directory is writable");
    let (report, memory) = peak(|| read(&path, &file));
    // Compressed data can inflate a thousandfold; the limit of a single allocation is for them.
    let is_compressed = file.windows(2).any(|mark| mark == [0x1f, 0x8b] || mark == *b"ZC");
    assert!(is_compressed || memory < (1 << 20) + 512 * file.len(), "{memory} bytes for {}", file.len());
    let Some(report) = report else { return };
    let (one, two) = (scratch().join("one.cubex"), scratch().join("two.cubex"));
    if write(&report, &one) {
        let written = Report::open(&one).expect("what was written can be read");
        assert_eq!(written.cube().cnodes.len(), report.cube().cnodes.len());
        assert_eq!(written.cube().locations.len(), report.cube().locations.len());
        assert!(write(&written, &two), "what was written can be written again");
        assert!(fs::read(one).ok() == fs::read(two).ok(), "written again, it is another file");
    }
});

/// Reads everything in a report.
fn read(path: &Path, file: &[u8]) -> Option<Report> {
    let report = match Report::open(path) {
        Ok(report) => report,
        Err(error) => {
            check_message(&error);
            return None;
        }
    };
    check_references(report.cube());
    for name in report.members() {
        match report.member(name) {
            Ok(contents) => assert!(contents.expect("it is listed").len() <= file.len()),
            Err(error) => check_message(&error),
        }
    }
    for metric in 0..=report.cube().metrics.len() {
        check_metric(&report, MetricId(metric));
    }
    Some(report)
}

/// A tar archive of these members; empty ones are omitted.
fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, contents) in members.iter().filter(|(_, contents)| !contents.is_empty()) {
        let mut block = [0; 512];
        block[..name.len()].copy_from_slice(name.as_bytes());
        block[124..136].copy_from_slice(format!("{:011o}\0", contents.len()).as_bytes());
        block[156] = b'0';
        block[257..265].copy_from_slice(b"ustar\x0000");
        bytes.extend(block);
        bytes.extend_from_slice(contents);
        // Standard padding of tar; see the crate about the other rule.
        bytes.resize(bytes.len().next_multiple_of(512), 0);
    }
    bytes.resize(bytes.len() + 1024, 0);
    bytes
}

/// Checks that every position is within the list that it refers to, and that parents come first.
fn check_references(cube: &Cube) {
    let parent = |at: usize, parent: Option<usize>| assert!(parent.is_none_or(|parent| parent < at));
    cube.metrics.iter().enumerate().for_each(|(at, it)| parent(at, it.parent.map(|it| it.0)));
    cube.cnodes.iter().enumerate().for_each(|(at, it)| parent(at, it.parent.map(|it| it.0)));
    cube.system_tree_nodes.iter().enumerate().for_each(|(at, it)| parent(at, it.parent.map(|it| it.0)));
    assert!(cube.cnodes.iter().all(|it| it.region.0 < cube.regions.len()));
    assert!(cube.location_groups.iter().all(|it| it.system_tree_node.0 < cube.system_tree_nodes.len()));
    assert!(cube.locations.iter().all(|it| it.group.0 < cube.location_groups.len()));
    for coordinate in cube.topologies.iter().flat_map(|topology| &topology.coordinates) {
        match coordinate.of {
            Placed::Location(it) => assert!(it.0 < cube.locations.len()),
            Placed::Group(it) => assert!(it.0 < cube.location_groups.len()),
        }
    }
}

/// Reads all rows of a metric in both ways, and its sums.
fn check_metric(report: &Report, metric: MetricId) {
    let cube = report.cube();
    let mut rows = match report.rows(metric) {
        Ok(rows) => rows,
        Err(error) => return check_message(&error),
    };
    let cnodes = rows.cnodes().to_vec();
    assert!(cnodes.iter().all(|cnode| cnode.0 < cube.cnodes.len()));
    assert!(rows.row(cnodes.len()).is_err(), "a row too many");
    let mut read = 0;
    loop {
        match rows.next() {
            Ok(Some((cnode, values))) => {
                assert_eq!(cnode, cnodes[read]);
                let length = match &values {
                    Values::F64(values) => values.len(),
                    Values::U64(values) => values.len(),
                    Values::I64(values) => values.len(),
                    Values::Raw(_) => cube.locations.len(),
                };
                assert_eq!(length, cube.locations.len(), "a value per location");
                let again = rows.row(read).expect("it was read before");
                assert_eq!(format!("{values:?}"), format!("{again:?}"), "the same row again");
                read += 1;
            }
            Ok(None) => {
                assert_eq!(read, cnodes.len(), "all rows");
                break;
            }
            Err(error) => {
                check_message(&error);
                assert!(matches!(rows.next(), Ok(None)), "finished after an error");
                break;
            }
        }
    }
    match report.severities(metric) {
        Ok(severities) => {
            assert_eq!(read, cnodes.len(), "rows that cannot be read have no sums");
            if cube.cnodes.len() * cube.locations.len() < MANY {
                let _ = severities.total();
            }
            for &cnode in cnodes.iter().take(10) {
                let location = cubex::LocationId(0);
                let _ = (severities.exclusive(cnode, location), severities.inclusive(cnode, location));
            }
        }
        Err(error) => check_message(&error),
    }
}

/// Writes the report again, with the rows that can be written; returns whether the writer accepts its
/// description.
fn write(report: &Report, path: &Path) -> bool {
    let mut writer = match Writer::create(path, report.cube().clone()) {
        Ok(writer) => writer,
        Err(error) => {
            check_message(&error);
            return false;
        }
    };
    for metric in (0..report.cube().metrics.len()).map(MetricId) {
        // A row that has been announced must be written, so all rows are read first.
        let Some(rows) = all_rows(report, metric) else { continue };
        let cnodes: Vec<_> = rows.iter().map(|(cnode, _)| *cnode).collect();
        let mut to = match writer.metric(metric, &cnodes) {
            Ok(to) => to,
            Err(error) => {
                check_message(&error);
                continue;
            }
        };
        for cnode in to.order().to_vec() {
            let (_, values) = rows.iter().find(|row| row.0 == cnode).expect("it was announced");
            let pushed = match values {
                Values::F64(values) => to.push_f64(cnode, values),
                Values::U64(values) => to.push_u64(cnode, values),
                Values::I64(values) => to.push_i64(cnode, values),
                Values::Raw(_) => unreachable!("left out before"),
            };
            pushed.expect("a row that was read can be written");
        }
        to.finish().expect("the metric is complete");
    }
    writer.finish().expect("the report is complete");
    true
}

/// The rows of a metric, if they are few, plain numbers, and all can be read.
fn all_rows(report: &Report, metric: MetricId) -> Option<Vec<(cubex::CnodeId, Values)>> {
    let mut rows = report.rows(metric).ok()?;
    if rows.cnodes().len() > 1000 {
        return None;
    }
    let mut found = Vec::new();
    while let Some((cnode, values)) = rows.next().ok()? {
        if matches!(values, Values::Raw(_)) {
            return None;
        }
        found.push((cnode, values));
    }
    Some(found)
}
