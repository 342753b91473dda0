//! Round trips: random reports are read as they were written.

mod support;

use std::collections::BTreeMap;
use std::path::Path;

use cubex::{
    Aggregation, Attribute, Cnode, CnodeId, Coordinate, Cube, DataType, Dimension, Expression, Location,
    LocationGroupId, LocationGroupKind, LocationId, LocationKind, Metric, MetricId, MetricKind, Parameter,
    Placed, Region, Report, SystemTreeNodeId, Topology, Values, Writer,
};
use proptest::prelude::*;

/// Writes the rows of each metric and checks that they are read unchanged.
fn round_trip(path: &Path, cube: &Cube, rows: &BTreeMap<usize, BTreeMap<CnodeId, Values>>) -> Report {
    let mut writer = Writer::create(path, cube.clone()).unwrap();
    for (&metric, rows) in rows {
        let cnodes: Vec<CnodeId> = rows.keys().copied().collect();
        let mut writer = writer.metric(MetricId(metric), &cnodes).unwrap();
        for cnode in writer.order().to_vec() {
            match &rows[&cnode] {
                Values::F64(row) => writer.push_f64(cnode, row).unwrap(),
                Values::U64(row) => writer.push_u64(cnode, row).unwrap(),
                Values::I64(row) => writer.push_i64(cnode, row).unwrap(),
                Values::Raw(_) => unreachable!(),
            }
        }
        writer.finish().unwrap();
    }
    writer.finish().unwrap();

    let report = Report::open(path).unwrap();
    assert_eq!(report.cube(), cube);
    for metric in 0..cube.metrics.len() {
        let mut read = BTreeMap::new();
        let mut reader = report.rows(MetricId(metric)).unwrap();
        while let Some((cnode, row)) = reader.next().unwrap() {
            read.insert(cnode, row);
        }
        assert_eq!(read, rows.get(&metric).cloned().unwrap_or_default());
    }
    report
}

fn text() -> impl Strategy<Value = String> {
    "[ -~äß日本€\u{10348}]{0,12}"
}

/// Parents of `count` nodes: one root, the others below any earlier one.
fn parents(count: usize) -> impl Strategy<Value = Vec<Option<usize>>> {
    proptest::collection::vec(any::<proptest::sample::Index>(), count - 1).prop_map(|choices| {
        let below = choices.iter().enumerate().map(|(earlier, choice)| Some(choice.index(earlier + 1)));
        std::iter::once(None).chain(below).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn random_reports_read_back(
        parents in (1_usize..30).prop_flat_map(parents),
        inclusive: bool,
        processes in 1_usize..6,
        name in text(),
        has_row in proptest::collection::vec(any::<bool>(), 30),
        values in proptest::collection::vec(-1e300_f64..1e300, 180),
        kind in 0..3,
    ) {
        let (data_type, convert): (_, fn(&[f64]) -> Values) = match kind {
            0 => (DataType::Double, |row| Values::F64(row.to_vec())),
            1 => (DataType::UInt64, |row| Values::U64(row.iter().map(|it| it.to_bits()).collect())),
            _ => (DataType::Int64, |row| Values::I64(row.iter().map(|it| it.to_bits() as i64).collect())),
        };
        let kind = if inclusive { MetricKind::Inclusive } else { MetricKind::Exclusive };
        let metric = Metric { kind, data_type, display_name: name.clone(), ..Metric::default() };
        let mut cube = support::tree(&parents, metric, processes);
        cube.regions[0].name = name.clone();
        cube.regions[0].module = name;
        let rows = (0..parents.len()).filter(|&cnode| has_row[cnode]).map(|cnode| {
            (CnodeId(cnode), convert(&values[cnode * processes..][..processes]))
        });
        let directory = tempfile::tempdir().unwrap();
        round_trip(&directory.path().join("x.cubex"), &cube, &BTreeMap::from([(0, rows.collect())]));
    }

    /// The bytes of a report do not depend on the order of writing.
    #[test]
    fn values_put_in_any_order_are_rows(order in Just((0..8_usize).collect::<Vec<_>>()).prop_shuffle()) {
        let directory = tempfile::tempdir().unwrap();
        let [pushed, put] = ["pushed.cubex", "put.cubex"].map(|name| directory.path().join(name));
        let cnodes = [CnodeId(0), CnodeId(1)];
        let value = |metric: usize, at: usize| (10 * metric + at) as u64;

        let mut writer = Writer::create(&pushed, support::minimal()).unwrap();
        let mut time = writer.metric(MetricId(0), &cnodes).unwrap();
        for (at, cnode) in cnodes.into_iter().enumerate() {
            time.push_f64(cnode, &[2 * at, 2 * at + 1].map(|at| f64::from_bits(value(0, at)))).unwrap();
        }
        time.finish().unwrap();
        let mut visits = writer.metric(MetricId(1), &cnodes).unwrap();
        for (at, cnode) in cnodes.into_iter().enumerate() {
            visits.push_u64(cnode, &[2 * at, 2 * at + 1].map(|at| value(1, at))).unwrap();
        }
        visits.finish().unwrap();
        writer.finish().unwrap();

        let mut writer = Writer::create(&put, support::minimal()).unwrap();
        (0..2).for_each(|metric| writer.reserve(MetricId(metric), &cnodes).unwrap());
        for at in order {
            let (metric, at) = (at / 4, at % 4);
            writer.put(MetricId(metric), at as u64, &[value(metric, at).to_le_bytes()]).unwrap();
        }
        writer.finish().unwrap();
        prop_assert_eq!(std::fs::read(pushed).unwrap(), std::fs::read(put).unwrap());
    }

    /// Sizes of anchor and member around those on which readers disagree.
    #[test]
    fn members_of_any_size_are_found(size in 0_usize..1100) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.cubex");
        let mut cube = support::minimal();
        cube.attributes.push(Attribute::new("filler", "x".repeat(size)));
        let mut writer = Writer::create(&path, cube.clone()).unwrap();
        writer.add_member("a", &vec![b'a'; size]).unwrap();
        let mut rows = writer.metric(MetricId(1), &[CnodeId(1)]).unwrap();
        rows.push_u64(CnodeId(1), &[1, 2]).unwrap();
        rows.finish().unwrap();
        writer.finish().unwrap();

        for (name, contents) in support::members(&std::fs::read(&path).unwrap()) {
            prop_assert!(!contents.is_empty() && contents.len() % 512 != 0, "{name} has {} bytes", contents.len());
        }
        let report = Report::open(&path).unwrap();
        prop_assert_eq!(report.cube(), &cube);
        let a = report.member("a").unwrap().unwrap();
        prop_assert!(a.starts_with(&vec![b'a'; size]) && a.len() <= size + 1);
    }
}

#[test]
fn every_field_reads_back() {
    let attribute = || vec![Attribute::new("key <1>", "value & \"2\"")];
    let mut cube = support::minimal();
    cube.attributes = attribute();
    cube.mirrors = vec!["file:///doc/".into(), "https://example.org/".into()];
    cube.metrics[0].attributes = attribute();
    cube.add_metric(Metric {
        parent: Some(MetricId(0)),
        kind: MetricKind::PrederivedExclusive,
        ghost: true,
        unique_name: "derived".into(),
        void: true,
        not_convertible: true,
        not_cacheable: true,
        expression: Some(Expression {
            value: "${mask}[1] * metric::time(e) < 3 && 'x'".into(),
            by_value: true,
            init: "{ global(mask); }".into(),
            aggregations: vec![
                (Aggregation::Plus, "arg1 + arg2".into()),
                (Aggregation::Locations, "0".into()),
            ],
        }),
        ..Metric::default()
    });
    cube.add_region(Region {
        url: "u".into(),
        description: "MPI".into(),
        attributes: attribute(),
        ..Region::named("")
    });
    for region in &mut cube.regions {
        (region.paradigm, region.role) = ("mpi".into(), "barrier".into());
    }
    cube.add_cnode(Cnode {
        parent: Some(CnodeId(1)),
        module: "b.c".into(),
        line: Some(17),
        parameters: vec![
            Parameter::Numeric { key: "n".into(), value: -0.125 },
            Parameter::Text { key: "t".into(), value: "<>".into() },
        ],
        attributes: attribute(),
        ..Cnode::default()
    });
    cube.system_tree_nodes[1].description = "rack".into();
    cube.system_tree_nodes[1].attributes = attribute();
    cube.location_groups[1].kind = LocationGroupKind::Accelerator;
    cube.location_groups[1].attributes = attribute();
    cube.locations[1].kind = LocationKind::AcceleratorStream;
    cube.add_location(Location {
        group: LocationGroupId(0),
        name: "counters".into(),
        rank: 1,
        kind: LocationKind::Metric,
        attributes: attribute(),
    });
    let dimension = |name: &str, size, periodic| Dimension { name: name.into(), size, periodic };
    cube.topologies.push(Topology {
        name: "MPI & \"more\"".into(),
        dimensions: vec![dimension("", 3, false), dimension("y", 1, true)],
        coordinates: vec![
            Coordinate { of: Placed::Location(LocationId(2)), position: vec![2, 0] },
            Coordinate { of: Placed::Group(LocationGroupId(1)), position: vec![0, 0] },
        ],
    });
    let directory = tempfile::tempdir().unwrap();
    let report = round_trip(&directory.path().join("x.cubex"), &cube, &BTreeMap::new());
    let anchor = String::from_utf8(report.member("anchor.xml").unwrap().unwrap()).unwrap();
    assert!(anchor.contains("<cube version=\"4.7\">"), "accelerators need it");
}

#[test]
fn kinds_and_types_read_back_also_where_no_rows_can_be_written() {
    let mut cube = support::minimal();
    let aggregations = vec![
        (Aggregation::Plus, "a".into()),
        (Aggregation::Minus, "b".into()),
        (Aggregation::Locations, "c".into()),
    ];
    for kind in [MetricKind::PrederivedExclusive, MetricKind::PrederivedInclusive, MetricKind::Postderived] {
        let expression = Some(Expression { aggregations: aggregations.clone(), ..Expression::default() });
        cube.add_metric(Metric { kind, expression, unique_name: format!("{kind:?}"), ..Metric::default() });
    }
    for data_type in [DataType::UInt32, DataType::Complex, DataType::NDoubles(3), DataType::Histogram(5)] {
        let unique_name = format!("type{}", cube.metrics.len());
        cube.add_metric(Metric { data_type, unique_name, ..Metric::default() });
    }
    cube.location_groups[1].kind = LocationGroupKind::Metrics;
    let directory = tempfile::tempdir().unwrap();
    let report = round_trip(&directory.path().join("x.cubex"), &cube, &BTreeMap::new());
    assert_eq!(report.cube().metric_named("Postderived"), Some(MetricId(4)));
    assert_eq!(report.cube().metric_named("postderived"), None);
}

#[test]
fn groups_in_other_than_document_order_keep_their_coordinates() {
    let mut cube = support::minimal();
    // Group 0 moves to the child node, so that group 1, on the parent node, comes first in the document.
    cube.location_groups[1].system_tree_node = SystemTreeNodeId(0);
    cube.topologies.push(Topology {
        dimensions: vec![Dimension { size: 2, ..Dimension::default() }],
        coordinates: vec![Coordinate { of: Placed::Group(LocationGroupId(0)), position: vec![1] }],
        ..Topology::default()
    });
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.cubex");
    Writer::create(&path, cube).unwrap().finish().unwrap();
    let report = Report::open(&path).unwrap();
    let Placed::Group(group) = report.cube().topologies[0].coordinates[0].of else { panic!() };
    assert_eq!(report.cube().location_groups[group.0].name, "MPI Rank 0");
    assert_eq!(report.cube().location_groups[report.cube().locations[0].group.0].name, "MPI Rank 0");
}

#[test]
fn sums_along_the_call_tree_follow_the_kind() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.cubex");
    let (main, f, location) = (CnodeId(0), CnodeId(1), LocationId(0));
    for (kind, exclusive, inclusive) in [(MetricKind::Exclusive, 5.0, 7.0), (MetricKind::Inclusive, 3.0, 5.0)]
    {
        let cube = support::tree(&[None, Some(0), Some(1)], Metric { kind, ..Metric::default() }, 1);
        let rows = [(main, Values::F64(vec![5.0])), (f, Values::F64(vec![2.0]))].into();
        let severities = round_trip(&path, &cube, &[(0, rows)].into()).severities(MetricId(0)).unwrap();
        assert_eq!(severities.stored(main, location), 5.0);
        assert_eq!(severities.exclusive(main, location), exclusive);
        assert_eq!(severities.inclusive(main, location), inclusive);
        assert_eq!(severities.inclusive(CnodeId(2), location), 0.0, "no row means zero");
        assert_eq!(severities.total(), inclusive);
    }
}

#[test]
fn extremes_are_combined_by_their_operator() {
    let directory = tempfile::tempdir().unwrap();
    for (data_type, inclusive, total) in [(DataType::MinDouble, 5.0, 4.0), (DataType::MaxDouble, 7.0, 9.0)] {
        let metric = Metric { data_type, ..Metric::default() };
        let cube = support::tree(&[None, Some(0), Some(0)], metric, 2);
        let rows =
            [(CnodeId(1), Values::F64(vec![5.0, 9.0])), (CnodeId(2), Values::F64(vec![7.0, 4.0]))].into();
        let report = round_trip(&directory.path().join("x.cubex"), &cube, &[(0, rows)].into());
        let severities = report.severities(MetricId(0)).unwrap();
        assert_eq!(severities.inclusive(CnodeId(0), LocationId(0)), inclusive);
        assert_eq!(severities.total(), total);
    }
}

#[test]
fn call_tree_may_be_as_deep_as_it_likes() {
    let parents: Vec<Option<usize>> = (0..100_000_usize).map(|cnode| cnode.checked_sub(1)).collect();
    let metric = Metric { kind: MetricKind::Inclusive, ..Metric::default() };
    let cube = support::tree(&parents, metric, 1);
    let rows = [(CnodeId(99_999), Values::F64(vec![1.0]))].into();
    let directory = tempfile::tempdir().unwrap();
    let report = round_trip(&directory.path().join("x.cubex"), &cube, &[(0, rows)].into());
    assert_eq!(report.severities(MetricId(0)).unwrap().exclusive(CnodeId(99_998), LocationId(0)), -1.0);
}
