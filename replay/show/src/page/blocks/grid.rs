//! The tables `ticks` and `shades`: what locations did over time. Coarse levels have the exact ticks of each class, finer ones
//! the class with most time and the share of waiting of each cell.

use details::manifest::{Level, Manifest};
use details::{Column, Table, Values as Rows};

use super::{Blocks, NONE, Source};
use crate::commands::time::is_of_waiting;
use crate::error::{Error, Result};
use crate::tables::Columns;
use crate::tables::cells::for_each;

/// Bytes of exact ticks beside those of the coarsest level.
const EXACT: usize = 1 << 20;

/// The class of cells without any time.
const NOTHING: u8 = 255;

/// Steps of the share of waiting.
const STEPS: f64 = 31.0;

/// The most cells of a level: more are no levels that replay-analyze writes.
const MOST_CELLS: u64 = 1 << 24;

/// Part of what is left that a level may take.
const PART: f64 = 0.4;

/// Adds the tables, if the report has them.
pub(super) fn add(source: &Source<'_>, blocks: &mut Blocks) -> Result<()> {
    let Some(manifest) = &source.opened.manifest else { return Ok(()) };
    let Some(table) = source.opened.table("grid")? else { return Ok(()) };
    check(manifest, source.values.cube().locations.len())?;
    let sizes = source.opened.in_details(bytes_by_level(manifest, &table))?;
    let mut exact = vec![false; sizes.len()];
    let mut used = 0;
    // Coarser levels come last.
    for (level, bytes) in sizes.iter().enumerate().rev() {
        used += bytes;
        exact[level] = level + 1 == sizes.len() || used <= EXACT;
    }
    let ticks = exact_ticks(&table, &exact)?;
    if !blocks.table_within(&ticks, PART)? {
        return Err(Error::new("time by location does not fit into the page"));
    }
    let locations = source.values.cube().locations.len();
    for level in (0..sizes.len()).rev().filter(|&level| !exact[level]) {
        let shades = source.opened.in_details(shades(manifest, &table, level, locations))?;
        if !blocks.table_within(&shades, PART)? {
            let span = manifest.levels.get(level + 1).map_or(1, |level| level.span);
            blocks.limits.push(format!("time by location is that of {span} neighbours together"));
            break;
        }
    }
    Ok(())
}

/// Refuses levels that cannot be.
fn check(manifest: &Manifest, locations: usize) -> Result<()> {
    let is_possible = |level: &Level| {
        let cells = level.groups.checked_mul(level.bins);
        let ticks = level.bins.checked_mul(level.bin_ticks);
        let covered = level.groups.checked_mul(level.span);
        level.bins > 0
            && level.bin_ticks > 0
            && cells.is_some_and(|cells| cells <= MOST_CELLS)
            && ticks.is_some_and(|ticks| ticks < 1 << 53)
            && covered.is_some_and(|covered| covered >= locations as u64)
    };
    match manifest.levels.iter().find(|level| !is_possible(level)) {
        Some(level) => Err(Error::new(format!("level {level:?} of the manifest is impossible"))),
        None if manifest.levels.is_empty() || manifest.levels.len() > 16 || manifest.classes.len() > 254 => {
            Err(Error::new("levels or classes of the manifest are impossible"))
        }
        None => Ok(()),
    }
}

/// Bytes of the values of each level, once all cells have been read without a mistake.
fn bytes_by_level(manifest: &Manifest, table: &Table) -> Result<Vec<usize>> {
    for_each(manifest, table, |_| true, |_| Ok(()))?;
    let columns = Columns::of("grid", table);
    let levels = columns.positions("level", manifest.levels.len())?;
    let mut sizes = vec![0; manifest.levels.len()];
    for (level, values) in levels.iter().zip(columns.bytes("values")?) {
        sizes[level.unwrap_or(0)] += values.len();
    }
    Ok(sizes)
}

/// The rows of exact levels, as they are in the report.
fn exact_ticks(table: &Table, exact: &[bool]) -> Result<Table> {
    let columns = Columns::of("grid", table);
    let levels = columns.integers("level")?;
    let is_exact =
        |row: &usize| usize::try_from(levels[*row]).is_ok_and(|level| exact.get(level) == Some(&true));
    let rows: Vec<usize> = (0..table.rows()).filter(is_exact).collect();
    let numbers = |name: &str| -> Result<Column> {
        let numbers = columns.integers(name)?;
        let numbers = rows.iter().map(|&row| u32::try_from(numbers[row]).unwrap_or(NONE)).collect();
        Ok(Column::new(name, None, Rows::U32(numbers)))
    };
    let values = columns.bytes("values")?;
    let values = Rows::Bytes(rows.iter().map(|&row| values[row].clone()).collect());
    Ok(Table {
        name: "ticks".into(),
        columns: vec![
            numbers("level")?,
            numbers("class")?,
            numbers("group")?,
            numbers("groups")?,
            Column::new("values", None, values),
        ],
    })
}

/// A level in short: for each group and bin the class with most time, and the share of waiting.
fn shades(manifest: &Manifest, table: &Table, level: usize, locations: usize) -> Result<Table> {
    let described = &manifest.levels[level];
    let cells = usize::try_from(described.groups * described.bins).unwrap_or(0);
    let bins = usize::try_from(described.bins).unwrap_or(1);
    let is_waiting: Vec<bool> = manifest.classes.iter().map(is_of_waiting).collect();
    let (mut most, mut class) = (vec![0_i64; cells], vec![NOTHING; cells]);
    let mut waiting = vec![0_i64; cells];
    for_each(
        manifest,
        table,
        |number| number == level,
        |cell| {
            let at = usize::try_from(cell.group * described.bins + cell.bin).unwrap_or(usize::MAX);
            if cell.ticks > most[at] {
                most[at] = cell.ticks;
                class[at] = u8::try_from(cell.class).unwrap_or(NOTHING);
            }
            if is_waiting[cell.class] {
                waiting[at] = waiting[at].saturating_add(cell.ticks);
            }
            Ok(())
        },
    )?;
    let span = usize::try_from(described.span).unwrap_or(usize::MAX);
    let share = |(at, &ticks): (usize, &i64)| {
        let first = (at / bins).saturating_mul(span);
        let members = locations.saturating_sub(first).min(span);
        step(ticks, described.bin_ticks, members)
    };
    let share: Vec<u8> = waiting.iter().enumerate().map(share).collect();
    let group = |plane: &[u8]| Rows::Bytes(plane.chunks(bins).map(<[u8]>::to_vec).collect());
    let columns = vec![Column::new("class", None, group(&class)), Column::new("share", None, group(&share))];
    Ok(Table { name: format!("shades{level}"), columns })
}

/// The share of waiting in steps: none at all is 0, and nothing else is.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share in 32 steps"
)]
fn step(ticks: i64, bin_ticks: u64, members: usize) -> u8 {
    let all = bin_ticks as f64 * members as f64;
    if ticks <= 0 || all <= 0.0 {
        return 0;
    }
    (STEPS * ticks as f64 / all).round().clamp(1.0, STEPS) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_that_is_there_is_never_a_share_of_0() {
        assert_eq!((step(0, 100, 4), step(1, 100, 4), step(200, 100, 4), step(400, 100, 4)), (0, 1, 16, 31));
        assert_eq!((step(-5, 100, 4), step(5, 100, 0), step(500, 100, 4)), (0, 0, 31));
    }
}
