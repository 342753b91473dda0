//! One pass over the events of a process: call paths, exclusive times, visits, and its operations.
//!
//! A process's locations are walked together, in the order of time: request numbers, the order of messages
//! and the order of collective operations belong to the process, and a worker thread's call paths hang below
//! its team's fork. Enter and leave events are not kept. No defect of a trace stops the walk: each is counted
//! as a finding.

mod accelerators;
mod attributes;
mod barriers;
mod charges;
mod contexts;
mod counted;
mod counters;
mod events;
mod file_access;
mod file_attributes;
mod file_bytes;
mod file_operations;
mod file_times;
mod files;
mod focus;
mod gaps;
mod leave;
mod locks;
mod marks;
mod one_sided;
mod pending;
mod phases;
mod polls;
mod probes;
mod process;
mod records;
mod references;
mod requests;
mod run;
mod sampling;
mod stack;
mod states;
mod steps;
mod stream;
mod switches;
mod tasks;
mod teams;
mod thread;
mod timelines;
mod trace_metrics;
mod window_calls;
mod work;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::sync::Arc;

use model::Ticks;
use otf2::Archive;

use crate::allocated::Since;
use crate::call_tree::CallPath;
use crate::details::Scheme;
use crate::error::Error;
use crate::focus::{Window, Windows};
use crate::ids::{PathId, RecordNumber, Row};
use crate::io;
use crate::journal::Journal;
use crate::memory::Memory;
use crate::metrics::Metrics;
use crate::operations::{Offload, Operations};
use crate::results::Results;
use crate::trace::Trace;

use stream::Content;

pub use attributes::KnownAttributes;
pub use counted::ReportedCounters;
pub use counters::KnownCounters;
pub use events::{EventInstances, EventVisit, MOST_OPEN, Moment, Unpaired};
pub(crate) use file_attributes::FileAttributes;
pub use file_operations::FileOperation;
pub use marks::{LockTurn, Note, Noted};
pub use phases::Border;
pub use sampling::{COMPARABLE, Sampled};
pub use states::{MEAN, ReportedStates};
pub use steps::{Between, StepKey, Steps, TimedStep};
pub(crate) use stream::FARTHEST;
pub use switches::KnownSwitches;
pub use window_calls::{KeptCalls, MOST_CALLS, WindowCall, WindowCalls};
pub use work::MainThreadWork;

/// Events between two checks of the free memory: few enough that nothing but a list can outgrow it, many
/// enough to cost nothing.
const STEPS_BETWEEN_CHECKS: u64 = 1 << 14;

/// Minimum size of a location's events, in bytes, for a readahead hint to the system.
const WORTH_EXPECTING: u64 = 4 << 20;

/// Kinds of positions that the walk gives to events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Positions {
    /// No positions are needed.
    Nothing,
    /// Positions in the journal, for root causes.
    Journal,
    /// Numbers of records in the file, from 0, for clock correction.
    Records,
    /// None, but all pieces of time with the records that they lie between, for the times of records in a predicted run.
    Pieces,
}

/// What the walk notes of each event, beside times and operations.
#[derive(Clone, Copy, Debug)]
pub struct Notes<'a> {
    /// Positions of events that others may depend on.
    pub positions: Positions,
    /// How timelines are made; `None` without.
    pub scheme: Option<&'a Scheme>,
    /// Whether steps are noted, for the structure of the run.
    pub has_steps: bool,
    /// Whether events are noted between which the what-if replay takes durations; needs positions in the journal, or pieces.
    pub has_marks: bool,
    /// The windows of the process in which things count; `None` if all count.
    pub windows: Option<&'a Arc<Windows>>,
    /// What the model of file I/O is made with; `None` without.
    pub io: Option<&'a io::Asked>,
    /// Whether operations on files are noted, for rules.
    pub has_file_operations: bool,
}

impl Notes<'_> {
    /// Positions, and nothing else.
    pub fn of(positions: Positions) -> Self {
        Notes {
            positions,
            scheme: None,
            has_steps: false,
            has_marks: false,
            windows: None,
            io: None,
            has_file_operations: false,
        }
    }
}

/// An outermost visit of a phase by the main thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Visit {
    /// The number of the phase.
    pub phase: u16,
    /// From enter to leave.
    pub window: Window,
    /// What is between steps inside; nothing unless these are noted.
    pub between: Between,
}

/// A location after the walk. Nothing of it changes afterwards.
#[derive(Clone, Debug)]
pub struct WalkedLocation {
    /// Position of the location in the report.
    pub location: usize,
    /// Its time between the end of MPI_Init and the start of MPI_Finalize, in ticks.
    pub run: Ticks,
    /// Its time in MPI calls in between, in ticks.
    pub run_mpi: Ticks,
    /// The time in between in which recording was off, in ticks.
    pub run_off: Ticks,
    /// Whether it is a thread other than the main one that was in a team.
    pub is_worker: bool,
    /// Whether events of it are lost.
    pub is_lost: bool,
    /// Its samples by row of the severities; empty without any, and rows behind the end have none.
    pub sampled: Vec<Sampled>,
    /// The time of its last event; [`Ticks::MIN`] if no event is known.
    pub end: Ticks,
}

impl WalkedLocation {
    /// Returns the recorded time between MPI_Init and MPI_Finalize, in ticks.
    pub fn recorded_run(&self) -> Ticks {
        self.run.saturating_sub(self.run_off)
    }

    /// Whether at least one event of it is known. A thread without events has not run, or its events are
    /// lost: nothing is compared with it, and it counts in no mean.
    pub fn has_events(&self) -> bool {
        self.end > Ticks::MIN
    }
}

/// The records of a location, by number.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RecordTimes {
    /// The time of each, in ticks.
    pub times: Vec<Ticks>,
    /// The numbers of those that the analysis ignores (specification 2.1), in ascending order.
    pub ignored: Vec<RecordNumber>,
}

/// All exclusive time of a location in its order, and its records in between.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Pieces {
    /// Rows and ticks; [`Row::NONE`] for time outside of any region. Positions of notes count these.
    pub list: Vec<(Row, Ticks)>,
    /// By number of the record: its time, in ticks, and how many events were noted before it.
    pub records: Vec<(Ticks, u32)>,
}

/// How long the calls of a call path were about a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileTime {
    /// The call path.
    pub path: PathId,
    /// Position of the file in the definitions.
    pub file: u32,
    /// From enter to leave, over all calls, in ticks.
    pub ticks: Ticks,
}

/// A process after the walk. Nothing of it changes afterwards.
#[derive(Clone, Debug)]
pub struct WalkedProcess {
    /// Position in [`Trace::processes`].
    pub number: usize,
    /// The call paths of all its locations, parents before children.
    pub paths: Box<[CallPath]>,
    /// Its locations.
    pub locations: Box<[WalkedLocation]>,
    /// The work of its main thread; `None` if that has not run, or it is not known.
    pub work: Option<Box<MainThreadWork>>,
    /// Its calls on files, by call path and file.
    pub file_times: Box<[FileTime]>,
}

impl WalkedProcess {
    /// The positions of its locations in the report.
    pub fn range(&self) -> Range<usize> {
        let first = self.locations.first().map_or(0, |location| location.location);
        first..first + self.locations.len()
    }

    /// Whether its main thread is known to have no events, and none of them is lost.
    pub fn has_not_run(&self) -> bool {
        self.locations.first().is_some_and(|main| !main.has_events() && !main.is_lost)
    }
}

/// All results of the walk over the events of a process. Each part goes to the steps that need it, and is
/// dropped by the last one.
#[derive(Clone, Debug)]
pub struct Walked {
    /// The immutable part.
    pub process: WalkedProcess,
    /// Its communication, until wait states are found.
    pub operations: Arc<Operations>,
    /// The journal of each location; empty unless positions are those in the journal.
    pub journals: Vec<Journal>,
    /// The records of each location; none unless positions are their numbers.
    pub records: Vec<RecordTimes>,
    /// The pieces of time of each location with its records in between; none unless they were asked for.
    pub record_pieces: Box<[Pieces]>,
    /// The steps of each location; none unless they were noted.
    pub steps: Vec<Steps>,
    /// Events of each location between which durations are taken; none unless they were noted.
    pub notes: Box<[Vec<Note>]>,
    /// By location: pieces of time between these; none unless events are noted.
    pub pieces: Box<[Journal]>,
    /// Where the main thread enters and leaves phases of which efficiencies are wanted; none unless events are noted.
    pub borders: Box<[Border]>,
    /// Visits of phases by the main thread, in the order of their ends; none unless regions are phases.
    pub visits: Box<[Visit]>,
    /// Visits and pairs of events that rules are over; `None` if no rule is.
    pub events: Option<Box<EventInstances>>,
    /// Operations on files in the order of their ends; none unless they are noted.
    pub file_operations: Box<[FileOperation]>,
    /// What it did with accelerators; `None` if it has no streams of any.
    pub offload: Option<Box<Offload>>,
    /// What the process did to files; `None` unless the model of file I/O is made.
    pub io: Option<Box<io_model::Walk>>,
    /// The part that later steps add to.
    pub results: Results,
}

/// Announces to the system that the events of a process, so many bytes, will be walked soon. Small files are
/// not worth it.
pub fn expect(archive: &Archive, trace: &Trace, process: usize, bytes: u64) {
    let locations = &trace.locations[trace.processes[process].locations.clone()];
    if bytes / (locations.len().max(1) as u64) < WORTH_EXPECTING {
        return;
    }
    for location in locations {
        archive.expect(location.reference, stream::AHEAD);
    }
}

/// The files of a process's locations.
#[derive(Debug)]
pub struct Files {
    process: usize,
    /// By location.
    of_locations: Vec<stream::Content>,
}

/// Opens the files of a process.
///
/// # Errors
/// If a file that exists cannot be read. Damaged and missing files are findings of the walk.
pub fn open(archive: &Archive, trace: &Trace, process: usize) -> Result<Files, Error> {
    let locations = &trace.locations[trace.processes[process].locations.clone()];
    let of_locations = locations.iter().map(|location| stream::open(archive, trace, location));
    Ok(Files { process, of_locations: of_locations.collect::<Result<_, _>>()? })
}

/// Walks the events of a process once more, for its operations and for calls of each of its locations in windows.
///
/// # Errors
/// If memory gets short. Damaged and missing files are findings.
pub fn walk_again(
    archive: &Archive,
    trace: &Trace,
    metrics: &Metrics,
    files: &Files,
    calls: Vec<WindowCalls>,
    memory: &Memory,
) -> Result<(Walked, Vec<WindowCalls>), Error> {
    let notes = Notes::of(Positions::Nothing);
    let mut state = process::ProcessWalk::new(trace, metrics, files.process, notes);
    state.keep_calls(calls);
    let mut state = walk_on(archive, state, files, &[], memory)?;
    state.close();
    let calls = state.take_calls();
    Ok((state.finish(), calls))
}

/// Walks the events of a process. `times` are those of the records of each of its locations, if they differ
/// from the recorded ones; empty otherwise.
///
/// # Errors
/// If memory gets short. Damaged and missing files are findings.
pub fn walk(
    archive: &Archive,
    trace: &Trace,
    metrics: &Metrics,
    files: &Files,
    notes: Notes<'_>,
    times: &[Vec<Ticks>],
    memory: &Memory,
) -> Result<Walked, Error> {
    let state = process::ProcessWalk::new(trace, metrics, files.process, notes);
    let mut state = walk_on(archive, state, files, times, memory)?;
    state.close();
    Ok(state.finish())
}

/// Walks all events of a process.
fn walk_on<'t>(
    archive: &Archive,
    mut state: process::ProcessWalk<'t>,
    files: &Files,
    times: &[Vec<Ticks>],
    memory: &Memory,
) -> Result<process::ProcessWalk<'t>, Error> {
    let since = Since::now();
    let trace = state.trace;
    let locations = &trace.locations[trace.processes[files.process].locations.clone()];
    let mut streams = Vec::new();
    for (thread, (location, content)) in locations.iter().zip(&files.of_locations).enumerate() {
        match content {
            Content::Events(file) => {
                let times = times.get(thread).map_or(&[][..], Vec::as_slice);
                streams.push(stream::Stream::new(archive, trace, location, thread, file, times));
                continue;
            }
            Content::Nothing => stream::check_end(thread, &mut state),
            Content::Lost(finding, text) => stream::miss(*finding, text, location, thread, &mut state),
        }
        if thread == 0 {
            state.end_forks();
        }
    }
    for stream in &mut streams {
        stream.begin(&mut state);
        stream.expect();
    }
    streams.iter().for_each(|stream| stream.announce(&mut state));
    // The stream with the earliest event always continues, until another one has an earlier event; joins come
    // after all else at their time; other ties go to the lower thread. A stream that waits for a fork comes
    // last, whatever its clock says; so each fork changes the order.
    let order = |streams: &[stream::Stream<'_>], state: &process::ProcessWalk<'_>| -> BinaryHeap<_> {
        let turns =
            streams.iter().enumerate().filter_map(|(at, stream)| Some(Reverse((stream.turn(state)?, at))));
        turns.collect()
    };
    let mut turns = order(&streams, &state);
    let mut steps: u64 = 0;
    memory.check(0)?;
    while let Some(Reverse((_, at))) = turns.pop() {
        let (next, forks) = (turns.peek().map(|Reverse((next, _))| *next), state.forks());
        while let Some(turn) = streams[at].turn(&state)
            && next.is_none_or(|next| turn < next)
            && state.forks() == forks
        {
            // At the time of another stream's turn the order depends on more than the time.
            let before = next.map_or(Ticks::MAX, |(waits, time, _)| if waits { Ticks::MAX } else { time });
            steps += streams[at].step(&mut state, before, STEPS_BETWEEN_CHECKS);
            if steps >= STEPS_BETWEEN_CHECKS {
                steps = 0;
                memory.check(since.bytes())?;
                streams.iter_mut().for_each(stream::Stream::expect);
            }
        }
        if state.forks() == forks {
            turns.extend(streams[at].turn(&state).map(|turn| Reverse((turn, at))));
        } else {
            turns = order(&streams, &state);
        }
    }
    Ok(state)
}
