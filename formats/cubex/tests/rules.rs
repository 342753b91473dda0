//! Rules of the writer: a description of a broken report is refused with a reason, and no file is left.

mod support;

use std::fs;

use cubex::{
    Attribute, CnodeId, Coordinate, Cube, DataType, Dimension, Expression, LocationGroupId, LocationId,
    Metric, MetricId, MetricKind, Placed, RegionId, Topology, Writer,
};

/// An expected error message, and the change that provokes it.
type Case = (&'static str, fn(&mut Cube));

#[test]
fn broken_descriptions_are_refused() {
    let cases: [Case; 18] = [
        ("a report needs at least one metric", |cube| cube.metrics.clear()),
        ("metric 1 (time): the unique name is already", |cube| {
            cube.metrics.swap(0, 1);
            cube.metrics[0].unique_name = "time".into();
        }),
        ("metric 1 (a b): a unique name consists of", |cube| cube.metrics[1].unique_name = "a b".into()),
        ("metric 0: parent 1 does not come before it", |cube| cube.metrics[0].parent = Some(MetricId(1))),
        ("metric 0 (time): values of this type cannot be inclusive", |cube| {
            cube.metrics[0].data_type = DataType::MinDouble;
        }),
        ("metric 0 (time): the kind Simple is retired", |cube| cube.metrics[0].kind = MetricKind::Simple),
        ("metric 1 (visits): unknown data type", |cube| {
            cube.metrics[1].data_type = DataType::Unknown("?".into());
        }),
        ("metric 1 (visits): a derived metric needs", |cube| cube.metrics[1].kind = MetricKind::Postderived),
        ("cnode 1: region 2 does not exist; there are 2", |cube| cube.cnodes[1].region = RegionId(2)),
        ("cnode 1: parent 1 does not come before it", |cube| cube.cnodes[1].parent = Some(CnodeId(1))),
        ("cnode 1: a second root", |cube| cube.cnodes[1].parent = None),
        ("cnode 0: only leaves of the call tree may have attributes", |cube| {
            cube.cnodes[0].attributes.push(Attribute::new("a", "b"));
        }),
        ("system tree node 1: a second root", |cube| cube.system_tree_nodes[1].parent = None),
        ("location group 1: has no location", |cube| cube.locations.truncate(1)),
        ("location 1: location group 2 does not", |cube| cube.locations[1].group = LocationGroupId(2)),
        ("topology 0: [2] is outside the grid", |cube| cube.topologies.push(grid(vec![2]))),
        ("topology 0: [0, 0] is outside the grid", |cube| cube.topologies.push(grid(vec![0, 0]))),
        ("topology 0: needs dimensions of size 1", |cube| cube.topologies.push(Topology::default())),
    ];
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.cubex");
    for (expected, break_it) in cases {
        let mut cube = support::minimal();
        break_it(&mut cube);
        let error = Writer::create(&path, cube).unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("{}: {expected}", path.display())),
            "{error}\nexpected {expected}"
        );
    }
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

fn grid(position: Vec<u64>) -> Topology {
    Topology {
        dimensions: vec![Dimension { size: 2, ..Dimension::default() }],
        coordinates: vec![Coordinate { of: Placed::Location(LocationId(0)), position }],
        ..Topology::default()
    }
}

fn refused(result: Result<(), cubex::Error>, expected: &str) {
    let error = result.unwrap_err().to_string();
    assert!(error.contains(expected), "{error}\nexpected {expected}");
}

#[test]
fn rows_out_of_turn_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = Writer::create(directory.path().join("x.cubex"), support::minimal()).unwrap();
    let (main, f) = (CnodeId(0), CnodeId(1));
    refused(writer.metric(MetricId(0), &[main, main]).map(drop), "metric time: cnode 0 is named twice");
    refused(writer.metric(MetricId(0), &[CnodeId(2)]).map(drop), "metric time: cnode 2 does not exist");
    refused(writer.metric(MetricId(7), &[]).map(drop), "metric 7 does not exist");

    let mut rows = writer.metric(MetricId(0), &[f, main]).unwrap();
    refused(rows.push_f64(f, &[0.0; 2]), "metric time: row of cnode 1, expected cnode 0");
    refused(rows.push_f64(main, &[0.0; 3]), "metric time: row of 3 values, expected 2");
    refused(rows.push_u64(main, &[0; 2]), "metric time: u64 values pushed, expected DOUBLE");
    rows.push_f64(main, &[0.0; 2]).unwrap();
    rows.push_f64(f, &[0.0; 2]).unwrap();
    refused(rows.push_f64(f, &[0.0; 2]), "metric time: row of cnode 1 after the last one");
    rows.finish().unwrap();
    refused(writer.metric(MetricId(0), &[]).map(drop), "metric time: rows were already written");

    let mut rows = writer.metric(MetricId(1), &[main, f]).unwrap();
    rows.push_u64(main, &[0; 2]).unwrap();
    refused(rows.finish(), "metric visits: 1 of 2 rows were pushed");
    refused(writer.add_member("a", b"a"), "the rows of metric visits were not finished");
    refused(writer.finish(), "the rows of metric visits were not finished");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn values_without_room_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = Writer::create(directory.path().join("x.cubex"), support::minimal()).unwrap();
    let (time, visits) = (MetricId(0), MetricId(1));
    refused(writer.put(time, 0, &[[0; 8]; 1]), "metric time: no room for 1 values from value 0 on");
    writer.reserve(time, &[CnodeId(1)]).unwrap();
    refused(writer.reserve(time, &[CnodeId(1)]), "metric time: rows were already written");
    writer.reserve(visits, &[]).unwrap();
    refused(writer.put(visits, 0, &[[0; 8]; 1]), "metric visits: no room for 1 values from value 0 on");
    refused(writer.put(time, 1, &[[0; 8]; 2]), "metric time: no room for 2 values from value 1 on");
    refused(writer.put(time, u64::MAX, &[[0; 8]; 2]), "metric time: no room for 2 values");
    writer.put(time, 1, &[[0; 8]; 1]).unwrap();
    writer.add_member("a", b"a").unwrap();
    refused(writer.finish(), "metric time: 1 of 2 values were not put");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn types_that_cannot_be_written_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let metric = Metric { data_type: DataType::UInt8, ..Metric::default() };
    let mut writer =
        Writer::create(directory.path().join("x.cubex"), support::tree(&[None], metric, 1)).unwrap();
    let error = writer.metric(MetricId(0), &[CnodeId(0)]).unwrap_err().to_string();
    assert!(error.ends_with("metric m: rows of type UINT8 cannot be written"), "{error}");
}

#[test]
fn derived_metric_has_no_rows() {
    let directory = tempfile::tempdir().unwrap();
    let (kind, expression) = (MetricKind::Postderived, Some(Expression::default()));
    let cube = support::tree(&[None], Metric { kind, expression, ..Metric::default() }, 1);
    let mut writer = Writer::create(directory.path().join("x.cubex"), cube).unwrap();
    let error = writer.metric(MetricId(0), &[]).unwrap_err().to_string();
    assert!(error.ends_with("metric m: a derived metric has no rows"), "{error}");
}

#[test]
fn as_many_values_as_the_format_cannot_count_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let parents: Vec<Option<usize>> = (0..1 << 16).map(|cnode| (cnode > 0).then_some(0)).collect();
    let cube = support::tree(&parents, Metric::default(), 1 << 16);
    let mut writer = Writer::create(directory.path().join("x.cubex"), cube).unwrap();
    let cnodes: Vec<CnodeId> = (0..1 << 16).map(CnodeId).collect();
    let error = writer.metric(MetricId(0), &cnodes).unwrap_err().to_string();
    assert!(error.ends_with("metric m: 4294967296 values; the format ends below 4294967295"), "{error}");
    writer.metric(MetricId(0), &cnodes[1..]).unwrap();
}

#[test]
fn member_names_that_mean_something_else_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = Writer::create(directory.path().join("x.cubex"), support::minimal()).unwrap();
    for name in ["anchor.xml", "0.data", "ghost_1.index", "", "a/b", "./a", "a\nb", &"x".repeat(100)] {
        assert!(writer.add_member(name, b"text").is_err(), "{name:?}");
    }
    writer.add_member(&"x".repeat(99), b"text").unwrap();
    writer.add_member("a", b"").unwrap();
    assert!(writer.add_member("a", b"").unwrap_err().to_string().contains("member a: a member of this name"));
}

#[test]
fn name_must_end_in_cubex() {
    let directory = tempfile::tempdir().unwrap();
    for name in ["report", "report.cube", ".cubex", "report.cubex.gz"] {
        let path = directory.path().join(name);
        for error in
            [Writer::create(&path, support::minimal()).unwrap_err(), Writer::probe(&path).unwrap_err()]
        {
            assert!(error.to_string().contains("the name of a report must end in .cubex"), "{error}");
        }
    }
}

#[test]
fn probe_leaves_nothing_and_tells_what_a_report_would_meet() {
    let directory = tempfile::tempdir().unwrap();
    Writer::probe(directory.path().join("x.cubex")).unwrap();
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    let error = Writer::probe(directory.path().join("missing/x.cubex")).unwrap_err().to_string();
    assert!(error.contains("x.cubex: cannot create the report"), "{error}");
}

#[test]
fn existing_report_is_replaced_by_finish_only() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.cubex");
    fs::write(&path, "old").unwrap();
    drop(Writer::create(&path, support::minimal()).unwrap());
    assert_eq!(fs::read(&path).unwrap(), b"old");
    drop(Writer::create(&path, support::minimal()).unwrap().complete().unwrap());
    assert_eq!(fs::read(&path).unwrap(), b"old");
    let mut writer = Writer::create(&path, support::minimal()).unwrap();
    writer.add_companion("stat", b"new".to_vec());
    let complete = writer.complete().unwrap();
    // Where files have no names until then, there is none.
    let names = fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let seen: Vec<_> = names.filter(|name| !name.to_string_lossy().starts_with('.')).collect();
    assert_eq!(seen, ["x.cubex"]);
    assert_eq!(fs::read(&path).unwrap(), b"old");
    complete.put_in_place().unwrap();
    assert_ne!(fs::read(&path).unwrap(), b"old");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2);
}

#[test]
fn report_that_cannot_be_created_or_put_in_place_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("missing/x.cubex");
    let error = Writer::create(&path, support::minimal()).unwrap_err().to_string();
    assert!(error.starts_with(&format!("{}: cannot create the report: ", path.display())), "{error}");

    let path = directory.path().join("x.cubex");
    let writer = Writer::create(&path, support::minimal()).unwrap();
    fs::create_dir(&path).unwrap();
    let error = writer.finish().unwrap_err().to_string();
    assert!(error.starts_with(&format!("{}: cannot put the report in place: ", path.display())), "{error}");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "nothing but the obstacle is left");
}

#[test]
fn file_that_a_killed_process_left_behind_is_not_written_into() {
    let directory = tempfile::tempdir().unwrap();
    let left = |number: u32| directory.path().join(format!(".x.cubex.{}-{number}", std::process::id()));
    // Writers of other tests use some of these numbers.
    for number in 0..100 {
        fs::write(left(number), "left").unwrap();
    }
    let path = directory.path().join("x.cubex");
    Writer::create(&path, support::minimal()).unwrap().finish().unwrap();
    assert!(path.exists());
    assert!((0..100).all(|number| fs::read(left(number)).unwrap() == b"left"));
}

#[test]
fn order_depends_on_the_kind() {
    // 0(1(2), 3): siblings 1 and 3 stand together in inclusive metrics.
    let parents = [None, Some(0), Some(1), Some(0)];
    let directory = tempfile::tempdir().unwrap();
    for (kind, expected) in [(MetricKind::Exclusive, [0, 1, 2, 3]), (MetricKind::Inclusive, [0, 1, 3, 2])] {
        let cube = support::tree(&parents, Metric { kind, ..Metric::default() }, 1);
        let writer = Writer::create(directory.path().join("x.cubex"), cube).unwrap();
        let order = writer.order(MetricId(0), &[3, 2, 1, 0].map(CnodeId)).unwrap();
        assert_eq!(order, expected.map(CnodeId));
    }
}

#[test]
fn same_calls_give_same_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str| {
        let path = directory.path().join(name);
        let mut writer = Writer::create(&path, support::minimal()).unwrap();
        writer.add_member("a", b"text").unwrap();
        writer.finish().unwrap();
        fs::read(path).unwrap()
    };
    assert_eq!(write("a.cubex"), write("b.cubex"));
}
