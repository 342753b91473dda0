//! Sweeps over a grid of ranks, each from the corner next to that of the last, as in transport codes.

use super::{Pattern, Plan};
use crate::grid::Grid;
use crate::job::Job;
use crate::location::{Location, START};
use crate::objects::Objects;
use crate::regions::function;
use crate::sweep::{PLANES, SLOT, Sweep, border};

pub(super) const PATTERN: Pattern = Pattern {
    name: "wavefront",
    about: "sweeps over a grid of ranks from corner to corner; in each of 64 planes a rank receives from two neighbours, \
            works, sends to the other two (MPI_Recv, MPI_Send)",
    threads: 1,
    least_ranks: 1,
    functions: &["sweep_plane", "border", "reflect"],
    options: &[],
    objects: Objects::NONE,
    plan,
    run,
    severities: None,
};
const SWEEP_PLANE: u32 = function(0);
const BORDER: [u32; 2] = [function(1), function(2)];

const BYTES: u64 = 240;
const TAG: u32 = 3;

fn plan(job: &Job) -> Plan {
    let grid = Grid::of(job.ranks);
    // A neighbour means one message in or out: three events.
    let steps = job.steps(1, 14);
    let last = sweep(steps.div_ceil(PLANES) - 1, grid);
    let ticks = last.begin - START + (PLANES + u64::from(grid.width + grid.height)) * SLOT;
    Plan { steps, ticks }
}

/// A sweep starts as soon as the rank in its first corner has finished the sweep before.
fn sweep(number: u64, grid: Grid) -> Sweep {
    let (odd, even) = (number.div_ceil(2), number / 2);
    let turns = odd * u64::from(grid.width - 1) + even * u64::from(grid.height - 1);
    Sweep {
        number,
        grid,
        begin: START + (number * PLANES + turns) * SLOT,
        goes_west: matches!(number % 4, 1 | 2),
        goes_north: number % 4 >= 2,
    }
}

fn run(location: &mut Location<'_>, steps: u64) -> Result<(), otf2::Error> {
    let (job, rank, grid) = (location.job, location.rank, Grid::of(location.job.ranks));
    for number in 0..steps.div_ceil(PLANES) {
        let sweep = sweep(number, grid);
        let (from, to) = sweep.neighbours(rank);
        for plane in 0..PLANES.min(steps - number * PLANES) {
            for from in [from.in_line, from.in_column] {
                match from {
                    Some(from) => location.receive(sweep.received(job, from, plane), from, TAG, BYTES)?,
                    None => border(location, plane, BORDER)?,
                }
            }
            location.work(SWEEP_PLANE, sweep.finished(job, rank, plane))?;
            for to in [to.in_line, to.in_column] {
                match to {
                    Some(to) => location.send(to, TAG, BYTES)?,
                    None => border(location, plane, BORDER)?,
                }
            }
        }
    }
    Ok(())
}
