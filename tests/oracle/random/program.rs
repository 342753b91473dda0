//! Main loop of random programs: choice of the next action, start, threads, functions, the recorder.

use model::CollectiveOp;

use crate::support::trace::{Message, Step};

use super::{Open, ProgramGenerator};

impl ProgramGenerator {
    pub(super) fn run(&mut self) {
        let has_init = self.random.chance(85) || self.distinct.is_some() || self.is_lawful;
        for rank in 0..self.processes.len() {
            self.step(rank, 0, Step::Enter("main".into()));
            if has_init || self.random.chance(50) {
                let init = self.random.pick(&["MPI_Init", "MPI_Init_thread"]);
                self.enter(rank, 0, init);
                if self.distinct.is_none() && self.random.chance(50) {
                    self.handles_of_mpi(rank, CollectiveOp(17));
                }
                self.processes[rank].now += self.random.below(40) as u64;
                if !self.is_lawful {
                    self.leave(rank, 0);
                }
            }
        }
        if self.is_lawful {
            self.leave_together();
        }
        for _ in 0..20 + self.random.below(150) {
            self.something();
        }
        self.end();
    }

    pub(super) fn something(&mut self) {
        let rank = self.random.below(self.processes.len());
        let thread = self.random.below(self.processes[rank].active());
        self.pass(rank, 2);
        if self.random.chance(self.switches_off) {
            return self.switch_recorder(rank);
        }
        if self.processes[rank].threads[thread].open.is_some() {
            return self.continue_call(rank, thread);
        }
        if !self.processes[rank].is_off {
            match self.random.below(20) {
                0 | 1 => return self.function(rank, thread),
                2 => return self.flush(rank, thread),
                3 if self.processes[rank].threads.len() > 1 => return self.fork_or_join(rank),
                _ => {}
            }
        }
        if !self.windows.is_empty() && self.random.chance(18) {
            return self.at_window();
        }
        if !self.files.is_empty() && self.random.chance(12) {
            return self.with_file();
        }
        if thread == 0 || self.processes[rank].is_multiple {
            if !self.processes[rank].due.is_empty() && self.random.chance(30) {
                return self.request_due(rank);
            }
            match self.random.below(if self.distinct.is_some() { 16 } else { 23 }) {
                0..=3 => self.send(rank, thread),
                4 | 5 => self.post(rank, thread),
                6 | 7 => self.open_receive(rank, thread),
                8 if self.distinct.is_some() => self.send(rank, thread),
                8 => self.probe(rank, thread),
                9 => self.sendrecv(rank, thread),
                10 => self.cancel(rank, thread),
                11..=13 => self.open_completion(rank, thread),
                14 => self.persistent(rank, thread),
                15 | 16 => self.collective(),
                17 => self.probe(rank, thread),
                18 => self.poll(rank, thread),
                _ => self.nonblocking(),
            }
        }
    }

    /// Advances the time of a process.
    pub(super) fn pass(&mut self, rank: usize, at_least: u64) {
        let longest = self.random.pick(&[1, 8, 30]);
        self.processes[rank].now += at_least + self.random.below(longest) as u64;
    }

    /// Makes a process not earlier than a time, if clocks agree.
    pub(super) fn wait_for(&mut self, rank: usize, time: u64) {
        if self.is_synchronous {
            self.processes[rank].now = self.processes[rank].now.max(time);
        }
    }

    /// Adds an event now, unless the recorder is off.
    pub(super) fn step(&mut self, rank: usize, thread: usize, step: Step) {
        let process = &mut self.processes[rank];
        if !process.is_off {
            process.threads[thread].stream.at(process.now, step);
        }
    }

    pub(super) fn enter(&mut self, rank: usize, thread: usize, region: &str) {
        self.pass(rank, 1);
        self.step(rank, thread, Step::Enter(region.into()));
    }

    /// Leaves a call, sometimes after other events in it.
    pub(super) fn leave(&mut self, rank: usize, thread: usize) {
        self.inside(rank, thread);
        self.pass(rank, 0);
        self.step(rank, thread, Step::Leave);
    }

    /// All processes leave a call, which none leaves before the last one has entered it.
    pub(super) fn leave_together(&mut self) {
        let latest = self.processes.iter().map(|process| process.now).max().unwrap_or(0);
        for rank in 0..self.processes.len() {
            self.wait_for(rank, latest);
            self.leave(rank, 0);
        }
    }

    /// Adds events that are recorded inside MPI calls now and then.
    pub(super) fn inside(&mut self, rank: usize, thread: usize) {
        match self.random.below(30) {
            0 => self.flush(rank, thread),
            1 => {
                let region = self.random.pick(&["callback", "MPI_Comm_rank"]);
                self.enter(rank, thread, region);
                self.pass(rank, 0);
                self.step(rank, thread, Step::Leave);
            }
            _ => {}
        }
    }

    fn flush(&mut self, rank: usize, thread: usize) {
        if self.is_lawful {
            return;
        }
        self.pass(rank, 0);
        let now = self.processes[rank].now;
        let mut events = self.processes[rank].threads[thread].stream.events.iter().rev();
        if events.any(|event| event.0 == now && matches!(event.1, Step::Flush { .. })) {
            return;
        }
        let until = now + self.random.below(12) as u64;
        self.step(rank, thread, Step::Flush { until });
        if self.random.chance(70) {
            self.pass(rank, 0);
        }
    }

    fn function(&mut self, rank: usize, thread: usize) {
        let it = &self.processes[rank].threads[thread];
        let is_open = it.depth > it.floor;
        if is_open && (it.depth > 3 || self.random.chance(50)) {
            self.leave_function(rank, thread);
        } else {
            let name = self.random.pick(&["f", "g"]);
            self.enter(rank, thread, name);
            self.processes[rank].threads[thread].depth += 1;
        }
    }

    pub(super) fn leave_function(&mut self, rank: usize, thread: usize) {
        self.pass(rank, 1);
        self.step(rank, thread, Step::Leave);
        self.processes[rank].threads[thread].depth -= 1;
    }

    /// Finishes the entered calls of all threads.
    pub(super) fn settle(&mut self, rank: usize) {
        for thread in 0..self.processes[rank].threads.len() {
            while self.processes[rank].threads[thread].open.is_some() {
                self.pass(rank, 2);
                self.continue_call(rank, thread);
            }
        }
    }

    fn fork_or_join(&mut self, rank: usize) {
        self.settle(rank);
        if self.processes[rank].is_parallel {
            return if self.random.chance(75) {
                self.barrier(rank, "!$omp barrier")
            } else {
                self.join(rank)
            };
        }
        for thread in 1..self.processes[rank].threads.len() {
            while self.processes[rank].threads[thread].depth > 0 {
                self.leave_function(rank, thread);
            }
        }
        self.pass(rank, 2);
        self.step(rank, 0, Step::Fork);
        for thread in 0..self.processes[rank].threads.len() {
            self.pass(rank, 2);
            self.step(rank, thread, Step::TeamBegin);
            self.enter(rank, thread, "!$omp parallel");
            let it = &mut self.processes[rank].threads[thread];
            it.floor = it.depth;
        }
        self.processes[rank].is_parallel = true;
        self.processes[rank].has_forked = true;
    }

    /// Lets the threads of a team wait for each other.
    fn barrier(&mut self, rank: usize, region: &str) {
        for thread in 0..self.processes[rank].threads.len() {
            self.pass(rank, 2);
            self.enter(rank, thread, region);
        }
        for thread in 0..self.processes[rank].threads.len() {
            self.pass(rank, 0);
            self.step(rank, thread, Step::Leave);
        }
    }

    pub(super) fn join(&mut self, rank: usize) {
        for thread in 0..self.processes[rank].threads.len() {
            while self.processes[rank].threads[thread].depth > self.processes[rank].threads[thread].floor {
                self.leave_function(rank, thread);
            }
        }
        if self.random.chance(50) {
            self.barrier(rank, "!$omp implicit barrier");
        }
        for thread in 0..self.processes[rank].threads.len() {
            self.pass(rank, 2);
            self.step(rank, thread, Step::Leave);
            self.step(rank, thread, Step::TeamEnd);
            self.processes[rank].threads[thread].floor = 0;
        }
        self.pass(rank, 2);
        self.step(rank, 0, Step::Join);
        self.processes[rank].is_parallel = false;
    }

    /// Switches the recorder off or on. Events in between are lost; sometimes there are none.
    pub(super) fn switch_recorder(&mut self, rank: usize) {
        self.settle(rank);
        if !self.processes[rank].is_off {
            self.pass(rank, 2);
            self.step(rank, 0, Step::Recording(false));
            self.processes[rank].is_off = true;
            if self.random.chance(60) {
                return;
            }
        }
        self.pass(rank, 5);
        self.processes[rank].is_off = false;
        self.step(rank, 0, Step::Recording(true));
    }

    /// Continues a call at once, or when it is the thread's turn. Always at once while the recorder is off.
    pub(super) fn go_on(&mut self, rank: usize, thread: usize, open: Open) {
        let is_off = self.processes[rank].is_off;
        self.processes[rank].threads[thread].open = Some(open);
        if is_off || self.random.chance(60) {
            self.continue_call(rank, thread);
        }
    }

    /// Draws a tag for this thread.
    pub(super) fn tag(&mut self, thread: usize) -> u32 {
        let tag = self.random.below(3);
        (if self.has_own_tags { 3 * thread + tag } else { tag }) as u32
    }

    pub(super) fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    /// Draws a message of a process: receiver, and the message from the perspective of both sides.
    pub(super) fn message(&mut self, rank: usize, thread: usize) -> (usize, Message, Message) {
        let (communicator, to, source, destination) = self.pair(rank);
        let (tag, mut bytes) = (self.tag(thread), self.random.pick(&[0, 8, 8, 100_000]));
        if let Some(is_rising) = self.distinct {
            let number = self.number();
            bytes = if is_rising { number } else { 1_000_000 - number };
        }
        let seen = |peer| Message { peer, tag, bytes, communicator: communicator.clone() };
        (to, seen(destination), seen(source))
    }
}
