//! Invalid and damaged archives: one clear message and status 2, or a finding and a report, never a crash.

use std::fs;
use std::path::{Path, PathBuf};

use otf2::{Anchor, ArchiveWriter, Attributes, Definition, Event, UNDEFINED};
use replay::Semantics;

use crate::support::parse::Case;
use crate::support::report::Table;
use crate::support::run::{Finished, analyze, analyzer, launched, mpirun, program, run};
use crate::support::{self, SEMANTICS, archive, copy, fresh, in_containers, workers, write, written};

/// An input that gives no report.
struct InvalidInput {
    what: &'static str,
    experiment: PathBuf,
    /// The report, if not in the experiment.
    report: Option<PathBuf>,
    /// The file or directory that the message must name.
    path: PathBuf,
    /// A part of the message.
    says: &'static str,
    /// Whether the message has the offset of a byte.
    has_offset: bool,
}

impl InvalidInput {
    fn arguments(&self) -> Vec<&Path> {
        let report = self.report.iter().flat_map(|report| [Path::new("-o"), report]);
        [self.experiment.as_path()].into_iter().chain(report).collect()
    }

    fn report(&self) -> PathBuf {
        self.report.clone().unwrap_or_else(|| self.experiment.join("trace.cubex"))
    }

    /// Checks the refusal; returns what is wrong with it.
    fn problem(&self, refused: &Finished, is_launched: bool) -> Option<String> {
        let messages = refused.messages();
        let [message] = messages[..] else {
            return Some(format!("{} messages, expected one", messages.len()));
        };
        if refused.status != Some(if is_launched { 0 } else { 2 }) {
            return Some(format!("status {:?}", refused.status));
        }
        if is_launched && refused.stdout.matches("status 2").count() != 3 {
            return Some(format!("not every process ended with status 2:\n{}", refused.stdout));
        }
        if !message.contains(self.path.to_str().unwrap()) {
            return Some(format!("{} is not in the message: {message}", self.path.display()));
        }
        if !message.contains(self.says) {
            return Some(format!("{:?} is not in the message: {message}", self.says));
        }
        if self.has_offset && !message.contains("byte 0x") {
            return Some(format!("no byte offset in the message: {message}"));
        }
        if !is_launched && refused.stdout.contains("Report:") {
            return Some("a summary".into());
        }
        None
    }
}

/// Writes an archive of these definitions, without events.
fn define(directory: &Path, definitions: &[Definition<'_>]) {
    let mut writer = ArchiveWriter::create(directory.join("traces.otf2"), write::anchor(false)).unwrap();
    for &definition in definitions {
        writer.define(definition).unwrap();
    }
    writer.finish().unwrap();
}

fn clock(timer_resolution: u64) -> Definition<'static> {
    Definition::ClockProperties {
        timer_resolution,
        global_offset: 0,
        trace_length: 9,
        realtime_timestamp: u64::MAX,
    }
}

const TEXT: Definition<'_> = Definition::String { reference: 0, string: b"text" };

/// The definitions of one process, with a list of the locations of MPI's ranks.
fn one_process(locations: &'static [u64]) -> Vec<Definition<'static>> {
    let group = |reference, members: &'static [u64], group_type| Definition::Group {
        reference,
        name: 0,
        members: members.into(),
        group_type,
        paradigm: model::Paradigm::MPI,
        group_flags: 0,
    };
    vec![
        clock(1000),
        TEXT,
        Definition::SystemTreeNode { reference: 0, name: 0, class_name: 0, parent: UNDEFINED },
        Definition::LocationGroup {
            reference: 0,
            name: 0,
            location_group_type: model::LocationGroupType::PROCESS,
            system_tree_parent: 0,
            creating_location_group: UNDEFINED,
        },
        Definition::Location {
            reference: 0,
            name: 0,
            location_type: model::LocationType::CPU_THREAD,
            number_of_events: 0,
            location_group: 0,
        },
        group(0, locations, model::GroupType::COMM_LOCATIONS),
        group(1, &[0, 1][..locations.len()], model::GroupType::COMM_GROUP),
        Definition::Comm { reference: 0, name: 0, group: 1, parent: UNDEFINED, flags: 0 },
    ]
}

/// All invalid inputs, each in a folder of its own.
fn bad_inputs(directory: &Path) -> Vec<InvalidInput> {
    let mut all = Vec::new();
    let mut add = |what, says, has_offset, file: &str, make: &dyn Fn(&Path)| {
        let experiment = directory.join(format!("{}", all.len()));
        fs::create_dir(&experiment).unwrap();
        make(&experiment);
        let path = if file.is_empty() { experiment.clone() } else { experiment.join(file) };
        all.push(InvalidInput { what, experiment, report: None, path, says, has_offset });
    };
    let real = archive("barrier.4");
    add("no directory", "no such", false, "", &|path| fs::remove_dir(path).unwrap());
    add("directory without archive", "not an OTF2 archive", false, "", &|_| {});
    add("two archives", "name the anchor file", false, "", &|path| {
        fs::write(path.join("a.otf2"), "").unwrap();
        fs::write(path.join("b.otf2"), "").unwrap();
    });
    add("garbage for an anchor", "not an OTF2 anchor", false, "traces.otf2", &|path| {
        fs::write(path.join("traces.otf2"), "hello").unwrap();
    });
    add("half an anchor", "ends within", true, "traces.otf2", &|path| {
        let anchor = fs::read(real.join("traces.otf2")).unwrap();
        fs::write(path.join("traces.otf2"), &anchor[..40]).unwrap();
    });
    type Change = fn(&mut Anchor);
    let changes: [(&str, &str, Change); 4] = [
        ("trace format 3", "trace format 3", |anchor| anchor.trace_format = 3),
        ("compressed archive", "compression", |anchor| anchor.compression = 2),
        ("tiny chunks", "chunks of 100 bytes", |anchor| anchor.event_chunk_size = 100),
        ("huge chunks", "chunks of", |anchor| anchor.definition_chunk_size = 1 << 40),
    ];
    for (what, says, change) in changes {
        add(what, says, false, "traces.otf2", &|path| {
            copy(&real, path);
            let file = path.join("traces.otf2");
            let mut anchor = Anchor::parse(&fs::read(&file).unwrap(), &file).unwrap();
            change(&mut anchor);
            fs::write(&file, anchor.encode(&file).unwrap()).unwrap();
        });
    }
    add("no map of containers", "no map of the locations", false, "traces.srm", &|path| {
        in_containers(path);
        fs::remove_file(path.join("traces.srm")).unwrap();
    });
    add("half a container", "chunks at most, listed from byte", true, "traces/0.evt", &|path| {
        in_containers(path);
        let container = fs::read(path.join("traces/0.evt")).unwrap();
        fs::write(path.join("traces/0.evt"), &container[..container.len() / 2]).unwrap();
    });
    add("no definitions", "traces.def", false, "traces.def", &|path| {
        copy(&real, path);
        fs::remove_file(path.join("traces.def")).unwrap();
    });
    add("half of the definitions", "ends within", true, "traces.def", &|path| {
        copy(&real, path);
        let definitions = fs::read(real.join("traces.def")).unwrap();
        fs::write(path.join("traces.def"), &definitions[..definitions.len() / 2]).unwrap();
    });
    add("definition twice", "second time", true, "traces.def", &|path| {
        let other = Definition::String { reference: 0, string: b"other" };
        define(path, &[clock(1), TEXT, other]);
    });
    add("location that is missing", "location 9", false, "traces.def", &|path| {
        define(path, &one_process(&[0, 9]))
    });
    add("no resolution", "resolution of 0", true, "traces.def", &|path| define(path, &[clock(0)]));
    add("no location", "no location", false, "traces.def", &|path| define(path, &[clock(1), TEXT]));
    add("unreadable events", "1.evt", false, "traces/1.evt", &|path| {
        copy(&real, path);
        fs::remove_file(path.join("traces/1.evt")).unwrap();
        fs::create_dir(path.join("traces/1.evt")).unwrap();
    });
    let targets = [
        ("directory of the report missing", "missing/r.cubex", "cannot create"),
        ("file for a directory of the report", "file/r.cubex", "cannot create"),
        ("report without .cubex", "r.cube", ".cubex"),
    ];
    fs::write(directory.join("file"), "").unwrap();
    for (what, report, says) in targets {
        let report = directory.join(report);
        let path = report.with_extension("");
        all.push(InvalidInput {
            what,
            experiment: real.clone(),
            report: Some(report),
            path,
            says,
            has_offset: false,
        });
    }
    all
}

#[test]
fn bad_input_gives_one_message_and_status_2() {
    let directory = fresh();
    let mut problems = Vec::new();
    for bad in bad_inputs(directory.path()) {
        let refused = analyze(bad.arguments());
        problems.extend(bad.problem(&refused, false).map(|problem| format!("{}: {problem}", bad.what)));
        if bad.report().exists() {
            problems.push(format!("{}: a report", bad.what));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn existing_report_survives_bad_input() {
    let directory = fresh();
    let good = directory.path().join("good.cubex");
    support::analyze(&archive("barrier.4"), &good, Semantics::Corrected).unwrap();
    let bytes = written(&good);
    for bad in bad_inputs(directory.path()).iter().filter(|bad| bad.report.is_none()) {
        analyze([&bad.experiment, Path::new("-o"), &good]).expect(2);
        assert!(written(&good) == bytes, "{}", bad.what);
    }
}

/// A shell around the program prints the status of each process, of which the launcher would report only one.
#[test]
fn bad_input_gives_one_message_for_three_processes_and_status_2_on_each() {
    let Some(launcher) = mpirun("bad input under mpirun") else { return };
    let directory = fresh();
    let mut problems = Vec::new();
    for bad in bad_inputs(directory.path()) {
        let mut command = launched(launcher, 3, ["sh", "-c", "\"$0\" \"$@\"; echo \"status $?\"", program()]);
        let refused = run(command.args(bad.arguments()));
        problems.extend(bad.problem(&refused, true).map(|problem| format!("{}: {problem}", bad.what)));
        if bad.report().exists() {
            problems.push(format!("{}: a report", bad.what));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Open MPI's launcher returns the status of the first process that failed.
#[test]
fn launcher_ends_with_status_2() {
    let Some(launcher) = mpirun("status of mpirun") else { return };
    let mut command = launched(launcher, 3, [program(), "/nowhere"]);
    run(&mut command).expect(2);
}

#[test]
fn failure_of_one_worker_ends_all_and_one_of_them_speaks() {
    let directory = fresh();
    let bad = bad_inputs(directory.path()).into_iter().find(|bad| bad.what == "unreadable events").unwrap();
    let report = directory.path().join("r.cubex");
    for (processes, threads) in [(4, 1), (2, 2), (1, 4), (3, 3)] {
        let outcomes = workers::analyze(&bad.experiment, &report, Semantics::Corrected, processes, threads);
        let errors: Vec<_> = outcomes.into_iter().map(|outcome| outcome.unwrap_err()).collect();
        let own: Vec<usize> = (0..processes).filter(|&at| errors[at].is_own()).collect();
        assert_eq!(own.len(), 1, "{processes} processes of {threads} threads: {errors:?}");
        assert!(errors[own[0]].to_string().contains("1.evt"), "{}", errors[own[0]]);
        assert!(!report.exists());
    }
}

/// Damages one file of a real archive; the times and visits of the other ranks must not change.
#[test]
fn damaged_location_is_a_finding_and_the_others_keep_their_times() {
    let real = archive("barrier.4");
    let directory = fresh();
    let whole = directory.path().join("whole.cubex");
    support::analyze(&real, &whole, Semantics::Corrected).unwrap();
    let whole = Table::read(&whole);
    type Damage = fn(&Path);
    let cases: [(&str, &str, Damage); 5] = [
        ("missing events", "missing events", |dir| fs::remove_file(dir.join("traces/1.evt")).unwrap()),
        ("no events", "damaged events", |dir| fs::write(dir.join("traces/1.evt"), "").unwrap()),
        ("half of the events", "damaged events", |dir| {
            let bytes = fs::read(dir.join("traces/1.evt")).unwrap();
            fs::write(dir.join("traces/1.evt"), &bytes[..bytes.len() / 2]).unwrap();
        }),
        ("garbage for events", "damaged events", |dir| {
            fs::write(dir.join("traces/1.evt"), "garbage, and more of it").unwrap();
        }),
        ("damaged mapping", "unreadable local definitions", |dir| {
            fs::write(dir.join("traces/1.def"), "garbage").unwrap();
        }),
    ];
    for (what, finding, damage) in cases {
        let experiment = directory.path().join(what);
        copy(&real, &experiment);
        damage(&experiment);
        let report = directory.path().join("damaged.cubex");
        analyze([&experiment, Path::new("-q"), Path::new("-o"), &report]).expect(0);
        let table = Table::read(&report);
        assert_eq!(table.findings().get(finding), Some(&1), "{what}: {:?}", table.findings());
        let of_others = |table: &Table| -> Vec<_> {
            let is_meant =
                |key: &(String, String, usize)| key.2 != 1 && ["time", "visits"].contains(&&*key.0);
            table.named().into_iter().filter(|(key, _)| is_meant(key)).collect()
        };
        assert_eq!(of_others(&table), of_others(&whole), "{what}");
    }
}

/// The name of the program is in the events of main threads only: one of them may be lost.
#[test]
fn lost_main_thread_leaves_the_call_paths_of_the_other_ranks_as_they_are() {
    let real = archive("hybrid.3x3");
    let directory = fresh();
    let report = directory.path().join("r.cubex");
    for semantics in SEMANTICS {
        support::analyze(&real, &report, semantics).unwrap();
        let whole = Table::read(&report);
        for rank in 0..3 {
            let experiment = directory.path().join(format!("{}-{rank}", semantics.name()));
            copy(&real, &experiment);
            fs::remove_file(experiment.join(format!("traces/{rank}.evt"))).unwrap();
            support::analyze(&experiment, &report, semantics).unwrap();
            let table = Table::read(&report);
            assert_eq!(table.findings().get("missing events"), Some(&1), "rank {rank}");
            let of_rank = |location: usize| location / 3 == rank;
            let of_others = |table: &Table| -> Vec<_> {
                let is_meant = |key: &(String, String, usize)| {
                    !of_rank(key.2) && ["visits", "mpi", "omp_management"].contains(&&*key.0)
                };
                table.named().into_iter().filter(|(key, _)| is_meant(key)).collect()
            };
            assert_eq!(of_others(&table), of_others(&whole), "rank {rank}");
            let named = table.named();
            let of_its_workers = named.keys().filter(|key| key.0 == "visits" && of_rank(key.2));
            let paths: Vec<&str> = of_its_workers.map(|key| key.1.as_str()).collect();
            assert!(!paths.is_empty(), "rank {rank}");
            assert!(paths.iter().all(|path| path.starts_with("hybrid/THREADS/")), "rank {rank}: {paths:?}");
            let one = written(&report);
            for (processes, threads) in [(1, 2), (3, 1), (2, 2)] {
                let outcomes = workers::analyze(&experiment, &report, semantics, processes, threads);
                outcomes.into_iter().for_each(|outcome| assert!(outcome.unwrap().lacks_data));
                assert!(written(&report) == one, "rank {rank}: {processes} processes of {threads} threads");
            }
        }
    }
}

#[test]
fn location_without_events_and_file_is_no_loss_of_data() {
    let directory = fresh();
    let experiment = directory.path();
    let script = "program prog\nrank 0\n 0 > main ; 9 <\nrank 0 thread 1 missing\nrank 1 missing";
    write::write(&Case::parse(script).unwrap().trace, experiment);
    for options in [&["--threads", "1"], &["--threads", "3"]] {
        let done = analyze([Path::new("--strict"), experiment].into_iter().chain(options.map(Path::new)));
        assert!(done.expect(0).stdout.contains("Findings: none"), "{}", done.stdout);
        assert!(done.stdout.contains("summed over 1 thread:"), "{}", done.stdout);
    }
    // Events that the definitions announce are lost with their file.
    fs::remove_file(experiment.join("traces/0.evt")).unwrap();
    analyze([Path::new("--strict"), experiment]).expect(1);
}

/// Events of an archive whose definitions lack everything that they refer to.
#[test]
fn undefined_references_are_findings() {
    let directory = fresh();
    let path = directory.path().join("traces.otf2");
    let mut writer = ArchiveWriter::create(&path, write::anchor(false)).unwrap();
    for definition in one_process(&[0]) {
        writer.define(definition).unwrap();
    }
    let mut events = writer.events(0).unwrap();
    let undefined = [
        Event::Enter { region: 77 },
        Event::Leave { region: u32::MAX },
        Event::MpiSend { receiver: 0, communicator: 5, msg_tag: 0, msg_length: 8 },
        Event::CallingContextEnter { calling_context: 3, unwind_distance: 2 },
    ];
    for (time, event) in (1..).zip(undefined) {
        events.write(time, event, Attributes::EMPTY).unwrap();
    }
    events.finish().unwrap();
    writer.finish().unwrap();
    let report = directory.path().join("r.cubex");
    run(&mut analyzer([directory.path(), Path::new("-o"), &report])).expect(0);
    let found = Table::read(&report).findings();
    assert_eq!(found.get("undefined reference"), Some(&4), "{found:?}");
}
