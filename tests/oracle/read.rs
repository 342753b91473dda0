//! Reader of an archive into plain structures: calls with their call paths, and events on the global clock.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use model::{Definitions, GroupType, LocationType, MeasurementMode, Paradigm, RegionRole};
use otf2::{Archive, Attribute, Definition, Event};
use replay::Semantics;

use super::events::{Envelope, EventKind, LocationEvent};
use super::tasks::Tasks;
use super::world::World;

/// Role of a region in the analysis, besides its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    Parallel,
    ExplicitBarrier,
    ImplicitBarrier,
    Other,
}

/// A call: a visit of a region.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// Names from the root, joined by `/`.
    pub(crate) path: String,
    /// Canonical name in lower case without `mpi_`, if it is a function of MPI; otherwise empty.
    pub(crate) mpi_name: String,
    pub(crate) is_mpi: bool,
    pub(crate) role: Role,
    pub(crate) parent: Option<usize>,
    pub(crate) enter: i64,
    pub(crate) leave: i64,
    /// When it was suspended, and how long: its thread ran another task.
    pub(crate) suspended: Vec<(i64, i64)>,
    /// Whether it is the outermost call of a task.
    pub(crate) is_in_task: bool,
    /// Index of the parallel region of the process in which it was made.
    pub(crate) team: Option<usize>,
    /// Whether it was never left.
    pub(crate) is_open: bool,
    /// Times of the master's fork and join, if it is a parallel region.
    pub(crate) fork: Option<i64>,
    pub(crate) join: Option<i64>,
    /// Positions of enter and leave among the location's events.
    pub(crate) entered_at: usize,
    pub(crate) left_at: usize,
    /// The message that it has found, if it is a probe whose leave tells that.
    pub(crate) found: Option<Envelope>,
}

impl Call {
    /// Time for which it was suspended.
    pub(crate) fn suspension(&self) -> i64 {
        self.suspended.iter().map(|it| it.1).sum()
    }

    /// Whether it is the time in which the recorder was switched off.
    pub(crate) fn is_off(&self) -> bool {
        self.path.ends_with("MEASUREMENT OFF")
    }
}

/// Exclusive time of a call path, attributed where a location enters or leaves a call (specification 7.2).
#[derive(Clone, Debug)]
pub(crate) struct Spent {
    /// Number of the location's events before it.
    pub(crate) at: usize,
    pub(crate) path: String,
    /// When it was spent; less than nothing is what another call path has from then on instead.
    pub(crate) begin: i64,
    pub(crate) ticks: i64,
}

/// Time and visits of a call path, in tasks.
#[derive(Clone, Debug)]
pub(crate) struct OfTask {
    pub(crate) path: String,
    pub(crate) begin: i64,
    pub(crate) ticks: i64,
    pub(crate) visits: i64,
}

/// A thread of a process.
#[derive(Clone, Debug)]
pub(crate) struct Location {
    pub(crate) process: usize,
    pub(crate) thread: usize,
    /// Whether it was in a team, and is not the main thread.
    pub(crate) is_worker: bool,
    /// Whether it calls POSIX threads.
    pub(crate) has_pthreads: bool,
    /// Whether its event file is missing.
    pub(crate) is_missing: bool,
    pub(crate) calls: Vec<Call>,
    pub(crate) events: Vec<LocationEvent>,
    pub(crate) spent: Vec<Spent>,
    /// Time of its last event.
    pub(crate) end: Option<i64>,
    /// Additions of tasks to times and visits besides their calls.
    pub(crate) of_tasks: Vec<OfTask>,
}

impl Location {
    /// Attributes ticks from a time on to a call path, behind all events so far.
    pub(super) fn spend(&mut self, path: &str, begin: i64, ticks: i64) {
        if ticks != 0 {
            self.spent.push(Spent { at: self.events.len(), path: path.to_owned(), begin, ticks });
        }
    }
}

/// A parallel region on its master.
struct Fork {
    path: String,
    time: i64,
    join: Option<i64>,
}

/// Reads all locations of an archive, in the order of processes and threads.
pub(crate) fn read(directory: &Path, semantics: Semantics) -> (Vec<Location>, World) {
    let archive = Archive::open(directory).unwrap();
    let definitions = archive.definitions().unwrap();
    let mut threads: Vec<(usize, u64)> = (0..definitions.locations.len())
        .filter(|&at| definitions.locations[at].kind == LocationType::CPU_THREAD)
        .map(|at| (definitions.locations[at].group, definitions.locations.reference(at)))
        .collect();
    threads.sort_by_key(|&(process, reference)| match semantics {
        Semantics::Corrected => (process, number(&definitions, reference)),
        Semantics::Reference => (process, reference),
    });
    let programs = programs(&archive, &definitions, &threads);
    let world = World::new(&definitions, semantics);
    let (mut locations, mut forks) = (Vec::<Location>::new(), Vec::new());
    for (process, reference) in threads {
        let thread = locations.iter().filter(|it| it.process == process).count();
        let mut reader = Reader {
            definitions: &definitions,
            world: &world,
            semantics,
            root: programs.get(&process).map_or("", String::as_str),
            forks: if thread == 0 { Vec::new() } else { std::mem::take(&mut forks) },
            team: None,
            teams: 0,
            stack: Vec::new(),
            tasks: Tasks::default(),
            has_begun: false,
            attributes: Vec::new(),
            location: Location {
                process,
                thread,
                is_worker: false,
                has_pthreads: false,
                is_missing: false,
                calls: Vec::new(),
                events: Vec::new(),
                spent: Vec::new(),
                end: None,
                of_tasks: Vec::new(),
            },
            booked: None,
        };
        reader.events(&archive, reference);
        let Reader { forks: all, mut location, teams, .. } = reader;
        location.is_worker = thread > 0 && teams > 0;
        forks = all;
        locations.push(location);
    }
    put_below_one_root(&mut locations, programs.values());
    (locations, world)
}

/// Number of a thread in its team.
fn number(definitions: &Definitions, reference: u64) -> u64 {
    let of_openmp =
        |kind| definitions.groups.iter().filter(move |g| (g.kind, g.paradigm) == (kind, Paradigm::OPENMP));
    // Without teams each process has one thread.
    let Some(all) = of_openmp(GroupType::COMM_LOCATIONS).next() else { return 0 };
    let at = all.members.iter().position(|&member| member == reference).unwrap() as u64;
    let mut places =
        of_openmp(GroupType::COMM_GROUP).map(|team| team.members.iter().position(|&it| it == at));
    places.find_map(|place| place).expect("a team of the thread") as u64
}

/// The program of each process: the last part of its path. If all that name theirs run the same, so do the
/// others.
fn programs(
    archive: &Archive,
    definitions: &Definitions,
    threads: &[(usize, u64)],
) -> BTreeMap<usize, String> {
    let mut programs = BTreeMap::new();
    for &(process, reference) in threads {
        let local = archive.local_definitions(reference).unwrap();
        let Ok(file) = archive.event_file(reference) else { continue };
        let mut events = archive.events(&file);
        while let Some(record) = events.next().unwrap() {
            if let Event::ProgramBegin { program_name, .. } = record.event.map(&local.mappings) {
                let name = definitions.strings.find(program_name.into()).unwrap();
                programs.insert(process, name.rsplit('/').next().unwrap().to_owned());
            }
        }
    }
    let all: BTreeSet<String> = programs.values().cloned().collect();
    if let Some(only) = all.first().filter(|_| all.len() == 1) {
        threads.iter().for_each(|thread| _ = programs.entry(thread.0).or_insert_with(|| only.clone()));
    }
    programs
}

/// Makes `PROGRAM` the root, unless everything is below one program.
fn put_below_one_root<'a>(locations: &mut [Location], mut programs: impl Iterator<Item = &'a String>) {
    let is_below = |call: &Call, program: &str| call.path.split('/').next() == Some(program);
    let mut calls = locations.iter_mut().flat_map(|location| &mut location.calls);
    if let Some(program) = programs.next()
        && calls.all(|call| is_below(call, program))
    {
        return;
    }
    for location in locations {
        let calls = location.calls.iter_mut().map(|call| &mut call.path);
        for path in calls.chain(location.spent.iter_mut().map(|spent| &mut spent.path)) {
            *path = below("PROGRAM", path);
        }
    }
}

/// A child of a call path.
pub(super) fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
}

/// Specification 2.2: converts a local time to the global clock by clock offsets.
fn correct(offsets: &[(i64, i64)], time: i64) -> i64 {
    if offsets.len() < 2 {
        return time;
    }
    let last = offsets.len() - 2;
    let segment = (0..last).find(|&at| time <= offsets[at + 1].0).unwrap_or(last);
    let ((t, o), (next_t, next_o)) = (offsets[segment], offsets[segment + 1]);
    let slope = (next_o - o) as f64 / (next_t - t) as f64;
    time + o + (slope * (time - t) as f64).round_ties_even() as i64
}

pub(super) struct Reader<'a> {
    pub(super) definitions: &'a Definitions,
    pub(super) world: &'a World,
    pub(super) semantics: Semantics,
    /// Program of the process; empty if unknown.
    pub(super) root: &'a str,
    /// The parallel regions of the process.
    forks: Vec<Fork>,
    /// Index of the parallel region in which the thread is.
    team: Option<usize>,
    teams: usize,
    pub(super) stack: Vec<usize>,
    pub(super) tasks: Tasks,
    /// Whether a collective operation has begun that has not ended.
    pub(super) has_begun: bool,
    /// The attributes of the event, with global references.
    pub(super) attributes: Vec<Attribute>,
    pub(super) location: Location,
    /// Time up to which exclusive time is attributed.
    pub(super) booked: Option<i64>,
}

impl Reader<'_> {
    fn events(&mut self, archive: &Archive, reference: u64) {
        let local = archive.local_definitions(reference).unwrap();
        let file = archive.local_definition_file(reference).unwrap();
        let mut records = archive.local_definition_records(&file);
        let mut offsets = Vec::new();
        while let Some(record) = records.next().unwrap() {
            if let Definition::ClockOffset { time, offset, .. } = record.definition {
                offsets.push((time.0 as i64, offset));
            }
        }
        let Ok(file) = archive.event_file(reference) else {
            // Where no location counts its events, each should have a file.
            let counts = |reference| self.definitions.locations.find(reference).unwrap().events > 0;
            let all = &self.definitions.locations;
            self.location.is_missing = counts(reference) || all.iter().all(|location| location.events == 0);
            return;
        };
        let mut events = archive.events(&file);
        let (mut flushes, mut last) = (Vec::<(i64, i64)>::new(), 0);
        while let Some(record) = events.next().unwrap() {
            let time = correct(&offsets, record.time as i64);
            self.location.end = Some(time);
            // Specification 2.3: a flush comes after the events of its tick, but before the end of the
            // program; it ends before the next event.
            let is_end = matches!(record.event, Event::ProgramEnd { .. });
            if flushes.first().is_some_and(|flush| flush.0 < time || is_end) {
                self.flush(&mut flushes, Some(time));
            }
            if let Event::BufferFlush { stop_time } = record.event {
                flushes.push((time, correct(&offsets, stop_time.0 as i64)));
            } else {
                self.attributes = record.attributes.iter().map(|it| it.map(&local.mappings)).collect();
                self.event(time, record.event.map(&local.mappings));
            }
            last = last.max(time);
        }
        // Open calls end with the last event, or with the flush at the end.
        last = flushes.iter().fold(last, |last, &(_, stop)| last.max(stop));
        self.flush(&mut flushes, None);
        while let Some(&call) = self.stack.last() {
            self.location.calls[call].is_open = true;
            self.leave(last);
        }
        self.location.end = self.location.end.map(|_| last);
    }

    fn flush(&mut self, flushes: &mut Vec<(i64, i64)>, next: Option<i64>) {
        for (start, stop) in flushes.drain(..) {
            self.enter_named(start, "TRACE BUFFER FLUSH");
            self.leave(next.map_or(stop, |next| stop.min(next)).max(start));
        }
    }

    /// Specification 2.1: handles each record.
    fn event(&mut self, time: i64, event: Event<'_>) {
        match event {
            Event::ProgramBegin { .. } => {
                let root = self.root.to_owned();
                self.push(time, root, String::new(), false, Role::Other);
            }
            Event::ProgramEnd { .. } => {
                while !self.stack.is_empty() {
                    self.leave(time);
                }
            }
            Event::Enter { region } => self.enter(time, region),
            Event::Leave { .. } => {
                if let Some(&call) = self.stack.last() {
                    self.location.calls[call].found = self.found();
                }
                if let Some(handled) = self.handled() {
                    self.add_event(time, handled);
                }
                self.leave(time);
            }
            Event::MeasurementOnOff { measurement_mode } if measurement_mode == MeasurementMode::ON => {
                self.leave(time)
            }
            Event::MeasurementOnOff { .. } => {
                self.add_event(time, EventKind::RecordingOff);
                self.enter_named(time, "MEASUREMENT OFF");
            }
            Event::ThreadFork { .. } => {
                let path =
                    self.stack.last().map_or(self.root, |&call| &self.location.calls[call].path).to_owned();
                self.forks.push(Fork { path, time, join: None });
            }
            Event::ThreadJoin { .. } => self.join(time),
            Event::ThreadTeamBegin { .. } => {
                // Not all threads are in all teams; it belongs to the last fork, as the threads of a process
                // have one clock.
                self.team = self.forks.iter().rposition(|fork| fork.time <= time);
                self.teams += 1;
            }
            Event::ThreadTeamEnd { .. } => self.team = None,
            Event::ThreadTaskSwitch { creating_thread, generation_number, .. } => {
                self.switch_task(time, creating_thread, generation_number);
            }
            Event::ThreadTaskComplete { .. } => self.complete_task(time),
            Event::MpiCollectiveBegin {} => {
                self.has_begun = true;
                self.add_event(time, EventKind::CollectiveBegin);
            }
            _ => {
                if let Some(kind) = self.communication(event) {
                    self.add_event(time, kind);
                }
            }
        }
    }

    pub(super) fn add_event(&mut self, time: i64, kind: EventKind) {
        self.location.events.push(LocationEvent { time, call: self.stack.last().copied(), kind });
    }

    fn enter(&mut self, time: i64, region: u32) {
        let region = self.definitions.regions.find(region.into()).unwrap();
        // Specification 3.1: MPI by the name of its file; corrected, also by its paradigm.
        let is_mpi = region.source_file == "MPI"
            || self.semantics == Semantics::Corrected && region.paradigm == Paradigm::MPI;
        self.location.has_pthreads |= region.paradigm == Paradigm::PTHREAD;
        let lower = region.canonical_name.to_lowercase();
        let mpi_name = if is_mpi { lower.trim_start_matches("mpi_").to_owned() } else { String::new() };
        let role = match region.role {
            _ if region.paradigm != Paradigm::OPENMP => Role::Other,
            RegionRole::PARALLEL => Role::Parallel,
            RegionRole::BARRIER => Role::ExplicitBarrier,
            RegionRole::IMPLICIT_BARRIER => Role::ImplicitBarrier,
            _ => Role::Other,
        };
        self.push(time, region.name.clone(), mpi_name, is_mpi, role);
    }

    fn enter_named(&mut self, time: i64, name: &str) {
        self.push(time, name.to_owned(), String::new(), false, Role::Other);
    }

    /// Opens a call. Calls of a worker are below the fork of its team, or below `THREADS`.
    fn push(&mut self, time: i64, name: String, mpi_name: String, is_mpi: bool, role: Role) {
        let parent = self.stack.last().copied();
        let fork = self.fork();
        let path = match parent {
            Some(parent) => below(&self.location.calls[parent].path, &name),
            None if self.tasks.runs() => below(&self.enter_task(&name), &name),
            None if self.location.thread > 0 => match fork {
                Some(fork) => below(&self.forks[fork].path, &name),
                None => below(&below(self.root, "THREADS"), &name),
            },
            None if name == self.root => name,
            None => below(self.root, &name),
        };
        let team = fork;
        let (fork, join) = fork
            .filter(|_| role == Role::Parallel)
            .map(|at| (Some(self.forks[at].time), self.forks[at].join))
            .unzip();
        let (fork, join) = (fork.flatten(), join.flatten());
        let at = self.book_enter(time, &path, fork);
        let call = Call {
            path,
            mpi_name,
            is_mpi,
            role,
            parent,
            enter: time,
            leave: time,
            suspended: Vec::new(),
            is_in_task: parent.is_none() && self.tasks.runs(),
            team,
            is_open: false,
            fork,
            join,
            entered_at: at,
            left_at: at,
            found: None,
        };
        self.stack.push(self.location.calls.len());
        self.location.calls.push(call);
    }

    /// The fork of the thread's team.
    fn fork(&self) -> Option<usize> {
        self.team.filter(|&team| team < self.forks.len())
    }

    /// Handles the join of the latest fork, also for its parallel region on the master, which has been left
    /// already.
    fn join(&mut self, time: i64) {
        let Some(fork) = self.forks.last_mut() else { return };
        fork.join = Some(time);
        let fork = fork.time;
        for call in self.location.calls.iter_mut().filter(|call| call.fork == Some(fork)) {
            call.join = Some(time);
        }
        self.book_join(time, fork);
    }

    fn leave(&mut self, time: i64) {
        let Some(call) = self.stack.pop() else { return };
        self.location.calls[call].leave = time;
        self.location.calls[call].left_at = self.location.events.len();
        self.add_event(time, EventKind::Left(call));
        self.book_leave(time, call);
    }
}
