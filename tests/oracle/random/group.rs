//! Communicators and collective operations.

use model::CollectiveOp;
use model::attributes::{NEIGHBORS_IN, NEIGHBORS_OUT};
use otf2::{ROOT_SELF, ROOT_THIS_GROUP};

use crate::support::random::Random;
use crate::support::regions::operation;
use crate::support::trace::{Members, Step};

use super::ProgramGenerator;
use super::neighbors::{self, Neighbors, Topology};

/// Some members, in any order.
fn some(random: &mut Random, ranks: usize) -> Vec<u64> {
    let mut members: Vec<u64> = (0..ranks as u64).collect();
    for at in (1..ranks).rev() {
        members.swap(at, random.below(at + 1));
    }
    members.truncate(1 + random.below(ranks));
    members
}

/// Draws whose a window or a file is: the members of a communicator, often the world; `None` in so many percent of the others for a
/// process alone.
pub(super) fn communicator(
    random: &mut Random,
    communicators: &[(String, Members)],
    ranks: usize,
    alone: usize,
) -> Option<(String, Vec<usize>)> {
    let at = random.below(communicators.len() + 3);
    match communicators.get(at) {
        Some((name, Members::Ranks(members))) => {
            Some((name.clone(), members.iter().map(|&member| member as usize).collect()))
        }
        None if random.chance(alone) => None,
        _ => Some(("world".into(), (0..ranks).collect())),
    }
}

pub(super) fn communicators(random: &mut Random, ranks: usize) -> Vec<(String, Members)> {
    let mut all: Vec<_> = (0..random.below(3))
        .map(|number| (format!("comm{number}"), Members::Ranks(some(random, ranks))))
        .collect();
    if ranks > 1 && random.chance(40) {
        let mut members = some(random, ranks);
        while members.len() < 2 {
            members = some(random, ranks);
        }
        let behind = members.split_off(1 + random.below(members.len() - 1));
        all.push(("between".into(), Members::Sides(members, behind)));
    }
    all
}

/// The rank of a process in a list of members.
fn position(members: &[u64], rank: usize) -> Option<usize> {
    members.iter().position(|&member| member == rank as u64)
}

impl ProgramGenerator {
    /// Draws a communicator of this process and a partner in it: its name, the process, the ranks of both.
    pub(super) fn pair(&mut self, rank: usize) -> (String, usize, u32, u32) {
        if self.random.chance(8) {
            return ("self".into(), rank, 0, 0);
        }
        let at = self.random.below(self.usable + 1);
        let chosen = self.communicators[..self.usable].get(at).cloned();
        if let Some((name, members)) = chosen {
            let (own, others) = match &members {
                Members::Ranks(ranks) => (ranks, ranks),
                Members::Sides(a, b) if position(a, rank).is_some() => (a, b),
                Members::Sides(a, b) => (b, a),
            };
            if let Some(source) = position(own, rank) {
                let destination = self.random.below(others.len());
                return (name, others[destination] as usize, source as u32, destination as u32);
            }
        }
        let to = self.random.below(self.processes.len());
        ("world".into(), to, rank as u32, to as u32)
    }

    /// Draws a communicator: its name, its members.
    pub(super) fn group(&mut self) -> (String, Vec<usize>) {
        let processes = self.processes.len();
        let at = self.random.below(self.usable + 2);
        let (name, members) = match self.communicators[..self.usable].get(at).cloned() {
            Some((name, Members::Ranks(members))) => (name, members),
            Some((name, Members::Sides(a, b))) => (name, [a, b].concat()),
            None if self.random.chance(10) => return ("self".into(), vec![self.random.below(processes)]),
            None => return ("world".into(), (0..processes).collect()),
        };
        (name, members.into_iter().map(|member| member as usize).collect())
    }

    /// Draws an operation: one of these calls, or one among neighbours.
    pub(super) fn operation(&mut self, calls: &[&'static str]) -> Operation {
        let topology = self.random.below(self.topologies.len() + 1);
        if let Some(topology) = self.topologies.get(topology).cloned()
            && self.random.chance(25)
        {
            let call = self.random.pick(&neighbors::CALLS);
            let Topology { communicator, members, neighbors } = topology;
            return Operation {
                call,
                root: 0,
                communicator,
                members,
                neighbors: Some(neighbors),
                file: None,
            };
        }
        let (communicator, members) = self.group();
        let root = self.random.below(members.len());
        let call = self.random.pick(calls);
        Operation { call, root, communicator, members, neighbors: None, file: None }
    }

    /// All members of a communicator call the same operation.
    pub(super) fn collective(&mut self) {
        const CALLS: [&str; 24] = [
            "Barrier",
            "Barrier",
            "Barrier",
            "Bcast",
            "Bcast",
            "Scatter",
            "Scatterv",
            "Gather",
            "Gatherv",
            "Reduce",
            "Reduce",
            "Allgather",
            "Allgatherv",
            "Alltoall",
            "Alltoallv",
            "Alltoallw",
            "Allreduce",
            "Reduce_scatter",
            "Reduce_scatter_block",
            "Scan",
            "Exscan",
            "Comm_dup",
            "Comm_split",
            "Comm_disconnect",
        ];
        let one = self.operation(&CALLS);
        let mut threads = Vec::new();
        for &rank in &one.members {
            self.request_due(rank);
            let all = self.processes[rank].active();
            let thread = if self.processes[rank].is_multiple { self.random.below(all) } else { 0 };
            self.pass(rank, 2);
            self.enter(rank, thread, &format!("MPI_{}", one.call));
            if self.random.chance(20) {
                self.inside(rank, thread);
                self.pass(rank, 0);
            }
            self.step(rank, thread, Step::CollectiveBegin);
            threads.push((rank, thread));
        }
        let entered: Vec<u64> = threads.iter().map(|&(rank, _)| self.processes[rank].now).collect();
        let latest = entered.iter().copied().max().unwrap_or(0);
        for (member, (rank, thread)) in threads.into_iter().enumerate() {
            if one.call == "Barrier" || self.random.chance(60) {
                self.wait_for(rank, latest);
            } else if self.is_lawful {
                let needed = (0..one.members.len()).filter(|&other| one.needs(member, other));
                if let Some(last) = needed.map(|other| entered[other]).max() {
                    self.wait_for(rank, last);
                }
            }
            self.inside(rank, thread);
            self.pass(rank, 0);
            let (operation, root, [sent, received]) = self.told(&one, member);
            let communicator = one.communicator.clone();
            let end = Step::CollectiveEnd { operation, root, sent, received, communicator };
            self.step(rank, thread, one.with_neighbors(member, end));
            self.leave(rank, thread);
        }
    }

    /// Creates or releases the handles of MPI itself, in the call that initializes or finalizes it.
    pub(super) fn handles_of_mpi(&mut self, rank: usize, operation: CollectiveOp) {
        self.step(rank, 0, Step::CollectiveBegin);
        self.pass(rank, 0);
        let communicator = "world".into();
        self.step(rank, 0, Step::CollectiveEnd { operation, root: None, sent: 0, received: 0, communicator });
    }

    /// The record at the end of a member's part says: operation, root, bytes sent and received; sometimes something wrong.
    pub(super) fn told(&mut self, one: &Operation, member: usize) -> (CollectiveOp, Option<u32>, [u64; 2]) {
        let (sent, received) = self.sizes(one, member);
        let is_odd = self.random.chance(self.contradicts);
        let operation = match one.call {
            "Comm_disconnect" => CollectiveOp(18),
            call if call.starts_with("Comm") => CollectiveOp(17),
            _ if is_odd && self.random.chance(50) => CollectiveOp(11),
            "Neighbor_alltoallw" => CollectiveOp(10),
            call if call.starts_with("Neighbor") => CollectiveOp(9),
            call => operation(&call.to_lowercase()).expect("a collective operation"),
        };
        let root = if is_odd { self.random.below(one.members.len()) } else { one.root };
        let root = is_rooted(one.call).then(|| self.root(one, root, member));
        (operation, root, [sent, received])
    }

    /// How a member names the root. On an inter-communicator that depends on its group (rest of MPI 7.2).
    fn root(&self, one: &Operation, root: usize, member: usize) -> u32 {
        match self.side(one) {
            None => root as u32,
            Some(_) if root == member => ROOT_SELF,
            Some(side) if (root < side) == (member < side) => ROOT_THIS_GROUP,
            Some(side) => (if root < side { root } else { root - side }) as u32,
        }
    }

    /// Number of members in the first group of an inter-communicator.
    fn side(&self, one: &Operation) -> Option<usize> {
        match &self.communicators.iter().find(|it| it.0 == one.communicator)?.1 {
            Members::Ranks(_) => None,
            Members::Sides(a, _) => Some(a.len()),
        }
    }

    /// Bytes that a member sends and receives.
    fn sizes(&mut self, one: &Operation, member: usize) -> (u64, u64) {
        let mut any = || self.random.pick(&[0, 8, 8, 8, 800]);
        let (sent, received) = (any(), any());
        let is_root = member == one.root;
        let is_beside_root =
            !is_root && self.side(one).is_some_and(|side| (one.root < side) == (member < side));
        match one.call {
            "Barrier" => (0, 0),
            call if call.starts_with("Comm") => (0, 0),
            call if is_rooted(call) && is_beside_root => (0, 0),
            "Bcast" | "Scatter" | "Scatterv" if is_root => (sent, if received == 800 { 8 } else { 0 }),
            "Bcast" | "Scatter" | "Scatterv" => (0, received),
            "Gather" | "Gatherv" | "Reduce" if !is_root => (sent, 0),
            _ => (sent, received),
        }
    }
}

/// A collective operation of all members of a communicator.
#[derive(Clone, Debug)]
pub(super) struct Operation {
    /// Name of the blocking form, without `MPI_`; or `Comm_idup`.
    pub(super) call: &'static str,
    pub(super) root: usize,
    pub(super) communicator: String,
    pub(super) members: Vec<usize>,
    /// Sets of neighbours, by member.
    pub(super) neighbors: Option<Vec<Neighbors>>,
    /// Of a transfer: the file, and the number that matches its events.
    pub(super) file: Option<(usize, u64)>,
}

impl Operation {
    /// Whether a member cannot end it before another one has begun. Where that depends on the data, or on the library, it can.
    pub(super) fn needs(&self, member: usize, other: usize) -> bool {
        match self.call {
            "Bcast" | "Scatter" | "Scatterv" => other == self.root,
            "Gather" | "Gatherv" | "Reduce" => member == self.root,
            "Scan" | "Exscan" => other < member,
            "Alltoallv" | "Alltoallw" => false,
            call => !["Comm_", "Neighbor_", "File_"].iter().any(|soft| call.starts_with(soft)),
        }
    }

    /// The record at the end of a member's part, with its neighbours.
    pub(super) fn with_neighbors(&self, member: usize, step: Step) -> Step {
        let Some(neighbors) = &self.neighbors else { return step };
        let Neighbors { sources, destinations } = neighbors[member];
        let known = vec![(NEIGHBORS_IN, sources), (NEIGHBORS_OUT, destinations)];
        Step::WithAttributes(Box::new(step), known)
    }
}

fn is_rooted(call: &str) -> bool {
    matches!(call, "Bcast" | "Scatter" | "Scatterv" | "Gather" | "Gatherv" | "Reduce")
}
