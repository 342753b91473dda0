//! Calling contexts: events that carry a whole call path instead of one region.
//!
//! A record names the innermost node of the path and the number of nodes that were entered since the last
//! record; all other open regions that are not on the path have been left. All of this counts as happening at
//! the record's time.
//!
//! **Time between two records.** Some regions are entered and left by records of their own: they are
//! *certain* to be active in between. All others are known only from the stack at a record: they were active
//! then, and their return is unknown. So the time between two records belongs to the innermost region that is
//! certain, or on the paths of both records: their common ancestor. Samples say more, up to their maximum
//! distance: the time before a sample belongs to its path, and so does the time behind the last one
//! ([`sampling`](super::sampling)). The reference attributes all time to the path of the earlier record.

use model::Ticks;

use super::process::ProcessWalk;
use super::sampling::Record;
use super::stack::{Frame, NONE};
use crate::findings::Finding;
use crate::ids::{PathId, Row};
use crate::int::to_u32;

/// The difference between the path of a thread and that of a record.
struct Change {
    /// Nodes of calling contexts that are entered, the innermost first.
    entered: Vec<usize>,
    /// The number of frames below them that stay.
    kept: usize,
}

impl ProcessWalk<'_> {
    /// Enters a region on the path `context`, whose innermost `distance - 1` nodes are new.
    pub(super) fn enter_context(&mut self, thread: usize, context: usize, distance: u32, time: Ticks) {
        let change = self.change(thread, context, distance.max(2));
        // Without samples the row is not needed.
        let has_samples = self.longest_gap != Ticks::MAX;
        let row = if has_samples { self.row_behind(thread, &change) } else { None };
        let record = row.map(|row| (row, false));
        self.account_before(thread, &change, record, time);
        self.apply(thread, &change, true, time);
        self.end_interval(thread, record);
    }

    /// Adds a sample of a thread on the path `context`, whose innermost `distance - 1` nodes are new.
    pub(super) fn sample_context(&mut self, thread: usize, context: usize, distance: u32, time: Ticks) {
        let change = self.change(thread, context, distance);
        let is_known = self.is_within_sampling(thread, time) && self.trace.semantics.attributes_samples();
        match self.row_behind(thread, &change).filter(|_| is_known) {
            Some(row) => self.threads[thread].account_sampled(row, time),
            None => self.account_before(thread, &change, None, time),
        }
        self.apply(thread, &change, false, time);
        let state = &mut self.threads[thread];
        if let Some(row) = state.stack.last().map(|frame| frame.row) {
            let counts = state.counts(time);
            state.samples.get_or_insert_default().count(row, time, counts);
        }
    }

    /// Leaves the region of `context`.
    pub(super) fn leave_context(&mut self, thread: usize, context: usize, time: Ticks) {
        if !self.holds(thread, context) {
            let region = self.trace.definitions.calling_contexts[context].region;
            let trace = self.trace;
            self.find(Finding::LeaveWithoutEnter, thread, || {
                format!("leaves {}, which is not entered", trace.region_name(to_u32(region)))
            });
            return;
        }
        let frames = self.threads[thread].stack.frames();
        let at = frames.iter().rposition(|frame| frame.context == to_u32(context)).unwrap_or(0);
        let record = Some((frames[at].row, true));
        self.account_common(thread, at + 1, record, time);
        while self.threads[thread].stack.len() > at {
            self.leave_innermost(thread, time);
        }
        self.end_interval(thread, record);
    }

    /// Accounts the time since the last record to the innermost region that is certain, or among the `kept`
    /// outermost ones; or as samples between the last record and this one suggest. If that is the innermost
    /// region of all, its time is accounted when it is left or another one is entered, as without calling
    /// contexts.
    pub(super) fn account_common(&mut self, thread: usize, kept: usize, record: Option<Record>, time: Ticks) {
        let is_short = self.is_within_sampling(thread, time);
        let state = &mut self.threads[thread];
        let frames = state.stack.frames();
        let innermost = frames.last().filter(|frame| !frame.is_certain);
        let is_known = self.trace.semantics.attributes_samples();
        let Some(&Frame { row: sampled, .. }) = innermost.filter(|_| is_known) else { return };
        if is_short && state.samples.as_ref().is_some_and(|samples| samples.last == state.accounted) {
            return state.account_sampled(sampled, time);
        }
        let above = frames.iter().skip(kept).rposition(|frame| frame.is_certain);
        // Where nothing is common, a thread is still in its first function.
        let common = above.map_or(kept, |above| kept + above + 1).max(1);
        let row = frames[common - 1].row;
        if state.accounted == Ticks::MIN {
            return state.account(row, time);
        }
        let ticks = time - state.accounted;
        if !is_short {
            let counted = state.counted(state.accounted, ticks);
            state.samples.get_or_insert_default().add_away(row, counted);
        }
        let record = record.filter(|_| is_short);
        let shared = state.samples.as_mut().zip(record);
        let shared = shared.and_then(|(samples, record)| samples.row_between(record, ticks));
        let row = shared.unwrap_or(row);
        state.move_charges(row);
        state.account(row, time);
    }

    /// Accounts the time before a path changes, in the same way. A function that continues behind another
    /// call of it is the same one: the node of the earlier call gets the time, which is behind that call.
    fn account_before(&mut self, thread: usize, change: &Change, record: Option<Record>, time: Ticks) {
        let contexts = &self.trace.definitions.calling_contexts;
        let next = self.threads[thread].stack.frames().get(change.kept);
        let goes_on = next.zip(change.entered.last()).is_some_and(|(frame, &entered)| {
            !frame.is_certain
                && frame.context != to_u32(entered)
                && frame.region == to_u32(contexts[entered].region)
        });
        self.account_common(thread, change.kept + usize::from(goes_on), record, time);
    }

    /// Ends an interval between records that enter or leave regions.
    fn end_interval(&mut self, thread: usize, record: Option<Record>) {
        if let Some(samples) = &mut self.threads[thread].samples {
            samples.end(record);
        }
    }

    /// Returns the row of a thread behind a change; `None` if no region stays.
    fn row_behind(&mut self, thread: usize, change: &Change) -> Option<Row> {
        let kept = self.threads[thread].stack.frames()[change.kept.checked_sub(1)?];
        if change.entered.is_empty() {
            return Some(kept.row);
        }
        let contexts = &self.trace.definitions.calling_contexts;
        let enter = |path: PathId, &context: &usize| {
            let (region, site) = (to_u32(contexts[context].region), self.trace.site_of_context[context]);
            self.tree.enter(path, region, site)
        };
        let path = change.entered.iter().rev().fold(kept.path, enter);
        let row = self.threads[thread].severities.row(path);
        self.classify(thread, row, path);
        Some(row)
    }

    /// Whether the time since the last record is within the maximum distance of samples.
    fn is_within_sampling(&self, thread: usize, time: Ticks) -> bool {
        let since = self.threads[thread].accounted;
        since != Ticks::MIN && time.saturating_sub(since) <= self.longest_gap
    }

    /// Returns the difference between the path of a thread and `context`, whose innermost `distance - 1`
    /// nodes are new.
    fn change(&self, thread: usize, context: usize, distance: u32) -> Change {
        let contexts = &self.trace.definitions.calling_contexts;
        let mut entered = Vec::new();
        let mut node = Some(context);
        for _ in 1..distance {
            let Some(at) = node else { break };
            entered.push(at);
            node = contexts[at].parent;
        }
        // All open regions above the last old node were left meanwhile.
        while let Some(at) = node {
            if self.holds(thread, at) {
                break;
            }
            entered.push(at);
            node = contexts[at].parent;
        }
        let keep = node.map_or(NONE, |at| to_u32(at));
        let frames = self.threads[thread].stack.frames();
        let kept = frames.iter().rposition(|frame| frame.context == keep).map_or(0, |at| at + 1);
        Change { entered, kept }
    }

    /// Leaves and enters regions as a path changes; the innermost one `is_certain` if it was entered by
    /// itself.
    fn apply(&mut self, thread: usize, change: &Change, is_certain: bool, time: Ticks) {
        while self.threads[thread].stack.len() > change.kept {
            self.leave_innermost(thread, time);
        }
        let contexts = &self.trace.definitions.calling_contexts;
        for (above, &at) in change.entered.iter().enumerate().rev() {
            let (region, site) = (to_u32(contexts[at].region), self.trace.site_of_context[at]);
            self.enter(thread, region, site, time);
            self.threads[thread].stack.set_context(to_u32(at), is_certain && above == 0);
        }
    }

    fn holds(&self, thread: usize, context: usize) -> bool {
        self.threads[thread].stack.is_in_context(to_u32(context))
    }
}
