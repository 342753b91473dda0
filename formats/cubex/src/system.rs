//! System tree: machines and nodes, the processes on them (location groups), and their threads (locations).

use crate::{Attribute, LocationGroupId, SystemTreeNodeId};

/// A system tree node: a machine, a node, or any other part of the system that contains processes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SystemTreeNode {
    /// The parent. Parents come first in
    /// [`Cube::system_tree_nodes`](crate::Cube::system_tree_nodes).
    pub parent: Option<SystemTreeNodeId>,
    /// Display name; by convention class and name, as in `node n17`.
    pub name: String,
    /// By convention `machine` for the root and `node` below it.
    pub class: String,
    /// Description; usually empty.
    pub description: String,
    /// Further attributes.
    pub attributes: Vec<Attribute>,
}

/// A location group: a process, or another owner of locations. Has at least one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocationGroup {
    /// The system tree node on which it runs.
    pub system_tree_node: SystemTreeNodeId,
    /// Display name, by convention `MPI Rank 0`.
    pub name: String,
    /// The MPI rank, for a process.
    pub rank: u64,
    /// Process or other kind.
    pub kind: LocationGroupKind,
    /// Further attributes.
    pub attributes: Vec<Attribute>,
}

/// Kind of a location group.
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

/// A location: a thread, or another owner of values; one column of every row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Location {
    /// The process that it belongs to. By convention, locations are sorted by process.
    pub group: LocationGroupId,
    /// Display name, by convention `Master thread` or `OMP thread 1`.
    pub name: String,
    /// Position within the group.
    pub rank: u64,
    /// Thread or other kind.
    pub kind: LocationKind,
    /// Further attributes.
    pub attributes: Vec<Attribute>,
}

/// Kind of a location.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LocationKind {
    /// A thread.
    #[default]
    Thread,
    /// A stream of an accelerator.
    AcceleratorStream,
    /// A location that carries metrics only.
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
