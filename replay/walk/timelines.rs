//! Timelines of a thread: when it spent its time, by class (`replay/details/timeline.rs`).
//!
//! Each row of the thread's severities has a class, which follows from its region, and an outermost parallel region. Both are
//! determined once, when a call path is new to the thread.

use model::Ticks;

use super::process::ProcessWalk;
use super::stack::Frame;
use crate::details::{Bins, ClassId, LocationTimeline, THREADS, Timeline, WaitClass};
use crate::files_in_mpi::regions_of;
use crate::ids::{PathId, Row};
use crate::int::to_u32;

/// What is known of a row.
#[derive(Clone, Copy, Debug, Default)]
struct RowClass {
    class: ClassId,
    is_known: bool,
    /// Position of its outermost parallel region in [`ThreadTimeline::regions`].
    region: u32,
}

/// The timelines of a thread during the walk.
#[derive(Debug)]
pub(super) struct ThreadTimeline {
    rows: Vec<RowClass>,
    of_classes: Timeline,
    /// By outermost parallel region, or none; nothing if the process has one thread only.
    regions: Vec<(PathId, Timeline<1>)>,
    bins: Bins,
}

impl ThreadTimeline {
    pub(super) fn new(bins: Bins) -> ThreadTimeline {
        ThreadTimeline { rows: Vec::new(), of_classes: Timeline::of_walk(bins), regions: Vec::new(), bins }
    }

    /// Whether the class of a row is known.
    #[inline(always)]
    pub(super) fn knows(&self, row: Row) -> bool {
        self.rows.get(row.index()).is_some_and(|row| row.is_known)
    }

    /// Adds ticks that were spent in a row from a time on.
    #[inline(always)]
    pub(super) fn spend(&mut self, row: Row, begin: Ticks, ticks: Ticks) {
        let RowClass { class, region, .. } = self.rows.get(row.index()).copied().unwrap_or_default();
        self.of_classes.spend(class, begin, ticks);
        if let Some((_, timeline)) = self.regions.get_mut(region as usize) {
            timeline.spend(0, begin, ticks);
        }
    }

    /// Moves ticks of a row to those of the interfaces of threads: a team was started or ended in them.
    pub(super) fn manage(&mut self, row: Row, begin: Ticks, ticks: Ticks) {
        let from = self.rows.get(row.index()).copied().unwrap_or_default().class;
        self.of_classes.wait(WaitClass { own: THREADS, from }, begin, ticks);
    }

    pub(super) fn finish(self) -> LocationTimeline {
        LocationTimeline::new(self.of_classes, self.regions, self.bins)
    }
}

impl ProcessWalk<'_> {
    /// Determines the class of a thread's row, that of a call path, if it is not known yet.
    #[inline(always)]
    pub(super) fn classify(&mut self, thread: usize, row: Row, path: PathId) {
        if self.threads[thread].timeline.as_ref().is_some_and(|timeline| !timeline.knows(row)) {
            self.classify_row(thread, row, path);
        }
    }

    /// The same for the innermost region of a thread, and for what is outside of any.
    #[cold]
    pub(super) fn classify_innermost(&mut self, thread: usize) {
        let stack = &self.threads[thread].stack;
        let (outside, base) = (stack.outside, stack.base);
        if let Some(&Frame { row, path, .. }) = stack.last() {
            self.classify(thread, row, path);
        }
        if let Some(row) = outside {
            self.classify(thread, row, base);
        }
    }

    #[cold]
    fn classify_row(&mut self, thread: usize, row: Row, path: PathId) {
        let has_team = self.threads.len() > 1;
        let outermost = if has_team { self.outermost_parallel_region(path) } else { PathId::NONE };
        let (Some(timeline), Some(scheme)) = (&mut self.threads[thread].timeline, self.scheme) else {
            return;
        };
        let paths = self.tree.paths();
        if path.index() >= paths.len() {
            return;
        }
        let class = scheme.classes.of_path(regions_of(paths, path));
        if row.index() >= timeline.rows.len() {
            timeline.rows.resize(row.index() + 1, RowClass::default());
        }
        let mut region = timeline.regions.iter().position(|(region, _)| *region == outermost);
        if region.is_none() && has_team {
            region = Some(timeline.regions.len());
            timeline.regions.push((outermost, Timeline::new(timeline.bins)));
        }
        timeline.rows[row.index()] =
            RowClass { class, is_known: true, region: region.map_or(u32::MAX, to_u32) };
    }

    /// Returns the outermost parallel region above a call path, or the path itself; [`PathId::NONE`] outside of any.
    fn outermost_parallel_region(&mut self, path: PathId) -> PathId {
        let known = self.outermost.len();
        for (at, call_path) in self.tree.paths().iter().enumerate().skip(known) {
            // Parents precede children.
            let above = self.outermost.get(call_path.parent.index()).copied().unwrap_or(PathId::NONE);
            let kind = self.trace.kinds.get(call_path.region as usize);
            let is_parallel = kind.is_some_and(|kind| kind.is_parallel);
            let own = if is_parallel { PathId::new(at) } else { PathId::NONE };
            self.outermost.push(if above == PathId::NONE { own } else { above });
        }
        self.outermost.get(path.index()).copied().unwrap_or(PathId::NONE)
    }
}
