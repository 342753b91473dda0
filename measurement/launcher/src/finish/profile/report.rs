//! Writes a report of counts: with the metrics of the analyzer's reports, so that they can be compared.

use super::super::contexts::Contexts;
use super::super::run::{Run, TraceLocation};
use super::values::{ExclusiveValues, LocationValues, PathValues};
use crate::Error;
use cubex::{
    Attribute, Cnode, CnodeId, Cube, DataType, LocationGroup, LocationGroupId, MetricId, RegionId,
    SystemTreeNode, SystemTreeNodeId, Writer,
};
use patterns::Unit;
use recording::layout;
use std::path::Path;

/// Selects the value of a metric.
type MetricValue = fn(&ExclusiveValues) -> u64;

/// The metrics by their unique names; time is treated separately.
const METRICS: [(&str, MetricValue); 11] = [
    ("visits", |values| values.visits),
    ("bytes", |values| {
        point_to_point(values).saturating_add(collective(values)).saturating_add(one_sided(values))
    }),
    ("bytes_p2p", point_to_point),
    ("bytes_sent", |values| values.transfers.sent),
    ("bytes_rcvd", |values| values.transfers.received),
    ("bytes_coll", collective),
    ("bytes_cout", |values| values.transfers.outgoing),
    ("bytes_cin", |values| values.transfers.incoming),
    ("bytes_rma", one_sided),
    ("bytes_put", |values| values.transfers.put),
    ("bytes_get", |values| values.transfers.got),
];
const TIME: &str = "time";

fn point_to_point(values: &ExclusiveValues) -> u64 {
    values.transfers.sent.saturating_add(values.transfers.received)
}

fn collective(values: &ExclusiveValues) -> u64 {
    values.transfers.outgoing.saturating_add(values.transfers.incoming)
}

fn one_sided(values: &ExclusiveValues) -> u64 {
    values.transfers.put.saturating_add(values.transfers.got)
}

/// Writes the report; returns the number of its call paths.
///
/// # Errors
/// If the disk refuses. There is no report then.
pub(super) fn write(path: &Path, run: &Run<'_>, table: &PathValues) -> Result<usize, Error> {
    let failed = |cause: cubex::Error| Error::new(cause.to_string());
    let mut cube = Cube {
        attributes: vec![
            Attribute::new("CubePL Version", "1.1"),
            Attribute::new("Creator", format!("replay-record {}", env!("CARGO_PKG_VERSION"))),
            Attribute::new("CUBE_CT_AGGR", "SUM"),
        ],
        ..Cube::default()
    };
    let metrics = add_metrics(&mut cube);
    let rows = add_program(&mut cube, run, table);
    add_system(&mut cube, run);
    let locations = cube.locations.len();
    let mut writer = Writer::create(path, cube).map_err(failed)?;
    let resolution = run.clock.resolution.max(1) as f64;
    for (metric, share) in metrics {
        let has_value = |values: &ExclusiveValues| match share {
            Some(share) => share(values) > 0,
            None => values.time > 0,
        };
        let wanted: Vec<CnodeId> = (0..rows.len())
            .filter(|&at| rows[at].iter().any(|(_, values)| has_value(values)))
            .map(CnodeId)
            .collect();
        let mut written = writer.metric(metric, &wanted).map_err(failed)?;
        for cnode in written.order().to_vec() {
            let row = rows[cnode.0];
            match share {
                Some(share) => written.push_u64(cnode, &filled(row, locations, share)),
                None => {
                    written.push_f64(cnode, &filled(row, locations, |values| values.time as f64 / resolution))
                }
            }
            .map_err(failed)?;
        }
        written.finish().map_err(failed)?;
    }
    writer.finish().map_err(failed)?;
    Ok(rows.len())
}

/// Returns a value for every location.
fn filled<T: Copy + Default>(
    row: &LocationValues,
    locations: usize,
    value: impl Fn(&ExclusiveValues) -> T,
) -> Vec<T> {
    let mut all = vec![T::default(); locations];
    for (at, values) in row {
        all[*at] = value(values);
    }
    all
}

fn add_metrics(cube: &mut Cube) -> Vec<(MetricId, Option<MetricValue>)> {
    let mut added = Vec::new();
    for metric in patterns::metrics() {
        let known = METRICS.iter().find(|(id, _)| *id == metric.id).map(|(_, share)| *share);
        if known.is_none() && metric.id != TIME {
            continue;
        }
        let (data_type, unit) = match metric.unit {
            Unit::Seconds => (DataType::Double, "sec"),
            Unit::Occurrences => (DataType::UInt64, "occ"),
            Unit::Bytes => (DataType::UInt64, "bytes"),
            Unit::Scaled { name, .. } | Unit::State { name, .. } => (DataType::Double, name),
        };
        let id = cube.add_metric(cubex::Metric {
            parent: metric.parent.and_then(|parent| cube.metric_named(parent)),
            unique_name: metric.id.into(),
            display_name: metric.name.into(),
            data_type,
            unit: unit.into(),
            description: metric.about.into(),
            ..cubex::Metric::default()
        });
        added.push((id, known));
    }
    added
}

/// Adds the program and the call paths below it that were entered, or lead to such; returns the row of each.
fn add_program<'a>(cube: &mut Cube, run: &Run<'_>, table: &'a PathValues) -> Vec<&'a LocationValues> {
    let Contexts { regions, lines, nodes, .. } = &run.contexts;
    let mut programs: Vec<&str> =
        run.programs.iter().filter_map(|words| words.first()).map(String::as_str).collect();
    programs.dedup();
    let name = if let [only] = programs[..] { only } else { "PROGRAM" };
    let root = cube.add_region(cubex::Region { role: "artificial".into(), ..cubex::Region::named(name) });
    for region in regions {
        cube.add_region(cubex::Region {
            name: region.name.clone(),
            mangled_name: region.canonical_name.clone(),
            module: region.file.clone().unwrap_or_default(),
            begin_line: (region.begin_line > 0).then_some(region.begin_line),
            paradigm: region.paradigm.name().unwrap_or("unknown").into(),
            role: region.role.name().unwrap_or("unknown").into(),
            ..cubex::Region::default()
        });
    }
    let root = cube.add_cnode(Cnode { region: root, ..Cnode::default() });
    let mut rows = vec![&table.program];
    let mut is_wanted: Vec<bool> = table.contexts.iter().map(|row| !row.is_empty()).collect();
    // Parents come before their children.
    for (at, node) in nodes.iter().enumerate().rev() {
        if let Some(parent) = node.parent.filter(|_| is_wanted[at]) {
            is_wanted[parent as usize] = true;
        }
    }
    let mut cnodes = vec![root; nodes.len()];
    for (at, node) in nodes.iter().enumerate().filter(|&(at, _)| is_wanted[at]) {
        let line = node.line.and_then(|line| lines.get(line as usize));
        cnodes[at] = cube.add_cnode(Cnode {
            parent: Some(node.parent.map_or(root, |parent| cnodes[parent as usize])),
            region: RegionId(node.region as usize + 1),
            module: line.map(|(file, _)| file.clone()).unwrap_or_default(),
            line: line.map(|&(_, line)| line).filter(|&line| line > 0),
            ..Cnode::default()
        });
        rows.push(&table.contexts[at]);
    }
    rows
}

fn add_system(cube: &mut Cube, run: &Run<'_>) {
    let node = |class: &str, name: &str, parent| SystemTreeNode {
        parent,
        name: format!("{class} {name}"),
        class: class.into(),
        ..SystemTreeNode::default()
    };
    let machine = cube.add_system_tree_node(node("machine", "Linux", None));
    for host in &run.hosts {
        cube.add_system_tree_node(node("node", host, Some(machine)));
    }
    for (rank, host) in (0..).zip(&run.host_of) {
        cube.add_location_group(LocationGroup {
            system_tree_node: host.map_or(machine, |host| SystemTreeNodeId(host as usize + 1)),
            name: format!("MPI Rank {rank}"),
            rank,
            ..LocationGroup::default()
        });
    }
    for place in &run.places {
        let TraceLocation { reference, .. } = place;
        let (rank, thread) = layout::rank_and_thread(*reference);
        cube.add_location(cubex::Location {
            group: LocationGroupId(rank as usize),
            name: run.name(place),
            rank: thread.into(),
            ..cubex::Location::default()
        });
    }
}
