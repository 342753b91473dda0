//! The table `grid`: time by class, group of locations, and bin of time.

use details::Table;
use details::manifest::{Level, Manifest};

use super::Columns;
use crate::error::Result;

/// The most cells of a row of the table, and of all groups and bins together.
const MOST_CELLS: u64 = 1 << 26;

/// A window of the grid, in cells for a screen.
#[derive(Clone, PartialEq, Debug)]
pub struct Window {
    /// First location and number of locations of each row.
    pub rows: Vec<(usize, usize)>,
    /// Begin of the first column and end of the last one, in ticks.
    pub begin: u64,
    /// See `begin`.
    pub end: u64,
    /// Number of columns.
    pub columns: usize,
    /// Ticks in the classes that were asked for, row by row.
    pub ticks: Vec<i64>,
    /// Ticks in the classes that are left out of shares, row by row.
    pub left_out: Vec<i64>,
    /// Ticks that all locations of the cell have, row by row.
    pub all: Vec<i64>,
}

impl Window {
    /// The share of a cell's time in the classes that were asked for, from 0 to 1; of its time without what is left out.
    pub fn share(&self, row: usize, column: usize) -> f64 {
        let at = row * self.columns + column;
        match (self.ticks.get(at), self.all.get(at), self.left_out.get(at)) {
            (Some(&ticks), Some(&all), Some(&left_out)) => share(ticks, all - left_out),
            _ => 0.0,
        }
    }

    /// The share of a cell's time that is left out, from 0 to 1.
    pub fn share_left_out(&self, row: usize, column: usize) -> f64 {
        let at = row * self.columns + column;
        self.left_out.get(at).zip(self.all.get(at)).map_or(0.0, |(&left_out, &all)| share(left_out, all))
    }

    /// Begin and end of a column, in ticks.
    pub fn times(&self, column: usize) -> (u64, u64) {
        let width = (self.end - self.begin) / (self.columns as u64).max(1);
        (self.begin + width * column as u64, self.begin + width * (column as u64 + 1))
    }
}

/// A part of ticks as a share, from 0 to 1; 0 of nothing.
#[expect(clippy::cast_precision_loss, reason = "a share")]
fn share(ticks: i64, all: i64) -> f64 {
    if all > 0 { (ticks as f64 / all as f64).clamp(0.0, 1.0) } else { 0.0 }
}

/// What of the grid is asked for.
#[derive(Clone, Debug)]
pub struct Request<'r> {
    /// Whether a class counts, by number.
    pub classes: &'r [bool],
    /// Whether shares are of the time without a class, by number; none of those that count.
    pub left_out: &'r [bool],
    /// Number of locations.
    pub locations: usize,
    /// The most rows and columns.
    pub rows: usize,
    /// See `rows`.
    pub columns: usize,
    /// Time in ticks.
    pub from: u64,
    /// See `from`.
    pub to: u64,
}

/// Reads a window of the grid, from the level that has enough rows and most columns.
///
/// # Errors
/// If the table or the manifest contradict themselves.
pub fn window(manifest: &Manifest, table: &Table, request: &Request<'_>) -> Result<Window> {
    let columns = Columns::of("grid", table);
    for level in &manifest.levels {
        let cells = level.groups.checked_mul(level.bins);
        let ticks = level
            .bins
            .checked_mul(level.bin_ticks)
            .and_then(|ticks| ticks.checked_mul(request.locations.max(1) as u64));
        let is_fine = level.span > 0 && level.span <= 1 << 32 && level.bins > 0 && level.bin_ticks > 0;
        if !is_fine
            || cells.is_none_or(|cells| cells > MOST_CELLS)
            || ticks.is_none_or(|ticks| i64::try_from(ticks).is_err())
        {
            return Err(columns.wrong(&format!("level {level:?} of the manifest is impossible")));
        }
    }
    let rows = request.rows.clamp(1, request.locations.max(1)) as u64;
    let enough = manifest.levels.iter().rposition(|level| level.groups >= rows).unwrap_or(0);
    let Some(level) = manifest.levels.get(enough) else {
        return Err(columns.wrong("the manifest has no levels"));
    };
    let mut window = empty(level, request);
    let [levels, classes, firsts, groups] =
        ["level", "class", "group", "groups"].map(|name| columns.integers(name));
    let (levels, classes, firsts, groups) = (levels?, classes?, firsts?, groups?);
    for (row, bytes) in columns.bytes("values")?.iter().enumerate() {
        if usize::try_from(levels[row]) != Ok(enough) {
            continue;
        }
        let is_in =
            |list: &[bool]| usize::try_from(classes[row]).is_ok_and(|class| list.get(class) == Some(&true));
        let cells = match (is_in(request.classes), is_in(request.left_out)) {
            (true, _) => &mut window.ticks,
            (false, true) => &mut window.left_out,
            (false, false) => continue,
        };
        let first = u64::try_from(firsts[row]).unwrap_or(u64::MAX);
        let count = u64::try_from(groups[row]).unwrap_or(u64::MAX);
        if first.checked_add(count).is_none_or(|end| end > level.groups) {
            return Err(columns.wrong(&format!("row {row}: groups beyond the {} of its level", level.groups)));
        }
        let wrong = |what: &str| columns.wrong(&format!("row {row}: {what}"));
        add((cells, window.columns), level, request, first, count, bytes).map_err(wrong)?;
    }
    Ok(window)
}

/// Bins of a window, and how many of them are a column.
fn bins(level: &Level, request: &Request<'_>) -> (u64, u64, u64) {
    let first = (request.from / level.bin_ticks).min(level.bins - 1);
    let last = request.to.div_ceil(level.bin_ticks).clamp(first + 1, level.bins);
    let each = (last - first).div_ceil(request.columns.max(1) as u64);
    (first, last, each)
}

/// Groups of a row of the window.
fn groups_of_row(level: &Level, request: &Request<'_>) -> u64 {
    level.groups.div_ceil(request.rows.max(1) as u64).max(1)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "cells are limited by the manifest's check, and fit into memory"
)]
fn empty(level: &Level, request: &Request<'_>) -> Window {
    let (first, last, each) = bins(level, request);
    let columns = (last - first).div_ceil(each) as usize;
    let groups = groups_of_row(level, request);
    let span = (level.span * groups) as usize;
    let rows: Vec<(usize, usize)> = (0..request.locations)
        .step_by(span.max(1))
        .map(|first| (first, span.min(request.locations - first)))
        .collect();
    let ticks_of_column = (each * level.bin_ticks) as i64;
    let all = rows.iter().flat_map(|&(_, count)| {
        (0..columns).map(move |column| {
            // The last column may have fewer bins.
            let rest = ((last - first - column as u64 * each).min(each) * level.bin_ticks) as i64;
            rest.min(ticks_of_column) * count as i64
        })
    });
    let all: Vec<i64> = all.collect();
    Window {
        begin: first * level.bin_ticks,
        end: (first + columns as u64 * each) * level.bin_ticks,
        columns,
        ticks: vec![0; all.len()],
        left_out: vec![0; all.len()],
        all,
        rows,
    }
}

/// Adds the values of a row of the table to cells of so many columns: group by group the bins' ticks, zeros counted.
fn add(
    (window_cells, columns): (&mut [i64], usize),
    level: &Level,
    request: &Request<'_>,
    first_group: u64,
    groups: u64,
    mut bytes: &[u8],
) -> std::result::Result<(), &'static str> {
    let (first_bin, last_bin, each) = bins(level, request);
    let groups_of_row = groups_of_row(level, request);
    let cells = groups * level.bins;
    let mut cell = 0;
    while cell < cells {
        let value = leb128(&mut bytes)?;
        if value == 0 {
            let more = leb128(&mut bytes)?;
            cell = more.checked_add(cell + 1).filter(|&cell| cell <= cells).ok_or("more zeros than bins")?;
            continue;
        }
        let ticks = (value >> 1).cast_signed() ^ -(value & 1).cast_signed();
        let (group, bin) = (first_group + cell / level.bins, cell % level.bins);
        if (first_bin..last_bin).contains(&bin) {
            let row = usize::try_from(group / groups_of_row).unwrap_or(usize::MAX);
            let column = usize::try_from((bin - first_bin) / each).unwrap_or(usize::MAX);
            let at = row.checked_mul(columns).and_then(|at| at.checked_add(column));
            let sum = at.and_then(|at| window_cells.get_mut(at)).ok_or("a group without locations")?;
            *sum = sum.saturating_add(ticks);
        }
        cell += 1;
    }
    if bytes.is_empty() { Ok(()) } else { Err("bytes behind the last bin") }
}

pub(super) fn leb128(bytes: &mut &[u8]) -> std::result::Result<u64, &'static str> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first().ok_or("the values end too early")?;
        *bytes = rest;
        if shift == 63 && byte > 1 {
            break;
        }
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err("a number of more than 64 bits")
}

#[cfg(test)]
mod tests {
    use details::{Column, Values};

    use super::*;

    /// Two locations and four bins of ten ticks: the first waits in bins 1 and 2, the second in bin 3, less than nothing.
    fn table(values: &[u8]) -> (Manifest, Table) {
        let level = Level { span: 1, groups: 2, bins: 4, bin_ticks: 10 };
        let manifest = Manifest { levels: vec![level], end: 40, ..Manifest::default() };
        let columns = vec![
            Column::new("level", None, Values::U8(vec![0])),
            Column::new("class", None, Values::U8(vec![0])),
            Column::new("group", None, Values::U32(vec![0])),
            Column::new("groups", None, Values::U32(vec![2])),
            Column::new("values", None, Values::Bytes(vec![values.to_vec()])),
        ];
        (manifest, Table { name: "grid".into(), columns })
    }

    fn request(rows: usize, columns: usize, from: u64) -> Request<'static> {
        Request { classes: &[true], left_out: &[], locations: 2, rows, columns, from, to: 40 }
    }

    #[test]
    fn cells_are_sums_over_groups_and_bins() {
        let (manifest, table) = table(&[0, 0, 20, 10, 0, 3, 5]);
        let of = |rows, columns, from| window(&manifest, &table, &request(rows, columns, from)).unwrap();
        assert_eq!(of(2, 4, 0).ticks, [0, 10, 5, 0, 0, 0, 0, -3]);
        assert_eq!(of(1, 2, 0).ticks, [10, 2]);
        assert_eq!(of(1, 2, 0).all, [40, 40]);
        let late = of(2, 9, 20);
        assert_eq!((late.ticks, late.begin, late.end), (vec![5, 0, 0, -3], 20, 40));
    }

    #[test]
    fn shares_are_of_the_time_without_what_is_left_out() {
        let (manifest, mut table) = table(&[0, 0, 20, 10, 0, 3, 5]);
        for column in &mut table.columns {
            match &mut column.values {
                Values::U8(rows) if column.name == "class" => rows.push(1),
                Values::U8(rows) => rows.push(rows[0]),
                Values::U32(rows) => rows.push(rows[0]),
                Values::Bytes(rows) => rows.push(vec![12, 20, 0, 5]),
                _ => unreachable!("no such column"),
            }
        }
        let shares = |classes, left_out| {
            let request = Request { classes, left_out, ..request(1, 2, 0) };
            let window = window(&manifest, &table, &request).unwrap();
            [0, 1].map(|column| (window.share(0, column), window.share_left_out(0, column)))
        };
        assert_eq!(shares(&[true, false], &[]), [(0.25, 0.0), (0.05, 0.0)]);
        assert_eq!(shares(&[true, false], &[false, true]), [(10.0 / 24.0, 0.4), (0.05, 0.0)]);
        assert_eq!(shares(&[true, true], &[false, true]), [(0.65, 0.0), (0.05, 0.0)]);
    }

    #[test]
    fn values_that_do_not_fit_are_refused() {
        for values in [&[0, 0, 20, 10][..], &[0, 8], &[0, 7, 1], &[0x80; 12]] {
            let (manifest, table) = table(values);
            assert!(window(&manifest, &table, &request(2, 4, 0)).is_err(), "{values:?}");
        }
    }
}
