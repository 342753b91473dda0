//! End of random programs: finalization, or a deadlock of some processes.

use model::CollectiveOp;

use crate::support::trace::{Message, Step};

use super::{Arrived, ProgramGenerator, State};

impl ProgramGenerator {
    pub(super) fn end(&mut self) {
        let has_finalize = self.random.chance(90) || self.is_lawful;
        for rank in 0..self.processes.len() {
            if self.is_lawful || !self.random.chance(3) {
                self.request_due(rank);
            }
        }
        let hang = self.circle();
        for &rank in &hang {
            self.tidy(rank);
        }
        for (at, &rank) in hang.iter().enumerate() {
            self.send_in_vain(rank, hang[(at + 1) % hang.len()]);
        }
        self.is_hung = !hang.is_empty();
        for rank in (0..self.processes.len()).filter(|rank| !hang.contains(rank)) {
            self.wind_up(rank, has_finalize);
        }
        if self.is_lawful {
            self.leave_together();
            for rank in 0..self.processes.len() {
                self.leave_main(rank);
            }
        }
    }

    /// Some processes, in any order, that will wait for each other; mostly none.
    fn circle(&mut self) -> Vec<usize> {
        let mut ranks: Vec<usize> = (0..self.processes.len()).collect();
        if ranks.len() < 2 || !self.random.chance(20) || self.is_lawful {
            return Vec::new();
        }
        for at in (1..ranks.len()).rev() {
            ranks.swap(at, self.random.below(at + 1));
        }
        ranks.truncate(2 + self.random.below(ranks.len() - 1));
        ranks
    }

    /// Lets a process wait until another one receives a message, as its last call; now and then it may
    /// continue.
    fn send_in_vain(&mut self, rank: usize, to: usize) {
        let message =
            |peer: usize| Message { peer: peer as u32, tag: 9, bytes: 8, communicator: "world".into() };
        if self.random.chance(10) {
            self.post(rank, 0);
        }
        if self.random.chance(50) {
            let call = self.random.pick(&["MPI_Send", "MPI_Ssend"]);
            self.enter(rank, 0, call);
            self.inside(rank, 0);
            self.step(rank, 0, Step::Send(message(to)));
            let sent_at = self.processes[rank].now;
            self.arrive(to, Arrived { message: message(rank), sent_at, sender: None });
        } else {
            let number = self.number();
            self.enter(rank, 0, "MPI_Issend");
            self.isend(rank, 0, number, (to, message(to), message(rank)), None);
            self.leave(rank, 0);
            let call = self.random.pick(&["MPI_Wait", "MPI_Waitany", "MPI_Waitall", "MPI_Waitsome"]);
            self.enter(rank, 0, call);
        }
        self.inside(rank, 0);
        if self.random.chance(10) {
            self.leave(rank, 0);
        }
    }

    /// Receives and completes what is left, most of the time.
    fn tidy(&mut self, rank: usize) {
        self.settle(rank);
        if self.processes[rank].is_off {
            self.switch_recorder(rank);
        }
        while self.processes[rank].arrived.len() > if self.is_lawful { 0 } else { self.random.below(40) / 39 }
        {
            self.open_receive(rank, 0);
            self.settle(rank);
        }
        while !self.processes[rank].claimed.is_empty() {
            self.receive_claimed(rank, 0);
        }
        while self.is_completable(rank)
            && (self.distinct.is_some() || self.is_lawful || !self.random.chance(2))
        {
            self.open_completion(rank, 0);
            self.settle(rank);
        }
        while self.processes[rank].requests.iter().any(|it| matches!(it.state, State::Posted(_))) {
            self.cancel(rank, 0);
        }
        if self.processes[rank].is_parallel {
            self.join(rank);
        }
    }

    /// Ends a process, which waits in MPI_Finalize for others if it keeps to the rules.
    fn wind_up(&mut self, rank: usize, has_finalize: bool) {
        self.tidy(rank);
        for thread in 0..self.processes[rank].threads.len() {
            while self.processes[rank].threads[thread].depth > 0 {
                self.leave_function(rank, thread);
            }
        }
        if has_finalize {
            self.enter(rank, 0, "MPI_Finalize");
            if self.distinct.is_none() && self.random.chance(50) {
                self.handles_of_mpi(rank, CollectiveOp(18));
            }
            self.processes[rank].now += self.random.below(40) as u64;
            if self.is_lawful {
                return;
            }
            self.leave(rank, 0);
        }
        self.leave_main(rank);
    }

    fn leave_main(&mut self, rank: usize) {
        self.pass(rank, 2);
        self.step(rank, 0, Step::Leave);
    }
}
