//! The critical path (specification 8.1).

use std::collections::BTreeMap;

use crate::oracle::Place;

use super::Causes;
use super::points::Next;
use super::time_map::TimeMap;

impl Causes<'_> {
    /// What lies on the critical path, by location. Where it comes to a stretch on several ways, that is on
    /// it once, up to the last event from which it comes.
    pub(super) fn critical_path(&self) -> Vec<TimeMap> {
        // By location and position of the stop: the end of the stretch.
        let mut stretches: BTreeMap<(usize, Option<usize>), Place> = BTreeMap::new();
        let mut open: Vec<Place> = self.last_event().into_iter().collect();
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
    fn account(&self, location: usize, stop: Option<usize>, end: Place, path: &mut TimeMap) {
        let mut map = self.runtimes(stop, end);
        let stop = stop.and_then(|at| self.points.at(Place { at, ..self.end(location) }));
        if let Some(stop) = stop
            && let Some(ticks) = map.get_mut(self.analysis.path(stop.place))
        {
            *ticks -= stop.wait.min(*ticks);
        }
        for (name, ticks) in map {
            *path.entry(name).or_default() += ticks;
        }
    }

    /// Where the path ends: at the last who enters MPI_Finalize; if that is not complete, with the last event
    /// of all.
    fn last_event(&self) -> Option<Place> {
        let finalize = self.analysis.meetings.iter().find(|meeting| meeting.class == "finalize");
        if let Some(finalize) = finalize {
            return Some(finalize.blamed);
        }
        let locations = (0..self.locations()).rev();
        let ends = locations.filter_map(|at| Some((self.analysis.locations[at].end?, at)));
        // Of equals the first location.
        ends.max_by_key(|it| it.0).map(|(_, location)| self.end(location))
    }
}
