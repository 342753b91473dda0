//! The agreement of all processes on the iterations that they record (structure 5).
//!
//! Processes exchange four numbers, of which each learns the largest, again and again, and all in the same order: first
//! which iteration each of them is in, then whether anyone has missed the first iteration that follows from that. An
//! exchange is started, and asked for its result at later calls. Nobody waits for one but in `MPI_Finalize`, where the
//! others come, too: who is there says that it ends, which ends the agreement of all.

use recording::journal::{IterationWindow, WindowScope};

/// Numbers of an exchange.
pub(crate) const NUMBERS: usize = 4;
pub(crate) type Numbers = [i64; NUMBERS];

/// Iterations between the one that a process is in and the first one to record, if all meet in each of them; and if not.
const AHEAD_TOGETHER: u64 = 2;
const AHEAD: u64 = 8;
/// The same if some process had passed that one, each time that happens.
const FURTHER_AHEAD: [u64; 3] = [8, 32, 128];
/// Maximum number of windows.
const MOST_WINDOWS: u32 = 8;
/// Maximum number of exchanges.
const MOST_EXCHANGES: u32 = 100;
/// Steps without the header after which a loop counts as ended, at least and as a multiple of those between two before.
const PATIENCE: u64 = 1024;
const PATIENCE_FACTOR: u64 = 4;

/// Exchanges of numbers with all other processes, one at a time: each learns the largest of each number.
pub(crate) trait Exchange {
    /// Starts one.
    fn begin(&mut self, mine: Numbers);
    /// Returns the result of the one that is under way, if it is known.
    fn test(&mut self) -> Option<Numbers>;
    /// Waits for the result of the one that is under way. Not unless the others come to their end, too.
    fn wait(&mut self) -> Option<Numbers>;
}

/// The subject of the next exchange, the same in all processes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// The iteration that each process is in: `[iteration, iterations ahead, 0, whether it ends]`.
    Proposing,
    /// Whether somebody has passed the first iteration to record: `[the iteration that it is in, 0, whether it has left
    /// the loop, whether it ends]`.
    Confirming,
    /// There is none.
    Over,
}

/// The part of this process in the agreement.
pub(crate) struct Plan<E> {
    pub(crate) exchange: E,
    /// How many iterations to record, and how many to skip.
    wanted: u64,
    skip: u64,
    stage: Stage,
    is_under_way: bool,
    exchanges: u32,
    /// How often some process has passed the iteration that was agreed on.
    misses: usize,
    agreed: u32,
    is_ending: bool,
    /// The first iteration behind those that are recorded before there is an agreement.
    begin_until: Option<u64>,
    is_begin_over: bool,
    followed: Option<Followed>,
    /// All windows; of the last one it is not certain that all processes record it, unless it has a scope.
    windows: Vec<IterationWindow>,
    /// Whether the last window is still to come, or open.
    window: Window,
    has_changed: bool,
}

/// The loop of this process.
#[derive(Default)]
struct Followed {
    /// Call path of its header.
    header: u32,
    /// The last iteration that has begun.
    iteration: u64,
    /// Whether this process has told others of it, and whether they have agreed on a window of it.
    is_proposed: bool,
    is_settled: bool,
    /// Collective operations of all processes at the header before.
    meetings: Option<u64>,
    /// Most steps between two headers.
    longest: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Window {
    None,
    Ahead,
    Open,
}

impl<E: Exchange> Plan<E> {
    pub(crate) fn new(exchange: E, wanted: u64, skip: u64) -> Plan<E> {
        Plan {
            exchange,
            wanted,
            skip,
            stage: Stage::Proposing,
            is_under_way: false,
            exchanges: 0,
            misses: 0,
            agreed: 0,
            is_ending: false,
            begin_until: None,
            is_begin_over: false,
            followed: None,
            windows: Vec::new(),
            window: Window::None,
            has_changed: false,
        }
    }

    /// Whether this iteration is recorded.
    pub(crate) fn is_open(&self) -> bool {
        self.window == Window::Open
    }

    /// Whether the begin of the program has been recorded for long enough.
    pub(crate) fn is_begin_over(&self) -> bool {
        self.is_begin_over
    }

    pub(crate) fn windows(&self) -> &[IterationWindow] {
        &self.windows
    }

    /// Whether windows have changed since the last time.
    pub(crate) fn take_change(&mut self) -> bool {
        std::mem::take(&mut self.has_changed)
    }

    /// Notes that the process repeats another loop than before, which begins on that call path and has come to that
    /// iteration.
    pub(crate) fn follow(&mut self, header: u32, iteration: u64) {
        // No other loop is looked for while a window is open.
        self.window = Window::None;
        self.note_begun();
        self.followed = Some(Followed { header, iteration, ..Followed::default() });
    }

    /// Notes that an iteration of the loop begins: `steps` behind the one before, with so many collective operations of
    /// all processes before it.
    pub(crate) fn header(&mut self, iteration: u64, steps: u64, meetings: u64) {
        self.learn();
        self.open_or_close(iteration, meetings);
        let Some(followed) = &mut self.followed else { return };
        followed.longest = followed.longest.max(steps);
        followed.iteration = iteration;
        let before = followed.meetings.replace(meetings);
        let is_wanted = !followed.is_settled && !self.is_under_way && self.stage == Stage::Proposing;
        if let Some(before) = before.filter(|_| is_wanted) {
            followed.is_proposed = true;
            let ahead = if meetings > before { AHEAD_TOGETHER } else { AHEAD };
            self.begin([iteration as i64, ahead as i64, 0]);
        }
    }

    /// Asks for what the others say, so many steps behind the last header.
    pub(crate) fn poll(&mut self, steps: u64) {
        self.learn();
        let longest = self.followed.as_ref().map_or(0, |followed| followed.longest);
        if self.window == Window::Open && steps > PATIENCE.max(PATIENCE_FACTOR.saturating_mul(longest)) {
            self.close();
        }
    }

    /// Notes that the process leaves its loop for good.
    pub(crate) fn leave(&mut self) {
        self.close();
        self.note_begun();
    }

    /// Takes part in all exchanges that others may have started, at the end of MPI. All processes come here.
    pub(crate) fn end(&mut self) {
        self.is_ending = true;
        self.leave();
        while self.is_under_way || self.stage != Stage::Over {
            if !self.is_under_way {
                self.begin([0; NUMBERS - 1]);
            }
            match self.exchange.wait() {
                Some(numbers) => self.take(numbers),
                None => self.give_up(),
            }
        }
        self.note_begun();
    }

    /// Ends the agreement, as MPI does not work any more.
    fn give_up(&mut self) {
        self.is_under_way = false;
        self.cancel();
        self.stage = Stage::Over;
    }

    fn begin(&mut self, [iteration, ahead, has_left]: [i64; NUMBERS - 1]) {
        self.is_under_way = true;
        self.exchanges += 1;
        self.exchange.begin([iteration, ahead, has_left, self.is_ending.into()]);
    }

    fn learn(&mut self) {
        while self.is_under_way
            && let Some(numbers) = self.exchange.test()
        {
            self.take(numbers);
        }
    }

    /// Takes the result of an exchange. What follows from it for the next exchange depends on nothing else but earlier
    /// results, so that all processes do the same.
    fn take(&mut self, [iteration, ahead, has_left, ends]: Numbers) {
        self.is_under_way = false;
        let iteration = iteration.max(0) as u64;
        if ends > 0 || self.exchanges >= MOST_EXCHANGES {
            self.cancel();
            self.stage = Stage::Over;
        } else if self.stage == Stage::Proposing {
            let first = iteration + ahead.max(0) as u64;
            self.begin_until = Some(first);
            self.misses = 0;
            self.confirm(first.max(self.skip + 1));
        } else if has_left > 0 {
            self.cancel();
            self.unsettle();
        } else if iteration > 0 {
            self.cancel();
            match FURTHER_AHEAD.get(self.misses) {
                Some(further) => {
                    self.misses += 1;
                    self.confirm(iteration + further);
                }
                None => {
                    let passed = self.followed.as_ref().map_or(0, |followed| followed.iteration);
                    self.plan(passed + 1);
                    self.window = Window::Ahead;
                    self.settle(WindowScope::Local);
                }
            }
        } else {
            self.settle(WindowScope::Common);
        }
    }

    /// Plans a window, and asks whether all can record it.
    fn confirm(&mut self, first: u64) {
        self.stage = Stage::Confirming;
        let proposed = self.followed.as_ref().filter(|followed| followed.is_proposed);
        let has_left = proposed.is_none();
        let passed = proposed.map(|followed| followed.iteration).filter(|&iteration| iteration >= first);
        self.plan(first);
        let is_ahead = !has_left && passed.is_none() && !self.is_ending;
        self.window = if is_ahead { Window::Ahead } else { Window::None };
        self.has_changed = true;
        self.begin([passed.unwrap_or(0) as i64, 0, has_left.into()]);
    }

    /// Adds a window that begins with an iteration which is still to come.
    fn plan(&mut self, first: u64) {
        let header = self.followed.as_ref().map_or(0, |followed| followed.header);
        self.windows.push(IterationWindow {
            header,
            first,
            last: first - 1,
            is_open: false,
            is_whole: false,
            meetings: 0,
            begun: 0,
            scope: WindowScope::Asked,
        });
    }

    /// Notes that the last window is settled.
    fn settle(&mut self, scope: WindowScope) {
        if let Some(last) = self.windows.last_mut() {
            last.scope = scope;
        }
        self.has_changed = true;
        self.agreed += 1;
        if let Some(followed) = self.followed.as_mut().filter(|followed| followed.is_proposed) {
            followed.is_settled = true;
        }
        self.stage = if self.agreed >= MOST_WINDOWS { Stage::Over } else { Stage::Proposing };
    }

    /// Goes back to the first exchange: somebody repeats another loop by now.
    fn unsettle(&mut self) {
        self.stage = Stage::Proposing;
        if let Some(followed) = &mut self.followed {
            followed.is_proposed = false;
        }
    }

    /// Drops the last window, if it is not settled. It stays in the list if some of it has been recorded.
    fn cancel(&mut self) {
        let Some(last) = self.windows.last_mut().filter(|last| last.scope == WindowScope::Asked) else {
            return;
        };
        if self.window == Window::Open {
            last.is_open = false;
            last.last = self.followed.as_ref().map_or(0, |followed| followed.iteration);
        }
        last.scope = WindowScope::Cancelled;
        let has_any = last.last >= last.first;
        if !has_any {
            self.windows.pop();
        }
        self.window = Window::None;
        self.has_changed = true;
    }

    fn open_or_close(&mut self, iteration: u64, meetings: u64) {
        if self.begin_until.is_some_and(|until| iteration >= until) {
            self.is_begin_over = true;
        }
        let Some(last) = self.windows.last_mut() else { return };
        match self.window {
            Window::Ahead if iteration == last.first => {
                self.window = Window::Open;
                (last.is_open, last.meetings) = (true, meetings);
                self.has_changed = true;
            }
            Window::Open if iteration >= last.first + self.wanted => {
                (last.is_open, last.is_whole, last.last) = (false, true, iteration - 1);
                self.window = Window::None;
                self.has_changed = true;
            }
            _ => {}
        }
    }

    /// Notes how many iterations the loop of the last window has had, as it is left or at the end.
    fn note_begun(&mut self) {
        if let Some(followed) = self.followed.as_ref().filter(|followed| followed.is_settled)
            && let Some(last) = self.windows.last_mut()
        {
            last.begun = followed.iteration;
            self.has_changed = true;
        }
    }

    /// Closes the window, if it is open, before all of it is recorded.
    fn close(&mut self) {
        if self.window == Window::Open
            && let Some(last) = self.windows.last_mut()
        {
            last.is_open = false;
            last.last = self.followed.as_ref().map_or(0, |followed| followed.iteration);
            self.has_changed = true;
        }
        self.window = Window::None;
    }
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
