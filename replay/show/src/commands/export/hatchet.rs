//! `hatchet`: a list of trees for `GraphFrame.from_literal` of hatchet and llnl-hatchet, from which Thicket starts.

use std::io::Write;

use cubex::{CnodeId, Step};

use super::Remarks;
use super::source::Source;
use super::text::{json_number, json_string, name};
use crate::error::{Result, or_obstacle};
use crate::values::{Quantity, Totals};

/// Metrics that are exported if none are named, as far as the report has them.
const METRICS: [&str; 4] = ["time", "visits", "waiting", "delay"];

/// Writes the call tree: metrics summed up over the selected locations, in their units; `time (inc)` is that of the call
/// path with all below it.
///
/// # Errors
/// If a metric has no values, or the output cannot be written.
pub(super) fn write(source: &Source<'_>, out: &mut dyn Write) -> Result<Remarks> {
    let cube = source.cube();
    let mut metrics: Vec<(Quantity, Totals)> = Vec::new();
    let mut remarks = Remarks::new();
    for quantity in source.quantities(&METRICS)? {
        match or_obstacle(source.values.totals(&quantity, &source.locations))? {
            Ok(totals) => metrics.push((quantity, totals)),
            Err(why) => remarks.push(format!("without {}: {why}", quantity.name)),
        }
    }
    out.write_all(b"[")?;
    // Whether something stands before in the list that is open.
    let mut has_before = vec![false];
    for step in source.values.calls().walk() {
        let Step::Enter(at) = step else {
            has_before.pop();
            out.write_all(b"]}")?;
            continue;
        };
        if has_before.last_mut().is_some_and(|is_before| std::mem::replace(is_before, true)) {
            out.write_all(b",")?;
        }
        let cnode = &cube.cnodes[at];
        let region = &cube.regions[cnode.region.0];
        let title = name(crate::paths::name(cube, CnodeId(at)));
        write!(out, "\n{{\"frame\":{{\"name\":{},\"type\":\"function\"", json_string(&title))?;
        if !region.module.is_empty() {
            write!(out, ",\"file\":{}", json_string(&region.module))?;
        }
        if let Some(line) = region.begin_line {
            write!(out, ",\"line\":{line}")?;
        }
        let values = metrics.iter().flat_map(|(quantity, totals)| {
            let number = |value: f64| quantity.known(value).unwrap_or(f64::NAN);
            let name = &*quantity.name;
            [
                (name.to_owned(), number(totals.exclusive[at])),
                (format!("{name} (inc)"), number(totals.inclusive[at])),
            ]
        });
        let values = values.map(|(key, value)| format!("{}:{}", json_string(&key), json_number(value)));
        let values: Vec<String> = values.collect();
        // Call paths of one name below one parent are different nodes by their number.
        write!(out, ",\"cnode\":{at}}},\"metrics\":{{{}}},\"children\":[", values.join(","))?;
        has_before.push(false);
    }
    out.write_all(b"\n]\n")?;
    Ok(remarks)
}
