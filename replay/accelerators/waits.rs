//! What calls on the host wait for on streams (site.md, 6.2).

use model::Ticks;
use patterns::matched::Interval;
use rustc_hash::FxHashMap;

use super::launches::Launched;
use super::records::Records;
use super::streams::{StreamLine, Streams};
use crate::operations::{Activity, ActivityKind, Awaited, DeviceCall, Offload};

/// Returns the last kernel or copy that a call waits for; none if all were done when it was entered, and `None` if it is not known
/// which streams it waits for.
pub(super) fn last_awaited(
    (offload, records): (&Offload, &Records<'_>),
    streams: &Streams,
    launched: &Launched,
    call: &DeviceCall,
    slack: Ticks,
) -> Option<Option<u32>> {
    let question = Question { offload, launched, wait: call.call, slack };
    if !matches!(call.awaited, Awaited::Copy(_)) && !streams.lines().iter().any(|line| question.meets(line)) {
        return Some(None);
    }
    let enter = call.call.enter;
    match call.awaited {
        Awaited::Device(stream) => {
            let mut lines = streams.lines().iter();
            let device = match stream {
                Some(stream) => streams.device(stream),
                // All streams are of one device, or it is not known which of them the thread uses.
                None => {
                    let first = streams.lines().first().map(|line| line.device);
                    Some(first.filter(|&first| lines.clone().all(|line| line.device == first))?)
                }
            };
            let of_device = lines.by_ref().filter(|line| Some(line.device) == device);
            let lasts = of_device.filter_map(|line| question.last(&line.activities, enter));
            // The first among equals.
            let end = |at: &u32| offload.activities[*at as usize].time.leave;
            Some(lasts.reduce(|a, b| if end(&b) > end(&a) { b } else { a }))
        }
        Awaited::Stream(stream) => Some(question.last(streams.of(stream?), enter)),
        Awaited::Event(event) => {
            let record = records.last(event?, enter)?;
            Some(question.last(streams.of(record.stream?), record.call.enter))
        }
        Awaited::Copy(launch) => match launched.of_launch[launch as usize] {
            Some(own) => Some(Some(own).filter(|_| offload.activities[own as usize].time.leave > enter)),
            None => {
                let stream = offload.launches[launch as usize].stream?;
                Some(question.last(streams.of(stream), enter))
            }
        },
    }
}

/// A call that waits, and all that is known.
struct Question<'a> {
    offload: &'a Offload,
    launched: &'a Launched,
    wait: Interval,
    slack: Ticks,
}

impl Question<'_> {
    /// Whether a stream runs something after the call was entered, and before it was left: otherwise it cannot have made it wait.
    fn meets(&self, line: &StreamLine) -> bool {
        let time = |at: u32| self.offload.activities[at as usize].time;
        let end = line.activities.partition_point(|&at| time(at).enter < self.wait.leave);
        line.activities[..end].last().is_some_and(|&last| time(last).leave > self.wait.enter)
    }

    /// The last of what runs on a stream that was launched before a time, if it ends after the call was entered.
    fn last(&self, activities: &[u32], before: Ticks) -> Option<u32> {
        let activity = |at: u32| -> &Activity { &self.offload.activities[at as usize] };
        let end = activities.partition_point(|&at| activity(at).time.enter < self.wait.leave);
        let later = activities[..end].iter().rev().copied();
        let mut later = later.take_while(|&at| activity(at).time.leave > self.wait.enter);
        later.find(|&at| match self.launched.launch(self.offload, at) {
            Some(launch) => launch.call.enter < before,
            // What runs meanwhile and is done with the call is what it waits for; for an event, what ran before that.
            None => {
                let Interval { enter, leave } = activity(at).time;
                leave <= self.wait.leave + self.slack && (before == self.wait.enter || enter < before)
            }
        })
    }
}

/// Calls `with` for each part between two times in which the chain that ends with an activity runs something: kind, begin and ticks.
/// The chain goes back on the stream, or to what one has waited for on another stream, whichever ended later.
pub(super) fn chain(
    offload: &Offload,
    streams: &Streams,
    (last, successors): (u32, &FxHashMap<u32, u32>),
    (from, until): (Ticks, Ticks),
    mut with: impl FnMut(ActivityKind, Ticks, Ticks),
) {
    let end = |at: &u32| offload.activities[*at as usize].time.leave;
    let mut until = until;
    let mut next = Some(last);
    while let Some(at) = next.filter(|_| until > from) {
        let Activity { time, kind, stream, .. } = offload.activities[at as usize];
        let (begin, end_of_part) = (time.enter.max(from), time.leave.min(until));
        if begin < end_of_part {
            with(kind, begin, end_of_part - begin);
        }
        until = until.min(time.enter);
        let before = streams.place(at).checked_sub(1).map(|place| streams.of(stream)[place]);
        // A chain goes back in time, whatever the clocks say: so it ends.
        let begins_before = |it: &u32| offload.activities[*it as usize].time.enter < time.enter;
        let awaited = successors.get(&at).copied().filter(begins_before);
        next = match (before, awaited) {
            (Some(before), Some(awaited)) if end(&awaited) > end(&before) => Some(awaited),
            (before, awaited) => before.or(awaited),
        };
    }
}
