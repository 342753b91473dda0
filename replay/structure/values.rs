//! Values by iteration over all locations.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::blocks::Blocks;
use super::map::SeriesMap;
use super::series::Spread;
use crate::ids::ReportPath;
use crate::severity::MetricId;
use crate::wire::wire;

/// Values of a metric over all locations: outside of iterations, and in each of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MetricSeries {
    /// By row of the [blocks](Blocks); the first one is all that is outside.
    pub values: Vec<Spread>,
    /// Whether sums are shares of ticks ([`fraction`](crate::fraction)); least and most are whole ticks, rounded down.
    pub has_shares: bool,
    /// Locations that have the metric at all.
    pub(super) locations: u64,
}

wire!(MetricSeries { locations, has_shares, values });

impl MetricSeries {
    pub(super) fn new(rows: usize, has_shares: bool) -> MetricSeries {
        MetricSeries { values: vec![Spread::NONE; rows], has_shares, locations: 0 }
    }

    /// Whether it is known what is outside of iterations.
    pub fn has_outside(&self) -> bool {
        self.values.first().is_some_and(|outside| outside.most_at != u32::MAX)
    }

    /// Adds that of later locations.
    pub(super) fn merge(&mut self, other: &MetricSeries) {
        self.locations += other.locations;
        self.values.iter_mut().zip(&other.values).for_each(|(one, other)| one.merge(other));
    }
}

/// Ticks of a location in an iteration that is looked at closely.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Detail {
    /// The number of the iteration.
    pub iteration: u32,
    /// The metric.
    pub metric: MetricId,
    /// The location.
    pub location: u32,
    /// The value: ticks, rounded down, or bytes or occurrences.
    pub value: i64,
}

wire!(Detail { iteration, metric, location, value });

/// The place with most delay costs in an iteration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IterationCause {
    /// The number of the iteration.
    pub iteration: u32,
    /// The location.
    pub location: u32,
    /// The call path.
    pub path: ReportPath,
    /// Its delay costs in the iteration, in shares of ticks.
    pub costs: i128,
    /// Those in the whole run.
    pub costs_of_run: i128,
}

wire!(IterationCause { iteration, location, path, costs, costs_of_run });

impl IterationCause {
    /// What the place of the largest costs has more than others: of equals the first location and call path.
    pub(super) fn rank(&self) -> impl Ord + use<> {
        (self.costs, Reverse(self.location), Reverse(self.path))
    }
}

/// Values by iteration over all locations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Series {
    /// How iterations share rows.
    pub blocks: Blocks,
    /// By metric.
    pub metrics: BTreeMap<MetricId, MetricSeries>,
    /// Values of each location in some iterations, by iteration, metric and location.
    pub details: Vec<Detail>,
    /// The place with most delay costs of these iterations.
    pub causes: Vec<IterationCause>,
    /// Ticks of groups of locations in blocks of iterations.
    pub map: SeriesMap,
}
