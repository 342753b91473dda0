//! What the trace is told of messages and collective operations that are not in it, so that an analysis can tell which of
//! those that are in it belong together (`recording::attributes`).
//!
//! What begins in the trace ends in it, whatever is recorded then: the completion of a request that has been started in the
//! trace is recorded also while recording is off. Everything else that happens meanwhile is counted, see `channels`.

use model::MeasurementMode;
use recording::attributes::{COUNTED, DISORDERED, POSTED, UNRECORDED};

use crate::channels::{Channel, Tale};
use crate::clock::now;
use crate::events::Events;
use crate::record;
use crate::thread::Thread;

/// OTF2's number of the type of all attributes here: 64 bits, unsigned.
const UINT64: u8 = 4;

/// How a receive was posted.
#[derive(Clone, Copy)]
pub(crate) struct Posting {
    /// When.
    pub(crate) time: u64,
    /// Whether that is in the trace.
    pub(crate) is_recorded: bool,
}

/// An operation begins: a send, or a collective one. To be asked before it is recorded; answers how many before it are
/// missing, if [`tell`] is to tell that.
#[inline]
pub(crate) fn begin(thread: &mut Thread, channel: Channel) -> Option<u64> {
    if !thread.process.channels.are_counted() {
        return None;
    }
    begin_counted(thread, channel)
}

#[inline(never)]
fn begin_counted(thread: &mut Thread, channel: Channel) -> Option<u64> {
    let channels = &thread.process.channels;
    if !thread.events.is_muted() {
        return channels.recorded(channel);
    }
    if !channels.missing(channel) {
        lose(thread);
    }
    None
}

/// Tells how many are missing with the record that comes next, which must have that time.
#[inline]
pub(crate) fn tell(events: &mut Events, time: u64, missing: Option<u64>) {
    if let Some(missing) = missing {
        events.attributes(time, &[(UNRECORDED, UINT64, missing)]);
    }
}

/// A receive is complete at a time; `record` records that.
#[inline]
pub(crate) fn received(
    thread: &mut Thread,
    channel: Channel,
    posting: Posting,
    time: u64,
    record: impl FnOnce(&mut Events),
) {
    if !thread.process.channels.are_counted() {
        return record(&mut thread.events);
    }
    if let Some(tale) = received_counted(thread, channel, posting) {
        thread.events.record_anyway(|events| {
            let mut list = [(0, UINT64, 0); 3];
            let mut length = 0;
            let told = [
                tale.missing.map(|missing| (UNRECORDED, missing)),
                (!posting.is_recorded).then_some((POSTED, posting.time)),
                tale.is_disordered.then_some((DISORDERED, 1)),
            ];
            for (attribute, value) in told.into_iter().flatten() {
                list[length] = (attribute, UINT64, value);
                length += 1;
            }
            if length > 0 {
                events.attributes(time, &list[..length]);
            }
            record(events);
        });
    }
}

/// What is to be told with a receive; `None` if it is not to be in the trace.
#[inline(never)]
fn received_counted(thread: &mut Thread, channel: Channel, posting: Posting) -> Option<Tale> {
    let channels = &thread.process.channels;
    if thread.events.is_muted() && !posting.is_recorded {
        if channels.received_missing(channel, posting.time) {
            return None;
        }
        // The trace must be told that it has got numbers of others wrong, and by which channel.
        return Some(Tale { missing: None, is_disordered: true });
    }
    let tale = channels.received(channel, posting.time);
    if tale.is_none() {
        lose(thread);
    }
    Some(tale.unwrap_or_default())
}

/// The program gives a receive away that is under way: its message will be received, but nobody will hear of it.
pub(crate) fn abandoned(thread: &mut Thread, channel: Option<Channel>, posted: u64) {
    let channels = &thread.process.channels;
    if channels.are_counted() && !channel.is_some_and(|channel| channels.received_missing(channel, posted)) {
        lose(thread);
    }
}

/// How many messages are missing is not known any more: tells the trace, by a switch to what is the case already, which
/// does not claim to count.
#[cold]
pub(crate) fn lose(thread: &mut Thread) {
    let mode = if thread.events.is_muted() { MeasurementMode::OFF } else { MeasurementMode::ON };
    let time = now();
    thread.events.record_anyway(|events| record::measurement_on_off(events, time, mode.0));
}

/// Recording is switched; what is missing is counted.
pub(crate) fn switch(events: &mut Events, time: u64, mode: MeasurementMode) {
    events.attributes(time, &[(COUNTED, UINT64, 1)]);
    record::measurement_on_off(events, time, mode.0);
}
