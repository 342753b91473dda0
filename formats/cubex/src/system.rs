//! The system: machines and nodes, the processes on them (location groups), and their threads (locations).

use crate::{Attribute, LocationGroupId, SystemTreeNodeId};

/// A machine, a node, or any other part of the system that contains processes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SystemTreeNode {
    /// What this one is a part of. Parents come first in
    /// [`Cube::system_tree_nodes`](crate::Cube::system_tree_nodes).
    pub parent: Option<SystemTreeNodeId>,
    /// The name shown to people; by custom class and name, as in `node n17`.
    pub name: String,
    /// By custom `machine` for the root and `node` below it.
    pub class: String,
    /// Description; usually empty.
    pub description: String,
    /// Further keys and values.
    pub attributes: Vec<Attribute>,
}

/// A process, or what else owns locations. Has at least one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocationGroup {
    /// Where it runs.
    pub system_tree_node: SystemTreeNodeId,
    /// The name shown to people, by custom `MPI Rank 0`.
    pub name: String,
    /// The MPI rank, for a process.
    pub rank: u64,
    /// What it is.
    pub kind: LocationGroupKind,
    /// Further keys and values.
    pub attributes: Vec<Attribute>,
}

/// What a location group is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LocationGroupKind {
    /// A process.
    #[default]
    Process,
    /// Owner of locations that only carry metrics.
    Metrics,
    /// The context of an accelerator.
    Accelerator,
}

impl LocationGroupKind {
    pub(crate) fn from_name(name: &str) -> Option<LocationGroupKind> {
        match name {
            "process" => Some(LocationGroupKind::Process),
            "metrics" => Some(LocationGroupKind::Metrics),
            "accelerator" => Some(LocationGroupKind::Accelerator),
            _ => None,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            LocationGroupKind::Process => "process",
            LocationGroupKind::Metrics => "metrics",
            LocationGroupKind::Accelerator => "accelerator",
        }
    }
}

/// A thread, or what else has values of its own: one column of every row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Location {
    /// The process it belongs to. By custom, locations are sorted by process.
    pub group: LocationGroupId,
    /// The name shown to people, by custom `Master thread` or `OMP thread 1`.
    pub name: String,
    /// Position within the group.
    pub rank: u64,
    /// What it is.
    pub kind: LocationKind,
    /// Further keys and values.
    pub attributes: Vec<Attribute>,
}

/// What a location is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LocationKind {
    /// A thread.
    #[default]
    Thread,
    /// A stream of an accelerator.
    AcceleratorStream,
    /// Carries metrics only.
    Metric,
}

impl LocationKind {
    pub(crate) fn from_name(name: &str) -> Option<LocationKind> {
        match name {
            "thread" => Some(LocationKind::Thread),
            "accelerator stream" | "gpu" => Some(LocationKind::AcceleratorStream),
            "metric" => Some(LocationKind::Metric),
            _ => None,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            LocationKind::Thread => "thread",
            LocationKind::AcceleratorStream => "accelerator stream",
            LocationKind::Metric => "metric",
        }
    }
}
