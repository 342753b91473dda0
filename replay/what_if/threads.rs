//! Dependencies among the threads of a process: teams, barriers and locks (what-if 2.4).

use rustc_hash::FxHashMap;

use super::dependencies::DependencyKind;
use super::goals::{Goal, Role};
use super::graph::Graph;
use super::marks::Kind;
use crate::operations::{Operations, TeamEventKind};
use crate::walk::{LockTurn, Noted, Walked};

/// A mark of a thread: location, number.
type Spot = (u32, u32);

/// Events of a team.
#[derive(Default)]
struct Team {
    fork: Option<Spot>,
    begins: Vec<Spot>,
    ends: Vec<Spot>,
    joins: Vec<Spot>,
}

/// Adds the dependencies among the threads of a process.
pub(super) fn link(walked: &Walked, graph: &mut Graph) {
    let range = walked.process.range();
    if range.len() < 2 {
        return;
    }
    let mut teams = FxHashMap::<u32, Team>::default();
    // By barrier: enters and leaves.
    let mut barriers = FxHashMap::<u32, (Vec<Spot>, Vec<Spot>)>::default();
    let (mut acquired, mut released) = (Vec::new(), FxHashMap::<LockTurn, Spot>::default());
    for location in range {
        let location = crate::int::to_u32(location);
        for &(what, mark) in &graph.of(location).marks.threads {
            let spot = (location, mark);
            match what {
                Noted::Team(kind, number) => {
                    let team = teams.entry(number).or_default();
                    match kind {
                        TeamEventKind::Fork => team.fork = Some(spot),
                        TeamEventKind::Begin => team.begins.push(spot),
                        TeamEventKind::End => team.ends.push(spot),
                        TeamEventKind::Join => team.joins.push(spot),
                    }
                }
                Noted::EnterBarrier(visit) => {
                    if let Some(barrier) = barrier(&walked.operations, visit) {
                        barriers.entry(barrier).or_default().0.push(spot);
                    }
                }
                Noted::LeaveBarrier(visit) => {
                    if let Some(barrier) = barrier(&walked.operations, visit) {
                        barriers.entry(barrier).or_default().1.push(spot);
                    }
                }
                Noted::Acquire(turn) => acquired.push((turn, spot)),
                // The last of several: before it the lock was not free.
                Noted::Release(turn) => drop(released.insert(turn, spot)),
                Noted::Begin | Noted::Enter(_) | Noted::Leave | Noted::EnterCritical | Noted::End => {}
            }
        }
    }
    for team in teams.values() {
        for &begin in &team.begins {
            if let Some(fork) = team.fork {
                depend(graph, begin, &[fork]);
            }
        }
        for &join in &team.joins {
            let time =
                |graph: &mut Graph, (location, mark): Spot| graph.of(location).marks.list[mark as usize].time;
            let joined = time(graph, join);
            let ends: Vec<Spot> =
                team.ends.iter().copied().filter(|&end| time(graph, end) <= joined).collect();
            let own = [(join.0, join.1 - 1)];
            depend(graph, join, if ends.is_empty() { &own } else { &ends });
        }
    }
    for (enters, leaves) in barriers.values() {
        for &leave in leaves {
            depend(graph, leave, enters);
        }
    }
    for ((model, lock, order), spot) in acquired {
        if let Some(&release) = order.checked_sub(1).and_then(|before| released.get(&(model, lock, before))) {
            depend(graph, spot, &[release]);
        }
    }
}

/// What visits to the same barrier have in common; `None` if it is not known who belongs together.
fn barrier(operations: &Operations, visit: u32) -> Option<u32> {
    operations.barriers[visit as usize].last
}

/// A completion depends on the latest of these marks.
fn depend(graph: &mut Graph, (location, mark): Spot, starts: &[Spot]) {
    let of = graph.of(location);
    let Kind::Completion(completion) = of.marks.list[mark as usize].kind() else { return };
    let count = crate::int::to_u32(starts.len());
    let number = of.depend(completion, DependencyKind::Together, 0, count);
    for &(start, mark) in starts {
        graph.of(start).goals.push(mark, Goal::Dependency { location, number, role: Role::Other });
    }
}
