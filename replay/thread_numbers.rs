//! Numbers of threads: thread 3 of a process is the location with number 3 in its team.
//!
//! OTF2 has no numbers of threads, and references of locations are no substitute: Score-P counts locations as
//! it creates them, so that of the threads that the first parallel region did not have, the fastest gets the
//! lowest. But the group of a team lists its members in the order of their numbers.

use model::{Definitions, GroupType, LocationType, Members, Paradigm};
use rustc_hash::FxHashSet;

use crate::communicators::{World, paradigm_locations};

/// Stands for "no place in a team".
pub const NO_PLACE: u32 = u32::MAX;

/// Returns the place of each location in the teams of its process, by position in the definitions;
/// [`NO_PLACE`] for those that have none. No two locations of a process have the same place: 0 belongs to the
/// main thread, any other place to the location that the first team has there. Nested teams do not count,
/// since each starts with 0 again.
pub fn places(definitions: &Definitions, world: &World) -> Vec<u32> {
    let (locations, groups) = (&definitions.locations, &definitions.groups);
    let mut places = vec![NO_PLACE; locations.len()];
    let Some(openmp) = paradigm_locations(definitions, Paradigm::OPENMP) else { return places };
    let references = &groups[openmp].members;
    let mut taken = FxHashSet::default();
    let mut take = |location: usize, place: u32| {
        let is_thread = locations[location].kind == LocationType::CPU_THREAD;
        if is_thread && places[location] == NO_PLACE && taken.insert((locations[location].group, place)) {
            places[location] = place;
        }
    };
    let mut main_threads: Vec<u64> = world.main_threads.keys().copied().collect();
    main_threads.sort_unstable();
    main_threads.iter().filter_map(|&main| locations.position(main)).for_each(|main| take(main, 0));

    // By communicator, whether its teams are nested in a team; by group, whether its members have got places.
    let mut is_inside = vec![false; definitions.communicators.len()];
    let mut is_done = vec![false; groups.len()];
    for (at, communicator) in definitions.communicators.iter().enumerate() {
        let Members::Group(group) = communicator.members else { continue };
        let team = &groups[group];
        if (team.kind, team.paradigm) != (GroupType::COMM_GROUP, Paradigm::OPENMP) {
            continue;
        }
        let is_inner = communicator.parent.is_some_and(|parent| is_inside[parent]);
        // A team of one thread does not count as nesting: teams forked in it have the same threads.
        is_inside[at] = is_inner || team.members.len() > 1;
        if is_inner || std::mem::replace(&mut is_done[group], true) {
            continue;
        }
        let location = |&member: &u64| locations.position(*references.get(usize::try_from(member).ok()?)?);
        let members = (0..).zip(team.members.iter().map(location));
        let members: Vec<(u32, usize)> =
            members.filter_map(|(place, location)| Some((place, location?))).collect();
        // A group with threads of several processes is no team.
        if members.iter().all(|member| locations[member.1].group == locations[members[0].1].group) {
            members.into_iter().for_each(|(place, location)| take(location, place));
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::communicators;
    use crate::trace::tests::{add_location, world};
    use model::{Communicator, Group};

    const NONE: u32 = NO_PLACE;

    /// Returns the places of the locations 0, 1, … of two processes with three threads each: 0, 2, 4 and 1,
    /// 3, 5, of which 0 and 1 are the main threads. Teams are given by members and by the team in which they
    /// are forked.
    fn places_in(teams: &[(&[u64], Option<usize>)]) -> Vec<u32> {
        let mut definitions = world(&[0, 1]);
        (2..6).for_each(|reference| {
            add_location(&mut definitions, reference, reference as usize % 2, LocationType::CPU_THREAD);
        });
        let mut group = |kind, members: &[u64]| {
            let (name, paradigm, flags) = (String::new(), Paradigm::OPENMP, 0);
            let new = Group { name, kind, paradigm, flags, members: members.to_vec() };
            definitions.groups.push(definitions.groups.len() as u64, new).unwrap()
        };
        group(GroupType::COMM_LOCATIONS, &[0, 1, 2, 3, 4, 5]);
        let groups: Vec<usize> = teams.iter().map(|team| group(GroupType::COMM_GROUP, team.0)).collect();
        let others = definitions.communicators.len();
        for (group, (_, parent)) in groups.into_iter().zip(teams) {
            let (name, members) = (String::new(), Members::Group(group));
            let new = Communicator { name, members, parent: parent.map(|team| others + team) };
            definitions.communicators.push(definitions.communicators.len() as u64, new).unwrap();
        }
        places(&definitions, &communicators::world(&definitions))
    }

    #[test]
    fn place_is_the_position_in_the_team_of_the_process() {
        assert_eq!(places_in(&[(&[0, 4, 2], None), (&[1, 3], None)]), [0, 0, 2, 1, 1, NONE]);
    }

    #[test]
    fn larger_team_has_the_members_of_the_smaller_one_at_the_same_places() {
        assert_eq!(places_in(&[(&[0, 4], None), (&[0, 4, 2], None)])[..5], [0, 0, 2, NONE, 1]);
    }

    #[test]
    fn place_belongs_to_the_main_thread_or_to_whom_the_first_team_has_there() {
        assert_eq!(places_in(&[(&[2, 4], None), (&[0, 2], None)])[..5], [0, 0, NONE, NONE, 1]);
    }

    #[test]
    fn team_inside_of_a_team_gives_no_places_unless_the_outer_one_has_one_thread() {
        assert_eq!(places_in(&[(&[0, 2], None), (&[0, 4, 2], Some(0))])[..5], [0, 0, 1, NONE, NONE]);
        assert_eq!(places_in(&[(&[0], None), (&[0, 4, 2], Some(0))])[..5], [0, 0, 2, NONE, 1]);
    }

    #[test]
    fn members_that_are_unknown_or_of_several_processes_get_no_places() {
        assert_eq!(places_in(&[(&[0, 77, 2], None)])[..5], [0, 0, 2, NONE, NONE]);
        assert_eq!(places_in(&[(&[0, 3, 2], None), (&[], None)])[..5], [0, 0, NONE, NONE, NONE]);
    }
}
