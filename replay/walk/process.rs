//! The state of one process during the walk, independent of record types: regions are entered and left.

use std::sync::Arc;

use io_model::InFlight;
use model::{LocationType, Ticks};
use otf2::{MappingType, Mappings};
use patterns::matched::Completion;
use rustc_hash::FxHashMap;

use super::accelerators::OffloadWalk;
use super::attributes::Told;
use super::file_bytes::FileBytes;
use super::file_operations::FileOperations;
use super::file_times::FileTimes;
use super::files::{Transfer, settle_files};
use super::focus::PhaseVisits;
use super::gaps::{Counts, MissingOperations, Resumed};
use super::locks::Locks;
use super::one_sided::OpenEpochs;
use super::phases::Borders;
use super::polls::Asking;
use super::requests::Requests;
use super::stack::{Frame, NONE};
use super::tasks::Tasks;
use super::teams::Teams;
use super::thread::{Numbering, Thread};
use super::work::MainThread;
use super::{Notes, Walked, WalkedLocation, WalkedProcess, WindowCalls};
use crate::call_tree::{CallTree, NO_SITE};
use crate::coverage::{Coverage, Fate};
use crate::details::Scheme;
use crate::findings::{Finding, Findings};
use crate::ids::{CallId, EventNumber, JournalPosition, PathId};
use crate::io::Feed;
use crate::journal::Spot;
use crate::metrics::Metrics;
use crate::operations::{CallSite, Calls, Gap, Operations};
use crate::results::Results;
use crate::severity::{MetricId, amount};
use crate::trace::{Artificial, RegionKind, Trace};

/// One process: its locations, and their shared state.
pub(super) struct ProcessWalk<'t> {
    pub(super) trace: &'t Trace,
    pub(super) metrics: &'t Metrics,
    pub(super) process: usize,
    pub(super) threads: Vec<Thread>,
    pub(super) tree: CallTree,
    pub(super) operations: Operations,
    pub(super) requests: Requests,
    pub(super) asking: Asking,
    pub(super) teams: Teams,
    pub(super) tasks: Tasks,
    pub(super) locks: Locks,
    pub(super) epochs: OpenEpochs,
    pub(super) transfers: InFlight<(u32, u64), Transfer>,
    pub(super) findings: Findings,
    pub(super) coverage: Coverage,
    /// The longest time from one sample of a thread to the next while it computes, in ticks.
    pub(super) longest_gap: Ticks,
    /// From this length on, leaving a call that completes messages is an event, in ticks.
    pub(super) shortest_rest: Ticks,
    /// The gap attributes of the current event, and the last counts.
    pub(super) told: MissingOperations,
    /// Other attributes of the current event.
    pub(super) attributes: Told,
    pub(super) counts: Counts,
    /// Points at which threads resumed recording after it was off and counted; in the order of time.
    pub(super) resumed: FxHashMap<usize, Vec<Resumed>>,
    /// Regions of programs by the string that names them.
    programs: FxHashMap<usize, u32>,
    /// How timelines are made, if they are.
    pub(super) scheme: Option<&'t Scheme>,
    /// By call path: the outermost parallel region above it, or the path itself.
    pub(super) outermost: Vec<PathId>,
    /// Visits of phases by the main thread.
    pub(super) phases: PhaseVisits,
    /// What the work of the main thread is computed from.
    pub(super) main: MainThread,
    /// Where the main thread enters and leaves phases of which efficiencies are wanted.
    pub(super) borders: Borders,
    /// Whether the first MPI_Init, and the first MPI_Finalize, was left.
    pub(super) was_initialized: bool,
    pub(super) was_finalized: bool,
    /// Which files its calls are about; `None` if there are none.
    pub(super) file_times: Option<Box<FileTimes>>,
    /// What is to be counted of operations on files that have begun.
    pub(super) file_bytes: Option<Box<FileBytes>>,
    /// What it does with accelerators; `None` if it has no streams of any.
    pub(super) offload: Option<Box<OffloadWalk<'t>>>,
    /// What the process does to files, if that is wanted.
    pub(super) io: Option<Box<Feed<'t>>>,
    /// Operations on files, if rules are over them.
    pub(super) file_operations: Option<Box<FileOperations>>,
}

impl<'t> ProcessWalk<'t> {
    pub(super) fn new(
        trace: &'t Trace,
        metrics: &'t Metrics,
        process: usize,
        Notes { positions, scheme, has_steps, has_marks, windows, io, has_file_operations }: Notes<'t>,
    ) -> ProcessWalk<'t> {
        let locations = trace.processes[process].locations.clone();
        let bins = scheme.map(|scheme| scheme.bins);
        let has_contexts =
            trace.semantics.attributes_samples() && !trace.definitions.calling_contexts.is_empty();
        let new = |location: usize| {
            let mut thread = Thread::new(location, positions, bins, has_steps);
            windows.into_iter().for_each(|windows| thread.focus(windows));
            thread.charges = has_contexts.then(Box::default);
            thread.noted = has_marks.then(Box::default);
            thread.events = (has_marks && trace.events.count() > 0).then(Box::default);
            thread
        };
        ProcessWalk {
            trace,
            metrics,
            process,
            threads: locations.clone().map(new).collect(),
            tree: CallTree::default(),
            operations: Operations::default(),
            requests: Requests::default(),
            asking: Asking::default(),
            teams: Teams::default(),
            tasks: Tasks::default(),
            locks: Locks::default(),
            epochs: OpenEpochs::default(),
            transfers: InFlight::default(),
            findings: Findings::default(),
            coverage: Coverage::default(),
            longest_gap: trace.longest_gap(),
            shortest_rest: trace.shortest_rest(),
            told: MissingOperations::default(),
            attributes: Told::default(),
            counts: Counts::default(),
            resumed: FxHashMap::default(),
            programs: FxHashMap::default(),
            scheme,
            outermost: Vec::new(),
            phases: PhaseVisits::default(),
            main: MainThread::default(),
            borders: Borders::default(),
            was_initialized: false,
            was_finalized: false,
            offload: OffloadWalk::new(trace, process),
            file_times: FileTimes::new(trace, locations.len()),
            io: io.map(|asked| Box::new(Feed::new(asked, process, locations.len()))),
            file_operations: has_file_operations.then(Box::default),
            file_bytes: FileBytes::new(trace),
        }
    }

    /// Returns the position of a thread's location in the report.
    pub(super) fn location(&self, thread: usize) -> usize {
        self.threads[thread].location as usize
    }

    /// Adds a finding at a thread's current time.
    pub(super) fn find<T: std::fmt::Display>(
        &mut self,
        finding: Finding,
        thread: usize,
        text: impl FnOnce() -> T,
    ) {
        let location = self.location(thread);
        // Before its first event a location is at the start of the trace.
        let time = Some(self.threads[thread].now).filter(|&now| now != Ticks::MIN).unwrap_or(0);
        self.findings.add(finding, time, location, text);
    }

    /// Marks the events of a thread as unknown from here on.
    pub(super) fn lose(&mut self, thread: usize) {
        self.threads[thread].is_lost = true;
        self.operations.has_unknown_end = true;
        self.operations.interrupt();
    }

    /// Returns the path above everything that a thread does outside of its teams: nothing for the main
    /// thread, an artificial root for others.
    pub(super) fn base(&mut self, thread: usize) -> PathId {
        if self.threads[thread].stack.base == PathId::NONE && thread > 0 {
            let location = &self.trace.locations[self.location(thread)];
            let region = match location.kind {
                LocationType::CPU_THREAD => Artificial::Threads,
                _ => Artificial::Kernels,
            };
            self.threads[thread].stack.base = self.artificial_root(region);
        }
        self.threads[thread].stack.base
    }

    /// Returns the root of regions that belong to no call of the program; below the program if there is one.
    pub(super) fn artificial_root(&mut self, region: Artificial) -> PathId {
        let is_program = self.tree.paths().first().is_some_and(|root| self.trace.is_program(root.region));
        let root = if is_program { PathId::default() } else { PathId::NONE };
        self.tree.enter(root, self.trace.artificial(region), NO_SITE)
    }

    #[inline(always)]
    pub(super) fn enter(&mut self, thread: usize, region: u32, site: u32, time: Ticks) {
        let parent = match self.threads[thread].stack.last() {
            Some(frame) => frame.path,
            None => self.outside(thread, region),
        };
        let path = self.tree.enter(parent, region, site);
        let state = &mut self.threads[thread];
        let row = state.severities.row(path);
        self.classify(thread, row, path);
        let state = &mut self.threads[thread];
        let frame = Frame { entered: state.record(), ..Frame::new(path, row, region, time) };
        let (mut barrier, mut makes_progress) = (NONE, false);
        if let Some(kind) = self.trace.kinds.get(region as usize) {
            state.stack.mpi_depth += u32::from(kind.is_mpi);
            makes_progress = kind.makes_progress;
            if kind.is_special() {
                barrier = self.enter_special(thread, frame, *kind);
            }
        }
        self.threads[thread].push(Frame { barrier, ..frame });
        if self.threads[thread].noted.is_some() {
            self.note_enter(thread, region, barrier, time);
        }
        if makes_progress {
            self.enter_mpi(thread);
        }
    }

    /// Notes that a thread is in MPI from now on: others may have waited for that. The event lies behind the time before the
    /// call (rest of MPI 2.3).
    fn enter_mpi(&mut self, thread: usize) {
        let entered = self.threads[thread].mark_innermost();
        let Thread { stack, location, .. } = &mut self.threads[thread];
        if let Some(frame) = stack.last_mut() {
            let calls = &mut self.operations.calls;
            frame.call = call_of(frame, (thread, *location), entered, self.trace, calls);
        }
    }

    /// Returns the path from which a region is entered outside of any other.
    #[cold]
    fn outside(&mut self, thread: usize, region: u32) -> PathId {
        self.enter_task(thread, region);
        self.base(thread)
    }

    /// Enters a region that means more than time; returns the visit to the barrier that it is.
    #[cold]
    fn enter_special(&mut self, thread: usize, frame: Frame, kind: RegionKind) -> u32 {
        let time = frame.enter;
        if let Some(part) = kind.accelerator {
            self.enter_accelerator(thread, part, (frame.row, time));
        }
        if kind.is_of_event {
            self.enter_events(thread, &frame);
        }
        if kind.is_parallel {
            self.enter_parallel_region(thread, frame.row, time);
        }
        if let Some(phase) = kind.phase.filter(|_| thread == 0) {
            self.phases.enter(phase, time, self.between_steps(thread));
        }
        if kind.is_finalize && !self.was_finalized {
            for (at, other) in self.threads.iter_mut().enumerate() {
                if at == thread {
                    other.account_innermost(time);
                }
                other.at_finalize.get_or_insert(other.elapsed);
            }
            self.end_work(time);
        }
        kind.barrier.map_or(NONE, |class| self.enter_barrier(thread, &frame, class))
    }

    /// Marks an event in which a thread communicates; returns its position.
    #[inline(always)]
    pub(super) fn mark_operation(&mut self, thread: usize) -> EventNumber {
        match &self.threads[thread].numbering {
            Numbering::Nothing | Numbering::Calls(_) | Numbering::Pieces(_) => EventNumber::NONE,
            Numbering::Journal(_) => self.threads[thread].mark_innermost(),
            Numbering::Records(_) => self.number_operation(thread),
        }
    }

    /// Marks such an event if records are numbered.
    #[inline(never)]
    fn number_operation(&mut self, thread: usize) -> EventNumber {
        let state = &mut self.threads[thread];
        let position = state.mark_innermost();
        if position != EventNumber::NONE && self.threads.len() > 1 {
            let location = self.threads[thread].location;
            self.operations.order.push(Spot { location, position });
        }
        position
    }

    /// Returns the call of the innermost region of a thread in the operations; `None` outside of any region.
    #[inline(always)]
    pub(super) fn call(&mut self, thread: usize) -> Option<CallId> {
        match self.threads[thread].stack.last()?.call {
            CallId::NONE => self.begin_call(thread),
            call => Some(call),
        }
    }

    #[inline(never)]
    fn begin_call(&mut self, thread: usize) -> Option<CallId> {
        let Thread { stack, location, .. } = &mut self.threads[thread];
        let frame = stack.last_mut()?;
        let calls = &mut self.operations.calls;
        frame.call = call_of(frame, (thread, *location), EventNumber::NONE, self.trace, calls);
        Some(frame.call)
    }

    /// Whether the innermost region of a thread is an MPI call.
    #[inline(always)]
    pub(super) fn is_in_mpi(&self, thread: usize) -> bool {
        self.threads[thread]
            .stack
            .last()
            .is_some_and(|frame| self.trace.kinds.get(frame.region as usize).is_some_and(|kind| kind.is_mpi))
    }

    /// Adds to MPI metrics at a thread's current path; nothing outside of MPI.
    #[inline(always)]
    pub(super) fn count<const N: usize>(&mut self, thread: usize, values: [(MetricId, u64); N]) {
        let is_in_mpi = self.is_in_mpi(thread);
        let thread = &mut self.threads[thread];
        let counts = is_in_mpi && thread.counts(thread.now);
        if let Some(frame) = thread.stack.last().filter(|_| counts) {
            for (metric, value) in values {
                thread.severities.add(metric, frame.row, amount(value));
            }
        }
    }

    /// Notes the fate of the time of a thread's current MPI call.
    pub(super) fn decide(&mut self, thread: usize, fate: Fate) {
        if let Some(frame) = self.threads[thread].stack.last_mut() {
            frame.fate = Some(fate);
        }
    }

    /// Returns the region of the program with this name.
    pub(super) fn program(&mut self, name: u32, mappings: &Mappings) -> Option<u32> {
        let reference = u64::from(mappings.global(MappingType::String, name));
        let name = self.trace.definitions.strings.position(reference)?;
        let trace = self.trace;
        Some(*self.programs.entry(name).or_insert_with(|| trace.program(name)))
    }

    /// Enters a program as the root of all call paths before it begins.
    pub(super) fn announce_program(&mut self, name: u32, mappings: &Mappings) {
        if let Some(region) = self.program(name, mappings) {
            self.tree.enter(PathId::NONE, region, NO_SITE);
        }
    }

    /// Ends a program and all open regions in it. Sampled regions are never left otherwise.
    pub(super) fn end_program(&mut self, thread: usize, time: Ticks) {
        let frames = self.threads[thread].stack.frames();
        let Some(at) = frames.iter().position(|frame| self.trace.is_program(frame.region)) else { return };
        let program = frames[at].region;
        self.account_common(thread, at + 1, None, time);
        while self.threads[thread].stack.last().is_some_and(|frame| frame.context != NONE) {
            self.leave_innermost(thread, time);
        }
        self.leave(thread, program, time);
    }

    /// Leaves all open regions of a thread at its last event.
    fn close_calls(&mut self, thread: usize) {
        while let Some(&frame) = self.threads[thread].stack.last() {
            let (region, now, trace) = (frame.region, self.threads[thread].now, self.trace);
            if self.is_in_mpi(thread)
                && let Some(call) = self.call(thread)
            {
                self.operations.calls.never_return(call);
            }
            if region == trace.artificial(Artificial::MeasurementOff) {
                self.operations.has_unknown_end = true;
                let ticks = self.threads[thread].counted(frame.enter, now - frame.enter);
                self.threads[thread].elapsed.add_off(ticks);
            }
            // A sampled region is never left; it ends with the next sample. Regions that the recorder adds
            // are no calls either.
            let is_call = (region as usize) < trace.kinds.len() || trace.is_program(region);
            if is_call && (frame.context == NONE || self.is_in_mpi(thread)) {
                self.find(Finding::OpenCall, thread, || {
                    format!("{} is never left", trace.region_name(region))
                });
            }
            self.leave_innermost(thread, now);
        }
    }

    /// Keeps calls of each thread in windows.
    pub(super) fn keep_calls(&mut self, calls: Vec<WindowCalls>) {
        for (thread, calls) in self.threads.iter_mut().zip(calls) {
            thread.numbering = Numbering::Calls(Box::new(calls));
        }
    }

    /// Returns the calls of each thread in windows.
    pub(super) fn take_calls(&mut self) -> Vec<WindowCalls> {
        let take = |thread: &mut Thread| match std::mem::replace(&mut thread.numbering, Numbering::Nothing) {
            Numbering::Calls(calls) => Some(*calls),
            _ => None,
        };
        self.threads.iter_mut().filter_map(take).collect()
    }

    /// Closes all open regions, once all events were handled.
    pub(super) fn close(&mut self) {
        self.close_teams();
        self.end_events();
        for thread in 0..self.threads.len() {
            self.close_calls(thread);
            while self.go_on_at_end(thread) {
                self.close_calls(thread);
            }
        }
    }

    /// Adds the memory that the process had in use, at the root of its call paths.
    fn add_memory(&mut self) {
        let Some(metric) = self.metrics.memory.filter(|_| !self.tree.paths().is_empty()) else { return };
        let definitions = &self.trace.definitions.locations;
        let of_thread =
            |thread| definitions[self.trace.locations[self.location(thread)].definition].resident_bytes;
        let Some(bytes) = (0..self.threads.len()).filter_map(of_thread).max() else { return };
        // Parents come before their children, so the first path is a root.
        let severities = &mut self.threads[0].severities;
        let row = severities.row(PathId::default());
        severities.add(metric, row, amount(bytes));
    }

    /// Returns the results, once all regions are closed.
    pub(super) fn finish(mut self) -> Walked {
        self.drop_tasks();
        self.match_locks();
        self.check_open_epochs();
        self.check_counters();
        self.threads.iter_mut().for_each(Thread::settle_states);
        self.add_memory();
        settle_files(&mut self.operations);
        self.drop_transfers();
        self.drop_requests();
        if !self.was_initialized {
            // Not recorded from the start: the first operations of the process may be missing.
            self.operations.gap = Some(Gap::default());
        }
        self.operations.shrink();
        let work = self.main_thread_work().map(Box::new);
        let (time, visits) = (self.metrics.time, self.metrics.visits);
        let count = self.threads.len();
        let (mut locations, mut severities) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let (mut journals, mut records, mut record_pieces) = (Vec::new(), Vec::new(), Vec::new());
        let (mut timelines, mut steps) = (Vec::new(), Vec::new());
        let (mut notes, mut pieces) = (Vec::new(), Vec::new());
        let events = self.take_events();
        for (number, thread) in self.threads.iter_mut().enumerate() {
            match std::mem::replace(&mut thread.numbering, Numbering::Nothing) {
                Numbering::Nothing | Numbering::Calls(_) => {}
                Numbering::Journal(mut journal) => {
                    thread.note_end(journal.len());
                    journal.shrink();
                    add(&mut journals, journal, count - number);
                }
                Numbering::Records(mut of_location) => {
                    of_location.ignored.sort_unstable();
                    add(&mut records, of_location, count - number);
                }
                Numbering::Pieces(of_location) => {
                    thread.note_end(JournalPosition::new(of_location.list.len()));
                    record_pieces.push(of_location);
                }
            }
            severities.push(thread.finish(time, visits));
            if let Some(timeline) = thread.timeline.take() {
                add(&mut timelines, timeline.finish(), count - number);
            }
            if let Some(of_location) = thread.steps.take() {
                add(&mut steps, of_location.finish(), count - number);
            }
            if let Some(mut noted) = thread.noted.take() {
                noted.pieces.shrink();
                notes.push(noted.notes);
                pieces.push(noted.pieces);
            }
            let end = thread.at_finalize.unwrap_or(thread.elapsed);
            locations.push(WalkedLocation {
                location: thread.location as usize,
                run: end.time,
                run_mpi: end.mpi,
                run_off: end.off,
                is_worker: number > 0 && thread.teams > 0,
                is_lost: thread.is_lost,
                sampled: thread.samples.take().map(|samples| samples.by_row).unwrap_or_default(),
                end: thread.now,
            });
        }
        Walked {
            process: WalkedProcess {
                number: self.process,
                paths: self.tree.into_paths(),
                locations: locations.into(),
                work,
                file_times: self.file_times.map(|times| times.finish()).unwrap_or_default(),
            },
            operations: Arc::new(self.operations),
            journals,
            records,
            record_pieces: record_pieces.into(),
            steps,
            notes: notes.into(),
            pieces: pieces.into(),
            borders: self.borders.list.into(),
            visits: self.phases.visits.into(),
            events,
            file_operations: self.file_operations.map(|it| it.finish()).unwrap_or_default(),
            offload: self.offload.map(|it| Box::new(it.finish())),
            io: self.io.map(|feed| Box::new(feed.into_walk())),
            results: Results { severities, timelines, findings: self.findings, coverage: self.coverage },
        }
    }
}

/// Adds to a list that may get so many, with this one: a list that grows by itself has room for four, and most processes have one thread.
fn add<T>(list: &mut Vec<T>, one: T, most: usize) {
    list.reserve_exact(most);
    list.push(one);
}

/// Returns the call of a frame of a thread in the operations; `entered` is the event of entering it, if MPI makes progress in it.
#[inline(always)]
pub(super) fn call_of(
    frame: &Frame,
    (thread, location): (usize, u32),
    entered: EventNumber,
    trace: &Trace,
    calls: &mut Calls,
) -> CallId {
    let Frame { call, path, row, enter, region, .. } = *frame;
    if call != CallId::NONE {
        return call;
    }
    calls.enter(thread, (path, row), (enter, entered), || {
        let kind = trace.kinds.get(region as usize).copied().unwrap_or_default();
        let is_off = region == trace.artificial(Artificial::MeasurementOff);
        // Operations that complete while recording is off have an unknown completion: no call is known to
        // wait for them.
        let completion = if is_off { Completion::Test } else { kind.completion };
        let RegionKind { is_mpi, makes_progress, has_own_work, .. } = kind;
        CallSite { location, path, row, completion, is_mpi, makes_progress, has_own_work }
    })
}

/// Closes a call that was left: accounts those of its ticks that count to its fate, and ends its communication and its receives.
/// `is_outermost` says that it is an MPI call and not inside another one.
#[inline(never)]
pub(super) fn close_call(
    frame: &Frame,
    is_outermost: bool,
    (time, ticks): (Ticks, Ticks),
    trace: &Trace,
    operations: &mut Operations,
    coverage: &mut Coverage,
) {
    let Some(kind) = trace.kinds.get(frame.region as usize) else { return };
    let mut is_analysed = false;
    // Start-up and shutdown would hide the fate of the rest.
    if is_outermost && !kind.is_init && !kind.is_finalize {
        let fate = frame.fate.unwrap_or(kind.fate);
        coverage.add(fate, ticks);
        is_analysed = fate == Fate::Analysed;
    }
    if frame.call != CallId::NONE {
        operations.calls.leave(frame.call, time, is_analysed);
    }
    if kind.completion == Completion::WaitMany && frame.last_receive != NONE {
        let is_forgotten = frame.inner_leave && trace.semantics.forgets_at_inner_leave();
        operations.receives[frame.last_receive as usize].end_call(is_forgotten);
    }
}
