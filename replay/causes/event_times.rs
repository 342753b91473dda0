//! Times of events in journals, for the details: positions have an order, but no times.

use model::Ticks;

use super::lines::Lines;
use super::sides::Causes;
use crate::details::critical::Link;
use crate::ids::JournalPosition;
use crate::journal::JournalSpot;

/// Times of a worker's events.
#[derive(Clone, Debug, Default)]
pub(super) struct EventTimes {
    /// By location: the events that wait, and since when they do, in no order until they are [sorted](EventTimes::sort).
    pub(super) begins: Vec<Vec<(JournalPosition, Ticks)>>,
    /// Events of teams and of `MPI_Finalize` that the critical path may come to, with the time up to which it counts what
    /// was before.
    pub(super) others: Vec<(JournalSpot, Ticks, Link)>,
}

impl EventTimes {
    /// Sorts the events, once all are known. Of several waits at one event the first one counts, as of points.
    pub(super) fn sort(&mut self) {
        for begins in &mut self.begins {
            begins.sort_by_key(|&(position, _)| position);
            begins.dedup_by_key(|&mut (position, _)| position);
        }
        self.others.sort_by_key(|&(spot, ..)| spot);
    }

    /// Since when an event of a location of this worker has waited.
    pub(super) fn begin(&self, line: usize, event: JournalPosition) -> Option<Ticks> {
        let begins = &self.begins[line];
        let at = begins.binary_search_by_key(&event, |&(position, _)| position).ok()?;
        Some(begins[at].1)
    }

    /// For events of a location, in order: the time up to which the critical path counts what was before, and how it
    /// goes on from there. `None` for the end of the location, and where that is unknown.
    pub(super) fn of_path(
        &self,
        lines: &Lines,
        line: usize,
        causes: &Causes,
        events: &[JournalPosition],
    ) -> Vec<Option<(Ticks, Link)>> {
        let mut times = vec![None; events.len()];
        for &cause in causes.of_line.of(line) {
            let delay = &causes.list[cause as usize].delay;
            if let Ok(at) = events.binary_search(&delay.causing.position) {
                times[at].get_or_insert((delay.time, Link::of(delay.class)));
            }
        }
        let location = lines.location(line);
        let first = self.others.partition_point(|&(spot, ..)| spot.location < location);
        for &(spot, time, link) in
            self.others[first..].iter().take_while(|(spot, ..)| spot.location == location)
        {
            if let Ok(at) = events.binary_search(&spot.position) {
                times[at].get_or_insert((time, link));
            }
        }
        times
    }
}
