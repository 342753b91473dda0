//! Memory limit: the analysis of any archive takes at most 64 times the size of its files, 1 KiB for each location and 16 MiB.
//!
//! A binary of its own, because it counts the allocations of the whole process.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use model::{CollectiveOp, GroupType, LocationGroupType, LocationType, Paradigm, RegionRole};
use otf2::{Anchor, Archive, ArchiveWriter, Attributes, Definition, Event, EventWriter, List, UNDEFINED};
use peak_alloc::PeakAlloc;
use replay::assignment::Owners;
use replay::clock_correction::{self, correct};
use replay::exchange::Solo;
use replay::findings::Findings;
use replay::formulas::Formulas;
use replay::matching;
use replay::memory::Memory;
use replay::metrics::Metrics;
use replay::progress::Progress;
use replay::shared::Shared;
use replay::tools::Tools;
use replay::trace::Trace;
use replay::walk::{self, Notes, Positions, Walked};
use replay::{Options, Semantics, analyze};
use tempfile::TempDir;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Bytes of a step that need not be looked for: there is always room for them.
const SMALL: u64 = 1 << 20;

/// Limit of memory for an archive of this size, in bytes. Details have something of each location, and its definition may be
/// of a few bytes.
fn allowed(bytes: u64, locations: u64) -> u64 {
    64 * bytes + (locations << 10) + (16 << 20)
}

/// Strings of every archive: references 0 to 3.
const STRINGS: [&str; 4] = ["", "MPI", "MPI_Send", "main"];

/// A hostile archive under construction, with one process of one thread at first.
struct Hostile {
    archive: ArchiveWriter,
    locations: u64,
    /// Whether there are event files; otherwise they count as lost.
    has_events: bool,
}

impl Hostile {
    fn new(directory: &Path) -> Hostile {
        let anchor =
            Anchor { event_chunk_size: 1 << 18, definition_chunk_size: 1 << 18, ..Anchor::default() };
        let mut archive = ArchiveWriter::create(directory.join("traces.otf2"), anchor).unwrap();
        archive
            .define(Definition::ClockProperties {
                timer_resolution: 1,
                global_offset: 0,
                trace_length: 9,
                realtime_timestamp: u64::MAX,
            })
            .unwrap();
        for (reference, text) in (0..).zip(STRINGS) {
            archive.define(Definition::String { reference, string: text.as_bytes() }).unwrap();
        }
        let mut hostile = Hostile { archive, locations: 0, has_events: true };
        hostile.define(Definition::SystemTreeNode {
            reference: 0,
            name: 0,
            class_name: 0,
            parent: UNDEFINED,
        });
        hostile.process(0);
        hostile.thread(0);
        hostile
    }

    fn define(&mut self, definition: Definition<'_>) {
        self.archive.define(definition).unwrap();
    }

    fn process(&mut self, reference: u32) {
        self.define(Definition::LocationGroup {
            reference,
            name: 0,
            location_group_type: LocationGroupType::PROCESS,
            system_tree_parent: 0,
            creating_location_group: UNDEFINED,
        });
    }

    fn thread(&mut self, process: u32) {
        self.define(Definition::Location {
            reference: self.locations,
            name: 0,
            location_type: LocationType::CPU_THREAD,
            number_of_events: 0,
            location_group: process,
        });
        self.locations += 1;
    }

    /// Defines a function; reference 0 is MPI_Send where `is_mpi`.
    fn region(&mut self, reference: u32, name: u32, is_mpi: bool) {
        self.define(Definition::Region {
            reference,
            name,
            description: 0,
            source_file: u32::from(is_mpi),
            begin_line_number: 0,
            end_line_number: 0,
            canonical_name: name,
            region_role: if is_mpi { RegionRole::POINT2POINT } else { RegionRole::FUNCTION },
            paradigm: if is_mpi { Paradigm::MPI } else { Paradigm::COMPILER },
            region_flags: 0,
        });
    }

    /// Defines functions of MPI from reference 0 on.
    fn functions<const N: usize>(&mut self, names: [&str; N]) {
        for (reference, name) in (0..).zip(names) {
            let string = 100 + reference;
            self.define(Definition::String { reference: string, string: name.as_bytes() });
            self.region(reference, string, true);
        }
    }

    /// Defines group 0 of MPI's locations and group 1 of their ranks, and communicator 0 of all.
    fn world(&mut self, ranks: u64) {
        let members: Vec<u64> = (0..ranks).collect();
        for (reference, group_type) in (0..).zip([GroupType::COMM_LOCATIONS, GroupType::COMM_GROUP]) {
            self.define(Definition::Group {
                reference,
                name: 0,
                members: List::from(&members[..]),
                group_type,
                paradigm: Paradigm::MPI,
                group_flags: 0,
            });
        }
        self.define(Definition::Comm { reference: 0, name: 0, group: 1, parent: UNDEFINED, flags: 0 });
    }

    /// Writes events of one location, all at one time.
    fn events(&mut self, location: u64, write: impl FnOnce(&mut dyn FnMut(Event<'_>))) {
        self.events_at(location, |write_at| write(&mut |event| write_at(1, event)));
    }

    /// Writes events of one location with their times.
    fn events_at(&mut self, location: u64, write: impl FnOnce(&mut dyn FnMut(u64, Event<'_>))) {
        let mut writer: EventWriter = self.archive.events(location).unwrap();
        write(&mut |time, event| writer.write(time, event, Attributes::EMPTY).unwrap());
        writer.finish().unwrap();
    }

    /// Defines processes of one thread each, up to this number.
    fn processes(&mut self, number: u32) {
        for process in 1..number {
            self.process(process);
            self.thread(process);
        }
    }
}

/// Makes an archive whose analysis takes as much memory as possible.
type Make = fn(&mut Hostile);

fn nested_calls(hostile: &mut Hostile) {
    hostile.region(0, 3, false);
    hostile.events(0, |write| (0..100_000).for_each(|_| write(Event::Enter { region: 0 })));
}

fn many_call_paths_and_many_threads(hostile: &mut Hostile) {
    (0..151).for_each(|region| hostile.region(region, 3, false));
    (0..500).for_each(|_| hostile.thread(0));
    hostile.events(0, |write| {
        for outer in 0..150 {
            write(Event::Enter { region: outer });
            for inner in 0..150 {
                write(Event::Enter { region: inner });
                write(Event::Leave { region: inner });
            }
            write(Event::Leave { region: outer });
        }
    });
    for thread in 1..=500 {
        hostile.events(thread, |write| {
            write(Event::Enter { region: 150 });
            write(Event::Leave { region: 150 });
        });
    }
}

fn communicators_of_one_large_group(hostile: &mut Hostile) {
    hostile.world(1);
    let members = [0; 20_000];
    hostile.define(Definition::Group {
        reference: 2,
        name: 0,
        members: List::from(&members[..]),
        group_type: GroupType::COMM_GROUP,
        paradigm: Paradigm::MPI,
        group_flags: 0,
    });
    for reference in 1..20_000 {
        hostile.define(Definition::Comm { reference, name: 0, group: 2, parent: UNDEFINED, flags: 0 });
    }
}

fn locations_without_events(hostile: &mut Hostile) {
    (0..20_000).for_each(|_| hostile.thread(0));
}

fn locations_without_files(hostile: &mut Hostile) {
    locations_without_events(hostile);
    hostile.has_events = false;
}

fn processes_without_events(hostile: &mut Hostile) {
    hostile.processes(20_000);
}

fn regions_of_one_long_name(hostile: &mut Hostile) {
    let name = "<".repeat(10_000);
    hostile.define(Definition::String { reference: 4, string: name.as_bytes() });
    (0..10_000).for_each(|region| hostile.region(region, if region % 1000 == 0 { 4 } else { 3 }, false));
    hostile.events(0, |write| {
        for region in 0..10_000 {
            write(Event::Enter { region });
            write(Event::Leave { region });
        }
    });
}

fn deep_calling_contexts(hostile: &mut Hostile) {
    hostile.region(0, 3, false);
    for reference in 0..50_000u32 {
        hostile.define(Definition::CallingContext {
            reference,
            region: 0,
            source_code_location: UNDEFINED,
            parent: reference.checked_sub(1).unwrap_or(UNDEFINED),
        });
    }
    hostile.events(0, |write| {
        write(Event::CallingContextEnter { calling_context: 49_999, unwind_distance: 50_001 });
    });
}

fn messages_to_oneself(hostile: &mut Hostile) {
    hostile.region(0, 2, true);
    hostile.world(1);
    hostile.events(0, |write| {
        write(Event::Enter { region: 0 });
        for tag in 0..100_000 {
            let msg_tag = tag % 250;
            write(Event::MpiSend { receiver: 0, communicator: 0, msg_tag, msg_length: 0 });
            write(Event::MpiRecv { sender: 0, communicator: 0, msg_tag, msg_length: 0 });
        }
    });
}

fn channels_of_one_message(hostile: &mut Hostile) {
    hostile.region(0, 2, true);
    hostile.world(1);
    hostile.events(0, |write| {
        write(Event::Enter { region: 0 });
        for msg_tag in 0..50_000 {
            write(Event::MpiSend { receiver: 0, communicator: 0, msg_tag, msg_length: 0 });
        }
    });
}

fn requests_that_are_never_completed(hostile: &mut Hostile) {
    hostile.region(0, 2, true);
    hostile.world(1);
    hostile.events(0, |write| {
        write(Event::Enter { region: 0 });
        for request_id in 0..100_000 {
            write(Event::MpiIrecvRequest { request_id });
        }
    });
}

fn calls_of_one_message(hostile: &mut Hostile) {
    hostile.region(0, 2, true);
    hostile.world(1);
    hostile.events(0, |write| {
        for _ in 0..100_000 {
            write(Event::Enter { region: 0 });
            write(Event::MpiSend { receiver: 0, communicator: 0, msg_tag: 0, msg_length: 0 });
            write(Event::Leave { region: 0 });
        }
    });
}

fn collective_operations(hostile: &mut Hostile) {
    hostile.region(0, 2, true);
    hostile.processes(2);
    hostile.world(2);
    for location in 0..2 {
        hostile.events(location, |write| {
            write(Event::Enter { region: 0 });
            (0..50_000).for_each(|_| write(collective(CollectiveOp::BARRIER, 0, 0)));
        });
    }
}

fn collective(collective_op: CollectiveOp, communicator: u32, bytes: u64) -> Event<'static> {
    Event::MpiCollectiveEnd { collective_op, communicator, root: 0, size_sent: bytes, size_received: bytes }
}

/// Every member needs the state of all members.
fn collective_operations_in_which_some_move_nothing(hostile: &mut Hostile) {
    let ranks = 2000;
    hostile.region(0, 2, true);
    hostile.processes(ranks);
    hostile.world(ranks.into());
    for rank in 0..u64::from(ranks) {
        hostile.events(rank, |write| {
            write(Event::Enter { region: 0 });
            (0..10).for_each(|_| write(collective(CollectiveOp::ALLREDUCE, 0, rank % 2)));
        });
    }
}

/// The excess of the last member of a barrier is different for each of the others; and all of them delay a
/// member that was not there, so that it is examined again.
fn barriers_that_wait_for_many_functions(hostile: &mut Hostile) {
    let (ranks, functions) = (1000, 4000);
    hostile.region(0, 2, true);
    (1..=functions).for_each(|region| hostile.region(region, 3, false));
    hostile.processes(ranks);
    hostile.world(ranks.into());
    let barrier: Vec<u64> = (0..u64::from(ranks) - 1).collect();
    hostile.define(Definition::Group {
        reference: 2,
        name: 0,
        members: List::from(&barrier[..]),
        group_type: GroupType::COMM_GROUP,
        paradigm: Paradigm::MPI,
        group_flags: 0,
    });
    hostile.define(Definition::Comm { reference: 1, name: 0, group: 2, parent: UNDEFINED, flags: 0 });
    let (last, end) = (u64::from(ranks) - 1, 10 * u64::from(functions));
    for rank in barrier {
        hostile.events_at(rank, |write| {
            if rank == 0 {
                for region in 1..=functions {
                    write(10 * u64::from(region) - 5, Event::Enter { region });
                    write(10 * u64::from(region), Event::Leave { region });
                }
            }
            write(if rank == 0 { end } else { 1 }, Event::Enter { region: 0 });
            write(end + 1, collective(CollectiveOp::BARRIER, 1, 0));
            write(end + 2, Event::Leave { region: 0 });
            write(end + 3, Event::Enter { region: 0 });
            let (receiver, msg_tag) = (last as u32, rank as u32);
            write(end + 4, Event::MpiSend { receiver, communicator: 0, msg_tag, msg_length: 0 });
            write(end + 5, Event::Leave { region: 0 });
        });
    }
    hostile.events_at(last, |write| {
        write(1, Event::Enter { region: 0 });
        for sender in 0..last as u32 {
            write(end + 6, Event::MpiRecv { sender, communicator: 0, msg_tag: sender, msg_length: 0 });
        }
        write(end + 7, Event::Leave { region: 0 });
    });
}

fn late_messages(hostile: &mut Hostile) {
    hostile.region(0, 2, true);
    hostile.processes(2);
    hostile.world(2);
    hostile.events_at(0, |write| {
        write(10, Event::Enter { region: 0 });
        for _ in 0..100_000 {
            write(11, Event::MpiSend { receiver: 1, communicator: 0, msg_tag: 0, msg_length: 0 });
        }
        write(12, Event::Leave { region: 0 });
    });
    hostile.events_at(1, |write| {
        write(1, Event::Enter { region: 0 });
        for _ in 0..100_000 {
            write(11, Event::MpiRecv { sender: 0, communicator: 0, msg_tag: 0, msg_length: 0 });
        }
        write(12, Event::Leave { region: 0 });
    });
}

/// Each waits for a message of the other one, again and again, so that all waiting has costs in turn.
fn late_messages_back_and_forth(hostile: &mut Hostile) {
    hostile.region(0, 2, true);
    hostile.processes(2);
    hostile.world(2);
    for rank in 0..2 {
        let other = 1 - rank as u32;
        hostile.events_at(rank, |write| {
            for step in 1..50_000 {
                let (sent, received) = (100 * step + 50 * rank, 100 * step + 50 * (1 - rank));
                let send = [
                    (sent, Event::Enter { region: 0 }),
                    (sent, Event::MpiSend { receiver: other, communicator: 0, msg_tag: 0, msg_length: 0 }),
                    (sent, Event::Leave { region: 0 }),
                ];
                let receive = [
                    (received - 40, Event::Enter { region: 0 }),
                    (received, Event::MpiRecv { sender: other, communicator: 0, msg_tag: 0, msg_length: 0 }),
                    (received, Event::Leave { region: 0 }),
                ];
                let both = if rank == 0 { [send, receive] } else { [receive, send] };
                both.into_iter().flatten().for_each(|(time, event)| write(time, event));
            }
        });
    }
}

/// Two processes that lock each other and access each other's memory, all the time.
fn locks(hostile: &mut Hostile) {
    hostile.functions(["MPI_Win_lock", "MPI_Put", "MPI_Win_unlock"]);
    hostile.processes(2);
    hostile.world(2);
    hostile.define(Definition::RmaWin { reference: 0, name: 0, comm: 0, flags: 0 });
    for location in 0..2 {
        let remote = 1 - location as u32;
        hostile.events_at(location, |write| {
            for at in 0..10_000 {
                let mut call = |begin: u64, region, event| {
                    write(10 * at + begin, Event::Enter { region });
                    write(10 * at + begin, event);
                    write(10 * at + begin + 2, Event::Leave { region });
                };
                call(1, 0, Event::RmaRequestLock { win: 0, remote, lock_id: 0, lock_type: 0 });
                call(3, 1, Event::RmaPut { win: 0, remote, bytes: 8, matching_id: at });
                call(5, 2, Event::RmaReleaseLock { win: 0, remote, lock_id: 0 });
            }
        });
    }
}

/// Two processes that open their memory to both, and access it.
fn epochs(hostile: &mut Hostile) {
    hostile.functions(["MPI_Win_post", "MPI_Win_start", "MPI_Win_complete", "MPI_Win_wait"]);
    hostile.processes(2);
    hostile.world(2);
    hostile.define(Definition::RmaWin { reference: 0, name: 0, comm: 0, flags: 0 });
    for location in 0..2 {
        hostile.events_at(location, |write| {
            for time in 0..10_000 {
                for region in 0..4 {
                    write(10 * time + 2 * u64::from(region), Event::Enter { region });
                    write(
                        10 * time + 2 * u64::from(region),
                        Event::RmaGroupSync { sync_level: 0, win: 0, group: 1 },
                    );
                    write(10 * time + 2 * u64::from(region) + 1, Event::Leave { region });
                }
            }
        });
    }
}

const ARCHIVES: [(&str, Make); 19] = [
    ("nested calls", nested_calls),
    ("many call paths and many threads", many_call_paths_and_many_threads),
    ("communicators of one large group", communicators_of_one_large_group),
    ("locations without events", locations_without_events),
    ("locations without files", locations_without_files),
    ("processes without events", processes_without_events),
    ("regions of one long name", regions_of_one_long_name),
    ("deep calling contexts", deep_calling_contexts),
    ("messages to oneself", messages_to_oneself),
    ("channels of one message", channels_of_one_message),
    ("requests that are never completed", requests_that_are_never_completed),
    ("calls of one message", calls_of_one_message),
    ("collective operations", collective_operations),
    ("collective operations in which some move nothing", collective_operations_in_which_some_move_nothing),
    ("barriers that wait for many functions", barriers_that_wait_for_many_functions),
    ("late messages", late_messages),
    ("locks", locks),
    ("epochs", epochs),
    ("late messages back and forth", late_messages_back_and_forth),
];

/// Size of all files of an archive.
fn size(directory: &Path) -> u64 {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    entries
        .map(
            |entry| if entry.path().is_dir() { size(&entry.path()) } else { entry.metadata().unwrap().len() },
        )
        .sum()
}

/// What the process allocates is counted as a whole: one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// Writes an archive below a directory of its own, in memory if possible: each event file is synced, which takes long on a
/// disk.
fn written(make: Make) -> (TempDir, PathBuf, u64) {
    let memory = Path::new("/dev/shm");
    let place = if memory.is_dir() { memory } else { Path::new(env!("CARGO_TARGET_TMPDIR")) };
    let directory = tempfile::tempdir_in(place).unwrap();
    let experiment = directory.path().join("archive");
    let mut hostile = Hostile::new(&experiment);
    make(&mut hostile);
    let locations = hostile.locations;
    hostile.archive.finish().unwrap();
    if !hostile.has_events {
        std::fs::remove_dir_all(experiment.join("traces")).unwrap();
    }
    (directory, experiment, locations)
}

/// The result of a step, and the bytes that it had allocated at most.
fn peak_of<R>(step: impl FnOnce() -> R) -> (R, u64) {
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    let result = step();
    (result, (ALLOCATOR.peak_usage() - before) as u64)
}

#[test]
fn hostile_archive_takes_no_more_memory_than_promised() {
    let _alone = ALONE.lock();
    let mut problems = Vec::new();
    for (name, make) in ARCHIVES {
        let (directory, experiment, locations) = written(make);
        for clock_correction in [false, true] {
            let options = Options {
                report: Some(directory.path().join("report.cubex")),
                clock_correction,
                force: true,
                ..Options::new(&experiment)
            };
            let (outcome, peak) = peak_of(|| analyze(&options, &mut Solo, &mut Progress::silent()));
            let (bytes, outcome) =
                (size(&experiment), outcome.map_or_else(|error| error.to_string(), |_| "report".into()));
            let clocks = if clock_correction { ", clocks corrected" } else { "" };
            println!(
                "{name}{clocks}: {bytes} bytes, {peak} allocated ({:.1} times), {} allowed: {outcome}",
                peak as f64 / bytes as f64,
                allowed(bytes, locations)
            );
            if peak > allowed(bytes, locations) {
                problems.push(format!("{name}{clocks}"));
            }
        }
    }
    assert!(problems.is_empty(), "{problems:?}");
}

#[test]
fn steps_take_no_more_memory_than_is_looked_for_before_them() {
    let _alone = ALONE.lock();
    let mut problems = Vec::new();
    let mut large = 0;
    for (name, make) in ARCHIVES {
        let (_directory, experiment, _) = written(make);
        let archive = Archive::open(&experiment).unwrap();
        let definitions = archive.definition_records(&archive.definition_file().unwrap()).resolve().unwrap();
        let trace = Trace::new(definitions, Semantics::Corrected).unwrap();
        let (metrics, processes) = (Metrics::new(true, trace.semantics), trace.processes.len());
        let (formulas, owners) = (Formulas::new(&trace, &metrics), Owners::new(&vec![0..processes; 1]));
        let (shared, memory) = (Shared::new(1), Memory::default());
        let tools = Tools {
            trace: &trace,
            metrics: &metrics,
            formulas: &formulas,
            owners: &owners,
            shared: &shared,
            memory: &memory,
            together: 0,
            has_details: false,
        };
        let walked = |positions| -> Vec<Walked> {
            let walked = |process| {
                let files = walk::open(&archive, &trace, process).unwrap();
                walk::walk(
                    &archive,
                    &trace,
                    &metrics,
                    &files,
                    Notes { positions, scheme: None },
                    &[],
                    &memory,
                )
                .unwrap()
            };
            (0..processes).map(walked).collect()
        };
        let mut check = |step: &str, needed: u64, peak: u64| {
            println!("{name}: {step}: {peak} bytes allocated, {needed} looked for");
            large += u64::from(peak > SMALL);
            if peak > needed + SMALL {
                problems.push(format!("{name}: {step}"));
            }
        };
        let processes = walked(Positions::Journal);
        let mut findings = Findings::default();
        let needed = matching::bytes_needed(&trace, &processes, true, false);
        let (matches, peak) = peak_of(|| {
            matching::match_operations(&tools, &processes, &mut findings, None, &mut Solo).unwrap()
        });
        check("match", needed, peak);
        drop((matches, processes));

        let processes = walked(Positions::Records);
        let needed = matching::bytes_needed(&trace, &processes, true, false)
            + clock_correction::bytes_needed(&processes);
        let (_, peak) = peak_of(|| correct(&tools, processes, &mut findings, &mut Solo).unwrap());
        check("correct clocks", needed, peak);
    }
    assert!(large >= 6, "{large} steps for which it matters");
    assert!(problems.is_empty(), "{problems:?}");
}
