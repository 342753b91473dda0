//! Collective calls beyond the blocking ones on all ranks: non-blocking operations, and operations among the neighbours of
//! the grid. Records have the times of the start or the end of their call, as those of the recorder.

use model::CollectiveOp;
use otf2::{Attribute, Attributes, Event, ROOT_NONE, Value, ValueType};

use crate::location::Location;
use crate::mpi::{BETWEEN, CALL};
use crate::objects::{GRID, NEIGHBORS_IN, NEIGHBORS_OUT};

/// What the end of an operation without a root says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    pub(crate) collective_op: CollectiveOp,
    pub(crate) communicator: u32,
    /// Bytes that this rank sends; it receives as many.
    pub(crate) bytes: u64,
}

impl Location<'_> {
    /// Starts a non-blocking operation.
    #[track_caller]
    pub(crate) fn request(&mut self, region: u32, request_id: u64) -> Result<(), otf2::Error> {
        self.enter(BETWEEN, region)?;
        self.after(0, Event::NonBlockingCollectiveRequest { request_id })?;
        self.leave(CALL, region)
    }

    /// Waits for non-blocking operations until a time.
    #[track_caller]
    pub(crate) fn complete(
        &mut self,
        region: u32,
        time: u64,
        operations: &[(u64, Ended)],
    ) -> Result<(), otf2::Error> {
        self.enter(BETWEEN, region)?;
        for &(request_id, Ended { collective_op, communicator, bytes }) in operations {
            let (root, size_sent, size_received) = (ROOT_NONE, bytes, bytes);
            let complete = Event::NonBlockingCollectiveComplete {
                collective_op,
                communicator,
                root,
                size_sent,
                size_received,
                request_id,
            };
            self.event_of_collective(time, communicator, complete)?;
        }
        self.event(time, Event::Leave { region })
    }

    /// Writes a blocking operation among neighbours that ends at a time.
    #[track_caller]
    pub(crate) fn neighborhood(&mut self, region: u32, time: u64, ended: Ended) -> Result<(), otf2::Error> {
        let Ended { collective_op, communicator, bytes } = ended;
        self.enter(BETWEEN, region)?;
        self.after(0, Event::MpiCollectiveBegin {})?;
        let (root, size_sent, size_received) = (ROOT_NONE, bytes, bytes);
        let end = Event::MpiCollectiveEnd { collective_op, communicator, root, size_sent, size_received };
        self.event_of_collective(time, communicator, end)?;
        self.event(time, Event::Leave { region })
    }

    /// Writes the end of an operation; on the grid it says who the neighbours are.
    fn event_of_collective(
        &mut self,
        time: u64,
        communicator: u32,
        event: Event<'_>,
    ) -> Result<(), otf2::Error> {
        if communicator != GRID {
            return self.event(time, event);
        }
        let [incoming, outgoing] = self.groups;
        let neighbors = [(NEIGHBORS_IN, incoming), (NEIGHBORS_OUT, outgoing)].map(|(attribute, group)| {
            Attribute { attribute, value: Value::new(ValueType::GROUP, group.into()) }
        });
        self.event_with(time, event, Attributes::from(&neighbors[..]))
    }
}
