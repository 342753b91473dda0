//! The recorder's part in the time: what it took, and what helps against that.

use cubex::CnodeId;

use super::Run;
use super::headline::largest;
use crate::error::{Result, or_obstacle};
use crate::output::numbers::{seconds, share};
use crate::places;
use crate::values::Values;

/// Calls per second and thread from which on recording fewer of them helps: each costs some tenths of a microsecond, and
/// bytes in the buffer.
const MANY: f64 = 100_000.0;

/// What the regions are called that write out a buffer, of recorders of the program and of accelerators.
const FLUSH: &str = "FLUSH";

/// The sentence about an overhead of so many seconds.
///
/// # Errors
/// If values cannot be read.
pub(super) fn sentence(values: &Values<'_>, run: &Run, overhead: f64) -> Result<String> {
    let place = largest(values, run, "overhead")?.map_or(String::new(), |path| format!(", most in {path}"));
    let has_many = run.total > 0.0 && run.sum_of(values, "visits")? / run.total >= MANY;
    let advice = advice(has_many, has_several_flushes(values, run)?);
    Ok(format!(
        "The recorder took {} of {} ({}){place}{advice}.",
        share(run.share(overhead)),
        run.whole(),
        seconds(overhead)
    ))
}

/// What helps: fewer events if there are many, a larger buffer if it was full more than once. The last time it is
/// written out is inevitable.
fn advice(has_many_calls: bool, has_several_flushes: bool) -> &'static str {
    match (has_many_calls, has_several_flushes) {
        (true, true) => ": record less (filter), or give it more memory",
        (true, false) => ": record less (filter)",
        (false, true) => ": give it more memory",
        (false, false) => "",
    }
}

/// Whether a thread wrote out its buffer several times.
fn has_several_flushes(values: &Values<'_>, run: &Run) -> Result<bool> {
    let cube = values.cube();
    let Some(visits) = values.find("visits") else { return Ok(false) };
    let is_flush = |cnode: CnodeId| {
        run.is_between[cnode.0] && cube.regions[cube.cnodes[cnode.0].region.0].name.contains(FLUSH)
    };
    let row = or_obstacle(values.by_location(&visits, &is_flush))?.unwrap_or_default();
    Ok(row.iter().zip(places::threads(cube)).any(|(&visits, is_thread)| is_thread && visits > 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_fits_what_happened() {
        assert_eq!(advice(false, false), "");
        assert!(advice(true, false).contains("filter") && !advice(true, false).contains("memory"));
        assert!(advice(false, true).contains("memory") && !advice(false, true).contains("filter"));
    }
}
