//! A run without its events: processes, locations, clock, shared objects and call paths.

use super::energy::Energy;
use super::events::EventFileSummary;
use super::journals::{Process, STOPPED, Thread};
use super::notices::Notices;
use super::{
    Summary, anonymous, archive, clock, communicators, contexts, energy, iterations, loop_times, paths,
    python, strings,
};
use crate::{Error, faults, host};
use otf2::Anchor;
use recording::journal::ThreadUsage;
use recording::layout;
use recording::settings::EventRecords;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// What is lost of a rank without a journal, of which nobody knows what it recorded.
pub(super) const NO_JOURNAL: &str = "it has left no journal, without which nothing of it can be read";

/// What is known of a process without an end.
pub(crate) const NO_END: &str = "killed, aborted, or ended by _exit";

/// A location, and the position of its process if that has a journal.
pub(super) struct TraceLocation {
    pub(super) reference: u64,
    pub(super) process: Option<usize>,
}

/// Returns all locations by rank and thread: the first thread of every rank, and all others with files.
pub(super) fn places(directory: &Path, processes: &[Process]) -> Result<Vec<TraceLocation>, Error> {
    let size = processes.first().map_or(0, |first| first.size);
    let mut known: BTreeSet<(u32, u32)> = (0..size).map(|rank| (rank, 0)).collect();
    for process in processes {
        known.extend(process.threads.keys().map(|&thread| (process.rank, thread)));
    }
    for (folder, suffix) in
        [(layout::RECORDING, ".profile"), (layout::RECORDING, ".buffer"), (layout::TRACES, ".evt")]
    {
        let folder = directory.join(folder);
        if !folder.exists() {
            continue;
        }
        let failed = |cause| Error::io(&folder, "list the directory", cause);
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let location = name.to_str().and_then(|name| name.strip_suffix(suffix)?.parse().ok());
            known.extend(location.map(layout::rank_and_thread).filter(|&(rank, _)| rank < size));
        }
    }
    let process = |rank| processes.binary_search_by_key(&rank, |process| process.rank).ok();
    let place =
        |(rank, thread)| TraceLocation { reference: layout::location(rank, thread), process: process(rank) };
    // Thread numbers of ranks without a journal have no meaning.
    let places = known.into_iter().map(place);
    Ok(places.filter(|place| place.process.is_some() || place.reference < u64::from(size)).collect())
}

/// A run without its events.
pub(super) struct Run<'a> {
    pub(super) processes: &'a [Process],
    pub(super) places: Vec<TraceLocation>,
    pub(super) clock: clock::TraceClock,
    pub(super) shared: communicators::SharedObjects,
    /// By location.
    pub(super) paths: Vec<contexts::Paths>,
    pub(super) contexts: contexts::Contexts,
    pub(super) hosts: Vec<String>,
    /// By rank.
    pub(super) host_of: Vec<Option<u32>>,
    /// The energy that the run has taken, by host.
    pub(super) energy: Vec<Option<Energy>>,
    /// Program and arguments by process.
    pub(super) programs: Vec<Vec<String>>,
    /// Further strings that events refer to, by process.
    pub(super) texts: Vec<Vec<String>>,
    /// Ranks without a journal, and those that did not end by themselves.
    pub(super) silent: Vec<u32>,
    pub(super) died: Vec<u32>,
    /// Those of them that were still running when their recording was copied.
    pub(super) copied: BTreeSet<u32>,
}

/// Gathers the data of a run; `times` are those of the first and last event, by location.
pub(super) fn gather<'a>(
    directory: &Path,
    processes: &'a [Process],
    places: Vec<TraceLocation>,
    times: &[Option<(u64, u64)>],
    notices: &mut Notices,
) -> Result<Run<'a>, Error> {
    let Some(first) = processes.first() else { return Err(Error::new("there are no processes")) };
    let mut of_process = vec![None; processes.len()];
    for (place, &times) in places.iter().zip(times) {
        let Some((process, (begin, end))) = place.process.zip(times) else { continue };
        let (first, last) = of_process[process].unwrap_or((begin, end));
        of_process[process] = Some((first.min(begin), last.max(end)));
    }
    let now = host::clocks().filter(|_| first.host == host::name());
    let clock = clock::clock(processes, &of_process, now, notices);
    let shared = communicators::share(processes, notices);
    let paths = paths(directory, processes, &places, notices)?;
    let contexts = contexts::merge(processes, &paths, notices);
    let (hosts, host_of) = hosts(processes, first.size);
    let energy = energy::of_hosts(processes, &hosts);
    let with_journal: BTreeSet<u32> = processes.iter().map(|process| process.rank).collect();
    let silent = (0..first.size).filter(|rank| !with_journal.contains(rank)).collect();
    let died = processes.iter().filter(|process| process.end.is_none()).map(|process| process.rank).collect();
    let program = |process: &Process| {
        std::iter::once(&process.program).chain(&process.arguments).cloned().collect::<Vec<_>>()
    };
    let programs = processes.iter().map(program).collect();
    let texts = processes.iter().map(|process| process.texts.clone()).collect();
    let mut run = Run {
        processes,
        places,
        clock,
        shared,
        paths,
        contexts,
        hosts,
        host_of,
        energy,
        programs,
        texts,
        silent,
        died,
        copied: BTreeSet::new(),
    };
    if processes.iter().any(|process| process.is_anonymous) {
        anonymous::hide(&mut run);
    }
    Ok(run)
}

impl Run<'_> {
    /// Returns a summary without the sizes of what was written.
    pub(super) fn summary(&self, directory: &Path, notices: &Notices) -> Summary {
        Summary {
            directory: directory.to_owned(),
            processes: self.host_of.len() as u32,
            died: self.died.clone(),
            faults: faults::of_ranks(directory),
            silent: self.silent.clone(),
            notices: notices.lines(),
            iterations: iterations::sentence(self),
            has_losses: notices.has_losses(),
            ..Summary::default()
        }
    }

    /// Returns the size of the chunks of event files, in bytes.
    pub(super) fn chunk_size(&self) -> u64 {
        self.processes.first().map_or(0, |first| first.chunk_size)
    }

    /// Returns the number of samples for a second of a thread's processor time; 0 without any.
    fn sample(&self) -> u32 {
        self.processes.iter().map(|process| process.sample).max().unwrap_or(0)
    }

    /// Returns how far samples of a thread that computes may be apart, in ticks: two periods, and a tick of
    /// the system's scheduler, at which timers of processor time expire.
    pub(super) fn longest_gap(&self) -> u64 {
        const SCHEDULER: u64 = 100;
        let resolution = self.clock.resolution;
        (resolution / u64::from(self.sample().max(1)))
            .saturating_mul(2)
            .saturating_add(resolution / SCHEDULER)
    }

    /// Returns the thread of a location, if the journal of its process knows it.
    fn thread(&self, place: &TraceLocation) -> Option<&Thread> {
        self.processes[place.process?].threads.get(&layout::rank_and_thread(place.reference).1)
    }

    /// Returns what the thread of a location has used of the machine, if that is known.
    fn usage(&self, place: &TraceLocation) -> Option<ThreadUsage> {
        self.processes[place.process?].usage.get(&layout::rank_and_thread(place.reference).1).cloned()
    }

    /// Returns what is lost of a location, or was not recorded, without names of this machine; `None` if nothing is known to be.
    fn lost(&self, place: &TraceLocation, losses: &[String], directory: &Path) -> Option<String> {
        let Some(process) = place.process else { return Some(NO_JOURNAL.into()) };
        let stopped = self.processes[process].stopped.iter().map(|why| format!("{STOPPED}: {why}"));
        let all: Vec<String> = losses.iter().cloned().chain(stopped).collect();
        let inside = format!("{}/", directory.display());
        (!all.is_empty()).then(|| all.join("; ").replace(&inside, ""))
    }

    /// Returns why the process of a first thread has no end; `None` if it has one, or left nothing.
    fn unfinished(&self, place: &TraceLocation, faults: &[(u32, &str)]) -> Option<String> {
        let (rank, thread) = layout::rank_and_thread(place.reference);
        let has_none = thread == 0 && self.processes[place.process?].end.is_none();
        let why = match faults.iter().find(|fault| fault.0 == rank) {
            Some((_, signal)) => format!("died of {signal}"),
            None if self.copied.contains(&rank) => "was running when its recording was copied".into(),
            None => NO_END.into(),
        };
        has_none.then_some(why)
    }

    /// Returns the name of a location.
    pub(super) fn name(&self, place: &TraceLocation) -> String {
        location_name(place, self.processes)
    }
}

/// Writes all definitions of an archive with these records, and its anchor; `events` are the numbers of
/// events by location.
pub(super) fn define(
    directory: &Path,
    run: &Run<'_>,
    records: EventRecords,
    events: &[EventFileSummary],
    has_all: bool,
) -> Result<(), Error> {
    let processes = run.processes;
    let is_limited = processes.iter().any(|process| process.is_limited);
    let is_whole = run.silent.is_empty() && run.died.is_empty() && has_all && !is_limited;
    let faults = faults::of_ranks(directory);
    let location = |(place, events): (&TraceLocation, &EventFileSummary)| archive::LocationDefinition {
        reference: place.reference,
        name: run.name(place),
        events: events.count,
        has_switches: run.thread(place).is_some_and(|thread| thread.has_switches),
        has_counters: run.thread(place).is_some_and(|thread| thread.has_counters),
        usage: run.usage(place),
        lost: run.lost(place, &events.losses, directory),
        unfinished: run.unfinished(place, &faults),
    };
    let timed = loop_times::write(directory, run)?;
    archive::write(
        directory,
        archive::Content {
            anchor: anchor(processes, run.chunk_size(), is_whole, timed),
            clock: &run.clock,
            hosts: &run.hosts,
            host_of: &run.host_of,
            energy: &run.energy,
            counters: processes
                .iter()
                .map(|process| &process.counters[..])
                .find(|it| !it.is_empty())
                .unwrap_or(&[]),
            locations: &run.places.iter().zip(events).map(location).collect::<Vec<_>>(),
            process_of: &run.places.iter().map(|place| place.process).collect::<Vec<_>>(),
            programs: &run.programs,
            texts: &run.texts,
            shared: &run.shared,
            contexts: &run.contexts,
            has_contexts: records == EventRecords::CallingContexts,
            sample: run.sample(),
        },
    )
}

/// Reads the paths of all locations.
fn paths(
    directory: &Path,
    processes: &[Process],
    places: &[TraceLocation],
    notices: &mut Notices,
) -> Result<Vec<contexts::Paths>, Error> {
    let mut all = Vec::new();
    for place in places {
        let Some(process) = place.process else {
            all.push(contexts::Paths::default());
            continue;
        };
        let (nodes, problem) = paths::read(directory, place.reference)?;
        if let Some(problem) = problem {
            notices.loss(processes[process].rank, problem);
        }
        let (functions, problem) = python::read(directory, place.reference)?;
        if let Some(problem) = problem {
            notices.loss(processes[process].rank, problem);
        }
        all.push(contexts::Paths { process, nodes, functions });
    }
    Ok(all)
}

/// Returns the hosts in the order of the first rank on each, and the host of each rank.
fn hosts(processes: &[Process], size: u32) -> (Vec<String>, Vec<Option<u32>>) {
    let mut hosts = strings::Strings::default();
    let mut host_of = vec![None; size as usize];
    for process in processes {
        host_of[process.rank as usize] = Some(hosts.number(&process.host));
    }
    (hosts.iter().map(Into::into).collect(), host_of)
}

/// Returns the name of a location.
fn location_name(place: &TraceLocation, processes: &[Process]) -> String {
    let (_, thread) = layout::rank_and_thread(place.reference);
    if thread == 0 {
        return "Master thread".into();
    }
    let process = place.process.map(|process| &processes[process]);
    if let Some(place) = process.and_then(|process| process.places.get(&thread)) {
        return format!("OMP thread {place}");
    }
    let own = process.and_then(|process| process.threads.get(&thread)?.name.clone());
    own.filter(|name| !name.is_empty()).unwrap_or_else(|| format!("Thread {thread}"))
}

/// Returns the anchor of the archive; the writer adds the counts.
fn anchor(processes: &[Process], chunk_size: u64, is_whole: bool, timed: Vec<(String, String)>) -> Anchor {
    let first = &processes[0];
    let without_zeros = |text: &str| text.replace('\0', "");
    let property = |name: &str, value: bool| (format!("OTF2::{name}"), value.to_string());
    Anchor {
        byte_order: byte_order(),
        event_chunk_size: chunk_size,
        creator: without_zeros(&format!("Replay {}", first.version)),
        description: without_zeros(first.mpi.lines().next().unwrap_or_default()),
        properties: [
            property("MPI_COMMUNICATION_COMPLETE", is_whole),
            property("THREAD_FORK_JOIN_EVENT_COMPLETE", true),
            property("THREAD_CREATE_WAIT_EVENT_COMPLETE", true),
            property("THREAD_LOCK_EVENT_COMPLETE", true),
            property("PTHREAD_LOCATION_REUSED", false),
        ]
        .into_iter()
        .chain(iterations::properties(processes))
        .chain(timed)
        .collect(),
        trace_id: trace_id(processes),
        ..Anchor::default()
    }
}

/// Returns the byte order of event files: the machine's.
pub(super) fn byte_order() -> otf2::ByteOrder {
    if cfg!(target_endian = "big") { otf2::ByteOrder::Big } else { otf2::ByteOrder::Little }
}

/// Returns a number that no other run has: a hash of where and when the processes ran (FNV-1a).
fn trace_id(processes: &[Process]) -> u64 {
    let mut id = 0xcbf2_9ce4_8422_2325_u64;
    for process in processes {
        let moments = process.calibrations.first().map(|at| [at.ticks, at.realtime]).unwrap_or_default();
        let numbers = [[u64::from(process.rank), u64::from(process.process)], moments].concat();
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes());
        for byte in bytes.chain(process.host.bytes()) {
            id = (id ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
    id
}
