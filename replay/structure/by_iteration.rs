//! Values of metrics by iteration (structure 3.1): every addition to a severity at a call goes to the iteration of that call, too.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::Ticks;

use super::agree::{Agreed, Cursor, LocationIterations};
use super::blocks::Blocks;
use super::borders::Borders;
use super::local::OwnIteration;
use super::map::{MapOfWorker, MapShape};
use super::values::{Detail, IterationCause, MetricSeries, Series};
use super::{Structure, room};
use crate::error::Error;
use crate::exchange::batch::BatchReader;
use crate::exchange::{Batch, Exchange, broadcast, gather, reduce};
use crate::fraction::whole_part;
use crate::int::to_u32;
use crate::journal::Journal;
use crate::metrics::Metrics;
use crate::severity::MetricId;
use crate::tools::Tools;
use crate::walk::Walked;
use crate::wire::{self, Wire};

/// Collects values of the locations of a worker, process by process.
#[derive(Debug)]
pub struct ByIteration {
    agreed: Arc<Agreed>,
    cursor: Cursor,
    blocks: Blocks,
    /// By location from the first one on: the place of the one whose iterations count, if it has no steps itself.
    lines: Vec<Option<u32>>,
    first: usize,
    /// Numbers of iterations of which costs are told apart by call path, ascending.
    watched: Vec<u32>,
    /// Those of the current process, by location and metric.
    current: Vec<((u32, MetricId), Vec<i64>)>,
    /// The place of those that were added to last.
    latest: usize,
    totals: BTreeMap<MetricId, MetricSeries>,
    details: Vec<Detail>,
    /// Those of the current process.
    current_details: BTreeMap<(u32, MetricId, u32), i64>,
    causes: Vec<IterationCause>,
    map: MapOfWorker,
}

/// The number of an iteration if it is among those that are watched.
fn known(watched: &[u32], number: u64) -> Option<u32> {
    u32::try_from(number).ok().filter(|number| watched.binary_search(number).is_ok())
}

/// By location of these processes: the place of the one whose iterations count.
fn lines(agreed: &Agreed, processes: &[Walked]) -> Vec<Option<u32>> {
    let of_process = |walked: &Walked| -> Vec<Option<u32>> {
        let process = walked.process.range();
        process.clone().map(|location| agreed.place_of(location, &process).map(to_u32)).collect()
    };
    processes.iter().flat_map(of_process).collect()
}

/// Values by row, with the number of the first iteration of each; without what is outside.
fn by_number(blocks: Blocks, rows: impl Iterator<Item = i64>) -> impl Iterator<Item = (u64, i64)> {
    rows.enumerate().skip(1).map(move |(row, value)| (blocks.first(row), value))
}

impl ByIteration {
    /// Prepares values by iteration of this worker's processes, if all workers have the memory for them; first finds what stands out
    /// in the structure, which worker 0 has, given the error of the clocks in ticks.
    ///
    /// # Errors
    /// If a worker failed.
    pub fn prepare(
        tools: &Tools<'_>,
        agreed: Arc<Agreed>,
        structure: &mut Structure,
        walked: &[Walked],
        clock_error: Ticks,
        exchange: &mut dyn Exchange,
    ) -> Result<Option<ByIteration>, Error> {
        let watched = if exchange.worker() == 0 { structure.sign(clock_error) } else { Vec::new() };
        let locations = tools.trace.locations.len();
        if super::is_short(tools, room::bytes_needed(&agreed, walked, locations), exchange)? {
            return Ok(None);
        }
        let watched = wire::all(&broadcast(exchange, wire::batch_of(&watched))?).collect();
        Ok(Some(ByIteration::new(agreed, walked, watched, (locations, tools.metrics))))
    }

    /// The time in iterations of these processes, and in MPI, and nothing else yet. Some iterations, whose numbers are `watched`,
    /// are looked at closely; `locations` is the number of all.
    fn new(
        agreed: Arc<Agreed>,
        processes: &[Walked],
        watched: Vec<u32>,
        (locations, metrics): (usize, &Metrics),
    ) -> ByIteration {
        let first = processes.iter().flat_map(|walked| &walked.process.locations).next();
        let first = first.map_or(0, |location| location.location);
        let lines = lines(&agreed, processes);
        let blocks = Blocks::new(agreed.iterations);
        let shape = MapShape::new(locations, agreed.iterations, blocks);
        let map = MapOfWorker::new(shape, first, lines.len());
        let cursor = Cursor::new(&agreed.locations);
        let (totals, details, causes) = Default::default();
        let mut all = ByIteration {
            agreed: Arc::clone(&agreed),
            cursor,
            blocks,
            lines,
            first,
            watched,
            current: Vec::new(),
            latest: 0,
            totals,
            details,
            current_details: BTreeMap::new(),
            causes,
            map,
        };
        for line in &agreed.locations {
            all.add_own(line, metrics.time, |own| own.end - own.begin);
            all.add_own(line, metrics.mpi, |own| own.in_mpi);
        }
        all
    }

    /// Adds a metric of a location that its own iterations have. What is outside is not known here, nor is anything of iterations
    /// that the location does not have.
    fn add_own(
        &mut self,
        line: &LocationIterations,
        metric: MetricId,
        ticks: impl Fn(&OwnIteration) -> Ticks,
    ) {
        let location = line.location;
        let mut rows: Vec<Option<i64>> = vec![None; self.rows()];
        for (place, own) in line.own.iter().enumerate() {
            let number = line.number_of_all(Some(place), self.agreed.iterations);
            if number == 0 {
                continue;
            }
            let value = ticks(own);
            let sum = rows[self.blocks.row(number)].get_or_insert(0);
            *sum = value.saturating_add(*sum);
            if let Some(iteration) = known(&self.watched, number) {
                self.details.push(Detail { iteration, metric, location, value });
            }
        }
        let series = self.totals.entry(metric).or_insert_with(|| MetricSeries::new(rows.len(), false));
        series.locations += 1;
        for (spread, &sum) in series.values.iter_mut().zip(&rows) {
            sum.into_iter().for_each(|sum| spread.add(location, sum));
        }
        self.map.add(location, metric, by_number(self.blocks, rows.into_iter().map(|sum| sum.unwrap_or(0))));
    }

    /// Rows of a series.
    fn rows(&self) -> usize {
        self.blocks.row(self.agreed.iterations) + 1
    }

    /// The numbers of iterations of which costs are told apart by call path.
    pub fn watched(&self) -> &[u32] {
        &self.watched
    }

    /// Borders of a location in its journal.
    pub fn borders(&self, location: u32, journal: &Journal) -> Borders {
        let line = self.lines.get(location as usize - self.first).copied().flatten();
        line.map_or_else(Borders::default, |line| {
            Borders::new(journal, &self.agreed.locations[line as usize], self.agreed.iterations)
        })
    }

    /// Adds a metric of a location, in shares of ticks by number of iterations, 0 for what is outside. Locations come in their
    /// order, and each has a metric once.
    pub fn add_shares(&mut self, location: u32, metric: MetricId, values: impl Iterator<Item = (u64, i128)>) {
        let mut rows = vec![0; self.rows()];
        for (number, share) in values {
            rows[self.blocks.row(number)] += share;
            let ticks = whole_part(share);
            if ticks != 0
                && let Some(iteration) = known(&self.watched, number)
            {
                self.details.push(Detail { iteration, metric, location, value: ticks });
            }
        }
        self.map.add(location, metric, by_number(self.blocks, rows.iter().copied().map(whole_part)));
        let series = self.totals.entry(metric).or_insert_with(|| MetricSeries::new(rows.len(), true));
        series.locations += 1;
        for (spread, share) in series.values.iter_mut().zip(rows) {
            spread.add_share(location, share);
        }
    }

    /// Adds to a metric at a call of a location, which was entered at this time.
    pub fn add(&mut self, location: u32, enter: Ticks, metric: MetricId, value: i64) {
        let number = self.number(location, enter);
        let row = self.blocks.row(number);
        if let Some(iteration) = known(&self.watched, number) {
            let sum = self.current_details.entry((iteration, metric, location)).or_default();
            *sum = value.saturating_add(*sum);
        }
        let key = (location, metric);
        if self.current.get(self.latest).is_none_or(|(known, _)| *known != key) {
            self.latest = self.current.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
                self.current.push((key, vec![0; self.rows()]));
                self.current.len() - 1
            });
        }
        let sum = &mut self.current[self.latest].1[row];
        *sum = value.saturating_add(*sum);
    }

    /// The number of the iteration with a call; 0 outside of iterations.
    fn number(&mut self, location: u32, enter: Ticks) -> u64 {
        let found = self.cursor.place(&self.agreed.locations, location, enter);
        found.map_or(0, |(line, place)| line.number_of_all(place, self.agreed.iterations))
    }

    /// Ends a process: later ones have larger locations.
    pub fn end_process(&mut self) {
        let details = std::mem::take(&mut self.current_details).into_iter().filter(|&(_, value)| value != 0);
        let detail = |((iteration, metric, location), value)| Detail { iteration, metric, location, value };
        self.details.extend(details.map(detail));
        self.current.sort_unstable_by_key(|(key, _)| *key);
        for ((location, metric), values) in self.current.drain(..) {
            let series = self.totals.entry(metric).or_insert_with(|| MetricSeries::new(values.len(), false));
            series.locations += 1;
            for (spread, &value) in series.values.iter_mut().zip(&values) {
                spread.add(location, value);
            }
            self.map.add(location, metric, by_number(self.blocks, values.into_iter()));
        }
    }

    /// Adds a place with delay costs in a watched iteration.
    pub fn add_cause(&mut self, cause: IterationCause) {
        match self.causes.iter_mut().find(|known| known.iteration == cause.iteration) {
            None => self.causes.push(cause),
            Some(known) if known.rank() < cause.rank() => *known = cause,
            Some(_) => {}
        }
    }

    /// Returns the values over all workers, on worker 0.
    ///
    /// # Errors
    /// If a worker failed.
    pub fn of_all(mut self, exchange: &mut dyn Exchange) -> Result<Series, Error> {
        let mut batch = Batch::new();
        (std::mem::take(&mut self.details), std::mem::take(&mut self.causes)).put(&mut batch);
        let mut details: Vec<Detail> = Vec::new();
        for batch in gather(exchange, batch)?.iter().filter(|batch| !batch.is_empty()) {
            let (of_worker, causes) = wire::one::<(Vec<Detail>, Vec<IterationCause>)>(batch);
            details.extend(of_worker);
            causes.into_iter().for_each(|cause| self.add_cause(cause));
        }
        details.sort_unstable();
        // Several iterations of a location may have one number.
        details.dedup_by(|other, first| {
            let is_same = |it: &Detail| (it.iteration, it.metric, it.location);
            let is_one = is_same(other) == is_same(first);
            if is_one {
                first.value = other.value.saturating_add(first.value);
            }
            is_one
        });
        let mut causes = std::mem::take(&mut self.causes);
        causes.sort_unstable_by_key(|cause| cause.iteration);
        let blocks = self.blocks;
        let map = self.map.of_all(exchange)?;
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
                    Some(series) => series.merge(&other),
                }
            }
        })?;
        // The others have none of it.
        for series in totals.values_mut().filter(|series| series.locations < all) {
            series.values.iter_mut().for_each(|spread| spread.least = spread.least.min(0));
        }
        Ok(Series { blocks, metrics: totals, details, causes, map })
    }
}
