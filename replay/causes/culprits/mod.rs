//! Culprits: the places with the largest delay costs, their victims, and the MPI calls between which they
//! were slow.
//!
//! The culprits are chosen on all workers once all costs are known. The details take a second look at their
//! delays alone: none of them is kept for all places.

mod choose;
mod excess;
mod forward;
mod samples;
mod stretch;
mod victims;

pub use choose::Members;
pub use samples::SampleCounts;
pub use stretch::{Site, Stretch};
pub use victims::Victims;

use model::Ticks;
use rustc_hash::FxHashSet;

use super::delay::DelayClass;
use super::graph::Graph;
use super::lines::Lines;
use super::sides::{Causes, Waits};
use crate::error::Error;
use crate::exchange::Exchange;
use crate::functions::Function;
use crate::ids::ReportPath;
use crate::report_paths::ReportPaths;
use crate::severity::Severities;
use crate::solvers::Group;
use crate::tools::Tools;
use crate::walk::WalkedLocation;
use excess::CulpritExcess;
use forward::ForwardShares;

/// Maximum number of culprits.
pub(super) const NAMED: usize = 5;

/// A place that made others wait: a function, on one location or on several that are alike.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Culprit {
    /// The function.
    pub function: Function,
    /// The delay costs: of the others' waiting, in ticks as a fixed-point number.
    pub costs: i128,
    /// The class with the largest part of the costs.
    pub class: DelayClass,
}

/// A culprit with its details.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Named {
    /// The place.
    pub culprit: Culprit,
    /// The locations that wait for it, and the region.
    pub victims: Option<Victims>,
    /// The site in the function where it was slow.
    pub site: Option<Site>,
    /// The samples of its locations; `None` if there are none.
    pub samples: Option<SampleCounts>,
}

/// The culprits, the largest costs first, and their locations.
#[derive(Clone, Debug, Default)]
pub struct Culprits {
    /// The culprits; on worker 0 with all details.
    pub named: Vec<Named>,
    /// Their locations; on every worker.
    pub members: Members,
}

/// The places of the culprits.
#[derive(Debug)]
struct CulpritPlaces<'a> {
    culprits: &'a [Culprit],
    paths: &'a ReportPaths,
    members: &'a Members,
    /// By call path of the report: a bit for each culprit that is in its function.
    of_path: Vec<u8>,
}

impl<'a> CulpritPlaces<'a> {
    fn new(culprits: &'a [Culprit], paths: &'a ReportPaths, members: &'a Members) -> CulpritPlaces<'a> {
        let bits = |path: ReportPath| {
            let is_in = |culprit: &&Culprit| culprit.function == paths.functions.of(path);
            let each = (0..).zip(culprits).filter(|(_, culprit)| is_in(culprit));
            each.fold(0, |bits: u8, (which, _): (u32, _)| bits | 1 << which)
        };
        CulpritPlaces { culprits, paths, members, of_path: paths.all().map(bits).collect() }
    }

    /// The culprit at a call path and a location.
    fn culprit(&self, path: ReportPath, location: u32) -> Option<usize> {
        let mut bits = self.of_path[path.index()];
        while bits != 0 {
            let which = bits.trailing_zeros() as usize;
            if self.members.has(which, location) {
                return Some(which);
            }
            bits &= bits - 1;
        }
        None
    }
}

/// Results of the backward replay.
#[derive(Debug)]
pub(super) struct WayBack<'a> {
    pub(super) waits: &'a Waits,
    pub(super) causes: &'a Causes,
    /// Costs of a tick of excess work, by cause of this worker.
    pub(super) per_tick: Vec<f64>,
    /// The graphs that this worker replays backwards, and forwards.
    pub(super) group: Group<Graph>,
    /// Causes of the group that did not get their costs.
    pub(super) released: FxHashSet<u32>,
}

/// Returns the culprits, with their details on worker 0 only. `locations` are those of the lines.
///
/// # Errors
/// If a worker failed.
pub(super) fn find(
    tools: &Tools<'_>,
    paths: &ReportPaths,
    locations: &[(&WalkedLocation, &Severities)],
    lines: &mut Lines,
    way: WayBack<'_>,
    exchange: &mut dyn Exchange,
) -> Result<Culprits, Error> {
    let walked = locations.iter().map(|(location, _)| location);
    let threads = walked.filter(|location| tools.trace.locations[location.location].is_thread());
    let run = threads.fold(0, |sum: Ticks, it| sum.saturating_add(it.recorded_run()));
    let (culprits, members) = choose::choose(tools, paths, lines, run, exchange)?;
    if culprits.is_empty() {
        return Ok(Culprits::default());
    }
    let places = CulpritPlaces::new(&culprits, paths, &members);
    let WayBack { waits, causes, per_tick, group, released } = way;
    let excess = CulpritExcess::find(&places, lines, waits, causes, exchange)?;
    let sites = stretch::find(tools, &places, lines, causes, &per_tick, &excess, exchange)?;
    let samples = samples::count(tools, &places, &sites, locations, lines, exchange)?;
    let more = group.bring(excess.encode(), exchange)?;
    let mut forward = ForwardShares::new(&group, &culprits, &more, released);
    group.solvers.run(&mut forward, exchange);
    let victims = victims::find(paths, &culprits, forward.into_waiting(), exchange)?;
    let named = culprits.iter().zip(victims).zip(sites).zip(samples);
    let named = named.map(|(((&culprit, victims), site), samples)| Named { culprit, victims, site, samples });
    Ok(Culprits { named: named.collect(), members })
}
