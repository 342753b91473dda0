//! Random teams of threads that run tasks in a barrier: as OpenMP allows, or in any order.

use super::random::Random;
use super::trace::{Step, Stream, Trace};

/// Number of tasks that a thread may run.
const TASKS: u32 = 6;

/// Number of threads of a team.
const THREADS: u32 = 3;

/// A thread under construction.
struct TaskThread {
    stream: Stream,
    now: u64,
    /// The running task, and the suspended ones; each with its open regions.
    runs: Option<RandomTask>,
    suspended: Vec<RandomTask>,
}

struct RandomTask {
    number: u32,
    open: Vec<&'static str>,
}

/// The random trace with this number. If `is_odd`, its events are in any order.
pub(crate) fn trace(seed: u64, is_odd: bool) -> Trace {
    let mut random = Random::new(seed);
    let mut trace = Trace { program: Some("prog".into()), ..Trace::default() };
    for rank in 0..2 {
        let mut members: Vec<TaskThread> = (0..THREADS).map(|thread| TaskThread::new(rank, thread)).collect();
        members[0].then(&mut random, Step::Enter("main".into()));
        members[0].then(&mut random, Step::Fork);
        // Clocks of threads agree: tasks are created before any of them runs.
        for thread in 0..THREADS {
            for number in 1..=TASKS {
                members[0].then(&mut random, Step::TaskCreate(thread, number));
            }
        }
        let forked = members[0].now;
        for member in &mut members {
            member.now = forked;
            member.then(&mut random, Step::TeamBegin);
            member.then(&mut random, Step::Enter("!$omp parallel".into()));
            // Some are so late that the others wait for them, with or without tasks.
            member.now += random.below(300) as u64;
            member.then(&mut random, Step::Enter("!$omp implicit barrier".into()));
            match is_odd {
                true => member.do_anything(&mut random),
                false => member.run_tasks(&mut random),
            }
        }
        let last = members.iter().map(|member| member.now).max().unwrap_or(0);
        for member in &mut members {
            member.now = last;
            member.then(&mut random, Step::LeaveRegion("!$omp implicit barrier".into()));
            member.then(&mut random, Step::LeaveRegion("!$omp parallel".into()));
            member.then(&mut random, Step::TeamEnd);
        }
        members[0].now = members.iter().map(|member| member.now).max().unwrap_or(0);
        members[0].then(&mut random, Step::Join);
        members[0].then(&mut random, Step::LeaveRegion("main".into()));
        trace.streams.extend(members.into_iter().map(|member| member.stream));
    }
    trace
}

impl TaskThread {
    fn new(rank: u32, thread: u32) -> TaskThread {
        let stream = Stream { thread, ..Stream::new(rank) };
        TaskThread { stream, now: 0, runs: None, suspended: Vec::new() }
    }

    /// Adds an event a little later.
    fn then(&mut self, random: &mut Random, step: Step) {
        self.now += random.below(5) as u64;
        self.stream.at(self.now, step);
    }

    fn enter(&mut self, random: &mut Random, region: &'static str) {
        if let Some(task) = &mut self.runs {
            task.open.push(region);
            self.then(random, Step::Enter(region.into()));
        }
    }

    fn leave(&mut self, random: &mut Random) {
        if let Some(region) = self.runs.as_mut().and_then(|task| task.open.pop()) {
            self.then(random, Step::LeaveRegion(region.into()));
        }
    }

    /// Suspends the running task for another one, new or suspended; or for none.
    fn switch(&mut self, random: &mut Random, to: Option<RandomTask>) {
        self.suspended.extend(self.runs.take());
        let number = to.as_ref().map_or(0, |task| task.number);
        self.then(random, Step::TaskSwitch(self.stream.thread, number));
        self.runs = to;
    }

    fn complete(&mut self, random: &mut Random) {
        while self.runs.as_ref().is_some_and(|task| !task.open.is_empty()) {
            self.leave(random);
        }
        if let Some(RandomTask { number, .. }) = self.runs.take() {
            self.then(random, Step::TaskComplete(self.stream.thread, number));
            // Recorders write the switch to the next task, but not at once.
            self.now += random.below(3) as u64;
            let next = self.suspended.pop();
            self.switch(random, next);
        }
    }

    /// Runs all of its tasks, alternating.
    fn run_tasks(&mut self, random: &mut Random) {
        for number in 1..=TASKS {
            self.switch(random, Some(RandomTask { number, open: Vec::new() }));
            self.enter(random, "!$omp task");
            for _ in 0..random.below(8) {
                match random.below(6) {
                    0 => self.enter(random, "work"),
                    1 => self.enter(random, "!$omp taskwait"),
                    2 => self.leave(random),
                    3 => self.switch(random, None),
                    4 if !self.suspended.is_empty() => {
                        let task = self.suspended.swap_remove(random.below(self.suspended.len()));
                        self.switch(random, Some(task));
                    }
                    _ => self.complete(random),
                }
            }
            if random.chance(50) {
                self.complete(random);
            }
        }
        while self.runs.is_some() || !self.suspended.is_empty() {
            if self.runs.is_none() {
                let task = self.suspended.pop();
                self.switch(random, task);
            }
            self.complete(random);
        }
    }

    /// Random switches among tasks of any thread.
    fn do_anything(&mut self, random: &mut Random) {
        for _ in 0..random.below(60) {
            let (creator, number) = (random.below(3) as u32, random.below(4) as u32);
            let step = match random.below(6) {
                0 => Step::TaskCreate(creator, number),
                1 | 2 => Step::TaskSwitch(creator, number),
                3 => Step::TaskComplete(creator, number),
                4 => Step::Enter("work".into()),
                _ => Step::LeaveRegion("work".into()),
            };
            self.then(random, step);
        }
    }
}
