//! Tasks of OpenMP: each has a call stack of its own (specification 11.1).
//!
//! A thread that switches to a task suspends what it was at. When the task is complete it goes on with what it suspended
//! last, whether the trace says so or not: recorders tell it only when the thread leaves the place where it runs tasks,
//! and until then it waits there.
//!
//! What a task does hangs below the place where its first thread was outside of tasks, such as a barrier; not below other
//! tasks, for recursive tasks would make more call paths than anyone can read. In the reference it hangs below the
//! artificial root `TASKS`, and its time counts once more in a stub where it ran.

use model::Ticks;
use rustc_hash::FxHashMap;

use super::process::ProcessWalk;
use super::stack::{NONE, Stack};
use crate::call_tree::{NO_SITE, PathId};
use crate::findings::Finding;
use crate::trace::Artificial;

/// What a task is called: its team, the thread that created it, its number among the tasks of that thread.
pub(super) type TaskName = (u32, u32, u32);

/// The number of implicit tasks: what a thread does by itself.
const IMPLICIT: u32 = 0;

/// The tasks of a process that are not complete.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    known: FxHashMap<TaskName, Task>,
    /// How often a thread suspended something.
    suspensions: u64,
}

/// A task.
#[derive(Debug)]
struct Task {
    is_created: bool,
    /// Where and when it was heard of first.
    thread: usize,
    heard: Ticks,
    /// What it did, once it has started. Many more may be created than run at once.
    run: Option<Box<Run>>,
}

/// A task that has started.
#[derive(Debug)]
struct Run {
    /// The thread that runs it, or did last.
    thread: usize,
    /// Where the thread was outside of tasks when it started.
    place: PathId,
    /// The region that it entered first.
    region: u32,
    /// How long it ran before it was resumed the last time, and when that was.
    ran: Ticks,
    since: Ticks,
    /// What it was at, while it does not run.
    suspended: Option<Suspended>,
}

/// A call stack that does not go on at the moment.
#[derive(Debug)]
pub(super) struct Suspended {
    stack: Stack,
    since: Ticks,
    /// Which suspension of the process it was.
    number: u64,
}

/// Which tasks a thread is at; [`None`] stands for what it does by itself.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    /// The task that it runs.
    task: Option<TaskName>,
    /// What it does by itself, while it runs a task.
    own: Option<Suspended>,
    /// What it suspended, by the numbers of the suspensions; some of it may have been resumed since.
    order: Vec<(Option<TaskName>, u64)>,
}

impl ProcessWalk<'_> {
    /// A thread creates a task.
    pub(super) fn create_task(&mut self, thread: usize, name: TaskName, time: Ticks) {
        let task = Task { is_created: false, thread, heard: time, run: None };
        let task = self.tasks.known.entry(name).or_insert(task);
        if std::mem::replace(&mut task.is_created, true) {
            self.contradiction(thread, "creates", name, "which is there already");
        }
    }

    /// A thread goes on with a task.
    pub(super) fn switch_task(&mut self, thread: usize, name: TaskName, time: Ticks) {
        let wanted = Some(name).filter(|&(.., number)| number != IMPLICIT);
        if wanted == self.threads[thread].schedule.task {
            return;
        }
        if let Some(name) = wanted {
            match self.tasks.known.get(&name).map(|task| &task.run) {
                Some(None) => {}
                Some(Some(run)) if run.suspended.is_some() => {}
                Some(Some(_)) => {
                    self.contradiction(thread, "switches to", name, "which another thread runs");
                    return;
                }
                None => {
                    self.contradiction(thread, "switches to", name, "which is not created, or is complete");
                    let task = Task { is_created: false, thread, heard: time, run: None };
                    self.tasks.known.insert(name, task);
                }
            }
        }
        self.suspend(thread, time);
        self.resume(thread, wanted, time);
    }

    /// A task is complete.
    pub(super) fn complete_task(&mut self, thread: usize, name: TaskName, time: Ticks) {
        let Some(task) = self.tasks.known.get(&name) else {
            self.contradiction(thread, "completes", name, "which is not created, or is complete");
            return;
        };
        let Some(run) = &task.run else {
            // It was cancelled.
            self.tasks.known.remove(&name);
            return;
        };
        if self.threads[thread].schedule.task != Some(name) {
            if run.suspended.is_none() {
                self.contradiction(thread, "completes", name, "which another thread runs");
                return;
            }
            self.suspend(thread, time);
            self.resume(thread, Some(name), time);
        }
        while let Some(frame) = self.threads[thread].stack.last() {
            let (region, trace) = (frame.region, self.trace);
            self.find(Finding::MissingLeave, thread, || {
                format!("completes a task inside {}", trace.region_name(region))
            });
            self.leave_innermost(thread, time);
        }
        self.end_task(thread, time);
    }

    /// The task that a thread runs is over; the thread goes on with what it suspended last.
    fn end_task(&mut self, thread: usize, time: Ticks) {
        let name = self.threads[thread].schedule.task;
        let task = name.and_then(|name| self.tasks.known.remove(&name));
        if let Some(run) = task.and_then(|task| task.run) {
            self.threads[thread].account_innermost(time);
            let ticks = run.ran + (time - run.since).max(0);
            if self.trace.semantics.has_stubs() && run.region != NONE {
                let stub = self.tree.enter(run.place, run.region, NO_SITE);
                self.threads[thread].add_stub(stub, ticks);
            }
        }
        let next = self.suspended_last(thread).flatten();
        self.resume(thread, next, time);
    }

    /// What a thread suspended last, of what is still suspended.
    fn suspended_last(&mut self, thread: usize) -> Option<Option<TaskName>> {
        let (schedule, known) = (&mut self.threads[thread].schedule, &self.tasks.known);
        while let Some((task, number)) = schedule.order.pop() {
            let suspended = match task {
                Some(name) => known.get(&name).and_then(|task| task.run.as_ref()?.suspended.as_ref()),
                None => schedule.own.as_ref(),
            };
            if suspended.is_some_and(|it| it.number == number) {
                return Some(task);
            }
        }
        None
    }

    fn suspend(&mut self, thread: usize, time: Ticks) {
        let number = self.tasks.suspensions;
        self.tasks.suspensions += 1;
        let state = &mut self.threads[thread];
        state.account_innermost(time);
        let suspended = Suspended { stack: std::mem::take(&mut state.stack), since: time, number };
        let task = state.schedule.task;
        state.schedule.order.push((task, number));
        match task {
            None => state.schedule.own = Some(suspended),
            Some(name) => {
                if let Some(run) = self.tasks.known.get_mut(&name).and_then(|task| task.run.as_mut()) {
                    run.ran += (time - run.since).max(0);
                    run.suspended = Some(suspended);
                }
            }
        }
    }

    /// A thread that suspended what it was at, or is done with it, goes on with a task or starts it.
    fn resume(&mut self, thread: usize, task: Option<TaskName>, time: Ticks) {
        let suspended = match task {
            None => self.threads[thread].schedule.own.take(),
            Some(name) => self.suspended_task(thread, name, time),
        };
        let Some(Suspended { stack, since, .. }) = suspended else { return };
        if let Some(frame) = stack.last()
            && let Some(visit) = self.operations.barriers.get_mut(frame.barrier as usize)
        {
            visit.tasks = visit.tasks.saturating_add((time - since).max(0));
        }
        let state = &mut self.threads[thread];
        state.schedule.task = task;
        state.stack = stack;
        state.settle(time);
        state.skip(time);
    }

    /// The stack of a task that a thread will go on with; at its first time a new one.
    fn suspended_task(&mut self, thread: usize, name: TaskName, time: Ticks) -> Option<Suspended> {
        let place = match &self.threads[thread].schedule.own {
            Some(own) => own.stack.path(),
            None => self.threads[thread].stack.path(),
        };
        let task = self.tasks.known.get_mut(&name)?;
        if let Some(run) = &mut task.run {
            let mut suspended = run.suspended.take()?;
            if run.thread != thread {
                self.threads[thread].adopt(&mut suspended.stack);
            }
            (run.thread, run.since) = (thread, time);
            return Some(suspended);
        }
        let run = Run { thread, place, region: NONE, ran: 0, since: time, suspended: None };
        task.run = Some(Box::new(run));
        let base = match self.trace.semantics.has_stubs() {
            true => self.artificial_root(Artificial::Tasks),
            false => place,
        };
        let stack = self.threads[thread].stack_below(base);
        Some(Suspended { stack, since: time, number: 0 })
    }

    /// A thread that is in no region enters one: if it runs a task, this may be the first one of the task.
    pub(super) fn enter_task(&mut self, thread: usize, region: u32) {
        let is_defined = (region as usize) < self.trace.kinds.len();
        let Some(name) = self.threads[thread].schedule.task.filter(|_| is_defined) else { return };
        if let Some(run) = self.tasks.known.get_mut(&name).and_then(|task| task.run.as_mut())
            && run.region == NONE
        {
            run.region = region;
        }
    }

    /// Goes on with something that a thread has suspended, at its end; answers whether there was anything. The task that
    /// it was at never completes.
    pub(super) fn go_on_at_end(&mut self, thread: usize) -> bool {
        let now = self.threads[thread].now;
        if let Some(name) = self.threads[thread].schedule.task {
            self.incomplete(name);
            self.tasks.known.remove(&name);
        }
        let Some(next) = self.suspended_last(thread) else { return false };
        self.resume(thread, next, now);
        true
    }

    /// Counts the tasks that were created and never started.
    pub(super) fn drop_tasks(&mut self) {
        let names: Vec<TaskName> = self.tasks.known.keys().copied().collect();
        names.into_iter().for_each(|name| self.incomplete(name));
    }

    fn incomplete(&mut self, name: TaskName) {
        let Some(&Task { thread, heard, .. }) = self.tasks.known.get(&name) else { return };
        let location = self.location(thread);
        self.findings.add(Finding::OpenTask, heard, location, || words(name));
    }

    fn contradiction(&mut self, thread: usize, does: &str, name: TaskName, what: &str) {
        self.find(Finding::TaskOrder, thread, || format!("{does} {}, {what}", words(name)));
    }
}

fn words((team, creator, number): TaskName) -> String {
    format!("task {number} of thread {creator} in team {team}")
}
