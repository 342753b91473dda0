//! What the archive has of a trace that is written by hand.

use crate::support::{LABELS, events, import, import_bytes};

/// The events of both tasks.
fn both(records: &str) -> [String; 2] {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a");
    import(records, LABELS, &path).unwrap();
    [events(&path, 0), events(&path, 1)]
}

#[test]
fn blocking_messages_lie_in_the_calls_of_their_times() {
    let [sender, receiver] = both(
        "2:1:1:1:1:10:50000001:1\n3:1:1:1:1:10:20:2:1:2:1:5:25:64:7\n2:1:1:1:1:20:50000001:0\n\
         2:1:1:2:1:5:50000001:2\n2:1:1:2:1:25:50000001:0:50000001:2\n2:1:1:2:1:30:50000001:0",
    );
    assert_eq!(sender, "0 a\n10 MPI_Send\n10 send 1 7 64 MPI_COMM_WORLD\n20 -\n100 -");
    assert_eq!(receiver, "0 a\n5 MPI_Recv\n25 recv 0 7 MPI_COMM_WORLD\n25 -\n25 MPI_Recv\n30 -\n100 -");
}

#[test]
fn messages_over_in_another_call_have_requests() {
    let [sender, receiver] = both(
        "2:1:1:1:1:10:60000019:1:50000001:3\n2:1:1:1:1:12:50000001:0\n2:1:1:1:1:14:50000001:5\n2:1:1:1:1:20:50000001:0\n\
         2:1:1:2:1:5:60000019:1:50000001:4\n2:1:1:2:1:6:50000001:0\n2:1:1:2:1:6:50000001:5\n2:1:1:2:1:30:50000001:0\n\
         3:1:1:1:1:10:20:2:1:2:1:5:30:64:7",
    );
    assert_eq!(sender, "10 main\n10 MPI_Isend\n10 isend 1 7 r0\n12 -\n14 MPI_Wait\n20 sent r0\n20 -\n100 -");
    let expected =
        "5 main\n5 MPI_Irecv\n5 post r1\n6 -\n6 MPI_Wait\n30 irecv 0 7 r1 MPI_COMM_WORLD\n30 -\n100 -";
    assert_eq!(receiver, expected);
}

#[test]
fn messages_that_overtake_others_are_in_another_communicator() {
    let [sender, receiver] = both(
        "2:1:1:1:1:10:50000001:1\n2:1:1:1:1:20:50000001:0\n2:1:1:1:1:20:50000001:1\n2:1:1:1:1:30:50000001:0\n\
         2:1:1:2:1:10:50000001:2\n2:1:1:2:1:40:50000001:0\n2:1:1:2:1:40:50000001:2\n2:1:1:2:1:50:50000001:0\n\
         3:1:1:1:1:10:20:2:1:2:1:40:50:1:7\n3:1:1:1:1:20:30:2:1:2:1:10:40:2:7",
    );
    let other = "MPI_COMM_WORLD, messages that overtake others 1";
    assert!(sender.contains("10 send 1 7 1 MPI_COMM_WORLD\n"), "{sender}");
    assert!(sender.contains(&format!("20 send 1 7 2 {other}\n")), "{sender}");
    assert!(
        receiver.contains(&format!("40 recv 0 7 {other}\n40 -\n40 MPI_Recv\n50 recv 0 7 MPI_COMM_WORLD\n")),
        "{receiver}"
    );
}

#[test]
fn receives_of_several_threads_are_in_the_order_of_posting() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a");
    let records = "#Paraver (x):100_ns:1(1):1:2(1:1,2:1)\n\
        2:1:1:1:1:10:50000001:1\n2:1:1:1:1:20:50000001:0\n2:1:1:1:1:20:50000001:1\n2:1:1:1:1:30:50000001:0\n\
        2:1:1:2:1:5:50000001:2\n2:1:1:2:1:50:50000001:0\n2:1:1:2:2:6:50000001:2\n2:1:1:2:2:40:50000001:0\n\
        3:1:1:1:1:10:20:1:1:2:1:5:50:1:7\n3:1:1:1:1:20:30:1:1:2:2:6:40:1:7\n";
    import_bytes(records.as_bytes(), LABELS.as_bytes(), &path).unwrap();
    let [first, second] = [1, 1 | 1 << 32].map(|location| events(&path, location));
    assert_eq!(first, "0 a\n5 MPI_Recv\n5 post r1\n50 irecv 0 7 r1 MPI_COMM_WORLD\n50 -\n100 -");
    assert_eq!(second, "0 a\n6 MPI_Recv\n6 post r3\n40 irecv 0 7 r3 MPI_COMM_WORLD\n40 -\n100 -");
}

#[test]
fn collective_operations_have_the_root_that_one_task_tells() {
    let [first, second] = both(
        "2:1:1:1:1:10:50000002:7:50100001:0:50100002:8:50100004:1\n2:1:1:1:1:20:50000002:0\n\
         2:1:1:2:1:11:50000002:7:50100001:8:50100002:0:50100004:1:50100003:1\n2:1:1:2:1:12:50000002:0\n\
         2:1:1:1:1:30:50000002:10:50100001:8:50100002:8:50100004:1\n2:1:1:1:1:40:50000002:0",
    );
    assert!(first.contains("10 MPI_Bcast\n10 begin\n20 end root 1 0 8 MPI_COMM_WORLD\n20 -\n"), "{first}");
    assert!(first.contains("30 begin\n40 end no root 8 8 MPI_COMM_WORLD\n"), "{first}");
    assert!(second.contains("11 begin\n12 end root 1 8 0 MPI_COMM_WORLD\n"), "{second}");
}

#[test]
fn callers_are_call_paths_with_lines_and_counters_are_sums() {
    let [first, _] = both(
        "2:1:1:1:1:10:50000001:1:70000001:1:70000002:2:80000001:1:80000002:2:42000050:5\n2:1:1:1:1:20:50000001:0:42000050:7\n\
         2:1:1:1:1:30:50000001:2:70000001:2:80000001:2\n2:1:1:1:1:40:50000001:0",
    );
    let expected = "0 a +1\n10 = 5\n10 a/main/solve@main.c:34/MPI_Send@solver.c:12 +3\n20 = 12\n20 -\n\
                    30 a/main/MPI_Recv@main.c:34 +1\n40 -\n100 -";
    assert_eq!(first, expected);
}

#[test]
fn records_that_do_not_end_with_the_header_are_remarked() {
    let directory = tempfile::tempdir().unwrap();
    let remarks = |name: &str, records: &str| {
        import(records, LABELS, &directory.path().join(name)).unwrap().remarks.to_string()
    };
    assert_eq!(remarks("empty", ""), "");
    assert_eq!(remarks("nearly", "2:1:1:1:1:99:50000001:1\n2:1:1:1:1:99:50000001:0"), "");
    let cut = remarks("cut", "2:1:1:1:1:10:50000001:1\n2:1:1:1:1:98:50000001:0");
    assert!(cut.starts_with("records end at 98, the header says 100: the file may be cut"), "{cut}");
    let behind = remarks(
        "behind",
        "2:1:1:1:1:10:50000001:1\n3:1:1:1:1:10:101:2:1:2:1:10:20:8:1\n2:1:1:1:1:101:50000001:0\n\
         2:1:1:2:1:10:50000001:2\n2:1:1:2:1:20:50000001:0",
    );
    assert!(behind.starts_with("2 events and messages are behind the end"), "{behind}");
}

#[test]
fn names_are_those_of_the_files() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a");
    let sources = import::Sources {
        records: ("p.prv".into(), Box::new(&b"#Paraver (x):100_ns:2(1,1):1:2(1:1,2:2)\n"[..])),
        labels: ("p.pcf".into(), Box::new(LABELS.as_bytes())),
        names: Some((
            "p.row".into(),
            Box::new(&b"LEVEL NODE SIZE 2\nn1\nn2\n\nLEVEL THREAD SIZE 1\nt1\n"[..]),
        )),
    };
    let imported = import::import(sources, &path, false).unwrap();
    assert_eq!((imported.tasks, imported.threads, imported.events), (2, 2, 4));
    let definitions = otf2::Archive::open(&path).unwrap().definitions().unwrap();
    let names: Vec<&str> = definitions.locations.iter().map(|location| location.name.as_str()).collect();
    assert_eq!(names, ["t1", "thread 1"]);
    let nodes: Vec<&str> = definitions.system_tree.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(nodes, ["machine", "n1", "n2"]);
}
