//! The critical path (specification 8.1).

use std::collections::BTreeMap;

use crate::oracle::EventRef;

use super::Causes;
use super::points::Next;
use super::time_map::TimeMap;

impl Causes<'_> {
    /// The time maps of the critical path, by location. Where several branches reach one period of a
    /// location, it is counted once, up to the last event from which the path reaches it.
    pub(super) fn critical_path(&self) -> Vec<TimeMap> {
        // End of the period, by location and position of the stop.
        let mut stretches: BTreeMap<(usize, Option<usize>), EventRef> = BTreeMap::new();
        let mut open: Vec<EventRef> = self.last_event().into_iter().collect();
        while let Some(end) = open.pop() {
            let stop = self.points.before(end).find(|point| point.is_stop());
            let key = (end.location, stop.map(|stop| stop.place.at));
            if let Some(known) = stretches.get_mut(&key) {
                known.at = known.at.max(end.at);
                continue;
            }
            stretches.insert(key, end);
            match stop.map(|stop| &stop.next) {
                None | Some(Next::Through | Next::Start) => {}
                Some(Next::At(cause)) => open.push(*cause),
                Some(Next::Team(threads)) => open.extend(threads),
            }
        }
        let mut path = vec![TimeMap::new(); self.locations()];
        for ((location, stop), end) in stretches {
            self.account(location, stop, end, &mut path[location]);
        }
        path
    }

    /// account(x, end)
    fn account(&self, location: usize, stop: Option<usize>, end: EventRef, path: &mut TimeMap) {
        let waits = stop.and_then(|at| self.points.at(EventRef { at, ..self.end(location) }));
        for (name, ticks) in self.focused(stop, end, &Vec::from_iter(waits)) {
            *path.entry(name).or_default() += ticks;
        }
    }

    /// End of the path: the last location to enter MPI_Finalize; if that is not complete, the last event of
    /// all.
    fn last_event(&self) -> Option<EventRef> {
        let finalize = self.analysis.collective_instances.iter().find(|meeting| meeting.class == "finalize");
        if let Some(finalize) = finalize {
            return Some(finalize.blamed);
        }
        // Where no time passes there is no path.
        let locations = (0..self.locations()).rev().filter(|&at| !self.spent[at].is_empty());
        let ends = locations.filter_map(|at| Some((self.analysis.locations[at].end?, at)));
        // The first location among equals.
        ends.max_by_key(|it| it.0).map(|(_, location)| self.end(location))
    }
}
