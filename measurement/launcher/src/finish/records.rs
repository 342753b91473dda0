//! The records of events as the archive has them, made of those that were recorded.
//!
//! What the paths of a location mean is known only when all paths are. So event files that are complete are gone through
//! once more, several at a time: distances are corrected in their places (`distances`). Where that is not enough, or other
//! records are wanted (`enter_leave`), the file is written anew. Until the anchor is there, the recorded one is kept among
//! what is removed then; whoever does this again begins with putting it back, and comes to the same result.

use super::distances::{self, Correction};
use super::enter_leave;
use super::events::Events;
use super::notices::Notices;
use super::run::{Place, Run, byte_order};
use super::tree::{Tree, Walk};
use crate::Error;
use model::MeasurementMode;
use otf2::{Anchor, Attributes, Event, EventCursor, EventRecord, EventWriter, FileBytes};
use recording::layout;
use recording::settings::EventRecords;
use std::fs::{self, File};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Puts event files back that an earlier attempt has kept.
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

/// Makes the records of all event files fit the archive; `events` are told what changes, `notices` what is lost. By location,
/// recording ends at the time at which a process that still runs was `copied`.
///
/// # Errors
/// If the disk refuses.
pub(super) fn settle(
    directory: &Path,
    run: &Run<'_>,
    wanted: EventRecords,
    copied: &[Option<u64>],
    events: &mut [Events],
    notices: &mut Notices,
) -> Result<(), Error> {
    let tree = Tree::new(&run.contexts.nodes);
    let settle = |at: usize| {
        let Place { reference, process } = run.places[at];
        // Without a process it has no events.
        if process.is_none() {
            return Ok(Settled::default());
        }
        let path = layout::events(directory, reference);
        let walk = Walk::new(&tree, &run.contexts.of[at]);
        let end = copied[at];
        let anew = || Anew::begin(&path, &layout::kept(directory, reference), run.chunk_size(), end);
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
        let Settled { count, losses } = settled?;
        events.count = count.unwrap_or(events.count);
        notices.losses_of(place.reference, &losses);
    }
    Ok(())
}

/// What became of an event file.
#[derive(Default)]
struct Settled {
    /// Number of its events if it was written anew.
    count: Option<u64>,
    /// What of it is lost, as sentences.
    losses: Vec<String>,
}

fn settled_in_place(path: &Path, damage: Option<otf2::Error>) -> Result<Settled, Error> {
    let synced = File::open(path).and_then(|file| file.sync_all());
    synced.map_err(|cause| Error::io(path, "write the file", cause))?;
    Ok(Settled { count: None, losses: damage.map(|damage| damage.to_string()).into_iter().collect() })
}

/// An event file that is written anew.
struct Anew<'a> {
    path: &'a Path,
    /// The recorded one.
    recorded: FileBytes,
    chunk_size: u64,
    /// The time at which recording ends, if nothing is known behind it.
    end: Option<u64>,
    output: Output,
}

impl<'a> Anew<'a> {
    /// Begins with keeping the recorded one.
    fn begin(path: &'a Path, kept: &Path, chunk_size: u64, end: Option<u64>) -> Result<Self, Error> {
        rename(path, kept)?;
        let anchor = Anchor { event_chunk_size: chunk_size, byte_order: byte_order(), ..Anchor::default() };
        let output = Output { writer: EventWriter::create(path, &anchor)?, refused: 0 };
        Ok(Anew { path, recorded: FileBytes::open(kept)?, chunk_size, end, output })
    }

    /// Has `fill` write the new events; it answers where the recorded ones end before their time.
    fn write(
        mut self,
        fill: impl FnOnce(Recorded<'_>, &mut Output) -> Result<Option<Error>, Error>,
    ) -> Result<Settled, Error> {
        let events = EventCursor::new(&self.recorded, self.path, self.chunk_size);
        let damage = fill(Recorded { events, path: self.path, time: 0 }, &mut self.output)?;
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
        Ok(Settled { count: Some(self.output.writer.finish()?), losses })
    }
}

/// The events of a location as they were recorded, up to the first that makes no sense.
#[derive(Clone)]
pub(super) struct Recorded<'a> {
    pub(super) events: EventCursor<'a>,
    path: &'a Path,
    time: u64,
}

impl<'a> Recorded<'a> {
    /// The next event, or nothing behind the last.
    ///
    /// # Errors
    /// If it makes no sense: it cannot be decoded, or its time is before that of the event ahead of it.
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

/// Where new events go.
pub(super) struct Output {
    writer: EventWriter,
    /// How many events are left out because they make no sense.
    refused: u64,
}

impl Output {
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

    /// Leaves an event out.
    pub(super) fn refuse(&mut self) {
        self.refused += 1;
    }
}

fn rename(from: &Path, to: &Path) -> Result<(), Error> {
    fs::rename(from, to).map_err(|cause| Error::io(from, "rename the file", cause))
}

/// The results of some work on each of so many things, several at a time.
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
