//! `github-benchmark`: the list of github-action-benchmark's `customSmallerIsBetter`.

use std::io::Write;

use super::quantities::Tracked;
use super::text::{json_number, json_string, name, separated};
use crate::error::Result;

/// Writes an entry for each quantity of which less is better: all but coverage.
///
/// # Errors
/// If the output cannot be written.
pub(super) fn write(title: &str, tracked: &[Tracked], out: &mut dyn Write) -> Result<()> {
    out.write_all(b"[\n")?;
    separated(out, tracked.iter().filter(|it| it.name != "coverage"), |out, it| {
        let range = format!("{:?} – {:?}", it.least, it.most);
        write!(
            out,
            "{{\"name\":{},\"unit\":{},\"value\":{},\"range\":{}}}",
            json_string(&name(&format!("{title}: {}", it.name))),
            json_string(&it.unit),
            json_number(it.value),
            json_string(&range)
        )
    })?;
    out.write_all(b"\n]\n")?;
    Ok(())
}
