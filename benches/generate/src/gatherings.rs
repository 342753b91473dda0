//! Calls of all ranks before the first step and after the last one: they create a grid or a window, and free it. All wait
//! for the last rank, except where `MPI_Comm_free` does not need anybody.

use model::CollectiveOp;
use otf2::{Event, ROOT_NONE};

use crate::definitions::WORLD;
use crate::job::Job;
use crate::location::{Location, START};
use crate::mpi::CALL;
use crate::objects::{GRID, WINDOW};
use crate::one_sided::{PROCESS, end_of_collective};
use crate::regions::{CART_CREATE, COMM_FREE, WIN_ALLOCATE, WIN_FREE};
use crate::severities::Severities;

/// Time that calls behind the last step take at most, in nanoseconds.
pub(crate) const FREEING: u64 = 8000;

/// Steps of the work before these calls, which no pattern has.
const CREATE: u64 = u64::MAX - 5;
const FREE: u64 = u64::MAX - 6;

/// Time at which a rank creates the grid or the window.
fn creates(job: &Job, rank: u32) -> u64 {
    START - 60_000 + 5 * job.load_before_all(rank, CREATE)
}

/// Time at which a rank frees it, if all steps have ended at `end`.
fn frees(job: &Job, rank: u32, end: u64) -> u64 {
    end + 1000 + 2 * job.load_before_all(rank, FREE)
}

/// Time at which a call returns to which the last rank has come at `last`. That one comes last to what follows, too.
fn returns(job: &Job, rank: u32, step: u64, last: u64) -> u64 {
    last + 3 * job.load_before_all(rank, step)
}

/// Adds how long a rank waits until all create and free a window.
pub(crate) fn add_window(severities: &mut Severities, job: &Job, rank: u32) {
    let wait = |step, comes: &dyn Fn(u32) -> u64| comes(job.last(step)) - comes(rank);
    severities.add("mpi_rma_wait_at_create", wait(CREATE, &|rank| creates(job, rank)));
    severities.add("mpi_rma_wait_at_free", wait(FREE, &|rank| frees(job, rank, START)));
}

/// Adds how long a rank waits until all create a grid.
pub(crate) fn add_grid(severities: &mut Severities, job: &Job, rank: u32) {
    let wait = creates(job, job.last(CREATE)) - creates(job, rank);
    severities.add("mpi_comm_wait_at_create", wait);
}

impl Location<'_> {
    /// Creates the grid.
    #[track_caller]
    pub(crate) fn create_grid(&mut self) -> Result<(), otf2::Error> {
        let (begin, end) = self.creation();
        self.event(begin, Event::Enter { region: CART_CREATE })?;
        self.event(begin, Event::MpiCollectiveBegin {})?;
        self.event(end, Event::CommCreate { communicator: GRID })?;
        self.event(end, end_of_handle(CollectiveOp::CREATE_HANDLE, WORLD))?;
        self.event(end, Event::Leave { region: CART_CREATE })
    }

    /// Frees the grid behind the last step, which ends at `end` for all ranks.
    #[track_caller]
    pub(crate) fn free_grid(&mut self, end: u64) -> Result<(), otf2::Error> {
        let begin = frees(self.job, self.rank, end);
        let end = begin + CALL;
        self.event(begin, Event::Enter { region: COMM_FREE })?;
        self.event(begin, Event::MpiCollectiveBegin {})?;
        self.event(end, Event::CommDestroy { communicator: GRID })?;
        self.event(end, end_of_handle(CollectiveOp::DESTROY_HANDLE, GRID))?;
        self.event(end, Event::Leave { region: COMM_FREE })
    }

    /// Creates the window.
    #[track_caller]
    pub(crate) fn create_window(&mut self) -> Result<(), otf2::Error> {
        let (begin, end) = self.creation();
        self.event(begin, Event::Enter { region: WIN_ALLOCATE })?;
        self.event(begin, Event::RmaCollectiveBegin {})?;
        self.event(end, Event::RmaWinCreate { win: WINDOW })?;
        self.event(end, end_of_collective(CollectiveOp::CREATE_HANDLE_AND_ALLOCATE, PROCESS))?;
        self.event(end, Event::Leave { region: WIN_ALLOCATE })
    }

    /// Frees the window behind the last step, which ends at `end` for all ranks.
    #[track_caller]
    pub(crate) fn free_window(&mut self, end: u64) -> Result<(), otf2::Error> {
        let (job, begin) = (self.job, frees(self.job, self.rank, end));
        let end = returns(job, self.rank, FREE, frees(job, job.last(FREE), end));
        self.event(begin, Event::Enter { region: WIN_FREE })?;
        self.event(begin, Event::RmaCollectiveBegin {})?;
        self.event(end, Event::RmaWinDestroy { win: WINDOW })?;
        self.event(end, end_of_collective(CollectiveOp::DESTROY_HANDLE_AND_DEALLOCATE, PROCESS))?;
        self.event(end, Event::Leave { region: WIN_FREE })
    }

    /// When this rank begins to create something, and when it has.
    fn creation(&self) -> (u64, u64) {
        let (job, rank) = (self.job, self.rank);
        (creates(job, rank), returns(job, rank, CREATE, creates(job, job.last(CREATE))))
    }
}

/// The end of an operation that creates or frees a communicator.
pub(crate) fn end_of_handle(collective_op: CollectiveOp, communicator: u32) -> Event<'static> {
    let root = ROOT_NONE;
    Event::MpiCollectiveEnd { collective_op, communicator, root, size_sent: 0, size_received: 0 }
}
