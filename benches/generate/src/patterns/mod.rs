//! Communication patterns. Each is a file here, and a line in [`PATTERNS`].

mod all_to_all;
mod compute;
mod deep_calls;
mod farm;
mod fence;
mod hybrid;
mod io;
mod iterations;
mod lock_all;
mod locks;
mod master_worker;
mod neighborhood;
mod non_blocking;
mod offload;
mod ping_pong;
mod post_start;
mod random_sites;
mod ring;
mod some_loops;
mod stencil;
mod straight;
mod sweeps;
mod uneven_loops;
mod wavefront;

use std::fmt;

use crate::job::Job;
use crate::location::Location;
use crate::objects::Objects;
use crate::severities::Severities;

/// All patterns, in the order of the documentation.
pub const PATTERNS: &[&Pattern] = &[
    &stencil::PATTERN,
    &wavefront::PATTERN,
    &sweeps::PATTERN,
    &all_to_all::PATTERN,
    &non_blocking::PATTERN,
    &neighborhood::PATTERN,
    &fence::PATTERN,
    &post_start::PATTERN,
    &locks::PATTERN,
    &lock_all::PATTERN,
    &io::PATTERN,
    &ring::PATTERN,
    &master_worker::PATTERN,
    &farm::PATTERN,
    &ping_pong::PATTERN,
    &deep_calls::PATTERN,
    &compute::PATTERN,
    &hybrid::PATTERN,
    &offload::PATTERN,
    &iterations::PATTERN,
    &random_sites::PATTERN,
    &straight::PATTERN,
    &some_loops::PATTERN,
    &uneven_loops::PATTERN,
];

/// A communication pattern: the behaviour of ranks, step by step.
pub struct Pattern {
    /// Name on the command line.
    pub name: &'static str,
    /// Description in a line.
    pub about: &'static str,
    /// Default number of threads of a rank; where it is one, it cannot be more.
    pub threads: u32,
    /// Smallest number of ranks.
    pub least_ranks: u32,
    /// Names of the program's functions besides `main`.
    pub(crate) functions: &'static [&'static str],
    /// Options about its loop that it has.
    pub(crate) options: &'static [&'static str],
    /// Objects that its events name, besides the communicators of every program.
    pub(crate) objects: Objects,
    /// Computes the number of steps of a job, and their length.
    pub(crate) plan: fn(&Job) -> Plan,
    /// Writes this number of steps of a location.
    pub(crate) run: fn(&mut Location<'_>, u64) -> Result<(), otf2::Error>,
    /// Computes what the analysis has to find for a rank of a job, if that follows from the work of the ranks without
    /// simulating them.
    pub severities: Option<fn(&Job, u32) -> Severities>,
}

impl Pattern {
    /// The pattern with this name.
    pub fn find(name: &str) -> Option<&'static Pattern> {
        PATTERNS.iter().find(|pattern| pattern.name == name).copied()
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pattern").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Size of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Plan {
    /// Steps of each rank.
    pub(crate) steps: u64,
    /// Time from the start of the first step to the end of the last one, in nanoseconds.
    pub(crate) ticks: u64,
}
