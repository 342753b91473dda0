//! Events of one location while they are written: its clock, and the events at the start and the end of every
//! program.

use std::panic::Location as Caller;

use model::CollectiveOp;
use otf2::{ArchiveWriter, Attributes, Event, EventWriter, List};

use crate::clock::Clock;
use crate::contexts::{CallStack, Contexts};
use crate::definitions::{PROGRAM, SELF, WORLD};
use crate::draw::{below, draw};
use crate::gatherings::end_of_handle;
use crate::job::Job;
use crate::one_sided::Accesses;
use crate::patterns::Plan;
use crate::regions::{COMM_RANK, COMM_SIZE, FINALIZE, INIT, INIT_THREAD, MAIN};

/// Reading of the correct clock at the start of the program, in nanoseconds: a node that has been up for an
/// hour.
pub(crate) const EPOCH: u64 = 3_600_000_000_000;

/// Start of the first step of a pattern, in nanoseconds since the start of the program.
pub(crate) const START: u64 = 1_000_000;

/// Time of the last event before those of the pattern, likewise.
pub(crate) const STARTED: u64 = START - 99_520;

/// Longest time between the end of the pattern and the end of the program in nanoseconds.
pub(crate) const SHUTDOWN: u64 = 20_000;

/// Stream of random numbers of a rank, besides the one for its work.
const BEGIN: u64 = u64::MAX - 4;

/// Reference of a location: thread and rank, as in Score-P.
pub(crate) fn reference(rank: u32, thread: u32) -> u64 {
    u64::from(thread) << 32 | u64::from(rank)
}

/// A thread of a rank, or a stream of its device.
#[derive(Debug)]
pub(crate) struct Location<'a> {
    pub(crate) job: &'a Job,
    pub(crate) rank: u32,
    /// Number of the thread; streams follow behind the threads.
    pub(crate) thread: u32,
    /// The groups of ranks that send data to this one, and that it sends data to.
    pub(crate) groups: [u32; 2],
    /// Number of messages sent.
    pub(crate) messages: u64,
    /// What it has accessed in windows.
    pub(crate) accesses: Accesses,
    now: u64,
    clock: Clock,
    /// If the trace has call sites.
    calls: Option<CallStack<'a>>,
    events: EventWriter,
}

impl<'a> Location<'a> {
    pub(crate) fn create(
        job: &'a Job,
        archive: &ArchiveWriter,
        contexts: &'a mut Contexts,
        groups: [u32; 2],
        (rank, thread): (u32, u32),
    ) -> Result<Location<'a>, otf2::Error> {
        let events = archive.events(reference(rank, thread))?;
        let clock = Clock::new(job, rank);
        // What streams run is called by nobody there.
        let has_calls = job.call_sites && thread < job.threads;
        let calls = has_calls.then(|| CallStack::new(contexts));
        Ok(Location {
            job,
            rank,
            thread,
            groups,
            messages: 0,
            accesses: Accesses::default(),
            now: 0,
            clock,
            calls,
            events,
        })
    }

    /// Writes all events; returns their number and the number of messages sent.
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

    /// Time of the last event.
    pub(crate) fn now(&self) -> u64 {
        self.now
    }

    /// Waits until a time, if it has not passed yet.
    pub(crate) fn wait_until(&mut self, time: u64) {
        self.now = self.now.max(time);
    }

    /// Chooses the line of the next call. Otherwise it is that of the pattern's source.
    pub(crate) fn at_line(&mut self, line: u32) {
        if let Some(calls) = &mut self.calls {
            calls.set_line(line);
        }
    }

    /// Writes an event at a time, which must not be before that of the last one.
    #[inline]
    #[track_caller]
    pub(crate) fn event(&mut self, time: u64, event: Event<'_>) -> Result<(), otf2::Error> {
        self.event_with(time, event, Attributes::EMPTY)
    }

    /// Writes an event with attributes.
    #[inline]
    #[track_caller]
    pub(crate) fn event_with(
        &mut self,
        time: u64,
        event: Event<'_>,
        attributes: Attributes<'_>,
    ) -> Result<(), otf2::Error> {
        debug_assert!(time >= self.now, "{event:?} at {time}, before {}", self.now);
        self.now = time;
        let event = match &mut self.calls {
            Some(calls) => calls.in_context(event, Caller::caller().line()),
            None => event,
        };
        self.events.write(self.clock.show(time), event, attributes)
    }

    /// Writes an event `ticks` after the last one.
    #[inline]
    #[track_caller]
    pub(crate) fn after(&mut self, ticks: u64, event: Event<'_>) -> Result<(), otf2::Error> {
        self.event(self.now + ticks, event)
    }

    /// Enters a region `ticks` after the last event.
    #[inline]
    #[track_caller]
    pub(crate) fn enter(&mut self, ticks: u64, region: u32) -> Result<(), otf2::Error> {
        self.after(ticks, Event::Enter { region })
    }

    /// Leaves a region `ticks` after the last event.
    #[inline]
    #[track_caller]
    pub(crate) fn leave(&mut self, ticks: u64, region: u32) -> Result<(), otf2::Error> {
        self.after(ticks, Event::Leave { region })
    }

    /// Spends the time until `until` in a function.
    #[track_caller]
    pub(crate) fn work(&mut self, region: u32, until: u64) -> Result<(), otf2::Error> {
        self.enter(10, region)?;
        self.event(until, Event::Leave { region })
    }

    /// Spends a stretch of time in a number of calls of a function.
    #[track_caller]
    pub(crate) fn work_in_parts(
        &mut self,
        region: u32,
        begin: u64,
        length: u64,
        parts: u64,
    ) -> Result<(), otf2::Error> {
        for part in 1..=parts {
            self.work(region, begin + part * length / (parts + 1))?;
        }
        Ok(())
    }

    /// Writes the start of the program; the pattern can start at [`START`].
    fn begin(&mut self) -> Result<(), otf2::Error> {
        let program = Event::ProgramBegin { program_name: PROGRAM, program_arguments: List::EMPTY };
        let init = if self.job.pattern.threads > 1 { INIT_THREAD } else { INIT };
        self.event(below(draw(self.job.seed, self.rank.into(), BEGIN), 100_000), program)?;
        self.enter(1000, MAIN)?;
        self.enter(2000, init)?;
        self.after(0, Event::MpiCollectiveBegin {})?;
        self.event(START - 100_000, Event::CommCreate { communicator: WORLD })?;
        self.after(100, Event::CommCreate { communicator: SELF })?;
        self.after(100, end_of_handle(CollectiveOp::CREATE_HANDLE, WORLD))?;
        self.leave(100, init)?;
        for region in [COMM_RANK, COMM_SIZE] {
            self.enter(50, region)?;
            self.leave(40, region)?;
        }
        debug_assert_eq!(self.now, STARTED);
        Ok(())
    }

    /// Writes the end of the program at a time at which all ranks have finished.
    fn end(&mut self, time: u64) -> Result<(), otf2::Error> {
        self.enter(100, FINALIZE)?;
        self.after(0, Event::MpiCollectiveBegin {})?;
        self.event(time + SHUTDOWN / 2, Event::CommDestroy { communicator: WORLD })?;
        self.after(100, Event::CommDestroy { communicator: SELF })?;
        self.after(100, end_of_handle(CollectiveOp::DESTROY_HANDLE, WORLD))?;
        self.leave(100, FINALIZE)?;
        self.leave(100, MAIN)?;
        self.after(100, Event::ProgramEnd { exit_status: 0 })
    }
}
