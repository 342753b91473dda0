//! Values of metrics by iteration (structure 3.1): every addition to a severity at a call goes to the iteration of that call, too.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use model::Ticks;

use super::Structure;
use super::agree::{Agreed, Cursor};
use super::borders::Borders;
use super::local::OwnIteration;
use super::map::{MapOfWorker, MapShape, SeriesMap};
use super::series::Spread;
use crate::error::Error;
use crate::exchange::batch::BatchReader;
use crate::exchange::{Batch, Exchange, broadcast, gather, reduce};
use crate::fraction::whole_part;
use crate::ids::ReportPath;
use crate::int::{to_u32, to_u64, to_usize};
use crate::journal::Journal;
use crate::metrics::Metrics;
use crate::severity::MetricId;
use crate::tools::Tools;
use crate::walk::Walked;
use crate::wire::{self, Wire, wire};

/// Rows of a series, besides that of what is outside. More iterations share rows.
const ROWS: u64 = 1 << 17;

/// How iterations share rows: as many neighbours as a power of two has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Blocks {
    shift: u32,
}

impl Blocks {
    /// Those of so many iterations.
    pub fn new(iterations: u64) -> Blocks {
        Blocks { shift: iterations.div_ceil(ROWS).next_power_of_two().trailing_zeros() }
    }

    /// Those of twice as many.
    #[must_use]
    pub fn doubled(self) -> Blocks {
        Blocks { shift: self.shift + 1 }
    }

    /// How many iterations share a row.
    pub fn size(self) -> u64 {
        1 << self.shift
    }

    /// The row of an iteration by its number; what is outside, number 0, has row 0.
    pub fn row(self, number: u64) -> usize {
        to_usize(if number == 0 { 0 } else { ((number - 1) >> self.shift) + 1 })
    }

    /// The number of the first iteration of a row behind 0.
    pub fn first(self, row: usize) -> u64 {
        ((to_u64(row) - 1) << self.shift) + 1
    }
}

/// Values of a metric over all locations: outside of iterations, and in each of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MetricSeries {
    /// By row of the [blocks](Blocks); the first one is all that is outside.
    pub values: Vec<Spread>,
    /// Whether sums are shares of ticks ([`fraction`](crate::fraction)); least and most are whole ticks, rounded down.
    pub has_shares: bool,
    /// Locations that have the metric at all.
    locations: u64,
}

wire!(MetricSeries { locations, has_shares, values });

impl MetricSeries {
    fn new(rows: usize, has_shares: bool) -> MetricSeries {
        MetricSeries { values: vec![Spread::NONE; rows], has_shares, locations: 0 }
    }

    /// Whether it is known what is outside of iterations.
    pub fn has_outside(&self) -> bool {
        self.values.first().is_some_and(|outside| outside.most_at != u32::MAX)
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
    fn rank(&self) -> impl Ord + use<> {
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

/// Metrics of a run that have values by iteration, about at most.
const METRICS: u64 = 32;

/// Returns about how many bytes the values by iteration of these processes need, given the number of all locations.
fn bytes_needed(agreed: &Agreed, processes: &[Walked], locations: usize) -> u64 {
    let blocks = Blocks::new(agreed.iterations);
    let rows = to_u64(blocks.row(agreed.iterations) + 1);
    let shape = MapShape::new(locations, agreed.iterations, blocks);
    let own = to_u64(processes.iter().map(|walked| walked.process.locations.len()).sum::<usize>());
    // Of a process at once, and of all that are brought together.
    let largest = processes.iter().map(|walked| walked.process.locations.len()).max().unwrap_or(0);
    let of_series = rows * METRICS * (2 * to_u64(size_of::<Spread>()) + 8 * to_u64(largest));
    let of_map =
        METRICS * u64::from(shape.columns) * 8 * (own.min(shape.groups.into()) + u64::from(shape.groups));
    let of_borders = 3 * 32 * agreed.locations.iter().map(|line| to_u64(line.own.len())).sum::<u64>();
    of_series + of_map + of_borders
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
        if super::is_short(tools, bytes_needed(&agreed, walked, locations), exchange)? {
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
        let cursor = Cursor::new(&agreed.locations);
        let blocks = Blocks::new(agreed.iterations);
        let mut lines = Vec::new();
        for Walked { process, .. } in processes {
            let place = |location: usize| {
                let known = agreed.locations.binary_search_by_key(&to_u32(location), |line| line.location);
                known.ok().map(to_u32)
            };
            let own: Vec<Option<u32>> = process.locations.iter().map(|it| place(it.location)).collect();
            // Threads without steps have the iterations of their process.
            let of_process = own.iter().flatten().next().copied();
            lines.extend(own.iter().map(|own| own.or(of_process)));
        }
        let first = processes.iter().flat_map(|walked| &walked.process.locations).next();
        let first = first.map_or(0, |location| location.location);
        let map = MapShape::new(locations, agreed.iterations, blocks);
        let mut map = MapOfWorker::new(map, first, lines.len());
        let mut details = Vec::new();
        let mut totals: BTreeMap<MetricId, MetricSeries> = BTreeMap::new();
        let rows = blocks.row(agreed.iterations) + 1;
        for line in &agreed.locations {
            let number = |place: usize| line.number_of_all(Some(place), agreed.iterations);
            let mut add = |metric: MetricId, ticks: fn(&OwnIteration) -> Ticks| {
                let values = || line.own.iter().enumerate().map(|(place, own)| (number(place), ticks(own)));
                map.add(line.location, metric, values());
                // What is outside is not known here, nor is anything of iterations that the location does not have.
                let series = totals.entry(metric).or_insert_with(|| MetricSeries::new(rows, false));
                series.locations += 1;
                let mut sums: Vec<Option<i64>> = vec![None; rows];
                for (number, ticks) in values().filter(|&(number, _)| number > 0) {
                    let sum = sums[blocks.row(number)].get_or_insert(0);
                    *sum = ticks.saturating_add(*sum);
                }
                for (spread, sum) in series.values.iter_mut().zip(sums) {
                    sum.into_iter().for_each(|sum| spread.add(line.location, sum));
                }
                for (number, value) in values() {
                    if let Some(iteration) = known(&watched, number) {
                        details.push(Detail { iteration, metric, location: line.location, value });
                    }
                }
            };
            add(metrics.time, |own| own.end - own.begin);
            add(metrics.mpi, |own| own.in_mpi);
        }
        let (current, current_details, causes) = Default::default();
        let latest = 0;
        ByIteration {
            agreed,
            cursor,
            blocks,
            lines,
            first,
            watched,
            current,
            latest,
            totals,
            details,
            current_details,
            causes,
            map,
        }
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
        let mut rows = vec![0; self.blocks.row(self.agreed.iterations) + 1];
        for (number, share) in values {
            rows[self.blocks.row(number)] += share;
            let ticks = whole_part(share);
            if ticks != 0
                && let Some(iteration) = known(&self.watched, number)
            {
                self.details.push(Detail { iteration, metric, location, value: ticks });
            }
        }
        let ticks =
            rows.iter().enumerate().skip(1).map(|(row, &share)| (self.blocks.first(row), whole_part(share)));
        self.map.add(location, metric, ticks);
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
                self.current.push((key, vec![0; self.blocks.row(self.agreed.iterations) + 1]));
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
            let blocks = self.blocks;
            let values =
                values.into_iter().enumerate().skip(1).map(|(row, value)| (blocks.first(row), value));
            self.map.add(location, metric, values);
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
        Ok(Series { blocks, metrics: totals, details, causes, map })
    }
}
