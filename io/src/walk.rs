//! From records of file access of one rank to its simple phases: who has which pointer and view (io.md 3.2).

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::access::{Access, Kind, Layer, Pointer};
use crate::beneath::Requests;
use crate::calls::{Call, Purpose};
use crate::finding::Finding;
use crate::in_flight::InFlight;
use crate::numbers::{count, moved, offset, times};
use crate::operation::Operation;
use crate::pointer::advanced;
use crate::records::{Begin, Id, Opening, Request, Settings, Walked, Whence};
use crate::shared_pointer::{SharedStep, SharedSteps, summed};
use crate::simple::Manner;
use crate::stream::Stream;
use crate::transfers::Transfers;
use crate::view::{Pieces, SetView, View};

mod state;

use state::{Description, Descriptions, File, Flushed, Handle, Opened, Pending, State};

/// Most operations of a file that wait for one that began before them: if there are more, that one is taken for one that never
/// completes.
const MOST_PENDING: usize = 1 << 16;

/// The records of one rank, in the order of time.
#[derive(Clone, Debug)]
pub struct Walk {
    rank: u32,
    settings: Settings,
    handles: FxHashMap<u64, Handle>,
    /// Pointers and views, which handles that were duplicated share.
    descriptions: Descriptions,
    /// In the order of their first openings.
    files: Vec<File>,
    /// Where each file is among these, by its number.
    numbers: FxHashMap<u32, usize>,
    /// Operations that have begun: where the file is, and position among all of it.
    begun: InFlight<Id, (usize, u64)>,
    /// What concerns the shared pointers of files of MPI.
    shared: SharedSteps,
    /// Those of the operation that was handed on last: room for the next one.
    pieces: Pieces,
    walked: Walked,
}

impl Walk {
    /// Nothing has happened yet.
    pub fn new(rank: u32, settings: Settings) -> Walk {
        Walk {
            rank,
            settings,
            handles: FxHashMap::default(),
            descriptions: Descriptions::default(),
            files: Vec::new(),
            numbers: FxHashMap::default(),
            begun: InFlight::default(),
            shared: SharedSteps::new(),
            pieces: Pieces::new(),
            walked: Walked::default(),
        }
    }

    /// A handle is made.
    pub fn create(&mut self, handle: u64, opening: &Opening) {
        if self.handles.contains_key(&handle) {
            self.find(Finding::OpenedAgain);
            self.destroy(handle);
        }
        let (rank, Settings { gap, transfers, .. }) = (self.rank, self.settings);
        let at = *self.numbers.entry(opening.file).or_insert(self.files.len());
        if at == self.files.len() {
            let stream = Stream::new(rank, opening.file, gap);
            self.files.push(File::new(opening.file, stream, Transfers::new(rank, transfers)));
        }
        let file = &mut self.files[at];
        file.openings += u64::from(!opening.is_nested);
        // Nobody knows what was done by one that was made before.
        let opened = Opened { is_used: opening.was_open, time: 0 };
        file.opened.extend((!opening.is_nested).then_some(opened));
        file.facts.opens += u64::from(!opening.is_nested && !opening.was_open);
        file.facts.members = file.facts.members.max(opening.members);
        file.facts.size = file.facts.size.max(opening.size);
        file.facts.hints.extend(opening.hints.map(str::to_owned));
        let manner =
            Manner { direct: opening.direct, preallocated: false, hints: opening.hints.map(str::to_owned) };
        let pointer = match opening {
            Opening { was_open: true, .. } => None,
            Opening { append: true, size, .. } => *size,
            _ => Some(0),
        };
        let description = Description {
            handles: 1,
            opening: file.openings,
            pointer,
            view: Rc::new(View::bytes()),
            manner,
            has_views: opening.has_views,
        };
        if !opening.is_nested {
            self.describe(at, &description);
        }
        let layer = opening.layer;
        if layer == Layer::Mpi {
            self.share(handle, SharedStep::To(pointer));
        }
        let description = self.descriptions.add(description);
        self.handles.insert(handle, Handle { file: at, layer, description });
    }

    /// A handle is duplicated: both share one pointer.
    pub fn duplicate(&mut self, old: u64, new: u64) {
        let Some(handle) = self.handle(old) else { return };
        if new == old {
            return;
        }
        if self.handles.contains_key(&new) {
            self.find(Finding::OpenedAgain);
            self.destroy(new);
        }
        if let Some(description) = self.descriptions.get_mut(handle.description) {
            description.handles += 1;
        }
        self.handles.insert(new, handle);
    }

    /// A handle is closed.
    pub fn destroy(&mut self, handle: u64) {
        let Some(Handle { description, .. }) = self.handle(handle) else { return };
        self.handles.remove(&handle);
        if let Some(shared) = self.descriptions.get_mut(description) {
            shared.handles = shared.handles.saturating_sub(1);
            if shared.handles == 0 {
                self.descriptions.remove(description);
            }
        }
    }

    /// The individual pointer moves: in etypes for MPI-IO, in bytes else. The result is where it is then, if that was recorded.
    pub fn seek(&mut self, handle: u64, request: i64, whence: Whence, result: Option<u64>) {
        if let Some(description) = self.description(handle) {
            description.pointer = result.or_else(|| match whence {
                Whence::Start => offset(request.into()),
                Whence::Current => description.pointer.and_then(|pointer| moved(pointer, request.into())),
                Whence::Other => None,
            });
        }
    }

    /// The shared pointer moves, by a request in etypes. The result that is recorded may be the individual pointer (io.md 3.3).
    pub fn seek_shared(&mut self, handle: u64, request: i64, whence: Whence) {
        let step = match whence {
            Whence::Start => SharedStep::To(offset(request.into())),
            Whence::Current => SharedStep::By(request),
            Whence::Other => SharedStep::To(None),
        };
        self.share(handle, step);
    }

    /// A view is set; the pointers go to its begin.
    pub fn set_view(&mut self, handle: u64, set: &SetView) {
        let (view, finding) = View::new(set);
        if let Some(finding) = finding {
            self.find(finding);
        }
        let Some(description) = self.description(handle) else { return };
        (description.pointer, description.view, description.has_views) = (Some(0), Rc::new(view), true);
        let description = description.clone();
        self.share(handle, SharedStep::To(Some(0)));
        let Some(Handle { file, .. }) = self.handle(handle) else { return };
        self.describe(file, &description);
        if let Some(file) = self.files.get_mut(file) {
            file.facts.views.insert((set.etype, set.text.map(str::to_owned)));
        }
    }

    /// Hints of an open file change, or room is reserved for it.
    pub fn set_manner(&mut self, handle: u64, change: impl FnOnce(&mut Manner)) {
        let Some(description) = self.description(handle) else { return };
        change(&mut description.manner);
        let description = description.clone();
        let Some(Handle { file, .. }) = self.handle(handle) else { return };
        self.describe(file, &description);
        if let Some(file) = self.files.get_mut(file) {
            file.facts.hints.extend(description.manner.hints);
        }
    }

    /// A file has so many bytes.
    pub fn set_size(&mut self, file: u32, size: u64) {
        let facts = self.walked.facts.entry(file).or_default();
        facts.size = facts.size.max(Some(size));
    }

    /// A file is flushed.
    pub fn flush(&mut self, handle: u64) {
        let Some(Handle { file, .. }) = self.handle(handle) else { return };
        if let Some(file) = self.files.get_mut(file) {
            file.facts.flushes += 1;
            if let Some(opening) = file.unflushed.take() {
                file.facts.calls.flushed += 1;
                file.flushed = Some(Flushed { opening, time: 0, together: Vec::new() });
            }
            match file.pending.back_mut() {
                Some(last) => last.is_flushed = true,
                None => file.stream.flush(),
            }
        }
    }

    /// An operation begins. Those of one id end innermost first.
    pub fn begin(&mut self, id: Id, begin: &Begin) {
        let Some(handle) = self.handle(id.handle) else { return };
        let Some(description) = self.descriptions.get_mut(handle.description) else { return };
        let etype = description.view.etype();
        let own = if begin.pointer == Pointer::Individual { description.pointer } else { None };
        let at = begin.offset.or(own);
        let offset = at.zip(etype).and_then(|(at, etype)| times(at, etype));
        if begin.pointer == Pointer::Individual {
            description.pointer = if begin.non_blocking { advanced(at, begin.requested, etype) } else { at };
        }
        let Some(file) = self.files.get_mut(handle.file) else { return };
        let is_late = begin.begin < file.last;
        file.last = file.last.max(begin.begin);
        file.unflushed = (begin.kind == Kind::Write).then_some(description.opening);
        // The last flush of an opening is as it should be. Whether one is that is known when more is written, or nothing is.
        if let Some(early) = file.flushed.take_if(|flushed| file.unflushed == Some(flushed.opening)) {
            let calls = &mut file.facts.calls;
            calls.early_flushes += 1;
            calls.early_flush_time = calls.early_flush_time.saturating_add(early.time);
            for (handle, position) in early.together {
                self.walked.together.entry(handle).and_modify(|it| it.early_flushes.push(position));
            }
        }
        if let Some(opened) = file.opened_by(description.opening) {
            opened.is_used = true;
        }
        let operation = Operation {
            access: Access {
                kind: begin.kind,
                layer: handle.layer,
                collective: begin.collective,
                non_blocking: begin.non_blocking,
                pointer: begin.pointer,
            },
            opening: description.opening,
            offset,
            first: None,
            length: 0,
            size: 0,
            tick: begin.tick,
            epoch: begin.epoch,
            begin: begin.begin,
            end: begin.begin,
            caller: begin.caller,
        };
        let position = file.before + count(file.pending.len());
        file.pending.push_back(Pending {
            operation,
            requested: begin.requested,
            description: handle.description,
            view: description.view.clone(),
            has_place: description.has_views || handle.layer != Layer::Mpi,
            state: State::Begun,
            is_flushed: false,
            requests: Requests::default(),
            shared: None,
        });
        self.begun.begin(id, (handle.file, position));
        if begin.pointer == Pointer::Shared {
            let step = if begin.collective { SharedStep::Ordered(None) } else { SharedStep::Own(None) };
            let steps = self.shared.entry(id.handle).or_default();
            if let Some(own) = file.pending.back_mut() {
                own.shared = Some((id.handle, steps.len()));
            }
            steps.push(step);
        }
        let gives_up = file.pending.len() > MOST_PENDING;
        if let Some(first) = file.pending.front_mut().filter(|_| gives_up) {
            first.give_up(&mut self.walked.findings);
            file.settle(&self.settings, &mut self.pieces, &mut self.walked.findings);
        }
        if is_late {
            self.find(Finding::OutOfOrder);
        }
    }

    /// An operation is complete, and has moved so many bytes, if that is known; else it has moved what was asked for.
    pub fn complete(&mut self, id: Id, end: u64, moved: Option<u64>) {
        self.end(id, Some((end, end)), moved);
    }

    /// The same in a call that was entered at some time, to see how much of a non-blocking operation lies within it.
    pub fn complete_in_call(&mut self, id: Id, (enter, end): (u64, u64), moved: Option<u64>) {
        self.end(id, Some((enter, end)), moved);
    }

    /// An operation is cancelled.
    pub fn cancel(&mut self, id: Id) {
        self.end(id, None, None);
    }

    /// The MPI library has made a request of POSIX within an operation that has begun.
    pub fn request(&mut self, within: Id, request: Request) {
        let limit = self.settings.small_bytes;
        let Some(&(number, position)) = self.begun.get(within) else { return };
        if let Some(pending) = self.files.get_mut(number).and_then(|file| file.pending_at(position)) {
            pending.requests.add(request.bytes, request.ticks, limit);
        }
    }

    /// An operation ends, or is cancelled; `end` are the times at which the call was entered, and at which that was.
    fn end(&mut self, id: Id, end: Option<(u64, u64)>, moved: Option<u64>) {
        let Some((number, position)) = self.begun.end(id) else {
            return self.find(Finding::NeverBegun);
        };
        let Some(file) = self.files.get_mut(number) else { return };
        let Some(pending) = file.pending_at(position) else { return };
        let size = moved.or(pending.requested).filter(|size| i64::try_from(*size).is_ok());
        let Operation { access, offset, .. } = pending.operation;
        if access.pointer == Pointer::Individual
            && !access.non_blocking
            && let Some(description) = self.descriptions.get_mut(pending.description)
        {
            let etype = pending.view.etype();
            description.pointer =
                advanced(description.pointer, if end.is_some() { size } else { Some(0) }, etype);
        }
        let findings = &mut self.walked.findings;
        match (end, size) {
            (Some((enter, end)), Some(size)) => {
                if end < pending.operation.begin {
                    findings.add(Finding::EndsBeforeBegin);
                }
                let begin = pending.operation.begin;
                (pending.operation.size, pending.operation.end) = (size, end.max(begin));
                if let Some((handle, at)) = pending.shared
                    && let Some(step) = self.shared.get_mut(&handle).and_then(|steps| steps.get_mut(at))
                {
                    let moved = pending.view.etype().and_then(|etype| size.checked_div(etype));
                    *step =
                        if access.collective { SharedStep::Ordered(moved) } else { SharedStep::Own(moved) };
                }
                let is_ordered = pending.shared.is_some() && access.collective && offset.is_none();
                pending.state = if is_ordered { State::Unplaced } else { State::Complete };
                if access.non_blocking {
                    file.complete(begin, (enter, end.max(begin)));
                }
            }
            (Some((_, end)), None) => {
                findings.add(Finding::UnknownBytes);
                pending.operation.end = end.max(pending.operation.begin);
                pending.state = State::LeftOut;
            }
            (None, _) => {
                findings.add(Finding::NeverComplete);
                pending.state = State::LeftOut;
            }
        }
        file.settle(&self.settings, &mut self.pieces, findings);
    }

    /// A call on a file has returned that the program itself has made; those of a rank by itself that transfer are known already.
    pub fn call(&mut self, call: &Call) {
        let Some(file) = self.numbers.get(&call.file).map(|at| &mut self.files[*at]) else { return };
        let time = call.end.saturating_sub(call.begin);
        let calls = &mut file.facts.calls;
        match call.purpose {
            Purpose::Transfers | Purpose::TransfersTogether => {}
            Purpose::Flushes => {
                calls.flush_time = calls.flush_time.saturating_add(time);
                if let Some(flushed) = &mut file.flushed {
                    flushed.time = flushed.time.saturating_add(time);
                }
            }
            Purpose::Seeks | Purpose::Handles | Purpose::OpensOrCloses => {
                calls.handling += 1;
                calls.handling_time = calls.handling_time.saturating_add(time);
            }
        }
        if call.purpose == Purpose::OpensOrCloses
            && let Some(opened) = file.opened_by(call.opening)
        {
            opened.time = opened.time.saturating_add(time);
        }
        if !matches!(call.purpose, Purpose::Seeks | Purpose::Transfers)
            && let Some(together) = self.walked.together(call.handle, call.file, call.members.unwrap_or(1))
        {
            let list = match call.purpose {
                Purpose::TransfersTogether => &mut together.transfers,
                Purpose::Flushes => {
                    if let Some(flushed) = &mut file.flushed {
                        flushed.together.push((call.handle, count(together.flushes.len())));
                    }
                    &mut together.flushes
                }
                _ => &mut together.handling,
            };
            list.push((call.begin, call.end.max(call.begin)));
        }
    }

    /// Number of the opening that a handle belongs to, from 1 on; 0 if there is none.
    pub fn opening(&self, handle: u64) -> u64 {
        let description = self.handles.get(&handle).and_then(|it| self.descriptions.get(it.description));
        description.map_or(0, |description| description.opening)
    }

    /// What concerns the shared pointers of those handles that have ordered transfers.
    pub fn shared_steps(&self) -> SharedSteps {
        let is_ordered = |steps: &&Vec<SharedStep>| steps.iter().any(|step| step.ordered().is_some());
        let all = self.shared.iter().map(|(handle, steps)| (*handle, steps));
        all.filter(|(_, steps)| is_ordered(steps)).map(|(handle, steps)| (handle, summed(steps))).collect()
    }

    /// Says where the ordered transfers of a handle begin, in etypes, of which all are known now ([`ordered_offsets`](crate::ordered_offsets)).
    pub fn place_ordered(&mut self, handle: u64, offsets: &[Option<u64>]) {
        let Some(steps) = self.shared.get(&handle) else { return };
        let ordered = steps.iter().enumerate().filter(|(_, step)| step.ordered().is_some());
        let offsets: FxHashMap<usize, u64> =
            ordered.zip(offsets).filter_map(|((at, _), offset)| Some((at, (*offset)?))).collect();
        let known = |pending: &Pending| {
            let (_, at) = pending.shared.filter(|(shared, _)| *shared == handle)?;
            offsets.get(&at).copied().zip(pending.view.etype())
        };
        for pending in self.files.iter_mut().flat_map(|file| &mut file.pending) {
            if let Some((offset, etype)) = known(pending) {
                pending.operation.offset = times(offset, etype);
            }
        }
    }

    /// All simple phases, and what else was found. What has not ended is left out.
    pub fn finish(mut self) -> Walked {
        self.files.sort_by_key(|file| file.number);
        for mut file in self.files {
            let findings = &mut self.walked.findings;
            let unsettled = file.pending.iter_mut();
            unsettled.filter(|it| !it.is_over()).for_each(|pending| pending.give_up(findings));
            file.settle(&self.settings, &mut self.pieces, findings);
            file.count_unused();
            self.walked.simple.extend(file.stream.finish());
            if !file.transfers.is_empty() {
                self.walked.transfers.insert(file.number, file.transfers);
            }
            if !file.beneath.is_empty() {
                self.walked.beneath.insert(file.number, file.beneath);
            }
            self.walked.facts.entry(file.number).or_default().merge(&file.facts);
        }
        self.walked
    }

    fn share(&mut self, handle: u64, step: SharedStep) {
        self.shared.entry(handle).or_default().push(step);
    }

    fn describe(&mut self, file: usize, description: &Description) {
        if let Some(file) = self.files.get_mut(file) {
            file.stream.open(description.opening, description.manner.clone(), description.has_views);
        }
    }

    fn handle(&mut self, handle: u64) -> Option<Handle> {
        let found = self.handles.get(&handle).copied();
        if found.is_none() {
            self.find(Finding::NotOpen);
        }
        found
    }

    fn description(&mut self, handle: u64) -> Option<&mut Description> {
        let handle = self.handle(handle)?;
        self.descriptions.get_mut(handle.description)
    }

    fn find(&mut self, finding: Finding) {
        self.walked.findings.add(finding);
    }
}

#[cfg(test)]
mod tests;
