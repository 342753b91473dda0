//! What the ranks of a trace do. A pattern is a file here, and a line in [`PATTERNS`].

mod all_to_all;
mod compute;
mod deep_calls;
mod hybrid;
mod master_worker;
pub mod ping_pong;
pub mod ring;
mod stencil;
mod sweeps;
mod wavefront;

use std::fmt;

use crate::job::Job;
use crate::location::Location;

/// All patterns, in the order of the documentation.
pub const PATTERNS: &[&Pattern] = &[
    &stencil::PATTERN,
    &wavefront::PATTERN,
    &sweeps::PATTERN,
    &all_to_all::PATTERN,
    &ring::PATTERN,
    &master_worker::PATTERN,
    &ping_pong::PATTERN,
    &deep_calls::PATTERN,
    &compute::PATTERN,
    &hybrid::PATTERN,
];

/// What ranks do together, step by step.
pub struct Pattern {
    /// How users call it.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// Threads of a rank unless the user says; where it is one, it cannot be more.
    pub threads: u32,
    /// The least number of ranks that it makes sense for.
    pub least_ranks: u32,
    /// Names of the program's functions besides `main`.
    pub(crate) functions: &'static [&'static str],
    /// How many steps a job needs, and how long they take.
    pub(crate) plan: fn(&Job) -> Plan,
    /// Writes so many steps of a location.
    pub(crate) run: fn(&mut Location<'_>, u64) -> Result<(), otf2::Error>,
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
    /// From the begin of the first step to the end of the last one, in nanoseconds.
    pub(crate) ticks: u64,
}
