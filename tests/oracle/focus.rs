//! Windows of time: what lies in one of them counts (structure 3.4).

use super::{Analysis, EventRef};

/// Half-open intervals of ticks, which may overlap.
#[derive(Clone, Debug)]
pub(crate) struct Focus(Vec<(i64, i64)>);

impl Focus {
    pub(crate) fn new(windows: Vec<(i64, i64)>) -> Focus {
        Focus(windows)
    }

    /// The whole run.
    pub(crate) fn whole() -> Focus {
        Focus(vec![(i64::MIN, i64::MAX)])
    }

    /// Whether an event at a time counts.
    pub(super) fn contains(&self, time: i64) -> bool {
        self.0.iter().any(|&(begin, end)| begin <= time && time < end)
    }

    /// How many of the ticks from a time on count. Less than none, with wrong clocks, lie where they begin.
    pub(super) fn inside(&self, begin: i64, ticks: i64) -> i64 {
        if ticks <= 0 {
            return if self.contains(begin) { ticks } else { 0 };
        }
        let end = begin + ticks;
        let borders = self.0.iter().flat_map(|&(begin, end)| [begin, end]);
        let mut cuts: Vec<i64> = borders.filter(|&border| begin < border && border < end).collect();
        cuts.extend([begin, end]);
        cuts.sort_unstable();
        cuts.windows(2).filter(|part| self.contains(part[0])).map(|part| part[1] - part[0]).sum()
    }

    /// Rule 3 and 4: the share of ticks that counts.
    pub(super) fn share(&self, begin: i64, ticks: i64) -> f64 {
        if ticks > 0 { self.inside(begin, ticks) as f64 / ticks as f64 } else { 0.0 }
    }
}

impl Analysis {
    /// Rule 2: adds the ticks from a time on.
    pub(super) fn add_ticks(&mut self, metric: &str, place: EventRef, begin: i64, ticks: i64) {
        let counted = self.focus.inside(begin, ticks);
        self.add_at(metric, place, counted);
    }

    /// Rule 2: adds the last ticks of the call around an event.
    pub(super) fn add_completion(&mut self, metric: &str, place: EventRef, ticks: i64) {
        self.add_ticks(metric, place, self.leave(place) - ticks, ticks);
    }

    /// Rule 1: adds what happens at an event.
    pub(super) fn add_event(&mut self, metric: &str, event: EventRef, value: i64) {
        if self.focus.contains(event.time) {
            self.add_at(metric, event, value);
        }
    }

    /// Rule 1: adds what belongs to the call around an event: it is where the call is entered.
    pub(super) fn add_entered(&mut self, metric: &str, place: EventRef, value: i64) {
        if self.focus.contains(self.enter(place)) {
            self.add_at(metric, place, value);
        }
    }
}
