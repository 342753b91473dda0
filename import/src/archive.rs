//! From the files of a trace to an archive: the records go into the spool, by thread and by task; then each task is
//! written from it.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use otf2::{Anchor, ArchiveWriter, ByteOrder};
use tracing::debug;

use crate::definitions::{self, Parts, Written, location};
use crate::directory::NewDirectory;
use crate::error::{Error, Result};
use crate::events::{Events, Failure};
use crate::header::Header;
use crate::location::{Around, Location};
use crate::messages::{self, Paired};
use crate::pcf::Labels;
use crate::placing::{Place, Side};
use crate::records::{Message, Record, Thread, parse};
use crate::remarks::Remarks;
use crate::row::Names;
use crate::spool::Spool;
use crate::text::Lines;

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
    /// # Errors
    /// If the trace or its labels cannot be opened.
    pub fn open(path: &Path) -> Result<Sources<'static>> {
        let open = |path: PathBuf| match File::open(&path) {
            Ok(file) => Ok((path, Box::new(file) as Box<dyn Read>)),
            Err(cause) => Err((path, cause)),
        };
        let records = open(path.to_owned())
            .map_err(|(path, cause)| Error::file(&path, format_args!("cannot open the trace: {cause}")))?;
        let labels = open(beside(path, "pcf")).map_err(|(path, cause)| {
            let advice = "it has the names of all functions, and lies beside the trace: copy it there";
            Error::file(&path, format_args!("cannot open the labels of the trace: {cause}; {advice}"))
        })?;
        let names = match open(beside(path, "row")) {
            Ok(names) => Some(names),
            Err((_, cause)) if cause.kind() == ErrorKind::NotFound => None,
            Err((path, cause)) => {
                return Err(Error::file(&path, format_args!("cannot open the names of the trace: {cause}")));
            }
        };
        Ok(Sources { records, labels, names })
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
    let mut lines = Lines::new(&path, records)?;
    let header = match lines.next()? {
        Some(line) => Header::parse(line),
        None => Header::parse(b""),
    };
    let header = header.map_err(|fault| lines.error(&fault))?;
    let labels = Labels::read(&sources.labels.0, sources.labels.1)?;
    let names = match sources.names {
        Some((path, names)) => Names::read(&path, names)?,
        None => Names::default(),
    };
    let new = NewDirectory::create(directory, replaces)?;
    let program = program(&path);
    let mut trace =
        Trace::new(&header, Events::new(labels, &program, threads(&header)), new.temporary()?, new.part());
    trace.read(&mut lines)?;
    debug!(bytes = lines.bytes(), messages = trace.messages, end = trace.end, "trace read");
    let anchor = anchor(&header, &program, &trace);
    let mut archive = ArchiveWriter::create(new.anchor(), anchor)?.unsynced();
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

/// A trace while it is read and written.
struct Trace<'h> {
    header: &'h Header,
    events: Events,
    spool: Spool,
    /// Where the spool is, for messages.
    place: &'h Path,
    /// Position of the first thread of each task among all threads.
    firsts: Vec<usize>,
    /// The number of threads of all tasks: streams of the spool behind theirs have the messages of tasks.
    threads: usize,
    messages: u64,
    /// The last time.
    end: u64,
    item: Vec<u8>,
}

impl<'h> Trace<'h> {
    fn new(header: &'h Header, events: Events, file: File, place: &'h Path) -> Trace<'h> {
        let mut firsts = Vec::with_capacity(header.tasks.len());
        let mut threads = 0;
        for task in &header.tasks {
            firsts.push(threads);
            threads += usize::try_from(task.threads).unwrap_or(0);
        }
        let spool = Spool::new(file, threads + firsts.len());
        Trace {
            header,
            events,
            spool,
            place,
            firsts,
            threads,
            messages: 0,
            end: header.end,
            item: Vec::new(),
        }
    }

    /// Reads all records into the spool.
    fn read(&mut self, lines: &mut Lines<'_>) -> Result<()> {
        while let Some(line) = lines.next()? {
            if let Err(failure) = self.take(line) {
                return Err(self.error(failure, lines));
            }
        }
        self.events.finish(self.end, &mut self.spool).map_err(|failure| self.error(failure, lines))
    }

    #[cold]
    fn error(&self, failure: Failure, lines: &Lines<'_>) -> Error {
        match failure {
            Failure::Fault(fault) => lines.error(&fault),
            Failure::Io(cause) => {
                Error::io(self.place, "write a temporary file; choose another place with -o", &cause)
            }
        }
    }

    #[inline]
    fn take(&mut self, line: &[u8]) -> std::result::Result<(), Failure> {
        match parse(line, &self.header.tasks)? {
            Record::Skipped => Ok(()),
            Record::Event { thread, time, values } => {
                self.end = self.end.max(time);
                let stream = self.stream(thread);
                self.events.take((thread, stream), time, values, &mut self.spool)
            }
            Record::Message(message) => Ok(self.message(message)?),
            Record::Communicator => Ok(self.events.communicators.add(line, self.header.tasks.len())?),
        }
    }

    fn stream(&self, thread: Thread) -> usize {
        let first =
            usize::try_from(thread.task).ok().and_then(|task| self.firsts.get(task)).copied().unwrap_or(0);
        first + usize::try_from(thread.thread).unwrap_or(0)
    }

    /// Appends a message to the streams of both tasks.
    fn message(&mut self, message: Message) -> io::Result<()> {
        self.messages += 1;
        self.events.remarks.backward += u64::from(message.completed < message.sent);
        // A call is over after it has begun.
        let send_end = message.send_end.max(message.sent);
        let posted = message.posted.min(message.completed);
        let message = Message { send_end, posted, ..message };
        self.end = self.end.max(message.completed).max(send_end);
        self.item.clear();
        messages::encode(&message, &mut self.item);
        let stream = |task| self.threads + usize::try_from(task).unwrap_or(0);
        let (sender, receiver) = (stream(message.sender.task), stream(message.receiver.task));
        self.spool.push(sender, &self.item)?;
        if sender != receiver {
            self.spool.push(receiver, &self.item)?;
        }
        Ok(())
    }

    /// Writes the events of all threads; returns those, and the number of communicators of messages.
    fn write(&mut self, archive: &ArchiveWriter) -> Result<(Vec<Written>, u32)> {
        let mut written = Vec::new();
        let mut layers = 1;
        for (task, of_task) in (0..).zip(&self.header.tasks) {
            let stream = self.threads + usize::try_from(task).unwrap_or(0);
            let failed = |cause| Error::io(self.place, "read a temporary file", &cause);
            let messages = messages::read(&self.spool, stream).map_err(failed)?;
            layers =
                layers.max(messages.iter().map(|paired| paired.layer.saturating_add(1)).max().unwrap_or(1));
            self.events.remarks.overtaking += messages
                .iter()
                .filter(|paired| paired.layer > 0 && paired.message.sender.task == task)
                .count() as u64;
            let mut sides = sides(&messages, task).into_iter().peekable();
            for thread in 0..of_task.threads.max(1) {
                let thread = Thread { task, thread };
                let position = self.stream(thread);
                let of_thread: Vec<Side> =
                    std::iter::from_fn(|| sides.next_if(|side| side.0 == thread.thread).map(|side| side.1))
                        .collect();
                // Every task has its first thread, which its rank needs; others only if something happens there.
                let is_needed = thread.thread == 0 || !of_thread.is_empty() || !self.spool.is_empty(position);
                if !is_needed {
                    continue;
                }
                let writer = archive.events(location(thread))?;
                // OTF2's own reader misses it, though nothing is in it.
                archive.local_definitions(location(thread))?.finish()?;
                let around = Around { spool: &self.spool, place: self.place, end: self.end };
                let steps = if of_task.threads == 0 { usize::MAX } else { position };
                let events =
                    Location::new(&mut self.events, writer, &messages).write(steps, of_thread, &around)?;
                written.push(Written { thread, position, events });
            }
        }
        Ok((written, layers))
    }
}

/// The sides of messages at a task, with the thread of each, in the order of threads.
fn sides(messages: &[Paired], task: u32) -> Vec<(u32, Side)> {
    let none = Place::default();
    let mut sides = Vec::new();
    for (message, Paired { message: it, .. }) in (0..).zip(messages) {
        let mut push = |thread: Thread, is_send, begin, end| {
            if thread.task == task {
                sides.push((thread.thread, Side { message, is_send, begin, end, begins: none, ends: none }));
            }
        };
        push(it.sender, true, it.sent, it.send_end);
        push(it.receiver, false, it.posted, it.completed);
    }
    sides.sort_by_key(|side| side.0);
    sides
}
