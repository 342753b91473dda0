//! Rows of values of metrics: what has been counted before an event is of the row to which the time before it goes (site.md, 5.2).
//!
//! A record of values is in front of its event. Where records carry call paths, the event may tell that the time, and with it what was
//! counted, is of another row than the innermost one ([`contexts`](super::contexts)).

use model::Ticks;

use super::process::ProcessWalk;
use super::thread::Thread;
use crate::ids::Row;
use crate::severity::MetricId;
use crate::trace::Artificial;

/// What was added since time was accounted last.
#[derive(Debug, Default)]
pub(super) struct Charges {
    /// Up to when time was accounted then.
    since: Ticks,
    list: Vec<(MetricId, Row, i64)>,
}

impl ProcessWalk<'_> {
    /// The row to which the time of a thread before the event that comes next goes, as far as it is known; `None` if it counts nowhere.
    pub(super) fn row_before(&self, thread: usize) -> Option<Row> {
        let state = &self.threads[thread];
        let row = state.stack.last().map(|frame| frame.row).or(state.stack.outside);
        row.filter(|_| state.counts(state.now))
    }

    /// The same, but for time in which recording was off: what was measured meanwhile is of nobody.
    pub(super) fn recorded_row_before(&self, thread: usize) -> Option<Row> {
        let off = self.trace.artificial(Artificial::MeasurementOff);
        let is_off = self.threads[thread].stack.last().is_some_and(|frame| frame.region == off);
        self.row_before(thread).filter(|_| !is_off)
    }
}

impl Thread {
    /// Adds what was counted before the event that comes next, in a row that is the innermost so far.
    pub(super) fn charge(&mut self, metric: MetricId, row: Row, value: i64) {
        self.severities.add(metric, row, value);
        if let Some(charges) = &mut self.charges {
            if charges.since != self.accounted {
                charges.since = self.accounted;
                charges.list.clear();
            }
            charges.list.push((metric, row, value));
        }
    }

    /// Moves what was counted since time was accounted last to the row to which that time goes.
    pub(super) fn move_charges(&mut self, row: Row) {
        self.move_states(row);
        let Some(charges) = self.charges.as_mut().filter(|charges| charges.since == self.accounted) else {
            return;
        };
        for (metric, other, value) in charges.list.drain(..).filter(|(_, other, _)| *other != row) {
            self.severities.add(metric, other, value.saturating_neg());
            self.severities.add(metric, row, value);
        }
    }
}
