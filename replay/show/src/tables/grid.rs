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
    /// Ticks that all locations of the cell have, row by row.
    pub all: Vec<i64>,
}

impl Window {
    /// The share of a cell's time in the classes that were asked for, from 0 to 1.
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    pub fn share(&self, row: usize, column: usize) -> f64 {
        let at = row * self.columns + column;
        match (self.ticks.get(at), self.all.get(at)) {
            (Some(&ticks), Some(&all)) if all > 0 => (ticks as f64 / all as f64).clamp(0.0, 1.0),
            _ => 0.0,
        }
    }

    /// The same share of what is not in the classes of another window of the same cells.
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    pub fn share_without(&self, off: &Window, row: usize, column: usize) -> f64 {
        let at = row * self.columns + column;
        match (self.ticks.get(at), self.all.get(at), off.ticks.get(at)) {
            (Some(&ticks), Some(&all), Some(&off)) if all > off => {
                (ticks as f64 / (all - off) as f64).clamp(0.0, 1.0)
            }
            _ => 0.0,
        }
    }

    /// Begin and end of a column, in ticks.
    pub fn times(&self, column: usize) -> (u64, u64) {
        let width = (self.end - self.begin) / (self.columns as u64).max(1);
        (self.begin + width * column as u64, self.begin + width * (column as u64 + 1))
    }
}

/// What of the grid is asked for.
#[derive(Clone, Debug)]
pub struct Request<'r> {
    /// Whether a class counts, by number.
    pub classes: &'r [bool],
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
        let is_wanted =
            usize::try_from(classes[row]).is_ok_and(|class| request.classes.get(class) == Some(&true));
        if usize::try_from(levels[row]) != Ok(enough) || !is_wanted {
            continue;
        }
        let first = u64::try_from(firsts[row]).unwrap_or(u64::MAX);
        let count = u64::try_from(groups[row]).unwrap_or(u64::MAX);
        if first.checked_add(count).is_none_or(|end| end > level.groups) {
            return Err(columns.wrong(&format!("row {row}: groups beyond the {} of its level", level.groups)));
        }
        let wrong = |what: &str| columns.wrong(&format!("row {row}: {what}"));
        add(&mut window, level, request, first, count, bytes).map_err(wrong)?;
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
        all,
        rows,
    }
}

/// Adds the values of a row of the table: group by group the bins' ticks, zeros counted.
fn add(
    window: &mut Window,
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
            let at = row.checked_mul(window.columns).and_then(|at| at.checked_add(column));
            let sum = at.and_then(|at| window.ticks.get_mut(at)).ok_or("a group without locations")?;
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
        Request { classes: &[true], locations: 2, rows, columns, from, to: 40 }
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
    fn values_that_do_not_fit_are_refused() {
        for values in [&[0, 0, 20, 10][..], &[0, 8], &[0, 7, 1], &[0x80; 12]] {
            let (manifest, table) = table(values);
            assert!(window(&manifest, &table, &request(2, 4, 0)).is_err(), "{values:?}");
        }
    }
}
