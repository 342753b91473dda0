//! The contents of archives.

use crate::laws;
use crate::recordings::{CHUNK, Rank, check, fresh, mpi, ring};
use launcher::{Outcome, Summary, finish};
use model::{GroupType, Members, Paradigm, RegionRole};
use otf2::{Archive, Definition, Event};
use recording::journal::{Communicator, File, JournalRecord, Region, Topology, Window};
use recording::layout;
use recording::paths::{MPI_FUNCTION, NO_PARENT, REGION, SAMPLE};
use std::fs;
use std::path::Path;

/// Completes an archive, which must be possible and keep the laws then; returns its summary.
pub(crate) fn finished(directory: &Path) -> Summary {
    let summary = match finish(directory, None).unwrap() {
        Outcome::Written(summary) => summary,
        other => panic!("{other:?}"),
    };
    let is_profile = summary.call_paths.is_some() || summary.estimate.is_some();
    assert!(is_profile || laws::broken(directory).is_none(), "{:?}", laws::broken(directory));
    summary
}

#[test]
fn run_that_ended_becomes_an_archive() {
    let directory = fresh("run_that_ended");
    let events = ring(&directory, 4, 10);
    let summary = finished(&directory);
    assert_eq!((summary.processes, summary.events), (4, events));
    assert_eq!((&summary.died, &summary.notices, summary.has_losses), (&vec![], &vec![], false));
    assert_eq!(check(&directory), events);
    assert!(!directory.join(layout::RECORDING).exists());
    assert_eq!(finish(&directory, None), Ok(Outcome::AlreadyComplete));

    let archive = Archive::open(&directory).unwrap();
    let anchor = archive.anchor();
    assert_eq!((anchor.creator.as_str(), anchor.event_chunk_size), ("Replay 0.1.0", CHUNK));
    assert_eq!(anchor.properties[0], ("OTF2::MPI_COMMUNICATION_COMPLETE".into(), "true".into()));
    let definitions = archive.definitions().unwrap();
    assert_eq!(definitions.clock.resolution, 2_000_000_000);
    // All clocks are corrected to that of rank 0, on which all processes start at 100.
    assert_eq!((definitions.clock.global_offset, definitions.clock.length), (100, 210));
    assert_eq!(definitions.clock.realtime, Some(50));
    let names: Vec<_> = definitions.location_groups.iter().map(|group| group.name.as_str()).collect();
    assert_eq!(names, ["MPI Rank 0", "MPI Rank 1", "MPI Rank 2", "MPI Rank 3"]);
    assert_eq!(definitions.system_tree[1].name, "nowhere");
    let world = &definitions.communicators[0];
    let Members::Group(group) = world.members else { panic!("{world:?}") };
    assert_eq!(definitions.groups[group].members, [0, 1, 2, 3]);
    assert_eq!(definitions.groups[0].kind, GroupType::COMM_LOCATIONS);
    let regions: Vec<_> =
        definitions.regions.iter().map(|region| (region.name.as_str(), region.paradigm)).collect();
    let program = ("app", Paradigm::MEASUREMENT_SYSTEM);
    assert_eq!(regions, [("MPI_Send", Paradigm::MPI), ("MPI_Recv", Paradigm::MPI), program]);

    let file = archive.event_file(3).unwrap();
    let first = archive.events(&file).next().unwrap().unwrap();
    let mut local = archive.local_definitions(3).unwrap();
    assert_eq!(local.clock.correct(first.time), 100);
    let Event::ProgramBegin { program_name, program_arguments } = first.event.map(&local.mappings) else {
        panic!("{first:?}")
    };
    let string = |local_reference| {
        let global = local.mappings.global(otf2::MappingType::String, local_reference);
        definitions.strings.find(global.into()).unwrap().as_str()
    };
    assert_eq!(definitions.strings.find(program_name.into()).unwrap(), "/bin/app");
    assert_eq!(program_arguments.iter().map(string).collect::<Vec<_>>(), ["-v", "app"]);
}

#[test]
fn each_program_with_its_arguments_has_a_region_of_the_measurement_system() {
    let directory = fresh("programs");
    ring(&directory, 3, 1);
    let journal = layout::journal(&directory, 1);
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, text.replace(r#"["-v","app"]"#, r#"["in/data","app"]"#)).unwrap();
    finished(&directory);
    let definitions = Archive::open(&directory).unwrap().definitions().unwrap();
    let regions = definitions.regions.iter().filter(|region| region.role == RegionRole::ARTIFICIAL);
    let regions: Vec<_> = regions
        .map(|region| (region.name.as_str(), region.canonical_name.as_str(), region.paradigm))
        .collect();
    let of = |command| ("app", command, Paradigm::MEASUREMENT_SYSTEM);
    assert_eq!(regions, [of("/bin/app -v app"), of("/bin/app in/data app")]);
}

#[test]
fn anonymous_archives_have_neither_hosts_nor_paths() {
    let directory = fresh("anonymous");
    let events = ring(&directory, 3, 1);
    for rank in 0..3 {
        let journal = layout::journal(&directory, rank);
        let text = fs::read_to_string(&journal).unwrap();
        let mut text = text.replace(r#""anonymous":false"#, r#""anonymous":true"#);
        for (handle, path) in [(0, "/home/me/data/x"), (1, "/work/x")] {
            let key = 400 + u64::from(handle);
            let file = File { handle, key, path: path.into(), communicator: 0, storage: None };
            let end = r#"{"entry":"end""#;
            text = text.replacen(end, &(JournalRecord::File(file).to_line() + end), 1);
        }
        fs::write(journal, text).unwrap();
    }
    finished(&directory);
    assert_eq!(check(&directory), events);
    let definitions = Archive::open(&directory).unwrap().definitions().unwrap();
    let nodes: Vec<_> = definitions.system_tree.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(nodes, ["Linux", "n0"]);
    let archive = Archive::open(&directory).unwrap();
    let file = archive.definition_file().unwrap();
    let mut records = archive.definition_records(&file);
    let mut strings = Vec::new();
    while let Some(record) = records.next().unwrap() {
        if let Definition::String { string, .. } = record.definition {
            strings.push(String::from_utf8(string.into()).unwrap());
        }
    }
    for part in ["/home", "/work", "/bin", "nowhere"] {
        assert!(!strings.iter().any(|string| string.contains(part)), "{part} in {strings:?}");
    }
    // Two files of one name are two.
    for name in ["app", "x", "x~2"] {
        assert!(strings.iter().any(|string| string == name), "no {name} in {strings:?}");
    }
}

#[test]
fn same_recording_gives_the_same_archive() {
    let read = |name: &str| {
        let directory = fresh(name);
        ring(&directory, 3, 5);
        finished(&directory);
        let files = ["traces.otf2", "traces.def", "traces/1.def", "traces/1.evt"];
        files.map(|file| fs::read(directory.join(file)).unwrap())
    };
    assert_eq!(read("same_one"), read("same_other"));
}

#[test]
fn events_of_many_chunks_are_all_there() {
    let directory = fresh("many_chunks");
    let events = ring(&directory, 2, 20_000);
    let before = fs::metadata(layout::events(&directory, 1)).unwrap().len();
    assert!(before >= 4 * CHUNK);
    assert_eq!(finished(&directory).events, events);
    assert_eq!(check(&directory), events);
}

#[test]
fn threads_regions_samples_and_everything_shared_are_defined() {
    let directory = fresh("everything");
    for number in 0..4u32 {
        let mut rank = Rank::new(&directory, number, 4);
        rank.write(JournalRecord::Thread {
            thread: 2,
            name: Some("helper".into()),
            has_switches: false,
            has_counters: false,
        });
        rank.write(JournalRecord::Region(Region {
            region: 9,
            name: "solve".into(),
            file: Some("a.c".into()),
            line: 3,
            phase: true,
        }));
        let half = if number < 2 { "0-1" } else { "2-3" };
        let other = if number < 2 { "2-3" } else { "0-1" };
        let communicator = |communicator, key, parent, remote: Option<&str>| {
            JournalRecord::Communicator(Communicator {
                communicator,
                key,
                name: String::new(),
                parent: Some(parent),
                members: (number % 2 == 0).then(|| half.into()),
                remote: remote.map(Into::into),
            })
        };
        rank.write(communicator(2, 100 + u64::from(number / 2), 0, None));
        rank.write(communicator(3, 200, 2, Some(other)));
        rank.write(JournalRecord::Name {
            of: "communicator".into(),
            number: 2,
            name: format!("half {}", number / 2),
        });
        rank.write(JournalRecord::Group { group: 0, members: "3,1".into() });
        rank.write(JournalRecord::Window(Window {
            window: 0,
            key: 300,
            communicator: 0,
            name: "MPI_Win_create window".into(),
        }));
        rank.write(JournalRecord::File(File {
            handle: 0,
            key: 400,
            path: "/tmp/out".into(),
            communicator: 0,
            storage: None,
        }));
        rank.write(JournalRecord::Topology(Topology {
            communicator: 0,
            extents: vec![2, 2],
            periodic: vec![true, false],
            coordinates: vec![number / 2, number % 2],
        }));
        rank.paths(0, &[(REGION, 9, NO_PARENT), (MPI_FUNCTION, mpi("MPI_Barrier"), 0)]);
        rank.paths(2, &[(SAMPLE, 0xdead, NO_PARENT)]);
        let begin = 1000 * u64::from(number);
        let enter = |calling_context| Event::CallingContextEnter { calling_context, unwind_distance: 2 };
        let leave = |calling_context| Event::CallingContextLeave { calling_context };
        rank.record(
            0,
            &[
                (begin + 1, enter(0)),
                (begin + 2, enter(1)),
                (begin + 2, Event::CommCreate { communicator: 2 }),
                (begin + 2, Event::CommCreate { communicator: 3 }),
                (begin + 2, Event::RmaWinCreate { win: 0 }),
                (begin + 2, Event::RmaGroupSync { sync_level: 1, win: 0, group: 0 }),
                (begin + 2, Event::IoCreateHandle { handle: 0, mode: 2, creation_flags: 1, status_flags: 0 }),
                (begin + 3, leave(1)),
                (begin + 4, leave(0)),
            ],
        );
        let sample =
            Event::CallingContextSample { calling_context: 0, unwind_distance: 2, interrupt_generator: 0 };
        rank.record(2, &[(begin + 2, sample)]);
        rank.write(JournalRecord::End { status: 0 });
    }
    let summary = finished(&directory);
    assert_eq!(summary.notices, [""; 0]);
    assert_eq!(check(&directory), 40);
    let archive = Archive::open(&directory).unwrap();
    let definitions = archive.definitions().unwrap();
    let names: Vec<_> =
        definitions.communicators.iter().map(|communicator| communicator.name.as_str()).collect();
    assert_eq!(names, ["MPI_COMM_WORLD", "MPI_COMM_SELF", "half 0", "", "half 1"]);
    let Members::Inter(one, other) = definitions.communicators[3].members else {
        panic!("no inter-communicator")
    };
    assert_eq!(
        (&definitions.groups[one].members[..], &definitions.groups[other].members[..]),
        (&[0, 1][..], &[2, 3][..])
    );
    assert_eq!(definitions.topologies[0].coordinates.len(), 4);
    assert_eq!(definitions.topologies[0].coordinates[3], (3, vec![1, 1]));
    assert_eq!(definitions.locations.len(), 8);
    assert_eq!(definitions.locations.find(2 << 32).unwrap().name, "helper");
    let solve = &definitions.regions[0];
    assert_eq!((solve.name.as_str(), solve.flags, solve.begin_line), ("solve", 2, 3));
    let mappings = archive.local_definitions(2).unwrap().mappings;
    assert_eq!(mappings.global(otf2::MappingType::Comm, 2), 4);
    assert_eq!(
        mappings.global(otf2::MappingType::Group, 0),
        definitions.groups.reference(definitions.groups.len() - 1) as u32
    );
}
