//! The estimated size of the trace of a run that was only counted, by function.
//!
//! The recorder makes every record and drops it, so events and bytes are counted, not estimated; definitions
//! are written beside the recording, to be removed with it.

use super::super::bytes;
use super::super::contexts::{NO_CONTEXT, Region};
use super::super::events::EventFileSummary;
use super::super::run::{Run, define};
use super::counts::Counts;
use crate::Error;
use model::Paradigm;
use recording::functions::{self, MpiFunction};
use recording::layout;
use recording::paths::SAMPLE;
use recording::profile::TraceSize;
use recording::settings::EventRecords;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Size of an event file without events, and of the end of one.
const EMPTY: u64 = 20;
const END: u64 = 2;

/// Functions that are always recorded.
const ALWAYS: [&str; 3] = ["MPI_Init", "MPI_Init_thread", "MPI_Finalize"];

/// The estimated size of a trace.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Estimate {
    /// Number of events.
    pub events: u64,
    /// Bytes of event files.
    pub bytes: u64,
    /// Bytes of all other files, which hardly depend on how long the program runs.
    pub definitions: u64,
    /// The process with the largest event files: its rank, events and bytes.
    pub largest: (u32, u64, u64),
    /// Duration of the run, in nanoseconds.
    pub nanoseconds: u64,
    /// Size of a thread's buffer, in bytes.
    pub buffer: u64,
    /// How often buffers would have been written out: in total, and the maximum of one.
    pub flushes: (u64, u64),
    /// The shares of functions in the bytes, the largest first.
    pub shares: Vec<Share>,
}

/// A function's share in a trace: what leaving it out would save.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Share {
    /// Its name.
    pub name: String,
    /// Number of visits.
    pub visits: u64,
    /// Number of events.
    pub events: u64,
    /// Bytes of event files.
    pub bytes: u64,
    /// The option that leaves it out, if there is one.
    pub option: Option<String>,
    /// The loss to a trace without it.
    pub price: Omission,
}

/// The loss to a trace if a function is left out.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub enum Omission {
    /// Its calls only.
    #[default]
    Calls,
    /// Its calls that had no effect only: the other calls stay.
    IdleCalls,
    /// Messages or operations.
    Operations,
}

/// Sums up the counts of the threads.
///
/// # Errors
/// If the disk refuses.
pub(super) fn estimate(directory: &Path, run: &Run<'_>, counts: &[Counts]) -> Result<Estimate, Error> {
    let mut estimate = Estimate { shares: shares(run, counts), ..Estimate::default() };
    let mut by_rank: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for (place, counts) in run.places.iter().zip(counts) {
        let TraceSize { events, bytes, flushes } = counts.header.trace;
        let own = by_rank.entry(layout::rank_and_thread(place.reference).0).or_default();
        own.0 += events;
        own.1 += if bytes == 0 { EMPTY } else { bytes.saturating_add(END) };
        estimate.flushes = (estimate.flushes.0.saturating_add(flushes), estimate.flushes.1.max(flushes));
    }
    for (&rank, &(events, bytes)) in &by_rank {
        estimate.events = estimate.events.saturating_add(events);
        estimate.bytes = estimate.bytes.saturating_add(bytes);
        if bytes > estimate.largest.2 {
            estimate.largest = (rank, events, bytes);
        }
    }
    let nanoseconds = u128::from(run.clock.length) * 1_000_000_000 / u128::from(run.clock.resolution.max(1));
    estimate.nanoseconds = u64::try_from(nanoseconds).unwrap_or(u64::MAX);
    estimate.buffer = run.processes.first().map_or(0, |first| first.chunk_size);
    let beside = directory.join(layout::RECORDING).join("estimate");
    // An interrupted estimate may have left some.
    let _ = fs::remove_dir_all(&beside);
    let of_trace = |counts: &Counts| EventFileSummary {
        count: counts.header.trace.events,
        ..EventFileSummary::default()
    };
    let events: Vec<EventFileSummary> = counts.iter().map(of_trace).collect();
    define(&beside, run, EventRecords::CallingContexts, &events, true)?;
    estimate.definitions = bytes(&beside);
    Ok(estimate)
}

fn shares(run: &Run<'_>, counts: &[Counts]) -> Vec<Share> {
    let regions = run.contexts.regions.iter();
    let mut by_region: Vec<Share> = regions.map(|region| of_region(region, functions::all())).collect();
    let mut samples = Share { name: "samples".into(), option: Some("--sample 0".into()), ..Share::default() };
    for ((paths, contexts), counts) in run.paths.iter().zip(&run.contexts.of).zip(counts) {
        for ((node, &context), entry) in paths.nodes.iter().zip(contexts).zip(&counts.entries) {
            let region = run.contexts.nodes.get(context as usize).filter(|_| context != NO_CONTEXT);
            let share = match region {
                _ if node.kind == SAMPLE => &mut samples,
                Some(context) => &mut by_region[context.region as usize],
                None => continue,
            };
            share.visits = share.visits.saturating_add(entry.visits);
            share.events = share.events.saturating_add(entry.trace.events);
            share.bytes = share.bytes.saturating_add(entry.trace.bytes);
        }
    }
    by_region.push(samples);
    by_region.retain(|share| share.bytes > 0);
    by_region.sort_by(|one, other| (other.bytes, &one.name).cmp(&(one.bytes, &other.name)));
    by_region
}

/// Returns an empty share, with the option that leaves the region out.
fn of_region(region: &Region, functions: &[MpiFunction]) -> Share {
    let name = region.name.clone();
    let option = match region.paradigm {
        Paradigm::MPI if ALWAYS.contains(&name.as_str()) => None,
        Paradigm::MPI => Some(format!("--functions -{name}")),
        Paradigm::USER => Some(format!("--filter with EXCLUDE {name}")),
        Paradigm::COMPILER => {
            Some(format!("-finstrument-functions-exclude-function-list={name}, for the compiler"))
        }
        _ => None,
    };
    let known = |function: &&MpiFunction| region.paradigm == Paradigm::MPI && function.name == name;
    let price = match functions.iter().find(known) {
        Some(function) if function.is_followed() => Omission::IdleCalls,
        Some(function) if function.has_records() => Omission::Operations,
        _ => Omission::Calls,
    };
    Share { name, option, price, ..Share::default() }
}
