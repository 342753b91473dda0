//! Teams of OpenMP: as in Score-P's archives each is a communicator, and its group lists its threads in the order of
//! their places.
//!
//! A process has one team at a time, and libgomp gives equal places to equal threads, so teams of one size are
//! one. Only behind nested teams it makes new threads for places; the first one stands for all of them.

use super::journals::Process;
use super::members::Groups;
use recording::layout;
use recording::openmp::TEAMS;
use std::collections::BTreeMap;

/// All teams of a run. Numbers of groups and communicators are behind those of MPI.
#[derive(Clone, Default, Debug)]
pub(crate) struct Teams {
    /// The number of the group of all locations that have been in a team.
    pub(crate) everybody: u32,
    /// These locations.
    pub(crate) locations: Vec<u64>,
    pub(crate) teams: Vec<Team>,
}

/// The teams of one size of a process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Team {
    /// Number of the communicator.
    pub(crate) communicator: u32,
    pub(crate) group: u32,
    /// Positions of the members among all locations.
    pub(crate) members: Vec<u64>,
}

/// Collects the teams of all processes; there are so many communicators of MPI. Also returns, by process, the
/// numbers of communicators by those in its events.
pub(super) fn collect(
    processes: &[Process],
    groups: &Groups,
    communicators: usize,
) -> (Teams, Vec<BTreeMap<u32, u32>>) {
    let mut teams = Teams { everybody: groups.behind(), ..Teams::default() };
    let mut numbers = Vec::with_capacity(processes.len());
    for process in processes {
        let mut places: BTreeMap<u32, u64> = BTreeMap::new();
        for (&thread, &place) in
            process.places.iter().filter(|(thread, _)| process.threads.contains_key(thread))
        {
            places.entry(place).or_insert(teams.locations.len() as u64);
            teams.locations.push(layout::location(process.rank, thread));
        }
        let mut own = BTreeMap::new();
        for &size in &process.teams {
            let number = teams.teams.len() as u32;
            let communicator = communicators as u32 + number;
            let members = places.range(..size).map(|(_, &at)| at).collect();
            own.insert(TEAMS.saturating_add(size), communicator);
            teams.teams.push(Team { communicator, group: teams.everybody + 1 + number, members });
        }
        numbers.push(own);
    }
    (teams, numbers)
}

#[cfg(test)]
mod tests {
    use super::super::journals::Thread;
    use super::*;

    #[test]
    fn members_of_a_team_are_the_first_places_in_their_order() {
        let process = |rank, places: &[(u32, u32)], teams: &[u32]| Process {
            rank,
            threads: [0, 1, 2].map(|thread| (thread, Thread::default())).into(),
            places: places.iter().copied().collect(),
            teams: teams.iter().copied().collect(),
            ..Process::default()
        };
        let processes = [
            process(0, &[(0, 0), (1, 2), (2, 1)], &[2, 3]),
            process(1, &[(0, 0), (1, 1), (2, 1), (9, 1)], &[2]),
        ];
        let (teams, numbers) = collect(&processes, &Groups::default(), 5);
        assert_eq!(
            teams.locations,
            [0, 1 << 32, 2 << 32, 1, 1 << 32 | 1, 2 << 32 | 1],
            "there is no thread 9"
        );
        let of: Vec<_> = teams.teams.iter().map(|team| (team.communicator, &team.members[..])).collect();
        assert_eq!(of, [(5, &[0, 2][..]), (6, &[0, 2, 1][..]), (7, &[3, 4][..])]);
        assert_eq!(numbers[0], BTreeMap::from([(TEAMS + 2, 5), (TEAMS + 3, 6)]));
        assert_eq!(numbers[1], BTreeMap::from([(TEAMS + 2, 7)]));
    }
}
