//! The cells of the table `grid`, one after the other, as exports need them.

use details::Table;
use details::manifest::Manifest;

use super::Columns;
use super::grid::leb128;
use crate::error::Result;

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
    for (row, mut bytes) in columns.bytes("values")?.iter().map(Vec::as_slice).enumerate() {
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
        let mut at = 0;
        while at < cells {
            let value = leb128(&mut bytes).map_err(wrong)?;
            if value == 0 {
                let more = leb128(&mut bytes).map_err(wrong)?;
                let next = more.checked_add(at + 1).filter(|&next| next <= cells);
                at = next.ok_or_else(|| wrong("more zeros than bins"))?;
                continue;
            }
            let ticks = (value >> 1).cast_signed() ^ -(value & 1).cast_signed();
            let (group, bin) = (first + at / described.bins, at % described.bins);
            take(Cell { level, class, group, bin, ticks })?;
            at += 1;
        }
        if !bytes.is_empty() {
            return Err(wrong("bytes behind the last bin"));
        }
    }
    Ok(())
}
