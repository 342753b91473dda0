//! Groups of locations: single ones, processes, nodes, and places in a topology.

use cubex::{Cube, LocationGroupId, LocationId, LocationKind, Placed, Topology};

use crate::error::{Error, Result};
use crate::places;
use crate::values::Combine;

/// What values are shown of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum By {
    /// Single locations.
    Location,
    /// Processes.
    Process,
    /// Nodes of the system.
    Node,
    /// Places in a topology: the first one, or the one of this name.
    Topology(Option<String>),
}

impl By {
    /// Reads `location`, `process`, `node`, `topology` or `topology=NAME`.
    ///
    /// # Errors
    /// If it is nothing of that.
    pub fn parse(text: &str) -> std::result::Result<By, String> {
        match (text, text.strip_prefix("topology=")) {
            ("location", _) => Ok(By::Location),
            ("process" | "rank", _) => Ok(By::Process),
            ("node", _) => Ok(By::Node),
            ("topology", _) => Ok(By::Topology(None)),
            (_, Some(name)) => Ok(By::Topology(Some(name.to_owned()))),
            _ => Err("expected location, process, node, topology or topology=NAME".into()),
        }
    }

    /// The name for scripts.
    pub fn name(&self) -> &'static str {
        match self {
            By::Location => "location",
            By::Process => "process",
            By::Node => "node",
            By::Topology(_) => "topology",
        }
    }
}

/// Locations whose values are one.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) name: String,
    /// Coordinates in the topology.
    pub(super) position: Option<Vec<u64>>,
    locations: Vec<usize>,
}

impl Group {
    /// The value of the group, of its locations that are known; `None` if none is.
    pub(super) fn sum(&self, row: &[f64], is_known: &[bool], combine: Combine) -> Option<f64> {
        let known = self.locations.iter().filter(|&&at| is_known[at]);
        known.map(|&at| row[at]).reduce(|one, other| combine.of(one, other))
    }

    /// Whether nothing is known of any of its locations.
    pub(super) fn is_unknown(&self, is_known: &[bool]) -> bool {
        !self.locations.iter().any(|&at| is_known[at])
    }
}

/// The groups of a report, in its order.
///
/// # Errors
/// If there is no such topology.
pub(super) fn groups(cube: &Cube, by: &By) -> Result<Vec<Group>> {
    // Locations that carry metrics only have no time, and would be the best balanced ones.
    let shown: Vec<usize> =
        (0..cube.locations.len()).filter(|&at| cube.locations[at].kind != LocationKind::Metric).collect();
    let process = |at: usize| cube.locations[at].group.0;
    let mut groups = match by {
        By::Location => {
            let sizes = places::sizes(cube);
            let group = |&at: &usize| Group {
                name: places::name(cube, &sizes, LocationId(at)),
                position: None,
                locations: vec![at],
            };
            return Ok(shown.iter().map(group).collect());
        }
        By::Process => {
            let name = |group| places::process_name(group);
            empty(cube.location_groups.iter().map(name))
        }
        By::Node => empty(cube.system_tree_nodes.iter().map(|node| node.name.clone())),
        By::Topology(name) => return of_topology(cube, topology(cube, name.as_deref())?, &shown),
    };
    for &at in &shown {
        let number = match by {
            By::Process => process(at),
            _ => cube.location_groups.get(process(at)).map_or(usize::MAX, |group| group.system_tree_node.0),
        };
        if let Some(group) = groups.get_mut(number) {
            group.locations.push(at);
        }
    }
    groups.retain(|group| !group.locations.is_empty());
    Ok(groups)
}

fn empty(names: impl Iterator<Item = String>) -> Vec<Group> {
    names.map(|name| Group { name, position: None, locations: Vec::new() }).collect()
}

fn topology<'c>(cube: &'c Cube, name: Option<&str>) -> Result<&'c Topology> {
    let mut topologies = cube.topologies.iter();
    let found = topologies.find(|topology| name.is_none_or(|name| topology.name == name));
    found.ok_or_else(|| {
        let names: Vec<String> =
            cube.topologies.iter().map(|topology| format!("{:?}", topology.name)).collect();
        let has = if names.is_empty() { "has none".to_owned() } else { format!("has {}", names.join(", ")) };
        Error::new(match name {
            Some(name) => format!("no topology {name:?} in this report, which {has}"),
            None => "no topology in this report: use --by process or --by node".to_owned(),
        })
    })
}

fn of_topology(cube: &Cube, topology: &Topology, shown: &[usize]) -> Result<Vec<Group>> {
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); cube.location_groups.len()];
    let mut is_shown = vec![false; cube.locations.len()];
    for &at in shown {
        is_shown[at] = true;
        if let Some(members) = members.get_mut(cube.locations[at].group.0) {
            members.push(at);
        }
    }
    let mut places: std::collections::BTreeMap<&[u64], Vec<usize>> = std::collections::BTreeMap::new();
    for coordinate in &topology.coordinates {
        let place = places.entry(&coordinate.position).or_default();
        match coordinate.of {
            Placed::Location(LocationId(at)) => {
                place.extend(Some(at).filter(|&at| is_shown.get(at) == Some(&true)));
            }
            Placed::Group(LocationGroupId(group)) => place.extend(members.get(group).into_iter().flatten()),
        }
    }
    let groups = places.into_iter().filter(|(_, locations)| !locations.is_empty());
    Ok(groups
        .map(|(position, locations)| {
            let names: Vec<String> = position.iter().map(u64::to_string).collect();
            Group { name: format!("({})", names.join(", ")), position: Some(position.to_vec()), locations }
        })
        .collect())
}
