//! Tables of what numbers refer to: metrics, call paths, functions, locations, processes, nodes, communicators, topologies.

use std::borrow::Cow;

use cubex::{CnodeId, LocationGroupKind, LocationKind, MetricKind, Placed};

use super::Kind::{Int32, Text};
use super::{Cell, Take, column, details, number, optional, text, unsigned};
use crate::commands::export::source::Source;
use crate::error::Result;
use crate::paths;

pub(super) fn give(source: &Source<'_>, take: &mut dyn Take) -> Result<()> {
    metrics(source, take)?;
    cnodes(source, take)?;
    regions(source, take)?;
    locations(source, take)?;
    processes(source, take)?;
    nodes(source, take)?;
    communicators(source, take)?;
    topologies(source, take)
}

/// A text, or nothing if it is empty.
fn some(text: &str) -> Cell<'_> {
    if text.is_empty() { Cell::Nothing } else { Cell::Text(Cow::Borrowed(text)) }
}

fn metrics(source: &Source<'_>, take: &mut dyn Take) -> Result<()> {
    let names = ["name", "title", "unit", "kind", "description"].map(|name| column(name, Text));
    let ids = ["metric", "parent"].map(|name| column(name, Int32));
    let columns = [&ids[..], &names, &[column("waiting", Int32)]].concat();
    let waiting = crate::values::waiting(source.cube());
    let rows = |row: &mut super::TakeRow<'_>| {
        for (at, metric) in source.cube().metrics.iter().enumerate() {
            let quantity = source.values.of_metric(cubex::MetricId(at));
            let kind = match metric.kind {
                MetricKind::Exclusive | MetricKind::Inclusive => "stored",
                _ => "derived",
            };
            row(&[
                number(at),
                optional(metric.parent, |parent| number(parent.0)),
                text(&*metric.unique_name),
                text(&*quantity.title),
                text(quantity.unit.name()),
                text(kind),
                some(&metric.description),
                number(usize::from(waiting.contains(&cubex::MetricId(at)))),
            ])?;
        }
        Ok(())
    };
    take.table("metrics", &columns, Box::new(rows))
}

fn cnodes(source: &Source<'_>, take: &mut dyn Take) -> Result<()> {
    let columns = [
        column("cnode", Int32),
        column("parent", Int32),
        column("region", Int32),
        column("name", Text),
        column("path", Text),
        column("file", Text),
        column("line", Int32),
    ];
    let rows = |row: &mut super::TakeRow<'_>| {
        for (at, cnode) in source.cube().cnodes.iter().enumerate() {
            row(&[
                number(at),
                optional(cnode.parent, |parent| number(parent.0)),
                number(cnode.region.0),
                text(paths::name(source.cube(), CnodeId(at))),
                text(paths::path(source.cube(), CnodeId(at))),
                some(&cnode.module),
                optional(cnode.line, |line| unsigned(line.into())),
            ])?;
        }
        Ok(())
    };
    take.table("cnodes", &columns, Box::new(rows))
}

fn regions(source: &Source<'_>, take: &mut dyn Take) -> Result<()> {
    let columns = [
        column("region", Int32),
        column("name", Text),
        column("file", Text),
        column("line", Int32),
        column("end_line", Int32),
        column("paradigm", Text),
        column("role", Text),
    ];
    let rows = |row: &mut super::TakeRow<'_>| {
        for (at, region) in source.cube().regions.iter().enumerate() {
            row(&[
                number(at),
                text(&*region.name),
                some(&region.module),
                optional(region.begin_line, |line| unsigned(line.into())),
                optional(region.end_line, |line| unsigned(line.into())),
                text(&*region.paradigm),
                text(&*region.role),
            ])?;
        }
        Ok(())
    };
    take.table("regions", &columns, Box::new(rows))
}

fn locations(source: &Source<'_>, take: &mut dyn Take) -> Result<()> {
    let columns = [
        column("location", Int32),
        column("name", Text),
        column("process", Int32),
        column("rank", Int32),
        column("thread", Int32),
        column("node", Int32),
        column("kind", Text),
    ];
    let cube = source.cube();
    let rows = |row: &mut super::TakeRow<'_>| {
        for (at, location) in cube.locations.iter().enumerate() {
            let group = cube.location_groups.get(location.group.0);
            let kind = match location.kind {
                LocationKind::Thread => "thread",
                LocationKind::AcceleratorStream => "accelerator",
                LocationKind::Metric => "metrics",
            };
            row(&[
                number(at),
                text(source.location_name(at)),
                number(location.group.0),
                optional(rank(source, at), unsigned),
                unsigned(location.rank),
                optional(group, |group| number(group.system_tree_node.0)),
                text(kind),
            ])?;
        }
        Ok(())
    };
    take.table("locations", &columns, Box::new(rows))
}

/// The rank of a location's process; `None` of what is no process.
pub(super) fn rank(source: &Source<'_>, location: usize) -> Option<u64> {
    let group = source.cube().location_groups.get(source.cube().locations.get(location)?.group.0)?;
    (group.kind == LocationGroupKind::Process).then_some(group.rank)
}

/// Processes, with their sums of messages if the report has them.
fn processes(source: &Source<'_>, take: &mut dyn Take) -> Result<()> {
    let mut columns =
        vec![column("process", Int32), column("rank", Int32), column("name", Text), column("node", Int32)];
    let table = match &source.opened.manifest {
        Some(manifest) => source.opened.table("processes")?.map(|table| (manifest, table)),
        None => None,
    };
    // Its rows by rank; what refers to the rank itself is above.
    let mut more = Vec::new();
    let mut by_rank = rustc_hash::FxHashMap::default();
    if let Some((manifest, table)) = &table {
        let ranks = crate::tables::Columns::of("processes", table).integers("process")?;
        by_rank = ranks.into_iter().enumerate().map(|(row, rank)| (rank, row)).collect();
        let all = details::expressed(source, manifest, "processes", table)?;
        more = all.into_iter().filter(|expressed| expressed.column.name != "process").collect();
    }
    columns.extend(more.iter().map(|expressed| expressed.column.clone()));
    let rows = |row: &mut super::TakeRow<'_>| {
        for (at, group) in source.cube().location_groups.iter().enumerate() {
            let is_process = group.kind == LocationGroupKind::Process;
            let mut cells = vec![
                number(at),
                if is_process { unsigned(group.rank) } else { Cell::Nothing },
                text(crate::places::process_name(group)),
                number(group.system_tree_node.0),
            ];
            let place = i64::try_from(group.rank).ok().filter(|_| is_process);
            let place = place.and_then(|rank| by_rank.get(&rank));
            cells.extend(more.iter().map(|it| place.map_or(Cell::Nothing, |&place| it.cell(place))));
            row(&cells)?;
        }
        Ok(())
    };
    take.table("processes", &columns, Box::new(rows))
}

fn nodes(source: &Source<'_>, take: &mut dyn Take) -> Result<()> {
    let columns =
        [column("node", Int32), column("parent", Int32), column("name", Text), column("class", Text)];
    let rows = |row: &mut super::TakeRow<'_>| {
        for (at, node) in source.cube().system_tree_nodes.iter().enumerate() {
            let parent = optional(node.parent, |parent| number(parent.0));
            row(&[number(at), parent, text(&*node.name), text(&*node.class)])?;
        }
        Ok(())
    };
    take.table("nodes", &columns, Box::new(rows))
}

fn communicators(source: &Source<'_>, take: &mut dyn Take) -> Result<()> {
    let Some(manifest) = &source.opened.manifest else { return Ok(()) };
    let columns =
        [column("communicator", Int32), column("name", Text), column("size", Int32), column("members", Text)];
    let rows = |row: &mut super::TakeRow<'_>| {
        for communicator in &manifest.communicators {
            let members = communicator
                .members
                .as_ref()
                .map(|members| members.iter().map(u32::to_string).collect::<Vec<_>>().join(" "));
            row(&[
                unsigned(communicator.number.into()),
                text(&*communicator.name),
                unsigned(communicator.size),
                optional(members, text),
            ])?;
        }
        Ok(())
    };
    take.table("communicators", &columns, Box::new(rows))
}

/// A row for each dimension of each place in a topology.
fn topologies(source: &Source<'_>, take: &mut dyn Take) -> Result<()> {
    let columns = [
        column("topology", Int32),
        column("name", Text),
        column("process", Int32),
        column("location", Int32),
        column("dimension", Int32),
        column("dimension_name", Text),
        column("size", Int32),
        column("coordinate", Int32),
    ];
    let rows = |row: &mut super::TakeRow<'_>| {
        for (at, topology) in source.cube().topologies.iter().enumerate() {
            for coordinate in &topology.coordinates {
                let (process, location) = match coordinate.of {
                    Placed::Group(group) => (number(group.0), Cell::Nothing),
                    Placed::Location(location) => (Cell::Nothing, number(location.0)),
                };
                let dimensions = topology.dimensions.iter().zip(&coordinate.position);
                for (number_of_dimension, (dimension, &position)) in dimensions.enumerate() {
                    row(&[
                        number(at),
                        text(&*topology.name),
                        process.clone(),
                        location.clone(),
                        number(number_of_dimension),
                        some(&dimension.name),
                        unsigned(dimension.size),
                        unsigned(position),
                    ])?;
                }
            }
        }
        Ok(())
    };
    take.table("topologies", &columns, Box::new(rows))
}
