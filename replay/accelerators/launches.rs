//! Launches: which call has started what runs on a stream (site.md, 6.2).

use std::cell::{LazyCell, OnceCell};

use model::Ticks;
use patterns::matched::Interval;
use rustc_hash::{FxHashMap, FxHashSet};

use super::queues::{self, Start};
use super::records::Records;
use super::streams::Streams;
use crate::ids::EventNumber;
use crate::operations::{ActivityKind, Awaited, Launch, Offload};

/// Launches and what they have started.
#[derive(Clone, Debug, Default)]
pub(super) struct Launched {
    /// By activity: its launch, as a position in [`Offload::launches`].
    pub(super) of_activity: Vec<Option<u32>>,
    /// By launch: its activity.
    pub(super) of_launch: Vec<Option<u32>>,
}

/// What belongs to a call site.
#[derive(Debug, Default)]
struct OfCallSite {
    /// Its launches, in the order of their ends.
    launches: Vec<u32>,
    /// Its kernels, in the order of streams and of begins.
    kernels: Vec<u32>,
}

/// What is known of a process.
struct Known<'a> {
    offload: &'a Offload,
    streams: &'a Streams,
    /// When graphs were launched, in ascending order: they may run anything on any stream.
    graphs: &'a [Ticks],
    /// By stream: the calls that wait for it, once they are needed.
    awaited: Vec<OnceCell<Vec<Interval>>>,
    /// How much clocks of devices may be wrong, in ticks.
    slack: Ticks,
}

impl Known<'_> {
    /// Calls that wait for a stream, or for its device, by the time of their enter.
    fn awaited(&self, location: u32) -> &[Interval] {
        let at = self.streams.line(location);
        at.map_or(&[], |at| self.awaited[at].get_or_init(|| awaited(self.offload, self.streams, location)))
    }

    fn enter(&self, launch: u32) -> Ticks {
        self.offload.launches[launch as usize].call.enter
    }

    fn begin(&self, activity: u32) -> Ticks {
        self.offload.activities[activity as usize].time.enter
    }

    /// Sorts launches by their enters, and what was launched by its begins.
    fn sort(&self, launches: &mut [u32], activities: &mut [u32]) {
        launches.sort_by_key(|&number| (self.enter(number), self.offload.launches[number as usize].location));
        activities.sort_by_key(|&at| (self.begin(at), self.offload.activities[at as usize].time.leave));
    }
}

impl Launched {
    /// Matches both. Clocks of devices may be wrong by `slack` ticks.
    pub(super) fn new(offload: &Offload, streams: &Streams, slack: Ticks) -> Launched {
        let mut launched = Launched {
            of_activity: vec![None; offload.activities.len()],
            of_launch: vec![None; offload.launches.len()],
        };
        let mut graphs: Vec<Ticks> = offload.graphs.iter().map(|call| call.enter).collect();
        graphs.sort_unstable();
        let awaited = vec![OnceCell::new(); streams.lines().len()];
        let known = Known { offload, streams, graphs: &graphs, awaited, slack };
        launched.blocking_copies(offload, slack);
        launched.by_call_sites(&known);
        launched.by_streams(&known, ActivityKind::Kernel);
        launched.by_streams(&known, ActivityKind::Copy);
        launched
    }

    /// The launch of an activity, if it is known.
    pub(super) fn launch<'o>(&self, offload: &'o Offload, activity: u32) -> Option<&'o Launch> {
        Some(&offload.launches[self.of_activity[activity as usize]? as usize])
    }

    /// The place of an activity's launch in the journal of its stream, if it is known.
    pub(super) fn at_stream(&self, offload: &Offload, activity: u32) -> EventNumber {
        let stream = offload.activities[activity as usize].stream;
        self.of_activity[activity as usize]
            .map_or(EventNumber::NONE, |launch| offload.at_stream(launch, stream))
    }

    fn join(&mut self, launch: u32, activity: u32) {
        self.of_activity[activity as usize] = Some(launch);
        self.of_launch[launch as usize] = Some(activity);
    }

    /// Matches blocking copies: that of a call lies within it. Most calls do not say on which stream it is.
    fn blocking_copies(&mut self, offload: &Offload, slack: Ticks) {
        if !offload.launches.iter().any(|launch| launch.is_blocking) {
            return;
        }
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

    /// Matches kernels by call sites, if launches and kernels have them: those of a launch have its own (site.md, 6.2). Where all kernels
    /// of a call site have run on one stream, its launches were for that stream, also if they do not say so.
    fn by_call_sites(&mut self, known: &Known<'_>) {
        let offload = known.offload;
        let mut sites: FxHashMap<u64, OfCallSite> = FxHashMap::default();
        for (number, launch) in (0..).zip(&offload.launches) {
            if let Some(site) = launch.call_site.filter(|_| launch.kind == ActivityKind::Kernel) {
                sites.entry(site).or_default().launches.push(number);
            }
        }
        if sites.is_empty() {
            return;
        }
        for &at in known.streams.lines().iter().flat_map(|line| &line.activities) {
            if let Some(site) =
                offload.activities[at as usize].call_site.and_then(|site| sites.get_mut(&site))
            {
                site.kernels.push(at);
            }
        }
        let mut of_lines = vec![Vec::new(); known.streams.lines().len()];
        // Call sites have nothing to do with each other, so their order does not matter.
        sites.into_values().for_each(|site| self.of_call_site(known, site, &mut of_lines));
    }

    /// Matches those of a call site; `of_lines` has an empty list for each stream.
    fn of_call_site(
        &mut self,
        known: &Known<'_>,
        OfCallSite { mut launches, mut kernels }: OfCallSite,
        of_lines: &mut [Vec<u32>],
    ) {
        let launch_of = |number: u32| &known.offload.launches[number as usize];
        let runs_on = |at: u32| known.offload.activities[at as usize].stream;
        let only = match (kernels.first(), kernels.last()) {
            (Some(&first), Some(&last)) if runs_on(first) == runs_on(last) => Some(runs_on(first)),
            _ => None,
        };
        if only.is_none() && launches.iter().all(|&number| launch_of(number).stream.is_none()) {
            known.sort(&mut launches, &mut kernels);
            let enters: Vec<Ticks> = launches.iter().map(|&number| known.enter(number)).collect();
            let begins: Vec<Ticks> = kernels.iter().map(|&at| known.begin(at)).collect();
            for (launch, kernel) in queues::one_by_one(&enters, &begins) {
                self.join(launches[launch], kernels[kernel]);
            }
            return;
        }
        for number in launches {
            let stream = launch_of(number).stream.or(only);
            if let Some(at) = stream.and_then(|stream| known.streams.line(stream)) {
                of_lines[at].push(number);
            }
        }
        for kernels in kernels.chunk_by(|&one, &other| runs_on(one) == runs_on(other)) {
            let location = runs_on(kernels[0]);
            let Some(at) = known.streams.line(location) else { continue };
            // They are in this order already, unless threads launch at the same time.
            of_lines[at].sort_by_key(|&number| (known.enter(number), launch_of(number).location));
            self.in_order(known, location, &of_lines[at], kernels);
        }
        of_lines.iter_mut().for_each(Vec::clear);
    }

    /// Matches the others of a kind on each stream in their order. Those that do not say on which stream they are belong to the only
    /// stream with that kind.
    fn by_streams(&mut self, known: &Known<'_>, kind: ActivityKind) {
        let offload = known.offload;
        let has_sites = offload.activities.iter().any(|it| it.call_site.is_some());
        let is_free = |(number, launch): &(u32, &Launch)| {
            let is_of_site = has_sites && launch.call_site.is_some();
            let is_known = self.of_launch[*number as usize].is_some();
            launch.kind == kind && !launch.is_blocking && !is_known && !is_of_site
        };
        let free: Vec<(u32, &Launch)> = (0..).zip(&offload.launches).filter(is_free).collect();
        if free.is_empty() {
            return;
        }
        // What has a call site is of no other one.
        let of_launches: LazyCell<FxHashSet<u64>, _> =
            LazyCell::new(|| offload.launches.iter().filter_map(|launch| launch.call_site).collect());
        let mut of_streams: Vec<(u32, Vec<u32>)> = Vec::new();
        for line in known.streams.lines() {
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
        for (number, launch) in free {
            if let Some(stream) = launch.stream.or(only) {
                launches.entry(stream).or_default().push(number);
            }
        }
        for (location, mut activities) in of_streams {
            let Some(mut of_stream) = launches.remove(&location) else { continue };
            activities.retain(|&at| {
                let site = offload.activities[at as usize].call_site;
                self.of_activity[at as usize].is_none()
                    && !site.is_some_and(|site| of_launches.contains(&site))
            });
            known.sort(&mut of_stream, &mut activities);
            self.in_order(known, location, &of_stream, &activities);
        }
    }

    /// Matches launches for a stream with what has run there, both in order.
    fn in_order(&mut self, known: &Known<'_>, location: u32, launches: &[u32], activities: &[u32]) {
        let offload = known.offload;
        if launches.len() == activities.len() {
            let enters = launches.iter().map(|&number| known.enter(number));
            let begins = activities.iter().map(|&at| known.begin(at));
            queues::as_many(enters, begins).for_each(|at| self.join(launches[at], activities[at]));
            return;
        }
        // Only where something is missing do times decide.
        let awaited = known.awaited(location);
        let start = |&number: &u32| {
            let call = offload.launches[number as usize].call;
            let next = awaited.partition_point(|wait| wait.enter < call.leave);
            let done = awaited.get(next).map_or(Ticks::MAX, |wait| wait.leave.saturating_add(known.slack));
            Start { enter: call.enter, done }
        };
        let starts: Vec<Start> = launches.iter().map(start).collect();
        let runs: Vec<Interval> = activities.iter().map(|&at| offload.activities[at as usize].time).collect();
        for (launch, activity) in queues::pairs(&starts, &runs, awaited, known.graphs) {
            self.join(launches[launch], activities[activity]);
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
