//! A file that all ranks open in rounds (io 7.5): each writes a segment, all write together through strided views, and each
//! reads blocks in random order, a third of the transfers each. A round is three phases of the model of file I/O.
//!
//! Who opens the file, sets a view, writes together with others, or closes the file, waits for the last rank. Rounds write
//! the same places again, so that the file does not grow with the number of events.

use super::{Pattern, Plan};
use crate::draw::{below, draw};
use crate::files::{Transfer, View};
use crate::job::{Job, LONGEST};
use crate::location::{Location, START};
use crate::mpi::BETWEEN;
use crate::objects::Objects;
use crate::regions::function;
use crate::severities::Severities;

pub(super) const PATTERN: Pattern = Pattern {
    name: "io",
    about: "rounds of file I/O with work in between: write segments (MPI_File_write_at), write together through strided \
            views (MPI_File_set_view, MPI_File_write_all), read random blocks (MPI_File_read_at)",
    threads: 1,
    least_ranks: 1,
    functions: &["compute"],
    options: &[],
    objects: Objects { views: Some(views), ..Objects::NONE },
    plan,
    run,
    severities: Some(severities),
};
const COMPUTE: u32 = function(0);

/// Transfers of a rank in a part of a round.
const PART: u64 = 32;
/// Parts of a round.
const SEGMENTS: u64 = 0;
const VIEWS: u64 = 1;
const PARTS: u64 = 3;
/// Transfers of a round, and calls of all ranks in between: open, two views, and close.
const ROUND: u64 = PARTS * PART;
const HANDLING: u64 = 4;
/// Events of a round: a transfer has four, the work before it two, opening and closing three each, a view two.
const EVENTS: u64 = 6 * ROUND + 2 * 3 + 2 * 2;

/// Duration of a transfer, or of a call of all ranks, with the work before it, in nanoseconds.
const SLOT: u64 = 2_000_000;
/// Largest duration of a call when all ranks are there.
const DURATION: u64 = 1_000_000;

/// Bytes of a transfer: the least that are not a small request (io 5.2).
const BYTES: u64 = 1 << 20;
/// Bytes of a piece of the strided view: four make a transfer.
const PIECE: u64 = BYTES / 4;
/// The etype of that view: numbers in double precision.
const ETYPE: u64 = 8;

/// Streams of random numbers of a rank for durations, and for the blocks that it reads.
const DURATIONS: u64 = 1 << 32;
const BLOCKS: u64 = 1 << 33;

fn plan(job: &Job) -> Plan {
    let steps = job.steps(ROUND, EVENTS);
    let last = slot(steps.min(LONGEST / SLOT) - 1);
    Plan { steps, ticks: (last + 2).saturating_mul(SLOT) }
}

/// The slot of time of a transfer: calls of all ranks have slots, too.
fn slot(step: u64) -> u64 {
    step + step / ROUND * HANDLING + step % ROUND / PART + 1
}

/// The slot of the call of all ranks before a transfer, if it is the first one of a part.
fn prepared(step: u64) -> Option<u64> {
    step.is_multiple_of(PART).then(|| slot(step) - 1)
}

/// The slot in which the file is closed behind a transfer.
fn closed(step: u64, steps: u64) -> Option<u64> {
    ((step + 1).is_multiple_of(ROUND) || step + 1 == steps).then(|| slot(step) + 1)
}

/// Time at which a rank calls.
fn enters(job: &Job, rank: u32, slot: u64) -> u64 {
    START + slot * SLOT + 10_000 + 400 * job.load_before_all(rank, slot)
}

/// Time at which a call returns to which the last rank has come at `last`.
fn returns(job: &Job, rank: u32, slot: u64, last: u64) -> u64 {
    let drawn = draw(job.seed, DURATIONS + u64::from(rank), slot);
    last + DURATION / 2 + below(drawn, DURATION / 2)
}

/// Time at which a call of all ranks returns.
fn returns_together(job: &Job, rank: u32, slot: u64) -> u64 {
    returns(job, rank, slot, enters(job, job.last(slot), slot))
}

/// What a rank sees of the file in the last two parts of a round: pieces in turn with those of the other ranks, behind all
/// segments; and the bytes of the file. A piece of each turn is nobody's, so that there are holes with one rank, too.
fn views(job: &Job, rank: u32) -> [View; 2] {
    let (rank, ranks) = (u64::from(rank), u64::from(job.ranks));
    let displacement = ranks * PART * BYTES + rank * PIECE;
    [
        View { displacement, etype: ETYPE, piece: PIECE, extent: (ranks + 1) * PIECE },
        View { displacement: 0, etype: 1, piece: 1, extent: 1 },
    ]
}

fn run(location: &mut Location<'_>, steps: u64) -> Result<(), otf2::Error> {
    let (job, rank) = (location.job, location.rank);
    let views = views(job, rank);
    for step in 0..steps {
        let part = step % ROUND / PART;
        if let Some(slot) = prepared(step) {
            location.wait_until(enters(job, rank, slot) - BETWEEN);
            let time = returns_together(job, rank, slot);
            match part {
                SEGMENTS => location.open_file(time)?,
                VIEWS => location.set_view(time, 0, views[0])?,
                _ => location.set_view(time, 1, views[1])?,
            }
        }
        let slot = slot(step);
        let begin = enters(job, rank, slot);
        location.work(COMPUTE, begin - BETWEEN)?;
        let alone = returns(job, rank, slot, begin);
        let (time, transfer) = match part {
            SEGMENTS => (alone, Transfer::WriteAt((u64::from(rank) * PART + step % PART) * BYTES)),
            VIEWS => (returns_together(job, rank, slot), Transfer::WriteAll),
            _ => (alone, Transfer::ReadAt(block(job, rank, step) * BYTES)),
        };
        location.transfer(time, transfer, BYTES, step + 1)?;
        if let Some(slot) = closed(step, steps) {
            location.wait_until(enters(job, rank, slot) - BETWEEN);
            location.close_file(returns_together(job, rank, slot))?;
        }
    }
    Ok(())
}

/// A block of the segments of all ranks.
fn block(job: &Job, rank: u32, step: u64) -> u64 {
    below(draw(job.seed, BLOCKS + u64::from(rank), step), u64::from(job.ranks) * PART)
}

fn severities(job: &Job, rank: u32) -> Severities {
    let steps = plan(job).steps;
    let wait = |slot| enters(job, job.last(slot), slot) - enters(job, rank, slot);
    let mut severities = Severities::default();
    for step in 0..steps {
        for slot in prepared(step).into_iter().chain(closed(step, steps)) {
            severities.add("mpi_mgmt_file_wait", wait(slot));
        }
        let part = step % ROUND / PART;
        severities.add("mpi_io_collective_wait", if part == VIEWS { wait(slot(step)) } else { 0 });
        let is_write = part == SEGMENTS || part == VIEWS;
        severities.add("io_bytes_written_mpi", if is_write { BYTES } else { 0 });
        severities.add("io_bytes_read_mpi", if is_write { 0 } else { BYTES });
    }
    severities
}
