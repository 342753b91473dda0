//! Accelerators: what runs on streams is matched with the calls that start it and wait for it, all in one process (site.md, 6.2).
//!
//! Two kinds of edges follow. A *start* leads from a launch to the kernel or copy, an *end* from the last one that a call waits for to
//! that call. Root causes treat them as messages within the process.

mod imbalance;
mod launches;
mod queues;
mod records;
mod streams;
mod waits;

use model::Ticks;
use patterns::matched::DeviceWait;
use rustc_hash::FxHashMap;

use crate::findings::Finding;
use crate::focus::{self, Windows};
use crate::int::truncated;
use crate::journal::{EventSpot, Spot};
use crate::metrics::{Metrics, StreamMetrics};
use crate::operations::{ActivityKind, Offload};
use crate::results::Results;
use crate::trace::Trace;
use crate::walk::Walked;
use launches::Launched;
use records::Records;
use streams::Streams;

pub use imbalance::add_imbalance;

/// What root causes need to know of accelerators of a process.
#[derive(Clone, Debug, Default)]
pub struct OffloadEdges {
    /// Launches of what runs on streams.
    pub starts: Vec<StartEdge>,
    /// Kernels and copies that begin when one of another stream is done.
    pub successions: Vec<Succession>,
    /// Calls that waited for a kernel or a copy.
    pub ends: Vec<EndEdge>,
}

/// A launch on both time lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StartEdge {
    /// The event of the thread that launches.
    pub host: EventSpot,
    /// The same time at the stream.
    pub stream: EventSpot,
    /// That time.
    pub time: Ticks,
    /// Whether the stream had nothing else to do before: what comes earlier at the stream does not matter to what was launched.
    pub is_awaited: bool,
}

/// A kernel or a copy that begins when one of another stream is done, which it waits for by an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Succession {
    /// The end of the one before.
    pub end: EventSpot,
    /// Its time.
    pub time: Ticks,
    /// The begin of the one behind.
    pub begin: EventSpot,
}

/// A call that waited for a kernel or a copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EndEdge {
    /// The event that waits.
    pub waiting: EventSpot,
    /// The end of the last one that it waited for.
    pub causing: EventSpot,
    /// Since when it waits.
    pub begin: Ticks,
    /// How long, in ticks.
    pub ticks: Ticks,
}

/// Finds what a process has waited for its accelerators, and what these have waited for, and adds it to the severities; those parts
/// that lie in windows, if there are windows. Returns what root causes need to know.
pub fn find(
    trace: &Trace,
    metrics: &Metrics,
    walked: &mut Walked,
    windows: Option<&Windows>,
) -> OffloadEdges {
    let (Some(offload), Some(of_streams)) = (walked.offload.take(), metrics.streams) else {
        return OffloadEdges::default();
    };
    let streams = Streams::new(trace, &offload);
    let launched = Launched::new(&offload, &streams, slack(trace));
    let records = Records::new(&offload);
    let successors = launched.successors((&offload, &records), &streams);
    let first = walked.process.locations.first().map_or(0, |location| location.location);
    let mut finder = Finder {
        offload: &offload,
        streams: &streams,
        launched: &launched,
        records,
        successors,
        results: &mut walked.results,
        first,
        windows,
        edges: OffloadEdges::default(),
    };
    finder.unknown_launches();
    finder.idle_devices(&of_streams);
    finder.starts(&of_streams);
    finder.ends(metrics, slack(trace));
    finder.edges
}

/// How much clocks of devices may be wrong, in ticks: 10 µs (site.md, 6.3).
fn slack(trace: &Trace) -> Ticks {
    const SECONDS: f64 = 10e-6;
    truncated(SECONDS * trace.definitions.clock.resolution as f64).max(1)
}

struct Finder<'a> {
    offload: &'a Offload,
    streams: &'a Streams,
    launched: &'a Launched,
    records: Records<'a>,
    /// What begins when one of another stream is done, with that one.
    successors: FxHashMap<u32, u32>,
    results: &'a mut Results,
    /// Location of the first thread.
    first: usize,
    /// Where things count; everywhere without.
    windows: Option<&'a Windows>,
    edges: OffloadEdges,
}

impl Finder<'_> {
    /// Adds those ticks since a time that count to a metric at an activity.
    fn add(&mut self, metric: usize, activity: u32, begin: Ticks, ticks: Ticks) {
        let activity = &self.offload.activities[activity as usize];
        let counted = focus::counted(self.windows, begin, ticks);
        let thread = activity.stream as usize - self.first;
        self.results.severities[thread].add(metric, activity.row, counted);
    }

    /// Counts what runs on streams without a known launch, and launches of nothing known.
    fn unknown_launches(&mut self) {
        let findings = &mut self.results.findings;
        for (activity, launch) in self.offload.activities.iter().zip(&self.launched.of_activity) {
            if launch.is_none() {
                let (time, location) = (activity.time.enter, activity.stream as usize);
                findings.add(
                    Finding::LaunchUnknown,
                    time,
                    location,
                    || "nothing in the trace starts it for sure",
                );
            }
        }
        for (launch, activity) in self.offload.launches.iter().zip(&self.launched.of_launch) {
            if activity.is_none() {
                let (time, location) = (launch.call.enter, launch.location as usize);
                findings.add(
                    Finding::NothingLaunched,
                    time,
                    location,
                    || "what it starts is not known for sure",
                );
            }
        }
    }

    /// Adds the time in which devices run nothing, at what they run next (site.md, 6.3).
    fn idle_devices(&mut self, metrics: &StreamMetrics) {
        for device in self.streams.by_device() {
            let mut until = None;
            for &at in device {
                let time = self.offload.activities[at as usize].time;
                if let Some(until) = until.filter(|&until| until < time.enter) {
                    self.add(metrics.idle, at, until, time.enter - until);
                }
                until = until.max(Some(time.leave));
            }
        }
    }

    /// Adds late launches and latencies, and the edges of what has begun (site.md, 6.2).
    fn starts(&mut self, metrics: &StreamMetrics) {
        for line in self.streams.lines() {
            let mut ran_until = None;
            for &at in &line.activities {
                let activity = &self.offload.activities[at as usize];
                let begin = activity.time.enter;
                let awaited = self.successors.get(&at).map(|&other| &self.offload.activities[other as usize]);
                // Streams run one after the other; those that seem to overlap have clocks that are wrong.
                let before = ran_until.filter(|&before| before <= begin);
                let event = awaited.map(|it| it.time.leave).filter(|&end| end <= begin);
                let ready = before.max(event);
                if let Some(launch) = self.launched.launch(self.offload, at) {
                    let call = launch.call;
                    if let Some(before) = before.filter(|&before| before < call.enter.min(begin)) {
                        self.add(metrics.late_launch, at, before, call.enter.min(begin) - before);
                    }
                    let ran = self.streams.ran_until(at);
                    let since = ran.max(ready).map_or(call.leave, |ready| ready.max(call.leave));
                    if since < begin && !launch.is_blocking {
                        self.add(metrics.latency, at, since, begin - since);
                    }
                    let time = if launch.is_blocking { call.enter } else { call.leave };
                    let at_stream = self.launched.at_stream(self.offload, at);
                    if !at_stream.is_none() {
                        self.edges.starts.push(StartEdge {
                            host: Spot { location: launch.location, position: launch.position },
                            stream: Spot { location: line.location, position: at_stream },
                            time,
                            is_awaited: ready.is_none_or(|ready| ready < time.min(begin)),
                        });
                    }
                }
                if let (Some(awaited), true) = (awaited, event.is_some() && event == ready && event > before)
                {
                    self.edges.successions.push(Succession {
                        end: Spot { location: awaited.stream, position: awaited.ended },
                        time: awaited.time.leave,
                        begin: Spot { location: line.location, position: activity.begun },
                    });
                }
                ran_until = ran_until.max(Some(activity.time.leave));
            }
        }
    }

    /// Adds waiting for devices, and its edges (site.md, 6.2).
    fn ends(&mut self, metrics: &Metrics, slack: Ticks) {
        for call in &self.offload.waits {
            let location = call.location as usize;
            let known = (self.offload, &self.records);
            let Some(last) = waits::last_awaited(known, self.streams, self.launched, call, slack) else {
                let why = || "which stream it waits for is not known";
                self.results.findings.add(Finding::DeviceWaitUnknown, call.call.enter, location, why);
                continue;
            };
            let Some(last) = last else { continue };
            let activity = &self.offload.activities[last as usize];
            let late = activity.time.leave - call.call.leave;
            if late > slack {
                self.results
                    .findings
                    .add(Finding::DeviceClock, call.call.leave, location, || format!("{late} ticks later"));
            }
            let mut wait = DeviceWait { call: call.call, end: activity.time.leave, kernels: 0, copies: 0 };
            let until = wait.until();
            let windows = self.windows;
            let of_chain = (last, &self.successors);
            waits::chain(
                self.offload,
                self.streams,
                of_chain,
                (call.call.enter, until),
                |kind, begin, ticks| {
                    let sum = match kind {
                        ActivityKind::Kernel => &mut wait.kernels,
                        ActivityKind::Copy => &mut wait.copies,
                    };
                    *sum += focus::counted(windows, begin, ticks);
                },
            );
            for (pattern, rule) in &metrics.at_device_wait {
                let ticks = match pattern.is_outermost_waiting {
                    true => focus::counted(windows, call.call.enter, rule(&wait)),
                    false => rule(&wait),
                };
                self.results.severities[location - self.first].add(pattern.metric, call.row, ticks);
            }
            self.edges.ends.push(EndEdge {
                waiting: Spot { location: call.location, position: call.position },
                causing: Spot { location: activity.stream, position: activity.ended },
                begin: call.call.enter,
                ticks: wait.waiting(),
            });
        }
    }
}
