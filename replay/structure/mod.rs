//! What the program does repeatedly: steps become graphs, loops and iterations of each location, and those of all locations get
//! common numbers.
//!
//! ```text
//!     steps ─► local (graph, loops) ─► groups (main loop) ─► common numbers
//! ```

mod agree;
mod groups;
mod local;
mod meetings;
mod series;

use crate::error::Error;
use crate::exchange::{Exchange, share};
use crate::int::to_u64;
use crate::matching::Matches;
use crate::tools::Tools;
use crate::walk::Walked;

pub use agree::{Agreed, Correspondence, LocationIterations, Numbering};
pub use series::{IterationTotals, Signature, Spread, signature};

use groups::Groups;
use local::Level;

/// Share of the steps that need known call sites for these to decide which steps are alike, in tenths.
const KNOWN: u64 = 9;

/// Finds the structure of the run: common numbers of the iterations of all locations; `None` without a loop.
///
/// # Errors
/// If a worker failed.
pub fn find(
    tools: &Tools<'_>,
    processes: &[Walked],
    matches: &[Matches],
    exchange: &mut dyn Exchange,
) -> Result<Option<(Agreed, Vec<IterationTotals>)>, Error> {
    let mut sums = [0_u64; 2];
    for Walked { process, steps, .. } in processes {
        for steps in steps {
            sums[0] += to_u64(local::with_sites(steps, &process.paths));
            sums[1] += to_u64(steps.len());
        }
    }
    let [known, all] = summed(sums, exchange)?;
    let levels = if 10 * known >= KNOWN * all { &[Level::Site][..] } else { &[Level::Shape, Level::Path] };
    let mut best: Option<(u64, Groups)> = None;
    for &level in levels {
        let groups = Groups::find(level, processes, exchange)?;
        let [covered] = summed([groups.covered()], exchange)?;
        if best.as_ref().is_none_or(|&(before, _)| covered > before) {
            best = Some((covered, groups));
        }
        if 2 * covered >= all {
            break;
        }
    }
    let Some((_, groups)) = best else { return Ok(None) };
    let Some(agreed) = agree::agree(tools, processes, matches, groups, exchange)? else { return Ok(None) };
    let series = series::series(processes, &agreed, exchange)?;
    Ok(Some((agreed, series)))
}

/// Sums over all workers.
fn summed<const N: usize>(values: [u64; N], exchange: &mut dyn Exchange) -> Result<[u64; N], Error> {
    let mut sums = [0; N];
    for batch in share(exchange, values.to_vec())? {
        sums.iter_mut().zip(batch).for_each(|(sum, value)| *sum += value);
    }
    Ok(sums)
}
