//! Unwind distances for the calling contexts of the archive.
//!
//! The recorder counts native frames. Here frames have become several contexts, where functions are inlined,
//! or none, and return addresses on one line have become one context. A distance is the number of new
//! contexts, so it follows from the contexts of an event and of the one before; the recorded distance does
//! not matter, and doing it again changes nothing. Nearly all distances keep their width, so an event file is
//! corrected in place.

use super::buffers::order_mark;
use super::records::{EventOutput, RecordedEvents};
use super::tree::{PathWalk, UnknownContext};
use crate::Error;
use otf2::{Event, EventCursor, FileBytes};
use std::fs::{File, OpenOptions};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// The result of correcting an event file.
pub(super) enum Correction {
    /// All distances are right, up to the first damaged record if there is one.
    Done(Option<otf2::Error>),
    /// A distance does not fit in its place, or a calling context is unknown.
    NotInPlace,
}

/// Corrects the distances in an event file.
///
/// # Errors
/// If the disk refuses.
pub(super) fn correct(path: &Path, chunk_size: u64, mut walk: PathWalk<'_>) -> Result<Correction, Error> {
    let bytes = FileBytes::open(path)?;
    let mut patches = Patches::new(path, &bytes, chunk_size)?;
    let mut events = EventCursor::new(&bytes, path, chunk_size);
    let damage = loop {
        let head = match events.head() {
            Ok(Some(head)) => head,
            Ok(None) => break None,
            Err(damage) => break Some(damage),
        };
        if !head.is_of_calling_context() && !head.switches_tasks() {
            match events.step_over(head) {
                Ok(()) => continue,
                Err(damage) => break Some(damage),
            }
        }
        let mut event = match events.event(head) {
            Ok(event) => event,
            Err(damage) => break Some(damage),
        };
        let recorded = event;
        if correct_event(&mut event, &mut walk).is_err() {
            return Ok(Correction::NotInPlace);
        }
        if let Event::CallingContextEnter { unwind_distance, .. }
        | Event::CallingContextSample { unwind_distance, .. } = event
            && event != recorded
            && !patches.put(head.offset as usize, unwind_distance)?
        {
            return Ok(Correction::NotInPlace);
        }
    };
    patches.write()?;
    Ok(Correction::Done(damage))
}

/// Copies events with corrected distances of any width; returns the problem that ended it, if there was one.
///
/// # Errors
/// If the disk refuses.
pub(super) fn copy(
    mut recorded: RecordedEvents<'_>,
    mut walk: PathWalk<'_>,
    output: &mut EventOutput,
) -> Result<Option<Error>, Error> {
    loop {
        match recorded.next() {
            Ok(Some(mut record)) => match correct_event(&mut record.event, &mut walk) {
                Ok(()) => output.put(record.time, record.event, record.attributes)?,
                Err(UnknownContext) => output.refuse(),
            },
            end => return Ok(end.err()),
        }
    }
}

/// Sets the unwind distance of an event, if it has one.
///
/// # Errors
/// If its calling context is unknown.
fn correct_event(event: &mut Event<'_>, walk: &mut PathWalk<'_>) -> Result<(), UnknownContext> {
    let step = walk.step(event)?;
    if let Event::CallingContextEnter { unwind_distance, .. }
    | Event::CallingContextSample { unwind_distance, .. } = event
        && let Some(step) = step
    {
        *unwind_distance = walk.tree.distance(step);
    }
    Ok(())
}

/// Changes to a file that are written chunk by chunk.
struct Patches<'a> {
    file: File,
    path: &'a Path,
    bytes: &'a [u8],
    chunk_size: u64,
    /// Offset of the chunk of the last changes, its changed bytes, and the range of these that differs from
    /// the disk.
    chunk: usize,
    copy: Vec<u8>,
    changed: Range<usize>,
}

impl<'a> Patches<'a> {
    fn new(path: &'a Path, bytes: &'a [u8], chunk_size: u64) -> Result<Self, Error> {
        let file = OpenOptions::new().write(true).open(path);
        let file = file.map_err(|cause| Error::io(path, "open the file", cause))?;
        Ok(Patches { file, path, bytes, chunk_size, chunk: 0, copy: Vec::new(), changed: 0..0 })
    }

    /// Replaces the distance of the record at an offset; returns whether it fits there.
    fn put(&mut self, record: usize, distance: u32) -> Result<bool, Error> {
        let size = self.chunk_size as usize;
        let chunk = record / size * size;
        let is_own_order = self.bytes.get(chunk + 1) == Some(&order_mark());
        let Some(place) = place(self.bytes, record).filter(|_| is_own_order) else { return Ok(false) };
        let Some(number) = number(distance, place.len()) else { return Ok(false) };
        if chunk != self.chunk || self.copy.is_empty() {
            self.write()?;
            self.chunk = chunk;
            self.copy.clear();
            self.copy.extend_from_slice(&self.bytes[chunk..self.bytes.len().min(chunk + size)]);
        }
        let place = place.start - chunk..place.end - chunk;
        let Some(bytes) = self.copy.get_mut(place.clone()) else { return Ok(false) };
        bytes.copy_from_slice(&number);
        self.changed = match self.changed.is_empty() {
            true => place,
            false => self.changed.start..place.end,
        };
        Ok(true)
    }

    /// Writes the changes.
    fn write(&mut self) -> Result<(), Error> {
        let changed = std::mem::take(&mut self.changed);
        let at = (self.chunk + changed.start) as u64;
        let written = self.file.write_all_at(&self.copy[changed], at);
        written.map_err(|cause| Error::io(self.path, "write the file", cause))
    }
}

/// Returns the range of the distance in the record of an enter or a sample: behind the record's type, its
/// length, the context, and the size of the distance (`formats/otf2/FORMAT.md`, "Primitives").
fn place(file: &[u8], record: usize) -> Option<Range<usize>> {
    const LONG: u8 = 0xff;
    let length = record + 1;
    let context = length + if *file.get(length)? == LONG { 9 } else { 1 };
    let distance = behind_number(file, context)?;
    let end = behind_number(file, distance)?;
    Some(distance + 1..end).filter(|place| !place.is_empty())
}

/// Returns the offset behind a compressed integer of 32 bits.
fn behind_number(file: &[u8], at: usize) -> Option<usize> {
    const ALL_ONES: u8 = 0xff;
    match *file.get(at)? {
        size @ 0..=4 => Some(at + 1 + usize::from(size)),
        ALL_ONES => Some(at + 1),
        _ => None,
    }
}

/// Returns an integer in so many bytes, if it fits.
fn number(value: u32, bytes: usize) -> Option<Vec<u8>> {
    let fits = bytes >= 4 || value < 1 << (8 * bytes);
    let all = value.to_ne_bytes();
    let own = if cfg!(target_endian = "big") { all.get(4 - bytes.min(4)..) } else { all.get(..bytes) };
    own.filter(|_| fits).map(Into::into)
}
