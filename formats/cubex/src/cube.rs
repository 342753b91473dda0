//! Description of a report, all but the values: metrics, call tree, system tree, topologies.

use crate::{
    Cnode, CnodeId, Location, LocationGroup, LocationGroupId, LocationId, Metric, MetricId, Region, RegionId,
    SystemTreeNode, SystemTreeNodeId, Topology,
};

/// Description of a report.
///
/// Plain lists; all references are positions in them, and the trees are stored as parent positions, with
/// **parents before their children**. Children of one parent are displayed in list order. The `add_` methods
/// append and return the position; nothing is checked until a [`Writer`](crate::Writer) is created.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cube {
    /// Attributes of the whole report, such as `Creator`.
    pub attributes: Vec<Attribute>,
    /// Prefixes, ending in a slash, that replace `@mirror@` in URLs; the first that works wins.
    pub mirrors: Vec<String>,
    /// Metrics, parents first; [`MetricId`] is the position.
    pub metrics: Vec<Metric>,
    /// Regions; [`RegionId`] is the position.
    pub regions: Vec<Region>,
    /// Call paths, parents first; [`CnodeId`] is the position.
    pub cnodes: Vec<Cnode>,
    /// Machines and nodes, parents first; [`SystemTreeNodeId`] is the position.
    pub system_tree_nodes: Vec<SystemTreeNode>,
    /// Processes; [`LocationGroupId`] is the position.
    pub location_groups: Vec<LocationGroup>,
    /// Threads; [`LocationId`] is the position.
    pub locations: Vec<Location>,
    /// Cartesian topologies.
    pub topologies: Vec<Topology>,
}

/// An attribute: a key and a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attribute {
    /// Name of the attribute.
    pub key: String,
    /// Its value.
    pub value: String,
}

impl Attribute {
    /// The attribute with this key and value.
    #[must_use]
    pub fn new(key: impl Into<String>, value: impl Into<String>) -> Attribute {
        Attribute { key: key.into(), value: value.into() }
    }
}

impl Cube {
    /// Appends a metric.
    pub fn add_metric(&mut self, metric: Metric) -> MetricId {
        self.metrics.push(metric);
        MetricId(self.metrics.len() - 1)
    }

    /// Appends a region.
    pub fn add_region(&mut self, region: Region) -> RegionId {
        self.regions.push(region);
        RegionId(self.regions.len() - 1)
    }

    /// Appends a call path.
    pub fn add_cnode(&mut self, cnode: Cnode) -> CnodeId {
        self.cnodes.push(cnode);
        CnodeId(self.cnodes.len() - 1)
    }

    /// Appends a machine or node.
    pub fn add_system_tree_node(&mut self, node: SystemTreeNode) -> SystemTreeNodeId {
        self.system_tree_nodes.push(node);
        SystemTreeNodeId(self.system_tree_nodes.len() - 1)
    }

    /// Appends a process.
    pub fn add_location_group(&mut self, group: LocationGroup) -> LocationGroupId {
        self.location_groups.push(group);
        LocationGroupId(self.location_groups.len() - 1)
    }

    /// Appends a thread.
    pub fn add_location(&mut self, location: Location) -> LocationId {
        self.locations.push(location);
        LocationId(self.locations.len() - 1)
    }

    /// The metric with this unique name.
    #[must_use]
    pub fn metric_named(&self, unique_name: &str) -> Option<MetricId> {
        self.metrics.iter().position(|metric| metric.unique_name == unique_name).map(MetricId)
    }
}
