//! What the program does repeatedly: steps become graphs, loops and iterations of each location, and those of all locations get
//! common numbers. Where the program names phases, their visits are the iterations.
//!
//! ```text
//!     steps ─► local (graph, loops) ─► groups (main loop) ─► common numbers
//! ```

mod agree;
mod beside;
mod blocks;
mod borders;
mod by_iteration;
mod choice;
mod groups;
mod local;
mod map;
mod meetings;
mod phases;
mod place;
mod prediction;
mod remarks;
mod room;
mod series;
mod shapes;
mod values;

use std::sync::Arc;

use ::structure::Outlier;
use model::Ticks;

use crate::error::Error;
use crate::exchange::{Batch, Exchange, broadcast, share};
use crate::findings::Findings;
use crate::focus::Window;
use crate::int::{to_u32, to_u64};
use crate::matching::Matches;
use crate::operations::Operations;
use crate::tools::Tools;
use crate::trace::Trace;
use crate::walk::{Steps, Walked, WalkedLocation};
use crate::wire::{self, Wire};

pub use agree::{Agreed, Correspondence, LocationIterations, Numbering};
pub use beside::Beside;
pub use blocks::Blocks;
pub use borders::Borders;
pub use by_iteration::ByIteration;
pub use choice::LoopChoice;
pub use groups::Group;
pub use map::{MapShape, SeriesMap};
pub use phases::is_phase;
pub use place::Place;
pub use prediction::{FIRST, Phase, PhaseOf, Prediction, Weight};
pub use series::{IterationTotals, Signature, Spread, signature};
pub use shapes::{AllGroups, LoopShape, LoopWord, Shape, Shapes, Site};
pub use values::{Detail, IterationCause, MetricSeries, Series};

use groups::Groups;
use local::Level;
use meetings::Meetings;

/// Iterations that a loop needs to be described.
pub const ITERATIONS: usize = 3;

/// Share of the time that a loop needs to be described.
pub const SHARE: f64 = 0.2;

/// Outliers that are looked at closely.
const WATCHED: usize = 6;

/// Share of the steps that need known call sites for these to decide which steps are alike, in tenths.
const KNOWN: u64 = 9;

/// The structure of the run; of all locations on worker 0.
#[derive(Clone, PartialEq, Debug)]
pub struct Structure {
    /// What has the iterations, as the user has asked for it; `None` if the analyzer has chosen.
    pub choice: Option<LoopChoice>,
    /// The region whose visits are the iterations; `None` of a loop.
    pub phase: Option<u32>,
    /// How iterations of different locations correspond.
    pub correspondence: Correspondence,
    /// Ticks in iterations, summed over locations with steps; of a phase those that are in the run.
    pub time: i128,
    /// Ticks between the end of MPI_Init and the start of MPI_Finalize, summed over locations with steps.
    pub run: i128,
    /// How many these locations are.
    pub locations: u64,
    /// How many of them have too many different calls to tell them all apart, or loops too deep to find them all.
    pub irregular: u64,
    /// Where the main loop is.
    pub place: Place,
    /// The iterations of the main loop, from number 1 on.
    pub iterations: Vec<IterationTotals>,
    /// What is beside them.
    pub beside: Beside,
    /// Iterations that stand for others, and those unlike the others; of fewer than three there is none.
    pub signature: Option<Signature>,
    /// Values of metrics by iteration, once they are known; `None` if there is too little memory for them.
    pub series: Option<Series>,
}

/// What was found of the structure of the run.
#[derive(Clone, PartialEq, Default, Debug)]
pub enum FoundStructure {
    /// It was not looked for.
    #[default]
    NotLookedFor,
    /// It was not looked for, as there is too little memory.
    MemoryIsShort,
    /// There is no loop.
    NoLoop,
    /// The structure.
    Loop(Box<Structure>),
}

/// Bytes of lists for each step: nodes, sites, what folding needs, enters, iterations.
const OF_STEP: u64 = 80;

/// Bytes for each node with its edges, of which a location has at most as many as steps.
const OF_NODE: u64 = 300;

/// Bytes for each member of a collective operation and each received message, whose iterations are compared.
const OF_MEMBER: u64 = 120;
const OF_MESSAGE: u64 = 60;

/// Bytes for each visit of a phase, of each location of the process.
const OF_VISIT: u64 = 100;

/// Bytes for each step of the location with most, while its order and words are made.
const OF_LONGEST: u64 = 40;

/// Bytes of a location besides these.
const OF_LOCATION: u64 = 1000;

/// Returns about how many bytes finding the structure needs besides the steps.
pub fn bytes_needed(processes: &[Walked]) -> u64 {
    let of_steps = |steps: &Steps| {
        let nodes = steps.len().min(local::NODES);
        OF_LOCATION + OF_STEP * to_u64(steps.len()) + OF_NODE * to_u64(nodes)
    };
    let of_process = |walked: &Walked| {
        let Operations { collectives, receives, .. } = &*walked.operations;
        OF_MEMBER * to_u64(collectives.len())
            + OF_MESSAGE * to_u64(receives.len())
            + OF_VISIT * to_u64(walked.visits.len() * walked.steps.len())
            + walked.steps.iter().map(of_steps).sum::<u64>()
    };
    let steps = processes.iter().flat_map(|walked| &walked.steps);
    let longest = steps.map(Steps::len).max().unwrap_or(0);
    processes.iter().map(of_process).sum::<u64>() + OF_LONGEST * to_u64(longest)
}

/// Whether a worker lacks the memory that it needs.
///
/// # Errors
/// If a worker failed.
pub fn is_short(tools: &Tools<'_>, needed: u64, exchange: &mut dyn Exchange) -> Result<bool, Error> {
    let is_short = tools.memory.check(needed).is_err();
    Ok(share(exchange, vec![u64::from(is_short)])?.iter().any(|batch| batch[..] == [1]))
}

/// What was found of the structure of the run.
#[derive(Clone, Debug, Default)]
pub struct Structured {
    /// Common numbers of the iterations of all locations; `None` without a loop.
    pub main: Option<(Arc<Agreed>, Structure)>,
    /// Graphs, loops and words, for details.
    pub shapes: Option<Shapes>,
    /// Iterations of the loops that are asked for, by location, in its order: the loop's place among those, and when.
    pub instances: Vec<(u32, u32, Window)>,
}

/// What is asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asked<'a> {
    /// What has the iterations, in place of the loop with most time or of a phase that the program names.
    pub choice: Option<&'a LoopChoice>,
    /// Names of loops whose iterations are to be found, too.
    pub loops: &'a [&'a str],
}

/// Finds the structure of the run, and adds what is odd to the findings.
///
/// # Errors
/// If there is nothing of what is asked for, or a worker failed.
pub fn find(
    tools: &Tools<'_>,
    processes: &[Walked],
    matches: &[Matches],
    asked: Asked<'_>,
    findings: &mut Findings,
    exchange: &mut dyn Exchange,
) -> Result<Structured, Error> {
    let mut groups = groups(processes, exchange)?;
    if let Some(choice) = asked.choice {
        groups.choose(tools.trace, processes, choice, exchange)?;
    }
    let phase = phases::find(tools.trace, processes, asked.choice, exchange)?;
    let shapes = match tools.has_details {
        true => Some(shapes::find(&groups, processes, exchange)?),
        false => None,
    };
    let instances = instances(&groups, processes, asked.loops);
    let roots = beside::RootLoops::find(&groups, processes, phase.is_none());
    let meetings = Meetings::new(tools, processes, matches);
    let agreed = {
        let lines = match phase {
            Some(phase) => phases::lines(phase, &groups, processes),
            None => agree::lines(&groups, processes),
        };
        let steps = processes.iter().flat_map(|walked| &walked.steps);
        let loops = groups.locals.iter().zip(steps).filter(|(_, steps)| !steps.is_empty() && phase.is_none());
        agree::agree(tools, &meetings, &lines, &loops.collect::<Vec<_>>(), exchange)?
    };
    drop(groups);
    let Some(agreed) = agreed else {
        return Ok(Structured { main: None, shapes, instances });
    };
    let iterations = series::series(&agreed, exchange)?;
    let beside = beside::find(processes, &agreed, &roots, exchange)?;
    drop(roots);
    let place = match phase {
        Some(phase) => Place { regions: vec![phase.region], ..Place::default() },
        None => place::find(processes, &agreed, exchange)?,
    };
    let time = match phase {
        Some(_) => total(phases::ticks_in_run(tools.trace, &agreed, processes), exchange)?,
        None => iterations.iter().map(|one| one.time.sum).sum(),
    };
    let structure = Structure {
        choice: asked.choice.cloned(),
        phase: phase.map(|phase| phase.region),
        correspondence: agreed.correspondence,
        time,
        run: total(run(processes), exchange)?,
        locations: agreed.locations_of_all,
        irregular: agreed.irregular,
        place,
        iterations,
        beside,
        signature: None,
        series: None,
    };
    let is_notable = broadcast(exchange, vec![u64::from(structure.is_notable())])? == [1];
    remarks::add(tools, &meetings, (&agreed, is_notable), findings, exchange)?;
    Ok(Structured { main: Some((Arc::new(agreed), structure)), shapes, instances })
}

/// Graphs and loops of these processes, by what tells steps apart best.
fn groups(processes: &[Walked], exchange: &mut dyn Exchange) -> Result<Groups, Error> {
    let mut sums = [0_u64; 2];
    for Walked { process, steps, .. } in processes {
        for steps in steps {
            sums[0] += to_u64(local::with_sites(steps, &process.paths));
            sums[1] += to_u64(steps.len());
        }
    }
    let [known, all] = summed(sums, exchange)?;
    if 10 * known >= KNOWN * all {
        return Groups::find(Level::Site, processes, exchange);
    }
    let by_shape = Groups::find(Level::Shape, processes, exchange)?;
    let [covered] = summed([by_shape.covered()], exchange)?;
    if 2 * covered >= all {
        return Ok(by_shape);
    }
    let by_path = Groups::find(Level::Path, processes, exchange)?;
    let [more] = summed([by_path.covered()], exchange)?;
    Ok(if more > covered { by_path } else { by_shape })
}

/// Ticks of all locations with steps between MPI_Init and MPI_Finalize.
fn run(processes: &[Walked]) -> i128 {
    let with_steps = |(_, steps): &(&WalkedLocation, &Steps)| !steps.is_empty();
    let located = |walked: &Walked| -> i128 {
        let locations = walked.process.locations.iter().zip(&walked.steps).filter(with_steps);
        // What is not recorded counts where iterations may have it.
        let run = |location: &WalkedLocation, steps: &Steps| match steps.cuts.is_empty() {
            true => location.run,
            false => location.recorded_run(),
        };
        locations.map(|(location, steps)| i128::from(run(location, steps))).sum()
    };
    processes.iter().map(located).sum()
}

/// The sum of ticks over all workers.
fn total(ticks: i128, exchange: &mut dyn Exchange) -> Result<i128, Error> {
    let mut told = Batch::new();
    ticks.put(&mut told);
    Ok(share(exchange, told)?.iter().map(|batch| wire::one::<i128>(batch)).sum())
}

/// The iterations of loops by their names, of all locations.
fn instances(groups: &Groups, processes: &[Walked], loops: &[&str]) -> Vec<(u32, u32, Window)> {
    let located = processes.iter().flat_map(|walked| walked.process.locations.iter().zip(&walked.steps));
    let mut instances = Vec::new();
    for ((location, steps), local) in located.zip(&groups.locals) {
        for (which, name) in (0..).zip(loops) {
            let Some(id) = local.forest.named(name) else { continue };
            let location = to_u32(location.location);
            let own =
                local.timed(steps, id).0.into_iter().map(|own| Window { begin: own.begin, end: own.end });
            instances.extend(own.map(|window| (location, which, window)));
        }
    }
    instances
}

impl Structure {
    /// The share of the time of all locations with steps that is in iterations, from 0 to 1.
    pub fn share(&self) -> f64 {
        self.time as f64 / self.run.max(1) as f64
    }

    /// Whether the iterations are described: what is asked for, and what has enough of them and of the time.
    pub fn is_notable(&self) -> bool {
        self.choice.is_some() || self.iterations.len() >= ITERATIONS && self.share() >= SHARE
    }

    /// What has the iterations, in words.
    pub fn subject(&self, trace: &Trace) -> String {
        match (self.phase, &self.choice) {
            (Some(region), _) => format!("phase {}", trace.region_name(region)),
            (None, Some(choice)) => format!("the loop of --loop {choice}"),
            (None, None) => "the main loop".into(),
        }
    }

    /// Finds iterations that stand for others and those unlike the others, given the error of the clocks in ticks. Returns the
    /// numbers of those to look at closely, ascending.
    pub fn sign(&mut self, error: Ticks) -> Vec<u32> {
        self.signature = signature(&self.iterations, error);
        let Some(Signature { clusters, outliers, .. }) = &self.signature else { return Vec::new() };
        let mut outliers: Vec<&Outlier> = outliers.iter().collect();
        outliers.sort_by(|a, b| b.excess.abs().total_cmp(&a.excess.abs()));
        let representatives = clusters.iter().map(|cluster| cluster.representative);
        let places = outliers.into_iter().take(WATCHED).map(|outlier| outlier.place).chain(representatives);
        let mut numbers: Vec<u32> = places.map(|place| to_u32(place + 1)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }
}

/// The steps of all locations that have any.
fn locations_with_steps(processes: &[Walked]) -> impl Iterator<Item = &Steps> + Clone {
    processes.iter().flat_map(|walked| &walked.steps).filter(|steps| !steps.is_empty())
}

/// Sums over all workers.
fn summed<const N: usize>(values: [u64; N], exchange: &mut dyn Exchange) -> Result<[u64; N], Error> {
    let mut sums = [0; N];
    for batch in share(exchange, values.to_vec())? {
        sums.iter_mut().zip(batch).for_each(|(sum, value)| *sum += value);
    }
    Ok(sums)
}
