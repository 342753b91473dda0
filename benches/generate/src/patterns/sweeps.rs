//! Forward and backward sweeps over a grid of ranks, as in LU of the NAS Parallel Benchmarks: one from the
//! first corner to the last, one back, and now and then a reduction.
//!
//! The messages of a row are sent first and received last, so many arrive in wrong order.

use super::{Pattern, Plan};
use crate::grid::Grid;
use crate::job::Job;
use crate::location::{Location, START};
use crate::mpi::Collective;
use crate::objects::Objects;
use crate::regions::function;
use crate::sweep::{PLANES, SLOT, Sweep, border};

pub(super) const PATTERN: Pattern = Pattern {
    name: "sweeps",
    about: "sweeps forth and back over a grid of ranks, as in LU; in each of 64 planes a rank receives from two neighbours, works, \
            sends to the other two (MPI_Recv, MPI_Send), many messages come in wrong order; every tenth sweep an MPI_Allreduce",
    threads: 1,
    least_ranks: 1,
    functions: &["lower_plane", "upper_plane", "norm", "border", "reflect"],
    options: &[],
    objects: Objects::NONE,
    plan,
    run,
    severities: None,
};
const LOWER_PLANE: u32 = function(0);
const UPPER_PLANE: u32 = function(1);
const NORM: u32 = function(2);
const BORDER: [u32; 2] = [function(3), function(4)];

/// Sweeps from one reduction to the next.
const REDUCTION: u64 = 10;
/// Time from the end of a sweep to the start of the next one, in slots: there is room for a reduction.
const TURN: u64 = 1;
const BYTES: u64 = 240;
const LINE: u32 = 1;
const COLUMN: u32 = 2;

fn plan(job: &Job) -> Plan {
    let grid = Grid::of(job.ranks);
    let steps = job.steps(REDUCTION * PLANES, REDUCTION * PLANES * 14 + 6);
    Plan { steps, ticks: steps.div_ceil(PLANES) * slots(grid) * SLOT }
}

/// Time of a sweep until the start of the next one, in slots.
fn slots(grid: Grid) -> u64 {
    PLANES + u64::from(grid.width + grid.height) + TURN
}

fn sweep(number: u64, grid: Grid) -> Sweep {
    let is_back = number % 2 == 1;
    let begin = START + number * slots(grid) * SLOT;
    Sweep { number: number + 1, grid, begin, goes_west: is_back, goes_north: is_back }
}

fn run(location: &mut Location<'_>, steps: u64) -> Result<(), otf2::Error> {
    let (job, rank, grid) = (location.job, location.rank, Grid::of(location.job.ranks));
    for number in 0..steps.div_ceil(PLANES) {
        let sweep = sweep(number, grid);
        let (from, to) = sweep.neighbours(rank);
        let function = if number % 2 == 0 { LOWER_PLANE } else { UPPER_PLANE };
        for plane in 0..PLANES.min(steps - number * PLANES) {
            for (from, tag) in [(from.in_column, COLUMN), (from.in_line, LINE)] {
                match from {
                    Some(from) => location.receive(sweep.received(job, from, plane), from, tag, BYTES)?,
                    None => border(location, plane, BORDER)?,
                }
            }
            location.work(function, sweep.finished(job, rank, plane))?;
            for (to, tag) in [(to.in_line, LINE), (to.in_column, COLUMN)] {
                match to {
                    Some(to) => location.send(to, tag, BYTES)?,
                    None => border(location, plane, BORDER)?,
                }
            }
        }
        if number % REDUCTION == REDUCTION - 1 {
            location.enter(10, NORM)?;
            location.collective(Collective::Allreduce, sweep.begin + slots(grid) * SLOT - SLOT / 2, 40)?;
            location.leave(10, NORM)?;
        }
    }
    Ok(())
}
