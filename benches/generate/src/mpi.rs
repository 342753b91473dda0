//! MPI calls as their events. Durations are in nanoseconds.

use model::CollectiveOp;
use otf2::{Event, ROOT_NONE};

use crate::definitions::WORLD;
use crate::location::Location;
use crate::regions::{ALLREDUCE, ALLTOALL, BARRIER, BCAST, IRECV, ISEND, RECV, REDUCE, SEND, WAITALL};

/// Time from the start of a call to its record.
pub(crate) const TO_RECORD: u64 = 20;

/// Time from the start of a sending call until its message can be received.
pub(crate) const MESSAGE: u64 = 500;

/// Duration of a call that does not wait.
pub(crate) const CALL: u64 = 60;

/// Time between two consecutive calls.
pub(crate) const BETWEEN: u64 = 20;

/// A collective operation: N-to-N, or with a root.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Collective {
    Barrier,
    Bcast { root: u32 },
    Reduce { root: u32 },
    Allreduce,
    Alltoall,
}

impl Location<'_> {
    /// Writes a blocking send that does not wait.
    #[track_caller]
    pub(crate) fn send(&mut self, to: u32, tag: u32, bytes: u64) -> Result<(), otf2::Error> {
        self.send_until(self.now() + BETWEEN + CALL, to, tag, bytes)
    }

    /// Writes a blocking send that returns at a time.
    #[track_caller]
    pub(crate) fn send_until(&mut self, time: u64, to: u32, tag: u32, bytes: u64) -> Result<(), otf2::Error> {
        self.messages += 1;
        self.enter(BETWEEN, SEND)?;
        let send = Event::MpiSend { receiver: to, communicator: WORLD, msg_tag: tag, msg_length: bytes };
        self.after(TO_RECORD, send)?;
        self.event(time, Event::Leave { region: SEND })
    }

    /// Writes a blocking receive of a message that arrives at a time, or has arrived.
    #[track_caller]
    pub(crate) fn receive(&mut self, comes: u64, from: u32, tag: u32, bytes: u64) -> Result<(), otf2::Error> {
        self.enter(BETWEEN, RECV)?;
        let time = comes.max(self.now() + TO_RECORD);
        let receive = Event::MpiRecv { sender: from, communicator: WORLD, msg_tag: tag, msg_length: bytes };
        self.event(time, receive)?;
        self.leave(20, RECV)
    }

    /// Posts a non-blocking receive.
    #[track_caller]
    pub(crate) fn irecv(&mut self, request: u64) -> Result<(), otf2::Error> {
        self.enter(BETWEEN, IRECV)?;
        self.after(TO_RECORD, Event::MpiIrecvRequest { request_id: request })?;
        self.leave(CALL - TO_RECORD, IRECV)
    }

    /// Starts a non-blocking send.
    #[track_caller]
    pub(crate) fn isend(&mut self, to: u32, tag: u32, bytes: u64, request: u64) -> Result<(), otf2::Error> {
        self.messages += 1;
        self.enter(BETWEEN, ISEND)?;
        let send = Event::MpiIsend {
            receiver: to,
            communicator: WORLD,
            msg_tag: tag,
            msg_length: bytes,
            request_id: request,
        };
        self.after(TO_RECORD, send)?;
        self.leave(CALL - TO_RECORD, ISEND)
    }

    /// Waits for non-blocking operations, the last of which completes at a time, or has completed.
    #[track_caller]
    pub(crate) fn wait_all<'e>(
        &mut self,
        complete: u64,
        completions: impl Iterator<Item = Event<'e>>,
    ) -> Result<(), otf2::Error> {
        self.enter(BETWEEN, WAITALL)?;
        let time = complete.max(self.now() + TO_RECORD);
        for completion in completions {
            self.event(time, completion)?;
        }
        self.event(time + 20, Event::Leave { region: WAITALL })
    }

    /// Writes a collective operation that ends at a time; `bytes` are sent by each rank to each other one, or
    /// to the root.
    #[track_caller]
    pub(crate) fn collective(
        &mut self,
        operation: Collective,
        over: u64,
        bytes: u64,
    ) -> Result<(), otf2::Error> {
        let all = bytes * u64::from(self.job.ranks);
        let at_root = |root: u32, bytes: u64| if root == self.rank { bytes } else { 0 };
        let (region, collective_op, root, size_sent, size_received) = match operation {
            Collective::Barrier => (BARRIER, CollectiveOp::BARRIER, ROOT_NONE, 0, 0),
            Collective::Bcast { root } => (BCAST, CollectiveOp::BCAST, root, at_root(root, all), bytes),
            Collective::Reduce { root } => (REDUCE, CollectiveOp::REDUCE, root, bytes, at_root(root, all)),
            Collective::Allreduce => (ALLREDUCE, CollectiveOp::ALLREDUCE, ROOT_NONE, bytes, bytes),
            Collective::Alltoall => (ALLTOALL, CollectiveOp::ALLTOALL, ROOT_NONE, all, all),
        };
        self.enter(BETWEEN, region)?;
        self.after(0, Event::MpiCollectiveBegin {})?;
        let end =
            Event::MpiCollectiveEnd { collective_op, communicator: WORLD, root, size_sent, size_received };
        self.event(over, end)?;
        self.leave(20, region)
    }
}
