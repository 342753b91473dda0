//! `bmf`: Bencher Metric Format, <https://bencher.dev/docs/reference/bencher-metric-format/>.

use std::io::Write;

use super::quantities::Tracked;
use super::text::{json_number, json_string, name, separated};
use crate::error::Result;

/// Writes a benchmark with a measure for each quantity.
///
/// # Errors
/// If the output cannot be written.
pub(super) fn write(title: &str, tracked: &[Tracked], out: &mut dyn Write) -> Result<()> {
    writeln!(out, "{{{}:{{", json_string(&name(title)))?;
    separated(out, tracked.iter(), |out, it| {
        write!(
            out,
            "{}:{{\"value\":{},\"lower_value\":{},\"upper_value\":{}}}",
            json_string(&it.name),
            json_number(it.value),
            json_number(it.least),
            json_number(it.most)
        )
    })?;
    out.write_all(b"\n}}\n")?;
    Ok(())
}
