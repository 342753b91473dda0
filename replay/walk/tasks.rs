//! OpenMP tasks: each has a call stack of its own (specification 11.1).
//!
//! A thread that switches to a task suspends its current call stack. When the task is complete, the thread
//! resumes the call stack that it suspended last, even if the trace has no event for that: recorders write
//! the switch only when the thread leaves the region where it runs tasks, and until then the thread waits
//! there.
//!
//! The call paths of a task hang below the call path outside of tasks where its first thread was, such as a
//! barrier; not below other tasks, as recursive tasks would make more call paths than anyone can read. In the
//! reference they hang below the artificial root `TASKS`, and the time counts once more in a stub where the
//! task ran.

use model::Ticks;
use rustc_hash::FxHashMap;

use super::process::ProcessWalk;
use super::stack::{NONE, Stack};
use crate::call_tree::NO_SITE;
use crate::findings::Finding;
use crate::ids::PathId;
use crate::trace::Artificial;

/// The identification of a task: its team, the thread that created it, its number among the tasks of that
/// thread.
pub(super) type TaskName = (u32, u32, u32);

/// The number of implicit tasks: the work of a thread outside of explicit tasks.
const IMPLICIT: u32 = 0;

/// The tasks of a process that are not complete.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    known: FxHashMap<TaskName, Task>,
    /// The number of suspensions so far.
    suspensions: u64,
}

/// A task.
#[derive(Debug)]
struct Task {
    is_created: bool,
    /// Thread and time of the first event that names the task.
    thread: usize,
    heard: Ticks,
    /// The execution, once it has started. Many more tasks may be created than run at once.
    run: Option<Box<TaskRun>>,
}

/// A task that has started.
#[derive(Debug)]
struct TaskRun {
    /// The thread that runs it, or ran it last.
    thread: usize,
    /// The call path outside of tasks where the thread was when the task started.
    place: PathId,
    /// The first region that it entered.
    region: u32,
    /// The time that it ran before it was resumed last, and the time of that.
    ran: Ticks,
    since: Ticks,
    /// Its call stack while it does not run.
    suspended: Option<Suspended>,
}

/// A suspended call stack.
#[derive(Debug)]
pub(super) struct Suspended {
    stack: Stack,
    since: Ticks,
    /// The number of the suspension within the process.
    number: u64,
}

/// The task schedule of a thread; [`None`] as a task stands for the thread's implicit task.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    /// The task that it runs.
    task: Option<TaskName>,
    /// The call stack of the implicit task, while the thread runs an explicit one.
    own: Option<Suspended>,
    /// The suspended tasks and the numbers of the suspensions; some may have been resumed since.
    order: Vec<(Option<TaskName>, u64)>,
}

impl Schedule {
    /// Whether the thread runs an explicit task.
    pub(super) fn runs_task(&self) -> bool {
        self.task.is_some()
    }
}

impl ProcessWalk<'_> {
    /// Adds a task that a thread creates.
    pub(super) fn create_task(&mut self, thread: usize, name: TaskName, time: Ticks) {
        let task = Task { is_created: false, thread, heard: time, run: None };
        let task = self.tasks.known.entry(name).or_insert(task);
        if std::mem::replace(&mut task.is_created, true) {
            self.contradiction(thread, "creates", name, "which is there already");
        }
    }

    /// Switches a thread to a task.
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

    /// Completes a task.
    pub(super) fn complete_task(&mut self, thread: usize, name: TaskName, time: Ticks) {
        let Some(task) = self.tasks.known.get(&name) else {
            self.contradiction(thread, "completes", name, "which is not created, or is complete");
            return;
        };
        let Some(run) = &task.run else {
            // The task was cancelled.
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

    /// Ends the task that a thread runs; the thread resumes the task that it suspended last.
    fn end_task(&mut self, thread: usize, time: Ticks) {
        let name = self.threads[thread].schedule.task;
        let task = name.and_then(|name| self.tasks.known.remove(&name));
        if let Some(run) = task.and_then(|task| task.run) {
            self.threads[thread].account_innermost(time);
            let ticks = run.ran + (time - run.since).max(0);
            if self.trace.semantics.has_stubs() && run.region != NONE {
                let stub = self.tree.enter(run.place, run.region, NO_SITE);
                let row = self.threads[thread].severities.row(stub);
                self.classify(thread, row, stub);
                self.threads[thread].add_stub(row, ticks);
            }
        }
        let next = self.suspended_last(thread).flatten();
        self.resume(thread, next, time);
    }

    /// Returns the task that a thread suspended last, of those that are still suspended.
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

    /// Resumes or starts a task on a thread which has suspended or ended the previous one.
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
        self.classify_innermost(thread);
    }

    /// Returns the stack of a task that a thread resumes; a new one if the task starts.
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
        let run = TaskRun { thread, place, region: NONE, ran: 0, since: time, suspended: None };
        task.run = Some(Box::new(run));
        let base = match self.trace.semantics.has_stubs() {
            true => self.artificial_root(Artificial::Tasks),
            false => place,
        };
        let stack = self.threads[thread].stack_below(base);
        Some(Suspended { stack, since: time, number: 0 })
    }

    /// Notes the region that a thread enters outside of any region: if it runs a task, it may be the task's
    /// first.
    pub(super) fn enter_task(&mut self, thread: usize, region: u32) {
        let is_defined = (region as usize) < self.trace.kinds.len();
        let Some(name) = self.threads[thread].schedule.task.filter(|_| is_defined) else { return };
        if let Some(run) = self.tasks.known.get_mut(&name).and_then(|task| task.run.as_mut())
            && run.region == NONE
        {
            run.region = region;
        }
    }

    /// Resumes a suspended task of a thread at the end of its events; returns whether there was any. The
    /// current task never completes.
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

    /// Adds a finding for each task that was created and never started.
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
