//! The order of processes and locations.

use model::{Definitions, LocationGroupType, LocationType};

use super::{Location, Process};
use crate::communicators::World;
use crate::int::to_u32;
use crate::thread_numbers::NO_PLACE;

/// Sorts location groups by (rank of the process, accelerators after their process, definition), and
/// locations by (group, place in teams, main thread first, reference). `process_of_group` is by definition.
pub(super) fn order(
    definitions: &Definitions,
    ranks: &World,
    places: &[u32],
) -> (Vec<Process>, Vec<Location>, Vec<u32>) {
    let groups = &definitions.location_groups;
    // An accelerator context belongs to its creator, which is a process; a creator of the creator is ignored.
    let owner = |group: usize| match &groups[group] {
        g if g.kind == LocationGroupType::ACCELERATOR => g.creator.unwrap_or(group),
        _ => group,
    };
    let mut order: Vec<usize> = (0..groups.len()).collect();
    let rank = |group: usize| ranks.rank_of_group.get(&group).copied();
    order.sort_by_key(|&group| {
        let owner = owner(group);
        (rank(owner).is_none(), rank(owner), owner, owner != group, group)
    });
    let mut locations_of: Vec<Vec<usize>> = vec![Vec::new(); groups.len()];
    for (at, location) in definitions.locations.iter().enumerate() {
        locations_of[location.group].push(at);
    }
    let mut processes: Vec<Process> = Vec::new();
    let mut locations: Vec<Location> = Vec::new();
    let mut process_of_group = vec![u32::MAX; groups.len()];
    let mut last_owner = None;
    for group in order {
        let owner = owner(group);
        if last_owner != Some(owner) {
            let start = locations.len();
            processes.push(Process { rank: rank(owner), locations: start..start });
            last_owner = Some(owner);
        }
        let process = processes.len() - 1;
        process_of_group[group] = to_u32(process);
        let members = &mut locations_of[group];
        members.sort_by_key(|&at| {
            let reference = definitions.locations.reference(at);
            let kind = definitions.locations[at].kind;
            let is_main = ranks.main_threads.contains_key(&reference);
            (kind != LocationType::CPU_THREAD, places[at], !is_main, reference)
        });
        // Threads without a place get the following numbers, and so do other locations.
        let mut next = 0;
        for &definition in members.iter() {
            let thread = if places[definition] == NO_PLACE { next } else { places[definition] };
            next = thread + 1;
            locations.push(Location {
                definition,
                reference: definitions.locations.reference(definition),
                process,
                thread,
                kind: definitions.locations[definition].kind,
            });
        }
        processes[process].locations.end = locations.len();
    }
    (processes, locations, process_of_group)
}
