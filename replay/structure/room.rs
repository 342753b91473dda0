//! Memory that values by iteration need.

use super::agree::Agreed;
use super::blocks::Blocks;
use super::map::MapShape;
use super::series::Spread;
use crate::int::to_u64;
use crate::walk::Walked;

/// Metrics of a run that have values by iteration, about at most.
const METRICS: u64 = 32;

/// Returns about how many bytes the values by iteration of these processes need, given the number of all locations.
pub(super) fn bytes_needed(agreed: &Agreed, processes: &[Walked], locations: usize) -> u64 {
    let blocks = Blocks::new(agreed.iterations);
    let rows = to_u64(blocks.row(agreed.iterations) + 1);
    let shape = MapShape::new(locations, agreed.iterations, blocks);
    let own = to_u64(processes.iter().map(|walked| walked.process.locations.len()).sum::<usize>());
    // Of a process at once, and of all that are brought together.
    let largest = processes.iter().map(|walked| walked.process.locations.len()).max().unwrap_or(0);
    let of_series = rows * METRICS * (2 * to_u64(size_of::<Spread>()) + 8 * to_u64(largest));
    let of_map =
        METRICS * u64::from(shape.columns) * 8 * (own.min(shape.groups.into()) + u64::from(shape.groups));
    let of_borders = 3 * 32 * agreed.locations.iter().map(|line| to_u64(line.own.len())).sum::<u64>();
    of_series + of_map + of_borders
}
