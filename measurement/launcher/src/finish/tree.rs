//! The tree of calling contexts with depths, and the walk of a thread through it.

use super::contexts::{Context, NO_CONTEXT};
use otf2::Event;

/// The calling contexts of an archive with their depths.
#[derive(Debug)]
pub(crate) struct Tree<'a> {
    contexts: &'a [Context],
    /// Number of contexts on the path of each.
    depths: Vec<u32>,
}

/// An event of a calling context.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Step {
    pub(crate) kind: StepKind,
    /// The path that the thread was on before; [`NO_CONTEXT`] for an empty one.
    pub(crate) before: u32,
    /// The path that the event refers to, likewise.
    pub(crate) path: u32,
}

/// The kind of an event of a calling context, which concerns the innermost context of its path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StepKind {
    /// The context is entered.
    Enter,
    /// The context is left.
    Leave,
    /// The thread was sampled there.
    Sample,
}

impl<'a> Tree<'a> {
    /// Creates a tree; parents come before their children.
    pub(crate) fn new(contexts: &'a [Context]) -> Self {
        let mut depths: Vec<u32> = Vec::with_capacity(contexts.len());
        for context in contexts {
            let above = context.parent.and_then(|parent| depths.get(parent as usize));
            depths.push(above.map_or(1, |above| above + 1));
        }
        Tree { contexts, depths }
    }

    /// Returns the number of contexts on a path.
    pub(crate) fn depth(&self, path: u32) -> u32 {
        self.depths.get(path as usize).copied().unwrap_or(0)
    }

    /// Returns the path without its innermost context.
    pub(crate) fn parent(&self, path: u32) -> u32 {
        let context = self.contexts.get(path as usize);
        context.and_then(|context| context.parent).unwrap_or(NO_CONTEXT)
    }

    /// Returns the region of the innermost context; `None` for an empty path.
    pub(crate) fn region(&self, path: u32) -> Option<u32> {
        self.contexts.get(path as usize).map(|context| context.region)
    }

    /// Returns the longest common prefix of two paths.
    pub(crate) fn common(&self, mut one: u32, mut other: u32) -> u32 {
        while one != other {
            match self.depth(one) >= self.depth(other) {
                true => one = self.parent(one),
                false => other = self.parent(other),
            }
        }
        one
    }

    /// Returns the prefixes of two paths that lead to the innermost function which is active in both: their
    /// common prefix, or one context more if the next two differ only in the line that the function has come
    /// to.
    pub(crate) fn meeting(&self, one: u32, other: u32) -> (u32, u32) {
        let common = self.common(one, other);
        let child = |path| self.ancestor(path, self.depth(common) + 1);
        let children = (child(one), child(other));
        match self.region(children.0).is_some() && self.region(children.0) == self.region(children.1) {
            true => children,
            false => (common, common),
        }
    }

    /// Returns the prefix of a path with so many contexts; [`NO_CONTEXT`] if the path is shorter.
    fn ancestor(&self, mut path: u32, depth: u32) -> u32 {
        if self.depth(path) < depth {
            return NO_CONTEXT;
        }
        while self.depth(path) > depth {
            path = self.parent(path);
        }
        path
    }

    /// Returns the unwind distance that OTF2 defines for an event: 1 more than the number of contexts that
    /// are new. What is entered is new even if the thread was there before.
    pub(crate) fn distance(&self, step: Step) -> u32 {
        let depth = self.depth(step.path);
        let mut kept = self.depth(self.common(step.before, step.path));
        if step.kind == StepKind::Enter {
            kept = kept.min(depth.saturating_sub(1));
        }
        depth - kept + 1
    }
}

/// Follows the events of a location through the tree.
#[derive(Clone, Debug)]
pub(crate) struct PathWalk<'a> {
    pub(crate) tree: &'a Tree<'a>,
    /// Global contexts by the numbers of the location.
    own: &'a [u32],
    path: u32,
    /// The paths that were left for tasks, which have their own; the innermost last.
    suspended: Vec<u32>,
}

impl<'a> PathWalk<'a> {
    /// Creates a walk before the first event.
    pub(crate) fn new(tree: &'a Tree<'a>, own: &'a [u32]) -> Self {
        PathWalk { tree, own, path: NO_CONTEXT, suspended: Vec::new() }
    }

    /// Steps past an event; `None` if it is not of a calling context. A task that starts runs until it is complete, as
    /// the recorder has it.
    ///
    /// # Errors
    /// If its calling context is unknown. The walk is as if the event were not there.
    pub(crate) fn step(&mut self, event: &Event<'_>) -> Result<Option<Step>, UnknownContext> {
        let (kind, number) = match *event {
            Event::CallingContextEnter { calling_context, .. } => (StepKind::Enter, calling_context),
            Event::CallingContextLeave { calling_context } => (StepKind::Leave, calling_context),
            Event::CallingContextSample { calling_context, .. } => (StepKind::Sample, calling_context),
            Event::ThreadTaskSwitch { .. } => {
                self.suspended.push(std::mem::replace(&mut self.path, NO_CONTEXT));
                return Ok(None);
            }
            Event::ThreadTaskComplete { .. } => {
                self.path = self.suspended.pop().unwrap_or(self.path);
                return Ok(None);
            }
            _ => return Ok(None),
        };
        let path = *self.own.get(number as usize).ok_or(UnknownContext)?;
        let after = if kind == StepKind::Leave { self.tree.parent(path) } else { path };
        let before = std::mem::replace(&mut self.path, after);
        Ok(Some(Step { kind, before, path }))
    }
}

/// A calling context that the paths of the location do not have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct UnknownContext;

#[cfg(test)]
mod tests {
    use super::*;

    /// `main` in two lines, in each of which `solve` is called, from the first one in two lines; MPI
    /// functions in all of them, and another root.
    fn contexts() -> Vec<Context> {
        const MAIN: u32 = 0;
        const SOLVE: u32 = 1;
        const SEND: u32 = 2;
        let context = |region, line, parent| Context { region, line, parent };
        vec![
            context(MAIN, Some(0), None),
            context(MAIN, Some(1), None),
            context(SOLVE, Some(2), Some(0)),
            context(SOLVE, Some(3), Some(0)),
            context(SOLVE, Some(2), Some(1)),
            context(SEND, None, Some(0)),
            context(SEND, None, Some(2)),
            context(SEND, None, Some(3)),
            context(SEND, None, Some(4)),
            context(SOLVE, None, None),
        ]
    }

    fn distances(kind: StepKind, cases: &[(u32, u32, u32)]) {
        let contexts = contexts();
        let tree = Tree::new(&contexts);
        for &(before, path, distance) in cases {
            let found = tree.distance(Step { kind, before, path });
            assert_eq!(found, distance, "{kind:?} from {before} to {path}");
        }
    }

    #[test]
    fn distance_of_an_enter_counts_what_is_new_and_what_is_entered_always() {
        let cases = [
            (NO_CONTEXT, 6, 4),
            (2, 6, 2),
            (3, 6, 3),
            (0, 6, 3),
            (4, 6, 4),
            (6, 6, 2),
            (6, 0, 2),
            (9, 5, 3),
            (6, NO_CONTEXT, 1),
        ];
        distances(StepKind::Enter, &cases);
    }

    #[test]
    fn distance_of_a_sample_is_1_where_nothing_was_entered() {
        let cases =
            [(NO_CONTEXT, 2, 3), (2, 2, 1), (6, 2, 1), (6, 0, 1), (0, 3, 2), (1, 0, 2), (6, NO_CONTEXT, 1)];
        distances(StepKind::Sample, &cases);
    }

    #[test]
    fn paths_meet_in_the_function_that_is_active_in_both_whatever_its_line() {
        let contexts = contexts();
        let tree = Tree::new(&contexts);
        // One line further in `main`, and in `solve` of one call; `solve` of another call is another one.
        assert_eq!(tree.meeting(0, 1), (0, 1));
        assert_eq!(tree.meeting(6, 3), (2, 3));
        assert_eq!(tree.meeting(2, 8), (0, 1));
        assert_eq!(tree.meeting(6, 2), (2, 2));
        assert_eq!(tree.meeting(2, 2), (2, 2));
        assert_eq!(tree.meeting(5, 2), (0, 0), "other functions, called by one");
        assert_eq!(tree.meeting(2, 9), (NO_CONTEXT, NO_CONTEXT));
        assert_eq!(tree.meeting(NO_CONTEXT, 2), (NO_CONTEXT, NO_CONTEXT));
    }

    #[test]
    fn task_has_a_path_of_its_own_until_it_is_complete() {
        let contexts = contexts();
        let tree = Tree::new(&contexts);
        let mut walk = PathWalk::new(&tree, &[6, 9]);
        let enter = |calling_context| Event::CallingContextEnter { calling_context, unwind_distance: 9 };
        let leave = |calling_context| Event::CallingContextLeave { calling_context };
        let task = |generation_number| Event::ThreadTaskSwitch {
            thread_team: 0,
            creating_thread: 0,
            generation_number,
        };
        let complete = |generation_number| Event::ThreadTaskComplete {
            thread_team: 0,
            creating_thread: 0,
            generation_number,
        };
        let mut before = |event| walk.step(&event).map(|step| step.map(|step| step.before));
        assert_eq!(before(enter(0)), Ok(Some(NO_CONTEXT)));
        assert_eq!(before(task(1)), Ok(None));
        assert_eq!(before(enter(1)), Ok(Some(NO_CONTEXT)));
        assert_eq!(before(task(2)), Ok(None));
        assert_eq!(before(enter(1)), Ok(Some(NO_CONTEXT)));
        assert_eq!(before(complete(2)), Ok(None));
        assert_eq!(before(leave(1)), Ok(Some(9)));
        assert_eq!(before(complete(1)), Ok(None));
        assert_eq!(before(leave(0)), Ok(Some(6)));
        assert_eq!(before(complete(3)), Ok(None), "which makes no sense");
        assert_eq!(before(leave(0)), Ok(Some(2)));
    }

    #[test]
    fn path_behind_a_leave_is_that_of_the_caller() {
        let contexts = contexts();
        let tree = Tree::new(&contexts);
        let mut walk = PathWalk::new(&tree, &[6, 2, NO_CONTEXT]);
        let enter = |calling_context| Event::CallingContextEnter { calling_context, unwind_distance: 9 };
        let leave = |calling_context| Event::CallingContextLeave { calling_context };
        let mut step = |event| walk.step(&event).map(|step| step.map(|step| (step.before, step.path)));
        assert_eq!(step(enter(0)), Ok(Some((NO_CONTEXT, 6))));
        assert_eq!(step(Event::OmpJoin {}), Ok(None));
        assert_eq!(step(leave(0)), Ok(Some((6, 6))));
        assert_eq!(step(leave(3)), Err(UnknownContext));
        assert_eq!(step(enter(1)), Ok(Some((2, 2))));
        assert_eq!(step(enter(2)), Ok(Some((2, NO_CONTEXT))));
        assert_eq!(step(leave(2)), Ok(Some((NO_CONTEXT, NO_CONTEXT))));
    }
}
