//! Windows: their creation and release, fences, and accesses of any kind.

use model::CollectiveOp;

use crate::support::random::Random;
use crate::support::trace::{AtWindow, Members, Step};

use super::{ProgramGenerator, group};

/// A window under construction.
#[derive(Clone, Debug)]
pub(super) struct SimulatedWindow {
    pub(super) name: String,
    pub(super) communicator: String,
    pub(super) members: Vec<usize>,
    /// Whether its members are in epochs of groups, so that further ones would be of the same kind; if they keep to the rules, in
    /// epochs of any kind.
    pub(super) is_synchronising: bool,
    /// Releases of locks so far: origin, target, whether it was exclusive, end of the call.
    pub(super) released: Vec<(usize, usize, bool, u64)>,
}

/// Time at which a call may go on at the earliest, as far as the process knows of others.
pub(super) type Until = Option<u64>;

/// Draws windows, often several of one communicator.
pub(super) fn windows(
    random: &mut Random,
    communicators: &[(String, Members)],
    ranks: usize,
) -> Vec<SimulatedWindow> {
    let mut all = Vec::new();
    for number in 0..1 + random.below(3) {
        let together = group::communicator(random, communicators, ranks, 10);
        let (communicator, members) = together.unwrap_or_else(|| ("self".into(), vec![random.below(ranks)]));
        all.push(SimulatedWindow {
            name: format!("window{number}"),
            communicator,
            members,
            is_synchronising: false,
            released: Vec::new(),
        });
    }
    all
}

/// Accesses, with what they put and get.
const ACCESSES: [(&str, bool, bool); 10] = [
    ("MPI_Put", true, false),
    ("MPI_Rput", true, false),
    ("MPI_Get", false, true),
    ("MPI_Rget", false, true),
    ("MPI_Accumulate", true, false),
    ("MPI_Raccumulate", true, false),
    ("MPI_Get_accumulate", true, true),
    ("MPI_Rget_accumulate", true, true),
    ("MPI_Fetch_and_op", true, true),
    ("MPI_Compare_and_swap", true, true),
];

impl ProgramGenerator {
    /// Something at a window.
    pub(super) fn at_window(&mut self) {
        let window = self.random.below(self.windows.len());
        if self.is_lawful && self.windows[window].is_synchronising {
            return;
        }
        match self.random.below(20) {
            0 => self.together(window, "MPI_Win_create", CollectiveOp(17)),
            1 => self.together(window, "MPI_Win_allocate", CollectiveOp(21)),
            2 => self.together(window, "MPI_Win_free", self::free(window)),
            3..=5 => self.fence(window),
            6 => self.access_between_fences(window),
            7..=11 if !self.windows[window].is_synchronising || self.breaks() => self.epochs(window),
            12 if self.breaks() => self.end_without_begin(window),
            _ => self.locks(window),
        }
    }

    /// Whether something goes against the rules.
    pub(super) fn breaks(&mut self) -> bool {
        self.random.chance(self.breaks)
    }

    /// Sometimes the program does something else in between.
    pub(super) fn meanwhile(&mut self) {
        if self.nesting < 2 && self.random.chance(25) {
            self.nesting += 1;
            self.something();
            self.nesting -= 1;
        }
    }

    /// A process that is in no call enters one.
    pub(super) fn enter_alone(&mut self, rank: usize, call: &str) -> usize {
        self.settle(rank);
        let thread = self.caller(rank);
        self.pass(rank, 1);
        self.enter(rank, thread, call);
        if self.random.chance(20) {
            self.inside(rank, thread);
        }
        thread
    }

    pub(super) fn window_step(&mut self, rank: usize, thread: usize, window: usize, what: AtWindow) {
        let name = self.windows[window].name.clone();
        self.step(rank, thread, Step::Window(name, what));
    }

    /// An event in a call that waits until some time at the earliest, before that or after it.
    pub(super) fn wait_with(
        &mut self,
        rank: usize,
        (thread, window): (usize, usize),
        what: AtWindow,
        until: Until,
    ) {
        let is_before = self.random.chance(50);
        if is_before {
            self.window_step(rank, thread, window, what.clone());
        }
        if let Some(until) = until {
            self.wait_for(rank, until);
        }
        self.pass(rank, 0);
        if !is_before {
            self.window_step(rank, thread, window, what);
        }
        self.leave(rank, thread);
    }

    /// All members of a window call the same operation, but for those that have got lost.
    fn together(&mut self, window: usize, call: &str, operation: CollectiveOp) {
        let mut inside = Vec::new();
        for rank in self.windows[window].members.clone() {
            if self.breaks() {
                continue;
            }
            let thread = self.enter_alone(rank, call);
            self.pass(rank, 0);
            self.step(rank, thread, Step::WindowCollectiveBegin);
            inside.push((rank, thread));
            self.compute(rank);
        }
        let latest = inside.iter().map(|&(rank, _)| self.processes[rank].now).max().unwrap_or(0);
        for (rank, thread) in inside {
            if self.random.chance(70) {
                self.wait_for(rank, latest);
            }
            if operation == CollectiveOp(0) && self.random.chance(30) {
                self.window_step(rank, thread, window, AtWindow::Complete(0));
            }
            self.inside(rank, thread);
            self.pass(rank, 0);
            self.window_step(rank, thread, window, AtWindow::CollectiveEnd(operation));
            self.leave(rank, thread);
        }
    }

    fn fence(&mut self, window: usize) {
        if self.random.chance(60) {
            self.access_between_fences(window);
        }
        self.together(window, "MPI_Win_fence", CollectiveOp(0));
    }

    /// Some members access each other.
    fn access_between_fences(&mut self, window: usize) {
        for rank in self.windows[window].members.clone() {
            for _ in 0..self.random.below(3) {
                let target = self.random.below(self.windows[window].members.len());
                self.access(rank, window, target, None);
                self.meanwhile();
            }
        }
    }

    /// Now and then a process computes for long.
    fn compute(&mut self, rank: usize) {
        if self.random.chance(15) {
            self.processes[rank].now += self.random.below(120) as u64;
        }
    }

    /// A process accesses the memory of a rank of the window.
    pub(super) fn access(&mut self, rank: usize, window: usize, target: usize, until: Until) {
        let (call, puts, gets) = self.random.pick(&ACCESSES);
        let bytes = self.random.pick(&[4, 8, 8, 800]);
        let members = self.windows[window].members.len();
        let target = (if self.breaks() { members + target } else { target }) as u32;
        let what = match (puts, gets) {
            (true, true) => AtWindow::Atomic { target, sent: bytes, received: bytes / 2 },
            _ if call.ends_with("ccumulate") => AtWindow::Atomic { target, sent: bytes, received: 0 },
            (true, false) => AtWindow::Put { target, bytes },
            _ => AtWindow::Get { target, bytes },
        };
        let thread = self.enter_alone(rank, call);
        self.wait_with(rank, (thread, window), what, until);
        if call.starts_with("MPI_R") && self.random.chance(70) {
            self.complete_access(rank, window);
        }
    }

    /// Completes an access by its request, sometimes with other operations.
    fn complete_access(&mut self, rank: usize, window: usize) {
        let call = self.random.pick(&["MPI_Wait", "MPI_Waitall", "MPI_Test"]);
        let thread = self.enter_alone(rank, call);
        self.window_step(rank, thread, window, AtWindow::Complete(0));
        if self.random.chance(50) && call == "MPI_Waitall" {
            self.complete(rank, thread, call);
        }
        self.leave(rank, thread);
    }

    /// Ends an epoch that was not begun.
    fn end_without_begin(&mut self, window: usize) {
        let rank = self.random.pick(&self.windows[window].members.clone());
        let call = self.random.pick(&["MPI_Win_complete", "MPI_Win_wait", "MPI_Win_unlock"]);
        let thread = self.enter_alone(rank, call);
        let what = match call {
            "MPI_Win_unlock" => AtWindow::ReleaseLock { target: Some(0) },
            _ => AtWindow::GroupSync { group: "world".into(), level: 3 },
        };
        self.wait_with(rank, (thread, window), what, None);
    }
}

/// The operation that frees a window, with its memory or without.
fn free(window: usize) -> CollectiveOp {
    CollectiveOp(if window.is_multiple_of(2) { 18 } else { 22 })
}
