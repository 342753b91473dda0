//! Overview: what is wrong, what to do first, and where time went, in numbers and words for the first screen and scripts.
//!
//! From the manifest if the report has one, else from its metrics: reports of other programs have an overview, too.

mod actions;
pub mod advice;
mod classes;
mod communication;
mod costs;
mod culprits;
mod findings;
mod headline;
mod recorder;
mod run;
pub mod words;

pub use actions::{Action, actions};
pub use classes::{ClassTime, classes, is_measured};
pub use costs::Costs;
pub use culprits::culprits;
pub use findings::{Finding, coverage, findings};
pub use headline::{LEAST_COVERAGE, headline};
pub use run::Run;

use details::advice::AdviceFile;

use crate::error::Result;
use crate::opened::Opened;
use crate::unrecorded;
use crate::values::Values;

/// An overview of a report. Times are in seconds, of all threads between `MPI_Init` and `MPI_Finalize`.
#[derive(Clone, PartialEq, Debug)]
pub struct Overview {
    /// The program; empty if the report does not say.
    pub program: String,
    /// Number of ranks, or of processes without MPI.
    pub ranks: usize,
    /// Largest number of threads of a rank.
    pub threads: usize,
    /// The part of the run that alone counts; `None` if all does.
    pub focus: Option<String>,
    /// How many iterations a short archive has; `None` of others.
    pub kept: Option<String>,
    /// Times.
    pub run: Run,
    /// Time of idle threads, which `run.total` does not contain; `None` if the report does not have it.
    pub idle: Option<f64>,
    /// Share of the MPI time that was analysed; `None` if the report does not say.
    pub coverage: Option<f64>,
    /// Findings about the trace; `None` if the report does not say.
    pub findings: Option<Vec<Finding>>,
    /// What is wrong, in sentences.
    pub headline: Vec<String>,
    /// Delay costs of all places; `None` if the report has no root causes.
    pub costs: Option<Costs>,
    /// The places that others wait for most: what to do first, if there is no advice.
    pub actions: Vec<Action>,
    /// What to change first, and what that saves; `None` if it was not looked for.
    pub advice: Option<AdviceFile>,
    /// Where time went, the most first.
    pub classes: Vec<ClassTime>,
}

impl Overview {
    /// The overview of a report.
    ///
    /// # Errors
    /// If its values cannot be read.
    pub fn new(opened: &Opened, values: &Values<'_>) -> Result<Overview> {
        let run = Run::new(opened, values)?;
        let idle = match values.find("omp_idle_threads") {
            Some(quantity) => run.sum(values, &quantity)?,
            None => None,
        };
        let costs = Costs::new(opened, values, &run)?;
        let actions = actions(opened, values, &run, costs.as_ref())?;
        let classes = classes(opened, values, &run)?;
        let coverage = coverage(opened);
        let findings = findings(opened);
        let known = headline::Known {
            coverage,
            findings: findings.as_deref().unwrap_or_default(),
            costs: costs.as_ref(),
            actions: &actions,
            classes: &classes,
        };
        let headline = headline(values, &run, &known)?;
        Ok(Overview {
            program: program(opened),
            ranks: ranks(opened),
            threads: threads(opened),
            focus: opened.focus().map(str::to_owned),
            kept: opened.manifest.as_ref().and_then(unrecorded::kept),
            idle,
            run,
            coverage,
            findings,
            headline,
            costs,
            actions,
            advice: opened.advice.clone(),
            classes,
        })
    }
}

/// Roots of call trees that are no function, and no program's name, either.
const ROOTS: [&str; 6] = ["PROGRAM", "THREADS", "TASKS", "KERNELS", "MEASUREMENT OFF", "TRACE BUFFER FLUSH"];

/// The name of the program, without directories: in the manifest, or the root of the call tree if that is no function. Empty
/// if the report does not say.
pub(crate) fn program(opened: &Opened) -> String {
    let name = match &opened.manifest {
        Some(manifest) => &manifest.program,
        None => {
            let cube = opened.cube();
            let root = cube.cnodes.iter().find(|cnode| cnode.parent.is_none());
            let region = root.and_then(|root| cube.regions.get(root.region.0));
            region.filter(|region| region.role == "artificial").map_or("", |region| &region.name)
        }
    };
    let name = name.rsplit('/').next().unwrap_or_default();
    if ROOTS.contains(&name) { String::new() } else { name.to_owned() }
}

fn processes(opened: &Opened) -> impl Iterator<Item = usize> {
    let groups = opened.cube().location_groups.iter().enumerate();
    groups.filter(|(_, group)| group.kind == cubex::LocationGroupKind::Process).map(|(at, _)| at)
}

/// The number of processes.
pub(crate) fn ranks(opened: &Opened) -> usize {
    processes(opened).count()
}

/// The largest number of threads of a process.
pub(crate) fn threads(opened: &Opened) -> usize {
    let cube = opened.cube();
    let is_thread = crate::places::threads(cube);
    let mut sizes = vec![0; cube.location_groups.len()];
    for (location, _) in cube.locations.iter().zip(is_thread).filter(|(_, is_thread)| *is_thread) {
        sizes[location.group.0] += 1;
    }
    sizes.into_iter().max().unwrap_or(0)
}
