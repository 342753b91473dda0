//! Handling of each OTF2 record by the walk. Records that are not listed here do not matter to it.

use model::{CollectiveOp, Paradigm, Ticks};
use otf2::{Event, MappingType, Mappings};
use patterns::matched::CollectiveClass;

use super::gaps::Counted;
use super::process::ProcessWalk;
use super::requests::Message;
use super::stack::NONE;
use super::steps::Begun;
use super::thread::Numbering;
use crate::call_tree::NO_SITE;
use crate::communicators::Participants;
use crate::coverage::Fate;
use crate::findings::Finding;
use crate::ids::EventNumber;
use crate::int::to_u32;
use crate::operations::{CallSite, Collective, Done, Neighbors};
use crate::options::Semantics;
use crate::severity::amount;
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
        CollectiveOp::CREATE_HANDLE => Some(CollectiveClass::Handle),
        _ => None,
    }
}

/// Whether an event has to do with operations other than messages. A walk for calls in windows does not look at them again.
fn is_beside_messages(event: &Event<'_>) -> bool {
    matches!(
        event,
        Event::MpiCollectiveBegin {}
            | Event::MpiCollectiveEnd { .. }
            | Event::RmaCollectiveBegin {}
            | Event::RmaCollectiveEnd { .. }
            | Event::RmaGroupSync { .. }
            | Event::RmaRequestLock { .. }
            | Event::RmaReleaseLock { .. }
            | Event::RmaPut { .. }
            | Event::RmaGet { .. }
            | Event::RmaAtomic { .. }
            | Event::RmaOpCompleteBlocking { .. }
            | Event::RmaOpCompleteNonBlocking { .. }
            | Event::RmaOpCompleteRemote { .. }
            | Event::IoOperationBegin { .. }
            | Event::IoOperationComplete { .. }
    )
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
        if matches!(self.threads[thread].numbering, Numbering::Calls(_)) && is_beside_messages(event) {
            return;
        }
        if let Some(times) = &mut self.file_times {
            let innermost = (thread, &self.threads[thread].stack);
            self.threads[thread].held = times.take(self.trace, event, mappings, innermost);
        }
        if self.io.is_some() {
            self.feed_file_access(thread, event, mappings, time);
        }
        if self.file_bytes.is_some() {
            self.count_file_bytes(thread, event, mappings);
        }
        if self.file_operations.is_some() {
            self.note_file_operation(thread, event, mappings, time);
        }
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
                    self.probe(thread, message, message_id);
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
            Event::RmaPut { win, remote, bytes, .. } if self.is_stream(thread) => {
                self.begin_copy(thread, mappings, (win, remote, bytes), (true, time));
            }
            Event::RmaGet { win, remote, bytes, .. } if self.is_stream(thread) => {
                self.begin_copy(thread, mappings, (win, remote, bytes), (false, time));
            }
            Event::RmaOpCompleteBlocking { .. } | Event::RmaOpCompleteNonBlocking { .. }
                if self.is_stream(thread) =>
            {
                self.end_copy(thread, time);
            }
            Event::RmaCollectiveEnd { collective_op, win, .. }
                if self.trace.semantics.replays_all_of_mpi() =>
            {
                self.window_collective(thread, mappings, win, (collective_op, time));
            }
            Event::RmaGroupSync { sync_level, win, group } if self.trace.semantics.replays_all_of_mpi() => {
                self.synchronise_group(thread, mappings, (win, group), sync_level);
            }
            Event::RmaRequestLock { win, remote, lock_type, .. }
                if self.trace.semantics.replays_all_of_mpi() =>
            {
                self.request_lock(thread, mappings, (win, remote), lock_type);
            }
            Event::RmaReleaseLock { win, remote, .. } if self.trace.semantics.replays_all_of_mpi() => {
                self.release_lock(thread, mappings, (win, remote));
            }
            Event::RmaPut { win, remote, bytes, .. } if self.trace.semantics.replays_all_of_mpi() => {
                self.access(thread, mappings, (win, remote), (bytes, 0));
            }
            Event::RmaGet { win, remote, bytes, .. } if self.trace.semantics.replays_all_of_mpi() => {
                self.access(thread, mappings, (win, remote), (0, bytes));
            }
            Event::RmaAtomic { win, remote, bytes_sent, bytes_received, .. }
                if self.trace.semantics.replays_all_of_mpi() =>
            {
                self.access(thread, mappings, (win, remote), (bytes_sent, bytes_received));
            }
            Event::RmaOpCompleteBlocking { win, .. }
            | Event::RmaOpCompleteNonBlocking { win, .. }
            | Event::RmaOpCompleteRemote { win, .. }
                if self.trace.semantics.replays_all_of_mpi() =>
            {
                self.complete_accesses(thread, mappings, win);
                self.threads[thread].ignore();
            }
            Event::RmaCollectiveBegin {} if !self.trace.semantics.replays_all_of_mpi() => {
                self.threads[thread].ignore();
            }
            Event::CommCreate { communicator } => self.create_communicator(thread, mappings, communicator),
            Event::MpiCollectiveBegin {} | Event::RmaCollectiveBegin {} => {
                let record = self.begin_collective(thread);
                if let Some(frame) = self.threads[thread].stack.last_mut() {
                    frame.collective_begin = Some((time, record));
                }
            }
            Event::MpiCollectiveEnd { collective_op, communicator, root, size_sent, size_received } => {
                let part = (collective_op, root, size_sent, size_received);
                self.collective(thread, mappings, communicator, part, time);
            }
            Event::NonBlockingCollectiveRequest { request_id }
                if self.trace.semantics.replays_all_of_mpi() =>
            {
                self.request_collective(thread, request_id, time);
            }
            Event::NonBlockingCollectiveComplete {
                collective_op,
                communicator,
                root,
                size_sent,
                size_received,
                request_id,
            } if self.trace.semantics.replays_all_of_mpi() => {
                let part = (collective_op, root, size_sent, size_received);
                self.complete_collective(thread, mappings, (request_id, communicator), part, time);
            }
            Event::NonBlockingCollectiveRequest { .. } | Event::NonBlockingCollectiveComplete { .. } => {
                self.decide(thread, Fate::OtherCollective);
                self.threads[thread].ignore();
            }
            Event::ThreadFork { .. } | Event::OmpFork { .. } => self.fork(thread, time),
            Event::ThreadJoin { .. } | Event::OmpJoin {} => self.join(thread, time),
            Event::ThreadTeamBegin { thread_team } => {
                self.begin_team(thread, mappings.global(MappingType::Comm, thread_team), time);
            }
            Event::ThreadTeamEnd { .. } => self.end_team(thread, time),
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
            // Some requests are not recorded, for example those of files.
            Event::MpiRequestTest { request_id } if self.trace.semantics.replays_all_of_mpi() => {
                self.test(thread, request_id);
            }
            Event::IoCreateHandle { handle, .. } if self.trace.semantics.replays_all_of_mpi() => {
                self.change_handle(thread, mappings, handle, (CollectiveOp::CREATE_HANDLE, time));
            }
            Event::IoDestroyHandle { handle } if self.trace.semantics.replays_all_of_mpi() => {
                self.change_handle(thread, mappings, handle, (CollectiveOp::DESTROY_HANDLE, time));
            }
            Event::IoOperationBegin { handle, mode, operation_flags, matching_id, .. }
                if self.trace.semantics.replays_all_of_mpi() =>
            {
                let id = (handle, matching_id);
                self.begin_transfer(thread, mappings, id, (mode, operation_flags), time);
            }
            Event::IoOperationComplete { handle, matching_id, .. }
                if self.trace.semantics.replays_all_of_mpi() =>
            {
                self.complete_transfer(thread, mappings, (handle, matching_id), time);
            }
            Event::Metric { metric, metric_values } => {
                let class = u64::from(mappings.global(MappingType::Metric, metric));
                if let Some(class) = self.trace.definitions.metric_classes.position(class) {
                    self.take_metrics(thread, class, metric_values);
                    self.take_switches(thread, class, metric_values);
                    self.take_counted(thread, class, metric_values);
                    self.take_states(thread, class, metric_values);
                }
                self.threads[thread].ignore();
            }
            Event::ParameterString { .. }
            | Event::ParameterInt { .. }
            | Event::ParameterUnsignedInt { .. } => {
                self.set_parameter(thread, mappings, event);
            }
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
        if operation > CollectiveOp::REDUCE_SCATTER_BLOCK {
            return self.handle_collective(thread, mappings, communicator, operation, (begin, time));
        }
        let moved = usize::from(sent > 0) + 2 * usize::from(received > 0);
        let metrics = self.metrics;
        let amounts = [(metrics.bytes_out, sent), (metrics.bytes_in, received)];
        self.count(thread, [(metrics.collectives[moved], 1), amounts[0], amounts[1]]);
        let Some(communicator) = self.communicator(thread, mappings, communicator) else { return };
        if let Some(steps) = &mut self.threads[thread].steps {
            steps.note(Begun::Collective(operation.0), communicator, [sent, received]);
        }
        let neighbors = self.neighbors(thread);
        let class = self.class(operation, neighbors);
        self.decide_collective(thread, class, communicator);
        self.check_root(thread, class, communicator, root);
        if !self.is_in_mpi(thread) {
            self.find(Finding::OutsideMpi, thread, || "collective operation");
        }
        let part = Collective {
            communicator,
            class,
            operation: operation.0,
            root,
            sent,
            received,
            ..Collective::between(Ticks::MIN, time)
        };
        let position = to_u32(self.operations.collectives.len());
        self.add_collective(thread, part, begin);
        if let Some(neighbors) = neighbors {
            self.operations.neighbors.push((position, neighbors));
        }
    }

    /// Returns the number of the event that starts a collective operation: where members may each wait for the start of another
    /// one, that is an event of the journal.
    fn begin_collective(&mut self, thread: usize) -> EventNumber {
        let region = self.threads[thread].stack.last().map_or(NONE, |frame| frame.region);
        let is_pairwise = self.trace.has_sides()
            || self.trace.kinds.get(region as usize).is_some_and(|kind| kind.is_neighborhood);
        match is_pairwise && self.trace.semantics.replays_all_of_mpi() {
            true => self.threads[thread].mark_innermost(),
            false => self.threads[thread].record(),
        }
    }

    /// Creates or releases a handle, or memory with one. The reference knows none of these (Q1). Communicators are freed
    /// without waiting in practice, but for `MPI_Comm_disconnect` (rest of MPI 7.1).
    fn handle_collective(
        &mut self,
        thread: usize,
        mappings: &Mappings,
        communicator: u32,
        operation: CollectiveOp,
        (begin, time): (Option<(Ticks, EventNumber)>, Ticks),
    ) {
        let region = self.threads[thread].stack.last().map_or(NONE, |frame| frame.region);
        let kind = self.trace.kinds.get(region as usize).copied().unwrap_or_default();
        let is_of_mpi_itself = kind.is_init || kind.is_finalize;
        let class = match operation {
            _ if !self.trace.semantics.replays_all_of_mpi() || is_of_mpi_itself => None,
            CollectiveOp::CREATE_HANDLE => Some(CollectiveClass::Handle),
            CollectiveOp::DESTROY_HANDLE if kind.is_disconnect => Some(CollectiveClass::Disconnect),
            CollectiveOp::DESTROY_HANDLE => return self.decide(thread, Fate::Analysed),
            _ => None,
        };
        if class.is_none() {
            self.decide(thread, Fate::OtherCollective);
            self.threads[thread].ignore();
            if let Some((_, begun)) = begin {
                self.threads[thread].ignore_record(begun.record());
            }
            return;
        }
        let Some(communicator) = self.communicator(thread, mappings, communicator) else { return };
        self.decide_collective(thread, class, communicator);
        let part = Collective {
            communicator,
            class,
            operation: operation.0,
            ..Collective::between(Ticks::MIN, time)
        };
        self.add_collective(thread, part, begin);
    }

    /// Notes the fate of a call with a collective operation.
    pub(super) fn decide_collective(
        &mut self,
        thread: usize,
        class: Option<CollectiveClass>,
        communicator: u32,
    ) {
        let fate = match (class, &self.trace.communicators[communicator as usize]) {
            (None, _) => Fate::VariableAllToAll,
            (_, Participants::Sides(..)) if !self.trace.semantics.replays_all_of_mpi() => {
                Fate::OtherCollective
            }
            (_, Participants::NotMpi) => Fate::OtherCollective,
            (_, Participants::Outside) => return self.reach_out(thread),
            (Some(_), Participants::Myself | Participants::Ranks(_) | Participants::Sides(..)) => {
                Fate::Analysed
            }
        };
        self.decide(thread, fate);
    }

    /// Notes that the current call has to do with processes that the trace does not have (rest of MPI 7.3).
    #[cold]
    pub(super) fn reach_out(&mut self, thread: usize) {
        self.decide(thread, Fate::OutsideProcesses);
        let region = self.threads[thread].stack.last().map_or(NONE, |frame| frame.region);
        let trace = self.trace;
        self.find(Finding::OutsideProcesses, thread, || match region {
            NONE => "outside of any call".to_owned(),
            region => trace.region_name(region).to_owned(),
        });
    }

    /// Adds a collective operation that ends now, in the current call. `begin` has the record of its start, if there is one;
    /// otherwise it starts with the call.
    pub(super) fn add_collective(
        &mut self,
        thread: usize,
        part: Collective,
        begin: Option<(Ticks, EventNumber)>,
    ) {
        let Some(call) = self.call(thread) else { return };
        let Some(frame) = self.threads[thread].stack.last() else { return };
        let (begin, begun) = begin.unwrap_or((frame.enter, frame.entered));
        let position = self.mark_operation(thread);
        let counted = match part.class {
            Some(CollectiveClass::Neighborhood) => Counted::Neighborhoods(part.communicator),
            _ => Counted::Collectives(part.communicator),
        };
        if let Some(missing) = self.told.unrecorded
            && self.count_missing(counted, missing)
        {
            let at = to_u32(self.operations.collectives.len());
            self.operations.unrecorded.collectives.push((at, missing));
        }
        self.operations.collectives.push(Collective { begin, call, begun, position, ..part });
    }

    /// Completes a non-blocking collective operation. It is counted where it was started: the request names the operation, the
    /// completing call does not (rest of MPI 4.5).
    fn complete_collective(
        &mut self,
        thread: usize,
        mappings: &Mappings,
        (request, communicator): (u64, u32),
        (operation, root, sent, received): (CollectiveOp, u32, u64, u64),
        time: Ticks,
    ) {
        let Some(position) = self.completed_collective(thread, request) else { return };
        let neighbors = self.neighbors(thread);
        let class = self.class(operation, neighbors);
        let requested = self.operations.nonblocking[position as usize].call;
        if class != Some(CollectiveClass::Handle) {
            let metrics = self.metrics;
            let moved = usize::from(sent > 0) + 2 * usize::from(received > 0);
            let amounts =
                [(metrics.collectives[moved], 1), (metrics.bytes_out, sent), (metrics.bytes_in, received)];
            let &CallSite { location, row, .. } = self.operations.site(requested);
            let first = self.location(0);
            let state = &mut self.threads[location as usize - first];
            if state.counts(time) {
                for (metric, value) in amounts {
                    state.severities.add(metric, row, amount(value));
                }
            }
        }
        let Some(communicator) = self.communicator(thread, mappings, communicator) else { return };
        self.check_root(thread, class, communicator, root);
        let Some(call) = self.mpi_call(thread) else { return };
        let event = self.mark_operation(thread);
        self.requests.completed += 1;
        self.operations.nonblocking[position as usize].done = Some(Done {
            time,
            call,
            position: event,
            order: self.requests.completed,
            communicator,
            class,
            operation: operation.0,
            root,
            sent,
            received,
            neighbors,
        });
    }

    /// Returns the neighbours that the current event names.
    fn neighbors(&mut self, thread: usize) -> Option<Neighbors> {
        let groups = self.attributes.neighbors.filter(|_| self.trace.semantics.replays_all_of_mpi())?;
        let [sources, destinations] = groups.map(|group| {
            let position = self.trace.definitions.groups.position(u64::from(group));
            if position.is_none() {
                self.undefined(thread, "group", u64::from(group));
            }
            position.map(|position| to_u32(position))
        });
        Some(Neighbors { sources: sources?, destinations: destinations? })
    }

    /// Returns the class of a collective operation. Those among neighbours have the codes of others, as OTF2 has none for
    /// them; their neighbours tell them apart (rest of MPI 5.1).
    fn class(&self, operation: CollectiveOp, neighbors: Option<Neighbors>) -> Option<CollectiveClass> {
        match neighbors {
            Some(_) => Some(CollectiveClass::Neighborhood),
            None => class(operation, self.trace.semantics),
        }
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
        Some(Message { peer, communicator, tag, partitioned: self.attributes.partitioned, bytes })
    }

    /// Notes that a call that may reach out of the trace has connected processes of it.
    fn create_communicator(&mut self, thread: usize, mappings: &Mappings, local: u32) {
        let region = self.threads[thread].stack.last().map_or(NONE, |frame| frame.region);
        if !self.trace.kinds.get(region as usize).is_some_and(|kind| kind.connects) {
            return;
        }
        let Some(communicator) = self.communicator(thread, mappings, local) else { return };
        let participants = &self.trace.communicators[communicator as usize];
        let stays = matches!(participants, Participants::Ranks(_) | Participants::Sides(_));
        if let Some(frame) = self.threads[thread].stack.last_mut().filter(|_| stays) {
            frame.stays_inside = true;
        }
    }
}
