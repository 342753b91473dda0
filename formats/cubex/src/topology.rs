//! Cartesian topologies: grids in which locations or processes have coordinates.

use crate::{LocationGroupId, LocationId};

/// A Cartesian topology, such as the one of an MPI communicator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// Display name; may be empty.
    pub name: String,
    /// The dimensions of the grid; at least one.
    pub dimensions: Vec<Dimension>,
    /// Coordinates. A location or process may have several or none.
    pub coordinates: Vec<Coordinate>,
}

/// A dimension of a grid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dimension {
    /// Display name; may be empty.
    pub name: String,
    /// Number of positions, at least 1.
    pub size: u64,
    /// Whether the last position is next to the first.
    pub periodic: bool,
}

/// Coordinates of a location or process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coordinate {
    /// The location or process.
    pub of: Placed,
    /// One number per dimension, each smaller than the dimension's size.
    pub position: Vec<u64>,
}

/// A location or process in a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Placed {
    /// A single location.
    Location(LocationId),
    /// A process.
    Group(LocationGroupId),
}
