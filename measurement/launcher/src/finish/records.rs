//! The event records of the archive, made from the recorded ones.
//!
//! The meaning of a location's paths is known only when all paths are. So complete event files are gone
//! through once more, several at a time: distances are corrected in place (`distances`). Where that is not
//! enough, or other records are wanted (`enter_leave`), the file is written anew. Until the anchor is there,
//! the recorded one is kept in a folder that is removed then; doing this again starts with putting it back,
//! and has the same result.

use super::distances::{self, Correction};
use super::enter_leave;
use super::events::EventFileSummary;
use super::notices::Notices;
use super::run::{Run, TraceLocation, byte_order};
use super::tree::{PathWalk, Tree};
use crate::Error;
use model::MeasurementMode;
use otf2::{Anchor, Attributes, Event, EventCursor, EventRecord, EventWriter, FileBytes};
use recording::layout;
use recording::settings::EventRecords;
use std::fs::{self, File};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Puts back event files that an earlier attempt has kept.
///
/// # Errors
/// If the disk refuses.
pub(super) fn restore(directory: &Path) -> Result<(), Error> {
    let folder = directory.join(layout::RECORDING);
    let failed = |cause| Error::io(&folder, "list the directory", cause);
    for entry in fs::read_dir(&folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let location = name.to_str().and_then(|name| name.strip_suffix(layout::KEPT)?.parse().ok());
        if let Some(location) = location {
            rename(&layout::kept(directory, location), &layout::events(directory, location))?;
        }
    }
    Ok(())
}

/// Makes the records of all event files fit the archive; updates the number of `events` and adds losses to
/// `notices`. By location, recording ends at the time at which the recording of a running process was
/// `copied`.
///
/// # Errors
/// If the disk refuses.
pub(super) fn settle(
    directory: &Path,
    run: &Run<'_>,
    wanted: EventRecords,
    copied: &[Option<u64>],
    events: &mut [EventFileSummary],
    notices: &mut Notices,
) -> Result<(), Error> {
    let tree = Tree::new(&run.contexts.nodes);
    let settle = |at: usize| {
        let TraceLocation { reference, process } = run.places[at];
        // Without a process it has no events.
        if process.is_none() {
            return Ok(SettledFile::default());
        }
        let path = layout::events(directory, reference);
        let walk = PathWalk::new(&tree, &run.contexts.of[at]);
        let end = copied[at];
        let anew = || RewrittenFile::begin(&path, &layout::kept(directory, reference), run.chunk_size(), end);
        match wanted {
            EventRecords::EnterLeave => anew()?
                .write(|events, output| enter_leave::convert(events, walk, run.longest_gap(), end, output)),
            EventRecords::CallingContexts => {
                let correction = match end {
                    Some(_) => Correction::NotInPlace,
                    None => distances::correct(&path, run.chunk_size(), walk.clone())?,
                };
                match correction {
                    Correction::Done(damage) => settled_in_place(&path, damage),
                    Correction::NotInPlace => {
                        anew()?.write(|events, output| distances::copy(events, walk, output))
                    }
                }
            }
        }
    };
    let all = side_by_side(run.places.len(), settle);
    for ((settled, events), place) in all.into_iter().zip(events).zip(&run.places) {
        let SettledFile { count, losses } = settled?;
        events.count = count.unwrap_or(events.count);
        notices.losses_of(place.reference, &losses);
    }
    Ok(())
}

/// The result for an event file.
#[derive(Default)]
struct SettledFile {
    /// Number of its events if it was written anew.
    count: Option<u64>,
    /// Sentences about what is lost of it.
    losses: Vec<String>,
}

fn settled_in_place(path: &Path, damage: Option<otf2::Error>) -> Result<SettledFile, Error> {
    let synced = File::open(path).and_then(|file| file.sync_all());
    synced.map_err(|cause| Error::io(path, "write the file", cause))?;
    Ok(SettledFile { count: None, losses: damage.map(|damage| damage.to_string()).into_iter().collect() })
}

/// An event file that is written anew.
struct RewrittenFile<'a> {
    path: &'a Path,
    /// The recorded one.
    recorded: FileBytes,
    chunk_size: u64,
    /// The time at which recording ends, if nothing is known behind it.
    end: Option<u64>,
    output: EventOutput,
}

impl<'a> RewrittenFile<'a> {
    /// Starts by keeping the recorded one.
    fn begin(path: &'a Path, kept: &Path, chunk_size: u64, end: Option<u64>) -> Result<Self, Error> {
        rename(path, kept)?;
        let anchor = Anchor { event_chunk_size: chunk_size, byte_order: byte_order(), ..Anchor::default() };
        let output = EventOutput { writer: EventWriter::create(path, &anchor)?, refused: 0 };
        Ok(RewrittenFile { path, recorded: FileBytes::open(kept)?, chunk_size, end, output })
    }

    /// Calls `fill` to write the new events; it returns the problem that ended the recorded ones early, if
    /// there was one.
    fn write(
        mut self,
        fill: impl FnOnce(RecordedEvents<'_>, &mut EventOutput) -> Result<Option<Error>, Error>,
    ) -> Result<SettledFile, Error> {
        let events = EventCursor::new(&self.recorded, self.path, self.chunk_size);
        let damage = fill(RecordedEvents { events, path: self.path, time: 0 }, &mut self.output)?;
        if let Some(end) = self.end {
            let off = Event::MeasurementOnOff { measurement_mode: MeasurementMode::OFF };
            self.output.put(end, off, Attributes::EMPTY)?;
        }
        let mut losses: Vec<String> =
            damage.map(|damage| format!("{damage}; what follows is left out")).into_iter().collect();
        let (path, refused) = (self.path.display(), self.output.refused);
        if refused > 0 {
            losses.push(format!("{path}: {refused} of its events are left out: they make no sense"));
        }
        Ok(SettledFile { count: Some(self.output.writer.finish()?), losses })
    }
}

/// The recorded events of a location, up to the first damage.
#[derive(Clone)]
pub(super) struct RecordedEvents<'a> {
    pub(super) events: EventCursor<'a>,
    path: &'a Path,
    time: u64,
}

impl<'a> RecordedEvents<'a> {
    /// Returns the next event, or `None` behind the last.
    ///
    /// # Errors
    /// If it is damaged: it cannot be decoded, or its time is before that of the event ahead of it.
    pub(super) fn next(&mut self) -> Result<Option<EventRecord<'a>>, Error> {
        let record = self.events.next()?;
        if let Some(EventRecord { time, offset, .. }) = record {
            if time < self.time {
                let message =
                    format!("the time of an event is {} ticks before the one ahead", self.time - time);
                return Err(Error::at(self.path, offset, message));
            }
            self.time = time;
        }
        Ok(record)
    }
}

/// The writer of the new events.
pub(super) struct EventOutput {
    writer: EventWriter,
    /// Number of events that are left out because they make no sense.
    refused: u64,
}

impl EventOutput {
    /// Appends an event.
    ///
    /// # Errors
    /// If the disk refuses.
    pub(super) fn put(
        &mut self,
        time: u64,
        event: Event<'_>,
        attributes: Attributes<'_>,
    ) -> Result<(), Error> {
        match self.writer.write(time, event, attributes) {
            Err(error) if std::error::Error::source(&error).is_some() => Err(error.into()),
            Err(_) => {
                self.refuse();
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// Counts an event that is left out.
    pub(super) fn refuse(&mut self) {
        self.refused += 1;
    }
}

fn rename(from: &Path, to: &Path) -> Result<(), Error> {
    fs::rename(from, to).map_err(|cause| Error::io(from, "rename the file", cause))
}

/// Runs some work for so many numbers, several at a time, and returns the results in order.
fn side_by_side<T: Send>(number: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let turn = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= number {
                return done;
            }
            done.push((at, work(at)));
        }
    };
    let helpers = thread::available_parallelism().map_or(1, Into::into).min(number) - usize::from(number > 0);
    let mut done = thread::scope(|scope| {
        let helpers: Vec<_> = (0..helpers).map(|_| scope.spawn(turn)).collect();
        let mut done = turn();
        for helper in helpers {
            match helper.join() {
                Ok(own) => done.extend(own),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    });
    done.sort_unstable_by_key(|&(at, _)| at);
    done.into_iter().map(|(_, result)| result).collect()
}
