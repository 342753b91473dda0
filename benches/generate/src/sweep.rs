//! Sweep over a grid of ranks from one corner to the opposite one: each rank needs the results of two
//! neighbours, plane by plane.

use crate::grid::Grid;
use crate::job::Job;
use crate::location::Location;
use crate::mpi::{BETWEEN, CALL, MESSAGE};

/// Time between two planes in nanoseconds.
pub(crate) const SLOT: u64 = 4000;
/// Number of planes of a sweep.
pub(crate) const PLANES: u64 = 64;

/// A sweep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sweep {
    pub(crate) number: u64,
    pub(crate) grid: Grid,
    /// Time at which the rank in the first corner starts.
    pub(crate) begin: u64,
    pub(crate) goes_west: bool,
    pub(crate) goes_north: bool,
}

/// Neighbours in a row and in a column; `None` beyond the border.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neighbours {
    pub(crate) in_line: Option<u32>,
    pub(crate) in_column: Option<u32>,
}

impl Sweep {
    /// Neighbours that a rank receives from, and neighbours that it sends to.
    pub(crate) fn neighbours(self, rank: u32) -> (Neighbours, Neighbours) {
        let grid = self.grid;
        let (x, y) = grid.place(rank);
        let west = x.checked_sub(1).map(|x| grid.rank(x, y));
        let east = (x + 1 < grid.width).then(|| grid.rank(x + 1, y));
        let north = y.checked_sub(1).map(|y| grid.rank(x, y));
        let south = (y + 1 < grid.height).then(|| grid.rank(x, y + 1));
        let (from_x, to_x) = if self.goes_west { (east, west) } else { (west, east) };
        let (from_y, to_y) = if self.goes_north { (south, north) } else { (north, south) };
        (Neighbours { in_line: from_x, in_column: from_y }, Neighbours { in_line: to_x, in_column: to_y })
    }

    /// Time at which a rank finishes its work in a plane.
    #[inline]
    pub(crate) fn finished(self, job: &Job, rank: u32, plane: u64) -> u64 {
        let (x, y) = self.grid.place(rank);
        let x = if self.goes_west { self.grid.width - 1 - x } else { x };
        let y = if self.goes_north { self.grid.height - 1 - y } else { y };
        let slot = u64::from(x + y) + plane;
        self.begin + slot * SLOT + 1000 + 2 * job.load(rank, self.number * PLANES + plane)
    }

    /// Time at which both messages for a plane have arrived, whichever comes second.
    pub(crate) fn received(self, job: &Job, from: u32, plane: u64) -> u64 {
        self.finished(job, from, plane) + 2 * (BETWEEN + CALL) + MESSAGE
    }
}

/// Work of a rank at the border instead of a message, in nested functions: as many events in two planes.
pub(crate) fn border(
    location: &mut Location<'_>,
    plane: u64,
    [border, reflect]: [u32; 2],
) -> Result<(), otf2::Error> {
    location.enter(BETWEEN, border)?;
    if plane % 2 == 1 {
        location.work(reflect, location.now() + 30)?;
    }
    location.leave(10, border)
}
