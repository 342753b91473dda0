//! Records of files of one process, as the model takes them.

use io_model::{
    Begin, Caller, Id, InFlight, Kind, Layer, Opening, Pointer, Purpose, Request, SetView, Walk, Whence,
};
use model::Ticks;
use otf2::{Event, MappingType, Mappings};
use rustc_hash::FxHashSet;

use super::about::About;
use super::asked::{Asked, Call, Handle};
use crate::ids::PathId;
use crate::int::to_u32;
use crate::operations::transfers::{COLLECTIVE, FLUSH, NON_BLOCKING, READ, WRITE};
use crate::trace::Trace;
use crate::walk::FileAttributes;

/// OTF2's flags of an open file.
const APPEND: u32 = 2;
const AVOID_CACHING: u32 = 64;

/// The records of one process.
#[derive(Debug)]
pub(crate) struct Feed<'a> {
    pub(super) asked: &'a Asked,
    pub(super) walk: Walk,
    /// Communication calls that have begun to complete.
    tick: u64,
    /// Blocking collective operations on all ranks that were completed.
    epoch: u64,
    pub(super) threads: Vec<Thread>,
    /// Operations that are not complete, by handle and number.
    open: InFlight<(u64, u64), Open>,
    /// Handles that were there before the first event, and of which there was one.
    before: FxHashSet<u64>,
}

#[derive(Clone, Default, Debug)]
pub(super) struct Thread {
    /// The last call that communicated.
    last: Option<OpenCall>,
    /// The calls that have asked for an operation last: one that reads, and one that writes.
    asked: [Option<OpenCall>; 2],
    /// Calls that are open and about files, from the outermost one on.
    pub(super) about: Vec<About>,
    /// Operations whose calls may not have returned: the call, handle and number.
    inside: Vec<(OpenCall, u64, u64)>,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    thread: usize,
    what: What,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum What {
    /// An operation that the program has asked for.
    Transfer,
    /// A request of POSIX within that operation, and when it began.
    Request(Id, Ticks),
    /// Another one within an operation, or a flush: it ends, and that is all.
    Other,
}

/// A call that has not returned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct OpenCall {
    /// How many calls are open on the thread, with this one.
    pub(crate) depth: usize,
    /// The region.
    pub(crate) region: u32,
    /// When it was entered, in ticks.
    pub(crate) enter: Ticks,
}

/// Where and when a record was written.
#[derive(Clone, Copy)]
pub(crate) struct Spot<'s> {
    /// Number of the thread in its process.
    pub(crate) thread: usize,
    /// When, in ticks since the begin of the trace.
    pub(crate) time: Ticks,
    /// The call path.
    pub(crate) path: PathId,
    /// The innermost call, if there is any.
    pub(crate) call: Option<OpenCall>,
    /// Whether that is one of MPI.
    pub(crate) is_in_mpi: bool,
    /// What attributes say.
    pub(crate) told: &'s FileAttributes,
    /// Whether a call of the thread has not returned yet.
    pub(crate) is_open: &'s dyn Fn(OpenCall) -> bool,
}

impl<'a> Feed<'a> {
    /// Nothing has happened yet on so many threads.
    pub(crate) fn new(asked: &'a Asked, process: usize, threads: usize) -> Feed<'a> {
        Feed {
            asked,
            walk: Walk::new(to_u32(process), asked.settings()),
            tick: 0,
            epoch: 0,
            threads: vec![Thread::default(); threads],
            open: InFlight::default(),
            before: FxHashSet::default(),
        }
    }

    /// Opens a handle that was there before, when its first record comes, unless that makes it.
    fn open_before(&mut self, trace: &Trace, event: &Event<'_>, mappings: &Mappings) {
        let (used, made) = match *event {
            Event::IoCreateHandle { handle, .. } => (None, Some(handle)),
            Event::IoDuplicateHandle { old_handle, new_handle, .. } => (Some(old_handle), Some(new_handle)),
            Event::IoSeek { handle, .. }
            | Event::IoOperationBegin { handle, .. }
            | Event::IoDestroyHandle { handle } => (Some(handle), None),
            _ => return,
        };
        let find = |local: Option<u32>| self.asked.local_handle(trace, mappings, local?);
        let (used, made) = (find(used), find(made));
        if let Some((key, known)) = used
            && let Some(status) = known.was_open
            && self.before.insert(key)
        {
            self.create(trace, (key, *known), status, &FileAttributes::default());
        }
        self.before.extend(made.map(|(key, _)| key));
    }

    /// Takes a record.
    pub(crate) fn take(&mut self, trace: &Trace, event: &Event<'_>, mappings: &Mappings, spot: &Spot<'_>) {
        let asked = self.asked;
        if asked.has_open_before {
            self.open_before(trace, event, mappings);
        }
        let handle = |local: u32| asked.local_handle(trace, mappings, local);
        match *event {
            Event::IoCreateHandle { handle: local, status_flags, .. } => {
                if let Some((key, known)) = handle(local) {
                    let made = Handle { was_open: None, ..*known };
                    self.create(trace, (key, made), status_flags, spot.told);
                    self.note(Purpose::OpensOrCloses, (key, known), (spot.thread, spot.call));
                }
            }
            Event::IoDestroyHandle { handle: local } => {
                if let Some((key, known)) = handle(local) {
                    self.note(Purpose::OpensOrCloses, (key, known), (spot.thread, spot.call));
                    self.walk.destroy(key);
                }
            }
            Event::IoDuplicateHandle { old_handle, new_handle, .. } => {
                if let (Some((old, _)), Some((new, _))) = (handle(old_handle), handle(new_handle)) {
                    self.walk.duplicate(old, new);
                }
            }
            Event::IoSeek { handle: local, offset_request, whence, offset_result } => {
                let is_shared = spot.call.is_some_and(|it| asked.call(it.region) == Call::SeeksShared);
                let found = handle(local);
                if let Some(found) = found {
                    self.note(Purpose::Seeks, found, (spot.thread, spot.call));
                }
                if let Some((_, known)) = found
                    && let Some(size) = spot.told.file_size()
                {
                    self.walk.set_size(known.file, size);
                }
                if let Some((key, _)) = found {
                    let whence = match whence {
                        0 => Whence::Start,
                        1 => Whence::Current,
                        _ => Whence::Other,
                    };
                    match is_shared {
                        true => self.walk.seek_shared(key, offset_request, whence),
                        false => self.walk.seek(key, offset_request, whence, known(offset_result)),
                    }
                }
            }
            Event::IoOperationBegin { handle: local, mode, operation_flags, bytes_request, matching_id } => {
                if let Some((key, known_handle)) = handle(local) {
                    let layer = known_handle.layer;
                    let purpose = match operation_flags & (COLLECTIVE | NON_BLOCKING) {
                        _ if mode == FLUSH => Purpose::Flushes,
                        COLLECTIVE => Purpose::TransfersTogether,
                        _ => Purpose::Transfers,
                    };
                    self.note(purpose, (key, known_handle), (spot.thread, spot.call));
                    let number = (key, matching_id, layer);
                    self.begin(number, (mode, operation_flags), known(bytes_request), spot);
                }
            }
            Event::IoOperationIssued { handle: local, matching_id } => {
                if let Some((key, _)) = handle(local) {
                    self.leave_operation(spot.thread, (key, matching_id));
                }
            }
            Event::IoOperationComplete { handle: local, bytes_result, matching_id } => {
                let Some((key, _)) = handle(local) else { return };
                match self.end((key, matching_id), spot.thread) {
                    (What::Transfer, id) => {
                        let end = ticks(spot.time);
                        let enter = spot.call.map_or(end, |call| ticks(call.enter));
                        self.walk.complete_in_call(id, (enter, end), known(bytes_result));
                    }
                    (What::Request(within, begin), _) => {
                        let taken = ticks(spot.time.saturating_sub(begin));
                        let bytes = known(bytes_result).unwrap_or(0);
                        self.walk.request(within, Request { bytes, ticks: taken });
                    }
                    (What::Other, _) => {}
                }
            }
            Event::IoOperationCancelled { handle: local, matching_id } => {
                if let Some((key, _)) = handle(local)
                    && let (What::Transfer, id) = self.end((key, matching_id), spot.thread)
                {
                    self.walk.cancel(id);
                }
            }
            Event::MpiCollectiveEnd { communicator, .. } => {
                self.communicate(spot);
                let reference = mappings.global(MappingType::Comm, communicator);
                let position = trace.definitions.communicators.position(reference.into());
                self.epoch += u64::from(position.is_some() && position == asked.world);
            }
            _ if communicates(event) => self.communicate(spot),
            _ => {}
        }
    }

    /// A call is left that has told of a file: its view, its hints, its size, or that there is room for it.
    pub(crate) fn leave(
        &mut self,
        trace: &Trace,
        (handle, region): (u32, Option<u32>),
        told: &FileAttributes,
    ) {
        let Some((key, known)) = self.asked.handle(trace, handle) else { return };
        if let Some(displacement) = told.view() {
            let [size, extent, pieces] = told.shape();
            let text = text(trace, told.text());
            let view = SetView { displacement, etype: told.etype(), size, extent, pieces, text };
            self.walk.set_view(key, &view);
        }
        if let Some(hints) = text(trace, told.hints()) {
            self.walk.set_manner(key, |manner| manner.hints = Some(hints.to_owned()));
        }
        if region.is_some_and(|region| self.asked.call(region) == Call::Preallocates) {
            self.walk.set_manner(key, |manner| manner.preallocated = true);
        }
        if let Some(size) = told.file_size() {
            self.walk.set_size(known.file, size);
        }
    }

    /// What the process did, of which it is not known yet where ordered transfers begin.
    pub(crate) fn into_walk(self) -> Walk {
        self.walk
    }

    fn create(
        &mut self,
        trace: &Trace,
        (key, Handle { file, layer, members, is_nested, was_open }): (u64, Handle),
        status: u32,
        told: &FileAttributes,
    ) {
        let opening = Opening {
            file,
            layer,
            members,
            append: status & APPEND != 0,
            size: told.file_size(),
            direct: status & AVOID_CACHING != 0,
            hints: text(trace, told.hints()),
            has_views: self.asked.has_views || layer != Layer::Mpi,
            is_nested,
            was_open: was_open.is_some(),
        };
        self.walk.create(key, &opening);
    }

    /// Counts the current call, once, however many records it has.
    fn communicate(&mut self, spot: &Spot<'_>) {
        let last = &mut self.threads[spot.thread].last;
        if spot.is_in_mpi && *last != spot.call {
            *last = spot.call;
            self.tick += 1;
        }
    }

    fn begin(
        &mut self,
        (key, number, layer): (u64, u64, Layer),
        (mode, flags): (u8, u32),
        requested: Option<u64>,
        spot: &Spot<'_>,
    ) {
        let inside = &mut self.threads[spot.thread].inside;
        inside.retain(|(call, ..)| (spot.is_open)(*call));
        // Several operations of one call, such as pieces of a vector, are none within each other.
        let depth = spot.call.map_or(0, |call| call.depth);
        let around =
            inside.iter().find(|(call, ..)| call.depth < depth).map(|&(_, key, number)| (key, number));
        let is_top = around.is_none();
        inside.extend(spot.call.map(|call| (call, key, number)));
        let kind = match mode {
            READ => Some(Kind::Read),
            WRITE => Some(Kind::Write),
            _ => None,
        };
        let what = match (around, layer) {
            _ if kind.is_none() => What::Other,
            (None, _) => What::Transfer,
            (Some((key, number)), Layer::Posix) => What::Request(id(spot.thread, key, number), spot.time),
            (Some(_), _) => What::Other,
        };
        self.open.begin((key, number), Open { thread: spot.thread, what });
        if is_top && mode == FLUSH {
            self.walk.flush(key);
        }
        let Some(kind) = kind.filter(|_| is_top) else { return };
        let asked = &mut self.threads[spot.thread].asked[usize::from(kind == Kind::Write)];
        let is_repeated = spot.call.is_some() && *asked == spot.call;
        *asked = spot.call;
        let is_shared = || spot.call.is_some_and(|call| self.asked.call(call.region) == Call::Shared);
        let begin = Begin {
            kind,
            collective: flags & COLLECTIVE != 0,
            non_blocking: flags & NON_BLOCKING != 0,
            pointer: match spot.told.offset() {
                Some(_) => Pointer::Explicit,
                None if is_shared() => Pointer::Shared,
                None => Pointer::Individual,
            },
            offset: spot.told.offset(),
            requested,
            begin: ticks(spot.time),
            tick: self.tick,
            epoch: self.epoch,
            caller: Caller { thread: to_u32(spot.thread), call_path: to_u32(spot.path.index()), is_repeated },
        };
        self.walk.begin(id(spot.thread, key, number), &begin);
    }

    /// The call that has begun an operation returns, or the operation ends.
    fn leave_operation(&mut self, thread: usize, (key, number): (u64, u64)) {
        let inside = &mut self.threads[thread].inside;
        if let Some(at) = inside.iter().rposition(|it| (it.1, it.2) == (key, number)) {
            inside.remove(at);
        }
    }

    /// An operation ends, which this thread or another one has begun; answers what it is, and what it is known by.
    fn end(&mut self, (key, number): (u64, u64), thread: usize) -> (What, Id) {
        // That it has not begun is a finding of the model.
        let Some(Open { thread, what }) = self.open.end_own((key, number), |it| it.thread == thread) else {
            return (What::Transfer, id(thread, key, number));
        };
        self.leave_operation(thread, (key, number));
        (what, id(thread, key, number))
    }
}

fn id(thread: usize, handle: u64, number: u64) -> Id {
    Id { location: thread as u64, handle, number }
}

/// A text of the trace, by its reference.
fn text(trace: &Trace, reference: Option<u64>) -> Option<&str> {
    trace.definitions.strings.find(reference?).map(String::as_str)
}

/// All ones: nobody knows.
fn known(number: u64) -> Option<u64> {
    (number != u64::MAX).then_some(number)
}

/// A time as the model has it: nothing is before the begin of the trace.
pub(super) fn ticks(time: Ticks) -> u64 {
    time.max(0).unsigned_abs()
}

/// Whether a record is of a message, of an operation of several, or of one-sided communication.
fn communicates(event: &Event<'_>) -> bool {
    matches!(
        event,
        Event::MpiSend { .. }
            | Event::MpiIsend { .. }
            | Event::MpiIsendComplete { .. }
            | Event::MpiIrecvRequest { .. }
            | Event::MpiRecv { .. }
            | Event::MpiIrecv { .. }
            | Event::MpiMrecv { .. }
            | Event::MpiImrecvRequest { .. }
            | Event::MpiImrecv { .. }
            | Event::NonBlockingCollectiveRequest { .. }
            | Event::NonBlockingCollectiveComplete { .. }
            | Event::RmaCollectiveEnd { .. }
            | Event::RmaGroupSync { .. }
            | Event::RmaRequestLock { .. }
            | Event::RmaReleaseLock { .. }
            | Event::RmaPut { .. }
            | Event::RmaGet { .. }
            | Event::RmaAtomic { .. }
            | Event::RmaOpCompleteBlocking { .. }
            | Event::RmaOpCompleteNonBlocking { .. }
            | Event::RmaOpCompleteRemote { .. }
    )
}

#[cfg(test)]
mod tests;
