//! Reports with other descriptions: names that are hostile or secret, and topologies.

use std::path::Path;

use cubex::{
    Coordinate, Cube, Dimension, LocationGroupId, MetricId, Placed, Report, Topology, Values, Writer,
};

/// Copies a report with its details; the description is changed on the way.
pub(super) fn rewrite(from: &Path, to: &Path, change: impl FnOnce(&mut Cube)) {
    let report = Report::open(from).unwrap();
    let mut cube = report.cube().clone();
    change(&mut cube);
    let mut writer = Writer::create(to, cube).unwrap();
    for name in report.members().filter(|name| name.starts_with("replay.")) {
        writer.add_member(name, &report.member(name).unwrap().unwrap()).unwrap();
    }
    for metric in (0..report.cube().metrics.len()).map(MetricId) {
        let mut rows = report.rows(metric).unwrap();
        let cnodes = rows.cnodes().to_vec();
        if cnodes.is_empty() {
            continue;
        }
        let mut written = writer.metric(metric, &cnodes).unwrap();
        while let Some((cnode, values)) = rows.next().unwrap() {
            match values {
                Values::F64(row) => written.push_f64(cnode, &row),
                Values::U64(row) => written.push_u64(cnode, &row),
                Values::I64(row) => written.push_i64(cnode, &row),
                _ => panic!("our reports have numbers"),
            }
            .unwrap();
        }
        written.finish().unwrap();
    }
    writer.finish().unwrap();
}

/// Adds a topology in which ranks follow each other, the last dimension fastest.
pub(super) fn add_topology(cube: &mut Cube, name: &str, sizes: &[u64]) {
    let dimension = |(at, &size): (usize, &u64)| {
        let name = ["x", "y", "z"][at].to_owned();
        Dimension { name, size, periodic: at == 0 }
    };
    let position = |rank: u64| {
        let mut rest = rank;
        let mut position: Vec<u64> = sizes.iter().rev().map(|size| (rest % size, rest /= size).0).collect();
        position.reverse();
        position
    };
    let coordinates = (0..cube.location_groups.len()).map(|group| Coordinate {
        of: Placed::Group(LocationGroupId(group)),
        position: position(group as u64),
    });
    cube.topologies.push(Topology {
        name: name.to_owned(),
        dimensions: sizes.iter().enumerate().map(dimension).collect(),
        coordinates: coordinates.collect(),
    });
}
