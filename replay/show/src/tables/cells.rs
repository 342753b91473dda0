//! The cells of the table `grid`, one after the other, as exports need them.

use details::Table;
use details::manifest::Manifest;

use super::Columns;
use super::grid::leb128;
use crate::error::{Error, Result};

/// Time of a group of locations in a class and a bin. Cells of no time are left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cell {
    /// Position in the levels of the manifest.
    pub level: usize,
    /// Position in the classes of the manifest.
    pub class: usize,
    /// The group of the level.
    pub group: u64,
    /// The bin of the level.
    pub bin: u64,
    /// Ticks.
    pub ticks: i64,
}

/// Calls a function for each cell of the wanted levels, in the order of the table.
///
/// # Errors
/// If the table and the manifest contradict each other, and those of the function.
pub fn for_each(
    manifest: &Manifest,
    table: &Table,
    is_wanted: impl Fn(usize) -> bool,
    mut take: impl FnMut(Cell) -> Result<()>,
) -> Result<()> {
    let columns = Columns::of("grid", table);
    let levels = columns.positions("level", manifest.levels.len())?;
    let classes = columns.positions("class", manifest.classes.len())?;
    let (firsts, groups) = (columns.integers("group")?, columns.integers("groups")?);
    for (row, bytes) in columns.bytes("values")?.iter().enumerate() {
        let wrong = |what: &str| columns.wrong(&format!("row {row}: {what}"));
        let (Some(level), Some(class)) = (levels[row], classes[row]) else {
            return Err(wrong("no level or no class"));
        };
        if !is_wanted(level) {
            continue;
        }
        let described = &manifest.levels[level];
        let first = u64::try_from(firsts[row]).map_err(|_| wrong("no group"))?;
        let count = u64::try_from(groups[row]).map_err(|_| wrong("no groups"))?;
        if described.bins == 0 || first.checked_add(count).is_none_or(|end| end > described.groups) {
            return Err(wrong("groups beyond those of its level"));
        }
        let cells = count.checked_mul(described.bins).ok_or_else(|| wrong("too many cells"))?;
        let cell = |at: u64, ticks| {
            take(Cell { level, class, group: first + at / described.bins, bin: at % described.bins, ticks })
        };
        numbers(bytes, cells, wrong, cell)?;
    }
    Ok(())
}

/// Calls a function for each of so many numbers that is not 0, with its place.
///
/// # Errors
/// If the bytes are those of more or fewer numbers, and those of the function.
pub(super) fn numbers(
    mut bytes: &[u8],
    count: u64,
    wrong: impl Fn(&str) -> Error,
    mut take: impl FnMut(u64, i64) -> Result<()>,
) -> Result<()> {
    let mut at = 0;
    while at < count {
        let value = leb128(&mut bytes).map_err(&wrong)?;
        if value == 0 {
            let more = leb128(&mut bytes).map_err(&wrong)?;
            let next = more.checked_add(at + 1).filter(|&next| next <= count);
            at = next.ok_or_else(|| wrong("more zeros than bins"))?;
            continue;
        }
        take(at, (value >> 1).cast_signed() ^ -(value & 1).cast_signed())?;
        at += 1;
    }
    if bytes.is_empty() { Ok(()) } else { Err(wrong("bytes behind the last bin")) }
}
