//! Clock correction: times in which nothing is received before it was sent (specification 15.2, the controlled logical
//! clock).
//!
//! ```text
//!     records with numbers → links ─┬→ forward → limits → amortise → times of all records
//!                          meetings ┘   (small batches)
//! ```
//!
//! References: R. Rabenseifner: The controlled logical clock – a global time for trace-based software monitoring of
//! parallel applications in workstation clusters (1997); D. Becker et al.: Scalable timestamp synchronization for event
//! traces of message-passing applications (2009).

mod amortise;
mod forward;
mod links;
mod meetings;

use model::{ClockProperties, Ticks};

use crate::error::Error;
use crate::exchange::batch::BatchReader;
use crate::exchange::{Batch, Exchange, share};
use crate::findings::{Finding, Findings};
use crate::relay;
use crate::tools::Tools;
use crate::walk::{FARTHEST, ProcessProfile};
use amortise::{Limit, amortise};
use forward::{Forward, Jump, Least, Way};
use links::{Role, Side};

/// How many ticks one of the archive's is divided into: corrections are fractions of ticks, and so are the shortest times
/// between events. Less where times would become too large: some clocks count from 1970, others from the last start.
pub fn fineness(clock: &ClockProperties) -> u32 {
    let fits = |fineness: &u32| clock.length <= (FARTHEST / Ticks::from(*fineness)).cast_unsigned() / 2;
    [16, 8, 4, 2].into_iter().find(fits).unwrap_or(1)
}

/// What was wrong with the clocks of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Violations {
    /// Events that were too early.
    pub count: u64,
    /// The longest time by which one of them was, in ticks.
    pub largest: Ticks,
}

/// The corrected times of this worker's processes.
#[derive(Clone, Debug, Default)]
pub struct Corrected {
    /// By process, thread and number of the record; empty where the recorded ones are right.
    pub times: Vec<Vec<Vec<Ticks>>>,
    /// What was wrong, in the whole trace; `None` if nobody asks.
    pub violations: Option<Violations>,
}

/// About how many bytes correcting the times of these processes takes.
pub fn bytes_needed(profiles: &[ProcessProfile]) -> u64 {
    let of = |profile: &ProcessProfile| {
        let operations = &profile.operations;
        let messages = operations.sends.len() + operations.receives.len();
        let meetings = operations.collectives.len() + operations.barriers.len() + operations.teams.len();
        300 * messages as u64 + 400 * meetings as u64
    };
    profiles.iter().map(of).sum()
}

/// Corrects the times of processes that were walked with numbers of records as positions.
///
/// # Errors
/// If a worker failed.
pub fn correct(
    tools: &Tools<'_>,
    profiles: Vec<ProcessProfile>,
    findings: &mut Findings,
    exchange: &mut dyn Exchange,
) -> Result<Corrected, Error> {
    let mut backward = Findings::default();
    for profile in &profiles {
        backward.merge(profile.findings.clone().only(Finding::BackwardTime));
    }
    let (links, meetings) = links::find(tools, &profiles, exchange)?;
    let first = profiles.iter().flat_map(|profile| &profile.locations).map(|it| it.location).next();
    let first = first.unwrap_or(0) as u32;
    let threads: Vec<usize> = profiles.iter().map(|profile| profile.locations.len()).collect();
    let records = profiles.into_iter().flat_map(|profile| profile.locations).map(|location| location.records);
    let mut links = links.as_slice();
    let ways = (first..).zip(records).map(|(location, records)| {
        let (mine, others) = links.split_at(links.partition_point(|link| link.spot.location <= location));
        links = others;
        Way::new(records, mine.to_vec())
    });
    let ways = ways.collect();
    let least = Least::new(tools.trace.definitions.clock.resolution);
    let worker = exchange.worker();
    let mut forward = Forward::new(tools, least, worker, first, ways, meetings, findings);
    relay::run(&mut forward, exchange);

    let violations = sum_up(&forward.ways, exchange)?;
    if violations.count == 0 {
        return Ok(Corrected { violations: Some(violations), ..Corrected::default() });
    }
    // Corrected times do not show it any more.
    forward.findings.merge(backward);
    set_limits(tools, &mut forward, least, first, exchange)?;
    let mut ways = forward.ways.into_iter();
    let corrected = |way: Way| {
        let Way { mut times, links, told, jumps, .. } = way;
        let sends = links.iter().zip(told).filter(|(link, _)| link.role == Role::Send);
        let limits: Vec<Limit> =
            sends.map(|(link, latest)| Limit { record: link.spot.position, latest }).collect();
        amortise(&mut times, &limits, &jumps);
        times
    };
    let times = threads.iter().map(|&threads| ways.by_ref().take(threads).map(corrected).collect()).collect();
    Ok(Corrected { times, violations: Some(violations) })
}

/// The violations of all workers.
fn sum_up(ways: &[Way], exchange: &mut dyn Exchange) -> Result<Violations, Error> {
    let jumps = || ways.iter().flat_map(|way| &way.jumps);
    let largest = jumps().map(|Jump { from, to, .. }| to - from).max().unwrap_or(0);
    let told = share(exchange, vec![jumps().count() as u64, largest.cast_unsigned()])?;
    Ok(Violations {
        count: told.iter().map(|words| words[0]).sum(),
        largest: told.iter().map(|words| words[1].cast_signed()).max().unwrap_or(0),
    })
}

/// Tells each send how late it can have been: as its receive is now, less what a message takes.
fn set_limits(
    tools: &Tools<'_>,
    forward: &mut Forward<'_>,
    least: Least,
    first: u32,
    exchange: &mut dyn Exchange,
) -> Result<(), Error> {
    forward.meetings.turn_back();
    let mut outgoing = vec![Batch::new(); exchange.workers()];
    let mut put = |to: Side, limit: Ticks| {
        outgoing[to.worker(tools)].extend([to.encode(), limit.cast_unsigned()]);
    };
    for way in &mut forward.ways {
        way.told.fill(Ticks::MAX);
        for link in way.links.iter().filter(|link| link.role == Role::Receive) {
            let received = way.times[link.spot.position as usize];
            put(link.other, received.saturating_sub(least.of(link).ceil() as Ticks));
        }
    }
    let mut to_meetings = Vec::new();
    hear(&exchange.exchange(outgoing)?, |to, limit| match to {
        Side::Event(spot) => forward.ways[(spot.location - first) as usize].limit(spot.position, limit),
        Side::Seat { number, .. } => to_meetings.push((number, limit)),
    });
    to_meetings.into_iter().for_each(|(seat, limit)| forward.meetings.end(seat, limit));
    let mut outgoing = vec![Batch::new(); exchange.workers()];
    forward.meetings.limits(|spot, limit| {
        let to = Side::Event(spot);
        outgoing[to.worker(tools)].extend([to.encode(), limit.cast_unsigned()]);
    });
    hear(&exchange.exchange(outgoing)?, |to, limit| {
        if let Side::Event(spot) = to {
            forward.ways[(spot.location - first) as usize].limit(spot.position, limit);
        }
    });
    Ok(())
}

/// Reads words of a side and a time.
fn hear(batches: &[Batch], mut hear: impl FnMut(Side, Ticks)) {
    for batch in batches {
        let mut reader = BatchReader::new(batch);
        while !reader.is_empty() {
            hear(Side::decode(reader.word()), reader.word().cast_signed());
        }
    }
}
