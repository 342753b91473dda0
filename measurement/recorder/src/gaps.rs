//! Gaps in the trace: attributes for messages and collective operations behind those that are missing, so
//! that an analysis pairs the others correctly (`recording::attributes`).
//!
//! What begins in the trace ends in it, even while recording is off: the completion of a request that was
//! started in the trace is always recorded. Everything else that happens while recording is off is counted,
//! see `channels`.

use model::MeasurementMode;
use recording::attributes::{COUNTED, DISORDERED, POSTED, UINT64, UNRECORDED};

use crate::channels::{Channel, ReceiveGap};
use crate::clock::now;
use crate::events::Events;
use crate::record;
use crate::thread::Thread;

/// Maximum number of attributes that [`report_with`] adds.
const MOST_TOLD: usize = 3;

/// The posting of a receive.
#[derive(Clone, Copy)]
pub(crate) struct Posting {
    /// Its time.
    pub(crate) time: u64,
    /// Whether the posting is in the trace.
    pub(crate) is_recorded: bool,
}

/// Notes the start of an operation: a send, or a collective one. To be called before it is recorded; returns
/// the argument for [`report`].
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
        lose_count(thread);
    }
    None
}

/// Adds the number of missing operations to the next record, which must have that time.
#[inline]
pub(crate) fn report(events: &mut Events, time: u64, missing: Option<u64>) {
    if let Some(missing) = missing {
        events.attributes(time, &[(UNRECORDED, UINT64, missing)]);
    }
}

/// As [`report`], for an operation that has these attributes in any case.
pub(crate) fn report_with<const N: usize>(
    events: &mut Events,
    time: u64,
    missing: Option<u64>,
    told: [(u32, u8, u64); N],
) {
    let mut list = [(UNRECORDED, UINT64, missing.unwrap_or(0)); MOST_TOLD];
    list[..N].copy_from_slice(&told);
    events.attributes(time, &list[..N + usize::from(missing.is_some())]);
}

/// Notes that a receive is complete at a time; `record` records that.
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
    if let Some(gap) = received_counted(thread, channel, posting) {
        record_received(thread, time, None, (gap, posting), record);
    }
}

/// As [`received`], for a message that has this attribute in any case.
pub(crate) fn received_with(
    thread: &mut Thread,
    channel: Channel,
    posting: Posting,
    time: u64,
    told: (u32, u8, u64),
    record: impl FnOnce(&mut Events),
) {
    let gap = match thread.process.channels.are_counted() {
        true => received_counted(thread, channel, posting),
        false => Some(ReceiveGap::default()),
    };
    if let Some(gap) = gap {
        record_received(thread, time, Some(told), (gap, posting), record);
    }
}

/// Records a receive with its attributes.
fn record_received(
    thread: &mut Thread,
    time: u64,
    told: Option<(u32, u8, u64)>,
    (gap, posting): (ReceiveGap, Posting),
    record: impl FnOnce(&mut Events),
) {
    thread.events.record_anyway(|events| {
        let mut list = [(0, UINT64, 0); 4];
        let mut length = 0;
        let reported = [
            told,
            gap.missing.map(|missing| (UNRECORDED, UINT64, missing)),
            (!posting.is_recorded).then_some((POSTED, UINT64, posting.time)),
            gap.is_disordered.then_some((DISORDERED, UINT64, 1)),
        ];
        for attribute in reported.into_iter().flatten() {
            list[length] = attribute;
            length += 1;
        }
        if length > 0 {
            events.attributes(time, &list[..length]);
        }
        record(events);
    });
}

/// Returns the gap before a receive; `None` if the receive is not to be in the trace.
#[inline(never)]
fn received_counted(thread: &mut Thread, channel: Channel, posting: Posting) -> Option<ReceiveGap> {
    let channels = &thread.process.channels;
    if thread.events.is_muted() && !posting.is_recorded {
        if channels.received_missing(channel, posting.time) {
            return None;
        }
        // The trace has wrong numbers of other receives: it must learn that, and of which channel.
        return Some(ReceiveGap { missing: None, is_disordered: true });
    }
    let gap = channels.received(channel, posting.time);
    if gap.is_none() {
        lose_count(thread);
    }
    Some(gap.unwrap_or_default())
}

/// Counts a receive that the program frees while it is under way: its message will be received without a
/// completion.
pub(crate) fn abandoned(thread: &mut Thread, channel: Option<Channel>, posted: u64) {
    let channels = &thread.process.channels;
    if channels.are_counted() && !channel.is_some_and(|channel| channels.received_missing(channel, posted)) {
        lose_count(thread);
    }
}

/// Records that the number of missing messages is not known any more: by a `MeasurementOnOff` with the
/// present mode, without the attribute that claims a count.
#[cold]
pub(crate) fn lose_count(thread: &mut Thread) {
    let mode = if thread.events.is_muted() { MeasurementMode::OFF } else { MeasurementMode::ON };
    let time = now();
    thread.events.record_anyway(|events| record::measurement_on_off(events, time, mode.0));
}

/// Records that recording is switched on or off, and that missing messages are counted.
pub(crate) fn switch(events: &mut Events, time: u64, mode: MeasurementMode) {
    events.attributes(time, &[(COUNTED, UINT64, 1)]);
    record::measurement_on_off(events, time, mode.0);
}
