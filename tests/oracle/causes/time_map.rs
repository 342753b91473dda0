//! Time maps: time of a location between two events, by call path (specification 7.2 and 7.3).

use std::collections::BTreeMap;

use crate::oracle::EventRef;
use crate::oracle::read::{Location, Role, Spent};

use super::Causes;
use super::points::{Point, Points};

/// Ticks by call path.
pub(super) type TimeMap = BTreeMap<String, i64>;

/// Excess of one map over another one.
pub(super) fn difference(of: &TimeMap, without: &TimeMap) -> TimeMap {
    let more = of.iter().map(|(path, ticks)| (path.clone(), ticks - without.get(path).unwrap_or(&0)));
    more.filter(|(_, ticks)| *ticks > 0).collect()
}

/// Sum of a map.
pub(super) fn sum(map: &TimeMap) -> i64 {
    map.values().sum()
}

/// The exclusive time of all locations. The time of a worker from its last barrier in a team until it starts
/// in the next one is dropped; after a team without any barrier it is not (docs/differences.md, root causes).
pub(super) fn spent<'a>(locations: &'a [Location], points: &Points) -> Vec<Vec<&'a Spent>> {
    let of_location = |(at, location): (usize, &'a Location)| {
        let points = points.of(at);
        let is_region = |point: &Point| location.calls[point.place.call].role == Role::Parallel;
        let is_idle = |spent: &&Spent| {
            let next = points.iter().position(|point| point.place.at >= spent.at).unwrap_or(points.len());
            let last = next.checked_sub(1).map(|last| points[last]);
            location.is_worker
                && last.is_some_and(|last| last.team.is_some() && !is_region(last))
                && points.get(next).is_none_or(|next| is_region(next))
        };
        location.spent.iter().filter(|spent| !is_idle(spent)).collect()
    };
    locations.iter().enumerate().map(of_location).collect()
}

impl Causes<'_> {
    /// runtimes(a, e), with positions; without `since`, from the start of the trace.
    pub(super) fn runtimes(&self, since: Option<usize>, event: EventRef) -> TimeMap {
        let mut map = TimeMap::new();
        for spent in &self.spent[event.location] {
            if since.is_none_or(|since| spent.at > since) && spent.at <= event.at {
                *map.entry(spent.path.clone()).or_default() += spent.ticks;
            }
        }
        map
    }

    /// The time between two events that lies in windows, without waiting at some points: that is the first time of its call path
    /// behind them (structure 3.4, rule 5).
    pub(super) fn focused(&self, since: Option<usize>, event: EventRef, waits: &[&Point]) -> TimeMap {
        let (mut map, mut waiting) = (TimeMap::new(), TimeMap::new());
        let mut waits = waits.iter().filter(|point| point.wait > 0).peekable();
        for spent in &self.spent[event.location] {
            if since.is_some_and(|since| spent.at <= since) || spent.at > event.at {
                continue;
            }
            while let Some(point) = waits.next_if(|point| point.place.at < spent.at) {
                *waiting.entry(self.analysis.path(point.place).to_owned()).or_default() += point.wait;
            }
            let waiting = waiting.entry(spent.path.clone()).or_default();
            let waited = (*waiting).min(spent.ticks).max(0);
            *waiting -= waited;
            let (begin, ticks) = (spent.begin + waited, spent.ticks - waited);
            let counted = ticks.signum() * self.analysis.focus.inside(begin, ticks.abs());
            *map.entry(spent.path.clone()).or_default() += counted;
        }
        map
    }

    /// waitmap(set)
    pub(super) fn waits(&self, points: &[&Point]) -> TimeMap {
        let mut map = TimeMap::new();
        for point in points.iter().filter(|point| point.wait > 0) {
            *map.entry(self.analysis.path(point.place).to_owned()).or_default() += point.wait;
        }
        map
    }

    /// The waiting time between a point and an event.
    pub(super) fn waited(&self, since: Option<&Point>, event: EventRef) -> i64 {
        sum(&self.waits(&self.points.between(since, event)))
    }

    /// prune(a, e)
    pub(super) fn prune(&self, since: Option<&Point>, event: EventRef) -> TimeMap {
        let all = self.runtimes(since.map(|since| since.place.at), event);
        let mut map = difference(&all, &self.waits(&self.points.between(since, event)));
        if let Some(since) = since {
            let path = self.analysis.path(since.place).to_owned();
            let ticks = map.entry(path).or_default();
            *ticks = (*ticks - since.total + since.completion).max(0);
        }
        map
    }

    /// The same from an event on that need not be a point.
    pub(super) fn prune_since(&self, since: EventRef, event: EventRef) -> TimeMap {
        match self.points.at(since) {
            Some(point) => self.prune(Some(point), event),
            None => {
                let all = self.runtimes(Some(since.at), event);
                difference(&all, &self.waits(&self.points.after(since, event)))
            }
        }
    }
}
