//! Non-blocking and persistent collective operations.

use model::CollectiveOp;

use crate::support::regions::operation;
use crate::support::trace::Step;

use super::group::is_rooted;
use super::{ProgramGenerator, SimulatedRequest, State};

/// A non-blocking collective operation under way.
#[derive(Clone, Debug)]
pub(super) struct SimulatedCollective {
    /// Name of the blocking form, without `MPI_`; or `Comm_idup`.
    call: &'static str,
    root: usize,
    communicator: String,
    members: Vec<usize>,
    /// Times of the requests so far, by member.
    requested: Vec<Option<u64>>,
    /// Index of the persistent operation that was started.
    persistent: Option<usize>,
}

/// A persistent collective operation.
#[derive(Clone, Debug)]
pub(super) struct PersistentCollective {
    operation: SimulatedCollective,
    /// Numbers of the requests, by member.
    numbers: Vec<u64>,
    /// Number of members that have not completed it.
    active: usize,
}

impl SimulatedCollective {
    /// Whether a member can complete it now: all have requested it, or it may need none of the others.
    fn is_completable(&self, member: usize) -> bool {
        let is_root = member == self.root;
        self.requested.iter().all(Option::is_some)
            || match self.call {
                "Bcast" | "Scatter" | "Scatterv" => is_root,
                "Gather" | "Gatherv" | "Reduce" => !is_root,
                "Alltoallv" | "Alltoallw" | "Comm_idup" => true,
                _ => false,
            }
    }

    fn latest(&self) -> u64 {
        self.requested.iter().flatten().copied().max().unwrap_or(0)
    }
}

impl ProgramGenerator {
    /// All members of a communicator call the same operation, some of them later.
    pub(super) fn nonblocking(&mut self) {
        const CALLS: [&str; 21] = [
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
            "Allreduce",
            "Reduce_scatter",
            "Reduce_scatter_block",
            "Scan",
            "Exscan",
        ];
        let known: Vec<usize> =
            (0..self.persistent.len()).filter(|&at| self.persistent[at].active == 0).collect();
        let persistent = match known.is_empty() {
            false if self.random.chance(30) => Some(self.random.pick(&known)),
            _ => None,
        };
        let one = match persistent {
            Some(at) => self.persistent[at].operation.clone(),
            None => {
                let (communicator, members) = self.group();
                let call = if self.random.chance(20) { "Comm_idup" } else { self.random.pick(&CALLS) };
                let root = self.random.below(members.len());
                let requested = vec![None; members.len()];
                let one =
                    SimulatedCollective { call, root, communicator, members, requested, persistent: None };
                let is_persistent = call != "Comm_idup" && self.random.chance(10);
                if is_persistent { self.make_persistent(one) } else { one }
            }
        };
        if let Some(at) = one.persistent {
            self.persistent[at].active = one.members.len();
        }
        self.collectives.push(one);
        let number = self.collectives.len() - 1;
        for (member, rank) in self.collectives[number].members.clone().into_iter().enumerate() {
            self.processes[rank].due.push_back((number, member));
            if self.random.chance(60) {
                self.request_due(rank);
            }
        }
        // Often they wait for each other soon.
        if self.random.chance(60) {
            let members = self.collectives[number].members.clone();
            members.iter().for_each(|&rank| self.request_due(rank));
            members.iter().for_each(|&rank| self.wait_soon(rank, number));
        }
    }

    /// All members create a persistent request for an operation.
    fn make_persistent(&mut self, mut operation: SimulatedCollective) -> SimulatedCollective {
        let mut numbers = Vec::new();
        for &rank in &operation.members {
            self.settle(rank);
            self.enter(rank, 0, &format!("MPI_{}_init", operation.call));
            self.leave(rank, 0);
            numbers.push(self.number());
        }
        operation.persistent = Some(self.persistent.len());
        self.persistent.push(PersistentCollective { operation: operation.clone(), numbers, active: 0 });
        operation
    }

    /// A process calls the operations that other members have called already.
    pub(super) fn request_due(&mut self, rank: usize) {
        self.settle(rank);
        while let Some((number, member)) = self.processes[rank].due.pop_front() {
            let thread = self.caller(rank);
            self.request(rank, thread, number, member);
        }
    }

    /// A process waits for an operation, or completes anything.
    fn wait_soon(&mut self, rank: usize, number: usize) {
        let thread = self.caller(rank);
        if self.random.chance(20) {
            return self.open_completion(rank, thread);
        }
        let requests = &mut self.processes[rank].requests;
        let of_this = requests.iter().enumerate().find_map(|(at, request)| match request.state {
            State::Collective(operation, member) if operation == number => Some((at, member)),
            _ => None,
        });
        let Some((at, member)) = of_this else { return };
        let request = requests.remove(at).number;
        let call = self.random.pick(&["MPI_Wait", "MPI_Waitany", "MPI_Waitall", "MPI_Waitsome"]);
        self.enter(rank, thread, call);
        self.inside(rank, thread);
        self.complete_collective(rank, thread, request, (number, member));
        self.leave(rank, thread);
    }

    /// A thread that may call MPI.
    fn caller(&mut self, rank: usize) -> usize {
        let all = self.processes[rank].active();
        if self.processes[rank].is_multiple { self.random.below(all) } else { 0 }
    }

    fn request(&mut self, rank: usize, thread: usize, number: usize, member: usize) {
        let one = self.collectives[number].clone();
        let (call, request) = match one.persistent {
            Some(at) => {
                let start = self.random.pick(&["MPI_Start", "MPI_Startall"]);
                (start.to_owned(), self.persistent[at].numbers[member])
            }
            None if one.call == "Comm_idup" => ("MPI_Comm_idup".to_owned(), self.number()),
            None => (format!("MPI_I{}", one.call.to_lowercase()), self.number()),
        };
        self.pass(rank, 2);
        self.enter(rank, thread, &call);
        self.inside(rank, thread);
        self.pass(rank, 0);
        self.step(rank, thread, Step::NonBlockingRequest(request));
        self.collectives[number].requested[member] = Some(self.processes[rank].now);
        if self.random.chance(10) && self.collectives[number].is_completable(member) {
            self.complete_collective(rank, thread, request, (number, member));
        } else {
            let state = State::Collective(number, member);
            self.processes[rank].requests.push(SimulatedRequest { number: request, state, persistent: None });
        }
        self.leave(rank, thread);
    }

    pub(super) fn is_collective_completable(&self, number: usize, member: usize) -> bool {
        self.collectives[number].is_completable(member)
    }

    /// Completes a member's part; sometimes it completes unseen.
    pub(super) fn complete_collective(
        &mut self,
        rank: usize,
        thread: usize,
        request: u64,
        (number, member): (usize, usize),
    ) {
        let one = self.collectives[number].clone();
        if self.random.chance(self.forgets) {
            return;
        }
        if one.call == "Barrier" || self.random.chance(80) {
            self.wait_for(rank, one.latest());
        }
        if self.random.chance(30) {
            // Until another member does something else.
            let other = self.random.pick(&one.members);
            let time = self.processes[other].now;
            self.wait_for(rank, time);
        }
        self.pass(rank, 0);
        let (sent, received) = self.sizes(one.call, member == one.root);
        let is_odd = self.random.chance(self.contradicts);
        let known = operation(&one.call.to_lowercase()).unwrap_or(CollectiveOp(17));
        self.step(
            rank,
            thread,
            Step::NonBlockingComplete {
                operation: if is_odd { CollectiveOp(11) } else { known },
                root: is_rooted(one.call).then_some(one.root as u32),
                sent,
                received,
                communicator: one.communicator,
                request,
            },
        );
        if let Some(at) = one.persistent {
            self.persistent[at].active -= 1;
        }
    }
}
