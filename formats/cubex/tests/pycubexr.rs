//! Reading with pycubexr, an independent reader: it finds in our reports exactly what was written.
//!
//! Needs Python with the module `pycubexr`: `REPLAY_PYTHON` names the interpreter (default `python3`).
//! Without the module the test is skipped, and says so.

mod support;

use std::fmt::Write as _;
use std::process::Command;

use cubex::{
    Cnode, CnodeId, Coordinate, Cube, DataType, Dimension, Location, LocationId, Metric, MetricId,
    MetricKind, Placed, Region, RegionId, Topology, Writer,
};
use skip::{Need, skip};

#[test]
fn pycubexr_reads_every_value_and_tree() {
    let python = std::env::var_os("REPLAY_PYTHON").unwrap_or_else(|| "python3".into());
    let probe = Command::new(&python).args(["-c", "import pycubexr"]).output();
    if !probe.is_ok_and(|probe| probe.status.success()) {
        skip(Need::Python, format!("{} cannot import pycubexr", python.display()));
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("report.cubex");
    let cube = cube();
    let rows = write(&path, &cube);

    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/print_with_pycubexr.py");
    let output =
        Command::new(&python).env("PYTHONIOENCODING", "utf-8").arg(script).arg(&path).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let seen = String::from_utf8(output.stdout).unwrap();
    let expected = describe(&cube) + &rows;
    for (seen, expected) in seen.lines().zip(expected.lines()) {
        assert_eq!(seen, expected);
    }
    assert_eq!(seen.lines().count(), expected.lines().count());
    assert!(rows.lines().count() > 100);
}

/// A metric tree, a call tree whose two row orders differ, and processes with several threads.
fn cube() -> Cube {
    let mut cube = Cube { mirrors: vec!["https://example.org/a&b/".into()], ..Cube::default() };
    let kinds = [
        (MetricKind::Inclusive, DataType::Double),
        (MetricKind::Exclusive, DataType::Double),
        (MetricKind::Exclusive, DataType::UInt64),
        (MetricKind::Inclusive, DataType::UInt64),
        (MetricKind::Inclusive, DataType::Int64),
        (MetricKind::Exclusive, DataType::Int64),
        (MetricKind::Exclusive, DataType::MinDouble),
        (MetricKind::Exclusive, DataType::MaxDouble),
    ];
    for (id, (kind, data_type)) in kinds.into_iter().enumerate() {
        cube.add_metric(Metric {
            parent: [None, Some(MetricId(0)), Some(MetricId(1)), None][id % 4],
            kind,
            unique_name: format!("m{id}"),
            display_name: format!("Größe <{id}> & \"'"),
            data_type,
            unit: "occ".into(),
            url: format!("@mirror@m.html#{id}"),
            description: "日本語".into(),
            ..Metric::default()
        });
    }
    for name in ["main", "std::vector<int>::at", "operator&&", "日本"] {
        cube.add_region(Region {
            module: "a \"b\".c".into(),
            begin_line: Some(7),
            paradigm: "user".into(),
            role: "function".into(),
            ..Region::named(name)
        });
    }
    for id in 0..40_usize {
        let parent = id.checked_sub(1).map(|last| CnodeId(last * 7 % (last + 1) / 2 + last / 3));
        cube.add_cnode(Cnode { parent, region: RegionId(id % 4), ..Cnode::default() });
    }
    support::add_processes(&mut cube, 3);
    for group in [2, 0] {
        let group = cubex::LocationGroupId(group);
        cube.add_location(Location { group, name: "OMP thread 1".into(), rank: 1, ..Location::default() });
    }
    cube.topologies.push(Topology {
        name: "grid".into(),
        dimensions: vec![Dimension { name: "x".into(), size: 2, periodic: true }],
        coordinates: vec![Coordinate { of: Placed::Location(LocationId(1)), position: vec![1] }],
    });
    cube
}

/// Writes rows for two thirds of the call paths of all metrics but one, and returns them as text.
fn write(path: &std::path::Path, cube: &Cube) -> String {
    let locations = cube.locations.len();
    let mut text = String::new();
    let mut writer = Writer::create(path, cube.clone()).unwrap();
    writer.add_member("notes.txt", &[b'x'; 512]).unwrap();
    for (id, metric) in cube.metrics.iter().enumerate().filter(|(id, _)| *id != 3) {
        let cnodes: Vec<CnodeId> =
            (0..cube.cnodes.len()).filter(|cnode| cnode % 3 != 1).map(CnodeId).collect();
        let mut rows = writer.metric(MetricId(id), &cnodes).unwrap();
        for cnode in rows.order().to_vec() {
            let seed = |location: usize| (id * 1000 + cnode.0 * 10 + location) as u64;
            match metric.data_type {
                DataType::UInt64 => {
                    let row: Vec<u64> = (0..locations).map(|it| u64::MAX - seed(it)).collect();
                    rows.push_u64(cnode, &row).unwrap();
                }
                DataType::Int64 => {
                    let row: Vec<i64> = (0..locations).map(|it| -(seed(it) as i64)).collect();
                    rows.push_i64(cnode, &row).unwrap();
                }
                _ => {
                    let row: Vec<f64> = (0..locations).map(|it| seed(it) as f64 / 7.0).collect();
                    rows.push_f64(cnode, &row).unwrap();
                }
            }
        }
        rows.finish().unwrap();
        for cnode in cnodes {
            write!(text, "row|{id}|{}", cnode.0).unwrap();
            for location in 0..locations {
                let seed = (id * 1000 + cnode.0 * 10 + location) as u64;
                match metric.data_type {
                    DataType::UInt64 => write!(text, "|{}", u64::MAX - seed).unwrap(),
                    DataType::Int64 => write!(text, "|{}", -(seed as i64)).unwrap(),
                    _ => write!(text, "|{:016x}", (seed as f64 / 7.0).to_bits()).unwrap(),
                }
            }
            text.push('\n');
        }
    }
    writer.finish().unwrap();
    text
}

/// The trees, in the format of the script.
fn describe(cube: &Cube) -> String {
    let mut text = String::new();
    let parent = |id: Option<usize>| id.map_or("-".into(), |id| id.to_string());

    let metrics: Vec<_> = cube.metrics.iter().map(|metric| metric.parent.map(|id| id.0)).collect();
    for id in preorder(&metrics) {
        let it = &cube.metrics[id];
        let kind = if it.kind == MetricKind::Inclusive { "INCLUSIVE" } else { "EXCLUSIVE" };
        let (above, name, dtype, unit) = (parent(metrics[id]), &it.unique_name, &it.data_type, &it.unit);
        let (shown, url, about) = (&it.display_name, &it.url, &it.description);
        writeln!(text, "metric|{id}|{above}|{kind}|{name}|{dtype}|{unit}|{shown}|{url}|{about}").unwrap();
    }
    let cnodes: Vec<_> = cube.cnodes.iter().map(|cnode| cnode.parent.map(|id| id.0)).collect();
    for id in preorder(&cnodes) {
        let region = cube.cnodes[id].region.0;
        let it = &cube.regions[region];
        let (name, module) = (&it.name, &it.module);
        writeln!(text, "cnode|{id}|{}|{region}|{name}|{module}|7|-1|user|function", parent(cnodes[id]))
            .unwrap();
    }
    for (id, node) in cube.system_tree_nodes.iter().enumerate() {
        let above = parent(node.parent.map(|id| id.0));
        writeln!(text, "node|{id}|{above}|{}", node.name).unwrap();
    }
    for (id, group) in cube.location_groups.iter().enumerate() {
        let (node, rank, name) = (group.system_tree_node.0, group.rank, &group.name);
        writeln!(text, "group|{id}|{node}|process|{rank}|{name}").unwrap();
        for (location, it) in cube.locations.iter().enumerate().filter(|(_, it)| it.group.0 == id) {
            writeln!(text, "location|{location}|{id}|thread|{}|{}", it.rank, it.name).unwrap();
        }
    }
    text
}

fn preorder(parents: &[Option<usize>]) -> Vec<usize> {
    let mut order = Vec::new();
    let mut pending: Vec<usize> = (0..parents.len()).rev().filter(|&id| parents[id].is_none()).collect();
    while let Some(node) = pending.pop() {
        order.push(node);
        pending.extend((0..parents.len()).rev().filter(|&id| parents[id] == Some(node)));
    }
    order
}
