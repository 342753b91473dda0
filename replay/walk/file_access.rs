//! Records of files for the model of file I/O.

use model::Ticks;
use otf2::{Event, Mappings};

use super::process::ProcessWalk;
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
            offset: self.attributes.offset,
            is_open: &|it: OpenCall| call(it.depth) == Some(it),
        };
        feed.take(self.trace, event, mappings, &spot);
    }

    /// Sets the view of a file, which begins at a displacement in bytes.
    pub(super) fn set_view(&mut self, file: u32, displacement: u64) {
        if let Some(feed) = &mut self.io {
            feed.set_view(self.trace, file, displacement);
        }
        self.note_view(file);
    }
}
