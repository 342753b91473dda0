//! Root causes, from the definitions of the specification (specification 7 to 10).
//!
//! | file | content |
//! |---|---|
//! | `points` | events at which locations have synchronised with others (specification 7.1) |
//! | `time_map` | time of a location between two events, by call path (specification 7.2, 7.3) |
//! | `delays` | delays that make one event wait for another one, and short-term costs (specification 9.1, 9.2) |
//! | `groups` | delays before collective operations (specification 9.3) |
//! | `teams` | delays among threads (specification 9.5, 9.6) |
//! | `propagation` | long-term costs, indirect and propagating waiting (specification 9, 10) |
//! | `critical_path` | the critical path (specification 8.1) |
//! | `impact` | its impact on all locations (specification 8.2 to 8.4) |
//!
//! Costs are doubles, summed up event by event.

mod critical_path;
mod delays;
mod groups;
mod impact;
mod points;
mod propagation;
mod teams;
mod time_map;

use super::operations::Operations;
use super::read::Spent;
use super::{Analysis, Costs, EventRef, Severities};

use points::Points;

/// Results of the search for root causes.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    pub(super) severities: Severities,
    pub(super) costs: Costs,
    /// Whether costs depend on themselves.
    pub(super) is_circular: bool,
}

impl Found {
    fn add(&mut self, metric: &str, path: &str, location: usize, cost: f64) {
        *self.costs.entry((metric.into(), path.into(), location)).or_default() += cost;
    }
}

/// Shared data of all parts.
struct Causes<'a> {
    analysis: &'a Analysis,
    operations: &'a Operations,
    points: Points,
    /// Exclusive time of each location.
    spent: Vec<Vec<&'a Spent>>,
}

impl Causes<'_> {
    fn locations(&self) -> usize {
        self.analysis.locations.len()
    }

    /// The end of a location, behind all of its events.
    fn end(&self, location: usize) -> EventRef {
        EventRef { location, call: 0, time: 0, order: 0, at: usize::MAX }
    }
}

/// Finds the root causes of all waiting.
pub(super) fn find(analysis: &Analysis, operations: &Operations, processes: usize) -> Found {
    let points = Points::new(analysis, processes);
    let spent = time_map::spent(&analysis.locations, &points);
    let causes = Causes { analysis, operations, points, spent };
    let mut found = Found::default();
    let mut delays = causes.of_edges();
    delays.extend(causes.of_groups());
    delays.extend(causes.of_barriers());
    delays.extend(causes.of_idle_threads());
    causes.short_term(&delays, &mut found);
    causes.long_term(&delays, &mut found);
    causes.indirect(&delays, &mut found);
    causes.propagating(&delays, &mut found);
    let path = causes.critical_path();
    causes.impact(&path, &mut found);
    found.costs.retain(|_, cost| *cost != 0.0);
    found
}
