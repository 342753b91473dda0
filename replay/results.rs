//! Results of the analysis of a process: severities, findings and coverage. The walk makes them, later steps
//! add to them, and the report reads them.

use crate::clock_errors::Doubtful;
use crate::coverage::Coverage;
use crate::details::LocationTimeline;
use crate::details::instances::SevereWaits;
use crate::findings::Findings;
use crate::severity::Severities;
use crate::statistics::{Bounds, Samples};
use crate::walk::{WalkedLocation, WalkedProcess};
use model::Ticks;

/// Results for a process.
#[derive(Clone, Debug)]
pub struct Results {
    /// The severities of its locations; their call paths are those of the process.
    pub severities: Vec<Severities>,
    /// When they spent their time; empty without details.
    pub timelines: Vec<LocationTimeline>,
    /// The oddities found.
    pub findings: Findings,
    /// The coverage of its time in MPI.
    pub coverage: Coverage,
}

/// The instances of wait states at a process, which are no part of its severities.
#[derive(Debug)]
pub struct Instances {
    /// Their statistics.
    pub samples: Samples,
    /// Those that may be due to wrong clocks.
    pub doubtful: Doubtful,
    /// The severest with both sides, of this process and of others; `None` without details.
    pub severe: Option<SevereWaits>,
}

impl Instances {
    /// Makes an empty set. With `bounds` the spread of waiting times is estimated; `clock_error` is the known
    /// error of clocks in ticks.
    pub fn new(bounds: Option<&Bounds>, clock_error: Ticks) -> Instances {
        Instances { samples: Samples::new(bounds), doubtful: Doubtful::new(clock_error), severe: None }
    }
}

/// Returns the locations of some processes, each with its severities.
pub fn locations<'a>(
    processes: &'a [WalkedProcess],
    results: &'a [Results],
) -> impl Iterator<Item = (&'a WalkedLocation, &'a Severities)> {
    let locations = processes.iter().flat_map(|process| &process.locations);
    locations.zip(results.iter().flat_map(|results| &results.severities))
}
