//! Plain `Enter` and `Leave` records in the place of calling contexts, for tools that do not know those.
//!
//! MPI functions, named regions and functions that tell of themselves are entered and left at their own times. Of the
//! functions around them it is known only that they were active at an event. Between two events those are active that both
//! paths have in common; the others are left at the first event and entered at the second one. Samples say more: up to
//! two periods before and after a sample the thread is on its path. What is open at the end is left there.
//!
//! Lines of calls do not matter: a function that has come to another line is still the same, if its caller has not.

use super::contexts::NO_CONTEXT;
use super::records::Output;
use super::tree::{Kind, Step, Tree, Unknown, Walk};
use crate::Error;
use otf2::{Attributes, Event, EventCursor, EventRecord};

/// So many periods of samples a thread may be on a path beside the sample.
const PERIODS: u64 = 2;

/// An event of a calling context, and when it was.
#[derive(Clone, Copy)]
struct At {
    time: u64,
    step: Step,
}

/// Writes the events of a location with plain records; `period` is the time between samples, in ticks. Answers the first
/// record that makes no sense, with which it ends.
///
/// # Errors
/// If the disk refuses.
pub(super) fn convert(
    mut events: EventCursor<'_>,
    mut walk: Walk<'_>,
    period: u64,
    output: &mut Output,
) -> Result<Option<otf2::Error>, Error> {
    let mut stack = Stack { tree: walk.tree, path: NO_CONTEXT, output };
    // What is known of the time behind an event depends on the one that comes next.
    let mut ahead = Ahead { events: events.clone(), walk: walk.clone() };
    ahead.next();
    let mut time = 0;
    loop {
        let record = match events.next() {
            Ok(Some(record)) => record,
            end => {
                stack.change(NO_CONTEXT, time)?;
                return Ok(end.err());
            }
        };
        time = record.time.max(time);
        match walk.step(&record.event) {
            Ok(Some(step)) => {
                stack.take(step, &record)?;
                if let Some(next) = ahead.next() {
                    stack.between(At { time: record.time, step }, next, period)?;
                }
            }
            Ok(None) => {
                if matches!(record.event, Event::ProgramEnd { .. }) {
                    stack.change(NO_CONTEXT, record.time)?;
                }
                stack.output.put(record.time, record.event, record.attributes)?;
            }
            Err(Unknown) => stack.output.refuse(),
        }
    }
}

/// Goes to the next event of a calling context.
struct Ahead<'a> {
    events: EventCursor<'a>,
    walk: Walk<'a>,
}

impl Ahead<'_> {
    fn next(&mut self) -> Option<At> {
        while let Ok(Some(head)) = self.events.head() {
            if !head.is_of_calling_context() {
                self.events.step_over(head).ok()?;
            } else if let Ok(Some(step)) = self.walk.step(&self.events.event(head).ok()?) {
                return Some(At { time: head.time, step });
            }
        }
        None
    }
}

/// The regions that are entered and not left.
struct Stack<'a> {
    tree: &'a Tree<'a>,
    /// The path that they are.
    path: u32,
    output: &'a mut Output,
}

impl Stack<'_> {
    /// The path that the thread is on when an event comes: that of the caller, if something is entered.
    fn around(&self, step: Step) -> u32 {
        if step.kind == Kind::Enter { self.tree.parent(step.path) } else { step.path }
    }

    /// Does what an event says.
    fn take(&mut self, step: Step, record: &EventRecord<'_>) -> Result<(), Error> {
        self.change(self.around(step), record.time)?;
        let Some(region) = self.tree.region(step.path) else { return Ok(()) };
        let event = match step.kind {
            Kind::Enter => Event::Enter { region },
            Kind::Leave => Event::Leave { region },
            Kind::Sample => return Ok(()),
        };
        self.path = if step.kind == Kind::Leave { self.tree.parent(step.path) } else { step.path };
        self.output.put(record.time, event, record.attributes)
    }

    /// Changes the path between two events as far as that happens at the first one.
    fn between(&mut self, last: At, next: At, period: u64) -> Result<(), Error> {
        let is_close = next.time.saturating_sub(last.time) <= period.saturating_mul(PERIODS);
        let around = self.around(next.step);
        match (last.step.kind, next.step.kind) {
            (_, Kind::Sample) if is_close => self.change(around, last.time),
            // The thread is on the sampled path until the next event.
            (Kind::Sample, _) if is_close => Ok(()),
            _ => self.leave(around, last.time),
        }
    }

    /// Comes to another path.
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

    /// Leaves what is not active on another path.
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
