//! `speedscope`: sampled profiles of <https://www.speedscope.app/file-format-schema.json>.

use std::io::Write;

use cubex::{CnodeId, Step};

use super::Remarks;
use super::source::{Source, integer};
use super::text::{json_string, name, separated};
use crate::error::Result;
use crate::values::{Quantity, Unit};

/// Writes a profile of all selected locations together, and one of each if ranks were named.
///
/// # Errors
/// If the metric has no values, or the output cannot be written.
pub(super) fn write(source: &Source<'_>, out: &mut dyn Write) -> Result<Remarks> {
    let quantity = source.quantity()?;
    out.write_all(b"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n")?;
    writeln!(out, "\"exporter\":\"replay-show\",\"name\":{},", json_string(&name(&source.title())))?;
    out.write_all(b"\"shared\":{\"frames\":[\n")?;
    separated(out, source.cube().regions.iter(), |out, region| {
        write!(out, "{{\"name\":{}", json_string(&name(&region.name)))?;
        if !region.module.is_empty() {
            write!(out, ",\"file\":{}", json_string(&region.module))?;
        }
        if let Some(line) = region.begin_line {
            write!(out, ",\"line\":{line}")?;
        }
        out.write_all(b"}")
    })?;
    out.write_all(b"\n]},\n\"profiles\":[\n")?;
    profile(source, &quantity, "all locations", &source.locations, out)?;
    if source.args.ranks.is_some() {
        for location in (0..source.locations.len()).filter(|&at| source.locations[at]) {
            let only: Vec<bool> = (0..source.locations.len()).map(|at| at == location).collect();
            out.write_all(b",\n")?;
            profile(source, &quantity, &source.location_name(location), &only, out)?;
        }
    }
    out.write_all(b"\n]}\n")?;
    Ok(Vec::new())
}

/// Writes a profile of the sum over locations: a sample for each call path with its own value as weight.
fn profile(
    source: &Source<'_>,
    quantity: &Quantity,
    title: &str,
    locations: &[bool],
    out: &mut dyn Write,
) -> Result<()> {
    let unit = match quantity.unit {
        Unit::Seconds => "nanoseconds",
        Unit::Bytes => "bytes",
        Unit::Count | Unit::Other(_) => "none",
    };
    let values = source.values.totals(quantity, locations)?.exclusive;
    // Widths cannot be negative.
    let weight = |cnode: usize| integer(quantity.known(values[cnode]).unwrap_or(0.0), &quantity.unit).max(0);
    let shown = |step: &Step| matches!(step, Step::Enter(cnode) if weight(*cnode) > 0);
    let sum = (0..values.len()).fold(0_i64, |sum, cnode| sum.saturating_add(weight(cnode)));
    write!(
        out,
        "{{\"type\":\"sampled\",\"name\":{},\"unit\":\"{unit}\",\"startValue\":0,\"endValue\":{sum},\n\"samples\":[\n",
        json_string(&name(&format!("{} of {title}", quantity.name)))
    )?;
    let regions: Vec<usize> = source.cube().cnodes.iter().map(|cnode| cnode.region.0).collect();
    separated(out, source.values.calls().walk().filter(shown), |out, step| {
        let (Step::Enter(cnode) | Step::Leave(cnode)) = step;
        let stack: Vec<String> = stack(source, cnode).map(|at| regions[at].to_string()).collect();
        write!(out, "[{}]", stack.join(","))
    })?;
    out.write_all(b"\n],\"weights\":[\n")?;
    separated(out, source.values.calls().walk().filter(shown), |out, step| {
        let (Step::Enter(cnode) | Step::Leave(cnode)) = step;
        write!(out, "{}", weight(cnode))
    })?;
    out.write_all(b"\n]}")?;
    Ok(())
}

/// The call paths from the root to this one.
fn stack(source: &Source<'_>, cnode: usize) -> impl Iterator<Item = usize> {
    let cube = source.cube();
    let mut stack = Vec::new();
    let mut next = Some(CnodeId(cnode));
    while let Some(cnode) = next {
        stack.push(cnode.0);
        next = cube.cnodes[cnode.0].parent;
    }
    stack.into_iter().rev()
}
