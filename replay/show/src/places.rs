//! Locations: which have processor time, and their names.

use crate::error::{Result, or_obstacle};
use crate::values::Values;
use cubex::{Cube, Location, LocationGroup, LocationGroupKind, LocationId, LocationKind};

/// The process of a location.
fn group<'c>(cube: &'c Cube, location: &Location) -> Option<&'c LocationGroup> {
    cube.location_groups.get(location.group.0)
}

/// All locations.
pub fn all(cube: &Cube) -> Vec<bool> {
    vec![true; cube.locations.len()]
}

/// Threads of processes: the locations whose time is that of a processor.
pub fn threads(cube: &Cube) -> Vec<bool> {
    let is_thread = |location: &Location| {
        let group = group(cube, location).map(|group| group.kind);
        location.kind == LocationKind::Thread && group == Some(LocationGroupKind::Process)
    };
    cube.locations.iter().map(is_thread).collect()
}

/// Locations of which anything was recorded: time, or visits of a call path. Those without have lost their events, or had
/// none: 0 would be wrong. All of them in a report without these metrics.
///
/// # Errors
/// If values cannot be read.
pub fn recorded(values: &Values<'_>) -> Result<Vec<bool>> {
    let count = values.cube().locations.len();
    let mut is_recorded: Option<Vec<bool>> = None;
    for name in ["time", "visits"] {
        let Some(quantity) = values.find(name) else { continue };
        let Ok(row) = or_obstacle(values.by_location(&quantity, &|_| true))? else { continue };
        let is_recorded = is_recorded.get_or_insert_with(|| vec![false; count]);
        is_recorded.iter_mut().zip(row).for_each(|(is_recorded, value)| *is_recorded |= value != 0.0);
    }
    Ok(is_recorded.unwrap_or_else(|| vec![true; count]))
}

/// Threads of processes of which anything was recorded: those that means are over.
///
/// # Errors
/// If values cannot be read.
pub fn recorded_threads(values: &Values<'_>) -> Result<Vec<bool>> {
    let threads = threads(values.cube());
    let recorded: Vec<bool> = threads.iter().zip(recorded(values)?).map(|(&is, known)| is && known).collect();
    Ok(if recorded.contains(&true) { recorded } else { threads })
}

/// How many locations processes have, and which thread of its process a location is.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sizes {
    /// By process: its locations.
    pub of_process: Vec<usize>,
    /// By location: the number of locations of its process before it. Reports list them by thread.
    numbers: Vec<usize>,
}

/// The locations of each process.
pub fn sizes(cube: &Cube) -> Sizes {
    let mut sizes = Sizes { of_process: vec![0; cube.location_groups.len()], numbers: Vec::new() };
    for location in &cube.locations {
        let size = sizes.of_process.get_mut(location.group.0);
        sizes.numbers.push(size.as_ref().map_or(0, |size| **size));
        if let Some(size) = size {
            *size += 1;
        }
    }
    sizes
}

/// The name of a location: `rank 3`, or where the process has several `rank 3 thread 1`, as culprits have it, and `rank 3,
/// stream` of what is no thread. `sizes` are those of [`sizes`].
pub fn name(cube: &Cube, sizes: &Sizes, location: LocationId) -> String {
    let number = sizes.numbers.get(location.0).copied().unwrap_or(0);
    let Some(location) = cube.locations.get(location.0) else { return String::new() };
    let process = group(cube, location).map_or(String::new(), process_name);
    match sizes.of_process.get(location.group.0) {
        Some(1) => process,
        _ if location.kind == LocationKind::Thread => format!("{process} thread {number}"),
        _ if location.name.is_empty() => format!("{process}, location {number}"),
        _ => format!("{process}, {}", location.name),
    }
}

/// The name of a process: `rank 3`, or what the report calls it if it is no process.
pub fn process_name(group: &LocationGroup) -> String {
    match group.kind {
        LocationGroupKind::Process => format!("rank {}", group.rank),
        _ => group.name.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_have_numbers_and_other_locations_names() {
        let mut cube = Cube::default();
        for rank in 0..2 {
            cube.add_location_group(LocationGroup { rank, ..LocationGroup::default() });
        }
        let mut add = |group: usize, name: &str, kind: LocationKind| {
            let group = cubex::LocationGroupId(group);
            cube.add_location(Location { group, name: name.into(), kind, ..Location::default() });
        };
        add(0, "Master thread", LocationKind::Thread);
        add(1, "Master thread", LocationKind::Thread);
        add(1, "OMP thread 1", LocationKind::Thread);
        add(1, "CUDA stream 7", LocationKind::AcceleratorStream);
        let sizes = sizes(&cube);
        let names: Vec<String> = (0..4).map(|at| name(&cube, &sizes, LocationId(at))).collect();
        assert_eq!(names, ["rank 0", "rank 1 thread 0", "rank 1 thread 1", "rank 1, CUDA stream 7"]);
    }
}
