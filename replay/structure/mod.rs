//! What the program does repeatedly: steps become graphs, loops and iterations of each location, and those of all locations get
//! common numbers.
//!
//! ```text
//!     steps ─► local (graph, loops) ─► groups (main loop) ─► common numbers
//! ```

mod agree;
mod by_iteration;
mod groups;
mod local;
mod meetings;
mod series;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::Error;
use crate::exchange::{Batch, Exchange, share};
use crate::ids::PathId;
use crate::int::{to_u32, to_u64};
use crate::matching::Matches;
use crate::severity::MetricId;
use crate::tools::Tools;
use crate::trace::Trace;
use crate::walk::{Steps, Walked, WalkedLocation};
use crate::wire::{self, Wire};

pub use agree::{Agreed, Correspondence, LocationIterations, Numbering};
pub use by_iteration::{ByIteration, MetricSeries};
pub use series::{IterationTotals, Signature, Spread, signature};

use groups::Groups;
use local::Level;

/// Share of the steps that need known call sites for these to decide which steps are alike, in tenths.
const KNOWN: u64 = 9;

/// The structure of the run; of all locations on worker 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Structure {
    /// How iterations of different locations correspond.
    pub correspondence: Correspondence,
    /// Ticks between the end of MPI_Init and the start of MPI_Finalize, summed over locations with steps.
    pub run: i128,
    /// How many these locations are.
    pub locations: u64,
    /// The call path that all calls of the main loop have in common, at the first location that has it; on worker 0.
    pub call_path: String,
    /// The iterations of the main loop, from number 1 on.
    pub iterations: Vec<IterationTotals>,
    /// Values of wait states and counts by iteration, by metric.
    pub metrics: BTreeMap<MetricId, MetricSeries>,
}

/// Finds the structure of the run: common numbers of the iterations of all locations; `None` without a loop.
///
/// # Errors
/// If a worker failed.
pub fn find(
    tools: &Tools<'_>,
    processes: &[Walked],
    matches: &[Matches],
    exchange: &mut dyn Exchange,
) -> Result<Option<(Arc<Agreed>, Structure)>, Error> {
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
    let iterations = series::series(&agreed, exchange)?;
    let correspondence = agreed.correspondence;
    let locations = agreed.locations_of_all;
    let with_steps = |(_, steps): &(&WalkedLocation, &Steps)| !steps.is_empty();
    let located = |walked: &Walked| -> i128 {
        let locations = walked.process.locations.iter().zip(&walked.steps).filter(with_steps);
        locations.map(|(location, _)| i128::from(location.run)).sum()
    };
    let mut told = Batch::new();
    processes.iter().map(located).sum::<i128>().put(&mut told);
    let run = share(exchange, told)?.iter().map(|batch| wire::one::<i128>(batch)).sum();
    let call_path = call_path(tools.trace, processes, &agreed);
    let metrics = BTreeMap::new();
    let structure = Structure { correspondence, run, locations, call_path, iterations, metrics };
    Ok(Some((Arc::new(agreed), structure)))
}

/// Sums over all workers.
fn summed<const N: usize>(values: [u64; N], exchange: &mut dyn Exchange) -> Result<[u64; N], Error> {
    let mut sums = [0; N];
    for batch in share(exchange, values.to_vec())? {
        sums.iter_mut().zip(batch).for_each(|(sum, value)| *sum += value);
    }
    Ok(sums)
}

/// The call path that all calls in iterations have in common, at the first location that has as many as all have.
fn call_path(trace: &Trace, processes: &[Walked], agreed: &Agreed) -> String {
    let is_own = |line: &&LocationIterations| line.numbering == Numbering::Own;
    let Some(line) = agreed.locations.iter().find(is_own) else { return String::new() };
    let located = processes.iter().flat_map(|walked| {
        walked
            .process
            .locations
            .iter()
            .zip(&walked.steps)
            .map(move |(location, steps)| (walked, location, steps))
    });
    let mut located = located.filter(|(_, location, _)| to_u32(location.location) == line.location);
    let Some((walked, _, steps)) = located.next() else { return String::new() };
    let chain = |path: PathId| {
        let mut chain: Vec<PathId> = std::iter::successors(Some(path), |path| {
            let parent = walked.process.paths.get(path.index())?.parent;
            (parent != PathId::NONE).then_some(parent)
        })
        .collect();
        chain.reverse();
        chain
    };
    let numbers: Vec<u32> = steps.key_numbers().collect();
    let mut is_inside = vec![false; steps.keys.len()];
    for own in line.own.iter() {
        let inside = &numbers[own.first as usize..own.behind as usize];
        inside.iter().for_each(|&key| is_inside[key as usize] = true);
    }
    let keys = steps.keys.iter().zip(is_inside).filter(|&(_, is_inside)| is_inside).map(|(key, _)| key);
    // The calls themselves are left out: the loop is in what calls them.
    let mut chains = keys.map(|key| {
        let mut chain = chain(key.path);
        chain.pop();
        chain
    });
    let Some(first) = chains.next() else { return String::new() };
    let common = chains.fold(first, |common, chain| {
        common.into_iter().zip(chain).take_while(|(a, b)| a == b).map(|(path, _)| path).collect()
    });
    let name = |path: &PathId| trace.region_name(walked.process.paths[path.index()].region).to_owned();
    common.iter().map(name).collect::<Vec<_>>().join("/")
}
