//! Topologies: Cartesian grids onto which locations or processes are placed.

use crate::{LocationGroupId, LocationId};

/// A Cartesian grid, such as the one of an MPI communicator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// The name shown to people; may be empty.
    pub name: String,
    /// The axes of the grid; at least one.
    pub dimensions: Vec<Dimension>,
    /// Who sits where. Somebody may appear several times or not at all.
    pub coordinates: Vec<Coordinate>,
}

/// One axis of a grid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dimension {
    /// The name shown to people; may be empty.
    pub name: String,
    /// Number of positions, at least 1.
    pub size: u64,
    /// Whether the last position is next to the first.
    pub periodic: bool,
}

/// A place in a grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coordinate {
    /// Who sits there.
    pub of: Placed,
    /// One number per dimension, each smaller than its size.
    pub position: Vec<u64>,
}

/// What can be placed in a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Placed {
    /// A single location.
    Location(LocationId),
    /// A process.
    Group(LocationGroupId),
}
