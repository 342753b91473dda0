//! What tests of several commands need: reports, and the program in this process.

pub(crate) mod example;

use std::ffi::OsString;
use std::path::Path;

use cubex::{
    Cnode, CnodeId, Cube, Location, LocationGroup, Metric, MetricId, Region, SystemTreeNode, Writer,
};
use show::output::Surroundings;
use show::status::Status;

/// What the program printed.
#[derive(Debug)]
pub(crate) struct Printed {
    pub(crate) status: Status,
    pub(crate) results: String,
    pub(crate) messages: String,
}

/// Runs the program with a locale of UTF-8, no terminal, and so many columns.
pub(crate) fn run(columns: usize, arguments: &[&str]) -> Printed {
    let variables = [("LANG", "C.UTF-8".to_owned()), ("COLUMNS", columns.to_string())];
    let variables = variables.map(|(name, value)| (name.to_owned(), value)).into();
    run_in(&Surroundings { variables, ..Surroundings::default() }, arguments)
}

/// Runs the program in some surroundings.
pub(crate) fn run_in(surroundings: &Surroundings, arguments: &[&str]) -> Printed {
    let (mut results, mut messages) = (Vec::new(), Vec::new());
    let arguments = ["replay-show"].iter().chain(arguments).map(OsString::from);
    let status = show::cli::run(arguments, surroundings, &mut results, &mut messages);
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Printed { status, results: text(results), messages: text(messages) }
}

/// A report in the making: call paths, locations and values.
#[derive(Debug, Default)]
pub(crate) struct Maker {
    pub(crate) cube: Cube,
    rows: Vec<(MetricId, CnodeId, Vec<f64>)>,
}

impl Maker {
    /// A report with so many ranks of one thread each, on one node.
    pub(crate) fn new(ranks: u64) -> Maker {
        let mut cube = Cube::default();
        let machine = cube.add_system_tree_node(SystemTreeNode {
            name: "machine m".into(),
            class: "machine".into(),
            ..SystemTreeNode::default()
        });
        for rank in 0..ranks {
            let name = format!("MPI Rank {rank}");
            let group = LocationGroup { system_tree_node: machine, name, rank, ..LocationGroup::default() };
            let group = cube.add_location_group(group);
            cube.add_location(Location { group, name: "Master thread".into(), ..Location::default() });
        }
        Maker { cube, rows: Vec::new() }
    }

    /// Adds a metric in seconds.
    pub(crate) fn metric(&mut self, name: &str, parent: Option<MetricId>) -> MetricId {
        self.cube.add_metric(Metric {
            parent,
            unique_name: name.into(),
            display_name: name.into(),
            unit: "sec".into(),
            ..Metric::default()
        })
    }

    /// Adds a call path.
    pub(crate) fn call(&mut self, name: &str, parent: Option<CnodeId>) -> CnodeId {
        // The root is the program, which is no function.
        let role = if parent.is_none() { "artificial" } else { "" };
        let region = self.cube.add_region(Region { role: role.into(), ..Region::named(name) });
        self.cube.add_cnode(Cnode { parent, region, ..Cnode::default() })
    }

    /// Sets the values of a metric at a call path, one for each location.
    pub(crate) fn row(&mut self, metric: MetricId, cnode: CnodeId, row: &[f64]) {
        self.rows.push((metric, cnode, row.to_vec()));
    }

    /// Writes the report, with further members.
    pub(crate) fn write(self, path: &Path, members: &[(&str, &[u8])]) {
        let count = self.cube.metrics.len();
        let mut writer = Writer::create(path, self.cube).expect("a valid report");
        for (name, contents) in members {
            writer.add_member(name, contents).expect("a member");
        }
        for metric in (0..count).map(MetricId) {
            let mut rows: Vec<_> = self.rows.iter().filter(|row| row.0 == metric).collect();
            rows.sort_by_key(|row| row.1);
            if rows.is_empty() {
                continue;
            }
            let cnodes: Vec<CnodeId> = rows.iter().map(|row| row.1).collect();
            let mut out = writer.metric(metric, &cnodes).expect("rows");
            for (_, cnode, row) in rows {
                out.push_f64(*cnode, row).expect("a row");
            }
            out.finish().expect("all rows");
        }
        writer.finish().expect("a report");
    }
}
