//! Call stack of a thread or a task: the regions that were entered and not yet left.

use std::collections::hash_map::Entry;

use model::Ticks;
use rustc_hash::FxHashMap;

use crate::coverage::Fate;
use crate::ids::{CallId, EventNumber, PathId, Row};

/// Stands for "no calling context", "no barrier" and "no receive".
pub(super) const NONE: u32 = u32::MAX;

/// A region that was entered and not yet left.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) path: PathId,
    /// Its row in the location's severities.
    pub(super) row: Row,
    pub(super) region: u32,
    pub(super) enter: Ticks,
    /// The number of the record that entered it, if records are numbered.
    pub(super) entered: EventNumber,
    /// The call in the operations, once something was communicated in it.
    pub(super) call: CallId,
    /// The start of a collective operation that has not ended yet, and the number of that record.
    pub(super) collective_begin: Option<(Ticks, EventNumber)>,
    /// The fate of its time, if an operation decides that.
    pub(super) fate: Option<Fate>,
    /// Whether a request, or an access, is complete in it.
    pub(super) completes: bool,
    /// The number of the window of which accesses are complete in it.
    pub(super) window: u32,
    /// The calling context by which it was entered.
    pub(super) context: u32,
    /// Whether it was entered by a record of its own, and will be left by one. Otherwise it was found on the
    /// stack at a record.
    pub(super) is_certain: bool,
    /// Its visit to a barrier of threads, in the operations.
    pub(super) barrier: u32,
    /// The last receive that it completed.
    pub(super) last_receive: u32,
    /// Whether a region inside was left since that receive.
    pub(super) inner_leave: bool,
    /// Whether it has connected processes of the trace.
    pub(super) stays_inside: bool,
}

impl Frame {
    #[inline(always)]
    pub(super) fn new(path: PathId, row: Row, region: u32, enter: Ticks) -> Frame {
        Frame {
            path,
            row,
            region,
            enter,
            entered: EventNumber::NONE,
            call: CallId::NONE,
            collective_begin: None,
            fate: None,
            completes: false,
            window: NONE,
            context: NONE,
            is_certain: true,
            barrier: NONE,
            last_receive: NONE,
            inner_leave: false,
            stays_inside: false,
        }
    }
}

/// Depth from which on frames are counted by region and context: in a very deep recursion a search would take
/// long.
const DEEP: usize = 64;

/// The stack of a thread, or of a task.
#[derive(Debug)]
pub(super) struct Stack {
    /// Open frames, and behind them room for more.
    frames: Vec<Frame>,
    /// Number of open frames.
    depth: usize,
    /// Number of frames from [`DEEP`] on, by region position, or by context behind all regions. Very many locations never have one.
    deep: Option<Box<FxHashMap<u64, u32>>>,
    /// The path above the lowest frame.
    pub(super) base: PathId,
    /// The row to which time outside of any region is accounted; `None` discards it.
    pub(super) outside: Option<Row>,
    /// Number of open frames that are MPI calls.
    pub(super) mpi_depth: u32,
    /// Number of the lowest frames that may have rows of another location: the task was resumed by another
    /// thread.
    pub(super) foreign: usize,
}

impl Default for Stack {
    fn default() -> Stack {
        Stack::below(PathId::NONE, None)
    }
}

impl Stack {
    /// Returns an empty stack.
    pub(super) fn below(base: PathId, outside: Option<Row>) -> Stack {
        Stack { frames: Vec::new(), depth: 0, deep: None, base, outside, mpi_depth: 0, foreign: 0 }
    }

    /// Returns the innermost frame.
    #[inline(always)]
    pub(super) fn last(&self) -> Option<&Frame> {
        self.frames.get(self.depth.wrapping_sub(1))
    }

    /// Returns the innermost frame.
    #[inline(always)]
    pub(super) fn last_mut(&mut self) -> Option<&mut Frame> {
        self.frames.get_mut(self.depth.wrapping_sub(1))
    }

    /// Returns all frames, the outermost first.
    pub(super) fn frames(&self) -> &[Frame] {
        &self.frames[..self.depth]
    }

    /// Returns the number of frames.
    pub(super) fn len(&self) -> usize {
        self.depth
    }

    /// Whether no region is open.
    pub(super) fn is_empty(&self) -> bool {
        self.depth == 0
    }

    /// Returns the active call path.
    pub(super) fn path(&self) -> PathId {
        self.last().map_or(self.base, |frame| frame.path)
    }

    #[inline(always)]
    pub(super) fn push(&mut self, frame: Frame) {
        if self.depth >= DEEP {
            self.remember_deep(frame.region);
        }
        match self.frames.get_mut(self.depth) {
            Some(room) => *room = frame,
            None => self.frames.push(frame),
        }
        self.depth += 1;
    }

    /// Pops the innermost frame, if there is one. Marks in the next one that a region inside was left.
    #[inline(always)]
    pub(super) fn pop(&mut self) -> Option<&Frame> {
        if self.depth > DEEP {
            self.forget_deep();
        }
        self.depth = self.depth.checked_sub(1)?;
        if let Some(outer) = self.last_mut() {
            outer.inner_leave = true;
        }
        self.frames.get(self.depth)
    }

    #[cold]
    fn remember_deep(&mut self, region: u32) {
        self.remember(region.into());
    }

    /// Removes the innermost frame from the counts, before it is popped.
    #[cold]
    fn forget_deep(&mut self) {
        let Some(&Frame { region, context, .. }) = self.last() else { return };
        self.forget(region.into());
        if context != NONE {
            self.forget(key_of_context(context));
        }
    }

    /// Sets the calling context by which the innermost frame was entered; `is_certain` means by a record of
    /// its own.
    pub(super) fn set_context(&mut self, context: u32, is_certain: bool) {
        let is_deep = self.depth > DEEP;
        let Some(frame) = self.last_mut() else { return };
        (frame.context, frame.is_certain) = (context, is_certain);
        if is_deep {
            self.remember(key_of_context(context));
        }
    }

    /// Whether a frame is of this region.
    pub(super) fn is_in(&self, region: u32) -> bool {
        self.has(u64::from(region), |frame| frame.region == region)
    }

    /// Whether a frame was entered by this calling context.
    pub(super) fn is_in_context(&self, context: u32) -> bool {
        self.has(key_of_context(context), |frame| frame.context == context)
    }

    fn has(&self, key: u64, is_it: impl Fn(&Frame) -> bool) -> bool {
        self.frames().iter().take(DEEP).any(is_it)
            || self.deep.as_ref().is_some_and(|deep| deep.contains_key(&key))
    }

    fn remember(&mut self, key: u64) {
        *self.deep.get_or_insert_default().entry(key).or_default() += 1;
    }

    fn forget(&mut self, key: u64) {
        let Some(deep) = &mut self.deep else { return };
        if let Entry::Occupied(mut count) = deep.entry(key) {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
    }
}

/// Returns the key of a context; the lower numbers are those of regions.
fn key_of_context(context: u32) -> u64 {
    1 << 32 | u64::from(context)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_and_contexts_are_found_at_any_depth_until_they_are_left() {
        let mut stack = Stack::default();
        for depth in 0..200 {
            stack.push(Frame::new(PathId::default(), Row::default(), depth % 100, 10));
            stack.set_context(depth, true);
        }
        assert!([0, 63, 64, 99].map(|region| stack.is_in(region)).iter().all(|&is_in| is_in));
        assert!(!stack.is_in(100) && stack.is_in_context(199) && !stack.is_in_context(200));
        (0..110).for_each(|_| assert!(stack.pop().is_some()));
        assert!(stack.is_in(89) && !stack.is_in(90));
        assert!(stack.is_in_context(89) && !stack.is_in_context(90));
        (0..90).for_each(|_| assert!(stack.pop().is_some()));
        assert!(!stack.is_in(0));
        assert!(stack.deep.is_some_and(|deep| deep.is_empty()));
    }
}
