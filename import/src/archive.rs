//! From the files of a trace to an archive.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use new_directory::{ANCHOR, NewDirectory, Replacing};
use otf2::{Anchor, ArchiveWriter, ByteOrder};
use tracing::debug;

use crate::definitions::{self, Parts};
use crate::error::{Error, Result};
use crate::events::Events;
use crate::header::Header;
use crate::pcf::Labels;
use crate::remarks::Remarks;
use crate::row::Names;
use crate::text::{Kind, Lines, Opened};
use crate::trace::Trace;

/// The files of a trace, with their names for messages.
pub struct Sources<'a> {
    /// Records: `FILE.prv`, maybe compressed by gzip.
    pub records: (PathBuf, Box<dyn Read + 'a>),
    /// Labels: `FILE.pcf`.
    pub labels: (PathBuf, Box<dyn Read + 'a>),
    /// Names: `FILE.row`, which need not be there.
    pub names: Option<(PathBuf, Box<dyn Read + 'a>)>,
}

impl std::fmt::Debug for Sources<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Sources").field(&self.records.0).finish()
    }
}

/// Size of what was read and written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Imported {
    /// Number of tasks, which are ranks.
    pub tasks: usize,
    /// Number of threads with events.
    pub threads: usize,
    /// Number of events that were written.
    pub events: u64,
    /// Number of messages.
    pub messages: u64,
    /// Bytes of text that were read.
    pub bytes: u64,
    /// What is not as it was.
    pub remarks: Remarks,
}

impl Sources<'static> {
    /// Opens `FILE.prv` or `FILE.prv.gz` with the files beside it.
    ///
    /// What cannot be opened is an error when it is read: if the trace is none, nobody needs its labels.
    pub fn open(path: &Path) -> Sources<'static> {
        let boxed = |file| Box::new(Opened::new(file)) as Box<dyn Read>;
        let (labels, names) = (beside(path, "pcf"), beside(path, "row"));
        let (of_labels, of_names) = (File::open(&labels), File::open(&names));
        let is_missing = of_names.as_ref().is_err_and(|cause| cause.kind() == ErrorKind::NotFound);
        Sources {
            records: (path.to_owned(), boxed(File::open(path))),
            labels: (labels, boxed(of_labels)),
            names: (!is_missing).then(|| (names, boxed(of_names))),
        }
    }
}

/// The file of a trace with another ending.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let is_compressed = path.extension().is_some_and(|ending| ending == "gz");
    let path = if is_compressed { path.with_extension("") } else { path.to_owned() };
    path.with_extension(ending)
}

/// Reads a trace, and writes it as the archive `traces.otf2` in a directory, which gets its name when it is complete. With
/// `replaces` it may replace an experiment.
///
/// # Errors
/// If a file is no trace or damaged, the directory is there already, or the disk refuses. Nothing is left then.
pub fn import(sources: Sources<'_>, directory: &Path, replaces: bool) -> Result<Imported> {
    let (path, records) = sources.records;
    let mut lines = Lines::new(Kind::Trace, &path, records)?;
    let header = match lines.next()? {
        Some(line) => Header::parse(line),
        None => Err(Header::missing("the end of the file")),
    };
    let header = header.map_err(|fault| lines.error(&fault))?;
    let labels = Labels::read(&sources.labels.0, sources.labels.1)?;
    if !labels.has_values() {
        return Err(labels.foreign("no names"));
    }
    let names = match sources.names {
        Some((path, names)) => Names::read(&path, names)?,
        None => Names::default(),
    };
    let replacing = Replacing { option: "--force", is_wanted: replaces };
    let new = NewDirectory::create(directory, "-o", Some(replacing))?;
    let spooled = temporary(new.part())?;
    let program = program(&path);
    let mut trace = Trace::new(&header, Events::new(labels, &program, threads(&header)), spooled, new.part());
    trace.read(&mut lines)?;
    debug!(bytes = lines.bytes(), messages = trace.messages, end = trace.end, "trace read");
    let anchor = anchor(&header, &program, &trace);
    let mut archive = ArchiveWriter::create(new.part().join(ANCHOR), anchor)?;
    let (locations, layers) = trace.write(&archive)?;
    let Trace { events, end, messages, .. } = &trace;
    definitions::write(
        &Parts { header: &header, names: &names, events, locations: &locations, layers, end: *end },
        &mut archive,
    )?;
    archive.finish()?;
    new.put_in_place()?;
    Ok(Imported {
        tasks: header.tasks.len(),
        threads: locations.len(),
        events: locations.iter().map(|written| written.events).sum(),
        messages: *messages,
        bytes: lines.bytes(),
        remarks: events.remarks,
    })
}

/// A file without a name, for what is needed until the archive is complete.
fn temporary(directory: &Path) -> Result<File> {
    tempfile::tempfile_in(directory).map_err(|cause| Error::io(directory, "create a temporary file", &cause))
}

/// The name of the program, as far as that of the trace tells.
fn program(path: &Path) -> String {
    let path = beside(path, "");
    path.file_name().map_or_else(|| "program".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// The number of threads of all tasks.
fn threads(header: &Header) -> usize {
    header.tasks.iter().map(|task| usize::try_from(task.threads).unwrap_or(0)).sum()
}

/// An anchor with chunks that are large enough for the largest definition, a group of all tasks.
fn anchor(header: &Header, program: &str, trace: &Trace<'_>) -> Anchor {
    const MOST_BYTES_OF_A_NUMBER: u64 = 9;
    const BYTES_OF_OTHER_FIELDS: u64 = 100_000;
    let largest =
        (header.tasks.len() as u64 * MOST_BYTES_OF_A_NUMBER + BYTES_OF_OTHER_FIELDS).next_power_of_two();
    Anchor {
        byte_order: ByteOrder::Little,
        definition_chunk_size: largest.clamp(*otf2::CHUNK_SIZES.start(), *otf2::CHUNK_SIZES.end()),
        creator: format!("replay-import {}", env!("CARGO_PKG_VERSION")),
        description: format!("{program}, imported from Paraver"),
        // Different traces have different numbers, and one has the same again.
        trace_id: trace.end.rotate_left(32) ^ trace.messages ^ header.tasks.len() as u64,
        ..Anchor::default()
    }
}
