//! `t-efg`: the order of all calls of each group in a few bytes (structure 2.5); `docs/exports.md` has the header.

use std::io::Write;

use cubex::CnodeId;

use super::Remarks;
use super::dot::others;
use super::source::Source;
use crate::error::Result;
use crate::graphs::counted;
use crate::paths;

/// What files begin with.
const MAGIC: &[u8] = b"REPLAY-T-EFG 1\n";

/// Writes the temporal graphs of all groups.
///
/// # Errors
/// If the report has none, or the output cannot be written.
pub(super) fn write(source: &Source<'_>, out: &mut dyn Write) -> Result<Remarks> {
    let (structure, _) = source.structure()?;
    out.write_all(MAGIC)?;
    number(out, len(structure.groups.len()))?;
    let mut without = 0;
    for group in &structure.groups {
        // The group exists because of this location.
        let location = group.location.unwrap_or_default();
        for value in [len(location), group.locations, group.steps, group.count.into()] {
            number(out, value)?;
        }
        for node in 1..=group.count {
            let known = group.node(node);
            number(out, known.map_or(0, |node| node.key.into()))?;
            let path = known.and_then(|node| node.cnode).map(|at| paths::path(source.cube(), CnodeId(at)));
            bytes(out, path.unwrap_or_default().as_bytes())?;
            bytes(out, known.map_or("", |node| &node.file).as_bytes())?;
            number(out, known.and_then(|node| node.line).unwrap_or(0).into())?;
        }
        bytes(out, &group.order)?;
        without += u64::from(group.order.is_empty());
    }
    let mut remarks = others(&structure);
    if without > 0 {
        remarks
            .push(format!("{} without an order: it is too irregular to be kept", counted(without, "graph")));
    }
    Ok(remarks)
}

fn len(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// A number in LEB128.
fn number(out: &mut dyn Write, mut number: u64) -> Result<()> {
    while number >= 0x80 {
        out.write_all(&[number.to_le_bytes()[0] | 0x80])?;
        number >>= 7;
    }
    Ok(out.write_all(&[number.to_le_bytes()[0]])?)
}

/// The number of bytes, and the bytes.
fn bytes(out: &mut dyn Write, bytes: &[u8]) -> Result<()> {
    number(out, len(bytes.len()))?;
    Ok(out.write_all(bytes)?)
}
