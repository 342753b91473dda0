//! Tables of the main loop, `series`, `series_values` and `series_map`: its iterations, values of metrics by iteration, and times of
//! groups of locations in blocks of iterations.

use details::Table;
use details::manifest::{MainLoop, Manifest};

use super::cells::numbers;
use super::{Columns, seconds};
use crate::error::Result;

/// An iteration, or neighbouring ones where there are very many.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Iteration {
    /// The number of the first one.
    pub number: u64,
    /// When the first location begins, and when the last one ends, in seconds since the begin of the trace.
    pub begin: f64,
    /// See `begin`.
    pub end: f64,
    /// Seconds until the last location is through.
    pub elapsed: f64,
    /// Locations that have it.
    pub locations: u64,
    /// The longest time outside of MPI, in seconds, and where that is.
    pub most_computation: f64,
    /// See `most_computation`.
    pub most_computation_at: Option<usize>,
    /// Place among the kinds of the manifest, if it has one.
    pub kind: Option<usize>,
    /// Whether the loop is entered or left there.
    pub is_border: bool,
    /// Whether recording was off during it.
    pub has_gap: bool,
    /// Whether it is unlike those around it.
    pub is_unlike: bool,
    /// Whether it represents its kind.
    pub is_representative: bool,
}

/// A metric in an iteration.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Value {
    /// Over all locations: seconds, bytes or occurrences.
    pub sum: f64,
    /// The least and the most of a location.
    pub least: f64,
    /// See `least`.
    pub most: f64,
    /// The location with most.
    pub most_at: Option<usize>,
}

/// Reads the iterations of a report with so many locations.
///
/// # Errors
/// If the table is damaged.
pub fn iterations(
    manifest: &Manifest,
    main_loop: &MainLoop,
    table: &Table,
    locations: usize,
) -> Result<Vec<Iteration>> {
    let columns = Columns::of("series", table);
    let [numbers, begins, ends, elapsed, counts, most, flags] =
        ["iteration", "begin", "end", "elapsed", "locations", "most_computation", "flags"]
            .map(|name| columns.integers(name));
    let (numbers, begins, ends, elapsed) = (numbers?, begins?, ends?, elapsed?);
    let (counts, most, flags) = (counts?, most?, flags?);
    let most_at = columns.positions("most_computation_location", locations)?;
    let kinds = columns.positions("kind", main_loop.kinds.len())?;
    let rows = 0..table.rows();
    let iteration = |row: usize| {
        let number =
            u64::try_from(numbers[row]).ok().filter(|number| (1..=main_loop.iterations).contains(number));
        let number =
            number.ok_or_else(|| columns.wrong(&format!("row {row}: no iteration has its number")))?;
        let has = |flag: i64| flags[row] & flag != 0;
        let of = |ticks: &[i64]| seconds(manifest, ticks[row]);
        Ok(Iteration {
            number,
            begin: of(&begins),
            end: of(&ends),
            elapsed: of(&elapsed),
            locations: u64::try_from(counts[row]).unwrap_or(0),
            most_computation: of(&most),
            most_computation_at: most_at[row],
            kind: kinds[row],
            is_border: has(1),
            has_gap: has(2),
            is_unlike: has(4),
            is_representative: has(8),
        })
    };
    let all: Vec<Iteration> = rows.map(iteration).collect::<Result<_>>()?;
    match all.windows(2).all(|pair| pair[0].number < pair[1].number) {
        true => Ok(all),
        false => Err(columns.wrong("iterations are not in order")),
    }
}

/// Reads the values of a metric, by its place in the metrics of the loop: of each row of `iterations`. Those of
/// time are in seconds. What is outside of iterations is left out.
///
/// # Errors
/// If the table is damaged.
pub fn values(
    manifest: &Manifest,
    table: &Table,
    (metric, is_time): (usize, bool),
    (iterations, locations): (&[Iteration], usize),
) -> Result<Vec<Option<Value>>> {
    let columns = Columns::of("series_values", table);
    let [metrics, numbers, sums, fractions, least, most] =
        ["metric", "iteration", "sum", "fraction", "least", "most"].map(|name| columns.integers(name));
    let (metrics, numbers, sums, fractions, least, most) =
        (metrics?, numbers?, sums?, fractions?, least?, most?);
    let most_at = columns.positions("location", locations)?;
    let amount = |value: i64| {
        #[expect(clippy::cast_precision_loss, reason = "numbers for people; exact up to 2^53")]
        let amount = value as f64;
        if is_time { seconds(manifest, value) } else { amount }
    };
    let mut all = vec![None; iterations.len()];
    for row in (0..table.rows()).filter(|&row| usize::try_from(metrics[row]) == Ok(metric)) {
        #[expect(clippy::cast_precision_loss, reason = "a part of a tick")]
        let part = fractions[row] as f64 / (1_u64 << 56) as f64;
        let sum = amount(sums[row]) + part * amount(1);
        let value =
            Some(Value { sum, least: amount(least[row]), most: amount(most[row]), most_at: most_at[row] });
        let number = u64::try_from(numbers[row]).unwrap_or(u64::MAX);
        match iterations.binary_search_by_key(&number, |it| it.number) {
            Ok(at) => all[at] = value,
            Err(_) if number == 0 => {}
            Err(_) => return Err(columns.wrong(&format!("row {row}: no iteration has its number"))),
        }
    }
    Ok(all)
}

/// Time of a group of locations in a block of iterations. Cells of no time are left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cell {
    /// Position in the metrics of the loop.
    pub metric: usize,
    /// The group.
    pub group: u64,
    /// The block of iterations, from 0.
    pub block: u64,
    /// Ticks.
    pub ticks: i64,
}

/// Calls a function for each cell of the map of so many locations, in the order of the table.
///
/// # Errors
/// If the table and the manifest contradict each other, and those of the function.
pub fn for_each_cell(
    main_loop: &MainLoop,
    table: &Table,
    locations: usize,
    mut take: impl FnMut(Cell) -> Result<()>,
) -> Result<()> {
    let columns = Columns::of("series_map", table);
    let (span, block) = (main_loop.map_span, main_loop.map_block);
    if span == 0 || block == 0 {
        return Err(columns.wrong("groups or blocks of nothing"));
    }
    let (groups, blocks) = ((locations as u64).div_ceil(span), main_loop.iterations.div_ceil(block));
    let metrics = columns.positions("metric", main_loop.metrics.len())?;
    let of_group = columns.integers("group")?;
    for (row, bytes) in columns.bytes("values")?.iter().enumerate() {
        let wrong = |what: &str| columns.wrong(&format!("row {row}: {what}"));
        let metric = metrics[row].ok_or_else(|| wrong("no metric"))?;
        let group = u64::try_from(of_group[row]).ok().filter(|&group| group < groups);
        let group = group.ok_or_else(|| wrong("a group without locations"))?;
        numbers(bytes, blocks, wrong, |block, ticks| take(Cell { metric, group, block, ticks }))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use details::{Column, Values};

    use super::*;

    fn map(group: u32, values: &[u8]) -> Table {
        Table {
            name: "series_map".into(),
            columns: vec![
                Column::new("metric", None, Values::U8(vec![1])),
                Column::new("group", None, Values::U32(vec![group])),
                Column::new("values", None, Values::Bytes(vec![values.to_vec()])),
            ],
        }
    }

    /// Five iterations in blocks of two, three locations in groups of two.
    fn cells(table: &Table, map_block: u64) -> Result<Vec<(u64, u64, i64)>> {
        let metrics = vec!["time".into(), "mpi".into()];
        let main_loop = MainLoop { iterations: 5, metrics, map_span: 2, map_block, ..MainLoop::default() };
        let mut cells = Vec::new();
        for_each_cell(&main_loop, table, 3, |cell| {
            assert_eq!(cell.metric, 1);
            cells.push((cell.group, cell.block, cell.ticks));
            Ok(())
        })?;
        Ok(cells)
    }

    #[test]
    fn cells_of_no_time_are_left_out() {
        assert_eq!(cells(&map(1, &[20, 0, 0, 5]), 2).unwrap(), [(1, 0, 10), (1, 2, -3)]);
    }

    #[test]
    fn maps_that_contradict_the_loop_are_refused() {
        let wrong = |table: &Table, block| cells(table, block).unwrap_err().to_string();
        assert!(wrong(&map(2, &[0, 2]), 2).contains("row 0: a group without locations"));
        assert!(wrong(&map(0, &[0, 3]), 2).contains("more zeros than bins"));
        assert!(wrong(&map(0, &[0, 2, 9]), 2).contains("bytes behind the last bin"));
        assert!(wrong(&map(0, &[20, 20]), 2).contains("the values end too early"));
        assert!(wrong(&map(0, &[0, 2]), 0).contains("blocks of nothing"));
    }
}
