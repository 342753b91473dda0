//! `openmetrics`: OpenMetrics text 1.0, <https://github.com/prometheus/OpenMetrics/blob/v1.0.0/specification/OpenMetrics.md>,
//! as GitLab's metrics reports read it.

use std::io::Write;

use super::quantities::Tracked;
use super::text::name;
use crate::error::Result;

/// Writes a gauge for each quantity.
///
/// # Errors
/// If the output cannot be written.
pub(super) fn write(title: &str, tracked: &[Tracked], out: &mut dyn Write) -> Result<()> {
    let label = name(title).replace('\\', "\\\\").replace('"', "\\\"");
    let mut written: Vec<String> = Vec::new();
    for it in tracked {
        // The unit is the end of the name.
        let unit = if it.unit == "seconds" { "_seconds" } else { "" };
        let family = format!("replay_{}{unit}", letters(&it.name));
        // Two metrics whose names differ in signs only.
        if written.contains(&family) {
            continue;
        }
        writeln!(out, "# TYPE {family} gauge")?;
        if !unit.is_empty() {
            writeln!(out, "# UNIT {family} seconds")?;
        }
        writeln!(out, "{family}{{program=\"{label}\"}} {:?}", it.value)?;
        written.push(family);
    }
    out.write_all(b"# EOF\n")?;
    Ok(())
}

/// A name of a metric: letters, digits and underscores.
fn letters(text: &str) -> String {
    text.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).collect()
}
