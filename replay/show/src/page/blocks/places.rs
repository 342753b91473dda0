//! The tables `locations`, `groups` and `coordinates`: who there is, on which nodes, and where in topologies.

use cubex::{LocationGroupKind, LocationKind, Placed};
use details::{Column, Table, Values as Rows};

use super::{Blocks, Source, position};
use crate::error::Result;
use crate::places;

/// Coordinates of a topology that are kept for the page: of more dimensions the first.
const DIMENSIONS: usize = 8;

/// Topologies that are kept.
pub(super) const TOPOLOGIES: usize = 16;

/// Adds the tables.
pub(super) fn add(source: &Source<'_>, blocks: &mut Blocks) -> Result<()> {
    let cube = source.values.cube();
    let is_known = places::recorded(source.values)?;
    let kind = |kind: LocationKind| match kind {
        LocationKind::Thread => 0,
        LocationKind::AcceleratorStream => 1,
        LocationKind::Metric => 2,
    };
    let names = names(source);
    let columns = vec![
        Column::new(
            "group",
            None,
            Rows::U32(cube.locations.iter().map(|it| position(Some(it.group.0))).collect()),
        )
        .delta(),
        Column::new("kind", None, Rows::U8(cube.locations.iter().map(|it| kind(it.kind)).collect())),
        Column::new("known", None, Rows::U8(is_known.iter().map(|&known| known.into()).collect())),
        Column::new(
            "name",
            None,
            Rows::U32(cube.locations.iter().map(|it| place(&names, &it.name)).collect()),
        ),
    ];
    blocks.table(&Table { name: "locations".into(), columns })?;
    let groups = &cube.location_groups;
    let node = |at: usize| position(Some(groups[at].system_tree_node.0));
    let rank = |at: usize| u32::try_from(groups[at].rank).unwrap_or(super::NONE);
    let columns = vec![
        Column::new("node", None, Rows::U32((0..groups.len()).map(node).collect())).delta(),
        Column::new("rank", None, Rows::U32((0..groups.len()).map(rank).collect())).delta(),
        Column::new(
            "process",
            None,
            Rows::U8(groups.iter().map(|it| (it.kind == LocationGroupKind::Process).into()).collect()),
        ),
        Column::new("name", None, Rows::U32(groups.iter().map(|it| place(&names, &it.name)).collect())),
    ];
    blocks.table(&Table { name: "groups".into(), columns })?;
    add_coordinates(source, blocks)
}

fn add_coordinates(source: &Source<'_>, blocks: &mut Blocks) -> Result<()> {
    let topologies = &source.values.cube().topologies;
    if topologies.is_empty() {
        return Ok(());
    }
    if topologies.len() > TOPOLOGIES {
        blocks.limits.push(format!("{TOPOLOGIES} of {} topologies", topologies.len()));
    }
    let all = || {
        let shown = topologies.iter().take(TOPOLOGIES).enumerate();
        shown.flat_map(|(at, topology)| topology.coordinates.iter().map(move |coordinate| (at, coordinate)))
    };
    let column = |name: &str, rows: Vec<u32>| Column::new(name, None, Rows::U32(rows)).delta();
    let placed = |of: Placed| match of {
        Placed::Location(location) => (0, position(Some(location.0))),
        Placed::Group(group) => (1, position(Some(group.0))),
    };
    let mut columns = vec![
        column("topology", all().map(|(at, _)| position(Some(at))).collect()),
        column("is_group", all().map(|(_, coordinate)| placed(coordinate.of).0).collect()),
        column("of", all().map(|(_, coordinate)| placed(coordinate.of).1).collect()),
    ];
    let most = topologies.iter().map(|topology| topology.dimensions.len()).max().unwrap_or(0);
    for dimension in 0..most.min(DIMENSIONS) {
        let at = |position: &[u64]| {
            position.get(dimension).and_then(|&at| u32::try_from(at).ok()).unwrap_or(super::NONE)
        };
        columns.push(column(
            &format!("p{dimension}"),
            all().map(|(_, coordinate)| at(&coordinate.position)).collect(),
        ));
    }
    let table = Table { name: "coordinates".into(), columns };
    if !blocks.table_within(&table, 0.25)? {
        blocks.limits.push("topologies do not fit into the page".into());
    }
    Ok(())
}

/// Names of locations, and of groups that are no processes, each once, sorted.
pub(super) fn names<'s>(source: &Source<'s>) -> Vec<&'s str> {
    let cube = source.values.cube();
    let groups = cube.location_groups.iter().filter(|group| group.kind != LocationGroupKind::Process);
    let mut names: Vec<&str> = cube.locations.iter().map(|location| location.name.as_str()).collect();
    names.extend(groups.map(|group| group.name.as_str()));
    names.sort_unstable();
    names.dedup();
    names
}

fn place(names: &[&str], name: &str) -> u32 {
    position(names.binary_search(&name).ok())
}
