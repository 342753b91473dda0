//! Rules that a [`Cube`] must obey to be written.
//!
//! Each rule prevents a file that some reader rejects, crashes on, or silently misreads (see `FORMAT.md`).

use std::collections::HashSet;
use std::fmt::Display;

use crate::error::{Error, Result};
use crate::{Cube, DataType, MetricKind, Placed};

/// Reports the first rule that `cube` breaks.
pub(crate) fn check(cube: &Cube) -> Result<()> {
    metrics(cube)?;
    program(cube)?;
    system(cube)?;
    topologies(cube)
}

fn metrics(cube: &Cube) -> Result<()> {
    at_least_one("metric", cube.metrics.len())?;
    let mut names = HashSet::new();
    for (id, metric) in cube.metrics.iter().enumerate() {
        let broken =
            |rule: &str| Err(Error::invalid(format!("metric {id} ({}): {rule}", metric.unique_name)));
        parent_comes_first("metric", id, metric.parent.map(|parent| parent.0))?;
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ':' | '=');
        if metric.unique_name.is_empty() || !metric.unique_name.chars().all(allowed) {
            return broken("a unique name consists of letters, digits, `_`, `:` and `=`");
        }
        if !names.insert(&metric.unique_name) {
            return broken("the unique name is already taken");
        }
        if metric.kind == MetricKind::Simple {
            return broken("the kind Simple is retired");
        }
        if metric.kind == MetricKind::Inclusive && !metric.data_type.can_be_inclusive() {
            return broken("values of this type cannot be inclusive");
        }
        if matches!(metric.data_type, DataType::Unknown(_)) {
            return broken("unknown data type");
        }
        if metric.kind.is_derived() != metric.expression.is_some() {
            return broken("a derived metric needs an expression, and only a derived one has one");
        }
    }
    Ok(())
}

fn program(cube: &Cube) -> Result<()> {
    at_least_one("region", cube.regions.len())?;
    at_least_one("cnode", cube.cnodes.len())?;
    let mut is_inner = vec![false; cube.cnodes.len()];
    for (id, cnode) in cube.cnodes.iter().enumerate() {
        parent_comes_first("cnode", id, cnode.parent.map(|parent| parent.0))?;
        one_root("cnode", id, cnode.parent)?;
        exists("cnode", id, "region", cnode.region.0, cube.regions.len())?;
        if let Some(parent) = cnode.parent.and_then(|parent| is_inner.get_mut(parent.0)) {
            *parent = true;
        }
    }
    for (id, (cnode, is_inner)) in cube.cnodes.iter().zip(is_inner).enumerate() {
        if is_inner && !cnode.attributes.is_empty() {
            return Err(Error::invalid(format!(
                "cnode {id}: only leaves of the call tree may have attributes"
            )));
        }
    }
    Ok(())
}

fn system(cube: &Cube) -> Result<()> {
    at_least_one("system tree node", cube.system_tree_nodes.len())?;
    at_least_one("location", cube.locations.len())?;
    for (id, node) in cube.system_tree_nodes.iter().enumerate() {
        parent_comes_first("system tree node", id, node.parent.map(|parent| parent.0))?;
        one_root("system tree node", id, node.parent)?;
    }
    for (id, group) in cube.location_groups.iter().enumerate() {
        let node = group.system_tree_node.0;
        exists("location group", id, "system tree node", node, cube.system_tree_nodes.len())?;
    }
    let mut has_location = vec![false; cube.location_groups.len()];
    for (id, location) in cube.locations.iter().enumerate() {
        exists("location", id, "location group", location.group.0, cube.location_groups.len())?;
        if let Some(has_location) = has_location.get_mut(location.group.0) {
            *has_location = true;
        }
    }
    match has_location.iter().position(|has_location| !has_location) {
        Some(id) => Err(Error::invalid(format!("location group {id}: has no location"))),
        None => Ok(()),
    }
}

fn topologies(cube: &Cube) -> Result<()> {
    for (id, topology) in cube.topologies.iter().enumerate() {
        if topology.dimensions.is_empty() || topology.dimensions.iter().any(|dimension| dimension.size == 0) {
            return Err(Error::invalid(format!("topology {id}: needs dimensions of size 1 or more")));
        }
        for coordinate in &topology.coordinates {
            match coordinate.of {
                Placed::Location(it) => exists("topology", id, "location", it.0, cube.locations.len())?,
                Placed::Group(it) => {
                    exists("topology", id, "location group", it.0, cube.location_groups.len())?;
                }
            }
            let mut pairs = coordinate.position.iter().zip(&topology.dimensions);
            if coordinate.position.len() != topology.dimensions.len()
                || !pairs.all(|(position, dimension)| *position < dimension.size)
            {
                let position = &coordinate.position;
                return Err(Error::invalid(format!("topology {id}: {position:?} is outside the grid")));
            }
        }
    }
    Ok(())
}

fn at_least_one(what: &str, count: usize) -> Result<()> {
    if count == 0 { Err(Error::invalid(format!("a report needs at least one {what}"))) } else { Ok(()) }
}

fn parent_comes_first(what: &str, id: usize, parent: Option<usize>) -> Result<()> {
    match parent {
        Some(parent) if parent >= id => {
            Err(Error::invalid(format!("{what} {id}: parent {parent} does not come before it")))
        }
        _ => Ok(()),
    }
}

fn one_root<T>(what: &str, id: usize, parent: Option<T>) -> Result<()> {
    if parent.is_none() && id > 0 {
        return Err(Error::invalid(format!("{what} {id}: a second root; there must be exactly one")));
    }
    Ok(())
}

fn exists(what: &str, id: usize, refers_to: impl Display, target: usize, count: usize) -> Result<()> {
    if target >= count {
        return Err(Error::invalid(format!(
            "{what} {id}: {refers_to} {target} does not exist; there are {count}"
        )));
    }
    Ok(())
}
