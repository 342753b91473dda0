//! Calling contexts: call paths with the line of each call, as the recorder writes them for programs with debug information.

use std::collections::HashMap;

use otf2::Event;

/// A call path: a function, and where it is called.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Context {
    /// The call path of the caller, unless nobody calls the function.
    pub(crate) parent: Option<u32>,
    pub(crate) region: u32,
    /// Line of the call.
    pub(crate) line: u32,
}

/// The call paths of all locations, numbered by first occurrence.
#[derive(Debug, Default)]
pub(crate) struct Contexts {
    numbers: HashMap<Context, u32>,
    list: Vec<Context>,
}

impl Contexts {
    fn number(&mut self, context: Context) -> u32 {
        *self.numbers.entry(context).or_insert_with(|| {
            self.list.push(context);
            self.list.len() as u32 - 1
        })
    }

    /// The call paths in the order of their numbers, callers first.
    pub(crate) fn list(&self) -> &[Context] {
        &self.list
    }
}

/// The call path of a location while its events are written.
#[derive(Debug)]
pub(crate) struct CallStack<'a> {
    contexts: &'a mut Contexts,
    open: Vec<u32>,
    /// Line of the next call, if the pattern has chosen it.
    next_line: Option<u32>,
}

impl<'a> CallStack<'a> {
    pub(crate) fn new(contexts: &'a mut Contexts) -> CallStack<'a> {
        CallStack { contexts, open: Vec::new(), next_line: None }
    }

    /// Chooses the line of the next call.
    pub(crate) fn set_line(&mut self, line: u32) {
        self.next_line = Some(line);
    }

    /// The event with calling contexts in the place of regions; `line` is that of the call, unless it has been chosen.
    pub(crate) fn in_context<'e>(&mut self, event: Event<'e>, line: u32) -> Event<'e> {
        match event {
            Event::Enter { region } => {
                let line = self.next_line.take().unwrap_or(line);
                let parent = self.open.last().copied();
                let calling_context = self.contexts.number(Context { parent, region, line });
                self.open.push(calling_context);
                // One more than the number of functions that are new on the call path.
                Event::CallingContextEnter { calling_context, unwind_distance: 2 }
            }
            Event::Leave { .. } => self
                .open
                .pop()
                .map_or(event, |calling_context| Event::CallingContextLeave { calling_context }),
            _ => event,
        }
    }
}
