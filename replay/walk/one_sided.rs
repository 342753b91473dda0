//! Records of one-sided communication: which epoch is open, and what belongs to it (rest of MPI 8.1).

use model::{CollectiveOp, Ticks};
use otf2::{MappingType, Mappings};
use patterns::matched::CollectiveClass;
use rustc_hash::FxHashMap;

use super::process::ProcessWalk;
use super::stack::NONE;
use crate::communicators::Participants;
use crate::coverage::Fate;
use crate::findings::Finding;
use crate::ids::EventNumber;
use crate::int::to_u32;
use crate::operations::{
    ALL_TARGETS, Access, AccessEpoch, Asked, Collective, ExposureEpoch, LockCall, LockEpoch, Step,
};
use crate::trace::WindowCall;

/// OTF2's rank for all members of a window.
const ALL: u32 = u32::MAX;

/// OTF2's type of an exclusive lock.
const EXCLUSIVE: u8 = 0;

/// Bit of a level of synchronisation: it synchronises memory, and not only processes.
const MEMORY: u32 = 2;

/// The open epochs of a process.
#[derive(Debug, Default)]
pub(super) struct OpenEpochs {
    /// By window: the position of the open access epoch.
    access: FxHashMap<u32, usize>,
    /// By window: the position of the open exposure epoch.
    exposure: FxHashMap<u32, usize>,
    /// By window: positions of the open lock epochs, in the order of their begins.
    locks: FxHashMap<u32, Vec<usize>>,
    /// By window: the number of fences.
    fences: FxHashMap<u32, u32>,
}

impl ProcessWalk<'_> {
    /// Returns the number of a window among the sets of processes.
    fn window(&mut self, thread: usize, mappings: &Mappings, local: u32) -> Option<u32> {
        let reference = u64::from(mappings.global(MappingType::RmaWin, local));
        let Some(position) = self.trace.definitions.windows.position(reference) else {
            self.undefined(thread, "window", reference);
            return None;
        };
        Some(self.trace.window(position))
    }

    /// Returns the process of a rank in a window.
    fn target(&mut self, thread: usize, window: u32, rank: u32) -> Option<u32> {
        let participants = &self.trace.communicators[window as usize];
        if *participants == Participants::Outside {
            self.reach_out(thread);
            return None;
        }
        let target = participants.peer(self.process, rank);
        if target.is_none() {
            let window = self.trace.set_name(window);
            self.find(Finding::RankOutsideCommunicator, thread, || format!("rank {rank} of {window}"));
        }
        target.map(|process| to_u32(process))
    }

    /// Adds an event of one-sided communication in the current call of MPI.
    fn step(&mut self, thread: usize) -> Option<Step> {
        self.decide(thread, Fate::Analysed);
        let call = self.mpi_call(thread)?;
        let position = self.mark_operation(thread);
        Some(Step { call, position })
    }

    /// Creates or frees a window, or passes a fence.
    pub(super) fn window_collective(
        &mut self,
        thread: usize,
        mappings: &Mappings,
        window: u32,
        (operation, time): (CollectiveOp, Ticks),
    ) {
        let begin = self.threads[thread].stack.last_mut().and_then(|frame| frame.collective_begin.take());
        let Some(window) = self.window(thread, mappings, window) else { return };
        let class = match operation {
            CollectiveOp::BARRIER => CollectiveClass::Fence,
            CollectiveOp::CREATE_HANDLE
            | CollectiveOp::ALLOCATE
            | CollectiveOp::CREATE_HANDLE_AND_ALLOCATE => CollectiveClass::WindowCreation,
            _ => CollectiveClass::WindowRelease,
        };
        self.decide_collective(thread, Some(class), window);
        if class == CollectiveClass::Fence {
            *self.epochs.fences.entry(window).or_default() += 1;
        }
        let part = Collective {
            communicator: window,
            class: Some(class),
            operation: operation.0,
            ..Collective::between(Ticks::MIN, time)
        };
        self.add_collective(thread, part, begin);
    }

    /// Adds an access to the memory of a rank in a window, which sends and receives so many bytes.
    pub(super) fn access(
        &mut self,
        thread: usize,
        mappings: &Mappings,
        (window, rank): (u32, u32),
        (sent, received): (u64, u64),
    ) {
        let metrics = self.metrics;
        self.count(thread, [(metrics.bytes_put, sent), (metrics.bytes_get, received)]);
        let Some(window) = self.window(thread, mappings, window) else { return };
        let Some(target) = self.target(thread, window, rank) else { return };
        let Some(step) = self.step(thread) else { return };
        let OpenEpochs { access, locks, fences, .. } = &self.epochs;
        let one_sided = &mut self.operations.one_sided;
        if let Some(&epoch) = access.get(&window) {
            one_sided.access_epochs[epoch].accesses.push(to_u32(one_sided.accesses.len()));
        }
        for &epoch in locks.get(&window).into_iter().flatten() {
            let epoch = &mut one_sided.lock_epochs[epoch];
            if [target, ALL_TARGETS].contains(&epoch.target) {
                epoch.calls.push(LockCall { step, target: Some(target) });
            }
        }
        let fences = fences.get(&window).copied().unwrap_or(0);
        one_sided.accesses.push(Access { window, target, step, fences });
    }

    /// Begins or ends an epoch of a group, as the region says.
    pub(super) fn synchronise_group(
        &mut self,
        thread: usize,
        mappings: &Mappings,
        (window, group): (u32, u32),
        level: u32,
    ) {
        let region = self.threads[thread].stack.last().map_or(NONE, |frame| frame.region);
        let call = self.trace.kinds.get(region as usize).and_then(|kind| kind.window_call);
        let Some(window) = self.window(thread, mappings, window) else { return };
        let reference = u64::from(mappings.global(MappingType::Group, group));
        let Some(group) = self.trace.definitions.groups.position(reference) else {
            return self.undefined(thread, "group", reference);
        };
        let group = to_u32(group);
        let Some(step) = self.step(thread) else { return };
        match call {
            Some(WindowCall::Start) => {
                let epochs = &mut self.operations.one_sided.access_epochs;
                let before = self.epochs.access.insert(window, epochs.len()).map(|epoch| epochs[epoch].start);
                epochs.push(AccessEpoch { window, group, start: step, complete: None, accesses: Vec::new() });
                self.check_begin(thread, window, before, "access epoch");
            }
            Some(WindowCall::Complete) => match self.epochs.access.remove(&window) {
                Some(epoch) => self.operations.one_sided.access_epochs[epoch].complete = Some(step),
                None => self.find_no_begin(thread, window, "access epoch"),
            },
            Some(WindowCall::Post) => {
                let epochs = &mut self.operations.one_sided.exposure_epochs;
                let before =
                    self.epochs.exposure.insert(window, epochs.len()).map(|epoch| epochs[epoch].post);
                epochs.push(ExposureEpoch { window, group, post: step, wait: None, blocks: false });
                self.check_begin(thread, window, before, "exposure epoch");
            }
            // A test that has not ended the epoch synchronises nothing.
            Some(WindowCall::Test) if level & MEMORY == 0 => {}
            Some(wait @ (WindowCall::Wait | WindowCall::Test)) => {
                match self.epochs.exposure.remove(&window) {
                    Some(epoch) => {
                        let epoch = &mut self.operations.one_sided.exposure_epochs[epoch];
                        (epoch.wait, epoch.blocks) = (Some(step), wait == WindowCall::Wait);
                    }
                    None => self.find_no_begin(thread, window, "exposure epoch"),
                }
            }
            Some(WindowCall::Flush) | None => {}
        }
    }

    /// Requests a lock of a rank, or of all.
    pub(super) fn request_lock(
        &mut self,
        thread: usize,
        mappings: &Mappings,
        (window, rank): (u32, u32),
        kind: u8,
    ) {
        let Some((window, target)) = self.locked(thread, mappings, window, rank) else { return };
        let Some(step) = self.step(thread) else { return };
        let epochs = &mut self.operations.one_sided.lock_epochs;
        let open = self.epochs.locks.entry(window).or_default();
        let before = open.iter().position(|&epoch| epochs[epoch].target == target);
        let before = before.map(|at| epochs[open.remove(at)].calls[0].step);
        open.push(epochs.len());
        epochs.push(LockEpoch {
            window,
            target,
            is_exclusive: kind == EXCLUSIVE,
            calls: vec![LockCall { step, target: None }],
            is_released: false,
        });
        self.check_begin(thread, window, before, "lock epoch");
    }

    /// Releases a lock of a rank, or of all.
    pub(super) fn release_lock(&mut self, thread: usize, mappings: &Mappings, (window, rank): (u32, u32)) {
        let Some((window, target)) = self.locked(thread, mappings, window, rank) else { return };
        let Some(step) = self.step(thread) else { return };
        let epochs = &mut self.operations.one_sided.lock_epochs;
        let open = self.epochs.locks.entry(window).or_default();
        let Some(at) = open.iter().position(|&epoch| epochs[epoch].target == target) else {
            return self.find_no_begin(thread, window, "lock epoch");
        };
        let epoch = &mut epochs[open.remove(at)];
        epoch.calls.push(LockCall { step, target: None });
        epoch.is_released = true;
    }

    /// Returns the window of a lock, and the process that is locked.
    fn locked(&mut self, thread: usize, mappings: &Mappings, window: u32, rank: u32) -> Option<(u32, u32)> {
        let window = self.window(thread, mappings, window)?;
        let target = if rank == ALL { ALL_TARGETS } else { self.target(thread, window, rank)? };
        Some((window, target))
    }

    /// Notes that accesses to a window are complete in the current call.
    pub(super) fn complete_accesses(&mut self, thread: usize, mappings: &Mappings, window: u32) {
        if let Some(window) = self.window(thread, mappings, window)
            && let Some(frame) = self.threads[thread].stack.last_mut()
        {
            frame.window = window;
        }
        self.complete(thread, Asked::Unknown);
        let region = self.threads[thread].stack.last().map_or(NONE, |frame| frame.region);
        if self.trace.kinds.get(region as usize).is_some_and(|kind| kind.completion.blocks())
            && let Some(call) = self.call(thread)
        {
            self.operations.one_sided.completing.push(call);
        }
    }

    /// Adds a flush that has completed accesses to a window to the open lock epochs; it is left by the event at `position`.
    pub(super) fn leave_flush(&mut self, thread: usize, window: u32, position: EventNumber) {
        let Some(call) = self.call(thread) else { return };
        let step = Step { call, position };
        for &epoch in self.epochs.locks.get(&window).into_iter().flatten() {
            let epoch = &mut self.operations.one_sided.lock_epochs[epoch];
            epoch.calls.push(LockCall { step, target: None });
        }
    }

    /// Adds a finding if an epoch begins before another one of its kind, which began with that step, has ended; that one is
    /// dropped.
    fn check_begin(&mut self, thread: usize, window: u32, before: Option<Step>, what: &str) {
        let Some(before) = before else { return };
        let window = self.trace.set_name(window);
        let is_of_other = self.operations.site(before.call).location as usize != self.location(thread);
        let finding = if is_of_other { Finding::ConcurrentCommunicator } else { Finding::EpochWithoutBegin };
        self.find(finding, thread, || format!("{what} of {window}: begins again before it has ended"));
    }

    fn find_no_begin(&mut self, thread: usize, window: u32, what: &str) {
        let window = self.trace.set_name(window);
        self.find(Finding::EpochWithoutBegin, thread, || format!("{what} of {window}: ends"));
    }

    /// Adds a finding for each epoch that has not ended.
    pub(super) fn check_open_epochs(&mut self) {
        let OpenEpochs { access, exposure, locks, .. } = std::mem::take(&mut self.epochs);
        let one_sided = &self.operations.one_sided;
        let access =
            access.into_iter().map(|(window, at)| (window, one_sided.access_epochs[at].start, "access"));
        let exposure =
            exposure.into_iter().map(|(window, at)| (window, one_sided.exposure_epochs[at].post, "exposure"));
        let locks = locks.into_iter().flat_map(|(window, open)| open.into_iter().map(move |at| (window, at)));
        let locks = locks.map(|(window, at)| (window, one_sided.lock_epochs[at].calls[0].step, "lock"));
        for (window, Step { call, .. }, what) in access.chain(exposure).chain(locks) {
            let call = self.operations.call(call);
            let (time, location) = (call.interval.enter, call.site.location as usize);
            self.findings.add(Finding::EpochNeverEnded, time, location, || {
                format!("{what} epoch of {}", self.trace.set_name(window))
            });
        }
    }
}
