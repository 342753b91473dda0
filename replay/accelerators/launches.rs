//! Launches: which call has started what runs on a stream (site.md, 6.2).

use model::Ticks;
use patterns::matched::Interval;
use rustc_hash::FxHashMap;

use super::records::Records;
use super::streams::Streams;
use crate::operations::{ActivityKind, Awaited, Launch, Offload};

/// Launches and what they have started.
#[derive(Clone, Debug, Default)]
pub(super) struct Launched {
    /// By activity: its launch, as a position in [`Offload::launches`].
    pub(super) of_activity: Vec<Option<u32>>,
    /// By launch: its activity.
    pub(super) of_launch: Vec<Option<u32>>,
}

impl Launched {
    /// Matches both. Clocks of devices may be wrong by `slack` ticks.
    pub(super) fn new(offload: &Offload, streams: &Streams, slack: Ticks) -> Launched {
        let mut launched = Launched {
            of_activity: vec![None; offload.activities.len()],
            of_launch: vec![None; offload.launches.len()],
        };
        launched.blocking_copies(offload, slack);
        launched.in_order((offload, slack), streams, ActivityKind::Kernel);
        launched.in_order((offload, slack), streams, ActivityKind::Copy);
        launched
    }

    /// The launch of an activity, if it is known.
    pub(super) fn launch<'o>(&self, offload: &'o Offload, activity: u32) -> Option<&'o Launch> {
        Some(&offload.launches[self.of_activity[activity as usize]? as usize])
    }

    fn join(&mut self, launch: u32, activity: u32) {
        self.of_activity[activity as usize] = Some(launch);
        self.of_launch[launch as usize] = Some(activity);
    }

    /// Matches blocking copies: that of a call lies within it. Most calls do not say on which stream it is.
    fn blocking_copies(&mut self, offload: &Offload, slack: Ticks) {
        let copies = (0..).zip(&offload.activities).filter(|(_, it)| it.kind == ActivityKind::Copy);
        let mut copies: Vec<(Ticks, u32)> = copies.map(|(at, copy)| (copy.time.enter, at)).collect();
        copies.sort_unstable();
        for (number, launch) in (0..).zip(&offload.launches).filter(|(_, launch)| launch.is_blocking) {
            let first = copies.partition_point(|&(begin, _)| begin < launch.call.enter);
            let within = copies[first..].iter().take_while(|&&(begin, _)| begin < launch.call.leave);
            let is_of_call = |&&(_, at): &&(Ticks, u32)| {
                let copy = &offload.activities[at as usize];
                copy.time.leave <= launch.call.leave + slack
                    && launch.stream.is_none_or(|it| it == copy.stream)
            };
            let mut within = within.filter(is_of_call);
            if let (Some(&(_, copy)), None) = (within.next(), within.next())
                && self.of_activity[copy as usize].is_none()
            {
                self.join(number, copy);
            }
        }
    }

    /// Matches the others of a kind on each stream in their order. Those that do not say on which stream they are belong to the only
    /// stream with that kind.
    fn in_order(&mut self, (offload, slack): (&Offload, Ticks), streams: &Streams, kind: ActivityKind) {
        let mut of_streams: Vec<(u32, Vec<u32>)> = Vec::new();
        for line in streams.lines() {
            let is_of_kind = |&&at: &&u32| offload.activities[at as usize].kind == kind;
            let of_kind: Vec<u32> = line.activities.iter().filter(is_of_kind).copied().collect();
            if !of_kind.is_empty() {
                of_streams.push((line.location, of_kind));
            }
        }
        let only = match &of_streams[..] {
            [(location, _)] => Some(*location),
            _ => None,
        };
        let mut launches: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for (number, launch) in (0..).zip(&offload.launches) {
            let is_free = launch.kind == kind && self.of_launch[number as usize].is_none();
            if let Some(stream) = launch.stream.or(only).filter(|_| is_free && !launch.is_blocking) {
                launches.entry(stream).or_default().push(number);
            }
        }
        for (location, mut activities) in of_streams {
            let Some(mut of_stream) = launches.remove(&location) else { continue };
            let enter = |number: u32| offload.launches[number as usize].call.enter;
            of_stream.sort_by_key(|&number| (enter(number), offload.launches[number as usize].location));
            activities.retain(|&at| self.of_activity[at as usize].is_none());
            // Only where something is missing do times decide.
            let awaited = match of_stream.len() == activities.len() {
                true => Vec::new(),
                false => awaited(offload, streams, location),
            };
            let start = |&number: &u32| {
                let call = offload.launches[number as usize].call;
                let next = awaited.partition_point(|wait| wait.enter < call.leave);
                let done = awaited.get(next).map_or(Ticks::MAX, |wait| wait.leave.saturating_add(slack));
                Start { enter: call.enter, done }
            };
            let starts: Vec<Start> = of_stream.iter().map(start).collect();
            let runs: Vec<Interval> =
                activities.iter().map(|&at| offload.activities[at as usize].time).collect();
            for (launch, activity) in pairs(&starts, &runs) {
                self.join(of_stream[launch], activities[activity]);
            }
        }
    }

    /// What begins when one of another stream is done, by events: the one that each waits for, of several the one that ends last.
    pub(super) fn successors(
        &self,
        (offload, records): (&Offload, &Records<'_>),
        streams: &Streams,
    ) -> FxHashMap<u32, u32> {
        let mut successors: FxHashMap<u32, u32> = FxHashMap::default();
        for wait in &offload.stream_waits {
            let record = wait.event.and_then(|event| records.last(event, wait.call.enter));
            let (Some(stream), Some(record)) = (wait.stream, record) else { continue };
            let Some(from) = record.stream.filter(|&from| from != stream) else { continue };
            let before = self.last_before((offload, streams.of(from)), record.call.enter);
            let behind = self.first_behind((offload, streams.of(stream)), wait.call.leave);
            let (Some(before), Some(behind)) = (before, behind) else { continue };
            let end = |at: u32| offload.activities[at as usize].time.leave;
            let known = successors.entry(behind).or_insert(before);
            if end(before) > end(*known) {
                *known = before;
            }
        }
        successors
    }

    /// The last on a stream that was launched before a time: one that began before it, or that is behind that one and has such a
    /// launch.
    fn last_before(&self, (offload, stream): (&Offload, &[u32]), time: Ticks) -> Option<u32> {
        let begun = stream.partition_point(|&at| offload.activities[at as usize].time.enter < time);
        let is_launched =
            |&&at: &&u32| self.launch(offload, at).is_some_and(|launch| launch.call.enter < time);
        let queued = stream[begun..].iter().take_while(is_launched).count();
        (begun + queued).checked_sub(1).map(|last| stream[last])
    }

    /// The first on a stream that was launched at a time or later; it has not begun before.
    fn first_behind(&self, (offload, stream): (&Offload, &[u32]), time: Ticks) -> Option<u32> {
        let begun = stream.partition_point(|&at| offload.activities[at as usize].time.enter < time);
        let is_launched =
            |&at: &u32| self.launch(offload, at).is_some_and(|launch| launch.call.enter >= time);
        stream[begun..].iter().copied().find(is_launched)
    }
}

/// Calls that wait for a stream, or for its device, by the time of their enter.
fn awaited(offload: &Offload, streams: &Streams, location: u32) -> Vec<Interval> {
    let device = streams.device(location);
    let waits = offload.waits.iter().filter(|wait| match wait.awaited {
        Awaited::Device(stream) => stream.is_some_and(|it| streams.device(it) == device),
        Awaited::Stream(stream) => stream == Some(location),
        Awaited::Event(_) | Awaited::Copy(_) => false,
    });
    let mut waits: Vec<Interval> = waits.map(|wait| wait.call).collect();
    waits.sort_by_key(|wait| (wait.enter, wait.leave));
    waits
}

/// A launch by its times, for pairs.
#[derive(Clone, Copy, Debug)]
struct Start {
    /// When its call was entered.
    enter: Ticks,
    /// When a call has returned that had waited for it; [`Ticks::MAX`] if none has.
    done: Ticks,
}

/// Pairs launches with what has run on a stream, both in order. If there are as many of both, each has its own, unless it would begin
/// before its launch. Otherwise they are paired from both ends as long as nothing begins before its launch, or ends after it was
/// awaited, and only where both ends agree: what is missing is somewhere in between.
fn pairs(starts: &[Start], runs: &[Interval]) -> Vec<(usize, usize)> {
    if starts.len() == runs.len() {
        return (0..starts.len())
            .filter(|&at| starts[at].enter <= runs[at].enter)
            .map(|at| (at, at))
            .collect();
    }
    let is_possible = |(launch, run): (usize, usize)| {
        starts[launch].enter <= runs[run].enter && runs[run].leave <= starts[launch].done
    };
    let count = starts.len().min(runs.len());
    let front = (0..count).take_while(|&at| is_possible((at, at))).count();
    let from_end = |at: usize| (starts.len() - 1 - at, runs.len() - 1 - at);
    let back = (0..count).take_while(|&at| is_possible(from_end(at))).count();
    // Of the shorter list, those that both ends claim are not certain.
    let certain_front = (0..front.min(count - back)).map(|at| (at, at));
    certain_front.chain((0..back.min(count - front)).map(from_end)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs of launches with kernels that run for a tick. Calls that wait return at the given times.
    fn sorted(enters: &[Ticks], waits: &[Ticks], begins: &[Ticks]) -> Vec<(usize, usize)> {
        let done = |enter: Ticks| waits.iter().copied().find(|&wait| wait > enter).unwrap_or(Ticks::MAX);
        let starts: Vec<Start> = enters.iter().map(|&enter| Start { enter, done: done(enter) }).collect();
        let runs: Vec<Interval> = begins.iter().map(|&begin| Interval::new(begin, begin + 1)).collect();
        let mut pairs = pairs(&starts, &runs);
        pairs.sort_unstable();
        pairs
    }

    #[test]
    fn as_many_launches_as_kernels_belong_together_unless_time_goes_back() {
        assert_eq!(sorted(&[1, 5, 9], &[], &[3, 6, 10]), [(0, 0), (1, 1), (2, 2)]);
        assert_eq!(sorted(&[1, 5, 9], &[], &[3, 4, 10]), [(0, 0), (2, 2)]);
    }

    #[test]
    fn missing_launch_leaves_its_kernel_alone_if_others_were_awaited() {
        // The second kernel has no launch.
        assert_eq!(sorted(&[1, 9, 13], &[4, 8, 12, 16], &[3, 6, 10, 14]), [(0, 0), (1, 2), (2, 3)]);
        // The first launch may be of the first or of the second.
        assert_eq!(sorted(&[1, 9, 13], &[], &[3, 6, 10, 14]), [(1, 2), (2, 3)]);
    }

    #[test]
    fn what_both_ends_claim_is_not_certain() {
        assert_eq!(sorted(&[1, 2], &[], &[3, 6, 10]), []);
        // A kernel is missing: it may be any of those from the second on.
        assert_eq!(sorted(&[1, 5, 9], &[], &[3, 10]), [(0, 0)]);
    }

    #[test]
    fn nothing_is_matched_with_nothing() {
        assert_eq!(sorted(&[], &[], &[1]), []);
        assert_eq!(sorted(&[1], &[], &[]), []);
    }
}
