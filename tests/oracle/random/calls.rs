//! Calls that send, receive and complete messages.

use crate::support::trace::{Message, Step};

use super::{Arrived, Open, Persistent, ProgramGenerator, ReceivePattern, SimulatedRequest, State};

impl ProgramGenerator {
    /// A message arrives: the first receive that matches takes it.
    pub(super) fn arrive(&mut self, to: usize, arrived: Arrived) {
        let process = &mut self.processes[to];
        let takes =
            |it: &&mut SimulatedRequest| matches!(&it.state, State::Posted(p) if p.takes(&arrived.message));
        match process.requests.iter_mut().find(takes) {
            Some(request) => request.state = State::Received(arrived),
            None => process.arrived.push(arrived),
        }
    }

    /// Takes the first arrived message that matches a receive, if any.
    pub(super) fn take(&mut self, rank: usize, pattern: &ReceivePattern) -> Option<Arrived> {
        let arrived = &mut self.processes[rank].arrived;
        let at = arrived.iter().position(|it| pattern.takes(&it.message))?;
        Some(arrived.remove(at))
    }

    /// The envelope of an arrived message, possibly with wildcards.
    pub(super) fn pattern_of_arrived(&mut self, rank: usize) -> Option<ReceivePattern> {
        let arrived = &self.processes[rank].arrived;
        if arrived.is_empty() {
            return None;
        }
        let message = arrived[self.random.below(arrived.len())].message.clone();
        Some(ReceivePattern {
            communicator: message.communicator.clone(),
            source: self.or_any(message.peer),
            tag: self.or_any(message.tag),
        })
    }

    /// An envelope of a message that may arrive later.
    fn pattern(&mut self, rank: usize, thread: usize) -> ReceivePattern {
        let (communicator, _, _, source) = self.pair(rank);
        let tag = self.tag(thread);
        ReceivePattern { communicator, source: self.or_any(source), tag: self.or_any(tag) }
    }

    /// Replaces a source or tag by a wildcard at random.
    fn or_any(&mut self, number: u32) -> Option<u32> {
        let is_any = self.random.chance(30);
        self.has_wildcards |= is_any;
        (!is_any).then_some(number)
    }

    pub(super) fn send(&mut self, rank: usize, thread: usize) {
        let (to, sent, received) = self.message(rank, thread);
        if self.random.chance(50) {
            let mode = self.random.pick(&["MPI_Send", "MPI_Ssend", "MPI_Bsend", "MPI_Rsend"]);
            self.enter(rank, thread, mode);
            self.inside(rank, thread);
            self.pass(rank, 0);
            self.step(rank, thread, Step::Send(sent));
            self.arrive(to, Arrived { message: received, sent_at: self.processes[rank].now, sender: None });
            self.processes[rank].now += self.random.below(50) as u64;
            self.go_on(rank, thread, Open::Leave);
        } else {
            let number = self.number();
            let call = self.random.pick(&["MPI_Isend", "MPI_Issend", "MPI_Ibsend"]);
            self.enter(rank, thread, call);
            self.isend(rank, thread, number, (to, sent, received), None);
            self.leave(rank, thread);
        }
    }

    pub(super) fn isend(
        &mut self,
        rank: usize,
        thread: usize,
        number: u64,
        (to, sent, received): (usize, Message, Message),
        persistent: Option<Persistent>,
    ) {
        self.pass(rank, 0);
        self.step(rank, thread, Step::Isend(sent, number));
        let sender = Some((rank, number));
        self.processes[rank].requests.push(SimulatedRequest { number, state: State::Sends, persistent });
        self.arrive(to, Arrived { message: received, sent_at: self.processes[rank].now, sender });
    }

    pub(super) fn irecv(
        &mut self,
        rank: usize,
        thread: usize,
        number: u64,
        pattern: ReceivePattern,
        persistent: Option<Persistent>,
    ) {
        self.pass(rank, 0);
        self.step(rank, thread, Step::IrecvRequest(number));
        let state = self.take(rank, &pattern).map_or(State::Posted(pattern), State::Received);
        self.processes[rank].requests.push(SimulatedRequest { number, state, persistent });
    }

    pub(super) fn post(&mut self, rank: usize, thread: usize) {
        let pattern = match self.pattern_of_arrived(rank) {
            Some(pattern) if self.random.chance(50) => pattern,
            _ => self.pattern(rank, thread),
        };
        let number = self.number();
        self.enter(rank, thread, "MPI_Irecv");
        self.irecv(rank, thread, number, pattern, None);
        self.leave(rank, thread);
    }

    /// Creates or starts persistent requests.
    pub(super) fn persistent(&mut self, rank: usize, thread: usize) {
        if self.processes[rank].inactive.is_empty() || self.random.chance(20) {
            let number = self.number();
            let (name, what) = if self.random.chance(50) {
                let (to, sent, received) = self.message(rank, thread);
                ("MPI_Send_init", Persistent::Send { to, sent, received })
            } else {
                ("MPI_Recv_init", Persistent::Receive(self.pattern(rank, thread)))
            };
            self.enter(rank, thread, name);
            self.leave(rank, thread);
            self.processes[rank].inactive.push((number, what));
        }
        let count = 1 + self.random.below(self.processes[rank].inactive.len());
        let started: Vec<_> = self.processes[rank].inactive.drain(..count).collect();
        self.enter(rank, thread, if count > 1 { "MPI_Startall" } else { "MPI_Start" });
        for (number, what) in started {
            match what.clone() {
                Persistent::Send { to, sent, received } => {
                    self.isend(rank, thread, number, (to, sent, received), Some(what));
                }
                Persistent::Receive(pattern) => self.irecv(rank, thread, number, pattern, Some(what)),
            }
        }
        self.leave(rank, thread);
    }

    pub(super) fn open_receive(&mut self, rank: usize, thread: usize) {
        if !self.processes[rank].arrived.is_empty() {
            self.enter(rank, thread, "MPI_Recv");
            self.inside(rank, thread);
            self.go_on(rank, thread, Open::Receive);
        }
    }

    /// Receives an arrived message, unless other receives have taken all of them meanwhile.
    fn receive(&mut self, rank: usize, thread: usize) {
        let pattern = self.pattern_of_arrived(rank);
        let Some(arrived) = pattern.and_then(|pattern| self.take(rank, &pattern)) else { return };
        self.wait_for(rank, arrived.sent_at + 1);
        self.pass(rank, 0);
        self.step(rank, thread, Step::Recv(arrived.message));
    }

    pub(super) fn sendrecv(&mut self, rank: usize, thread: usize) {
        let (to, sent, received) = self.message(rank, thread);
        let call = self.random.pick(&["MPI_Sendrecv", "MPI_Sendrecv_replace"]);
        self.enter(rank, thread, call);
        self.pass(rank, 0);
        self.step(rank, thread, Step::Send(sent));
        self.arrive(to, Arrived { message: received, sent_at: self.processes[rank].now, sender: None });
        self.receive(rank, thread);
        self.leave(rank, thread);
    }

    /// Cancels a receive without message, or a send that has not been received.
    pub(super) fn cancel(&mut self, rank: usize, thread: usize) {
        let candidates: Vec<usize> =
            (0..self.processes[rank].requests.len()).filter(|&at| self.is_cancellable(rank, at)).collect();
        if candidates.is_empty() {
            return;
        }
        let at = candidates[self.random.below(candidates.len())];
        let request = self.processes[rank].requests.remove(at);
        for process in &mut self.processes {
            process.arrived.retain(|it| it.sender != Some((rank, request.number)));
        }
        self.enter(rank, thread, "MPI_Cancel");
        self.leave(rank, thread);
        let call = self.random.pick(&["MPI_Wait", "MPI_Waitall", "MPI_Test"]);
        self.enter(rank, thread, call);
        self.step(rank, thread, Step::Cancel(request.number));
        self.leave(rank, thread);
        self.put_away(rank, request);
    }

    fn is_cancellable(&self, rank: usize, at: usize) -> bool {
        let request = &self.processes[rank].requests[at];
        let of_request = |it: &Arrived| it.sender == Some((rank, request.number));
        match request.state {
            State::Posted(_) => true,
            // What a probe has found must not be cancelled.
            State::Sends if self.is_lawful => false,
            State::Sends => self.processes.iter().any(|process| process.arrived.iter().any(of_request)),
            State::Received(_) | State::Claimed(_) | State::Collective(..) => false,
        }
    }

    /// Makes a persistent request inactive, so that it can be started again.
    fn put_away(&mut self, rank: usize, request: SimulatedRequest) {
        if let Some(persistent) = request.persistent {
            // A send that was received late must not be confused with the next one.
            let is_pending = |it: &Arrived| it.sender == Some((rank, request.number));
            for process in &mut self.processes {
                process.arrived.iter_mut().filter(|it| is_pending(it)).for_each(|it| it.sender = None);
            }
            self.processes[rank].inactive.push((request.number, persistent));
        }
    }

    /// The requests that may complete now.
    fn completable(&self, rank: usize) -> Vec<u64> {
        let is_complete = |it: &&SimulatedRequest| match it.state {
            State::Posted(_) => false,
            State::Collective(number, member) => self.is_collective_completable(number, member),
            _ => true,
        };
        self.processes[rank].requests.iter().filter(is_complete).map(|it| it.number).collect()
    }

    pub(super) fn is_completable(&self, rank: usize) -> bool {
        !self.completable(rank).is_empty()
    }

    pub(super) fn open_completion(&mut self, rank: usize, thread: usize) {
        if self.processes[rank].requests.is_empty() {
            return;
        }
        let call = self.random.pick(&[
            "MPI_Wait",
            "MPI_Waitany",
            "MPI_Waitall",
            "MPI_Waitall",
            "MPI_Waitsome",
            "MPI_Test",
            "MPI_Testany",
            "MPI_Testall",
            "MPI_Testsome",
        ]);
        self.enter(rank, thread, call);
        self.go_on(rank, thread, Open::Complete(call));
    }

    /// Records the requests that a test finds incomplete, if the recorder does that.
    fn test_in_vain(&mut self, rank: usize, thread: usize, call: &str) {
        let mut under_way: Vec<u64> = self.processes[rank].requests.iter().map(|it| it.number).collect();
        let is_one = matches!(call, "MPI_Test");
        let count = if is_one { 1 } else { 1 + self.random.below(3) };
        for _ in 0..if self.tells_tests { count.min(under_way.len()) } else { 0 } {
            let at = self.random.below(under_way.len());
            self.step(rank, thread, Step::Test(under_way.swap_remove(at)));
        }
        self.pass(rank, 0);
    }

    /// Tests some times, and goes on with the same call until something completes.
    pub(super) fn poll(&mut self, rank: usize, thread: usize) {
        let call = self.random.pick(&["MPI_Test", "MPI_Test", "MPI_Testany", "MPI_Testall", "MPI_Testsome"]);
        for _ in 0..1 + self.random.below(4) {
            self.enter(rank, thread, call);
            self.pass(rank, 0);
            self.test_in_vain(rank, thread, call);
            self.leave(rank, thread);
        }
        if self.random.chance(70) {
            self.enter(rank, thread, call);
            self.go_on(rank, thread, Open::Complete(call));
        }
    }

    /// Completes some requests in any order. Tests record those that they found incomplete.
    pub(super) fn complete(&mut self, rank: usize, thread: usize, call: &str) {
        let mut now = self.completable(rank);
        for at in (1..now.len()).rev() {
            now.swap(at, self.random.below(at + 1));
        }
        let is_multiple = call.ends_with("all") || call.ends_with("some");
        let count = if is_multiple { 1 + self.random.below(now.len().max(1)) } else { 1 };
        now.truncate(count);
        if call.starts_with("MPI_Test") && (now.is_empty() || self.random.chance(50)) {
            now.clear();
            self.test_in_vain(rank, thread, call);
        }
        for number in now {
            self.inside(rank, thread);
            let all = &mut self.processes[rank].requests;
            let Some(at) = all.iter().position(|it| it.number == number) else { continue };
            let request = all.remove(at);
            let step = match &request.state {
                State::Sends => Step::IsendComplete(number),
                State::Received(arrived) => {
                    self.wait_for(rank, arrived.sent_at + 1);
                    Step::Irecv(arrived.message.clone(), number)
                }
                State::Claimed(arrived) => Step::Imrecv { request: number, bytes: arrived.message.bytes },
                &State::Collective(at, member) => {
                    self.complete_collective(rank, thread, number, (at, member));
                    continue;
                }
                State::Posted(_) => continue,
            };
            self.pass(rank, 0);
            self.step(rank, thread, step);
            self.put_away(rank, request);
        }
    }

    /// Writes the rest of an entered call.
    pub(super) fn continue_call(&mut self, rank: usize, thread: usize) {
        match self.processes[rank].threads[thread].open.take() {
            Some(Open::Receive) => self.receive(rank, thread),
            Some(Open::Probe) => return self.find(rank, thread),
            Some(Open::Complete(call)) => self.complete(rank, thread, call),
            Some(Open::Leave) | None => {}
        }
        self.leave(rank, thread);
    }
}
