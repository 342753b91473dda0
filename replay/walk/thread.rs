//! The call stack of one location: which call path its time goes to.

use std::collections::hash_map::Entry;

use model::Ticks;
use rustc_hash::FxHashMap;

use crate::call_tree::{NO_PATH, PathId};
use crate::coverage::Fate;
use crate::operations::{CallId, NO_CALL};
use crate::severity::{MetricId, Row, Severities};

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
    /// The call in the operations, once something was communicated in it.
    pub(super) call: CallId,
    /// When a collective operation began that has not ended yet.
    pub(super) collective_begin: Option<Ticks>,
    /// What becomes of its time, where an operation decides that.
    pub(super) fate: Option<Fate>,
    /// The calling context that it was entered by.
    pub(super) context: u32,
    /// Its visit to a barrier of threads, in the operations.
    pub(super) barrier: u32,
    /// The last receive that it completed.
    pub(super) last_receive: u32,
    /// A region inside was left since that receive.
    pub(super) inner_leave: bool,
}

impl Frame {
    pub(super) fn new(path: PathId, row: Row, region: u32, enter: Ticks) -> Frame {
        Frame {
            path,
            row,
            region,
            enter,
            call: NO_CALL,
            collective_begin: None,
            fate: None,
            context: NONE,
            barrier: NONE,
            last_receive: NONE,
            inner_leave: false,
        }
    }
}

/// Frames from this depth on are counted by region and context: in a recursion that is very deep a search would take long.
const DEEP: usize = 64;

/// What was counted of a location up to some moment, in ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Elapsed {
    pub(super) time: Ticks,
    pub(super) mpi: Ticks,
}

/// The state of one location while its events are walked.
#[derive(Debug)]
pub(super) struct Thread {
    /// Position of the location in the report.
    pub(super) location: u32,
    pub(super) stack: Vec<Frame>,
    /// How many frames from [`DEEP`] on are of a region, by its position, or of a context, behind all regions.
    deep: FxHashMap<u64, u32>,
    /// The path above the lowest frame.
    pub(super) base: PathId,
    /// The teams that it is a member of, by the numbers of their forks; the last is the innermost.
    pub(super) member_of: Vec<u32>,
    /// Its events are missing from some moment on, or all of them.
    pub(super) is_lost: bool,
    /// How often it became a member of a team.
    pub(super) teams: u32,
    /// The time up to which exclusive time was given to paths.
    accounted: Ticks,
    /// The latest time that was seen.
    pub(super) now: Ticks,
    /// Number of open frames that are MPI calls.
    pub(super) mpi_depth: u32,
    pub(super) elapsed: Elapsed,
    /// What had elapsed when the process left MPI_Init, and when it entered MPI_Finalize.
    pub(super) at_init: Elapsed,
    pub(super) at_finalize: Option<Elapsed>,
    /// Exclusive ticks and visits, by row.
    time: Vec<i64>,
    visits: Vec<i64>,
    pub(super) severities: Severities,
}

impl Thread {
    pub(super) fn new(location: usize) -> Thread {
        Thread {
            location: location as u32,
            stack: Vec::new(),
            deep: FxHashMap::default(),
            base: NO_PATH,
            member_of: Vec::new(),
            is_lost: false,
            teams: 0,
            accounted: Ticks::MIN,
            now: Ticks::MIN,
            mpi_depth: 0,
            elapsed: Elapsed::default(),
            at_init: Elapsed::default(),
            at_finalize: None,
            time: Vec::new(),
            visits: Vec::new(),
            severities: Severities::default(),
        }
    }

    /// The path that is active now.
    pub(super) fn path(&self) -> PathId {
        self.stack.last().map_or(self.base, |frame| frame.path)
    }

    /// Gives the time since the last account to a row.
    #[inline]
    pub(super) fn account(&mut self, row: Row, time: Ticks) {
        if self.accounted != Ticks::MIN {
            self.add_time(row, time - self.accounted);
        }
        self.accounted = time;
    }

    /// Gives the time since the last account to the innermost region; outside of any it belongs to nothing.
    pub(super) fn account_innermost(&mut self, time: Ticks) {
        match self.stack.last() {
            Some(frame) => self.account(frame.row, time),
            None => self.skip(time),
        }
    }

    /// Forgets the time since the last account: nothing ran.
    pub(super) fn skip(&mut self, time: Ticks) {
        self.accounted = time;
    }

    /// Adds exclusive time to a row.
    #[inline]
    pub(super) fn add_time(&mut self, row: Row, ticks: Ticks) {
        let at = row as usize;
        if at >= self.time.len() {
            self.time.resize(at + 1, 0);
        }
        self.time[at] = self.time[at].saturating_add(ticks);
        self.elapsed.time = self.elapsed.time.saturating_add(ticks);
    }

    /// Pushes a frame at the current time; time so far goes to the frame above.
    #[inline]
    pub(super) fn push(&mut self, frame: Frame) {
        self.account_innermost(frame.enter);
        let at = frame.row as usize;
        if at >= self.visits.len() {
            self.visits.resize(at + 1, 0);
        }
        self.visits[at] += 1;
        if self.stack.len() >= DEEP {
            *self.deep.entry(frame.region.into()).or_default() += 1;
        }
        self.stack.push(frame);
    }

    /// The innermost frame was entered by a calling context.
    pub(super) fn set_context(&mut self, context: u32) {
        let is_deep = self.stack.len() > DEEP;
        let Some(frame) = self.stack.last_mut() else { return };
        frame.context = context;
        if is_deep {
            *self.deep.entry(key_of_context(context)).or_default() += 1;
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
        self.stack.iter().take(DEEP).any(is_it) || self.deep.contains_key(&key)
    }

    fn forget(&mut self, key: u64) {
        if let Entry::Occupied(mut count) = self.deep.entry(key) {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
    }

    /// Pops the innermost frame; its time goes to it.
    #[inline]
    pub(super) fn pop(&mut self, time: Ticks) -> Option<Frame> {
        let frame = self.stack.pop()?;
        if self.stack.len() >= DEEP {
            self.forget(frame.region.into());
            if frame.context != NONE {
                self.forget(key_of_context(frame.context));
            }
        }
        self.account(frame.row, time);
        if let Some(outer) = self.stack.last_mut() {
            outer.inner_leave = true;
        }
        Some(frame)
    }

    /// Hands over times and visits as severities.
    pub(super) fn finish(&mut self, time: MetricId, visits: MetricId) -> Severities {
        self.severities.set_column(time, std::mem::take(&mut self.time));
        self.severities.set_column(visits, std::mem::take(&mut self.visits));
        std::mem::take(&mut self.severities)
    }
}

/// Regions take the numbers below.
fn key_of_context(context: u32) -> u64 {
    1 << 32 | u64::from(context)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exclusive_times_sum_up_to_the_lifetime() {
        let mut thread = Thread::new(0);
        thread.push(Frame::new(0, 0, 7, 10));
        thread.push(Frame::new(1, 1, 8, 14));
        thread.pop(20);
        thread.pop(25);
        let severities = thread.finish(0, 1);
        assert_eq!((severities.column(0), severities.column(1)), (&[9, 6][..], &[1, 1][..]));
        assert_eq!(thread.elapsed.time, 15);
    }

    #[test]
    fn time_between_two_roots_belongs_to_nothing() {
        let mut thread = Thread::new(0);
        thread.push(Frame::new(0, 0, 7, 10));
        thread.pop(12);
        thread.push(Frame::new(0, 0, 7, 30));
        thread.pop(31);
        assert_eq!(thread.finish(0, 1).column(0), [3]);
    }

    #[test]
    fn regions_and_contexts_are_found_at_any_depth_until_they_are_left() {
        let mut thread = Thread::new(0);
        for depth in 0..200 {
            thread.push(Frame::new(0, 0, depth % 100, 10));
            thread.set_context(depth);
        }
        assert!([0, 63, 64, 99].map(|region| thread.is_in(region)).iter().all(|&is_in| is_in));
        assert!(!thread.is_in(100) && thread.is_in_context(199) && !thread.is_in_context(200));
        (0..110).for_each(|_| assert!(thread.pop(10).is_some()));
        assert!(thread.is_in(89) && !thread.is_in(90));
        assert!(thread.is_in_context(89) && !thread.is_in_context(90));
        (0..90).for_each(|_| assert!(thread.pop(10).is_some()));
        assert!(thread.deep.is_empty() && !thread.is_in(0));
    }
}
