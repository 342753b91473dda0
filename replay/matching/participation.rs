//! The part of a member in a collective operation, in the form in which it is sent.

use model::{CollectiveOp, Ticks};
use patterns::collective::awaits_everyone_softly;
use patterns::matched::CollectiveClass;

use crate::ids::EventNumber;
use crate::operations::{Collective, Place};
use crate::wire::{Half, wire};

/// A member's part in an operation, as sent to the worker that judges it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Participation {
    pub(crate) communicator: u32,
    /// Number k of the operation on the communicator: 0, 1, …
    pub(super) instance: u32,
    pub(crate) process: u32,
    /// Position in the process's operations.
    pub(super) position: u32,
    /// Location and call path of the member.
    pub(crate) place: Place,
    /// The event of the end of the operation.
    pub(crate) ended: EventNumber,
    /// The record of the start of the operation, where records are numbered.
    pub(crate) begun: EventNumber,
    pub(crate) kind: PartKind,
    pub(crate) root: u32,
    /// Time at which the member entered the call.
    pub(super) enter: Ticks,
    pub(super) begin: Ticks,
    pub(super) end: Ticks,
    /// Time at which the member left the call.
    pub(super) leave: Ticks,
    pub(crate) sent: u64,
    pub(crate) received: u64,
    /// Number of the process's operations on the communicator, including missing ones, and number of those
    /// before its first gap.
    pub(super) count: u32,
    pub(super) sure: u32,
}

/// Kind of a part, in half a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PartKind {
    /// OTF2's code of the operation.
    pub(super) operation: u8,
    pub(super) class: Option<CollectiveClass>,
    /// Whether recording was switched off at the first gap of the process.
    pub(super) was_off: bool,
    pub(super) series: Series,
}

/// Operations of a series are numbered by themselves on each communicator.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Series {
    /// Blocking ones that move data, and barriers.
    Data,
    /// Creation and release of communicators and windows, and handling of files (rest of MPI 7.1, 8.1, 9).
    Handles,
    /// Non-blocking ones, which never match blocking ones (MPI 4.1, section 6.12).
    NonBlocking,
    /// Those among neighbours (rest of MPI 4.2).
    Neighborhoods,
    /// Non-blocking ones among neighbours.
    NonBlockingNeighborhoods,
}

impl Series {
    /// All, in the order of their codes.
    const ALL: [Series; 5] = [
        Series::Data,
        Series::Handles,
        Series::NonBlocking,
        Series::Neighborhoods,
        Series::NonBlockingNeighborhoods,
    ];

    /// That of a blocking operation.
    pub(super) fn of(collective: &Collective) -> Series {
        match collective.class {
            Some(
                CollectiveClass::Handle
                | CollectiveClass::Disconnect
                | CollectiveClass::WindowCreation
                | CollectiveClass::WindowRelease
                | CollectiveClass::FileHandling,
            ) => Series::Handles,
            Some(CollectiveClass::Neighborhood) => Series::Neighborhoods,
            _ => Series::Data,
        }
    }

    /// Its operations in words, before their names.
    pub(super) fn adjective(self) -> &'static str {
        match self {
            Series::Data | Series::Handles => "",
            Series::NonBlocking => "non-blocking ",
            Series::Neighborhoods => "neighbourhood ",
            Series::NonBlockingNeighborhoods => "non-blocking neighbourhood ",
        }
    }
}

impl PartKind {
    /// The class of its operation.
    pub(crate) fn class(self) -> Option<CollectiveClass> {
        self.class
    }

    /// Its operation.
    pub(crate) fn operation(self) -> CollectiveOp {
        CollectiveOp(self.operation)
    }

    /// Its operation in words.
    pub(super) fn name(self) -> &'static str {
        match self.class {
            Some(CollectiveClass::Fence) => "fence",
            Some(CollectiveClass::FileHandling) => "file operation",
            Some(CollectiveClass::FileTransfer) => "transfer",
            _ => CollectiveOp(self.operation).name().unwrap_or("operation"),
        }
    }

    /// The record of a part, in words: of non-blocking ones only the completion says which operation it is, so that parts which
    /// were started and not completed are unknown.
    pub(super) fn record(self) -> &'static str {
        if self.is_nonblocking() { "completion " } else { "" }
    }

    /// Whether its operation is a non-blocking one.
    pub(super) fn is_nonblocking(self) -> bool {
        matches!(self.series, Series::NonBlocking | Series::NonBlockingNeighborhoods)
    }

    pub(super) fn new(
        operation: u8,
        class: Option<CollectiveClass>,
        series: Series,
        was_off: bool,
    ) -> PartKind {
        PartKind { operation, class, was_off, series }
    }

    /// Whether a member may end before others have begun, as the trace does not say who needs whom (rest of MPI 2.1).
    pub(crate) fn is_soft(self) -> bool {
        matches!(CollectiveOp(self.operation), CollectiveOp::ALLTOALLV | CollectiveOp::ALLTOALLW)
            && self.class == Some(CollectiveClass::AllToAll)
            || self.class.is_some_and(awaits_everyone_softly)
            || self.class == Some(CollectiveClass::Neighborhood)
            || self.class == Some(CollectiveClass::FileTransfer) && self.is_nonblocking()
    }

    /// Whether a member may end before others have begun because it need not wait for them (rest of MPI 2.1).
    pub(crate) fn is_closed(self) -> bool {
        matches!(self.class, Some(CollectiveClass::FileHandling | CollectiveClass::FileTransfer))
            && !self.is_nonblocking()
    }
}

impl Participation {
    /// When the call that starts the member's part was entered; of a non-blocking operation its request.
    pub(crate) fn begun_at(&self) -> Ticks {
        if self.kind.is_nonblocking() { self.begin } else { self.enter }
    }

    /// When the call that ends it was left.
    pub(crate) fn left_at(&self) -> Ticks {
        self.leave
    }
}

wire!(Participation {
    [communicator, instance],
    [process, position],
    place,
    [root, kind],
    enter,
    begin,
    end,
    leave,
    sent,
    received,
    [count, sure],
    [ended, begun],
});

impl Half for PartKind {
    fn to_half(self) -> u32 {
        let class = self.class.map_or(u8::MAX, |class| class as u8);
        u32::from_le_bytes([self.operation, class, u8::from(self.was_off), self.series as u8])
    }

    fn of_half(half: u32) -> Self {
        // In the order of their codes.
        const CLASSES: [CollectiveClass; 15] = [
            CollectiveClass::Init,
            CollectiveClass::Finalize,
            CollectiveClass::Barrier,
            CollectiveClass::OneToAll,
            CollectiveClass::AllToOne,
            CollectiveClass::AllToAll,
            CollectiveClass::Scan,
            CollectiveClass::Handle,
            CollectiveClass::Disconnect,
            CollectiveClass::Neighborhood,
            CollectiveClass::WindowCreation,
            CollectiveClass::WindowRelease,
            CollectiveClass::Fence,
            CollectiveClass::FileHandling,
            CollectiveClass::FileTransfer,
        ];
        let [operation, code, was_off, series] = half.to_le_bytes();
        let class = CLASSES.get(usize::from(code)).copied();
        PartKind::new(operation, class, Series::ALL[usize::from(series)], was_off == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::PathId;
    use crate::operations::WORLD_AT_INIT;
    use crate::wire;

    #[test]
    fn parts_survive_the_way_to_the_judge() {
        for class in [Some(CollectiveClass::Init), Some(CollectiveClass::Scan), None] {
            let part = Participation {
                communicator: WORLD_AT_INIT,
                instance: 7,
                process: 3,
                position: 9,
                place: Place { location: 4, path: PathId::new(8) },
                ended: EventNumber::new(11),
                begun: EventNumber::new(12),
                kind: PartKind::new(9, class, Series::NonBlocking, class.is_none()),
                root: u32::MAX,
                enter: -6,
                begin: -5,
                end: 6,
                leave: 7,
                sent: 1,
                received: u64::MAX,
                count: 8,
                sure: 7,
            };
            assert_eq!(wire::one::<Participation>(&wire::batch_of([&part])), part);
        }
    }
}
