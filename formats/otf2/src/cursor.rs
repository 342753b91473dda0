//! Event cursor: decodes the events of one location in file order.
//!
//! Guarantee: no input makes a cursor panic or loop, it allocates only for an error, and after an error it is
//! finished. Every complete record before a cut or corrupt one is delivered. Times and references are as in
//! the file; [`Event::map`] and [`ClockCorrection`](crate::ClockCorrection) make them global. The format
//! demands that times do not decrease; the cursor does not check it.

use crate::Error;
use crate::chunk::ChunkReader;
use crate::event::Event;
use crate::field::Field;
use crate::record::{
    ATTRIBUTE_LIST, CALLING_CONTEXT_ENTER, CALLING_CONTEXT_SAMPLE, CHUNK_HEADER, END_OF_BUFFER, END_OF_CHUNK,
    END_OF_FILE, ENTER, FileKind, LEAVE, THREAD_JOIN, THREAD_TASK_COMPLETE, THREAD_TASK_SWITCH,
    THREAD_TEAM_BEGIN, TIMESTAMP,
};
use crate::region_events::RegionEvents;
use crate::value::Attributes;
use std::path::Path;

/// An event with its position, time and attributes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EventRecord<'a> {
    /// Number of the event within its location, from 1. Events of unknown kind count.
    pub position: u64,
    /// Offset of the record in its file, in bytes.
    pub offset: u64,
    /// Ticks on the clock of the location.
    pub time: u64,
    /// Attributes of the event.
    pub attributes: Attributes<'a>,
    /// The decoded record.
    pub event: Event<'a>,
}

/// Head of an event: what is known before it is decoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventHead {
    /// Ticks on the clock of the location.
    pub time: u64,
    /// Offset of the record in its file, in bytes.
    pub offset: u64,
    id: u8,
}

impl EventHead {
    /// Whether it is an [`Event::Enter`].
    #[inline(always)]
    pub fn enters(&self) -> bool {
        self.id == ENTER
    }

    /// Whether it is an [`Event::Leave`].
    #[inline(always)]
    pub fn leaves(&self) -> bool {
        self.id == LEAVE
    }

    /// Whether it is [`Event::CallingContextEnter`], [`Event::CallingContextLeave`] or
    /// [`Event::CallingContextSample`].
    #[inline]
    pub fn is_of_calling_context(&self) -> bool {
        (CALLING_CONTEXT_ENTER..=CALLING_CONTEXT_SAMPLE).contains(&self.id)
    }

    /// Whether it is an [`Event::ThreadTeamBegin`], which may have to wait for another location.
    #[inline]
    pub fn begins_team(&self) -> bool {
        self.id == THREAD_TEAM_BEGIN
    }

    /// Whether it is an [`Event::ThreadTaskSwitch`] or [`Event::ThreadTaskComplete`], from which on calling contexts are
    /// those of another task.
    #[inline]
    pub fn switches_tasks(&self) -> bool {
        (THREAD_TASK_SWITCH..=THREAD_TASK_COMPLETE).contains(&self.id)
    }

    /// Whether it is an [`Event::ThreadJoin`], which follows events of other locations at the same time.
    #[inline]
    pub fn joins(&self) -> bool {
        self.id == THREAD_JOIN
    }
}

/// Steps through an event file.
#[derive(Clone, Debug)]
pub struct EventCursor<'a> {
    chunks: ChunkReader<'a>,
    time: u64,
    position: u64,
    /// Attributes of the next event.
    attributes: Attributes<'a>,
}

impl<'a> EventCursor<'a> {
    /// Starts before the first event of a file; `path` is for messages, `chunk_size` comes from the anchor.
    pub fn new(file: &'a [u8], path: &'a Path, chunk_size: u64) -> Self {
        let chunks = ChunkReader::new(file, path, chunk_size);
        EventCursor { chunks, time: 0, position: 0, attributes: Attributes::EMPTY }
    }

    /// Returns the next event, or `None` behind the last and after an error.
    ///
    /// # Errors
    /// If the file is corrupt or ends without its end mark.
    #[inline]
    #[allow(clippy::should_implement_trait)] // The iterator would have to transpose every result.
    pub fn next(&mut self) -> Result<Option<EventRecord<'a>>, Error> {
        let Some(head) = self.head()? else { return Ok(None) };
        let event = self.event(head)?;
        let attributes = self.attributes;
        let EventHead { time, offset, .. } = head;
        Ok(Some(EventRecord { position: self.position, offset, time, attributes, event }))
    }

    /// Advances to the next event, which [`event`](Self::event) then decodes, at most once; `None` behind the
    /// last and after an error. Both together are [`next`](Self::next), for callers that need the time before
    /// they decode.
    ///
    /// # Errors
    /// If the file is corrupt or ends without its end mark.
    #[inline(always)]
    pub fn head(&mut self) -> Result<Option<EventHead>, Error> {
        self.attributes = Attributes::EMPTY;
        loop {
            let bytes = &mut self.chunks.bytes;
            let offset = bytes.at();
            match bytes.u8() {
                // Event ids are larger than those of all other records; tested first, since most records are
                // events.
                Some(id) if id > ATTRIBUTE_LIST => {
                    return Ok(Some(EventHead { time: self.time, offset: offset as u64, id }));
                }
                Some(TIMESTAMP) => match bytes.u64() {
                    Some(time) => self.time = time,
                    None => return Err(self.chunks.fail(offset, TIMESTAMP, "time stamp", None)),
                },
                None | Some(END_OF_CHUNK) => {
                    if !self.chunks.advance()? {
                        return Ok(None);
                    }
                }
                Some(END_OF_FILE) => {
                    self.chunks.finish();
                    return Ok(None);
                }
                Some(ATTRIBUTE_LIST) => self.attributes = self.read_attributes(offset)?,
                // Not an event: the decoder refuses it.
                Some(id) => return Ok(Some(EventHead { time: self.time, offset: offset as u64, id })),
            }
        }
    }

    /// Attributes of the event at the cursor.
    #[inline(always)]
    pub fn attributes(&self) -> Attributes<'a> {
        self.attributes
    }

    /// Decodes the event at the cursor.
    ///
    /// # Errors
    /// If the record is corrupt.
    #[inline(always)]
    pub fn event(&mut self, head: EventHead) -> Result<Event<'a>, Error> {
        match self.decode(head) {
            Some(event) => Ok(event),
            None => Err(self.failure(head)),
        }
    }

    /// Steps over the event at the cursor instead of decoding it.
    ///
    /// # Errors
    /// If the record does not end within its chunk.
    #[inline]
    pub fn step_over(&mut self, head: EventHead) -> Result<(), Error> {
        let bytes = &mut self.chunks.bytes;
        self.position += 1;
        let is_whole = match head.id {
            id if Event::is_singleton(id) => bytes.compressed_u64().is_some(),
            END_OF_BUFFER | CHUNK_HEADER => false,
            _ => bytes.body().is_some(),
        };
        if is_whole { Ok(()) } else { Err(self.failure(head)) }
    }

    /// Like [`event`](Self::event), but `None` if the record is corrupt; [`failure`](Self::failure) then
    /// returns the error. An `Event` is large, and matching on it in place saves a move.
    #[inline(always)]
    pub fn decode(&mut self, head: EventHead) -> Option<Event<'a>> {
        let bytes = &mut self.chunks.bytes;
        self.position += 1;
        // Two of three events are these; a constant id removes the dispatch over all kinds.
        match head.id {
            ENTER => Event::read(ENTER, bytes, FileKind::Events),
            LEAVE => Event::read(LEAVE, bytes, FileKind::Events),
            id => self.other_event(id),
        }
    }

    /// Like [`decode`](Self::decode) for an event that [enters](EventHead::enters) or
    /// [leaves](EventHead::leaves): returns its region, the only field.
    #[inline(always)]
    pub fn region(&mut self, head: EventHead) -> Option<u32> {
        match self.decode(head)? {
            Event::Enter { region } | Event::Leave { region } => Some(region),
            _ => None,
        }
    }

    /// The enter and leave events that come next, for iteration in place. Not to be called between
    /// [`head`](Self::head) and the decoding of its event. [`resume`](Self::resume) steps over the events
    /// taken.
    #[inline]
    pub fn region_events(&self) -> RegionEvents<'a> {
        RegionEvents::new(&self.chunks.bytes, self.time)
    }

    /// Steps over the events that were taken from [`region_events`](Self::region_events).
    #[inline]
    pub fn resume(&mut self, events: RegionEvents<'a>) {
        if events.taken() > 0 {
            self.chunks.bytes.leave(events.left());
            self.time = events.time();
            self.position += events.taken();
        }
    }

    fn other_event(&mut self, id: u8) -> Option<Event<'a>> {
        let bytes = &mut self.chunks.bytes;
        if Event::is_singleton(id) {
            return Event::read(id, bytes, FileKind::Events);
        }
        if matches!(id, END_OF_BUFFER | CHUNK_HEADER) {
            return None;
        }
        let mut body = bytes.body()?;
        Event::read(id, &mut body, FileKind::Events)
    }

    fn read_attributes(&mut self, offset: usize) -> Result<Attributes<'a>, Error> {
        let body = self.chunks.bytes.body();
        let mut left = body;
        left.as_mut()
            .and_then(Attributes::read)
            .ok_or_else(|| self.chunks.fail(offset, ATTRIBUTE_LIST, "attribute list", left))
    }

    /// Finishes the cursor, and returns why the record at the cursor cannot be decoded.
    #[cold]
    pub fn failure(&mut self, head: EventHead) -> Error {
        let (offset, id) = (usize::try_from(head.offset).unwrap_or(usize::MAX), head.id);
        let mut bytes = self.chunks.bytes.restarted(offset.saturating_add(1));
        let mut body = if Event::is_singleton(id) { Some(bytes) } else { bytes.body() };
        if let Some(body) = &mut body {
            let _ = Event::read(id, body, FileKind::Events);
        }
        self.chunks.fail(offset, id, Event::name_of(id, FileKind::Events), body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{Attribute, Value, ValueType};

    /// Events of a file with one little-endian chunk, up to its end or an error.
    fn events(records: &[u8]) -> (Vec<(u64, u64, String)>, Option<String>) {
        let file = [&[3, 0x42][..], &[0; 16], records].concat();
        let mut cursor = EventCursor::new(&file, Path::new("0.evt"), 1 << 20);
        let mut found = Vec::new();
        loop {
            match cursor.next() {
                Ok(None) => return (found, None),
                Ok(Some(record)) => found.push((record.position, record.time, format!("{:?}", record.event))),
                Err(error) => return (found, Some(error.to_string())),
            }
        }
    }

    fn names(records: &[u8]) -> Vec<String> {
        let (found, error) = events(records);
        assert_eq!(error, None);
        found.into_iter().map(|(position, time, event)| format!("{position} {time} {event}")).collect()
    }

    #[test]
    fn event_is_stepped_over_as_far_as_it_reaches_and_counts() {
        let records =
            [&[12, 1, 7][..], &TIME_7, &[35, 3, 0, 9, 9, 66, 4, 1, 3, 1, 2, 20, 8, 1], &[0; 7], &[2]];
        let file = [&[3, 0x42][..], &[0; 16], &records.concat()].concat();
        let mut cursor = EventCursor::new(&file, Path::new("0.evt"), 1 << 20);
        let mut offsets = Vec::new();
        while let Some(head) = cursor.head().unwrap() {
            offsets.push((head.offset, head.time, head.is_of_calling_context()));
            cursor.step_over(head).unwrap();
        }
        assert_eq!(offsets, [(18, 0, false), (30, 7, false), (35, 7, true), (41, 7, false)]);
        assert_eq!(cursor.position, 4);
    }

    #[test]
    fn event_that_does_not_end_is_not_stepped_over() {
        for records in [&[66, 9, 1, 3][..], &[12, 4, 1], &[3, 0]] {
            let file = [&[3, 0x42][..], &[0; 16], records].concat();
            let mut cursor = EventCursor::new(&file, Path::new("0.evt"), 1 << 20);
            let head = cursor.head().unwrap().unwrap();
            assert!(cursor.step_over(head).is_err(), "{records:?}");
            assert_eq!(cursor.head().unwrap(), None, "finished after an error");
        }
    }

    const TIME_7: [u8; 9] = [5, 7, 0, 0, 0, 0, 0, 0, 0];

    #[test]
    fn time_stamp_holds_until_the_next_and_may_be_repeated() {
        let records = [&[12, 0][..], &TIME_7, &TIME_7, &[12, 1, 1, 13, 0xff], &[2, 1]].concat();
        let expected =
            ["1 0 Enter { region: 0 }", "2 7 Enter { region: 1 }", "3 7 Leave { region: 4294967295 }"];
        assert_eq!(names(&records), expected);
    }

    #[test]
    fn unknown_record_counts_and_is_stepped_over() {
        let expected = ["1 0 Unknown { id: 200, body: [12, 13] }", "2 0 OmpJoin"];
        assert_eq!(names(&[200, 2, 12, 13, 25, 0, 2]), expected);
    }

    #[test]
    fn fields_of_later_versions_are_stepped_over_whatever_form_the_length_has() {
        assert_eq!(names(&[35, 3, 0, 9, 9, 25, 0, 2]), ["1 0 RmaWinCreate { win: 0 }", "2 0 OmpJoin"]);
        let long = [35, 0xff, 3, 0, 0, 0, 0, 0, 0, 0, 0, 9, 9, 25, 0, 2];
        assert_eq!(names(&long), ["1 0 RmaWinCreate { win: 0 }", "2 0 OmpJoin"]);
    }

    #[test]
    fn attributes_belong_to_the_next_event_only() {
        let file = [&[3, 0x42][..], &[0; 16], &[6, 6, 1, 1, 0, 11, 1, 6, 12, 0, 13, 0, 2]].concat();
        let mut cursor = EventCursor::new(&file, Path::new("0.evt"), 1 << 20);
        let value = Value::new(ValueType::STRING, 6);
        let attributes = cursor.next().unwrap().unwrap().attributes;
        assert!(attributes.iter().eq([Attribute { attribute: 0, value }]));
        assert!(cursor.next().unwrap().unwrap().attributes.is_empty());
    }

    #[test]
    fn cut_and_corrupt_records_are_told_apart() {
        let reason = |records: &[u8]| events(records).1.unwrap();
        assert!(reason(&[12, 4, 1]).contains("byte 0x12: the file ends within a record (Enter)"));
        assert!(reason(&[25, 9, 1]).contains("the file ends within a record (OmpJoin)"));
        assert!(reason(&[5, 1]).contains("the file ends within a record (time stamp)"));
        assert!(reason(&[12, 0]).contains("a chunk without end mark"));
        let number = [12, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        assert!(reason(&number).contains("Enter record: the number at byte 0x13 has an impossible size"));
        assert!(reason(&[14, 1, 5, 2, 1]).contains("MpiSend record: the field at byte 0x14 is corrupt"));
        assert!(reason(&[3, 0, 2, 1]).contains("a record cannot have the number 3"));
    }
}
