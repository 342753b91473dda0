//! Clock correction: the controlled logical clock, by which no message is received before it was sent
//! (specification 15.2).
//!
//! ```text
//!     records with numbers → links ─┬→ stations → forward → way → limits → amortise → times of all records
//!                          meetings ┘            (few workers)
//! ```
//!
//! References: R. Rabenseifner: The controlled logical clock – a global time for trace-based software
//! monitoring of parallel applications in workstation clusters (1997); D. Becker et al.: Scalable timestamp
//! synchronization for event traces of message-passing applications (2009).

mod amortise;
mod forward;
mod limits;
mod links;
mod meetings;
mod stations;
mod way;

use model::{ClockProperties, Ticks};

use crate::error::Error;
use crate::exchange::{Exchange, share};
use crate::findings::{Finding, Findings};
use crate::int::to_u32;
use crate::solvers;
use crate::tools::Tools;
use crate::walk::{FARTHEST, RecordTimes, Walked};
use amortise::{ShiftLimit, amortise};
use forward::ForwardPass;
use links::{Link, Role};
pub use stations::Stations;
use way::{Jump, Least, LocationShift};

/// Number of fractions of the archive's tick: corrections are fractions of ticks, and so are the shortest
/// times between events. Fewer where times would become too large: some clocks count from 1970, others from
/// the last start.
pub fn fineness(clock: &ClockProperties) -> u32 {
    let fits = |fineness: &u32| clock.length <= (FARTHEST / Ticks::from(*fineness)).cast_unsigned() / 2;
    [16, 8, 4, 2].into_iter().find(fits).unwrap_or(1)
}

/// Clock violations in a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Violations {
    /// Number of events that were too early.
    pub count: u64,
    /// Largest violation, in ticks.
    pub largest: Ticks,
}

/// The corrected times of this worker's processes.
#[derive(Clone, Debug, Default)]
pub struct Corrected {
    /// Times by process, thread and number of the record; empty where the recorded ones are right.
    pub times: Vec<Vec<Vec<Ticks>>>,
    /// Violations in the whole trace; `None` if clocks were not corrected.
    pub violations: Option<Violations>,
}

/// Forecast of the memory for correcting the times of these processes, in bytes.
pub fn bytes_needed(processes: &[Walked]) -> u64 {
    let of = |walked: &Walked| {
        let operations = &walked.operations;
        let messages = operations.sends.len() + operations.receives.len();
        let collectives = operations.collectives.len() + operations.nonblocking.len();
        let meetings = collectives + operations.barriers.len() + operations.teams.len();
        300 * messages as u64 + 400 * meetings as u64
    };
    processes.iter().map(of).sum()
}

/// Corrects the times of processes that were walked with numbers of records as positions.
///
/// # Errors
/// If a worker failed.
pub fn correct(
    tools: &Tools<'_>,
    processes: Vec<Walked>,
    findings: &mut Findings,
    exchange: &mut dyn Exchange,
) -> Result<Corrected, Error> {
    let mut backward = Findings::default();
    for walked in &processes {
        backward.merge(walked.results.findings.clone().only(Finding::BackwardTime));
    }
    let (links, meetings) = links::find(tools, &processes, exchange)?;
    let first = processes.iter().flat_map(|walked| &walked.process.locations).map(|it| it.location).next();
    let first = to_u32(first.unwrap_or(0));
    let threads: Vec<usize> = processes.iter().map(|walked| walked.process.locations.len()).collect();
    let records = processes.into_iter().flat_map(|walked| walked.records);
    let mut ways = ways(first, records, links);
    let least = Least::new(tools.trace.definitions.clock.resolution);
    let stations = Stations::new(first, &ways, least, meetings.clone());
    let group = solvers::bring_together(tools, stations, &tools.shared.stations, exchange)?;
    let mut forward = ForwardPass::new(tools, &group, findings);
    group.solvers.run(&mut forward, exchange);
    let told = forward.give_back(ways.iter().map(|way| way.links.len()), exchange)?;
    drop(group);
    for (way, told) in ways.iter_mut().zip(told) {
        way.told = told;
        way.go(least);
    }

    let violations = sum_up(&ways, exchange)?;
    if violations.count == 0 {
        return Ok(Corrected { violations: Some(violations), ..Corrected::default() });
    }
    // Corrected times do not show it any more.
    findings.merge(backward);
    limits::set(tools, first, &mut ways, meetings, least, exchange)?;
    let mut ways = ways.into_iter();
    let corrected = |way: LocationShift| {
        let LocationShift { mut times, links, told, jumps, .. } = way;
        let sends = links.iter().zip(told).filter(|(link, _)| link.role == Role::Send);
        let limits: Vec<ShiftLimit> =
            sends.map(|(link, latest)| ShiftLimit { record: link.spot.position, latest }).collect();
        amortise(&mut times, &limits, &jumps);
        times
    };
    let times = threads.iter().map(|&threads| ways.by_ref().take(threads).map(corrected).collect()).collect();
    Ok(Corrected { times, violations: Some(violations) })
}

/// States of all locations, from this one on, with their records and links. Links are in the order of events.
fn ways(first: u32, records: impl Iterator<Item = RecordTimes>, links: Vec<Link>) -> Vec<LocationShift> {
    let mut links = &links[..];
    let way = |(location, records): (u32, RecordTimes)| {
        let (mine, others) = links.split_at(links.partition_point(|link| link.spot.location <= location));
        links = others;
        LocationShift::new(records, mine.to_vec())
    };
    (first..).zip(records).map(way).collect()
}

/// The violations of all workers.
fn sum_up(ways: &[LocationShift], exchange: &mut dyn Exchange) -> Result<Violations, Error> {
    let jumps = || ways.iter().flat_map(|way| &way.jumps);
    let largest = jumps().map(|Jump { from, to, .. }| to - from).max().unwrap_or(0);
    let told = share(exchange, vec![jumps().count() as u64, largest.cast_unsigned()])?;
    Ok(Violations {
        count: told.iter().map(|words| words[0]).sum(),
        largest: told.iter().map(|words| words[1].cast_signed()).max().unwrap_or(0),
    })
}
