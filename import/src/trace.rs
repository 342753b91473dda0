//! A trace on its way: its records go into the spool, by thread and by task; then each task is written from it.

use std::fs::File;
use std::io;
use std::path::Path;

use otf2::ArchiveWriter;

use crate::definitions::{Written, location};
use crate::error::{Error, Result};
use crate::events::{Events, Failure};
use crate::header::Header;
use crate::location::{Around, Location};
use crate::messages::{self, Paired};
use crate::placing::{Place, Side};
use crate::records::{Message, Record, Thread, parse};
use crate::spool::Spool;
use crate::text::Lines;

/// A trace while it is read and written.
pub(crate) struct Trace<'h> {
    header: &'h Header,
    pub(crate) events: Events,
    spool: Spool,
    /// Where the spool is, for messages.
    place: &'h Path,
    /// Position of the first thread of each task among all threads.
    firsts: Vec<usize>,
    /// The number of threads of all tasks: streams of the spool behind theirs have the messages of tasks.
    threads: usize,
    /// The number of messages.
    pub(crate) messages: u64,
    /// The last time of an event or a message.
    last: u64,
    /// The end: that of the header, or the last time if that is later.
    pub(crate) end: u64,
    item: Vec<u8>,
}

impl<'h> Trace<'h> {
    pub(crate) fn new(header: &'h Header, events: Events, file: File, place: &'h Path) -> Trace<'h> {
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
            last: 0,
            end: header.end,
            item: Vec::new(),
        }
    }

    /// Reads all records into the spool.
    pub(crate) fn read(&mut self, lines: &mut Lines<'_>) -> Result<()> {
        while let Some(line) = lines.next()? {
            if let Err(failure) = self.take(line) {
                return Err(self.error(failure, lines));
            }
        }
        self.end = self.end.max(self.last);
        // A trace may go on for a moment without records, and may have none.
        if self.last > 0 && self.last < self.header.end - self.header.end / 100 {
            self.events.remarks.cut = Some((self.last, self.header.end));
        }
        self.events.finish(self.end, &mut self.spool).map_err(|failure| self.error(failure, lines))
    }

    #[cold]
    fn error(&self, failure: Failure, lines: &Lines<'_>) -> Error {
        match failure {
            Failure::Fault(fault) => lines.error(&fault),
            Failure::Foreign => {
                self.events.labels.foreign("no function of MPI, though the trace has calls of MPI")
            }
            Failure::Io(cause) => Error::io(self.place, "write a temporary file", &cause),
        }
    }

    #[inline]
    fn take(&mut self, line: &[u8]) -> std::result::Result<(), Failure> {
        match parse(line, &self.header.tasks)? {
            Record::Skipped => Ok(()),
            Record::Event { thread, time, values } => {
                self.reach(time);
                let stream = self.stream(thread);
                self.events.take((thread, stream), time, values, &mut self.spool)
            }
            Record::Message(message) => Ok(self.message(message)?),
            Record::Communicator => Ok(self.events.communicators.add(line, self.header.tasks.len())?),
        }
    }

    /// Takes the last time of an event or a message.
    #[inline]
    fn reach(&mut self, time: u64) {
        self.last = self.last.max(time);
        self.events.remarks.behind_end += u64::from(time > self.header.end);
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
        self.reach(message.completed.max(send_end));
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
    pub(crate) fn write(&mut self, archive: &ArchiveWriter) -> Result<(Vec<Written>, u32)> {
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
