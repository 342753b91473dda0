//! Thread: the state of one location, and the accounting of its time to call paths.

use std::sync::Arc;

use model::Ticks;

use super::charges::Charges;
use super::counted::LastValues;
use super::events::ThreadEvents;
use super::marks::NotedEvents;
use super::sampling::ThreadSamples;
use super::stack::{Frame, Stack};
use super::states::OpenStates;
use super::steps::StepCollector;
use super::tasks::Schedule;
use super::timelines::ThreadTimeline;
use super::{Pieces, Positions, RecordTimes, WindowCalls};
use crate::details::Bins;
use crate::focus::Windows;
use crate::ids::{EventNumber, PathId, RecordNumber, Row};
use crate::int::to_u32;
use crate::journal::Journal;
use crate::severity::{MetricId, Severities};

/// Elapsed ticks of a location.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Elapsed {
    pub(super) time: Ticks,
    pub(super) mpi: Ticks,
    /// Time while recording was off.
    pub(super) off: Ticks,
}

impl Elapsed {
    /// Adds ticks while recording was off.
    pub(super) fn add_off(&mut self, ticks: Ticks) {
        self.off = self.off.saturating_add(ticks);
    }
}

/// Numbering of a location's events, with its data.
#[derive(Debug)]
pub(super) enum Numbering {
    /// No numbers are needed.
    Nothing,
    /// Positions in the journal.
    Journal(Journal),
    /// Numbers of records, with the data of these so far.
    Records(RecordTimes),
    /// No numbers are needed, but all pieces of time.
    Pieces(Pieces),
    /// No numbers are needed, but calls in windows.
    Calls(Box<WindowCalls>),
}

/// Sums of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Account {
    /// Exclusive ticks.
    time: i64,
    pub(super) visits: i64,
}

impl Account {
    pub(super) fn time(&self) -> Ticks {
        self.time
    }

    #[inline(always)]
    pub(super) fn spend(&mut self, ticks: Ticks) {
        // A saturating sum takes more instructions, at every event.
        self.time = match self.time.checked_add(ticks) {
            Some(time) => time,
            None => self.time.saturating_add(ticks),
        };
    }
}

/// The state of one location while its events are walked.
#[derive(Debug)]
pub(super) struct Thread {
    /// Position of the location in the report.
    pub(super) location: u32,
    /// The regions that it is in, by itself or in the task that it runs.
    pub(super) stack: Stack,
    /// So many of the outermost frames are not left within runs: the outermost one, and those up to a call on a file.
    pub(super) held: usize,
    pub(super) schedule: Schedule,
    /// The teams that it is a member of, by the numbers of their forks; the innermost last.
    pub(super) member_of: Vec<u32>,
    /// Whether its events are missing from some time on, or all of them.
    pub(super) is_lost: bool,
    /// The number of times that it became a member of a team.
    pub(super) teams: u32,
    /// The time up to which exclusive time was accounted to paths.
    pub(super) accounted: Ticks,
    /// The time of its first event that counts as time; [`Ticks::MIN`] before.
    pub(super) begin: Ticks,
    /// The time of its latest event.
    pub(super) now: Ticks,
    /// Since the process left MPI_Init, if it has.
    pub(super) elapsed: Elapsed,
    /// The same when it entered MPI_Finalize.
    pub(super) at_finalize: Option<Elapsed>,
    /// By row.
    pub(super) accounts: Vec<Account>,
    /// `None` before the first sample: of most locations there is none.
    pub(super) samples: Option<Box<ThreadSamples>>,
    pub(super) severities: Severities,
    /// Values of metrics whose row may turn out to be another one; `None` if that of no value can.
    pub(super) charges: Option<Box<Charges>>,
    /// The last values of its counters; `None` before the first one.
    pub(super) last_values: Option<Box<LastValues>>,
    /// Values of states that are in no row yet.
    pub(super) states: Option<Box<OpenStates>>,
    pub(super) numbering: Numbering,
    /// When time was spent, if details are wanted.
    pub(super) timeline: Option<Box<ThreadTimeline>>,
    /// Its steps, if they are noted.
    pub(super) steps: Option<Box<StepCollector>>,
    /// Events between which durations are taken, if they are noted.
    pub(super) noted: Option<Box<NotedEvents>>,
    /// Visits of regions and pairs of calls, if rules are over some.
    pub(super) events: Option<Box<ThreadEvents>>,
    /// The windows in which things count; `None` if all count.
    pub(super) windows: Option<Arc<Windows>>,
}

impl Thread {
    pub(super) fn new(location: usize, positions: Positions, bins: Option<Bins>, has_steps: bool) -> Thread {
        Thread {
            location: to_u32(location),
            stack: Stack::default(),
            held: 1,
            schedule: Schedule::default(),
            member_of: Vec::new(),
            is_lost: false,
            teams: 0,
            accounted: Ticks::MIN,
            begin: Ticks::MIN,
            now: Ticks::MIN,
            elapsed: Elapsed::default(),
            at_finalize: None,
            accounts: Vec::new(),
            samples: None,
            severities: Severities::default(),
            charges: None,
            last_values: None,
            states: None,
            numbering: match positions {
                Positions::Nothing => Numbering::Nothing,
                Positions::Journal => Numbering::Journal(Journal::default()),
                Positions::Records => Numbering::Records(RecordTimes::default()),
                Positions::Pieces => Numbering::Pieces(Pieces::default()),
            },
            timeline: bins.map(|bins| Box::new(ThreadTimeline::new(bins))),
            steps: has_steps.then(Box::default),
            noted: None,
            events: None,
            windows: None,
        }
    }

    /// Notes the time of the next record.
    #[inline]
    pub(super) fn observe(&mut self, time: Ticks) {
        self.now = time;
        match &mut self.numbering {
            Numbering::Records(records) => records.times.push(time),
            Numbering::Pieces(pieces) => {
                let noted = self.noted.as_ref().map_or(0, |noted| noted.notes.len());
                pieces.records.push((time, to_u32(noted)));
            }
            Numbering::Nothing | Numbering::Journal(_) | Numbering::Calls(_) => {}
        }
    }

    /// Marks the current record as irrelevant.
    pub(super) fn ignore(&mut self) {
        let record = self.record();
        self.ignore_record(record.record());
    }

    /// Marks a record as irrelevant.
    pub(super) fn ignore_record(&mut self, record: RecordNumber) {
        if let Numbering::Records(records) = &mut self.numbering {
            records.ignored.push(record);
        }
    }

    /// Returns the number of the current record, if records are numbered.
    #[inline]
    pub(super) fn record(&self) -> EventNumber {
        match &self.numbering {
            Numbering::Records(records) => match records.times.len() {
                0 => EventNumber::NONE,
                count => RecordNumber::new(count - 1).into(),
            },
            Numbering::Nothing | Numbering::Journal(_) | Numbering::Calls(_) | Numbering::Pieces(_) => {
                EventNumber::NONE
            }
        }
    }

    /// Marks an event in a row of the journal; returns its position.
    #[inline]
    pub(super) fn mark(&mut self, row: Row) -> EventNumber {
        match &mut self.numbering {
            Numbering::Nothing | Numbering::Calls(_) | Numbering::Pieces(_) => EventNumber::NONE,
            Numbering::Journal(journal) => journal.mark(row).into(),
            Numbering::Records(_) => self.record(),
        }
    }

    /// Marks an event in the innermost region.
    #[inline(always)]
    pub(super) fn mark_innermost(&mut self) -> EventNumber {
        match (&self.numbering, self.stack.last()) {
            (Numbering::Nothing, _) | (_, None) => EventNumber::NONE,
            (_, Some(&Frame { row, .. })) => self.mark(row),
        }
    }

    /// Marks the end of an MPI call that has no mark of its own, because nothing was communicated in it.
    /// Without the mark the journal would merge the time before the call with the time after it, and no
    /// stretch between two calls would be known.
    #[inline]
    pub(super) fn mark_silent_call(&mut self, row: Row) {
        if let Numbering::Journal(journal) = &mut self.numbering {
            journal.mark(row);
        }
    }

    /// Accounts the time since the last account to a row.
    #[inline(always)]
    pub(super) fn account(&mut self, row: Row, time: Ticks) {
        if self.accounted != Ticks::MIN {
            self.add_time(row, self.accounted, time - self.accounted);
        } else {
            self.start(time);
        }
        self.accounted = time;
    }

    /// Accounts the time since the last account to the innermost region. Outside of any region it belongs to
    /// nothing, or in a task to the call path where it runs.
    #[inline(always)]
    pub(super) fn account_innermost(&mut self, time: Ticks) {
        match self.stack.last().map(|frame| frame.row).or(self.stack.outside) {
            Some(row) => self.account(row, time),
            None => self.skip(time),
        }
    }

    /// Accounts the time since the last account to a row because of a sample.
    pub(super) fn account_sampled(&mut self, row: Row, time: Ticks) {
        if self.accounted != Ticks::MIN {
            self.samples.get_or_insert_default().give(row, time - self.accounted);
        }
        self.move_charges(row);
        self.account(row, time);
    }

    /// Discards the time since the last account: nothing ran.
    pub(super) fn skip(&mut self, time: Ticks) {
        if self.accounted == Ticks::MIN {
            self.start(time);
        } else {
            let ticks = time - self.accounted;
            match &mut self.numbering {
                Numbering::Journal(journal) => journal.skip(ticks),
                Numbering::Pieces(pieces) => pieces.list.push((Row::NONE, ticks)),
                Numbering::Nothing | Numbering::Records(_) | Numbering::Calls(_) => {}
            }
        }
        self.accounted = time;
    }

    /// Notes the time of the first event.
    #[cold]
    fn start(&mut self, time: Ticks) {
        self.begin = time;
        self.note_begin(time);
        if let Numbering::Journal(journal) = &mut self.numbering {
            journal.start(time);
        }
    }

    /// Adds exclusive time from a time on to a row.
    #[inline(always)]
    pub(super) fn add_time(&mut self, row: Row, begin: Ticks, ticks: Ticks) {
        if let Some(noted) = &mut self.noted {
            noted.pieces.spend(row, ticks);
        }
        if self.windows.is_some() {
            return self.add_focused_time(row, begin, ticks);
        }
        self.account_of(row).spend(ticks);
        if let Some(timeline) = &mut self.timeline {
            timeline.spend(row, begin, ticks);
        }
        match &mut self.numbering {
            Numbering::Journal(journal) => journal.spend(row, ticks),
            Numbering::Pieces(pieces) => pieces.list.push((row, ticks)),
            Numbering::Nothing | Numbering::Records(_) | Numbering::Calls(_) => {}
        }
        self.elapsed.time = self.elapsed.time.saturating_add(ticks);
    }

    /// Notes in the timeline that time of a row was spent to start or end a team.
    pub(super) fn manage(&mut self, row: Row, begin: Ticks, ticks: Ticks) {
        if let Some(timeline) = &mut self.timeline {
            timeline.manage(row, begin, ticks);
        }
    }

    /// Pushes a frame at the current time; the time so far is accounted to the frame above.
    #[inline(always)]
    pub(super) fn push(&mut self, frame: Frame) {
        if let Some(steps) = &mut self.steps {
            steps.begin(frame.enter);
        }
        self.account_innermost(frame.enter);
        self.add_visit(frame.row, frame.enter);
        self.stack.push(frame);
    }

    #[inline(always)]
    fn add_visit(&mut self, row: Row, time: Ticks) {
        let counts = self.counts(time);
        self.account_of(row).visits += i64::from(counts);
    }

    #[inline(always)]
    pub(super) fn account_of(&mut self, row: Row) -> &mut Account {
        let at = row.index();
        if at >= self.accounts.len() {
            self.accounts.resize(at + 1, Account::default());
        }
        &mut self.accounts[at]
    }

    /// Pops the innermost frame; the time so far is accounted to it.
    #[inline(always)]
    pub(super) fn pop(&mut self, time: Ticks) -> Option<Frame> {
        let frame = *self.stack.pop()?;
        if let Numbering::Calls(calls) = &mut self.numbering {
            calls.leave(&frame, time, to_u32(self.stack.len()));
        }
        self.account(frame.row, time);
        if self.stack.foreign > 0 {
            self.settle(time);
        }
        Some(frame)
    }

    /// Returns an empty stack below a path.
    pub(super) fn stack_below(&mut self, base: PathId) -> Stack {
        let outside = (base != PathId::NONE).then(|| self.severities.row(base));
        Stack::below(base, outside)
    }

    /// Prepares a stack of another thread for this one.
    pub(super) fn adopt(&mut self, stack: &mut Stack) {
        stack.outside = stack.outside.map(|_| self.severities.row(stack.base));
        stack.foreign = stack.len();
    }

    /// Sets the row of the innermost frame to one of this location, if it is one of another. The rows of the
    /// outer frames do not matter yet.
    pub(super) fn settle(&mut self, time: Ticks) {
        if self.stack.foreign < self.stack.len() {
            return;
        }
        self.stack.foreign = self.stack.len();
        if let Some(frame) = self.stack.last_mut() {
            frame.row = self.severities.row(frame.path);
            // Clocks of threads may differ.
            frame.enter = frame.enter.min(time);
        }
    }

    /// Counts a task where it ran, until now. Its time was accounted for elsewhere.
    pub(super) fn add_stub(&mut self, row: Row, ticks: Ticks) {
        let begin = self.now.saturating_sub(ticks);
        self.add_visit(row, begin);
        let elapsed = self.elapsed;
        self.add_time(row, begin, ticks);
        self.elapsed = elapsed;
    }

    /// Returns times and visits as severities.
    pub(super) fn finish(&mut self, time: MetricId, visits: MetricId) -> Severities {
        let accounts = std::mem::take(&mut self.accounts);
        self.severities.set_column(time, accounts.iter().map(|account| account.time).collect());
        self.severities.set_column(visits, accounts.iter().map(|account| account.visits).collect());
        std::mem::take(&mut self.severities)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exclusive_times_sum_up_to_the_lifetime() {
        let mut thread = Thread::new(0, Positions::Nothing, None, false);
        thread.push(Frame::new(PathId::new(0), Row::new(0), 7, 10));
        thread.push(Frame::new(PathId::new(1), Row::new(1), 8, 14));
        thread.pop(20);
        thread.pop(25);
        let severities = thread.finish(0, 1);
        assert_eq!((severities.dense(0), severities.dense(1)), (&[9, 6][..], &[1, 1][..]));
        assert_eq!(thread.elapsed.time, 15);
    }

    #[test]
    fn time_between_two_roots_belongs_to_nothing() {
        let mut thread = Thread::new(0, Positions::Nothing, None, false);
        thread.push(Frame::new(PathId::default(), Row::default(), 7, 10));
        thread.pop(12);
        thread.push(Frame::new(PathId::default(), Row::default(), 7, 30));
        thread.pop(31);
        assert_eq!(thread.finish(0, 1).dense(0), [3]);
    }
}
