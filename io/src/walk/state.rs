//! What a walk knows of handles and of operations that have begun.

use std::collections::VecDeque;
use std::rc::Rc;

use crate::access::{Access, Kind, Layer};
use crate::beneath::{self, Beneath, Requests};
use crate::facts::FileFacts;
use crate::finding::{Finding, Findings};
use crate::operation::Operation;
use crate::records::Settings;
use crate::simple::Manner;
use crate::stream::Stream;
use crate::transfers::Transfers;
use crate::view::{Pieces, View};

#[derive(Clone, Copy, Debug)]
pub(super) struct Handle {
    /// Where the file is among all of the rank.
    pub(super) file: usize,
    pub(super) layer: Layer,
    /// Where its description is.
    pub(super) description: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Description {
    pub(super) handles: u64,
    pub(super) opening: u64,
    /// In etypes.
    pub(super) pointer: Option<u64>,
    pub(super) view: Rc<View>,
    pub(super) manner: Manner,
    pub(super) has_views: bool,
}

/// All descriptions, in the order in which they were made; none instead of those without handles.
#[derive(Clone, Default, Debug)]
pub(super) struct Descriptions(Vec<Option<Box<Description>>>);

impl Descriptions {
    /// Adds one; answers where it is.
    pub(super) fn add(&mut self, new: Description) -> usize {
        self.0.push(Some(Box::new(new)));
        self.0.len() - 1
    }

    pub(super) fn get(&self, at: usize) -> Option<&Description> {
        self.0.get(at)?.as_deref()
    }

    pub(super) fn get_mut(&mut self, at: usize) -> Option<&mut Description> {
        self.0.get_mut(at)?.as_deref_mut()
    }

    pub(super) fn remove(&mut self, at: usize) {
        self.0[at] = None;
    }

    /// Whether none has a handle.
    #[cfg(test)]
    pub(super) fn are_none(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }
}

/// The operations of a file.
#[derive(Clone, Debug)]
pub(super) struct File {
    pub(super) number: u32,
    pub(super) stream: Stream,
    pub(super) openings: u64,
    /// Operations that have begun, from the first one on that is not complete.
    pub(super) pending: VecDeque<Pending>,
    /// How many came before these.
    pub(super) before: u64,
    /// When the last one began.
    pub(super) last: u64,
    pub(super) facts: FileFacts,
    /// What has moved, if that is to be kept.
    pub(super) transfers: Transfers,
    /// What its operations of MPI-IO became.
    pub(super) beneath: Vec<Beneath>,
    /// By number of the opening, from 1 on.
    pub(super) opened: Vec<Opened>,
    /// The opening of the operation that began last, if that is a write that was not flushed.
    pub(super) unflushed: Option<u64>,
    /// What was flushed last, if no more of that opening was written since.
    pub(super) flushed: Option<Flushed>,
    /// When the call was entered that completed a non-blocking operation last, and how far its time was counted.
    pub(super) completing: Option<(u64, u64)>,
}

/// A write behind which the file was flushed.
#[derive(Clone, Debug)]
pub(super) struct Flushed {
    pub(super) opening: u64,
    /// Ticks of the calls that flush.
    pub(super) time: u64,
    /// Those of them that are collective: the handle, and the position among those of it.
    pub(super) together: Vec<(u64, u64)>,
}

/// What is done by an opening.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Opened {
    pub(super) is_used: bool,
    /// Ticks of the calls that open and close it.
    pub(super) time: u64,
}

impl File {
    /// Nothing was done to the file with this number.
    pub(super) fn new(number: u32, stream: Stream, transfers: Transfers) -> File {
        File {
            number,
            stream,
            openings: 0,
            pending: VecDeque::new(),
            before: 0,
            last: 0,
            facts: FileFacts::default(),
            transfers,
            beneath: Vec::new(),
            opened: Vec::new(),
            unflushed: None,
            flushed: None,
            completing: None,
        }
    }

    /// The operation at a position among all of them; none of those that were given up, of which nothing is kept.
    pub(super) fn pending_at(&mut self, position: u64) -> Option<&mut Pending> {
        let index = usize::try_from(position.checked_sub(self.before)?).ok()?;
        self.pending.get_mut(index)
    }

    /// Hands operations on whose predecessors are over; `pieces` is room for those of each.
    pub(super) fn settle(&mut self, settings: &Settings, pieces: &mut Pieces, findings: &mut Findings) {
        while let Some(pending) = self.pending.front_mut()
            && pending.is_over()
        {
            if pending.state == State::Complete {
                if let Some(finding) = pending.lay(pieces) {
                    findings.add(finding);
                }
                let operation = &pending.operation;
                self.facts.add(operation);
                beneath::add(&mut self.beneath, operation, pieces.len(), &pending.requests);
                if settings.transfers > 0 {
                    let were_too_many = self.transfers.are_too_many();
                    let Access { layer, kind, .. } = operation.access;
                    // What is read is counted when the program takes it, from a buffer that was filled before.
                    let is_exact = kind == Kind::Write && settings.has_exact_streams;
                    self.transfers.push(operation, pieces, layer == Layer::Isoc && !is_exact);
                    if self.transfers.are_too_many() && !were_too_many {
                        findings.add(Finding::TooManyTransfers);
                    }
                }
                self.stream.push(*operation);
            }
            if pending.is_flushed {
                self.stream.flush();
            }
            self.pending.pop_front();
            self.before += 1;
        }
    }

    /// What is known of an opening; `None` if it is none of the program.
    pub(super) fn opened_by(&mut self, opening: u64) -> Option<&mut Opened> {
        self.opened.get_mut(usize::try_from(opening).ok()?.checked_sub(1)?)
    }

    /// Counts the time of a non-blocking operation, and how much of it lies in the call that was entered and completed it.
    pub(super) fn complete(&mut self, begin: u64, (enter, end): (u64, u64)) {
        let from = enter.clamp(begin, end);
        // One call may complete many.
        let counted =
            self.completing.filter(|(same, _)| *same == enter).map_or(from, |(_, until)| until.max(from));
        self.completing = Some((enter, counted.max(end)));
        let calls = &mut self.facts.calls;
        for (sum, time) in [
            (&mut calls.non_blocking_time, end - begin),
            (&mut calls.awaited_time, end - from),
            (&mut calls.completing_time, end.saturating_sub(counted)),
        ] {
            *sum = sum.saturating_add(time);
        }
    }

    /// Counts openings without any operation, when no more can come.
    pub(super) fn count_unused(&mut self) {
        let calls = &mut self.facts.calls;
        for opened in self.opened.iter().filter(|opened| !opened.is_used) {
            calls.unused += 1;
            calls.unused_time = calls.unused_time.saturating_add(opened.time);
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Pending {
    pub(super) operation: Operation,
    pub(super) requested: Option<u64>,
    pub(super) description: usize,
    pub(super) view: Rc<View>,
    /// Whether the view is the file's, not that which nobody has recorded.
    pub(super) has_place: bool,
    pub(super) state: State,
    pub(super) is_flushed: bool,
    /// Requests that were made within it.
    pub(super) requests: Requests,
    /// The handle, and which of the steps of its shared pointer it is.
    pub(super) shared: Option<(u64, usize)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    Begun,
    /// It is complete, and in an order of all ranks: where it begins is known when all are.
    Unplaced,
    Complete,
    LeftOut,
}

impl Pending {
    /// Whether no more is to come of it.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.state, State::Complete | State::LeftOut)
    }

    /// Says that no more comes of it: what is complete is so wherever it is.
    pub(super) fn give_up(&mut self, findings: &mut Findings) {
        if self.state == State::Unplaced {
            self.state = State::Complete;
        } else {
            self.state = State::LeftOut;
            findings.add(Finding::NeverComplete);
        }
    }

    /// Finds where it lies in the file, and makes `found` its pieces there, none if they are unknown; answers what is wrong with that.
    fn lay(&mut self, found: &mut Pieces) -> Option<Finding> {
        let Operation { offset, size, .. } = self.operation;
        found.clear();
        let place = offset.map(|offset| match self.has_place {
            true => self.view.through(offset, size, found),
            false => self.view.place(offset, size),
        });
        self.operation.first = place.and_then(|place| place.first);
        self.operation.length = place.map_or(size, |place| place.length);
        (size > 0 && self.operation.first.is_none()).then_some(Finding::UnknownOffset)
    }
}
