//! The tables `totals`, `rows` and `rest`: values by metric and call path, exact sums of each and values of each location of the
//! largest, as far as there is room; of others a few numbers.

use std::io::Write;

use cubex::{CnodeId, MetricId};
use details::{Codec, Column, Table, Values as Rows};
use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::waits::table_of;
use super::{Blocks, Source, position};
use crate::error::{Result, or_obstacle};
use crate::places;
use crate::values::{Combine, Quantity};

/// Locations up to which values are exact; those of more are rounded to 65,535 steps of the largest in their row.
pub(super) const EXACT: usize = 256;

/// Locations with the largest values that are named of each row.
const WORST: usize = 8;

/// Part of what is left that rows may take.
const PART: f64 = 0.95;

/// Sums of a metric at a call path over all locations.
struct Total {
    metric: usize,
    cnode: usize,
    exclusive: f64,
    /// 0 where it is the sum of the exclusive values below.
    inclusive: f64,
}

/// Values of a metric at a call path, one for each location.
struct Row {
    metric: usize,
    cnode: usize,
    /// The share of the metric's total, which decides what is left out.
    share: f64,
    least: f64,
    most: f64,
    packed: Vec<u8>,
}

/// What is kept of a row that does not fit.
struct Summary {
    metric: usize,
    cnode: usize,
    /// Mean, the three quartiles, and the largest.
    numbers: [f64; 5],
    worst: Vec<(usize, f64)>,
}

/// Adds the tables.
///
/// # Errors
/// If values cannot be read.
pub(super) fn add(source: &Source<'_>, blocks: &mut Blocks) -> Result<()> {
    let values = source.values;
    let cube = values.cube();
    let (mut totals, mut rows, mut summaries) = (Vec::new(), Vec::new(), Vec::new());
    let is_known = places::recorded(values)?;
    for metric in (0..cube.metrics.len()).filter(|&metric| values.is_visible(MetricId(metric))) {
        let quantity = values.of_metric(MetricId(metric));
        if quantity.obstacle().is_some() {
            continue;
        }
        if quantity.combined().is_none() {
            add_ratio(source, &quantity, metric, &mut totals)?;
            continue;
        }
        let before = totals.len();
        let first = rows.len();
        let Ok(mut exclusive) = or_obstacle(values.exclusive(&quantity))? else { continue };
        while let Some((CnodeId(cnode), row)) = exclusive.next()? {
            let combine = quantity.combine;
            let sum = row.iter().fold(combine.neutral(), |sum, &value| combine.of(sum, value));
            totals.push(Total { metric, cnode, exclusive: sum, inclusive: 0.0 });
            if combine == Combine::Sum {
                rows.push(packed(metric, cnode, row));
                summaries.push(summary(metric, cnode, row, &is_known));
            }
        }
        let all: f64 = totals[before..].iter().map(|total| total.exclusive.abs()).sum();
        for (row, total) in rows[first..].iter_mut().zip(&totals[before..]) {
            row.share = if all > 0.0 { total.exclusive.abs() / all } else { 0.0 };
        }
        drop_what_never_fits(&mut rows, blocks.room(PART));
    }
    let column = |number: fn(&Total) -> f64| Rows::F64(totals.iter().map(number).collect());
    blocks.table(&table_of(
        "totals",
        vec![
            ("metric", Rows::U32(totals.iter().map(|it| position(Some(it.metric))).collect())),
            ("cnode", Rows::U32(totals.iter().map(|it| position(Some(it.cnode))).collect())),
            ("exclusive", column(|it| it.exclusive)),
            ("inclusive", column(|it| it.inclusive)),
        ],
    ))?;
    let all = summaries.len();
    let room = blocks.room(PART);
    choose(&mut rows, room);
    summaries.retain(|it| {
        rows.binary_search_by_key(&(it.metric, it.cnode), |row| (row.metric, row.cnode)).is_err()
    });
    if !summaries.is_empty() {
        blocks.limits.push(format!(
            "values of each location for {} of {all} pairs of a metric and a call path, those with the smallest shares; of these \
             mean, quartiles, and the {WORST} largest are there",
            summaries.len()
        ));
    }
    if !rows.is_empty() && cube.locations.len() > EXACT {
        blocks.limits.push(
            "exact values of each location: they are rounded to 65,535 steps of the largest in their row"
                .into(),
        );
    }
    blocks.table(&row_table(rows))?;
    if !blocks.table_within(&summary_table(&summaries), 1.0)? {
        blocks.limits.push("mean, quartiles and the largest of these: only sums are there".into());
    }
    Ok(())
}

/// Totals of a quantity whose values do not add up.
fn add_ratio(source: &Source<'_>, quantity: &Quantity, metric: usize, totals: &mut Vec<Total>) -> Result<()> {
    let all = places::all(source.values.cube());
    let Ok(of_all) = or_obstacle(source.values.totals(quantity, &all))? else { return Ok(()) };
    let of = of_all.exclusive.iter().zip(&of_all.inclusive).enumerate();
    let number = |value: f64| quantity.known(value).unwrap_or(f64::NAN);
    totals.extend(of.map(|(cnode, (&exclusive, &inclusive))| {
        let (exclusive, inclusive) = (number(exclusive), number(inclusive));
        Total { metric, cnode, exclusive, inclusive }
    }));
    Ok(())
}

/// A row in few bytes: the values themselves, or the high and then the low bytes of steps from the least to the largest. Zero is
/// always exact.
fn packed(metric: usize, cnode: usize, row: &[f64]) -> Row {
    let least = row.iter().copied().fold(0.0, f64::min);
    let most = row.iter().copied().fold(0.0, f64::max);
    let bytes: Vec<u8> = if row.len() <= EXACT {
        row.iter().flat_map(|value| value.to_le_bytes()).collect()
    } else {
        let steps: Vec<[u8; 2]> = row.iter().map(|&value| step(value, least, most).to_be_bytes()).collect();
        [0, 1].iter().flat_map(|&byte| steps.iter().map(move |step| step[byte])).collect()
    };
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(6));
    // A list takes all bytes.
    let packed = encoder.write_all(&bytes).and_then(|()| encoder.finish()).unwrap_or_default();
    Row { metric, cnode, share: 0.0, least, most, packed }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 65,535")]
fn step(value: f64, least: f64, most: f64) -> u16 {
    // The least is 0 but in rows with negative values.
    if most > least { ((value - least) / (most - least) * 65_535.0).round() as u16 } else { 0 }
}

fn summary(metric: usize, cnode: usize, row: &[f64], is_known: &[bool]) -> Summary {
    let known = || row.iter().zip(is_known).enumerate().filter(|(_, (_, known))| **known);
    let mut sorted: Vec<f64> = known().map(|(_, (value, _))| *value).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    #[expect(clippy::cast_precision_loss, reason = "a mean")]
    let mean = sorted.iter().sum::<f64>() / sorted.len().max(1) as f64;
    let quantile = |quarters: usize| {
        let last = sorted.len().saturating_sub(1);
        sorted.get(last * quarters / 4).copied().unwrap_or(0.0)
    };
    let mut worst: Vec<(usize, f64)> = known().map(|(at, (value, _))| (at, *value)).collect();
    if worst.len() > WORST {
        worst.select_nth_unstable_by(WORST, |a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        worst.truncate(WORST);
    }
    worst.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let numbers = [mean, quantile(1), quantile(2), quantile(3), quantile(4)];
    Summary { metric, cnode, numbers, worst }
}

/// Bytes of a row beside its values.
const HEAD: usize = 24;

fn by_share(a: &Row, b: &Row) -> std::cmp::Ordering {
    b.share.total_cmp(&a.share).then((a.metric, a.cnode).cmp(&(b.metric, b.cnode)))
}

/// Drops values that cannot be chosen in the end, so that memory stays bounded.
fn drop_what_never_fits(rows: &mut Vec<Row>, room: usize) {
    if rows.iter().map(|row| row.packed.len() + HEAD).sum::<usize>() > 4 * room.max(1 << 20) {
        choose(rows, room);
    }
}

/// The rows with the largest shares that fit into so many bytes, in the order of metrics and call paths.
fn choose(rows: &mut Vec<Row>, room: usize) {
    rows.sort_by(by_share);
    let mut used = 0;
    let fitting = rows.iter().take_while(|row| {
        used += row.packed.len() + HEAD;
        used <= room
    });
    let count = fitting.count();
    rows.truncate(count);
    rows.sort_by_key(|row| (row.metric, row.cnode));
}

fn row_table(rows: Vec<Row>) -> Table {
    let mut table = table_of(
        "rows",
        vec![
            ("metric", Rows::U32(rows.iter().map(|row| position(Some(row.metric))).collect())),
            ("cnode", Rows::U32(rows.iter().map(|row| position(Some(row.cnode))).collect())),
            ("least", Rows::F64(rows.iter().map(|row| row.least).collect())),
            ("most", Rows::F64(rows.iter().map(|row| row.most).collect())),
        ],
    );
    let values = Rows::Bytes(rows.into_iter().map(|row| row.packed).collect());
    // Each row is compressed alone, so that a page needs few of them in memory.
    table.columns.push(Column { codec: Codec::Raw, ..Column::new("values", None, values) });
    table
}

fn summary_table(summaries: &[Summary]) -> Table {
    let mut columns = vec![
        ("metric", Rows::U32(summaries.iter().map(|it| position(Some(it.metric))).collect())),
        ("cnode", Rows::U32(summaries.iter().map(|it| position(Some(it.cnode))).collect())),
    ];
    for (at, name) in ["mean", "quarter", "median", "three_quarters", "most"].into_iter().enumerate() {
        columns.push((name, Rows::F64(summaries.iter().map(|it| it.numbers[at]).collect())));
    }
    let locations =
        |it: &Summary| it.worst.iter().flat_map(|(at, _)| position(Some(*at)).to_le_bytes()).collect();
    let values = |it: &Summary| it.worst.iter().flat_map(|(_, value)| value.to_le_bytes()).collect();
    columns.push(("worst", Rows::Bytes(summaries.iter().map(locations).collect())));
    columns.push(("worst_values", Rows::Bytes(summaries.iter().map(values).collect())));
    table_of("rest", columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_reach_from_the_least_to_the_largest_and_zero_is_exact() {
        assert_eq!((step(0.0, 0.0, 4.0), step(4.0, 0.0, 4.0), step(2.0, 0.0, 4.0)), (0, 65_535, 32_768));
        assert_eq!(step(0.0, 0.0, 0.0), 0);
        assert_eq!((step(-1.0, -1.0, 3.0), step(3.0, -1.0, 3.0)), (0, 65_535));
    }

    #[test]
    fn rows_with_the_largest_shares_are_chosen() {
        let row = |cnode, share| Row { share, ..packed(0, cnode, &[1.0; 300]) };
        let mut rows = vec![row(0, 0.1), row(1, 0.6), row(2, 0.3)];
        let two = rows[0].packed.len() * 2 + 2 * HEAD;
        choose(&mut rows, two);
        assert_eq!(rows.iter().map(|row| row.cnode).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn summaries_leave_out_locations_of_which_nothing_is_known() {
        let it = summary(0, 0, &[4.0, 0.0, 2.0, 3.0], &[true, false, true, true]);
        assert_eq!(it.numbers, [3.0, 2.0, 3.0, 3.0, 4.0]);
        assert_eq!(it.worst, [(0, 4.0), (3, 3.0), (2, 2.0)]);
    }
}
