//! Records of MPI-IO: collective operations on files (MPI 4.1, chapter 14; rest of MPI 9). Operations that a process does by
//! itself wait for nobody.

use model::{CollectiveOp, Ticks};
use otf2::{MappingType, Mappings, ROOT_NONE};
use patterns::matched::CollectiveClass;

use super::process::ProcessWalk;
use super::stack::NONE;
use crate::coverage::Fate;
use crate::findings::Finding;
use crate::int::to_u32;
use crate::operations::transfers::{COLLECTIVE, FLUSH, NON_BLOCKING};
use crate::operations::{Asked, Collective, Done, NonBlocking, Operations};

/// Beyond the codes of modes: an operation whose calls are two, begin and end.
const SPLIT: u8 = 4;

/// An operation on a file with several processes that is not complete yet.
#[derive(Clone, Copy, Debug)]
pub(super) enum Transfer {
    /// Of a process by itself, in a call that blocks.
    Independent,
    /// Of a process by itself, as a request.
    Request,
    /// Collective, with its mode.
    Blocking(u8),
    /// Likewise, and its position among the non-blocking operations.
    NonBlocking(u8, u32),
}

impl ProcessWalk<'_> {
    /// Returns the number of a handle among the sets of processes, if several processes have opened it together.
    fn file_handle(&mut self, thread: usize, reference: u64) -> Option<u32> {
        let Some(position) = self.trace.definitions.file_handles.position(reference) else {
            self.undefined(thread, "file handle", reference);
            return None;
        };
        let handle = &self.trace.definitions.file_handles[position];
        handle.communicator.map(|_| self.trace.file_handle(position))
    }

    fn local_handle(&mut self, thread: usize, mappings: &Mappings, local: u32) -> Option<u32> {
        let reference = mappings.global(MappingType::IoHandle, local);
        self.file_handle(thread, u64::from(reference))
    }

    /// Adds a collective operation that handles a file, in the current call. Members wait from enter to leave, which is not
    /// known yet ([`settle_files`]).
    fn add_file_operation(
        &mut self,
        thread: usize,
        handle: u32,
        (class, operation): (CollectiveClass, u8),
        time: Ticks,
    ) {
        if !self.is_in_mpi(thread) {
            return;
        }
        self.decide_collective(thread, Some(class), handle);
        let part = Collective {
            communicator: handle,
            class: Some(class),
            operation,
            ..Collective::between(Ticks::MIN, time)
        };
        self.add_collective(thread, part, None);
    }

    /// Opens or closes a file.
    pub(super) fn change_handle(
        &mut self,
        thread: usize,
        mappings: &Mappings,
        handle: u32,
        (operation, time): (CollectiveOp, Ticks),
    ) {
        if let Some(handle) = self.local_handle(thread, mappings, handle) {
            let kind = (CollectiveClass::FileHandling, operation.0);
            self.add_file_operation(thread, handle, kind, time);
        }
    }

    /// Leaves a call that handles a file and has no record of its own.
    pub(super) fn leave_file_call(&mut self, thread: usize, reference: u32, time: Ticks) {
        if let Some(handle) = self.file_handle(thread, u64::from(reference)) {
            let kind = (CollectiveClass::FileHandling, CollectiveOp::BARRIER.0);
            self.add_file_operation(thread, handle, kind, time);
        }
    }

    /// Begins an operation on a file.
    pub(super) fn begin_transfer(
        &mut self,
        thread: usize,
        mappings: &Mappings,
        (handle, id): (u32, u64),
        (mode, flags): (u8, u32),
        time: Ticks,
    ) {
        let Some(handle) = self.local_handle(thread, mappings, handle) else { return };
        let mut transfer = match (flags & COLLECTIVE != 0, flags & NON_BLOCKING != 0) {
            (false, false) => Transfer::Independent,
            (false, true) => Transfer::Request,
            (true, _) => Transfer::Blocking(mode),
        };
        if flags & (COLLECTIVE | NON_BLOCKING) == COLLECTIVE | NON_BLOCKING {
            let Some(call) = self.mpi_call(thread) else { return };
            self.decide(thread, Fate::Analysed);
            let region = self.threads[thread].stack.last().map_or(NONE, |frame| frame.region);
            let begins = self.trace.kinds.get(region as usize).is_some_and(|kind| kind.begins_transfer);
            // The same event may wait as the begin of an operation in two calls, and be waited for as a request.
            let position = if begins {
                let kind = (CollectiveClass::FileTransfer, SPLIT | mode);
                self.add_file_operation(thread, handle, kind, time);
                self.operations.collectives.last().map(|part| part.position)
            } else {
                None
            };
            transfer = Transfer::NonBlocking(mode, to_u32(self.operations.nonblocking.len()));
            let position = position.unwrap_or_else(|| self.mark_operation(thread));
            let requested = self.operations.call(call).interval.enter;
            self.operations.nonblocking.push(NonBlocking {
                requested,
                call,
                position,
                persistent: None,
                done: None,
            });
        }
        self.transfers.begin((handle, id), transfer);
    }

    /// Adds a finding for each operation on a file that a call has started, and that was never completed.
    pub(super) fn drop_transfers(&mut self) {
        let open = std::mem::take(&mut self.transfers).into_all();
        let is_request =
            |transfer: &Transfer| matches!(transfer, Transfer::Request | Transfer::NonBlocking(..));
        let mut open: Vec<(u32, u64)> =
            open.filter(|(_, transfer)| is_request(transfer)).map(|(id, _)| id).collect();
        // In their order, so that the first example is always the same.
        open.sort_unstable();
        for (handle, id) in open {
            let file = self.trace.set_name(handle);
            self.find(Finding::OpenRequest, 0, || format!("transfer {id} on {file}"));
        }
    }

    /// Completes an operation on a file.
    pub(super) fn complete_transfer(
        &mut self,
        thread: usize,
        mappings: &Mappings,
        (handle, id): (u32, u64),
        time: Ticks,
    ) {
        let Some(handle) = self.local_handle(thread, mappings, handle) else {
            return self.complete(thread, Asked::Unknown);
        };
        let begun = self.transfers.end((handle, id));
        let (mode, nonblocking) = match begun {
            Some(Transfer::NonBlocking(mode, position)) => (mode, position),
            Some(Transfer::Blocking(mode)) => {
                let is_flush = mode == FLUSH;
                let class =
                    if is_flush { CollectiveClass::FileHandling } else { CollectiveClass::FileTransfer };
                return self.add_file_operation(thread, handle, (class, mode), time);
            }
            Some(Transfer::Independent | Transfer::Request) => return self.complete(thread, Asked::Unknown),
            None => {
                self.complete(thread, Asked::Unknown);
                let file = self.trace.set_name(handle);
                return self.find(Finding::UnknownRequest, thread, || {
                    format!("transfer {id} on {file} was not started")
                });
            }
        };
        self.complete(thread, Asked::Collective(nonblocking));
        self.decide(thread, Fate::Analysed);
        let Some(call) = self.mpi_call(thread) else { return };
        let position = self.mark_operation(thread);
        self.requests.completed += 1;
        self.operations.nonblocking[nonblocking as usize].done = Some(Done {
            time,
            call,
            position,
            order: self.requests.completed,
            communicator: handle,
            class: Some(CollectiveClass::FileTransfer),
            operation: mode,
            root: ROOT_NONE,
            sent: 0,
            received: 0,
            neighbors: None,
        });
    }
}

/// Sets the times of collective operations on files: they last as long as their calls, whose ends are known now.
pub(super) fn settle_files(operations: &mut Operations) {
    let is_of_file = |class: Option<CollectiveClass>| {
        matches!(class, Some(CollectiveClass::FileHandling | CollectiveClass::FileTransfer))
    };
    for collective in operations.collectives.iter_mut().filter(|it| is_of_file(it.class)) {
        let call = operations.calls.get(collective.call).interval;
        (collective.begin, collective.end) = (call.enter, call.leave);
    }
    for done in operations.nonblocking.iter_mut().filter_map(|operation| operation.done.as_mut()) {
        if is_of_file(done.class) {
            done.time = operations.calls.get(done.call).interval.leave;
        }
    }
}
