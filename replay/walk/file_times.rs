//! How long calls are about which file: what they cost others is told by file (io.md 5.4).

use model::Ticks;
use otf2::{Event, MappingType, Mappings};
use rustc_hash::FxHashMap;

use super::FileTime;
use super::stack::Stack;
use crate::ids::PathId;
use crate::int::to_u32;
use crate::trace::Trace;

/// Files of calls, and their time.
#[derive(Debug)]
pub(super) struct FileTimes {
    /// By thread: calls that are open and the file of each, from the outermost one on.
    open: Vec<Vec<Open>>,
    times: FxHashMap<(PathId, u32), Ticks>,
}

/// A call that is open: how many are, with it, when it was entered, the reference of the handle, and the position of its file.
#[derive(Clone, Copy, Debug)]
struct Open {
    depth: usize,
    enter: Ticks,
    handle: u32,
    file: u32,
}

impl FileTimes {
    /// Nothing has happened yet on so many threads; `None` if the trace has no files.
    pub(super) fn new(trace: &Trace, threads: usize) -> Option<Box<FileTimes>> {
        let has_files = !trace.definitions.file_handles.is_empty();
        let new = || FileTimes { open: vec![Vec::new(); threads], times: FxHashMap::default() };
        has_files.then(|| Box::new(new()))
    }

    /// Takes a record of a thread, those of no file change nothing; returns how many frames must not be left unseen.
    pub(super) fn take(
        &mut self,
        trace: &Trace,
        event: &Event<'_>,
        mappings: &Mappings,
        (thread, stack): (usize, &Stack),
    ) -> usize {
        if let Some(local) = handle(event) {
            self.note(trace, mappings.global(MappingType::IoHandle, local), (thread, stack));
        }
        self.held(thread)
    }

    /// The innermost call of a thread is about the file of a handle.
    pub(super) fn note(&mut self, trace: &Trace, reference: u32, (thread, stack): (usize, &Stack)) {
        let Some(frame) = stack.last() else { return };
        let (depth, enter, open) = (stack.len(), frame.enter, &mut self.open[thread]);
        if open.last().is_some_and(|it| (it.depth, it.enter, it.handle) == (depth, enter, reference)) {
            return;
        }
        let handles = &trace.definitions.file_handles;
        let Some(file) = handles.position(reference.into()).and_then(|at| handles[at].file) else { return };
        while open.last().is_some_and(|it| it.depth >= depth) {
            open.pop();
        }
        open.push(Open { depth, enter, handle: reference, file: to_u32(file) });
    }

    /// The innermost region of a thread is left; returns how many frames must not be left unseen.
    pub(super) fn leave(&mut self, (thread, stack): (usize, &Stack), time: Ticks) -> usize {
        let (Some(frame), open) = (stack.last(), &mut self.open[thread]) else { return self.held(thread) };
        while open.last().is_some_and(|it| it.depth > stack.len()) {
            open.pop();
        }
        let is_it = |last: &mut Open| (last.depth, last.enter) == (stack.len(), frame.enter);
        if let Some(Open { file, .. }) = open.pop_if(is_it) {
            let sum = self.times.entry((frame.path, file)).or_default();
            *sum = sum.saturating_add(time.saturating_sub(frame.enter));
        }
        self.held(thread)
    }

    /// The depth of the innermost call of a thread that is known to be about a file; at least the outermost frame.
    fn held(&self, thread: usize) -> usize {
        self.open[thread].last().map_or(1, |open| open.depth.max(1))
    }

    /// All times, in the order of call paths.
    pub(super) fn finish(self) -> Box<[FileTime]> {
        let time = |((path, file), ticks)| FileTime { path, file, ticks };
        let mut times: Box<[FileTime]> = self.times.into_iter().map(time).collect();
        times.sort_unstable_by_key(|it| (it.path, it.file));
        times
    }
}

/// The handle of a record, as its location numbers it.
fn handle(event: &Event<'_>) -> Option<u32> {
    match *event {
        Event::IoCreateHandle { handle, .. }
        | Event::IoDestroyHandle { handle }
        | Event::IoSeek { handle, .. }
        | Event::IoOperationBegin { handle, .. }
        | Event::IoOperationComplete { handle, .. } => Some(handle),
        _ => None,
    }
}
