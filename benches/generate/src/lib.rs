//! Generator of OTF2 traces of any size, for benchmarks and tests.
//!
//! The behaviour of the ranks is a [`Pattern`]; the size and the seed are in a [`Job`]. [`generate`] writes
//! the trace, one location after the other:
//!
//! ```text
//! job ─► plan (steps, length) ─► events of each location ─► definitions
//!                                     │
//!                                     └── draws: hashes of seed, rank and step
//! ```
//!
//! **Memory does not grow with the number of events.** A step of a pattern has a slot of time, and the work
//! of a rank in it is a hash of seed, rank and step that fits the slot. The time at which a partner sends is
//! computed from that where it is needed, and only the location being written is simulated. Only call paths are kept, if they
//! are to have [call sites](Job::call_sites).
//!
//! **Traces are causal:** no message is received before it was sent, no rank leaves a collective operation
//! before those that it waits for have entered. Clock errors, if requested, break that.
//!
//! Times are nanoseconds since the start of the program until an event is written, which converts them to
//! readings of its rank's [clock](Job::drift).

mod clock;
mod collectives;
mod contexts;
mod definitions;
mod draw;
mod files;
mod gatherings;
mod grid;
mod iteration;
mod job;
mod location;
mod mpi;
mod objects;
mod offload;
mod one_sided;
mod patterns;
mod regions;
mod severities;
mod slot;
mod streams;
mod sweep;
mod told;
mod tuning;

use std::path::Path;

use otf2::{Anchor, Archive, ArchiveWriter, ByteOrder};
use tracing::debug;

pub use job::{Error, Job};
pub use patterns::{PATTERNS, Pattern};
pub use severities::Severities;
pub use tuning::{Every, Slow, Tuning, Work, noise, repetitions, trend};

use contexts::Contexts;
use location::Location;
use objects::Groups;

/// Size of a written trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Written {
    /// Number of locations: threads and streams of all ranks.
    pub locations: u64,
    /// Number of events of all locations, as OTF2 counts them.
    pub events: u64,
    /// Number of point-to-point messages.
    pub messages: u64,
    /// Size of all event files in bytes.
    pub bytes: u64,
}

/// Writes the trace of a job to the archive `traces.otf2` in a directory that does not exist yet.
///
/// # Errors
/// If the job is impossible, the directory exists, or the disk refuses. The files written so far then have no
/// anchor, and no program takes them for a trace.
pub fn generate(job: &Job, directory: &Path) -> Result<Written, Error> {
    let plan = job.plan()?;
    if directory.symlink_metadata().is_ok() {
        return Err(Error::new(format!("{} exists already", directory.display())));
    }
    // Without fsync: a trace that is lost with the machine can be made again.
    let mut archive = ArchiveWriter::create(directory.join("traces.otf2"), anchor(job))?.unsynced();
    debug!(?directory, %job, "archive created");
    let groups = Groups::of(job);
    let mut contexts = Contexts::default();
    let mut written = Written::default();
    let mut counts = Vec::new();
    for rank in 0..job.ranks {
        for thread in 0..job.locations_of_rank() {
            let groups = groups.of_rank(rank);
            let location = Location::create(job, &archive, &mut contexts, groups, (rank, thread))?;
            let (events, messages) = location.write(plan)?;
            debug!(rank, thread, events, messages, "event file written");
            counts.push(events);
            written.events += events;
            written.messages += messages;
            clock::write_offsets(job, plan, &archive, rank, thread)?;
        }
    }
    // Definitions come last because they contain the numbers of events, and the call paths.
    definitions::write(job, plan, &groups, &contexts, &counts, &mut archive)?;
    archive.finish()?;
    written.locations = counts.len() as u64;
    let archive = Archive::open(directory)?;
    written.bytes = job.locations().filter_map(|location| archive.event_bytes(location)).sum();
    Ok(written)
}

/// An anchor with chunks that are large enough for the largest definition, the group of all locations.
fn anchor(job: &Job) -> Anchor {
    const MOST_BYTES_OF_A_NUMBER: u64 = 9;
    const BYTES_OF_OTHER_FIELDS: u64 = 1000;
    let locations = u64::from(job.ranks) * u64::from(job.locations_of_rank());
    let largest = (locations * MOST_BYTES_OF_A_NUMBER + BYTES_OF_OTHER_FIELDS).next_power_of_two();
    let complete = ["MPI_COMMUNICATION_COMPLETE", "THREAD_FORK_JOIN_EVENT_COMPLETE"];
    Anchor {
        byte_order: ByteOrder::Little,
        event_chunk_size: job.chunk,
        definition_chunk_size: largest.clamp(*otf2::CHUNK_SIZES.start(), *otf2::CHUNK_SIZES.end()),
        creator: format!("replay-generate {}", env!("CARGO_PKG_VERSION")),
        description: job.to_string(),
        properties: complete.iter().map(|name| (format!("OTF2::{name}"), "true".into())).collect(),
        trace_id: draw::draw(job.seed, job.ranks.into(), job.iterations.unwrap_or(job.events)),
        ..Anchor::default()
    }
}
