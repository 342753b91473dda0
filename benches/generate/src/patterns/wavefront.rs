//! Sweeps over a grid of ranks from one corner to the opposite one, as in transport codes: each rank needs what two
//! neighbours have computed, plane by plane.

use super::{Pattern, Plan};
use crate::grid::Grid;
use crate::job::Job;
use crate::location::{Location, START};
use crate::mpi::{BETWEEN, CALL, MESSAGE};
use crate::regions::function;

pub(super) const PATTERN: Pattern = Pattern {
    name: "wavefront",
    about: "sweeps over a grid of ranks from corner to corner; in each of 64 planes a rank receives from two neighbours, \
            works, sends to the other two (MPI_Recv, MPI_Send)",
    threads: 1,
    least_ranks: 1,
    functions: &["sweep_plane", "border", "reflect"],
    plan,
    run,
};
const SWEEP_PLANE: u32 = function(0);
const BORDER: u32 = function(1);
const REFLECT: u32 = function(2);

/// Time from one plane to the next in nanoseconds.
const SLOT: u64 = 4000;
/// Planes of a sweep.
const PLANES: u64 = 64;
const BYTES: u64 = 240;
const TAG: u32 = 3;

fn plan(job: &Job) -> Plan {
    let grid = Grid::of(job.ranks);
    // A neighbour is one message in or out: three events.
    let steps = job.steps(1, 14);
    let sweeps = steps.div_ceil(PLANES);
    let last = Sweep { number: sweeps - 1, grid };
    let ticks = last.begin() - START + (PLANES + u64::from(grid.width + grid.height)) * SLOT;
    Plan { steps, ticks }
}

/// A sweep over the grid; each begins in the corner next to the one where the last one has begun.
#[derive(Clone, Copy)]
struct Sweep {
    number: u64,
    grid: Grid,
}

impl Sweep {
    /// When the rank in the first corner begins: as soon as it has nothing to do in the sweep before.
    fn begin(self) -> u64 {
        let (odd, even) = (self.number.div_ceil(2), self.number / 2);
        let turns = odd * u64::from(self.grid.width - 1) + even * u64::from(self.grid.height - 1);
        START + (self.number * PLANES + turns) * SLOT
    }

    /// Whether it goes west, and whether it goes north.
    fn direction(self) -> (bool, bool) {
        (matches!(self.number % 4, 1 | 2), self.number % 4 >= 2)
    }

    /// Neighbours that a rank receives from, and those that it sends to. `None` beyond the border.
    fn neighbours(self, rank: u32) -> ([Option<u32>; 2], [Option<u32>; 2]) {
        let grid = self.grid;
        let (x, y) = grid.place(rank);
        let west = x.checked_sub(1).map(|x| grid.rank(x, y));
        let east = (x + 1 < grid.width).then(|| grid.rank(x + 1, y));
        let north = y.checked_sub(1).map(|y| grid.rank(x, y));
        let south = (y + 1 < grid.height).then(|| grid.rank(x, y + 1));
        let (goes_west, goes_north) = self.direction();
        let (from_x, to_x) = if goes_west { (east, west) } else { (west, east) };
        let (from_y, to_y) = if goes_north { (south, north) } else { (north, south) };
        ([from_x, from_y], [to_x, to_y])
    }

    /// When a rank has done its work in a plane.
    #[inline]
    fn finished(self, job: &Job, rank: u32, plane: u64) -> u64 {
        let (x, y) = self.grid.place(rank);
        let (goes_west, goes_north) = self.direction();
        let x = if goes_west { self.grid.width - 1 - x } else { x };
        let y = if goes_north { self.grid.height - 1 - y } else { y };
        let slot = u64::from(x + y) + plane;
        self.begin() + slot * SLOT + 1000 + 2 * job.load(rank, self.number * PLANES + plane)
    }

    /// When the messages of a rank in a plane are there, whichever comes second.
    fn received(self, job: &Job, from: u32, plane: u64) -> u64 {
        self.finished(job, from, plane) + 2 * (BETWEEN + CALL) + MESSAGE
    }
}

fn run(location: &mut Location<'_>, steps: u64) -> Result<(), otf2::Error> {
    let (job, rank, grid) = (location.job, location.rank, Grid::of(location.job.ranks));
    for number in 0..steps.div_ceil(PLANES) {
        let sweep = Sweep { number, grid };
        let (from, to) = sweep.neighbours(rank);
        for plane in 0..PLANES.min(steps - number * PLANES) {
            for from in from {
                match from {
                    Some(from) => location.receive(sweep.received(job, from, plane), from, TAG, BYTES)?,
                    None => border(location, plane)?,
                }
            }
            location.work(SWEEP_PLANE, sweep.finished(job, rank, plane))?;
            for to in to {
                match to {
                    Some(to) => location.send(to, TAG, BYTES)?,
                    None => border(location, plane)?,
                }
            }
        }
    }
    Ok(())
}

/// What a rank at the border does instead of a message: as many events in two planes.
fn border(location: &mut Location<'_>, plane: u64) -> Result<(), otf2::Error> {
    location.enter(BETWEEN, BORDER)?;
    if plane % 2 == 1 {
        location.work(REFLECT, location.now() + 30)?;
    }
    location.leave(10, BORDER)
}
