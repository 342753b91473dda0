//! Second implementation of the analysis, as plain as possible: the definitions, written down as code.
//!
//! All events of all locations are in memory, and every question is decided by searching them. There are no
//! batches and no workers, and nothing is fast. Severities are integers: ticks, counts, bytes. Cited sections
//! are those of `docs/specification.md`; "rest of MPI" is `docs/rest-of-mpi.md`.
//!
//! | file | content |
//! |---|---|
//! | `read` | events of an archive on the global clock, with calls and call paths (specification 2, 11.1) |
//! | `records` | records of communication (specification 2.1, rest of MPI 3.2) |
//! | `events` | what an event says |
//! | `world` | communicators and groups (specification 2.1) |
//! | `focus` | windows of time in which things count (structure 3.4) |
//! | `booking` | exclusive time in the order of events (specification 7.2) |
//! | `operations` | messages and collective operations of each process (specification 2.1) |
//! | `windows` | accesses to windows, and epochs, of each process (rest of MPI 8.1) |
//! | `files` | collective operations on files of each process (rest of MPI 9) |
//! | `matching` | matching of sends with receives, and of collective operations |
//! | `messages` | wait states of messages (specification 5) |
//! | `collectives` | wait states of collective operations (specification 6) |
//! | `needs` | whom members of collective operations need (rest of MPI 2.2) |
//! | `nonblocking` | wait states of non-blocking collective operations (rest of MPI 4) |
//! | `fences` | accesses and pairs at fences (rest of MPI 8.2, 8.6) |
//! | `epochs` | post, start, complete, wait (rest of MPI 8.3) |
//! | `locks` | locks, and targets that are outside of MPI (rest of MPI 8.4, 8.5) |
//! | `probes` | late senders of blocking probes (rest of MPI 6.2) |
//! | `polling` | tests and probes that find nothing (rest of MPI 6.3) |
//! | `stalls` | messages that do not move on (rest of MPI 6.5) |
//! | `tasks` | tasks (specification 11.1) |
//! | `barriers` | barriers of threads (specification 11.2) |
//! | `idle_threads` | idle time of worker threads (specification 16.4) |
//! | `causes` | critical path, delay costs, indirect and propagating waiting (specification 7 to 10) |
//! | `findings` | missing data, and deadlocks |
//! | `random` | random programs that use everything that MPI allows |
//! | `script` | traces as readable scripts |

mod barriers;
mod booking;
mod causes;
mod collectives;
mod epochs;
mod events;
mod fences;
mod files;
pub(crate) mod findings;
pub(crate) mod focus;
mod idle_threads;
mod locks;
mod matching;
mod messages;
mod needs;
mod nonblocking;
mod operations;
mod polling;
mod probes;
pub(crate) mod random;
pub(crate) mod read;
mod records;
pub(crate) mod script;
mod stalls;
mod tasks;
mod windows;
mod world;

use std::collections::BTreeMap;
use std::path::Path;

use replay::Semantics;

use causes::Found;
use collectives::CollectiveInstance;
use focus::Focus;
use operations::Operations;
use read::{Location, OfTask, Role};

/// Severities by metric, names along the call path, and location; in ticks, counts or bytes, exclusive along
/// the path.
pub(crate) type Severities = BTreeMap<(String, String, usize), i64>;

/// Severities that are shares of times: costs in ticks.
pub(crate) type Costs = BTreeMap<(String, String, usize), f64>;

/// The metrics that are computed here.
pub(crate) const METRICS: [&str; 80] = [
    "time",
    "visits",
    "omp_management",
    "omp_fork",
    "omp_idle_threads",
    "syncs_send",
    "comms_send",
    "bytes_sent",
    "syncs_recv",
    "comms_recv",
    "bytes_rcvd",
    "syncs_coll",
    "comms_cxch",
    "comms_csrc",
    "comms_cdst",
    "bytes_cout",
    "bytes_cin",
    "mpi_latesender",
    "mpi_latesender_wo",
    "mpi_lswo_same",
    "mpi_lswo_different",
    "mpi_latereceiver",
    "mpi_sls_count",
    "mpi_cls_count",
    "mpi_slswo_count",
    "mpi_clswo_count",
    "mpi_slr_count",
    "mpi_clr_count",
    "mpi_init_completion",
    "mpi_finalize_wait",
    "mpi_barrier_wait",
    "mpi_barrier_completion",
    "mpi_latebroadcast",
    "mpi_earlyreduce",
    "mpi_earlyscan",
    "mpi_wait_nxn",
    "mpi_nxn_completion",
    "mpi_nbcoll_wait",
    "mpi_nbcoll_wait_barrier",
    "mpi_nbcoll_wait_nxn",
    "mpi_nbcoll_wait_12n",
    "mpi_nbcoll_wait_n21",
    "mpi_nbcoll_wait_scan",
    "mpi_nbcoll_wait_neighbor",
    "mpi_nbcoll_wait_create",
    "mpi_nbcoll_wait_for_progress",
    "mpi_nbcoll_completion",
    "mpi_overlap",
    "mpi_overlap_hidden",
    "mpi_overlap_usable",
    "mpi_comm_wait_at_create",
    "mpi_comm_wait_at_free",
    "mpi_wait_neighbor",
    "mpi_p2p_wait_for_progress",
    "mpi_polling",
    "mpi_polling_latesender",
    "mpi_polling_nbcoll",
    "mpi_rma_wait_at_create",
    "mpi_rma_wait_at_free",
    "mpi_rma_wait_at_fence",
    "mpi_rma_early_fence",
    "mpi_rma_sync_late_post",
    "mpi_rma_comm_late_post",
    "mpi_rma_early_wait",
    "mpi_rma_late_complete",
    "mpi_rma_sync_lock_competition",
    "mpi_rma_comm_lock_competition",
    "mpi_rma_sync_wait_for_progress",
    "mpi_rma_comm_wait_for_progress",
    "mpi_rma_pairsync_count",
    "mpi_rma_pairsync_unneeded_count",
    "bytes_put",
    "bytes_get",
    "mpi_mgmt_file_wait",
    "mpi_io_collective_wait",
    "mpi_io_collective_completion",
    "mpi_nbcoll_wait_io",
    "critical_path",
    "critical_path_activities",
    "non_critical_path_activities",
];

/// Those of them that describe the critical path.
pub(crate) const OF_PATH: [&str; 3] =
    ["critical_path", "critical_path_activities", "non_critical_path_activities"];

/// Metrics that are computed here, but occur only in programs with OpenMP barriers.
pub(crate) const OF_TEAMS: [&str; 2] = ["omp_ebarrier_wait", "omp_ibarrier_wait"];

/// The metrics that are shares of times.
pub(crate) const COSTS: [&str; 20] = [
    "critical_imbalance_impact",
    "inter_partition_imbalance",
    "mpi_wait_indirect_latesender",
    "mpi_wait_indirect_latereceiver",
    "mpi_wait_propagating_ls",
    "mpi_wait_propagating_lr",
    "delay_latesender",
    "delay_latesender_longterm",
    "delay_latereceiver",
    "delay_latereceiver_longterm",
    "delay_barrier",
    "delay_barrier_longterm",
    "delay_n2n",
    "delay_n2n_longterm",
    "delay_12n",
    "delay_12n_longterm",
    "delay_n21",
    "delay_n21_longterm",
    "delay_ompidle",
    "delay_ompidle_longterm",
];

/// Those that occur only in programs that create communicators, have operations among neighbours, long messages, windows, or
/// files.
pub(crate) const COSTS_OF_REST: [&str; 10] = [
    "delay_mgmt",
    "delay_mgmt_longterm",
    "delay_neighbor",
    "delay_neighbor_longterm",
    "delay_progress",
    "delay_progress_longterm",
    "delay_rma",
    "delay_rma_longterm",
    "delay_io",
    "delay_io_longterm",
];

/// Those that occur only in programs with OpenMP barriers and MPI calls between them.
pub(crate) const COSTS_OF_TEAMS: [&str; 2] = ["delay_ompbarrier", "delay_ompbarrier_longterm"];

/// Times in ticks by metric.
pub(crate) type Samples = BTreeMap<String, Vec<i64>>;

/// The patterns that have statistics (specification 13.1).
pub(crate) const SAMPLED: [&str; 26] = [
    "mpi_latesender",
    "mpi_latesender_wo",
    "mpi_latereceiver",
    "mpi_wait_nxn",
    "mpi_barrier_wait",
    "mpi_earlyreduce",
    "mpi_earlyscan",
    "mpi_latebroadcast",
    "mpi_barrier_completion",
    "mpi_nxn_completion",
    "mpi_nbcoll_wait",
    "mpi_comm_wait_at_create",
    "mpi_wait_neighbor",
    "mpi_p2p_wait_for_progress",
    "mpi_rma_wait_at_create",
    "mpi_rma_wait_at_free",
    "mpi_rma_wait_at_fence",
    "mpi_rma_sync_late_post",
    "mpi_rma_early_wait",
    "mpi_rma_sync_lock_competition",
    "mpi_rma_sync_wait_for_progress",
    "mpi_mgmt_file_wait",
    "mpi_io_collective_wait",
    "mpi_io_collective_completion",
    "omp_ebarrier_wait",
    "omp_ibarrier_wait",
];

/// Counts of findings by name.
pub(crate) type Findings = BTreeMap<String, u64>;

/// Result of the analysis of an archive.
#[derive(Clone, Debug)]
pub(crate) struct AnalysisResult {
    /// All values that are not zero.
    pub(crate) severities: Severities,
    /// All values that are not zero, of metrics that are shares of times.
    pub(crate) costs: Costs,
    /// Whether costs depend on themselves, as wrong clocks can make them.
    pub(crate) is_circular: bool,
    /// Whether threads run tasks.
    pub(crate) has_tasks: bool,
    /// The times of all instances of the patterns that have statistics (specification 13.2).
    pub(crate) samples: Samples,
    pub(crate) findings: Findings,
}

/// An event: its place and time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct EventRef {
    /// Number of the location.
    location: usize,
    /// The innermost call around it, as an index within the location.
    call: usize,
    time: i64,
    /// Position among all events of the process, in order of time.
    order: usize,
    /// Position among the events of the location.
    at: usize,
}

/// Waiting of one event for another one (rest of MPI 2.3).
#[derive(Clone, Copy, Debug)]
struct Edge {
    /// Class of the costs, in the names of metrics.
    class: &'static str,
    waiting: EventRef,
    cause: EventRef,
    /// Since when it waits.
    begin: i64,
    wait: i64,
    /// Whether the cause is the release of a lock (rest of MPI 8.4).
    is_lock: bool,
    /// The event with which the holder has asked for the lock, if that is on the location of the release.
    requested: Option<EventRef>,
}

impl Edge {
    fn new(class: &'static str, waiting: EventRef, cause: EventRef, (begin, wait): (i64, i64)) -> Edge {
        Edge { class, waiting, cause, begin, wait, is_lock: false, requested: None }
    }
}

/// State of an analysis.
struct Analysis {
    semantics: Semantics,
    /// What counts.
    focus: Focus,
    locations: Vec<Location>,
    severities: Severities,
    samples: Samples,
    /// Wait states that have causes (specification 7.1).
    edges: Vec<Edge>,
    /// By location and call: the wait that counts of those for the operations that it completes (rest of MPI 2.4).
    waited: BTreeMap<(usize, usize), i64>,
    collective_instances: Vec<CollectiveInstance>,
    /// By the request of a non-blocking operation, as location and position: the time at which all that it needs had begun.
    arrivals: BTreeMap<(usize, usize), i64>,
    /// Number of collective operations that contradict each other behind a gap.
    after_gap: usize,
}

impl Analysis {
    /// Adds what counts to a severity at a call.
    fn add(&mut self, metric: &str, location: usize, call: usize, value: i64) {
        // Rest of MPI 15: those at accesses are together with the others.
        let sampled = metric.replace("mpi_rma_comm", "mpi_rma_sync");
        if value > 0 && SAMPLED.contains(&sampled.as_str()) {
            self.samples.entry(sampled).or_default().push(value);
        }
        let path = self.locations[location].calls[call].path.clone();
        *self.severities.entry((metric.into(), path, location)).or_default() += value;
    }

    fn add_at(&mut self, metric: &str, place: EventRef, value: i64) {
        self.add(metric, place.location, place.call, value);
    }

    /// The event of entering the call of an event.
    fn entering(&self, event: EventRef) -> EventRef {
        let call = &self.locations[event.location].calls[event.call];
        EventRef { time: call.enter, at: call.entered_at, ..event }
    }

    /// The leave event of a call.
    fn end_of(&self, location: usize, call: usize) -> EventRef {
        let it = &self.locations[location].calls[call];
        EventRef { location, call, time: it.leave, order: 0, at: it.left_at }
    }

    /// E(e): enter time of the region around an event.
    fn enter(&self, place: EventRef) -> i64 {
        self.locations[place.location].calls[place.call].enter
    }

    /// L(e): leave time of the region around an event.
    fn leave(&self, place: EventRef) -> i64 {
        self.locations[place.location].calls[place.call].leave
    }

    /// Duration of that region.
    fn length(&self, place: EventRef) -> i64 {
        self.leave(place) - self.enter(place)
    }

    /// cp(e): the call path of an event.
    fn path(&self, place: EventRef) -> &str {
        &self.locations[place.location].calls[place.call].path
    }

    fn process(&self, place: EventRef) -> usize {
        self.locations[place.location].process
    }

    /// MPI's name of the region around an event, without `mpi_`.
    fn name(&self, place: EventRef) -> &str {
        &self.locations[place.location].calls[place.call].mpi_name
    }

    /// Specification 4.1 and 11.1: time and visits.
    fn time_and_visits(&mut self) {
        for at in 0..self.locations.len() {
            for call in 0..self.locations[at].calls.len() {
                let it = self.locations[at].calls[call].clone();
                let suspended = it.suspended.iter().map(|&(since, ticks)| self.focus.inside(since, ticks));
                let time = self.focus.inside(it.enter, it.leave - it.enter) - suspended.sum::<i64>();
                self.add("visits", at, call, i64::from(self.focus.contains(it.enter)));
                self.add("time", at, call, time);
                match it.parent {
                    Some(parent) => self.add("time", at, parent, -time),
                    None if it.is_in_task => self.add_to(at, above(&it.path), -time, 0),
                    None => {}
                }
                if it.role == Role::Parallel {
                    self.fork_and_join(at, call);
                }
            }
            for OfTask { path, begin, ticks, visits } in self.locations[at].of_tasks.clone() {
                let visits = if self.focus.contains(begin) { visits } else { 0 };
                self.add_to(at, &path, self.focus.inside(begin, ticks), visits);
            }
        }
    }

    /// Adds to time and visits of a call path.
    fn add_to(&mut self, location: usize, path: &str, time: i64, visits: i64) {
        *self.severities.entry(("time".into(), path.into(), location)).or_default() += time;
        *self.severities.entry(("visits".into(), path.into(), location)).or_default() += visits;
    }

    /// Specification 11.1: the time between fork and join is the parallel region's, and is subtracted from
    /// its parent on the main thread.
    fn fork_and_join(&mut self, at: usize, call: usize) {
        let it = self.locations[at].calls[call].clone();
        let fork = it.fork.map_or(0, |fork| self.focus.inside(fork, (it.enter - fork).max(0)));
        let join = it.join.map_or(0, |join| self.focus.inside(it.leave, (join - it.leave).max(0)));
        self.add("omp_fork", at, call, fork);
        self.add("omp_management", at, call, fork + join);
        self.add("time", at, call, fork + join);
        if let Some(parent) = it.parent.filter(|_| self.locations[at].thread == 0) {
            self.add("time", at, parent, -fork - join);
        }
    }

    /// Specification 4.1: counts and bytes. A received message counts with the sender's length, if there is
    /// one.
    fn counts(&mut self, operations: &Operations, messages: &[(usize, usize)]) {
        for send in &operations.sends {
            let metric = if send.bytes == 0 { "syncs_send" } else { "comms_send" };
            self.add_event(metric, send.at, 1);
            self.add_event("bytes_sent", send.at, send.bytes);
        }
        for (at, receive) in operations.receives.iter().enumerate() {
            let message = messages.iter().find(|message| message.1 == at);
            let bytes = message.map_or(receive.bytes, |&(send, _)| operations.sends[send].bytes);
            let metric = if bytes == 0 { "syncs_recv" } else { "comms_recv" };
            self.add_event(metric, receive.done, 1);
            self.add_event("bytes_rcvd", receive.done, bytes);
        }
        let counted = operations.parts.iter().filter(|part| part.is_counted());
        for part in counted.filter(|part| self.focus.contains(part.ended.time)).collect::<Vec<_>>() {
            // Rest of MPI 4.5: the request names the operation, the completing call does not.
            let place = if part.series.is_blocking() { part.ended } else { part.begun };
            self.count_collective(place, part.told.sent, part.told.received);
        }
        // Rest of MPI 8.6
        for access in &operations.one_sided.accesses {
            let [put, got] = access.bytes;
            self.add_event("bytes_put", access.at, put);
            self.add_event("bytes_get", access.at, got);
        }
    }

    fn count_collective(&mut self, place: EventRef, sent: i64, received: i64) {
        let metric = match (sent, received) {
            (0, 0) => "syncs_coll",
            (_, 0) => "comms_csrc",
            (0, _) => "comms_cdst",
            _ => "comms_cxch",
        };
        self.add_at(metric, place, 1);
        self.add_at("bytes_cout", place, sent);
        self.add_at("bytes_cin", place, received);
    }
}

/// The parent of a call path.
fn above(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |parts| parts.0)
}

/// Analyses the archive of a directory.
pub(crate) fn analyze(directory: &Path, semantics: Semantics) -> AnalysisResult {
    analyze_focused(directory, semantics, Focus::whole())
}

/// Analyses the archive of a directory, and counts what lies in windows.
pub(crate) fn analyze_focused(directory: &Path, semantics: Semantics, focus: Focus) -> AnalysisResult {
    let (locations, world) = read::read(directory, semantics);
    let operations = operations::collect(&locations, &world, semantics);
    let messages = matching::messages(&operations, semantics);
    let matched = matching::instances(&operations, &world, semantics);
    let mut analysis = Analysis {
        semantics,
        focus,
        locations,
        severities: Severities::new(),
        samples: Samples::new(),
        edges: Vec::new(),
        waited: BTreeMap::new(),
        collective_instances: Vec::new(),
        arrivals: BTreeMap::new(),
        after_gap: 0,
    };
    analysis.time_and_visits();
    analysis.thread_barriers();
    analysis.idle_threads();
    analysis.counts(&operations, &messages);
    let mut waits = analysis.nonblocking(&operations, &matched.instances, &world);
    let with_longer_wait = analysis.late_senders(&operations, &messages, &mut waits);
    analysis.late_receivers(&operations, &messages, &with_longer_wait);
    analysis.collective_waits(waits);
    analysis.collectives(&operations, &matched.instances, &world);
    analysis.init_and_finalize(world.processes);
    analysis.probes(&operations, &messages, &world);
    analysis.polling(&operations, &messages, &world);
    analysis.stalls(&operations, &messages, world.resolution);
    analysis.fences(&operations, &matched.instances, &world);
    let epochs = analysis.epochs(&operations);
    analysis.locks(&operations, &world);
    let found = causes::find(&analysis, &operations, world.processes);
    analysis.severities.extend(found.severities);
    analysis.severities.retain(|_, value| *value != 0);
    let findings = analysis.findings(&operations, &messages, &matched, (epochs, &world));
    let has_tasks = analysis.locations.iter().any(|location| !location.of_tasks.is_empty());
    let Found { costs, is_circular, .. } = found;
    let Analysis { severities, samples, .. } = analysis;
    AnalysisResult { severities, costs, is_circular, has_tasks, samples, findings }
}
