//! The events of one location while they are written: the clock, and what every program does at its beginning and end.

use model::CollectiveOp;
use otf2::{ArchiveWriter, Attributes, Event, EventWriter, List};

use crate::clock::Clock;
use crate::definitions::{PROGRAM, SELF, WORLD};
use crate::draw::{below, draw};
use crate::job::Job;
use crate::patterns::Plan;
use crate::regions::{COMM_RANK, COMM_SIZE, FINALIZE, INIT, INIT_THREAD, MAIN};

/// What the right clock shows when the program begins, in nanoseconds: a node that has been running for an hour.
pub(crate) const EPOCH: u64 = 3_600_000_000_000;

/// When the first step of a pattern begins, in nanoseconds since the program began.
pub const START: u64 = 1_000_000;

/// Longest time between the end of the pattern and the end of the program in nanoseconds.
pub(crate) const SHUTDOWN: u64 = 20_000;

/// What is drawn of a rank besides its work.
const BEGIN: u64 = u64::MAX - 4;

/// The reference of a location: thread and rank, as Score-P counts.
pub(crate) fn reference(rank: u32, thread: u32) -> u64 {
    u64::from(thread) << 32 | u64::from(rank)
}

/// A thread of a rank.
#[derive(Debug)]
pub(crate) struct Location<'a> {
    pub(crate) job: &'a Job,
    pub(crate) rank: u32,
    pub(crate) thread: u32,
    /// Messages that it has sent.
    pub(crate) messages: u64,
    now: u64,
    clock: Clock,
    events: EventWriter,
}

impl<'a> Location<'a> {
    pub(crate) fn create(
        job: &'a Job,
        archive: &ArchiveWriter,
        rank: u32,
        thread: u32,
    ) -> Result<Location<'a>, otf2::Error> {
        let events = archive.events(reference(rank, thread))?;
        Ok(Location { job, rank, thread, messages: 0, now: 0, clock: Clock::new(job, rank), events })
    }

    /// Writes all events; answers how many, and how many messages it has sent.
    pub(crate) fn write(mut self, plan: Plan) -> Result<(u64, u64), otf2::Error> {
        if self.thread == 0 {
            self.begin()?;
        }
        (self.job.pattern.run)(&mut self, plan.steps)?;
        if self.thread == 0 {
            self.end(START + plan.ticks)?;
        }
        Ok((self.events.finish()?, self.messages))
    }

    /// The time of the last event.
    pub(crate) fn now(&self) -> u64 {
        self.now
    }

    /// Does nothing until a time, if it has not come yet.
    pub(crate) fn wait_until(&mut self, time: u64) {
        self.now = self.now.max(time);
    }

    /// An event at a time, which must not be before that of the last one.
    #[inline]
    pub(crate) fn event(&mut self, time: u64, event: Event<'_>) -> Result<(), otf2::Error> {
        debug_assert!(time >= self.now, "{event:?} at {time}, before {}", self.now);
        self.now = time;
        self.events.write(self.clock.show(time), event, Attributes::EMPTY)
    }

    /// An event so long after the last one.
    #[inline]
    pub(crate) fn after(&mut self, ticks: u64, event: Event<'_>) -> Result<(), otf2::Error> {
        self.event(self.now + ticks, event)
    }

    /// Enters a region so long after the last event.
    #[inline]
    pub(crate) fn enter(&mut self, ticks: u64, region: u32) -> Result<(), otf2::Error> {
        self.after(ticks, Event::Enter { region })
    }

    /// Leaves a region so long after the last event.
    #[inline]
    pub(crate) fn leave(&mut self, ticks: u64, region: u32) -> Result<(), otf2::Error> {
        self.after(ticks, Event::Leave { region })
    }

    /// Is in a function from now on until a time.
    pub(crate) fn work(&mut self, region: u32, until: u64) -> Result<(), otf2::Error> {
        self.enter(10, region)?;
        self.event(until, Event::Leave { region })
    }

    /// Starts up; the pattern can begin at [`START`].
    fn begin(&mut self) -> Result<(), otf2::Error> {
        let program = Event::ProgramBegin { program_name: PROGRAM, program_arguments: List::EMPTY };
        let init = if self.job.pattern.threads > 1 { INIT_THREAD } else { INIT };
        self.event(below(draw(self.job.seed, self.rank.into(), BEGIN), 100_000), program)?;
        self.enter(1000, MAIN)?;
        self.enter(2000, init)?;
        self.after(0, Event::MpiCollectiveBegin {})?;
        self.event(START - 100_000, Event::CommCreate { communicator: WORLD })?;
        self.after(100, Event::CommCreate { communicator: SELF })?;
        self.after(100, handle(CollectiveOp::CREATE_HANDLE))?;
        self.leave(100, init)?;
        for region in [COMM_RANK, COMM_SIZE] {
            self.enter(50, region)?;
            self.leave(40, region)?;
        }
        Ok(())
    }

    /// Shuts down when nobody has anything to do any more.
    fn end(&mut self, time: u64) -> Result<(), otf2::Error> {
        self.enter(100, FINALIZE)?;
        self.after(0, Event::MpiCollectiveBegin {})?;
        self.event(time + SHUTDOWN / 2, Event::CommDestroy { communicator: WORLD })?;
        self.after(100, Event::CommDestroy { communicator: SELF })?;
        self.after(100, handle(CollectiveOp::DESTROY_HANDLE))?;
        self.leave(100, FINALIZE)?;
        self.leave(100, MAIN)?;
        self.after(100, Event::ProgramEnd { exit_status: 0 })
    }
}

/// The operation that is inside `MPI_Init` and `MPI_Finalize`.
fn handle(collective_op: CollectiveOp) -> Event<'static> {
    let root = otf2::ROOT_NONE;
    Event::MpiCollectiveEnd { collective_op, communicator: WORLD, root, size_sent: 0, size_received: 0 }
}
