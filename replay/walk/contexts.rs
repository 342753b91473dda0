//! Calling contexts: events that carry a whole call path instead of one region.
//!
//! A record names the innermost node of the path and how many nodes were entered since the last record; what else was
//! open and is not on the path has been left. All of it counts as happening at the record's time.

use model::Ticks;

use super::process::ProcessWalk;
use super::stack::NONE;
use crate::findings::Finding;

impl ProcessWalk<'_> {
    /// The path changes to `context`, of which the innermost `distance - 1` nodes were newly entered.
    pub(super) fn change_context(&mut self, thread: usize, context: usize, distance: u32, time: Ticks) {
        let contexts = &self.trace.definitions.calling_contexts;
        let mut entered = Vec::new();
        let mut node = Some(context);
        for _ in 1..distance {
            let Some(at) = node else { break };
            entered.push(at);
            node = contexts[at].parent;
        }
        // Whatever is open above the last old node was left meanwhile.
        while let Some(at) = node {
            if self.holds(thread, at) {
                break;
            }
            entered.push(at);
            node = contexts[at].parent;
        }
        let keep = node.map_or(NONE, |at| at as u32);
        while let Some(frame) = self.threads[thread].stack.last() {
            if frame.context == keep || (keep == NONE && frame.context == NONE) {
                break;
            }
            self.leave_innermost(thread, time);
        }
        for at in entered.into_iter().rev() {
            let (region, site) = (contexts[at].region as u32, self.trace.site_of_context[at]);
            self.enter(thread, region, site, time);
            self.threads[thread].stack.set_context(at as u32);
        }
    }

    /// The region of `context` is left.
    pub(super) fn leave_context(&mut self, thread: usize, context: usize, time: Ticks) {
        if !self.holds(thread, context) {
            let region = self.trace.definitions.calling_contexts[context].region;
            let trace = self.trace;
            self.find(Finding::LeaveWithoutEnter, thread, || {
                format!("leaves {}, which is not entered", trace.region_name(region as u32))
            });
            return;
        }
        while let Some(frame) = self.threads[thread].stack.last() {
            let is_wanted = frame.context == context as u32;
            self.leave_innermost(thread, time);
            if is_wanted {
                break;
            }
        }
    }

    fn holds(&self, thread: usize, context: usize) -> bool {
        self.threads[thread].stack.is_in_context(context as u32)
    }
}
