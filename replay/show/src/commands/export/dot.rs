//! `dot`: graphs of the structure for Graphviz, one for each group of locations, all in one file.

use std::io::Write;

use super::Remarks;
use super::source::Source;
use crate::error::Result;
use crate::graphs::{counted, dot};
use crate::tables::structure::Structure;

/// Writes all graphs.
///
/// # Errors
/// If the report has none, or the output cannot be written.
pub(super) fn write(source: &Source<'_>, out: &mut dyn Write) -> Result<Remarks> {
    let (structure, names) = source.structure()?;
    for (group, name) in
        structure.groups.iter().zip(&names).enumerate().map(|(at, (group, name))| ((at, group), name))
    {
        dot::write(&structure, group.1, (group.0, name), out)?;
    }
    Ok(others(&structure))
}

/// Says how many graphs the report does not have.
pub(super) fn others(structure: &Structure) -> Remarks {
    let others = structure.others.graphs;
    let remark = || format!("without {}, which the report does not have", counted(others, "other graph"));
    (others > 0).then(remark).into_iter().collect()
}
