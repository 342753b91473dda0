//! Leaving regions, with all that calls of MPI, barriers and parallel regions end.

use model::Ticks;
use patterns::matched::{CollectiveClass, Interval};

use super::marks::Noted;
use super::process::{ProcessWalk, call_of, close_call};
use super::stack::{Frame, NONE};
use super::thread::Elapsed;
use crate::findings::Finding;
use crate::ids::{CallId, EventNumber};
use crate::operations::{Collective, WORLD_AT_FINALIZE, WORLD_AT_INIT};
use crate::trace::{RegionKind, WindowCall};

impl ProcessWalk<'_> {
    /// Leaves a region, and those inside that were not left.
    #[inline(always)]
    pub(super) fn leave(&mut self, thread: usize, region: u32, time: Ticks) {
        let is_innermost = self.threads[thread].stack.last().is_some_and(|frame| frame.region == region);
        if is_innermost || self.leave_inner(thread, region, time) {
            self.leave_innermost(thread, time);
        }
    }

    /// Leaves all regions of a thread inside of a region; returns whether the thread is in the region.
    #[cold]
    fn leave_inner(&mut self, thread: usize, region: u32, time: Ticks) -> bool {
        let trace = self.trace;
        if !self.threads[thread].stack.is_in(region) {
            self.find(Finding::LeaveWithoutEnter, thread, || {
                format!("leaves {}, which is not entered", trace.region_name(region))
            });
            return false;
        }
        while let Some(open) = self.threads[thread].stack.last().map(|frame| frame.region)
            && open != region
        {
            self.find(Finding::MissingLeave, thread, || {
                format!("leaves {} inside {}", trace.region_name(region), trace.region_name(open))
            });
            self.leave_innermost(thread, time);
        }
        true
    }

    /// Leaves the innermost region of a thread.
    #[inline(always)]
    pub(super) fn leave_innermost(&mut self, thread: usize, time: Ticks) {
        if self.file_times.is_some() {
            self.leave_file_times(thread, time);
        }
        let Some(frame) = self.threads[thread].stack.last() else { return };
        match self.trace.kinds.get(frame.region as usize) {
            Some(kind) if kind.is_mpi || kind.is_special() || frame.call != CallId::NONE => {
                // Traces have so many calls and kernels of accelerators that all else is skipped.
                let reads_files = self.io.is_some() || self.attributes.file.is_some();
                match kind.accelerator.filter(|_| kind.is_only_of_accelerator() && !reads_files) {
                    Some(part) if frame.call == CallId::NONE => {
                        self.leave_accelerator(thread, part, time);
                        self.threads[thread].pop(time);
                    }
                    _ => self.leave_call(thread, *kind, time),
                }
            }
            _ => {
                self.threads[thread].pop(time);
            }
        }
        if self.threads[thread].stack.foreign > 0 {
            self.classify_innermost(thread);
        }
    }

    /// Leaves the innermost region of a thread, which is of this kind, with all consequences.
    fn leave_call(&mut self, thread: usize, kind: RegionKind, time: Ticks) {
        let Some(&Frame { barrier, enter, window, .. }) = self.threads[thread].stack.last() else { return };
        let is_first_init = kind.is_init && !self.was_initialized;
        let is_first_finalize = kind.is_finalize && !self.was_finalized;
        // Time inside counts as after the event (specification 7.2).
        let may_stall = kind.may_stall && time - enter >= self.shortest_rest;
        let flushes = kind.window_call == Some(WindowCall::Flush) && window != NONE;
        let ends_exposure = kind.window_call == Some(WindowCall::Wait);
        let is_event = is_first_init
            || is_first_finalize
            || barrier != NONE
            || kind.is_probe
            || may_stall
            || flushes
            || ends_exposure;
        let position = match is_event {
            true => self.threads[thread].mark_innermost(),
            false => EventNumber::NONE,
        };
        if let Some(part) = kind.accelerator {
            self.leave_accelerator(thread, part, time);
        }
        if kind.is_probe {
            self.leave_probe(thread, position);
        }
        if let (Some(file), Some(_)) = (self.attributes.file, self.attributes.access.view()) {
            self.note_view(file);
        }
        if self.io.is_some() {
            self.leave_file_access(thread);
        }
        if let Some(file) = self.attributes.file.take()
            && self.trace.semantics.replays_all_of_mpi()
        {
            self.leave_file_call(thread, file, time);
        }
        if flushes {
            self.leave_flush(thread, window, position);
        }
        if let Some((polling, frame)) = kind.polling.zip(self.threads[thread].stack.last().copied()) {
            self.leave_poll(thread, polling, &frame);
        }
        if kind.connects && self.threads[thread].stack.last().is_some_and(|frame| !frame.stays_inside) {
            self.reach_out(thread);
        }
        let Some(mut frame) = self.threads[thread].pop(time) else { return };
        let interval = Interval::new(frame.enter, time);
        if may_stall || ends_exposure {
            self.operations.left.push((frame.call, position));
        }
        if kind.is_parallel {
            self.leave_parallel_region(thread, frame.row, time);
        }
        if let Some(phase) = kind.phase.filter(|_| thread == 0) {
            self.phases.leave(phase, time, self.between_steps(thread));
        }
        if let Some(barrier) = self.operations.barriers.get_mut(frame.barrier as usize) {
            barrier.visit = interval;
            barrier.position = position;
        }
        if is_first_init || is_first_finalize {
            let location = self.threads[thread].location;
            let calls = &mut self.operations.calls;
            frame.call = call_of(&frame, (thread, location), EventNumber::NONE, self.trace, calls);
            let (class, communicator) = if kind.is_init {
                (CollectiveClass::Init, WORLD_AT_INIT)
            } else {
                (CollectiveClass::Finalize, WORLD_AT_FINALIZE)
            };
            if !self.trace.has_sessions() {
                self.operations.collectives.push(Collective {
                    call: frame.call,
                    begun: frame.entered,
                    position,
                    communicator,
                    class: Some(class),
                    ..Collective::between(frame.enter, time)
                });
            }
            self.was_initialized |= kind.is_init;
            self.was_finalized |= kind.is_finalize;
        }
        let state = &mut self.threads[thread];
        state.stack.mpi_depth -= u32::from(kind.is_mpi);
        let is_outermost = kind.is_mpi && state.stack.mpi_depth == 0;
        let ticks = state.counted(frame.enter, time - frame.enter);
        if frame.barrier != NONE && state.stack.mpi_depth == 0 {
            state.note(Noted::LeaveBarrier(frame.barrier), time);
        }
        if is_outermost {
            state.note(Noted::Leave, time);
            state.elapsed.mpi += ticks;
            if let Some(steps) = &mut state.steps {
                steps.leave(frame.path, (frame.enter, time), kind.polling.is_some());
            }
            if frame.call == CallId::NONE {
                state.mark_silent_call(frame.row);
            }
        }
        if kind.ends_phase_path && thread == 0 {
            self.note_border(frame.path, false, time);
        }
        close_call(&frame, is_outermost, (time, ticks), self.trace, &mut self.operations, &mut self.coverage);
        if kind.is_of_event {
            self.leave_events(thread, &frame, time);
        }
        if is_first_init {
            self.threads.iter_mut().for_each(|thread| thread.elapsed = Elapsed::default());
            self.begin_work(time);
        }
    }
}
