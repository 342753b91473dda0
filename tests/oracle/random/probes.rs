//! Probes, with and without records and attributes of what they have found.

use model::attributes::{PROBE_COMM, PROBE_SOURCE, PROBE_TAG};

use crate::support::trace::{Message, Step};

use super::{Open, ProgramGenerator, SimulatedRequest, State};

impl ProgramGenerator {
    /// Finds a message by a probe, or nothing, or receives a message that a probe has claimed.
    pub(super) fn probe(&mut self, rank: usize, thread: usize) {
        if !self.processes[rank].claimed.is_empty() && self.random.chance(50) {
            return self.receive_claimed(rank, thread);
        }
        match self.random.below(10) {
            0..=2 => self.probe_in_vain(rank, thread),
            3..=6 if !self.processes[rank].arrived.is_empty() => {
                let call = self.random.pick(&["MPI_Probe", "MPI_Probe", "MPI_Iprobe"]);
                self.enter(rank, thread, call);
                self.inside(rank, thread);
                self.go_on(rank, thread, Open::Probe);
            }
            _ => self.claim(rank, thread),
        }
    }

    /// Probes that find nothing, often several.
    fn probe_in_vain(&mut self, rank: usize, thread: usize) {
        let call = self.random.pick(&["MPI_Iprobe", "MPI_Improbe"]);
        for _ in 0..1 + self.random.below(3) {
            self.enter(rank, thread, call);
            self.pass(rank, 0);
            self.leave(rank, thread);
        }
    }

    /// A probe that has been entered finds a message, which stays in the queue.
    pub(super) fn find(&mut self, rank: usize, thread: usize) {
        let arrived = &self.processes[rank].arrived;
        let Some(at) = (!arrived.is_empty()).then(|| self.random.below(arrived.len())) else {
            return self.leave(rank, thread);
        };
        let found = self.processes[rank].arrived[at].clone();
        self.wait_for(rank, found.sent_at + 1);
        self.leave_probe(rank, thread, &found.message);
    }

    /// Leaves a probe that has found a message, and tells which, if the recorder does that.
    fn leave_probe(&mut self, rank: usize, thread: usize, found: &Message) {
        if !self.tells_probes {
            return self.leave(rank, thread);
        }
        let at = self.communicators.iter().position(|known| known.0 == found.communicator);
        let communicator = match at {
            Some(at) => at as u64 + 2,
            None => u64::from(found.communicator == "self"),
        };
        let told = vec![
            (PROBE_SOURCE, found.peer.into()),
            (PROBE_TAG, found.tag.into()),
            (PROBE_COMM, communicator),
        ];
        self.inside(rank, thread);
        self.pass(rank, 0);
        self.step(rank, thread, Step::WithAttributes(Box::new(Step::Leave), told));
    }

    /// Claims a message by a matched probe, which has a record, if the recorder writes those.
    fn claim(&mut self, rank: usize, thread: usize) {
        let pattern = self.pattern_of_arrived(rank);
        let Some(arrived) = pattern.and_then(|pattern| self.take(rank, &pattern)) else { return };
        let number = self.number();
        let call = self.random.pick(&["MPI_Mprobe", "MPI_Improbe"]);
        self.enter(rank, thread, call);
        self.wait_for(rank, arrived.sent_at + 1);
        self.pass(rank, 0);
        if !self.is_lawful && (!self.tells_probes || self.random.chance(20)) {
            self.step(rank, thread, Step::Probe(arrived.message.clone(), number));
            self.leave(rank, thread);
            self.processes[rank].claimed.push((number, arrived));
        } else {
            self.leave_probe(rank, thread, &arrived.message);
            // Its receive is one like any other then.
            self.receive_found(rank, thread, arrived);
        }
    }

    /// Receives a message that a matched probe without record has found, soon, as others of its channel would overtake it.
    fn receive_found(&mut self, rank: usize, thread: usize, arrived: super::Arrived) {
        if self.random.chance(50) {
            self.enter(rank, thread, "MPI_Mrecv");
            self.pass(rank, 0);
            self.step(rank, thread, Step::Recv(arrived.message));
        } else {
            let number = self.number();
            self.enter(rank, thread, "MPI_Imrecv");
            self.step(rank, thread, Step::IrecvRequest(number));
            let state = State::Received(arrived);
            self.processes[rank].requests.push(SimulatedRequest { number, state, persistent: None });
        }
        self.leave(rank, thread);
    }

    pub(super) fn receive_claimed(&mut self, rank: usize, thread: usize) {
        let at = self.random.below(self.processes[rank].claimed.len());
        let (message, arrived) = self.processes[rank].claimed.remove(at);
        if self.random.chance(50) {
            self.enter(rank, thread, "MPI_Mrecv");
            self.pass(rank, 0);
            self.step(rank, thread, Step::Mrecv { message, bytes: arrived.message.bytes });
        } else {
            let number = self.number();
            self.enter(rank, thread, "MPI_Imrecv");
            self.step(rank, thread, Step::ImrecvRequest { message, request: number });
            let state = State::Claimed(arrived);
            self.processes[rank].requests.push(SimulatedRequest { number, state, persistent: None });
        }
        self.leave(rank, thread);
    }
}
