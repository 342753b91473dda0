//! Focus: only what lies inside of windows is counted; times, journals and operations are those of the whole run (structure 3.4).

use std::sync::Arc;

use model::Ticks;

use super::Visit;
use super::steps::Between;
use super::thread::{Numbering, Thread};
use crate::focus::{self, Window, Windows};
use crate::ids::Row;

impl Thread {
    /// Counts only what lies inside of these windows.
    pub(super) fn focus(&mut self, windows: &Arc<Windows>) {
        self.windows = Some(Arc::clone(windows));
    }

    /// Whether an event at a time counts.
    pub(super) fn counts(&self, time: Ticks) -> bool {
        focus::counts(self.windows.as_deref(), time)
    }

    /// How many of the ticks that begin at a time count.
    pub(super) fn counted(&self, begin: Ticks, ticks: Ticks) -> Ticks {
        focus::counted(self.windows.as_deref(), begin, ticks)
    }

    /// Adds exclusive time from a time on to a row, as far as it counts; and all of it to the journal, with a mark at each border of
    /// a window, so that pieces lie inside or outside. A border at which nothing is spent is in front of what is spent next.
    #[cold]
    pub(super) fn add_focused_time(&mut self, row: Row, begin: Ticks, ticks: Ticks) {
        let Some(windows) = self.windows.clone() else { return };
        let counted = windows.inside(begin, ticks);
        self.account_of(row).spend(counted);
        self.elapsed.time = self.elapsed.time.saturating_add(counted);
        let Numbering::Journal(journal) = &mut self.numbering else { return };
        let end = begin.saturating_add(ticks);
        let mut from = begin;
        while let Some(border) = windows.border(journal.borders().len()).filter(|&border| border < end) {
            let border = border.max(from);
            journal.spend(row, border - from);
            journal.mark_border(row);
            from = border;
        }
        journal.spend(row, end.saturating_sub(from));
    }
}

/// Visits of phases by the main thread that are not inside another one of the same phase.
#[derive(Debug, Default)]
pub(super) struct PhaseVisits {
    /// By phase: the visit that has not ended.
    open: Vec<OpenVisit>,
    pub(super) visits: Vec<Visit>,
}

/// The visit of a phase that has not ended.
#[derive(Clone, Copy, Debug, Default)]
struct OpenVisit {
    begin: Ticks,
    /// What was between steps before it.
    before: Between,
    /// How often the phase was entered and not left; 0 if there is no visit.
    depth: u32,
}

impl PhaseVisits {
    /// Enters a phase; `before` is what was between steps so far.
    pub(super) fn enter(&mut self, phase: u16, begin: Ticks, before: Between) {
        let at = usize::from(phase);
        if at >= self.open.len() {
            self.open.resize(at + 1, OpenVisit::default());
        }
        match &mut self.open[at] {
            open if open.depth == 0 => *open = OpenVisit { begin, before, depth: 1 },
            open => open.depth += 1,
        }
    }

    /// Leaves a phase.
    pub(super) fn leave(&mut self, phase: u16, end: Ticks, so_far: Between) {
        let Some(open) = self.open.get_mut(usize::from(phase)).filter(|open| open.depth > 0) else { return };
        open.depth -= 1;
        if open.depth == 0 {
            let window = Window { begin: open.begin, end };
            let Between { polls, off } = open.before;
            let between = Between { polls: so_far.polls - polls, off: so_far.off - off };
            self.visits.push(Visit { phase, window, between });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visits_inside_of_visits_of_the_same_phase_are_none() {
        let mut phases = PhaseVisits::default();
        let polled = |polls| Between { polls, off: 0 };
        phases.enter(0, 10, polled(1));
        phases.enter(1, 11, polled(1));
        phases.enter(0, 12, polled(2));
        phases.leave(0, 13, polled(2));
        phases.leave(1, 14, polled(2));
        phases.leave(0, 15, polled(4));
        phases.leave(0, 16, polled(4));
        let visit =
            |phase, begin, end, polls| Visit { phase, window: Window { begin, end }, between: polled(polls) };
        assert_eq!(phases.visits, [visit(1, 11, 14, 1), visit(0, 10, 15, 3)]);
    }
}
