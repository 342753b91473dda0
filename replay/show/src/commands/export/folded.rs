//! `folded`: a line for each call path, names with semicolons between them and its own value, as Brendan Gregg's
//! `flamegraph.pl` reads it.

use std::io::Write;

use cubex::CnodeId;

use super::source::{Source, integer};
use super::{Remarks, text};
use crate::error::Result;
use crate::paths;

/// Writes folded stacks: nanoseconds, or the metric's unit. A metric is summed up over locations, or has a root for each.
///
/// # Errors
/// If the metric has no values, or the output cannot be written.
pub(super) fn write(source: &Source<'_>, out: &mut dyn Write) -> Result<Remarks> {
    let quantity = source.quantity()?;
    let mut negative = 0_u64;
    let mut line = |location: Option<usize>, cnode: usize, value: f64| -> Result<()> {
        match integer(quantity.known(value).unwrap_or(0.0), &quantity.unit) {
            0 => {}
            // Widths cannot be negative.
            ..0 => negative += 1,
            value => {
                if let Some(location) = location {
                    write!(out, "{};", frame(&source.location_name(location)))?;
                }
                writeln!(out, "{} {value}", stack(source, cnode))?;
            }
        }
        Ok(())
    };
    if source.args.per_location {
        let mut rows = source.values.exclusive(&quantity)?;
        while let Some((cnode, row)) = rows.next()? {
            for (location, &value) in row.iter().enumerate().filter(|(at, _)| source.locations[*at]) {
                line(Some(location), cnode.0, value)?;
            }
        }
    } else {
        let totals = source.values.totals(&quantity, &source.locations)?;
        for (cnode, &value) in totals.exclusive.iter().enumerate() {
            line(None, cnode, value)?;
        }
    }
    let remark =
        format!("{negative} negative values are left out, as a stack cannot be narrower than nothing");
    Ok(if negative > 0 { vec![remark] } else { Vec::new() })
}

/// The names of a call path with semicolons between them.
fn stack(source: &Source<'_>, cnode: usize) -> String {
    let names = paths::names(source.cube(), CnodeId(cnode)).into_iter().map(frame);
    names.collect::<Vec<_>>().join(";")
}

/// A name of a stack, in which a semicolon would be the end.
fn frame(name: &str) -> String {
    text::name(name).replace(';', ":")
}
