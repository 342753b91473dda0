//! Values of metrics by iteration (structure 3.1): every addition to a severity at a call goes to the iteration of that call, too.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::Ticks;

use super::agree::{Agreed, Cursor};
use super::series::Spread;
use crate::error::Error;
use crate::exchange::batch::BatchReader;
use crate::exchange::{Batch, Exchange, reduce};
use crate::int::to_usize;
use crate::severity::MetricId;
use crate::wire::{Wire, wire};

/// Values of a metric over all locations: outside of iterations, and in each of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MetricSeries {
    /// By number of the iteration; the first one is all that is outside.
    pub values: Vec<Spread>,
    /// Locations that have the metric at all.
    locations: u64,
}

wire!(MetricSeries { locations, values });

/// Collects values of the locations of a worker, process by process.
#[derive(Debug)]
pub struct ByIteration {
    agreed: Arc<Agreed>,
    cursor: Cursor,
    /// Those of the current process, by location and metric.
    current: Vec<((u32, MetricId), Vec<i64>)>,
    /// The place of those that were added to last.
    latest: usize,
    totals: BTreeMap<MetricId, MetricSeries>,
}

impl ByIteration {
    /// Nothing yet.
    pub fn new(agreed: Arc<Agreed>) -> ByIteration {
        let cursor = Cursor::new(&agreed.locations);
        ByIteration { agreed, cursor, current: Vec::new(), latest: 0, totals: BTreeMap::new() }
    }

    /// Adds to a metric at a call of a location, which was entered at this time.
    pub fn add(&mut self, location: u32, enter: Ticks, metric: MetricId, value: i64) {
        let number = self.number(location, enter);
        let key = (location, metric);
        if self.current.get(self.latest).is_none_or(|(known, _)| *known != key) {
            self.latest = self.current.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
                self.current.push((key, vec![0; to_usize(self.agreed.iterations) + 1]));
                self.current.len() - 1
            });
        }
        let sum = &mut self.current[self.latest].1[number];
        *sum = value.saturating_add(*sum);
    }

    /// The number of the iteration with a call; 0 outside of iterations.
    fn number(&mut self, location: u32, enter: Ticks) -> usize {
        let found = self.cursor.place(&self.agreed.locations, location, enter);
        to_usize(found.map_or(0, |(line, place)| line.number_of_all(place, self.agreed.iterations)))
    }

    /// Ends a process: later ones have larger locations.
    pub fn end_process(&mut self) {
        self.current.sort_unstable_by_key(|(key, _)| *key);
        for ((location, metric), values) in self.current.drain(..) {
            let series = self
                .totals
                .entry(metric)
                .or_insert_with(|| MetricSeries { values: vec![Spread::NONE; values.len()], locations: 0 });
            series.locations += 1;
            for (spread, value) in series.values.iter_mut().zip(values) {
                spread.add(location, value);
            }
        }
    }

    /// Returns the values over all workers, on worker 0, by metric.
    ///
    /// # Errors
    /// If a worker failed.
    pub fn of_all(self, exchange: &mut dyn Exchange) -> Result<BTreeMap<MetricId, MetricSeries>, Error> {
        let all = self.agreed.locations_of_all;
        let encode = |totals: &BTreeMap<MetricId, MetricSeries>| {
            let mut batch = Batch::new();
            for (metric, series) in totals {
                (*metric).put(&mut batch);
                series.put(&mut batch);
            }
            batch
        };
        let mut totals = reduce(exchange, self.totals, encode, |totals, batch| {
            let mut reader = BatchReader::new(batch);
            while !reader.is_empty() {
                let (metric, other) = (MetricId::get(&mut reader), MetricSeries::get(&mut reader));
                match totals.get_mut(&metric) {
                    None => _ = totals.insert(metric, other),
                    Some(series) => {
                        series.locations += other.locations;
                        series.values.iter_mut().zip(&other.values).for_each(|(one, other)| one.merge(other));
                    }
                }
            }
        })?;
        // The others have none of it.
        for series in totals.values_mut().filter(|series| series.locations < all) {
            series.values.iter_mut().for_each(|spread| spread.least = spread.least.min(0));
        }
        Ok(totals)
    }
}
