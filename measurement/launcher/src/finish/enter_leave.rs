//! Plain `Enter` and `Leave` records in the place of calling contexts, for tools that do not know those.
//!
//! MPI functions, named regions and instrumented functions are entered and left at their own times. Of the
//! functions around them it is known only that they were active at an event. Between two events those are
//! active that both paths have in common; the others are left at the first event and entered at the second
//! one, as are all at the end that have no leave of their own. Samples add to this: before and behind a
//! sample the thread is on its path, as long as samples may be apart. The analyzer gives the time between
//! calls to functions by the same rule.
//!
//! Lines of calls do not matter: a function that has come to another line is still the same, if its caller
//! has not.

use super::contexts::NO_CONTEXT;
use super::records::{EventOutput, RecordedEvents};
use super::tree::{PathWalk, Step, StepKind, Tree, UnknownContext};
use crate::Error;
use otf2::{Attributes, Event, EventCursor};

/// Writes the events of a location with plain records; `longest_gap` is how far samples may be apart, in
/// ticks. Regions that are open at the end are left there, or at `until`. Returns the problem that ended it,
/// if there was one.
///
/// # Errors
/// If the disk refuses.
pub(super) fn convert(
    mut recorded: RecordedEvents<'_>,
    mut walk: PathWalk<'_>,
    longest_gap: u64,
    until: Option<u64>,
    output: &mut EventOutput,
) -> Result<Option<Error>, Error> {
    let mut stack =
        RegionStack { tree: walk.tree, path: NO_CONTEXT, own: Vec::new(), suspended: Vec::new(), output };
    // The time behind an event depends on the next one.
    let mut ahead = Lookahead { events: recorded.events.clone(), walk: walk.clone() };
    ahead.next();
    let mut time = 0;
    loop {
        let record = match recorded.next() {
            Ok(Some(record)) => record,
            end => {
                stack.end(until.unwrap_or(time))?;
                return Ok(end.err());
            }
        };
        time = record.time;
        match walk.step(&record.event) {
            Ok(Some(step)) => {
                stack.take(step, time, record.attributes)?;
                stack.between((time, step.kind), ahead.next(), longest_gap)?;
            }
            Ok(None) => {
                match record.event {
                    Event::ProgramEnd { .. } => stack.end(time)?,
                    Event::ThreadTaskSwitch { .. } => {
                        stack.suspend();
                        ahead.next();
                    }
                    Event::ThreadTaskComplete { .. } => {
                        stack.resume(time)?;
                        ahead.next();
                    }
                    _ => {}
                }
                stack.output.put(time, record.event, record.attributes)?;
            }
            Err(UnknownContext) => stack.output.refuse(),
        }
    }
}

/// Iterates over the events of calling contexts, and the begins and ends of tasks, one ahead.
struct Lookahead<'a> {
    events: EventCursor<'a>,
    walk: PathWalk<'a>,
}

impl Lookahead<'_> {
    /// Returns the next one and its time; behind the last, the time of the last event. Nothing comes behind the begin
    /// or end of a task, as that is on another path.
    fn next(&mut self) -> (u64, Option<Step>) {
        let mut time = 0;
        while let Ok(Some(head)) = self.events.head() {
            time = head.time;
            if head.switches_tasks() {
                let Ok(event) = self.events.event(head) else { break };
                // Tasks are no contexts: none is unknown.
                let _ = self.walk.step(&event);
                return (time, None);
            }
            if !head.is_of_calling_context() {
                if self.events.step_over(head).is_err() {
                    break;
                }
                continue;
            }
            let Ok(event) = self.events.event(head) else { break };
            if let Ok(Some(step)) = self.walk.step(&event) {
                return (time, Some(step));
            }
        }
        (time, None)
    }
}

/// The regions that have been entered and not left.
struct RegionStack<'a> {
    tree: &'a Tree<'a>,
    /// The path of these regions.
    path: u32,
    /// The prefixes of the path that end with something that has been entered by an event of its own.
    own: Vec<u32>,
    /// The same of what tasks have been started in; the innermost last.
    suspended: Vec<(u32, Vec<u32>)>,
    output: &'a mut EventOutput,
}

impl RegionStack<'_> {
    /// Returns the path that the thread is on when an event comes: that of the caller, if something is
    /// entered.
    fn around(&self, step: Step) -> u32 {
        if step.kind == StepKind::Enter { self.tree.parent(step.path) } else { step.path }
    }

    /// Applies an event; the record that it becomes keeps the attributes.
    fn take(&mut self, step: Step, time: u64, attributes: Attributes<'_>) -> Result<(), Error> {
        self.change(self.around(step), time)?;
        let Some(region) = self.tree.region(step.path) else { return Ok(()) };
        let event = match step.kind {
            StepKind::Enter => {
                self.path = step.path;
                self.own.push(step.path);
                Event::Enter { region }
            }
            StepKind::Leave => {
                self.path = self.tree.parent(step.path);
                let left = self.own.iter().rposition(|&own| own == step.path);
                self.own.truncate(left.unwrap_or(self.own.len()));
                Event::Leave { region }
            }
            StepKind::Sample => return Ok(()),
        };
        self.output.put(time, event, attributes)
    }

    /// Changes the path between two events as far as that happens at the first one.
    fn between(
        &mut self,
        (last, kind): (u64, StepKind),
        (next, step): (u64, Option<Step>),
        longest_gap: u64,
    ) -> Result<(), Error> {
        let is_close = next.saturating_sub(last) <= longest_gap;
        // At the end only regions without a leave of their own are known to be active.
        let around =
            step.map_or_else(|| self.own.last().copied().unwrap_or(NO_CONTEXT), |step| self.around(step));
        match step.map(|step| step.kind) {
            Some(StepKind::Sample) if is_close => self.change(around, last),
            // The thread is on the sampled path until the next event.
            _ if kind == StepKind::Sample && is_close => Ok(()),
            _ => self.leave(around, last),
        }
    }

    /// Begins with a task, whose regions are not in those that are open.
    fn suspend(&mut self) {
        self.suspended.push((self.path, std::mem::take(&mut self.own)));
        self.path = NO_CONTEXT;
    }

    /// Ends a task.
    fn resume(&mut self, time: u64) -> Result<(), Error> {
        self.change(NO_CONTEXT, time)?;
        if let Some((path, own)) = self.suspended.pop() {
            (self.path, self.own) = (path, own);
        }
        Ok(())
    }

    /// Leaves everything.
    fn end(&mut self, time: u64) -> Result<(), Error> {
        while !self.suspended.is_empty() {
            self.resume(time)?;
        }
        self.change(NO_CONTEXT, time)
    }

    /// Changes to another path.
    fn change(&mut self, path: u32, time: u64) -> Result<(), Error> {
        self.leave(path, time)?;
        let (_, meeting) = self.tree.meeting(self.path, path);
        let mut entered = Vec::new();
        let mut at = path;
        while at != meeting {
            entered.extend(self.tree.region(at));
            at = self.tree.parent(at);
        }
        for region in entered.into_iter().rev() {
            self.output.put(time, Event::Enter { region }, Attributes::EMPTY)?;
        }
        self.path = path;
        Ok(())
    }

    /// Leaves the regions that are not active on another path.
    fn leave(&mut self, path: u32, time: u64) -> Result<(), Error> {
        let (meeting, _) = self.tree.meeting(self.path, path);
        while self.path != meeting {
            if let Some(region) = self.tree.region(self.path) {
                self.output.put(time, Event::Leave { region }, Attributes::EMPTY)?;
            }
            self.path = self.tree.parent(self.path);
        }
        Ok(())
    }
}
