//! Makes OTF2 traces of any size, for benchmarks and tests.
//!
//! What the ranks of a trace do is a [`Pattern`]; how much of it, and by which seed, is a [`Job`]. [`generate`] writes the
//! trace, one location after the other:
//!
//! ```text
//! job ─► plan (steps, length) ─► events of each location ─► definitions
//!                                     │
//!                                     └── draws: hashes of seed, rank and step
//! ```
//!
//! **Memory does not grow with the number of events.** A step of a pattern has a slot of time, and the work of a rank in it
//! is a hash of seed, rank and step that fits the slot. So whoever needs to know when a partner sends computes that, and
//! nobody is simulated but the location that is written.
//!
//! **Traces are causal:** nothing is received before it was sent, nobody leaves a collective operation before those have
//! entered that he waits for. Unless clocks are asked to be wrong.
//!
//! Times are nanoseconds since the program began, until an event is written, which adds what the
//! [clock](Job::drift) of its rank showed then.

mod clock;
mod definitions;
mod draw;
mod grid;
mod job;
mod location;
mod mpi;
pub mod patterns;
mod regions;
mod sweep;

use std::path::Path;

use otf2::{Anchor, Archive, ArchiveWriter, ByteOrder};
use tracing::debug;

pub use job::{Error, Job};
pub use location::START;
pub use patterns::{PATTERNS, Pattern};

use location::Location;

/// What was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Written {
    /// Threads of all ranks.
    pub locations: u64,
    /// Events of all locations, an event being what OTF2 counts as one.
    pub events: u64,
    /// Messages that were sent, those of collective operations apart.
    pub messages: u64,
    /// Size of all event files in bytes.
    pub bytes: u64,
}

/// Writes the trace of a job to the archive `traces.otf2` in a directory that does not exist yet.
///
/// # Errors
/// If the job cannot be done, the directory exists, or the disk refuses. What has been written then has no anchor, and no
/// program takes it for a trace.
pub fn generate(job: &Job, directory: &Path) -> Result<Written, Error> {
    let plan = job.plan()?;
    if directory.symlink_metadata().is_ok() {
        return Err(Error::new(format!("{} exists already", directory.display())));
    }
    // What is lost with the machine can be made again.
    let mut archive = ArchiveWriter::create(directory.join("traces.otf2"), anchor(job))?.unsynced();
    debug!(?directory, %job, "archive created");
    let mut written = Written::default();
    let mut counts = Vec::new();
    for rank in 0..job.ranks {
        for thread in 0..job.threads {
            let location = Location::create(job, &archive, rank, thread)?;
            let (events, messages) = location.write(plan)?;
            debug!(rank, thread, events, messages, "event file written");
            counts.push(events);
            written.events += events;
            written.messages += messages;
            clock::write_offsets(job, plan, &archive, rank, thread)?;
        }
    }
    // Definitions come last because they say how many events there are.
    definitions::write(job, plan, &counts, &mut archive)?;
    archive.finish()?;
    written.locations = counts.len() as u64;
    let archive = Archive::open(directory)?;
    written.bytes = job.locations().filter_map(|location| archive.event_bytes(location)).sum();
    Ok(written)
}

/// An anchor with chunks that are large enough for the largest definition, the list of all locations.
fn anchor(job: &Job) -> Anchor {
    const MOST_BYTES_OF_A_NUMBER: u64 = 9;
    const BYTES_OF_OTHER_FIELDS: u64 = 1000;
    let locations = u64::from(job.ranks) * u64::from(job.threads);
    let largest = (locations * MOST_BYTES_OF_A_NUMBER + BYTES_OF_OTHER_FIELDS).next_power_of_two();
    let complete = ["MPI_COMMUNICATION_COMPLETE", "THREAD_FORK_JOIN_EVENT_COMPLETE"];
    Anchor {
        byte_order: ByteOrder::Little,
        event_chunk_size: job.chunk,
        definition_chunk_size: largest.clamp(*otf2::CHUNK_SIZES.start(), *otf2::CHUNK_SIZES.end()),
        creator: format!("replay-generate {}", env!("CARGO_PKG_VERSION")),
        description: job.to_string(),
        properties: complete.iter().map(|name| (format!("OTF2::{name}"), "true".into())).collect(),
        trace_id: draw::draw(job.seed, job.ranks.into(), job.events),
        ..Anchor::default()
    }
}
