//! Completes an archive from a recording.
//!
//! | step | module |
//! |---|---|
//! | exclude other processes | `lock` |
//! | read the files of the processes | `journals`, `paths`, `buffers` |
//! | copy the last events from buffers | `events` |
//! | correct clocks | `clock` |
//! | number shared objects | `communicators`, `members`, `teams`, `files`, `file_systems` |
//! | make functions of addresses, and one tree of paths | `modules`, `code`, `contexts` |
//! | all of that together, and what of it is left out | `run`, `anonymous` |
//! | say which iterations are recorded, and how long all took | `iterations`, `loop_times` |
//! | fit the records of events to the tree | `tree`, `distances`, `enter_leave`, `records` |
//! | end the copy of a running program | `copies` |
//! | write definitions, and the anchor | `strings`, `archive`, `off_cpu`, `counters`, `metric_class`, `energy` |
//! | or, from counts, a report | `profile` |
//!
//! Everything before the anchor can be done again after an interruption, with the same result; its input is
//! removed after the anchor is there.

mod anonymous;
mod archive;
mod buffers;
mod clock;
mod code;
mod communicators;
mod contexts;
mod copies;
mod counters;
mod distances;
mod energy;
mod enter_leave;
mod events;
mod file_systems;
mod files;
mod iterations;
mod journals;
mod lock;
mod loop_times;
mod members;
mod metric_class;
mod modules;
mod notices;
mod off_cpu;
mod paths;
mod profile;
mod python;
mod records;
mod run;
mod strings;
mod teams;
mod tree;

use crate::{Error, host};
use events::EventFileSummary;
pub(crate) use file_systems::mount_of;
use journals::Process;
use notices::Notices;
pub(crate) use notices::name_ranks;
use otf2::Archive;
pub use profile::{Estimate, Omission, Share};
use recording::layout;
use recording::settings::EventRecords;
pub(crate) use run::NO_END;
use run::{NO_JOURNAL, TraceLocation, define, gather, places};
use std::fs;
use std::path::{Path, PathBuf};
use tracing::debug;

/// The outcome of completing an archive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The archive is complete.
    Written(Summary),
    /// It was complete before.
    AlreadyComplete,
    /// Another process is completing it; the sentence names that.
    Busy(String),
}

/// The summary of an archive.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Summary {
    /// The experiment directory.
    pub directory: PathBuf,
    /// Number of processes.
    pub processes: u32,
    /// Number of events.
    pub events: u64,
    /// Size of all files, in bytes.
    pub bytes: u64,
    /// Ranks of the processes that did not end by themselves.
    pub died: Vec<u32>,
    /// Those of them that are known to have died of a signal by their own fault, with its name.
    pub faults: Vec<(u32, &'static str)>,
    /// Ranks of the processes that left no journal.
    pub silent: Vec<u32>,
    /// Sentences about gaps in the trace and oddities.
    pub notices: Vec<String>,
    /// Whether something that was recorded is lost.
    pub has_losses: bool,
    /// A sentence about the iterations that are recorded, if the user has asked for some.
    pub iterations: Option<String>,
    /// Number of call paths, if it is not an archive but a report of counts.
    pub call_paths: Option<usize>,
    /// Estimated size of a trace, if the user asked for that.
    pub estimate: Option<Box<Estimate>>,
}

/// Completes the archive in an experiment directory, with these event records; by default with those that the
/// user has chosen for the recording.
///
/// # Errors
/// If there is no recording, processes still record, or the disk refuses. The recording is still there then.
pub fn finish(directory: &Path, records: Option<EventRecords>) -> Result<Outcome, Error> {
    let recording = directory.join(layout::RECORDING);
    if is_complete(directory) {
        check_usable(directory)?;
        remove(&recording)?;
        return Ok(Outcome::AlreadyComplete);
    }
    if !recording.is_dir() {
        let message = format!("{}: there is neither an archive nor a recording", directory.display());
        return Err(Error::new(message));
    }
    let lock = match lock::Lock::take(directory)? {
        Ok(lock) => lock,
        Err(holder) => return Ok(Outcome::Busy(holder)),
    };
    // Another process may have completed it before the lock was taken.
    if is_complete(directory) {
        check_usable(directory)?;
        drop(lock);
        remove(&recording)?;
        return Ok(Outcome::AlreadyComplete);
    }
    let mut notices = Notices::default();
    let processes = journals::read(directory, &mut notices)?;
    debug!(?directory, processes = processes.len(), "recording read");
    refuse_running(directory, &processes)?;
    let summary = match processes.iter().find_map(|process| process.profile) {
        None => complete(directory, &processes, records, notices)?,
        Some(wanted) => profile::complete(directory, &processes, wanted, notices)?,
    };
    drop(lock);
    remove(&recording)?;
    if summary.estimate.is_some() {
        // Unless there is a report in it.
        let _ = fs::remove_dir(directory);
    }
    Ok(Outcome::Written(summary))
}

/// Whether an experiment directory is complete.
pub(crate) fn is_complete(directory: &Path) -> bool {
    directory.join(layout::ANCHOR).exists() || directory.join(layout::PROFILE).exists()
}

/// Fails if what stands for a complete archive cannot be read: a recording is not removed for the sake of any file of that name.
fn check_usable(directory: &Path) -> Result<(), Error> {
    let anchor = directory.join(layout::ANCHOR);
    let has_definitions = || Archive::open(directory).is_ok_and(|archive| archive.definition_file().is_ok());
    if directory.join(layout::PROFILE).exists()
        || !directory.join(layout::RECORDING).is_dir()
        || has_definitions()
    {
        return Ok(());
    }
    Err(Error::new(format!(
        "{}: this is no complete archive, and beside a recording that is not completed; move it away, and try again",
        anchor.display()
    )))
}

/// Returns the number of processes in the world of a recording, as soon as one of them has a journal.
pub(crate) fn world_size(directory: &Path) -> Option<u32> {
    journals::size(directory)
}

/// Whether a process of a recording may still record: one of this host does, or one of another host has not
/// recorded its end.
pub(crate) fn is_alive(directory: &Path) -> bool {
    let Ok(processes) = journals::read(directory, &mut Notices::default()) else { return false };
    let own = host::name();
    let elsewhere = processes.iter().any(|process| process.host != own && process.end.is_none());
    elsewhere || refuse_running(directory, &processes).is_err()
}

/// Returns the rank that was this process of this host, unless it has ended by itself.
pub(crate) fn rank_of(directory: &Path, process: u32) -> Option<u32> {
    let processes = journals::read(directory, &mut Notices::default()).ok()?;
    let own = host::name();
    let is_it = |it: &&Process| it.process == process && it.host == own && it.end.is_none();
    processes.iter().find(is_it).map(|process| process.rank)
}

/// Fails if a process of this host still records: its files must not be completed.
fn refuse_running(directory: &Path, processes: &[Process]) -> Result<(), Error> {
    let recording = directory.join(layout::RECORDING);
    let own = host::name();
    let mut running = processes.iter().filter(|process| process.host == own);
    match running.find(|process| host::writes(process.process, &recording)) {
        None => Ok(()),
        Some(process) => Err(Error::new(format!(
            "{}: the program is still running: rank {} is process {}",
            directory.display(),
            process.rank,
            process.process
        ))),
    }
}

/// Removes the files that are needed only until the archive is complete.
fn remove(recording: &Path) -> Result<(), Error> {
    match fs::remove_dir_all(recording) {
        // Another process may be removing it, too.
        Err(cause) if recording.exists() => Err(Error::io(recording, "remove the directory", cause)),
        _ => Ok(()),
    }
}

fn complete(
    directory: &Path,
    processes: &[Process],
    records: Option<EventRecords>,
    mut notices: Notices,
) -> Result<Summary, Error> {
    let recorded = || processes.iter().find_map(|process| process.records);
    let wanted = records.or_else(recorded).unwrap_or(EventRecords::CallingContexts);
    let traces = directory.join(layout::TRACES);
    fs::create_dir_all(&traces).map_err(|cause| Error::io(&traces, "create the directory", cause))?;
    records::restore(directory)?;
    let places = places(directory, processes)?;
    let mut events = events(directory, processes, &places, &mut notices)?;
    let times: Vec<_> = events.iter().map(|events| events.times).collect();
    let mut run = gather(directory, processes, places, &times, &mut notices)?;
    let copied = copies::times(directory, &run, &events);
    let still_running = run.places.iter().zip(&copied).filter(|(_, copied)| copied.is_some());
    run.copied = still_running.map(|(place, _)| layout::rank_and_thread(place.reference).0).collect();
    run.clock.extend(run.places.iter().zip(&copied).filter_map(|(place, copied)| place.process.zip(*copied)));
    records::settle(directory, &run, wanted, &copied, &mut events, &mut notices)?;
    define(directory, &run, wanted, &events, !notices.has_losses())?;
    debug!(?directory, records = ?wanted, "archive complete");
    let count = events.iter().map(|events| events.count).sum();
    Ok(Summary { events: count, bytes: bytes(directory), ..run.summary(directory, &notices) })
}

/// Completes all event files.
fn events(
    directory: &Path,
    processes: &[Process],
    places: &[TraceLocation],
    notices: &mut Notices,
) -> Result<Vec<EventFileSummary>, Error> {
    let chunk_size = processes.first().map_or(0, |first| first.chunk_size);
    let mut all = Vec::new();
    for place in places {
        let events = match place.process {
            Some(_) => events::complete(directory, place.reference, chunk_size)?,
            // Events without a journal refer to unknown objects.
            None => {
                if events::is_there(directory, place.reference) {
                    notices.loss(layout::rank_and_thread(place.reference).0, NO_JOURNAL);
                }
                events::clear(directory, place.reference)?
            }
        };
        let (location, EventFileSummary { count, bytes, .. }) = (place.reference, &events);
        debug!(location, events = count, bytes, "event file complete");
        notices.losses_of(location, &events.losses);
        all.push(events);
    }
    debug_assert!(processes.len() <= places.len());
    Ok(all)
}

/// Returns the size of an archive in bytes.
fn bytes(directory: &Path) -> u64 {
    let size = |path: PathBuf| fs::metadata(path).map_or(0, |status| status.len());
    let traces = fs::read_dir(directory.join(layout::TRACES)).into_iter().flatten().flatten();
    let own = [layout::ANCHOR, "traces.def", layout::ITERATIONS].map(|name| size(directory.join(name)));
    traces.map(|entry| size(entry.path())).chain(own).sum()
}
