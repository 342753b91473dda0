//! Handling of each OTF2 record by the walk. Records that are not listed here do not matter to it.

use model::{CollectiveOp, Paradigm, Ticks};
use otf2::{Event, MappingType, Mappings};
use patterns::matched::CollectiveClass;

use super::gaps::Counted;
use super::process::ProcessWalk;
use super::requests::Message;
use crate::call_tree::NO_SITE;
use crate::communicators::Participants;
use crate::coverage::Fate;
use crate::findings::Finding;
use crate::int::to_u32;
use crate::operations::Collective;
use crate::options::Semantics;
use crate::trace::Artificial;

/// Returns the class of a collective operation; `None` for those that are only counted.
fn class(operation: CollectiveOp, semantics: Semantics) -> Option<CollectiveClass> {
    match operation {
        CollectiveOp::BARRIER => Some(CollectiveClass::Barrier),
        CollectiveOp::BCAST | CollectiveOp::SCATTER | CollectiveOp::SCATTERV => {
            Some(CollectiveClass::OneToAll)
        }
        CollectiveOp::GATHER | CollectiveOp::GATHERV | CollectiveOp::REDUCE => {
            Some(CollectiveClass::AllToOne)
        }
        CollectiveOp::ALLGATHER
        | CollectiveOp::ALLGATHERV
        | CollectiveOp::ALLTOALL
        | CollectiveOp::ALLREDUCE
        | CollectiveOp::REDUCE_SCATTER
        | CollectiveOp::REDUCE_SCATTER_BLOCK => Some(CollectiveClass::AllToAll),
        CollectiveOp::ALLTOALLV | CollectiveOp::ALLTOALLW if semantics.replays_all_of_mpi() => {
            Some(CollectiveClass::AllToAll)
        }
        CollectiveOp::SCAN | CollectiveOp::EXSCAN => Some(CollectiveClass::Scan),
        _ => None,
    }
}

impl ProcessWalk<'_> {
    /// Notes an event's time; returns the time to use, which never goes backwards on a location.
    #[inline(always)]
    pub(super) fn observe(&mut self, thread: usize, time: Ticks) -> Ticks {
        let now = self.threads[thread].now;
        if time < now {
            let trace = self.trace;
            self.find(Finding::BackwardTime, thread, || {
                format!("{} ticks before the event ahead of it", trace.recorded(now - time))
            });
            self.threads[thread].observe(now);
            return now;
        }
        self.threads[thread].observe(time);
        time
    }

    /// Handles an event other than those of regions and of the buffer.
    pub(super) fn handle(&mut self, thread: usize, event: &Event<'_>, mappings: &Mappings, time: Ticks) {
        match *event {
            Event::MpiSend { receiver, communicator, msg_tag, msg_length } => {
                if let Some(message) =
                    self.message(thread, mappings, receiver, communicator, msg_tag, msg_length)
                {
                    self.send(thread, message, None, time);
                }
            }
            Event::MpiIsend { receiver, communicator, msg_tag, msg_length, request_id } => {
                if let Some(message) =
                    self.message(thread, mappings, receiver, communicator, msg_tag, msg_length)
                {
                    self.send(thread, message, Some(request_id), time);
                }
            }
            Event::MpiIsendComplete { request_id } => self.complete_send(thread, request_id),
            Event::MpiIrecvRequest { request_id } => self.post_receive(thread, request_id),
            Event::MpiRecv { sender, communicator, msg_tag, msg_length } => {
                if let Some(message) =
                    self.message(thread, mappings, sender, communicator, msg_tag, msg_length)
                {
                    self.receive(thread, message, None, time);
                }
            }
            Event::MpiIrecv { sender, communicator, msg_tag, msg_length, request_id } => {
                if let Some(message) =
                    self.message(thread, mappings, sender, communicator, msg_tag, msg_length)
                {
                    self.receive(thread, message, Some(request_id), time);
                }
            }
            Event::MpiRequestCancelled { request_id } => self.cancel(thread, request_id),
            Event::MpiProbe { sender, communicator, tag, message_id } if message_id != u64::MAX => {
                if let Some(message) = self.message(thread, mappings, sender, communicator, tag, 0) {
                    self.probe(message, message_id);
                }
            }
            Event::MpiMrecv { message_id, msg_length } => {
                self.receive_probed(thread, message_id, msg_length, time);
            }
            Event::MpiImrecvRequest { message_id, request_id } => {
                self.post_probed(thread, message_id, request_id)
            }
            Event::MpiImrecv { request_id, msg_length } => {
                self.complete_probed(thread, request_id, msg_length, time);
            }
            Event::MpiCollectiveBegin {} => {
                let record = self.threads[thread].record();
                if let Some(frame) = self.threads[thread].stack.last_mut() {
                    frame.collective_begin = Some((time, record));
                }
            }
            Event::MpiCollectiveEnd { collective_op, communicator, root, size_sent, size_received } => {
                let part = (collective_op, root, size_sent, size_received);
                self.collective(thread, mappings, communicator, part, time);
            }
            Event::NonBlockingCollectiveRequest { .. } | Event::NonBlockingCollectiveComplete { .. } => {
                self.decide(thread, Fate::OtherCollective);
                self.threads[thread].ignore();
            }
            Event::ThreadFork { .. } | Event::OmpFork { .. } => self.fork(thread, time),
            Event::ThreadJoin { .. } | Event::OmpJoin {} => self.join(thread, time),
            Event::ThreadTeamBegin { thread_team } => {
                self.begin_team(thread, mappings.global(MappingType::Comm, thread_team));
            }
            Event::ThreadTeamEnd { .. } => self.end_team(thread),
            Event::ThreadTaskCreate { thread_team, creating_thread, generation_number } => {
                let team = mappings.global(MappingType::Comm, thread_team);
                self.create_task(thread, (team, creating_thread, generation_number), time);
            }
            Event::ThreadTaskSwitch { thread_team, creating_thread, generation_number } => {
                let team = mappings.global(MappingType::Comm, thread_team);
                self.switch_task(thread, (team, creating_thread, generation_number), time);
            }
            Event::ThreadTaskComplete { thread_team, creating_thread, generation_number } => {
                let team = mappings.global(MappingType::Comm, thread_team);
                self.complete_task(thread, (team, creating_thread, generation_number), time);
            }
            Event::ThreadAcquireLock { model, lock_id, acquisition_order } => {
                self.acquire(thread, model, lock_id, acquisition_order, time);
            }
            Event::ThreadReleaseLock { model, lock_id, acquisition_order } => {
                self.release(thread, model, lock_id, acquisition_order, time);
            }
            Event::OmpAcquireLock { lock_id, acquisition_order } => {
                self.acquire(thread, Paradigm::OPENMP, lock_id, acquisition_order, time);
            }
            Event::OmpReleaseLock { lock_id, acquisition_order } => {
                self.release(thread, Paradigm::OPENMP, lock_id, acquisition_order, time);
            }
            Event::CallingContextEnter { calling_context, unwind_distance } => {
                if let Some(context) = self.context(thread, mappings, calling_context) {
                    self.enter_context(thread, context, unwind_distance, time);
                }
            }
            Event::CallingContextSample { calling_context, unwind_distance, .. } => {
                if let Some(context) = self.context(thread, mappings, calling_context) {
                    self.sample_context(thread, context, unwind_distance, time);
                }
            }
            Event::CallingContextLeave { calling_context } => {
                if let Some(context) = self.context(thread, mappings, calling_context) {
                    self.leave_context(thread, context, time);
                }
            }
            Event::ProgramBegin { program_name, .. } => match self.program(program_name, mappings) {
                Some(region) => self.enter(thread, region, NO_SITE, time),
                None => self.undefined(thread, "string", u64::from(program_name)),
            },
            Event::ProgramEnd { .. } => self.end_program(thread, time),
            Event::MeasurementOnOff { measurement_mode } => self.switch(thread, measurement_mode, time),
            Event::ThreadCreate { .. }
            | Event::ThreadBegin { .. }
            | Event::ThreadWait { .. }
            | Event::ThreadEnd { .. } => {}
            Event::MpiRequestTest { request_id } if self.requests.is_pending(request_id) => {}
            _ => self.threads[thread].ignore(),
        }
    }

    /// Adds a buffer flush of the recorder.
    pub(super) fn flush(&mut self, thread: usize, begin: Ticks, end: Ticks) {
        let begin = begin.max(self.threads[thread].now);
        let end = end.max(begin);
        self.threads[thread].now = end;
        let region = self.trace.artificial(Artificial::BufferFlush);
        self.enter(thread, region, NO_SITE, begin);
        self.leave(thread, region, end);
    }

    fn collective(
        &mut self,
        thread: usize,
        mappings: &Mappings,
        communicator: u32,
        (operation, root, sent, received): (CollectiveOp, u32, u64, u64),
        time: Ticks,
    ) {
        let begin = self.threads[thread].stack.last_mut().and_then(|frame| frame.collective_begin.take());
        // Handles and memory of communicators, windows and files: the reference knows none of these (Q1).
        if operation > CollectiveOp::REDUCE_SCATTER_BLOCK {
            self.decide(thread, Fate::OtherCollective);
            self.threads[thread].ignore();
            if let Some((_, begun)) = begin {
                self.threads[thread].ignore_record(begun.record());
            }
            return;
        }
        let moved = usize::from(sent > 0) + 2 * usize::from(received > 0);
        let metrics = self.metrics;
        let amounts = [(metrics.bytes_out, sent), (metrics.bytes_in, received)];
        self.count(thread, [(metrics.collectives[moved], 1), amounts[0], amounts[1]]);
        let Some(communicator) = self.communicator(thread, mappings, communicator) else { return };
        let class = class(operation, self.trace.semantics);
        self.decide(
            thread,
            match (class, &self.trace.communicators[communicator as usize]) {
                (None, _) => Fate::VariableAllToAll,
                (_, Participants::Sides(..) | Participants::NotMpi) => Fate::OtherCollective,
                (Some(_), Participants::Myself | Participants::Ranks(_)) => Fate::Analysed,
            },
        );
        self.check_root(thread, class, communicator, root);
        if !self.is_in_mpi(thread) {
            self.find(Finding::OutsideMpi, thread, || "collective operation");
        }
        let Some(call) = self.call(thread) else { return };
        let Some(frame) = self.threads[thread].stack.last() else { return };
        let (begin, begun) = begin.unwrap_or((frame.enter, frame.entered));
        let position = self.mark_operation(thread);
        if let Some(missing) = self.told.unrecorded
            && self.count_missing(Counted::Collectives(communicator), missing)
        {
            let at = to_u32(self.operations.collectives.len());
            self.operations.unrecorded.collectives.push((at, missing));
        }
        self.operations.collectives.push(Collective {
            begin,
            end: time,
            call,
            begun,
            position,
            communicator,
            class,
            operation: operation.0,
            root,
            sent,
            received,
        });
    }

    /// Adds a finding if the root of a rooted operation is not a rank of its communicator; without it nothing
    /// waits. Inter-communicators have other roots.
    fn check_root(&mut self, thread: usize, class: Option<CollectiveClass>, communicator: u32, root: u32) {
        let participants = &self.trace.communicators[communicator as usize];
        let is_rooted = matches!(class, Some(CollectiveClass::OneToAll | CollectiveClass::AllToOne))
            && matches!(participants, Participants::Myself | Participants::Ranks(_));
        if is_rooted && participants.peer(self.process, root).is_none() {
            let communicator = self.trace.definitions.communicators.reference(communicator as usize);
            self.find(Finding::RankOutsideCommunicator, thread, || {
                format!("root {root} of communicator {communicator}")
            });
        }
    }

    #[inline(always)]
    fn message(
        &mut self,
        thread: usize,
        mappings: &Mappings,
        peer: u32,
        communicator: u32,
        tag: u32,
        bytes: u64,
    ) -> Option<Message> {
        let communicator = self.communicator(thread, mappings, communicator)?;
        Some(Message { peer, communicator, tag, bytes })
    }

    /// Returns the position of a region that an event names.
    pub(super) fn region(&mut self, thread: usize, mappings: &Mappings, local: u32) -> Option<u32> {
        let reference = u64::from(mappings.global(MappingType::Region, local));
        let position = self.trace.definitions.regions.position(reference);
        if position.is_none() {
            self.undefined(thread, "region", reference);
        }
        position.map(|position| to_u32(position))
    }

    #[inline(always)]
    fn communicator(&mut self, thread: usize, mappings: &Mappings, local: u32) -> Option<u32> {
        let reference = u64::from(mappings.global(MappingType::Comm, local));
        let position = self.trace.definitions.communicators.position(reference);
        if position.is_none() {
            self.undefined(thread, "communicator", reference);
        }
        position.map(|position| to_u32(position))
    }

    fn context(&mut self, thread: usize, mappings: &Mappings, local: u32) -> Option<usize> {
        let reference = u64::from(mappings.global(MappingType::CallingContext, local));
        let position = self.trace.definitions.calling_contexts.position(reference);
        if position.is_none() {
            self.undefined(thread, "calling context", reference);
        }
        position
    }

    #[cold]
    fn undefined(&mut self, thread: usize, what: &str, reference: u64) {
        self.find(Finding::UndefinedReference, thread, || format!("{what} {reference}"));
    }
}
