//! What the program does repeatedly: steps become graphs, loops and iterations of each location, and those of all locations get
//! common numbers.
//!
//! ```text
//!     steps ─► local (graph, loops) ─► groups (main loop) ─► common numbers
//! ```

mod groups;
mod local;

use crate::error::Error;
use crate::exchange::{Exchange, share};
use crate::int::to_u64;
use crate::report_paths::ReportPaths;
use crate::walk::{Steps, WalkedProcess};

use groups::Groups;
use local::Level;

/// Share of the steps that need known call sites for these to decide which steps are alike, in tenths.
const KNOWN: u64 = 9;

/// The structure of the run, as this worker knows it.
#[derive(Clone, Debug, Default)]
pub struct Structure {
    /// The number of iterations that most of the time is in; 0 without a loop.
    pub iterations: u64,
    /// By location: its own number of iterations of its main loop.
    pub counts: Vec<u64>,
}

/// Finds the structure of the run.
///
/// # Errors
/// If a worker failed.
pub fn find(
    processes: &[WalkedProcess],
    steps: &[Vec<Steps>],
    paths: &ReportPaths,
    exchange: &mut dyn Exchange,
) -> Result<Structure, Error> {
    let mut sums = [0_u64; 2];
    for (process, steps) in processes.iter().zip(steps) {
        for steps in steps {
            sums[0] += to_u64(local::with_sites(steps, &process.paths));
            sums[1] += to_u64(steps.len());
        }
    }
    let [known, all] = summed(sums, exchange)?;
    let levels = if 10 * known >= KNOWN * all { &[Level::Site][..] } else { &[Level::Shape, Level::Path] };
    let mut best: Option<(u64, Groups)> = None;
    for &level in levels {
        let groups = Groups::find(level, processes, steps, paths, exchange)?;
        let [covered] = summed([groups.covered()], exchange)?;
        let is_better = best.as_ref().is_none_or(|(before, _)| 2 * before < all && covered > *before);
        if is_better {
            best = Some((covered, groups));
        }
        if 2 * covered >= all {
            break;
        }
    }
    let Some((_, groups)) = best else { return Ok(Structure::default()) };
    groups.common(steps, exchange)
}

/// Sums over all workers.
fn summed<const N: usize>(values: [u64; N], exchange: &mut dyn Exchange) -> Result<[u64; N], Error> {
    let mut sums = [0; N];
    for batch in share(exchange, values.to_vec())? {
        sums.iter_mut().zip(batch).for_each(|(sum, value)| *sum += value);
    }
    Ok(sums)
}
