//! Accelerators: kernels and copies on streams, and the calls on the host that start them and wait for them (site.md, 6.1 and 6.2).
//!
//! Streams are walked in the order of time together with the threads of their process. So where a thread leaves a launch, the
//! journal of the stream has come to the same time, and gets a mark, also while the stream runs something else.

use model::accelerators::Function;
use model::{LocationType, Ticks};
use otf2::{MappingType, Mappings};
use patterns::matched::Interval;
use rustc_hash::FxHashMap;

use super::process::ProcessWalk;
use super::stack::Frame;
use super::thread::Numbering;
use crate::call_tree::NO_SITE;
use crate::findings::Finding;
use crate::ids::EventNumber;
use crate::int::to_u32;
use crate::operations::{
    Activity, ActivityKind, Awaited, DeviceCall, Direction, EventCall, Launch, Offload, StreamMark,
};
use crate::severity::amount;
use crate::trace::{AcceleratorPart, Accelerators, Artificial, streams_of};

/// The state of a process as far as its accelerators are concerned.
#[derive(Debug)]
pub(super) struct OffloadWalk<'t> {
    known: &'t Accelerators,
    /// The streams of the process, as the positions of their locations in the report.
    streams: Vec<u32>,
    /// The only one of them; `None` if there are several.
    only_stream: Option<u32>,
    /// Where kernels and copies have run since a launch has not named its stream: by kind and call site, and by kind alone.
    seen: FxHashMap<(ActivityKind, Option<u64>), SeenOn>,
    /// Whether a launch has not named its stream.
    has_unnamed: bool,
    /// By thread: its state.
    threads: Vec<ThreadOffload>,
    found: Offload,
}

/// The state of a thread, or of a stream.
#[derive(Clone, Debug, Default)]
struct ThreadOffload {
    /// Calls and kernels that were entered and not left, the outermost first.
    open: Vec<OpenPart>,
    /// The stream to which the thread has given something last: its device is the one that the thread uses.
    last_stream: Option<u32>,
    /// The copy that the stream is in.
    copy: Option<OpenCopy>,
}

/// Where kernels or copies of one kind have run so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum SeenOn {
    /// On this stream.
    Stream(u32),
    /// On more than one.
    Several,
}

/// A call of an accelerator's interface, or a kernel, that was not left.
#[derive(Clone, Copy, Debug)]
struct OpenPart {
    /// How many regions it is in.
    depth: usize,
    /// The stream and the event that its attributes name.
    stream: Option<u32>,
    event: Option<u64>,
    /// The call site that its parameter names.
    call_site: Option<u64>,
    /// Whether another call inside has done what it does.
    has_inner: bool,
    /// The event of its begin, and the place in the journal of the stream at that time.
    begun: EventNumber,
    at_stream: EventNumber,
}

/// A copy that a stream is in.
#[derive(Clone, Copy, Debug)]
struct OpenCopy {
    direction: Direction,
    begin: Ticks,
    begun: EventNumber,
}

impl<'t> OffloadWalk<'t> {
    /// The state at the begin of a process with these locations; `None` if it has no streams.
    pub(super) fn new(trace: &'t crate::trace::Trace, process: usize) -> Option<Box<OffloadWalk<'t>>> {
        let known = trace.accelerators.as_ref()?;
        let range = trace.processes[process].locations.clone();
        let streams: Vec<u32> = streams_of(&trace.locations[range.clone()], range.start).collect();
        let first = *streams.first()?;
        Some(Box::new(OffloadWalk {
            known,
            only_stream: (streams.len() == 1).then_some(first),
            streams,
            seen: FxHashMap::default(),
            has_unnamed: false,
            threads: vec![ThreadOffload::default(); range.len()],
            found: Offload::default(),
        }))
    }

    /// Returns what was found.
    pub(super) fn finish(self) -> Offload {
        self.found
    }
}

impl ProcessWalk<'_> {
    /// Whether a thread is a stream of an accelerator whose records are those of copies.
    pub(super) fn is_stream(&self, thread: usize) -> bool {
        self.offload.is_some()
            && self.trace.locations[self.location(thread)].kind == LocationType::ACCELERATOR_STREAM
    }

    /// Whether a region is time in which a stream runs nothing: that is no time of its own (site.md, 6.3).
    pub(super) fn is_idle(&self, thread: usize, region: u32) -> bool {
        let kind = self.trace.kinds.get(region as usize);
        kind.is_some_and(|kind| kind.accelerator == Some(AcceleratorPart::Idle)) && self.is_stream(thread)
    }

    /// Takes the attributes of the current event into the call that it is in; most events have none.
    #[inline(always)]
    fn take_references(&mut self, thread: usize) {
        if self.attributes.stream.is_some() || self.attributes.event.is_some() {
            self.take_named(thread, self.attributes.stream, self.attributes.event);
        }
    }

    /// Takes the stream and the event that an event names into the call that it is in.
    fn take_named(&mut self, thread: usize, stream: Option<u64>, event: Option<u64>) {
        let first = self.location(0);
        let Some(offload) = &mut self.offload else { return };
        let streams = offload.threads.len();
        if let Some(open) = offload.threads[thread].open.last_mut() {
            let named = stream.and_then(|reference| offload.known.stream(reference));
            // A stream of another process is none that this one can use.
            let named = named.filter(|&it| (first..first + streams).contains(&(it as usize)));
            open.stream = named.or(open.stream);
            open.event = event.or(open.event);
        }
    }

    /// Enters a region that has to do with streams; `row` is that of its call path.
    pub(super) fn enter_accelerator(
        &mut self,
        thread: usize,
        part: AcceleratorPart,
        (row, time): (crate::ids::Row, Ticks),
    ) {
        if self.offload.is_none() {
            return;
        }
        let is_stream = self.is_stream(thread);
        let is_begin = match part {
            AcceleratorPart::Kernel => is_stream,
            AcceleratorPart::Function(function) => function == Function::Copy && !is_stream,
            AcceleratorPart::Idle => false,
        };
        let mut begun = EventNumber::NONE;
        if is_begin {
            let state = &mut self.threads[thread];
            if state.accounted != Ticks::MIN || !state.stack.is_empty() {
                state.account_innermost(time);
            }
            begun = state.mark(row);
        }
        let depth = self.threads[thread].stack.len();
        let Some(offload) = &mut self.offload else { return };
        let only = offload.only_stream;
        let new = OpenPart {
            depth,
            stream: None,
            event: None,
            call_site: None,
            has_inner: false,
            begun,
            at_stream: EventNumber::NONE,
        };
        let open = &mut offload.threads[thread].open;
        open.retain(|open| open.depth < depth);
        open.push(new);
        self.take_references(thread);
        if is_begin && !is_stream {
            let named = self.offload.as_ref().and_then(|it| it.threads[thread].open.last()?.stream);
            let at_stream = named.or(only).map(|stream| self.mark_stream(stream, time));
            if let Some(open) = self.offload.as_mut().and_then(|it| it.threads[thread].open.last_mut()) {
                open.at_stream = at_stream.unwrap_or(EventNumber::NONE);
            }
        }
    }

    /// Leaves a region that has to do with streams, which is still the innermost one.
    pub(super) fn leave_accelerator(&mut self, thread: usize, part: AcceleratorPart, time: Ticks) {
        if self.offload.is_none() {
            return;
        }
        self.take_references(thread);
        let Some(&Frame { row, path, enter, .. }) = self.threads[thread].stack.last() else { return };
        let depth = self.threads[thread].stack.len() - 1;
        let Some(offload) = &mut self.offload else { return };
        let Some(open) = offload.threads[thread].open.pop_if(|open| open.depth == depth) else { return };
        let call = Interval::new(enter, time);
        let function = match part {
            AcceleratorPart::Idle => return,
            AcceleratorPart::Kernel => {
                return self.end_activity(thread, (ActivityKind::Kernel, open.call_site), call, open.begun);
            }
            AcceleratorPart::Function(function) => function,
        };
        if let Some(outer) = offload.threads[thread].open.last_mut() {
            outer.has_inner = true;
        }
        // Functions of the runtime of CUDA call those of its driver.
        if open.has_inner || self.is_stream(thread) {
            return;
        }
        let location = self.threads[thread].location;
        let Some(offload) = &mut self.offload else { return };
        let stream = open.stream.or(offload.only_stream);
        let state = &mut offload.threads[thread];
        let gives_work = matches!(
            function,
            Function::Launch | Function::LaunchGraph | Function::StartCopy | Function::Copy
        );
        if let Some(stream) = stream.filter(|_| gives_work) {
            state.last_stream = Some(stream);
        }
        let device = state.last_stream.or(offload.only_stream);
        let is_in_mpi = self.threads[thread].stack.mpi_depth > 0;
        let awaited = match function {
            Function::Launch | Function::StartCopy => {
                let kind = match function {
                    Function::Launch => ActivityKind::Kernel,
                    _ => ActivityKind::Copy,
                };
                let state = &mut self.threads[thread];
                state.account_innermost(time);
                let position = state.mark(row);
                let call_site = open.call_site;
                let at_stream = match stream {
                    Some(stream) => self.mark_stream(stream, time),
                    None => self.mark_possible_streams((kind, call_site), time),
                };
                let is_blocking = false;
                let launch =
                    Launch { location, kind, stream, call, call_site, is_blocking, position, at_stream };
                self.offload.iter_mut().for_each(|it| it.found.launches.push(launch));
                return;
            }
            Function::LaunchGraph => return offload.found.graphs.push(call),
            Function::Copy => {
                let (kind, is_blocking) = (ActivityKind::Copy, true);
                let OpenPart { begun: position, at_stream, .. } = open;
                let call_site = None;
                let launch =
                    Launch { location, kind, stream, call, call_site, is_blocking, position, at_stream };
                offload.found.launches.push(launch);
                Awaited::Copy(to_u32(offload.found.launches.len() - 1))
            }
            Function::SynchronizeDevice => Awaited::Device(device),
            Function::SynchronizeStream => Awaited::Stream(stream),
            Function::SynchronizeEvent => Awaited::Event(open.event),
            Function::RecordEvent => {
                return offload.found.records.push(EventCall { event: open.event, stream, call });
            }
            Function::AwaitEvent => {
                return offload.found.stream_waits.push(EventCall { event: open.event, stream, call });
            }
        };
        // What a call of MPI waits for is its own matter: this time is that of the call.
        if is_in_mpi {
            return;
        }
        // Time inside counts as after the event (specification 7.2).
        let position = self.threads[thread].mark(row);
        let wait = DeviceCall { location, path, row, call, position, awaited };
        self.offload.iter_mut().for_each(|it| it.found.waits.push(wait));
    }

    /// Takes the value of a parameter as the call site of the innermost region.
    pub(super) fn take_call_site(&mut self, thread: usize, parameter: u64, value: u64) {
        let depth = self.threads[thread].stack.len();
        let Some(offload) = self.offload.as_mut().filter(|it| it.known.is_call_site(parameter)) else {
            return;
        };
        let innermost = offload.threads[thread].open.last_mut().filter(|open| open.depth + 1 == depth);
        innermost.into_iter().for_each(|open| open.call_site = Some(value));
    }

    /// Ends what a stream runs, with its innermost region, since the event of its begin.
    fn end_activity(
        &mut self,
        thread: usize,
        (kind, call_site): (ActivityKind, Option<u64>),
        time: Interval,
        begun: EventNumber,
    ) {
        if !self.is_stream(thread) {
            return;
        }
        let state = &mut self.threads[thread];
        let Some(row) = state.stack.last().map(|frame| frame.row) else { return };
        // The time of it is before its end.
        state.account_innermost(time.leave);
        let ended = state.mark(row);
        let stream = state.location;
        let activity = Activity { stream, row, kind, time, call_site, begun, ended };
        let Some(offload) = &mut self.offload else { return };
        offload.found.activities.push(activity);
        if offload.has_unnamed {
            let mut see = |call_site: Option<u64>| {
                let seen = offload.seen.entry((kind, call_site)).or_insert(SeenOn::Stream(stream));
                if *seen != SeenOn::Stream(stream) {
                    *seen = SeenOn::Several;
                }
            };
            see(None);
            call_site.into_iter().for_each(|call_site| see(Some(call_site)));
        }
    }

    /// Marks the end of the next launch, which does not name its stream, on those that it may be for: the only one that has run what
    /// it launches, or all as long as none has. If several have, it is hardly ever known for which one it is.
    fn mark_possible_streams(&mut self, of_launch: (ActivityKind, Option<u64>), time: Ticks) -> EventNumber {
        let Some(offload) = &mut self.offload else { return EventNumber::NONE };
        offload.has_unnamed = true;
        let launch = to_u32(offload.found.launches.len());
        let streams = match offload.seen.get(&of_launch) {
            Some(&SeenOn::Stream(stream)) => vec![stream],
            Some(SeenOn::Several) => Vec::new(),
            None => offload.streams.clone(),
        };
        for stream in streams {
            let mark = StreamMark { launch, stream, at_stream: self.mark_stream(stream, time) };
            self.offload.iter_mut().for_each(|it| it.found.marks.push(mark));
        }
        EventNumber::NONE
    }

    /// Marks a time in the journal of a stream, whatever it runs; returns the event.
    fn mark_stream(&mut self, stream: u32, time: Ticks) -> EventNumber {
        let thread = stream as usize - self.location(0);
        if !matches!(self.threads[thread].numbering, Numbering::Journal(_)) {
            return EventNumber::NONE;
        }
        let path = self.base(thread);
        let state = &mut self.threads[thread];
        let row = state.severities.row(path);
        if state.accounted != Ticks::MIN && state.accounted < time {
            state.account_innermost(time);
        }
        state.mark(row)
    }

    /// Begins a copy on a stream. Its partner is a rank of a window of the accelerator.
    pub(super) fn begin_copy(
        &mut self,
        thread: usize,
        mappings: &Mappings,
        (window, rank, bytes): (u32, u32, u64),
        (is_put, time): (bool, Ticks),
    ) {
        self.end_copy(thread, time);
        let reference = u64::from(mappings.global(MappingType::RmaWin, window));
        let Some(position) = self.trace.definitions.windows.position(reference) else {
            return self.undefined(thread, "window", reference);
        };
        let known = self.offload.as_ref().and_then(|offload| offload.known.is_stream(position, rank));
        let direction = match (is_put, known) {
            (true, _) => Direction::FromDevice,
            (false, Some(true)) => Direction::OnDevice,
            (false, _) => Direction::ToDevice,
        };
        if known.is_none() {
            self.find(Finding::RankOutsideCommunicator, thread, || format!("rank {rank} of a copy"));
        }
        let region = match direction {
            Direction::ToDevice => Artificial::CopyToDevice,
            Direction::FromDevice => Artificial::CopyFromDevice,
            Direction::OnDevice => Artificial::CopyOnDevice,
        };
        self.enter(thread, self.trace.artificial(region), NO_SITE, time);
        let state = &mut self.threads[thread];
        let begun = state.mark_innermost();
        if let Some((row, metrics)) = state.stack.last().map(|frame| frame.row).zip(self.metrics.streams)
            && state.counts(time)
        {
            state.severities.add(metrics.bytes[direction as usize], row, amount(bytes));
        }
        let copy = OpenCopy { direction, begin: time, begun };
        self.offload.iter_mut().for_each(|it| it.threads[thread].copy = Some(copy));
    }

    /// Ends the copy that a stream is in, if there is one.
    pub(super) fn end_copy(&mut self, thread: usize, time: Ticks) {
        let Some(copy) = self.offload.as_mut().and_then(|it| it.threads[thread].copy.take()) else { return };
        let region = self.trace.artificial(match copy.direction {
            Direction::ToDevice => Artificial::CopyToDevice,
            Direction::FromDevice => Artificial::CopyFromDevice,
            Direction::OnDevice => Artificial::CopyOnDevice,
        });
        if self.threads[thread].stack.last().is_some_and(|frame| frame.region == region) {
            let time = Interval::new(copy.begin, time);
            self.end_activity(thread, (ActivityKind::Copy, None), time, copy.begun);
            self.leave(thread, region, time.leave);
        }
    }
}
