//! Tasks (specification 11.1). They stay on one thread, and the trace always has the task with which a thread
//! continues.

use std::collections::BTreeMap;

use replay::Semantics;

use super::read::{OfTask, Reader, below};

/// The tasks of a thread. Its implicit task has the number 0.
#[derive(Default)]
pub(super) struct Tasks {
    /// The running task.
    current: (u32, u32),
    /// Suspended tasks, with open calls and time of suspension; the latest is last.
    suspended: Vec<((u32, u32), Vec<usize>, i64)>,
    /// All tasks that have started.
    begun: BTreeMap<(u32, u32), StartedTask>,
    /// Time since which the task runs.
    since: i64,
}

/// A task that has started.
struct StartedTask {
    /// Call path of its thread outside of tasks.
    place: String,
    region: Option<String>,
    /// Since when it has run, and how long.
    ran: Vec<(i64, i64)>,
}

impl Tasks {
    /// Whether the thread runs an explicit task.
    pub(super) fn runs(&self) -> bool {
        self.current.1 > 0
    }
}

impl Reader<'_> {
    pub(super) fn switch_task(&mut self, time: i64, creator: u32, number: u32) {
        let next = if number == 0 { (0, 0) } else { (creator, number) };
        if next == self.tasks.current {
            return;
        }
        self.book(time);
        self.stop(time);
        let stack = std::mem::take(&mut self.stack);
        self.tasks.suspended.push((self.tasks.current, stack, time));
        if number > 0 && !self.tasks.begun.contains_key(&next) {
            let (_, own, _) = self.tasks.suspended.iter().find(|it| it.0 == (0, 0)).unwrap();
            let place = own.last().map_or(self.root, |&call| &self.location.calls[call].path).to_owned();
            self.tasks.begun.insert(next, StartedTask { place, region: None, ran: Vec::new() });
        }
        self.go_on(time, next);
    }

    pub(super) fn complete_task(&mut self, time: i64) {
        self.book(time);
        self.stop(time);
        let task = &self.tasks.begun[&self.tasks.current];
        if let (Semantics::Reference, Some(region)) = (self.semantics, &task.region) {
            let path = below(&task.place, region);
            let ran = task.ran.iter().map(|&(begin, ticks)| (begin, ticks, 0)).chain([(time, 0, 1)]);
            let ran = ran.map(|(begin, ticks, visits)| OfTask { path: path.clone(), begin, ticks, visits });
            self.location.of_tasks.extend(ran);
        }
        // The task that its thread suspended last.
        let next = self.tasks.suspended.last().unwrap().0;
        self.go_on(time, next);
    }

    /// Stops the running task.
    fn stop(&mut self, time: i64) {
        if !self.tasks.runs() {
            return;
        }
        let (begin, ticks) = (self.tasks.since, time - self.tasks.since);
        let task = self.tasks.begun.get_mut(&self.tasks.current).unwrap();
        task.ran.push((begin, ticks));
        // Its calls take this back.
        let path = self.base();
        self.location.of_tasks.push(OfTask { path, begin, ticks, visits: 0 });
    }

    fn go_on(&mut self, time: i64, task: (u32, u32)) {
        let known = self.tasks.suspended.iter().position(|it| it.0 == task);
        let (stack, since) = known.map_or((Vec::new(), time), |at| {
            let (_, stack, since) = self.tasks.suspended.remove(at);
            (stack, since)
        });
        for &call in &stack {
            self.location.calls[call].suspended.push((since, time - since));
        }
        self.stack = stack;
        (self.tasks.current, self.tasks.since) = (task, time);
    }

    /// The call path above the current task's calls.
    pub(super) fn base(&self) -> String {
        match self.semantics {
            Semantics::Reference => below(self.root, "TASKS"),
            Semantics::Corrected => self.tasks.begun[&self.tasks.current].place.clone(),
        }
    }

    /// The current task has no open call and enters a region; returns the path above.
    pub(super) fn enter_task(&mut self, region: &str) -> String {
        let base = self.base();
        let task = self.tasks.begun.get_mut(&self.tasks.current).unwrap();
        task.region.get_or_insert(region.to_owned());
        base
    }
}
