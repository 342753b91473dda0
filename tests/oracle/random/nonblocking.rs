//! Non-blocking and persistent collective operations.

use model::attributes::PERSISTENT_OPERATION;

use crate::support::trace::Step;

use super::group::Operation;
use super::{ProgramGenerator, SimulatedRequest, State};

/// A non-blocking collective operation under way.
#[derive(Clone, Debug)]
pub(super) struct SimulatedCollective {
    operation: Operation,
    /// Times of the requests so far, by member.
    requested: Vec<Option<u64>>,
    /// Index of the persistent operation that was started.
    persistent: Option<usize>,
}

/// A persistent collective operation.
#[derive(Clone, Debug)]
pub(super) struct PersistentCollective {
    operation: SimulatedCollective,
    /// Its number among those on the communicator.
    number: u64,
    /// Numbers of the requests, by member.
    numbers: Vec<u64>,
    /// Number of members that have not completed it.
    active: usize,
}

impl SimulatedCollective {
    /// Whether a member can complete it now: all have requested it, or it may need none of the others.
    fn is_completable(&self, member: usize) -> bool {
        let is_root = member == self.operation.root;
        self.requested.iter().all(Option::is_some)
            || match self.operation.call {
                "Bcast" | "Scatter" | "Scatterv" => is_root,
                "Gather" | "Gatherv" | "Reduce" => !is_root,
                "Alltoallv" | "Alltoallw" | "Comm_idup" => true,
                call => call.starts_with("Neighbor") || call.starts_with("File"),
            }
    }

    /// Time of the last request of those that a member needs.
    fn needed(&self, member: usize) -> u64 {
        let requests = self.requested.iter().enumerate();
        let needed = requests.filter(|&(other, _)| self.operation.needs(member, other));
        needed.filter_map(|(_, &time)| time).max().unwrap_or(0)
    }

    fn latest(&self) -> u64 {
        self.requested.iter().flatten().copied().max().unwrap_or(0)
    }
}

impl ProgramGenerator {
    /// All members of a communicator call the same operation, some of them later.
    pub(super) fn nonblocking(&mut self) {
        const CALLS: [&str; 26] = [
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
            "Comm_idup",
            "Comm_idup",
            "Comm_idup",
            "Comm_idup",
            "Comm_idup",
        ];
        let known: Vec<usize> =
            (0..self.persistent.len()).filter(|&at| self.persistent[at].active == 0).collect();
        let persistent = match known.is_empty() {
            false if self.random.chance(40) => Some(self.random.pick(&known)),
            _ => None,
        };
        let one = match persistent {
            Some(at) => self.persistent[at].operation.clone(),
            None => {
                let operation = self.operation(&CALLS);
                let is_persistent = operation.call != "Comm_idup" && self.random.chance(15);
                let requested = vec![None; operation.members.len()];
                let one = SimulatedCollective { operation, requested, persistent: None };
                if is_persistent { self.make_persistent(one) } else { one }
            }
        };
        let (communicator, members) = (one.operation.communicator.clone(), one.operation.members.clone());
        let mut started = vec![self.begin(one)];
        let number = started[0];
        // Where the recorder tells which operation it is, members may start several in different orders.
        if self.tells_persistent && communicator != "self" && self.collectives[number].persistent.is_some() {
            let is_other = |it: &PersistentCollective| {
                it.active == 0 && it.operation.operation.communicator == communicator
            };
            let other = self.persistent.iter().find(|it| is_other(it)).map(|it| it.operation.clone());
            started.extend(other.map(|other| self.begin(other)));
        }
        for (member, &rank) in members.iter().enumerate() {
            if self.random.chance(50) {
                started.reverse();
            }
            self.processes[rank].due.extend(started.iter().map(|&number| (number, member)));
            if self.random.chance(60) {
                self.request_due(rank);
            }
        }
        self.wait_for_each_other(&members, number);
    }

    /// All members start an operation, some of them later.
    pub(super) fn start_together(&mut self, operation: Operation) {
        let members = operation.members.clone();
        let requested = vec![None; members.len()];
        let number = self.begin(SimulatedCollective { operation, requested, persistent: None });
        for (member, &rank) in members.iter().enumerate() {
            self.processes[rank].due.push_back((number, member));
            if self.random.chance(60) {
                self.request_due(rank);
            }
        }
        self.wait_for_each_other(&members, number);
    }

    /// Often members wait for each other soon.
    fn wait_for_each_other(&mut self, members: &[usize], number: usize) {
        if self.random.chance(60) {
            members.iter().for_each(|&rank| self.request_due(rank));
            members.iter().for_each(|&rank| self.wait_soon(rank, number));
        }
    }

    /// Adds an operation that its members are going to start; returns its number.
    fn begin(&mut self, one: SimulatedCollective) -> usize {
        if let Some(at) = one.persistent {
            self.persistent[at].active = one.operation.members.len();
        }
        self.collectives.push(one);
        self.collectives.len() - 1
    }

    /// All members create a persistent request for an operation.
    fn make_persistent(&mut self, mut one: SimulatedCollective) -> SimulatedCollective {
        let mut numbers = Vec::new();
        for &rank in &one.operation.members {
            self.settle(rank);
            self.enter(rank, 0, &format!("MPI_{}_init", one.operation.call));
            self.leave(rank, 0);
            numbers.push(self.number());
        }
        let is_there =
            |it: &&PersistentCollective| it.operation.operation.communicator == one.operation.communicator;
        let number = self.persistent.iter().filter(is_there).count() as u64;
        one.persistent = Some(self.persistent.len());
        self.persistent.push(PersistentCollective { operation: one.clone(), number, numbers, active: 0 });
        one
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
    pub(super) fn caller(&mut self, rank: usize) -> usize {
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
            None if one.operation.call == "Comm_idup" || one.operation.file.is_some() => {
                (format!("MPI_{}", one.operation.call), self.number())
            }
            None => (format!("MPI_I{}", one.operation.call.to_lowercase()), self.number()),
        };
        self.pass(rank, 2);
        self.enter(rank, thread, &call);
        self.inside(rank, thread);
        self.pass(rank, 0);
        let start = Step::NonBlockingRequest(request);
        let start = match one.persistent.filter(|_| self.tells_persistent) {
            Some(at) => {
                let number = self.persistent[at].number;
                Step::WithAttributes(Box::new(start), vec![(PERSISTENT_OPERATION, number)])
            }
            None => self.of_transfer(&one.operation, true).unwrap_or(start),
        };
        self.step(rank, thread, start);
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
        if one.operation.call == "Barrier" || self.random.chance(80) {
            self.wait_for(rank, one.latest());
        } else if self.is_lawful {
            self.wait_for(rank, one.needed(member));
        }
        if self.random.chance(30) {
            // Until another member does something else.
            let other = self.random.pick(&one.operation.members);
            let time = self.processes[other].now;
            self.wait_for(rank, time);
        }
        self.pass(rank, 0);
        if let Some(done) = self.of_transfer(&one.operation, false) {
            return self.step(rank, thread, done);
        }
        let (operation, root, [sent, received]) = self.told(&one.operation, member);
        let communicator = one.operation.communicator.clone();
        let done = Step::NonBlockingComplete { operation, root, sent, received, communicator, request };
        self.step(rank, thread, one.operation.with_neighbors(member, done));
        if let Some(at) = one.persistent {
            self.persistent[at].active -= 1;
        }
    }
}
