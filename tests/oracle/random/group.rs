//! Communicators and collective operations.

use model::CollectiveOp;

use crate::support::random::Random;
use crate::support::regions::operation;
use crate::support::trace::{Members, Step};

use super::ProgramGenerator;

/// Some members, in any order.
fn some(random: &mut Random, ranks: usize) -> Vec<u64> {
    let mut members: Vec<u64> = (0..ranks as u64).collect();
    for at in (1..ranks).rev() {
        members.swap(at, random.below(at + 1));
    }
    members.truncate(1 + random.below(ranks));
    members
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
        let at = self.random.below(self.communicators.len() + 1);
        let chosen = self.communicators.get(at).cloned();
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
        let at = self.random.below(self.communicators.len() + 2);
        let (name, members) = match self.communicators.get(at).cloned() {
            Some((name, Members::Ranks(members))) => (name, members),
            Some((name, Members::Sides(a, b))) => (name, [a, b].concat()),
            None if self.random.chance(10) => return ("self".into(), vec![self.random.below(processes)]),
            None => return ("world".into(), (0..processes).collect()),
        };
        (name, members.into_iter().map(|member| member as usize).collect())
    }

    /// All members of a communicator call the same operation.
    pub(super) fn collective(&mut self) {
        const CALLS: [&str; 18] = [
            "Barrier",
            "Barrier",
            "Bcast",
            "Scatter",
            "Scatterv",
            "Gather",
            "Gatherv",
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
        ];
        let (name, members) = self.group();
        let call = if self.random.chance(5) { "Comm_dup" } else { self.random.pick(&CALLS) };
        let operation = operation(&call.to_lowercase()).unwrap_or(CollectiveOp(17));
        let root = self.random.below(members.len());
        let mut threads = Vec::new();
        for &rank in &members {
            self.request_due(rank);
            let all = self.processes[rank].active();
            let thread = if self.processes[rank].is_multiple { self.random.below(all) } else { 0 };
            self.pass(rank, 2);
            self.enter(rank, thread, &format!("MPI_{call}"));
            if self.random.chance(20) {
                self.pass(rank, 0);
            }
            self.step(rank, thread, Step::CollectiveBegin);
            threads.push((rank, thread));
        }
        let latest = threads.iter().map(|&(rank, _)| self.processes[rank].now).max().unwrap_or(0);
        for (number, (rank, thread)) in threads.into_iter().enumerate() {
            if call == "Barrier" || self.random.chance(60) {
                self.wait_for(rank, latest);
            }
            self.inside(rank, thread);
            self.pass(rank, 0);
            let (sent, received) = self.sizes(call, number == root);
            let is_odd = self.random.chance(self.contradicts);
            self.step(
                rank,
                thread,
                Step::CollectiveEnd {
                    operation: if is_odd { CollectiveOp(11) } else { operation },
                    root: is_rooted(call).then_some(root as u32),
                    sent,
                    received,
                    communicator: name.clone(),
                },
            );
            self.leave(rank, thread);
        }
    }

    /// Bytes that a member sends and receives.
    pub(super) fn sizes(&mut self, call: &str, is_root: bool) -> (u64, u64) {
        let mut any = || self.random.pick(&[0, 8, 8, 8, 800]);
        let (sent, received) = (any(), any());
        match call {
            "Barrier" | "Comm_dup" | "Comm_idup" => (0, 0),
            "Bcast" | "Scatter" | "Scatterv" if is_root => (sent, if received == 800 { 8 } else { 0 }),
            "Bcast" | "Scatter" | "Scatterv" => (0, received),
            "Gather" | "Gatherv" | "Reduce" if !is_root => (sent, 0),
            _ => (sent, received),
        }
    }
}

pub(super) fn is_rooted(call: &str) -> bool {
    matches!(call, "Bcast" | "Scatter" | "Scatterv" | "Gather" | "Gatherv" | "Reduce")
}
