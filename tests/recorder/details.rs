//! Records and their attributes have the values of the program, in archives with both kinds of records: what
//! probes have found, which communicators are made, and the like.

use crate::support::archive;
use crate::support::build;
use crate::support::copy;
use crate::support::process::Ended;
use crate::support::record::{Invocation, Subject, analyze, finish_with};
use crate::support::report::findings;
use crate::support::words::{attributes, creations};
use cubex::{CnodeId, LocationId, Report};
use std::collections::BTreeMap;
use std::path::Path;

/// Records a program and fails unless events in words are the `expected` ones of each rank. Output and status
/// are as without the recorder, and the promised records exist.
fn expect(
    (test, source, ranks): (&str, &str, u32),
    in_words: impl Fn(&Path) -> BTreeMap<u64, Vec<String>>,
    expected: impl Fn(u64) -> Vec<String>,
) {
    let Some(subject) = Subject::new(test, source, ranks, &[]) else { return };
    let recorded = expect_events(&subject, in_words, expected);
    archive::expect_promised(&subject.experiment, &recorded.stdout);
}

/// The same of a program that promises no records; returns its run.
fn expect_events(
    subject: &Subject,
    in_words: impl Fn(&Path) -> BTreeMap<u64, Vec<String>>,
    expected: impl Fn(u64) -> Vec<String>,
) -> Ended {
    let bare = subject.run_bare();
    bare.expect_success();
    let recorded = subject.run_uncompleted();
    assert_eq!((&bare.stdout, bare.status), (&recorded.stdout, recorded.status), "{}", recorded.stderr);
    let expected: BTreeMap<u64, Vec<String>> =
        (0..u64::from(subject.ranks)).map(|rank| (rank, expected(rank))).collect();
    let plain = subject.folder.join("plain");
    copy(&subject.experiment, &plain);
    for (experiment, records) in [(&subject.experiment, "calling-contexts"), (&plain, "enter-leave")] {
        finish_with(experiment, &["--records", records], &subject.folder).expect_success();
        assert_eq!(archive::refusal(experiment), None);
        assert_eq!(archive::difference(experiment), None);
        let found = in_words(experiment);
        assert!(found == expected, "{records}: {found:#?}");
    }
    recorded
}

#[test]
fn probes_that_have_found_a_message_tell_which() {
    let names = ["ProbeSource", "ProbeTag", "ProbeComm"];
    expect(
        ("probes", "calls/probes.c", 3),
        |experiment| attributes(experiment, &names),
        |rank| {
            // Ranks are reversed, so the left neighbour has the next rank in the world.
            let source = (2 - (rank + 1) % 3).to_string();
            let probes = [
                ("Probe", 1),
                ("Probe", 1),
                ("Mprobe", 2),
                ("Probe", 3),
                ("Iprobe", 3),
                ("Probe", 4),
                ("Improbe", 4),
            ];
            let line = |(function, tag)| {
                format!("MPI_{function} Leave ProbeSource={source} ProbeTag={tag} ProbeComm=2,1,0")
            };
            probes.map(line).to_vec()
        },
    );
}

/// Lines as by [`creations`]: functions with records, and the members of the communicators.
fn lines(records: &[(&str, &str)]) -> Vec<String> {
    records.iter().map(|(record, members)| format!("MPI_{record} {members}")).collect()
}

#[test]
fn communicators_are_made_by_operations_of_those_that_take_part() {
    let creations_of = |rank| {
        let part = if rank == 1 { "1" } else { "0,2" };
        let duplicates = [
            ("Wait CommCreate", "0,1,2"),
            ("Wait NonBlockingCollectiveComplete", "0,1,2"),
            ("Comm_split CommCreate", part),
            ("Comm_split MpiCollectiveEnd", "0,1,2"),
            ("Waitall CommCreate", part),
            ("Waitall NonBlockingCollectiveComplete", part),
            ("Waitall CommCreate", part),
            ("Waitall NonBlockingCollectiveComplete", part),
        ];
        let of_group =
            [("Comm_create_group CommCreate", "2,0"), ("Comm_create_group MpiCollectiveEnd", "2,0")];
        let of_group = if rank == 1 { &of_group[..0] } else { &of_group };
        let inter = [
            ("Comm_split CommCreate", part),
            ("Comm_split MpiCollectiveEnd", "0,1,2"),
            ("Intercomm_create CommCreate", "0,2|1"),
            ("Intercomm_create MpiCollectiveEnd", "0,2|1"),
        ];
        lines(&[&duplicates[..], of_group, &inter].concat())
    };
    expect(("new_communicators", "calls/new_communicators.c", 3), creations, creations_of);
}

#[test]
fn communicators_without_a_parent_are_made_by_operations_of_their_own() {
    let creations_of = |rank| {
        let all = [
            ("Comm_create_from_group CommCreate", "0,1,2"),
            ("Comm_create_from_group MpiCollectiveEnd", "0,1,2"),
        ];
        let two = [
            ("Comm_create_from_group CommCreate", "2,0"),
            ("Comm_create_from_group MpiCollectiveEnd", "2,0"),
        ];
        let two = if rank == 1 { &two[..0] } else { &two };
        let inter = [
            ("Intercomm_create_from_groups CommCreate", "2,0|1"),
            ("Intercomm_create_from_groups MpiCollectiveEnd", "2,0|1"),
        ];
        lines(&[&all[..], two, &inter].concat())
    };
    expect(("groups", "calls/groups.c", 3), creations, creations_of);
}

#[test]
fn groups_with_the_same_first_members_have_communicators_of_their_own() {
    let creations_of = |rank: u64| {
        let pairs = ["0,1", "0,3", "0,1"].map(|pair| {
            let is_member = rank == 2 || pair.contains(&rank.to_string());
            let split = ("Comm_split MpiCollectiveEnd", "0,1,2,3");
            if !is_member {
                return lines(&[split]);
            }
            let group = if rank == 2 { "2" } else { pair };
            let inter = format!("{pair}|2");
            lines(&[
                ("Comm_split CommCreate", group),
                split,
                ("Intercomm_create CommCreate", &inter),
                ("Intercomm_create MpiCollectiveEnd", &inter),
            ])
        });
        pairs.concat()
    };
    let test = "inter_communicators";
    let Some(subject) = Subject::new(test, "calls/inter_communicators.c", 4, &[]) else { return };
    expect_events(&subject, creations, creations_of);
    // Besides the world and self three pairs, and the groups of each.
    assert_eq!(archive::communicators(&subject.experiment), 2 + 3 * 3);
}

/// A communicator that is made from a group, in lines as by [`creations`].
fn from_group(members: &str) -> Vec<String> {
    lines(&[
        ("Comm_create_from_group CommCreate", members),
        ("Comm_create_from_group MpiCollectiveEnd", members),
    ])
}

/// Fails unless the analysis of a recording finds nothing odd.
fn expect_no_findings(subject: &Subject) {
    let analysis = analyze(&subject.experiment, &subject.folder);
    analysis.expect_success();
    assert!(findings(&subject.experiment).is_empty(), "{}", analysis.stdout);
}

#[test]
fn programs_with_sessions_are_recorded_without_a_world() {
    let Some(subject) = Subject::new("sessions", "calls/sessions.c", 3, &[]) else { return };
    expect_events(&subject, creations, |rank| {
        let some = if rank < 2 { from_group("0,1") } else { Vec::new() };
        [from_group("0,1,2"), some, from_group(&rank.to_string()), from_group("0,1,2")].concat()
    });
    expect_no_findings(&subject);
    // In the session 2 of all, 1 of some and 3 of one member, besides MPI_COMM_SELF.
    assert_eq!(archive::communicators(&subject.experiment), 1 + 6);
    let visits = archive::visits(&subject.experiment);
    assert_eq!((visits["MPI_Session_init"], visits["MPI_Session_finalize"]), (6, 6));
}

#[test]
fn sessions_before_and_behind_the_world_are_recorded() {
    for (argument, count) in [("around", 3), ("inside", 1), ("both", 4)] {
        let test = format!("sessions_{argument}");
        let Some(subject) = Subject::new(&test, "calls/sessions_and_world.c", 2, &[argument]) else { return };
        expect_events(&subject, creations, |_| vec![from_group("0,1"); count].concat());
        expect_no_findings(&subject);
        assert_eq!(archive::communicators(&subject.experiment), 2 + count, "{argument}");
    }
}

#[test]
fn threads_that_open_sessions_at_once_are_recorded() {
    let test = "sessions_of_threads";
    let Some(subject) = Subject::new(test, "calls/sessions_of_threads.c", 2, &[]) else { return };
    for attempt in 0..5 {
        let (bare, recorded) = (subject.run_bare(), subject.run_recorded(Invocation::InFront));
        assert_eq!((bare.stdout, bare.status), (recorded.stdout, recorded.status), "{}", recorded.stderr);
        assert_eq!(archive::refusal(&subject.experiment), None);
        // Each thread is a location, and its communicator connects it with one of the other process.
        assert_eq!(archive::locations(&subject.experiment), 2 * 4, "{attempt}");
        assert_eq!(archive::communicators(&subject.experiment), 1 + 4, "{attempt}");
        assert_eq!(archive::counts(&subject.experiment)["MpiCollectiveEnd"], 2 * 4);
        std::fs::remove_dir_all(&subject.experiment).unwrap();
    }
}

#[test]
fn ports_and_sockets_connect_processes_in_operations_of_their_own_sides() {
    let creations_of = |rank| {
        let by_port = if rank == 0 { "Comm_accept" } else { "Comm_connect" };
        lines(&[
            (&format!("{by_port} CommCreate"), "0|1"),
            (&format!("{by_port} MpiCollectiveEnd"), "self"),
            ("Comm_join CommCreate", "0|1"),
            ("Comm_join MpiCollectiveEnd", "0|1"),
        ])
    };
    expect(("ports_in_words", "calls/ports.c", 2), creations, creations_of);
}

#[test]
fn processes_that_are_started_are_no_members_of_anything_in_the_trace() {
    let Some(subject) = Subject::new("spawn_in_words", "calls/spawn.c", 2, &[]) else { return };
    let subject = subject.with("OMPI_MCA_btl", "self,vader,tcp");
    expect_events(&subject, creations, |_| lines(&[("Comm_spawn MpiCollectiveEnd", "0,1")]));
    assert_eq!(archive::communicators(&subject.experiment), 2);
    analyze(&subject.experiment, &subject.folder).expect_success();
    let found: Vec<_> =
        findings(&subject.experiment).into_iter().map(|(name, _, count)| (name, count)).collect();
    assert_eq!(found, [("processes outside of the trace".to_owned(), 2)]);
}

#[test]
fn messages_of_each_pair_of_partitioned_requests_are_told_apart() {
    let expected = |rank: u64| {
        let of = |function: &str, record: &str, bytes: u64, number: u64| {
            format!("MPI_{function} {record} {bytes} Partitioned={number}")
        };
        let last_ready = |function, bytes, number| of(function, "MpiIsend", bytes, number);
        let mut lines = Vec::new();
        if rank == 0 {
            // The eight partitions of the second pair are made ready by other threads.
            lines.extend(vec![last_ready("Pready_list", 32, 1); 3]);
            lines.extend([last_ready("Pready", 12, 4), last_ready("Pready", 4, 3)]);
        } else {
            let received = |function, bytes, number| of(function, "MpiIrecv", bytes, number);
            lines.extend(vec![received("Wait", 32, 1); 3]);
            lines.extend(vec![received("Wait", 64, 2); 3]);
            lines.extend([received("Waitall", 4, 3), received("Waitall", 12, 4)]);
        }
        lines
    };
    let of_main_threads = |experiment: &Path| {
        let mut all = attributes(experiment, &["Partitioned"]);
        let others: Vec<String> = all.split_off(&2).into_values().flatten().collect();
        assert_eq!(others, vec!["MPI_Pready MpiIsend 64 Partitioned=2"; 3]);
        all
    };
    expect(("partitioned_in_words", "calls/partitioned.c", 2), of_main_threads, expected);
}

/// Lines as by [`attributes`] of the operations of `neighbors.c` on a line.
fn on_a_line(rank: u64, functions: [&str; 5], event: &str) -> Vec<String> {
    // The ends of the line have a neighbour on one side only.
    let (left, right) = (u64::from(rank > 0), u64::from(rank < 2));
    let neighbors = ["1", "0,2", "1"][rank as usize];
    let integers = [(3, 3, 3, 3), (1, 1, 1, 1), (2, 2, 2, 2), (1, 2, 2, 1), (1, 2, 2, 1)];
    let operations = functions.into_iter().zip(integers).enumerate();
    let line = |(at, (function, (to_left, to_right, from_left, from_right)))| {
        let operation = if at == 4 { 10 } else { 9 };
        let sent = 4 * (to_left * left + to_right * right);
        let received = 4 * (from_left * left + from_right * right);
        format!(
            "MPI_{function} {event} {operation} {sent} {received} of 0,1,2 \
             NeighborsIn={neighbors} NeighborsOut={neighbors}"
        )
    };
    operations.map(line).collect()
}

#[test]
fn operations_among_neighbors_tell_who_they_are() {
    let blocking = [
        "Neighbor_allgather",
        "Neighbor_allgatherv",
        "Neighbor_alltoall",
        "Neighbor_alltoallv",
        "Neighbor_alltoallw",
    ];
    let expected = |rank: u64| {
        let mut lines = on_a_line(rank, blocking, "MpiCollectiveEnd");
        lines.extend(on_a_line(rank, ["Wait"; 5], "NonBlockingCollectiveComplete"));
        let (left, right) = ((rank + 2) % 3, (rank + 1) % 3);
        let end = |function: &str, sent: u64, received: u64, incoming: &str, outgoing: &str| {
            format!(
                "MPI_Neighbor_{function} MpiCollectiveEnd 9 {sent} {received} of 0,1,2 \
                 NeighborsIn={incoming} NeighborsOut={outgoing}"
            )
        };
        lines.push(end("allgather", 8, 8, &left.to_string(), &right.to_string()));
        let graphs =
            [[(4, 4, "1", "1"), (8, 0, "", "1")], [(4, 4, "0", "0"), (0, 8, "0", "")], [(0, 0, "", ""); 2]];
        for (sent, received, incoming, outgoing) in graphs[rank as usize] {
            lines.push(end("alltoall", sent, received, incoming, outgoing));
        }
        lines
    };
    let names = ["NeighborsIn", "NeighborsOut"];
    expect(("neighbors", "calls/neighbors.c", 3), |experiment| attributes(experiment, &names), expected);
}

#[test]
fn persistent_operations_among_neighbors_tell_who_they_are() {
    let expected = |rank| {
        let round = on_a_line(rank, ["Wait"; 5], "NonBlockingCollectiveComplete");
        [round.clone(), round].concat()
    };
    let names = ["NeighborsIn", "NeighborsOut"];
    let program = ("persistent_neighbors", "calls/persistent_neighbors.c", 3);
    expect(program, |experiment| attributes(experiment, &names), expected);
}

#[test]
fn persistent_operations_have_the_number_of_their_initialization() {
    let expected = |rank| {
        let line = |function: &str, number: u64| {
            format!("MPI_{function} NonBlockingCollectiveRequest PersistentOperation={number}")
        };
        let mut lines: Vec<String> = (0..17).rev().map(|number| line("Start", number)).collect();
        lines.push(line("Start", 11));
        lines.extend([[11, 0], [0, 11]][rank as usize].map(|number| line("Startall", number)));
        lines
    };
    let program = ("persistent_collectives", "calls/persistent_collectives.c", 2);
    expect(program, |experiment| attributes(experiment, &["PersistentOperation"]), expected);
}

#[test]
fn collective_calls_on_files_tell_which_file() {
    let expected = |rank| {
        let lines = |file| {
            [("set_view", " View=16"), ("set_size", ""), ("preallocate", "")]
                .map(|(function, more)| format!("MPI_File_{function} Leave Handle={file}{more}"))
        };
        let (common, own) = (lines(0), lines(1));
        if rank == 0 { common.to_vec() } else { [common, own].concat() }
    };
    let program = ("file_sizes", "calls/file_sizes.c", 2);
    expect(program, |experiment| attributes(experiment, &["Handle", "View"]), expected);
}

#[test]
fn assertions_about_epochs_are_told() {
    let Some(mpi) = build::mpi("assertions") else { return };
    // In this order: no check, no store, no put, no precede, no succeed.
    let bits = if mpi.is_open_mpi { [1, 8, 4, 2, 16] } else { [1024, 2048, 4096, 8192, 16384] };
    let [no_check, no_store, no_put, no_precede, no_succeed] = bits;
    let lines = [
        ("fence RmaCollectiveEnd", no_precede),
        ("fence RmaCollectiveEnd", no_store | no_succeed),
        ("post RmaGroupSync", no_check),
        ("start RmaGroupSync", no_check),
        ("post RmaGroupSync", no_put),
        ("lock RmaRequestLock", no_check),
        ("lock_all RmaRequestLock", no_check),
    ];
    let lines = lines.map(|(record, bits)| format!("MPI_Win_{record} Assertion={bits}"));
    let program = ("assertions", "calls/assertions.c", 2);
    expect(program, |experiment| attributes(experiment, &["Assertion"]), |_| lines.to_vec());
}

/// Records a profile of a program with 3 processes; returns, for each metric, the bytes of each function.
fn profiled<const N: usize>(
    name: &str,
    program: &str,
    metrics: &[&'static str],
    functions: [&str; N],
) -> Option<Vec<(&'static str, [f64; N])>> {
    let subject = Subject::new(name, program, 3, &[])?.option("--profile");
    subject.run_recorded(Invocation::InFront).expect_success();
    let report = Report::open(subject.experiment.join("profile.cubex")).unwrap();
    let cube = report.cube();
    let of = |metric| {
        let severities = report.severities(cube.metric_named(metric).unwrap()).unwrap();
        let bytes = functions.map(|function| {
            let is_it = |at: &usize| cube.regions[cube.cnodes[*at].region.0].name == function;
            let paths = (0..cube.cnodes.len()).filter(is_it).map(CnodeId);
            let all = |path| (0..cube.locations.len()).map(move |at| (path, LocationId(at)));
            paths.flat_map(all).map(|(path, location)| severities.inclusive(path, location)).sum::<f64>()
        });
        (metric, bytes)
    };
    Some(metrics.iter().map(|metric| of(*metric)).collect())
}

#[test]
fn bytes_among_neighbors_are_in_profiles() {
    let functions = ["allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw"];
    let functions = functions.map(|function| format!("MPI_Neighbor_{function}"));
    let functions = functions.each_ref().map(String::as_str);
    let metrics = ["bytes_cout", "bytes_cin"];
    let bytes = profiled("profiled_neighbors", "calls/neighbors.c", &metrics, functions);
    // On the line, then on the ring and the graphs.
    let expected = [48.0 + 24.0, 16.0, 32.0 + 16.0, 24.0, 24.0];
    assert!(bytes.is_none_or(|bytes| bytes == metrics.map(|metric| (metric, expected))));
}

#[test]
fn bytes_of_accesses_are_in_profiles() {
    let functions = ["MPI_Put", "MPI_Get", "MPI_Accumulate", "MPI_Get_accumulate", "MPI_Compare_and_swap"];
    let metrics = ["bytes_put", "bytes_get", "bytes_rma", "bytes"];
    let bytes = profiled("profiled_accesses", "calls/bytes.c", &metrics, functions);
    // One process; there are three.
    let put = [24.0, 0.0, 12.0, 16.0, 4.0];
    let got = [0.0, 20.0, 0.0, 16.0 + 16.0, 4.0];
    let both = std::array::from_fn(|at| put[at] + got[at]);
    let expected = [("bytes_put", put), ("bytes_get", got), ("bytes_rma", both), ("bytes", both)];
    let expected = expected.map(|(metric, bytes)| (metric, bytes.map(|bytes| 3.0 * bytes)));
    assert!(bytes.as_ref().is_none_or(|bytes| *bytes == expected), "{bytes:?}");
}
