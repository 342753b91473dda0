//! Records and their attributes have the values of the program, in archives with both kinds of records: what
//! probes have found, which communicators are made, and the like.

use crate::support::archive;
use crate::support::build;
use crate::support::copy;
use crate::support::record::{Invocation, Subject, finish_with};
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
    let bare = subject.run_bare();
    bare.expect_success();
    let recorded = subject.run_uncompleted();
    assert_eq!((&bare.stdout, bare.status), (&recorded.stdout, recorded.status), "{}", recorded.stderr);
    let expected: BTreeMap<u64, Vec<String>> =
        (0..u64::from(ranks)).map(|rank| (rank, expected(rank))).collect();
    let plain = subject.folder.join("plain");
    copy(&subject.experiment, &plain);
    for (experiment, records) in [(&subject.experiment, "calling-contexts"), (&plain, "enter-leave")] {
        finish_with(experiment, &["--records", records], &subject.folder).expect_success();
        assert_eq!(archive::refusal(experiment), None);
        assert_eq!(archive::difference(experiment), None);
        let found = in_words(experiment);
        assert!(found == expected, "{records}: {found:#?}");
    }
    archive::expect_promised(&subject.experiment, &recorded.stdout);
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
                .map(|(function, more)| format!("MPI_File_{function} Leave File={file}{more}"))
        };
        let (common, own) = (lines(0), lines(1));
        if rank == 0 { common.to_vec() } else { [common, own].concat() }
    };
    let program = ("file_sizes", "calls/file_sizes.c", 2);
    expect(program, |experiment| attributes(experiment, &["File", "View"]), expected);
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

#[test]
fn bytes_among_neighbors_are_in_profiles() {
    let Some(subject) = Subject::new("profiled_neighbors", "calls/neighbors.c", 3, &[]) else { return };
    let subject = subject.option("--profile");
    subject.run_recorded(Invocation::InFront).expect_success();
    let report = Report::open(subject.experiment.join("profile.cubex")).unwrap();
    let cube = report.cube();
    let functions = ["allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw"];
    for metric in ["bytes_cout", "bytes_cin"] {
        let severities = report.severities(cube.metric_named(metric).unwrap()).unwrap();
        let bytes = functions.map(|function| {
            let name = format!("MPI_Neighbor_{function}");
            let is_it = |at: &usize| cube.regions[cube.cnodes[*at].region.0].name == name;
            let paths = (0..cube.cnodes.len()).filter(is_it).map(CnodeId);
            let all = |path| (0..cube.locations.len()).map(move |at| (path, LocationId(at)));
            paths.flat_map(all).map(|(path, location)| severities.inclusive(path, location)).sum::<f64>()
        });
        // On the line, then on the ring and the graphs.
        assert_eq!(bytes, [48.0 + 24.0, 16.0, 32.0 + 16.0, 24.0, 24.0], "{metric}");
    }
}
