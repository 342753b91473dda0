//! Which calls are about which file, and for what: how long files are handled and flushed (io.md 5.3).

use io_model::{Call, Purpose};
use model::Ticks;

use super::asked::Handle;
use super::feed::{Feed, OpenCall, ticks};
use crate::trace::Trace;

/// A call that is open and about a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct About {
    call: OpenCall,
    purpose: Purpose,
    key: u64,
    file: u32,
    members: Option<u64>,
    opening: u64,
}

impl Feed<'_> {
    /// A call of a thread is about a file.
    pub(super) fn note(
        &mut self,
        purpose: Purpose,
        (key, handle): (u64, &Handle),
        (thread, call): (usize, Option<OpenCall>),
    ) {
        let Some(call) = call else { return };
        // Nothing else counts for an opening.
        let opening = if purpose == Purpose::OpensOrCloses { self.walk.opening(key) } else { 0 };
        let Handle { file, members, .. } = *handle;
        let new = About { call, purpose, key, file, members, opening };
        let about = &mut self.threads[thread].about;
        while about.last().is_some_and(|it| it.call.depth >= call.depth && it.call != call) {
            about.pop();
        }
        match about.last_mut() {
            Some(last) if last.call == call => {
                if purpose >= last.purpose {
                    *last = new;
                }
            }
            _ => about.push(new),
        }
    }

    /// A call of a thread is left that has told of a file.
    pub(crate) fn note_leave(&mut self, trace: &Trace, handle: u32, place: (usize, OpenCall)) {
        if let Some(found) = self.asked.handle(trace, handle) {
            self.note(Purpose::Handles, found, (place.0, Some(place.1)));
        }
    }

    /// A call of a thread returns, and may be about a file; `is_own` says whether it is one for files, and not made by another one.
    pub(crate) fn returns(&mut self, thread: usize, call: OpenCall, time: Ticks, is_own: impl Fn() -> bool) {
        let about = &mut self.threads[thread].about;
        while about.last().is_some_and(|it| it.call.depth > call.depth) {
            about.pop();
        }
        let Some(About { purpose, key, file, members, opening, .. }) = about.pop_if(|it| it.call == call)
        else {
            return;
        };
        // Transfers by itself are known already.
        if purpose != Purpose::Transfers && is_own() {
            let (begin, end) = (ticks(call.enter), ticks(time));
            self.walk.call(&Call { purpose, file, handle: key, members, opening, begin, end });
        }
    }
}
