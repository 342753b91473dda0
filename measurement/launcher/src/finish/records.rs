//! The records of events as the archive has them, made of those that were recorded.
//!
//! What the paths of a location mean is known only when all paths are. So event files that are complete are gone through
//! once more, several at a time: distances are corrected in their places ([`distances`]). Where that is not enough the file
//! is written anew. Until the anchor is there, the recorded one is kept among what is removed then; whoever does this again
//! begins with putting it back, and comes to the same result.

use super::distances::{self, Correction, correct_event};
use super::events::Events;
use super::notices::Notices;
use super::run::{Place, Run, byte_order};
use super::tree::{Tree, Walk};
use crate::Error;
use otf2::{Anchor, EventCursor, EventWriter, FileBytes};
use recording::layout;
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

/// Makes the records of all event files fit the archive; `events` are told what changes, `notices` what is lost.
///
/// # Errors
/// If the disk refuses.
pub(super) fn settle(
    directory: &Path,
    run: &Run<'_>,
    events: &mut [Events],
    notices: &mut Notices,
) -> Result<(), Error> {
    let tree = Tree::new(&run.contexts.nodes);
    let settle = |at: usize| {
        let Place { reference, process } = run.places[at];
        // Without a process it has no events.
        process.map_or(Ok(Settled::default()), |_| {
            let path = layout::events(directory, reference);
            let walk = Walk::new(&tree, &run.contexts.of[at]);
            match distances::correct(&path, run.chunk_size(), walk.clone())? {
                Correction::Done(damage) => settled_in_place(&path, damage),
                Correction::NotInPlace => {
                    write_anew(&path, &layout::kept(directory, reference), run.chunk_size(), walk)
                }
            }
        })
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

/// Writes an event file anew and keeps the recorded one.
fn write_anew(path: &Path, kept: &Path, chunk_size: u64, mut walk: Walk<'_>) -> Result<Settled, Error> {
    rename(path, kept)?;
    let bytes = FileBytes::open(kept)?;
    let anchor = Anchor { event_chunk_size: chunk_size, byte_order: byte_order(), ..Anchor::default() };
    let mut writer = EventWriter::create(path, &anchor)?;
    let mut events = EventCursor::new(&bytes, path, chunk_size);
    let (mut refused, mut losses) = (0, Vec::new());
    loop {
        match events.next() {
            Ok(Some(mut record)) => {
                if correct_event(&mut record.event, &mut walk).is_err() {
                    refused += 1;
                    continue;
                }
                match writer.write(record.time, record.event, record.attributes) {
                    Err(error) if std::error::Error::source(&error).is_some() => return Err(error.into()),
                    Err(_) => refused += 1,
                    Ok(()) => {}
                }
            }
            Ok(None) => break,
            Err(damage) => {
                losses.push(format!("{damage}; what follows is left out"));
                break;
            }
        }
    }
    if refused > 0 {
        losses.push(format!("{}: {refused} events make no sense and are left out", path.display()));
    }
    Ok(Settled { count: Some(writer.finish()?), losses })
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
