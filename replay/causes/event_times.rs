//! Times of events in journals, for the details: positions have an order, but no times.

use model::Ticks;

use super::delay::Delay;
use super::lines::Lines;
use super::sides::Causes;
use crate::details::critical::Link;
use crate::ids::JournalPosition;
use crate::journal::JournalSpot;

/// Times of a worker's events.
#[derive(Clone, Debug, Default)]
pub(super) struct EventTimes {
    /// Waits that do not end when the cause comes, but before, with their calls: the event that waits, how long, and since
    /// when. Only wrong clocks make such waits. In no order until they are [sorted](EventTimes::sort).
    pub(super) begins: Vec<(JournalSpot, Ticks, Ticks)>,
    /// Events of teams and of `MPI_Finalize` that the critical path may come to, with the time up to which it counts what
    /// was before.
    pub(super) others: Vec<(JournalSpot, Ticks, Link)>,
}

impl EventTimes {
    /// Sorts the events, once all are known.
    pub(super) fn sort(&mut self) {
        self.begins.sort_unstable();
        self.others.sort_by_key(|&(spot, ..)| spot);
    }

    /// Since when a location of this worker has waited.
    pub(super) fn begin(&self, delay: &Delay) -> Ticks {
        let known = |&(waiting, wait, _): &(JournalSpot, Ticks, Ticks)| (waiting, wait);
        match self.begins.binary_search_by_key(&(delay.waiting, delay.wait), known) {
            Ok(at) => self.begins[at].2,
            Err(_) => delay.time.saturating_sub(delay.wait),
        }
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
        let mut at = 0;
        for &cause in causes.of_line.of(line) {
            let delay = &causes.list[cause as usize].delay;
            while events.get(at).is_some_and(|&event| event < delay.causing.position) {
                at += 1;
            }
            if events.get(at) == Some(&delay.causing.position) {
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
