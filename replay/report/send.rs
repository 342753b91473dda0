//! Sending of values to worker 0, one portion of the report at a time.
//!
//! Every worker computes the values of its locations as they will be in the file, and sends the rows in which
//! it has any. Worker 0 puts them into their places in the file while the others compute the next portion.

use std::ops::Range;

use cubex::{CnodeId, MetricId as CubeMetric, Writer};

use super::cube::data_type;
use super::index::Index;
use super::locations::Locations;
use super::remarks::Remarks;
use super::rows::{Rows, WIDTH, chunks};
use crate::error::Error;
use crate::exchange::{Batch, Exchange, gather};
use crate::ids::ReportPath;
use crate::int::{to_u64, to_usize};
use crate::metrics::Metrics;
use crate::severity::MetricId;
use crate::tools::Tools;

/// Approximate number of values in a portion if there is one worker: they stay in a cache until they are
/// written.
const VALUES: usize = 1 << 18;

/// Maximum number of values in a portion of more than the minimum size: 8 MiB.
const MOST: usize = 1 << 20;

/// Minimum number of call paths in a portion, if there are as many: their severities at a location fill a
/// cache line.
const PATHS: usize = 8;

/// Minimum number of locations in a portion, if there are as many: the data that is written at a time fills a
/// page.
const LOCATIONS: usize = 512;

/// A value as it is in the file.
type Value = [u8; 8];

/// Some call paths at some locations of the report, in all metrics.
#[derive(Debug)]
struct Portion<'i> {
    index: &'i Index,
    paths: Range<ReportPath>,
    locations: Range<usize>,
    /// By metric, the number of rows of the portion before it; at the end, the number of all its rows.
    before: Vec<u32>,
}

impl<'i> Portion<'i> {
    fn new(index: &'i Index, paths: Range<ReportPath>, locations: Range<usize>) -> Portion<'i> {
        let rows = |metric| index.position(metric, paths.end) - index.position(metric, paths.start);
        let mut before = vec![0];
        (0..index.metrics()).for_each(|metric| before.push(before[metric] + rows(metric)));
        Portion { index, paths, locations, before }
    }

    /// Returns the place of a row among those of the portion, in the order of the file.
    fn row(&self, metric: MetricId, path: ReportPath) -> u32 {
        let first = self.index.position(metric, self.paths.start);
        self.before[metric] + self.index.position(metric, path) - first
    }
}

/// Returns all portions of a report, by their call paths and locations.
fn portions(
    index: &Index,
    paths: usize,
    locations: usize,
    workers: usize,
) -> Vec<(Range<ReportPath>, Range<usize>)> {
    let mut counts = vec![0; paths];
    for metric in 0..index.metrics() {
        index.paths(metric).for_each(|path| counts[path.index()] += 1);
    }
    // Values of other workers are gathered in larger pieces.
    let most = if workers > 1 { MOST } else { VALUES };
    let mut portions = Vec::new();
    let mut start = 0;
    while start < paths {
        let (mut end, mut rows) = (start, 0);
        while end < paths && (end < start + PATHS || (rows + counts[end]) * locations <= most) {
            rows += counts[end];
            end += 1;
        }
        if let Some(width) = MOST.checked_div(rows) {
            let paths = ReportPath::new(start)..ReportPath::new(end);
            portions.extend(chunks(0..locations, width.max(LOCATIONS)).map(|at| (paths.clone(), at)));
        }
        start = end;
    }
    portions
}

/// Sends the values of all workers to worker 0, which writes them, and collects the remarks on them.
///
/// # Errors
/// If the file cannot be written, or a worker failed.
pub(super) fn send(
    tools: &Tools<'_>,
    locations: &Locations<'_>,
    index: &Index,
    remarks: &mut Remarks<'_>,
    mut writer: Option<&mut Writer>,
    exchange: &mut dyn Exchange,
) -> Result<(), Error> {
    let width = tools.trace.locations.len();
    if let Some(writer) = &mut writer {
        for metric in 0..index.metrics() {
            let cnodes: Vec<CnodeId> = index.paths(metric).map(|path| CnodeId(path.index())).collect();
            debug_assert_eq!(writer.order(CubeMetric(metric), &cnodes)?, cnodes);
            writer.reserve(CubeMetric(metric), &cnodes)?;
        }
    }
    let mut values = Vec::new();
    for (paths, among) in portions(index, locations.paths.len(), width, exchange.workers()) {
        let portion = Portion::new(index, paths, among);
        let among = locations.among(&portion.locations);
        let (rows, pieces) = (portion.before[index.metrics()] as usize, among.len().div_ceil(WIDTH));
        let mut batch = Batch::with_capacity(
            rows * (among.len() + pieces) + 3 * pieces * portion.paths.start.until(portion.paths.end).len(),
        );
        locations.each_row(&portion.paths, among, |rows| {
            encode(tools, &portion, locations.first + rows.locations.start, rows, &mut batch, remarks);
        });
        let batches = gather(exchange, batch)?;
        if let Some(writer) = &mut writer {
            put(tools.metrics, writer, &portion, width, &batches, &mut values)?;
        }
    }
    Ok(())
}

/// Adds rows to a batch, and collects the remarks on them: the first location, the numbers of locations and
/// of rows; for each row its place in the portion, and the values.
fn encode(
    tools: &Tools<'_>,
    portion: &Portion<'_>,
    first: usize,
    rows: &Rows<'_>,
    batch: &mut Batch,
    remarks: &mut Remarks<'_>,
) {
    let start = batch.len();
    batch.extend([to_u64(first), to_u64(rows.locations.len()), 0]);
    for (metric, numbers) in rows.states() {
        batch[start + 2] += 1;
        batch.push(portion.row(metric, rows.path).into());
        let neutral = neutral(tools.metrics, metric);
        batch.extend(numbers.iter().map(|number| number.unwrap_or(neutral).to_bits()));
    }
    for (metric, numbers) in rows.list() {
        batch[start + 2] += 1;
        batch.push(portion.row(metric, rows.path).into());
        numbers.encode(&tools.trace.definitions.clock, tools.metrics.list[metric].unit, batch);
        if remarks.are_about(metric) {
            remarks.add(metric, rows.path, first, &numbers.long(tools.formulas.has_fractions(metric)));
        }
    }
}

/// The number that stands where a metric has no value.
fn neutral(metrics: &Metrics, metric: MetricId) -> f64 {
    data_type(metrics.list[metric].unit).0.neutral()
}

/// Decodes rows into those of a portion at some locations.
fn decode(batch: &[u64], locations: &Range<usize>, values: &mut [Value]) {
    let mut rest = batch;
    while let [first, width, count, next @ ..] = rest {
        let (first, width) = (to_usize(*first) - locations.start, to_usize(*width));
        let (rows, next) = next.split_at(to_usize(*count) * (width + 1));
        for row in rows.chunks_exact(width + 1) {
            let start = to_usize(row[0]) * locations.len() + first;
            let values = values[start..start + width].iter_mut();
            values.zip(&row[1..]).for_each(|(value, word)| *value = word.to_le_bytes());
        }
        rest = next;
    }
}

/// Writes the batches of all workers for a portion; `width` is the number of all locations.
fn put(
    metrics: &Metrics,
    writer: &mut Writer,
    portion: &Portion<'_>,
    width: usize,
    batches: &[Batch],
    values: &mut Vec<Value>,
) -> Result<(), Error> {
    let Portion { index, paths, locations, before } = portion;
    values.clear();
    for metric in 0..index.metrics() {
        let without = neutral(metrics, metric).to_le_bytes();
        values.resize(before[metric + 1] as usize * locations.len(), without);
    }
    batches.iter().for_each(|batch| decode(batch, locations, values));
    for metric in 0..index.metrics() {
        let rows = before[metric] as usize..before[metric + 1] as usize;
        let number = index.position(metric, paths.start) as usize;
        // Rows of all locations are contiguous in the file.
        let together = if locations.len() == width { rows.len().max(1) } else { 1 };
        for some in chunks(rows.clone(), together) {
            let first = (number + some.start - rows.start) * width + locations.start;
            let values = &values[some.start * locations.len()..some.end * locations.len()];
            writer.put(CubeMetric(metric), first as u64, values)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an index: call path 0 has rows of two metrics, all others of one of them, except 9, which has
    /// none.
    fn index() -> Index {
        let first = (0..9).chain(10..30).map(|path| (0, path));
        Index::with_rows(3, 30, first.chain([(2, 0)]))
    }

    #[test]
    fn portions_have_all_call_paths_at_all_locations_once() {
        for (locations, workers) in [(1, 1), (600, 1), (MOST / 20, 1), (MOST / 20, 2), (3 * VALUES, 1)] {
            let mut seen = [0; 30];
            for (paths, among) in portions(&index(), 30, locations, workers) {
                let all = paths.start.until(paths.end);
                assert!(all.len() >= PATHS || paths.end.index() == 30, "{paths:?}");
                assert!(all.len() == PATHS || all.len() * among.len() <= MOST, "{paths:?} at {among:?}");
                all.for_each(|path| seen[path.index()] += among.len());
            }
            assert_eq!(seen, [locations; 30]);
        }
        assert!(portions(&Index::with_rows(3, 30, []), 30, 1, 1).is_empty());
    }

    #[test]
    fn rows_of_a_portion_come_in_the_order_of_metrics() {
        let index = index();
        let portion = |first, end| Portion::new(&index, ReportPath::new(first)..ReportPath::new(end), 0..1);
        let row = |portion: &Portion<'_>, metric, path| portion.row(metric, ReportPath::new(path));
        let one = portion(8, 11);
        assert_eq!(([8, 10].map(|path| row(&one, 0, path)), &one.before[..]), ([0, 1], &[0, 2, 2, 2][..]));
        let one = portion(0, 9);
        assert_eq!((row(&one, 0, 8), row(&one, 2, 0), one.before[3]), (8, 9, 10));
    }

    #[test]
    fn rows_of_blocks_come_to_their_places() {
        // The portion has three locations from the tenth on; the first block two of them, and two rows.
        let batch = [
            11, 2, 2, /* row */ 0, 7, 8, /* row */ 2, 9, 10, /* block */ 10, 1, 1,
            /* row */ 1, 6,
        ];
        let mut values = [Value::default(); 9];
        decode(&batch, &(10..13), &mut values);
        assert_eq!(values.map(u64::from_le_bytes), [0, 7, 8, 6, 0, 0, 0, 9, 10]);
    }
}
