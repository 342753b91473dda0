//! Event files: the full chunks that a thread has written, and the rest from its buffer behind them.
//!
//! Everything here can be done again with the same result, because the buffer stays until the archive is
//! complete: the file is cut behind its full chunks, and the last chunk is written there. Events are only
//! copied here (`records` corrects them later), and the copy is read once, so that a buffer that the program
//! has damaged spoils nothing before the damage.

use super::buffers::{self, Buffer, CHUNK_HEADER, order_mark};
use crate::Error;
use otf2::{Event, EventCursor};
use recording::layout;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// The last two bytes of an event file: end of file, end of buffer.
const END_MARKS: [u8; 2] = [2, 1];

/// A complete event file.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct EventFileSummary {
    /// Number of events.
    pub(crate) count: u64,
    /// Times of the first and last event, in ticks of the process.
    pub(crate) times: Option<(u64, u64)>,
    /// Size of the file.
    pub(crate) bytes: u64,
    /// Sentences about what is lost.
    pub(crate) losses: Vec<String>,
}

/// Completes the event file of a location.
///
/// # Errors
/// If the disk refuses. Missing or damaged events are no error, but in the `losses` of the result.
pub(crate) fn complete(directory: &Path, location: u64, chunk_size: u64) -> Result<EventFileSummary, Error> {
    let mut losses = Vec::new();
    let buffer = buffers::read(directory, location, chunk_size).unwrap_or_else(|problem| {
        losses.push(format!("its buffer is of no use ({problem})"));
        None
    });
    let path = layout::events(directory, location);
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create(true).truncate(false).open(&path);
    let mut file = EventFile {
        file: file.map_err(|cause| Error::io(&path, "open the file", cause))?,
        path: &path,
        chunk_size,
    };
    match buffer {
        Some(Buffer { has_ended: true, .. }) if file.is_whole()? => {}
        // Without a buffer: a file that was completed before stays, another has lost its last events.
        None if file.is_whole()? => {}
        Some(buffer) if !buffer.has_ended => file.append(&buffer, &mut losses)?,
        without => {
            if without.is_some() || file.length()? > 0 {
                losses.push(format!("{} has no end: what came last is missing", path.display()));
            } else if losses.is_empty() && layout::rank_and_thread(location).1 == 0 {
                // Each process has one of its first thread.
                losses.push("there is neither a buffer nor a file of its events".into());
            }
            let chunks = file.length()? / chunk_size;
            let nothing = Buffer { chunks, ..Buffer::default() };
            file.append(&nothing, &mut losses)?;
        }
    }
    let (count, times) = file.summary()?;
    Ok(EventFileSummary { count, times, bytes: file.length()?, losses })
}

/// Whether there is something with events of a location.
pub(crate) fn is_there(directory: &Path, location: u64) -> bool {
    let has_bytes = |path: &Path| fs::metadata(path).is_ok_and(|status| status.len() > 0);
    has_bytes(&layout::buffer(directory, location)) || has_bytes(&layout::events(directory, location))
}

/// Replaces an event file by one without events.
///
/// # Errors
/// If the disk refuses.
pub(crate) fn clear(directory: &Path, location: u64) -> Result<EventFileSummary, Error> {
    let path = layout::events(directory, location);
    let bytes = [&chunk_header(1, 0)[..], &END_MARKS].concat();
    fs::write(&path, &bytes).map_err(|cause| Error::io(&path, "write the file", cause))?;
    Ok(EventFileSummary { bytes: bytes.len() as u64, ..EventFileSummary::default() })
}

/// An event file that may lack its end.
struct EventFile<'a> {
    file: File,
    path: &'a Path,
    chunk_size: u64,
}

impl EventFile<'_> {
    fn length(&self) -> Result<u64, Error> {
        let status = self.file.metadata();
        Ok(status.map_err(|cause| Error::io(self.path, "read the file", cause))?.len())
    }

    /// Returns the bytes of a chunk, as many as there are.
    fn chunk(&self, number: u64) -> Result<Vec<u8>, Error> {
        let begin = number.saturating_mul(self.chunk_size);
        let size = self.length()?.saturating_sub(begin).min(self.chunk_size);
        let mut bytes = vec![0; size as usize];
        let read = self.file.read_exact_at(&mut bytes, begin);
        read.map_err(|cause| Error::io(self.path, "read the file", cause))?;
        Ok(bytes)
    }

    /// Returns the numbers of the first and last event of a full chunk.
    fn numbers(&self, chunk: u64) -> Result<Option<(u64, u64)>, Error> {
        let begin = chunk.saturating_mul(self.chunk_size);
        if self.length()? < begin.saturating_add(self.chunk_size) {
            return Ok(None);
        }
        let mut header = [0; CHUNK_HEADER];
        let read = self.file.read_exact_at(&mut header, begin);
        read.map_err(|cause| Error::io(self.path, "read the file", cause))?;
        let number = |at: usize| header[at..].first_chunk().copied().map_or(0, u64::from_ne_bytes);
        let is_header = header[..2] == [3, order_mark()] && number(2) >= 1 && number(10) >= number(2) - 1;
        Ok(is_header.then(|| (number(2), number(10))))
    }

    /// Whether the file has its end mark.
    fn is_whole(&self) -> Result<bool, Error> {
        let length = self.length()?;
        if length == 0 {
            return Ok(false);
        }
        let last = self.chunk((length - 1) / self.chunk_size)?;
        let mut events = EventCursor::new(&last, self.path, self.chunk_size);
        loop {
            match events.next() {
                Ok(Some(_)) => {}
                Ok(None) => return Ok(true),
                Err(_) => return Ok(false),
            }
        }
    }

    /// Cuts the file behind its full chunks and appends the records of the buffer, and the end.
    fn append(&mut self, buffer: &Buffer, losses: &mut Vec<String>) -> Result<(), Error> {
        let mut kept = buffer.chunks.min(self.length()? / self.chunk_size);
        while kept > 0 && self.numbers(kept - 1)?.is_none() {
            kept -= 1;
        }
        if kept < buffer.chunks {
            let (path, announced) = (self.path.display(), buffer.chunks);
            losses.push(format!("{path} has {kept} of {announced} chunks"));
        }
        let mut last = if kept == 0 { 0 } else { self.numbers(kept - 1)?.map_or(0, |(_, last)| last) };
        let mut records = &buffer.records[..];
        if kept > 0 && !records.is_empty() {
            // The process died after it had counted the chunk, and before it began the next one.
            let written = self.chunk(kept - 1)?;
            if written.get(CHUNK_HEADER..).is_some_and(|written| written.starts_with(records)) {
                records = &[];
            }
        }
        if records.is_empty()
            && let Some((first, next_last)) = self.numbers(kept)?
            && first == last + 1
            && next_last >= first
            && kept == buffer.chunks
        {
            // It died after it had begun the next chunk, and before it had counted the one before.
            (kept, last) = (kept + 1, next_last);
        }
        let (length, count) = intact(records, self.path, self.chunk_size);
        if length < records.len() {
            let lost = records.len() - length;
            losses.push(format!("its buffer is damaged: the last {lost} bytes of events are of no use"));
        }
        // The event that was being recorded may be counted already.
        let announced = buffer.events.saturating_sub(buffer.first_event.saturating_sub(1));
        if !records.is_empty() && length == records.len() && count + 1 < announced {
            losses.push(format!("its buffer is damaged: it has {count} of {announced} events"));
        }
        if !records.is_empty() && buffer.first_event > last + 1 {
            losses.push(format!("{} events are missing before its last ones", buffer.first_event - last - 1));
        }
        let mut tail = chunk_header(last + 1, last + count).to_vec();
        tail.extend(&records[..length]);
        if tail.len() + END_MARKS.len() > self.chunk_size as usize {
            tail.resize(self.chunk_size as usize, 0);
            tail.extend(chunk_header(last + count + 1, last + count));
        }
        tail.extend(END_MARKS);
        let begin = kept * self.chunk_size;
        let done = self.file.set_len(begin).and_then(|()| self.file.write_all_at(&tail, begin));
        done.map_err(|cause| Error::io(self.path, "write the file", cause))
    }

    /// Returns the number of events of a whole file, and the times of the first and the last.
    fn summary(&self) -> Result<(u64, Option<(u64, u64)>), Error> {
        let mut number = (self.length()?.saturating_sub(1)) / self.chunk_size;
        let mut last = self.read(number)?;
        let before = if number == 0 { 0 } else { self.numbers(number - 1)?.map_or(0, |(_, last)| last) };
        let count = before + last.count;
        while last.times.is_none() && number > 0 {
            number -= 1;
            last = self.read(number)?;
        }
        let first = if number == 0 { last.times } else { self.read(0)?.times };
        Ok((count, first.zip(last.times).map(|((first, _), (_, last))| (first, last.max(first)))))
    }

    fn read(&self, chunk: u64) -> Result<ChunkEvents, Error> {
        let bytes = self.chunk(chunk)?;
        Ok(read_events(&bytes, self.path, self.chunk_size))
    }
}

/// The result of reading a chunk.
#[derive(Default)]
struct ChunkEvents {
    count: u64,
    times: Option<(u64, u64)>,
    /// Offset of the damage, if there is some.
    error: Option<u64>,
}

/// Reads the events of one chunk.
fn read_events(chunk: &[u8], path: &Path, chunk_size: u64) -> ChunkEvents {
    let mut read = ChunkEvents::default();
    let mut before = 0;
    let mut events = EventCursor::new(chunk, path, chunk_size);
    loop {
        match events.next() {
            // Clocks do not go back, and no reader accepts it if they do.
            Ok(Some(record)) if record.time < before => {
                return ChunkEvents { error: Some(record.offset), ..read };
            }
            Ok(Some(record)) => {
                before = record.time;
                let mut last = record.time;
                if let Event::BufferFlush { stop_time } = record.event {
                    last = last.max(stop_time.0);
                }
                let (first, so_far) = read.times.unwrap_or((record.time, 0));
                read.times = Some((first, last.max(so_far)));
                read.count += 1;
            }
            Ok(None) => return read,
            Err(error) => return ChunkEvents { error: error.offset(), ..read },
        }
    }
}

/// Returns how many bytes of the records are intact, and the number of their events.
fn intact(records: &[u8], path: &Path, chunk_size: u64) -> (usize, u64) {
    let mut length = records.len();
    loop {
        // A chunk of its own, whatever its size, so that the end mark has a place.
        let chunk = [&chunk_header(1, 0)[..], &records[..length], &END_MARKS].concat();
        let read = read_events(&chunk, path, chunk_size + END_MARKS.len() as u64);
        let end = chunk.len() - END_MARKS.len();
        match read.error {
            Some(at) if length > 0 => {
                // Each round is shorter than the one before, whatever the error's offset is.
                length = (at as usize).clamp(CHUNK_HEADER, end - 1) - CHUNK_HEADER;
            }
            _ => return (length, read.count),
        }
    }
}

fn chunk_header(first: u64, last: u64) -> [u8; CHUNK_HEADER] {
    let mut header = [0; CHUNK_HEADER];
    header[..2].copy_from_slice(&[3, order_mark()]);
    header[2..10].copy_from_slice(&first.to_ne_bytes());
    header[10..].copy_from_slice(&last.to_ne_bytes());
    header
}
