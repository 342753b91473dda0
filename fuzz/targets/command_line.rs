//! The analyzer on a small archive with damaged files or random events: it writes a report that can be read
//! and does not depend on the number of threads, or one line with the reason why not.

#![no_main]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use cubex::{MetricId, Report};
use libfuzzer_sys::fuzz_target;
use model::{CollectiveOp, MeasurementMode, Paradigm};
use otf2::{
    Anchor, Archive, Attributes, Event, EventWriter, ROOT_NONE, ROOT_SELF, ROOT_THIS_GROUP, Timestamp,
};
use replay::exchange::Solo;
use replay::progress::Progress;
use replay::{Options, Semantics, analyze};
use replay_fuzz::{Input, check_message, scratch};

/// The archives to be damaged: recorded by Score-P, a thread or an exchange per process, small.
const ARCHIVES: &[&str] =
    &["sendrecv.2", "hybrid.2x3", "comms.4", "nbcoll.4", "rma.4", "test_loop.4", "io.4"];

// The first byte chooses the archive, the second the damage (0 a file is replaced, 1 bytes of a file are
// changed, 2 all events are made up), the third the semantics, the number of threads, and whether the made-up
// program hangs in its last calls.
fuzz_target!(|input: &[u8]| {
    let mut input = Input(input);
    let Some(sample) = input.choice(samples()) else { return };
    let kind = input.byte();
    let choice = input.byte();
    let changed = match kind % 3 {
        0 => sample.replace(&mut input),
        1 => sample.edit(&mut input),
        _ => sample.make_up(&mut input, choice & 8 != 0),
    };
    let semantics = if choice & 1 == 0 { Semantics::Corrected } else { Semantics::Reference };
    let clocks = choice & 16 != 0;
    let report = run(sample, semantics, clocks, 1);
    if choice & 2 != 0 {
        let threads = 2 + usize::from(choice >> 2 & 1);
        let again = run(sample, semantics, clocks, threads);
        assert_eq!(report.is_some(), again.is_some(), "a report or none, with {threads} threads");
        if let (Some(one), Some(other)) = (report, again) {
            assert!(one == other, "with {threads} threads, {}", difference(&one, &other));
        }
    }
    sample.restore(&changed);
});

/// Options of a run.
fn options(
    experiment: &Path,
    report: &Path,
    semantics: Semantics,
    clock_correction: bool,
    threads: usize,
) -> Options {
    Options {
        report: Some(report.into()),
        semantics,
        threads,
        // With several threads half of the runs use the step-by-step solver.
        together: if clock_correction { 0 } else { replay::solvers::TOGETHER },
        clock_correction,
        force: true,
        ..Options::new(experiment)
    }
}

/// Analyzes an archive and returns the bytes of the report, if there is one.
fn run(sample: &Sample, semantics: Semantics, clocks: bool, threads: usize) -> Option<Vec<u8>> {
    let path = scratch().join("reports/trace.cubex");
    let options = options(&sample.directory, &path, semantics, clocks, threads);
    let bytes = match analyze(&options, &mut Solo, &mut Progress::silent()) {
        Ok(outcome) => {
            let summary = outcome.summary.expect("worker 0 has a summary");
            assert!(!summary.to_string().is_empty());
            assert_eq!(summary.findings.has_data_loss(), outcome.lacks_data);
            let report = Report::open(&path).expect("the report can be read");
            for metric in 0..report.cube().metrics.len() {
                let mut rows = report.rows(MetricId(metric)).expect("a metric can be read");
                while let Some(row) = rows.next().expect("a row can be read") {
                    assert!(row.1.to_f64().is_none_or(|row| row.iter().all(|value| value.is_finite())));
                }
            }
            for name in report.members() {
                assert!(report.member(name).is_ok_and(|contents| contents.is_some()));
            }
            let bytes = fs::read(&path).expect("there is a report");
            for file in [&path, &path.with_extension("stat")] {
                fs::remove_file(file).expect("a report has its statistics beside it");
            }
            Some(bytes)
        }
        Err(error) => {
            check_message(&error);
            assert!(error.is_own(), "there is nobody else to blame");
            None
        }
    };
    let left = fs::read_dir(scratch().join("reports")).expect("the directory is there").count();
    assert_eq!(left, 0, "temporary files are left behind");
    bytes
}

/// Describes the first member in which two reports differ.
fn difference(one: &[u8], other: &[u8]) -> String {
    let [one, other] = [one, other].map(|bytes| {
        let path = scratch().join("different.cubex");
        fs::write(&path, bytes).expect("the directory is writable");
        Report::open(&path).map(|report| {
            let members: Vec<String> = report.members().map(str::to_owned).collect();
            let content = |name: String| {
                let content = report.member(&name).ok().flatten().unwrap_or_default();
                (name, String::from_utf8_lossy(&content).into_owned())
            };
            members.into_iter().map(content).collect::<Vec<_>>()
        })
    });
    let (one, other) = (one.expect("it was read before"), other.expect("it was read before"));
    for ((name, one), (_, other)) in one.iter().zip(&other) {
        let lines = one.lines().zip(other.lines());
        if let Some((one, other)) = lines.into_iter().find(|(one, other)| one != other) {
            return format!("{name}: {other:?} instead of {one:?}");
        }
    }
    "other members, or more of them".into()
}

/// An archive that can be damaged and restored.
struct Sample {
    directory: PathBuf,
    /// Path below the directory and content of each file.
    files: Vec<(PathBuf, Vec<u8>)>,
    locations: Vec<u64>,
    regions: u32,
    /// Regions by name.
    named: BTreeMap<String, u32>,
    communicators: Vec<u32>,
}

fn samples() -> &'static [Sample] {
    static SAMPLES: OnceLock<Vec<Sample>> = OnceLock::new();
    SAMPLES.get_or_init(|| {
        fs::create_dir_all(scratch().join("reports")).expect("the directory is writable");
        ARCHIVES.iter().map(|name| Sample::new(name)).collect()
    })
}

impl Sample {
    fn new(name: &str) -> Sample {
        let original = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/archives").join(name);
        let directory = scratch().join(name);
        let mut files = Vec::new();
        for folder in ["", "traces"] {
            fs::create_dir_all(directory.join(folder)).expect("the directory is writable");
            let entries = fs::read_dir(original.join(folder)).expect("the archives of the tests are there");
            for entry in entries {
                let name = Path::new(folder).join(entry.expect("a directory can be listed").file_name());
                if name.extension().is_some_and(|it| it == "otf2" || it == "def" || it == "evt") {
                    let content = fs::read(original.join(&name)).expect("a file of the archive");
                    fs::write(directory.join(&name), &content).expect("the directory is writable");
                    files.push((name, content));
                }
            }
        }
        // Sorted, since inputs refer to files by position.
        files.sort();
        let archive = Archive::open(&directory).expect("an intact archive");
        let definitions = archive.definitions().expect("an intact archive");
        let locations = (0..definitions.locations.len()).map(|at| definitions.locations.reference(at));
        let named = definitions
            .regions
            .iter()
            .enumerate()
            .map(|(at, region)| (region.name.clone(), definitions.regions.reference(at) as u32));
        Sample {
            directory,
            locations: locations.collect(),
            regions: definitions.regions.len() as u32,
            named: named.collect(),
            communicators: (0..definitions.communicators.len())
                .map(|at| definitions.communicators.reference(at) as u32)
                .collect(),
            files,
        }
    }

    /// Replaces a file by the input; returns the positions of changed files.
    fn replace(&self, input: &mut Input<'_>) -> Vec<usize> {
        let at = usize::from(input.byte()) % self.files.len();
        self.write(at, input.0);
        vec![at]
    }

    /// Changes bytes as the input says, a list of file, offset, operation, byte; returns the positions of
    /// changed files.
    fn edit(&self, input: &mut Input<'_>) -> Vec<usize> {
        let mut contents: BTreeMap<usize, Vec<u8>> = BTreeMap::new();
        while !input.0.is_empty() {
            let file = usize::from(input.byte()) % self.files.len();
            let content = contents.entry(file).or_insert_with(|| self.files[file].1.clone());
            let at = input.number() % (content.len() + 1);
            let (how, byte) = (input.byte(), input.byte());
            match how % 5 {
                0 => content.truncate(at),
                1 => content.insert(at, byte),
                2 if at < content.len() => {
                    content.remove(at);
                }
                3 if at < content.len() => content[at] ^= 1 << (byte % 8),
                _ => content.get_mut(at).into_iter().for_each(|it| *it = byte),
            }
        }
        for (&file, content) in &contents {
            self.write(file, content);
        }
        contents.into_keys().collect()
    }

    /// Makes up events of all locations from the input; references are global, so local definitions are
    /// removed.
    fn make_up(&self, input: &mut Input<'_>, hangs: bool) -> Vec<usize> {
        let mut events = MadeUp::new(self);
        while !input.0.is_empty() {
            events.step(input);
        }
        events.finish(hangs);
        let is_local = |name: &Path| name.starts_with("traces");
        let changed: Vec<usize> = (0..self.files.len()).filter(|&at| is_local(&self.files[at].0)).collect();
        for &at in changed.iter().filter(|&&at| self.files[at].0.extension().is_some_and(|it| it == "def")) {
            fs::remove_file(self.directory.join(&self.files[at].0)).expect("it was there");
        }
        changed
    }

    fn write(&self, file: usize, content: &[u8]) {
        fs::write(self.directory.join(&self.files[file].0), content).expect("the directory is writable");
    }

    fn restore(&self, changed: &[usize]) {
        for &at in changed {
            self.write(at, &self.files[at].1);
        }
    }
}

/// Random events of all locations: single events in any order, and plausible whole calls.
struct MadeUp<'s> {
    sample: &'s Sample,
    writers: Vec<EventWriter>,
    times: Vec<u64>,
    /// Open regions of each location.
    open: Vec<Vec<u32>>,
}

/// Time steps: the smallest and the largest ones are the interesting ones.
const TIMES: &[u64] = &[0, 1, 7, 100, 1 << 20, 1 << 40, 1 << 53];

impl<'s> MadeUp<'s> {
    fn new(sample: &'s Sample) -> Self {
        let anchor = Anchor::default();
        let path = |location: &u64| sample.directory.join(format!("traces/{location}.evt"));
        let writer = |location| EventWriter::create(path(location), &anchor).expect("a new file");
        let count = sample.locations.len();
        MadeUp {
            sample,
            writers: sample.locations.iter().map(writer).collect(),
            times: vec![1 << 30; count],
            open: vec![Vec::new(); count],
        }
    }

    /// Writes an event at a later time; one that cannot be written is omitted.
    fn write(&mut self, location: usize, wait: u8, event: Event<'_>) {
        let wait = TIMES[usize::from(wait >> 5) % TIMES.len()].saturating_mul(u64::from(wait & 31));
        self.times[location] = self.times[location].saturating_add(wait);
        match event {
            Event::Enter { region } => self.open[location].push(region),
            Event::Leave { .. } => drop(self.open[location].pop()),
            _ => {}
        }
        if let Err(error) = self.writers[location].write(self.times[location], event, Attributes::EMPTY) {
            check_message(&error);
        }
    }

    /// Writes a call of a region with these events in it.
    fn call(&mut self, location: usize, input: &mut Input<'_>, name: &str, events: &[Event<'_>]) {
        let region = self.sample.named.get(name).copied().unwrap_or(u32::MAX);
        self.write(location, input.byte(), Event::Enter { region });
        for event in events {
            self.write(location, input.byte(), *event);
        }
        self.write(location, input.byte(), Event::Leave { region });
    }

    fn step(&mut self, input: &mut Input<'_>) {
        let location = usize::from(input.byte()) % self.writers.len();
        let kind = input.byte();
        let communicator = input.choice(&self.sample.communicators).copied().unwrap_or(u32::MAX);
        let rank = match input.byte() {
            0xff => ROOT_NONE,
            0xfe => ROOT_SELF,
            0xfd => ROOT_THIS_GROUP,
            rank => u32::from(rank) % (self.writers.len() as u32 + 1),
        };
        let detail = input.byte();
        let (tag, length) = (u32::from(detail & 3), u64::from(detail >> 4));
        let request = u64::from(detail % 7);
        let region = u32::from(detail) % (self.sample.regions + 1);
        let team = communicator;
        let op = CollectiveOp(detail % 24);
        let begin = Event::MpiCollectiveBegin {};
        let end = Event::MpiCollectiveEnd {
            collective_op: op,
            communicator,
            root: rank,
            size_sent: length,
            size_received: length,
        };
        let send = Event::MpiSend { receiver: rank, communicator, msg_tag: tag, msg_length: length };
        let receive = Event::MpiRecv { sender: rank, communicator, msg_tag: tag, msg_length: length };
        let (isend, irecv) = (
            Event::MpiIsend {
                receiver: rank,
                communicator,
                msg_tag: tag,
                msg_length: length,
                request_id: request,
            },
            Event::MpiIrecv {
                sender: rank,
                communicator,
                msg_tag: tag,
                msg_length: length,
                request_id: request,
            },
        );
        let model = if detail & 128 == 0 { Paradigm::OPENMP } else { Paradigm::PTHREAD };
        let event = match kind % 48 {
            0..=2 => Event::Enter { region },
            3..=5 => Event::Leave { region: self.open[location].last().copied().unwrap_or(region) },
            6 => Event::Leave { region },
            7 => send,
            8 => receive,
            9 => isend,
            10 => irecv,
            11 => Event::MpiIsendComplete { request_id: request },
            12 => Event::MpiIrecvRequest { request_id: request },
            13 => Event::MpiRequestTest { request_id: request },
            14 => Event::MpiRequestCancelled { request_id: request },
            15 => begin,
            16 => end,
            17 => Event::BufferFlush { stop_time: Timestamp(self.times[location].wrapping_add(length)) },
            18 => Event::MeasurementOnOff { measurement_mode: MeasurementMode(detail & 3) },
            19 => Event::ThreadFork { model, number_of_requested_threads: tag },
            20 => Event::ThreadJoin { model },
            21 => Event::ThreadTeamBegin { thread_team: team },
            22 => Event::ThreadTeamEnd { thread_team: team },
            23 => Event::NonBlockingCollectiveRequest { request_id: request },
            24 => Event::NonBlockingCollectiveComplete {
                collective_op: op,
                communicator,
                root: rank,
                size_sent: length,
                size_received: length,
                request_id: request,
            },
            25 => Event::MpiMrecv { message_id: request, msg_length: length },
            26 => Event::MpiImrecvRequest { message_id: request, request_id: request },
            27 => Event::MpiImrecv { request_id: request, msg_length: length },
            28 => Event::ProgramBegin { program_name: region, program_arguments: Default::default() },
            29 => Event::ProgramEnd { exit_status: length as i64 },
            30 => Event::CallingContextEnter { calling_context: region, unwind_distance: tag },
            31 => Event::CallingContextLeave { calling_context: region },
            32 => Event::ThreadCreate { thread_contingent: team, sequence_count: length },
            33 => Event::ThreadBegin { thread_contingent: team, sequence_count: length },
            34 => Event::ThreadWait { thread_contingent: team, sequence_count: length },
            35 => Event::ThreadEnd { thread_contingent: team, sequence_count: length },
            36 => Event::CommCreate { communicator },
            37 => Event::CommDestroy { communicator },
            38 => return self.call(location, input, "MPI_Send", &[send]),
            39 => return self.call(location, input, "MPI_Recv", &[receive]),
            40 => return self.call(location, input, "MPI_Isend", &[isend]),
            41 => {
                return self.call(
                    location,
                    input,
                    "MPI_Irecv",
                    &[Event::MpiIrecvRequest { request_id: request }],
                );
            }
            42 => return self.call(location, input, "MPI_Wait", &[irecv]),
            43 => {
                return self.call(
                    location,
                    input,
                    "MPI_Waitall",
                    &[Event::MpiIsendComplete { request_id: request }],
                );
            }
            44 => {
                // All locations, so that the operation is complete if one location is a rank.
                let names =
                    ["MPI_Barrier", "MPI_Bcast", "MPI_Reduce", "MPI_Allreduce", "MPI_Init", "MPI_Finalize"];
                let name = names[usize::from(detail) % names.len()];
                (0..self.writers.len()).for_each(|location| self.call(location, input, name, &[begin, end]));
                return;
            }
            45 => {
                let peer = (location + 1) % self.writers.len();
                let to = |receiver: usize| Event::MpiSend {
                    receiver: receiver as u32,
                    communicator,
                    msg_tag: tag,
                    msg_length: length,
                };
                let from = |sender: usize| Event::MpiRecv {
                    sender: sender as u32,
                    communicator,
                    msg_tag: tag,
                    msg_length: length,
                };
                self.call(location, input, "MPI_Send", &[to(peer)]);
                self.call(peer, input, "MPI_Recv", &[from(location)]);
                return;
            }
            46 => {
                let back = self.open[location].len().min(usize::from(detail & 7));
                for _ in 0..back {
                    let region = self.open[location].last().copied().unwrap_or_default();
                    self.write(location, input.byte(), Event::Leave { region });
                }
                return;
            }
            _ => return self.step_beside_messages(input, location, rank, detail),
        };
        self.write(location, input.byte(), event);
    }

    /// Windows, files and probes: single events, and calls of all locations.
    fn step_beside_messages(&mut self, input: &mut Input<'_>, location: usize, remote: u32, detail: u8) {
        let (win, bytes, id) = (u32::from(detail & 3), u64::from(detail >> 4), u64::from(detail % 7));
        let handle = u32::from(detail % 5);
        let collective_op = CollectiveOp(16 + detail % 8);
        let lock_type = detail >> 7;
        let put = Event::RmaPut { win, remote, bytes, matching_id: id };
        let request = Event::RmaRequestLock { win, remote, lock_id: id, lock_type };
        let release = Event::RmaReleaseLock { win, remote, lock_id: id };
        let group = Event::RmaGroupSync {
            sync_level: u32::from(detail >> 5),
            win,
            group: u32::from(detail >> 2) % 16,
        };
        let begin = Event::RmaCollectiveBegin {};
        let end = Event::RmaCollectiveEnd {
            collective_op,
            sync_level: 0,
            win,
            root: remote,
            bytes_sent: bytes,
            bytes_received: bytes,
        };
        let start = Event::IoOperationBegin {
            handle,
            mode: detail & 1,
            operation_flags: u32::from(detail >> 4),
            bytes_request: bytes,
            matching_id: id,
        };
        let complete = Event::IoOperationComplete { handle, bytes_result: bytes, matching_id: id };
        let create = Event::IoCreateHandle { handle, mode: detail & 3, creation_flags: 0, status_flags: 0 };
        let kind = input.byte();
        let mut together = |name: &str, events: &[Event<'_>]| {
            (0..self.writers.len()).for_each(|location| self.call(location, input, name, events));
        };
        let event = match kind % 24 {
            0 => put,
            1 => Event::RmaGet { win, remote, bytes, matching_id: id },
            2 => Event::RmaAtomic {
                win,
                remote,
                atomic_type: detail & 7,
                bytes_sent: bytes,
                bytes_received: bytes,
                matching_id: id,
            },
            3 => group,
            4 => request,
            5 => Event::RmaAcquireLock { win, remote, lock_id: id, lock_type },
            6 => release,
            7 => Event::RmaOpCompleteBlocking { win, matching_id: id },
            8 => Event::RmaOpCompleteNonBlocking { win, matching_id: id },
            9 => Event::RmaOpCompleteRemote { win, matching_id: id },
            10 => begin,
            11 => end,
            12 => start,
            13 => complete,
            14 => create,
            15 => Event::IoDestroyHandle { handle },
            16 => Event::MpiProbe {
                sender: remote,
                communicator: win,
                tag: u32::from(detail & 3),
                message_id: id,
            },
            17 => return together("MPI_Win_fence", &[begin, end]),
            18 => return together("MPI_Win_create", &[begin, end]),
            19 => return together("MPI_File_open", &[create]),
            20 => return together("MPI_File_write_at_all", &[start, complete]),
            21 => {
                let calls = [("MPI_Win_lock", request), ("MPI_Put", put), ("MPI_Win_unlock", release)];
                return calls
                    .into_iter()
                    .for_each(|(name, event)| self.call(location, input, name, &[event]));
            }
            22 => {
                let calls = ["MPI_Win_post", "MPI_Win_start", "MPI_Win_complete", "MPI_Win_wait"];
                return calls.into_iter().for_each(|name| together(name, &[group]));
            }
            _ => return together("MPI_Win_unlock_all", &[release]),
        };
        self.write(location, input.byte(), event);
    }

    fn finish(mut self, hangs: bool) {
        for location in (0..self.writers.len()).filter(|_| !hangs) {
            while let Some(&region) = self.open[location].last() {
                self.write(location, 0, Event::Leave { region });
            }
        }
        for writer in self.writers {
            writer.finish().expect("a complete file");
        }
    }
}
