//! Records of files for the model of file I/O.

use model::{RegionRole, Ticks};
use otf2::{Event, Mappings};

use super::process::ProcessWalk;
use super::stack::Frame;
use crate::io::{OpenCall, Spot};

impl ProcessWalk<'_> {
    /// Hands a record to the model of file I/O.
    #[inline(never)]
    pub(super) fn feed_file_access(
        &mut self,
        thread: usize,
        event: &Event<'_>,
        mappings: &Mappings,
        time: Ticks,
    ) {
        let is_in_mpi = self.is_in_mpi(thread);
        let Some(feed) = &mut self.io else { return };
        let stack = &self.threads[thread].stack;
        let call = |depth: usize| {
            let frame = stack.frames().get(depth.checked_sub(1)?)?;
            Some(OpenCall { depth, region: frame.region, enter: frame.enter })
        };
        let spot = Spot {
            thread,
            time,
            path: stack.path(),
            call: call(stack.len()),
            is_in_mpi,
            told: &self.attributes.access,
            is_open: &|it: OpenCall| call(it.depth) == Some(it),
        };
        feed.take(self.trace, event, mappings, &spot);
    }

    /// Leaves the innermost region, which may be a call on a file.
    #[inline(never)]
    pub(super) fn leave_file_times(&mut self, thread: usize, time: Ticks) {
        let Some(times) = &mut self.file_times else { return };
        let innermost = (thread, &self.threads[thread].stack);
        if let Some(file) = self.attributes.file {
            times.note(self.trace, file, innermost);
        }
        self.threads[thread].held = times.leave(innermost, time);
        if self.io.is_some() {
            self.return_file_access(thread, time);
        }
    }

    /// Tells the model of file I/O that the innermost region is left.
    fn return_file_access(&mut self, thread: usize, time: Ticks) {
        let (Some(feed), trace) = (&mut self.io, self.trace) else { return };
        let frames = self.threads[thread].stack.frames();
        let Some((frame, outer)) = frames.split_last() else { return };
        let call = OpenCall { depth: frames.len(), region: frame.region, enter: frame.enter };
        if let Some(handle) = self.attributes.file {
            feed.note_leave(trace, handle, (thread, call));
        }
        let is_for_files = |frame: &Frame| {
            trace.is_mpi(frame.region)
                || matches!(
                    trace.region(frame.region).role,
                    RegionRole::FILE_IO | RegionRole::FILE_IO_METADATA
                )
        };
        feed.returns(thread, call, time, || is_for_files(frame) && !outer.iter().any(is_for_files));
    }

    /// Leaves a call, which may tell of a file.
    pub(super) fn leave_file_access(&mut self, thread: usize) {
        let (Some(feed), Some(handle)) = (&mut self.io, self.attributes.file) else { return };
        let region = self.threads[thread].stack.last().map(|frame| frame.region);
        feed.leave(self.trace, (handle, region), &self.attributes.access);
    }
}
