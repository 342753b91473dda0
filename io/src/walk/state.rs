//! What a walk knows of handles and of operations that have begun.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::access::Layer;
use crate::facts::FileFacts;
use crate::operation::Operation;
use crate::simple::Manner;
use crate::stream::Stream;
use crate::view::View;

#[derive(Clone, Copy, Debug)]
pub(super) struct Handle {
    pub(super) file: u32,
    pub(super) layer: Layer,
    pub(super) description: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Description {
    pub(super) handles: u64,
    pub(super) opening: u64,
    /// In etypes.
    pub(super) pointer: Option<u64>,
    pub(super) view: Arc<View>,
    pub(super) manner: Manner,
    pub(super) has_views: bool,
}

/// The operations of a file.
#[derive(Clone, Debug)]
pub(super) struct File {
    pub(super) stream: Stream,
    pub(super) openings: u64,
    /// Operations that have begun, from the first one on that is not complete.
    pub(super) pending: VecDeque<Pending>,
    /// How many came before these.
    pub(super) before: u64,
    /// When the last one began.
    pub(super) last: u64,
    pub(super) facts: FileFacts,
}

#[derive(Clone, Debug)]
pub(super) struct Pending {
    pub(super) operation: Operation,
    pub(super) requested: Option<u64>,
    pub(super) description: u64,
    pub(super) view: Arc<View>,
    /// Whether the view is the file's, not that which nobody has recorded.
    pub(super) has_place: bool,
    pub(super) state: State,
    pub(super) is_flushed: bool,
    /// The operation of the same id around it.
    pub(super) around: Option<(u32, u64)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    Begun,
    Complete,
    LeftOut,
}

impl Pending {
    /// Its pieces in the file; none if they are unknown.
    pub(super) fn pieces(&self) -> Vec<(u64, u64)> {
        let offset = self.operation.offset.filter(|_| self.has_place);
        offset.and_then(|offset| self.view.through(offset, self.operation.size)).unwrap_or_default()
    }
}
