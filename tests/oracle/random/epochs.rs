//! Epochs of groups: post, start, complete, wait.

use crate::support::trace::AtWindow;

use super::ProgramGenerator;
use super::neighbors;
use super::windows::Until;

/// Who accesses whom: targets by origin, as ranks of the window.
type Pairs = Vec<Vec<bool>>;

/// The calls that may wait for a post.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Blocked {
    Start,
    Access,
    Complete,
    Nowhere,
}

impl ProgramGenerator {
    /// Members of a window access each other in epochs. Sometimes one lacks its partner, or does not end.
    pub(super) fn epochs(&mut self, window: usize) {
        let was_synchronising = std::mem::replace(&mut self.windows[window].is_synchronising, true);
        let members = self.windows[window].members.clone();
        let density = self.random.pick(&[20, 50, 100]);
        let draw = |generator: &mut ProgramGenerator| generator.random.chance(density);
        let pairs: Pairs = members.iter().map(|_| members.iter().map(|_| draw(self)).collect()).collect();
        let mut posted = vec![None; members.len()];
        for target in self.shuffled(members.len()) {
            let origins = (0..members.len()).filter(|&origin| pairs[origin][target]).collect();
            posted[target] = self.post_window(window, target, origins);
            self.meanwhile();
        }
        let mut completed = vec![None; members.len()];
        let mut blocked = vec![Blocked::Nowhere; members.len()];
        for origin in self.shuffled(members.len()) {
            blocked[origin] = self.start_window(window, origin, &pairs[origin], &posted);
            self.meanwhile();
        }
        for origin in self.shuffled(members.len()) {
            let until = self.last_post(&pairs[origin], &posted, blocked[origin] == Blocked::Complete);
            completed[origin] = self.complete_window(window, origin, &pairs[origin], until);
        }
        for target in self.shuffled(members.len()) {
            let origins: Vec<bool> = pairs.iter().map(|targets| targets[target]).collect();
            let until = self.last_post(&origins, &completed, true);
            self.wait_window(window, target, &origins, until);
            self.meanwhile();
        }
        self.windows[window].is_synchronising = was_synchronising;
    }

    /// Whether a call with an empty group is left out: who keeps to the rules leaves out that which ends the epoch, too.
    fn leaves_out(&mut self, percent: usize) -> bool {
        self.random.chance(percent) || self.is_lawful
    }

    fn shuffled(&mut self, count: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..count).collect();
        for at in (1..count).rev() {
            all.swap(at, self.random.below(at + 1));
        }
        all
    }

    /// A set of ranks of a window as a group.
    fn window_group(&mut self, window: usize, ranks: &[usize]) -> String {
        let members = &self.windows[window].members;
        let processes = ranks.iter().map(|&rank| members[rank] as u64).collect();
        let at = neighbors::set(&mut self.communicators, processes) as usize - 2;
        self.communicators[at].0.clone()
    }

    fn synchronise(
        &mut self,
        window: usize,
        member: usize,
        call: &str,
        ranks: &[usize],
        until: Until,
    ) -> u64 {
        let rank = self.windows[window].members[member];
        let group = self.window_group(window, ranks);
        let thread = self.enter_alone(rank, call);
        let entered = self.processes[rank].now;
        self.wait_with(rank, (thread, window), AtWindow::GroupSync { group, level: 3 }, until);
        entered
    }

    /// Returns when a target has posted; rarely it forgets an origin, or everything.
    fn post_window(&mut self, window: usize, target: usize, mut origins: Vec<usize>) -> Option<u64> {
        if origins.is_empty() && self.leaves_out(70) || self.breaks() {
            return None;
        }
        if self.breaks() {
            origins.pop();
        }
        if self.random.chance(40) {
            let rank = self.windows[window].members[target];
            self.processes[rank].now += self.random.below(60) as u64;
        }
        Some(self.synchronise(window, target, "MPI_Win_post", &origins, None))
    }

    /// The time at which the last of some ranks has done something.
    fn last_post(&mut self, ranks: &[bool], times: &[Option<u64>], is_awaited: bool) -> Until {
        let times = ranks.iter().zip(times).filter(|(is_in, _)| **is_in).filter_map(|(_, time)| *time);
        times.max().filter(|_| is_awaited)
    }

    fn start_window(
        &mut self,
        window: usize,
        origin: usize,
        targets: &[bool],
        posted: &[Option<u64>],
    ) -> Blocked {
        let ranks: Vec<usize> = (0..targets.len()).filter(|&target| targets[target]).collect();
        if ranks.is_empty() && self.leaves_out(70) {
            return Blocked::Nowhere;
        }
        let blocked =
            self.random.pick(&[Blocked::Start, Blocked::Access, Blocked::Complete, Blocked::Nowhere]);
        let until = self.last_post(targets, posted, blocked == Blocked::Start);
        self.synchronise(window, origin, "MPI_Win_start", &ranks, until);
        let rank = self.windows[window].members[origin];
        for _ in 0..self.random.below(4) {
            // Now and then one that is not in the group.
            let target = match ranks.is_empty() || self.breaks() {
                true => self.random.below(targets.len()),
                false => self.random.pick(&ranks),
            };
            self.access(rank, window, target, posted[target].filter(|_| blocked == Blocked::Access));
        }
        blocked
    }

    /// Returns when an origin has completed its epoch, unless it does not.
    fn complete_window(
        &mut self,
        window: usize,
        origin: usize,
        targets: &[bool],
        until: Until,
    ) -> Option<u64> {
        let ranks: Vec<usize> = (0..targets.len()).filter(|&target| targets[target]).collect();
        if self.breaks() || ranks.is_empty() && self.leaves_out(50) {
            return None;
        }
        Some(self.synchronise(window, origin, "MPI_Win_complete", &ranks, until))
    }

    fn wait_window(&mut self, window: usize, target: usize, origins: &[bool], until: Until) {
        let ranks: Vec<usize> = (0..origins.len()).filter(|&origin| origins[origin]).collect();
        if self.breaks() || ranks.is_empty() && self.leaves_out(50) {
            return;
        }
        if self.random.chance(75) {
            self.synchronise(window, target, "MPI_Win_wait", &ranks, until);
            return;
        }
        let rank = self.windows[window].members[target];
        for _ in 0..self.random.below(3) {
            let group = self.window_group(window, &ranks);
            let thread = self.enter_alone(rank, "MPI_Win_test");
            self.wait_with(rank, (thread, window), AtWindow::GroupSync { group, level: 1 }, None);
        }
        self.synchronise(window, target, "MPI_Win_test", &ranks, until);
    }
}
