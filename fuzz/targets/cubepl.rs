//! Any text as the expression of a derived metric, or as its initialisation: evaluated or refused, in bounded memory and
//! time, with the same values each time.

#![no_main]

use cubex::{
    Cnode, Cube, Expression, Location, LocationGroup, Metric, MetricId, MetricKind, Region, Report,
    SystemTreeNode, Writer,
};
use libfuzzer_sys::fuzz_target;
use replay_fuzz::{Input, check_message, peak, scratch};
use show::values::{Quantity, Values};

const KINDS: &[MetricKind] =
    &[MetricKind::PrederivedExclusive, MetricKind::PrederivedInclusive, MetricKind::Postderived];

/// Limit of the memory of an evaluation: what variables may hold, several times for copies.
const MEMORY: usize = 256 << 20;

// The first byte chooses the kind of the metric, and by bit 7 whether the rest is the initialisation of an expression that
// uses its variables. A second metric is twice the first one.
fuzz_target!(|input: &[u8]| {
    let mut input = Input(input);
    let choice = input.byte();
    let kind = KINDS[usize::from(choice & 0x7f) % KINDS.len()];
    let text = String::from_utf8_lossy(input.0).into_owned();
    let (value, init) = match choice & 0x80 {
        0 => (text, String::new()),
        _ => ("${a}[${calculation::callpath::id}] + metric::time()".to_owned(), text),
    };
    let path = scratch().join("derived.cubex");
    if !write(&path, &[(kind, value, init), (kind, "2 * metric::derived0()".to_owned(), String::new())]) {
        return;
    }
    let report = Report::open(&path).expect("what was written can be read");
    let (_, memory) = peak(|| {
        let values = Values::new(&report);
        for metric in 1..report.cube().metrics.len() {
            let quantity = values.of_metric(MetricId(metric));
            let first = rows(&values, &quantity);
            assert_eq!(format!("{first:?}"), format!("{:?}", rows(&values, &quantity)), "other values");
            assert!(quantity.obstacle().is_none() || first.is_none(), "values of what is not understood");
        }
    });
    assert!(memory < MEMORY, "{memory} bytes");
});

/// All values of a metric; `None` if it has none.
fn rows(values: &Values<'_>, quantity: &Quantity) -> Option<Vec<Vec<f64>>> {
    let locations = values.cube().locations.len();
    let read = || -> show::error::Result<Vec<Vec<f64>>> {
        let mut all = Vec::new();
        let mut inclusive = values.inclusive(quantity)?;
        while let Some((_, row)) = inclusive.next()? {
            assert_eq!(row.len(), locations, "a value per location");
            all.push(row.to_vec());
        }
        let totals = values.totals(quantity, &vec![true; locations])?;
        assert_eq!(totals.inclusive.len(), values.cube().cnodes.len(), "a sum per call path");
        all.push(totals.inclusive);
        let by_location = values.by_location(quantity, &|_| true)?;
        assert_eq!(by_location.len(), locations, "a sum per location");
        all.push(by_location);
        Ok(all)
    };
    read().map_err(|error| check_message(&error)).ok()
}

/// Writes a report with time at three call paths and two locations, and derived metrics; returns whether the writer accepts
/// them.
fn write(path: &std::path::Path, derived: &[(MetricKind, String, String)]) -> bool {
    let mut cube = Cube::default();
    let machine = cube.add_system_tree_node(SystemTreeNode::default());
    for rank in 0..2 {
        let group = LocationGroup { system_tree_node: machine, rank, ..LocationGroup::default() };
        let group = cube.add_location_group(group);
        cube.add_location(Location { group, ..Location::default() });
    }
    let time =
        cube.add_metric(Metric { unique_name: "time".into(), unit: "sec".into(), ..Metric::default() });
    for (number, (kind, value, init)) in derived.iter().enumerate() {
        cube.add_metric(Metric {
            unique_name: format!("derived{number}"),
            unit: "sec".into(),
            kind: *kind,
            expression: Some(Expression {
                value: value.clone(),
                init: init.clone(),
                ..Expression::default()
            }),
            ..Metric::default()
        });
    }
    let mut parent = None;
    let mut cnodes = Vec::new();
    for name in ["main", "MPI_Recv", "!$omp for @a.c:1"] {
        let region = cube.add_region(Region::named(name));
        let cnode = cube.add_cnode(Cnode { parent, region, ..Cnode::default() });
        parent = parent.or(Some(cnode));
        cnodes.push(cnode);
    }
    let Ok(mut writer) = Writer::create(path, cube) else { return false };
    let mut rows = writer.metric(time, &cnodes).expect("a stored metric");
    for (cnode, row) in cnodes.iter().zip([[1.0, 2.0], [0.5, 0.25], [-1.0, 0.0]]) {
        rows.push_f64(*cnode, &row).expect("a row of two locations");
    }
    rows.finish().expect("all rows");
    writer.finish().expect("a report");
    true
}
