//! One-sided communication of a process: accesses to windows, and the epochs that they belong to (MPI 4.1, chapter 12; rest of
//! MPI 8).
//!
//! Creating and freeing windows, and fences, are [collective operations](super::Collective).

use crate::ids::{CallId, EventNumber};

/// An event in a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// The call.
    pub call: CallId,
    /// The event.
    pub position: EventNumber,
}

/// Put, get, or one of their relatives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// The number of the window among the [sets of processes](crate::trace::Trace::communicators).
    pub window: u32,
    /// The process whose memory is accessed.
    pub target: u32,
    /// The access.
    pub step: Step,
    /// The number of fences of the window before.
    pub fences: u32,
}

/// Access epoch of a group of targets: from start to complete.
#[derive(Clone, Debug)]
pub struct AccessEpoch {
    /// The number of the window.
    pub window: u32,
    /// Position of the group of targets in the definitions.
    pub group: u32,
    /// Its start.
    pub start: Step,
    /// Its end, if it has one.
    pub complete: Option<Step>,
    /// Positions of its accesses, ascending.
    pub accesses: Vec<u32>,
}

/// Exposure epoch for a group of origins: from post to wait.
#[derive(Clone, Copy, Debug)]
pub struct ExposureEpoch {
    /// The number of the window.
    pub window: u32,
    /// Position of the group of origins in the definitions.
    pub group: u32,
    /// Its start.
    pub post: Step,
    /// Its end, if it has one: in a call of wait, or of test.
    pub wait: Option<Step>,
    /// Whether the call of its end waits.
    pub blocks: bool,
}

/// The target of a lock epoch on all members of the window.
pub const ALL_TARGETS: u32 = u32::MAX;

/// Epoch of passive targets: from lock to unlock.
#[derive(Clone, Debug)]
pub struct LockEpoch {
    /// The number of the window.
    pub window: u32,
    /// The process that is locked, or [`ALL_TARGETS`].
    pub target: u32,
    /// Whether no other process may have a lock meanwhile.
    pub is_exclusive: bool,
    /// Its calls in their order: the first has the request of the lock, the last its release, if there is one.
    pub calls: Vec<LockCall>,
    /// Whether it has been released.
    pub is_released: bool,
}

/// A call of a lock epoch: its begin and its end, an access, or a flush that has completed something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LockCall {
    /// The event.
    pub step: Step,
    /// The target of an access; `None` for other calls.
    pub target: Option<u32>,
}

/// One-sided communication of a process, each list in the order of the events that begin its items.
#[derive(Clone, Debug, Default)]
pub struct OneSided {
    /// Accesses.
    pub accesses: Vec<Access>,
    /// Access epochs.
    pub access_epochs: Vec<AccessEpoch>,
    /// Exposure epochs.
    pub exposure_epochs: Vec<ExposureEpoch>,
    /// Lock epochs.
    pub lock_epochs: Vec<LockEpoch>,
    /// Calls that wait for requests and have completed accesses, each once or several times.
    pub completing: Vec<CallId>,
}

impl OneSided {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        let OneSided { accesses, access_epochs, exposure_epochs, lock_epochs, completing: _ } = self;
        accesses.is_empty()
            && access_epochs.is_empty()
            && exposure_epochs.is_empty()
            && lock_epochs.is_empty()
    }

    /// Frees the memory that only growing needs.
    pub(super) fn shrink(&mut self) {
        self.accesses.shrink_to_fit();
        self.access_epochs.shrink_to_fit();
        self.exposure_epochs.shrink_to_fit();
        self.lock_epochs.shrink_to_fit();
        self.completing.shrink_to_fit();
    }
}
