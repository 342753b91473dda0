//! Reports of other programs: `replay-show` prints of files shaped as theirs what pycubexr reads.

use std::path::Path;

use cubex::{
    Cnode, CnodeId, Cube, DataType, Forest, Location, LocationGroup, Metric, MetricId, MetricKind, Region,
    SystemTreeNode, Writer,
};

use crate::interop::python;
use crate::show::compare;
use crate::support::chance::Random;
use crate::support::fresh;
use crate::support::show::json;

use DataType::{Double, Int64, MaxDouble, MinDouble, UInt64};
use MetricKind::{Exclusive, Inclusive};

/// A metric: its name, that of its parent, and how it is stored.
type Shape = (&'static str, Option<&'static str>, DataType, MetricKind);

/// Score-P's `profile.cubex`.
const PROFILE: [Shape; 5] = [
    ("visits", None, UInt64, Exclusive),
    ("time", None, Double, Inclusive),
    ("min_time", None, MinDouble, Exclusive),
    ("max_time", None, MaxDouble, Exclusive),
    ("bytes_sent", None, UInt64, Exclusive),
];

/// Scalasca's `scout.cubex`: what its analyzer has written, before it is remapped.
const SCOUT: [Shape; 5] = [
    ("visits", None, Int64, Exclusive),
    ("time", None, Double, Exclusive),
    ("mpi_latesender", None, Double, Exclusive),
    ("mpi_barrier_wait", None, Double, Exclusive),
    ("bytes_sent", None, Int64, Exclusive),
];

/// Scalasca's `trace.cubex`, remapped with all derived metrics evaluated: a tree of stored ones.
const REMAPPED: [Shape; 7] = [
    ("time", None, Double, Inclusive),
    ("execution", Some("time"), Double, Inclusive),
    ("comp", Some("execution"), Double, Inclusive),
    ("mpi", Some("execution"), Double, Inclusive),
    ("mpi_latesender", Some("mpi"), Double, Exclusive),
    ("mpi_barrier_wait", Some("mpi"), Double, Inclusive),
    ("visits", None, UInt64, Exclusive),
];

/// A report as Score-P writes it.
pub(crate) fn profile(path: &Path) {
    write(path, &PROFILE, &mut Random::new(1));
}

/// A report of three processes with two threads each, and some call paths: values of each metric at random, a half of the rows
/// of exclusive metrics missing.
fn write(path: &Path, shapes: &[Shape], random: &mut Random) {
    let mut cube = Cube::default();
    let name = |name: &str| name.to_owned();
    let machine =
        SystemTreeNode { name: name("machine Linux"), class: name("machine"), ..SystemTreeNode::default() };
    let machine = cube.add_system_tree_node(machine);
    for rank in 0..3 {
        let group = LocationGroup {
            system_tree_node: machine,
            name: format!("MPI Rank {rank}"),
            rank,
            ..LocationGroup::default()
        };
        let group = cube.add_location_group(group);
        for (rank, thread) in (0..).zip(["Master thread", "OMP thread 1"]) {
            cube.add_location(Location { group, rank, name: name(thread), ..Location::default() });
        }
    }
    let mut metrics: Vec<MetricId> = Vec::new();
    for (unique_name, parent, data_type, kind) in shapes {
        let parent = parent.and_then(|parent| shapes.iter().position(|shape| shape.0 == parent));
        let unit = match *unique_name {
            "visits" => "occ",
            "bytes_sent" => "bytes",
            _ => "sec",
        };
        metrics.push(cube.add_metric(Metric {
            parent: parent.map(|parent| metrics[parent]),
            unique_name: name(unique_name),
            display_name: name(unique_name),
            data_type: data_type.clone(),
            unit: name(unit),
            kind: *kind,
            ..Metric::default()
        }));
    }
    for (at, parent) in
        [None, Some(0), Some(1), Some(2), Some(2), Some(1), Some(0), Some(6)].into_iter().enumerate()
    {
        // Two call paths have one name.
        let region = cube.add_region(Region::named(["app", "main", "solve", "MPI_Recv"][at.min(3)]));
        cube.add_cnode(Cnode { parent: parent.map(CnodeId), region, ..Cnode::default() });
    }
    let (cnodes, locations) = (cube.cnodes.len(), cube.locations.len());
    let forest = Forest::of_cnodes(&cube);
    let mut writer = Writer::create(path, cube).unwrap();
    for (&metric, (_, _, data_type, kind)) in metrics.iter().zip(shapes) {
        let mut rows: Vec<Vec<u32>> =
            (0..cnodes).map(|_| (0..locations).map(|_| 1 + random.below(1000) as u32).collect()).collect();
        let mut kept: Vec<CnodeId> = (0..cnodes).map(CnodeId).collect();
        if *kind == Inclusive {
            for cnode in (0..cnodes).rev() {
                for &child in forest.children(cnode) {
                    let below = rows[child].clone();
                    rows[cnode].iter_mut().zip(below).for_each(|(sum, value)| *sum += value);
                }
            }
        } else if !matches!(data_type, MinDouble | MaxDouble) {
            kept.retain(|_| random.below(2) == 0);
        }
        let mut out = writer.metric(metric, &kept).unwrap();
        for cnode in out.order().to_vec() {
            let row = &rows[cnode.0];
            match data_type {
                UInt64 => out.push_u64(cnode, &row.iter().map(|&value| value.into()).collect::<Vec<u64>>()),
                Int64 => out.push_i64(cnode, &row.iter().map(|&value| value.into()).collect::<Vec<i64>>()),
                _ => out
                    .push_f64(cnode, &row.iter().map(|&value| f64::from(value) / 8.0).collect::<Vec<f64>>()),
            }
            .unwrap();
        }
        out.finish().unwrap();
    }
    writer.finish().unwrap();
}

#[test]
fn reports_shaped_as_those_of_score_p_and_scalasca_have_the_values_that_pycubexr_reads() {
    let Some(python) = python() else { return };
    let directory = fresh();
    for seed in 0..3 {
        for (file, shapes) in [("profile", &PROFILE[..]), ("scout", &SCOUT), ("trace", &REMAPPED)] {
            let report = directory.path().join(format!("{file}.cubex"));
            write(&report, shapes, &mut Random::new(seed));
            let sums = shapes.iter().filter(|shape| !matches!(shape.2, MinDouble | MaxDouble));
            compare(&python, &report, &sums.map(|shape| shape.0).collect::<Vec<_>>());
        }
    }
}

#[test]
fn least_and_greatest_times_of_a_profile_are_no_sums() {
    let directory = fresh();
    let report = directory.path().join("profile.cubex");
    write(&report, &PROFILE, &mut Random::new(0));
    let read = cubex::Report::open(&report).unwrap();
    let path = report.to_str().unwrap();
    let tree = json(&["tree", path, "-m", "min_time,max_time", "--min", "0"]);
    for (name, of) in [("min_time", f64::min as fn(f64, f64) -> f64), ("max_time", f64::max)] {
        let metric = read.cube().metric_named(name).unwrap();
        let mut rows = read.rows(metric).unwrap();
        let mut all = Vec::new();
        while let Some((cnode, values)) = rows.next().unwrap() {
            let cubex::Values::F64(values) = values else { panic!("{values:?}") };
            let value = values.into_iter().reduce(of).unwrap();
            let node =
                tree["nodes"].as_array().unwrap().iter().find(|node| node["cnode"] == cnode.0).unwrap();
            assert_eq!(node[format!("{name}.exclusive")].as_f64(), Some(value), "{name} at {}", node["path"]);
            all.push(value);
        }
        assert_eq!(tree["nodes"][0][name].as_f64(), all.into_iter().reduce(of), "{name} of all");
    }
}
