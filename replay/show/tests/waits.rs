//! What `waits` says of waits, and only where it is true.

use details::manifest::{Metric, member};
use details::{Column, Table, Values};
use show::status::Status;

use crate::support::example::{self, Names};
use crate::support::{Printed, run};

/// Runs `waits` on the example with changed and added tables.
fn waits(options: &[&str], change: impl Fn(&mut Vec<Table>)) -> Printed {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.cubex");
    let mut tables = example::tables();
    change(&mut tables);
    example::write(&path, &Names::default(), |members| {
        members.truncate(1);
        for table in &tables {
            let mut bytes = details::write(table).unwrap();
            if bytes.len().is_multiple_of(512) {
                bytes.push(0);
            }
            members.push((member(&table.name), bytes));
        }
    });
    run(100, &[&["waits", path.to_str().unwrap()], options].concat())
}

fn table(name: &str, columns: Vec<(&str, Values)>) -> Table {
    Table {
        name: name.into(),
        columns: columns.into_iter().map(|(name, values)| Column::new(name, None, values)).collect(),
    }
}

/// Replaces a column.
fn set(tables: &mut [Table], name: &str, column: &str, values: Values) {
    let table = tables.iter_mut().find(|table| table.name == name).unwrap();
    table.columns.iter_mut().find(|it| it.name == column).unwrap().values = values;
}

/// The line of a lane or a step.
fn line<'p>(printed: &'p Printed, start: &str) -> &'p str {
    printed.results.lines().find(|line| line.trim_start().starts_with(start)).unwrap_or_default()
}

#[test]
fn excess_is_said_of_the_direct_cause_only() {
    let chain = waits(&["--chain", "-n", "1"], |_| {});
    assert!(line(&chain, "waited for rank 2").contains("solve (most in excess: work)"), "{}", chain.results);
    assert_eq!(line(&chain, "waited for rank 0").trim(), "waited for rank 0 in solve");
    let picture = waits(&["-i", "1"], |_| {});
    assert!(picture.results.contains("rank 2 spent most time in excess of rank 3 in work"));
    assert!(!line(&picture, "rank 0").contains("work"), "{}", picture.results);
}

#[test]
fn excess_that_is_the_wait_of_the_cause_names_no_bracket() {
    let receive = |tables: &mut Vec<Table>| {
        set(tables, "instances", "origin_cnode", Values::U32(vec![5, 4, u32::MAX]));
    };
    let picture = waits(&["-i", "1"], receive);
    assert_eq!(line(&picture, "rank 2").matches("MPI_Recv").count(), 1, "{}", picture.results);
}

#[test]
fn windows_name_what_the_last_cause_did() {
    let picture = waits(&["-i", "1"], |tables| {
        set(tables, "instances", "window", Values::U32(vec![0, 0, 0]));
        tables.push(table(
            "windows",
            vec![("begin", Values::I64(vec![40_000])), ("end", Values::I64(vec![150_000]))],
        ));
        tables.push(table(
            "window_calls",
            vec![
                ("window", Values::U32(vec![0, 0])),
                ("location", Values::U32(vec![0, 0])),
                ("enter", Values::I64(vec![0, 45_000])),
                ("leave", Values::I64(vec![160_000, 99_000])),
                ("cnode", Values::U32(vec![1, 4])),
            ],
        ));
    });
    assert_eq!((picture.status, picture.messages.as_str()), (Status::Done, ""));
    assert!(line(&picture, "rank 0").contains("[work "), "{}", picture.results);
}

#[test]
fn damaged_windows_leave_the_picture_without_them() {
    let picture = waits(&["-i", "1"], |tables| {
        set(tables, "instances", "window", Values::U32(vec![0, 0, 0]));
        tables.push(table("windows", vec![]));
        tables.push(table("window_calls", vec![]));
    });
    assert_eq!(picture.status, Status::Done);
    assert!(picture.messages.contains("without the events around it"), "{}", picture.messages);
}

#[test]
fn damaged_tables_are_reported_with_the_file() {
    let printed = waits(&[], |tables| set(tables, "instances", "cnode", Values::U32(vec![5, 99, 6])));
    assert_eq!(printed.status, Status::Failed);
    assert!(printed.messages.contains("r.cubex: member replay.instances.table: column cnode"), "{printed:?}");
}

#[test]
fn details_that_cannot_be_used_are_not_said_to_be_missing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.cubex");
    example::write(&path, &Names::default(), |members| members[0].1.truncate(100));
    let printed = run(100, &["waits", path.to_str().unwrap()]);
    assert_eq!(printed.status, Status::Failed);
    assert!(printed.messages.contains("cannot be used"), "{}", printed.messages);
    assert!(!printed.messages.contains("--details none"), "{}", printed.messages);
}

#[test]
fn missing_table_of_a_report_with_details_is_not_blamed_on_an_option() {
    let printed = waits(&[], |tables| tables.retain(|table| table.name != "instances"));
    assert_eq!(printed.status, Status::Failed);
    assert!(printed.messages.contains("no member replay.instances.table"), "{}", printed.messages);
    assert!(!printed.messages.contains("--details none"), "{}", printed.messages);
}

#[test]
fn metrics_and_ranks_that_do_not_exist_are_refused_with_those_that_do() {
    let metric = waits(&["-m", "foo"], |_| {});
    assert_eq!((metric.status, metric.results.as_str()), (Status::Failed, ""));
    assert!(
        metric.messages.contains("foo: the waits of this report are of mpi_barrier_wait, mpi_latesender")
    );
    let rank = waits(&["--rank", "9"], |_| {});
    assert_eq!((rank.status, rank.results.as_str()), (Status::Failed, ""));
    assert!(rank.messages.contains("no rank 9: this report has ranks 0 to 3"), "{}", rank.messages);
}

#[test]
fn waits_that_are_not_listed_are_not_denied() {
    let printed = waits(&["--rank", "2"], |_| {});
    let text = printed.results.replace('\n', " ");
    assert_eq!(printed.status, Status::Done);
    assert!(text.contains("waiting of rank 2 is 0.0700 s, but the report lists no such waits"), "{text}");
    assert!(text.contains("only the longest waiter of each operation is listed: rank 2 may"), "{text}");
    let json = waits(&["--rank", "2", "--json"], |_| {});
    let json: serde_json::Value = serde_json::from_str(&json.results).unwrap();
    assert_eq!(json["remarks"].as_array().map(Vec::len), Some(2), "{json}");
    // Rank 0 did not receive at all.
    let none = waits(&["--rank", "0", "-m", "mpi_latesender"], |_| {});
    assert_eq!((none.status, none.results.as_str()), (Status::Done, "no such waits\n"));
}

#[test]
fn metrics_above_choose_the_waits_of_their_parts() {
    let printed = waits(&["-m", "mpi_point2point"], |_| {});
    assert_eq!(printed.results.lines().count(), 3, "{}", printed.results);
    let none = waits(&["-m", "comp"], |_| {});
    assert_eq!(none.status, Status::Failed);
}

/// The first row a second time, behind itself.
fn repeat_first(values: &mut Values) {
    match values {
        Values::U8(rows) => rows.insert(1, rows[0]),
        Values::U16(rows) => rows.insert(1, rows[0]),
        Values::U32(rows) => rows.insert(1, rows[0]),
        Values::U64(rows) => rows.insert(1, rows[0]),
        Values::I64(rows) => rows.insert(1, rows[0]),
        Values::F64(rows) => rows.insert(1, rows[0]),
        Values::Bytes(rows) => rows.insert(1, rows[0].clone()),
    }
}

#[test]
fn wait_of_a_metric_and_of_its_part_is_one() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.cubex");
    let names = Names::default();
    let mut report = example::report(&names);
    let late_sender = report.cube.metric_named("mpi_latesender").unwrap();
    report.metric("mpi_latesender_wo", Some(late_sender));
    let mut manifest = example::manifest(&names);
    manifest.metrics.push(Metric { name: "mpi_latesender_wo".into(), title: "wrong order".into() });
    let mut tables = example::tables();
    let instances = tables.iter_mut().find(|table| table.name == "instances").unwrap();
    instances.columns.iter_mut().for_each(|column| repeat_first(&mut column.values));
    set(&mut tables, "instances", "metric", Values::U32(vec![0, 2, 0, 1]));
    set(&mut tables, "chains", "instance", Values::U32(vec![0, 0, 0, 2]));
    let tables = tables.iter().map(|table| (member(&table.name), details::write(table).unwrap()));
    let members: Vec<(String, Vec<u8>)> =
        [("replay.json".to_owned(), manifest.to_bytes())].into_iter().chain(tables).collect();
    let members: Vec<(&str, &[u8])> =
        members.iter().map(|(name, bytes)| (name.as_str(), &bytes[..])).collect();
    report.write(&path, &members);
    let path = path.to_str().unwrap();
    let printed = run(160, &["waits", path]);
    assert_eq!(printed.results.lines().count(), 4, "{}", printed.results);
    assert!(line(&printed, "1 ").contains("wrong order"), "{}", printed.results);
    let chain = run(160, &["waits", path, "--chain"]);
    assert_eq!(chain.results.matches("rank 2 in solve").count(), 1, "{}", chain.results);
    assert!(chain.results.contains("2 Late Sender 0.0500 s"), "{}", chain.results);
    let json = run(160, &["waits", path, "--json", "-m", "mpi_latesender", "--chain"]);
    let json: serde_json::Value = serde_json::from_str(&json.results).unwrap();
    assert_eq!(json["waits"].as_array().unwrap().len(), 2);
    assert_eq!(json["waits"][0]["metrics"], serde_json::json!(["mpi_latesender", "mpi_latesender_wo"]));
    assert_eq!(json["waits"][0]["metric"], "mpi_latesender_wo");
    assert_eq!(json["hops"][3]["number"], 2, "{json}");
}

#[test]
fn all_columns_stay_where_threads_have_long_names() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.cubex");
    let names = Names { solve: "!$omp parallel @hybrid_long_name.c:10".into(), ..Names::default() };
    let mut report = example::report(&names);
    report.cube.location_groups.truncate(2);
    for (at, location) in report.cube.locations.iter_mut().enumerate() {
        location.group = cubex::LocationGroupId(at / 2);
        location.name = if at % 2 == 0 { "Master thread".into() } else { "OMP thread 1".into() };
    }
    for region in report.cube.regions.iter_mut().filter(|region| region.name.starts_with("MPI_B")) {
        region.name = "!$omp implicit barrier @hybrid_long_name.c:12".into();
    }
    let mut tables = example::tables();
    set(&mut tables, "instances", "origin_cnode", Values::U32(vec![3, 3, 3]));
    set(&mut tables, "instances", "cause_location", Values::U32(vec![2, 0, 1]));
    let tables = tables.iter().map(|table| (member(&table.name), details::write(table).unwrap()));
    let members: Vec<(String, Vec<u8>)> = [("replay.json".to_owned(), example::manifest(&names).to_bytes())]
        .into_iter()
        .chain(tables)
        .collect();
    let members: Vec<(&str, &[u8])> =
        members.iter().map(|(name, bytes)| (name.as_str(), &bytes[..])).collect();
    report.write(&path, &members);
    let printed = run(100, &["waits", path.to_str().unwrap()]);
    assert!(printed.results.lines().all(|line| line.chars().count() <= 100), "{}", printed.results);
    let titles = printed.results.lines().next().unwrap_or_default();
    assert!(
        titles.contains("waited       all  what") && titles.trim_end().ends_with("in"),
        "{}",
        printed.results
    );
    let barrier = line(&printed, "3 ");
    assert!(barrier.contains("0.0300 s") && barrier.contains("0.0600 s"), "{}", printed.results);
    assert!(barrier.contains("rank 0 t") && barrier.contains("1  !$omp"), "{}", printed.results);
    assert!(barrier.trim_end().ends_with(":10"), "{}", printed.results);
}

#[test]
fn completion_has_nobody_that_was_waited_for() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.cubex");
    let names = Names::default();
    let mut manifest = example::manifest(&names);
    manifest.metrics[0] = Metric { name: "mpi_barrier_completion".into(), title: "Completion".into() };
    example::write(&path, &names, |members| members[0].1 = manifest.to_bytes());
    let path = path.to_str().unwrap();
    for options in [&["--chain", "-n", "1"][..], &["-i", "1"], &["-n", "1"]] {
        let printed = run(100, &[&["waits", path], options].concat());
        assert_eq!(printed.status, Status::Done);
        assert!(!printed.results.contains("rank 2"), "{}", printed.results);
        assert!(printed.results.contains("after the first rank had left it"), "{}", printed.results);
    }
    let json = run(100, &["waits", path, "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json.results).unwrap();
    assert_eq!(json["waits"][0]["cause"], serde_json::Value::Null);
}

/// The report of the example with two ranks of two threads, and longer waits at a barrier of OpenMP.
fn threads(path: &std::path::Path) {
    let names = Names::default();
    let mut report = example::report(&names);
    report.cube.location_groups.truncate(2);
    for (at, location) in report.cube.locations.iter_mut().enumerate() {
        location.group = cubex::LocationGroupId(at / 2);
    }
    let mut manifest = example::manifest(&names);
    manifest.metrics[1].name = "omp_ebarrier_wait".into();
    let tables = example::tables();
    let tables = tables.iter().map(|table| (member(&table.name), details::write(table).unwrap()));
    let members: Vec<(String, Vec<u8>)> =
        [("replay.json".to_owned(), manifest.to_bytes())].into_iter().chain(tables).collect();
    let members: Vec<(&str, &[u8])> =
        members.iter().map(|(name, bytes)| (name.as_str(), &bytes[..])).collect();
    report.write(path, &members);
}

#[test]
fn titles_are_whole_at_any_width_and_so_are_numbers() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.cubex");
    threads(&path);
    for width in [40, 60, 80, 90, 100, 110, 130] {
        let printed = run(width, &["waits", path.to_str().unwrap()]).results;
        assert!(printed.contains("Wait at Explicit OpenMP Barrier"), "{width}: {printed}");
        assert!(printed.contains("Late Sender") && printed.contains("0.0600 s"), "{width}: {printed}");
        assert!(printed.lines().all(|line| line.chars().count() <= width), "{width}: {printed}");
    }
}

#[test]
fn records_of_a_narrow_screen_have_titles() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.cubex");
    threads(&path);
    let printed = run(60, &["waits", path.to_str().unwrap(), "-m", "omp_ebarrier_wait"]).results;
    let lines: Vec<String> =
        printed.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let expected = [
        "3 Wait at Explicit OpenMP Barrier",
        "waited 0.0300 s",
        "all 0.0600 s",
        "who rank 0 thread 0",
        "in MPI_Barrier",
        "at 0.101 s",
        "due to somebody",
        "in ?",
    ];
    assert_eq!(lines, expected, "{printed}");
}

#[test]
fn waiting_of_one_and_of_all_have_as_many_decimals() {
    let ticks = || Values::I64(vec![6_000, 5_000, 3_000]);
    let printed = waits(&[], |tables| set(tables, "instances", "ticks", ticks()));
    assert!(line(&printed, "1 ").contains("0.0060 s  0.0700 s"), "{}", printed.results);
}
