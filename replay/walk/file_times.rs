//! How long calls are about which file: what they cost others is told by file (io.md 5.4).

use std::collections::BTreeMap;

use model::Ticks;
use otf2::{Event, MappingType, Mappings};

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
    times: BTreeMap<(PathId, u32), Ticks>,
    /// Time that is not among these yet: most calls are of the path of the one before, and about its file.
    latest: Option<((PathId, u32), Ticks)>,
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
        let (open, times) = (vec![Vec::new(); threads], BTreeMap::new());
        has_files.then(|| Box::new(FileTimes { open, times, latest: None }))
    }

    /// Takes a record of a file, whose handle its location numbers so; returns how many frames must not be left unseen.
    pub(super) fn take(
        &mut self,
        trace: &Trace,
        (local, mappings): (u32, &Mappings),
        (thread, stack): (usize, &Stack),
    ) -> usize {
        self.note(trace, mappings.global(MappingType::IoHandle, local), (thread, stack));
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
            self.add((frame.path, file), time.saturating_sub(frame.enter));
        }
        self.held(thread)
    }

    /// Adds the time of a call of a path about a file.
    fn add(&mut self, key: (PathId, u32), time: Ticks) {
        match &mut self.latest {
            Some((latest, sum)) if *latest == key => *sum = sum.saturating_add(time),
            latest => {
                let before = latest.replace((key, time));
                self.keep(before);
            }
        }
    }

    fn keep(&mut self, latest: Option<((PathId, u32), Ticks)>) {
        if let Some((key, time)) = latest {
            let sum = self.times.entry(key).or_default();
            *sum = sum.saturating_add(time);
        }
    }

    /// The depth of the innermost call of a thread that is known to be about a file; at least the outermost frame.
    fn held(&self, thread: usize) -> usize {
        self.open[thread].last().map_or(1, |open| open.depth.max(1))
    }

    /// All times, in the order of call paths.
    pub(super) fn finish(mut self) -> Box<[FileTime]> {
        let latest = self.latest.take();
        self.keep(latest);
        let time = |((path, file), ticks)| FileTime { path, file, ticks };
        self.times.into_iter().map(time).collect()
    }
}

/// The handle of a record, as its location numbers it.
pub(super) fn handle_of(event: &Event<'_>) -> Option<u32> {
    match *event {
        Event::IoCreateHandle { handle, .. }
        | Event::IoDestroyHandle { handle }
        | Event::IoSeek { handle, .. }
        | Event::IoOperationBegin { handle, .. }
        | Event::IoOperationComplete { handle, .. } => Some(handle),
        _ => None,
    }
}
