//! Fast path for runs of enter and leave events, each behind its time stamp: most of most files.
//!
//! They nearly always have one form, so comparing fixed bytes decodes all of it. Any other form ends the run,
//! and the cursor continues in the general way: other records, events without a time stamp of their own, the
//! last bytes of a chunk, big-endian chunks, numbers that are all ones or damaged.

use crate::bytes::{ByteOrder, Bytes};
use crate::record::{ENTER, LEAVE, TIMESTAMP};

/// An [`Event::Enter`](crate::Event::Enter) or [`Event::Leave`](crate::Event::Leave).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegionEvent<'a> {
    /// Ticks on the clock of the location.
    pub time: u64,
    /// Whether the region is entered, otherwise left.
    pub enters: bool,
    /// Reference of the region, as in the file.
    pub region: u32,
    /// The bytes behind the event, to the end of the chunk.
    rest: &'a [u8],
}

/// Length of a time stamp and an event, without the payload of the region's number.
const HEAD: usize = 11;

/// Payload of the longest number, in bytes.
const NUMBER: usize = 4;

/// Mask of the low bytes, by number of bytes.
const BITS: [u32; NUMBER + 1] = [0, 0xff, 0xffff, 0xff_ffff, 0xffff_ffff];

/// Run of enter and leave events; see [`EventCursor::region_events`](crate::EventCursor::region_events).
#[derive(Clone, Debug)]
pub struct RegionEvents<'a> {
    /// The unread rest of the chunk.
    rest: &'a [u8],
    /// Time of the last event taken; at first, of the event before the run.
    time: u64,
    taken: u64,
}

impl<'a> RegionEvents<'a> {
    #[inline]
    pub(crate) fn new(bytes: &Bytes<'a>, time: u64) -> Self {
        let rest = if bytes.order() == ByteOrder::Little { bytes.rest() } else { &[] };
        RegionEvents { rest, time, taken: 0 }
    }

    #[inline]
    pub(crate) fn time(&self) -> u64 {
        self.time
    }

    /// Number of events taken.
    #[inline]
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Bytes behind the last event taken, to the end of the chunk.
    #[inline]
    pub(crate) fn left(&self) -> usize {
        self.rest.len()
    }

    /// The next event, if it has the usual form.
    #[inline(always)]
    pub fn peek(&self) -> Option<RegionEvent<'a>> {
        let (&[TIMESTAMP, ref time @ .., id, size], behind) = self.rest.split_first_chunk::<HEAD>()? else {
            return None;
        };
        if id != ENTER && id != LEAVE {
            return None;
        }
        let bits = BITS.get(usize::from(size))?;
        let region = u32::from_le_bytes(*behind.first_chunk::<NUMBER>()?) & bits;
        let rest = behind.get(usize::from(size)..)?;
        Some(RegionEvent { time: u64::from_le_bytes(*time), enters: id == ENTER, region, rest })
    }

    /// Steps over the event that [`peek`](RegionEvents::peek) returned.
    #[inline(always)]
    pub fn take(&mut self, event: RegionEvent<'a>) {
        self.rest = event.rest;
        self.time = event.time;
        self.taken += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Event;
    use crate::{EventCursor, EventRecord};
    use std::path::Path;

    /// A file with one chunk of this byte order.
    fn file(order: u8, records: &[u8]) -> Vec<u8> {
        [&[3, order][..], &[0; 16], records].concat()
    }

    /// Number, time and text of all events, and how many of them were taken from the fast path, used if
    /// `ahead`.
    fn events(file: &[u8], ahead: bool) -> (Vec<(u64, u64, String)>, u64) {
        let mut cursor = EventCursor::new(file, Path::new("0.evt"), 1 << 20);
        let (mut found, mut taken) = (Vec::new(), 0);
        while let Ok(Some(EventRecord { position, time, event, .. })) = cursor.next() {
            found.push((position, time, format!("{event:?}")));
            let mut events = cursor.region_events();
            while ahead && let Some(next @ RegionEvent { time, enters, region, .. }) = events.peek() {
                let event = if enters { Event::Enter { region } } else { Event::Leave { region } };
                found.push((found.len() as u64 + 1, time, format!("{event:?}")));
                events.take(next);
            }
            taken += events.taken();
            cursor.resume(events);
        }
        (found, taken)
    }

    fn time(at: u8) -> [u8; 9] {
        [TIMESTAMP, at, 1, 2, 3, 4, 5, 6, 7]
    }

    #[test]
    fn events_are_the_same_whether_looked_at_ahead_or_not() {
        let numbers: [&[u8]; 7] =
            [&[0], &[1, 9], &[2, 9, 8], &[3, 9, 8, 7], &[4, 9, 8, 7, 6], &[0xff], &[2, 1, 0]];
        let mut records = vec![ENTER, 0];
        for (at, number) in (0..).zip(numbers.into_iter().cycle().take(50)) {
            // Every fifth has the time of the one before, every seventh is followed by another kind of event.
            let stamp = time(at);
            records.extend(if at % 5 == 0 { &[][..] } else { &stamp });
            records.push(if at % 3 == 0 { LEAVE } else { ENTER });
            records.extend(number);
            records.extend(if at % 7 == 0 { &[25, 0][..] } else { &[] });
        }
        records.extend([2, 1]);
        for order in [0x42, 0x23] {
            let file = file(order, &records);
            let ((found, taken), (all, _)) = (events(&file, true), events(&file, false));
            assert_eq!((found, taken > 0), (all, order == 0x42));
        }
    }

    #[test]
    fn nothing_is_seen_behind_the_end_of_a_cut_chunk() {
        let records =
            [&[ENTER, 0][..], &time(1), &[ENTER, 4, 1, 2, 3, 4], &time(2), &[LEAVE, 2, 1, 2]].concat();
        let whole = file(0x42, &records);
        for length in 20..whole.len() {
            let cut = &whole[..length];
            assert_eq!(events(cut, true).0, events(cut, false).0, "{length} bytes");
        }
    }
}
